"""From class probabilities to a class: the most probable one, or the one that keeps the balanced error low.

A row gets the class with the largest factor times probability. For the plain error all factors are 1. The balanced
error, the mean over the classes of the share of their rows that get another class, is lowest for the true probabilities
with factors of 1 over the shares of the classes; from there one class after the other gets the factor that is best for
the training rows. For two classes that is the threshold with the lowest balanced error on the training rows
(M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, 7.3.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import check_choice

THRESHOLDS = ("balanced", None)
MAX_PASSES = 10  # over all classes; two or three are enough as a rule


def check_threshold(threshold: Any) -> None:
    check_choice("threshold", threshold, THRESHOLDS)


def plain_factors(n_classes: int) -> NDArray[np.float64]:
    return np.ones(n_classes)


def balanced_factors(
    probabilities: NDArray[np.float64], codes: NDArray[np.integer[Any]], weights: NDArray[Any] | None
) -> NDArray[np.float64]:
    """The factor of each class, given the probabilities of the training rows, their classes and how often they count.

    Every class must have a row.
    """
    n_classes = probabilities.shape[1]
    class_rows = np.bincount(codes, weights, n_classes).astype(np.float64)
    row_shares = (1.0 if weights is None else weights) / class_rows[codes]
    factors = class_rows.sum() / (n_classes * class_rows)
    if n_classes == 1:
        return factors
    for _ in range(MAX_PASSES):
        n_better = 0
        for c in range(n_classes):
            tried = factors.copy()
            tried[c] = _best_factor(probabilities, codes, row_shares, factors, c)
            # Rounding may give a row that lies on the edge to another class than was reckoned.
            if _right(probabilities, codes, row_shares, tried) > _right(probabilities, codes, row_shares, factors):
                factors, n_better = tried, n_better + 1
        if n_better == 0:
            break
    return factors


def _right(
    probabilities: NDArray[np.float64],
    codes: NDArray[np.integer[Any]],
    row_shares: NDArray[np.float64],
    factors: NDArray[np.float64],
) -> float:
    """The sum over the classes of the share of their rows that get their class."""
    return float(row_shares[decide(probabilities, factors) == codes].sum())


def decide(probabilities: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.intp]:
    """The number of the class of each row; of equals the first."""
    return np.argmax(probabilities * factors, axis=1)


def _best_factor(
    probabilities: NDArray[np.float64],
    codes: NDArray[np.integer[Any]],
    row_shares: NDArray[np.float64],
    factors: NDArray[np.float64],
    c: int,
) -> float:
    """The factor of class c with which the balanced error is lowest; of equals the one nearest to what it was."""
    others = probabilities * factors
    others[:, c] = -1.0
    rival = others.argmax(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = others[np.arange(len(codes)), rival] / probabilities[:, c]  # a factor above it takes the row
    # What a row that changes to class c brings: it was right before, or is now, or neither.
    change = np.where(codes == c, row_shares, np.where(codes == rival, -row_shares, 0.0))
    takes = probabilities[:, c] > 0.0
    values, number = np.unique(needed[takes], return_inverse=True)
    right = np.append(0.0, np.cumsum(np.bincount(number, change[takes], len(values))))
    low, high = np.append(0.0, values), np.append(values, np.inf)  # factors that take the rows up to the one at `low`
    is_best = (high > low) & (right >= right[high > low].max() - 1e-12)
    return _nearest(low[is_best], high[is_best], float(factors[c]))


def _nearest(low: NDArray[np.float64], high: NDArray[np.float64], now: float) -> float:
    """`now` if it is in one of these ranges, else the middle, in logarithms, of the nearest."""
    if np.any((low < now) & (now <= high)):
        return now
    middle = np.where(low <= 0.0, high / 2.0, np.where(np.isinf(high), low * 2.0, np.sqrt(low * high)))
    return float(middle[np.argmin(np.abs(np.log(middle / now)))])
