"""Read the data of one call into a `Table`: input columns, target and row weights."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Target
from gridmodl.data.bounds import EXACT
from gridmodl.data.columns import Categories, Column, Kind, count_rows, encode_column, kind_of
from gridmodl.data.frames import Frame, Name, SpanColumn, entry_weights, is_sparse, read_column, read_frame
from gridmodl.data.numbers import Numbers
from gridmodl.data.targets import (
    NOT_GIVEN,
    TARGET_KINDS,
    check_meant_as_classes,
    check_no_event,
    encode_classes,
    encode_labelled,
    encode_quantities,
    encode_weights,
    kind_of_target,
    marked_rows,
    rows_of,
)
from gridmodl.spelling import check_columns
from gridmodl.terms import PROBLEMS, Problem

MEDIAN = "median"  # placement= of bounds at the medians of unlabelled rows
STABLE_OVER = "stable_over"


class Table(NamedTuple):
    """Input columns, encoded target and row weights of one call. Rows of weight 0 are dropped."""

    inputs: Frame
    classes: NDArray[Any]  # names of the classes
    target: Target  # all rows are of one class if there are no classes or if the target is partitioned too
    kept: NDArray[np.bool_] | None  # rows of `inputs` with a positive weight; None if all have one
    problem: Problem
    searched: Column | None = None  # the target, if it is partitioned like a variable
    placed: bool = False  # whether unlabelled rows only place the bounds; then `problem` is of the labelled rows
    placement: str | None = None  # where bounds between two neighbouring values go: in the middle, SHORT or EXACT
    n_missing: int = 0  # rows of a density without a value, weights counted; `kept` leaves them out
    stable_over: str = ""  # name of the column of periods, or that of the argument if an array was given
    periods: tuple[str, ...] = ()  # names of the periods in which the order of shares must be the same
    target_means: NDArray[np.float64] | None = None  # of a numerical target that was counted in spans, of each row
    target_name: str | None = None  # of the column, or of the series; None if it has none

    @property
    def names(self) -> list[Name]:
        return list(self.inputs.columns)

    @property
    def known_names(self) -> list[Name]:
        """Names of all variables that have a partition."""
        return self.names if self.searched is None else [*self.names, self.searched.name]

    @property
    def event(self) -> Any:
        """The class that tables, monotone limits and queries speak of; None if there is none."""
        return None if self.target.event is None else self.classes.tolist()[self.target.event]

    @property
    def quantities(self) -> NDArray[np.float64]:
        """Numerical target as floats; the mean of each row of counts, if the target was counted in spans."""
        if self.target_means is not None:
            return self.target_means
        assert isinstance(self.searched, Numbers)  # noqa: S101  for mypy
        return self.searched.values.astype(np.float64)

    @property
    def class_rows(self) -> NDArray[np.int64] | None:
        """Rows of each class, if classes are grouped; else None."""
        if not isinstance(self.searched, Categories):
            return None
        return count_rows(self.searched.codes, self.target.weights, len(self.classes))

    def is_categorical(self, name: Name, kind: Kind | None) -> bool:
        """Whether the column `name` is categorical, given the user's `kind` of it."""
        return (self._kind(kind) or kind_of(self.inputs.columns[name])) == "categorical"

    def priced_rows(self) -> Table:
        """Table of the rows that the cost is computed from: without unlabelled rows if these only place the bounds."""
        if not self.placed:
            return self
        is_labelled = self.target.codes < self.target.n_classes
        kept = is_labelled
        if self.kept is not None:
            kept = self.kept.copy()
            kept[kept] = is_labelled
        target = self.target.of_rows(is_labelled)._replace(has_unlabelled=False)
        return self._replace(kept=kept, target=target, placed=False)

    def weighted(self, weights: NDArray[np.int64]) -> Table:
        """Table with other weights of the rows of `target`, a class target; rows of weight 0 are dropped."""
        kept = np.ones(self.inputs.n_rows, dtype=bool) if self.kept is None else self.kept.copy()
        kept[kept] = weights > 0
        target = self.target._replace(weights=weights).of_rows(weights > 0)
        class_rows = count_rows(target.codes, target.weights, target.n_classes)
        problem = self.problem._replace(n_rows=int(class_rows.sum()), class_rows=class_rows)
        return self._replace(kept=kept, target=target, problem=problem)

    def without_periods(self) -> Table:
        """Table whose rows have no periods."""
        return self._replace(target=self.target._replace(periods=None), stable_over="", periods=())

    def only(self, name: Name) -> Table:
        """Table with the one input column `name`."""
        return self._replace(inputs=self.inputs._replace(columns={name: self.inputs.columns[name]}))

    def column(self, name: Name, kind: Kind | None) -> Column:
        """Encode the column `name`, given the user's `kind` of it."""
        raw = self.inputs.columns[name]
        return encode_column(raw if self.kept is None else rows_of(raw, self.kept), name, self._kind(kind))

    def _kind(self, kind: Kind | None) -> Kind | None:
        """Kind of a column: "categorical" for row and column numbers of a sparse matrix, unless the user says else."""
        return "categorical" if kind is None and self.inputs.entries is not None else kind


def read_table(
    data: Any, target: Any, weights: Any, target_kind: str | None, unlabelled: Any, placement: str | None = None,
    event: Any = None, stable_over: Any = None,
) -> Table:  # fmt: skip
    """Read data, target, weights and periods; each but the data may be the name of a column."""
    if stable_over is None:
        table = _read_table(data, target, weights, target_kind, unlabelled, placement == MEDIAN, event)
    else:
        if target is None:
            raise ValueError("stable_over= compares event rates, shares of a class, and no target was given")
        for what, given in (("target", target), ("weights", weights)):
            if isinstance(given, str) and isinstance(stable_over, str) and given == stable_over:
                raise ValueError(f"stable_over= and {what}= both name column {given!r}; name two columns")
        inputs = read_frame(data)
        periods, others = take_column(inputs, stable_over, STABLE_OVER)
        if len(periods) != inputs.n_rows:
            raise ValueError(f"data has {inputs.n_rows} rows and {STABLE_OVER} has {len(periods)}")
        table = _read_table(others, target, weights, target_kind, unlabelled, placement == MEDIAN, event)
        table = _with_periods(table, periods, str(stable_over) if _is_name(stable_over, inputs) else STABLE_OVER)
    if table.problem.flags.has_widths and placement is not None:
        raise ValueError(
            f"placement={placement!r} moves bounds, which costs nothing where parts are of rows alone; the parts of a "
            "density have widths, and its bounds are midway between two values: leave placement= out"
        )
    table = table._replace(target_name=name_of_target(target))
    return table if placement is None or placement == MEDIAN else table._replace(placement=placement)


def name_of_target(target: Any) -> str | None:
    """Name of a target: of a column, or of a series of pandas or Polars; None if it has none."""
    name = target if isinstance(target, str) else getattr(target, "name", None)
    return name if isinstance(name, str) and name else None


def _with_periods(table: Table, raw: Any, name: str) -> Table:
    """Table whose rows have the periods of the column `raw`; rows without a period are in none."""
    column = encode_column(raw if table.kept is None else rows_of(raw, table.kept), STABLE_OVER, "categorical")
    assert isinstance(column, Categories)  # noqa: S101  for mypy
    has_none = column.values[:1] == [None]  # then the first value
    names = tuple(str(value) for value in column.values[has_none:])
    if not names:
        raise ValueError(f"{STABLE_OVER} has no period: all its values are missing")
    codes = np.asarray(column.codes - has_none, dtype=np.int32)
    return table._replace(target=table.target._replace(periods=codes), stable_over=name, periods=names)


def _read_table(
    data: Any, target: Any, weights: Any, target_kind: str | None, unlabelled: Any, at_medians: bool, event: Any
) -> Table:
    """As `read_table`; with `at_medians`, unlabelled rows only place the bounds."""
    if is_sparse(data):
        _check_sparse(data, target, weights)
    inputs = data if isinstance(data, Frame) else read_frame(data)
    if inputs.n_rows == 0:
        raise ValueError("data has no rows" if inputs.entries is None else "data is a sparse matrix without entries")
    name = target if _is_name(target, inputs) else None
    _check_unlabelled(target, target_kind, unlabelled, at_medians)
    if target is None and target_kind is not None:
        raise ValueError(f"target_kind={target_kind!r} says what the target is, and no target was given")
    target_of, inputs = (None, inputs) if target is None else take_column(inputs, target, "target")
    weights_of, inputs = (None, inputs) if weights is None else take_column(inputs, weights, "weights")
    _check_inputs(inputs)
    if target_of is not None and len(target_of) != inputs.n_rows:
        raise ValueError(f"data has {inputs.n_rows} rows and target has {len(target_of)}")
    if inputs.entries is None:
        rows = encode_weights(weights_of, inputs.n_rows)
    else:
        rows = entry_weights(inputs.entries, "data")
    kept = None
    if rows is not None and np.any(rows == 0):
        kept = rows > 0
        if not kept.any():
            raise ValueError("all weights are 0: there are no rows")
        target_of, rows = None if target_of is None else rows_of(target_of, kept), rows[kept]
    n_lines = inputs.n_rows if kept is None else int(np.count_nonzero(kept))
    if target_of is None:
        check_no_event(event, "no target was given")
        if len(inputs.columns) == 1:
            return _table_of_density(inputs, rows, kept)
        return _table_without_classes(inputs, rows, kept, n_lines, "joint")
    if isinstance(target_of, SpanColumn):
        return _table_of_target_spans(inputs, target_of, rows, kept, n_lines, name, event)
    if unlabelled is not NOT_GIVEN:
        return _table_with_unlabelled(inputs, target_of, rows, kept, target_kind, unlabelled, at_medians, event)
    kind = kind_of_target(target_of, target_kind)
    if PROBLEMS[kind].target_is_partitioned:
        check_no_event(event, f"the target is {kind}")
    if PROBLEMS[kind].target_is_numerical:
        quantities = encode_quantities(target_of, _new_name(inputs) if name is None else name, rows)
        return _table_without_classes(inputs, rows, kept, n_lines, kind)._replace(searched=quantities)
    names, codes, event_number, is_default = encode_classes(target_of, event, rows)
    if target_kind is None:
        check_meant_as_classes(names, n_lines if rows is None else int(rows.sum()))
    if PROBLEMS[kind].target_is_partitioned:
        searched = Categories(_new_name(inputs) if name is None else name, names.tolist(), codes)
        return _table_without_classes(inputs, rows, kept, n_lines, kind)._replace(classes=names, searched=searched)
    by_class = count_rows(codes, rows, len(names))
    problem = Problem("classes", int(by_class.sum()), 1, by_class)
    target_rows = Target(codes, rows, len(names), event=event_number, event_is_default=is_default)
    return Table(inputs, names, target_rows, kept, problem)


def _table_of_target_spans(
    inputs: Frame, target: SpanColumn, rows: NDArray[np.int64] | None, kept: NDArray[np.bool_] | None, n_lines: int,
    name: Name, event: Any,
) -> Table:  # fmt: skip
    """Table of a numerical target that was counted in spans of values."""
    check_no_event(event, "the target is numerical")
    quantities = encode_column(target, name, "numerical")
    assert isinstance(quantities, Numbers)  # noqa: S101  for mypy
    table = _table_without_classes(inputs, rows, kept, n_lines, "numerical")
    return table._replace(searched=quantities, target_means=target.means)


def _table_with_unlabelled(
    inputs: Frame, target: Any, rows: NDArray[np.int64] | None, kept: NDArray[np.bool_] | None, target_kind: str | None,
    unlabelled: Any, at_medians: bool, event: Any,
) -> Table:  # fmt: skip
    """Table of a class target in which rows that hold `unlabelled` have no class."""
    classes, has_unlabelled = encode_labelled(target, unlabelled, target_kind, event, rows)
    names, codes, event_number, is_default = classes
    by_class = count_rows(codes, rows, len(names) + has_unlabelled)[: len(names)]
    if target_kind is None:
        check_meant_as_classes(names, int(by_class.sum()))
    target_of = Target(codes, rows, len(names), has_unlabelled, event_number, is_default)
    placed = has_unlabelled and at_medians
    n_rows = int(by_class.sum()) if placed else target_of.n_rows
    problem = Problem("semi" if has_unlabelled and not placed else "classes", n_rows, 1, by_class)
    return Table(inputs, names, target_of, kept, problem, placed=placed)


def _check_unlabelled(target: Any, target_kind: str | None, unlabelled: Any, at_medians: bool) -> None:
    """Raise if `unlabelled` or ``placement="median"`` do not fit the other arguments."""
    if at_medians and unlabelled is NOT_GIVEN:
        raise ValueError(
            f"placement={MEDIAN!r} places bounds among rows without a class; mark these rows with unlabelled="
        )
    if unlabelled is NOT_GIVEN:
        return
    if target is None:
        raise ValueError(f"unlabelled={unlabelled!r} marks rows of the target, and no target was given")
    if target_kind in TARGET_KINDS and PROBLEMS[str(target_kind)].target_is_partitioned:
        raise ValueError(
            f"unlabelled= is for a target of classes, but target_kind={target_kind!r} was passed; drop the rows "
            "without a target"
        )


def _table_without_classes(
    inputs: Frame, rows: NDArray[np.int64] | None, kept: NDArray[np.bool_] | None, n_lines: int, kind: str
) -> Table:
    """Table without a class target, of the problem `kind`; `n_lines` is the number of rows, `rows` their weights."""
    n_rows = n_lines if rows is None else int(rows.sum())
    problem = Problem(
        kind, n_rows, 1 if PROBLEMS[kind].has_one_input else len(inputs.columns), np.empty(0, dtype=np.int64)
    )
    return Table(inputs, np.empty(0), Target(np.zeros(n_lines, dtype=np.int32), rows, 1), kept, problem)


def _table_of_density(inputs: Frame, rows: NDArray[np.int64] | None, kept: NDArray[np.bool_] | None) -> Table:
    """Table of the density of one column: rows without a value are left out."""
    ((name, raw),) = inputs.columns.items()
    is_missing = marked_rows(raw if kept is None else rows_of(raw, kept), None)
    n_missing = int(np.count_nonzero(is_missing) if rows is None else rows[is_missing].sum())
    if n_missing:
        if is_missing.all():
            raise ValueError(f"column {name!r} has {n_missing} rows, all missing; a density needs values")
        kept = np.ones(inputs.n_rows, dtype=bool) if kept is None else kept.copy()
        kept[kept] = ~is_missing
        rows = None if rows is None else rows[~is_missing]
    table = _table_without_classes(inputs, rows, kept, int(np.count_nonzero(~is_missing)), "density")
    return table._replace(n_missing=n_missing, placement=EXACT)


def _check_sparse(data: Any, target: Any, weights: Any) -> None:
    """Raise if a sparse matrix comes with a target or weights: its entries are the rows and their weights."""
    what = f"data is a sparse {type(data).__name__}"
    if target is not None:
        raise TypeError(
            f"{what}, whose rows and columns are partitioned together, without a target; to partition its columns for "
            "a target, call its toarray() first"
        )
    if weights is not None:
        raise TypeError(f"{what}, whose entries are the weights; weights= is for other data")


def _check_inputs(inputs: Frame) -> None:
    """Raise ValueError if there is no input column."""
    if not inputs.columns:
        raise ValueError("data has no column besides the target")


def _new_name(inputs: Frame) -> Name:
    """Name for the target that no input column has."""
    name = "target"
    while name in inputs.columns:
        name += "'"
    return name


def _is_name(argument: Any, inputs: Frame) -> bool:
    """Whether `argument` is the name of a column and not a list of values; a tuple is if a column has that name."""
    if isinstance(argument, tuple):
        return inputs.has_names and any(isinstance(name, tuple) and argument == name for name in inputs.columns)
    return isinstance(argument, (str, bytes, int)) and not isinstance(argument, bool)


def take_column(inputs: Frame, argument: Any, what: str) -> tuple[Any, Frame]:
    """The column that `argument` names or is, and the inputs without it."""
    if not _is_name(argument, inputs):
        return read_column(argument, what), inputs
    assert isinstance(argument, Hashable)  # noqa: S101  for mypy
    if not inputs.has_names:
        raise TypeError(
            f"{what} must be array-like, or the name of a column of a frame; got {argument!r} with data that is an "
            "array"
        )
    check_columns(what, [argument], inputs.columns)
    return inputs.columns[argument], inputs.without(argument)
