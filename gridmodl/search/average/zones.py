"""Layers of an average if a zone may hold several bounds: of many unlabelled rows, thousands of intervals are likely.

    A_i(b) = sum_a W(b, a) G_i(a),     G_i(b) = sum_k S_k(b) A_{i-k}(b)       S_k(b): share of k bounds in zone b

Zone by zone this is a product of polynomials, of A by S. The way back, from the end, is the same with zones and layers
in reverse. Numbers range over exp(+-30000), so each block of BLOCK numbers in a row has a unit of its own, and pairs of
blocks whose products are negligible are left out.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.average.runs import Run

BLOCK = 16
NEGLIGIBLE = 45.0  # nats below the smallest number of a block at which products are left out
ZONES_AT_ONCE = 2**24  # products between two looks at the clock, about


class Scaled(NamedTuple):
    """Rows of numbers, none negative: the product of `numbers` and the unit of the block."""

    numbers: NDArray[np.float64]  # at most 1
    log_units: NDArray[np.float64]  # by row and block; -infinity for a block of zeros
    log_least: NDArray[np.float64]  # log of the smallest number of a block; -infinity if there is a zero

    @property
    def n_blocks(self) -> int:
        return self.log_units.shape[1]

    def logs(self) -> NDArray[np.float64]:
        """Logarithms of the numbers."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.numbers)
        found: NDArray[np.float64] = logs + np.repeat(self.log_units, BLOCK, axis=1)
        return found

    def reversed(self) -> Scaled:
        """Rows and numbers from the last to the first."""
        return Scaled(*(np.ascontiguousarray(array[::-1, ::-1]) for array in self))


def zero_blocks(n_rows: int, n_blocks: int) -> Scaled:
    """Rows of zeros."""
    units, least = np.full((2, n_rows, n_blocks), -np.inf)
    return Scaled(np.zeros((n_rows, n_blocks * BLOCK)), units, least)


def blocks_of(logs: NDArray[np.float64]) -> Scaled:
    """Numbers from their logarithms, by row; a row is filled up with zeros."""
    n_rows, n = logs.shape
    n_blocks = -(-n // BLOCK)
    filled = np.full((n_rows, n_blocks * BLOCK), -np.inf)
    filled[:, :n] = logs
    inside = filled.reshape(n_rows, n_blocks, BLOCK)
    units, least = inside.max(axis=2), inside.min(axis=2)
    shifts = np.where(np.isfinite(units), units, 0.0)
    numbers = np.exp(inside - shifts[:, :, None]).reshape(filled.shape)
    return Scaled(numbers, units, least)


class ZoneRun(Run):
    """Layers of one average, forth and back, if zones may hold several bounds."""

    growth = 2  # more layers at once, as each step begins with the shares of all

    def _begin(self) -> None:
        with np.errstate(divide="ignore"):
            self.log_steps = np.log(self.steps)
        self.arriving, self.leaving = zero_blocks(self.n + 1, 0), zero_blocks(self.n + 1, 0)

    def _add_layers(self, n: int) -> bool:
        done, n_blocks = self.leaving.n_blocks, -(-(n + 1) // BLOCK)
        self.shares = self._shares(n_blocks)
        more = [zero_blocks(self.n + 1, n_blocks - done) for _ in range(2)]
        self.arriving, self.leaving = (
            Scaled(*(np.hstack(pair) for pair in zip(old, new, strict=True)))
            for old, new in zip((self.arriving, self.leaving), more, strict=True)
        )
        if done == 0:  # no interval up to bound 0
            self.leaving.numbers[0, 0], self.leaving.log_units[0, 0] = 1.0, 0.0
        if not self._pass(self.log_steps, self.shares, self.arriving, self.leaving, 1, done):
            return False
        last = Scaled(*(array[-1:] for array in self.leaving))
        self.log_ends = last.logs()[0, 1 : n + 1].tolist()
        return True

    def _shares(self, n_blocks: int) -> Scaled:
        """Shares of 0, 1, ... bounds by zone."""
        shares = self.places.shares(n_blocks * BLOCK - 1).T
        return blocks_of(np.hstack([np.full((len(shares), 1), -np.inf), shares]))

    def _pass(
        self, log_steps: NDArray[np.float64], shares: Scaled, arriving: Scaled, leaving: Scaled, first: int, begin: int
    ) -> bool:
        """Fill blocks from `begin` on, zone by zone from `first` on; False if the clock stops it."""
        kernel, end, at = bind(pass_zones), leaving.n_blocks, first
        buffers = np.zeros((2, 2 * BLOCK))
        at_once = max(1, ZONES_AT_ONCE // (end * end * BLOCK * BLOCK))
        while at <= self.n:
            if self.clock.look():
                return False
            to = min(at + at_once, self.n + 1)
            kernel(log_steps, shares, arriving, leaving, at, to, begin, end, buffers)
            at = to
        return True

    def log_forth(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.leaving.logs().T[: len(self.log_ends) + 1])

    def intervals(self, p_parts: NDArray[np.float64]) -> NDArray[np.float64]:
        n_blocks = self.leaving.n_blocks
        at_end = np.full((1, n_blocks * BLOCK), -np.inf)
        is_there = np.flatnonzero(p_parts > 0.0)  # some numbers of intervals cannot be
        at_end[0, is_there + 1] = np.log(p_parts[is_there]) - np.array(self.log_ends)[is_there]
        arriving, leaving = zero_blocks(self.n + 1, n_blocks), zero_blocks(self.n + 1, n_blocks)
        for of_end, array in zip(blocks_of(at_end[:, ::-1]), arriving, strict=True):
            array[0] = of_end[0]
        log_steps = np.ascontiguousarray(self.log_steps[::-1, ::-1].T)
        shares = Scaled(*(np.ascontiguousarray(array[::-1]) for array in self.shares))
        self._pass(log_steps, shares, arriving, leaving, 0, 0)
        found = np.zeros((self.n + 1, self.n + 1))
        bind(fill_intervals)(self.log_steps, self.leaving, leaving.reversed(), found)
        return found


def pass_zones(
    log_steps: Any, shares: Any, arriving: Any, leaving: Any, at: int, to: int, begin: int, end: int, buffers: Any
) -> None:
    """Fill blocks `begin` to `end` of zones `at` to `to`: what arrives at each and what leaves it.

    What arrives at zone 0 is given. `buffers` hold the products of pairs of blocks whose numbers add up to one sum.
    """
    for b in range(at, to):
        if b > 0:
            for o in range(begin, end):
                gather(log_steps[b], b, leaving, arriving, o)
        before, here = buffers[0], buffers[1]
        log_before = -np.inf
        if begin > 0:
            log_before = multiply(shares, arriving, b, begin - 1, end, before)
        for o in range(begin, end):
            log_here = multiply(shares, arriving, b, o, end, here)
            log_unit = max(log_before, log_here)
            if log_unit > -np.inf:
                of_here, of_before = math.exp(log_here - log_unit), math.exp(log_before - log_unit)
                for w in range(BLOCK):
                    leaving.numbers[b, o * BLOCK + w] = here[w] * of_here + before[BLOCK + w] * of_before
            normalise(leaving, b, o, log_unit)
            before, here = here, before
            log_before = log_here


def gather(log_steps: Any, b: int, leaving: Any, arriving: Any, o: int) -> None:
    """Fill block `o` of what arrives at zone `b` from the zones before it."""
    log_unit = -np.inf
    for a in range(b):
        log_unit = max(log_unit, log_steps[a] + leaving.log_units[a, o])
    numbers = arriving.numbers[b, o * BLOCK : (o + 1) * BLOCK]
    numbers[:] = 0.0
    if log_unit > -np.inf:
        for a in range(b):
            factor = math.exp(log_steps[a] + leaving.log_units[a, o] - log_unit)
            if factor > 0.0:
                for w in range(BLOCK):
                    numbers[w] += factor * leaving.numbers[a, o * BLOCK + w]
    normalise(arriving, b, o, log_unit)


def multiply(shares: Any, arriving: Any, b: int, r: int, end: int, sums: Any) -> float:
    """Write the sums of products of blocks p of shares and r - p of what arrives to `sums`; return log of their unit.

    Products add up to numbers of blocks r and r + 1; those that are negligible in both are left out.
    """
    sums[:] = 0.0
    log_unit, least, next_least = -np.inf, -np.inf, -np.inf
    for p in range(r + 1):
        log_unit = max(log_unit, shares.log_units[b, p] + arriving.log_units[b, r - p])
        least = max(least, shares.log_least[b, p] + arriving.log_least[b, r - p])
    if r + 1 < end:
        for p in range(r + 2):
            next_least = max(next_least, shares.log_least[b, p] + arriving.log_least[b, r + 1 - p])
        least = min(least, next_least)
    if log_unit == -np.inf:
        return log_unit
    for p in range(r + 1):
        log_factor = shares.log_units[b, p] + arriving.log_units[b, r - p]
        if log_factor > -np.inf and log_factor >= least - NEGLIGIBLE:
            factor, q = math.exp(log_factor - log_unit), r - p
            numbers = arriving.numbers[b, q * BLOCK : (q + 1) * BLOCK]
            for u in range(BLOCK):
                share = factor * shares.numbers[b, p * BLOCK + u]
                for v in range(BLOCK):
                    sums[u + v] += share * numbers[v]
    return log_unit


def normalise(blocks: Any, b: int, o: int, log_unit: float) -> None:
    """Divide block `o` of row `b`, in a unit, by its largest number; write its unit and the log of the smallest."""
    most, least = 0.0, np.inf
    for w in range(o * BLOCK, (o + 1) * BLOCK):
        most, least = max(most, blocks.numbers[b, w]), min(least, blocks.numbers[b, w])
    blocks.log_units[b, o], blocks.log_least[b, o] = -np.inf, -np.inf
    if most > 0.0:
        for w in range(o * BLOCK, (o + 1) * BLOCK):
            blocks.numbers[b, w] /= most
        blocks.log_units[b, o] = log_unit + math.log(most)
        if least > 0.0:
            blocks.log_least[b, o] = log_unit + math.log(least)


def fill_intervals(log_steps: Any, forth: Any, onward: Any, found: Any) -> None:
    """Write P((a, b]) = W(b, a) sum_i G_i(a) O_i(b), where O_i(b) leads from zone b to the end."""
    for b in range(1, len(log_steps)):
        for a in range(b):
            for o in range(forth.log_units.shape[1]):
                log_factor = log_steps[b, a] + forth.log_units[a, o] + onward.log_units[b, o]
                if log_factor > -NEGLIGIBLE - math.log(1.0 + len(log_steps)):
                    total = 0.0
                    for w in range(o * BLOCK, (o + 1) * BLOCK):
                        total += forth.numbers[a, w] * onward.numbers[b, w]
                    found[a, b] += math.exp(log_factor) * total
