"""The picture of the README: two columns of iris and the intervals that explain the species.

.venv/bin/pip install --group docs && .venv/bin/python -m reproduce.pictures.readme
"""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_iris

import gridmodl
from reproduce import ROOT

COLOURS = ["#0072B2", "#E69F00", "#009E73"]  # told apart by colour-blind eyes too
COLUMNS = ["petal length (cm)", "sepal width (cm)"]  # one that tells much, one that tells little


def draw(axes: Axes, name: str, values: np.ndarray, species: np.ndarray) -> None:
    model = gridmodl.optimize(values, species)
    (partition,) = model.partitions.values()
    edges = np.concatenate([[values.min() - 0.1], partition.bounds, [values.max() + 0.1]])
    shares = partition.counts / partition.counts.sum(axis=1, keepdims=True)
    below = np.zeros(partition.n_parts)
    for share, colour, label in zip(shares.T, COLOURS, model.classes, strict=True):
        axes.bar(edges[:-1], share, np.diff(edges), below, align="edge", color=colour, edgecolor="white", label=label)
        below += share
    jitter = np.random.default_rng(0).uniform(-0.17, -0.03, len(values))
    axes.scatter(values, jitter, s=4, c=[COLOURS[list(model.classes).index(s)] for s in species])
    for bound in partition.bounds:
        axes.text(bound, 1.02, f"{bound:g}", ha="center", va="bottom", fontsize=10)
    axes.set_xlabel(f"{name}: level {model.level:.2f}", fontsize=11)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(-0.2, 1.0)
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    data = load_iris()
    figure, row = plt.subplots(1, len(COLUMNS), figsize=(7.2, 3.4), sharey=True, layout="constrained")
    for axes, name in zip(row, COLUMNS, strict=True):
        draw(axes, name, data.data[:, data.feature_names.index(name)], data.target_names[data.target])
    row[0].set_ylabel("share of each species", fontsize=11)
    figure.legend(*row[0].get_legend_handles_labels(), frameon=False, loc="outside upper center", ncols=3, fontsize=11)
    path = ROOT / "docs" / "pictures" / "iris.png"
    figure.savefig(path, dpi=150)
    print(f"wrote docs/pictures/{path.name}")


if __name__ == "__main__":
    main()
