"""Mean and percentiles of a numerical target in each part of a column, and predictions from them.

They are exact when computed from rows; the percentiles of merged parts, whose rows are not known, are approximate.
"""

from __future__ import annotations

import numbers
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PERCENTILES = np.arange(101)
N_POINTS = 1000  # points that stand for the target in one part when parts are merged


class Prediction(NamedTuple):
    """Prediction of a numerical target, one entry per row: statistics of the training rows in the same part."""

    mean: NDArray[np.float64]  #: mean of these rows
    median: NDArray[np.float64]  #: median of these rows
    lower: NDArray[np.float64]  #: lower end of the central interval that holds the share ``coverage`` of these rows
    upper: NDArray[np.float64]  #: upper end of this interval


class TargetQuantiles(NamedTuple):
    """Mean and percentiles of the target in each part, and last in all rows; a part without rows has those of all."""

    means: NDArray[np.float64]
    percentiles: NDArray[np.float64]  # by part: the minimum, 1 %, 2 %, ... 99 %, the maximum

    def quantile(self, share: float) -> NDArray[np.float64]:
        """Quantile of each part at `share`, from 0 to 1, interpolated between two percentiles."""
        place = min(max(share, 0.0), 1.0) * 100.0
        low = min(int(place), 99)
        return _between(self.percentiles[:, low], self.percentiles[:, low + 1], place - low)

    def without_all(self) -> TargetQuantiles:
        """The same without the entry of all rows."""
        return TargetQuantiles(self.means[:-1], self.percentiles[:-1])

    def boxes(self) -> NDArray[np.float64]:
        """Quantiles of each part at 5, 25, 50, 75 and 95 %, for box plots; without the entry of all rows."""
        return np.column_stack([self.quantile(share)[:-1] for share in (0.05, 0.25, 0.5, 0.75, 0.95)])

    def predict(self, parts: NDArray[np.int64], coverage: float) -> Prediction:
        """Predict the target of each row, given its part; -1 stands for all rows."""
        if not isinstance(coverage, numbers.Real) or isinstance(coverage, bool) or not 0 <= coverage <= 1:
            raise ValueError(f"coverage must be a share of rows from 0 to 1, got {coverage!r}")
        tail = (1.0 - float(coverage)) / 2.0
        of_parts = (self.means, self.quantile(0.5), self.quantile(tail), self.quantile(1.0 - tail))
        return Prediction(*(statistic[parts] for statistic in of_parts))


def make_target_quantiles(
    target: NDArray[np.float64], parts: NDArray[np.int64], weights: NDArray[np.int64] | None, n_parts: int
) -> TargetQuantiles:
    """Compute the `TargetQuantiles` of a target, given the part of each row; a row of weight w counts as w rows."""
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
    return TargetQuantiles(means, percentiles)


def _of_sorted(values: NDArray[np.float64], weights: NDArray[np.int64] | None) -> tuple[float, NDArray[np.float64]]:
    """Mean and percentiles of ascending values, each repeated as often as its weight says."""
    n_rows = len(values) if weights is None else int(weights.sum())
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    of_value = np.add.reduceat(np.ones(len(values), dtype=np.int64) if weights is None else weights, starts)
    starts, of_value = starts[of_value > 0], of_value[of_value > 0]
    # By value, so that rows and their counts have the same digits. The sum of the values could overflow.
    mean = float(np.sum(values[starts] * (of_value / n_rows)))
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
    """Interpolate from `low` to `high`, never outside, also if their difference would overflow."""
    return np.clip((1.0 - share) * low + share * high, low, high)


def merged_target_quantiles(
    quantiles: TargetQuantiles, rows: NDArray[np.int64], parts: NDArray[np.int64], n_parts: int | None = None
) -> TargetQuantiles:
    """`TargetQuantiles` of merged parts, given the `rows` of each part and the merged part that it goes to, `parts`.

    `n_parts` is the number of merged parts, by default those that `parts` names. Means are exact. Percentiles are
    approximate, from straight lines between the percentiles of the parts.
    """
    means, percentiles = [], []
    for i in range(int(parts.max()) + 1 if n_parts is None else n_parts):
        mine = np.flatnonzero((parts == i) & (rows > 0))
        if len(mine) == 0 or len(mine) == np.count_nonzero(rows):
            mine = np.array([len(rows)])  # the entry of all rows, also for a part without rows
        weights = rows[mine] / rows[mine].sum() if mine[0] < len(rows) else np.ones(1)
        mixed = _mixed_percentiles(quantiles.percentiles[mine], weights)
        means.append(min(max(float(np.sum(weights * quantiles.means[mine])), mixed[0]), mixed[-1]))  # against rounding
        percentiles.append(mixed)
    return TargetQuantiles(np.append(means, quantiles.means[-1]), np.vstack([*percentiles, quantiles.percentiles[-1]]))


def _mixed_percentiles(percentiles: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Percentiles of merged parts; each part stands for N_POINTS points on the lines between its percentiles."""
    if len(percentiles) == 1:
        return percentiles[0]
    lowest, highest = percentiles[:, 0].min(), percentiles[:, -1].max()
    scale = 4.0 if max(-lowest, highest) > 1e307 else 1.0  # else differences could overflow
    places = (np.arange(N_POINTS) + 0.5) * (PERCENTILES[-1] / N_POINTS)
    points = np.concatenate([np.interp(places, PERCENTILES, own / scale) for own in percentiles])
    weight = np.repeat(weights / N_POINTS, N_POINTS)
    order = np.argsort(points, kind="stable")
    middle = np.cumsum(weight[order]) - weight[order] / 2.0
    mixed = np.interp(PERCENTILES / PERCENTILES[-1], middle, points[order])
    mixed = scale * np.clip(np.maximum.accumulate(mixed), lowest / scale, highest / scale)  # against rounding
    mixed[0], mixed[-1] = lowest, highest
    return mixed
