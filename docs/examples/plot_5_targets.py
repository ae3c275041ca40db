"""
Many classes, and targets of numbers
====================================

A target that is partitioned together with the column: classes in groups, or numbers in intervals.
"""

# %%
# How far diabetes has progressed after a year, by body mass index: both are cut into intervals.

import numpy as np
from sklearn.datasets import load_diabetes

import gridmodl
from gridmodl.plot import TargetDisplay

patients = load_diabetes(as_frame=True, scaled=False)
model = gridmodl.optimize(patients.data["bmi"], patients.target, target_kind="numerical")
TargetDisplay.from_model(model).plot()

# %%
# Made data: 300 shops, and the amounts spent there. Shops that the amount cannot tell apart are one group.

rng = np.random.default_rng(0)
shop = rng.integers(0, 300, 20_000)
spent = np.exp(rng.normal(2.0 + 0.7 * (shop % 3), 0.6)).round(2)
shops = gridmodl.optimize({"spent": spent}, shop, target_kind="grouped")
for group in shops.target.groups:
    print(len(group), "shops, where the median amount is", np.median(spent[np.isin(shop, group)]).round(2))

# %%
# Which group of shops an amount comes from. The groups get names of their own.

shops = shops.rename("target", ["dear shops", "cheap shops", "the others"])
TargetDisplay.from_model(shops).plot()

# %%
# All about it: :doc:`/use/numerical_target`, :doc:`/use/many_classes`.

# sphinx_gallery_thumbnail_number = 2
