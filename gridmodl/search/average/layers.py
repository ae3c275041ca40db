"""Sum over all partitions into intervals between candidate bounds, by number of parts.

    phi(0) = 0,  phi(b) = log sum_a exp(phi(a) - scale * price(a, b)) + log m(b)       reference run
    W(b, a) = share of a in that sum: rows of W sum to 1, and all that follows is free of logarithms
    G_0(0) = 1,  G_i(b) = sum_a W(b, a) G_{i-1}(a)                                     i intervals up to bound b
    P(i parts) ~ G_i(end) pi(i) t^-i,     log evidence = phi(end) + log sum_i G_i(end) pi(i) t^-i
    B_i(a) = sum_b W(b, a) B_{i+1}(b)                                                  from bound a to the end
    P(interval (a, b]) = W(b, a) sum_i G_i(a) B_{i+1}(b)

pi(i) = exp(-scale * cost of the number of parts), and m(b) = t times the places that candidate b stands for. If a run
of g of these places has no labelled row inside, k of them may hold a bound, in C(g, k) ways: then m(b) is the sum of
(1 + t)^g - 1, layer i of b adds what k bounds add to layer i - k, and k bounds have the share C(g, k) t^k / m(b).

t is the odds of a bound at a place in the reference run; any t gives the same result. Each layer has a scale of its
own, so that neither few nor many parts underflow.

Layers end when those left are certified to hold less than NEGLECTED of the probability, or when there are none. The
rows of W sum to 1, so R(z) = sum_i G_i(end) z^i is known from one more run. Between numbers of parts i1 and i2,
pi(i) t^-i lies below some c z^i, hence these layers hold at most c (R(z) - sum of the layers so far). A few such runs
cover all numbers of parts. No property of pi is needed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.jit.template import bind
from gridmodl.search.average.candidates import Runs
from gridmodl.search.average.runs import FEW_PARTS, Places, Run
from gridmodl.search.average.zones import ZoneRun
from gridmodl.search.moves import Setting, cell_price, part_price
from gridmodl.search.proof import costs_by_parts
from gridmodl.terms import Criterion

LOG_NOTHING = -700.0  # a smaller step is 0


class Segments(NamedTuple):
    """What an average is computed from: counts between candidate bounds."""

    counts: NDArray[np.int64]  # labelled rows by segment and class
    rows: NDArray[np.int64]  # all rows
    values: NDArray[np.int64]  # distinct values
    runs: Runs


class Weighing(NamedTuple):
    """How an average weighs partitions."""

    criterion: type[Criterion]  # with a scale
    setting: Setting  # of the intervals
    prior: Setting  # of their number
    max_parts: int  # intervals, at most


class Layers(NamedTuple):
    """The sums of one average."""

    log_evidence: float
    p_parts: NDArray[np.float64]  # probability of 1, 2, ... intervals
    neglected: float  # probability of more, at most
    run: Run
    intervals: NDArray[np.float64]  # P((a, b]), by bound a and bound b

    @property
    def steps(self) -> NDArray[np.float64]:
        """W, by bound b and bound a before it."""
        return self.run.steps

    @property
    def log_forth(self) -> NDArray[np.float64]:
        """log G, by number of intervals and bound."""
        return self.run.log_forth()

    @property
    def log_shares(self) -> NDArray[np.float64]:
        """Logarithm of the share of 1, 2, ... bounds in a zone that is cut, by number and zone."""
        return self.run.places.shares(1 if self.run.places.is_plain else len(self.run.log_ends))


def sum_partitions(segments: Segments, weighing: Weighing, clock: Clock) -> Layers | None:
    """Sum over all partitions of the segments; None if the clock stops it."""
    n = len(segments.rows)
    is_plain = bool(np.all(segments.runs.size == 1))
    most = max(1, min(weighing.max_parts, n if is_plain else segments.runs.n_places))
    log_prior = -_scale_of(weighing) * costs_by_parts(weighing.criterion, weighing.prior, np.zeros(most))
    at = min(FEW_PARTS, most - 1)
    log_t = float(log_prior[at] - log_prior[at - 1]) if most > 1 else 0.0
    places = Places(segments.runs, n, log_t)
    steps, phi = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    if not _fill_steps(segments, weighing, places.log_weights, steps, phi, clock):
        return None
    run = (Run if is_plain else ZoneRun)(steps, places, log_prior - log_t * np.arange(1, most + 1), clock)
    if not run.forward():
        return None
    log_p = run.log_p()
    log_sum = float(np.logaddexp.reduce(log_p))
    p_parts = np.exp(log_p - log_sum)
    intervals = run.intervals(p_parts / p_parts.sum())
    return Layers(phi[n] + log_sum, p_parts / p_parts.sum(), run.neglected, run, intervals)


def _scale_of(weighing: Weighing) -> float:
    scale = weighing.criterion.scale
    assert scale is not None  # noqa: S101  for mypy: the caller refuses criteria without one
    return scale


def _fill_steps(segments: Segments, weighing: Weighing, log_weights: Any, steps: Any, phi: Any, clock: Clock) -> bool:
    """Do the reference run, in turns; False if the clock stops it."""
    n, n_classes = segments.counts.shape
    sums, rows, values = np.zeros((n + 1, n_classes), dtype=np.int64), *np.zeros((2, n + 1), dtype=np.int64)
    np.cumsum(segments.counts, axis=0, out=sums[1:])
    np.cumsum(segments.rows, out=rows[1:])
    np.cumsum(segments.values, out=values[1:])
    kernel, counts = bind(fill_steps, weighing.criterion), np.zeros(n_classes, dtype=np.int64)
    scale, at = _scale_of(weighing), 1

    def turn(size: int) -> bool:
        nonlocal at
        to = min(n + 1, max(at + 1, math.isqrt(at * at + 2000 * size)))
        kernel(sums, rows, values, weighing.setting, scale, log_weights, steps, phi, counts, at, to)
        at = to
        return at > n

    clock.repeat(turn, lambda: (at / (n + 1)) ** 2, max(1, 1024 // n_classes))
    return at > n


def fill_steps(
    sums: Any, rows: Any, values: Any, setting: Setting, scale: float, log_weights: Any, steps: Any, phi: Any,
    counts: Any, at: int, to: int,
) -> None:  # fmt: skip
    """Fill rows `at` to `to` of `steps` (W) and `phi`; sums are cumulative, `counts` is a buffer."""
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    for b in range(at, to):
        most = -np.inf
        for a in range(b):
            labelled: Any = np.int64(0)
            for c in range(len(counts)):
                n = sums[b, c] - sums[a, c]
                counts[c] = n
                labelled += n
            price = part_price(p, facts, n_target_parts, rows[b] - rows[a], values[b] - values[a])
            if labelled > 0:
                price += cell_price(p, counts, labelled)
            steps[b, a] = phi[a] - scale * price
            most = max(most, steps[b, a])
        total = 0.0
        for a in range(b):
            share = math.exp(steps[b, a] - most) if steps[b, a] - most > LOG_NOTHING else 0.0
            steps[b, a] = share
            total += share
        for a in range(b):
            steps[b, a] /= total
        phi[b] = most + math.log(total) + log_weights[b]
