"""Logistic regression on what each column says on its own.

    score of class j  =  intercept_j + sum over columns k of  w_kj * evidence of column k for j,      w_kj >= 0

    cost  =  - sum over rows of log P(class of the row)
             + l2 / 2 * [ sum_k (w_k - w)^2  +  BY_CLASS * sum_kj (w_kj - w_k)^2  +  sum_j (intercept_j - log P(j))^2 ]
             + 1 / 2 * (w - 1)^2

where w_k is the mean of w_kj over the classes, and w the mean of all. With a large l2 all columns have the same weight:
naive Bayes with one exponent, which the rows choose. With two classes w_k0 = w_k1. The last term keeps weights finite
if columns tell all classes apart.

The evidence of a row in the cost comes from other rows: rows are dealt into FOLDS folds, and the rows of a fold read
sources that were fitted on the others. `l2` is the one of L2 with the lowest cost of the rows of each fold, under
weights fitted on those of the other folds. Then the weights are fitted on all rows, still with evidence from others.

Folds are the same whatever the order of rows, and a row of weight w is dealt as w rows are: rows are sorted by class
and by a sum of their places in all sources with fixed factors, ties by such a sum of their values, and dealt in turn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from gridmodl.data.columns import Categories, encode_column
from gridmodl.data.frames import Name
from gridmodl.estimators.base import estimator
from gridmodl.estimators.evidence import EvidenceClassifierBase, TrainingRows
from gridmodl.estimators.inputs import report_stop
from gridmodl.estimators.interactions import checked_interactions
from gridmodl.evidence.grids import GridSource, without_rows
from gridmodl.evidence.selection import CACHED, distinct_rows, rows_by_class, to_shares
from gridmodl.evidence.sources import EvidenceSource
from gridmodl.jit.template import bind
from gridmodl.model.model import Model
from gridmodl.model.models import Models

FOLDS = 5
L2 = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)  # tried in this order; ties: first
STOPPED_L2 = 10.0  # if there is no time to choose
BY_CLASS = 0.3
GRID_SHARE = 0.5  # weights of grids are drawn to this share of the mean, as their parts were found on rows of all folds
FIRST_WEIGHT = 0.3
OPTIONS = {"ftol": 1e-9, "gtol": 1e-6, "maxiter": 500}


@estimator
class GridLogistic(EvidenceClassifierBase):
    """Logistic regression on what every column says on its own.

    The evidence of a column for a class is log P(class | value) - log P(class). For numbers P(class | value) is the
    average over all partitions into intervals, see `gridmodl.average`; for other columns it is that of the value's part
    of the best partition. A logistic regression finds the weight of each column, 0 or more, from evidence that rows get
    from other rows. Missing values, text, dates and numbers need no preparation.

    Parameters
    ----------
    %(criterion)s
    %(criterion_options)s
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    l2 : "auto" or float, default="auto"
        Strength with which weights are drawn to their mean, in rows; see the notes. With ``"auto"``, chosen by cross
        validation on the training rows.
    %(averaged)s
    %(unlabelled)s
    %(interactions)s
        Which of them, `GridNaiveBayes` with ``weights="selective"`` decides.
    %(unknown)s
    %(new_missing)s
    %(kinds)s
    %(order)s
    %(event)s
    %(partitions)s
    %(special)s
    %(missing)s
    %(max_parts)s
    %(min_rows)s
    %(limits)s
    %(bounds)s
    %(time_limit)s
        If it is reached while weights are chosen, all columns in use get weights from evidence of their own rows, and
        the strength is 10.
    %(random_state)s
        Only the search for grids is random.
    %(n_jobs)s

    Attributes
    ----------
    coef_ : ndarray of shape (1, number of columns) or (n_classes, number of columns)
        Weight of each column: one for two classes, and one for each of more classes. 0 for columns that say nothing.
    %(importances_of_evidence)s
    intercept_ : ndarray of shape (n_classes,)
        Score of each class without evidence; probabilities are proportional to the exponential of scores.
    l2_ : float
        Strength of the penalty.
    l2_losses_ : dict of float to float
        Mean -log P(class) of rows of the folds, for each strength that was tried; empty if none was.
    %(left_out_)s
    %(grids_)s
    %(evidence_)s
    %(models_)s
    %(classes_)s
    class_shares_ : ndarray
        The share of each class in the rows.
    %(features_in)s

    See Also
    --------
    GridNaiveBayes : The same evidence, with weights 1 or from 0 to 1.
    gridmodl.average_each : The averages of all columns, without scikit-learn.

    Notes
    -----
    The weights w_kj of column k for class j (for two classes the same for both) minimise::

        - sum over rows of log P(class of the row)
        + l2 / 2 (sum_k (w_k - w)^2 + 0.3 sum_kj (w_kj - w_k)^2 + sum_j (intercept_j - log P(j))^2) + 1/2 (w - 1)^2

    where w_k is the mean over the classes and w the mean of all weights. They are 0 or more: no column counts against
    what it says. The evidence of a row comes from sources fitted without the rows of its fold, one of 5; `predict`
    reads sources fitted on all rows. P(class | interval) is as in `GridNaiveBayes`. The same data always have the same
    folds, in any order of rows.

    The cells of a grid are found on all rows; the evidence of a row comes from the rows of its cell in other folds. As
    the cells fit the row nevertheless, weights of grids are drawn to half of w.

    Examples
    --------
    >>> import numpy as np
    >>> from gridmodl.estimators import GridLogistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=200) > 0, "yes", "no")
    >>> classifier = GridLogistic().fit(X, y)
    >>> classifier.coef_.round(1)
    array([[1.2, 1.3, 0. ]])
    >>> classifier.explain(X[:1]).table()["column"].tolist()
    ['(all rows)', 'x1', 'x0']
    """

    l2: float | str = "auto"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GridLogistic:
        """Find what each column says, and the weights of the columns.

        Parameters
        ----------
        %(X)s
        %(y)s
        %(sample_weight)s

        Returns
        -------
        self
        """
        strengths = self._strengths()
        training = self._read_training(X, y, sample_weight)
        names = list(training.inputs.columns)
        models = self._models(training, training.weights, names, target_kind="classes")
        averaged = self._averaged_columns(training, models)
        by_name = self._sources(training, training.weights, models, averaged, len(names))
        ranked, left_out = self._without_copies(training, models, by_name)
        if checked_interactions(self.interactions) != 0:
            ranked += self._choose(training, ranked, models).grids
        first = next(iter(models.values()))
        log_prior = np.log(first.class_rows / first.class_rows.sum())
        codes = training.codes(first.classes)
        cost = self._cost(training, ranked, models, averaged, codes, log_prior) if ranked else None
        chosen = _LogisticFit(strengths[0], {}, np.empty(0), log_prior)
        if cost is not None:
            with threadpool_limits(1, "blas"):  # the matrices of L-BFGS-B are tiny: threads would wait for each other
                chosen = _fit_and_choose(cost, strengths)
        shares = np.array([GRID_SHARE if isinstance(source, GridSource) else 1.0 for source in ranked])
        chosen = chosen._replace(weights=(shares * chosen.weights.T).T)
        self.l2_, self.l2_losses_ = chosen.l2, chosen.losses
        self._set_evidence(training, models, ranked, chosen.weights, chosen.intercepts, left_out)
        self.intercept_ = chosen.intercepts
        self.coef_ = np.zeros((1 if len(log_prior) <= 2 else len(log_prior), len(names)))
        for source, weight in zip(ranked, chosen.weights, strict=True):
            if not isinstance(source, GridSource):
                self.coef_[:, names.index(source.name)] = weight
        return self

    def _strengths(self) -> Sequence[float]:
        """Strengths of the penalty to choose from."""
        if isinstance(self.l2, str):
            if self.l2 != "auto":
                raise ValueError(f"l2 must be 'auto' or a number of rows above 0, got {self.l2!r}")
            return L2
        if isinstance(self.l2, bool) or not math.isfinite(self.l2) or self.l2 <= 0.0:
            raise ValueError(f"l2 must be 'auto' or a number of rows above 0, got {self.l2!r}")
        return (float(self.l2),)

    def _cost(
        self,
        training: TrainingRows,
        sources: Sequence[EvidenceSource],
        models: Models,
        averaged: Sequence[Name],
        codes: NDArray[np.int64],
        log_prior: NDArray[np.float64],
    ) -> LogisticCost:
        """The cost of weights, with evidence from other folds; from all rows if the time limit is reached."""
        rows, policy, columns = training.rows, self._policy, training.inputs.columns
        places = [source.places(columns, policy) for source in sources]
        halved = [_halved(source) for source in sources]
        ranks = {name: _ranks(training, models[name]) for source in sources for name in source.columns}
        score, ties, rng = np.zeros(len(rows)), np.zeros(len(rows)), np.random.default_rng(0)
        for place, factor in zip(places, rng.random(len(places)), strict=True):
            score += factor * (place.line + (0.0 if place.way is None else place.way))
        for rank, factor in zip(ranks.values(), rng.random(len(ranks)), strict=True):
            ties += factor * rank
        dealt = dealt_in_turn(score, ties, codes, rows, FOLDS)
        if (dealt.sum(axis=0) > 0).sum() < 2:  # too few rows for folds
            return _cost_of([_read_fold(halved, columns, policy, codes, rows, len(log_prior))], log_prior)
        parts = [name for name in models if name not in averaged]
        base = np.ones(len(rows), dtype=np.int64) if training.weights is None else training.weights
        folds = []
        for fold in range(FOLDS):
            if training.seconds_left(self.time_limit) == 0.0:
                report_stop(self, "time limit")
                return _cost_of([_read_fold(halved, columns, policy, codes, rows, len(log_prior))], log_prior)
            weights = base - dealt[:, fold]
            others = self._models(training, weights, parts, target_kind="classes") if parts else {}
            found = self._sources(training, weights, others, averaged, len(models))
            mine = [
                _halved(without_rows(source, place.line, codes, dealt[:, fold], log_prior))
                if isinstance(source, GridSource)
                else found.get(source.name)
                for source, place in zip(sources, places, strict=True)
            ]
            folds.append(_read_fold(mine, columns, policy, codes, dealt[:, fold], len(log_prior)))
        return _cost_of(folds, log_prior)


def _ranks(training: TrainingRows, model: Model) -> NDArray[np.int64]:
    """Rank of the value of each row among the values of the column of `model`; missing values are first."""
    (partition,) = model.partitions.values()
    column = encode_column(training.inputs.columns[partition.name], partition.name, partition.column_kind)
    if isinstance(column, Categories):
        return column.codes.astype(np.int64)
    ranks = np.unique(column.values, return_inverse=True)[1].reshape(-1) + 1
    return ranks if column.missing is None else np.where(column.missing, 0, ranks)


def dealt_in_turn(
    score: NDArray[np.float64],
    ties: NDArray[np.float64],
    codes: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_folds: int,
) -> NDArray[np.int64]:
    """Number of each row's `rows` in each fold: in turn, sorted by class, `score` and `ties`.

    Classes with a single row are in no fold, so that no fold takes all rows of a class away from the others.
    """
    of_class = np.bincount(codes, rows).astype(np.int64)
    counted = np.where(of_class[codes] > 1, rows, 0)
    order = np.lexsort((ties, score, codes))
    ends = np.cumsum(counted[order])
    begins = ends - counted[order]
    fold = np.arange(n_folds)
    # The numbers below `end` that are `fold` modulo n_folds are (end - fold + n_folds - 1) // n_folds.
    dealt = np.empty((len(rows), n_folds), dtype=np.int64)
    dealt[order] = (ends[:, None] - fold + n_folds - 1) // n_folds - (begins[:, None] - fold + n_folds - 1) // n_folds
    return dealt


class FoldRows(NamedTuple):
    """Rows of one fold, as lines of the evidence of sources that were fitted without them."""

    tables: list[NDArray[np.float64]]  # evidence of each source by line, last a line of zeros
    lines: NDArray[np.int32]  # by source and row
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]


def _halved(source: EvidenceSource) -> EvidenceSource:
    """The source; a grid with GRID_SHARE of its evidence."""
    return replace(source, evidence=GRID_SHARE * source.evidence) if isinstance(source, GridSource) else source


def _read_fold(
    mine: Sequence[EvidenceSource | None],
    columns: Mapping[Name, Any],
    policy: Any,
    codes: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_classes: int,
) -> FoldRows:
    """Lines of the rows of a fold in its sources `mine`; a source that the fold does not have says nothing."""
    kept = np.flatnonzero(rows)
    lines = np.zeros((len(mine), len(kept)), dtype=np.int32)
    tables = []
    for k, source in enumerate(mine):
        evidence = np.zeros((0, n_classes)) if source is None else source.evidence
        tables.append(np.concatenate([evidence, np.zeros((1, n_classes))]))
        if source is not None:
            nearest = source.places(columns, policy).nearest[kept]
            lines[k] = np.where(nearest < 0, len(evidence), nearest)
    return FoldRows(tables, lines, codes[kept], rows[kept])


class LogisticCost(NamedTuple):
    """The data on which the cost of weights depends: rows of all folds, one after the other."""

    table: NDArray[np.float64]  # evidence of all sources of all folds
    lines: NDArray[np.int32]  # by source and row
    rows: NDArray[np.float64]
    fold: NDArray[np.int64]
    observed: NDArray[np.float64]  # by fold, source and class: sum over rows of the class of their evidence for it
    class_rows: NDArray[np.float64]  # by fold and class
    log_prior: NDArray[np.float64]

    @property
    def n_folds(self) -> int:
        return len(self.class_rows)

    def loss(
        self, weights: NDArray[np.float64], intercepts: NDArray[np.float64], folds: NDArray[np.bool_]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Minus the log of the probability of the classes of the rows in `folds`; derivatives by weight, intercept."""
        n_classes = len(self.log_prior)
        slopes, of_classes = np.empty(weights.shape), np.empty(n_classes)
        buffer = np.empty((max(1, CACHED // n_classes), n_classes))
        kept = np.where(folds[self.fold], self.rows, 0.0)
        total = bind(logistic_sums)(self.lines, self.table, kept, weights, intercepts, buffer, slopes, of_classes)
        observed, class_rows = self.observed[folds].sum(axis=0), self.class_rows[folds].sum(axis=0)
        loss = total - float(np.sum(observed * weights)) - float(class_rows @ intercepts)
        return loss, slopes - observed, of_classes - class_rows


def _cost_of(folds: Sequence[FoldRows], log_prior: NDArray[np.float64]) -> LogisticCost:
    n_classes, tables, lines, start = len(log_prior), [], [], 0
    observed = np.zeros((len(folds), len(folds[0].tables), n_classes))
    rows = []
    for f, one in enumerate(folds):
        # Rows with the same lines are one row with a count: so a row of weight w is w rows, to the last bit.
        distinct, counts_of = distinct_rows(
            [line.astype(np.int64) for line in one.lines], [len(table) for table in one.tables], one.rows
        )
        rows.append(counts_of)
        shifted = np.array(distinct, dtype=np.int32).reshape(len(one.tables), len(counts_of))
        for k, table in enumerate(one.tables):
            counts = rows_by_class(one.lines[k].astype(np.int64), one.codes, one.rows, table.shape)
            observed[f, k] = np.sum(table * counts, axis=0)
            shifted[k] += start
            start += len(table)
            tables.append(table)
        lines.append(shifted)
    return LogisticCost(
        np.concatenate(tables),
        np.ascontiguousarray(np.concatenate(lines, axis=1)),
        np.concatenate(rows),
        np.repeat(np.arange(len(folds)), list(map(len, rows))),
        observed,
        np.array([np.bincount(one.codes, one.rows, n_classes) for one in folds]),
        log_prior,
    )


class _LogisticFit(NamedTuple):
    l2: float
    losses: dict[float, float]  # by strength
    weights: NDArray[np.float64]  # by source; and by class, if there are more than two
    intercepts: NDArray[np.float64]


def _fit_and_choose(cost: LogisticCost, strengths: Sequence[float]) -> _LogisticFit:
    """The strength with the lowest loss on the folds, and the weights under it."""
    everything = np.ones(cost.n_folds, dtype=bool)
    losses: dict[float, float] = {}
    if cost.n_folds < 2:
        strengths = [STOPPED_L2] if len(strengths) > 1 else strengths
    if len(strengths) > 1:
        totals = np.zeros(len(strengths))
        for f in range(cost.n_folds):
            others, start = np.arange(cost.n_folds) != f, None
            for i, l2 in enumerate(strengths):
                start = _fitted(cost, l2, others, start)
                totals[i] += cost.loss(*_by_class(cost, start), ~others)[0]
        losses = dict(zip(strengths, (totals / cost.rows.sum()).tolist(), strict=True))
    l2 = min(losses, key=losses.__getitem__) if losses else strengths[0]  # ties: the strongest
    weights, intercepts = _by_class(cost, _fitted(cost, l2, everything, None))
    return _LogisticFit(l2, losses, weights if weights.shape[1] > 2 else weights[:, :1], intercepts)


def _by_class(cost: LogisticCost, found: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights by source and class, and intercepts, from the numbers that are optimized."""
    n_classes = len(cost.log_prior)
    weights = found[:-n_classes].reshape(cost.observed.shape[1], -1)
    return np.ascontiguousarray(np.broadcast_to(weights, cost.observed.shape[1:])), found[-n_classes:]


def _fitted(
    cost: LogisticCost, l2: float, folds: NDArray[np.bool_], start: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The weights, one or one by class for each source, and intercepts of the lowest cost on `folds`."""
    n_sources, n_classes = cost.observed.shape[1:]
    n_each = 1 if n_classes == 2 else n_classes
    scale = 1.0 / max(1.0, float(cost.class_rows[folds].sum()))

    def cost_and_slopes(found: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights, intercepts = _by_class(cost, found)
        loss, by_weight, by_intercept = cost.loss(weights, intercepts, folds)
        means = weights.mean(axis=1)
        mean = float(means.mean())
        apart, beside, moved = means - mean, weights - means[:, None], intercepts - cost.log_prior
        loss += 0.5 * l2 * float(apart @ apart + BY_CLASS * np.sum(beside**2) + moved @ moved) + 0.5 * (mean - 1.0) ** 2
        by_weight = by_weight + l2 * (apart[:, None] / n_classes + BY_CLASS * beside) + (mean - 1.0) / weights.size
        own = by_weight if n_each > 1 else by_weight.sum(axis=1)
        return scale * loss, scale * np.append(own.ravel(), by_intercept + l2 * moved)

    if start is None:
        start = np.append(np.full(n_sources * n_each, FIRST_WEIGHT), cost.log_prior)
    bounds = [(0.0, None)] * (n_sources * n_each) + [(None, None)] * n_classes
    found = minimize(cost_and_slopes, start, jac=True, method="L-BFGS-B", bounds=bounds, options=OPTIONS)
    return np.asarray(found.x)


def logistic_sums(
    lines: Any, table: Any, rows: Any, weights: Any, intercepts: Any, sums: Any, slopes: Any, of_classes: Any
) -> float:
    """Sum over rows of the log of the sum over classes of exp(score).

    Fill `slopes` with its derivatives by the weights, and `of_classes` with those by the intercepts.
    """
    total = 0.0
    n_sources, n_classes = weights.shape
    for j in range(n_classes):
        of_classes[j] = 0.0
        for k in range(n_sources):
            slopes[k, j] = 0.0
    for first in range(0, len(rows), len(sums)):
        last = min(first + len(sums), len(rows))
        for i in range(last - first):
            for j in range(n_classes):
                sums[i, j] = intercepts[j]
        for k in range(n_sources):
            for i in range(last - first):
                line = lines[k, first + i]
                for j in range(n_classes):
                    sums[i, j] += weights[k, j] * table[line, j]
        for i in range(last - first):
            total += rows[first + i] * to_shares(sums, i)
            for j in range(n_classes):
                sums[i, j] *= rows[first + i]
                of_classes[j] += sums[i, j]
        for k in range(n_sources):
            for i in range(last - first):
                line = lines[k, first + i]
                for j in range(n_classes):
                    slopes[k, j] += sums[i, j] * table[line, j]
    return total
