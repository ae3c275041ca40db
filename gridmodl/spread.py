"""How a numerical target lies in each part of a column: its mean and percentiles, exact from the rows."""

from __future__ import annotations

import numbers
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PERCENTILES = np.arange(101)


class Prediction(NamedTuple):
    """What a part says of a numerical target, for each row."""

    mean: NDArray[np.float64]
    median: NDArray[np.float64]
    lower: NDArray[np.float64]  # ends of the central interval that holds the share of rows asked for
    upper: NDArray[np.float64]


class Spread(NamedTuple):
    """The target in each part, and at the end in all rows: those stand in for a part without rows."""

    means: NDArray[np.float64]
    percentiles: NDArray[np.float64]  # by part: the minimum, 1 %, 2 %, ... 99 %, the maximum

    def quantile(self, share: float) -> NDArray[np.float64]:
        """The quantile of each part at a share of 0 to 1, in a straight line between two percentiles."""
        place = min(max(share, 0.0), 1.0) * 100.0
        low = min(int(place), 99)
        return _between(self.percentiles[:, low], self.percentiles[:, low + 1], place - low)

    def predict(self, parts: NDArray[np.int64], coverage: float) -> Prediction:
        """For each row, given its part, or -1 where there is none."""
        if not isinstance(coverage, numbers.Real) or isinstance(coverage, bool) or not 0 <= coverage <= 1:
            raise ValueError(f"coverage must be a share of rows from 0 to 1, got {coverage!r}")
        tail = (1.0 - float(coverage)) / 2.0
        of_parts = (self.means, self.quantile(0.5), self.quantile(tail), self.quantile(1.0 - tail))
        return Prediction(*(statistic[parts] for statistic in of_parts))


def make_spread(
    target: NDArray[np.float64], parts: NDArray[np.int64], weights: NDArray[np.int64] | None, n_parts: int
) -> Spread:
    """The spread of a target over parts, given the part of each row; a row of weight w is w rows."""
    means, percentiles = np.empty(n_parts + 1), np.empty((n_parts + 1, len(PERCENTILES)))
    order = np.argsort(target, kind="stable")
    means[-1], percentiles[-1] = _of_sorted(target[order], None if weights is None else weights[order])
    order = order[np.argsort(parts[order], kind="stable")]
    ends = np.cumsum(np.bincount(parts, minlength=n_parts))
    for i in range(n_parts):
        mine = order[(ends[i - 1] if i else 0) : ends[i]]
        if len(mine):
            means[i], percentiles[i] = _of_sorted(target[mine], None if weights is None else weights[mine])
        else:
            means[i], percentiles[i] = means[-1], percentiles[-1]
    return Spread(means, percentiles)


def _of_sorted(values: NDArray[np.float64], weights: NDArray[np.int64] | None) -> tuple[float, NDArray[np.float64]]:
    """Mean and percentiles of ascending values, as of a list in which each stands as often as its weight says."""
    n_rows = len(values) if weights is None else int(weights.sum())
    shares = 1.0 / n_rows if weights is None else weights / n_rows
    mean = float(np.sum(values * shares))  # never beyond the largest float, as the sum of the values may be
    place = PERCENTILES * (n_rows - 1)
    low, share = place // 100, place % 100 / 100.0
    high = np.minimum(low + 1, n_rows - 1)
    if weights is not None:
        ends = np.cumsum(weights)
        low, high = np.searchsorted(ends, low, side="right"), np.searchsorted(ends, high, side="right")
    percentiles = np.maximum.accumulate(_between(values[low], values[high], share))
    return min(max(mean, float(percentiles[0])), float(percentiles[-1])), percentiles


def _between(
    low: NDArray[np.float64], high: NDArray[np.float64], share: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """In a straight line from `low` to `high`, whose difference may be beyond the largest float; never outside."""
    return np.clip((1.0 - share) * low + share * high, low, high)
