"""Choose a class by its probability: the most probable one, or the one that keeps the balanced error low.

A row gets the class with the largest product of probability and factor. For the plain error all factors are 1. The
balanced error is the mean error rate of the classes. Under the true probabilities it is lowest if each factor is 1 over
the share of its class. From there, one class after the other gets the factor that is best on the training rows. For two
classes this is the threshold with the lowest balanced error on the training rows
(M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, 7.3.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.spelling import check_choice

THRESHOLDS = ("balanced", None)
MAX_PASSES = 10  # over all classes; two or three usually suffice


def check_threshold(threshold: Any) -> None:
    check_choice("threshold", threshold, THRESHOLDS)


def plain_factors(n_classes: int) -> NDArray[np.float64]:
    return np.ones(n_classes)


def balanced_factors(
    probabilities: NDArray[np.float64], codes: NDArray[np.integer[Any]], weights: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Factors of the classes that keep the balanced error of the training rows low.

    `codes` are the classes of the rows, `weights` the weights of the rows; every class must have a row.
    """
    n_classes = probabilities.shape[1]
    class_rows = np.bincount(codes, weights, n_classes).astype(np.float64)
    row_shares = (1.0 if weights is None else weights) / class_rows[codes]
    factors = class_rows.sum() / (n_classes * class_rows)
    if n_classes == 1:
        return factors
    leaders = _Leaders(probabilities, codes, row_shares, factors)
    for _ in range(MAX_PASSES):
        if sum(leaders.improve(c) for c in range(n_classes)) == 0:
            break
    return leaders.factors


def decide(probabilities: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.intp]:
    """The number of the class of each row; ties: first."""
    return np.argmax(probabilities * factors, axis=1)


class _Leaders:
    """The two leading classes of each row under the current factors.

    A new factor of a class changes only the rows in which the class leads before or after. Only these are ranked again,
    as there may be hundreds of classes.
    """

    def __init__(
        self,
        probabilities: NDArray[np.float64],
        codes: NDArray[np.integer[Any]],
        row_shares: NDArray[np.float64],
        factors: NDArray[np.float64],
    ) -> None:
        self.probabilities, self.codes, self.row_shares = probabilities, codes, row_shares
        self.factors = factors.copy()
        self.leading = np.empty((2, len(codes)), dtype=np.int64)
        self.values = np.empty((2, len(codes)))
        self._rank(np.arange(len(codes)))

    def _rank(self, rows: NDArray[np.int64]) -> None:
        """Find the two leading classes of each of `rows`; ties: first class."""
        scaled = self.probabilities[rows] * self.factors
        at = np.arange(len(rows))
        for place in range(2):
            best = scaled.argmax(axis=1)
            self.leading[place, rows], self.values[place, rows] = best, scaled[at, best]
            scaled[at, best] = -1.0

    def improve(self, c: int) -> bool:
        """Give class c the factor with the lowest balanced error; return whether the error falls."""
        is_first = self.leading[0] == c
        rival = np.where(is_first, self.leading[1], self.leading[0])
        value = np.where(is_first, self.values[1], self.values[0])
        factor = self._best_factor(c, rival, value)
        # Rounding may give a row at the threshold to another class than `_best_factor` expects.
        if self._right(c, factor, rival, value) <= self._right(c, self.factors[c], rival, value):
            return False
        self.factors[c] = factor
        is_near = (self.leading == c).any(axis=0) | (self.probabilities[:, c] * factor >= self.values[1])
        self._rank(np.flatnonzero(is_near))
        return True

    def _right(self, c: int, factor: float, rival: NDArray[np.int64], value: NDArray[np.float64]) -> float:
        """Sum over the classes of the share of their rows that `decide` gives their own class."""
        own = self.probabilities[:, c] * factor
        takes = (own > value) | ((own == value) & (c < rival))
        return float(self.row_shares[np.where(takes, c, rival) == self.codes].sum())

    def _best_factor(self, c: int, rival: NDArray[np.int64], value: NDArray[np.float64]) -> float:
        """The factor with the largest `_right`; ties: nearest to the current factor."""
        takes = self.probabilities[:, c] > 0.0
        needed = value[takes] / self.probabilities[takes, c]  # a larger factor takes the row
        codes, shares = self.codes[takes], self.row_shares[takes]
        # Gain of a row that changes to class c: right now, right before, or neither.
        change = np.where(codes == c, shares, np.where(codes == rival[takes], -shares, 0.0))
        values, number = np.unique(needed, return_inverse=True)
        right = np.append(0.0, np.cumsum(np.bincount(number, change, len(values))))
        low, high = np.append(0.0, values), np.append(values, np.inf)  # factors that take the rows up to that at `low`
        is_best = (high > low) & (right >= right[high > low].max() - 1e-12)
        return _nearest(low[is_best], high[is_best], float(self.factors[c]))


def _nearest(low: NDArray[np.float64], high: NDArray[np.float64], now: float) -> float:
    """`now` if one of the ranges from `low` to `high` holds it, else the geometric middle of the nearest range."""
    if np.any((low < now) & (now <= high)):
        return now
    middle = np.where(low <= 0.0, high / 2.0, np.where(np.isinf(high), low * 2.0, np.sqrt(low * high)))
    return float(middle[np.argmin(np.abs(np.log(middle / now)))])
