"""
A discretizer in a pipeline
===========================

Parts of each column as inputs of a linear model of scikit-learn; and a classifier that can be read.
"""

# %%
# Weights of evidence (woe) of the parts turn bends and steps of a column into inputs that a linear model can use.

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gridmodl
from gridmodl.plot import GridDisplay, PartsDisplay

cancer = load_breast_cancer(as_frame=True)
X, y = cancer.data, cancer.target_names[cancer.target]
pipelines = {
    "scaled": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "woe": make_pipeline(gridmodl.GridDiscretizer(encode="woe"), LogisticRegression(max_iter=1000)),
    "averaged woe": make_pipeline(
        gridmodl.GridDiscretizer(encode="woe", averaged=True), LogisticRegression(max_iter=1000)
    ),
    "GridLogistic": gridmodl.GridLogistic(),
}
for name, pipeline in pipelines.items():
    scores = cross_val_score(pipeline, X, y, scoring="neg_log_loss", cv=5)
    print(f"{name:12} held-out log-loss {-scores.mean():.3f}")

# %%
# The parts of one column in the discretizer.

discretizer = pipelines["woe"].fit(X, y)[0]
PartsDisplay.from_estimator(discretizer, "worst perimeter").plot()

# %%
# One grid over three columns, of which it keeps two, as rules.

classifier = gridmodl.GridClassifier(search=gridmodl.Search(effort=2))
classifier.fit(X[["worst perimeter", "worst smoothness", "mean texture"]], y)
print(*classifier.rules(), sep="\n")
GridDisplay.from_estimator(classifier).plot()

# %%
# All about it: :doc:`/use/classify`.

# sphinx_gallery_thumbnail_number = 2
