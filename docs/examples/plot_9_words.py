"""
Coclustering of words and texts
===============================

Which words go with which texts? Groups of both at once, as many as the texts support, and no number to choose.
"""

# %%
# Real texts that need no download: what scikit-learn says of its own estimators. A row for each text and word in it.

import inspect

from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import all_estimators

import gridmodl
from gridmodl.plot import GridDisplay

texts = {name: inspect.getdoc(estimator) or "" for name, estimator in all_estimators()}
counter = CountVectorizer(stop_words="english", token_pattern=r"\b[a-z]{3,}\b", min_df=8, max_df=0.3)
found = counter.fit_transform(texts.values()).nonzero()
pairs = {
    "estimator": [list(texts)[row] for row in found[0]],
    "word": counter.get_feature_names_out()[found[1]],
}
print(f"{len(texts)} texts, {len(counter.vocabulary_)} words, {len(found[0])} pairs")

# %%
# The best grid has many groups, to look things up in. A coarser one, of six each, fits a picture.

grid = gridmodl.optimize(pairs, random_state=0)
coarse = grid.coarsen(max_parts=6)
print(grid, coarse, sep="\n")
print(f"{coarse.mutual_information / grid.mutual_information:.0%} of the information is left")

# %%
# Each group is named by its most typical values.

for name in ("estimator", "word"):
    print(f"groups of {name}s")
    for values in coarse.typical_values(name, n=4):
        print("   ", ", ".join(values))

# %%
# Which groups of words are in which groups of texts, more often than by chance (brown) or less (violet); a group is
# called by its most typical value.

for name in ("estimator", "word"):
    sizes = [len(group) for group in coarse.partitions[name].groups]
    first = [values[0] for values in coarse.typical_values(name, n=1)]
    coarse = coarse.rename(name, [f"{value} +{n - 1}" for value, n in zip(first, sizes, strict=True)])
figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
GridDisplay.from_model(coarse, "word", "estimator").plot(ax)

# %%
# All about it: :doc:`/use/cocluster`.
