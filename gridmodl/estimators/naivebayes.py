"""A naive Bayes classifier over the parts of each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gridmodl.analysis.cost_terms import Counted, Side
from gridmodl.data.frames import Name
from gridmodl.estimators.base import EachColumnEstimatorBase, estimator
from gridmodl.estimators.columns import models_of_each
from gridmodl.estimators.inputs import read_event, read_inputs, read_training
from gridmodl.estimators.selection import Evidence, make_evidence, make_selection, selective_weights
from gridmodl.model.counts import group_of_classes, part_counts
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.model.partition import Partition
from gridmodl.plugins import criterion_for
from gridmodl.pricing import (
    ColumnValues,
    categorical_values,
    numerical_values,
    prepare,
    price_one_variable,
    variable_of,
)
from gridmodl.spelling import check_choice
from gridmodl.terms import Problem, params_record

KINDS_OF_CLASSES = ("grouped", None)
WEIGHTS = ("uniform", "selective")
PREPARED_BY = "modl"  # prices partitions in selective weights, whatever criterion found them


@estimator
class GridNaiveBayes(ClassifierMixin, EachColumnEstimatorBase):  # type: ignore[misc]
    """Naive Bayes on the best partition of every column.

    Each column is partitioned on its own, into the intervals or groups of values that explain the classes at the lowest
    cost; a column without information has one part and is left out. The probability of a class is proportional to its
    share of all rows, times the share of each part of the row among the rows of the class. Missing values, text, dates
    and numbers need no preparation.

    Parameters
    ----------
    %(criterion)s
    %(criterion_options)s
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    target_kind : {None, "grouped"}, default=None
        With ``"grouped"``, each column has its own groups of classes, found together with its partition, and a part
        has the same share in all classes of a group. For dozens to hundreds of classes with few rows each.
    weights : {"uniform", "selective"}, default="uniform"
        With ``"selective"``, each column has a weight from 0 to 1, the exponent of its shares. The weights minimise the
        code length of the classes given the columns, plus a price for each column in use: redundant columns lose weight
        or are left out. See the notes.
    %(unknown)s
    %(new_missing)s
    %(kinds)s
    %(order)s
    %(event)s
    %(partitions)s
    %(special)s
        Not with ``target_kind="grouped"``.
    %(missing)s
    %(max_parts)s
    %(min_rows)s
    %(limits)s
    %(bounds)s
    %(time_limit)s
        The limit is for the partitions of all columns together.
    %(random_state)s
        Only the search for groups of classes is random.
    %(n_jobs)s

    Attributes
    ----------
    %(models_)s
    weights_ : ndarray of shape (number of columns,)
        Weight of each column; 0 for columns with one part. `predict` reads no column of weight 0.
    %(classes_)s
    class_shares_ : ndarray
        The share of each class in the rows.
    log_shares_ : dict of str to ndarray of shape (n_parts, n_classes)
        For each column with a weight, the log of the estimated share of each part in each class.
    %(features_in)s

    See Also
    --------
    gridmodl.optimize_each : The models of all columns, without scikit-learn.
    GridDiscretizer : The parts of all columns, for other classifiers.

    Notes
    -----
    With N rows, W classes and n_w rows of class w, P(w) = n_w / N. P(part | w) is estimated by
    (support + m p) / (coverage + m) with m = W / N and p = 1 / W, where support counts the rows of the part and the
    class, or its group, and coverage all rows of the class, or its group ([1]_, section 4.2). So no probability is 0.
    Over the parts of a column these estimates sum to one only if there are as many parts as classes; the probabilities
    of the classes are divided by their sum. A special code without rows says nothing of the class.

    The weights minimise  - sum of log P(class | row) + 0.1 sum_k (log K + preparation cost of column k) w_k ** 0.95
    over K columns: a penalty of the kind of [2]_, with the constants of Khiops 11. The same data always have the
    same weights.

    References
    ----------
    .. [1] M. Boullé, "Classification supervisée pour de grands nombres de classes à prédire : une approche par
       co-partitionnement des variables explicatives et à expliquer", RNTI E-19.
    .. [2] C. Hue, M. Boullé, "Fractional Naive Bayes (FNB): non-convex optimization for a parsimonious weighted
       selective naive Bayes classifier", arXiv 2409.11100, 2024.

    Examples
    --------
    >>> from gridmodl.estimators import GridNaiveBayes
    >>> X = [[1.0, "red"], [1.5, "blue"], [2.0, "red"], [2.5, "blue"], [7.0, "red"], [7.5, "blue"], [8.0, "red"]]
    >>> y = ["no", "no", "no", "no", "yes", "yes", "yes"]
    >>> classifier = GridNaiveBayes().fit(X, y)
    >>> classifier.predict([[3.0, "red"], [5.0, "blue"]]).tolist()
    ['no', 'yes']
    >>> classifier.weights_
    array([1., 0.])
    """

    target_kind: str | None = None
    weights: str = "uniform"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GridNaiveBayes:
        """Find the best partition of each column, and the weights of the columns.

        Parameters
        ----------
        %(X)s
        %(y)s
        %(sample_weight)s

        Returns
        -------
        self
        """
        check_choice("target_kind", self.target_kind, KINDS_OF_CLASSES)
        check_choice("weights", self.weights, WEIGHTS)
        inputs, classes, row_weights = read_training(self, X, y, sample_weight)
        event = read_event(y, self.event, None)
        models = models_of_each(self, inputs, classes, row_weights, event, target_kind=self.target_kind or "classes")
        ranked = Models(models)  # the most informative first
        shares = {name: part_shares(model) for name, model in ranked.items() if _partition(model).n_parts > 1}
        first = next(iter(models.values()))
        class_shares = first.class_rows / first.n_rows
        if self.weights == "selective" and shares:
            of_columns = _selective(ranked, shares, class_shares, inputs.columns, row_weights)
        else:
            of_columns = dict.fromkeys(shares, 1.0)
        self.models_ = models
        self.weights_ = np.array([of_columns.get(name, 0.0) for name in inputs.columns])
        self.classes_ = first.classes
        self.class_shares_ = class_shares
        self.log_shares_ = {name: shares[name].by_class for name in inputs.columns if of_columns.get(name, 0.0) > 0.0}
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; ties: first in ``classes_``.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        ndarray of shape (n,)
        """
        evidence, lines = self._read(X)
        return np.asarray(self.classes_[evidence.likeliest(lines, self.weights_[self.weights_ > 0.0])])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of `X`; see `predict_log_proba`."""
        log_probabilities = self.predict_log_proba(X)
        return np.exp(log_probabilities, out=log_probabilities)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The log of the probability of each class for each row.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        %(probabilities)s
        """
        evidence, lines = self._read(X)
        return evidence.log_probabilities(lines, self.weights_[self.weights_ > 0.0])

    def _read(self, X: Any) -> tuple[Evidence, NDArray[np.int32]]:
        check_is_fitted(self, "models_")
        inputs = read_inputs(self, X, reset=False)
        evidence = make_evidence(self.class_shares_, list(self.log_shares_.values()))
        parts = (
            _partition(self.models_[name]).part_of_column(inputs.columns[name], self._policy)
            for name in self.log_shares_
        )
        return evidence, evidence.lines_of(parts, inputs.n_rows)


class PartShares(NamedTuple):
    """Shares of the parts of one column among the rows of each class."""

    by_class: NDArray[np.float64]  # log of the estimated share of each part in each class
    observed: float  # sum over all rows


def part_shares(model: Model) -> PartShares:
    """The m-estimates of the shares, see the notes of `GridNaiveBayes`."""
    partition = _partition(model)
    counts = partition.counts if model.target is None else part_counts(model, partition)
    n_rows, n_classes = model.n_rows, len(model.classes)
    shares = np.log((counts + 1.0 / n_rows) / (counts.sum(axis=0) + n_classes / n_rows))
    shares[counts.sum(axis=1) == 0] = 0.0
    observed = float(np.sum(counts * shares))
    return PartShares(shares if model.target is None else shares[:, group_of_classes(model)], observed)


def _selective(
    models: Mapping[Name, Model],
    shares: Mapping[Name, PartShares],
    class_shares: NDArray[np.float64],
    columns: Mapping[Name, Any],
    row_weights: NDArray[np.int64] | None,
) -> dict[Name, float]:
    """Weight of each column; `models` are in descending order of level."""
    evidence = make_evidence(class_shares, [of.by_class for of in shares.values()])
    kept = slice(None) if row_weights is None else row_weights > 0
    parts = [_partition(models[name]).part_of_column(columns[name])[kept] for name in shares]
    prices = np.array([np.log(len(models)) + preparation_cost(models[name]) for name in shares])
    selection = make_selection(
        evidence,
        parts,
        None if row_weights is None else row_weights[kept],
        next(iter(models.values())).class_rows,
        np.array([of.observed for of in shares.values()]),
        prices,
    )
    return dict(zip(shares, selective_weights(selection).tolist(), strict=True))


def _partition(model: Model) -> Partition:
    (partition,) = model.partitions.values()
    return partition


def preparation_cost(model: Model) -> float:
    """Cost under `PREPARED_BY` of the partition of a column before the classes of its rows are known.

    It codes the parts, and the number of rows of each class (or group of classes) in each part; if classes are grouped,
    also the groups, and the number of rows of each class. ``modl`` charges the same for these numbers whatever they
    are, and nothing for the order of rows of one class. So the preparation cost is the price of the same parts with
    rows of one class in each, and the cost of a model under ``modl`` is the preparation cost plus the negative
    log-likelihood of the classes.
    """
    (partition,) = model.partitions.values()
    if model.target is None:
        return _cost_before_classes(model, partition)
    return _cost_before_groups(model, partition, model.target)


def _cost_before_classes(model: Model, partition: Partition) -> float:
    criterion = criterion_for(PREPARED_BY, "classes")
    problem = Problem("classes", model.n_rows, 1, model.class_rows)
    p, facts = prepare(criterion, problem, _known(partition))
    pure = np.zeros_like(partition.counts)
    pure[:, 0] = partition.rows
    return price_one_variable(criterion, p, facts, pure, _values(partition))


def _cost_before_groups(model: Model, partition: Partition, groups: Partition) -> float:
    criterion = criterion_for(PREPARED_BY, "grouped")
    problem = Problem("grouped", model.n_rows, 1, np.empty(0, dtype=np.int64))
    pure = np.zeros(len(model.classes), dtype=np.int64)
    pure[: groups.n_parts] = groups.rows
    filled = np.flatnonzero(partition.rows)
    rows = partition.rows[filled]
    sides = (
        Side(variable_of(criterion, problem, _known(partition)), rows, _values(partition)[filled].astype(np.float64)),
        Side(
            variable_of(criterion, problem, categorical_values(pure), is_target=True),
            groups.rows,
            _values(groups).astype(np.float64),
        ),
    )
    cells = np.column_stack([np.arange(len(rows)), np.zeros_like(rows)])  # all rows of a part beside one group
    p = params_record(criterion, problem)
    counted = Counted(criterion, p, sides, cells, rows[:, None], np.zeros_like(rows))
    return counted.cost(counted.terms())


def _values(partition: Partition) -> NDArray[np.int64]:
    """Number of values of each part; 1 for an interval, whose values are not priced."""
    is_grouped = partition.kind == "categorical"
    lengths = [len(group) for group in partition.groups] if is_grouped else [1] * partition.n_parts
    return np.array(lengths, dtype=np.int64)


def _known(partition: Partition) -> ColumnValues:
    """The values of an input: all that are in its groups."""
    if partition.kind != "categorical":
        return numerical_values(partition.n_parts)
    return categorical_values(np.ones(int(_values(partition).sum()), dtype=np.int64))  # their rows are not priced
