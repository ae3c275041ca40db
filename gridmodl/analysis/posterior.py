"""Posterior of the bound of a model of two intervals, averaged over the unknown classes of the unlabelled rows.

Averaged over the unobserved numbers of rows of each class, the cost of an interval is the price of its labelled rows
alone, log C(N^l+J-1, J-1) + log N^l! - sum_j log N^l_j!: the number of all its rows cancels (proof in
docs/bound_posterior.md). `gridmodl.average` averages over any number of intervals by the same criterion. So all bounds
between two labelled values are equally likely. The average and its flatness are due to A. Bondu, M. Boullé, V. Lemaire,
"A non-parametric semi-supervised discretization method", 2010, Equations 22 and 23.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.summing import averaged_of
from gridmodl.data.columns import Categories, kind_of_column
from gridmodl.data.line import make_line
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.options import check_one_input
from gridmodl.jit.template import bind
from gridmodl.model.labels import counted
from gridmodl.search.average.intervals import price_cuts
from gridmodl.terms import params_record


class BoundPosterior(NamedTuple):
    """Posterior of the bound of a model of two intervals.

    Attributes
    ----------
    bounds : ndarray
        All possible bounds: one between any two neighbouring values of the column, those of unlabelled rows included.
    minus_log : ndarray
        Minus the logarithm of the posterior probability of each bound, up to a constant. Its relative error is below
        1e-14 for all weights: at a ``minus_log`` of 1e13, bounds that differ by less than 0.1 cannot be told apart.
    posterior : ndarray
        Probability of each bound, given that the model has two intervals; sums to 1.
    one_part : float
        ``minus_log`` of a bound below or above all rows.
    """

    bounds: NDArray[Any]
    minus_log: NDArray[np.float64]
    posterior: NDArray[np.float64]
    one_part: float

    def plot(self, name: Any = "bound", ax: Any = None, *, coverage: float = 1.0) -> Any:
        """Draw the probabilities with matplotlib: `gridmodl.plot.PosteriorDisplay`.

        Parameters
        ----------
        name : str
            Name of the column, which the posterior does not hold.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        coverage : float
            Share of the probability that the bounds shown hold, as in `gridmodl.plot.PosteriorDisplay`.

        Returns
        -------
        PosteriorDisplay
        """
        from gridmodl.plot import PosteriorDisplay

        return PosteriorDisplay.from_posterior(self, name).plot(ax, coverage=coverage)

    def __repr__(self) -> str:
        if not len(self.bounds):
            return "BoundPosterior(no bound)"
        from gridmodl.report.curves import bound_text

        best = int(self.posterior.argmax())
        likeliest = f"likeliest {bound_text(self.bounds[best])}: {self.posterior[best]:.1%}"
        return f"BoundPosterior({counted(len(self.bounds), 'bound')}, {likeliest})"

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.curves import posterior_html

        return posterior_html(self)


def bound_posterior(data: Any, target: Any, *, unlabelled: Any = NOT_GIVEN, weights: Any = None) -> BoundPosterior:
    """Compute the posterior probability of each bound of a model of two intervals.

    The prior is uniform over the number of rows below the bound. Between two labelled values the posterior is constant:
    labels tell in which gap the bound is, never where inside it. The time is linear in the rows once sorted.

    Parameters
    ----------
    data : array-like of shape (n,), series, or frame of one column
        A numerical column without missing values.
    target : str or array-like of shape (n,)
        Class of each row, as in `optimize`.
    unlabelled : optional
        Value of the target that marks rows without a class, as in `optimize`.
    weights : str or array-like of shape (n,), optional
        Whole numbers: a row of weight w is w rows.

    Examples
    --------
    >>> import gridmodl
    >>> found = gridmodl.bound_posterior([1, 2, 3, 4, 5, 6], [0, 0, -1, -1, 1, 1], unlabelled=-1)
    >>> found.bounds
    array([1.5, 2.5, 3.5, 4.5, 5.5])
    >>> found.posterior.round(3)
    array([0.1  , 0.267, 0.267, 0.267, 0.1  ])
    """
    if target is None:
        raise ValueError("bound_posterior needs a class target, and no target was given")
    table = read_table(data, target, weights, "classes", unlabelled)
    if len(table.names) > 1:
        check_one_input(table, unlabelled)
        raise ValueError(f"bound_posterior takes one column, and data has {len(table.names)}")
    (name,) = table.names
    column = table.column(name, None)
    if isinstance(column, Categories) or column.levels is not None:
        kind = kind_of_column(column)
        raise TypeError(
            f"column {name!r} is {kind} and has no numbers as bounds; bound_posterior takes a numerical one"
        )
    if column.missing is not None and column.missing.any():
        n_missing = int(np.count_nonzero(column.missing))
        raise ValueError(f"column {name!r} has {n_missing} missing values of {column.n_rows}; drop those rows")
    line = make_line(column, table.target, join=False)
    # The criterion of unlabelled rows, whether there are some or not: its digits are exact for all weights.
    problem = table.problem._replace(kind="semi", n_rows=table.target.n_rows)
    _, criterion = averaged_of("modl", problem.kind)
    minus_log = np.empty(line.n_atoms)
    below, above = np.zeros((2, table.target.n_classes), dtype=np.int64)
    p = params_record(criterion, problem)
    bind(price_cuts, type(criterion))(p, line.atoms.counts, problem.class_rows, below, above, minus_log)
    one_part, minus_log = float(minus_log[-1]), minus_log[:-1]
    likelihood = np.exp(minus_log.min(initial=np.inf) - minus_log)
    bounds = line.bounds(np.arange(line.n_atoms), column.type)
    return BoundPosterior(bounds, minus_log, likelihood / likelihood.sum(), one_part)
