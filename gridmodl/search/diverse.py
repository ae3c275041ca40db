"""Many different grids, for an average of them: local optima of random choices of the variables.

Each round draws some of the variables, a random grid of these, and improves it by them alone. What it ends at would
often not be an optimum if the other variables could enter, so rounds that would all end at the same few grids end at
different ones (the benchmark `classifiers` counts them).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gridmodl.grid import Grid
from gridmodl.search.crew import Crew
from gridmodl.search.gridfound import Tally
from gridmodl.search.gridtask import Worker
from gridmodl.search.rounds import local_optimum, seed_of_round, stages

# A stage of so many rounds or more that finds no new grid is the last: there are hardly any others.
FEW_ROUNDS = 32


def run_diverse(crew: Crew, tally: Tally, seed: int, effort: int) -> None:
    """Stages of 1, 2, 4, ... 2^effort rounds, each round with variables of its own."""
    tally.task.clock.step = "diverse"
    n_known = tally.n_new
    for n_rounds in stages(crew, tally, effort, lambda worker, _, r, __: _round(worker, tally.null, seed, r)):
        if tally.keep > 0 and n_rounds >= FEW_ROUNDS and tally.n_new == n_known:
            return
        n_known = tally.n_new


def _round(worker: Worker, null: Grid, seed: int, r: int) -> Grid:
    """The local optimum of round r."""
    rng = np.random.default_rng([seed, r])
    variables = _choice(rng, worker.task.n_variables)
    return local_optimum(worker, null, float(rng.random()), r % 2 == 0, seed_of_round(seed, r), variables)


def _choice(rng: np.random.Generator, n_variables: int) -> NDArray[np.int64]:
    """At least two of the variables, every number of them as likely."""
    n_chosen = int(rng.integers(min(2, n_variables), n_variables + 1))
    return rng.permutation(n_variables)[:n_chosen].astype(np.int64)
