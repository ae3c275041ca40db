"""Merges from a grid of several inputs and the parts of the target down to one cell, the cheapest merge first.

Every merge is priced from scratch: a merge of parts of the target changes the price of all margins, and so of all other
merges. A grid that a search found has few parts, and its rows are the cells of a model.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from gridmodl.search.grid.optima import GridMerge
from gridmodl.search.grid.rows import Grid, make_grid
from gridmodl.search.grid.state import GridTask, Worker


def merge_path(task: GridTask, grid: Grid) -> list[GridMerge]:
    """Merges from `grid` to one cell; ties: the first variable, its first parts."""
    worker, path = Worker(task), list[GridMerge]()
    parts = {k: grid.parts_of(k, task.rows.n_atoms(k)).astype(np.int64) for k in grid.variables}
    while any(labels.min() < labels.max() for labels in parts.values()) and not task.clock.look():
        best = GridMerge(0, 0, 0, np.inf)
        for k, labels in parts.items():
            for stays, goes in _pairs(labels, bool(task.facts.categorical[k])):
                merged = [(v, np.where(of == goes, stays, of) if v == k else of) for v, of in parts.items()]
                cost = worker.load(make_grid(merged))
                if cost < best.cost:
                    best = GridMerge(k, stays, goes, cost)
        path.append(best)
        labels = parts[best.variable]
        labels[labels == best.goes] = best.stays
    return path


def _pairs(labels: NDArray[np.int64], is_group: bool) -> list[tuple[int, int]]:
    """Parts that may merge: any two groups, or two neighbouring intervals, which are in the order of their numbers."""
    numbers = np.unique(labels).tolist()
    return list(itertools.combinations(numbers, 2) if is_group else itertools.pairwise(numbers))
