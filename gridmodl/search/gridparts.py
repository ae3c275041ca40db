"""The best partitions of one variable of a grid into 1, 2, ... parts, with the others frozen."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.atoms import coarsen
from gridmodl.grid import Grid
from gridmodl.search.gridexact import MAX_BOUNDS, MAX_SUMS, candidates, variable_task
from gridmodl.search.gridtask import MAX_CELL_COUNTS, GridTask, Worker
from gridmodl.search.layers import best_by_parts
from gridmodl.search.moves import Limits
from gridmodl.search.onesplit import MAX_VALUES, group_split
from gridmodl.search.subsets import groupings_by_parts
from gridmodl.search.task import Task
from gridmodl.search.typical import setting_beside


class Beside(NamedTuple):
    """A partition of one variable beside the others."""

    parts: NDArray[np.int64]  # of each atom
    gap: float  # how far above the lowest of so many parts it is at most; NaN where that is not known
    how: str = "best"  # or "split": one group of the grid is cut in two


class TooMany(ValueError):
    """There is more to look at than a search of one variable takes."""


def best_beside(task: GridTask, grid: Grid, k: int, most: int) -> list[Beside]:
    """Partitions of variable k into 1, 2, ... up to `most` parts, each the cheapest that is found.

    Proven for a numerical variable of few values, and for at most 12 categories; of many numbers only bounds at some
    quantiles and those of the grid are looked at.
    """
    one = _alone(task, grid, k, most)
    if task.facts.categorical[k]:
        found, groupings = groupings_by_parts(one)
        split = None if one.clock.stopped else group_split(one, grid.parts_of(k, one.n_atoms).astype(np.int64))
        besides = [Beside(grouping.groups, gap) for grouping, gap in zip(groupings, found.gaps.tolist(), strict=True)]
        return besides if split is None else [*besides, Beside(split, np.nan, "split")]
    starts = _starts(task, grid, k, one)
    is_all = len(starts) == one.n_atoms
    one = replace(one, atoms=coarsen(one.atoms, starts), setting=setting_beside(task, grid, k, _sizes(len(starts))))
    by_number, partitionings = best_by_parts(one)
    gaps = by_number.gaps.tolist() if is_all else [0.0, *[np.nan] * (len(partitionings) - 1)]
    n_atoms = task.rows.n_atoms(k)
    return [
        Beside(np.searchsorted(starts[found.starts], np.arange(n_atoms), side="right") - 1, gap)
        for found, gap in zip(partitionings, gaps, strict=True)
    ]


def _alone(task: GridTask, grid: Grid, k: int, most: int) -> Task:
    """Variable k as a task of its own."""
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


def _starts(task: GridTask, grid: Grid, k: int, one: Task) -> NDArray[np.int64]:
    """The atoms where a part may begin: all, or where these are too many some quantiles and where parts of it do."""
    most = max(2, min(MAX_BOUNDS, MAX_SUMS // (one.n_frozen_cells * one.atoms.counts.shape[1])))
    if one.n_atoms <= most:
        return np.arange(one.n_atoms)
    parts = grid.parts_of(k, one.n_atoms)
    own = np.append(0, np.flatnonzero(np.diff(parts)) + 1)
    return np.union1d(own, candidates(one.atoms, task, most))
