"""Search many grids over the same columns and put them together to an average."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import check_seed, checked_jobs, checked_options, checked_time
from gridmodl.cells import Cells, make_cells
from gridmodl.clock import Clock
from gridmodl.decisions import check_names
from gridmodl.frames import Name
from gridmodl.grid import Grid, numbered_parts
from gridmodl.gridaverage import GridAverage, Steps
from gridmodl.model import Model
from gridmodl.multivariate import Searched, found_grid, partition_of, search_grids
from gridmodl.search import Search
from gridmodl.table import Table, read_table
from gridmodl.targets import NOT_GIVEN
from gridmodl.terms import Criterion, level_of
from gridmodl.univariate import class_means
from gridmodl.wrap import grid_model

NEVER_SEEN = -2  # the place of values that were never seen, after all fine parts


def best_average(
    data: Any,
    target: Any,
    *,
    criterion: str | Criterion,
    search: str | Search,
    weights: Any,
    kinds: Mapping[Name, str] | None,
    max_parts: int | None,
    min_rows: int | float | None,
    time_limit: float | None,
    random_state: int | None,
    n_jobs: int,
) -> tuple[Model, GridAverage]:
    """The model of the best grid, and the average of all optima that the search keeps; arguments as of `optimize`."""
    if not isinstance(search, Search) or search.keep_optima == 0:
        raise ValueError(
            "search must say how many grids to average, such as gridmodl.Search('diverse', effort=10, "
            f"keep_optima=2000); got {search!r}"
        )
    clock = Clock(checked_time(time_limit))
    options = checked_options(criterion, search, kinds, None, None, max_parts, min_rows)
    check_seed(random_state)
    n_threads = checked_jobs(n_jobs)
    table = read_table(data, target, weights, "classes", NOT_GIVEN)
    check_names(table, options)
    searched = search_grids(table, options, n_threads, random_state, clock)
    return grid_model(table, found_grid(table, searched), clock), average_of(table, searched)


def average_of(table: Table, searched: Searched) -> GridAverage:
    """The average of the optima that a search kept."""
    columns, task, found, _ = searched
    grids = [grid for grid in found.optima if grid.cost < found.null.cost]
    used = sorted({k for grid in grids for k in grid.variables})
    fine = [_fine_parts([grid for grid in grids if k in grid.variables], k) for k in used]
    partitions, parts_of_atoms = {}, {}
    for k, labels in zip(used, fine, strict=True):
        partition, parts_of_atoms[k] = partition_of(columns[k], labels, task, found.grid, k, table)
        partitions[partition.name] = partition
    class_rows = table.problem.class_rows
    return GridAverage(
        partitions,
        np.array([_level(grid.cost, found.null.cost) for grid in grids]),
        class_rows / class_rows.sum(),
        _make_steps(grids, used, parts_of_atoms, table, searched),
        np.array([found.null.cost - grid.cost for grid in grids]),
    )


def _level(cost: float, null_cost: float) -> float:
    level = level_of(cost, null_cost)
    return math.nan if level is None else level


def _fine_parts(grids: Sequence[Grid], k: int) -> NDArray[np.int32]:
    """The part of each atom of variable k, so fine that the parts of all these grids are unions of them."""
    fine = np.zeros(len(grids[0].parts[grids[0].variables.index(k)]), dtype=np.int64)
    for grid in grids:
        parts = grid.parts[grid.variables.index(k)]
        fine = numbered_parts(fine * (int(parts.max()) + 1) + parts).astype(np.int64)
    return fine.astype(np.int32)


def _make_steps(
    grids: Sequence[Grid],
    used: Sequence[int],
    parts_of_atoms: Mapping[int, NDArray[np.int64]],
    table: Table,
    searched: Searched,
) -> Steps:
    rows, target = searched.task.rows, table.target
    column: list[int] = []
    n_parts: list[int] = []
    part, step, shares = [], [], []
    for grid in grids:
        of_rows = [parts[rows.atom[k]] for k, parts in zip(grid.variables, grid.parts, strict=True)]
        cells = make_cells(grid.variables, of_rows, target)
        shares.append(cells.shares())
        step += _steps_of(cells, grid.shape)
        n_parts += grid.shape
        for i, k in enumerate(grid.variables):
            column.append(used.index(k))
            part.append(_part_of_fine(grid.parts[i], parts_of_atoms[k]))
            if searched.task.facts.categorical[k]:
                part[-1][NEVER_SEEN] = _default(grid.parts[i], target.counts(of_rows[i], grid.shape[i]))
    return Steps(
        grid_at=_begins([len(grid.variables) for grid in grids]),
        column=np.array(column, dtype=np.int32),
        part_at=_begins(map(len, part))[:-1],
        part=np.concatenate(part).astype(np.int32) if part else np.empty(0, dtype=np.int32),
        n_parts=np.array(n_parts, dtype=np.int64),
        step_at=_begins(map(len, step))[:-1],
        step=np.concatenate(step).astype(np.int32) if step else np.empty(0, dtype=np.int32),
        cell_at=_begins(map(len, shares))[:-1],
        shares=np.concatenate(shares) if shares else np.empty((0, searched.task.n_counts)),
    )


def _begins(sizes: Any) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)


def _steps_of(cells: Cells, shape: Sequence[int]) -> list[NDArray[np.int64]]:
    """For each variable of a grid, the number of each combination of parts so far that exists, as `Cells` has them."""
    found, known, n_known = [], np.zeros(len(cells.parts), dtype=np.int64), 1
    for of_cells, width in zip(cells.parts.T, shape, strict=True):
        combinations, numbers = np.unique(known * width + of_cells, return_inverse=True)
        steps = np.full(n_known * width, -1, dtype=np.int64)
        steps[combinations] = np.arange(len(combinations))
        found.append(steps)
        known, n_known = numbers, len(combinations)
    return found


def _part_of_fine(parts: NDArray[np.int32], fine: NDArray[np.int64]) -> NDArray[np.int64]:
    """The part of each fine part; two more at the end, for values that were never seen and for those of no part."""
    found = np.full(int(fine.max()) + 3, -1, dtype=np.int64)
    found[fine] = parts
    return found


def _default(parts: NDArray[np.int32], counts: NDArray[np.int64]) -> int:
    """The group of values that were never seen, as `Partition.default` has it.

    Of most values, then of most rows; of equals the first in the order that groups have in a partition.
    """
    order = np.argsort(class_means(counts), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return int(np.lexsort((-rank, counts.sum(axis=1), np.bincount(parts)))[-1])
