"""Light pre-optimization: the bounds and values of a random grid find their place before any part is merged.

A random grid is likely to be blind to a pattern, and merges of its parts would only destroy what there is (M. Boullé,
"Data grid models for preparation and modeling in supervised learning", 2011, section 6.2.2). So for at most a few
rounds bounds only shift and values only change groups, in informative variables alone.
"""

from __future__ import annotations

import numpy as np

from gridmodl.grid import Grid
from gridmodl.search.gridimprove import improve_board
from gridmodl.search.gridtask import GridTask, Worker

MAX_ROUNDS = 4


def pre_optimize(task: GridTask, grid: Grid, worker: Worker | None = None) -> Grid:
    """The grid that shifts of bounds and transfers of values lead to in a few rounds."""
    worker = Worker(task) if worker is None else worker
    cost = worker.load(grid)
    pre_optimize_board(worker)
    found = worker.grid()
    return found if found.cost < cost else grid._replace(cost=cost)


def pre_optimize_board(worker: Worker) -> None:
    improve_board(worker, np.flatnonzero(worker.board.n_parts > 1), MAX_ROUNDS, shifts_only=True)
