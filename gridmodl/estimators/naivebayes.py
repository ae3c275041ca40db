"""A naive Bayes classifier over what each column says on its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridmodl.data.frames import Name
from gridmodl.estimators.base import estimator
from gridmodl.estimators.evidence import EvidenceClassifierBase, TrainingRows
from gridmodl.estimators.interactions import Chosen, checked_interactions
from gridmodl.model.models import Models
from gridmodl.spelling import check_choice

KINDS_OF_CLASSES = ("grouped", None)
WEIGHTS = ("uniform", "selective")


@estimator
class GridNaiveBayes(EvidenceClassifierBase):
    """Naive Bayes on what every column says on its own.

    The probability of a class is proportional to its share of all rows, times P(class | value) / P(class) for each
    column. For numbers P(class | value) is the average over all partitions into intervals, see `gridmodl.average`; for
    other columns it is that of the value's part of the best partition. A column that says nothing is left out. Missing
    values, text, dates and numbers need no preparation.

    Parameters
    ----------
    %(criterion)s
    %(criterion_options)s
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    target_kind : {None, "grouped"}, default=None
        With ``"grouped"``, each column has groups of its own, found together with its partition, and a part
        has the same share in all classes of a group. For dozens to hundreds of classes with few rows each.
    weights : {"uniform", "selective"}, default="uniform"
        With ``"selective"``, each column has a weight from 0 to 1, the exponent of its P(class | value) / P(class). The
        weights minimise the code length of the classes given the columns, plus a price for each column in use:
        redundant columns lose weight or are left out. See the notes.
    %(averaged)s
        Not with ``target_kind="grouped"``.
    %(unlabelled)s
    %(interactions)s
        They need ``weights="selective"``.
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
        Only the searches for groups of classes and for grids are random.
    %(n_jobs)s

    Attributes
    ----------
    %(models_)s
    weights_ : ndarray of shape (number of columns,)
        Weight of each column; 0 for columns that say nothing. `predict` reads no column of weight 0.
    coef_ : ndarray of shape (1, number of columns)
        The same weights, as scikit-learn calls what scores are linear in.
    %(importances_of_evidence)s
    %(left_out_)s
    %(grids_)s
    %(evidence_)s
    %(classes_)s
    class_shares_ : ndarray
        The share of each class in the rows.
    %(features_in)s

    See Also
    --------
    gridmodl.optimize_each : The models of all columns, without scikit-learn.
    GridLogistic : The same evidence with weights of a logistic regression; it predicts better.
    GridDiscretizer : The parts of all columns, for other classifiers.

    Notes
    -----
    P(class) is the share p_j of the class in all rows. In an interval or group of n rows, n_j of them of class j of J
    classes, P(j | part) = (n_j + J p_j) / (n + J): the Bayes predictive of a Dirichlet prior whose mean are the shares
    of all rows. For equal shares this is (n_j + 1) / (n + J). No probability is 0, and a part without rows says
    nothing. An average over partitions leaves a column out if the probability that it says something is below one half
    (`Average.p_informative`); a partition, if it has one part.

    With ``target_kind="grouped"``, P(part | group of the class) is estimated by (support + m p) / (coverage + m) with
    m = W / N and p = 1 / W for N rows and W classes, where support counts the rows of the part and the group, and
    coverage all rows of the group ([1]_, section 4.2).

    The weights minimise  - sum of log P(class | row) + 0.1 sum_k (log K + preparation cost of column k) w_k ** 0.95
    over K columns, where the preparation cost is that of the best partition: a penalty of the kind of [2]_, with the
    constants of Khiops 11. Rows are at the nearest knot of an average there. The same data always have the same
    weights.

    Grids pay more. Their price is 5 times the code length of their structure (which columns, and their parts); and in
    the first sum, a row is left out of its own cell. So small data keep none, and so do columns that do not interact:
    such a grid says no more than they do. A row in a cell without training rows gets no evidence from the grid.

    References
    ----------
    .. [1] M. Boullé, "Classification supervisée pour de grands nombres de classes à prédire : une approche par
       co-partitionnement des variables explicatives et à expliquer", RNTI E-19.
    .. [2] C. Hue, M. Boullé, "Fractional Naive Bayes (FNB): non-convex optimization for a parsimonious weighted
       selective naive Bayes classifier", arXiv 2409.11100, 2024.

    Examples
    --------
    >>> from gridmodl.estimators import GridNaiveBayes
    >>> X = [[1.0, "red"], [1.5, "blue"], [2.0, "red"], [2.5, "blue"]]
    >>> X += [[7.0, "red"], [7.5, "blue"], [8.0, "red"]]
    >>> y = ["no", "no", "no", "no", "yes", "yes", "yes"]
    >>> classifier = GridNaiveBayes().fit(X * 2, y * 2)
    >>> classifier.predict([[3.0, "red"], [5.0, "blue"]]).tolist()
    ['no', 'yes']
    >>> classifier.weights_
    array([1., 0.])
    """

    target_kind: str | None = None
    weights: str = "uniform"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GridNaiveBayes:
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
        check_choice("target_kind", self.target_kind, KINDS_OF_CLASSES)
        check_choice("weights", self.weights, WEIGHTS)
        self._check_grids()
        training = self._read_training(X, y, sample_weight)
        names = list(training.inputs.columns)
        models = self._models(training, training.weights, names, target_kind=self.target_kind or "classes")
        averaged = self._averaged_columns(training, models)
        by_name = self._sources(training, training.weights, models, averaged, len(names))
        ranked, left_out = self._without_copies(training, models, by_name)
        log_prior = np.log(next(iter(models.values())).class_rows / training.rows.sum())
        chosen = Chosen([], np.ones(len(ranked)))
        if self.weights == "selective":
            chosen = self._choose(training, ranked, models)
        sources = [*ranked, *chosen.grids]
        self._set_evidence(training, models, sources, chosen.weights, log_prior, left_out)
        of_columns = {source.name: weight for source, weight in zip(sources, chosen.weights.tolist(), strict=True)}
        self.weights_ = np.array([of_columns.get(name, 0.0) for name in names])
        self.coef_ = self.weights_[None]
        return self

    def _check_grids(self) -> None:
        """Raise if grids are asked for that this classifier cannot choose or weigh."""
        if checked_interactions(self.interactions) == 0:
            return
        if self.weights != "selective":
            raise ValueError(
                f"interactions={self.interactions!r} needs weights='selective', which choose the grids; got "
                f"weights={self.weights!r}"
            )
        if self.target_kind == "grouped":
            raise ValueError(
                f"interactions={self.interactions!r} is not for target_kind='grouped': each column has groups of "
                "classes of its own, and a grid has none"
            )

    def _averaged_columns(self, training: TrainingRows, models: Models) -> list[Name]:
        if self.target_kind != "grouped":
            return super()._averaged_columns(training, models)
        if self.averaged is True:
            raise ValueError("averaged=True is not for target_kind='grouped': each column has groups of its own")
        return []
