"""The proven optimum of one column: how long, how much of it is proven, and how the work grows.

Up to ten million rows, and the known slow cases: ``reproduce/proof/exact_growth.py``.
"""

from __future__ import annotations

import time
from typing import NamedTuple
from unittest import mock

import numpy as np

import gridmodl
from gridmodl.search.column import exact

from . import MILLION, datasets

ROWS = [10_000, MILLION]
SIGNALS = ["noise", "steps", "sigmoid", "waves"]
ALL_SIGNALS = [*SIGNALS, "natural"]
N_CLASSES = [2, 5]


class Measured(NamedTuple):
    """One call of `optimize`, in processor time: other work on the machine counts for less."""

    seconds: float
    argsort: float  # seconds of sorting the same column, the best of three
    n_atoms: int  # boundary points
    prices: float  # prices, floors and excesses that the proof took for each of them
    proven: bool


def make(signal: str, n_rows: int, n_classes: int, seed: int = 0):
    """Columns of `datasets.make`, and two more.

    ``waves``: eight of them, shares of the last class from 5 % to 95 %. ``natural``: normal values, of which the last
    of two classes has the share logistic(0.7 sin 3x).
    """
    if signal == "natural":
        rng = np.random.default_rng([1_401, seed, n_rows, n_classes])
        column = rng.standard_normal(n_rows)
        return column, rng.binomial(n_classes - 1, 1.0 / (1.0 + np.exp(-0.7 * np.sin(3.0 * column))))
    if signal != "waves":
        return datasets.make(signal, n_rows, n_classes, seed)
    rng = np.random.default_rng([1_400, seed, n_rows, n_classes])
    column = rng.random(n_rows)
    return column, rng.binomial(n_classes - 1, 0.5 + 0.45 * np.sin(50.0 * column))


def measure(data, criterion: str = "modl", search: str = "auto") -> Measured:
    programs, make_program = [], exact.make_program

    def kept(*arguments):
        programs.append(make_program(*arguments))
        return programs[-1]

    with mock.patch.object(exact, "make_program", kept):  # knows what the model does not say
        begun = time.process_time()
        model = gridmodl.optimize(*data, criterion=criterion, search=search)
        took = time.process_time() - begun
    (program,) = programs
    argsort = min(argsort_seconds(data[0]) for _ in range(3))
    return Measured(took, argsort, program.n, program.n_prices / program.n, model.proven)


def argsort_seconds(column) -> float:
    begun = time.process_time()
    np.argsort(column)
    return time.process_time() - begun


class OneRound:
    """Each column once, by modl; all measures are of these runs."""

    timeout = 600

    def setup_cache(self):
        measure(make("steps", 3_000, 2))  # compiles
        return {(n, s, j): measure(make(s, n, j)) for n in ROWS for s in ALL_SIGNALS for j in N_CLASSES}


class Million(OneRound):
    """From an array of 1,000,000 rows to the model."""

    params = [ALL_SIGNALS, N_CLASSES]
    param_names = ["signal", "classes"]

    def track_over_argsort(self, measured, signal, n_classes):
        found = measured[MILLION, signal, n_classes]
        return round(found.seconds / found.argsort, 2)

    track_over_argsort.unit = "times np.argsort"


class Growth(OneRound):
    """What depends on no machine."""

    params = [ROWS, ALL_SIGNALS, N_CLASSES]
    param_names = ["rows", "signal", "classes"]

    def track_prices(self, measured, n_rows, signal, n_classes):
        return round(measured[n_rows, signal, n_classes].prices, 1)

    track_prices.unit = "per boundary point"


class Proven(OneRound):
    def track_share(self, measured):
        return float(np.mean([found.proven for found in measured.values()]))

    # Target: 1.
    track_share.unit = "share of the columns"


class OtherCriteria:
    """1,000,000 rows, two classes."""

    params = [["aic", "bic", "gini", "entropy"], SIGNALS]
    param_names = ["criterion", "signal"]
    timeout = 600

    def setup_cache(self):
        measured = {}
        for criterion in self.params[0]:
            measure(make("sigmoid", 30_000, 2), criterion)  # compiles
            for signal in SIGNALS:
                measured[criterion, signal] = measure(make(signal, MILLION, 2), criterion)
        return measured

    def track_over_argsort(self, measured, criterion, signal):
        found = measured[criterion, signal]
        return round(found.seconds / found.argsort, 2)

    # Target: 15.
    track_over_argsort.unit = "times np.argsort"


class Merge:
    """1,000,000 rows by ``search="merge"``."""

    params = [ALL_SIGNALS, N_CLASSES]
    param_names = ["signal", "classes"]
    timeout = 600

    def setup(self, signal, n_classes):
        gridmodl.optimize(*make("steps", 3_000, n_classes), search="merge")  # compiles
        self.data = make(signal, MILLION, n_classes)

    def track_over_argsort(self, signal, n_classes):
        begun = time.process_time()
        gridmodl.optimize(*self.data, search="merge")
        took = time.process_time() - begun
        return round(took / min(argsort_seconds(self.data[0]) for _ in range(3)), 2)

    # Targets: 3.5 with 2 classes, 8 with 5.
    track_over_argsort.unit = "times np.argsort"
