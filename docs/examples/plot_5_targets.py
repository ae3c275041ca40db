"""
Many classes, and targets of numbers
====================================

A target that is partitioned together with the column: classes in groups, or numbers in intervals.
"""

# %%
# How far diabetes went on after a year, by body mass index: both are cut into intervals.

import numpy as np
from sklearn.datasets import load_diabetes

import gridmodl
from gridmodl.plot import TargetDisplay

patients = load_diabetes(as_frame=True, scaled=False)
model = gridmodl.optimize(patients.data["bmi"], patients.target, target_kind="numerical")
TargetDisplay.from_model(model).plot()

# %%
# 300 shops, and the amounts spent there: shops that the amount cannot tell apart are one group.

rng = np.random.default_rng(0)
shop = rng.integers(0, 300, 20_000)
spent = np.exp(rng.normal(2.0 + 0.7 * (shop % 3), 0.6)).round(2)
shops = gridmodl.optimize({"spent": spent}, shop, target_kind="grouped")
print([len(group) for group in shops.target.groups], "shops in each group")
TargetDisplay.from_model(shops).plot()

# sphinx_gallery_thumbnail_number = 2
