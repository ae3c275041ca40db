"""The proven optimum against two oracles: a table over (parts, bound), and the same recursion without any pruning.

    .venv/bin/python -m reproduce.proof.exact_check            # minutes
    .venv/bin/python -m reproduce.proof.exact_check --quick    # a twentieth of it

Optima: random columns of 2 to 160 rows, some of 1,000, 2 to 20 classes, noise, steps, waves, classes that are rare or
nearly alone or evenly spread, spikes, ties, weights, `min_rows` and `max_parts`. `optimize(..., search="exact")` must
say that it proved its cost, which must be that of its own intervals and that of the cheapest partition of distinct
values, both by the plain formulas of `tests/oracles/naive_exact.py`.

Runs: random lines of up to 3,000 atoms, some beside frozen cells, some with `min_rows`. All costs F and all starts of
`Branches` at several slopes must be those of the same kernel bound to a criterion without bounds, to the last bit.

Hulls: random lines of two classes, up to 6,000 atoms. The total and the partition of `Hulls` at several slopes must be
those of `Branches` over all bounds, to the last bit, and the optimum with its number of parts as well.

The exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from oracles import naive_exact
from oracles.tiny import NO_LIMITS, Tiny

import gridmodl
from gridmodl.search.column import exact
from gridmodl.search.column.exact import Branches, Hulls

# Optima, lines to run over, and lines of two classes to run over hulls, by criterion.
N_CASES = {"modl": (10_000, 250, 2_000)} | dict.fromkeys(("aic", "bic", "mdlp", "gini", "entropy"), (1_000, 50, 400))
MANY_ROWS = 1_000
N_SLOPES = 4


def random_options(rng: np.random.Generator, name: str) -> dict[str, float]:
    if name != "entropy":
        return {}
    return {"alpha": float(rng.uniform(0.05, 2.0)), "beta": float(rng.choice([0.0, 0.3, 1.0, 2.5]))}


def is_optimum(rng: np.random.Generator, name: str, most_rows: int) -> bool:
    case, options = naive_exact.random_case(rng, most_rows), random_options(rng, name)
    criterion = gridmodl.get_criterion(name, **options)
    model = gridmodl.optimize(
        case.column, case.target, weights=case.weights, criterion=criterion, search="exact", **case.limits
    )
    lowest = naive_exact.lowest_cost(name, naive_exact.class_counts(case), options, **case.limits)
    own = naive_exact.cost_of(name, model.partitions["x0"].counts, options)
    return model.proven and all(abs(cost - lowest) <= 1e-9 * (1.0 + abs(lowest)) for cost in (model.cost, own))


def random_line(rng: np.random.Generator, name: str) -> Tiny:
    """A task of a few to 3,000 atoms, a third beside 2 or 3 frozen cells, a quarter with `min_rows`."""
    n_atoms = int(np.exp(rng.uniform(np.log(5), np.log(3_000))))
    n_cells, n_classes = int(rng.choice([1, 1, 2, 3])), int(rng.integers(2, 6))
    n_rows = n_atoms * int(rng.choice([1, 1, 3]))
    column = np.sort(rng.random(n_rows))
    target = naive_exact.random_classes(rng, str(rng.choice(naive_exact.KINDS)), column, n_classes)
    counts = np.zeros((n_atoms, n_cells, n_classes), dtype=np.int64)
    np.add.at(counts, (np.arange(n_rows) * n_atoms // n_rows, rng.integers(0, n_cells, n_rows), target), 1)
    min_rows = int(rng.integers(2, 2 + n_rows // 4)) if rng.random() < 0.25 else 1
    return Tiny(counts, name, NO_LIMITS._replace(min_rows=min_rows))


def n_different_runs(rng: np.random.Generator, name: str, plain: Any) -> int:
    """Of `N_SLOPES` runs over one line, those with another F or start at any bound."""
    task = random_line(rng, name).task
    one = task.null()
    pruned, full = (Branches(each, one, np.inf) for each in (task, replace(task, criterion=plain)))
    differ = 0
    # From where parts are free to where there is one.
    for slope in (0.0, *np.exp(rng.uniform(-3.0, np.log(1.0 + abs(one.cost)), N_SLOPES - 1))):
        (costs, came_from), (all_costs, all_came_from) = naive_exact.run(pruned, slope), naive_exact.run(full, slope)
        differ += not (np.array_equal(costs, all_costs) and np.array_equal(came_from, all_came_from))
    return differ


def two_class_line(rng: np.random.Generator, name: str) -> Tiny:
    """A task of a few to 6,000 atoms, of one or several rows each, half with runs of one class joined."""
    n_atoms, n_rows = int(np.exp(rng.uniform(np.log(3), np.log(6_000)))), int(rng.choice([1, 1, 1, 2, 5, 50]))
    column = np.sort(rng.random(n_atoms * n_rows))
    target = naive_exact.random_classes(rng, str(rng.choice(naive_exact.KINDS)), column, 2)
    counts = np.zeros((n_atoms, 1, 2), dtype=np.int64)
    np.add.at(counts, (np.arange(n_atoms * n_rows) // n_rows, np.zeros_like(target), target), 1)
    counts *= rng.integers(1, 10, (n_atoms, 1, 1)) if rng.random() < 0.2 else 1
    counts *= int(rng.choice([1, 1, 1, 1_000]))
    counts[0, 0] += 1  # no class is without rows
    if rng.random() < 0.5:
        pure = np.where(counts[:, 0].all(axis=1), -1, counts[:, 0].argmax(axis=1))
        begins = np.append(True, (pure[1:] != pure[:-1]) | (pure[1:] < 0))
        counts = np.add.reduceat(counts, np.flatnonzero(begins), axis=0)
    return Tiny(counts, name)


def n_different_hulls(rng: np.random.Generator, name: str) -> int:
    """Of `N_SLOPES` runs over one line, and the optimum, those that differ from `Branches`."""
    task = two_class_line(rng, name).task
    hulls, branches = (make(task, task.null(), np.inf) for make in (Hulls, Branches))
    differ = 0
    for slope in (0.0, *np.exp(rng.uniform(-1.0, np.log(30.0), N_SLOPES - 1))):
        one, other = hulls.run(float(slope)), branches.run(float(slope))
        differ += not (one and other and one[1] == other[1] and np.array_equal(one[0], other[0]))
    found, known = (make(task, task.null(), np.inf).solve() for make in (Hulls, Branches))
    same = found.proven and known.proven and abs(found.cost - known.cost) <= 1e-11 * (1.0 + abs(known.cost))
    return differ + (not same)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the cases")
    share = 20 if parser.parse_args().quick else 1
    exact.PLAIN_ATOMS = 0  # few atoms too by branch and bound
    print("criterion     optima  differ      runs  differ     hulls  differ   seconds")
    n_wrong = 0
    for number, (name, (n_optima, n_lines, n_hulls)) in enumerate(N_CASES.items()):
        rng, begun = np.random.default_rng([7, number]), time.perf_counter()
        n_optima, n_lines, n_hulls = n_optima // share, n_lines // share, n_hulls // share
        # One case in a hundred is of many rows.
        most_rows = itertools.islice(itertools.cycle([MANY_ROWS, *[160] * 99]), n_optima)
        wrong = sum(not is_optimum(rng, name, most) for most in most_rows)
        plain = naive_exact.without_floors(type(gridmodl.get_criterion(name)))
        differ = sum(n_different_runs(rng, name, plain) for _ in range(n_lines))
        of_hulls = sum(n_different_hulls(rng, name) for _ in range(n_hulls))
        n_wrong += wrong + differ + of_hulls
        runs = f"{n_lines * N_SLOPES:9,d} {differ:7,d} {n_hulls * (N_SLOPES + 1):9,d} {of_hulls:7,d}"
        print(f"{name:10} {n_optima:9,d} {wrong:7,d} {runs} {time.perf_counter() - begun:9.1f}", flush=True)
    sys.exit(1 if n_wrong else 0)


if __name__ == "__main__":
    main()
