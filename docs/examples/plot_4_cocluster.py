"""
Coclustering: columns that explain each other
=============================================

Without a target: parts of two columns that occur together more often than by chance, and groups of the rows and columns
of a sparse matrix.
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
# of pixels. The best grid has many groups; a coarser one, of six each, fits a picture.

images = load_digits()
matrix = csr_array(images.data[:300].astype(int))
history = History()
grid = gridmodl.optimize(matrix, search=gridmodl.Search(on_improvement=history))
coarse = grid.coarsen(max_parts=6)
print(grid, coarse, sep="\n")

# %%
# The search has not seen which digit an image shows. Its groups of images are nearly those of the digits; they are
# named by the digits of more than a tenth of their images, those of pixels by letters.

group = coarse.part_of("row", np.arange(300))
counts = [np.bincount(images.target[:300][group == i], minlength=10) for i in range(6)]
names = [", ".join(map(str, np.flatnonzero(one > 0.1 * one.sum()))) for one in counts]
coarse = coarse.rename("row", names).rename("column", list("ABCDEF"))
for name, one in zip(names, counts, strict=True):
    print(f"{one.sum():3} images, {one[one > 0.1 * one.sum()].sum() / one.sum():4.0%} of them are {name}")

# %%
# Brown: these images have more ink in these pixels than by chance; violet: less. The numbers are ink, as a grey of n
# counts as n rows. The trees at the sides say in which order groups would be merged.

display = GridDisplay.from_model(coarse, "column", "row").plot()
display.ax_.set(xlabel="groups of pixels", ylabel="digits of the images")

# %%
# Where the pixels of each group lie; at the white ones no image has ink.

letters = coarse.part_of("column", np.arange(64), unknown="neutral").reshape(8, 8)
figure, ax = plt.subplots(figsize=(3.6, 3.6), layout="constrained")
ax.imshow(np.where(letters < 0, np.nan, letters), cmap="Pastel1", vmin=0, vmax=8)
for (y, x), letter in np.ndenumerate(letters):
    if letter >= 0:
        ax.text(x, y, "ABCDEF"[letter], ha="center", va="center")
ax.set(xticks=[], yticks=[], title="groups of pixels")

# %%
# The cost of the best grid, round by round.

ProgressDisplay.from_history(history).plot(by="round")

# %%
# All about it: :doc:`/use/cocluster`.

# sphinx_gallery_thumbnail_number = 2
