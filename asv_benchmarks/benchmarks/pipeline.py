"""From an array to a model, end to end, against sorting the same column."""

from __future__ import annotations

import numpy as np

import gridmodl

from . import MILLION, best_seconds, datasets, power, ratio
from .memory import printed_apart

LARGEST = 10 * MILLION

# Noise has the most atoms.
PEAK_OVER_DATA = f"""
import numpy as np
import gridmodl
from memory import peak_bytes

rng = np.random.default_rng(0)
gridmodl.optimize(rng.random(100), rng.integers(0, 2, 100), search="merge")
before = peak_bytes()
column, target = rng.random({LARGEST}), rng.integers(0, 2, {LARGEST})
gridmodl.optimize(column, target, search="merge")
print((peak_bytes() - before) / (column.nbytes + target.nbytes))
"""


def merge(data):
    return gridmodl.optimize(*data, search="merge")


class Merge:
    n_classes = 2
    params = [[10_000, MILLION], ["noise", "steps", "clear"]]
    param_names = ["rows", "signal"]

    def setup(self, n_rows, signal):
        self.data = datasets.make(signal, n_rows, self.n_classes)
        self.model = merge(self.data)  # also compiles, outside the clock

    def track_cost(self, n_rows, signal):
        return self.model.cost

    track_cost.unit = "nats"

    def track_over_argsort(self, n_rows, signal):
        rounds = max(5, MILLION // n_rows)
        return ratio(lambda: merge(self.data), lambda: np.argsort(self.data[0]), rounds)

    # Target at 1,000,000 rows: at most 5 with 2 classes, 10 with 10.
    track_over_argsort.unit = "ratio"


class MergeTenClasses(Merge):
    n_classes = 10
    params = [[MILLION], ["noise", "steps", "clear"]]


class MergeGrowth:
    params = ["noise", "steps"]
    param_names = ["signal"]

    def track_power(self, signal):
        small, large = (datasets.make(signal, n) for n in (10_000, LARGEST))
        merge(small)
        (few,) = best_seconds(lambda: merge(small))
        (many,) = best_seconds(lambda: merge(large), rounds=1)
        return power(few, many, LARGEST / 10_000)

    # From 10,000 to 10,000,000 rows; N log N is 1.08.
    track_power.unit = "power of the rows"


def track_peak_over_data():
    return printed_apart(PEAK_OVER_DATA)


# At 10,000,000 rows, the data itself included; target: at most 8.
track_peak_over_data.unit = "ratio"
