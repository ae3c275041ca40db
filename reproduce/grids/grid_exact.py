"""Gain of the exact search of one variable beside frozen ones in the search of a grid: nats and processor time.

    .venv/bin/pip install pandas
    .venv/bin/python -m reproduce.grids.grid_exact --data ../shared/data       # five minutes; Ada and satimage too
    .venv/bin/python -m reproduce.grids.grid_exact --long

For each data set and search, means over the seeds: the cost without it, the nats that it saves on the best grid at the
end, the processor time that takes as a share of the search's, and the nats that twice the rounds save (one more effort)
with the time these take as a share. It pays where it saves at a fifth of the time or less. `vns` of effort 3 and more,
the default among them, ends with it; here it is taken out and done after the search, to measure both in one run.

``ripple`` and ``waves`` are 1e4 and 1e5 rows of two columns, the probability of the class a smooth function of both;
``sum`` is one of their sum.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

import gridmodl
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.plugins import criterion_for
from gridmodl.search import run
from gridmodl.search.grid import exact as gridexact
from gridmodl.search.grid import vns
from gridmodl.search.grid.exact import exact_optimize
from gridmodl.search.grid.state import GridTask, Worker, make_task
from gridmodl.search.moves import Limits

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles

SIGNALS: dict[str, Callable[[Any, Any], Any]] = {
    "ripple": lambda x, y: 0.5 + 0.45 * np.sin(6.0 * np.pi * x) * np.cos(6.0 * y),
    "waves": lambda x, y: 0.5 + 0.45 * np.sin(6.0 * np.pi * (x + 0.3 * y)),
    "sum": lambda x, y: 1.0 / (1.0 + np.exp(-4.0 * (x + y - 1.0))),
}
SEARCHES = [("merge", 0), ("vns", 0), ("vns", 3), ("vns", 5)]
FILES = {"ada prior": "ada_prior_train.csv.gz", "satimage": "satimage.csv.gz"}


def grid_task(columns: Any, target: Any) -> GridTask:
    table = read_table(columns, target, None, None, NOT_GIVEN)
    encoded = [table.column(name, None) for name in table.names]
    limits = [Limits(table.problem.n_rows, 1)] * len(encoded)
    return make_task(encoded, table.target, criterion_for("modl", "grid"), limits)


def signal(name: str, n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng([1_500, n_rows])
    columns = rng.random((n_rows, 2))
    return columns, (rng.random(n_rows) < SIGNALS[name](*columns.T)).astype(np.int64)


def adult_like(n_rows: int = 30_000) -> tuple[Any, Any]:
    """Numerical columns of few values and many, two of which act together."""
    rng = np.random.default_rng(1_501)
    age, hours = rng.integers(17, 90, n_rows), np.clip(rng.normal(40.0, 12.0, n_rows).round(), 1, 99)
    years, weight, capital = rng.integers(1, 17, n_rows), rng.lognormal(12.0, 0.5, n_rows), rng.exponential(900, n_rows)
    capital = np.where(rng.random(n_rows) < 0.9, 0.0, capital.round())
    rich = -5.0 + 0.3 * years + 0.03 * hours * (age > 30) - 0.001 * (age - 50) ** 2 + 0.002 * capital
    columns = np.column_stack([age, hours, years, weight, capital])
    return columns, (rng.random(n_rows) < 1.0 / (1.0 + np.exp(-rich))).astype(np.int64)


def of_file(path: Path) -> tuple[Any, Any]:
    import pandas as pd

    table = pd.read_csv(path)
    target = "class" if "class" in table else table.columns[-1]
    return table.drop(columns=target), table[target]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and seconds of the processor."""
    begun = time.process_time()
    return work(), time.process_time() - begun


def measure(task: GridTask, kind: str, effort: int, seed: int) -> tuple[float, ...]:
    """Cost, seconds, nats saved by the exact search and its seconds, nats saved by more rounds and their seconds."""
    worker = Worker(task)
    found, seconds = timed(lambda: run("grid", replace(task, random_state=seed), gridmodl.Search(kind, effort=effort)))
    exact, exact_seconds = timed(lambda: exact_optimize(task, found.grid, worker))
    more_search = gridmodl.Search("vns", effort=effort + (kind == "vns"))
    more, more_seconds = timed(lambda: run("grid", replace(task, random_state=seed), more_search))
    cost = found.grid.cost
    return cost, seconds, cost - exact.cost, exact_seconds, cost - more.grid.cost, more_seconds - seconds


def show(name: str, data: tuple[Any, Any], n_seeds: int, most_effort: int) -> None:
    task = grid_task(*data)
    measure(task, "vns", 0, 0)  # compiles
    for kind, effort in SEARCHES:
        if effort > most_effort:
            continue
        runs = np.array([measure(task, kind, effort, seed) for seed in range(n_seeds)])
        cost, seconds, saved, took, more_saved, more_took = runs.mean(axis=0)
        print(
            f"{name:16} {kind:5} {effort}  {cost:12.3f} {seconds:8.2f} s   "
            f"exact {saved:8.3f} nats {took / seconds:+7.0%}"
            f"   more rounds {more_saved:8.3f} nats {more_took / seconds:+7.0%}",
            flush=True,
        )


def show_long() -> None:
    for name in SIGNALS:
        task = grid_task(*signal(name, 100_000))
        worker = Worker(task)
        exact_optimize(
            task, run("grid", replace(task, random_state=0), gridmodl.Search("vns", effort=0)).grid
        )  # compiles
        found, seconds = timed(partial(run, "grid", replace(task, random_state=0), gridmodl.Search("vns", effort=5)))
        exact, took = timed(partial(exact_optimize, task, found.grid, worker))
        saved = found.grid.cost - exact.cost
        print(
            f"{name} 1e+05 vns 5  {found.grid.cost:12.3f} {seconds:8.2f} s   "
            f"exact {saved:8.3f} nats {took / seconds:+7.0%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with ada_prior_train.csv.gz and satimage.csv.gz")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--bounds", type=int, default=gridexact.MAX_BOUNDS, help="that a visit chooses from")
    parser.add_argument("--long", action="store_true", help="effort 5 at 1e5 rows too, one seed: two minutes")
    arguments = parser.parse_args()
    vns.EXACT_EFFORT = 1_000  # never
    gridexact.MAX_BOUNDS = arguments.bounds
    if arguments.long:
        show_long()
        return
    for name in ("wine", "breast_cancer", "digits"):
        show(name.replace("_", " "), getattr(datasets, f"load_{name}")(return_X_y=True), arguments.seeds, 5)
    for name, file in FILES.items() if arguments.data else ():
        show(name, of_file(arguments.data / file), arguments.seeds, 5)
    show("adult-like", adult_like(), arguments.seeds, 3)
    for name in SIGNALS:
        for n_rows in (10_000, 100_000):
            show(f"{name} {n_rows:.0e}", signal(name, n_rows), arguments.seeds, 3)


if __name__ == "__main__":
    main()
