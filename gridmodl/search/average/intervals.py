"""Read off the probabilities of all intervals: predictions, leave-one-out, samples, and the fewest parts that suffice.

The prediction of a segment is the mean of the criterion's `predictive` over the intervals that hold the segment, by
their probabilities. Leaving a row of class j out of an interval divides the weight of its partitions by `predictive`
of the rest, so

    1 / P(class of the row | value, all other rows) = sum over intervals that hold it of P(interval) / predictive(rest)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.average.layers import Layers, Segments, Weighing
from gridmodl.search.moves import labelled_price
from gridmodl.terms import Cell, predictive

NO_MASS = 1e-22  # intervals of a smaller probability are left out


class Predictions(NamedTuple):
    """Probability of each class in each segment, and for a row of it that is left out."""

    shares: NDArray[np.float64]
    left_out: NDArray[np.float64]  # NaN for classes without a row in the segment


def predict_segments(segments: Segments, weighing: Weighing, layers: Layers) -> Predictions:
    """Average the predictions of all intervals."""
    counts = segments.counts
    shares, inverse, of_one = np.zeros((2, *counts.shape)), np.zeros((2, counts.shape[1])), np.zeros_like(counts[0])
    kernel = bind(spread_intervals, weighing.criterion)
    kernel(layers.intervals, cumulated(counts), weighing.setting.p, shares[0], shares[1], inverse, of_one)
    has_rows, left_out = counts > 0, np.full(counts.shape, np.nan)
    left_out[has_rows] = np.minimum(1.0, 1.0 / shares[1][has_rows])
    return Predictions(shares[0] / shares[0].sum(axis=1, keepdims=True), left_out)


def cumulated(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts before each bound."""
    sums = np.zeros((len(counts) + 1, *counts.shape[1:]), dtype=np.int64)
    np.cumsum(counts, axis=0, out=sums[1:])
    return sums


def spread_intervals(intervals: Any, sums: Any, p: Any, shares: Any, inverse: Any, so_far: Any, counts: Any) -> None:
    """Add up what the intervals that hold each segment predict; `so_far` and `counts` are buffers.

    For each begin a, from the last segment to the first: an interval (a, b] holds the segments up to b - 1.
    """
    n_classes = len(counts)
    for a in range(len(shares)):
        so_far[:] = 0.0
        end = len(shares)
        while end > a and intervals[a, end] <= NO_MASS:
            end -= 1
        for b in range(end, a, -1):
            mass = intervals[a, b]
            if mass > NO_MASS:
                rows: Any = np.int64(0)
                for c in range(n_classes):
                    n = sums[b, c] - sums[a, c]
                    counts[c] = n
                    rows += n
                for c in range(n_classes):
                    so_far[0, c] += mass * predictive(p, Cell(counts, rows, 0), c)
                    if counts[c] > 0:
                        counts[c] -= 1
                        so_far[1, c] += mass / predictive(p, Cell(counts, rows - 1, 0), c)
                        counts[c] += 1
            for c in range(n_classes):
                shares[b - 1, c] += so_far[0, c]
                inverse[b - 1, c] += so_far[1, c]


def sample_starts(layers: Layers, n_samples: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Draw partitions: the first segments of the parts of each."""
    n = len(layers.steps) - 1
    below = np.cumsum(layers.p_parts)
    n_parts = 1 + np.minimum(np.searchsorted(below, rng.random(n_samples) * below[-1], side="right"), len(below) - 1)
    is_start = np.zeros((n_samples, n + 1), dtype=np.bool_)
    drawn = rng.random((n_samples, n))
    log_shares = layers.log_shares
    weights = np.zeros(len(log_shares) * n)
    with np.errstate(divide="ignore"):
        log_steps = np.log(layers.steps)
    bind(draw_bounds)(log_steps, layers.log_forth, log_shares, n_parts, drawn, weights, is_start)
    return [np.flatnonzero(starts[:-1]) for starts in is_start]


def draw_bounds(
    log_steps: Any, log_forth: Any, log_shares: Any, n_parts: Any, drawn: Any, weights: Any, is_start: Any
) -> None:
    """Draw the bounds of each sample from the last to the first.

    `drawn` are uniform numbers, one for each draw of a bound and of the number of bounds in its zone together;
    `weights` is a buffer.
    """
    for s in range(len(n_parts)):
        b, i, turn = len(log_steps) - 1, n_parts[s], 0
        while b > 0:
            most, n_most = -np.inf, min(i, len(log_shares))
            for k in range(1, n_most + 1):
                for a in range(b):
                    log_weight = log_shares[k - 1, b] + log_steps[b, a] + log_forth[i - k, a]
                    weights[(k - 1) * b + a] = log_weight
                    most = max(most, log_weight)
            total = 0.0
            for w in range(n_most * b):
                weights[w] = math.exp(weights[w] - most)
                total += weights[w]
            left, at = total * drawn[s, turn], 0
            for w in range(n_most * b):
                if weights[w] > 0.0:
                    at = w
                    left -= weights[w]
                    if left < 0.0:
                        break
            i -= at // b + 1
            b = at % b
            is_start[s, b] = True
            turn += 1


def price_cuts(p: Any, counts: Any, class_rows: Any, below: Any, above: Any, prices: Any) -> None:
    """Price the labelled rows of two intervals, with the bound after each atom; after the last atom, of one."""
    n_below: Any = np.int64(0)
    n_above: Any = np.int64(0)
    for j in range(len(class_rows)):
        above[j] = class_rows[j]
        n_above += above[j]
    for i in range(len(prices)):
        moved: Any = np.int64(0)
        for j in range(len(class_rows)):
            below[j] += counts[i, j]
            above[j] -= counts[i, j]
            moved += counts[i, j]
        n_below += moved
        n_above -= moved
        if i > 0 and moved == 0:  # only labelled rows have a price
            prices[i] = prices[i - 1]
        else:
            prices[i] = labelled_price(p, below, n_below) if n_below > 0 else 0.0
            prices[i] += labelled_price(p, above, n_above) if n_above > 0 else 0.0


class Fewest(NamedTuple):
    """A partition near the curve."""

    starts: NDArray[np.int64]  # first segment of each part
    loss: float  # nats a row


def fewest_parts(
    segments: Segments, weighing: Weighing, shares: NDArray[np.float64], loss: float, n_rows: int, most: int
) -> Fewest:
    """The fewest parts whose predictions lose at most `loss` nats a row against `shares`, at most `most`.

    The loss of a row of the shares p in a part that predicts q is sum_j p_j log(p_j / q_j). If no number of parts is
    that near, the nearest partition.
    """
    n, n_classes = segments.counts.shape
    rows = segments.counts.sum(axis=1, dtype=np.int64)
    expected = np.zeros((n + 1, n_classes + 1))  # before each bound: rows of each class by the curve, and entropies
    np.cumsum(rows[:, None] * shares, axis=0, out=expected[1:, :-1])
    logs = np.log(np.where(shares > 0.0, shares, 1.0))
    np.cumsum(rows * (shares * logs).sum(axis=1), out=expected[1:, -1])
    losses = np.full((n + 1, n + 1), np.inf)
    kernel = bind(fill_losses, weighing.criterion)
    kernel(cumulated(segments.counts), expected, weighing.setting.p, losses, np.zeros_like(segments.counts[0]))
    before, came_from, best = np.full(n + 1, np.inf), [], Fewest(np.zeros(1, dtype=np.int64), math.inf)
    before[0] = 0.0
    for k in range(min(n, most)):
        totals = before[:, None] + losses
        came_from.append(totals.argmin(axis=0))
        before = totals.min(axis=0)
        if before[n] / n_rows < best.loss:
            best = Fewest(_traced(came_from, k), float(before[n]) / n_rows)
        if best.loss <= loss:
            break
    return best


def _traced(came_from: list[NDArray[np.int64]], k: int) -> NDArray[np.int64]:
    """First segments of the k + 1 parts that end at the last bound."""
    starts, at = np.empty(k + 1, dtype=np.int64), -1
    for i in range(k, -1, -1):
        starts[i] = at = int(came_from[i][at])
    return starts


def fill_losses(sums: Any, expected: Any, p: Any, losses: Any, counts: Any) -> None:
    """Write the loss of each interval, by bound a and bound b."""
    n_classes = len(counts)
    for a in range(len(sums)):
        for b in range(a + 1, len(sums)):
            rows: Any = np.int64(0)
            for c in range(n_classes):
                n = sums[b, c] - sums[a, c]
                counts[c] = n
                rows += n
            loss = expected[b, n_classes] - expected[a, n_classes]
            for c in range(n_classes):
                n_expected = expected[b, c] - expected[a, c]
                if n_expected > 0.0:
                    loss -= n_expected * math.log(predictive(p, Cell(counts, rows, 0), c))
            losses[a, b] = loss
