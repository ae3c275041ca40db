"""Coclustering of the words and texts of Nova: cost against time, and the peak of memory, on one core.

    .venv/bin/pip install scipy
    .venv/bin/python -m reproduce.measured.nova --data ../shared/data

2.14 million ones over 22,047 words and 19,466 texts, some without a word: which words are in which texts. A small
matrix is coclustered first, so nothing compiles within the time limit. A line is the cheapest grid within a number of
seconds of one core, and when it was found by the clock; the time limit is by the clock, so give a busy machine more.
The peak of memory is that of the whole process, compiler included.

Targets, on one core: at most 37,400,000 within 3 minutes and 37,393,000 within 10, below 1 GB. M. Boullé, "Data grid
models for preparation and modeling in supervised learning", reports 207 x 1058 groups after days. The exit code is 1 if
a target is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import gridmodl
from asv_benchmarks.benchmarks.memory import peak_bytes
from reproduce.matrices import read_matrix

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles

TARGETS = {180.0: 37_400_000.0, 600.0: 37_393_000.0}
TIMES = [5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 150.0, 180.0, 240.0, 300.0, 360.0, 420.0, 480.0, 540.0, 600.0]
MEMORY = 1e9
ENDLESS = 40  # the effort: more rounds than any time limit allows


def read(data: Path) -> Any:
    """Words x texts, True where the word is in the text."""
    return read_matrix("nova", data).X.T.tocsr()


class History:
    """The cheapest grids by processor time; prints the last one before each of TIMES."""

    def __init__(self) -> None:
        self.begun = time.process_time()
        self.steps: list[tuple[float, float, float]] = []  # processor seconds, seconds by the clock, cost
        self.left = list(TIMES)

    @property
    def elapsed(self) -> float:
        return time.process_time() - self.begun

    def __call__(self, step: Any) -> None:
        elapsed = self.elapsed
        self.print_until(elapsed)
        self.steps.append((elapsed, step.elapsed, step.cost))

    def print_until(self, elapsed: float) -> None:
        while self.left and self.left[0] < elapsed:
            limit = self.left.pop(0)
            before = [step for step in self.steps if step[0] <= limit]
            if before:
                processor, clock, cost = before[-1]
                print(f"  {limit:8.0f} {processor:9.1f} {clock:13.1f} {cost:16.3f}", flush=True)

    def cost_within(self, limit: float) -> float:
        return min((cost for elapsed, _, cost in self.steps if elapsed <= limit), default=float("inf"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with nova_bow.npz")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds of the search by the clock")
    parser.add_argument("--seed", type=int, default=1, help="of the search")
    arguments = parser.parse_args()
    matrix = read(arguments.data)
    gridmodl.optimize(matrix[:300, :300])  # compiles
    before = peak_bytes()
    print(f"{matrix.nnz:,} ones, {matrix.shape[0]:,} x {matrix.shape[1]:,}; load before it {os.getloadavg()[0]:.1f}")
    print("  within s     found  by the clock             cost")
    history = History()
    model = gridmodl.optimize(
        matrix,
        search=gridmodl.Search(effort=ENDLESS, on_improvement=history),
        time_limit=arguments.time_limit,
        random_state=arguments.seed,
    )
    took = history.elapsed
    history.print_until(took)
    peak = peak_bytes()
    first_seconds, _, first_cost = history.steps[0]
    shape = " x ".join(str(partition.n_parts) for partition in model.partitions.values())
    print(f"first grid {first_cost:.3f} after {first_seconds:.2f} s; null {model.null_cost:.3f}")
    print(f"last {model.cost:.3f}, {shape} groups, {len(model.cells.counts)} cells with rows")
    print(
        f"returned after {took:.1f} s of one core, {model.elapsed:.1f} s by the clock, limit {arguments.time_limit:g}"
    )
    print(f"peak of memory {peak / 1e6:.0f} MB, target {MEMORY / 1e6:.0f}; {before / 1e6:.0f} MB before the search")
    reached = peak < MEMORY
    for limit, cost in TARGETS.items():
        given = "" if limit <= took else f", of which the search had {took:.0f}"
        reached &= history.cost_within(limit) <= cost
        print(f"within {limit:.0f} s of one core{given}: {history.cost_within(limit):.3f}, target {cost:.0f}")
    sys.exit(0 if reached else 1)


if __name__ == "__main__":
    main()
