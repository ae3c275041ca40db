"""How far a search runs beyond its time limit, and how long it is deaf to Ctrl-C; in processor seconds, below 2.

Sizes at which steps that are no turns of the clock (tables of counts, sorts, encoding, words) take longest.
"""

from __future__ import annotations

import signal
import time
from types import SimpleNamespace

import numpy as np

import gridmodl
import gridmodl.clock

from . import SMALL, shortened

LIMITS = [0.2] if SMALL else [1.0, 10.0]  # seconds
TICK = 0.02


def names(rng, n_values, n_rows):
    return np.array([f"v{i}" for i in range(n_values)], dtype=object)[rng.integers(0, n_values, n_rows)]


def categories_by_classes(rng, n):
    return {"data": names(rng, 20_000, n), "target": names(rng, 5_000, n)}


def numbers_by_classes(rng, n):
    return {"data": rng.integers(0, 40_000, n).astype(float), "target": names(rng, 6_432, n)}


def grouped_classes(rng, n):
    return {"data": names(rng, 20_000, n), "target": names(rng, 6_432, n), "target_kind": "grouped"}


def numerical_target(rng, n):
    x = rng.normal(size=n)
    return {"data": x, "target": x + rng.normal(size=n)}


def grid_of_classes(rng, n):
    columns = {"a": rng.normal(size=n), "b": names(rng, 5_000, n), "c": rng.normal(size=n)}
    return {"data": columns, "target": names(rng, 400, n)}


def joint_numbers(rng, n):
    x = rng.normal(size=n)
    return {"data": {"a": x, "b": x + rng.normal(size=n)}}


def joint_of_five(rng, n):
    x = rng.normal(size=(4, n))
    return {"data": {**dict(zip("abcd", x, strict=True)), "e": names(rng, 3_000, n)}}


CASES = {
    "categories by classes": (categories_by_classes, 300_000),
    "numbers by classes": (numbers_by_classes, 300_000),
    "grouped classes": (grouped_classes, 300_000),
    "numerical target": (numerical_target, 1_000_000),
    "grid of classes": (grid_of_classes, 300_000),
    "joint of two": (joint_numbers, 1_000_000),
    "joint of five": (joint_of_five, 1_000_000),
}


def measured(arguments, limit):
    """Processor seconds of a call beyond its limit, and the longest between two moments at which signals are heard.

    The interpreter hears Ctrl-C where it hears any signal: between two steps of Python code, in the main thread. The
    limit runs on processor seconds too, so that other processes change nothing.
    """
    clock, gridmodl.clock.time = gridmodl.clock.time, SimpleNamespace(perf_counter=time.process_time)
    heard = [time.process_time()]
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(time.process_time()))
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    try:
        gridmodl.optimize(**arguments, time_limit=limit)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        gridmodl.clock.time = clock
    heard.append(time.process_time())
    return heard[-1] - heard[0] - limit, max(np.diff(heard))


class Limits:
    """Overrun and deafness at a limit of one second, and of ten; kernels are compiled before."""

    params = [list(CASES), LIMITS]
    param_names = ["case", "limit"]
    unit, timeout = "s", 600

    def setup(self, case, limit):
        make, n_rows = CASES[case]
        rng = np.random.default_rng(0)
        gridmodl.optimize(**make(rng, 2_000), time_limit=2 * LIMITS[0])
        self.arguments = make(rng, shortened(n_rows))

    def track_overrun(self, case, limit):
        return max(0.0, measured(self.arguments, limit)[0])

    def track_deaf(self, case, limit):
        return float(measured(self.arguments, limit)[1])


def main():
    """Print all of it, without asv: ``python -m benchmarks.limits`` in `asv_benchmarks`."""
    print(f"{'case':<24}{'limit':>7}{'beyond':>9}{'deaf':>7}")
    for case in CASES:
        for limit in LIMITS:
            benchmark = Limits()
            benchmark.setup(case, limit)
            beyond, deaf = measured(benchmark.arguments, limit)
            print(f"{case:<24}{limit:>7.1f}{beyond:>9.2f}{deaf:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
