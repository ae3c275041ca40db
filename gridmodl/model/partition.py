"""The parts of one variable: intervals, or groups of values."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gridmodl.codelength import SummedRows
from gridmodl.data.columns import Categories, Column, encode_column
from gridmodl.data.frames import Name, read_frame
from gridmodl.data.numbers import Numbers
from gridmodl.model.labels import counted, labels_of
from gridmodl.pricing import ColumnValues, categorical_values
from gridmodl.spelling import did_you_mean

UNKNOWN = ("default", "-1", "error")


@dataclass(frozen=True, eq=False)
class Partition:
    """The parts of one variable.

    Parts are numbered from 0. Intervals come in ascending order; before them stand the missing values, if they are
    apart, and after them the special codes, each a part of its own. Groups that were found come in ascending order of
    the mean class number of their rows, with two classes of the share of the second; beside a numerical target, of its
    mean; in a joint grid and where classes are grouped, those of most rows first, and in each the most typical values
    first. The user's own come in his order.

    Attributes
    ----------
    name : str
        The column.
    kind : {"numerical", "categorical"}
        Whether parts are intervals ``(lo, hi]`` or groups of values.
    counts : ndarray of shape (n_parts, n_classes)
        Rows of each part and class; a single column where there are no classes, or where they are partitioned too.
    unlabelled : ndarray of shape (n_parts,) or None
        Rows of each part without a class, which are not in ``counts``; None where all rows have one.
    rows : ndarray of shape (n_parts,)
        All rows of each part.
    n_parts : int
        The number of parts.
    bounds : ndarray
        Inner bounds of the intervals, ascending, of the column's own type: numbers, dates or durations. Empty for a
        categorical variable.
    groups : tuple of tuple
        The values of each group, of the user's own type; None stands for a missing value. Empty for a numerical one.
    missing : int or None
        The part that holds the missing values; None if there were none.
    special : ndarray
        The special codes of a numerical variable.
    default : int or None
        The group for values that were never seen: the one with the most values, of equals that with the most rows.
    is_utc : bool
        Whether bounds are instants of UTC, because the column has a time zone.
    n_values : ndarray or None
        Distinct values of each part, where there are no classes or these are partitioned too; else None.
    value_rows : ndarray or None
        Rows of each value of a categorical variable that are priced, weights counted, in the order of ``groups``: with
        them a criterion prices a model without its data. None for a numerical variable, and in a model of an old file.
    """

    name: Name
    kind: str
    counts: NDArray[np.int64]
    bounds: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    groups: tuple[tuple[Any, ...], ...] = ()
    missing: int | None = None
    special: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    default: int | None = None
    is_utc: bool = False
    n_values: NDArray[np.int64] | None = None
    value_rows: NDArray[np.int64] | None = None
    unlabelled: NDArray[np.int64] | None = None
    # In place of `value_rows`, of files of versions 3 and 4: `log_orders` of them.
    _log_orders: float = math.nan

    @property
    def rows(self) -> NDArray[np.int64]:
        labelled: NDArray[np.int64] = self.counts.sum(axis=1)
        return labelled if self.unlabelled is None else labelled + self.unlabelled

    @property
    def n_parts(self) -> int:
        return len(self.counts)

    @property
    def labels(self) -> list[str]:
        """Each part in words, such as ``(2.45, 4.75]`` or ``{blue, green}``."""
        return labels_of(self)

    def part_of(self, values: ArrayLike, unknown: str | int = "default") -> NDArray[np.int64]:
        """The part of each value.

        A missing value goes to the part that holds missing values; where there were none, it goes to the lowest
        interval, as it sorts below all numbers, or is an unknown value of a categorical variable.

        Parameters
        ----------
        values : array-like of shape (n,)
            Of the type that the column had.
        unknown : {"default", -1, "error"}
            What becomes of a value of a categorical variable that was never seen: the group ``default``, the number
            -1, or a ValueError.
        """
        frame = read_frame(values, f"column {self.name!r}")
        if len(frame.columns) != 1:
            raise ValueError(f"part_of takes the values of column {self.name!r}; got {len(frame.columns)} columns")
        return self.part_of_column(next(iter(frame.columns.values())), unknown)

    def part_of_column(self, raw: Any, unknown: str | int = "default") -> NDArray[np.int64]:
        """The part of each value of `raw`, a column as a frame has it; `unknown` as in `part_of`."""
        if len(raw) == 0:
            return np.empty(0, dtype=np.int64)
        return self.part_of_encoded(encode_column(raw, self.name, self.kind), unknown)

    def part_of_encoded(self, column: Column, unknown: str | int = "default") -> NDArray[np.int64]:
        """The part of each value of a `column` that was read before; `unknown` as in `part_of`."""
        unknown = checked_unknown(unknown)
        if isinstance(column, Categories):
            return self._group_of(column, unknown)
        return self._interval_of(column)

    def to_sql(self, dialect: str, column: str | Sequence[str] | None = None, unknown: str | int = "default") -> str:
        """The part of a column as an expression in SQL, the same part that `part_of` finds.

        Parameters
        ----------
        dialect : {"postgres", "duckdb", "sqlite", "bigquery", "snowflake"}
        column : str or sequence of str, optional
            What the column is called, if that is not its own name, or the names of its table and itself.
        unknown : {"default", -1}
            What becomes of a category that was never seen: the group ``default``, or the number -1.
        """
        from gridmodl.report.sql import expression_in

        return expression_in(self, dialect, column, unknown)

    @property
    def is_missing_apart(self) -> bool:
        """Whether missing values have a part of their own, beside the intervals of a numerical variable."""
        return self.missing is not None and self.n_parts > len(self.bounds) + 1 + len(self.special)

    def _interval_of(self, column: Numbers) -> NDArray[np.int64]:
        first = int(self.is_missing_apart)
        values = _as_type_of(self.bounds, self.is_utc, column)
        bounds = self.bounds.view(np.int64) if self.bounds.dtype.kind in "mM" else self.bounds
        parts = np.searchsorted(bounds, values, side="left").astype(np.int64, copy=False)
        if first:
            parts += first
        if len(self.special):
            given = _as_type_of(self.special, self.is_utc, column)
            if self.special.dtype.kind in "mM":
                given = given.view(self.special.dtype)
                exact = given.astype(column.type) == column.values.view(column.type)
            else:
                with np.errstate(invalid="ignore"):
                    exact = given.astype(column.values.dtype) == column.values  # nothing that was rounded is a code
            for i, code in enumerate(self.special):
                parts[exact & (given == code)] = first + len(self.bounds) + 1 + i
        if column.missing is not None:
            parts[column.missing] = self.missing or 0
        return parts

    def _group_of(self, column: Categories, unknown: str) -> NDArray[np.int64]:
        group_of = {value: i for i, group in enumerate(self.groups) for value in group}
        try:
            parts = np.fromiter((group_of.get(value, -1) for value in column.values), np.int64, len(column.values))
        except Exception as error:  # whatever __eq__ of a value raises that looks like one of a group
            kinds = ", ".join(sorted({type(value).__name__ for value in column.values}))
            raise TypeError(
                f"column {self.name!r} holds values of {kinds} that cannot be compared with those of its groups: "
                f"{type(error).__name__}: {error}"
            ) from error
        given, known = _types_of(column.values), _types_of(group_of)
        if given and known and not given & known and np.all(parts < 0):
            raise TypeError(
                f"column {self.name!r} holds values such as {column.values[-1]!r}, its groups such as "
                f"{self.groups[-1][-1]!r}; give it the type that it had"
            )
        if unknown != "-1" and np.any(parts < 0):
            if unknown == "error" or self.default is None:
                unseen = [value for value, part in zip(column.values, parts.tolist(), strict=True) if part < 0]
                raise ValueError(
                    f"column {self.name!r} holds {len(unseen)} values that were not seen before, such as "
                    f"{unseen[0]!r}; unknown='default' puts them into a group, unknown=-1 marks them"
                )
            parts[parts < 0] = self.default
        return parts[column.codes]

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from gridmodl.report.notebook import partition_html

        return partition_html(self)

    def __repr__(self) -> str:
        return f"Partition({self.name!r}, {self.kind}, {counted(self.n_parts, 'part')})"


def _types_of(values: Iterable[Any]) -> set[type]:
    """What kinds of values there are, missing ones apart; all numbers are of one kind."""
    types = {type(value) for value in values if value is not None}
    return {next((kind for kind in (numbers.Number, str, bytes) if issubclass(t, kind)), t) for t in types}


def checked_unknown(unknown: Any) -> str:
    if str(unknown) not in UNKNOWN or isinstance(unknown, float):
        near = did_you_mean(unknown, [word for word in UNKNOWN if word.isalpha()])
        raise ValueError(f"unknown must be 'default', -1 or 'error', got {unknown!r}{near}")
    return str(unknown)


def known_values(partition: Partition) -> ColumnValues:
    """What a criterion may know of the values of a categorical variable, from its partition alone."""
    known = partition.value_rows
    if known is not None:
        return categorical_values(known[known > 0])
    sizes = list(map(len, partition.groups)) if partition.n_values is None else partition.n_values.tolist()
    rows = [(n + i) // size for n, size in zip(partition.rows.tolist(), sizes, strict=True) for i in range(size)]
    spread = np.array(rows, dtype=np.int64).view(SummedRows)
    spread.log_orders = partition._log_orders
    return categorical_values(spread)


def rows_in_groups(
    groups: Iterable[Iterable[Any]], values: Sequence[Any], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The rows of each value in the order of `groups`, given the `rows` of `values`; 0 for one that is not there."""
    of_value = dict(zip(values, rows.tolist(), strict=True))
    return np.array([of_value.get(value, 0) for group in groups for value in group], dtype=np.int64)


def group_partition(
    name: Name,
    groups: tuple[tuple[Any, ...], ...],
    counts: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
) -> Partition:
    """Groups with their rows; where missing and unknown values go follows from these."""
    missing = next((i for i, group in enumerate(groups) if None in group), None)
    partition = Partition(name, "categorical", counts, groups=groups, missing=missing, unlabelled=unlabelled)
    return replace(partition, default=default_group(groups, partition.rows))


def interval_partition(
    column: Numbers,
    bounds: NDArray[Any],
    special: NDArray[Any],
    counts: NDArray[np.int64],
    has_missing: bool,
    unlabelled: NDArray[np.int64] | None = None,
) -> Partition:
    """Intervals of a column with their rows; one part more than these and the codes holds the missing values."""
    return Partition(
        column.name,
        "numerical",
        counts,
        bounds=bounds,
        missing=0 if has_missing else None,
        special=special.view(column.type) if column.type.kind in "mM" else special,
        is_utc=column.is_utc,
        unlabelled=unlabelled,
    )


def default_group(groups: Sequence[Sequence[Any]], rows: NDArray[np.int64]) -> int:
    """Where a value that was never seen most likely belongs: the group with the most values, then the most rows."""
    of_groups = rows.tolist()
    return max(range(len(groups)), key=lambda i: (len(groups[i]), of_groups[i], -i))


def _as_type_of(bounds: NDArray[Any], is_utc: bool, column: Numbers) -> NDArray[Any]:
    """The values in the type of the bounds, so that each still lies on the same side of each bound."""
    values = column.values
    if bounds.dtype.kind in "mM" or column.type.kind in "mM":
        return _as_times(bounds, is_utc, column)
    if bounds.dtype.kind == "f":
        if values.dtype.kind == "f":
            return values
        # Large integers against float bounds: round up, as a value above a bound may not be rounded down to it.
        floats = values.astype(np.float64)
        fits = floats < 2.0 ** (64 if values.dtype.kind == "u" else 63)
        down = fits & (np.where(fits, floats, 0.0).astype(values.dtype) < values)
        return np.where(down, np.nextafter(floats, np.inf), floats)
    if values.dtype == bounds.dtype:
        return values
    info = np.iinfo(bounds.dtype)
    if values.dtype.kind == "f":
        up = np.ceil(np.where(np.isnan(values), 0.0, values))
        inside = np.where((up > float(info.min)) & (up < float(info.max)), up, 0.0).astype(bounds.dtype)
        return np.where(up >= float(info.max), info.max, np.where(up <= float(info.min), info.min, inside))
    return np.clip(values, max(info.min, np.iinfo(values.dtype).min), min(info.max, np.iinfo(values.dtype).max)).astype(
        bounds.dtype
    )


def _as_times(bounds: NDArray[Any], is_utc: bool, column: Numbers) -> NDArray[np.int64]:
    """Dates or durations in the unit of the bounds, rounded up."""
    if bounds.dtype.kind != column.type.kind:
        raise TypeError(f"column {column.name!r} holds {column.type}; the partition is of {bounds.dtype}")
    if is_utc != column.is_utc:
        with_or_without = ("without", "with") if is_utc else ("with", "without")
        raise TypeError(f"column {column.name!r} is {' a time zone; the partition '.join(with_or_without)} one")
    if bounds.dtype == column.type:
        return column.values
    given = column.values.view(column.type)
    down = given.astype(bounds.dtype)
    back = down.astype(column.type)
    up = (down.view(np.int64) + (back < given)).astype(np.int64)
    if np.promote_types(bounds.dtype, column.type) == bounds.dtype:  # a finer unit, which may not reach so far
        info = np.iinfo(np.int64)
        up = np.where(back == given, up, np.where(column.values > 0, info.max, info.min + 1))
    return up
