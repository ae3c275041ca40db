"""
Coclustering: columns that explain each other
=============================================

Without a target, the grid of two columns whose parts occur together more often than by chance; and the same for a
sparse matrix.
"""

# %%
# Petals of iris: no species is given.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris

import gridmodl
from gridmodl.plot import GridDisplay, History, ProgressDisplay

petals = load_iris(as_frame=True).data[["petal length (cm)", "petal width (cm)"]]
model = gridmodl.optimize(petals)
GridDisplay.from_model(model).plot()

# %%
# Handwritten digits as a matrix of images and pixels, the greys as weights: groups of images that use the same groups
# of pixels. The trees at the sides say in which order groups would be merged.

images = load_digits()
matrix = csr_array(images.data[:300].astype(int))
history = History()
grid = gridmodl.optimize(matrix, search=gridmodl.Search(on_improvement=history))
coarse = grid.coarsen(max_parts=6)
print(grid, coarse, sep="\n")
GridDisplay.from_model(coarse).plot()

# %%
# Where the pixels of each group lie.

groups = coarse.part_of("column", np.arange(64), unknown="neutral")
figure, ax = plt.subplots(figsize=(3.6, 3.6), layout="constrained")
ax.imshow(np.where(groups < 0, np.nan, groups).reshape(8, 8), cmap="tab20")
ax.set(xticks=[], yticks=[], title="groups of pixels")

# %%
# The cost of the best grid, round by round.

ProgressDisplay.from_history(history).plot(by="round")
