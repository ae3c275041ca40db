"""The best cut of one interval: compiled, without a look at any other interval.

A cut lies in the middle of two neighbouring values and makes two parts. With m rows and width w in a part, n rows and
width W in the interval:

    likelihood   sum over the two parts of m log( (m/n) / (w/W) ), by how much the log-likelihood of its rows rises
                 (G. Schmidberger, E. Frank, "Unsupervised discretization using tree-based density estimation", 2005)
    kernel       1/n sum over the two parts of (m^2 - S)/w, the distance of rows' density m/(w n) from one by a kernel
                 of the part's own width (M. Biba, F. Esposito, S. Ferilli, N. Di Mauro, T. M. A. Basile, "Unsupervised
                 discretization using kernel density estimation", 2007), where S sums Kern((x_i - x_j)/w) over all pairs

S is 1/2 m^2 for a box, 3/4 (m^2 - V/w^2) for Epanechnikov's kernel and m^2 - D/w for a triangle, where V and D are the
sums over all pairs of (x_i - x_j)^2 and |x_i - x_j|. Both grow value by value through the gaps alone, as sums of what
is never negative: differences of sums over all rows would lose all digits in a part that is narrow in the domain.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from gridmodl.template import inlined

TOLERANCE = 1e-9  # scores as near as this are equal, and the lowest cut wins: on round data they often are
NO_CUT = -2.0  # a score, of an interval that cannot be cut
FLAT = -1.0  # of one whose rows no cut makes more likely
NOISE = 1e-12  # nats per row: a rise below that is none
MIN_WIDTH = 1e-100  # of a part, in positions: squares of what is narrower would vanish
LEAF = 8  # candidates that are priced one by one
PROBES = 64  # candidates that are priced before all others
STACK = 128  # twice the depth of halving 2^63 candidates


class Rule(NamedTuple):
    """What a cut is worth, and which cuts are allowed."""

    likelihood: bool
    square: float  # coefficients of m^2, V/w^2 and D/w in m^2 - S
    variance: float
    distance: float
    min_rows: float  # of a part


@inlined
def middle(positions: Any, i: int) -> float:
    """Where a cut above value i lies; never on value i + 1, which belongs to the part above."""
    low, high = positions[i], positions[i + 1]
    at = 0.5 * (low + high)
    return at if at < high else low


def allowed_cuts(positions: Any, before: Any, min_rows: float, interval: Any) -> Any:
    """The first and the last value above which a cut leaves rows and width to both parts; they are all in between.

    An interval is a tuple: its first value, the value after its last, and the positions of its ends.
    """
    first, end, left, right = interval
    low, high = first, end - 1
    while low < high:
        i = (low + high) // 2
        if before[i + 1] - before[first] >= min_rows and middle(positions, i) - left >= MIN_WIDTH:
            high = i
        else:
            low = i + 1
    lowest = low
    low, high = lowest, end - 1
    while low < high:
        i = (low + high) // 2
        if before[end] - before[i + 1] >= min_rows and right - middle(positions, i) >= MIN_WIDTH:
            low = i + 1
        else:
            high = i
    return lowest, low - 1


@inlined
def rise(m: float, w: float, n: float, v: float, width: float) -> float:
    """By how much the log-likelihood rises with m rows in width w and n rows in width v, all in `width`."""
    rows = m + n
    return m * math.log(m * width / (rows * w)) + n * math.log(n * width / (rows * v))


def best_by_likelihood(positions: Any, before: Any, min_rows: float, interval: Any, stack: Any, work: Any) -> Any:
    """The score of the best cut and the value below it.

    The rise is convex in rows and width together (it is a Kullback-Leibler divergence), so over a run of candidates it
    is at most what it is at a corner of the smallest box around them. Runs that cannot hold the best are left closed:
    of a million rows a tenth of the candidates is priced where all is noise, less than a hundredth where it is not.
    """
    first, end, left, right = interval
    lowest, highest = allowed_cuts(positions, before, min_rows, interval)
    if highest < lowest:
        return NO_CUT, -1
    best, width = 0.0, right - left
    for i in range(lowest, highest + 1, max(1, (highest - lowest) // PROBES)):
        at = middle(positions, i)
        score = rise(before[i + 1] - before[first], at - left, before[end] - before[i + 1], right - at, width)
        best = max(best, score)
    cut = -1
    for is_second in range(2):  # find the largest score, then the lowest cut that is as good
        least = best * (1.0 - TOLERANCE) if is_second else best
        stack[0], stack[1] = lowest, highest
        n_open = 1
        while n_open > 0 and cut < 0:
            n_open -= 1
            low, high = stack[2 * n_open], stack[2 * n_open + 1]
            work[0] += high - low + 1 if high - low < LEAF else 4
            if high - low < LEAF:
                for i in range(low, high + 1):
                    at = middle(positions, i)
                    score = rise(
                        before[i + 1] - before[first], at - left, before[end] - before[i + 1], right - at, width
                    )
                    best = max(best, score)
                    if is_second and cut < 0 and score >= least:
                        cut = i
                continue
            m, n = before[low + 1] - before[first], before[end] - before[low + 1]
            more, fewer = before[high + 1] - before[first], before[end] - before[high + 1]
            at, until = middle(positions, low), middle(positions, high)
            largest = rise(m, at - left, n, right - at, width)
            for k in range(3):
                a, b = (m, n) if k == 0 else (more, fewer)
                w, v = (at - left, right - at) if k == 1 else (until - left, right - until)
                largest = max(largest, rise(a, w, b, v, width))
            if largest >= (least if is_second else best):
                half = (low + high) // 2
                stack[2 * n_open], stack[2 * n_open + 1] = half + 1, high
                stack[2 * n_open + 2], stack[2 * n_open + 3] = low, half
                n_open += 2
        if best <= NOISE * (before[end] - before[first]):
            return FLAT, -1
    return best, cut


def best_by_kernel(positions: Any, before: Any, rule: Any, interval: Any, scores: Any, work: Any) -> Any:
    """The score of the best cut and the value below it, from one pass up and one pass down."""
    first, end, left, right = interval
    _, square, variance, distance, min_rows = rule
    lowest, highest = allowed_cuts(positions, before, min_rows, interval)
    if highest < lowest:
        return NO_CUT, -1
    work[0] += end - first
    rows = before[end] - before[first]
    m = total = squares = v = d = 0.0  # rows, the sums of their distances to the value and of those squared, V and D
    for i in range(first, highest + 1):
        gap = positions[i] - positions[i - 1] if i > first else 0.0
        n = before[i + 1] - before[i]
        squares += gap * (2.0 * total + m * gap)
        total += m * gap
        v += 2.0 * n * squares
        d += 2.0 * n * total
        m += n
        if i >= lowest:
            w = 1.0 / (middle(positions, i) - left)
            scores[i] = (square * m * m + (distance * d + variance * v * w) * w) * w
    m = total = squares = v = d = 0.0
    best = -1.0
    for i in range(end - 1, lowest, -1):
        gap = positions[i + 1] - positions[i] if i < end - 1 else 0.0
        n = before[i + 1] - before[i]
        squares += gap * (2.0 * total + m * gap)
        total += m * gap
        v += 2.0 * n * squares
        d += 2.0 * n * total
        m += n
        if i <= highest + 1:
            w = 1.0 / (right - middle(positions, i - 1))
            scores[i - 1] += (square * m * m + (distance * d + variance * v * w) * w) * w
            best = max(best, scores[i - 1])
    cut = lowest
    while scores[cut] < best * (1.0 - TOLERANCE):
        cut += 1
    return best / rows, cut
