"""`Averages`, the result of `average_each`: an average of each column, to predict by and to choose from."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gridmodl.averaging.record import Average
from gridmodl.data.frames import ARRAYS, Name, make_frame
from gridmodl.model.labels import aligned
from gridmodl.spelling import did_you_mean

MAX_SHOWN = 100


class Averages(Mapping[Name, Average]):
    """Averages by column name, in descending order of `Average.p_informative` (ties, and None: lowest loss first).

    Attributes
    ----------
    errors : dict of str to Exception
        Error of each column without an average.
    """

    def __init__(self, averages: Mapping[Name, Average], errors: Mapping[Name, Exception], frame: str = ARRAYS) -> None:
        order = sorted(
            averages.items(),
            key=lambda item: (-(item[1].p_informative or 0.0), _or(item[1].loo_loss, math.inf), -item[1].log_evidence),
        )
        self._averages = dict(order)
        self.errors = dict(errors)
        self._frame = frame

    def __getitem__(self, name: Name) -> Average:
        if name not in self._averages:
            if name in self.errors:
                raise KeyError(f"column {name!r} has no average: {self.errors[name]}")
            known = ", ".join(map(repr, list(self._averages)[:MAX_SHOWN])) or "no column"
            raise KeyError(f"no column {name!r}; there are averages of {known}{did_you_mean(name, self._averages)}")
        return self._averages[name]

    def __iter__(self) -> Iterator[Name]:
        return iter(self._averages)

    def __len__(self) -> int:
        return len(self._averages)

    def table(self, frame: str | None = None) -> Any:
        """Table with one row per column; NaN for numbers that a criterion does not have.

        `frame` is as in `Model.table`.
        """
        averages = list(self.values())
        columns: dict[str, Any] = {
            "column": [str(name) for name in self],
            "p_informative": [_or(average.p_informative, math.nan) for average in averages],
            "loo_loss": [_or(average.loo_loss, math.nan) for average in averages],
            "log_evidence": [average.log_evidence for average in averages],
            "parts": [int(np.argmax(average.p_parts)) + 1 for average in averages],
            "exact": [average.exact for average in averages],
        }
        return make_frame(columns, frame or self._frame)

    def summary(self) -> str:
        """Text table of the columns, the most informative first."""
        rows = [["column", "informative", "loss", "likely parts", "exact"]]
        for name, average in list(self.items())[:MAX_SHOWN]:
            p, loss = average.p_informative, average.loo_loss
            rows.append(
                [
                    str(name), "" if p is None else f"{p:.3g}", "" if loss is None else f"{loss:.4g}",
                    str(int(np.argmax(average.p_parts)) + 1), "yes" if average.exact else "no",
                ]
            )  # fmt: skip
        lines = aligned(rows)
        if len(self) > MAX_SHOWN:
            lines.append(f"  ... and {len(self) - MAX_SHOWN} more columns")
        lines += [f"  {name}: no average; {error}" for name, error in self.errors.items()]
        return "\n".join(lines)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write all averages as one JSON text, also to the file `path` if that is passed.

        Of ``errors`` only the messages are kept.
        """
        from gridmodl.averaging.file import write_averages

        return write_averages(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> Averages:
        """Read averages from `source`, a JSON text or a file, as `Average.from_json` reads one."""
        from gridmodl.averaging.file import read_averages

        return read_averages(source)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str:
        """Write all averages as one HTML page; `path` and `title` are as in `Average.to_html`."""
        from gridmodl.report.averages import page_of

        return page_of(list(self.values()), self.errors, title or "Averages", path)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.averages import averages_html

        return averages_html(self)

    def __repr__(self) -> str:
        failed = f", {len(self.errors)} without" if self.errors else ""
        return f"Averages({len(self)} columns{failed})"


def _or(value: float | None, other: float) -> float:
    return other if value is None else value
