"""
Intervals of one column, and how many
=====================================

One numerical column and a class: the best intervals, the classes in them, and the cost of fewer or more intervals.
"""

# %%
# The mean concavity of the nuclei of a tumour's cells, and whether the tumour was benign or malignant.

from sklearn.datasets import load_breast_cancer

import gridmodl
from gridmodl.plot import CostDisplay, EventDisplay, PartsDisplay

cancer = load_breast_cancer(as_frame=True)
diagnosis = cancer.target_names[cancer.target]
model = gridmodl.optimize(cancer.data["mean concavity"], diagnosis)
print(model.summary())

# %%
# A lane for each interval: the shares of the classes in it, and its rows.

PartsDisplay.from_model(model).plot()

# %%
# The rate of the event over the rows of each interval, with its uncertainty.

EventDisplay.from_model(model).plot()

# %%
# Why three intervals? `gridmodl.Model.explain` prices the alternatives, term by term.

print(model.explain())

# %%
# The best cost for each number of parts. Every point is proven: no partition into that number of parts is cheaper.

curve = gridmodl.cost_by_parts(cancer.data["mean concavity"], diagnosis, max_parts=12)
CostDisplay.from_curve(curve).plot()

# %%
# All about it: :doc:`/use/discretize`.

# sphinx_gallery_thumbnail_number = 2
