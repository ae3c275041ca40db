"""Default calls on large data, each in a process of its own: the slowest kinds, and the time of ten million rows.

    python -m reproduce.measured.large_calls [--only NAME] [--seconds 300]

Processor seconds of the call, compiling left out (a small call of the same kind comes before), and the peak of memory
of the process. A call that takes longer than --seconds is stopped by its time limit, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gridmodl
from reproduce import environment

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles

ROWS = 100_000
Call = tuple[Callable[..., Any], dict[str, Any]]  # a function, and its arguments


def names(rng: np.random.Generator, n_values: int, n: int) -> np.ndarray:
    return np.array([f"v{i}" for i in range(n_values)], dtype=object)[rng.integers(0, n_values, n)]


def numbers(rng: np.random.Generator, n: int, n_columns: int = 20) -> dict[str, np.ndarray]:
    return {f"x{i}": rng.normal(size=n) for i in range(n_columns)}


def grid_of_noise(rng: np.random.Generator, n: int) -> Call:
    return gridmodl.optimize, {"data": numbers(rng, n), "target": rng.integers(0, 2, n)}


def grid_of_pairs(rng: np.random.Generator, n: int) -> Call:
    data = numbers(rng, n)
    return gridmodl.optimize, {"data": data, "target": ((data["x0"] * data["x1"] > 0) ^ (data["x2"] > data["x3"])) * 1}


def grid_of_mixed_columns(rng: np.random.Generator, n: int) -> Call:
    data = numbers(rng, n, 10) | {f"c{i}": names(rng, 1_000, n) for i in range(10)}
    return gridmodl.optimize, {"data": data, "target": names(rng, 10, n)}


def joint_of_ten(rng: np.random.Generator, n: int) -> Call:
    shared = rng.normal(size=n)
    return gridmodl.optimize, {"data": {f"x{i}": shared + rng.normal(size=n) for i in range(10)}}


def joint_of_many_values(rng: np.random.Generator, n: int) -> Call:
    group = rng.integers(0, 40, n)
    data = {name: (group * 500 + rng.integers(0, 500, n)).astype(str) for name in "ab"}
    return gridmodl.optimize, {"data": data}


def many_classes_grouped(rng: np.random.Generator, n: int) -> Call:
    return gridmodl.optimize, {"data": names(rng, 5_000, n), "target": names(rng, 5_000, n), "target_kind": "grouped"}


def numerical_target(rng: np.random.Generator, n: int) -> Call:
    x = rng.normal(size=n)
    return gridmodl.optimize, {"data": x, "target": np.sin(3 * x) + rng.normal(size=n)}


def many_classes(rng: np.random.Generator, n: int) -> Call:
    x = rng.normal(size=n)
    return gridmodl.optimize, {"data": x, "target": (np.digitize(x, np.linspace(-2, 2, 500)) // 2).astype(str)}


def each_of_many_classes(rng: np.random.Generator, n: int) -> Call:
    return gridmodl.optimize_each, {"data": numbers(rng, n), "target": names(rng, 200, n)}


def unlabelled(rng: np.random.Generator, n: int) -> Call:
    x = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-np.sin(3 * x)))).astype(int)
    return gridmodl.optimize, {"data": x, "target": np.where(rng.random(n) < 0.5, y, -1), "unlabelled": -1}


def monotone(rng: np.random.Generator, n: int) -> Call:
    x = rng.normal(size=n)
    return gridmodl.optimize, {"data": x, "target": (x + rng.normal(size=n) > 0) * 1, "monotone": "auto"}


def density(rng: np.random.Generator, n: int) -> Call:
    return gridmodl.optimize_density, {"data": rng.normal(size=n)}


def ten_million_rows(rng: np.random.Generator, n: int) -> Call:
    x = rng.normal(size=100 * n)
    return gridmodl.optimize, {"data": x, "target": (rng.random(100 * n) < 1 / (1 + np.exp(-0.7 * np.sin(3 * x)))) * 1}


def each_of_5000_columns(rng: np.random.Generator, n: int) -> Call:
    x = rng.normal(size=(n // 50, 5_000))
    return gridmodl.optimize_each, {"data": x, "target": (x[:, 0] + rng.normal(size=len(x)) > 0) * 1}


def grid_of_5000_columns(rng: np.random.Generator, n: int) -> Call:
    x = rng.normal(size=(n // 50, 5_000))
    return gridmodl.optimize, {"data": x, "target": (x[:, 0] * x[:, 1] > 0) * 1}


CALLS: dict[str, Callable[..., Any]] = {
    call.__name__: call
    for call in (
        grid_of_noise, grid_of_pairs, grid_of_mixed_columns, joint_of_ten, joint_of_many_values, many_classes_grouped,
        numerical_target, many_classes, each_of_many_classes, unlabelled, monotone, density, ten_million_rows,
        each_of_5000_columns, grid_of_5000_columns,
    )
}  # fmt: skip


def measured(name: str, seconds: float) -> dict[str, Any]:
    """One call in this process."""
    call, small = CALLS[name](np.random.default_rng(1), 1_000)
    for _ in range(2):  # what is compiled depends on what is found
        call(**small)
    call, arguments = CALLS[name](np.random.default_rng(0), ROWS)
    limit = {} if name == "density" else {"time_limit": seconds}
    before = time.process_time()
    found = call(**arguments, **limit)
    took = time.process_time() - before
    stopped = getattr(found, "stopped", None)
    return {"seconds": took, "stopped": stopped, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=CALLS, action="append")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--here", choices=CALLS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measured(given.here, given.seconds)))
        return
    print("| call | processor seconds | MB |\n| --- | --- | --- |", flush=True)
    for name in given.only or CALLS:
        command = [sys.executable, "-m", __spec__.name, "--here", name, "--seconds", str(given.seconds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment())  # noqa: S603
        facts = json.loads(done.stdout)
        stopped = f" ({facts['stopped']})" if facts["stopped"] else ""
        print(f"| {name.replace('_', ' ')} | {facts['seconds']:.1f}{stopped} | {facts['peak']} |", flush=True)


if __name__ == "__main__":
    main()
