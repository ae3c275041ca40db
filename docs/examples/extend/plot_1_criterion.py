"""
A criterion of your own
=======================

Twenty lines of plain Python, compiled into the same searches, and the optimum is proven just the same.
"""

# %%
# The penalty of Hannan and Quinn for a part lies between those of AIC and BIC.

import math

from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

import gridmodl


class HannanQuinn(gridmodl.Criterion):
    """2 L + 2 I (J-1) log log N, with L the log-loss of the classes in their parts, I parts, J classes, N rows"""

    name = "hannan-quinn"
    problems = {"classes"}

    @staticmethod
    def cell(p, cell):
        cost = 2.0 * (p.n_classes - 1) * math.log(max(1.0, p.log_rows))
        for n in cell.counts:
            if n > 0:
                cost -= 2.0 * n * math.log(n / cell.rows)
        return cost


# %%
# What it finds in one column, beside the built-in criteria.

tumours = load_breast_cancer(as_frame=True)
radius, diagnosis = tumours.data["mean radius"], tumours.target_names[tumours.target]
figure, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
criteria = ["modl", "bic", HannanQuinn, "aic"]
for place, criterion in enumerate(criteria):
    model = gridmodl.optimize(radius, diagnosis, criterion=criterion)
    bounds = model.partitions["mean radius"].bounds
    print(f"{model.criterion:14} {len(bounds) + 1} parts, proven: {model.proven}")
    ax.hlines(place, radius.min(), radius.max(), color="lightgrey", linewidth=9)
    ax.plot(bounds, [place] * len(bounds), "|", color="tab:red", markersize=18, markeredgewidth=2.5)
names = [one if isinstance(one, str) else one.name for one in criteria]
ax.set_yticks(range(len(criteria)), names, fontsize=12)
ax.set(xlabel="mean radius", title="the bounds that each finds")
ax.set_ylim(3.6, -0.5)
ax.spines[["top", "right", "left"]].set_visible(False)

# %%
# As a package of its own, with its tests: :doc:`/write_a_criterion`.
