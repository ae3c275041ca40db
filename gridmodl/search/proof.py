"""What a dynamic programme over bounds proves, whichever partitions it goes through.

The cost of a partition is a function of the sum of its parts' prices and of their number I, which grows with the sum.
For every slope g and every I

    sum of prices of I parts  >=  Q(g) - g I,      Q(g) = min over all partitions of their sum + g I

so a run at slope g is a floor under the cost of every number of parts at once, and a few slopes leave none that could
beat the best partition found. The list of slopes and their Q proves it to whoever computes Q again, and a single run
already bounds the distance to the optimum. Numbers of parts that no slope excludes are gone through one by one, layer k
from layer k - 1.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.certificate import nearly
from gridmodl.search.moves import Setting, total_cost
from gridmodl.template import bind
from gridmodl.terms import Criterion, finish


class Proof(NamedTuple):
    """Why no partition that keeps the limits costs less than `lowest`."""

    method: str  # one of `gridmodl.certificate.METHODS`
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
    """

    def __init__(self, criterion: type[Criterion], setting: Setting, max_parts: int, known: dict[int, float]) -> None:
        self.criterion, self.setting = criterion, setting
        self.numbers = np.arange(1, max_parts + 1)
        self.known = dict(known)
        self.least = np.full(max_parts, -np.inf)  # sums of prices that no partition goes below
        self.least[0] = known[1]
        self.runs: dict[float, float] = {}  # slopes, and what each proved: Q
        self._tried = set[Any]()
        shared = self._costs(np.zeros(max_parts))
        self.is_additive = criterion.finish is finish and bool(np.all(np.isfinite(shared)))
        self.shared, self.rises = shared, np.diff(shared)

    def _costs(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return costs_by_parts(self.criterion, self.setting, totals)

    @property
    def floors(self) -> NDArray[np.float64]:
        """What partitions of 1, 2, ... parts cost at least; minus infinity before the first run."""
        floors = np.full(len(self.least), -np.inf)
        known = np.isfinite(self.least)
        floors[known] = self._costs(np.where(known, self.least, 0.0))[known]
        return floors

    def note(self, slope: float, penalised: float) -> None:
        """Take in that Q(slope) is at least `penalised`."""
        if slope in self.runs:  # a run after a bound that was no run
            penalised = max(penalised, self.runs[slope])
        self.runs[slope] = penalised
        self.least = np.maximum(self.least, penalised - slope * self.numbers)

    def may_win(self, best_cost: float) -> NDArray[np.int64]:
        """The numbers of parts that could cost less than `best_cost`."""
        return self.numbers[self.floors < nearly(best_cost)]

    def next_slope(self, best_cost: float, best_parts: int) -> float | None:
        """A slope to exclude numbers of parts with that may win; None if there is no more to try.

        Of those above the best number the largest, and then of those below it the smallest: on the way to it, a slope
        excludes most others. Where parts cost a sum, the line from the best number to that one, a little turned,
        excluded most in trials; and if what parts cost together is concave in their number, the rise there is sure to.
        Else a line between two numbers of which a sum is known: it finds a partition below, or no line can.
        """
        may_win = self.may_win(best_cost)
        n_parts = int(may_win[-1] if may_win[-1] > best_parts else may_win[0])
        if self.is_additive and len(self.numbers) > 1:
            i = n_parts - 1
            rise = float(self.rises[min(i, len(self.rises) - 1)])
            if n_parts != best_parts and self._is_new(("chord", n_parts)):
                chord = (self.shared[i] - self.shared[best_parts - 1]) / (n_parts - best_parts)
                return float(0.75 * chord + 0.25 * rise)
            if self._is_new(("rise", n_parts)):
                return rise
        return self._edge(may_win)

    def _edge(self, may_win: NDArray[np.int64]) -> float | None:
        """The slope of a line between two neighbours of known sums that was not run and is over one that may win."""
        for below, above in itertools.pairwise(sorted(self.known)):
            is_over_one = np.any((may_win >= below) & (may_win <= above))
            if is_over_one and self._is_new((below, above, self.known[below], self.known[above])):
                return (self.known[below] - self.known[above]) / (above - below)
        return None

    def _is_new(self, trial: Any) -> bool:
        if trial in self._tried:
            return False
        self._tried.add(trial)
        return True
