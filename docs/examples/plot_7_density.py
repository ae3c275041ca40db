"""
No labels: the density of a column
==================================

Intervals in which rows are evenly dense, as many as cross-validation keeps.
"""

# %%
# Waiting times of two kinds.

import numpy as np

import gridmodl
from gridmodl.plot import DensityDisplay

rng = np.random.default_rng(0)
waits = np.concatenate([rng.uniform(0, 2, 600), rng.normal(7, 0.5, 400)])
model = gridmodl.optimize_density({"wait": waits})
print(model.summary())
DensityDisplay.from_model(model).plot()

# %%
# Parts of one width need many more of them to say the same.

by_width = gridmodl.density.equal_width({"wait": waits})
DensityDisplay.from_model(by_width).plot()
