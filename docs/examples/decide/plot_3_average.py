"""
Probabilities: the average over all partitions
==============================================

The best partition is to be read. To predict, all partitions are taken, each weighted by its probability: a curve
with a band that says how sure it is.
"""

# %%
# Made data, in which the probability to buy rises smoothly with age.

import numpy as np

import gridmodl
from gridmodl.plot import AverageDisplay, PartsDisplay

rng = np.random.default_rng(3)
age = rng.uniform(20, 80, 400).round(1)
bought = np.where(rng.random(400) < 1 / (1 + np.exp(-(age - 50) / 6)), "yes", "no")
average = gridmodl.average({"age": age}, bought)
print(average.summary())

# %%
# The probability at each age, with a band of 90 %; the dotted red line is the truth. Before 59, three in a row did not
# buy: the band is wide there. A band of 90 % holds the truth at nine of ten ages in the mean over samples; in this one
# of 400 rows it does at two of three.

display = AverageDisplay.from_average(average).plot()
ages = np.linspace(20, 80, 200)
display.ax_.plot(ages, 1 / (1 + np.exp(-(ages - 50) / 6)), color="tab:red", linestyle=":", linewidth=2)

# %%
# The best partition says the same in a few steps.

PartsDisplay.from_model(gridmodl.optimize({"age": age}, bought)).plot()

# %%
# All about it: :doc:`/use/average`.
