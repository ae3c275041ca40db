"""Exact search of one numerical variable of a grid after the other, the others frozen.

The exact search of one column (`gridmodl.search.column.exact`) prices an interval by the sum over its cells: with other
variables frozen, there is one cell per frozen cell, and nothing else changes. Its time grows with the bounds and the
frozen cells: for a variable of many values, only bounds at some quantiles are tried, and local moves of all variables
refine the result.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms, coarsen, head
from gridmodl.jit.template import bind
from gridmodl.search.column.exact import PLAIN_ATOMS, PRICES_PER_ATOM, best_by_parts, can_prune, proven_optimum
from gridmodl.search.column.splits import MAX_VALUES, group_split
from gridmodl.search.column.subsets import groupings_by_parts
from gridmodl.search.grid.cells import State, fill_entries, find_frozen
from gridmodl.search.grid.improve import improve_state
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import MAX_CELL_COUNTS, GridTask, Worker
from gridmodl.search.grid.typical import setting_beside
from gridmodl.search.moves import Frozen, Limits, Setting, is_cheaper
from gridmodl.search.target.given import inputs_given
from gridmodl.search.task import Task

# Bounds to choose from. With more, a visit takes longer and may save more or less: --bounds of grid_exact.py.
MAX_BOUNDS = 1024
# Counts by bound, frozen cell and class: a price takes about 10 ns per frozen cell and class.
MAX_SUMS = 2**20
MAX_RUNS = 20  # runs over at most PLAIN_ATOMS bounds; a proof takes 1 to 6


def exact_optimize(task: GridTask, grid: Grid, worker: Worker | None = None) -> Grid:
    """Optimize each informative numerical variable in turn, with local moves of all variables after each.

    A visit that does not save is undone: it may have tried only some of the bounds.
    """
    worker = Worker(task) if worker is None else worker
    visits = [k for k in grid.variables if not task.facts.categorical[k]]
    n_quiet = 0
    while n_quiet < len(visits) and not worker.task.clock.stopped:
        k = visits.pop(0)
        visits.append(k)
        n_quiet += 1
        worker.load(grid)
        if find_optimum(worker, k):
            improve_state(worker, np.arange(task.n_variables))
            found = worker.grid()
            if is_cheaper(found.cost, grid.cost):
                grid, n_quiet = found, 0
                visits = [v for v in visits if v in grid.variables]
    return grid


def find_optimum(worker: Worker, k: int) -> bool:
    """Set variable k of the grid in the state to its cheapest partition among some bounds; return whether it changed.

    The variable stays as it is if the criterion has no floor, as the time would be quadratic.
    """
    one = variable_task(worker, k)
    if not can_prune(one):
        return False
    task, lo, n = worker.task, worker.task.rows.atom_at[k], worker.task.rows.n_atoms(k)
    parts = worker.state.part[lo : lo + n]
    starts = np.append(0, np.flatnonzero(np.diff(parts)) + 1)
    for begin, end in itertools.pairwise([0, *kept_bounds(task, k, parts).tolist(), n]):
        segment = one.within(begin, end, starts)
        size = segment.n_frozen_cells * segment.atoms.counts.shape[1]
        bounds = candidates(segment.atoms, task, k, max(2, min(MAX_BOUNDS, MAX_SUMS // size)))
        found = proven_optimum(replace(segment, atoms=coarsen(segment.atoms, bounds)), budget=visit_budget(len(bounds)))
        others = starts[(starts < begin) | (starts >= end)]
        starts = np.union1d(others, begin + bounds[found.starts])
    labels = np.searchsorted(starts, np.arange(n), side="right") - 1
    if np.array_equal(parts, labels):
        return False
    parts[:] = labels
    worker.state.n_parts[k] = len(starts)
    worker.price()
    return True


def kept_bounds(task: GridTask, k: int, parts: NDArray[np.int32]) -> NDArray[np.int64]:
    """Atoms of numerical variable k at which a part begins that is kept; missing values stay apart if they are."""
    begins = np.flatnonzero(task.holds.begins[task.rows.atom_at[k] : task.rows.atom_at[k + 1]])
    is_apart = task.holds.loose[k] >= 0 and len(parts) > 1 and parts[1] != parts[0]
    return np.union1d(begins, [1]) if is_apart else begins


def visit_budget(n_bounds: int) -> float:
    """Number of prices that a visit may take; with few bounds, each run prices all pairs."""
    return MAX_RUNS * 0.5 * n_bounds**2 if n_bounds <= PLAIN_ATOMS else PRICES_PER_ATOM * n_bounds


def variable_task(worker: Worker, k: int) -> Task:
    """Task of variable k of the grid in the state, the others frozen; its atoms are in the buffers of the worker."""
    task, state, n_parts = worker.task, worker.state, float(worker.state.n_parts[k])
    now = state.now[0]
    bind(freeze)(task.rows, state, worker.atoms, worker.slot, worker.orders[0], k)
    others = Frozen(
        n_variables=task.n_variables,
        n_informative=int(now.n_informative) - int(n_parts > 1),
        n_cells=float(now.n_all_cells) / n_parts,
        price=float(now.fixed - state.prices[k]),
    )
    atoms = head(worker.atoms, task.rows.n_atoms(k))
    return Task(atoms, Setting(task.p, task.facts.variable(k), others), task.criterion, task.limits.of(k), task.clock)


def freeze(rows: Any, state: State, atoms: Any, slot: Any, in_order: Any, k: int) -> None:
    """Write the atoms of variable k, the others frozen, to the front of `atoms`."""
    n_frozen = find_frozen(rows, state, k)
    fill_entries(rows, state.cell_of_row, state.frozen_of_cell, atoms, slot, k, n_frozen, in_order)


def candidates(atoms: Atoms, task: GridTask, k: int, most: int) -> NDArray[np.int64]:
    """First atoms of runs of variable k that no optimum cuts; if more than `most`, those of about `most` quantiles."""
    starts = np.arange(len(atoms.values))
    if task.criterion.joins_pure_runs and task.limits.of(k).min_rows <= 1:
        starts = run_starts(atoms)
    if len(starts) > most:
        before = np.append(0, np.cumsum(atoms.rows))[atoms.first[starts]]
        quantile = (most * (before / task.n_rows)).astype(np.int64)
        starts = starts[np.diff(quantile, prepend=-1) > 0]
    return starts


def run_starts(atoms: Atoms) -> NDArray[np.int64]:
    """First atoms of the runs of atoms of one frozen cell and one class."""
    entry, n_classes = atoms.first[:-1], atoms.counts.shape[1]
    is_pure = (np.diff(atoms.first) == 1) & (np.count_nonzero(atoms.counts, axis=1)[entry] == 1)
    kind = np.where(is_pure, atoms.frozen[entry].astype(np.int64) * n_classes + atoms.counts.argmax(axis=1)[entry], -1)
    return np.flatnonzero(np.append(True, (kind[1:] != kind[:-1]) | ~is_pure[1:]))


# Best partitions of one variable of a grid into 1, 2, ... parts, the others frozen.


class Beside(NamedTuple):
    """A partition of one variable, the others frozen."""

    parts: NDArray[np.int64]  # part of each atom
    gap: float  # upper limit of cost - optimum for its number of parts; NaN if not known
    how: str = "best"  # or "split": one group of the grid is cut in two


class TooMany(ValueError):
    """Raised if a variable has too many values, or the others too many cells, for a search of one variable."""


def best_beside(task: GridTask, grid: Grid, k: int, most: int) -> list[Beside]:
    """Cheapest partitions found of variable k into 1, 2, ..., `most` parts.

    Proven for a numerical variable of few values, and for at most 12 categories. For a numerical variable of many
    values, only bounds at some quantiles and those of the grid are tried.
    """
    if task.has_margins and not task.facts.is_target[k]:
        task, grid = inputs_given(task, grid)
    one = alone_beside(task, grid, k, most)
    if task.facts.categorical[k]:
        found, groupings = groupings_by_parts(one)
        split = None if one.clock.stopped else group_split(one, grid.parts_of(k, one.n_atoms).astype(np.int64))
        besides = [Beside(grouping.groups, gap) for grouping, gap in zip(groupings, found.gaps.tolist(), strict=True)]
        return besides if split is None else [*besides, Beside(split, np.nan, "split")]
    starts = bounds_beside(task, grid, k, one)
    is_all = len(starts) == one.n_atoms
    one = replace(one, atoms=coarsen(one.atoms, starts), setting=setting_beside(task, grid, k, _sizes(len(starts))))
    by_number, partitionings = best_by_parts(one)
    gaps = by_number.gaps.tolist() if is_all else [0.0, *[np.nan] * (len(partitionings) - 1)]
    n_atoms = task.rows.n_atoms(k)
    return [
        Beside(np.searchsorted(starts[found.starts], np.arange(n_atoms), side="right") - 1, gap)
        for found, gap in zip(partitionings, gaps, strict=True)
    ]


def alone_beside(task: GridTask, grid: Grid, k: int, most: int) -> Task:
    """Task of variable k, the others frozen; raise TooMany if that is too large."""
    n_atoms = task.rows.n_atoms(k)
    if task.facts.categorical[k] and n_atoms > MAX_VALUES:
        raise TooMany(f"it has {n_atoms} values, and groups of more than {MAX_VALUES} are not searched for")
    n_frozen = float(np.prod([n for v, n in zip(grid.variables, grid.shape, strict=True) if v != k]))
    if min(n_frozen, task.rows.n_lines) * task.n_counts > MAX_CELL_COUNTS:
        raise TooMany("the other variables make more cells than a search of one variable takes")
    worker = Worker(task)
    worker.load(grid)
    one = variable_task(worker, k)
    setting = setting_beside(task, grid, k, _sizes(n_atoms if task.facts.categorical[k] else 1))
    return replace(one, setting=setting, limits=Limits(most, 1))


def _sizes(n_atoms: int) -> range:
    """Numbers of parts that a search may price."""
    return range(1, n_atoms + 1)


def bounds_beside(task: GridTask, grid: Grid, k: int, one: Task) -> NDArray[np.int64]:
    """Atoms where a part may begin: all, or if too many, some quantiles and the bounds of the grid."""
    most = max(2, min(MAX_BOUNDS, MAX_SUMS // (one.n_frozen_cells * one.atoms.counts.shape[1])))
    if one.n_atoms <= most:
        return np.arange(one.n_atoms)
    parts = grid.parts_of(k, one.n_atoms)
    own = np.append(0, np.flatnonzero(np.diff(parts)) + 1)
    return np.union1d(own, candidates(one.atoms, task, k, most))
