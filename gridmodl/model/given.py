"""Make partitions from the user's bounds or groups, and move bounds to the medians of unlabelled rows."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Target
from gridmodl.data.bounds import bounds_between, middle_bounds
from gridmodl.data.columns import Categories, Column, encode_column, kind_of_column
from gridmodl.data.frames import Name, as_array, object_array
from gridmodl.data.numbers import Numbers, Special, encode_numbers, encode_special, is_missing_value, special_parts
from gridmodl.model.partition import Partition, group_partition, interval_partition
from gridmodl.model.policy import STRICT, Policy


def given_partition(
    column: Column, parts: Any, special: Any, n_classes: int, is_missing_apart: bool = False
) -> Partition:
    """Make a partition of `column`, without rows, from `parts`: bounds, groups or another Partition.

    `special` are the user's special values of this column, None for none. With `is_missing_apart`, missing values of a
    numerical or ordinal column are a part of their own, unless `parts` is a Partition or puts them into a group.
    """
    special = () if special is None else special
    if isinstance(parts, Partition):
        kind = kind_of_column(column)
        if parts.kind != kind:
            raise ValueError(f"column {column.name!r} is {kind}, the partition given for it {parts.kind}")
        if isinstance(column, Numbers) and parts.levels != (column.levels or ()):
            raise ValueError(
                f"column {column.name!r} has the levels {list(column.levels or ())}, the partition given for it "
                f"{list(parts.levels)}; give it the same order="
            )
        if len(special) and not _same_special(column, special, parts):
            raise ValueError(f"special= names other values of column {column.name!r} than the partition given for it")
        return _without_rows(parts, column, n_classes)
    if isinstance(column, Categories):
        return _groups(column, parts, special_groups(column, special), n_classes)
    codes = encode_special(special, column)
    is_apart = is_missing_apart and column.missing is not None
    if column.levels is not None:
        return _level_groups(column, parts, codes, n_classes, is_apart)
    return _intervals(column, parts, codes, n_classes, is_apart)


def _same_special(column: Column, special: Any, partition: Partition) -> bool:
    """Whether `special` are the special values of `partition`."""
    if isinstance(column, Categories):
        return list(map(set, special_groups(column, special))) == list(map(set, partition.special_parts))
    mine, others = encode_special(special, column), encode_special(partition.special_parts, column)
    return mine.sizes == others.sizes and mine.codes.tolist() == others.codes.tolist()


def special_groups(column: Categories, special: Any) -> tuple[tuple[Any, ...], ...]:
    """Special groups of a categorical column, from the user's ``special=``."""
    what = f"special of column {column.name!r}"
    groups = [tuple(dict.fromkeys(part)) for part in special_parts(special, what)]
    seen: set[Any] = set()
    for value in itertools.chain(*groups):
        if is_missing_value(value):
            raise ValueError(f"{what} holds a missing value; missing='apart' gives missing values a part of their own")
        if value in seen:
            raise ValueError(f"{what} has {value!r} in two parts")
        seen.add(value)
    return tuple(groups)


def _without_rows(partition: Partition, column: Column, n_classes: int) -> Partition:
    """`partition` for `column`, with all counts 0; missing values that it does not hold join the lowest interval."""
    counts = np.zeros((partition.n_parts, n_classes), dtype=np.int64)
    is_new = isinstance(column, Numbers) and column.missing is not None and partition.missing is None
    missing = 0 if is_new else partition.missing
    default = None if partition.others is None else partition.default
    return replace(
        partition, name=column.name, counts=counts, unlabelled=None, missing=missing, default=default, widths=None,
        domain=None, lowest=None, highest=None, step=0.0,
    )  # fmt: skip


def with_rare_named(raw: Any, partition: Partition) -> Any:
    """Values of the column `raw`, in which those that no group of `partition` lists have its name for all others."""
    column = encode_column(raw, partition.name, "categorical")
    assert isinstance(column, Categories)  # noqa: S101  for mypy
    partition.part_of_encoded(column)  # raises if the values are of another type
    listed = {None, *itertools.chain(*partition.listed)}
    return object_array([value if value in listed else partition.others for value in column.values])[column.codes]


def _intervals(
    column: Numbers, bounds_argument: Any, special: Special, n_classes: int, is_missing_apart: bool
) -> Partition:
    """Make a partition into intervals, without rows, from the user's bounds."""
    bounds, missing = _bounds(column, bounds_argument)
    names_missing = len(missing) > 0 and bool(missing[0])
    is_apart = names_missing or is_missing_apart
    inner = bounds[1:] if names_missing else bounds
    compared = inner.view(np.int64) if inner.dtype.kind in "mM" else inner
    if missing[1:].any() or not np.all(compared[1:] > compared[:-1]):
        raise ValueError(f"the bounds of {column.name!r} must ascend, got {bounds_argument!r}")
    counts = np.zeros((is_apart + len(inner) + 1 + special.n_parts, n_classes), dtype=np.int64)
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


def _level_groups(
    column: Numbers, argument: Any, special: Special, n_classes: int, is_missing_apart: bool
) -> Partition:
    """Make a partition into groups of adjacent levels, without rows, from the user's groups, in any order."""
    levels = column.levels or ()
    codes = {int(i) for i in special.codes}
    of_level = {level: i for i, level in enumerate(levels)}
    found: list[list[int]] = []
    is_apart, with_missing = False, None
    for group in _checked_groups(column.name, argument):
        unknown = [level for level in group if level is not None and level not in of_level]
        if unknown:
            raise ValueError(
                f"the groups of {column.name!r} hold {unknown[0]!r}, which is no level of it; its levels are "
                f"{', '.join(map(repr, levels))}"
            )
        places = sorted(of_level[level] for level in group if level is not None)
        is_apart |= not places
        with_missing = places if None in group and places else with_missing
        if places and not codes.issuperset(places):
            found.append(places)
    is_apart |= is_missing_apart and with_missing is None
    _check_adjacent(column, found, codes)
    found.sort()
    if with_missing is not None and with_missing != found[0]:
        raise ValueError(
            f"the groups of {column.name!r} put missing values beside {levels[with_missing[0]]!r}; missing values are "
            "below all levels: put None into the lowest group, or into a group of its own"
        )
    low = np.array([places[-1] for places in found[:-1]], dtype=np.float64)
    high = np.array([places[0] for places in found[1:]], dtype=np.float64)
    bounds = bounds_between(low, high, column.type)
    n_parts = is_apart + max(1, len(found)) + special.n_parts
    has_missing = is_apart or with_missing is not None or column.missing is not None
    counts = np.zeros((n_parts, n_classes), dtype=np.int64)
    return interval_partition(column, bounds, special, counts, has_missing)


def _check_adjacent(column: Numbers, groups: list[list[int]], special: set[int]) -> None:
    """Raise if a level is in two groups, if one of the data is in none, or if a group is not adjacent."""
    levels = column.levels or ()
    group_of: dict[int, int] = {}
    for i, places in enumerate(groups):
        for place in places:
            if place in group_of or place in special:
                where = "special" if place in special else "in two groups"
                raise ValueError(f"level {levels[place]!r} of column {column.name!r} is {where}; put it into one group")
            group_of[place] = i
    present = column.values if column.missing is None else column.values[~column.missing]
    left_out = [levels[i] for i in np.unique(present).astype(int).tolist() if i not in group_of and i not in special]
    if groups and left_out:
        raise ValueError(
            f"the groups of {column.name!r} leave out {len(left_out)} of its levels: "
            f"{', '.join(map(repr, left_out[:5]))}{', ...' * (len(left_out) > 5)}; put each into a group"
        )
    for i, places in enumerate(groups):
        other = next((p for p in range(places[0], places[-1]) if group_of.get(p, i) != i), None)
        if other is not None:
            raise ValueError(
                f"the groups of {column.name!r} put {levels[places[0]]!r} and {levels[places[-1]]!r} together without "
                f"{levels[other]!r}, which is between them; groups of an ordinal column are of adjacent levels. "
                f"kinds={{{column.name!r}: 'categorical'}} takes any groups"
            )


def _groups(column: Categories, argument: Any, special: tuple[tuple[Any, ...], ...], n_classes: int) -> Partition:
    """Make a partition into groups, without rows, from the user's groups; special groups come last."""
    of_special = set(itertools.chain(*special))
    groups = [group for group in _checked_groups(column.name, argument) if set(group) not in map(set, special)]
    shared = next((value for group in groups for value in group if value in of_special), None)
    if shared is not None:
        raise ValueError(
            f"the groups of {column.name!r} have {shared!r} beside other values, and special= gives it a part"
        )
    others = tuple(value for value in column.values if value not in of_special)
    if not groups and others:
        groups = [others]
    groups += special
    _check_groups(column, groups)
    counts = np.zeros((len(groups), n_classes), dtype=np.int64)
    return group_partition(column.name, tuple(groups), counts, n_special=len(special))


def _checked_groups(name: Name, argument: Any) -> list[tuple[Any, ...]]:
    """The user's groups of values of the column `name`, each without repeats; None stands for missing values."""
    wrong = f"the groups of {name!r} must be a list of lists of values"
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
    return groups


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
    """`partition`, which was found on the labelled rows, with the unlabelled rows of `column` counted in it.

    Missing values or categories that only unlabelled rows have are one more part, of which no class is known.
    """
    parts = partition.part_of_encoded(column, Policy("neutral", "neutral"))
    if np.any(parts < 0):
        partition = _with_unlabelled_part(partition, column, parts < 0)
        parts = partition.part_of_encoded(column, STRICT)
    rows = target.by_code(parts, partition.n_parts)
    return replace(partition, unlabelled=rows[:, -1].copy())


def _with_unlabelled_part(partition: Partition, column: Column, is_new: NDArray[np.bool_]) -> Partition:
    """`partition` with a part for the values of the rows `is_new`: first if numerical, of missing values, else last."""
    none = np.zeros((1, partition.counts.shape[1]), dtype=np.int64)
    if isinstance(column, Numbers):
        return replace(partition, counts=np.concatenate([none, partition.counts]), missing=0)
    values = tuple(column.values[i] for i in np.unique(column.codes[is_new]).tolist())
    value_rows = partition.value_rows
    if value_rows is not None:
        value_rows = np.append(value_rows, np.zeros(len(values), dtype=np.int64))
    return replace(
        partition,
        groups=(*partition.groups, values),
        counts=np.concatenate([partition.counts, none]),
        missing=partition.n_parts if None in values else partition.missing,
        value_rows=value_rows,
    )


def at_medians(partition: Partition, column: Column, target: Target, kept: NDArray[Any]) -> Partition:
    """`partition`, which was found on the labelled rows, with its bounds at the medians of the unlabelled rows.

    The bounds `kept` stay where they are.
    """
    if isinstance(column, Numbers) and len(partition.bounds):
        medians = _medians(partition, column, target)
        medians = np.where(np.isin(partition.bounds, kept), partition.bounds, medians)
        partition = replace(partition, bounds=medians)
    return with_unlabelled(partition, column, target)


def _medians(partition: Partition, column: Numbers, target: Target) -> NDArray[Any]:
    """Median of the unlabelled rows at each bound of `partition`; the old bound if there are none."""
    parts = partition.part_of_encoded(column, Policy("neutral", "neutral"))
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
    medians = middle_bounds(pair[0], pair[1], column.type)
    return np.where(is_there, medians, partition.bounds)
