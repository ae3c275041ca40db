"""
Groups of categories, with missing values and special codes
===========================================================

Which categories belong together? And where do missing values go, and numbers that are codes?
"""

# %%
# Made data: who sails depends on the town.

import numpy as np
from matplotlib import pyplot as plt

import gridmodl
from gridmodl.plot import EventDisplay, PartsDisplay

rng = np.random.default_rng(0)
n = 3000
towns = np.array(["Brest", "Caen", "Dijon", "Lille", "Lyon", "Metz", "Nancy", "Nice", "Reims", "Toulon"])
town = rng.choice(towns, n)
by_the_sea = np.isin(town, ["Brest", "Caen", "Nice", "Toulon"])
sails = np.where(rng.random(n) < np.where(by_the_sea, 0.4, 0.1), "yes", "no")
model = gridmodl.optimize({"town": town}, sails)
print(model.summary())

# %%
# The towns by the sea are one group, and the others another.

figure, ax = plt.subplots(figsize=(5.8, 3.8), layout="constrained")
PartsDisplay.from_model(model).plot(ax)

# %%
# Who buys depends on the age, where that is known; -1 stands for "would not say". Missing values are joined to the
# lowest interval where that is cheaper, and else have a part of their own; a special code always has one.

age = rng.integers(18, 90, n).astype(float)
age[rng.random(n) < 0.1] = np.nan
age[rng.random(n) < 0.05] = -1
buys = np.where(rng.random(n) < np.where(age == -1, 0.8, np.where(age > 50, 0.4, 0.2)), "yes", "no")
EventDisplay.from_model(gridmodl.optimize({"age": age}, buys, special=[-1])).plot()

# %%
# All about it: :doc:`/use/group`; missing values and special codes: :doc:`/use/discretize`.

# sphinx_gallery_thumbnail_number = 1
