"""Densities of one column: time, growth, and what new rows say of them."""

from __future__ import annotations

import numpy as np

import gridmodl
from gridmodl.density import equal_width

from . import MILLION, best_seconds, power, ratio

ASKED = {"likelihood": {}, "kernel": {"score": "kernel"}}


def draw(kind, n_rows, seed=0):
    rng = np.random.default_rng([seed, n_rows])
    if kind == "gaussian":
        return rng.normal(size=n_rows)
    if kind == "heavy-tailed":
        return rng.standard_t(2.0, n_rows)
    if kind == "rounded":
        return np.round(rng.normal(size=n_rows), 2)
    return np.arange(n_rows, dtype=float) if kind == "even" else rng.random(n_rows)


class OneColumn:
    """`optimize` of a column without a target: the proven optimum of each criterion, 10,000 rows."""

    params = [["modl", "bayesian-blocks", "penalized-likelihood"], ["gaussian", "heavy-tailed", "rounded"]]
    param_names = ["criterion", "data"]
    timeout = 300

    def setup(self, criterion, kind):
        self.values = draw(kind, 10_000)
        gridmodl.optimize(self.values[:500], criterion=criterion)  # compiles

    def time_optimize(self, criterion, kind):
        gridmodl.optimize(self.values, criterion=criterion, random_state=0)

    def track_score(self, criterion, kind):
        """Mean log-density of as many new rows."""
        model = gridmodl.optimize(self.values, criterion=criterion, random_state=0)
        return model.score(draw(kind, 10_000, seed=1))

    track_score.unit = "nats per row"


class Million:
    """Ten folds and all rows, up to 1,000 cuts each."""

    params = [["likelihood", "kernel"], ["gaussian", "heavy-tailed", "rounded", "even"]]
    param_names = ["score", "data"]
    timeout = 300

    def setup(self, score, kind):
        self.values, self.asked = draw(kind, MILLION), ASKED[score]
        gridmodl.optimize_density(self.values[:1000], **self.asked)  # compiles, outside the clock

    def track_over_argsort(self, score, kind):
        """Rows in random order: those of the even data are sorted."""
        values = np.random.default_rng(0).permutation(self.values)
        return ratio(lambda: gridmodl.optimize_density(values, **self.asked), lambda: np.argsort(values), rounds=3)

    track_over_argsort.unit = "times np.argsort"


class Growth:
    params = [["likelihood", "kernel"], ["gaussian", "even"]]
    param_names = ["score", "data"]
    timeout = 300

    def track_power(self, score, kind):
        sizes = MILLION // 10, MILLION
        columns = [draw(kind, n) for n in sizes]
        calls = [lambda x=x: gridmodl.optimize_density(x, **ASKED[score]) for x in columns]
        calls[0]()
        return power(*best_seconds(*calls, rounds=3), sizes[1] / sizes[0])

    # Linear is 1; what cuts lead to on even data would be 2 without a limit of work.
    track_power.unit = "power of the rows"


class HeldOut:
    """The log-likelihood per new row after 1,000, above that of equal width with cross-validated parts."""

    params = [["likelihood", "kernel"], ["gaussian", "uniform", "heavy-tailed"]]
    param_names = ["score", "data"]

    def track_over_equal_width(self, score, kind):
        differences = []
        for seed in range(5):
            train, test = draw(kind, 1_000, seed), draw(kind, 20_000, seed + 100)
            model, other = gridmodl.optimize_density(train, **ASKED[score]), equal_width(train)
            differences.append((model.log_likelihood(test) - other.log_likelihood(test)) / len(test))
        return float(np.mean(differences))

    track_over_equal_width.unit = "nats per row"
