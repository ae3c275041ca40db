"""Weights of the columns of a naive Bayes classifier: few columns that say much, priced by the length of a code.

    P_w(class | row)  ~  P(class) * product over columns k of P(part of column k | class) ^ w_k,        0 <= w_k <= 1

    cost(w)  =  - sum over rows of log P_w(class of the row | row)  +  PRIOR_WEIGHT * sum_k  price_k * w_k ^ EXPONENT

    price_k  =  log K + preparation cost of column k

K is the number of all columns, informative or not; the preparation cost is that of `gridmodl.estimators.preparation`.
The constants, 0.1 and 0.95, are those of Khiops 11 (``SNBAttributeSelectionScorer``; before, the first was 0.25). For a
column that it made itself, out of others, Khiops has the cost of that construction in place of log K. It adds a code of
the number of columns, the sum of the weights rounded up, and takes off the log of its factorial; that term jumps, and
is left out here.

The first sum is convex in w, and its class terms are linear: what remains to be done for each row is one log of a sum
over the classes. The second is concave, but hardly so: with exponent 1 it is at most 0.019 PRIOR_WEIGHT price_k lower
for each column in use, and the minimum with exponent 1 is a floor of the cost.

As w ^ 0.95 rises steeply from 0, a column is in or out. Search: beginning with none, the column enters at which the
cost with exponent 1 falls fastest (several at once when many are in use), and all weights in use are then made optimal
together (L-BFGS-B), until no column outside can help. That test misses none that would help while the other weights
stay as they are: by convexity, such a column lowers the cost only if the slope of the first sum is below - PRIOR_WEIGHT
price_k. It does not prove that no other weights of all columns cost less. A column leaves when its weight falls to 0,
or when the cost is lower without it. So a copy of a column is in use only where the column has full weight. No step is
random, rows that are alike in all columns are one row with a count, and columns are taken in descending order of level:
the order of rows does not matter, and that of columns only where levels are equal.

C. Hue, M. Boullé, "Fractional Naive Bayes (FNB): non-convex optimization for a parsimonious weighted selective naive
Bayes classifier", arXiv 2409.11100, 2024; M. Boullé, "Compression-based averaging of selective naive Bayes
classifiers", JMLR 8, 2007.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gridmodl.estimators.evidence import Evidence, Reading, add_up, to_shares
from gridmodl.template import bind

PRIOR_WEIGHT = 0.1
EXPONENT = 0.95
LEAST_WEIGHT = 1e-4  # of a column in use; w ^ EXPONENT rises ever more steeply near 0
ENTERING_WEIGHT = 0.5
FEW = 5  # one column enters at a time while so many are not yet in use, then one more for each so many that are
PRECISION = 1e-8  # what lowers the cost by a smaller share of it does not count
# How precise weights are: rough ones tell which column is to enter next. Both are of the cost per row.
ROUGH = {"ftol": 1e-5, "gtol": 1e-4, "maxiter": 1000}
FINE = {"ftol": 1e-10, "gtol": 1e-7, "maxiter": 1000}


class Selection(NamedTuple):
    """What the cost of weights depends on."""

    evidence: Evidence
    lines: NDArray[np.int32]  # for each column and distinct row, the line of the table
    rows: NDArray[np.float64]  # how often each distinct row is there
    told: float  # sum over all rows of the log of the share of their class
    observed: NDArray[np.float64]  # for each column, sum over all rows of the log of the share of the part in the class
    prices: NDArray[np.float64]  # of each column, times PRIOR_WEIGHT

    @property
    def columns(self) -> NDArray[np.int64]:
        return np.arange(len(self.prices))

    def cost(self, weights: NDArray[np.float64]) -> float:
        loss, _ = self.slopes(weights, np.flatnonzero(weights))
        return loss + float(self.prices @ weights**EXPONENT)

    def slopes(self, weights: NDArray[np.float64], columns: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
        """The first sum of the cost, and its slopes in the weights of these columns, which hold all that are in use."""
        of_logs, observed = np.empty(len(columns)), self.observed[columns]
        reading = self.evidence.reading(self.lines, columns, weights)
        total = bind(sum_and_slopes)(reading, self.rows, self.evidence.workspace(), of_logs)
        return total - self.told - float(observed @ weights[columns]), of_logs - observed

    def without(self, weights: NDArray[np.float64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cost without each of these columns, which hold all that are in use."""
        ends = np.append(self.evidence.offsets[1:], len(self.evidence.table) - 1)
        of_lines = np.append(np.repeat(weights, ends - self.evidence.offsets), 0.0)
        totals, used = np.empty(len(columns)), weights[columns]
        lifts = np.exp(-of_lines[:, None] * self.evidence.table)
        reading = self.evidence.reading(self.lines, columns, weights)
        bind(sums_without)(reading, self.rows, self.evidence.workspace(), lifts, totals)
        of_each = self.prices[columns] * used**EXPONENT - self.observed[columns] * used
        costs: NDArray[np.float64] = totals - self.told + of_each.sum() - of_each
        return costs


def make_selection(
    evidence: Evidence,
    parts: Sequence[NDArray[np.int64]],
    row_weights: NDArray[np.int64] | None,
    class_rows: NDArray[np.int64],
    observed: NDArray[np.float64],
    prices: NDArray[np.float64],
) -> Selection:
    """From the part of each training row in each column; the other arguments are as in `Selection`."""
    n_parts = np.diff(evidence.offsets, append=len(evidence.table) - 1)
    distinct, rows = distinct_rows(parts, n_parts.tolist(), row_weights)
    told = float(class_rows @ evidence.log_prior)
    return Selection(evidence, evidence.lines_of(distinct, len(rows)), rows, told, observed, PRIOR_WEIGHT * prices)


def distinct_rows(
    parts: Sequence[NDArray[np.int64]], n_parts: Sequence[int], row_weights: NDArray[np.int64] | None
) -> tuple[list[NDArray[np.int64]], NDArray[np.float64]]:
    """Rows that differ in a part of some column, in an order that depends on nothing else, and how often each is."""
    key, size = np.zeros(len(parts[0]), dtype=np.int64), 1
    for part, n in zip(parts, n_parts, strict=True):
        if size * n >= 2**62:  # Python's whole numbers have no end
            values, key = np.unique(key, return_inverse=True)
            size = len(values)
        key, size = key * n + part, size * n
    _, at, row = np.unique(key, return_index=True, return_inverse=True)
    return [part[at] for part in parts], np.bincount(row, row_weights, len(at)).astype(np.float64)


def sum_and_slopes(reading: Reading, rows: Any, sums: Any, slopes: Any) -> float:
    """The sum over rows of the log of the total evidence; its slopes in the weights go into `slopes`."""
    lines, columns, table, _, log_prior = reading
    total = 0.0
    for k in range(len(columns)):
        slopes[k] = 0.0
    for first in range(0, len(rows), len(sums)):
        last = min(first + len(sums), len(rows))
        add_up(reading, first, last, sums)
        for i in range(last - first):
            total += rows[first + i] * to_shares(sums, i)
            for j in range(len(log_prior)):
                sums[i, j] *= rows[first + i]
        for k in range(len(columns)):
            slope = 0.0
            for i in range(last - first):
                line = lines[columns[k], first + i]
                for j in range(len(log_prior)):
                    slope += sums[i, j] * table[line, j]
            slopes[k] += slope
    return total


def sums_without(reading: Reading, rows: Any, sums: Any, lifts: Any, totals: Any) -> None:
    """The sum over rows of the log of the total evidence without each of the columns, into `totals`.

    `lifts` has for each line of the table by how much a probability rises without it, exp(- weight * log share).
    """
    lines, columns, _, _, log_prior = reading
    for k in range(len(columns)):
        totals[k] = 0.0
    for first in range(0, len(rows), len(sums)):
        last = min(first + len(sums), len(rows))
        add_up(reading, first, last, sums)
        total = 0.0
        for i in range(last - first):
            total += rows[first + i] * to_shares(sums, i)
        for k in range(len(columns)):
            totals[k] += total
            for i in range(last - first):
                line, lifted = lines[columns[k], first + i], 0.0
                for j in range(len(log_prior)):
                    lifted += sums[i, j] * lifts[line, j]
                totals[k] += rows[first + i] * math.log(lifted)


def selective_weights(selection: Selection) -> NDArray[np.float64]:
    """The weight of each column: the best found, and none, any one column alone or all of them cost no less."""
    best = _descend(selection, np.zeros(len(selection.prices)))
    for rival in _rivals(selection, best):
        if selection.cost(rival) < best.cost:
            best = _descend(selection, rival)
    return best.weights


class _Found(NamedTuple):
    weights: NDArray[np.float64]
    cost: float


def _rivals(selection: Selection, best: _Found) -> Iterator[NDArray[np.float64]]:
    """One column alone and all of them, at full weight, unless by convexity they cannot cost less."""
    loss, slopes = selection.slopes(best.weights, selection.columns)
    floors = loss - float(slopes @ best.weights) + slopes + selection.prices
    for k in np.flatnonzero(floors < best.cost).tolist():
        yield np.eye(1, len(floors), k)[0]
    if loss + float(slopes @ (1.0 - best.weights) + selection.prices.sum()) < best.cost:
        yield np.ones(len(floors))


def _descend(selection: Selection, weights: NDArray[np.float64]) -> _Found:
    """Let columns enter and leave as long as that lowers the cost."""
    best = _Found(weights, selection.cost(weights))
    while True:
        better = (
            _entered(selection, best, ROUGH)
            or _improved(selection, best, best.weights, FINE)
            or _entered(selection, best, FINE)
            or _left(selection, best)
        )
        if better is None:
            return best
        best = better


def _entered(selection: Selection, best: _Found, options: Mapping[str, float]) -> _Found | None:
    """With more columns: those at which the cost falls fastest, if that helps, else the first that helps alone."""
    _, slopes = selection.slopes(best.weights, selection.columns)
    fall = np.where(best.weights > 0.0, -math.inf, -slopes - selection.prices)
    order = np.argsort(-fall, kind="stable")
    order = order[fall[order] > PRECISION * best.cost]
    # Columns that say the same fall alike: of those one enters, and the others are looked at again beside it.
    differs = np.append(True, -np.diff(fall[order]) > 1e-9 * fall[order][:-1])[: len(order)]
    n_entering = 1 + np.count_nonzero(best.weights) // FEW
    several = order[differs][:n_entering]
    if len(several) > 1:
        better = _improved(selection, best, _with_weight(best.weights, several, ENTERING_WEIGHT), options)
        if better is not None:
            return better
    for k in order:
        better = _improved(selection, best, _with_weight(best.weights, k, ENTERING_WEIGHT), options)
        if better is not None:
            return better
    return None


def _left(selection: Selection, best: _Found) -> _Found | None:
    """Without the column without which the rest costs least, if that is less."""
    columns = np.flatnonzero(best.weights)
    if len(columns) == 0:
        return None
    costs = selection.without(best.weights, columns)
    k = int(costs.argmin())
    if costs[k] >= best.cost * (1.0 - PRECISION):
        return None
    return _improved(selection, best, _with_weight(best.weights, columns[k], 0.0), FINE)


def _with_weight(weights: NDArray[np.float64], k: Any, weight: float) -> NDArray[np.float64]:
    changed = weights.copy()
    changed[k] = weight
    return changed


def _improved(
    selection: Selection, best: _Found, weights: NDArray[np.float64], options: Mapping[str, float]
) -> _Found | None:
    """The best weights of the columns that are in use in `weights`, if they cost less."""
    weights, columns = weights.copy(), np.flatnonzero(weights)
    prices, scale = selection.prices[columns], 1.0 / selection.rows.sum()

    def cost_and_slopes(used: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights[columns] = used
        loss, slopes = selection.slopes(weights, columns)
        cost = loss + float(prices @ used**EXPONENT)
        return scale * cost, scale * (slopes + EXPONENT * prices * used ** (EXPONENT - 1.0))

    if len(columns):
        bounds = [(LEAST_WEIGHT, 1.0)] * len(columns)
        found = minimize(cost_and_slopes, weights[columns], jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        weights[columns] = np.where(found.x > LEAST_WEIGHT, found.x, 0.0)
    cost = selection.cost(weights)
    return _Found(weights, cost) if cost < best.cost * (1.0 - PRECISION) else None
