"""How good the searches are, and how the exact one grows."""

from __future__ import annotations

import numpy as np

import gridmodl

from . import best_seconds, datasets, power


def cost_of(data, search):
    return gridmodl.optimize(*data, search=search).cost


class MergeAndExact:
    params = [[500, 8_000], ["noise", "steps", "sine"]]
    param_names = ["rows", "signal"]

    def track_gap(self, n_rows, signal):
        """What merge leaves of the optimum."""
        data = datasets.make(signal, n_rows)
        return cost_of(data, "merge") / cost_of(data, "exact") - 1.0

    track_gap.unit = "share of the cost"


class ExactGrowth:
    def track_power(self):
        sizes = 4_000, 16_000
        small, large = (datasets.make("noise", n) for n in sizes)
        exact = [lambda data=data: gridmodl.optimize(*data, search="exact") for data in (small, large)]
        exact[0]()
        return power(*best_seconds(*exact, rounds=3), sizes[1] / sizes[0])

    # Quadratic would be 2.
    track_power.unit = "power of the rows"


class SmallData:
    """Merge against exact on a thousand random data sets."""

    def setup_cache(self):
        sets = [datasets.make_small(seed) for seed in range(1_000)]
        return np.array([(cost_of(data, "merge"), cost_of(data, "exact")) for data in sets])

    def track_optimum_rate(self, costs):
        merge, exact = costs.T
        return float(np.mean(merge <= exact + 1e-9 * np.abs(exact)))

    # Target: at least 0.98.
    track_optimum_rate.unit = "share of the data sets"

    def track_worst_gap(self, costs):
        merge, exact = costs.T
        return float(np.max(merge / exact - 1.0))

    track_worst_gap.unit = "share of the cost"
