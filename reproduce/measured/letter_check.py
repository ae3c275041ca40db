"""MODL with grouped classes: intervals of `width` and groups of the 26 letters of `letter` (20,000 rows).

    .venv/bin/python -m reproduce.measured.letter_check --data ../shared/data

The price of a known partition, by the oracle of the tests from the plain terms, and what the search finds for seeds
0-9, priced by the oracle too. Known: cost 63541.126778, null 65251.563543. Seconds once compiled. The exit code is 1 if
a seed is above the known cost.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from oracles import naive

import gridmodl
from gridmodl.criteria.modl_grouped import ModlGrouped

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles

BOUNDS = [0.5, 1.5, 2.5, 3.5, 4.5, 6.5, 7.5, 9.5, 10.5]
GROUPS = ["I", "LJ", "FE", "AYV", "TQGOCZ", "UDPBRS", "XNKH", "MW"]
COST = 63541.126778
NULL_COST = 65251.563543
SEEDS = range(10)


def price(width: list[float], letters: list[str], bounds: list[float], groups: Iterable[Iterable[str]]) -> float:
    columns = [
        naive.Column(width, naive.cut(width, bounds)),
        naive.Column(letters, naive.group(letters, groups), categorical=True, is_target=True),
    ]
    return naive.price(ModlGrouped(), "grouped", columns)


def search(width: list[float], letters: list[str], seed: int) -> gridmodl.Model:
    return gridmodl.optimize({"width": width}, letters, target_kind="grouped", random_state=seed)


def show_search(width: list[float], letters: list[str]) -> bool:
    """Whether every seed is at most at the known cost."""
    search(width, letters, 0)  # compiles
    is_reached = []
    for seed in SEEDS:
        begun = time.perf_counter()
        model = search(width, letters, seed)
        elapsed = time.perf_counter() - begun
        bounds, groups = model.partitions["width"].bounds.tolist(), model.target.groups if model.target else ()
        cost = price(width, letters, bounds, groups)
        is_reached.append(round(cost, 6) <= COST and abs(cost - model.cost) < 1e-6)
        verdict = "" if is_reached[-1] else "   above the known one, or not what the model says"
        shape = f"{len(bounds) + 1} intervals, {len(groups)} groups"
        print(
            f"seed {seed}: cost {cost:.6f}, by the model {model.cost:.6f}, {shape}, {elapsed:.3f} s{verdict}",
            flush=True,
        )
    return all(is_reached)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with letter.csv.gz")
    with gzip.open(parser.parse_args().data / "letter.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    target = next(name for name in ("class", "lettr", "letter") if name in rows[0])
    width, letters = [float(row["width"]) for row in rows], [row[target] for row in rows]
    print(f"cost {price(width, letters, BOUNDS, GROUPS):.6f}   known {COST}")
    print(f"null {price(width, letters, [], [''.join(GROUPS)]):.6f}   known {NULL_COST}", flush=True)
    sys.exit(0 if show_search(width, letters) else 1)


if __name__ == "__main__":
    main()
