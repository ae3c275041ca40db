"""`Models`, the result of `optimize_each`: a model of each column, the most informative first."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gridmodl.data.frames import ARRAYS, Name, make_frame
from gridmodl.model.labels import aligned, level_text
from gridmodl.model.model import Model
from gridmodl.spelling import did_you_mean

MAX_SHOWN = 100


class Models(Mapping[Name, Model]):
    """Models by column name, in descending order of level (ties: largest ``null_cost - cost``, then column order).

    If a model has no level, all models are in descending order of ``null_cost - cost``.

    Attributes
    ----------
    errors : dict of str to Exception
        Error of each column without a model.
    """

    def __init__(self, models: Mapping[Name, Model], errors: Mapping[Name, Exception], frame: str = ARRAYS) -> None:
        # If the null cost is 0, as with g2, all levels are 0 and the difference of costs decides.
        levels = {name: model.level for name, model in models.items()}
        has_none = None in levels.values()
        order = sorted(
            models.items(),
            key=lambda item: (0.0 if has_none else -(levels[item[0]] or 0.0), item[1].cost - item[1].null_cost),
        )
        self._models = dict(order)
        self.errors = dict(errors)
        self._frame = frame

    def __getitem__(self, name: Name) -> Model:
        if name not in self._models:
            raise KeyError(self._why_no_model(name))
        return self._models[name]

    def _why_no_model(self, name: Name) -> str:
        if name in self.errors:
            return f"column {name!r} has no model: {self.errors[name]}"
        known = ", ".join(map(repr, list(self._models)[:MAX_SHOWN])) or "no column"
        more = ", ..." if len(self) > MAX_SHOWN else ""
        return f"no column {name!r}; there are models of {known}{more}{did_you_mean(name, self._models)}"

    def __iter__(self) -> Iterator[Name]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def table(self, frame: str | None = None) -> Any:
        """Table with one row per column: its kind, number of parts, level (NaN for none), costs, proven and gap.

        Also the number of parts of the target, if the target is partitioned too. `frame` is as in `Model.table`.
        """
        models = list(self.values())
        partitions = [next(iter(model.partitions.values())) for model in models]
        columns: dict[str, Any] = {
            "column": [str(name) for name in self],
            "kind": [partition.kind for partition in partitions],
            "parts": [partition.n_parts for partition in partitions],
            "level": [math.nan if model.level is None else model.level for model in models],
            "cost": [model.cost for model in models],
            "null_cost": [model.null_cost for model in models],
            "proven": [model.proven for model in models],
            "gap": [math.nan if model.gap is None else model.gap for model in models],
        }
        if any(model.target is not None for model in models):
            columns["target_parts"] = [_target_parts(model) for model in models]
        return make_frame(columns, frame or self._frame)

    def summary(self) -> str:
        """Text table of the columns, the most informative first."""
        has_parts = any(model.target is not None for model in self.values())
        rows = [["column", "kind", "parts", *(["target parts"] * has_parts), "level", "proven"]]
        for name, model in list(self.items())[:MAX_SHOWN]:
            (partition,) = model.partitions.values()
            parts = [str(partition.n_parts), *([str(_target_parts(model))] * has_parts)]
            rows.append([str(name), partition.kind, *parts, level_text(model.level), "yes" if model.proven else "no"])
        lines = aligned(rows)
        if len(self) > MAX_SHOWN:
            lines.append(f"  ... and {len(self) - MAX_SHOWN} more columns")
        lines += [f"  {name}: no model; {error}" for name, error in self.errors.items()]
        return "\n".join(lines)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str:
        """Write all models as one HTML page, which needs no network and no other file.

        Columns come in the order of their levels, each with its parts and a plot; they can be searched and sorted.
        Needs ``pip install "gridmodl[html]"``.

        Parameters
        ----------
        path : str or path-like, optional
            File to write the page to; an existing file is replaced.
        title : str, optional
            Title of the page.

        Returns
        -------
        str
            The text of the page.
        """
        from gridmodl.report.html.documents import document_of_models
        from gridmodl.report.html.page import write_page

        return write_page(document_of_models(self), self.summary(), title, path)

    def to_sql(
        self,
        dialect: str,
        table: str | Sequence[str] = "data",
        *,
        columns: Mapping[Name, str] | None = None,
        keep: Sequence[str] = (),
        output: str | Sequence[str] | None = None,
        unknown: str | int = "default",
    ) -> str:
        """Write one SQL query for the parts of all columns that have more than one part.

        Parameters
        ----------
        dialect, table, columns, keep, unknown
            As in `Model.to_sql`.
        output : str or sequence of str, optional
            ``"parts"``, ``"labels"`` or both.
        """
        from gridmodl.report.sql import query_of_models

        return query_of_models(self, dialect, table, columns, keep, output, unknown)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write all models as one JSON text, also to the file `path` if that is passed; `from_json` reads it exactly.

        Of ``errors`` only the messages are kept.
        """
        from gridmodl.model.file.collections import write_models

        return write_models(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> Models:
        """Read models from `source`: a JSON text (a str or bytes) or the path of a file (a str or path-like).

        A str that begins with a brace is a text, any other str is a path.
        """
        from gridmodl.model.file.collections import read_models

        return read_models(source)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.notebook import models_html

        return models_html(self, self.errors)

    def __repr__(self) -> str:
        failed = f", {len(self.errors)} without" if self.errors else ""
        return f"Models({len(self)} columns{failed})"


def _target_parts(model: Model) -> int:
    return 1 if model.target is None else model.target.n_parts
