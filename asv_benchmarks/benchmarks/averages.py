"""The average over all partitions beside the proven search of the best one, and beside a sort."""

from __future__ import annotations

import numpy as np

import gridmodl

from . import MILLION, best_seconds, datasets, ratio


class Columns:
    """One column: the average over the time of the proven search."""

    params = [[200, 2_000, 20_000], ["noise", "steps", "sine"]]
    param_names = ["rows", "signal"]

    def setup(self, n_rows, signal):
        self.data = datasets.make(signal, n_rows)
        gridmodl.average(*self.data)
        gridmodl.optimize(*self.data)

    def track_ratio(self, n_rows, signal):
        return ratio(lambda: gridmodl.average(*self.data), lambda: gridmodl.optimize(*self.data))

    # Target: at most 2.
    track_ratio.unit = "times the proven search"


class Million:
    """A million rows: what the average takes beyond sorting the column."""

    params = ["noise", "steps", "sine"]
    param_names = ["signal"]
    timeout = 300

    def setup(self, signal):
        self.x, self.y = datasets.make(signal, MILLION)
        gridmodl.average(self.x[: MILLION // 10], self.y[: MILLION // 10])

    def track_ratio(self, signal):
        whole, sort = best_seconds(lambda: gridmodl.average(self.x, self.y), lambda: np.argsort(self.x), rounds=3)
        return round((whole - sort) / sort, 3)

    # Target: at most 3.
    track_ratio.unit = "times np.argsort"


class Reading:
    """What is read off an average of 512 bounds."""

    def setup(self):
        self.x, self.y = datasets.make("sine", 5_000)
        self.average = gridmodl.average(self.x, self.y)
        self.average.band(self.average.knots[:2])
        self.average.sample(2)

    def time_predict(self):
        self.average.predict_proba(self.x)

    def time_band_of_one_value(self):
        self.average.band(self.average.knots[100:101])

    def time_sample(self):
        self.average.sample(100)
