"""The cheapest partition of all, with proof, by dynamic programming over the bounds.

    F(t) = min over s < t of F(s) + price(s, t) + g                                  one run, quadratic in the atoms

The terms that depend on the number of parts only, h(I), are not a price per part. But for every g and I

    cost with I parts  >=  Q(g) + h(I) - g I,      Q(g) = min over all partitions of their prices + g I = F(n)

so a run at slope g is a floor under the cost of every number of parts at once, and a few slopes leave none that could
beat the best partition found. Where some are left (h not concave, a limit on the parts, a criterion with `finish`),
the same recursion goes through the numbers of parts one by one, layer k from layer k - 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.search.moves import Setting, Work, add_entry, clear, part_price, total_cost
from gridmodl.search.task import Partitioning, Task
from gridmodl.template import bind
from gridmodl.terms import finish

# Two costs closer than this share of their size are equal.
TOLERANCE = 1e-11


def proven_optimum(task: Task, start: Partitioning | None = None) -> Partitioning:
    """The cheapest partition that keeps the limits; `start`, if given, saves runs. Not proven if it was stopped."""
    return _AllBounds(task, start if start is not None else task.null()).solve()


class Programme:
    """What slopes and layers prove; a subclass says of which partitions, and does one run or layer.

    Whatever the partitions, two neighbours of one may merge: so where none has k parts, none has more.
    """

    def __init__(self, task: Task, best: Partitioning) -> None:
        self.task, self.best = task, best
        self.n = task.n_atoms
        self.max_parts = min(task.limits.max_parts, self.n)

    def run(self, slope: float) -> tuple[NDArray[np.int64], float]:
        """A partition with the lowest sum of prices, if each part costs `slope` more; and that sum."""
        raise NotImplementedError

    def layer(self, k: int, n_layers: int) -> float:
        """The lowest sum of prices of `k` + 1 parts, infinite if there are none; layer `k` - 1 is done."""
        raise NotImplementedError

    def trace_layers(self, k: int) -> NDArray[np.int64]:
        """The partition that layer `k` found."""
        raise NotImplementedError

    def solve(self) -> Partitioning:
        n_layers = self.max_parts
        if self.task.criterion.finish is finish:
            n_layers = self._exclude_by_slopes()
        if n_layers > 0 and not self.task.clock.stopped:
            self._go_through_layers(n_layers)
        return self.best._replace(proven=self.task.clock.stopped is None)

    def _exclude_by_slopes(self) -> int:
        """Run slopes until no number of parts can win, or no slope excludes one that could; the largest of these."""
        shared = costs_by_parts(self.task, np.zeros(self.max_parts))
        if not np.all(np.isfinite(shared)):
            return self.max_parts
        parts = np.arange(1, self.max_parts + 1)
        slopes = np.diff(shared, append=shared[-1])
        slopes[-1] = slopes[-2] if len(slopes) > 1 else 0.0  # more parts than there may be have no price
        floor = np.full(self.max_parts, -np.inf)
        tried, tried_own = set[int](), set[int]()
        slope = slopes[0]
        while True:
            starts, penalised = self.run(slope)
            if self.task.clock.stopped:
                return 0
            self._offer(starts)
            floor = np.maximum(floor, penalised + shared - slope * parts)
            excluded = floor >= self.best.cost - TOLERANCE * (1.0 + abs(self.best.cost))
            may_win = np.flatnonzero(~excluded)
            if len(may_win) == 0:
                return 0
            i = int(may_win[np.argmin(floor[may_win])])
            best_i = len(self.best.starts) - 1
            if i in tried_own:  # no line separates it from the others
                return int(may_win[-1]) + 1
            if i in tried or i == best_i:
                slope = slopes[i]
                tried_own.add(i)
            else:
                slope = 0.75 * (shared[i] - shared[best_i]) / (i - best_i) + 0.25 * slopes[i]
            tried.add(i)

    def _go_through_layers(self, n_layers: int) -> None:
        totals: list[float] = []
        while len(totals) < n_layers:
            total = self.layer(len(totals), n_layers)
            # What `finish` makes of infinity means nothing.
            if self.task.clock.stopped or not math.isfinite(total):
                break
            totals.append(total)
        if totals:
            self._offer(self.trace_layers(int(np.argmin(costs_by_parts(self.task, np.array(totals))))))

    def _offer(self, starts: NDArray[np.int64]) -> None:
        if len(starts) <= self.max_parts:
            found = self.task.priced(starts)
            if found.cost < self.best.cost:
                self.best = found


class _AllBounds(Programme):
    """Every partition that keeps the limits."""

    def __init__(self, task: Task, best: Partitioning) -> None:
        super().__init__(task, best)
        self.kernel = bind(recursion, task.criterion)
        self.before = self._nothing()
        self.came_from: list[NDArray[np.int32]] = []

    def run(self, slope: float) -> tuple[NDArray[np.int64], float]:
        best, came_from = self._nothing(), np.zeros(self.n + 1, dtype=np.int32)
        self._fill(slope, best, best, came_from, (0.0, 1.0))
        starts = [self.n]
        while starts[-1] > 0:
            starts.append(int(came_from[starts[-1]]))
        return np.array(starts[:0:-1], dtype=np.int64), float(best[self.n])

    def layer(self, k: int, n_layers: int) -> float:
        after, came_from = np.full(self.n + 1, np.inf), np.zeros(self.n + 1, dtype=np.int32)
        self._fill(0.0, self.before, after, came_from, (k / n_layers, 1.0 / n_layers))
        self.before = after
        self.came_from.append(came_from)
        return float(after[self.n])

    def trace_layers(self, k: int) -> NDArray[np.int64]:
        starts = [self.n]
        for came_from in self.came_from[k::-1]:
            starts.append(int(came_from[starts[-1]]))
        return np.array(starts[:0:-1], dtype=np.int64)

    def _nothing(self) -> NDArray[np.float64]:
        best = np.full(self.n + 1, np.inf)
        best[0] = 0.0
        return best

    def _fill(self, slope: float, before: Any, after: Any, came_from: Any, share: tuple[float, float]) -> None:
        """Do one recursion over all bounds, in turns."""
        task, at = self.task, 1

        def turn(size: int) -> bool:
            nonlocal at
            to = min(self.n + 1, max(at + 1, math.isqrt(at * at + 2000 * size)))
            self.kernel(
                task.atoms, task.setting, slope, before, after, came_from, at, to, task.work, task.limits.min_rows
            )
            at = to
            return at > self.n

        size = max(1, 1024 // task.atoms.counts.shape[1])
        task.clock.repeat(turn, lambda: share[0] + share[1] * (at / self.n) ** 2, size)


def n_recursions(task: Task) -> int:
    """About how many recursions the proof will take: a few slopes where they are sure to do, else a layer per part."""
    n = min(task.n_atoms, task.limits.max_parts)
    if task.criterion.finish is not finish:
        return n
    shared = costs_by_parts(task, np.zeros(n))
    bends_up = np.diff(shared, 2) > TOLERANCE * (1.0 + np.abs(shared[1:-1]))
    return n if np.any(bends_up) or not np.all(np.isfinite(shared)) else min(n, 4)


def costs_by_parts(task: Task, totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cost for 1, 2, ... parts, given the sum of their prices."""
    costs = np.empty(len(totals))
    bind(finished, task.criterion)(task.setting, totals, costs)
    return costs


def finished(setting: Setting, totals: Any, costs: Any) -> None:
    for i in range(len(totals)):
        costs[i] = total_cost(setting, totals[i], i + 1)


def recursion(
    atoms: Any, setting: Setting, slope: float, before: Any, after: Any, came_from: Any, at: int, to: int, work: Work,
    min_rows: int,
) -> None:  # fmt: skip
    """after[t] = min over s < t of before[s] + price(s, t) + slope, for `at` <= t < `to`; of equals the leftmost s."""
    first, frozen, counts, rows, values = atoms
    cell_counts, cell_rows, cell_prices = work.left, work.left_rows, work.left_price
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    n = len(values)
    for t in range(at, to):
        cells, n_rows, n_values = 0.0, 0, 0
        best, best_s = np.inf, 0
        for s in range(t - 1, -1, -1):
            for e in range(first[s], first[s + 1]):
                cells += add_entry(p, cell_counts, cell_rows, cell_prices, frozen[e], counts[e], rows[e])
                n_rows += rows[e]
            n_values += values[s]
            if n_rows >= min_rows or (s == 0 and t == n):
                price = before[s] + (cells + part_price(p, facts, n_target_parts, n_rows, n_values)) + slope
                if price <= best:
                    best, best_s = price, s
        after[t], came_from[t] = best, best_s
        clear(atoms, 0, t, work)
