"""What a dynamic program over bounds proves, whichever partitions it goes through.

The cost of a partition is a function of the sum of its parts' prices and of their number I, which grows with the sum.
For every slope g and every I

    sum of prices of I parts  >=  Q(g) - g I,      Q(g) = min over all partitions of their sum + g I

so a run at slope g is a floor under the cost of every number of parts at once, and a few slopes leave none that could
beat the best partition found. The list of slopes and their Q proves it to whoever computes Q again, and a single run
already limits the distance to the optimum. Numbers of parts that no slope excludes are gone through one by one, layer k
from layer k - 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.moves import Setting, is_cheaper, total_cost
from gridmodl.terms import Criterion, finish


class Proof(NamedTuple):
    """Why no partition that keeps the limits costs less than `lowest`."""

    method: str  # one of `gridmodl.search.proof.METHODS`
    lowest: float
    runs: tuple[tuple[float, float], ...] = ()  # slopes, and what each proved: Q


def costs_by_parts(criterion: type[Criterion], setting: Setting, totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cost for 1, 2, ... parts, given the sum of their prices."""
    costs = np.empty(len(totals))
    bind(finished, criterion)(setting, totals, costs)
    return costs


def finished(setting: Setting, totals: Any, costs: Any) -> None:
    for i in range(len(totals)):
        costs[i] = total_cost(setting, totals[i], i + 1)


class Slopes:
    """The numbers of parts that may still win, and the slope to try next.

    Parameters
    ----------
    criterion, setting
        Of the task.
    max_parts : int
        The largest number of parts that is allowed.
    known : dict of int to float
        Sums of prices of some partitions, by their numbers of parts; that of one part is among them.
    price_apart : callable
        The number of atoms and the sum of their prices, each a part; called only where slopes are taken from it.
    """

    def __init__(
        self,
        criterion: type[Criterion],
        setting: Setting,
        max_parts: int,
        known: dict[int, float],
        price_apart: Callable[[], tuple[int, float]],
    ) -> None:
        self.criterion, self.setting = criterion, setting
        self.numbers = np.arange(1, max_parts + 1)
        self.known = dict(known)
        self._price_apart: Callable[[], tuple[int, float]] | None = price_apart
        self.least = np.full(max_parts, -np.inf)  # sums of prices that no partition goes below
        self.least[0] = known[1]
        self.runs: dict[float, float] = {}  # slopes, and what each proved: Q
        self.ran = set[float]()  # the slopes of runs; what is known of others may be less than Q
        self._floors: NDArray[np.float64] | None = None
        shared = costs_by_parts(criterion, setting, np.zeros(max_parts))
        self.is_additive = criterion.finish is finish and bool(np.all(np.isfinite(shared)))
        self.shared, self.rises = shared, np.diff(shared)

    def _costs(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.is_additive:
            return totals + self.shared
        return costs_by_parts(self.criterion, self.setting, totals)

    def know_apart(self) -> None:
        """Take in what all atoms apart cost."""
        if self._price_apart is not None:
            n, price = self._price_apart()
            self.known.setdefault(n, price)
            self._price_apart = None

    @property
    def floors(self) -> NDArray[np.float64]:
        """What partitions of 1, 2, ... parts cost at least; minus infinity before the first run."""
        if self._floors is None:
            self._floors = np.full(len(self.least), -np.inf)
            known = np.isfinite(self.least)
            self._floors[known] = self._costs(np.where(known, self.least, 0.0))[known]
            self._floors[self.least == np.inf] = np.inf  # no partition has as many parts
        return self._floors

    def note(self, slope: float, penalised: float) -> None:
        """Take in that Q(slope) is at least `penalised`."""
        if slope in self.runs:  # a run after a floor that was no run
            penalised = max(penalised, self.runs[slope])
        self.runs[slope] = penalised
        self.least = np.maximum(self.least, penalised - slope * self.numbers)
        self._floors = None

    def may_win(self, best_cost: float) -> NDArray[np.int64]:
        """The numbers of parts that could cost less than `best_cost`."""
        return self.numbers[is_cheaper(self.floors, best_cost)]

    def needed(self, best_cost: float) -> tuple[tuple[float, float], ...]:
        """Some of the runs that prove by themselves that no number of parts costs less than `best_cost`.

        All of them unless each excludes the numbers from one to another, as where what parts cost is concave in their
        number: then of those that exclude the least number left, the one that excludes most.
        """
        every = tuple(self.runs.items())
        intervals = []
        for slope, total in every:
            is_out = ~is_cheaper(total - slope * self.numbers + self.shared, best_cost)
            first, last = int(is_out.argmax()), len(is_out) - 1 - int(is_out[::-1].argmax())
            if not self.is_additive or np.count_nonzero(is_out) not in (0, last - first + 1):
                return every
            if is_out[first]:
                intervals.append((last + 1, first + 1, slope))
        n_out, chosen = 1, set[float]()  # the price of one part is known
        while n_out < len(self.numbers):
            last, _, slope = max((one for one in intervals if one[1] <= n_out + 1), default=(0, 0, 0.0))
            if last <= n_out:
                return every
            n_out = last
            chosen.add(slope)
        return tuple((slope, total) for slope, total in every if slope in chosen)

    def next_slope(self, best_cost: float, best_parts: int) -> float | None:
        """A slope to exclude numbers of parts with that may win; None if there is no more to try.

        Of those above the best number the largest, and then of those below it the smallest: on the way to it, a slope
        excludes most others. Where parts cost a sum, the line from the best number to that one, a little turned,
        excluded most in trials; and if what parts cost together is concave in their number, the rise there is sure to.
        Else a line between two numbers of which a sum is known: it finds a partition below, or no line can.
        """
        may_win = self.may_win(best_cost)
        n_parts = int(may_win[-1] if may_win[-1] > best_parts else may_win[0])
        slopes = itertools.chain(self._rises(n_parts, best_parts), self._edges(may_win))
        return next((slope for slope in slopes if slope not in self.ran), None)

    def _rises(self, n_parts: int, best_parts: int) -> Iterator[float]:
        """Where parts cost a sum: the slope towards the best number, and the one at `n_parts` itself."""
        if self.is_additive and len(self.numbers) > 1:
            i = n_parts - 1
            rise = float(self.rises[min(i, len(self.rises) - 1)])
            if n_parts != best_parts:
                chord = (self.shared[i] - self.shared[best_parts - 1]) / (n_parts - best_parts)
                yield float(0.75 * chord + 0.25 * rise)
            yield rise

    def _edges(self, may_win: NDArray[np.int64]) -> Iterator[float]:
        """The slopes of lines between two neighbours of known sums that are over a number that may win."""
        self.know_apart()
        for below, above in itertools.pairwise(sorted(self.known)):
            if np.any((may_win >= below) & (may_win <= above)):
                yield (self.known[below] - self.known[above]) / (above - below)


# Why a model is the optimum, or how far from it at most: small enough to keep with the model.

# By slopes alone; by going through some numbers of parts too; by trying all there is; less what spans may hide.
SLOPES, LAYERS, ALL, SPANS = METHODS = ("slopes", "layers", "all", "spans")
MONOTONE = ("increasing", "decreasing", "peak", "valley", "auto")
LIMITED = "limited"  # `Certificate.missing` of old files


@dataclass(frozen=True)
class Certificate:
    """What was proven of all partitions of a column that keep the limits; `gridmodl.verify` checks it.

    Attributes
    ----------
    method : {"slopes", "layers", "all", "spans"}
        How: by the runs below alone; by them, and then each number of parts that they had left; by trying all that
        there was; or, of values that were counted in spans, by any of these for bounds between spans, less what bounds
        inside of spans could save.
    lowest : float
        No such partition costs less.
    slopes, totals : tuple of float
        If each part cost ``slopes[i]`` more than it does, no partition's parts would cost less than ``totals[i]`` in
        all. So no partition into I parts has a sum below ``totals[i] - slopes[i] * I``.
    max_parts : int or None
        The limit on the number of parts, besides those of special codes and one of missing values alone.
    min_rows : int
        The limit on the rows of a part.
    monotone : {"increasing", "decreasing", "peak", "valley", "auto"} or None
        The order that the shares of the event had to keep; ``"auto"`` for any of the others.
    order : {"increasing", "decreasing", "peak", "valley"} or None
        The order that they have, if `monotone` is ``"auto"``: the one that was cheapest. None of one part, or without
        ``"auto"``.
    missing : {"auto", "apart", "limited"}
        Where missing values could go: to a part of their own, whatever its rows, or to another part; always to a part
        of their own; or, in files of versions 1 to 5, as ``"auto"`` with ``min_rows`` and ``max_parts`` as limits for
        them too.
    min_events : tuple of int
        The limit on the rows of each class in a part; empty for none.
    min_difference : float
        The limit on the difference of the shares of the event in neighbours.
    fixed : tuple
        Bounds that a partition had to have.
    allowed : tuple or None
        The only bounds that a partition might have, besides the fixed ones; None for all.
    min_period_rows : int, float or None
        If the order of the shares had to be the same in every period: the rows of a period in which parts are compared,
        or their share of all rows if it is below 1. None without that limit.
    """

    method: str
    lowest: float
    slopes: tuple[float, ...] = ()
    totals: tuple[float, ...] = ()
    max_parts: int | None = None
    min_rows: int = 1
    monotone: str | None = None
    missing: str = "auto"
    min_events: tuple[int, ...] = ()
    min_difference: float = 0.0
    fixed: tuple[Any, ...] = ()
    allowed: tuple[Any, ...] | None = None
    min_period_rows: int | float | None = None
    order: str | None = None
