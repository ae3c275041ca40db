"""The picture of the page on displays, docs/use/plot.md, by the code of that page.

.venv/bin/pip install --group docs && .venv/bin/python -m reproduce.pictures.displays
"""

from __future__ import annotations

from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import gridmodl
from reproduce import ROOT


def main() -> None:
    iris = load_iris(as_frame=True)
    model = gridmodl.optimize(iris.data["petal length (cm)"], iris.target_names[iris.target])
    petals = gridmodl.optimize(iris.data[["petal length (cm)", "petal width (cm)"]])
    figure = Figure(figsize=(8, 7), layout="constrained")
    above, below = figure.subplots(2, 1)
    gridmodl.plot.PartsDisplay.from_model(model).plot(ax=above)
    gridmodl.plot.GridDisplay.from_model(petals).plot(ax=below)
    path = ROOT / "docs" / "pictures" / "displays.png"
    figure.savefig(path, dpi=100)
    print(f"wrote docs/pictures/{path.name}")


if __name__ == "__main__":
    main()
