"""
A grid as rules
===============

When columns matter together, the cells of one grid are rules that can be read, each with its rows.
"""

# %%
# Made data: who cycles to work? Those who live near, unless it rains; the young come from further away.

import numpy as np
from matplotlib import pyplot as plt

import gridmodl
from gridmodl.plot import CellsDisplay, GridDisplay

rng = np.random.default_rng(1)
n = 3000
km, age, shoe = rng.gamma(2.0, 4.0, n).round(1), rng.integers(18, 66, n), rng.integers(36, 47, n)
rain = rng.choice(["dry", "wet"], n, p=[0.7, 0.3])
likes = (km < np.where(age < 30, 12, 5)) & (rain == "dry")
cycles = np.where(rng.random(n) < np.where(likes, 0.8, 0.1), "cycles", "drives")
people = {"km": km, "age": age, "weather": rain, "shoe": shoe}

# %%
# The size of shoes is left out.

model = gridmodl.optimize(people, cycles, event="cycles", random_state=0)
print(model.informative, "tell, and", list(model.left_out), "does not")

# %%
# The cells with the most rows, as rules.

for rule in model.rules(n=6):
    print(rule)

# %%
# The same cells as a picture, with names for the parts.

model = model.rename("km", ["near", "middle", "far"]).rename("age", ["young", "30 and older"])
model = model.rename("weather", ["wet", "dry"])
figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
CellsDisplay.from_model(model).plot(ax, max_cells=6)

# %%
# Two of the columns on dry days and wet ones together: who cycles, by distance and age.

GridDisplay.from_model(model, "km", "age").plot()

# %%
# Only the rules of cells where cycling is at least twice as frequent as in all rows.

for rule in model.rules(min_lift=2, min_rows=30):
    print(rule)

# %%
# All about it: :doc:`/use/grid`.

# sphinx_gallery_thumbnail_number = 1
