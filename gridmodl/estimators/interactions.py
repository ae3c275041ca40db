"""Grids of several columns beside the columns of a classifier: ``interactions=`` of `GridNaiveBayes`, `GridLogistic`.

    candidates    distinct local optima of a search for grids, on the labelled rows (`gridmodl.evidence.grids`)
    choice        selective weights of all columns and candidates together; a grid is used if its weight is above 0
    at most n     the n of them without which the cost rises most; then the weights again

Both classifiers choose in this way. Naive Bayes has the weights of the choice; logistic regression has its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from gridmodl.data.frames import Name, Raw
from gridmodl.estimators.inputs import reading_columns
from gridmodl.evidence.grids import GridSource, find_grids, grid_sources, left_out
from gridmodl.evidence.selection import Selection, make_evidence, make_selection, rows_by_class, selective_weights
from gridmodl.evidence.sources import EvidenceSource
from gridmodl.fit.options import RULES
from gridmodl.model.policy import BY_PARTITION

ALONE = ("partitions", "special", "missing", *RULES)  # parameters that keep a column out of grids
OF_GRIDS = ("criterion", "kinds", "order", "max_parts", "min_rows", "random_state", "n_jobs")


def checked_interactions(interactions: Any) -> int | None:
    """The largest number of grids; 0 for none, None for as many as pay."""
    if isinstance(interactions, str) and interactions == "auto":
        return None
    if interactions is None:
        return 0
    if isinstance(interactions, (bool, np.bool_)) or not isinstance(interactions, (int, np.integer)):
        raise TypeError(f"interactions must be None, 'auto' or a number of grids, got {interactions!r}")
    if interactions < 0:
        raise ValueError(f"interactions must be 0 or more grids, None or 'auto', got {interactions!r}")
    return int(interactions)


def columns_of_grids(estimator: Any, names: Sequence[Name]) -> list[Name]:
    """Columns that grids are made of: all but those with limits of their own."""
    found = [name for name in names if not any(_is_limited(getattr(estimator, what), name) for what in ALONE)]
    if len(found) < min(2, len(names)):
        raise ValueError(
            f"interactions={estimator.interactions!r} looks for grids of columns, and {len(names) - len(found)} of "
            f"{len(names)} columns have limits of their own ({', '.join(ALONE)}), which keep them out of grids; give "
            "such limits by column name, or set interactions=None"
        )
    return found


def _is_limited(value: Any, name: Name) -> bool:
    value = value.get(name) if isinstance(value, Mapping) else value
    return value is not None and not (isinstance(value, str) and value == "auto")


class LabelledRows(NamedTuple):
    """Rows with a class, on which grids are found and selective weights are learned."""

    columns: Mapping[Name, Raw]
    target: NDArray[Any]
    codes: NDArray[np.int64]  # number of the class of each row
    rows: NDArray[np.int64]  # weight of each row
    log_prior: NDArray[np.float64]

    def candidates(self, names: Sequence[Name], **options: Any) -> tuple[list[GridSource], str | None]:
        """Candidates among the grids of the columns `names`, and why the search was stopped, or None."""
        if len(names) < 2 or len(self.log_prior) < 2:
            return [], None
        with reading_columns(), threadpool_limits(1, "blas"):
            best = find_grids({name: self.columns[name] for name in names}, self.target, self.rows, **options)
        return grid_sources(best.optima, self.log_prior, list(self.columns), len(names)), best.stopped

    def selection(self, sources: Sequence[EvidenceSource]) -> Selection:
        """The data of selective weights; rows are at the nearest line, and are left out of the cells of grids."""
        lines, tables, observed = [], [], []
        for source in sources:
            line, table = source.places(self.columns, BY_PARTITION).nearest, source.evidence
            if isinstance(source, GridSource):
                line = line * len(self.log_prior) + self.codes
                table = left_out(source.model.cells.counts, self.log_prior)
            lines.append(line)
            tables.append(table)
            observed.append(float(np.sum(rows_by_class(line, self.codes, self.rows, table.shape) * table)))
        return make_selection(
            make_evidence(np.exp(self.log_prior), tables),
            lines,
            self.rows,
            np.bincount(self.codes, self.rows, len(self.log_prior)).astype(np.int64),
            np.array(observed),
            np.array([source.price for source in sources]),
        )


class Chosen(NamedTuple):
    """Grids in use, and the selective weights of columns and grids."""

    grids: list[GridSource]
    weights: NDArray[np.float64]  # of the columns, then of the grids


def choose(
    labelled: LabelledRows, columns: Sequence[EvidenceSource], grids: Sequence[GridSource], n_most: int | None
) -> Chosen:
    """Choose at most `n_most` of `grids` beside the sources of `columns`; None: as many as pay."""
    if not len(columns) + len(grids):
        return Chosen([], np.empty(0))
    n_columns = len(columns)
    selection = labelled.selection([*columns, *grids])
    with threadpool_limits(1, "blas"):  # the matrices of L-BFGS-B are tiny: threads would wait for each other
        weights = selective_weights(selection)
    used = np.flatnonzero(weights)
    of_grids = used[used >= n_columns]
    if n_most is not None and len(of_grids) > n_most:
        costs = selection.without(weights, used)[used >= n_columns]
        best = np.sort(of_grids[np.argsort(-costs, kind="stable")[:n_most]])
        return choose(labelled, columns, [grids[k - n_columns] for k in best.tolist()], None)
    return Chosen([grids[k - n_columns] for k in of_grids.tolist()], np.append(weights[:n_columns], weights[of_grids]))
