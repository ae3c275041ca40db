"""
Drift: are new months still like those of training?
===================================================

A model of the first year, held against each month of the second: what has moved, since when, and is it chance?
"""

# %%
# Made data: in the second year incomes rise month by month, ages stay as they were.

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import gridmodl
from gridmodl.plot import DriftDisplay

rng = np.random.default_rng(0)


def loans(n, first, last, drift):
    month = rng.integers(first, last + 1, n)
    income = rng.gamma(4.0, 800.0, n) * (1 + drift * (month - first))
    age, town = rng.integers(18, 80, n), rng.choice(["Bonn", "Lyon", "Oslo"], n)
    default = rng.random(n) < 1 / (1 + np.exp(income / 900 - 1.5 + 0.02 * age))
    columns = {"income": income, "age": age, "town": town, "month": month, "default": default.astype(int)}
    return pd.DataFrame(columns)


old, new = loans(20_000, 1, 12, 0.0), loans(18_000, 13, 18, 0.08)
models = gridmodl.optimize_each(old.drop(columns="month"), "default")
found = models.compare(new, "default", "month")
print(found)

# %%
# The population stability index (PSI) by month. A drift is a PSI above the limit that chance does not explain.

figure, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
found.plot(ax=ax).ax_.set_xlabel("month")

# %%
# The parts of the column that moved: their shares in training, and in the last month.

DriftDisplay(found, "income", period="18").plot()

# %%
# All about it: :doc:`/use/monitor`.
