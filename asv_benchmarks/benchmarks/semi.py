"""Rows of which only a few have a class: time, growth, and how far a merge is from the proven optimum."""

from __future__ import annotations

import numpy as np

import gridmodl

from . import MILLION, best_seconds, power


def draw(kind, n_rows, share, n_classes=2, seed=0):
    """A column, and a target of which all rows but a share are marked by -1."""
    rng = np.random.default_rng([seed, n_rows])
    x = rng.random(n_rows)
    y = rng.integers(0, n_classes, n_rows)
    if kind == "steps":
        y = np.where(rng.random(n_rows) < 0.8, (5.0 * x).astype(int) % n_classes, y)
    elif kind == "sine":
        y = np.where(rng.random(n_rows) < 0.5 + 0.4 * np.sin(12.0 * x), 0, y)
    return x, np.where(rng.random(n_rows) < share, y, -1)


N_SMALL = 200_000  # of fewer, 100 classes with ten rows each might be quantities


class Million:
    """A million rows, 10,000 of them labelled."""

    params = [["steps", "noise"], [2, 10, 100]]
    param_names = ["data", "classes"]
    timeout = 300

    def setup(self, kind, n_classes):
        self.x, self.y = draw(kind, MILLION, 10_000 / MILLION, n_classes)
        for options in ({}, {"placement": "median"}):  # compile, outside the clock
            gridmodl.optimize(self.x[:N_SMALL], self.y[:N_SMALL], unlabelled=-1, **options)
        gridmodl.bound_posterior(self.x[:N_SMALL], self.y[:N_SMALL], unlabelled=-1)

    def time_optimize(self, kind, n_classes):
        gridmodl.optimize(self.x, self.y, unlabelled=-1)

    def time_placement(self, kind, n_classes):
        gridmodl.optimize(self.x, self.y, unlabelled=-1, placement="median")

    def time_bound_posterior(self, kind, n_classes):
        gridmodl.bound_posterior(self.x, self.y, unlabelled=-1)


class Growth:
    params = [["steps", "noise"], ["optimize", "placement", "bound_posterior"]]
    param_names = ["data", "what"]
    timeout = 300

    def track_power(self, kind, what):
        sizes = MILLION // 10, MILLION
        ask = {
            "optimize": lambda x, y: gridmodl.optimize(x, y, unlabelled=-1, search="merge"),
            "placement": lambda x, y: gridmodl.optimize(x, y, unlabelled=-1, placement="median", search="merge"),
            "bound_posterior": lambda x, y: gridmodl.bound_posterior(x, y, unlabelled=-1),
        }[what]
        data = [draw(kind, n, 0.01) for n in sizes]
        calls = [lambda given=given: ask(*given) for given in data]
        calls[0]()
        return power(*best_seconds(*calls, rounds=3), sizes[1] / sizes[0])

    # Linear is 1.
    track_power.unit = "k of time ~ rows^k"


class Quality:
    """What the merge leaves to the proof, on data that the exact search can take."""

    params = [["steps", "sine"], [2, 5]]
    param_names = ["data", "classes"]
    timeout = 300

    def track_mean_excess(self, kind, n_classes):
        excess = []
        for seed in range(10):
            x, y = draw(kind, 4000, 0.1, n_classes, seed)
            merged, exact = (gridmodl.optimize(x, y, unlabelled=-1, search=search) for search in ("merge", "exact"))
            excess.append(merged.cost / exact.cost - 1.0)
        return float(np.mean(excess))

    track_mean_excess.unit = "share of the cost"
