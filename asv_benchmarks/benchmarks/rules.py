"""Searches within limits on parts and neighbours beside the search without a limit, in processor time of one run."""

from __future__ import annotations

import time

import numpy as np

import gridmodl

from . import SMALL, datasets

LIMITS = {
    "min_rows": {"min_rows": 0.02},
    "min_events": {"min_events": 0.02},
    "min_difference": {"min_difference": 0.1},
    "increasing": {"monotone": "increasing"},
    "peak": {"monotone": "peak"},
    "fixed": {"fixed": [0.25, 0.75]},
    "allowed": {"allowed": np.linspace(0.05, 0.95, 19).tolist()},
    "all": {"monotone": "peak", "min_rows": 0.02, "min_events": 0.02, "min_difference": 0.05, "max_parts": 8},
}


def least_seconds(call, rounds=3):
    """Processor seconds of the shortest of some calls."""
    times = []
    for _ in range(1 if SMALL else rounds):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return min(times)


class Rules:
    """One numerical column of distinct values and two classes, whose best partition keeps few of the orders."""

    params = [[1_000, 3_000] if SMALL else [1_000, 3_000, 20_000], list(LIMITS)]
    param_names = ["rows", "limit"]
    timeout = 300

    def setup(self, n_rows, limit):
        x, y = datasets.make("sine", n_rows)
        x = np.argsort(np.argsort(x)) / n_rows  # bounds mean the same in all sizes
        self.data, self.limits = (x, y), LIMITS[limit]
        gridmodl.optimize(x[:300], y[:300], **self.limits)
        gridmodl.optimize(x[:300], y[:300])

    def track_ratio(self, n_rows, limit):
        within = least_seconds(lambda: gridmodl.optimize(*self.data, **self.limits))
        return round(within / least_seconds(lambda: gridmodl.optimize(*self.data)), 3)

    track_ratio.unit = "times the search without a limit"

    def track_gap(self, n_rows, limit):
        """Share of the cost by which the optimum may be lower; 0 where it is proven."""
        model = gridmodl.optimize(*self.data, **self.limits)
        return None if model.gap is None else float(model.gap / abs(model.cost))

    track_gap.unit = "of the cost"


def main():
    """Print all of it, without asv: ``python -m benchmarks.rules`` in `asv_benchmarks`."""
    for n_rows in Rules.params[0]:
        for limit in LIMITS:
            benchmark = Rules()
            benchmark.setup(n_rows, limit)
            told = benchmark.track_ratio(n_rows, limit), benchmark.track_gap(n_rows, limit)
            print(f"{n_rows:>7} {limit:<16}{told[0]:>9.2f} times, gap {told[1]}", flush=True)


if __name__ == "__main__":
    main()


class Stable:
    """One column of some values over 24 periods, in the last of which high values lose their high event rate."""

    params = [[60, 300, 20_000]]
    param_names = ["values"]
    timeout = 300

    def setup(self, n_values):
        rng = np.random.default_rng(0)
        n = 20_000
        x, self.month = rng.integers(0, n_values, n) / n_values, rng.integers(0, 24, n)
        is_late = (self.month > 16) & (x > 0.6)
        self.data = x, rng.random(n) < np.where(is_late, 0.2, 0.1 + 0.5 * x)
        self.find()
        gridmodl.optimize(*self.data)

    def find(self):
        return gridmodl.optimize(*self.data, stable_over=self.month)

    def track_ratio(self, n_values):
        return round(least_seconds(self.find) / least_seconds(lambda: gridmodl.optimize(*self.data)), 3)

    track_ratio.unit = "times the search without a limit"

    def track_gap(self, n_values):
        """Share of the cost by which the optimum may be lower; 0 where it is proven."""
        model = self.find()
        return None if model.gap is None else float(model.gap / abs(model.cost))

    track_gap.unit = "of the cost"
