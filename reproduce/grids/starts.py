"""Where the rounds of a search start, and how often one of them finds the XOR of ten: for `grid_experiments.py`.

Rounds from the null grid do not know of each other: if one finds the pattern with probability p, half of the searches
have it after log 2 / -log(1 - p) rounds. The bounds of the paper's XOR are the medians, and half of the starts of
gridmodl's `vns` have bounds near quantiles: with two parts they begin next to the answer. So the XOR is also drawn with
bounds elsewhere, each between 0.3 and 0.7.
"""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np

from asv_benchmarks.benchmarks import datasets
from gridmodl.search.grid.improve import pre_optimize_state
from gridmodl.search.grid.merge import merge_state
from gridmodl.search.grid.neighbours import draw_neighbour
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import GridTask, Worker, seed_of
from gridmodl.search.grid.vns import local_search, seed_of_round
from reproduce.grids.grid_exact import grid_task
from reproduce.grids.noise import exact_interval
from reproduce.run import SEED, Run, say, table_of

N_VARIABLES = 10
SIZES = (1_500, 2_000, 4_000, 10_000)
STARTS = {  # parts of each variable, and whether their bounds are near quantiles
    "2 parts, bounds near the median": (2, True),
    "2 parts, bounds at random rows": (2, False),
    "3 parts, bounds at random rows": (3, False),
}
DRAWS = 5
ROUNDS = 20  # of each draw and start


def make_elsewhere(n_rows: int, seed: int) -> tuple[Any, Any]:
    """The XOR of ten columns with bounds between 0.3 and 0.7, not in the middle."""
    rng = np.random.default_rng([SEED, 10, n_rows, seed])
    columns = rng.random((n_rows, N_VARIABLES))
    return columns, (columns > rng.uniform(0.3, 0.7, N_VARIABLES)).sum(axis=1) % 2


def rounds_that_find(task: GridTask, n_parts: int, near_quantiles: bool, seed: int) -> tuple[int, float]:
    """How many of the rounds end with all ten columns, and the seconds of all."""
    worker, null, n_found = Worker(task), make_grid([]), 0
    begun = time.process_time()
    for r in range(ROUNDS):
        worker.load(null)
        visits = np.arange(N_VARIABLES)
        draw_neighbour(worker, N_VARIABLES, n_parts, near_quantiles, seed_of_round(int(seed_of(seed)[0]), r), visits)
        worker.price()
        pre_optimize_state(worker)
        merge_state(worker)
        local_search(worker, visits)
        n_found += len(worker.grid().variables) == N_VARIABLES
    return n_found, time.process_time() - begun


def count_rounds(name: str, where: str, n: int, n_draws: int) -> tuple[int, float]:
    """How many of the rounds of all draws find the XOR, and the seconds of one round."""
    found, seconds = 0, 0.0
    for seed in range(n_draws):
        data = make_elsewhere(n, seed) if where == "elsewhere" else datasets.make_xor(n, N_VARIABLES, None, seed)
        one_found, took = rounds_that_find(grid_task(*data), *STARTS[name], seed)
        found, seconds = found + one_found, seconds + took
    return found, seconds / (n_draws * ROUNDS)


def starts(run: Run) -> str:
    n_draws = 1 if run.quick else DRAWS
    n_rounds = n_draws * ROUNDS
    found: dict[tuple[int, str, str], int] = {}
    lines = []
    for n, where, name in itertools.product(SIZES[:1] if run.quick else SIZES, ("middle", "elsewhere"), STARTS):
        hits, seconds = count_rounds(name, where, n, n_draws)
        found[n, where, name] = hits
        low, high = exact_interval(hits, n_rounds)
        share = f"{hits / n_rounds:.1%} ({low:.1%} - {high:.1%})"
        lines.append([f"{n:,}", where, name, share, _half(hits, n_rounds), f"{1e3 * seconds:.0f}"])
        say(run, *lines[-1])
    head = ["rows", "bounds of the XOR", "start of a round", "rounds that find it", "rounds until half have it"]
    table = table_of([*head, "ms of a round"], lines, texts=head[1:3])
    return f"## Where rounds start: XOR of 10 in 10 columns\n\n{table}\n{_words(found, n_rounds)}"


def _half(hits: int, n_rounds: int) -> str:
    """Rounds after which half of the searches have found it."""
    if hits in (0, n_rounds):
        return "1" if hits else "-"
    return f"{math.ceil(math.log(0.5) / math.log1p(-hits / n_rounds)):,}"


def _words(found: dict[tuple[int, str, str], int], n_rounds: int) -> str:
    median, two, three = STARTS
    sizes = list(dict.fromkeys(n for n, _, _ in found))

    def shares(where: str, name: str) -> str:
        return ", ".join(f"{found[n, where, name] / n_rounds:.0%}" for n in sizes)

    total = n_rounds * len(sizes) * 2
    n_two = sum(hits for (_, _, name), hits in found.items() if name == two)
    return (
        f"One round from the null grid, all ten columns at the start, {n_rounds} rounds for each line; "
        f"{', '.join(f'{n:,}' for n in sizes)} rows in this order: from two parts near the median "
        f"{shares('middle', median)} of the rounds find the XOR, and {shares('elsewhere', median)} where its bounds "
        "are elsewhere, between 0.3 and 0.7: pre-optimization brings bounds that are not far off to their places. "
        f"From three parts at random rows it is {shares('middle', three)} and {shares('elsewhere', three)}, from two "
        f"{n_two} of {total:,} rounds. So starts near quantiles make this experiment easy, and would help less with a "
        "pattern whose bounds are far from the quantiles; that is why only every other start of `vns` is of that "
        "kind.\n"
    )
