"""Many columns as one grid: encode them, search, and say what each part is and why a column is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import Options
from gridmodl.atoms import bounds_between
from gridmodl.cells import Cells, make_cells
from gridmodl.clock import Clock
from gridmodl.encode import Column
from gridmodl.frames import Name
from gridmodl.given import given_partition
from gridmodl.grid import Grid, make_grid
from gridmodl.partition import Partition, group_partition, interval_partition
from gridmodl.plugins import criterion_for
from gridmodl.pricing import check_cost
from gridmodl.quantities import Numbers
from gridmodl.search.gridtask import GridTask, make_task, price_grid
from gridmodl.search.vns import run_grid
from gridmodl.table import Table
from gridmodl.terms import Criterion
from gridmodl.univariate import ordered_groups, with_rows


class GridModel(NamedTuple):
    """A grid in the user's words."""

    partitions: dict[Name, Partition]
    cells: Cells
    cost: float


class FoundGrid(NamedTuple):
    """The best grid, and all that is known of it."""

    best: GridModel
    null_cost: float
    left_out: dict[Name, str]
    optima: list[GridModel]
    search: str
    criterion: Criterion


def best_grid(table: Table, options: Options, n_jobs: int, random_state: int | None, clock: Clock) -> FoundGrid:
    """The best grid over all columns of a table that the search finds."""
    criterion = criterion_for(options.criterion, "grid")
    limits = options.limits(table.problem.n_rows)
    columns = [table.column(name, options.kinds.get(name)) for name in table.names]
    task = make_task(columns, table.target, criterion, limits, clock)
    found = run_grid(task, options.search, n_jobs, random_state)
    null_cost = check_cost(criterion, found.null.cost)
    check_cost(criterion, found.grid.cost)
    return FoundGrid(
        _in_words(found.grid, columns, table, task, table.names),
        null_cost,
        _left_out(found.grid, found.singles, found.null.cost, columns, task),
        [_in_words(grid, columns, table, task, [columns[k].name for k in grid.variables]) for grid in found.optima],
        found.kind,
        criterion,
    )


def _in_words(grid: Grid, columns: Sequence[Column], table: Table, task: GridTask, names: Sequence[Name]) -> GridModel:
    """The partitions of the columns of these names, and the cells of the grid."""
    index = {column.name: k for k, column in enumerate(columns)}
    partitions, parts_of_rows = {}, {}
    for name in names:
        k = index[name]
        labels = grid.parts_of(k, task.rows.n_atoms(k))
        partitions[name], renumbered = _partition(columns[k], labels, task.rows.atom[k], table)
        if k in grid.variables:
            parts_of_rows[name] = renumbered[task.rows.atom[k]]
    cells = make_cells(list(parts_of_rows), list(parts_of_rows.values()), table.target)
    return GridModel(partitions, cells, grid.cost)


def _partition(
    column: Column, labels: NDArray[np.int32], atom: NDArray[np.int32], table: Table
) -> tuple[Partition, NDArray[np.int64]]:
    """A partition of one column, and the number of the part of each of its atoms."""
    n_parts = int(labels.max()) + 1
    counts = table.target.counts(labels[atom], n_parts)
    if isinstance(column, Numbers):
        return interval_partition(
            column, _bounds(column, labels), np.empty(0, column.values.dtype), counts, column.missing is not None
        ), labels.astype(np.int64)
    groups, counts, rank = ordered_groups(column.values, labels, counts)
    return group_partition(column.name, groups, counts), rank[labels]


def _bounds(column: Numbers, labels: NDArray[np.int32]) -> NDArray[Any]:
    """Where parts of neighbouring values meet; missing values, the first atom, have no bound with the others."""
    missing = np.zeros(0, dtype=bool) if column.missing is None else column.missing
    values = np.unique(column.values if column.missing is None else column.values[~missing])
    of_values = labels[int(missing.any()) :]
    cuts = np.flatnonzero(of_values[1:] != of_values[:-1])
    return bounds_between(values[cuts], values[cuts + 1], column.type)


def given_grid(table: Table, partitions: Mapping[Name, Any], options: Options) -> FoundGrid:
    """The grid of partitions that the user decided, at its true cost; a column left out has one part."""
    criterion = criterion_for(options.criterion, "grid")
    columns = [table.column(name, options.kinds.get(name)) for name in table.names]
    task = make_task(columns, table.target, criterion, options.limits(table.problem.n_rows))
    filled, parts_of_rows, labels = {}, {}, []
    for k, column in enumerate(columns):
        given = given_partition(column, partitions.get(column.name, ()), np.empty(0), table.target.n_classes)
        parts = given.part_of_encoded(column, "error")
        filled[column.name] = with_rows(given, column, table.target.counts(parts, given.n_parts))
        of_atoms = np.zeros(task.rows.n_atoms(k), dtype=np.int64)
        of_atoms[task.rows.atom[k]] = parts
        if np.any(parts != parts[0]):
            parts_of_rows[column.name] = parts
            labels.append((k, of_atoms))
    cost = check_cost(criterion, price_grid(task, make_grid(labels)))
    cells = make_cells(list(parts_of_rows), list(parts_of_rows.values()), table.target)
    null_cost = check_cost(criterion, price_grid(task, make_grid([])))
    left_out = {column.name: "it has one part as given" for column in columns if column.name not in parts_of_rows}
    return FoundGrid(GridModel(filled, cells, cost), null_cost, left_out, [], "given", criterion)


def _left_out(
    grid: Grid, singles: Sequence[Grid], null_cost: float, columns: Sequence[Column], task: GridTask
) -> dict[Name, str]:
    """Why a column has one part, in a sentence."""
    reasons: dict[Name, str] = {}
    for k, column in enumerate(columns):
        if k in grid.variables:
            continue
        if task.rows.n_atoms(k) == 1:
            reasons[column.name] = "it has one value"
        elif task.limits.max_parts == 1:
            reasons[column.name] = "max_parts=1 leaves it whole"
        elif not singles[k].variables and task.clock.stopped:
            reasons[column.name] = f"the search was stopped ({task.clock.stopped}) before a partition of it paid"
        elif not singles[k].variables:
            reasons[column.name] = "no partition of it alone pays, and none beside the others was found"
        else:
            level = 1.0 - singles[k].cost / null_cost if null_cost else 0.0
            alone = f"alone it has level {level:.4f}"
            reasons[column.name] = f"{alone}, but beside the others its parts cost more than they tell"
    return reasons
