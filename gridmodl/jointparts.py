"""Parts where rows have no classes, in the user's words: groups by size, and in each the most typical values first."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.encode import Column
from gridmodl.grid import Grid
from gridmodl.partition import Partition, group_partition
from gridmodl.pricing import order_of
from gridmodl.search.gridtask import GridTask
from gridmodl.search.typical import typicality
from gridmodl.spread import Spread, make_spread
from gridmodl.table import Table
from gridmodl.values import Categories


def rows_of_parts(task: GridTask, k: int, labels: NDArray[Any], n_parts: int) -> NDArray[np.int64]:
    """Rows of each part of a variable, given the part of each of its atoms, as a partition counts them."""
    rows = np.zeros(n_parts, dtype=np.int64)
    np.add.at(rows, labels, task.rows.rows_of_atoms(k))
    return rows[:, None]


def with_values(partition: Partition, task: GridTask, k: int, labels: NDArray[Any]) -> Partition:
    """The partition with what a price needs to know of the values of its parts."""
    n_values = np.bincount(labels, minlength=partition.n_parts).astype(np.int64)
    if partition.kind != "categorical":
        return replace(partition, n_values=n_values)
    return replace(partition, n_values=n_values, log_value_factorials=order_of(task.rows.rows_of_atoms(k)))


def found_groups(
    column: Categories, labels: NDArray[np.int32], task: GridTask, grid: Grid, k: int, table: Table
) -> tuple[Partition, NDArray[np.int64]]:
    """Groups that a search found, and the number of the group of each value."""
    n_groups = int(labels.max()) + 1
    rows = rows_of_parts(task, k, labels, n_groups)
    key: NDArray[Any] = -rows[:, 0]
    if table.problem.kind == "numerical":  # so that the target rises from group to group
        key = _mean_target(labels[task.rows.atom[k]], table, rows[:, 0])
    order = np.argsort(key, kind="stable")
    rank = np.empty(n_groups, dtype=np.int64)
    rank[order] = np.arange(n_groups)
    places = _typical_first(task, grid, k)
    groups = _in_groups(column.values, rank[labels], n_groups, places)
    return group_partition(column.name, groups, rows[order]), rank[labels]


def _typical_first(task: GridTask, grid: Grid, k: int) -> NDArray[np.int64]:
    """The values of a variable, the most typical of their groups first; of equals those of most rows."""
    return np.lexsort((-task.rows.rows_of_atoms(k), -typicality(task, grid, k)))


def _in_groups(
    values: Sequence[Any], group: NDArray[Any], n_groups: int, places: NDArray[np.int64]
) -> tuple[tuple[Any, ...], ...]:
    """The values of each group, in the order of `places`."""
    order = places[np.argsort(group[places], kind="stable")].tolist()
    ends = np.cumsum(np.bincount(group, minlength=n_groups)).tolist()
    return tuple(tuple(values[i] for i in order[lo:hi]) for lo, hi in itertools.pairwise([0, *ends]))


def _mean_target(groups: NDArray[Any], table: Table, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    y, weights = table.quantities, table.target.weights
    return np.bincount(groups, y / len(y) if weights is None else y * (weights / weights.sum())) / rows


def typical_groups(partition: Partition, column: Column, task: GridTask, grid: Grid, k: int) -> Partition:
    """The user's own groups, in his order, in each the most typical values first and those without rows at the end."""
    if not isinstance(column, Categories):
        return partition
    place = {column.values[i]: n for n, i in enumerate(_typical_first(task, grid, k).tolist())}
    groups = tuple(tuple(sorted(group, key=lambda value: place.get(value, len(place)))) for group in partition.groups)
    return replace(partition, groups=groups)


def spread_of(table: Table, parts: NDArray[np.int64], n_parts: int) -> Spread | None:
    """How a numerical target lies in the parts of the input, given the part of each row."""
    if table.problem.kind != "numerical":
        return None
    return make_spread(table.quantities, parts, table.target.weights, n_parts)
