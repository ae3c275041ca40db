"""Rounds of a search of grids: a random neighbour of a grid, pre-optimized, merged and post-optimized; in stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gridmodl.grid import Grid
from gridmodl.search.cells import N_ALL_CELLS
from gridmodl.search.crew import BATCH, Crew
from gridmodl.search.gridfound import Tally
from gridmodl.search.gridimprove import improve_board
from gridmodl.search.gridmerge import merge_board
from gridmodl.search.gridtask import Worker
from gridmodl.search.neighbours import draw_neighbour, neighbourhood
from gridmodl.search.preoptimize import pre_optimize_board

MASK = 2**64 - 1


def stages(crew: Crew, tally: Tally, effort: int, work: Callable[[Worker, Grid, int, int], Grid]) -> Iterator[int]:
    """Stages of 1, 2, 4, ... 2^effort rounds, in batches from the best grid so far; the size of each when it is done.

    `work` is told the best grid, the number of the round among all, and the size of the stage. Batches are of a fixed
    size, so threads change no bit of the result.
    """
    total = 2 ** (effort + 1) - 1
    for n_rounds in (2**stage for stage in range(effort + 1)):
        for begin in range(0, n_rounds, BATCH):
            best, first = tally.best, n_rounds - 1 + begin  # of all rounds before this batch

            def one(worker: Worker, i: int, best: Grid = best, first: int = first, n: int = n_rounds) -> Grid:
                return work(worker, best, first + i, n)

            for grid in crew.each(one, min(BATCH, n_rounds - begin)):
                tally.n_rounds += 1
                tally.add(grid)
            tally.task.clock.tell(tally.n_rounds / total)
            if tally.task.clock.stopped:
                return
        yield n_rounds


def seed_of(random_state: int | None) -> int:
    """The seed of a whole search."""
    return int(np.random.SeedSequence(random_state).generate_state(1, np.uint64)[0])


def seed_of_round(seed: int, r: int) -> int:
    """Of round r of the search with this seed."""
    return (seed + r * 0x9E3779B97F4A7C15) & MASK


def local_optimum(
    worker: Worker,
    near: Grid,
    share: float,
    near_quantiles: bool,
    seed: int,
    chosen: NDArray[np.int64] | None = None,
) -> Grid:
    """A random neighbour of grid `near`, cleaned, merged and improved; by the chosen variables only, or by all."""
    worker.load(near)
    n_cells = float(worker.board.sums[N_ALL_CELLS])
    visits = np.arange(worker.task.n_variables) if chosen is None else chosen.copy()
    n_new, n_parts = neighbourhood(worker.task, share, worker.most_cells, n_cells)
    draw_neighbour(worker, min(n_new, len(visits)), n_parts, near_quantiles, seed, visits)
    worker.price()
    pre_optimize_board(worker)
    merge_board(worker)
    settle(worker, visits)
    return worker.grid()


def settled_from(worker: Worker, start: Grid) -> Grid:
    """What merges and local moves of all variables make of a grid."""
    worker.load(start)
    merge_board(worker)
    settle(worker, np.arange(worker.task.n_variables))
    return worker.grid()


def settle(worker: Worker, visits: NDArray[np.int64]) -> None:
    """Local moves of these variables and merges in turn, until neither saves."""
    while True:
        improve_board(worker, visits)
        if worker.task.clock.stopped or merge_board(worker, is_greedy=True) == 0:
            return
