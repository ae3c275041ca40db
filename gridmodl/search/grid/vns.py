"""Variable neighbourhood search for grids: local optima from random neighbours of the best grid so far.

    start        the null grid, each variable alone, the product of those that pay alone; without classes, each pair of
                 variables, and products of their parts (`starts`)
    round        a random neighbour of the best (`neighbours`), pre-optimization, exhaustive merge, post-optimization
    stage        as many rounds as neighbourhood sizes: 1, 2, 4, ... 2^effort, from the smallest to the largest
    end          exact search of the numerical variables of the best grid in turn, the others frozen (`exact`)

After M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, Algorithm 3, which goes
back to the smallest neighbourhood whenever it finds a cheaper grid (search "algorithm3"). Here rounds run in batches of
a fixed size, all from the same grid, and a stage always runs to its end: so the result does not depend on the number of
threads, and the time depends on effort alone. Half of the neighbours have bounds near quantiles (`neighbours`). On
satimage, 63 such rounds reached 3293.01 to 3313.41 (four seeds); 36 to 42 rounds of Algorithm 3 reached 3296.63 to
3350.20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gridmodl.search import Search
from gridmodl.search.grid.exact import exact_optimize
from gridmodl.search.grid.improve import improve_state, pre_optimize_state
from gridmodl.search.grid.merge import merge_state
from gridmodl.search.grid.neighbours import draw_neighbour, neighbourhood
from gridmodl.search.grid.optima import BestSoFar, GridFound, run_plan
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.starts import (
    base_grid,
    kept_grid,
    most_in_product,
    null_grid,
    pair_grid,
    pairs_of,
    product_grid,
    products_of_pairs,
    single_grid,
)
from gridmodl.search.grid.state import GridTask, Worker
from gridmodl.search.grid.workers import BATCH, Workers
from gridmodl.search.moves import is_cheaper

# Rounds of a batch that start from neighbours of the null grid, not of the best one: the best grid on satimage is as
# good (3293.01 at effort 5), and there are twice as many distinct optima on Ada (23 instead of 11 in 127 rounds).
FRESH = (3, 6)
# From this effort on, "vns" ends with the exact search of the variables of its best grid. At effort 3 it took 3 to 22 %
# more time and saved 4 to 12 nats on 3 of 12 data sets, 0 on the others; at effort 5, 1 to 4 %, and 6 nats on 1 of 8
# (reproduce/grids/grid_exact.py). With fewer rounds, or after "merge", it took up to four times as long as the search.
EXACT_EFFORT = 3


Plan = Callable[[Workers, BestSoFar, int], None]


def run_merge(task: GridTask, search: Search) -> GridFound:
    """Merge and improve the grids to start from; the best of them."""
    return _run(task, search, "merge", lambda workers, best_so_far, seed: None)


def run_vns(task: GridTask, search: Search) -> GridFound:
    """Run rounds from random neighbours of the best grid; in the end, search its variables exactly, one by one."""

    def plan(workers: Workers, best_so_far: BestSoFar, seed: int) -> None:
        _stages(workers, best_so_far, seed)
        if search.effort >= EXACT_EFFORT and not task.clock.stopped:
            _add_exact(workers, best_so_far)

    return _run(task, search, "vns", plan)


def run_algorithm_3(task: GridTask, search: Search) -> GridFound:
    """Run rounds in the order of the paper."""
    return _run(task, search, "algorithm3", _algorithm_3)


def run_diverse(task: GridTask, search: Search) -> GridFound:
    """Search many different grids; the best of them."""
    return _run(task, search, "diverse", _diverse_stages)


def _run(task: GridTask, search: Search, kind: str, plan: Plan) -> GridFound:
    """Run `plan` from the starts; the result never costs more than the null grid or, with classes, one variable."""
    seed = int(task.seed[0])
    with Workers(task) as workers:

        def start(best_so_far: BestSoFar) -> None:
            _add_starts(workers, best_so_far, seed)
            if task.limits.max_parts.max() > 1 and not task.clock.stopped:
                plan(workers, best_so_far, seed)

        null = null_grid(workers.first)
        base = base_grid(workers.first) if task.holds.required.any() else null
        return run_plan(task, search, kind, null, start, base)


def _add_starts(workers: Workers, best_so_far: BestSoFar, seed: int) -> None:
    """Search each variable alone, then improve their product and the best grid; without classes, see `_add_pairs`."""
    if not best_so_far.task.has_classes:
        _add_pairs(workers, best_so_far, seed)
        return
    task, singles = best_so_far.task, best_so_far.singles
    workers.first.load(best_so_far.null)
    prices = workers.first.state.prices.copy()
    task.clock.step = "single variables"
    work = workers.each(lambda worker, k: single_grid(worker.task, best_so_far.null, prices, k), task.n_variables)
    for n_done, single in enumerate(work, start=1):
        if single.variables:
            singles[single.variables[0]] = single
        task.clock.tell(n_done / task.n_variables)
        if not best_so_far.base.variables:
            best_so_far.add(single, is_optimum=False)
    product = kept_grid(task, product_grid(singles))
    best_so_far.add(product._replace(cost=workers.first.load(product)), is_optimum=False)
    some = product_grid(singles, most_in_product(task, workers.first.most_cells))
    starts = [kept_grid(task, some), best_so_far.best]
    task.clock.step = "start"
    for grid in list(workers.each(lambda worker, i: local_search_from(worker, starts[i]), 2)):
        best_so_far.add(grid)


def _add_pairs(workers: Workers, best_so_far: BestSoFar, seed: int) -> None:
    """Search each pair of variables, then improve the products of their parts."""
    task = best_so_far.task
    task.clock.step = "pairs of variables"
    two = pairs_of(task.n_variables)
    pairs = []
    for n_done, pair in enumerate(
        workers.each(lambda worker, i: pair_grid(worker.task, *two[i], seed + i), len(two)), start=1
    ):
        pairs.append(pair)
        task.clock.tell(n_done / len(two))
    starts = products_of_pairs(pairs, most_in_product(task, workers.first.most_cells))
    starts = [kept_grid(task, grid) for grid in starts]
    task.clock.step = "start"
    for grid in starts[:1]:  # the best pair is the result if the time is up
        best_so_far.add(grid._replace(cost=workers.first.load(grid)), is_optimum=False)
    for grid in workers.each(lambda worker, i: local_search_from(worker, starts[i]), len(starts)):
        best_so_far.add(grid)


def _stages(workers: Workers, best_so_far: BestSoFar, seed: int) -> None:
    """Stages of 1, 2, 4, ... 2^effort rounds, from the smallest neighbourhood to the largest in each."""
    best_so_far.task.clock.step = "vns"

    def work(worker: Worker, best: Grid, r: int, n_sizes: int) -> Grid:
        share = (r - (n_sizes - 1) + 1) / n_sizes
        near = best_so_far.base if r % BATCH in FRESH else best
        return local_optimum(worker, near, share, r % 2 == 0, seed_of_round(seed, r))

    for _ in stages(workers, best_so_far, work):
        pass


def _add_exact(workers: Workers, best_so_far: BestSoFar) -> None:
    """Improve the best grid by the exact search of one variable after the other."""
    best_so_far.task.clock.step = "exact"
    best = best_so_far.best
    for grid in workers.each(lambda worker, _: exact_optimize(worker.task, best, worker), 1):
        best_so_far.add(grid)


def _algorithm_3(workers: Workers, best_so_far: BestSoFar, seed: int) -> None:
    """Algorithm 3 with 1, 2, 4, ... 2^effort sizes: in ascending order, back to the smallest when the cost falls."""
    task = best_so_far.task
    task.clock.step = "vns"
    for stage in range(best_so_far.search.effort + 1):
        size = 1
        while size <= 2**stage and not task.clock.stopped:
            best_so_far.n_rounds += 1
            r, best, share = best_so_far.n_rounds, best_so_far.best, size / 2**stage
            grid = local_optimum(workers.first, best, share, False, seed_of_round(seed, r))
            size = 1 if is_cheaper(grid.cost, best.cost) else size + 1
            best_so_far.add(grid)
            task.clock.tell(None)


# Rounds: a random neighbour of a grid, pre-optimized, merged and post-optimized; and stages of rounds.

MASK = 2**64 - 1


def stages(workers: Workers, best_so_far: BestSoFar, work: Callable[[Worker, Grid, int, int], Grid]) -> Iterator[int]:
    """Run stages of 1, 2, 4, ... 2^effort rounds, in batches from the best grid so far; yield the size of each stage.

    `work` gets a worker, the best grid, the number of the round among all, and the size of the stage. Batches have a
    fixed size, so the result does not depend on the number of threads.
    """
    effort = best_so_far.search.effort
    total = 2 ** (effort + 1) - 1
    for n_rounds in (2**stage for stage in range(effort + 1)):
        for begin in range(0, n_rounds, BATCH):
            best, first = best_so_far.best, n_rounds - 1 + begin  # number of the first round of this batch

            def one(worker: Worker, i: int, best: Grid = best, first: int = first, n: int = n_rounds) -> Grid:
                return work(worker, best, first + i, n)

            for grid in workers.each(one, min(BATCH, n_rounds - begin)):
                best_so_far.n_rounds += 1
                best_so_far.add(grid)
            best_so_far.task.clock.tell(best_so_far.n_rounds / total)
            if best_so_far.task.clock.stopped:
                return
        yield n_rounds


def seed_of_round(seed: int, r: int) -> int:
    """Seed of round r of the search with this `seed`."""
    return (seed + r * 0x9E3779B97F4A7C15) & MASK


def local_optimum(
    worker: Worker,
    near: Grid,
    share: float,
    near_quantiles: bool,
    seed: int,
    chosen: NDArray[np.int64] | None = None,
) -> Grid:
    """Draw a random neighbour of grid `near`, pre-optimize, merge and improve it; by the variables `chosen` or all."""
    worker.load(near)
    n_cells = float(worker.state.now[0].n_all_cells)
    visits = np.arange(worker.task.n_variables) if chosen is None else chosen.copy()
    n_new, n_parts = neighbourhood(worker.task, share, worker.most_cells, n_cells)
    draw_neighbour(worker, min(n_new, len(visits)), n_parts, near_quantiles, seed, visits)
    worker.price()
    pre_optimize_state(worker)
    merge_state(worker)
    local_search(worker, visits)
    return worker.grid()


def local_search_from(worker: Worker, start: Grid) -> Grid:
    """Improve a grid by merges and local moves of all variables."""
    worker.load(start)
    merge_state(worker)
    local_search(worker, np.arange(worker.task.n_variables))
    return worker.grid()


def local_search(worker: Worker, visits: NDArray[np.int64]) -> None:
    """Alternate local moves of the variables `visits` and merges of the grid in the state, until neither saves."""
    while True:
        improve_state(worker, visits)
        if worker.task.clock.stopped or merge_state(worker, is_greedy=True) == 0:
            return


# Many different grids, for an average of them: local optima over random choices of the variables.
#
# Each round draws some of the variables and a random grid of these, and improves it by these variables alone. With all
# variables, many rounds would end at the same few grids; with a choice of them, they end at different ones (the
# benchmark `classifiers` counts them).

FEW_ROUNDS = 32  # a stage of at least this many rounds that finds no new grid is the last


def _diverse_stages(workers: Workers, best_so_far: BestSoFar, seed: int) -> None:
    """Run stages of rounds, each round with variables of its own."""
    diverse_stages(workers, best_so_far, lambda worker, _, r, __: _round(worker, best_so_far.base, seed, r))


def diverse_stages(workers: Workers, best_so_far: BestSoFar, work: Callable[[Worker, Grid, int, int], Grid]) -> None:
    """Run `stages` until one of FEW_ROUNDS rounds or more finds no new grid."""
    best_so_far.task.clock.step = "diverse"
    n_known = best_so_far.n_new
    for n_rounds in stages(workers, best_so_far, work):
        if best_so_far.keep > 0 and n_rounds >= FEW_ROUNDS and best_so_far.n_new == n_known:
            return
        n_known = best_so_far.n_new


def _round(worker: Worker, base: Grid, seed: int, r: int) -> Grid:
    """Find the local optimum of round r."""
    rng = np.random.default_rng([seed, r])
    variables = choose(rng, worker.task.n_variables)
    return local_optimum(worker, base, float(rng.random()), r % 2 == 0, seed_of_round(seed, r), variables)


def choose(rng: np.random.Generator, n_variables: int) -> NDArray[np.int64]:
    """Draw at least two of the variables; every number of them is equally likely."""
    n_chosen = int(rng.integers(min(2, n_variables), n_variables + 1))
    return rng.permutation(n_variables)[:n_chosen].astype(np.int64)
