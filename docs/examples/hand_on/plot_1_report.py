"""
A report in one file
====================

A page for people who do not run Python. It needs no network, works on a phone, and holds none of your rows.
"""

# %%
# Every column of wine on its own, its averages, and one grid without the target: three sections of one page.

import tempfile
from pathlib import Path

from sklearn.datasets import load_wine

import gridmodl

wine = load_wine(as_frame=True)
target = wine.target_names[wine.target]
models = gridmodl.optimize_each(wine.data, target)
averages = gridmodl.average_each(wine.data, target)
grid = gridmodl.optimize(wine.data[["alcohol", "flavanoids"]])

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "report.html"
    models.to_html(path, title="Wine", about="178 wines; target: cultivar", sections=[averages, grid])
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")

# %%
# .. raw:: html
#
#    <p><a href="../../wine_report.html">Open the report</a>, or look at its second section:</p>
#
# .. image:: /pictures/html_report.png
#    :alt: A report in a browser: links to its three sections, the averages of all columns, and the curve of one class
#
# The most informative columns, as the page ranks them; `gridmodl.Models.plot` draws them.

models.plot()

# %%
# All about it: :doc:`/use/html_report`.

# sphinx_gallery_thumbnail_path = 'pictures/html_report_small.png'
