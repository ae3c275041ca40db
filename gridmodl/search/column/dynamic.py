"""Proof of an optimum by runs and layers of dynamic programming; `proof` says what each run proves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gridmodl.search.moves import is_cheaper
from gridmodl.search.proof import LAYERS, SLOPES, Proof, Slopes, costs_by_parts
from gridmodl.search.task import Partitioning, Task

# Slopes without a run, from that of the most parts, 0, to that of the fewest, 1.
RELAXED = (0.0, 0.2, 0.35, 0.5)
BUDGET_STEP = 1.5  # factor by which a budget of prices rises


class DynamicProgram:
    """What slopes and layers prove; a subclass says of which partitions, and does one run or layer.

    Mostly two neighbours of a partition may merge: so where none has k parts, none has more. Else `keeps_merges` of the
    rules is False.

    A proof is given up if it takes more than `budget` prices, and goes on after the time `until` of the clock: budgets
    rise in steps, so that results differ little between machines.
    """

    goes_on_in_time: ClassVar[bool] = False  # whether a budget of prices is raised while little time was used

    def __init__(self, task: Task, best: Partitioning, budget: float = math.inf, until: float = 0.0) -> None:
        self.task, self.best, self.budget, self.until = task, best, budget, until
        self.n = task.n_atoms
        self.max_parts = min(task.limits.max_parts, self.n)
        self.n_prices = 0.0  # so far
        self.is_relaxed = False
        known = {len(starts): self.price_of(starts) for starts in (best.starts, task.null().starts)}
        self.slopes = Slopes(task.criterion, task.setting, self.max_parts, known, self._price_apart)
        self.slopes.least[: len(task.rules.fixed)] = np.inf  # fewer parts than fixed bounds allow

    def priced(self, starts: NDArray[np.int64]) -> Partitioning:
        """A partition with its cost, computed from nothing."""
        return self.task.priced(starts)

    def price_of(self, starts: NDArray[np.int64]) -> float:
        """What the parts of a partition cost, without what depends on their number."""
        return self.task.price_of(starts)

    def _price_apart(self) -> tuple[int, float]:
        return self.n, self.price_of(np.arange(self.n))

    @property
    def is_over(self) -> bool:
        if self.goes_on_in_time and self.n_prices > self.budget and self.task.clock.elapsed < self.until:
            self.budget = BUDGET_STEP * self.n_prices
        return self.task.clock.stopped is not None or self.n_prices > self.budget

    def run(self, slope: float) -> tuple[NDArray[np.int64], float] | None:
        """A partition with the lowest sum of prices if each part costs `slope` more, and that sum; None if over."""
        raise NotImplementedError

    def relaxed(self, slopes: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """What no sum can be below if each part costs so much more, found sooner than by runs; None if it is over."""
        return None

    def layer(self, k: int, n_layers: int) -> float | None:
        """The lowest sum of prices of `k` + 1 parts, infinite if there are none; layer `k` - 1 is done."""
        raise NotImplementedError

    def trace_layers(self, k: int) -> NDArray[np.int64]:
        """The partition that layer `k` found."""
        raise NotImplementedError

    @staticmethod
    def share_of(layer: tuple[int, int] | None, done: Callable[[], float]) -> Callable[[], float] | None:
        """The share of all layers that is done, for the clock; `layer` is (k, n_layers), or None of a run.

        Nobody knows how many runs a proof takes, so they have no share.
        """
        return None if layer is None else lambda: (layer[0] + min(1.0, done())) / layer[1]

    def solve(self) -> Partitioning:
        slopes = self.slopes
        self._relax()
        while len(slopes.may_win(self.best.cost)):
            slope = slopes.next_slope(self.best.cost, len(self.best.starts))
            if slope is None or not self.explore(slope):
                break
        else:
            return self._proven(SLOPES)
        lowest = min(self.best.cost, float(slopes.floors.min()))
        proof = Proof(SLOPES, lowest, tuple(slopes.runs.items())) if math.isfinite(lowest) else None
        if not self.is_over and self._go_through_layers(int(slopes.may_win(self.best.cost)[-1])):
            return self._proven(LAYERS)
        return self.best._replace(proven=False, proof=proof)

    def go_on(self, best: Partitioning) -> Partitioning:
        """Solve it without a budget; `best` was found since."""
        self.budget = math.inf
        if best.cost < self.best.cost:
            self.best = best
            self.slopes.known[len(best.starts)] = self.price_of(best.starts)
        return self.solve()

    def _proven(self, method: str) -> Partitioning:
        runs = self.slopes.needed(self.best.cost) if method == SLOPES else tuple(self.slopes.runs.items())
        return self.best._replace(proven=True, proof=Proof(method, self.best.cost, runs))

    def _relax(self) -> None:
        """Exclude the largest numbers of parts: a run would take longest there, and need not be exact."""
        if self.slopes.is_additive and len(self.slopes.rises) and not self.is_relaxed:
            self.is_relaxed = True
            least, most = float(self.slopes.rises[-1]), float(self.slopes.rises[0])
            slopes = np.unique([least + share * (most - least) for share in RELAXED])
            totals = self.relaxed(slopes)
            if totals is not None:
                for slope, total in zip(slopes.tolist(), totals.tolist(), strict=True):
                    self.slopes.note(slope, total)

    def explore(self, slope: float) -> bool:
        """Do a run and take in what it proves; False if it was not finished."""
        found = None if self.is_over else self.run(slope)
        if found is None:
            return False
        starts, penalised = found
        self.slopes.ran.add(slope)
        self.slopes.note(slope, penalised)
        total, known = penalised - slope * len(starts), self.slopes.known
        if len(starts) not in known or is_cheaper(
            total, known[len(starts)]
        ):  # and not by rounding: runs would never end
            known[len(starts)] = total
        self._offer(starts)
        return True

    def _go_through_layers(self, n_layers: int) -> bool:
        """All numbers of parts up to `n_layers`; True if none was left out."""
        totals: list[float] = []
        while len(totals) < n_layers:
            total = None if self.is_over else self.layer(len(totals), n_layers)
            if total is None:
                break
            if not math.isfinite(total) and self.task.rules.keeps_merges:
                n_layers = len(totals)
                break
            totals.append(total)
        is_finite = np.isfinite(totals)
        if np.any(is_finite):
            # What `finish` makes of infinity means nothing.
            costs = costs_by_parts(self.task.criterion, self.task.setting, np.where(is_finite, totals, 0.0))
            self._offer(self.trace_layers(int(np.argmin(np.where(is_finite, costs, np.inf)))))
        return len(totals) == n_layers

    def _offer(self, starts: NDArray[np.int64]) -> None:
        if len(starts) <= self.max_parts:
            found = self.priced(starts)
            if found.cost < self.best.cost:
                self.best = found
