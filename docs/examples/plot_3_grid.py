"""
One grid over the columns that matter together
==============================================

Of 13 measurements of wines, which tell together from which of three cultivars a wine is made?
"""

# %%
# The search leaves out columns that tell nothing beside the others.

from sklearn.datasets import load_wine

import gridmodl
from gridmodl.plot import CellsDisplay, GridDisplay

wine = load_wine(as_frame=True)
model = gridmodl.optimize(wine.data, wine.target_names[wine.target], search=gridmodl.Search(effort=2))
print(model.informative, f"level {model.level:.3f}")

# %%
# The cells with rows in them, in words.

CellsDisplay.from_model(model).plot()

# %%
# Two of the columns: each cell is divided by the shares of the classes.

GridDisplay.from_model(model, "flavanoids", "color_intensity").plot()

# %%
# With three columns to choose from, two are in the grid, and these are all of its cells.

columns = wine.data[["alcohol", "flavanoids", "ash"]]
GridDisplay.from_model(gridmodl.optimize(columns, wine.target_names[wine.target])).plot()

# %%
# All about it: :doc:`/use/grid`.

# sphinx_gallery_thumbnail_number = 2
