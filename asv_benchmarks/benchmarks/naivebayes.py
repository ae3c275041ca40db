"""The naive Bayes classifier against scikit-learn's on the same parts.

All data is made here. `CategoricalNB` gets the numbers of the parts, which our classifier has to find in `predict` for
every value; "of parts" leaves that out on our side too.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax
from sklearn.naive_bayes import CategoricalNB

from gridmodl.estimators.naivebayes import GridNaiveBayes
from gridmodl.evidence.record import BLOCK, FEWEST
from gridmodl.evidence.sources import RowPlaces, parts_source

from . import best_seconds, datasets, ratio, seconds

N_ROWS, N_COLUMNS = 100_000, 20


class Known:
    """A fitted classifier, and the part of each row in each informative column."""

    def __init__(self, n_classes):
        columns, classes = datasets.make_table(N_ROWS, N_COLUMNS, n_noise=5)
        rng = np.random.default_rng(0)
        noise = rng.integers(0, n_classes, N_ROWS)  # more classes: the given ones tell some of them apart
        self.y = np.where(rng.random(N_ROWS) < 0.5, np.asarray(classes).astype(np.int64) % n_classes, noise)
        self.X = np.column_stack([np.asarray(column, dtype=float) for column in columns.values()])
        self.ours = GridNaiveBayes(search="merge", averaged=False).fit(self.X, self.y)
        self.models = [self.ours.models_[source.name] for source in self.ours.evidence_.sources]
        self.parts = [model.transform(self.X[:, int(next(iter(model.partitions))[1:])]) for model in self.models]
        self.codes = np.column_stack(self.parts)
        self.theirs = CategoricalNB().fit(self.codes, self.y)
        self.predict()

    def shares(self):
        return [parts_source(model, np.log(self.ours.class_shares_)) for model in self.models]

    def scores(self):
        """Scores of the classes, as `WeightedEvidence` adds them up, of known parts."""
        step = max(FEWEST, BLOCK // len(self.ours.classes_))
        sources = self.shares()
        for first in range(0, N_ROWS, step):
            scores = np.tile(self.ours.evidence_.intercepts, (min(step, N_ROWS - first), 1))
            for source, part in zip(sources, self.parts, strict=True):
                scores += source.evidence_at(RowPlaces(part[first : first + step]))
            yield scores

    def predict(self):
        return self.ours.classes_[np.concatenate([scores.argmax(axis=1) for scores in self.scores()])]

    def predict_proba(self):
        return np.concatenate([softmax(scores, axis=1) for scores in self.scores()])


class OverCategoricalNB:
    """100,000 rows, 20 columns; below 1 is faster than CategoricalNB on the numbers of the parts."""

    params = [2, 10, 100]
    param_names = ["classes"]

    def setup_cache(self):
        return {n_classes: Known(n_classes) for n_classes in self.params}

    def setup(self, known, n_classes):
        known[n_classes].predict()  # compiled, or found on disk

    def track_fit_of_parts(self, known, n_classes):
        """All shares, from the counts that the partitions have."""
        one = known[n_classes]
        return ratio(one.shares, lambda: CategoricalNB().fit(one.codes, one.y))

    # Target: at most 1.
    def track_predict_of_parts(self, known, n_classes):
        one = known[n_classes]
        return ratio(one.predict, lambda: one.theirs.predict(one.codes))

    def track_predict_proba_of_parts(self, known, n_classes):
        one = known[n_classes]
        return ratio(one.predict_proba, lambda: one.theirs.predict_proba(one.codes))

    def track_predict(self, known, n_classes):
        """Finding the part of each value included, on our side only."""
        one = known[n_classes]
        return ratio(lambda: one.ours.predict(one.X), lambda: one.theirs.predict(one.codes))

    for track in (track_fit_of_parts, track_predict_of_parts, track_predict_proba_of_parts, track_predict):
        track.unit = "ratio"
    del track


class Selective:
    """What weights of columns add to a fit, 100,000 rows and 20 columns."""

    def setup(self):
        columns, self.y = datasets.make_table(N_ROWS, N_COLUMNS, n_noise=5)
        self.X = np.column_stack([np.asarray(column, dtype=float) for column in columns.values()])
        self.fit("selective")  # compiles

    def fit(self, weights):
        return GridNaiveBayes(search="merge", weights=weights).fit(self.X, self.y)

    def track_over_uniform(self):
        selective, uniform = best_seconds(lambda: self.fit("selective"), lambda: self.fit("uniform"), rounds=3)
        return round(selective / uniform, 3)

    track_over_uniform.unit = "ratio"

    def track_columns_in_use(self):
        return int(np.count_nonzero(self.fit("selective").weights_))

    track_columns_in_use.unit = "columns"

    def track_fit(self):
        return seconds(lambda: self.fit("uniform"))

    track_fit.unit = "seconds"
