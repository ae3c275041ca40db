"""Grids to start from: no variable, each variable alone, and the product of the variables that pay alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.atoms import Atoms, alone, coarsen
from gridmodl.grid import Grid, make_grid
from gridmodl.search import Search, run_grouping, run_search
from gridmodl.search.gridtask import GridTask, Worker
from gridmodl.search.moves import Frozen, Setting
from gridmodl.search.task import Task
from gridmodl.values import count_rows


def null_grid(worker: Worker) -> Grid:
    """No informative variable."""
    empty = make_grid([])
    return empty._replace(cost=worker.load(empty))


def single_grid(task: GridTask, null: Grid, prices: NDArray[np.float64], k: int) -> Grid:
    """The best grid that a one-variable search finds with variable k alone; `prices` are those of the null grid."""
    if task.rows.n_atoms(k) == 1 or task.limits.max_parts == 1:
        return null
    atoms, starts = _atoms(task, k)
    others = Frozen(n_variables=task.n_variables, price=float(prices.sum() - prices[k]))
    setting = Setting(task.p, task.facts.variable(k), others)
    alone_task = Task(atoms, setting, task.criterion, task.limits, task.clock.child())
    if task.facts.categorical[k]:
        grouping, _ = run_grouping(alone_task, Search("merge"))
        grid = make_grid([(k, grouping.groups)], grouping.cost)
    else:
        found, _ = run_search(alone_task, Search("merge"))
        labels = np.zeros(task.rows.n_atoms(k), dtype=np.int64)
        labels[starts[found.starts[1:]]] = 1
        grid = make_grid([(k, np.cumsum(labels))], found.cost)
    if alone_task.clock.stopped == "interrupted":  # heard in this thread, and meant for the whole search
        task.clock.stopped = "interrupted"
    return grid


def _atoms(task: GridTask, k: int) -> tuple[Atoms, NDArray[Any]]:
    """A variable alone, and where its atoms begin: runs of one class are joined where the criterion allows it."""
    rows, n_atoms = task.rows, task.rows.n_atoms(k)
    flat = rows.atom[k].astype(np.int64) * task.n_counts + rows.codes
    counts = count_rows(flat, rows.weights if len(rows.weights) else None, n_atoms * task.n_counts)
    counts = counts.reshape(n_atoms, -1).astype(np.int32 if task.n_rows < 2**31 else np.int64)
    atoms = alone(counts, np.ones(n_atoms, dtype=np.int32))
    starts = np.arange(n_atoms)
    if task.criterion.joins_pure_runs and task.limits.min_rows <= 1 and not task.facts.categorical[k]:
        pure = np.where(np.count_nonzero(counts, axis=1) == 1, counts.argmax(axis=1), -1)
        starts = np.flatnonzero(np.append(True, (pure[1:] != pure[:-1]) | (pure[1:] < 0)))
        atoms = coarsen(atoms, starts)
    return atoms, starts


def product_grid(singles: list[Grid], most: int | None = None) -> Grid:
    """The product of the grids of one variable, or of so many of the cheapest; without its cost."""
    informative = sorted((grid for grid in singles if grid.variables), key=lambda grid: grid.cost)
    return make_grid([(grid.variables[0], grid.parts[0]) for grid in informative[:most]])


def most_in_product(task: GridTask, most_cells: int) -> int:
    """More variables than log2 N would leave a row per cell."""
    return max(1, int(math.log2(max(2, min(task.n_rows, most_cells)))))


def with_clock(task: GridTask) -> GridTask:
    """The same task with a clock for one thread: it ends with that of the task."""
    return replace(task, clock=task.clock.child())
