"""`Models`, the result of `optimize_each`: a table of models, one for each column, to apply, choose from and edit."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from gridmodl.data.columns import error_beside_name
from gridmodl.data.frames import ARRAYS, Frame, Name, Raw, lazy_frame, make_frame, read_frame
from gridmodl.model.encoding import check_encoding, encoded_names, rows_of_parts, unique_names
from gridmodl.model.evidence import ColumnEvidence, total_evidence
from gridmodl.model.labels import aligned, level_text
from gridmodl.model.lazy.parts import Lookup, lazy_columns
from gridmodl.model.lazy.predict import lazy_shares
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.model.policy import checked_policy
from gridmodl.spelling import did_you_mean
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.monitoring.record import Comparison
    from gridmodl.report.widget.editor import PartitionEditor

MAX_SHOWN = 100


class Models(MutableMapping[Name, Model]):
    """Models by column name: what `optimize_each` returns, and ``models_`` of estimators.

    `optimize_each` puts them in descending order of level (ties: largest ``null_cost - cost``, then column order), or
    of ``null_cost - cost`` if a model has no level; estimators keep the order of the columns. ``models[name] = model``
    replaces a model in its place, such as an edited one; ``del models[name]`` takes a column out.

    Attributes
    ----------
    errors : dict of str to Exception
        Error of each column without a model.
    event : object or None
        The class that ``woe`` and ``iv`` speak of, see `optimize`; None if there is none.
    """

    def __init__(
        self,
        models: Mapping[Name, Model],
        errors: Mapping[Name, Exception] | None = None,
        frame: str = ARRAYS,
        *,
        by_level: bool = True,
    ) -> None:
        self._models = dict(models)
        self.errors = dict(errors or {})
        self._frame = frame
        if by_level:
            self._sort()

    def _sort(self) -> None:
        models = self._models
        # If the null cost is 0, as with g2, all levels are 0 and the difference of costs decides.
        levels = {name: model.level for name, model in models.items()}
        has_none = None in levels.values()
        order = sorted(
            models.items(),
            key=lambda item: (0.0 if has_none else -(levels[item[0]] or 0.0), item[1].cost - item[1].null_cost),
        )
        self._models = dict(order)

    def __getitem__(self, name: Name) -> Model:
        if name not in self._models:
            raise KeyError(self._why_no_model(name))
        return self._models[name]

    def __setitem__(self, name: Name, model: Model) -> None:
        self._check_model(name, model)
        self._models[name] = model
        self.errors.pop(name, None)

    def __delitem__(self, name: Name) -> None:
        if name not in self._models and name not in self.errors:
            raise KeyError(self._why_no_model(name))
        self._models.pop(name, None)
        self.errors.pop(name, None)

    def _check_model(self, name: Name, model: Any) -> None:
        """Raise unless `model` is of the one column `name` and of the same target as the other models."""
        if not isinstance(model, Model):
            raise TypeError(
                f"models[{name!r}] takes a gridmodl.Model, got {type(model).__name__}; Model.from_partitions and "
                f"models[{name!r}].edit make one of parts of your own"
            )
        columns = list(model.partitions)
        if columns != [name]:
            raise ValueError(f"models[{name!r}] takes a model of column {name!r} alone, got one of {columns}")
        other = next((one for key, one in self._models.items() if key != name), self._models.get(name, model))
        for what in ("classes", "event", "target"):
            mine, theirs = _of_target(model, what), _of_target(other, what)
            if mine != theirs:
                raise ValueError(
                    f"models[{name!r}] takes a model of the same target as the other columns, whose {what} is "
                    f"{theirs!r}; got one whose {what} is {mine!r}"
                )

    @property
    def event(self) -> Any:
        """The event of iv, gini and ks; None if they are means over the classes, each against the rest."""
        return next((model.event for model in self._models.values() if model.has_one_event), None)

    def _why_no_model(self, name: Name) -> str:
        if name in self.errors:
            return f"column {name!r} has no model: {error_beside_name(self.errors[name], name)}"
        known = ", ".join(map(repr, list(self._models)[:MAX_SHOWN])) or "no column"
        more = ", ..." if len(self) > MAX_SHOWN else ""
        return f"no column {name!r}; there are models of {known}{more}{did_you_mean(name, self._models)}"

    def __iter__(self) -> Iterator[Name]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def transform(
        self,
        data: Any,
        encode: str = "ordinal",
        unknown: str | None = None,
        missing: str | None = None,
        frame: str | None = None,
    ) -> Any:
        """Encode the part of each row, for all columns: a frame with the rows of `data` and the columns of the models.

        Parameters
        ----------
        data : array-like or frame
            The columns of the models, by name; further columns are ignored. An array needs all columns of training, in
            their order, as its columns are named ``x0``, ``x1``, ... For a lazy frame, the result is a lazy frame of
            the same library; nothing is collected.
        encode : {"ordinal", "onehot", "woe", "mean"}
            The number of the part, -1 for a value of no part; a column of zeros and ones for each part; the weight of
            evidence of the part, 0 for a value of no part; or the mean of a numerical target in the part. Encodings
            and names of columns are those of `GridDiscretizer`.
        unknown, missing
            As in `Model.transform`.
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            Kind of the result; by default the kind of `data`, with a dict of arrays for arrays and dicts. A frame of
            pandas keeps the index of `data`.

        Examples
        --------
        >>> import gridmodl
        >>> data = {"size": [1, 2, 3, 7, 8, 9], "colour": ["red", "blue", "red", "blue", "red", "blue"]}
        >>> models = gridmodl.optimize_each(data, ["no", "no", "no", "yes", "yes", "yes"])
        >>> models.transform({"size": [0, 10], "colour": ["red", "pink"]})
        {'size': array([0, 1]), 'colour': array([ 0, -1])}
        >>> models.select(level=0).transform({"size": [0, 10]}, encode="woe")["size"].round(3)
        array([-1.946,  1.946])
        """
        check_encoding(encode, self._target_kind())
        policy, lazy = checked_policy(unknown, missing), lazy_frame(data)
        if lazy is not None:
            return lazy_columns(lazy, self._lookups(encode), policy)
        rows = read_frame(data)
        names: list[str] = []
        columns: list[NDArray[Any]] = []
        for name, raw in self._columns(rows).items():
            model, partition = self._models[name], self._partition(name)
            part = partition.part_of_column(raw, policy)
            names += encoded_names(encode, name, model, partition)
            columns += [part] if encode == "ordinal" else [*rows_of_parts(encode, model, partition)[part].T]
        kind = rows.kind if frame is None else frame
        made = make_frame(dict(zip(unique_names(names).tolist(), columns, strict=True)), kind)
        if kind == "pandas" and hasattr(data, "index"):
            made.index = data.index
        return made

    def _lookups(self, encode: str) -> dict[str, Lookup]:
        """Encoded columns of a lazy frame, by name."""
        names: list[str] = []
        found: list[Lookup] = []
        for name, model in self._models.items():
            partition = self._partition(name)
            names += encoded_names(encode, name, model, partition)
            lines = [None] if encode == "ordinal" else list(rows_of_parts(encode, model, partition).T)
            found += [Lookup(partition, numbers) for numbers in lines]
        return dict(zip(unique_names(names).tolist(), found, strict=True))

    def predict_proba(
        self, data: Any, unknown: str | None = None, missing: str | None = None, smoothing: bool = False
    ) -> Any:
        """Shares of the classes in the part of each row, by column: what each column predicts on its own.

        The columns are not combined: for one prediction of all columns together see `GridNaiveBayes` (columns taken as
        independent) and `GridClassifier` (one grid).

        Parameters
        ----------
        data, unknown, missing
            As in `transform`.
        smoothing : bool
            Whether shares are those that the criterion expects of the next row, as in `Model.predict_proba`.

        Returns
        -------
        dict of str to ndarray of shape (n, number of classes)
            Classes are in the order of ``classes`` of the models. A value of no part has the shares of all rows. For a
            lazy frame, one of the same library with the columns ``<column>_p_<class>``.
        """
        if self._target_kind() not in ("classes", "grouped"):
            raise ValueError("predict_proba is for classes, and the target is numerical; see Model.predict")
        lazy = lazy_frame(data)
        if lazy is not None:
            return lazy_shares(self, lazy, checked_policy(unknown, missing), smoothing)
        columns = self._columns(read_frame(data))
        return {
            name: self[name].predict_proba({name: raw}, unknown, missing, smoothing) for name, raw in columns.items()
        }

    def _columns(self, frame: Frame) -> dict[Name, Raw]:
        """The columns of the models, in the order of the models; raise ValueError if the data lack one."""
        return columns_for(self, frame, "models")

    def _partition(self, name: Name) -> Partition:
        (partition,) = self._models[name].partitions.values()
        return partition

    def _target_kind(self) -> str:
        """Kind of the target of the models, as `target_kind` of `optimize`."""
        first = next(iter(self._models.values()), None)
        return "classes" if first is None else _target_kind(first)

    def select(
        self, *, level: float | None = None, iv: float | None = None, columns: Sequence[Name] | None = None
    ) -> Models:
        """Models of some columns, in the same order.

        Parameters
        ----------
        level : float, optional
            Keep columns of a level above this number; 0 keeps those that tell something about the target.
        iv : float, optional
            Keep columns of an information value above this number, see `table`.
        columns : sequence of str, optional
            Keep these columns.

        Returns
        -------
        Models
            Without the columns in ``errors``.
        """
        kept = dict(self._models)
        if columns is not None:
            if isinstance(columns, (str, bytes)) or not isinstance(columns, Sequence):
                raise TypeError(f"columns must be a list of column names, got {columns!r}")
            wanted = {name: self[name] for name in columns}  # an unknown name is an error
            kept = {name: model for name, model in kept.items() if name in wanted}
        if level is not None:
            without = [name for name, model in kept.items() if model.level is None]
            if without:
                raise ValueError(
                    f"column {without[0]!r} has no level to compare, as its cost or null cost is negative; use iv= or "
                    "columns="
                )
            kept = {name: model for name, model in kept.items() if (model.level or 0.0) > level}
        if iv is not None:
            if self._target_kind() == "numerical":
                raise ValueError("iv= is for classes, and the target is numerical; use level=")
            kept = {name: model for name, model in kept.items() if self._evidence(name).iv > iv}
        return Models(kept, {}, self._frame, by_level=False)

    def _evidence(self, name: Name) -> ColumnEvidence:
        found = total_evidence(self._models[name], self._partition(name))
        return ColumnEvidence(math.nan, math.nan, math.nan) if found is None else found

    def edit(
        self, name: Name, *, bounds: Any = None, groups: Any = None, merge: Any = None, split: Any = None
    ) -> Models:
        """Models with another partition of the column `name`, all else unchanged; ``[name].delta`` is what it costs.

        Parameters
        ----------
        name : str
            The column.
        bounds, groups, merge, split
            As in `Model.edit`; one of them.

        Returns
        -------
        Models
            In the same order.
        """
        edited = self[name].edit(name, bounds=bounds, groups=groups, merge=merge, split=split)
        return Models({**self._models, name: edited}, self.errors, self._frame, by_level=False)

    def rename(self, name: Name, names: Mapping[Any, str | None] | Sequence[str | None] | None) -> Models:
        """Models whose parts of the column `name` have names of the user's own, all else unchanged.

        They stand for the parts wherever those of `Model.rename` do. For the parts of a partitioned target, which each
        model has on its own, use ``models[name] = models[name].rename(...)``.

        Parameters
        ----------
        name : str
            The column.
        names : dict, sequence of str or None
            As in `Model.rename`: names by number of the part (or by its name so far), or one for each part; None
            brings back ``Partition.names`` as they were.

        Returns
        -------
        Models
            In the same order.

        Examples
        --------
        >>> import gridmodl
        >>> data = {"size": [1, 2, 3, 7, 8, 9], "colour": ["red", "blue", "red", "blue", "red", "blue"]}
        >>> models = gridmodl.optimize_each(data, ["no", "no", "no", "yes", "yes", "yes"])
        >>> models.rename("size", ["small", "large"])["size"].partitions["size"].names
        ['small', 'large']
        """
        named = self[name].rename(name, names)
        return Models({**self._models, name: named}, self.errors, self._frame, by_level=False)

    def widget(self, name: Name) -> PartitionEditor:
        """Edit the parts of the column `name` by eye, as `Model.widget`; ``editor.model`` is its model."""
        return self[name].widget(name)

    def compare(
        self, new: Any, target: Any = None, by: Any = None, *, weights: Any = None, threshold: float = 0.1,
        loss: float = 0.1, alpha: float = 0.01, refit: bool = True,
    ) -> Comparison:  # fmt: skip
        """Compare new rows with the training rows, each column on its own: drift of columns and of event rates.

        Parameters
        ----------
        new, target, by, weights, threshold, loss, alpha, refit
            As in `Model.compare`. With a grouped or numerical target, whose parts differ from column to column, the
            target itself is not compared.

        Returns
        -------
        Comparison
            ``print`` shows it in words, `Comparison.table` has the numbers.
        """
        from gridmodl.monitoring.compare import checked_request, compare_models
        from gridmodl.monitoring.parts import DriftLimits

        request = checked_request(new, target, by, weights, DriftLimits(threshold, loss, alpha), refit)
        return compare_models(self._models, request, self._frame)

    def table(self, frame: str | None = None) -> Any:
        """Table with one row per column: its kind, number of parts, level (NaN for none), costs, proven and gap.

        Also ``missing``, the share of the rows whose value is missing (NaN if not known); with classes the ``event``,
        and of the parts as scores of their rows the information value ``iv``, ``gini`` (2 AUC - 1) and ``ks``
        (Kolmogorov-Smirnov). Without an event, as with more than two classes, they are means over the classes, each
        against the rest. The formulas are those of `gridmodl.model.evidence`. If the target is partitioned too, also
        the number of its parts. `frame` is as in `Model.table`.
        """
        models = list(self.values())
        partitions = [self._partition(name) for name in self]
        columns: dict[str, Any] = {
            "column": [str(name) for name in self],
            "kind": [partition.kind for partition in partitions],
            "parts": [partition.n_parts for partition in partitions],
            "level": [math.nan if model.level is None else model.level for model in models],
            "cost": [model.cost for model in models],
            "null_cost": [model.null_cost for model in models],
            "proven": [model.proven for model in models],
            "gap": [math.nan if model.gap is None else model.gap for model in models],
            "missing": [_missing_share(partition) for partition in partitions],
        }
        if any(model.target is not None for model in models):
            columns["target_parts"] = [_target_parts(model) for model in models]
        if self._target_kind() != "numerical":
            evidence = [self._evidence(name) for name in self]
            columns["event"] = [str(model.event) if model.has_one_event else "" for model in models]
            columns |= {what: [getattr(one, what) for one in evidence] for what in ColumnEvidence._fields}
        return make_frame(columns, frame or self._frame)

    def summary(self) -> str:
        """Text table of the columns, in their order: the most informative first, as `optimize_each` returns them."""
        from gridmodl.report.hints import hints_of_models

        has_parts = any(model.target is not None for model in self.values())
        has_iv = self._target_kind() != "numerical"
        rows = [["column", "kind", "parts", *(["target parts"] * has_parts), "level", *(["iv"] * has_iv), "proven"]]
        for name, model in list(self.items())[:MAX_SHOWN]:
            partition = self._partition(name)
            parts = [str(partition.n_parts), *([str(_target_parts(model))] * has_parts)]
            iv = [f"{self._evidence(name).iv:.4f}"] * has_iv
            proven = "yes" if model.proven else "no"
            rows.append([str(name), partition.kind, *parts, level_text(model.level), *iv, proven])
        lines = aligned(rows)
        if len(self) > MAX_SHOWN:
            lines.append(f"  ... and {len(self) - MAX_SHOWN} more columns")
        lines += [f"  {name}: no model; {error}" for name, error in self.errors.items()]
        lines += [f"  note: {hint}" for hint in hints_of_models(self)]
        return "\n".join([*lines, *([] if self.event is None else [f"  event: {self.event}"])])

    def plot(self, n: int = 30, ax: Any = None) -> Any:
        """Draw the levels of the `n` most informative columns, with their parts and information values.

        Parameters
        ----------
        n : int
            Maximum number of columns.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        gridmodl.plot.ColumnsDisplay
        """
        from gridmodl.plot.columns import ColumnsDisplay

        return ColumnsDisplay.from_models(self, n).plot(ax)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | None = None,
        sections: Sequence[Any] = (),
    ) -> str:
        """Write all models as one HTML page, which needs no network and no other file.

        Columns come in the order of their levels, each with its parts and a plot; they can be searched and sorted.
        Needs ``pip install "gridmodl[html]"``.

        Parameters
        ----------
        path : str or path-like, optional
            File to write the page to; an existing file is replaced.
        title : str, optional
            Title of the page.
        about : str, optional
            What readers should know of the data and the target, below the title.
        sections : sequence, optional
            Other results on the same page, as in `Model.to_html`.

        Returns
        -------
        str
            The text of the page.
        """
        from gridmodl.report.html.sections import write_report

        return write_report(self, sections, path, title, about)

    def to_sql(
        self,
        dialect: str,
        table: str | Sequence[str] = "data",
        *,
        columns: Mapping[Name, str] | None = None,
        keep: Sequence[str] = (),
        output: str | Sequence[str] | None = None,
        unknown: str | None = None,
        missing: str | None = None,
    ) -> str:
        """Write one SQL query for the parts of all columns that have more than one part.

        Parameters
        ----------
        dialect, table, columns, keep, unknown, missing
            As in `Model.to_sql`.
        output : str or sequence of str, optional
            Some of ``"parts"``, ``"labels"`` and, with classes, ``"woe"``, as in `Model.to_sql`; by default parts.
        """
        from gridmodl.report.sql import query_of_models

        return query_of_models(self, dialect, table, columns, keep, output, checked_policy(unknown, missing))

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        output: str | Sequence[str] | None = None,
        unknown: str | None = None,
        missing: str | None = None,
        missing_text: str = "",
    ) -> Any:
        """Build one ONNX graph for the parts of all columns that have more than one part.

        Parameters
        ----------
        path, unknown, missing, missing_text
            As in `Model.to_onnx`.
        output : str or sequence of str, optional
            ``"parts"`` and, with classes, ``"woe"``, as in `Model.to_onnx`; by default parts.

        Returns
        -------
        onnx.ModelProto
            Graph with an input for each column, as in `Model.to_onnx`.
        """
        from gridmodl.report.onnx import onnx_of_models

        return onnx_of_models(self, path, output, checked_policy(unknown, missing), missing_text)

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


def columns_for(names: Collection[Name], frame: Frame, what: str) -> dict[Name, Raw]:
    """The columns `names` of a frame, in this order; ValueError if it lacks one that the `what` need."""
    if frame.is_column and len(names) == 1:
        return dict(zip(names, frame.columns.values(), strict=True))
    absent = [name for name in names if name not in frame.columns]
    if absent:
        known = ", ".join(repr(name) for name in list(frame.columns)[:20])
        near = did_you_mean(absent[0], frame.columns) or "."
        raise ValueError(
            f"the {what} need column {absent[0]!r}; the data has {known}{near} "
            f"{what}.select(columns=[...]) keeps the {what} of some columns"
        )
    return {name: frame.columns[name] for name in names}


def _target_parts(model: Model) -> int:
    return 1 if model.target is None else model.target.n_parts


def _of_target(model: Model, what: str) -> Any:
    """What models of one target share, to compare and to show: classes, event, or the kind of the target."""
    if what == "target":
        return _target_kind(model)
    return model.classes.tolist() if what == "classes" else model.event


def _target_kind(model: Model) -> str:
    return "classes" if PROBLEMS[model.problem].has_classes else model.problem


def _missing_share(partition: Partition) -> float:
    """Share of the rows whose value is missing; NaN if the partition does not say."""
    n_rows = int(partition.rows.sum())
    return math.nan if partition.n_missing is None else partition.n_missing / max(n_rows, 1)
