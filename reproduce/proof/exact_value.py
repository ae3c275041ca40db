"""How often, and by how much, the searches without a proof miss the optimum of a column.

    .venv/bin/python -m reproduce.proof.exact_value             # two minutes
    .venv/bin/python -m reproduce.proof.exact_value --write     # the tables of docs/exact.md too

modl, for every column of the four data sets with classes that come with scikit-learn, and for ten random columns each
of the signals of `asv_benchmarks/benchmarks/exact.py`. `merge` is the greedy merge alone, `+ post` with local moves
after it; a column is missed if its cost is above the proven one by more than 1e-9 of it. In nats, and in shares of
what the optimum costs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets

import gridmodl
from asv_benchmarks.benchmarks.exact import N_CLASSES, SIGNALS, make
from reproduce.run import put_table, table_of

SETS = {"iris": "load_iris", "wine": "load_wine", "breast cancer": "load_breast_cancer", "digits": "load_digits"}
SEARCHES = {"merge": gridmodl.Search("merge", post_optimize=False), "merge + post": gridmodl.Search("merge")}
ROWS = [1_000, 10_000, 100_000]
N_SEEDS = 10
HEAD = ["columns", "proven"] + [
    f"{name}: {what}" for name in SEARCHES for what in ("missed", "worst, nats", "worst, share")
]


def misses(columns: Iterable[tuple[Any, Any]]) -> list[str]:
    """One line of a table: how many columns, how many proven, and for each search how many missed and by how much."""
    n_proven, costs = 0, []
    for column, target in columns:
        optimum = gridmodl.optimize(column, target, search="exact")
        n_proven += optimum.proven
        found = [gridmodl.optimize(column, target, search=search).cost for search in SEARCHES.values()]
        costs.append([optimum.cost, *found])
    optima, *others = np.array(costs).T
    line = [f"{len(optima)}", f"{n_proven}"]
    for cost in others:
        over = np.where(cost > optima * (1.0 + 1e-9), cost - optima, 0.0)
        line += [f"{np.count_nonzero(over)}", f"{over.max():.2f}", f"{np.max(over / optima):.2%}"]
    return line


def show(line: list[str]) -> list[str]:
    print("  ".join(f"{value:>12}" for value in line), flush=True)
    return line


def of_set(loader: str) -> list[tuple[Any, Any]]:
    rows, target = getattr(sklearn_datasets, loader)(return_X_y=True)
    return [(column, target) for column in np.ascontiguousarray(rows.T)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="the tables of docs/exact.md")
    is_written = parser.parse_args().write
    head = ["data", *HEAD]
    show(head)
    of_sets = [show([name, *misses(of_set(loader))]) for name, loader in SETS.items()]
    made_head = ["signal", "classes", "rows", *HEAD]
    show(made_head)
    of_signals = [
        show([signal, f"{n_classes}", f"{n:,d}", *misses(make(signal, n, n_classes, seed) for seed in range(N_SEEDS))])
        for signal in SIGNALS
        for n_classes in N_CLASSES
        for n in ROWS
    ]
    if is_written:
        put_table("value", table_of(head, of_sets))
        put_table("signals", table_of(made_head, of_signals))


if __name__ == "__main__":
    main()
