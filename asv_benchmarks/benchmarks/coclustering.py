"""Coclustering with scikit-learn's face: groups of new rows, and classes of groups that few labelled rows are in."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import gridmodl
from gridmodl.estimators.coclassifier import CoclusteringClassifier
from gridmodl.estimators.coclustering import GridCoclustering

from .joint import once

SEED = 1  # not that of the data, with which a random start could be a refinement of the blocks
SMALL = gridmodl.Search(effort=0)


def make_matrix(n_rows, n_columns, n_groups, n_entries, seed=0):
    """Matrix of presence, `n_entries` per row, two of three in the columns of its own group; and the groups of rows."""
    rng = np.random.default_rng([seed, n_rows])
    row, group = np.repeat(np.arange(n_rows), n_entries), np.arange(n_rows) % n_groups
    own = rng.integers(0, n_columns // n_groups, len(row)) * n_groups + group[row]
    column = np.where(rng.random(len(row)) < 2 / 3, own, rng.integers(0, n_columns, len(row)))
    entries = sparse.coo_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=(n_rows, n_columns))
    return (entries.tocsr() > 0).astype(np.int64), group


def agreement(labels, groups):
    """Share of the rows whose label is the most frequent one of their group."""
    table = np.zeros((groups.max() + 1, labels.max() + 2), dtype=np.int64)
    np.add.at(table, (groups, labels), 1)
    return table.max(axis=1).sum() / len(groups)


class Fit:
    """3,000 rows of 30 entries over 900 columns in 15 groups, at effort 0."""

    def setup(self):
        self.matrix, self.groups = make_matrix(3_000, 900, 15, 30)
        GridCoclustering(search=SMALL).fit(self.matrix[:100])  # compiles

    def fit(self):
        return GridCoclustering(search=SMALL, random_state=SEED).fit(self.matrix)

    def time_fit(self):
        self.fit()

    def track_agreement(self):
        return agreement(self.fit().row_labels_, self.groups)

    track_agreement.unit = "share of rows"


once(Fit.time_fit)


class NewRows:
    """100,000 new rows of up to 40 entries, into 200 groups of rows beside 200 groups of columns."""

    n_groups = 200

    def setup(self):
        known, rows = make_matrix(4_000, 2_000, self.n_groups, 40)
        columns = np.arange(2_000) % self.n_groups
        groups = {
            name: [np.flatnonzero(labels == g).tolist() for g in range(self.n_groups)]
            for name, labels in (("row", rows), ("column", columns))
        }
        self.coclustering = GridCoclustering(search=SMALL, max_parts=2).fit(known)
        # The planted grid, whatever a quick search would find.
        self.coclustering._set_model(gridmodl.Model.from_partitions(known, None, groups), known.shape)
        self.new, self.groups = make_matrix(100_000, 2_000, self.n_groups, 40, seed=1)
        self.coclustering.predict(self.new[:1_000])  # compiles

    def time_predict(self):
        self.coclustering.predict(self.new)

    def track_agreement(self):
        return float(np.mean(self.coclustering.predict(self.new) == self.groups))

    track_agreement.unit = "share of rows"


once(NewRows.time_predict)


class FewLabels:
    """3,000 rows in 15 groups, of which 10 have labelled rows, one each: 5 groups are merged with others."""

    def setup(self):
        self.matrix, groups = make_matrix(3_000, 900, 15, 30)
        self.classes = np.where(np.arange(3_000) < 10, groups, -1)
        self.fit()  # compiles

    def fit(self):
        search = gridmodl.Search(effort=0)
        return CoclusteringClassifier(search=search, unlabelled=-1, random_state=SEED).fit(self.matrix, self.classes)

    def time_fit(self):
        self.fit()


once(FewLabels.time_fit)
