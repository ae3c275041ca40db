"""
No labels: the density of a column
==================================

A histogram whose number of bars, and where they end, follow from the data.
"""

# %%
# Made waiting times: many are 0, some are short, some take about seven minutes.

import numpy as np

import gridmodl
from gridmodl.plot import DensityDisplay

rng = np.random.default_rng(0)
waits = np.concatenate([np.zeros(150), rng.uniform(0, 2, 600), rng.normal(7, 0.5, 400)]).round(3)
model = gridmodl.optimize({"minutes": waits})
print(model.summary())

# %%
# The dashed line is a *mass*: a value that alone holds many rows has a probability in place of a bar.

DensityDisplay.from_model(model).plot()

# %%
# Bars of one width need many more of them to say the same, without the mass.

by_width = gridmodl.density.equal_width({"minutes": waits[waits > 0]})
DensityDisplay.from_model(by_width).plot()

# %%
# All about it: :doc:`/use/no_labels`.
