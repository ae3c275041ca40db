"""Regressor on data grids: on the best one, or on the average of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gridmodl.estimators.base import ColumnsEstimatorBase, estimator
from gridmodl.estimators.inputs import read_inputs, read_target, read_weights, reading_columns, report_stop
from gridmodl.evidence.importances import added_up, importances, worth_in_grid
from gridmodl.pipeline import optimize
from gridmodl.search import AUTO, MAX_OPTIMA, Search
from gridmodl.spelling import check_choice

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.report.tables import Rule

DIVERSE = "diverse"  # the search of an ensemble
EFFORT = 8  # of the search of an ensemble: at most 511 rounds


@estimator
class GridRegressor(RegressorMixin, ColumnsEstimatorBase):  # type: ignore[misc]
    """The best single data grid of a numerical target, as a regressor that can be read; or the average of many.

    One grid over the few columns that matter together, with the intervals of the target that fit it. A row gets the
    mean, median and quantiles of the training rows in its cell; if no training row is in it, those of all rows. See
    `gridmodl.optimize`.

    Parameters
    ----------
    statistic : {"mean", "median"}, default="mean"
        What `predict` returns.
    ensemble : int, default=0
        Number of different grids to average, at most; 0 takes the best grid alone. Grids are local optima over random
        choices of the columns, weighted by what each saves against the null grid. Averages predict better and cannot be
        read.
    %(criterion)s
    %(criterion_options)s
    search : {"auto", "vns", "merge"} or Search, default="auto"
        How grids are searched, see `gridmodl.Search`; with ``ensemble``, ``"auto"`` is ``Search("diverse", effort=8)``.
    %(unknown)s
    %(new_missing)s
        A row with a value of no part gets what all training rows with its parts in the other columns have.
    %(kinds)s
    %(order)s
    %(max_parts)s
    %(min_rows)s
    %(time_limit)s
    %(random_state)s
    %(n_jobs)s

    Attributes
    ----------
    model_ : Model
        The best grid: its cost, cells and rules, and the columns that are left out and why, without training data.
        Columns of arrays, and of frames whose names are not strings, are called ``x0``, ``x1``, ...
    grids_ : tuple of Model
        The grids that are averaged, the cheapest first; the best grid alone without ``ensemble``.
    grid_weights_ : ndarray
        Their weights, of sum 1.
    %(importances_of_grids)s
    %(features_in)s

    See Also
    --------
    GridClassifier : For classes.
    gridmodl.optimize : The grid, without scikit-learn.

    Notes
    -----
    The criterion prices the ranks of the target: increasing transformations of it give the same grids. A quantile of an
    average of grids is the mean of their quantiles, so that quantiles never cross.

    References
    ----------
    C. Hue and M. Boullé, "A new probabilistic approach in rank regression with optimal Bayesian partitioning", JMLR 8,
    2007.

    Examples
    --------
    >>> from gridmodl.estimators import GridRegressor
    >>> X = [[a, b] for a in (1.0, 2.0, 7.0, 8.0) for b in ("red", "green", "blue", "black")] * 6
    >>> y = [10.0 * (a > 5) + 5.0 * (b in ("red", "green")) + 0.01 * i for i, (a, b) in enumerate(X)]
    >>> regressor = GridRegressor().fit(X, y)
    >>> regressor.predict([[1.5, "red"], [9.0, "blue"]]).round(1)
    array([ 5.4, 10.5])
    >>> regressor.predict_interval([[1.5, "red"]], coverage=0.8).round(1)
    array([[5. , 5.8]])
    """

    statistic: str = "mean"
    ensemble: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Find the grid or grids.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n,)
            The number of each row.
        %(sample_weight)s

        Returns
        -------
        self
        """
        options = self._options()
        check_choice("statistic", self.statistic, ("mean", "median"))
        self._policy  # noqa: B018  checked before all work
        inputs = read_inputs(self, X, reset=True)
        if y is None:
            raise ValueError("This GridRegressor estimator requires y to be passed, but the target y is None.")
        target = read_target(self, y, "numerical", has_mark=False)
        check_consistent_length(X, target)
        weights = read_weights(sample_weight, inputs.n_rows)
        options["search"] = self._search(len(inputs.columns))
        with reading_columns():
            model = optimize(
                inputs.columns, target.astype(np.float64), target_kind="numerical", weights=weights, **options
            )
        report_stop(self, model.stopped)
        optima = tuple(replace(grid, target_name=self._target_name) for grid in model.optima)
        self.model_ = replace(model, _source=None, frame=inputs.kind, target_name=self._target_name, optima=())
        gains = np.array([model.null_cost - grid.cost for grid in optima])
        kept = np.flatnonzero(gains > 0.0)
        self.grids_: tuple[Model, ...] = tuple(optima[i] for i in kept) if len(kept) else (self.model_,)
        self.grid_weights_ = gains[kept] / gains[kept].sum() if len(kept) else np.ones(1)
        return self

    def _search(self, n_columns: int) -> Search | str:
        """The search, which keeps as many grids as `ensemble` says."""
        n = self.ensemble
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or not 0 <= n <= MAX_OPTIMA:
            raise ValueError(f"ensemble must be a whole number from 0 to {MAX_OPTIMA}, got {n!r}")
        if n == 0:
            return self.search
        search = self.search
        if not isinstance(search, Search):
            search = Search(DIVERSE if search == AUTO else search, effort=EFFORT)
        if n_columns == 1 and search.kind == DIVERSE:  # there is no choice of columns
            search = replace(search, kind=AUTO)
        return replace(search, keep_optima=int(n))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The mean, or median, of the target for each row.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        ndarray of shape (n,)
        """
        if self.statistic == "median":
            return self.predict_quantiles(X, [0.5])[:, 0]
        return self._averaged(X, lambda grid, columns: grid.predict(columns, *self._policy).mean)

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> NDArray[Any]:
        """Quantiles of the target for each row.

        Parameters
        ----------
        %(X_again)s
        quantiles : sequence of float
            Shares from 0 to 1.

        Returns
        -------
        ndarray of shape (n, number of quantiles)
        """
        return self._averaged(X, lambda grid, columns: grid.predict_quantiles(columns, quantiles, *self._policy))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Lower and upper end of the central interval that holds the share `coverage` of the target, for each row.

        Parameters
        ----------
        %(X_again)s
        coverage : float
            From 0 to 1.

        Returns
        -------
        ndarray of shape (n, 2)
        """

        def ends(grid: Model, columns: Any) -> NDArray[np.float64]:
            predicted: Any = grid.predict(columns, *self._policy, coverage=coverage)
            return np.column_stack([predicted.lower, predicted.upper])

        return self._averaged(X, ends)

    def _averaged(self, X: Any, of_grid: Any) -> NDArray[np.float64]:
        """Weighted mean over the grids of what `of_grid` returns for a grid and the columns."""
        check_is_fitted(self, "model_")
        columns = read_inputs(self, X, reset=False).columns
        if len(self.grids_) == 1:
            return np.asarray(of_grid(self.grids_[0], columns))
        total = 0.0
        for weight, grid in zip(self.grid_weights_.tolist(), self.grids_, strict=True):
            total = total + weight * of_grid(grid, columns)
        return np.asarray(total)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the information of the cells on the parts of the target; see Attributes."""
        check_is_fitted(self, "model_")
        worth = added_up(map(worth_in_grid, self.grids_), self.grid_weights_.tolist())
        return importances(list(self.model_.partitions), worth)

    def rules(self) -> list[Rule]:
        """One rule per cell of the best grid: its condition in words, its rows and the target; most rows first."""
        check_is_fitted(self, "model_")
        return self.model_.rules()
