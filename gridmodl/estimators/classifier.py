"""Classifiers on data grids: on the best one, and on the average of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gridmodl.analysis.average import GridAverage, best_average
from gridmodl.data.frames import Frame, Name
from gridmodl.estimators.decisions import balanced_factors, check_threshold, decide, plain_factors
from gridmodl.estimators.inputs import (
    AnyColumnsMixin,
    NotebookMixin,
    heed_stop,
    read_classes,
    read_criterion,
    read_inputs,
    read_seed,
    read_weights,
    reading_columns,
)
from gridmodl.model.partition import checked_unknown
from gridmodl.pipeline import optimize
from gridmodl.search import AUTO, Search
from gridmodl.terms import Criterion

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.report.tables import Rule

# At most 2^(effort + 1) - 1 rounds of the search, of which at most keep_optima distinct grids are kept.
ENSEMBLE = Search("diverse", effort=10, keep_optima=2000)


class GridClassifierBase(AnyColumnsMixin, NotebookMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers on grids: parameters, `fit`, and a class from probabilities."""

    average_: GridAverage
    classes_: NDArray[Any]
    class_factors_: NDArray[np.float64]

    def __init__(
        self,
        *,
        criterion: str | Criterion = "modl",
        criterion_options: Mapping[str, Any] | None = None,
        search: str | Search = "auto",
        threshold: str | None = None,
        unknown: str | int = "default",
        kinds: Mapping[Name, str] | None = None,
        max_parts: int | None = None,
        min_rows: int | float | None = None,
        time_limit: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.criterion_options = criterion_options
        self.search = search
        self.threshold = threshold
        self.unknown = unknown
        self.kinds = kinds
        self.max_parts = max_parts
        self.min_rows = min_rows
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Find the grid, or grids.

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
        self
        """
        criterion = read_criterion(self.criterion, self.criterion_options)
        check_threshold(self.threshold)
        checked_unknown(self.unknown)
        inputs = read_inputs(self, X, reset=True)
        classes = read_classes(self, y)
        check_consistent_length(X, classes)
        weights = read_weights(sample_weight, inputs.n_rows)
        with reading_columns():
            model, average = self._search(inputs, classes, weights, criterion)
        heed_stop(self, model.stopped)
        self.model_ = replace(model, _source=None, frame=inputs.kind)
        if average is not None:
            self.average_ = average
        self.classes_ = self.model_.classes
        self.class_factors_ = plain_factors(len(self.classes_))
        if self.threshold == "balanced":
            kept = slice(None) if weights is None else weights > 0
            codes = np.searchsorted(self.classes_, classes[kept])
            probabilities = self._probabilities(inputs, "default")[kept]  # rows of weight 0 may hold other values
            self.class_factors_ = balanced_factors(probabilities, codes, None if weights is None else weights[kept])
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row.

        Parameters
        ----------
        X : array-like or frame of shape (n, k)
            The same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n, number of classes)
            Columns as in ``classes_``.
        """
        check_is_fitted(self, "model_")
        return self._probabilities(read_inputs(self, X, reset=False), self.unknown)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba` of `X`, minus infinity for a probability of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n, k)
            The same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
            The class with the largest probability times its factor in ``class_factors_``; ties: first.
        """
        check_is_fitted(self, "model_")
        inputs = read_inputs(self, X, reset=False)
        return np.asarray(self.classes_[decide(self._probabilities(inputs, self.unknown), self.class_factors_)])

    def _search(
        self, inputs: Frame, classes: NDArray[Any], weights: Any, criterion: str | Criterion
    ) -> tuple[Model, GridAverage | None]:
        raise NotImplementedError

    def _probabilities(self, inputs: Frame, unknown: str | int) -> NDArray[np.float64]:
        raise NotImplementedError


class GridClassifier(GridClassifierBase):
    """The best single data grid, as a classifier that can be read.

    One grid over the few columns that matter together: numbers are cut into intervals, text and categories put into
    groups. A row gets the class shares of its cell; where that is empty, those of all rows. See `gridmodl.optimize`.

    Parameters
    ----------
    criterion : str or Criterion, default="modl"
        What the best grid is: a name out of `gridmodl.list_criteria`, or a criterion.
    criterion_options : dict, optional
        Options of the criterion that is named, as `gridmodl.get_criterion` takes them.
    search : {"auto", "vns", "merge", "algorithm3"} or Search, default="auto"
        How grids are searched, see `gridmodl.Search`.
    threshold : {None, "balanced"}, default=None
        How `predict` chooses a class: the most probable one, or so that the balanced error, the mean of the error rates
        of the classes, is lowest on the training rows.
    unknown : {"default", -1, "error"}, default="default"
        What becomes of a category that was not seen in `fit`: the group ``Partition.default`` of its column; -1, no
        group, so that the row gets the shares of all rows; or a ValueError. A missing value is such a category where
        `fit` saw none. A number is never unknown: if missing values are new, they go to the lowest interval.
    kinds : dict, optional
        ``"numerical"`` or ``"categorical"`` by column name, where it is not what the column's type says.
    max_parts : int, optional
        Largest number of parts of a column.
    min_rows : int or float, optional
        Smallest number of rows of a part, or below 1 their share of all rows.
    time_limit : float, optional
        Seconds after which the best grid so far is taken.
    random_state : int, optional, default=0
        Seed of the search; None draws a fresh one.
    n_jobs : int, optional
        Threads; None means 1, and -1 one per core. They change no bit of the result.

    Attributes
    ----------
    model_ : Model
        The grid: its cost, cells, rules, the columns that are left out and why. It holds no training data. Columns of
        arrays, and of frames whose names are no strings, are called ``x0``, ``x1``, ...
    classes_ : ndarray
        The classes of the target.
    class_factors_ : ndarray
        Factor of the probability of each class before the largest is taken; 1 without a threshold.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Their names, if the data had names that are strings.

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

    def rules(self) -> list[Rule]:
        """One rule for each cell, in words, with its rows and the shares of their classes; the most frequent first."""
        check_is_fitted(self, "model_")
        return self.model_.rules()

    def _search(
        self, inputs: Frame, classes: NDArray[Any], weights: Any, criterion: str | Criterion
    ) -> tuple[Model, None]:
        model = optimize(
            inputs.columns,
            classes,
            criterion=criterion,
            search=self.search,
            weights=weights,
            kinds=self.kinds,
            target_kind="classes",
            max_parts=self.max_parts,
            min_rows=self.min_rows,
            time_limit=self.time_limit,
            random_state=read_seed(self.random_state),
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
        )
        return model, None

    def _probabilities(self, inputs: Frame, unknown: str | int) -> NDArray[np.float64]:
        return self.model_.predict_proba(inputs.columns, unknown)


class GridEnsembleClassifier(GridClassifierBase):
    """The average of many different data grids, weighted by how well each compresses the classes.

    The search collects distinct local optima, each over a random choice of the columns. A row gets the mean over the
    grids of the class shares of its cell, with weights in proportion to the level of each grid; where its cell is
    empty, a grid says the shares of all rows.

    Parameters
    ----------
    criterion : str or Criterion, default="modl"
        What a good grid is: a name out of `gridmodl.list_criteria`, or a criterion.
    criterion_options : dict, optional
        Options of the criterion that is named, as `gridmodl.get_criterion` takes them.
    search : "auto" or Search, default="auto"
        How grids are searched and how many are kept: ``"auto"`` is ``Search("diverse", effort=10, keep_optima=2000)``,
        at most 2,047 rounds; each takes the longer, the more rows and columns there are. ``Search("algorithm3",
        effort=8, keep_optima=500)`` goes in the order of the paper, and finds fewer distinct grids in as many rounds.
    threshold, unknown, kinds, max_parts, min_rows
        As in `GridClassifier`.
    time_limit : float, optional
        Seconds after which the grids found so far are taken.
    random_state : int, optional, default=0
        Seed of the search; None draws a fresh one.
    n_jobs : int, optional
        Threads; None means 1, and -1 one per core. They change no bit of the result.

    Attributes
    ----------
    model_ : Model
        The cheapest of the grids; it alone can be read.
    average_ : GridAverage
        All grids in a compact form: ``len(average_)``, ``levels`` and ``column_weights``.
    classes_ : ndarray
        The classes of the target.
    class_factors_ : ndarray
        Factor of the probability of each class before the largest is taken; 1 without a threshold.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Their names, if the data had names that are strings.

    See Also
    --------
    GridClassifier : The best single grid.

    Notes
    -----
    `predict` reads the columns that some grid uses, and no others. A row of weight 2 is drawn as two rows are, so
    weighted and repeated rows lead to the same average.

    Grids that are averaged may be finer than the best single one: ``criterion="aic"`` had the lower log-loss on both
    versions of Ada (``docs/results/grid_tables.md``). Let cross-validation choose.

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

    def _search(
        self, inputs: Frame, classes: NDArray[Any], weights: Any, criterion: str | Criterion
    ) -> tuple[Model, GridAverage]:
        return best_average(
            inputs.columns,
            classes,
            criterion=criterion,
            search=ENSEMBLE if self.search == AUTO else self.search,
            weights=weights,
            kinds=self.kinds,
            max_parts=self.max_parts,
            min_rows=self.min_rows,
            time_limit=self.time_limit,
            random_state=read_seed(self.random_state),
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
        )

    def _probabilities(self, inputs: Frame, unknown: str | int) -> NDArray[np.float64]:
        return self.average_.predict_proba(inputs.columns, unknown)
