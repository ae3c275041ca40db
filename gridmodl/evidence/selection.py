"""Weights of the columns of a naive Bayes classifier: few columns that say much, priced by the length of a code.

    P_w(class | row)  ~  P(class) * product over columns k of (P(class | value) / P(class)) ^ w_k,      0 <= w_k <= 1

    cost(w)  =  - sum over rows of log P_w(class of the row | row)  +  PRIOR_WEIGHT * sum_k  price_k * w_k ^ EXPONENT

    price_k  =  log K + preparation cost of column k

K is the number of all columns, informative or not; `preparation_cost` is in `gridmodl.evidence.prices`. The
constants, 0.1 and 0.95, are those of Khiops 11 (``SNBAttributeSelectionScorer``; before, the first was 0.25). For a
column that Khiops constructs from others, the cost of the construction takes the place of log K. Khiops also adds a
code of the number of columns (the sum of the weights, rounded up) and subtracts the log of its factorial; this term is
not continuous, and is left out here.

The first sum is convex in w, and its class terms are linear: the only nonlinear term of a row is one log of a sum over
the classes. The second sum is concave, but hardly so: with exponent 1 it is at most 0.019 PRIOR_WEIGHT price_k lower
for each column in use, and the minimum with exponent 1 is a floor of the cost.

As w ^ 0.95 rises steeply from 0, a column is in or out. Search: beginning with no column, the column enters for which
the cost with exponent 1 falls fastest (several at once when many are in use), and all weights in use are then optimized
together (L-BFGS-B), until no column outside can help. This test misses no column that would help while the other
weights stay as they are: by convexity, such a column lowers the cost only if the slope of the first sum is below minus
PRIOR_WEIGHT price_k. It does not prove that no other weights of all columns cost less. A column leaves when its weight
falls to 0, or when the cost is lower without it. So a copy of a column is in use only where the column has full weight.
No step is random, rows with the same lines are one row with a count, and columns are taken in descending
order of level: the order of rows does not matter, and that of columns only where levels are equal.

C. Hue, M. Boullé, "Fractional Naive Bayes (FNB): non-convex optimization for a parsimonious weighted selective naive
Bayes classifier", arXiv 2409.11100, 2024; M. Boullé, "Compression-based averaging of selective naive Bayes
classifiers", JMLR 8, 2007.

Compiled loops add up the evidence of a row for class j,  log P(j) + sum_k  w_k * evidence of column k for j.  The
evidence of all columns is in one table, one line for each line of a source (a part, or a knot of an average) and last a
line of zeros, for values that say nothing; `lines` holds for each column and row the line to read. Rows are taken a few
at a time: the sums stay in the processor's cache, and no array of rows times classes is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gridmodl.jit.template import bind

PRIOR_WEIGHT = 0.1
EXPONENT = 0.95
LEAST_WEIGHT = 1e-4  # of a column in use; w ^ EXPONENT rises ever more steeply near 0
ENTERING_WEIGHT = 0.5
FEW = 5  # one column enters at a time, and one more for each FEW columns in use
PRECISION = 1e-8  # relative fall of the cost below which a change does not count
# Precision of weights, as tolerances of the cost per row; rough weights suffice to choose the column that enters next.
ROUGH = {"ftol": 1e-5, "gtol": 1e-4, "maxiter": 1000}
FINE = {"ftol": 1e-10, "gtol": 1e-7, "maxiter": 1000}
CACHED = 4096  # rows times classes added up at a time: 32 kB


class Selection(NamedTuple):
    """The data on which the cost of weights depends."""

    evidence: Evidence
    lines: NDArray[np.int32]  # for each column and distinct row, the line of the table
    rows: NDArray[np.float64]  # number of rows of each distinct row
    prior: float  # sum over all rows of the log of the share of their class
    observed: NDArray[np.float64]  # for each column, sum over all rows of the evidence for their class
    prices: NDArray[np.float64]  # of each column, times PRIOR_WEIGHT

    @property
    def columns(self) -> NDArray[np.int64]:
        return np.arange(len(self.prices))

    def cost(self, weights: NDArray[np.float64]) -> float:
        loss, _ = self.slopes(weights, np.flatnonzero(weights))
        return loss + float(self.prices @ weights**EXPONENT)

    def slopes(self, weights: NDArray[np.float64], columns: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
        """First sum of the cost, and its derivatives by the weights of `columns`, which include all columns in use."""
        of_logs, observed = np.empty(len(columns)), self.observed[columns]
        reading = self.evidence.reading(self.lines, columns, weights)
        total = bind(sum_and_slopes)(reading, self.rows, self.evidence.buffer(), of_logs)
        return total - self.prior - float(observed @ weights[columns]), of_logs - observed

    def without(self, weights: NDArray[np.float64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cost without each of `columns`, which include all columns in use."""
        ends = np.append(self.evidence.offsets[1:], len(self.evidence.table) - 1)
        of_lines = np.append(np.repeat(weights, ends - self.evidence.offsets), 0.0)
        totals, used = np.empty(len(columns)), weights[columns]
        lifts = np.exp(-of_lines[:, None] * self.evidence.table)
        reading = self.evidence.reading(self.lines, columns, weights)
        bind(sums_without)(reading, self.rows, self.evidence.buffer(), lifts, totals)
        of_each = self.prices[columns] * used**EXPONENT - self.observed[columns] * used
        costs: NDArray[np.float64] = totals - self.prior + of_each.sum() - of_each
        return costs


def make_selection(
    evidence: Evidence,
    parts: Sequence[NDArray[np.int64]],
    row_weights: NDArray[np.int64] | None,
    class_rows: NDArray[np.int64],
    observed: NDArray[np.float64],
    prices: NDArray[np.float64],
) -> Selection:
    """Build the selection from the part of each training row in each column; other arguments as in `Selection`."""
    n_parts = np.diff(evidence.offsets, append=len(evidence.table) - 1)
    distinct, rows = distinct_rows(parts, n_parts.tolist(), row_weights)
    prior = float(class_rows @ evidence.log_prior)
    return Selection(evidence, evidence.lines_of(distinct, len(rows)), rows, prior, observed, PRIOR_WEIGHT * prices)


def distinct_rows(
    parts: Sequence[NDArray[np.int64]], n_parts: Sequence[int], row_weights: NDArray[np.int64] | None
) -> tuple[list[NDArray[np.int64]], NDArray[np.float64]]:
    """The distinct rows of parts, in an order that depends on the parts alone, and the number of rows of each."""
    key, size = np.zeros(len(parts[0]), dtype=np.int64), 1
    for part, n in zip(parts, n_parts, strict=True):
        if size * n >= 2**62:  # beyond this the key would overflow
            values, key = np.unique(key, return_inverse=True)
            size = len(values)
        key, size = key * n + part, size * n
    _, at, row = np.unique(key, return_index=True, return_inverse=True)
    return [part[at] for part in parts], np.bincount(row, row_weights, len(at)).astype(np.float64)


def rows_by_class(
    line: NDArray[np.int64], codes: NDArray[np.int64], rows: NDArray[np.int64], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Number of rows by line and class: whole numbers, so that sums over them do not depend on the order of rows."""
    n_lines, n_classes = shape
    known = line >= 0
    places = line[known] * n_classes + codes[known]
    counts: Any = np.bincount(places, rows[known], n_lines * n_classes)
    return counts.astype(np.float64).reshape(shape)


def sum_and_slopes(reading: Reading, rows: Any, sums: Any, slopes: Any) -> float:
    """Sum over rows of the log of the total evidence; fill `slopes` with its derivatives by the weights."""
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
    """Fill `totals` with the sum over rows of the log of the total evidence without each of the columns.

    `lifts` holds for each line of the table the factor of a probability without the line, exp(- weight * log share).
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
    """The best weights found; they cost no more than no column, any single column, or all columns."""
    best = _descend(selection, np.zeros(len(selection.prices)))
    for weights in _plain_weights(selection, best):
        if selection.cost(weights) < best.cost:
            best = _descend(selection, weights)
    return best.weights


class _Weighting(NamedTuple):
    weights: NDArray[np.float64]
    cost: float


def _plain_weights(selection: Selection, best: _Weighting) -> Iterator[NDArray[np.float64]]:
    """Weights of 1 for each column alone and for all columns, except those that by convexity cannot cost less."""
    loss, slopes = selection.slopes(best.weights, selection.columns)
    floors = loss - float(slopes @ best.weights) + slopes + selection.prices
    for k in np.flatnonzero(floors < best.cost).tolist():
        yield np.eye(1, len(floors), k)[0]
    if loss + float(slopes @ (1.0 - best.weights) + selection.prices.sum()) < best.cost:
        yield np.ones(len(floors))


def _descend(selection: Selection, weights: NDArray[np.float64]) -> _Weighting:
    """Let columns enter and leave as long as that lowers the cost."""
    best = _Weighting(weights, selection.cost(weights))
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


def _entered(selection: Selection, best: _Weighting, options: Mapping[str, float]) -> _Weighting | None:
    """Add the columns for which the cost falls fastest if that helps, else the first column that helps alone."""
    _, slopes = selection.slopes(best.weights, selection.columns)
    fall = np.where(best.weights > 0.0, -math.inf, -slopes - selection.prices)
    order = np.argsort(-fall, kind="stable")
    order = order[fall[order] > PRECISION * best.cost]
    # Copies of a column have the same fall: one of them enters, and the others are tried again beside it.
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


def _left(selection: Selection, best: _Weighting) -> _Weighting | None:
    """Drop the column without which the rest costs least, if that lowers the cost."""
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
    selection: Selection, best: _Weighting, weights: NDArray[np.float64], options: Mapping[str, float]
) -> _Weighting | None:
    """The best weights of the columns in use in `weights`, if they cost less than `best`."""
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
    return _Weighting(weights, cost) if cost < best.cost * (1.0 - PRECISION) else None


class Reading(NamedTuple):
    """The lines of the table that rows read, and the weights of the columns: the input of all loops."""

    lines: NDArray[np.int32]  # for each column and row, the line of the table
    columns: NDArray[np.int64]  # the columns to read
    table: NDArray[np.float64]
    weights: NDArray[np.float64]  # of the columns to read
    log_prior: NDArray[np.float64]


class Evidence(NamedTuple):
    """Logs of the shares of classes, and evidence of the lines of columns."""

    log_prior: NDArray[np.float64]  # of each class
    table: NDArray[np.float64]  # of each line of each column, by class; last a line of zeros
    offsets: NDArray[np.int64]  # the first line of each column

    def lines_of(self, parts: Iterable[NDArray[np.int64]], n_rows: int) -> NDArray[np.int32]:
        """The line of the table for each column and row, given the part; part -1 is the line of zeros."""
        lines = np.empty((len(self.offsets), n_rows), dtype=np.int32)
        for k, part in enumerate(parts):
            np.add(part, self.offsets[k], out=lines[k], casting="unsafe")
            is_unknown = part < 0
            if is_unknown.any():
                lines[k][is_unknown] = len(self.table) - 1
        return lines

    def reading(self, lines: NDArray[np.int32], columns: NDArray[np.int64], weights: NDArray[np.float64]) -> Reading:
        """The reading of `columns`; `weights` are those of all columns."""
        return Reading(lines, columns, self.table, weights[columns], self.log_prior)

    def buffer(self) -> NDArray[np.float64]:
        n_classes = len(self.log_prior)
        return np.empty((max(1, CACHED // n_classes), n_classes))


def make_evidence(class_shares: NDArray[np.float64], log_shares: Sequence[NDArray[np.float64]]) -> Evidence:
    """Build the evidence from the shares of the classes, and for each column the evidence of its lines."""
    offsets = np.cumsum([0, *(len(shares) for shares in log_shares)])
    table = np.concatenate([*log_shares, np.zeros((1, len(class_shares)))])
    return Evidence(np.log(class_shares), table, offsets[:-1])


def add_up(reading: Reading, first: int, last: int, sums: Any) -> None:
    """Fill the first lines of `sums` with the evidence of rows `first` to `last` - 1."""
    lines, columns, table, weights, log_prior = reading
    n_classes = len(log_prior)
    for i in range(last - first):
        for j in range(n_classes):
            sums[i, j] = log_prior[j]
    for k in range(len(columns)):
        column, weight = columns[k], weights[k]
        if weight == 0.0:
            continue
        for i in range(last - first):
            line = lines[column, first + i]
            for j in range(n_classes):
                sums[i, j] += weight * table[line, j]


def to_shares(sums: Any, i: int) -> float:
    """Turn line i of `sums` from evidence into probabilities; return the log of the sum that they were divided by."""
    largest = sums[i, 0]
    for j in range(1, sums.shape[1]):
        largest = max(largest, sums[i, j])
    total = 0.0
    for j in range(sums.shape[1]):
        sums[i, j] = math.exp(sums[i, j] - largest)
        total += sums[i, j]
    for j in range(sums.shape[1]):
        sums[i, j] /= total
    return largest + math.log(total)
