"""A classifier that averages many different data grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging import best_average
from gridmodl.estimators.classifier import OnGrids
from gridmodl.estimators.inputs import read_seed
from gridmodl.frames import Frame
from gridmodl.gridaverage import GridAverage
from gridmodl.search import Search
from gridmodl.terms import Criterion

if TYPE_CHECKING:
    from gridmodl.model import Model

# Rounds of the search, 2^(effort + 1) - 1, and how many of its distinct grids are kept at most.
ENSEMBLE = Search("diverse", effort=10, keep_optima=2000)


class GridEnsembleClassifier(OnGrids):
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
        What the probability of each class is multiplied by before the largest is taken; 1 without a threshold.
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
            search=ENSEMBLE if self.search == "auto" else self.search,
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
