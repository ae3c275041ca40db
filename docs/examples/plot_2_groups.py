"""
Groups of categories, with missing values and special codes
===========================================================

Which categories belong together? And where do missing values go, and numbers that are codes?
"""

# %%
# Made data: who buys depends on the town, and on the age where that is known; -1 stands for "would not say".

import numpy as np

import gridmodl
from gridmodl.plot import EventDisplay, PartsDisplay

rng = np.random.default_rng(0)
n = 4000
town = rng.choice(["Brest", "Caen", "Dijon", "Lille", "Lyon", "Metz", "Nancy", "Nice", "Reims", "Toulon"], n)
age = rng.integers(18, 90, n).astype(float)
age[rng.random(n) < 0.1] = np.nan
age[rng.random(n) < 0.05] = -1
share = np.where(np.isin(town, ["Brest", "Caen", "Nice", "Toulon"]), 0.4, 0.15) + np.where(age > 50, 0.2, 0.0)
buys = np.where(rng.random(n) < np.where(age == -1, 0.8, share), "yes", "no")

models = gridmodl.optimize_each({"town": town, "age": age}, buys, special={"age": [-1]})
print(models.summary())

# %%
# The towns by the sea are one group, and the others another.

PartsDisplay.from_model(models["town"]).plot()

# %%
# Missing values are joined to the lowest interval where that is cheaper, and else have a part of their own; a special
# code always has one.

EventDisplay.from_model(models["age"]).plot()

# %%
# All about it: :doc:`/use/group`; missing values and special codes: :doc:`/use/discretize`.

# sphinx_gallery_thumbnail_number = 2
