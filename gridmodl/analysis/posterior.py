"""Posterior of the bound of a model of two intervals, averaged over the unknown classes of the unlabelled rows.

Averaged over the unobserved numbers of rows of each class, the cost of an interval is the price of its labelled rows
alone, log C(N^l+J-1, J-1) + log N^l! - sum_j log N^l_j!: the number of all its rows cancels (proof in
docs/bound_posterior.md). So all bounds between two labelled values are equally likely. The average and its flatness are
due to A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", 2010, Equations 22
and 23.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import HALF_LOG_TWO_PI, LOG_FACTORIALS
from gridmodl.data.columns import Categories
from gridmodl.data.line import make_line
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.build import check_one_input
from gridmodl.jit.template import bind

FEW = 64  # below this n, remainders are looked up; from it on, Stirling's series is exact to the last bit
REMAINDERS = LOG_FACTORIALS[:FEW] - [n * math.log(max(n, 1)) - n for n in range(FEW)]


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
    if isinstance(column, Categories):
        raise TypeError(f"column {name!r} is categorical and has no bounds; bound_posterior takes a numerical one")
    if column.missing is not None and column.missing.any():
        n_missing = int(np.count_nonzero(column.missing))
        raise ValueError(f"column {name!r} has {n_missing} missing values of {column.n_rows}; drop those rows")
    line = make_line(column, table.target, join=False)
    minus_log = np.empty(line.n_atoms)
    below, above = np.zeros((2, table.target.n_classes), dtype=np.int64)
    bind(price_bounds)(line.atoms.counts, table.problem.class_rows, below, above, minus_log)
    one_part, minus_log = float(minus_log[-1]), minus_log[:-1]
    likelihood = np.exp(minus_log.min(initial=np.inf) - minus_log)
    bounds = line.bounds(np.arange(line.n_atoms), column.type)
    return BoundPosterior(bounds, minus_log, likelihood / likelihood.sum(), one_part)


def price_bounds(counts: Any, class_rows: Any, below: Any, above: Any, prices: Any) -> None:
    """Price the labelled rows of two intervals, with the bound after each value; after the last value, of one."""
    n_classes = len(class_rows)
    n_below, n_above = 0, 0
    for j in range(n_classes):
        above[j] = class_rows[j]
        n_above += above[j]
    for i in range(len(prices)):
        moved = 0
        for j in range(n_classes):
            below[j] += counts[i, j]
            above[j] -= counts[i, j]
            moved += counts[i, j]
        n_below += moved
        n_above -= moved
        if i > 0 and moved == 0:  # only labelled rows have a price
            prices[i] = prices[i - 1]
        else:
            prices[i] = label_price(below, n_below) + label_price(above, n_above)


def label_price(counts: Any, n: int) -> float:
    """log C(n+J-1, J-1) + log n! - sum_j log n_j!, computed from terms no larger than their sum.

    With log n! = n log n - n + remainder(n), the large parts of the factorials cancel in the formula, before rounding.
    """
    k = len(counts) - 1
    if n == 0:
        return 0.0
    price = remainder(n + k) - remainder(k)
    if k > 0:
        price += n * math.log1p(k / n) + k * math.log1p(n / k)
    for n_j in counts:
        if n_j > 0:
            price += n_j * math.log1p((n - n_j) / n_j) - remainder(n_j)
    return price


def remainder(n: int) -> float:
    """log n! - (n log n - n), which is small for every n."""
    if n < FEW:
        return REMAINDERS[n]
    # Stirling's series; the next term, 1/(1680 n^7), is below the last bit of the sum from n = 64 on.
    inverse = 1.0 / n
    square = inverse * inverse
    return 0.5 * math.log(n) + HALF_LOG_TWO_PI + inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0))
