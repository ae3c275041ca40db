"""`Partition`, the parts of one variable: intervals, or groups of values."""

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

    Parts are numbered from 0. Intervals come in ascending order, after a part of missing values if these have one, and
    before the special codes, each of which is a part. Groups found by a search come in ascending order of the mean
    class number of their rows (for two classes, of the share of the second); with a numerical target, in ascending
    order of its mean; in a joint grid and with grouped classes, in descending order of their rows, each with its most
    typical values first. The user's own groups keep their order.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"numerical", "categorical"}
        Whether parts are intervals ``(lo, hi]`` or groups of values.
    counts : ndarray of shape (n_parts, n_classes)
        Labelled rows of each part and class; a single column if there are no classes or they are partitioned too.
    unlabelled : ndarray of shape (n_parts,) or None
        Unlabelled rows of each part, which are not in ``counts``; None if all rows are labelled.
    rows : ndarray of shape (n_parts,)
        All rows of each part.
    n_parts : int
        Number of parts.
    bounds : ndarray
        Inner bounds of the intervals, ascending, in the column's own type: numbers, dates or durations. Empty for a
        categorical variable.
    groups : tuple of tuple
        Values of each group, in the user's own type; None stands for a missing value. Empty for a numerical variable.
    missing : int or None
        The part that holds the missing values; None if there were none.
    special : ndarray
        Special codes of a numerical variable.
    default : int or None
        Group for values that were not in the training data: the one with the most values (ties: most rows).
    is_utc : bool
        Whether bounds are in UTC, because the column has a time zone.
    n_values : ndarray or None
        Number of distinct values of each part, if there are no classes or they are partitioned too; else None.
    value_rows : ndarray or None
        Rows of each value of a categorical variable, as sums of weights, in the order of ``groups``; a criterion needs
        them to price a model without its data. None for a numerical variable, and for models from old files.
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
    # From files of versions 3 and 4, which lack `value_rows`: their `gridmodl.codelength.log_orders`.
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
        """Label of each part, such as ``(2.45, 4.75]`` or ``{blue, green}``."""
        return labels_of(self)

    def part_of(self, values: ArrayLike, unknown: str | int = "default") -> NDArray[np.int64]:
        """Number of the part of each value.

        A missing value goes to the part ``missing``. If that is None, it goes to the lowest interval of a numerical
        variable, because it sorts below all numbers, and is an unknown value of a categorical one.

        Parameters
        ----------
        values : array-like of shape (n,)
            Values of the type of the training column.
        unknown : {"default", -1, "error"}
            Result for a value of a categorical variable that was not in the training data: the group ``default``, the
            number -1, or a ValueError.
        """
        frame = read_frame(values, f"column {self.name!r}")
        if len(frame.columns) != 1:
            raise ValueError(f"part_of takes the values of column {self.name!r}; got {len(frame.columns)} columns")
        return self.part_of_column(next(iter(frame.columns.values())), unknown)

    def part_of_column(self, raw: Any, unknown: str | int = "default") -> NDArray[np.int64]:
        """Number of the part of each value of `raw`, a column of a frame; `unknown` as in `part_of`."""
        if len(raw) == 0:
            return np.empty(0, dtype=np.int64)
        return self.part_of_encoded(encode_column(raw, self.name, self.kind), unknown)

    def part_of_encoded(self, column: Column, unknown: str | int = "default") -> NDArray[np.int64]:
        """Number of the part of each value of an encoded `column`; `unknown` as in `part_of`."""
        unknown = checked_unknown(unknown)
        if isinstance(column, Categories):
            return self._group_of(column, unknown)
        return self._interval_of(column)

    def to_sql(self, dialect: str, column: str | Sequence[str] | None = None, unknown: str | int = "default") -> str:
        """Write the SQL expression for the part of a column, with the same result as `part_of`.

        Parameters
        ----------
        dialect : {"postgres", "duckdb", "sqlite", "bigquery", "snowflake"}
        column : str or sequence of str, optional
            Name of the column in SQL, or the names of its table and itself; by default ``name``.
        unknown : {"default", -1}
            Result for a category that was not in the training data: the group ``default``, or the number -1.
        """
        from gridmodl.report.sql import expression_in

        return expression_in(self, dialect, column, unknown)

    @property
    def is_missing_apart(self) -> bool:
        """Whether the missing values of a numerical variable have a part of their own."""
        return self.missing is not None and self.n_parts > len(self.bounds) + 1 + len(self.special)

    def _interval_of(self, column: Numbers) -> NDArray[np.int64]:
        """Number of the part of each value of a numerical column."""
        first = int(self.is_missing_apart)
        values = _as_type_of(self.bounds, self.is_utc, column)
        bounds = self.bounds.view(np.int64) if self.bounds.dtype.kind in "mM" else self.bounds
        parts = np.searchsorted(bounds, values, side="left").astype(np.int64, copy=False)
        if first:
            parts += first
        if len(self.special):
            values = _as_type_of(self.special, self.is_utc, column)
            if self.special.dtype.kind in "mM":
                values = values.view(self.special.dtype)
                exact = values.astype(column.type) == column.values.view(column.type)
            else:
                with np.errstate(invalid="ignore"):
                    exact = values.astype(column.values.dtype) == column.values  # a rounded value is not a code
            for i, code in enumerate(self.special):
                parts[exact & (values == code)] = first + len(self.bounds) + 1 + i
        if column.missing is not None:
            parts[column.missing] = self.missing or 0
        return parts

    def _group_of(self, column: Categories, unknown: str) -> NDArray[np.int64]:
        """Number of the group of each value of a categorical column."""
        group_of = {value: i for i, group in enumerate(self.groups) for value in group}
        try:
            parts = np.fromiter((group_of.get(value, -1) for value in column.values), np.int64, len(column.values))
        except Exception as error:  # `__eq__` of a value may raise any error
            kinds = ", ".join(sorted({type(value).__name__ for value in column.values}))
            raise TypeError(
                f"column {self.name!r} holds values of {kinds} that cannot be compared with those of its groups: "
                f"{type(error).__name__}: {error}"
            ) from error
        types, known = _types_of(column.values), _types_of(group_of)
        if types and known and not types & known and np.all(parts < 0):
            raise TypeError(
                f"column {self.name!r} holds values such as {column.values[-1]!r}, its groups such as "
                f"{self.groups[-1][-1]!r}; convert the column to the type of the training data"
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
        """HTML that notebooks show."""
        from gridmodl.report.notebook import partition_html

        return partition_html(self)

    def __repr__(self) -> str:
        return f"Partition({self.name!r}, {self.kind}, {counted(self.n_parts, 'part')})"


def _types_of(values: Iterable[Any]) -> set[type]:
    """Types of the values that are not missing; all numbers count as one type."""
    types = {type(value) for value in values if value is not None}
    return {next((kind for kind in (numbers.Number, str, bytes) if issubclass(t, kind)), t) for t in types}


def checked_unknown(unknown: Any) -> str:
    """The argument `unknown` as a word of UNKNOWN; raise ValueError if it is none."""
    if str(unknown) not in UNKNOWN or isinstance(unknown, float):
        near = did_you_mean(unknown, [word for word in UNKNOWN if word.isalpha()])
        raise ValueError(f"unknown must be 'default', -1 or 'error', got {unknown!r}{near}")
    return str(unknown)


def known_values(partition: Partition) -> ColumnValues:
    """Facts about the values of a categorical variable that a criterion needs, from the partition alone."""
    known = partition.value_rows
    if known is not None:
        return categorical_values(known[known > 0])
    sizes = list(map(len, partition.groups)) if partition.n_values is None else partition.n_values.tolist()
    rows = [(n + i) // size for n, size in zip(partition.rows.tolist(), sizes, strict=True) for i in range(size)]
    summed = np.array(rows, dtype=np.int64).view(SummedRows)
    summed.log_orders = partition._log_orders
    return categorical_values(summed)


def rows_in_groups(
    groups: Iterable[Iterable[Any]], values: Sequence[Any], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rows of each value in the order of `groups`, given the `rows` of `values`; 0 for a value that is not there."""
    of_value = dict(zip(values, rows.tolist(), strict=True))
    return np.array([of_value.get(value, 0) for group in groups for value in group], dtype=np.int64)


def group_partition(
    name: Name,
    groups: tuple[tuple[Any, ...], ...],
    counts: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
) -> Partition:
    """Partition into groups with their rows; sets the parts of missing and unknown values."""
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
    """Partition into intervals and special codes; a row of `counts` beyond these is of the missing values."""
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
    """Group for values that were not in the training data: the one with the most values, then the most rows."""
    of_groups = rows.tolist()
    return max(range(len(groups)), key=lambda i: (len(groups[i]), of_groups[i], -i))


def _as_type_of(bounds: NDArray[Any], is_utc: bool, column: Numbers) -> NDArray[Any]:
    """Convert the values of `column` to the type of `bounds`, each still on the same side of each bound."""
    values = column.values
    if bounds.dtype.kind in "mM" or column.type.kind in "mM":
        return _as_times(bounds, is_utc, column)
    if bounds.dtype.kind == "f":
        if values.dtype.kind == "f":
            return values
        # Large integers against float bounds: round up, because a value above a bound must not be rounded down to it.
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
    """Convert dates or durations to the unit of the bounds, rounded up."""
    if bounds.dtype.kind != column.type.kind:
        raise TypeError(f"column {column.name!r} holds {column.type}; the partition is of {bounds.dtype}")
    if is_utc != column.is_utc:
        with_or_without = ("without", "with") if is_utc else ("with", "without")
        raise TypeError(f"column {column.name!r} is {' a time zone; the partition '.join(with_or_without)} one")
    if bounds.dtype == column.type:
        return column.values
    times = column.values.view(column.type)
    down = times.astype(bounds.dtype)
    back = down.astype(column.type)
    up = (down.view(np.int64) + (back < times)).astype(np.int64)
    if np.promote_types(bounds.dtype, column.type) == bounds.dtype:  # a finer unit, whose range is smaller
        info = np.iinfo(np.int64)
        up = np.where(back == times, up, np.where(column.values > 0, info.max, info.min + 1))
    return up
