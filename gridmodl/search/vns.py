"""Variable neighbourhood search for grids: local optima from random neighbours of the best grid so far.

    start        the null grid, each variable alone, the product of those that pay alone; without classes each two
                 variables (`pairs`), and products of the parts that the variables have there
    round        a random neighbour of the best (`neighbours`), pre-optimization, exhaustive merge, post-optimization
    stage        as many rounds as neighbourhood sizes: 1, 2, 4, ... 2^effort, from the smallest to the largest
    end          optima of the numerical variables of the best grid in turn, the others frozen (`gridexact`)

After M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, Algorithm 3, which goes
back to the smallest neighbourhood whenever it finds a cheaper grid ("algorithm3" by name). Here rounds run in batches
of a fixed size, from one and the same grid, and a stage goes on to its end: so threads change no bit of the result,
and effort alone sets the time. Half of the neighbours have bounds near quantiles (`neighbours`). On satimage 63 such
rounds reached 3293.01 to 3313.41 (four seeds), 36 to 42 rounds of Algorithm 3 3296.63 to 3350.20.
"""

from __future__ import annotations

from gridmodl.grid import Grid
from gridmodl.search import Search
from gridmodl.search.crew import BATCH, Crew
from gridmodl.search.diverse import run_diverse
from gridmodl.search.gridexact import exact_optimize
from gridmodl.search.gridfound import GridFound, Tally
from gridmodl.search.gridstarts import (
    most_in_product,
    null_grid,
    pair_grid,
    pairs_of,
    product_grid,
    products_of_pairs,
    single_grid,
)
from gridmodl.search.gridtask import GridTask, Worker
from gridmodl.search.rounds import local_optimum, seed_of, seed_of_round, settled_from, stages

GRID_KINDS = ("auto", "vns", "algorithm3", "diverse", "merge")
# Rounds of a batch that are neighbours of the null grid, not of the best: as good a best grid on satimage (3293.01 at
# effort 5), and twice the distinct optima on Ada (23 instead of 11 in 127 rounds).
FRESH = (3, 6)
# From this effort on, "vns" ends with the exact search of the variables of its best grid (`gridexact`). At effort 3 it
# took 3 to 22 % more time and saved 4 to 12 nats on 3 of 12 data sets, 0 on the others; at effort 5, 1 to 4 %, and 6
# nats on 1 of 8 (docs/reproduce/grid_exact.py). With fewer rounds, or after "merge", it took up to 4 searches' time.
EXACT_EFFORT = 3


def run_grid(task: GridTask, search: Search, n_jobs: int = 1, random_state: int | None = None) -> GridFound:
    """The best grid found: never more expensive than the null grid, nor, with classes, than any variable alone."""
    kind = search.kind if search.kind != "auto" else "vns"
    if kind not in GRID_KINDS:
        raise ValueError(f"search={kind!r} cannot find a grid of several variables; known: {', '.join(GRID_KINDS)}")
    if bool(task.facts.is_target.any()):
        raise ValueError(
            f"search={kind!r} cannot group the classes of a target or cut it into intervals; use 'auto', 'vns' or "
            "'merge' with a target and one column"
        )
    if kind == "diverse" and not task.has_classes:
        raise ValueError("search='diverse' finds grids of classes, and there is no target; use 'auto' or 'vns'")
    seed = seed_of(random_state)
    with Crew(task, n_jobs) as crew:
        null = null_grid(crew.workers[0])
        tally = Tally(task, null, search.keep_optima, search.on_improvement, null)
        singles = [null] * task.n_variables
        try:
            _add_starts(crew, tally, singles, seed)
            if kind != "merge" and task.limits.max_parts > 1 and not task.clock.stopped:
                PLANS[kind](crew, tally, seed, search.effort)
            if kind == "vns" and search.effort >= EXACT_EFFORT and not task.clock.stopped:
                _add_exact(crew, tally)
        except KeyboardInterrupt:
            task.clock.stopped = "interrupted"
    return tally.found(kind, tuple(singles))


def _add_starts(crew: Crew, tally: Tally, singles: list[Grid], seed: int) -> None:
    """Each variable alone, or without classes each two, then the local optima that these and their products lead to."""
    if not tally.task.has_classes:
        _add_pairs(crew, tally, seed)
        return
    task = tally.task
    prices = crew.workers[0].board.prices.copy()
    task.clock.step = "single variables"
    work = crew.each(lambda worker, k: single_grid(worker.task, tally.null, prices, k), task.n_variables)
    for n_done, single in enumerate(work, start=1):
        if single.variables:
            singles[single.variables[0]] = single
        task.clock.tell(n_done / task.n_variables)
        tally.add(single, is_optimum=False)
    product = product_grid(singles)
    tally.add(product._replace(cost=crew.workers[0].load(product)), is_optimum=False)
    starts = [product_grid(singles, most_in_product(task, crew.workers[0].most_cells)), tally.best]
    task.clock.step = "start"
    for grid in list(crew.each(lambda worker, i: settled_from(worker, starts[i]), 2)):
        tally.add(grid)


def _add_pairs(crew: Crew, tally: Tally, seed: int) -> None:
    """Each two variables, then the local optima that the products of their parts lead to."""
    task = tally.task
    task.clock.step = "pairs of variables"
    two = pairs_of(task.n_variables)
    pairs = []
    for n_done, pair in enumerate(
        crew.each(lambda worker, i: pair_grid(worker.task, *two[i], seed + i), len(two)), start=1
    ):
        pairs.append(pair)
        task.clock.tell(n_done / len(two))
    starts = products_of_pairs(pairs, most_in_product(task, crew.workers[0].most_cells))
    task.clock.step = "start"
    for grid in starts[:1]:  # if the time is up, the best pair is what there is
        tally.add(grid._replace(cost=crew.workers[0].load(grid)), is_optimum=False)
    for grid in crew.each(lambda worker, i: settled_from(worker, starts[i]), len(starts)):
        tally.add(grid)


def _stages(crew: Crew, tally: Tally, seed: int, effort: int) -> None:
    """Stages of 1, 2, 4, ... 2^effort rounds, from the smallest neighbourhood to the largest in each."""
    tally.task.clock.step = "vns"

    def work(worker: Worker, best: Grid, r: int, n_sizes: int) -> Grid:
        share = (r - (n_sizes - 1) + 1) / n_sizes
        near = tally.null if r % BATCH in FRESH else best
        return local_optimum(worker, near, share, r % 2 == 0, seed_of_round(seed, r))

    for _ in stages(crew, tally, effort, work):
        pass


def _add_exact(crew: Crew, tally: Tally) -> None:
    """What the exact search of one variable after the other makes of the best grid."""
    tally.task.clock.step = "exact"
    best = tally.best
    for grid in crew.each(lambda worker, _: exact_optimize(worker.task, best, worker), 1):
        tally.add(grid)


def _algorithm_3(crew: Crew, tally: Tally, seed: int, effort: int) -> None:
    """Algorithm 3 with 1, 2, 4, ... 2^effort sizes: one after the other, back to the smallest when the cost falls."""
    task = tally.task
    task.clock.step = "vns"
    for stage in range(effort + 1):
        size = 1
        while size <= 2**stage and not task.clock.stopped:
            tally.n_rounds += 1
            r, best, share = tally.n_rounds, tally.best, size / 2**stage
            grid = local_optimum(crew.workers[0], best, share, False, seed_of_round(seed, r))
            is_cheaper = tally.best.cost - grid.cost > 1e-9 * (1.0 + abs(grid.cost))
            tally.add(grid)
            size = 1 if is_cheaper else size + 1
            task.clock.tell(None)


PLANS = {"vns": _stages, "algorithm3": _algorithm_3, "diverse": run_diverse}
