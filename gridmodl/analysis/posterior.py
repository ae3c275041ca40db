"""How likely each bound of a model of two intervals is, averaged over all that the unlabelled rows may be.

Averaged over the unobserved numbers of rows of each class, what an interval costs is the price of its labelled rows
alone, log C(N^l+J-1, J-1) + log N^l! - sum_j log N^l_j!: the number of its rows cancels, as docs/bound_posterior.md
proves. So between two labelled values every bound is as likely as any other. The average and its flatness are of
A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", 2010, Equations 22 and 23.
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

FEW = 64  # of fewer rows n log n is small
REMAINDERS = LOG_FACTORIALS[:FEW] - [n * math.log(max(n, 1)) - n for n in range(FEW)]


class BoundPosterior(NamedTuple):
    """What the data say of the one bound of a model of two intervals.

    Attributes
    ----------
    bounds : ndarray
        Each bound that can be: one between any two neighbouring values of the column, those of unlabelled rows too.
    minus_log : ndarray
        Of each, minus the logarithm of its posterior probability, but for a constant that all have in common. Its
        relative error is below 1e-14, whatever the weights: where classes are mixed and rows so many that it is 1e13
        itself, bounds that differ by less than 0.1 cannot be told apart.
    posterior : ndarray
        The probability of each bound, given that the model has two intervals: they sum to 1.
    one_part : float
        What ``minus_log`` would be for a bound below or above all rows.
    """

    bounds: NDArray[Any]
    minus_log: NDArray[np.float64]
    posterior: NDArray[np.float64]
    one_part: float


def bound_posterior(data: Any, target: Any, *, unlabelled: Any = NOT_GIVEN, weights: Any = None) -> BoundPosterior:
    """How likely each bound is to be that of a model of two intervals, in time linear in the rows once sorted.

    Before the data, every number of rows below the bound is as likely as any other. Between two labelled values the
    answer is the same everywhere: labels say in which gap the bound is, never where inside it.

    Parameters
    ----------
    data : array-like of shape (n,), series, or frame of one column
        A numerical column without missing values.
    target : str or array-like of shape (n,)
        The class of each row, as in `optimize`.
    unlabelled : optional
        The value of the target that marks rows without a class, as in `optimize`.
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
        raise ValueError("bound_posterior tells where classes change, and no target was given")
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
    """What the labelled rows cost in two intervals, with the bound after each value; after the last there is one."""
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
        if i > 0 and moved == 0:  # labels alone count
            prices[i] = prices[i - 1]
        else:
            prices[i] = label_price(below, n_below) + label_price(above, n_above)


def label_price(counts: Any, n: int) -> float:
    """log C(n+J-1, J-1) + log n! - sum_j log n_j!, of terms no larger than their sum.

    With log n! = n log n - n + remainder, what is large in the factorials cancels on paper, not in digits of floats.
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
    """log n! - (n log n - n), small for any n."""
    if n < FEW:
        return REMAINDERS[n]
    # Stirling's series, whose next term, 1/(1680 n^7), is below the last bit of the sum from n = 64 on.
    inverse = 1.0 / n
    square = inverse * inverse
    return 0.5 * math.log(n) + HALF_LOG_TWO_PI + inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0))
