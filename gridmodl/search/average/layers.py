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
from gridmodl.search.moves import Setting, cell_price, part_price
from gridmodl.search.proof import costs_by_parts
from gridmodl.terms import Criterion

NEGLECTED = 1e-10
FEW_PARTS = 8  # number of parts at which the odds of a bound are taken, and of layers before the first certificate
NOTHING = 1e-290  # smaller entries of a layer are 0, so that what leads on from them stays finite
LOG_LARGE = 460.0  # beyond, R is written in a larger unit
WIDTH = 6.0  # numbers of parts that a run certifies at once, times the root of the first
ROUNDING = 1e-13  # relative error of R


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
    steps: NDArray[np.float64]  # W: by bound b and bound a before it
    log_forth: NDArray[np.float64]  # log G, by number of intervals and bound
    log_shares: NDArray[np.float64]  # logarithm of the share of 1, 2, ... bounds in a zone that is cut, by zone
    intervals: NDArray[np.float64]  # P((a, b]), by bound a and bound b


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
    run = (Run if is_plain else LogRun)(steps, places, log_prior - log_t * np.arange(1, most + 1), clock)
    if not run.forward():
        return None
    log_p = run.log_p()
    log_sum = float(np.logaddexp.reduce(log_p))
    p_parts = np.exp(log_p - log_sum)
    intervals = run.intervals(p_parts / p_parts.sum())
    shares = places.shares(1 if is_plain else len(run.log_ends))
    return Layers(phi[n] + log_sum, p_parts / p_parts.sum(), run.neglected, steps, run.log_forth(), shares, intervals)


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
            share = math.exp(steps[b, a] - most)
            steps[b, a] = share
            total += share
        for a in range(b):
            steps[b, a] /= total
        phi[b] = most + math.log(total) + log_weights[b]


class Places:
    """Weights of the places of each zone at odds t of a bound at each."""

    def __init__(self, runs: Runs, n: int, log_t: float) -> None:
        self.runs, self.n, self.log_t = runs, n, log_t
        self.is_plain = bool(np.all(runs.size == 1))  # one bound in a zone, at most
        self.log_weights = self._by_zone(0.0)
        self._log_ways = np.zeros(len(runs.size))  # log C(size, k) for the last k
        self._shares, self._n_shares = np.empty((FEW_PARTS, n + 1)), 0

    def _by_zone(self, slope: float) -> NDArray[np.float64]:
        """log of the sum of (1 + t exp(slope))^size - 1 over the runs of each zone; -infinity for bound 0."""
        log_t, size = self.log_t + slope, self.runs.size
        exponent = size * np.logaddexp(0.0, log_t)
        small = np.log(np.expm1(np.minimum(exponent, 1.0)))
        large = exponent + np.log1p(-np.exp(-np.maximum(exponent, 1.0)))
        ways = np.where(size == 1, log_t, np.where(exponent < 1.0, small, large))
        return self._sum(np.log(self.runs.times) + ways)

    def _sum(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """log of sums by zone."""
        found = np.full(self.n + 1, -np.inf)
        np.logaddexp.at(found, self.runs.zone, logs)
        return found

    def tilted(self, slope: float) -> NDArray[np.float64]:
        """log of the factor of a cut in each zone if each bound counts exp(slope) times as much."""
        return np.append(0.0, self._by_zone(slope)[1:] - self.log_weights[1:])

    def shares(self, n: int) -> NDArray[np.float64]:
        """log of the share of 1, 2, ... n bounds, by zone, given that there is one."""
        while self._n_shares < n:
            if self._n_shares == len(self._shares):
                self._shares = np.concatenate([self._shares, np.empty_like(self._shares)])
            i, size = self._n_shares + 1, self.runs.size
            with np.errstate(divide="ignore"):
                self._log_ways = np.where(size >= i, self._log_ways + np.log(np.maximum(size - i + 1, 0) / i), -np.inf)
            ways = self._sum(np.log(self.runs.times) + self._log_ways + i * self.log_t)
            ways[1:] -= self.log_weights[1:]
            self._shares[self._n_shares] = ways
            self._n_shares = i
        return self._shares[:n]


class Run:
    """Layers of one average, forth and back, if no zone holds more than one bound.

    Each layer is in units of its largest entry, so that neither few nor many intervals underflow.
    """

    def __init__(
        self, steps: NDArray[np.float64], places: Places, log_weights: NDArray[np.float64], clock: Clock
    ) -> None:
        self.steps, self.places, self.log_weights, self.clock = steps, places, log_weights, clock
        self.most, self.n = len(log_weights), places.n
        self.log_ends: list[float] = []  # log G_i(end) for i = 1, 2, ...
        self.neglected = 1.0
        self._begin()

    def _begin(self) -> None:
        self.forth, self.log_units = [np.append(1.0, np.zeros(self.n))], [0.0]

    def forward(self) -> bool:
        """Add layers until those left are negligible; False if the clock stops it."""
        n_layers = FEW_PARTS
        while self.neglected > NEGLECTED:
            while len(self.log_ends) < min(n_layers, self.most):
                if self.clock.look():
                    return False
                self.log_ends.append(self._add_layer())
            self.neglected = self._left()
            n_layers += max(FEW_PARTS, n_layers // 2)
        return True

    def _add_layer(self) -> float:
        """Make the next layer; return its log G at the end."""
        layer = self.steps @ self.forth[-1]
        most = float(layer.max())
        layer /= most
        layer[layer < NOTHING] = 0.0
        self.forth.append(layer)
        self.log_units.append(self.log_units[-1] + math.log(most))
        return self.log_units[-1] + math.log(layer[-1]) if layer[-1] > 0.0 else -math.inf

    def log_p(self) -> NDArray[np.float64]:
        """log of what partitions into 1, 2, ... intervals weigh, as far as there are layers."""
        return np.array(self.log_ends) + self.log_weights[: len(self.log_ends)]

    def log_forth(self) -> NDArray[np.float64]:
        """log G, by layer and bound."""
        with np.errstate(divide="ignore"):
            return np.log(np.array(self.forth)) + np.array(self.log_units)[:, None]

    def _left(self) -> float:
        """Probability of all layers that are not there, at most."""
        done, log_p = len(self.log_ends), self.log_p()
        if done >= self.most:
            return 0.0
        log_sum = float(np.logaddexp.reduce(log_p))
        if log_sum == -np.inf or log_p[-1] - log_sum > math.log(NEGLECTED):
            return 1.0
        left, begin = 0.0, done + 1
        while begin <= self.most and left <= NEGLECTED:
            end = min(self.most, begin + int(WIDTH * math.sqrt(begin)))  # c z^i is then at most some nats above
            left += self._left_between(begin, end, log_sum)
            begin = end + 1
        return left

    def _left_between(self, begin: int, end: int, log_sum: float) -> float:
        """Probability of `begin` to `end` intervals, at most."""
        logs, numbers = self.log_weights[begin - 1 : end], np.arange(begin, end + 1)
        slope = float(logs[-1] - logs[0]) / (end - begin) if end > begin else 0.0
        level = float(np.max(logs - slope * numbers))
        log_total = bind(tilted_run)(self.steps, self.places.tilted(slope), np.zeros(self.n + 1))
        known = float(np.logaddexp.reduce(np.array(self.log_ends) + slope * np.arange(1, begin)[: len(self.log_ends)]))
        rest = max(0.0, -math.expm1(min(0.0, known - log_total))) + ROUNDING
        return math.exp(min(0.0, level + log_total + math.log(rest) - log_sum))

    def intervals(self, p_parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """P((a, b]) by bound a and bound b, from the probabilities of the numbers of intervals."""
        n_layers, forth = len(self.forth), self.forth
        back, onward = np.zeros(self.n + 1), np.zeros((n_layers - 1, self.n + 1))
        for i in range(n_layers - 1, -1, -1):
            if i < n_layers - 1:
                onward[i] = back * math.exp(self.log_units[i] - self.log_units[i + 1])
                back = onward[i] @ self.steps
            back[-1] = p_parts[i - 1] / forth[i][-1] if i > 0 and forth[i][-1] > 0.0 else 0.0
            back[forth[i] == 0.0] = 0.0
        found = np.array(forth[:-1]).T @ onward
        found *= self.steps.T
        return found


class LogRun(Run):
    """The same if zones may hold several bounds: likely numbers of intervals may then range over thousands.

    In logarithms throughout, which takes longer for each layer, but has no limits.
    """

    def _begin(self) -> None:
        with np.errstate(divide="ignore"):
            self.log_steps = np.log(self.steps)
        self.logs = np.full((2 * FEW_PARTS, self.n + 1), -np.inf)  # log G
        self.logs[0, 0] = 0.0
        self.arriving = np.full_like(self.logs, -np.inf)  # log W G

    def _add_layer(self) -> float:
        i = len(self.log_ends) + 1
        if i == len(self.logs):
            more = np.full_like(self.logs, -np.inf)
            self.logs, self.arriving = np.concatenate([self.logs, more]), np.concatenate([self.arriving, more])
        self.arriving[i - 1] = _log_sum(self.log_steps + self.logs[i - 1], axis=1)
        self.logs[i] = _log_sum(self.places.shares(i) + self.arriving[i - 1 :: -1], axis=0)
        return float(self.logs[i, -1])

    def log_forth(self) -> NDArray[np.float64]:
        return self.logs[: len(self.log_ends) + 1]

    def intervals(self, p_parts: NDArray[np.float64]) -> NDArray[np.float64]:
        n_layers = len(self.log_ends) + 1
        back, onward = np.full((2, n_layers, self.n + 1), -np.inf)
        found = np.zeros((self.n + 1, self.n + 1))
        is_there, at_end = p_parts > 0.0, np.full(n_layers, -np.inf)  # some numbers of intervals cannot be
        at_end[1:][is_there] = np.log(p_parts[is_there]) - np.array(self.log_ends)[is_there]
        for i in range(n_layers - 1, -1, -1):
            if i < n_layers - 1:
                onward[i] = _log_sum(self.places.shares(n_layers - 1 - i) + back[i + 1 :], axis=0)
                back[i] = _log_sum(self.log_steps + onward[i][:, None], axis=0)
                found += np.exp(self.logs[i][:, None] + onward[i] + self.log_steps.T)
            back[i, -1] = at_end[i]
        return found


def _log_sum(logs: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """log of sums of exponentials."""
    most = logs.max(axis=axis, keepdims=True)
    most[most == -np.inf] = 0.0
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = np.log(np.exp(logs - most).sum(axis=axis)) + most.squeeze(axis)
    return found


def tilted_run(steps: Any, log_factors: Any, reached: Any) -> float:
    """R(b) = factor of b times sum_a W(b, a) R(a), from R(0) = 1; return log R at the end.

    `reached` holds R divided by a unit, which grows so that no number overflows.
    """
    reached[0], log_unit = 1.0, 0.0
    for b in range(1, len(reached)):
        total = 0.0
        for a in range(b):
            total += steps[b, a] * reached[a]
        log_own = math.log(total) + log_factors[b] if total > 0.0 else -np.inf
        if log_own > LOG_LARGE:
            for a in range(b):
                reached[a] *= math.exp(-log_own)
            log_unit += log_own
            log_own = 0.0
        reached[b] = math.exp(log_own)
    return math.log(reached[len(reached) - 1]) + log_unit
