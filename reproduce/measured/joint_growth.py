"""How time and memory of coclustering grow with the rows and with the values of both variables.

    .venv/bin/python -m reproduce.measured.joint_growth

Planted blocks (`make_wide_blocks` of `asv_benchmarks/benchmarks/datasets.py`), integer codes taken as categories, at
effort 0: the starts alone. Each measurement has a process of its own, in which the same call was made once with
few rows, so nothing compiles. Seconds are processor time; memory is what the peak of the process rises by, the data
included. The power is the k of size^k between a line and the one above.

The last part is a wide matrix, 2 million entries over 20,000 x 20,000 values, for half a minute. Targets: a first grid
within seconds, less than 4 GB, cheaper grids as long as time allows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

import gridmodl
from asv_benchmarks.benchmarks import datasets
from asv_benchmarks.benchmarks.memory import peak_bytes
from reproduce import environment

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles

ROWS = [(n_rows, 1_000, 20) for n_rows in (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)]
VALUES = [(1_000_000, n_values, 20) for n_values in (100, 300, 1_000, 3_000, 10_000, 30_000)]
WIDE = 2_000_000, 20_000, 50
WIDE_SECONDS = 30.0
ENDLESS = 40  # the effort: more rounds than any time limit allows
SEED = 1


def optimize(columns: dict[str, Any], effort: int, time_limit: float | None) -> dict[str, Any]:
    history: list[Any] = []
    begun = time.process_time()
    model = gridmodl.optimize(
        columns,
        kinds=dict.fromkeys(columns, "categorical"),
        search=gridmodl.Search(effort=effort, on_improvement=history.append),
        time_limit=time_limit,
        random_state=SEED,
    )
    return {
        "seconds": time.process_time() - begun,
        "cost": model.cost,
        "null_cost": model.null_cost,
        "shape": [partition.n_parts for partition in model.partitions.values()],
        "history": [(step.elapsed, step.cost) for step in history],
    }


def measure(file: str, effort: int, time_limit: float | None) -> dict[str, Any]:
    """In a process of its own: the peak of a process never goes down."""
    optimize(dict(zip("ab", datasets.make_wide_blocks(1_000, 50, 3), strict=True)), 1, None)  # compiles
    before = peak_bytes()
    result = optimize(dict(zip("ab", np.load(file), strict=True)), effort, time_limit)
    return {**result, "bytes": peak_bytes() - before, "peak": peak_bytes()}


def measure_apart(size: tuple[int, int, int], effort: int, time_limit: float | None = None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/columns.npy"
        np.save(file, np.array(datasets.make_wide_blocks(*size)))
        command = [sys.executable, "-m", __spec__.name, "--only", json.dumps([file, effort, time_limit])]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())  # noqa: S603
    return json.loads(done.stdout.splitlines()[-1])


def show_growth(title: str, sizes: list[tuple[int, int, int]], changing: int) -> None:
    print(title)
    print("       rows   values     seconds   power        MB   power     groups")
    last: tuple[int, dict[str, Any]] | None = None
    for size in sizes:
        result = measure_apart(size, 0)
        powers = ["", ""]
        if last is not None:
            step = math.log(size[changing] / last[0])
            powers = [f"{math.log(result[key] / last[1][key]) / step:.2f}" for key in ("seconds", "bytes")]
        last = size[changing], result
        shape = " x ".join(map(str, result["shape"]))
        print(
            f"{size[0]:11,d} {size[1]:8,d} {result['seconds']:11.3f} {powers[0]:>7} "
            f"{result['bytes'] / 1e6:9.1f} {powers[1]:>7} {shape:>10}",
            flush=True,
        )


def show_wide() -> None:
    n_rows, n_values, n_blocks = WIDE
    result = measure_apart(WIDE, ENDLESS, WIDE_SECONDS)
    print(
        f"{n_rows:,} rows over {n_values:,} x {n_values:,} values, {n_blocks} x {n_blocks} blocks, {WIDE_SECONDS:g} s"
    )
    first_seconds, first_cost = result["history"][0]
    shape = " x ".join(map(str, result["shape"]))
    print(f"  null {result['null_cost']:.3f}; first grid {first_cost:.3f} after {first_seconds:.2f} s")
    for limit in (5.0, 10.0, 20.0, WIDE_SECONDS):
        costs = [cost for elapsed, cost in result["history"] if elapsed <= limit]
        if costs:
            print(f"  within {limit:3.0f} s {costs[-1]:.3f}")
    print(f"  last {result['cost']:.3f}, {shape} groups; peak of memory {result['peak'] / 1e6:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one measurement, in this process, as JSON: [file, effort, limit]")
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure(*json.loads(arguments.only))))
        return
    show_growth("growing with the rows", ROWS, 0)
    show_growth("growing with the values of both variables", VALUES, 1)
    show_wide()


if __name__ == "__main__":
    main()
