"""Count rows by part, class and period: those of a model from its counts, new ones in memory.

`gridmodl.monitoring.lazy` counts rows of a lazy frame; both make the same `PartsCounts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Column, count_rows, encode_column, encode_for_model, encode_values
from gridmodl.data.domain import first_inside
from gridmodl.data.frames import Frame, Name, Raw, entry_weights, read_frame
from gridmodl.data.numbers import Numbers, is_text
from gridmodl.data.table import take_column
from gridmodl.data.targets import encode_weights
from gridmodl.model.cells import Cells
from gridmodl.model.counts import input_cells, part_counts
from gridmodl.model.labels import shown_value
from gridmodl.model.model import Model
from gridmodl.model.names import names_of_cells
from gridmodl.model.partition import OtherTypeError, Partition, group_partition
from gridmodl.model.policy import NEUTRAL
from gridmodl.terms import PROBLEMS

MAX_PERIODS = 1000  # values of by=
MAX_CLASSES_NAMED = 10  # in a message
ALL = "all"  # label of all new rows together
MISSING = "missing"  # label of the period of rows without one
TARGET, CELLS = "target", "cells"  # kinds of what is compared, beside those of columns


class TargetClasses(NamedTuple):
    """Classes that new rows are counted by: those of the target, groups of them, or intervals of a numerical target."""

    partition: Partition | None  # None without a target
    labels: list[str]
    events: tuple[int, ...]  # numbers of those whose rates are compared

    def __len__(self) -> int:
        return len(self.labels)

    def no_class(self, value: Any, name: str | None) -> str:
        """Message about a target `name` whose values, such as `value`, are of another type than the classes."""
        groups = () if self.partition is None else self.partition.groups
        known = [repr(one) for group in groups for one in group if one is not None]
        return (
            f"target{'' if name is None else f' {name!r}'} holds {value!r}; the classes of training are "
            f"{', '.join(known[:MAX_CLASSES_NAMED])}{', ...' * (len(known) > MAX_CLASSES_NAMED)}: convert the target"
        )


NO_CLASSES = TargetClasses(None, [], ())


def classes_of(model: Model) -> TargetClasses:
    """Classes of the target of a model, or the parts of a target that is partitioned too."""
    if model.target is not None:
        return TargetClasses(model.target, model.target.names, tuple(range(model.target.n_parts)))
    names = model.classes.tolist()
    if not names:
        return NO_CLASSES
    groups = tuple((name,) for name in names)
    partition = group_partition(TARGET, groups, np.zeros((len(names), 1), dtype=np.int64))
    one = model.event_index if model.has_one_event else None
    is_mixed = len(set(map(type, names))) > 1
    events = tuple(range(len(names))) if one is None else (one,)
    return TargetClasses(partition, [shown_value(name, is_mixed, is_alone=True) for name in names], events)


@dataclass(frozen=True)
class Compared:
    """One thing whose rows are compared: a column, the cells of a grid, or the target.

    Rows by part and class have one more line, for rows in no part, and one more column, for rows without a class.
    """

    name: Name
    kind: str
    labels: list[str]
    old: NDArray[np.int64]
    partitions: tuple[Partition, ...]
    classes: TargetClasses
    cells: Cells | None = None
    old_missing: int | None = None

    @property
    def partition(self) -> Partition:
        return self.partitions[0]

    @property
    def names_of_cells(self) -> list[list[str]]:
        """Names of the parts of each cell; empty for a column or the target."""
        return [] if self.cells is None else names_of_cells(self.cells, self.partitions)

    @property
    def has_range(self) -> bool:
        """Whether the range of the training values is known."""
        return self.kind == "numerical" and self.partition.domain is not None and len(self.partition.domain) == 2


class PartsCounts(NamedTuple):
    """Rows then and now of one column, of the cells of a grid, or of the target; `new` is by period."""

    compared: Compared
    new: NDArray[np.int64]  # periods x (parts + 1) x (classes + 1)
    missing: NDArray[np.int64]  # rows without a value, by period
    outside: NDArray[np.int64] | None  # rows below and above the training range, by period; None if it is not known
    new_values: dict[Any, int]  # rows of each category that training did not have, the most frequent first
    vanished: tuple[Any, ...]  # categories of the training rows that no new row has


def column_compared(model: Model, name: Name, classes: TargetClasses) -> Compared:
    """The column `name` of a model, with its training rows by part and class; `classes` are those of the model."""
    partition = model.partitions[name]
    counts = part_counts(model, partition) if model.target is not None else partition.counts
    if not PROBLEMS[model.problem].has_target:
        counts = np.zeros((partition.n_parts, 0), dtype=np.int64)
    unlabelled = partition.rows - counts.sum(axis=1)
    outside = partition.n_missing or 0 if PROBLEMS[model.problem].has_widths else 0  # a density leaves them out
    old = _with_last(counts, unlabelled, outside)
    n_missing = partition.n_missing
    if n_missing is None and partition.missing is not None and partition.is_missing_apart:  # from older files
        n_missing = int(partition.rows[partition.missing])
    return Compared(name, partition.kind, partition.names, old, (partition,), classes, old_missing=n_missing)


def cells_compared(model: Model, classes: TargetClasses) -> Compared:
    """The cells of the inputs of a grid."""
    cells = model.cells if model.target is None else input_cells(model)
    partitions = tuple(model.partitions[name] for name in cells.names)
    labels = [
        " & ".join(f"{name} {part}" for name, part in zip(cells.names, parts, strict=True)) or "all rows"
        for parts in names_of_cells(cells, partitions)
    ]
    counts = cells.counts if PROBLEMS[model.problem].has_target else cells.counts[:, :0]
    old = _with_last(counts, cells.rows - counts.sum(axis=1), 0)
    return Compared(CELLS, CELLS, labels, old, partitions, classes, cells)


def target_compared(model: Model) -> Compared | None:
    """The classes of a target, as parts; None without a target."""
    classes = classes_of(model)
    if classes.partition is None:
        return None
    rows = model.class_rows if model.target is None else model.target.counts[:, 0]
    old = _with_last(np.empty((len(classes), 0), dtype=np.int64), rows, 0)
    return Compared(TARGET, TARGET, classes.labels, old, (classes.partition,), NO_CLASSES)


def _with_last(counts: NDArray[np.int64], unlabelled: NDArray[np.int64], outside: int) -> NDArray[np.int64]:
    """Counts by part and class, with a column of unlabelled rows, and a line of rows in no part."""
    old = np.zeros((len(counts) + 1, counts.shape[1] + 1), dtype=np.int64)
    old[:-1, :-1], old[:-1, -1], old[-1, -1] = counts, unlabelled, outside
    return old


class NewRows(NamedTuple):
    """Class and period of each new row, as one number, and its weight."""

    key: NDArray[np.int64]  # period * (classes + 1) + class
    weights: NDArray[np.int64] | None
    n_classes: int
    n_periods: int

    def by_part(self, part: NDArray[np.int64], n_parts: int) -> NDArray[np.int64]:
        """Rows by period, part (last: in no part) and class (last: without a class)."""
        n_keys = self.n_periods * (self.n_classes + 1)
        place = np.where(part < 0, n_parts, part) * n_keys + self.key
        rows = count_rows(place, self.weights, (n_parts + 1) * n_keys)
        return rows.reshape(n_parts + 1, self.n_periods, self.n_classes + 1).transpose(1, 0, 2)

    def by_period(self, is_counted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Rows of each period that are counted."""
        period = self.key[is_counted] // (self.n_classes + 1)
        return count_rows(period, None if self.weights is None else self.weights[is_counted], self.n_periods)


class NewData(NamedTuple):
    """New rows in memory."""

    frame: Frame
    target: Raw | None
    target_name: str | None  # None if it is no column of the frame
    period: NDArray[np.int64]  # number of the period of each row
    periods: list[str]  # labels; one, empty, without by=
    weights: NDArray[np.int64] | None

    def rows(self, classes: TargetClasses) -> NewRows:
        """Class and period of each row."""
        key = self.period * (len(classes) + 1)
        code = np.full(self.frame.n_rows, len(classes), dtype=np.int64)
        if self.target is not None and classes.partition is not None:
            try:
                part = classes.partition.part_of_column(self.target, NEUTRAL)
            except OtherTypeError as error:
                raise TypeError(classes.no_class(error.value, self.target_name)) from error
            code = np.where(part < 0, len(classes), part)
        return NewRows(key + code, self.weights, len(classes), len(self.periods))


def read_new(new: Any, target: Any, by: Any, weights: Any) -> NewData:
    """Read new rows in memory; target, by and weights may be names of columns."""
    frame = read_frame(new, "new")
    if frame.n_rows == 0:
        raise ValueError("new has no rows to compare")
    if frame.entries is not None and weights is not None:
        raise TypeError("new is a sparse matrix, whose entries are the weights; weights= is for other data")
    of_target, of_by, of_weights = (
        None if argument is None else take_column(frame, argument, what)[0]
        for argument, what in ((target, "target"), (by, "by"), (weights, "weights"))
    )
    for what, column in (("target", of_target), ("by", of_by)):
        if column is not None and len(column) != frame.n_rows:
            raise ValueError(f"new has {frame.n_rows} rows and {what} has {len(column)}")
    rows = encode_weights(of_weights, frame.n_rows)
    if frame.entries is not None:
        rows = entry_weights(frame.entries, "new")
    if rows is not None and not rows.any():
        raise ValueError("all weights are 0: there are no rows to compare")
    period, labels = np.zeros(frame.n_rows, dtype=np.int64), [""]
    if of_by is not None:
        period, labels = _periods(of_by, rows)
    name = target if isinstance(target, str) else None
    return NewData(frame, of_target, name, period, labels, rows)


def _periods(raw: Raw, weights: NDArray[np.int64] | None) -> tuple[NDArray[np.int64], list[str]]:
    """Number of the period of each row, and the labels of the periods, ascending; missing last.

    Dates are taken by month, in UTC if they have a zone; other values each alone.
    """
    months = _months(raw)
    if months is None:
        _, values, codes = encode_values(raw, "by")
    else:
        found, inverse = np.unique(months, return_inverse=True)
        codes = inverse.astype(np.int32)
        values = [None if np.isnat(month) else str(month) for month in found]
    number, labels = period_labels(values)
    period = number[codes]
    if weights is None or weights.all():
        return period, labels
    kept, of_kept = np.unique(period[weights > 0], return_inverse=True)  # others have no rows
    period[weights > 0] = of_kept
    period[weights == 0] = 0
    return period, [labels[i] for i in kept.tolist()]


def _months(raw: Raw) -> NDArray[np.datetime64] | None:
    """The month of each row, NaT if missing; None if `raw` are no dates."""
    if isinstance(raw, np.ndarray):
        if raw.dtype.kind not in "MO" or is_text(raw):
            return None
    elif not raw.dtype.is_temporal() and not isinstance(raw.dtype, (nw.Object, nw.Unknown)):
        return None
    try:
        column = encode_column(raw, "by", "numerical")
    except TypeError:
        return None
    if not isinstance(column, Numbers) or column.type.kind != "M":
        return None
    return column.values.view(column.type).astype("datetime64[M]")


def period_labels(values: Sequence[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """Number of each of the ascending `values`, None (missing) last, and labels in the order of the numbers."""
    if len(values) > MAX_PERIODS:
        raise ValueError(
            f"by= has {len(values)} different values, and at most {MAX_PERIODS} periods are compared; give months, "
            "weeks or other groups of rows"
        )
    present = [value for value in values if value is not None]
    is_mixed = len(set(map(type, present))) > 1
    number = iter(range(len(present)))
    numbers = [len(present) if value is None else next(number) for value in values]
    labels = [repr(value) if value == ALL else shown_value(value, is_mixed) for value in present]
    labels += [MISSING] * (len(present) < len(values))
    return np.array(numbers, dtype=np.int64), labels


def count_column(compared: Compared, raw: Raw, rows: NewRows) -> PartsCounts:
    """Rows of a column by part, class and period."""
    partition = compared.partition
    column = encode_for_model(raw, compared.name, "numerical" if partition.kind == "numerical" else "categorical")
    part = partition.part_of_encoded(column, NEUTRAL)
    missing = rows.by_period(_is_missing(column))
    new = rows.by_part(part, partition.n_parts)
    if isinstance(column, Numbers):
        outside = _outside(compared, column, part, rows) if compared.has_range else None
        return PartsCounts(compared, new, missing, outside, {}, ())
    of_values = count_rows(column.codes, rows.weights, len(column.values))
    new_values, vanished = changed_values(partition, dict(zip(column.values, of_values.tolist(), strict=True)))
    return PartsCounts(compared, new, missing, None, new_values, vanished)


def _is_missing(column: Column) -> NDArray[np.bool_]:
    if isinstance(column, Numbers):
        return np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    return np.asarray(column.codes == column.values.index(None) if None in column.values else column.codes < 0)


def _outside(compared: Compared, column: Numbers, part: NDArray[np.int64], rows: NewRows) -> NDArray[np.int64]:
    """Rows below and above the training range, by period; special codes and missing values are in no range."""
    partition = compared.partition
    assert partition.domain is not None  # noqa: S101  for mypy: `has_range`
    is_number = (part < partition.n_parts - partition.n_special) & ~_is_missing(column)
    values = column.values.view(column.type) if column.type.kind in "mM" else column.values
    low, high = first_inside(partition.domain, partition.step)
    return np.stack([rows.by_period(is_number & (values < low)), rows.by_period(is_number & (values > high))], axis=1)


def changed_values(partition: Partition, rows: Mapping[Any, int]) -> tuple[dict[Any, int], tuple[Any, ...]]:
    """Categories that training did not have, with their rows, and those that only training had."""
    if partition.others is not None:  # a value that no group lists may have been there
        return {}, ()
    known = [value for group in partition.groups for value in group]
    groups = set(known)
    found = {value: n for value, n in rows.items() if value is not None and value not in groups and n > 0}
    if partition.value_rows is None:  # of an ordinal column, and of old files
        return _most_frequent(found), ()
    in_training = zip(known, partition.value_rows.tolist(), strict=True)
    vanished = tuple(value for value, n in in_training if n > 0 and value is not None and not rows.get(value, 0))
    return _most_frequent(found), vanished


def _most_frequent(rows: dict[Any, int]) -> dict[Any, int]:
    return dict(sorted(rows.items(), key=lambda item: -item[1]))


def count_target(compared: Compared, raw: Raw, rows: NewRows) -> PartsCounts:
    """Rows of the classes by period; rows without a label are missing, and no class."""
    return without_missing(count_column(compared, raw, rows))


def without_missing(counts: PartsCounts) -> PartsCounts:
    """Counts of a target, in which rows without a label are in no line."""
    new = counts.new.copy()
    if counts.compared.partition.missing is None:
        new[:, -1, 0] -= counts.missing
    return counts._replace(new=new, vanished=())


def count_cells(compared: Compared, parts: Sequence[NDArray[np.int64]], rows: NewRows) -> PartsCounts:
    """Rows of the cells of a grid by class and period, given the part of each row in each column."""
    assert compared.cells is not None  # noqa: S101  for mypy
    cell = compared.cells.cell_of(parts, len(rows.key))
    new = rows.by_part(cell, len(compared.labels))
    return PartsCounts(compared, new, np.zeros(rows.n_periods, dtype=np.int64), None, {}, ())
