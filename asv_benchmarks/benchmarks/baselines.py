"""The methods to compare with: time against sorting the same column, growth, and what their parts cost."""

from __future__ import annotations

import numpy as np

import gridmodl
from gridmodl import baselines

from . import MILLION, best_seconds, datasets, power, ratio

METHODS = ("equal_width", "equal_frequency", "fayyad_irani", "chi_merge")


class Million:
    params = [METHODS, ["noise", "steps"]]
    param_names = ["method", "signal"]
    timeout = 300

    def setup(self, method, signal):
        self.method = getattr(baselines, method)
        self.data = datasets.make(signal, MILLION)
        self.method(self.data[0][:1000], self.data[1][:1000])  # compiles, outside the clock

    def track_over_argsort(self, method, signal):
        return ratio(lambda: self.method(*self.data), lambda: np.argsort(self.data[0]), rounds=3)

    track_over_argsort.unit = "times np.argsort"


class Growth:
    params = [METHODS]
    param_names = ["method"]
    timeout = 300

    def track_power(self, method):
        sizes = MILLION // 10, MILLION
        data = [datasets.make("noise", n) for n in sizes]
        calls = [lambda given=given: getattr(baselines, method)(*given) for given in data]
        calls[0]()
        return power(*best_seconds(*calls, rounds=3), sizes[1] / sizes[0])

    # Linear is 1; sorting takes more.
    track_power.unit = "k of time ~ rows^k"


class ManySplits:
    """Steps in a row, of two classes in turn: splits peel them off the ends, and each looks at all that is left."""

    params = [[100, 1_000]]
    param_names = ["steps"]
    timeout = 300

    def setup(self, n_steps):
        rng = np.random.default_rng(n_steps)
        self.column = rng.random(MILLION)
        favoured = (self.column * n_steps).astype(np.int64) % 2
        self.target = np.where(rng.random(MILLION) < 0.9, favoured, 1 - favoured)
        baselines.fayyad_irani(self.column[:1000], self.target[:1000])

    def time_fayyad_irani(self, n_steps):
        baselines.fayyad_irani(self.column, self.target)


class Quality:
    """The mean level of small data sets, less that of the proven optimum."""

    params = [METHODS]
    param_names = ["method"]

    def track_level_below_optimum(self, method):
        data = [datasets.make_small(seed) for seed in range(50)]
        levels = [
            gridmodl.optimize(*given, search="exact").level - getattr(baselines, method)(*given).level for given in data
        ]
        return float(np.mean(levels))

    track_level_below_optimum.unit = "level"
