"""Make partitions from the user's bounds or groups, and move bounds to the medians of unlabelled rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Target
from gridmodl.data.columns import Categories, Column
from gridmodl.data.frames import Name, as_array
from gridmodl.data.line import bounds_between
from gridmodl.data.numbers import Numbers, encode_numbers, is_missing_value
from gridmodl.model.partition import Partition, group_partition, interval_partition


def given_partition(column: Column, parts: Any, special: NDArray[Any], n_classes: int) -> Partition:
    """Make a partition of `column`, without rows, from `parts`: bounds, groups or another Partition."""
    if isinstance(parts, Partition):
        kind = "categorical" if isinstance(column, Categories) else "numerical"
        if parts.kind != kind:
            raise ValueError(f"column {column.name!r} is {kind}, the partition given for it {parts.kind}")
        if len(special) and special.tolist() != parts.special.view(special.dtype).tolist():
            raise ValueError(f"special= names other codes of column {column.name!r} than the partition given for it")
        return _without_rows(parts, column.name, n_classes)
    if isinstance(column, Categories):
        return _groups(column, parts, n_classes)
    return _intervals(column, parts, special, n_classes)


def _without_rows(partition: Partition, name: Name, n_classes: int) -> Partition:
    """`partition` for the column `name`, with all counts 0."""
    counts = np.zeros((partition.n_parts, n_classes), dtype=np.int64)
    return replace(partition, name=name, counts=counts, unlabelled=None)


def _intervals(column: Numbers, bounds_argument: Any, special: NDArray[Any], n_classes: int) -> Partition:
    """Make a partition into intervals, without rows, from the user's bounds."""
    bounds, missing = _bounds(column, bounds_argument)
    is_apart = len(missing) > 0 and bool(missing[0])
    inner = bounds[1:] if is_apart else bounds
    compared = inner.view(np.int64) if inner.dtype.kind in "mM" else inner
    if missing[1:].any() or not np.all(compared[1:] > compared[:-1]):
        raise ValueError(f"the bounds of {column.name!r} must ascend, got {bounds_argument!r}")
    counts = np.zeros((is_apart + len(inner) + 1 + len(special), n_classes), dtype=np.int64)
    return interval_partition(column, inner, special, counts, is_apart or column.missing is not None)


def _bounds(column: Numbers, argument: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Bounds in the column's own type, and flags of missing values among them."""
    wrong = f"the bounds of {column.name!r} must be a list of {'numbers' if column.type.kind in 'iuf' else column.type}"
    if isinstance(argument, (str, bytes)) or not isinstance(argument, (Iterable, np.ndarray)):
        raise TypeError(f"{wrong}, got {argument!r}")
    try:
        array = argument if isinstance(argument, np.ndarray) else np.asarray(list(argument))
        if array.ndim == 1 and len(array) == 0:
            return np.empty(0, dtype=column.type), np.zeros(0, dtype=bool)
        if array.dtype.kind == "b":
            raise TypeError(f"{wrong}, got {argument!r}")
        if column.type.kind == "M" and array.dtype.kind == "U":
            array = array.astype("datetime64")  # in the unit of the text
        numbers = encode_numbers(as_array(array, "bounds"), column.name) if array.ndim == 1 else None
    except (TypeError, ValueError) as error:
        raise TypeError(f"{wrong}, got {argument!r}") from error
    if numbers is None or (numbers.type.kind in "mM") != (column.type.kind in "mM"):
        raise TypeError(f"{wrong}, got {argument!r}")
    missing = np.zeros(len(array), dtype=bool) if numbers.missing is None else numbers.missing
    if column.type.kind in "mM":
        if numbers.is_utc and not column.is_utc:
            raise TypeError(f"the bounds of {column.name!r} have a time zone, the column has none")
        if numbers.type.kind != column.type.kind:
            raise TypeError(f"{wrong}, got {argument!r}")
        bounds = numbers.values.view(numbers.type)
        kept = bounds.astype(column.type)
        is_finer = np.promote_types(kept.dtype, bounds.dtype) == kept.dtype
        if is_finer and np.any((kept.astype(bounds.dtype) != bounds) & ~missing):
            raise ValueError(f"{wrong}, whose range does not reach {argument!r}")
        return kept, missing
    return numbers.values, missing


def _groups(column: Categories, argument: Any, n_classes: int) -> Partition:
    """Make a partition into groups, without rows, from the user's groups."""
    wrong = f"the groups of {column.name!r} must be a list of lists of values"
    if isinstance(argument, (str, bytes)) or not isinstance(argument, (Sequence, np.ndarray)):
        raise TypeError(f"{wrong}, got {argument!r}")
    groups = []
    for group in argument:
        if isinstance(group, (str, bytes)) or not isinstance(group, Iterable):
            raise TypeError(f"{wrong}, got {group!r} in place of a list")
        values = [None if is_missing_value(value) else value for value in _plain_values(group)]
        if not values:
            raise ValueError(f"{wrong}, one of them is empty")
        if not all(isinstance(value, Hashable) for value in values):
            raise TypeError(f"{wrong}, got {values!r}")
        groups.append(tuple(dict.fromkeys(values)))
    if not groups:
        groups = [tuple(column.values)]
    _check_groups(column, groups)
    return group_partition(column.name, tuple(groups), np.zeros((len(groups), n_classes), dtype=np.int64))


def _plain_values(group: Any) -> list[Any]:
    return group.tolist() if isinstance(group, np.ndarray) else list(group)


def _check_groups(column: Categories, groups: list[tuple[Any, ...]]) -> None:
    """Raise if a value of `column` is in two groups or in none."""
    seen: set[Any] = set()
    for group in groups:
        twice = seen.intersection(group)
        if twice:
            raise ValueError(f"{next(iter(twice))!r} is in two groups of column {column.name!r}")
        seen.update(group)
    left_out = [value for value in column.values if value not in seen]
    if left_out:
        shown = ", ".join(repr(value) for value in left_out[:5])
        raise ValueError(
            f"the groups of {column.name!r} leave out {len(left_out)} of its {len(column.values)} values: {shown}"
            f"{', ...' if len(left_out) > 5 else ''}; put each into a group (None stands for missing)"
        )


# Bounds among unlabelled rows (placement="median").
#
# All places of a bound between the two labelled values that it separates cost the same. In terms of ranks, all places
# are equally likely, so the bound is put at the median of the unlabelled rows there (A. Bondu, M. Boullé, V. Lemaire,
# "A non-parametric semi-supervised discretization method", 2010, section 5).


def with_unlabelled(partition: Partition, column: Column, target: Target) -> Partition:
    """`partition`, which was found on the labelled rows, with the unlabelled rows of `column` counted in it."""
    rows = target.by_code(partition.part_of_encoded(column), partition.n_parts)
    return replace(partition, unlabelled=rows[:, -1].copy())


def at_medians(partition: Partition, column: Column, target: Target) -> Partition:
    """`partition`, which was found on the labelled rows, with its bounds at the medians of the unlabelled rows."""
    if isinstance(column, Numbers) and len(partition.bounds):
        partition = replace(partition, bounds=_medians(partition, column, target))
    return with_unlabelled(partition, column, target)


def _medians(partition: Partition, column: Numbers, target: Target) -> NDArray[Any]:
    """Median of the unlabelled rows at each bound of `partition`; the old bound if there are none."""
    parts = partition.part_of_encoded(column)
    n_bounds, first = len(partition.bounds), int(partition.is_missing_apart)
    is_inside = (parts >= first) & (parts <= first + n_bounds)
    if column.missing is not None:
        is_inside &= ~column.missing
    order = np.argsort(column.values[is_inside], kind="stable")
    values, parts = column.values[is_inside][order], parts[is_inside][order] - first
    is_labelled = (target.codes[is_inside] < target.n_classes)[order]
    weights = None if target.weights is None else target.weights[is_inside][order]
    ends = np.searchsorted(parts, np.arange(1, n_bounds + 1))  # first row above each bound
    labelled, unlabelled = values[is_labelled], values[~is_labelled]
    above = np.searchsorted(np.flatnonzero(is_labelled), ends)
    low, high = labelled[above - 1], labelled[above]
    begin = np.searchsorted(unlabelled, low, side="right")
    end = np.searchsorted(unlabelled, high, side="left")
    free_weights = np.ones(len(unlabelled), dtype=np.int64) if weights is None else weights[~is_labelled]
    before = np.append(0, np.cumsum(free_weights))
    # The two rows in the middle; the same row twice if the number of rows is odd.
    both = before[begin] + before[end]
    at = [np.searchsorted(before, (both + more) // 2, side="right") - 1 for more in (-1, 0)]
    is_there = begin < end
    pair = [unlabelled[np.where(is_there, i, 0)] if len(unlabelled) else low for i in at]
    medians = bounds_between(pair[0], pair[1], column.type)
    return np.where(is_there, medians, partition.bounds)
