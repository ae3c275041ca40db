"""Many settings of a criterion on one table, as a grid search tries them: 100 should take seconds."""

from __future__ import annotations

import numpy as np

from gridmodl import GridDiscretizer, Search

from . import datasets

AXIS = np.maximum(np.linspace(0.0, 1.0, 10), 1e-5)
# Jin, Breitbart, Muoh, "Data discretization unification", 2009, section 5; alpha may not be 0 here either.
SETTINGS = [{"alpha": alpha, "beta": beta} for alpha in AXIS for beta in AXIS]
# Both prove the same optima.
SEARCHES = {"auto": "auto", "auto, no post-optimization": Search("auto", post_optimize=False)}


def fit(inputs, target, search, options):
    return GridDiscretizer(criterion="entropy", criterion_options=options, search=search).fit(inputs, target)


class Entropy:
    """1,000 rows, 10 columns."""

    params = [list(SEARCHES)]
    param_names = ["search"]
    number = repeat = rounds = 1
    warmup_time = 0
    timeout = 300

    def setup(self, search):
        columns, target = datasets.make_table(1_000, 10, 2)
        self.data = np.column_stack(list(columns.values())), target, SEARCHES[search]
        fit(*self.data, SETTINGS[0])  # compiles, outside the clock

    def time_100_settings(self, search):
        for options in SETTINGS:
            fit(*self.data, options)
