"""Merge or split parts of a model by their numbers: the body of `Model.edit` with ``merge=`` or ``split=``.

Merges are priced from the counts of the model alone, so that models from files can be edited too. A split needs the
rows of the data.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.alternatives import ModelVariable
from gridmodl.analysis.coarsening import merged_partition
from gridmodl.clock import Clock
from gridmodl.data.frames import Name
from gridmodl.data.numbers import is_missing_value
from gridmodl.fit.build import source_of, with_parts
from gridmodl.model.cells import Cells
from gridmodl.model.counts import merged_quantiles
from gridmodl.model.given import given_partition
from gridmodl.model.labels import counted

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition


def merged_model(model: Model, name: Name, merge: Any) -> Model:
    """Build the model with parts of the column `name` merged: a list of their numbers, or a list of such lists."""
    clock = Clock()
    partition = model.partition(name)
    parts = _merged_numbers(partition, _number_sets(partition, merge))
    variable = ModelVariable(model, name)
    labels = np.unique(parts[variable.filled], return_inverse=True)[1]
    merged = variable.counted.merged(variable.k, labels)
    cost = merged.cost(merged.terms())
    new = merged_partition(partition, parts)
    is_target = model.target is not None and name == model.target.name
    cells = None if model._cells is None else _merged_cells(model._cells, name, parts)
    left_out = dict(model.left_out)
    if cells is not None and len(model.partitions) > 1 and not is_target and name not in cells.names:
        left_out.setdefault(name, "it has one part as given")
    quantiles = merged_quantiles(model, {} if is_target else {name: parts})
    return replace(
        model,
        cost=cost,
        partitions=model.partitions if is_target else {**model.partitions, name: new},
        target=new if is_target else model.target,
        proven=False,
        unproven=None,
        search="given",
        stopped=None,
        elapsed=clock.elapsed,
        delta=cost - model.cost,
        left_out=left_out,
        optima=(),
        certificate=None,
        _cells=cells,
        _target_quantiles=quantiles,
    )


def _number_sets(partition: Partition, merge: Any) -> list[list[int]]:
    """Sets of parts to merge, each in ascending order; raise unless each has two or more, and none is in two sets."""
    if isinstance(merge, (str, bytes, Mapping)) or not isinstance(merge, Iterable):
        raise TypeError(f"merge must be a list of numbers of parts, such as [2, 3], or of such lists, got {merge!r}")
    given = list(merge)
    nested = [isinstance(one, Iterable) and not isinstance(one, (str, bytes)) for one in given]
    sets = [sorted({_part_number(partition, i) for i in one}) for one in (given if all(nested) and given else [given])]
    for one in sets:
        if len(one) < 2:
            raise ValueError(f"merge takes two parts of column {partition.name!r} or more, got {merge!r}")
    every = [i for one in sets for i in one]
    if len(set(every)) < len(every):
        twice = next(i for i in every if every.count(i) > 1)
        raise ValueError(f"merge names part {twice} of column {partition.name!r} in two lists: join them to one")
    return sets


def _part_number(partition: Partition, number: Any) -> int:
    """Check the number of a part."""
    if not isinstance(number, numbers.Integral) or isinstance(number, bool):
        raise TypeError(f"parts of column {partition.name!r} are named by their numbers, from 0, got {number!r}")
    if not 0 <= int(number) < partition.n_parts:
        raise ValueError(
            f"column {partition.name!r} has {counted(partition.n_parts, 'part')}, numbered from 0, got {number}"
        )
    return int(number)


def _merged_numbers(partition: Partition, sets: list[list[int]]) -> NDArray[np.int64]:
    """New number of each part; raise if parts cannot be one part."""
    parts = np.arange(partition.n_parts)
    for one in sets:
        if partition.kind != "categorical":
            _check_neighbours(partition, one)
        _check_plain(partition, one)
        parts[one] = one[0]
    return np.unique(parts, return_inverse=True)[1].astype(np.int64)


def _check_plain(partition: Partition, numbers_: list[int]) -> None:
    """Raise ValueError if one of the parts is special."""
    special = [i for i in numbers_ if i >= partition.n_parts - partition.n_special]
    if special:
        raise ValueError(
            f"part {special[0]} of column {partition.name!r} is {partition.labels[special[0]]!r}, which merges with no "
            "other; leave its values out of special= to group them"
        )


def _check_neighbours(partition: Partition, numbers_: list[int]) -> None:
    """Raise ValueError unless the parts are neighbouring intervals; missing values may join the lowest."""
    labels, first_code = partition.labels, partition.n_parts - partition.n_special
    what = f"parts {', '.join(map(str, numbers_))} of column {partition.name!r}"
    codes = [i for i in numbers_ if i >= first_code]
    if codes:
        raise ValueError(
            f"{what} cannot merge: part {codes[0]} is {labels[codes[0]]!r}, a code and not a quantity, which no "
            "interval holds; leave it out of special= to take it as a number"
        )
    gaps = [i for i, j in itertools.pairwise(numbers_) if j > i + 1]
    if not gaps:
        return
    if partition.is_missing_apart and gaps[0] == 0:
        raise ValueError(
            f"{what} cannot merge: missing values, part 0, are a part of their own or join the lowest interval, part 1 "
            f"({labels[1]})"
        )
    raise ValueError(
        f"{what} cannot merge: part {gaps[0] + 1} ({labels[gaps[0] + 1]}) lies between them; merge neighbours, such as "
        f"{list(range(numbers_[0], numbers_[-1] + 1))}"
    )


def _merged_cells(cells: Cells, name: Name, new: NDArray[np.int64]) -> Cells:
    """Cells with the parts of one variable merged; a variable with one part left is left out."""
    if name not in cells.names:
        return cells
    k, parts, names = cells.names.index(name), cells.parts.copy(), cells.names
    parts[:, k] = new[parts[:, k]]
    if np.all(parts[:, k] == parts[0, k]):
        parts, names = np.delete(parts, k, axis=1), (*names[:k], *names[k + 1 :])
    if parts.shape[1]:
        parts, cell = np.unique(parts, axis=0, return_inverse=True)
        cell = cell.ravel()
    else:
        parts, cell = parts[:1], np.zeros(len(parts), dtype=np.int64)
    counts = np.zeros((len(parts), cells.counts.shape[1]), dtype=np.int64)
    np.add.at(counts, cell, cells.counts)
    unlabelled = None
    if cells.unlabelled is not None:
        unlabelled = np.zeros(len(parts), dtype=np.int64)
        np.add.at(unlabelled, cell, cells.unlabelled)
    return Cells(names, parts, counts, unlabelled)


def split_model(model: Model, name: Name, split: Any) -> Model:
    """Build the model with parts of the column `name` split: bounds, or groups, by number of the part."""
    partition = model.partition(name)
    if not isinstance(split, Mapping) or not split:
        what = "bounds" if partition.kind == "numerical" else "groups"
        raise TypeError(f"split must be a dict of {what} by number of the part, got {split!r}")
    source_of(model)  # before anything else is said of the bounds
    by_part = {_part_number(partition, number): given for number, given in split.items()}
    if partition.kind != "numerical":
        lists = [
            _split_group(partition, i, by_part[i]) if i in by_part else [list(group)]
            for i, group in enumerate(partition.groups)
        ]
        new = with_parts(model, name, [group for groups in lists for group in groups])
        return _with_names(new, partition, [len(groups) for groups in lists])
    parts, sizes = _with_bounds(model, partition, by_part)
    return _with_names(with_parts(model, name, parts), partition, sizes)


def _with_names(model: Model, old: Partition, sizes: list[int]) -> Model:
    """The model with the names that the user gave to parts that stayed whole; `sizes` are the new parts of each."""
    if not old.given_names:
        return model
    given = [one if n == 1 else None for one, n in zip(old.given_names, sizes, strict=True) for _ in range(n)]
    return model.rename(old.name, given)


def _split_group(partition: Partition, i: int, given: Any) -> list[list[Any]]:
    """Groups in place of group `i`: the user's lists of its values, or those of one list and the rest."""
    wrong = f"split[{i}] must be a list of values of part {i} of column {partition.name!r}, or of lists of all of them"
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{wrong}, got {given!r}")
    values = list(given)
    own = partition.groups[i]
    is_nested = [isinstance(one, Iterable) and not isinstance(one, (str, bytes)) and one not in own for one in values]
    lists = [[None if is_missing_value(v) else v for v in one] for one in (values if all(is_nested) else [values])]
    named = [value for one in lists for value in one]
    strange = [value for value in named if value not in own]
    if strange:
        raise ValueError(f"{wrong}; {strange[0]!r} is none of {partition.labels[i]}")
    if len(set(named)) < len(named) or not all(lists) or not lists:
        raise ValueError(f"{wrong}, each value once, got {given!r}")
    rest = [value for value in own if value not in named]
    if rest and len(lists) > 1:
        raise ValueError(f"{wrong}; {rest[0]!r} is in none of the lists")
    if not rest and len(lists) == 1:
        raise ValueError(f"{wrong}; all its values in one list split nothing")
    return [*lists, rest] if rest else lists


def _with_bounds(model: Model, partition: Partition, by_part: Mapping[int, Any]) -> tuple[Partition, list[int]]:
    """The partition with more bounds, by number of the interval that they cut, without rows; new parts of each part."""
    table, _ = source_of(model)
    column = table.searched if partition is model.target else table.column(partition.name, partition.kind)
    assert column is not None  # noqa: S101  for mypy
    first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
    found, sizes = [partition.bounds], [1] * partition.n_parts
    for i, given in by_part.items():
        if not first <= i < last:
            raise ValueError(
                f"part {i} of column {partition.name!r} is {partition.labels[i]!r}, which has no bounds to split it at"
            )
        is_one = isinstance(given, (str, bytes)) or not isinstance(given, Iterable)
        bounds = given_partition(column, [given] if is_one else given, None, 1).bounds
        low, high = i - first - 1, i - first
        inside = np.ones(len(bounds), dtype=bool)
        if low >= 0:
            inside &= bounds > partition.bounds[low]
        if high < len(partition.bounds):
            inside &= bounds < partition.bounds[high]
        if not inside.all() or not len(bounds):
            raise ValueError(
                f"split[{i}] must be a bound inside part {i} of column {partition.name!r}, {partition.labels[i]}, or a "
                f"list of such bounds, got {given!r}"
            )
        found.append(bounds)
        sizes[i] += len(bounds)
    bounds = np.sort(np.concatenate(found))
    n_parts = partition.n_parts + len(bounds) - len(partition.bounds)
    counts = np.zeros((n_parts, partition.counts.shape[1]), dtype=np.int64)
    new = replace(partition, bounds=bounds, counts=counts, n_values=None, unlabelled=None, given_names=())
    return new, sizes
