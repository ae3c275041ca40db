"""A naive Bayes classifier over the parts of each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gridmodl.analysis.cost_terms import Counted, Side
from gridmodl.data.frames import Name
from gridmodl.estimators.columns import models_of_each
from gridmodl.estimators.inputs import AnyColumnsMixin, NotebookMixin, read_classes, read_inputs, read_weights
from gridmodl.estimators.selection import Evidence, make_evidence, make_selection, selective_weights
from gridmodl.model.counts import group_of_classes, part_counts
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, checked_unknown
from gridmodl.plugins import criterion_for
from gridmodl.pricing import (
    ColumnValues,
    categorical_values,
    numerical_values,
    prepare,
    price_one_variable,
    variable_of,
)
from gridmodl.search import Search
from gridmodl.spelling import check_choice
from gridmodl.terms import Criterion, Problem, params_record

KINDS_OF_CLASSES = ("grouped", None)
WEIGHTS = ("uniform", "selective")


class GridNaiveBayes(AnyColumnsMixin, NotebookMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes on the best partition of every column.

    Each column is cut into intervals or groups of values on its own, as the classes say, and as finely as the criterion
    finds worth its cost; columns that say nothing get one part and are left out. A class is as likely as its share of
    all rows, times the share that each part of the row has in that class. Missing values, text, dates and numbers need
    no preparation.

    Parameters
    ----------
    criterion : str or Criterion, default="modl"
        What the best partition is: a name out of `gridmodl.list_criteria`, or a criterion.
    criterion_options : dict, optional
        Options of the criterion that is named, as `gridmodl.get_criterion` takes them.
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    target_kind : {None, "grouped"}, default=None
        With ``"grouped"`` the classes are put into groups together with the partition of each column, for each column
        other groups, and a part has the same share in all classes of a group. For dozens to hundreds of classes, with
        few rows in each.
    weights : {"uniform", "selective"}, default="uniform"
        With ``"selective"`` each column has a weight from 0 to 1, the exponent of its shares. The weights minimise the
        code length of the classes given the columns, plus a price for each column in use: columns that repeat what
        others say lose weight or are left out. See the notes.
    unknown : {"default", -1, "error"}, default="default"
        What becomes of a category that was not seen in `fit`: the group ``Partition.default`` of its column; -1, it
        says nothing of the class; or a ValueError. A missing value is such a category where `fit` saw none. A number is
        never unknown: if missing values are new, they go to the lowest interval.
    kinds : dict, optional
        ``"numerical"`` or ``"categorical"`` by column name, where it is not what the column's type says.
    special : dict, optional
        By column name, numbers that are codes and no quantities, such as ``{"age": [-999, -1]}``; each is a part. Not
        with ``target_kind="grouped"``.
    max_parts : int, optional
        Largest number of parts of a column.
    min_rows : int or float, optional
        Smallest number of rows of a part, or below 1 their share of all rows.
    time_limit : float, optional
        Seconds for the partitions of all columns together, after which they keep the best so far.
    random_state : int, optional, default=0
        Seed of the search for groups of classes; nothing else is random. None draws a fresh one.
    n_jobs : int, optional
        Threads; None means 1, and -1 one per core.

    Attributes
    ----------
    models_ : dict of str to Model
        By column name, in the order of the columns: the partition of each, its cost, its level, its table. They hold no
        training data. Columns of arrays, and of frames whose names are no strings, are called ``x0``, ``x1``, ...
    weights_ : ndarray of shape (number of columns,)
        The weight of each column; 0 for those with one part. `predict` reads no column of weight 0.
    classes_ : ndarray
        The classes of the target.
    class_shares_ : ndarray
        The share of each class in the rows.
    log_shares_ : dict of str to ndarray of shape (n_parts, n_classes)
        For each column with a weight, the log of the estimated share of each part in each class.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Their names, if the data had names that are strings.

    See Also
    --------
    gridmodl.optimize_each : The models of all columns, without scikit-learn.
    GridDiscretizer : The parts of all columns, for other classifiers.

    Notes
    -----
    With N rows, W classes and n_w rows of class w, P(w) = n_w / N. P(part | w) is estimated by
    (support + m p) / (coverage + m) with m = W / N and p = 1 / W, where support counts the rows of the part and the
    class, or its group, and coverage all rows of the class, or its group ([1]_, section 4.2). So no probability is 0.
    These estimates do not quite sum to one over the parts of a column, unless there are as many parts as classes;
    probabilities of classes do, they are divided by their sum. A special code without rows says nothing.

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

    def __init__(
        self,
        *,
        criterion: str | Criterion = "modl",
        criterion_options: Mapping[str, Any] | None = None,
        search: str | Search = "auto",
        target_kind: str | None = None,
        weights: str = "uniform",
        unknown: str | int = "default",
        kinds: Mapping[Name, str] | None = None,
        special: Mapping[Name, Any] | None = None,
        max_parts: int | None = None,
        min_rows: int | float | None = None,
        time_limit: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.criterion_options = criterion_options
        self.search = search
        self.target_kind = target_kind
        self.weights = weights
        self.unknown = unknown
        self.kinds = kinds
        self.special = special
        self.max_parts = max_parts
        self.min_rows = min_rows
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GridNaiveBayes:
        """Find the best partition of each column, and the weights.

        Parameters
        ----------
        X : array-like or frame of shape (n, k)
            Numbers, or columns of any kinds: a frame of pandas, polars, pyarrow or another library that narwhals reads,
            or an array of objects.
        y : array-like of shape (n,)
            The class of each row.
        sample_weight : array-like of shape (n,), optional
            Whole numbers: a row of weight w is w rows.

        Returns
        -------
        GridNaiveBayes
            This one.
        """
        check_choice("target_kind", self.target_kind, KINDS_OF_CLASSES)
        check_choice("weights", self.weights, WEIGHTS)
        checked_unknown(self.unknown)
        inputs = read_inputs(self, X, reset=True)
        classes = read_classes(self, y)
        check_consistent_length(X, classes)
        row_weights = read_weights(sample_weight, inputs.n_rows)
        models = models_of_each(self, inputs, classes, row_weights, target_kind=self.target_kind or "classes")
        shares = {name: part_shares(model) for name, model in models.items() if _partition(model).n_parts > 1}
        first = next(iter(models.values()))
        class_shares = first.class_rows / first.n_rows
        if self.weights == "selective" and shares:
            of_columns = _selective(models, shares, class_shares, inputs.columns, row_weights)
        else:
            of_columns = dict.fromkeys(shares, 1.0)
        self.models_ = {name: models[name] for name in inputs.columns}
        self.weights_ = np.array([of_columns.get(name, 0.0) for name in inputs.columns])
        self.classes_ = first.classes
        self.class_shares_ = class_shares
        self.log_shares_ = {name: shares[name].by_class for name in inputs.columns if of_columns.get(name, 0.0) > 0.0}
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; ties: first in ``classes_``.

        Parameters
        ----------
        X : array-like or frame of shape (n, k)
            The same columns as in `fit`.

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
        X : array-like or frame of shape (n, k)
            The same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n, number of classes)
            Classes are in the order of ``classes_``.
        """
        evidence, lines = self._read(X)
        return evidence.log_probabilities(lines, self.weights_[self.weights_ > 0.0])

    def _read(self, X: Any) -> tuple[Evidence, NDArray[np.int32]]:
        check_is_fitted(self, "models_")
        inputs = read_inputs(self, X, reset=False)
        evidence = make_evidence(self.class_shares_, list(self.log_shares_.values()))
        parts = (
            _partition(self.models_[name]).part_of_column(inputs.columns[name], self.unknown)
            for name in self.log_shares_
        )
        return evidence, evidence.lines_of(parts, inputs.n_rows)


class PartShares(NamedTuple):
    """The parts of one column in the classes."""

    by_class: NDArray[np.float64]  # log of the estimated share of each part in each class
    observed: float  # its sum over all rows


def part_shares(model: Model) -> PartShares:
    """The m-estimate of `GridNaiveBayes`, from rows by part and class or group of classes."""
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
    """The weights of columns, which come in descending order of level."""
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
    """The cost, by ``modl``, of the partition of a column before any class is told, whatever its criterion.

    It codes the parts, and how many rows of each class (or group of classes) each part has; where classes are grouped,
    also the groups, and how many rows each class has. ``modl`` asks the same for these numbers whatever they are, and
    nothing for the order of rows that are all alike. So the preparation cost is the price, by the terms of ``modl``, of
    the same parts with rows of one class in each. The cost of a model by ``modl`` is the preparation cost and the
    negative log-likelihood of the classes.
    """
    (partition,) = model.partitions.values()
    if model.target is None:
        return _beside_classes(model, partition)
    return _beside_groups(model, partition, model.target)


def _beside_classes(model: Model, partition: Partition) -> float:
    criterion = criterion_for("modl", "classes")
    problem = Problem("classes", model.n_rows, 1, model.class_rows)
    p, facts = prepare(criterion, problem, _known(partition))
    alike = np.zeros_like(partition.counts)
    alike[:, 0] = partition.rows
    return price_one_variable(criterion, p, facts, alike, _values(partition))


def _beside_groups(model: Model, partition: Partition, groups: Partition) -> float:
    criterion = criterion_for("modl", "grouped")
    problem = Problem("grouped", model.n_rows, 1, np.empty(0, dtype=np.int64))
    alike = np.zeros(len(model.classes), dtype=np.int64)
    alike[: groups.n_parts] = groups.rows
    filled = np.flatnonzero(partition.rows)
    rows = partition.rows[filled]
    sides = (
        Side(variable_of(criterion, problem, _known(partition)), rows, _values(partition)[filled].astype(np.float64)),
        Side(
            variable_of(criterion, problem, categorical_values(alike), is_target=True),
            groups.rows,
            _values(groups).astype(np.float64),
        ),
    )
    cells = np.column_stack([np.arange(len(rows)), np.zeros_like(rows)])  # all rows of a part beside one group
    p = params_record(criterion, problem)
    counted = Counted(criterion, p, sides, cells, rows[:, None], np.zeros_like(rows))
    return counted.cost(counted.terms())


def _values(partition: Partition) -> NDArray[np.int64]:
    """The number of values of each part; 1 for an interval, whose values ``modl`` does not price."""
    lengths = [len(group) for group in partition.groups] or [1] * partition.n_parts
    return np.array(lengths, dtype=np.int64)


def _known(partition: Partition) -> ColumnValues:
    """The values of an input, all that are in its groups."""
    if partition.kind == "numerical":
        return numerical_values(partition.n_parts)
    return categorical_values(np.ones(int(_values(partition).sum()), dtype=np.int64))  # their rows are not priced
