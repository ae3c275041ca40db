"""Many settings of a criterion on one table, as a grid search tries them: 100 should take seconds."""

from __future__ import annotations

import numpy as np

from gridmodl import GridDiscretizer

from . import datasets

AXIS = np.maximum(np.linspace(0.0, 1.0, 10), 1e-5)
# Jin, Breitbart, Muoh, "Data discretization unification", 2009, section 5; alpha may not be 0 here either.
SETTINGS = [{"alpha": alpha, "beta": beta} for alpha in AXIS for beta in AXIS]


def fit(inputs, target, options):
    return GridDiscretizer(criterion="entropy", criterion_options=options).fit(inputs, target)


class Entropy:
    """1,000 rows, 10 columns."""

    number = repeat = rounds = 1
    warmup_time = 0
    timeout = 300

    def setup(self):
        columns, target = datasets.make_table(1_000, 10, 2)
        self.data = np.column_stack(list(columns.values())), target
        fit(*self.data, SETTINGS[0])  # compiles, outside the clock

    def time_100_settings(self):
        for options in SETTINGS:
            fit(*self.data, options)
