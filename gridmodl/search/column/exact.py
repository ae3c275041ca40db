"""The cheapest partition of all, with proof, by dynamic programming over the bounds.

    F(t) = min over s < t of F(s) + price(s, t) + g                                  one run

Quadratic in the atoms for any criterion (`recursion`); for one that offers a floor under its `cell`, by branch and
bound (`branches`), near-linear if it offers the other two of `gridmodl.terms.FLOORS`. Which runs and layers it takes
to prove an optimum is in `program`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import MAX_COUNTS, alone
from gridmodl.jit.template import bind
from gridmodl.search.column.branch_and_bound import (
    CHUNK,
    N_DONE,
    N_PRICES,
    ROUNDING,
    Setup,
    make_run_buffers,
    relaxed_total,
    run_chunks,
)
from gridmodl.search.column.dynamic import DynamicProgram
from gridmodl.search.column.merge import greedy_merge
from gridmodl.search.column.spans import make_sums, sum_classes
from gridmodl.search.moves import Buffers, Setting, add_entry, clear, part_price
from gridmodl.search.task import Partitioning, Task
from gridmodl.terms import finish, floor, part

# Up to here all pairs take milliseconds, and compiling branch and bound takes ten seconds.
PLAIN_ATOMS = 256
# Prices of pairs of atoms, by class, that a proof may take when nobody asked for it: a second or less.
QUICK_PRICES = 8e7
# A proof took 24 to 148 on noise, steps and smooth signals (docs/exact.md); data where it takes more are rare.
PRICES_PER_ATOM = 250.0
FEW_CLASSES = 10.0  # each price of more takes longer
FEW_ATOMS = 2_000  # beyond, slopes leave too much of a criterion that is no sum


def proven_optimum(task: Task, start: Partitioning | None = None, budget: float = math.inf) -> Partitioning:
    """The cheapest partition that keeps the limits; `start`, if given, saves runs.

    Not proven if it was stopped, or would have taken more than `budget` prices: then its proof says how far it is from
    the optimum at most.
    """
    return make_program(task, start, budget).solve()


def make_program(task: Task, start: Partitioning | None = None, budget: float = math.inf) -> AllBounds:
    """The program over every partition that keeps the limits."""
    is_long = can_prune(task) and task.n_atoms > PLAIN_ATOMS
    return (Branches if is_long else AllBounds)(task, start if start is not None else task.null(), budget)


def can_prune(task: Task) -> bool:
    """Whether branch and bound applies: the criterion has a floor, prices nothing but cells, and all rows a class."""
    atoms, criterion = task.atoms, task.criterion
    return (
        criterion.floor is not floor
        and criterion.part is part
        and task.n_atoms * task.n_frozen_cells * atoms.counts.shape[1] <= MAX_COUNTS
        and int(atoms.rows.sum()) == int(atoms.counts.sum(dtype=np.int64))
    )


def budget_of(task: Task) -> float:
    """So many prices may be taken for a proof that nobody asked for; 0 where they would not be enough.

    A quadratic recursion takes place about four times, or once for each number of parts.
    """
    n, n_classes = task.n_atoms, task.atoms.counts.shape[1]
    if can_prune(task) and (task.criterion.finish is finish or n <= FEW_ATOMS):
        return max(PRICES_PER_ATOM * n * min(1.0, FEW_CLASSES / n_classes), QUICK_PRICES / n_classes)
    n_recursions = 4 if task.criterion.finish is finish else n
    return QUICK_PRICES / n_classes if n_recursions * n**2 * n_classes <= QUICK_PRICES else 0.0


class AllBounds(DynamicProgram):
    """Every partition that keeps the limits, for any criterion: quadratic in the atoms."""

    def __init__(self, task: Task, best: Partitioning, budget: float) -> None:
        super().__init__(task, best, budget)
        self.before = self._nothing()
        self.came_from: list[NDArray[np.int32]] = []
        is_quick = self.n <= PLAIN_ATOMS or not self.slopes.is_additive  # else a slope excludes it sooner
        if is_quick and self.n == self.max_parts and task.limits.min_rows <= 1:
            self.slopes.know_apart()  # the only partition into as many parts
            self.slopes.least[self.n - 1] = self.slopes.known[self.n]
            self._offer(np.arange(self.n))

    def run(self, slope: float) -> tuple[NDArray[np.int64], float] | None:
        best, came_from = self._nothing(), np.zeros(self.n + 1, dtype=np.int32)
        if not self.fill(slope, best, best, came_from):
            return None
        starts = np.empty(self.n, dtype=np.int64)
        return starts[bind(trace)(came_from, starts) :].copy(), float(best[self.n])

    def layer(self, k: int, n_layers: int) -> float | None:
        after, came_from = np.full(self.n + 1, np.inf), np.zeros(self.n + 1, dtype=np.int32)
        if not self.fill(0.0, self.before, after, came_from, (k, n_layers)):
            return None
        self.before = after
        self.came_from.append(came_from)
        return float(after[self.n])

    def trace_layers(self, k: int) -> NDArray[np.int64]:
        starts, t = np.empty(k + 1, dtype=np.int64), self.n
        for i in range(k, -1, -1):  # a step each, beside a recursion over all bounds
            starts[i] = t = int(self.came_from[i][t])
        return starts

    def _nothing(self) -> NDArray[np.float64]:
        best = np.full(self.n + 1, np.inf)
        best[0] = 0.0
        return best

    def fill(self, slope: float, before: Any, after: Any, came_from: Any, layer: tuple[int, int] | None = None) -> bool:
        """Do one recursion over all bounds, in turns; False if it is over before. Layers come in a known number."""
        task, at, kernel = self.task, 1, bind(recursion, self.task.criterion)
        # Refused and not begun: else the length of a turn, which follows the clock, would change the result.
        self.n_prices += 0.5 * self.n**2
        if self.is_over:
            return False

        def turn(size: int) -> bool:
            nonlocal at
            to = min(self.n + 1, max(at + 1, math.isqrt(at * at + 2000 * size)))
            kernel(
                task.atoms, task.setting, slope, before, after, came_from, at, to, task.buffers, task.limits.min_rows
            )
            at = to
            return at > self.n

        size = max(1, 1024 // task.atoms.counts.shape[1])
        task.clock.repeat(turn, self.share_of(layer, lambda: (at / self.n) ** 2), size)
        return at > self.n


class Branches(AllBounds):
    """The same partitions by branch and bound, for a criterion with a floor."""

    def __init__(self, task: Task, best: Partitioning, budget: float) -> None:
        self.sums = sums = make_sums(task.atoms, task.n_frozen_cells, task.clock)
        super().__init__(task, best, budget)
        rows = sum_classes(sums)
        n_rows = int(rows[-1])
        margin = ROUNDING * (n_rows * math.log(n_rows + 1.0) + abs(self.slopes.known[1]))
        min_rows = min(task.limits.min_rows, n_rows)  # one part may always be
        self.setup, self.buffers = Setup(sums, rows, task.setting.p, min_rows, margin), make_run_buffers(sums)

    def priced(self, starts: NDArray[np.int64]) -> Partitioning:
        joined = self._joined(starts)
        return joined.priced(np.arange(joined.n_atoms))._replace(starts=starts) if joined else super().priced(starts)

    def price_of(self, starts: NDArray[np.int64]) -> float:
        joined = self._joined(starts)
        return joined.price_of(np.arange(joined.n_atoms)) if joined else super().price_of(starts)

    def _joined(self, starts: NDArray[np.int64]) -> Task | None:
        """The task whose atoms are these parts, in no time from sums of counts; None beside frozen cells."""
        if self.task.n_frozen_cells > 1:
            return None
        counts = np.diff(self.sums[np.append(starts, self.n), 0], axis=0)
        return replace(self.task, atoms=alone(counts, np.zeros(len(starts), dtype=np.int32), counts.shape[1]))

    def relaxed(self, slope: float) -> float | None:
        kernel, n_chunks, at, total = bind(relaxed_total, self.task.criterion), -(-self.n // CHUNK), 0, 0.0

        def turn(size: int) -> bool:
            nonlocal at, total
            to = min(n_chunks, at + size)
            total += kernel(self.setup, slope, self.buffers, at, to)
            at = to
            return at == n_chunks

        self.task.clock.repeat(turn, None, size=max(1, 1024 // self.setup.sums[0].size))
        self.n_prices += at * CHUNK * CHUNK / 2
        return total if at == n_chunks else None

    def fill(self, slope: float, before: Any, after: Any, came_from: Any, layer: tuple[int, int] | None = None) -> bool:
        buffers, kernel, is_done = self.buffers, bind(run_chunks, self.task.criterion), False
        buffers.now[:] = 0
        begun, size = self.n_prices, max(1, 64 // self.setup.sums[0].size)

        def turn(size: int) -> bool:
            nonlocal is_done
            # Never past the budget: else the length of a turn, which follows the clock, would change the result.
            n = int(min(1024 * size, max(1.0, self.budget - self.n_prices + 1.0)))
            is_done = kernel(self.setup, slope, before, after, came_from, buffers, n)
            self.n_prices = begun + float(buffers.now[N_PRICES])
            return is_done or self.is_over

        self.task.clock.repeat(turn, self.share_of(layer, lambda: buffers.now[N_DONE] * CHUNK / self.n), size)
        return is_done


def recursion(
    atoms: Any, setting: Setting, slope: float, before: Any, after: Any, came_from: Any, at: int, to: int,
    buffers: Buffers, min_rows: int,
) -> None:  # fmt: skip
    """after[t] = min over s < t of before[s] + price(s, t) + slope, for `at` <= t < `to`; of equals the leftmost s."""
    first, frozen, counts, rows, values = atoms
    cell_counts, cell_rows, cell_prices = buffers.left, buffers.left_rows, buffers.left_price
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
        clear(atoms, 0, t, buffers)


def trace(came_from: Any, starts: Any) -> int:
    """Write the starts of the parts up to the last bound to the end of `starts`; return where they begin in it."""
    t = at = len(starts)
    while t > 0:
        t = came_from[t]
        at -= 1
        starts[at] = t
    return at


# The best partition for each number of parts: one recursion over the bounds for each, layer k from layer k - 1.


class ByParts(NamedTuple):
    """What the best partitions into 1, 2, ... parts cost."""

    costs: NDArray[np.float64]
    gaps: NDArray[np.float64]  # NaN where no floor is known


def best_by_parts(task: Task) -> tuple[ByParts, list[Partitioning]]:
    """Up to as many parts as the limits allow; where it was stopped, those that a merge found, each with a gap."""
    task.clock.step = "merge"
    merged = greedy_merge(task)
    most = min(task.limits.max_parts, task.n_atoms)
    on_path = [task.null()]
    if not task.clock.stopped:
        on_path += [task.priced(merged.path(k)) for k in range(2, min(most, merged.max_parts) + 1)]
    task.clock.step = "proof"
    program = make_program(task, merged.best)
    if len(on_path) > 1:  # for the gaps, should the layers be stopped
        program.explore((task.price_of([0]) - task.price_of(on_path[-1].starts)) / (len(on_path) - 1))
    found: list[Partitioning] = []
    for k in range(most):
        total = None if program.is_over else program.layer(k, most)
        if total is None or not np.isfinite(total):
            break
        found.append(task.priced(program.trace_layers(k)))
    floors = program.slopes.floors
    late = on_path[len(found) :] if program.is_over else []
    gaps = [0.0] * len(found) + [max(0.0, one.cost - floors[len(one.starts) - 1]) for one in late]
    partitionings = found + late
    costs = np.array([one.cost for one in partitionings])
    return ByParts(costs, np.where(np.isfinite(gaps), gaps, np.nan)), partitionings
