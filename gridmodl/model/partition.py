"""`Partition`, the parts of one variable: intervals, groups of adjacent levels, or groups of values."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gridmodl.codelength import SummedRows
from gridmodl.data.columns import Categories, Column, Kind, encode_for_model, kind_of_column
from gridmodl.data.frames import Name, read_frame
from gridmodl.data.numbers import Numbers, Special
from gridmodl.model.labels import counted, labels_of
from gridmodl.model.names import names_of
from gridmodl.model.policy import BY_PARTITION, NO_PART, Policy, checked_policy
from gridmodl.pricing import ColumnValues, categorical_values


class OtherTypeError(TypeError):
    """No value of a column of categories is of a type of the training data."""

    def __init__(self, name: Name, value: Any, known: Any) -> None:
        super().__init__(name, value, known)
        self.name, self.value, self.known = name, value, known

    def __str__(self) -> str:
        return (
            f"column {self.name!r} holds values such as {self.value!r}, its groups such as {self.known!r}; convert the "
            "column to the type of the training data"
        )


@dataclass(frozen=True, eq=False)
class Partition:
    """The parts of one variable.

    Parts are numbered from 0. Intervals and groups of adjacent levels come in ascending order, after a part of missing
    values if these have one, and before the special codes, each of which is a part. Groups found by a search come in
    ascending order of the share of the event, or of the mean class number of their rows without an event; with a
    numerical target, in ascending order of its mean; in a joint grid and with grouped classes, in descending order of
    their rows, each with its most typical values first. The user's own groups keep their order.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"numerical", "categorical", "ordinal"}
        Whether parts are intervals ``(lo, hi]``, groups of values, or groups of adjacent levels of an order.
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
        categorical variable. A bound that a search finds is in the middle of two neighbouring values of the data,
        rounded to ten significant digits where that moves it by at most a hundredth of their distance; with
        ``placement="short"`` it has the fewest digits (float64 for floats of any size). Of an ordinal variable, the
        places in ``levels`` of the last level of each group but the last.
    groups : tuple of tuple
        Values of each group, in the user's own type; None stands for a missing value. Of an ordinal variable, the
        levels of each part, those that the training data lacks included. Empty for a numerical variable.
    levels : tuple
        Levels of an ordinal variable, from low to high; empty for others. Levels that the training data lacks fall
        between their neighbours: where a bound separates two levels of the data, those in between are divided in half,
        and an odd one joins the lower part.
    missing : int or None
        The part that holds the missing values; None if there were none.
    n_missing : int or None
        Rows with a missing value, alone in a part or not; None if not known, as in models from old files.
    special : ndarray
        Special codes of a numerical variable, part by part; of an ordinal one, their places in ``levels``.
    special_sizes : tuple of int or None
        Number of values of each special part, the last parts of a variable: intervals are followed by special codes,
        groups by special groups. None if each special code is a part of its own, or if there are none.
    default : int or None
        Part of values that no part holds: missing values if training had none, and categories that it did not have.
        None, unless the model was read from a file of versions 1 to 5, or there are ``others``: such values belong to
        no part.
    others : str or None
        Name of all values that no group lists, itself listed in the group ``default``, to which they belong; None if
        there are none. Columns of lazy frames with very many categories have them: rare ones are counted together.
    is_utc : bool
        Whether bounds are in UTC, because the column has a time zone.
    n_values : ndarray or None
        Number of distinct values of each part, if there are no classes or they are partitioned too; else None.
    value_rows : ndarray or None
        Rows of each value of a categorical variable, as sums of weights, in the order of ``groups``; a criterion needs
        them to price a model without its data. None for a numerical variable, and for models from old files.
    widths : ndarray or None
        Of a density: width of each part, in units of the column, for dates and durations in the unit of their type. It
        is 0 for a mass, a special code or a value that alone holds many rows. A bound is rounded to the type of the
        column, the width is not. None for other models.
    domain : ndarray of two or None
        Lowest and highest of the values of a numerical column that are neither missing nor special; empty if there are
        none. Of a density whose values are on a lattice, half a step beyond both, rounded down in integers and dates.
        None for columns with infinite values, and for models from old files.
    step : float
        Of a density: the step of the lattice that its values are on, such as 1 for whole numbers, in the unit of
        ``widths``; each width is a whole multiple of it. 0 if they are on none, and for other models.
    given_names : tuple of str or None
        Name of each part that the user gave with `Model.rename`, None for the others; empty if there are none.
    lowest, highest : ndarray or None
        Lowest and highest value of each interval, missing values and special codes left out; of an interval without
        values, the highest and the lowest value of all. Empty if ``domain`` is. Only of the numerical columns of a
        joint grid and of a numerical target that have a ``domain``; None for others and for models from old files.
    """

    name: Name
    kind: str
    counts: NDArray[np.int64]
    bounds: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    groups: tuple[tuple[Any, ...], ...] = ()
    missing: int | None = None
    special: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    default: int | None = None
    others: str | None = None
    is_utc: bool = False
    n_values: NDArray[np.int64] | None = None
    value_rows: NDArray[np.int64] | None = None
    unlabelled: NDArray[np.int64] | None = None
    levels: tuple[Any, ...] = ()
    n_missing: int | None = None
    special_sizes: tuple[int, ...] | None = None
    widths: NDArray[np.float64] | None = None
    domain: NDArray[Any] | None = None
    given_names: tuple[str | None, ...] = ()
    lowest: NDArray[Any] | None = None
    highest: NDArray[Any] | None = None
    step: float = 0.0
    # From files of versions 3 and 4, which lack `value_rows`: their `gridmodl.codelength.log_orders`.
    _log_orders: float = math.nan

    def __post_init__(self) -> None:
        if self.kind == "ordinal":
            object.__setattr__(self, "groups", _groups_of_levels(self))

    @property
    def rows(self) -> NDArray[np.int64]:
        labelled: NDArray[np.int64] = self.counts.sum(axis=1)
        return labelled if self.unlabelled is None else labelled + self.unlabelled

    @property
    def n_parts(self) -> int:
        return len(self.counts)

    @property
    def listed(self) -> tuple[tuple[Any, ...], ...]:
        """Values of each group, missing ones and the name of ``others`` left out."""
        left_out = {None, self.others}
        return tuple(tuple(value for value in group if value not in left_out) for group in self.groups)

    @property
    def labels(self) -> list[str]:
        """Label of each part, such as ``(2.45, 4.75]`` or ``{blue, green}``; it prints the bounds exactly."""
        return labels_of(self)

    @property
    def names(self) -> list[str]:
        """Short name of each part, for people: ``3: Paris, Lyon, +20`` for a group, and the user's own if given."""
        return names_of(self)

    def part_of(self, values: ArrayLike, unknown: str | None = None, missing: str | None = None) -> NDArray[np.int64]:
        """Number of the part of each value; -1 for a value that belongs to no part.

        Parameters
        ----------
        values : array-like of shape (n,)
            Values of the type of the training column.
        unknown : {"neutral", "largest", "error"}, optional
            Category that was not in the training data: no part (-1), the group with the most rows (ties: the first),
            or a ValueError. By default ``"neutral"``; in a model from a file of versions 1 to 5, the part ``default``.
        missing : {"neutral", "error"}, optional
            Missing value, if the training data had none: no part (-1), or a ValueError. Else it goes to the part
            ``missing``. The default is as for `unknown`.
        """
        frame = read_frame(values, f"column {self.name!r}")
        if len(frame.columns) != 1:
            raise ValueError(f"part_of takes the values of column {self.name!r}; got {len(frame.columns)} columns")
        policy = checked_policy(unknown, missing)
        return self.part_of_column(next(iter(frame.columns.values())), policy)

    def part_of_column(self, raw: Any, policy: Policy = BY_PARTITION) -> NDArray[np.int64]:
        """Number of the part of each value of `raw`, a column of a frame; `policy` is for values that no part holds."""
        if len(raw) == 0:
            return np.empty(0, dtype=np.int64)
        kind = "numerical" if self.kind == "numerical" else "categorical"  # a value is found in `groups` by its name
        return self.part_of_encoded(encode_for_model(raw, self.name, kind), policy)

    def part_of_encoded(self, column: Column, policy: Policy = BY_PARTITION) -> NDArray[np.int64]:
        """Number of the part of each value of an encoded `column`; `policy` is for values that no part holds."""
        if isinstance(column, Categories):
            return self._group_of(column, policy)
        return self._interval_of(column, policy)

    def part_of_missing(self, policy: Policy) -> int:
        """Part of missing values under `policy`, -1 for none; ``"error"`` counts as none."""
        if self.missing is not None:
            return self.missing
        has_default = policy.missing is None and self.default is not None and self.others is None
        return int(self.default or 0) if has_default else NO_PART

    def part_of_unknown(self, policy: Policy) -> int:
        """Part under `policy` of categories that were not in the training data, -1 for none, as for ``"error"``."""
        if self.others is not None:
            return int(self.default or 0)
        if policy.unknown == "largest":
            return int(self.rows.argmax())
        return self.default if policy.unknown is None and self.default is not None else NO_PART

    def to_sql(
        self,
        dialect: str,
        column: str | Sequence[str] | None = None,
        unknown: str | None = None,
        missing: str | None = None,
    ) -> str:
        """Write the SQL expression for the part of a column, with the same result as `part_of`.

        Parameters
        ----------
        dialect : {"postgres", "duckdb", "sqlite", "mysql", "bigquery", "snowflake", "spark"}
        column : str or sequence of str, optional
            Name of the column in SQL, or the names of its table and itself; by default ``name``.
        unknown : {"neutral", "largest"}, optional
            Category that was not in the training data, as in `part_of`; a query cannot raise an error.
        missing : {"neutral"}, optional
            Missing value, if the training data had none, as in `part_of`.
        """
        from gridmodl.report.sql import expression_in

        return expression_in(self, dialect, column, checked_policy(unknown, missing))

    @property
    def column_kind(self) -> Kind:
        """Kind of the column, as `encode_column` takes it: ``kind``, or the levels of an ordinal variable."""
        return self.levels if self.kind == "ordinal" else self.kind

    @property
    def n_special(self) -> int:
        """Number of special parts, which are the last parts."""
        return len(self.special) if self.special_sizes is None else len(self.special_sizes)

    @property
    def empty_special(self) -> list[int]:
        """Numbers of the special parts without rows, whose values tell nothing."""
        first = self.n_parts - self.n_special
        return (first + np.flatnonzero(self.rows[first:] == 0)).tolist()

    @property
    def special_parts(self) -> list[list[Any]]:
        """Values of each special part, as ``special=`` of `optimize` takes them."""
        if self.kind == "categorical":
            return [list(group) for group in self.groups[self.n_parts - self.n_special :]]
        values = iter(self.special if self.kind != "ordinal" else [self.levels[i] for i in self.special.tolist()])
        sizes = self.special_sizes or [1] * len(self.special)
        return [list(itertools.islice(values, size)) for size in sizes]

    @property
    def is_missing_apart(self) -> bool:
        """Whether the missing values of a numerical or ordinal variable have a part of their own."""
        return self.missing is not None and self.n_parts > len(self.bounds) + 1 + self.n_special

    def _interval_of(self, column: Numbers, policy: Policy) -> NDArray[np.int64]:
        """Number of the part of each value of a numerical column."""
        if column.missing is not None and column.missing.all():  # of any type: None may be a date
            if policy.missing == "error" and self.missing is None and column.n_rows:
                raise ValueError(self._no_missing(column.n_rows))
            return np.full(column.n_rows, self.part_of_missing(policy), dtype=np.int64)
        first = int(self.is_missing_apart)
        values = as_type_of(self.bounds, self.is_utc, column)
        bounds = self.bounds.view(np.int64) if self.bounds.dtype.kind in "mM" else self.bounds
        parts = np.searchsorted(bounds, values, side="left").astype(np.int64, copy=False)
        if first:
            parts += first
        if len(self.special):
            values = as_type_of(self.special, self.is_utc, column)
            exact = is_exactly(values, self.special, column)  # a rounded value is not a code
            values = values.view(self.special.dtype) if self.special.dtype.kind in "mM" else values
            first_special = self.n_parts - self.n_special
            part_of_code = np.repeat(np.arange(self.n_special), self.special_sizes or [1] * len(self.special))
            for part, code in zip(part_of_code.tolist(), self.special, strict=True):
                parts[exact & (values == code)] = first_special + part
        if column.missing is not None:
            if policy.missing == "error" and self.missing is None and column.missing.any():
                raise ValueError(self._no_missing(int(np.count_nonzero(column.missing))))
            parts[column.missing] = self.part_of_missing(policy)
        return parts

    def _no_missing(self, n_rows: int) -> str:
        """Message about missing values that no part holds."""
        return (
            f"column {self.name!r} holds {counted(n_rows, 'missing value')}, and the training data had none; "
            "missing='neutral' gives them no part and neutral predictions"
        )

    def _group_of(self, column: Categories, policy: Policy) -> NDArray[np.int64]:
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
        listed = list(itertools.chain(*self.listed))
        types, known = _types_of(column.values), _types_of(listed)
        if types and known and not types & known and np.all(parts[[value is not None for value in column.values]] < 0):
            raise OtherTypeError(self.name, column.values[-1], listed[-1])
        if np.any(parts < 0):
            self._place_unseen(column, parts, policy)
        return parts[column.codes]

    def _place_unseen(self, column: Categories, parts: NDArray[np.int64], policy: Policy) -> None:
        """Give the values of `column` that are in no group, whose entry in `parts` is -1, the part of the policy."""
        unseen = np.flatnonzero(parts < 0)
        is_missing = np.array([column.values[i] is None for i in unseen.tolist()])
        others = unseen[~is_missing]
        if policy.missing == "error" and is_missing.any():
            raise ValueError(self._no_missing(int(np.count_nonzero(column.codes == unseen[is_missing][0]))))
        if policy.unknown == "error" and len(others) and self.others is None:
            raise ValueError(
                f"column {self.name!r} holds {counted(len(others), 'value')} that the training data did not have, such "
                f"as {column.values[int(others[0])]!r}; unknown='neutral' gives them no part and neutral predictions, "
                "unknown='largest' the group with the most rows"
            )
        parts[others] = self.part_of_unknown(policy)
        parts[unseen[is_missing]] = self.part_of_missing(policy)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.notebook import partition_html

        return partition_html(self)

    def __repr__(self) -> str:
        return f"Partition({self.name!r}, {self.kind}, {counted(self.n_parts, 'part')})"


def with_others(partition: Partition, others: str | None) -> Partition:
    """The partition in which the group that lists the name `others` takes all values that no group lists."""
    if others is None:
        return partition
    default = next(i for i, group in enumerate(partition.groups) if others in group)
    return replace(partition, default=default, others=others)


def _types_of(values: Iterable[Any]) -> set[type]:
    """Types of the values that are not missing; all numbers count as one type."""
    types = {type(value) for value in values if value is not None}
    return {next((kind for kind in (numbers.Number, str, bytes) if issubclass(t, kind)), t) for t in types}


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
    n_special: int = 0,
) -> Partition:
    """Partition into groups with their rows, the last `n_special` special; sets the part of missing values."""
    missing = next((i for i, group in enumerate(groups) if None in group), None)
    sizes = tuple(map(len, groups[len(groups) - n_special :])) if n_special else None
    return Partition(
        name, "categorical", counts, groups=groups, missing=missing, unlabelled=unlabelled, special_sizes=sizes
    )


def interval_partition(
    column: Numbers,
    bounds: NDArray[Any],
    special: Special,
    counts: NDArray[np.int64],
    has_missing: bool,
    unlabelled: NDArray[np.int64] | None = None,
) -> Partition:
    """Partition into intervals and special codes; a row of `counts` beyond these is of the missing values."""
    if column.levels is not None:
        special = special._replace(codes=special.codes.astype(np.int64))
    return Partition(
        column.name,
        kind_of_column(column),
        counts,
        bounds=bounds,
        missing=0 if has_missing else None,
        special=special.codes.view(column.type) if column.type.kind in "mM" else special.codes,
        special_sizes=special.sizes if special.n_parts < len(special.codes) else None,
        is_utc=column.is_utc,
        unlabelled=unlabelled,
        levels=column.levels or (),
    )


def _groups_of_levels(partition: Partition) -> tuple[tuple[Any, ...], ...]:
    """Levels of each part of an ordinal variable; None stands for missing values, which come first."""
    apart = set(partition.special.tolist())
    ends = [0, *(int(bound) + 1 for bound in partition.bounds.tolist()), len(partition.levels)]
    groups = [
        tuple(partition.levels[i] for i in range(max(lo, 0), min(hi, len(partition.levels))) if i not in apart)
        for lo, hi in itertools.pairwise(ends)
    ]
    if partition.is_missing_apart:
        groups.insert(0, (None,))
    elif partition.missing is not None:
        groups[0] = (None, *groups[0])
    return (*groups, *map(tuple, partition.special_parts))


def as_type_of(bounds: NDArray[Any], is_utc: bool, column: Numbers) -> NDArray[Any]:
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


def is_exactly(values: NDArray[Any], bounds: NDArray[Any], column: Numbers) -> NDArray[np.bool_]:
    """Whether each of `values`, which `as_type_of` the `bounds` returned, is the value of `column`, not rounded."""
    if bounds.dtype.kind in "mM":
        return np.asarray(values.view(bounds.dtype).astype(column.type) == column.values.view(column.type))
    with np.errstate(invalid="ignore"):
        return np.asarray(values.astype(column.values.dtype) == column.values)


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
