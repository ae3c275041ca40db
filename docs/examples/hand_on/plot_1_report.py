"""
A report in one file
====================

A page for people who do not run Python. It needs no network, works on a phone, and holds none of your rows.
"""

# %%
# Every column of wine on its own, and one grid over those that matter together.

import tempfile
from pathlib import Path

from sklearn.datasets import load_wine

import gridmodl

wine = load_wine(as_frame=True)
target = wine.target_names[wine.target]
models = gridmodl.optimize_each(wine.data, target)
grid = gridmodl.optimize(wine.data[["flavanoids", "color_intensity", "proline"]], target)

with tempfile.TemporaryDirectory() as folder:
    for name, one in {"columns": models, "grid": grid}.items():
        path = Path(folder) / f"{name}.html"
        one.to_html(path, title=f"Wine: {name}")
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")

# %%
# .. image:: /pictures/html_report.png
#    :alt: A page in a browser: the slider after one merge, the heat map with the details of one cell, and the cells
#
# The most informative columns, as the page ranks them; `gridmodl.Models.plot` draws them.

models.plot()

# %%
# All about it: :doc:`/use/html_report`.
