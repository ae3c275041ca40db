"""Grids of many variables: time, rounds per second, growth with rows and columns, memory, and the XOR of five.

All data is made here. Real data: ``reproduce/measured/ada_grid.py``; draws: ``reproduce/grids/grid_experiments.py``.
"""

from __future__ import annotations

import time

import gridmodl

from . import SMALL, datasets, power, shortened
from .memory import printed_apart

PEAK_OVER_DATA = """
import numpy as np
import gridmodl
from memory import peak_bytes

rng = np.random.default_rng(0)
search = gridmodl.Search("vns", effort=0)
gridmodl.optimize(rng.normal(size=(100, 20)), rng.integers(0, 2, 100), search=search)
before = peak_bytes()
target = rng.integers(0, 2, 100_000)
data = rng.normal(size=(100_000, 20)) + np.linspace(-1.0, 1.0, 20).clip(0.0) * target[:, None]
gridmodl.optimize(data, target, search=search)
print((peak_bytes() - before) / (data.nbytes + target.nbytes))
"""


def optimize(data, effort=None, seed=0):
    """Find a grid with this `effort`; None is the default."""
    search = gridmodl.Search("vns") if effort is None else gridmodl.Search("vns", effort=effort)
    return gridmodl.optimize(*data, search=search, random_state=seed)


def processor_seconds(data, effort):
    begun = time.process_time()
    optimize(data, effort)
    return time.process_time() - begun


class Mixed:
    """4,000 rows, 6 numerical columns with many ties and 8 categorical ones, as Ada has them."""

    def setup(self):
        self.data = datasets.make_census(4_000)
        optimize(self.data, 0)  # compiles

    def time_default_effort(self):
        optimize(self.data)

    def track_cost(self):
        return optimize(self.data).cost

    track_cost.unit = "nats"

    def track_rounds_per_second(self):
        """Local optima of one thread beyond the first, by processor time beyond that of the starts and the first."""
        one, many = (min(processor_seconds(self.data, effort) for _ in range(2)) for effort in (0, 5))
        return round(62 / (many - one), 1)

    # Target on Ada itself: at least 80.
    track_rounds_per_second.unit = "rounds per second"


class Rows:
    """20 numerical columns, half of them noise, at effort 0: the starts and one round."""

    params = [1_000, 10_000] if SMALL else [1_000, 10_000, 100_000]
    param_names = ["rows"]

    def setup(self, n_rows):
        self.data = datasets.make_table(n_rows, 20, n_noise=10)
        optimize(datasets.make_table(1_000, 20, n_noise=10), 0)  # compiles

    def time_one_round(self, n_rows):
        optimize(self.data, 0)

    time_one_round.number, time_one_round.repeat, time_one_round.warmup_time = 1, (1, 3, 10.0), 0


class Growth:
    """Half of the columns are noise; effort 0, by processor time."""

    def track_power_of_rows(self):
        sizes = 1_000, shortened(100_000)
        tables = [datasets.make_table(n_rows, 10, n_noise=5) for n_rows in sizes]
        return growth(tables, sizes[1] / sizes[0])

    # 10 columns, from 1,000 to 100,000 rows; N log N is 1.11.
    track_power_of_rows.unit = "power of the rows"

    def track_power_of_columns(self):
        sizes = 10, 20 if SMALL else 200
        tables = [datasets.make_table(10_000, n_columns, n_noise=n_columns // 2) for n_columns in sizes]
        return growth(tables, sizes[1] / sizes[0])

    # 10,000 rows, from 10 to 200 columns.
    track_power_of_columns.unit = "power of the columns"


def growth(tables, factor):
    small, large = tables
    optimize(small, 0)  # compiles
    few = min(processor_seconds(small, 0) for _ in range(5))
    return power(few, processor_seconds(large, 0), factor)


def track_peak_over_data():
    return printed_apart(PEAK_OVER_DATA)


# At 100,000 rows x 20 columns, the data itself included; target: at most 10.
track_peak_over_data.unit = "ratio"


class Overhead:
    """What a call takes that has next to nothing to do: 10 rows, 3 columns, one round. Target: below 50 ms."""

    def setup(self):
        self.data = datasets.make_noise(10, 3)
        optimize(self.data, 0)  # compiles

    def time_call(self):
        optimize(self.data, 0)


class Xor:
    """The XOR of five variables, 256 rows, default effort."""

    def setup_cache(self):
        return [optimize(datasets.make_xor(256, 5, seed=seed), seed=seed) for seed in range(20)]

    def track_rate(self, models):
        return sum(len(model.informative) == 5 for model in models) / len(models)

    # Target: at least 0.95.
    track_rate.unit = "share of the draws"
