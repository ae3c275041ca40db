"""The best partitions of one variable of a model into each number of parts, found in the data it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import Options
from gridmodl.clock import Clock
from gridmodl.curve import curve_of
from gridmodl.grid import make_grid
from gridmodl.jointparts import with_values
from gridmodl.multivariate import grid_task, partition_of
from gridmodl.partition import Partition
from gridmodl.quantities import Numbers
from gridmodl.search.gridparts import TooMany, best_beside
from gridmodl.search.groups import numbered, priced_groups
from gridmodl.search.moves import NO_LIMIT, Limits
from gridmodl.search.onesplit import best_split, group_split, grouping_takes_long, takes_long
from gridmodl.table import Table
from gridmodl.univariate import groups_of, intervals_of, intervals_task, values_task
from gridmodl.values import Categories

if TYPE_CHECKING:
    from gridmodl.alternatives import Variable


class ByNumber(NamedTuple):
    """A partition that a search found."""

    partition: Partition
    gap: float  # how far above the lowest of so many parts it is at most; NaN where that is not known
    how: str  # "best" of all that were looked at, or "split": of those with one part of the model cut in two


def of_column(variable: Variable, most: int, clock: Clock, is_patient: bool) -> list[ByNumber]:
    """Of one column with classes: the best partitions of each number of parts.

    Where one would wait for them, and is not said to be patient, a split of one of the model's parts alone.
    """
    model, partition = variable.model, variable.partition
    assert model._source is not None  # noqa: S101  for mypy
    table = model._source[0].priced_rows()
    special = {partition.name: partition.special} if len(partition.special) else {}
    # Codes that no row has count as parts for a limit, and are none here.
    n_absent = len(partition.special) - (variable.n_parts - len(variable.rows_of_intervals))
    options = Options(variable.criterion, special=special, max_parts=most + n_absent)
    column = table.column(partition.name, partition.kind)
    if isinstance(column, Numbers):
        splits = _split(variable, column, table, options, clock)
    else:
        splits = _split_of_many(variable, column, table, clock) if not is_patient else []
    if splits and not is_patient:
        return splits
    found, partitions = curve_of(column, table, options, clock)
    if isinstance(column, Categories) and np.isnan(found.gaps).any() and not clock.stopped:
        splits = _group_split(variable, column, table, clock)
    return [*splits, *(ByNumber(one, gap, "best") for one, gap in zip(partitions, found.gaps.tolist(), strict=True))]


def _split(variable: Variable, column: Numbers, table: Table, options: Options, clock: Clock) -> list[ByNumber]:
    """One more bound, where all partitions into as many parts are too many to wait for, or for long."""
    limits = Limits(NO_LIMIT, 1)
    intervals = intervals_task(column, table, variable.criterion, options, limits, clock, may_join=False)
    task = intervals.task
    if intervals.line.n_atoms == 0 or not takes_long(task, variable.n_parts + 1):
        return []
    rows = np.add.reduceat(task.atoms.rows, task.atoms.first[:-1])
    ends = np.cumsum(variable.rows_of_intervals)[:-1]
    starts = np.append(0, np.searchsorted(np.cumsum(rows), ends) + 1)
    found = best_split(task, starts)
    return [] if found is None else [ByNumber(intervals_of(column, intervals, table.target, found), np.nan, "split")]


def _split_of_many(variable: Variable, column: Categories, table: Table, clock: Clock) -> list[ByNumber]:
    """One of the groups of the model cut in two, where all groupings into as many groups take long to merge."""
    task = values_task(column, table, variable.criterion, Limits(NO_LIMIT, 1), clock)
    if not grouping_takes_long(task):
        return []
    splits = _group_split(variable, column, table, clock)
    if not splits:
        raise TooMany(f"it has {task.n_atoms} values; explain(name, time_limit=...) says how long to search")
    return splits


def _group_split(variable: Variable, column: Categories, table: Table, clock: Clock) -> list[ByNumber]:
    """One of the groups of the model cut in two."""
    task = values_task(column, table, variable.criterion, Limits(NO_LIMIT, 1), clock)
    groups = np.zeros(task.n_atoms, dtype=np.int64)
    groups[column.codes] = variable.partition.part_of_encoded(column)
    split = group_split(task, numbered(groups))
    if split is None:
        return []
    return [ByNumber(groups_of(column, table.target, priced_groups(task, split)), np.nan, "split")]


def of_grid(variable: Variable, most: int, clock: Clock) -> list[ByNumber]:
    """Of a variable of a grid, the others frozen."""
    model = variable.model
    assert model._source is not None  # noqa: S101  for mypy
    table = model._source[0]
    kinds = {name: part.kind for name, part in model.partitions.items()}
    columns, task = grid_task(table, Options(variable.criterion, kinds=kinds), variable.criterion, clock)
    labels: list[tuple[int, NDArray[Any]]] = []
    for v, column in enumerate(columns):
        of_atoms = np.zeros(task.rows.n_atoms(v), dtype=np.int64)
        of_atoms[task.rows.atom[v]] = variable.parts_of_rows[column.name]
        labels.append((v, of_atoms))
    grid, k = make_grid(labels), [column.name for column in columns].index(variable.partition.name)
    found = []
    for beside in best_beside(task, grid, k, most):
        other = make_grid([*labels[:k], (k, beside.parts), *labels[k + 1 :]])
        parts = other.parts_of(k, len(beside.parts))
        partition, renumbered = partition_of(columns[k], parts, task, other, k, table)
        if table.problem.kind != "classes":
            partition = with_values(partition, task, k, renumbered)
        found.append(ByNumber(partition, beside.gap, beside.how))
    return found
