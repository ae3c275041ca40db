"""Joint grids of three pairs of columns of `mushroom`, against the best of many restarts of a plain local search.

    .venv/bin/pip install pandas
    .venv/bin/python -m reproduce.measured.mushroom --data ../shared/data

The plain search is that of the tests, `tests/oracles/naive_joint.py`: from random groups it moves single values and
merges two groups while that pays, pricing every move from nothing. `reached` counts the restarts that end at their best
cost. Ours are seeds 0-9 at default effort; the seconds are the median of them, once compiled. The exit code is 1 if any
seed is above the best restart.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

import pandas as pd
from oracles import naive_joint

import gridmodl

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles

PAIRS = [("CapColor", "Odor"), ("GillColor", "Habitat"), ("SporePrintColor", "Population")]
SEEDS = range(10)


def search(table: pd.DataFrame, seed: int) -> tuple[gridmodl.Model, float]:
    begun = time.perf_counter()
    model = gridmodl.optimize(table, random_state=seed)
    return model, time.perf_counter() - begun


def show_pair(table: pd.DataFrame, n_restarts: int) -> bool:
    """Whether no seed is above the best restart."""
    counts = naive_joint.table_of(*(table[name].to_numpy(dtype=str) for name in table.columns))
    begun = time.perf_counter()
    best, grid, n_reached = naive_joint.best_of_restarts(counts, n_restarts, 0)
    took = time.perf_counter() - begun
    search(table, 0)  # compiles
    models, times = zip(*(search(table, seed) for seed in SEEDS), strict=True)
    costs = [model.cost for model in models]
    shape = " x ".join(str(models[costs.index(min(costs))].partitions[name].n_parts) for name in table.columns)
    title = f"{' x '.join(table.columns)}, {' x '.join(map(str, counts.shape))} values, null {models[0].null_cost:.6f}"
    plain_shape = " x ".join(str(len(set(groups))) for groups in grid)
    print(title)
    print(f"  plain    {best:.6f}   {plain_shape}   reached {n_reached} of {n_restarts}   {took:.1f} s in all")
    print(
        f"  gridmodl {min(costs):.6f}   {shape}   worst seed {max(costs):.6f}   {statistics.median(times):.4f} s each"
    )
    return max(costs) <= best + 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with mushroom.csv.gz")
    parser.add_argument("--restarts", type=int, default=200, help="of the plain local search")
    arguments = parser.parse_args()
    table = pd.read_csv(arguments.data / "mushroom.csv.gz")
    is_reached = [show_pair(table[list(pair)], arguments.restarts) for pair in PAIRS]
    sys.exit(0 if all(is_reached) else 1)


if __name__ == "__main__":
    main()
