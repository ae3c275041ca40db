"""The layers of an average: sums over the partitions into 1, 2, ... intervals, forth and back, and what is left out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.jit.template import bind
from gridmodl.search.average.candidates import Runs

NEGLECTED = 1e-10
FEW_PARTS = 8  # number of parts at which the odds of a bound are taken, and of layers before the first certificate
NO_MASS = 1e-22  # a probability that is left out
NOTHING = 1e-290  # smaller entries of a layer are 0, so that what leads on from them stays finite
LOG_LARGE = 460.0  # beyond, R is written in a larger unit
WIDTH = 6.0  # numbers of parts that a run certifies at once, times the root of the first
ROUNDING = 1e-13  # relative error of R


class Places:
    """Weights of the places of each zone at odds t of a bound at each."""

    def __init__(self, runs: Runs, n: int, log_t: float) -> None:
        self.runs, self.n, self.log_t = runs, n, log_t
        self.is_plain = bool(np.all(runs.size == 1))  # one bound in a zone, at most
        self.log_weights = self._by_zone(0.0)

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
        if self.is_plain:
            return np.append(0.0, np.full(self.n, slope))
        return np.append(0.0, self._by_zone(slope)[1:] - self.log_weights[1:])

    def shares(self, n: int) -> NDArray[np.float64]:
        """log of the share of 1, 2, ... n bounds, by zone, given that there is one."""
        size, k = self.runs.size[:, None], np.arange(1, n + 1)
        with np.errstate(divide="ignore"):
            log_ways = np.cumsum(np.log(np.maximum(size - k + 1, 0) / k), axis=1)  # log C(size, k)
        log_ways += np.log(self.runs.times)[:, None] + k * self.log_t
        order = np.argsort(self.runs.zone, kind="stable")
        zones, begins = np.unique(self.runs.zone[order], return_index=True)
        found = np.full((n, self.n + 1), -np.inf)
        found[:, zones] = np.logaddexp.reduceat(log_ways[order], begins, axis=0).T - self.log_weights[zones]
        return found


class Run:
    """Layers of one average, forth and back, if no zone holds more than one bound.

    Each layer is in units of its largest entry, so that neither few nor many intervals underflow.
    """

    growth = 8  # a certificate takes as long as a few layers; there is none while the last layer is likely

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
            if not self._add_layers(min(n_layers, self.most)):
                return False
            self.neglected = self._left()
            n_layers += max(FEW_PARTS // 2, n_layers // self.growth)
        return True

    def _add_layers(self, n: int) -> bool:
        """Make layers up to number `n` and append log G of each at the end; False if the clock stops it."""
        kernel = bind(fill_layer)
        while len(self.log_ends) < n:
            if self.clock.look():
                return False
            layer = np.zeros(self.n + 1)
            most = kernel(self.steps, self.forth[-1], layer)
            self.forth.append(layer)
            self.log_units.append(self.log_units[-1] + math.log(most))
            self.log_ends.append(self.log_units[-1] + math.log(layer[-1]) if layer[-1] > 0.0 else -math.inf)
        return True

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
        left, begin, ends = 0.0, done + 1, np.array(self.log_ends)
        while begin <= self.most and left <= NEGLECTED:
            end = min(self.most, begin + int(WIDTH * math.sqrt(begin)))  # c z^i is then at most some nats above
            left += self._left_between(begin, end, log_sum, ends)
            begin = end + 1
        return left

    def _left_between(self, begin: int, end: int, log_sum: float, ends: NDArray[np.float64]) -> float:
        """Probability of `begin` to `end` intervals, at most; `ends` are `log_ends`."""
        logs, numbers = self.log_weights[begin - 1 : end], np.arange(begin, end + 1)
        slope = float(logs[-1] - logs[0]) / (end - begin) if end > begin else 0.0
        level = float(np.max(logs - slope * numbers))
        log_total = bind(tilted_run)(self.steps, self.places.tilted(slope), np.zeros(self.n + 1))
        tilted = ends + slope * np.arange(1, len(ends) + 1)
        most = float(tilted.max())
        known = most + math.log(float(np.exp(tilted - most).sum()))
        rest = max(0.0, -math.expm1(min(0.0, known - log_total))) + ROUNDING
        return math.exp(min(0.0, level + log_total + math.log(rest) - log_sum))

    def intervals(self, p_parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """P((a, b]) by bound a and bound b, from the probabilities of the numbers of intervals."""
        forth = np.array(self.forth)
        units = np.exp(-np.diff(self.log_units))  # of each layer, in that of the next
        back, onward = np.zeros(self.n + 1), np.zeros((len(forth) - 1, self.n + 1))
        sums, found = np.zeros(self.n + 1), np.zeros((self.n + 1, self.n + 1))
        bind(fill_back)(self.steps, forth, units, p_parts, back, onward)
        bind(fill_found)(self.steps, forth, onward, sums, found)
        return found


# Loops in place of products of matrices: libraries for these start threads, which take longer than such small sums, and
# would wait for each other where columns are averaged in threads.


def fill_layer(steps: Any, before: Any, layer: Any) -> float:
    """Write sum_a W(b, a) before(a) to `layer`, in units of its largest entry; return that entry."""
    most = 0.0
    for b in range(1, len(layer)):
        own, even, odd, third, fourth = steps[b], 0.0, 0.0, 0.0, 0.0  # four sums at once: one would wait for itself
        whole = b - b % 4
        for a in range(0, whole, 4):
            even += own[a] * before[a]
            odd += own[a + 1] * before[a + 1]
            third += own[a + 2] * before[a + 2]
            fourth += own[a + 3] * before[a + 3]
        for a in range(whole, b):
            even += own[a] * before[a]
        layer[b] = (even + odd) + (third + fourth)
        most = max(most, layer[b])
    for b in range(1, len(layer)):
        layer[b] /= most
        if layer[b] < NOTHING:
            layer[b] = 0.0
    return most


def fill_back(steps: Any, forth: Any, units: Any, p_parts: Any, back: Any, onward: Any) -> None:
    """Write to `onward` what leads from each bound to the end after each layer; `back` is a buffer."""
    n, n_layers = len(back) - 1, len(forth)
    for i in range(n_layers - 1, -1, -1):
        if i < n_layers - 1:
            for b in range(n + 1):
                onward[i, b] = back[b] * units[i]
            back[:] = 0.0
            for b in range(1, n + 1):
                weight = onward[i, b]
                if weight > NO_MASS:
                    own = steps[b]
                    for a in range(b):
                        back[a] += weight * own[a]
        back[n] = p_parts[i - 1] / forth[i, n] if i > 0 and forth[i, n] > 0.0 else 0.0
        for b in range(n + 1):
            if forth[i, b] == 0.0:
                back[b] = 0.0


def fill_found(steps: Any, forth: Any, onward: Any, sums: Any, found: Any) -> None:
    """Write P((a, b]) by bound a and bound b to `found`; `sums` is a buffer."""
    for b in range(1, len(sums)):
        total, begin = 0.0, 0
        for i in range(len(onward)):
            total += onward[i, b]
        while begin < b and steps[b, begin] * total <= NO_MASS:  # entries of `forth` are at most 1
            begin += 1
        total_of, own = sums[begin:b], steps[b, begin:b]
        total_of[:] = 0.0
        for i in range(len(onward)):
            weight = onward[i, b]
            if weight > NO_MASS:
                layer = forth[i, begin:b]
                for a in range(len(layer)):  # from 0 on, so that the compiler makes vectors of it
                    total_of[a] += weight * layer[a]
        for a in range(len(own)):
            found[begin + a, b] = total_of[a] * own[a]


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
