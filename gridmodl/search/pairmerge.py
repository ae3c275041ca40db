"""Merges of parts of two variables, the cheapest first, down to one cell; the best grid on the way is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.grid import Grid
from gridmodl.search.gridfound import Merge
from gridmodl.search.gridtask import GridTask
from gridmodl.search.moves import Limits
from gridmodl.search.pairdeltas import FEW_ROWS, LEFT, MergeRoom
from gridmodl.search.pairmergesteps import BEST_COST, N_BEST, N_DONE, Merging, merge_steps
from gridmodl.search.pairtask import COST, Pair
from gridmodl.template import bind


def merge_path(task: GridTask, start: Grid) -> list[Merge]:
    """All merges that lead from a grid of two variables to a single cell, the cheapest first."""
    pair = Pair(task)
    pair.load((start.parts_of(0, pair.n_atoms(0)), start.parts_of(1, pair.n_atoms(1))))
    state, _ = run_merges(pair, is_greedy=False)
    n = int(state.now[N_DONE])
    arrays = (state.variable, state.stays, state.goes, state.cost)
    return [Merge(*step) for step in zip(*(array[:n].tolist() for array in arrays), strict=True)]


def merge(pair: Pair, limits: Limits, is_greedy: bool = False) -> list[NDArray[np.int64]]:
    """Merge the grid to the best one on the way to one cell that keeps the limits; while it saves, if `is_greedy`.

    Of each part of either variable that is left, the part it would be cheapest to merge with, where the way ends; -1
    where there is none.
    """
    state, room = run_merges(pair, is_greedy, limits)
    n_best = int(state.now[N_BEST])
    nearest = []
    for k in (0, 1):
        into = np.arange(pair.n_parts[k])
        steps = np.flatnonzero(state.variable[:n_best] == k)
        for step in steps[::-1]:  # from the end: where a part goes that others went into is known by then
            into[state.goes[step]] = into[state.stays[step]]
        number = np.cumsum(np.bincount(into, minlength=len(into)) > 0) - 1
        nearest.append(_nearest(room, k, number))
        pair.put(k, into[pair.sides[k].part])
    if n_best > 0:
        pair.sums[COST] = state.sums[BEST_COST]
    return nearest


def _nearest(room: MergeRoom, k: int, number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each group where the merges ended, the nearest group."""
    n = int(room.counts[k, LEFT])
    nearest = np.full(int(number[-1]) + 1, -1, dtype=np.int64)
    if room.deltas[k].shape[1] > 1 and n == len(nearest):
        low = np.full(n, np.inf)
        names = number[room.name[k, :n]]
        for i in range(1, n):
            for a, b in ((i, room.near[k, i]), (room.near[k, i], i)):
                if room.low[k, i] < low[a]:
                    low[a], nearest[names[a]] = room.low[k, i], names[b]
    return nearest


def run_merges(pair: Pair, is_greedy: bool, limits: Limits | None = None) -> tuple[Merging, MergeRoom]:
    """Merge down to one cell, or while it saves; what was merged, and the parts as they are then."""
    limits = pair.relaxed if limits is None else limits
    cells, tally, _ = pair.lay(0)
    n_0, n_1 = pair.n_parts
    room = _merge_room(pair, cells, tally, limits)
    n_steps = n_0 + n_1 - 2
    state = Merging(
        variable=np.zeros(n_steps, dtype=np.int64),
        stays=np.zeros(n_steps, dtype=np.int64),
        goes=np.zeros(n_steps, dtype=np.int64),
        cost=np.zeros(n_steps),
        now=np.array([0, 0, 0, int(is_greedy), -1], dtype=np.int64),
        sums=np.array([0.0, pair.cost, np.inf, 0.0]),
    )
    kernel = bind(merge_steps, pair.task.criterion)
    facts = pair.sides[0].facts, pair.sides[1].facts
    pair.task.clock.repeat(
        lambda n: bool(kernel(room, facts, pair.task.p, limits, pair.table, pair.one, state, n)),
        None,
        size=max(1, 2**22 // (n_0 * n_1)),
    )
    return state, room


def _merge_room(pair: Pair, cells: Any, tally: Any, limits: Limits) -> MergeRoom:
    n_0, n_1 = pair.n_parts
    n = max(n_0, n_1)
    deltas = tuple(np.empty((m, m if pair.is_group(k) else 1)) for k, m in enumerate(pair.n_parts))
    name = np.stack([np.arange(n)] * 2)
    right = name + 1
    right[0, n_0 - 1] = right[1, n_1 - 1] = -1
    counts = np.array([(m, np.count_nonzero(tally[2 * k, :m] < limits.min_rows)) for k, m in enumerate(pair.n_parts)])
    room = FEW_ROWS**2 + 1, n
    return MergeRoom(
        cells=(cells.T.copy(), cells.copy()),  # copies: the transpose of a single row is the same memory
        deltas=deltas,
        low=np.full((2, n), np.inf),
        near=np.zeros((2, n), dtype=np.int64),
        sums=np.zeros((2, n)),
        price=np.zeros((2, n)),
        n_rows=tally[::2, :n].copy(),
        n_values=tally[1::2, :n].copy(),
        name=name,
        left=name - 1,
        right=right,
        counts=counts.astype(np.int64),
        changes=np.empty(room),
        known=np.full(room[0], -1, dtype=np.int64),
    )
