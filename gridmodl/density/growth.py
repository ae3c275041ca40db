"""Grow a density top-down: cut after cut, each the best cut of all intervals.

The best cut of each interval is kept; after a cut only its two halves are searched again. The first k cuts do not
depend on the later ones, so one growth holds the partitions for every number of cuts.

A cut lies in the middle of two neighbouring values and makes two parts. With m rows and width w in a part, n rows and
width W in the interval, its score is

    likelihood   sum over the two parts of m log( (m/n) / (w/W) ), the rise of the log-likelihood of the rows
                 (G. Schmidberger, E. Frank, "Unsupervised discretization using tree-based density estimation", 2005)
    kernel       1/n sum over the two parts of (m^2 - S)/w, the distance of the rows' density m/(w n) from that of a
                 kernel of the part's own width (M. Biba, F. Esposito, S. Ferilli, N. Di Mauro, T. M. A. Basile,
                 "Unsupervised discretization using kernel density estimation", 2007), where S sums Kern((x_i - x_j)/w)
                 over all pairs

S is 1/2 m^2 for a box, 3/4 (m^2 - V/w^2) for Epanechnikov's kernel and m^2 - D/w for a triangle, where V and D are the
sums over all pairs of (x_i - x_j)^2 and |x_i - x_j|. V and D grow value by value from the gaps alone, as sums of terms
that are never negative: differences of sums over all rows would lose all digits in a part that is narrow in the domain.
For a Gaussian, S is 1/sqrt(2 pi) times the sum over k of (-1/2)^k / k! P_2k / w^2k, where P_2k sums (x_i - x_j)^2k over
all pairs, none of which is further apart than w: beyond k = 10, terms are below 1e-10. The P_2k grow in the same way.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.jit.template import bind, inlined

TOLERANCE = 1e-9  # relative difference below which scores are ties, frequent on round data; ties: lowest cut
NO_CUT = -2.0  # score of an interval that cannot be cut
FLAT = -1.0  # score of an interval in which no cut raises the likelihood
NOISE = 1e-12  # nats per row: a smaller rise counts as none
MIN_WIDTH = 1e-100  # of a part, in positions: squares of smaller widths would vanish
LEAF = 8  # candidates priced one by one
PROBES = 64  # candidates priced before all others
ORDER = 10  # terms of a Gaussian kernel beyond the first
STACK = 128  # twice the depth of halving 2^63 candidates


class SortedRows(NamedTuple):
    """Rows to cut by, and rows held out to score the cuts."""

    positions: Any  # of each value, ascending
    before: Any  # rows below each value, and last all rows; floats, in which counts are exact
    held_positions: Any
    held_before: Any
    end: float  # the position of the domain's upper end


class Parts(NamedTuple):
    """The intervals so far, in the order in which they were made, and the cuts."""

    first: Any
    end: Any
    left: Any
    right: Any
    held: Any  # held-out rows below the interval
    held_end: Any  # held-out rows below the end of the interval
    scores: Any
    cuts: Any  # the value below the best cut of each interval
    path: Any  # the value below each cut that was made
    at: Any  # the position of each cut that was made
    log_likelihood: Any  # of the held-out rows by number of cuts, minus that of one part
    n_cuts: Any  # number of cuts made; -1 before the first interval was searched


class GrowthBuffers(NamedTuple):
    by_value: Any  # score of the cut above each value
    stack: Any
    work: Any  # number of candidates priced
    moments: Any  # of a Gaussian: sums over rows and over pairs of rows of their distances to each power


class Grown(NamedTuple):
    """Result of a growth."""

    n_cuts: int
    is_flat: bool  # no further cut would change the density
    path: NDArray[np.int64]  # the value below each cut
    at: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]


class Effort(NamedTuple):
    """Limits at which a growth ends."""

    max_cuts: int
    is_bounded: bool  # whether to end before the time becomes quadratic in the rows, as on evenly spaced data

    def work(self, n_values: int) -> int:
        """Largest number of candidates to price: 1,000 cuts of a million rows of many kinds took 2 to 13 per row."""
        return 10_000_000 + 50 * n_values if self.is_bounded else 2**62


def grown(rows: SortedRows, rule: CutRule, effort: Effort, clock: Clock) -> Grown | None:
    """Cut until nothing is left to cut or `effort` is spent; None if the clock stopped the growth."""
    max_cuts = max(0, min(effort.max_cuts, len(rows.positions) - 1))
    max_work = effort.work(len(rows.positions))
    parts = _no_parts(max_cuts)
    scores = np.empty(0 if rule.likelihood else len(rows.positions))
    moments = np.zeros((2, 2 * ORDER + 1))
    buffers = GrowthBuffers(scores, np.empty(2 * STACK, dtype=np.int64), np.zeros(1, dtype=np.int64), moments)
    kernel, is_done = bind(grow), False

    def turn(size: int) -> bool:
        nonlocal is_done
        n_wanted = min(max_cuts, max(0, int(parts.n_cuts[0])) + size)
        is_done = bool(kernel(rows, rule, parts, buffers, n_wanted, max_work))
        is_done = is_done or parts.n_cuts[0] == max_cuts
        return is_done

    clock.repeat(turn, lambda: parts.n_cuts[0] / max(1, max_cuts), size=1)
    if not is_done:
        return None
    n_cuts = int(parts.n_cuts[0])
    return Grown(
        n_cuts,
        n_cuts < max_cuts and float(parts.scores[: n_cuts + 1].max()) == FLAT,
        parts.path[:n_cuts],
        parts.at[:n_cuts],
        parts.log_likelihood[: n_cuts + 1],
    )


def rows_of(positions: NDArray[np.float64], rows: NDArray[np.int64], end: float) -> SortedRows:
    """All rows, none held out."""
    nothing = np.zeros(1)
    return SortedRows(positions, below(rows), nothing[:0], nothing, end)


def below(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rows below each value, and last all rows."""
    found = np.zeros(len(rows) + 1)
    np.cumsum(rows, out=found[1:])
    return found


def _no_parts(max_cuts: int) -> Parts:
    def whole() -> NDArray[np.int64]:
        return np.zeros(max_cuts + 1, dtype=np.int64)

    def real() -> NDArray[np.float64]:
        return np.zeros(max_cuts + 1)

    return Parts(
        whole(), whole(), real(), real(), real(), real(), real(), whole(), whole(), real(), real(),
        np.full(1, -1, dtype=np.int64),
    )  # fmt: skip


def grow(rows: Any, rule: Any, parts: Any, buffers: Any, n_wanted: int, max_work: int) -> bool:
    """Cut until there are `n_wanted` cuts; True if nothing is left to cut or `max_work` is spent."""
    positions, before, held_positions, held_before, domain = rows
    first, end, left, right, held, held_end, scores, cuts, path, at, log_likelihood, n_made = parts
    by_value, stack, work, moments = buffers
    n, n_new = n_made[0], 2
    i = new = 0
    if n < 0:
        first[0], end[0], left[0], right[0] = 0, len(positions), 0.0, domain
        held[0], held_end[0] = 0.0, held_before[len(held_before) - 1]
        log_likelihood[0] = 0.0  # the density of one part is that of the domain
        n, n_new = -1, 1
    while n < n_wanted:
        if n >= 0:
            i, new = best_part(scores, first, n + 1), n + 1
            if i < 0 or work[0] > max_work:
                n_made[0] = n
                return True
            cut = cuts[i]
            where = middle(positions, cut)
            held_below = held_before[n_values_to(held_positions, where)]
            path[n], at[n] = cut, where
            first[new], end[new], left[new], right[new] = cut + 1, end[i], where, right[i]
            held[new], held_end[new] = held_below, held_end[i]
            log_likelihood[new] = log_likelihood[n]
            for step in range(3):  # without the part that is cut, with the two that it becomes
                k = new if step == 2 else i
                if step == 1:
                    end[i], right[i], held_end[i] = cut + 1, where, held_below
                share, m = (right[k] - left[k]) / domain, before[end[k]] - before[first[k]]
                part = held_part(held_end[k] - held[k], m, share, before[len(before) - 1])
                log_likelihood[new] += -part if step == 0 else part
        for step in range(n_new):
            k = new if step == 1 else i
            interval = (first[k], end[k], left[k], right[k])
            if rule.likelihood:
                scores[k], cuts[k] = best_by_likelihood(positions, before, rule.min_rows, interval, stack, work)
            elif rule.gaussian:
                scores[k], cuts[k] = best_by_gaussian(positions, before, rule, interval, by_value, work, moments)
            else:
                scores[k], cuts[k] = best_by_kernel(positions, before, rule, interval, by_value, work)
        n, n_new = n + 1, 2
    n_made[0] = n
    return False


def best_part(scores: Any, first: Any, n_parts: int) -> int:
    """The interval with the best score; ties: lowest; -1 if no interval can be cut."""
    largest = NO_CUT
    for i in range(n_parts):
        largest = max(largest, scores[i])
    if largest < 0.0:
        return -1
    found = -1
    for i in range(n_parts):
        if scores[i] >= largest * (1.0 - TOLERANCE) and (found < 0 or first[i] < first[found]):
            found = i
    return found


def held_part(n_held: float, n: float, share: float, n_rows: float) -> float:
    """Log-likelihood of the held-out rows in a part, minus that of the domain, with one row spread over the domain."""
    return n_held * math.log((n + share) / (share * (n_rows + 1.0))) if n_held > 0.0 else 0.0


def n_values_to(positions: Any, at: float) -> int:
    """The number of values at or below a position."""
    low, high = 0, len(positions)
    while low < high:
        i = (low + high) // 2
        if positions[i] <= at:
            low = i + 1
        else:
            high = i
    return low


class CutRule(NamedTuple):
    """The score of a cut, and which cuts are allowed."""

    likelihood: bool
    square: float  # coefficients of m^2, V/w^2 and D/w in m^2 - S
    variance: float
    distance: float
    min_rows: float  # of a part
    gaussian: bool = False  # then the coefficients are not used


@inlined
def middle(positions: Any, i: int) -> float:
    """The position of a cut above value i; never that of value i + 1, which belongs to the part above."""
    low, high = positions[i], positions[i + 1]
    at = 0.5 * (low + high)
    return at if at < high else low


def allowed_cuts(positions: Any, before: Any, min_rows: float, interval: Any) -> Any:
    """The first and the last value above which a cut leaves both parts enough rows and width; so do all between.

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
    """Rise of the log-likelihood with m rows in width w and n rows in width v, all in `width`."""
    rows = m + n
    return m * math.log(m * width / (rows * w)) + n * math.log(n * width / (rows * v))


def best_by_likelihood(positions: Any, before: Any, min_rows: float, interval: Any, stack: Any, work: Any) -> Any:
    """The score of the best cut and the value below it.

    The rise is convex in rows and width together (it is a Kullback-Leibler divergence), so over a run of candidates it
    is at most its value at a corner of the smallest box around them. Runs that cannot hold the best are skipped: of a
    million rows, a tenth of the candidates are priced if all is noise, fewer than a hundredth otherwise.
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
    for is_second in range(2):  # find the largest score, then the lowest cut that ties with it
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
    square, variance, distance, min_rows = rule.square, rule.variance, rule.distance, rule.min_rows
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


def best_by_gaussian(
    positions: Any, before: Any, rule: Any, interval: Any, scores: Any, work: Any, moments: Any
) -> Any:
    """As `best_by_kernel`, for a Gaussian kernel."""
    first, end, left, right = interval
    lowest, highest = allowed_cuts(positions, before, rule.min_rows, interval)
    if highest < lowest:
        return NO_CUT, -1
    work[0] += ORDER * (end - first)
    m = extent = 0.0
    for i in range(first, highest + 1):
        gap, n = positions[i] - positions[i - 1] if i > first else 0.0, before[i + 1] - before[i]
        extent = add_value(moments, extent, gap, m, n)
        m += n
        if i >= lowest:
            w = middle(positions, i) - left
            scores[i] = (m * m - kernel_sum(moments[1], m, extent / w)) / w
    m = extent = 0.0
    best = -1.0
    for i in range(end - 1, lowest, -1):
        gap, n = positions[i + 1] - positions[i] if i < end - 1 else 0.0, before[i + 1] - before[i]
        extent = add_value(moments, extent, gap, m, n)
        m += n
        if i <= highest + 1:
            w = right - middle(positions, i - 1)
            scores[i - 1] += (m * m - kernel_sum(moments[1], m, extent / w)) / w
            best = max(best, scores[i - 1])
    cut = lowest
    while scores[cut] < best * (1.0 - TOLERANCE):
        cut += 1
    return best / (before[end] - before[first]), cut


def add_value(moments: Any, extent: float, gap: float, m: float, n: float) -> float:
    """Add a value of `n` rows beyond `m` others, which reach `extent` back; return how far back they reach now.

    moments[0, a] is the sum over rows of their distance to the last value to the power a, moments[1, a] that over pairs
    of rows; both divided by the extent to the power a, so that neither overflows or vanishes.
    """
    if m == 0.0:
        moments[:] = 0.0
        moments[0, 0] = n
        return 0.0
    reach = extent + gap
    near, far, power = extent / reach, gap / reach, 1.0
    for a in range(1, 2 * ORDER + 1):
        power *= near
        moments[0, a] *= power
        moments[1, a] *= power
    for begin in range(2 * ORDER):  # moments[0, a] becomes the sum over b of C(a, b) moments[0, b] far^(a - b)
        for a in range(2 * ORDER, begin, -1):
            moments[0, a] += far * moments[0, a - 1]
    for a in range(1, 2 * ORDER + 1):
        moments[1, a] += 2.0 * n * moments[0, a]
    moments[0, 0] += n
    return reach


def kernel_sum(pairs: Any, m: float, ratio: float) -> float:
    """Sum of a Gaussian kernel over all pairs of `m` rows, given moments of pairs and the ratio of extent and width."""
    total, factor = m * m, 1.0
    for k in range(1, ORDER + 1):
        factor *= -0.5 * ratio * ratio / k
        total += factor * pairs[2 * k]
    return total / math.sqrt(2.0 * math.pi)
