"""Credible bands: quantiles of mixtures of Beta distributions.

Two approximations: intervals whose probabilities add up to at most 1e-6 are left out, and Beta distributions of more
than 2,000 rows, 30 of each class at least, are the normal approximation of Peizer and Pratt, whose error is below 2e-6.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.summing import SegmentCounts, Weights
from gridmodl.jit.template import bind
from gridmodl.model.smoothing import predicted
from gridmodl.search.average.intervals import cumulated

DROPPED = 1e-6  # probability of all intervals that are left out of the mixtures, at most
MAX_STEPS = 100  # of the search for a quantile; bisection alone takes 50
NEAR, TINY = 1e-7, 1e-15  # relative and absolute size of the last step; its error is of the order of the cube
MANY, SOME = 2_000.0, 30.0  # rows, and rows of each of two classes, from which the normal approximation is used
MAX_TERMS = 1_000  # of a continued fraction
LARGE = 1_000.0
ROUNDING = 1e-14  # relative error of a whole number
LONGEST_WALK = 100.0  # steps from one distribution function to the next
FAINT = 1e-250  # a density from which no walk begins
LOG_FAR = -50.0  # log of x (1 - x) density below which a distribution function is 0 or 1 up to 1e-20


class Shapes(NamedTuple):
    """Beta distributions, each once, those of equal a + b side by side and a ascending."""

    a: NDArray[np.float64]
    b: NDArray[np.float64]
    log_beta: NDArray[np.float64]


class WeighedIntervals(NamedTuple):
    """Intervals of segments, their probabilities, and the number of the shape of each."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    masses: NDArray[np.float64]
    shapes: NDArray[np.int64]


def beta_bands(
    counted: SegmentCounts,
    weights: Weights,
    intervals: NDArray[np.float64],
    places: NDArray[np.float64],
    coverage: float,
) -> NDArray[np.float64]:
    """Lower and upper quantile at each of `places`, a part of the segments and the share of the way to the next.

    Intervals of equal counts have the same Beta distribution, which is one component of a mixture.
    """
    begins, ends = np.nonzero(intervals)
    masses = intervals[begins, ends]
    order = np.argsort(-masses, kind="stable")
    below = np.cumsum(masses[order][::-1])[::-1]  # of this and all smaller ones
    kept = order[below > DROPPED]
    begins, ends, masses = begins[kept], ends[kept], masses[kept]
    n, n_classes = counted.n_intervals, counted.segments.counts.shape[1]
    apart = np.arange(n, counted.segments.n_parts)  # each special code is an interval of its own
    sums = cumulated(counted.segments.counts)
    begins, ends = np.concatenate([begins, apart]), np.concatenate([ends, apart + 1])
    masses = np.concatenate([masses, np.ones(len(apart))])
    counts = sums[ends] - sums[begins]
    means = predicted(weights.averaged, weights.weighing.setting.p, counts)
    sizes = counts.sum(axis=1) + float(n_classes)
    at, share = places[:, 0].astype(np.int64), np.ascontiguousarray(places[:, 1])
    found = np.empty((len(places), n_classes, 2))
    tails = np.array([(1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0])
    for c in range(1 if n_classes == 2 else n_classes):
        shapes, of_shapes = shapes_of(means[:, c] * sizes, sizes)
        mixture = np.zeros((4, len(shapes.a)))
        own = np.empty((len(places), 2))
        bind(find_quantiles)(WeighedIntervals(begins, ends, masses, of_shapes), shapes, at, share, tails, mixture, own)
        found[:, c] = own
    if n_classes == 2:
        found[:, 1] = 1.0 - found[:, 0, ::-1]
    return found


def shapes_of(a: NDArray[np.float64], sizes: NDArray[np.float64]) -> tuple[Shapes, NDArray[np.int64]]:
    """The Beta distributions of the parameters `a` and `sizes` - `a`, each once, and the number of each one's."""
    whole = np.rint(a)
    a = np.where(np.abs(a - whole) <= ROUNDING * whole, whole, a)
    order = np.lexsort((a, sizes))
    is_first = np.append(True, (np.diff(a[order]) != 0.0) | (np.diff(sizes[order]) != 0.0))
    of_shapes = np.empty(len(a), dtype=np.int64)
    of_shapes[order] = np.cumsum(is_first) - 1
    first = order[is_first]
    a, b = a[first], sizes[first] - a[first]
    log_betas = np.zeros(len(a))
    bind(fill_log_beta)(a, b, log_betas)
    return Shapes(a, b, log_betas), of_shapes


def fill_log_beta(a: Any, b: Any, found: Any) -> None:
    """Write log B(a, b) of each pair to `found`; 0 if b is 0, the class being the only one."""
    for i in range(len(a)):
        if b[i] > 0.0:
            found[i] = log_beta(a[i], b[i])


def find_quantiles(intervals: Any, shapes: Any, at: Any, share: Any, tails: Any, mixture: Any, found: Any) -> None:
    """Write the quantiles of the mixture at each place to `found`; `mixture` is a buffer of 4 rows.

    The search at one place begins where the one at the place before ended.
    """
    for i in range(len(at)):
        n = mix(intervals, shapes, at[i], share[i], mixture)
        for t in range(2):
            begin = found[i - 1, t] if i > 0 else first_guess(mixture[:, :n], tails[t])
            found[i, t] = quantile(mixture[:, :n], tails[t], begin)


def mix(intervals: Any, shapes: Any, at: Any, share: Any, mixture: Any) -> int:
    """Write mass, a, b and log B of the shapes at a place to the rows of `mixture`; return their number."""
    begins, ends, masses, of_shapes = intervals
    own = mixture[0]
    own[:] = 0.0
    total = 0.0
    for k in range(len(masses)):
        if begins[k] <= at + 1 and at < ends[k]:
            mass = 0.0
            if begins[k] <= at:
                mass += masses[k] * (1.0 - share)
            if at + 1 < ends[k]:
                mass += masses[k] * share
            own[of_shapes[k]] += mass
            total += mass
    n = 0
    for k in range(len(own)):
        if own[k] > 0.0:
            mixture[0, n] = own[k] / total
            mixture[1, n], mixture[2, n], mixture[3, n] = shapes.a[k], shapes.b[k], shapes.log_beta[k]
            n += 1
    return n


def first_guess(mixture: Any, tail: Any) -> float:
    """About the quantile of a normal distribution of the same mean and variance."""
    mean, square = 0.0, 0.0
    for k in range(mixture.shape[1]):
        size = mixture[1, k] + mixture[2, k]
        own = mixture[1, k] / size
        mean += mixture[0, k] * own
        square += mixture[0, k] * (own * own + own * (1.0 - own) / (size + 1.0))
    x = mean + math.sqrt(max(square - mean * mean, 0.0)) * (1.645 if tail > 0.5 else -1.645)
    if not 0.0 < x < 1.0:
        x = mean if mean < 1.0 else 0.5
    return x


def quantile(mixture: Any, tail: Any, x: Any) -> float:
    """The quantile of a mixture: Halley's steps from x, and halves of what brackets it where a step leaves that."""
    low, high = 0.0, 1.0
    if not 0.0 < x < 1.0:  # the quantile of the place before, of a single class
        x = 0.5
    for _turn in range(MAX_STEPS):
        below, density, slope = mixture_below(mixture, x)
        if below < tail:
            low = x
        else:
            high = x
        middle, moved = 0.5 * (low + high), math.inf
        if density > 0.0:
            step = (below - tail) / density
            moved = -step / min(2.0, max(0.5, 1.0 - 0.5 * step * slope / density))
        if abs(moved) <= NEAR * min(x, 1.0 - x) or high - low <= TINY:
            return float(min(high, max(low, x + moved)))
        x = x + moved if low < x + moved < high else middle
    return float(x)


def mixture_below(mixture: Any, x: Any) -> tuple[float, float, float]:
    """Distribution function of a mixture at x, its density, and the slope of the density.

    With integer parameters of equal sum, one distribution function follows from another by terms of a binomial
    distribution: with peak = x^a (1 - x)^b / B(a, b),

        I_x(a + 1, b - 1) = I_x(a, b) - peak / (a (1 - x)),    peak of these = peak x (b - 1) / (a (1 - x))
    """
    y = 1.0 - x
    log_x, log_y, odds = math.log(x), math.log1p(-x), x / y
    below, density, slope = 0.0, 0.0, 0.0
    at_a, at_size, peak, own = 0.0, 0.0, 0.0, 0.0  # of the walk
    for k in range(mixture.shape[1]):
        mass, a, b = mixture[0, k], mixture[1, k], mixture[2, k]
        if b <= 0.0:  # the class is the only one, and its probability 1
            continue
        size, gap = a + b, a - at_a
        is_normal = size > MANY and min(a, b) > SOME
        if size == at_size and peak > FAINT and gap <= LONGEST_WALK and gap == math.floor(gap) and not is_normal:
            while at_a < a:
                own -= peak / (at_a * y)
                peak *= odds * (size - at_a - 1.0) / at_a
                at_a += 1.0
        else:
            log_peak = a * log_x + b * log_y - mixture[3, k]
            if log_peak < LOG_FAR and min(a, b) >= 1.0:
                below += mass if x * size > a else 0.0
                at_size = 0.0
                continue
            peak = math.exp(log_peak)
            own = normal_below(a, b, x) if is_normal else beta_below(a, b, x, peak)
            at_a, at_size = a, 0.0 if is_normal else size
        below += mass * own
        density += mass * peak
        slope += mass * peak * ((a - 1.0) * y - (b - 1.0) * x)
    return below, density / (x * y), slope / (x * y) ** 2


def beta_below(a: Any, b: Any, x: Any, peak: Any) -> float:
    """Distribution function of a Beta distribution at x, by its continued fraction; `peak` is x (1 - x) density."""
    if x <= (a + 1.0) / (a + b + 2.0):
        return peak / a * fraction(a, b, x)
    return 1.0 - peak / b * fraction(b, a, 1.0 - x)


def log_beta(a: float, b: float) -> float:
    """log B(a, b), without cancellation if one is large."""
    low, high = min(a, b), max(a, b)
    if high < LARGE:
        return math.lgamma(low) + math.lgamma(high) - math.lgamma(low + high)
    more = (high - 0.5) * math.log1p(low / high) + low * (math.log(low + high) - 1.0)
    return math.lgamma(low) - more - 1.0 / (12.0 * (low + high)) + 1.0 / (12.0 * high)


def fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, MAX_TERMS):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d = 1.0 / away(1.0 + even * d)
        c = away(1.0 + even / c)
        value *= c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 / away(1.0 + odd * d)
        c = away(1.0 + odd / c)
        value *= c * d
        if abs(c * d - 1.0) < 1e-13:
            break
    return value


def away(x: float) -> float:
    """The number, or a tiny one in place of 0."""
    return x if abs(x) > 1e-300 else 1e-300


def normal_below(a: float, b: float, x: float) -> float:
    """Distribution function by the normal approximation of Peizer and Pratt (1968), for many rows of each class."""
    n, y = a + b - 1.0, 1.0 - x
    d = a - 1.0 / 3.0 - (n + 1.0 / 3.0) * x + 0.02 * (y / a - x / b + (y - 0.5) / (a + b))
    spread = 1.0 + y * deviance((a - 0.5) / (n * x)) + x * deviance((b - 0.5) / (n * y))
    z = d * math.sqrt(spread / ((n + 1.0 / 6.0) * x * y))
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def deviance(x: float) -> float:
    """(1 - x^2 + 2 x log x) / (1 - x)^2, which is 0 at 1."""
    if abs(1.0 - x) < 1e-4:
        return (1.0 - x) / 3.0
    return (1.0 - x * x + 2.0 * x * math.log(x)) / ((1.0 - x) * (1.0 - x))
