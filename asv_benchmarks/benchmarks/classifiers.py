"""Classifiers on grids: distinct grids of an ensemble for the time it takes, and how fast they predict.

All data is made here; test errors on real data: ``reproduce/papers/grid_tables.py``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from gridmodl import GridClassifier, GridEnsembleClassifier, Search

from . import best_seconds, datasets, ratio

N_ROWS, N_NEW = 4_000, 40_000


class Ensemble:
    """4,000 rows, 6 numerical columns with many ties and 8 categorical ones, as Ada has them."""

    def setup(self):
        columns, y = datasets.make_census(N_ROWS + N_NEW)
        X = pd.DataFrame(columns)
        self.X, self.y, self.new, self.new_y = X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:]
        self.few = self.fitted("diverse", 5)  # compiles
        self.few.predict_proba(self.X)

    def fitted(self, kind, effort):
        search = Search(kind, effort=effort, keep_optima=2000)
        return GridEnsembleClassifier(criterion="modl", search=search, threshold="balanced").fit(self.X, self.y)

    def time_fit(self):
        self.fitted("diverse", 6)

    def track_distinct_grids_over_vns(self):
        """Number of distinct grids of "diverse" over that of "vns", with the same number of rounds."""
        return round(len(self.fitted("diverse", 7).average_) / len(self.fitted("vns", 7).average_), 3)

    track_distinct_grids_over_vns.unit = "ratio"

    def track_predict_over_one_grid(self):
        """Per grid of the ensemble, against the prediction of a single one."""
        single = GridClassifier(search="merge").fit(self.X, self.y)
        over = ratio(lambda: self.few.predict_proba(self.new), lambda: single.predict_proba(self.new), rounds=3)
        return round(over / len(self.few.average_), 3)

    track_predict_over_one_grid.unit = "ratio"

    def track_nanoseconds_per_row_and_grid(self):
        (taken,) = best_seconds(lambda: self.few.predict_proba(self.new), rounds=3)
        return round(1e9 * taken / N_NEW / len(self.few.average_), 1)

    track_nanoseconds_per_row_and_grid.unit = "ns"

    def track_log_loss_over_one_grid(self):
        """On rows that were not seen; below 1 the ensemble is better."""
        losses = []
        for classifier in (self.few, GridClassifier().fit(self.X, self.y)):
            column = np.searchsorted(classifier.classes_, self.new_y)
            shares = classifier.predict_proba(self.new)[np.arange(N_NEW), column]
            losses.append(-np.mean(np.log(np.maximum(shares, 1e-3))))
        return round(losses[0] / losses[1], 3)

    track_log_loss_over_one_grid.unit = "ratio"
