"""Classifiers on data grids: on the best one, and on the average of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gridmodl.analysis.grid_average import GridAverage, best_average
from gridmodl.data.frames import Frame, Name
from gridmodl.estimators.base import ColumnsEstimatorBase, ThresholdClassifierMixin, estimator
from gridmodl.estimators.inputs import read_event, read_inputs, read_training, reading_columns, report_stop
from gridmodl.evidence.decisions import balanced_factors, check_threshold, decide, plain_factors
from gridmodl.evidence.importances import added_up, importances, lost_information, worth_in_grid
from gridmodl.model.policy import BY_PARTITION, Policy
from gridmodl.model.smoothing import checked_smoothing
from gridmodl.pipeline import optimize
from gridmodl.plugins import criterion_for
from gridmodl.search import AUTO, Search
from gridmodl.spelling import check_choice
from gridmodl.terms import Criterion
from gridmodl.validation.ensemble import average_by_trials

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.report.tables import Rule

# At most 2^(effort + 1) - 1 rounds of the search, of which at most keep_optima distinct grids are kept.
ENSEMBLE = Search("diverse", effort=10, keep_optima=2000)


@estimator
class GridClassifierBase(ThresholdClassifierMixin, ColumnsEstimatorBase):
    """Base of the classifiers on grids: `fit`, and a class from probabilities."""

    event: Any = None
    special: Any = None
    missing: str | Mapping[Name, str] = "auto"
    fixed: Any = None
    allowed: Any = None

    def _options(self) -> dict[str, Any]:
        own = ("special", "missing", "fixed", "allowed")
        return {**super()._options(), **{name: getattr(self, name) for name in own}}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Find the grid or grids.

        Parameters
        ----------
        %(X)s
        %(y)s
        %(sample_weight)s

        Returns
        -------
        self
        """
        options = self._options()
        check_threshold(self.threshold)
        inputs, classes, weights = read_training(self, X, y, sample_weight)
        with reading_columns():
            event = read_event(y, self.event, None)
            model, average, stopped = self._search(inputs, classes, weights=weights, event=event, **options)
        report_stop(self, stopped)
        self.model_ = replace(model, _source=None, frame=inputs.kind, target_name=self._target_name)
        if average is not None:
            self.average_: GridAverage = average
        self.classes_ = self.model_.classes
        self.class_factors_ = plain_factors(len(self.classes_))
        if self.threshold == "balanced":
            kept = slice(None) if weights is None else weights > 0
            codes = np.searchsorted(self.classes_, classes[kept])
            probabilities = self._probabilities(inputs, BY_PARTITION)[kept]  # rows of weight 0 may hold other values
            self.class_factors_ = balanced_factors(probabilities, codes, None if weights is None else weights[kept])
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        %(probabilities)s
        """
        check_is_fitted(self, "model_")
        return self._probabilities(read_inputs(self, X, reset=False), self._policy)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        ndarray of shape (n,)
            The class with the largest product of its probability and its factor in ``class_factors_``; ties: first.
        """
        check_is_fitted(self, "model_")
        inputs = read_inputs(self, X, reset=False)
        return np.asarray(self.classes_[decide(self._probabilities(inputs, self._policy), self.class_factors_)])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the information of the cells on the classes; see Attributes."""
        check_is_fitted(self, "model_")
        return importances(list(self.model_.partitions), self._worth())

    def _worth(self) -> dict[Name, float]:
        """What each column tells of the classes."""
        return worth_in_grid(self.model_)

    def _search(
        self, inputs: Frame, classes: NDArray[Any], **options: Any
    ) -> tuple[Model, GridAverage | None, str | None]:
        """The best grid, the average of many if there is one, and why the search was stopped, or None."""
        raise NotImplementedError

    def _probabilities(self, inputs: Frame, policy: Policy) -> NDArray[np.float64]:
        raise NotImplementedError


@estimator
class GridClassifier(GridClassifierBase):
    """The best single data grid, as a classifier that can be read.

    One grid over the few columns that matter together: numbers are cut into intervals, text and categories are put into
    groups. A row gets the class shares of its cell; if the cell is empty, those of all rows. See `gridmodl.optimize`.

    Parameters
    ----------
    target_kind : {"classes", "grouped"}, default="classes"
        ``"grouped"``, for many classes, finds groups of them together with the parts of the columns; a class then has
        the share of its group in the cell, times its share of the group.
    %(criterion)s
    %(criterion_options)s
    search : {"auto", "vns", "merge", "algorithm3"} or Search, default="auto"
        How grids are searched, see `gridmodl.Search`.
    smoothing : bool, default=False
        Whether a row gets what the criterion expects of the next row of its cell in place of the class shares, so that
        no probability is 0; see `gridmodl.Model.predict_proba`.
    %(threshold)s
    %(unknown)s
    %(new_missing)s
        A row with a value of no part gets the class shares of all training rows with its parts in the other columns.
    %(event)s
    %(kinds)s
    %(order)s
    %(special)s
    %(missing)s
    %(max_parts)s
    %(min_rows)s
    %(bounds)s
    %(time_limit)s
    %(random_state)s
    %(n_jobs)s

    Attributes
    ----------
    model_ : Model
        The grid: its cost, cells and rules, and the columns that are left out and why, without training data. Columns
        of arrays, and of frames whose names are not strings, are called ``x0``, ``x1``, ...
    %(importances_of_grids)s
    %(classes_)s
    %(class_factors_)s
    %(features_in)s

    See Also
    --------
    GridEnsembleClassifier : The average of many grids, which predicts better and cannot be read.
    gridmodl.optimize : The grid, without scikit-learn.

    References
    ----------
    M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, sections 7.2.1 and 7.3.1.

    Examples
    --------
    >>> from gridmodl.estimators import GridClassifier
    >>> X = [[a, b] for a in (1.0, 2.0, 7.0, 8.0) for b in ("red", "green", "blue", "black")] * 4
    >>> y = [(a > 5) != (b in ("red", "green")) for a, b in X]
    >>> classifier = GridClassifier().fit(X, y)
    >>> classifier.predict([[1.5, "red"], [9.0, "red"]])
    array([ True, False])
    >>> print(classifier.rules()[0])
    x0 in (-inf, 4.5] and x1 in {black, blue}: False 100.0% (16 rows, 25.0%)
    """

    target_kind: str = "classes"
    smoothing: bool = False

    def rules(self) -> list[Rule]:
        """One rule per cell: its condition in words, its rows and the shares of their classes; most rows first.

        Of grouped classes, the shares of their groups.
        """
        check_is_fitted(self, "model_")
        return self.model_.rules()

    def _search(self, inputs: Frame, classes: NDArray[Any], **options: Any) -> tuple[Model, None, str | None]:
        check_choice("target_kind", self.target_kind, ("classes", "grouped"))
        if checked_smoothing(self.smoothing) and self.target_kind == "grouped":
            raise ValueError("smoothing=True is not for target_kind='grouped'; use smoothing=False")
        model = optimize(inputs.columns, classes, target_kind=self.target_kind, **options)
        return model, None, model.stopped

    def _probabilities(self, inputs: Frame, policy: Policy) -> NDArray[np.float64]:
        return self.model_.predict_proba(inputs.columns, *policy, self.smoothing)


@estimator
class GridEnsembleClassifier(GridClassifierBase):
    """The average of many different data grids, weighted by how well each compresses the classes.

    The search collects distinct local optima, each over a random choice of the columns. A row gets the mean over the
    grids of the class shares of its cell, with weights in proportion to the level of each grid; a grid whose cell is
    empty gives the shares of all rows.

    Parameters
    ----------
    criterion : str or Criterion, default="auto"
        The cost to minimise: a name from `gridmodl.list_criteria`, or a criterion. ``"auto"`` chooses among ``"modl"``
        and ``entropy`` with a penalty of 2, 1, 1/2 and 1/4 nats for each cell and class but one (``alpha`` is this
        number divided by the logarithm of the number of rows; 1 is ``"aic"``), of which smaller ones are tried as long
        as they are better: the lowest log-loss over three folds of the training rows, each predicted by a short search
        without it. Fewer than six rows have ``"modl"``.
    %(criterion_options)s
    search : "auto" or Search, default="auto"
        How grids are searched and how many are kept: ``"auto"`` is ``Search("diverse", effort=10, keep_optima=2000)``,
        at most 2,047 rounds; a round takes longer with more rows and columns. ``Search("algorithm3", effort=8,
        keep_optima=500)`` follows the order of the paper, and finds fewer distinct grids in the same number of rounds.
    %(threshold)s
    %(unknown)s
    %(new_missing)s
        For a value of no part, a grid gives the class shares of all training rows with the row's other parts.
    %(event)s
    %(kinds)s
    %(order)s
    %(special)s
    %(missing)s
    %(max_parts)s
    %(min_rows)s
    %(bounds)s
    %(time_limit)s
        The choice of the criterion takes at most half of it.
    %(random_state)s
    %(n_jobs)s

    Attributes
    ----------
    model_ : Model
        The cheapest of the grids; it alone can be read.
    average_ : GridAverage
        All grids in a compact form: ``len(average_)``, ``levels`` and ``column_weights``.
    criterion_ : Criterion
        The criterion of the grids, chosen if `criterion` is ``"auto"``.
    validation_losses_ : dict of str to float
        Nats a row of the classes of rows left out, by criterion that was tried; empty if none was.
    %(importances_of_grids)s
    %(classes_)s
    %(class_factors_)s
    %(features_in)s

    See Also
    --------
    GridClassifier : The best single grid.

    Notes
    -----
    `predict` reads only the columns that some grid uses. The search draws a row of weight 2 as it draws two rows, so
    weighted and repeated rows lead to the same average.

    Averaged grids may be finer than the best single one: ``"aic"`` had the lower log-loss on both versions of Ada, and
    is what ``"auto"`` chooses there (``docs/results/grid_tables.md``). Finer grids take longer to find; the fastest
    choice is ``criterion="modl"``.

    References
    ----------
    M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, sections 7.2.2 and 7.3.1.
    M. Boullé, "Compression-based averaging of selective naive Bayes classifiers", JMLR 8, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gridmodl import Search
    >>> from gridmodl.estimators import GridEnsembleClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> few = Search("diverse", effort=4, keep_optima=100)
    >>> ensemble = GridEnsembleClassifier(search=few).fit(X[::2], y[::2])
    >>> bool(ensemble.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    criterion: str | Criterion = AUTO

    def _options(self) -> dict[str, Any]:
        if isinstance(self.criterion, str) and self.criterion == AUTO and self.criterion_options:
            raise TypeError(
                f"criterion='auto' chooses the options too; criterion_options={self.criterion_options!r} needs the "
                "name of a criterion"
            )
        return super()._options()

    def _search(self, inputs: Frame, classes: NDArray[Any], **options: Any) -> tuple[Model, GridAverage, str | None]:
        if self.search == AUTO:
            options["search"] = ENSEMBLE
        if isinstance(self.criterion, str) and self.criterion == AUTO:
            found = average_by_trials(inputs.columns, classes, **options)
            self.criterion_: Criterion = found.criterion
            self.validation_losses_: dict[str, float] = found.losses
            return found.model, found.average, found.stopped
        model, average = best_average(inputs.columns, classes, **options)
        self.criterion_ = criterion_for(options["criterion"], model.problem)
        self.validation_losses_ = {}
        return model, average, model.stopped

    def _probabilities(self, inputs: Frame, policy: Policy) -> NDArray[np.float64]:
        return self.average_.predict_proba(inputs.columns, *policy)

    def _worth(self) -> dict[Name, float]:
        return added_up(map(lost_information, self.average_.cells()), self.average_.weights.tolist())
