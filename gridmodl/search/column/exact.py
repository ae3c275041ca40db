"""The cheapest partition of all, with proof, by dynamic programming over the bounds.

    F(t) = min over s < t of F(s) + price(s, t) + g                                  one run

A run is quadratic in the atoms for any criterion (`AllBounds`). For a criterion with a floor under its `cell`, branch
and bound (`Branches`) leaves out most pairs; it is near-linear with `excess` and `tangent` too. With two classes and a
concave `cell`, runs also leave out most bounds (`Hulls`). `dynamic` says which runs and layers prove an optimum.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import MAX_COUNTS, alone, coarsen
from gridmodl.jit.template import bind
from gridmodl.search.column.branch_and_bound import (
    CHUNK,
    N_DONE,
    N_PRICES,
    ROUNDING,
    Setup,
    join_chunks,
    make_run_buffers,
    relax_chunks,
    relax_two_classes,
    run_chunks,
    run_one_cell,
    run_two_classes,
)
from gridmodl.search.column.dynamic import DynamicProgram
from gridmodl.search.column.hulls import BLOCK, Blocks, Kept, block_gains, check_blocks, make_scratch, mark_hulls
from gridmodl.search.column.merge import greedy_merge
from gridmodl.search.column.spans import make_sums, sum_classes
from gridmodl.search.moves import Buffers, Setting, add_entry, clear, part_price
from gridmodl.search.task import Partitioning, Task
from gridmodl.terms import finish, floor, grid, part, variable

# Up to here all pairs take milliseconds, and compiling branch and bound takes ten seconds.
PLAIN_ATOMS = 256
# Prices of pairs of atoms, by class, that take a second or less.
QUICK_PRICES = 8e7
# A proof that can stop between prices goes on so long, whatever prices it takes: with many classes, or limits on parts,
# a third of a second more gave proofs that 80 million prices failed to give.
QUICK_SECONDS = 1.0
# A proof took 24 to 148 on noise, steps and smooth signals (docs/exact.md); it rarely takes more.
PRICES_PER_ATOM = 250.0
FEW_CLASSES = 12.0  # each price of more takes longer; with 10, noise of 20 classes failed for want of 1 % of its prices
MANY_CLASSES = 40  # of more, most proofs fail that are not quick
HULL_ATOMS = 20_000  # of fewer, hulls took up to 1.5 times as long as runs over all bounds, with 1e5 half of it
MANY_PARTS = 64
FEW_MORE = 32  # of so many parts one more, see `Branches.solve`
COARSE = 32  # atoms of one of the first partition
BLOCKS_AT_ONCE = 64  # between two checks of hulls
NEAR = 1.0  # blocks whose gain is within NEAR of the slope are expected to fail the check
FEW_ATOMS = 2_000  # beyond, slopes leave too much of a criterion that is no sum


def proven_optimum(
    task: Task, start: Partitioning | None = None, budget: float = math.inf, seconds: float = 0.0
) -> Partitioning:
    """The cheapest partition that keeps the limits; `start`, if given, saves runs.

    Not proven if it was stopped, or would have taken more than `budget` prices and `seconds`: then its proof says how
    far it is from the optimum at most.
    """
    return make_program(task, start, budget, seconds).solve()


def make_program(
    task: Task, start: Partitioning | None = None, budget: float = math.inf, seconds: float = 0.0
) -> AllBounds:
    """The program over every partition that keeps the limits."""
    program = AllBounds
    if can_prune(task) and task.n_atoms > PLAIN_ATOMS:
        program = Hulls if has_hulls(task) and task.n_atoms > HULL_ATOMS else Branches
    until = task.clock.elapsed + seconds if seconds else 0.0
    return program(task, start if start is not None else task.base, budget, until)


def can_prune(task: Task) -> bool:
    """Whether branch and bound applies: the criterion has a floor, prices nothing but cells, and all rows a class."""
    atoms, criterion = task.atoms, task.criterion
    return (
        criterion.floor is not floor
        and criterion.part is part
        and task.n_atoms * task.n_frozen_cells * atoms.counts.shape[1] <= MAX_COUNTS
        and int(atoms.rows.sum()) == int(atoms.counts.sum(dtype=np.int64))
    )


def has_hulls(task: Task) -> bool:
    """Whether runs may leave out bounds that are no extreme points, where branch and bound applies."""
    is_plane = task.n_frozen_cells == 1 and task.atoms.counts.shape[1] == 2
    has_room = int(task.atoms.rows.sum()) < 2**31  # hulls multiply two counts in 64 bits
    return is_plane and has_room and task.criterion.concave_cell and not task.has_windows


def budget_of(task: Task) -> float:
    """Budget of prices for the proof of search="auto"; 0 if it would not suffice.

    Branch and bound goes on for `QUICK_SECONDS`, whatever prices it takes. The quadratic recursion runs once if nothing
    depends on the number of parts, else about four times, or once for each number of parts.
    """
    n, n_classes = task.n_atoms, task.atoms.counts.shape[1]
    if can_prune(task) and (task.criterion.finish is finish or n <= FEW_ATOMS):
        usual, quick = PRICES_PER_ATOM * n * min(1.0, FEW_CLASSES / n_classes), QUICK_PRICES / n_classes
        return max(usual, quick) if n_classes <= MANY_CLASSES else quick
    return QUICK_PRICES / n_classes if n <= most_atoms(task) else 0.0


def most_atoms(task: Task) -> int:
    """The most atoms for which the quadratic recursion takes about a second."""
    criterion, prices = task.criterion, QUICK_PRICES / task.atoms.counts.shape[1]
    if criterion.finish is not finish:  # a run for each number of parts
        return math.floor(prices ** (1 / 3))
    is_sum = criterion.grid is grid and criterion.variable is variable  # over parts: one run has the optimum
    return math.isqrt(int(prices / (1 if is_sum else 4)))


def why_given_up(task: Task) -> str:
    """Why search="auto" proves nothing of a task, in words."""
    name, most = task.criterion.name, most_atoms(task)
    if can_prune(task) and (task.criterion.finish is finish or task.n_atoms <= FEW_ATOMS):
        return "the proof takes longer than search='auto' gives it; search='exact' goes on"
    go_on = "search='exact' tries all pairs"
    if task.criterion.floor is floor:
        return f"criterion {name!r} has no `floor`, and there are more than {most:,} values; write one, or {go_on}"
    if task.criterion.finish is not finish:
        return f"criterion {name!r} has a `finish`, and there are more than {FEW_ATOMS:,} values; {go_on}"
    return f"no floor of criterion {name!r} serves here, and there are more than {most:,} values; {go_on}"


class AllBounds(DynamicProgram):
    """Every partition that keeps the limits, for any criterion: quadratic in the atoms."""

    def __init__(self, task: Task, best: Partitioning, budget: float, until: float = 0.0) -> None:
        super().__init__(task, best, budget, until)
        self.before = self._nothing()
        self.came_from: list[NDArray[np.int32]] = []
        is_quick = self.n <= PLAIN_ATOMS or not self.slopes.is_additive  # else a slope excludes it sooner
        if is_quick and self.n == self.max_parts and not task.has_windows:
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
            kernel(task.atoms, task.setting, slope, before, after, came_from, at, to, task.buffers, *task.windows)
            at = to
            return at > self.n

        size = max(1, 1024 // task.atoms.counts.shape[1])
        task.clock.repeat(turn, self.share_of(layer, lambda: (at / self.n) ** 2), size)
        return at > self.n


class Branches(AllBounds):
    """The same partitions by branch and bound, for a criterion with a floor."""

    goes_on_in_time = True

    def __init__(self, task: Task, best: Partitioning, budget: float, until: float = 0.0) -> None:
        self.sums = sums = make_sums(task.atoms, task.n_frozen_cells, task.clock)
        super().__init__(task, best, budget, until)
        n_rows = int(sum_classes(sums)[-1])
        margin = ROUNDING * (n_rows * math.log(n_rows + 1.0) + abs(self.slopes.known[1]))
        criterion, is_two, is_alone = task.criterion, sums.shape[1:] == (1, 2), sums.shape[1] == 1
        run_any = bind(run_one_cell, criterion) if is_alone else bind(run_chunks, criterion)
        self.run_kernel = bind(run_two_classes, criterion) if is_two else run_any
        self.relax_kernel = bind(relax_two_classes, criterion) if is_two else bind(relax_chunks, criterion)
        self.setup, self.buffers = Setup(sums, task.windows, task.setting.p, margin), make_run_buffers(sums)

    def solve(self) -> Partitioning:
        if len(self.best.starts) == len(self.task.rules.fixed) + 1 and self.slopes.is_additive:
            self._start_coarse()
            self._relax()
            n_parts, rises = len(self.best.starts), self.slopes.rises
            # Near many parts, those of a few more or less cost nearly the same: it takes a run there in any case. At
            # the rise of a few parts more it excludes what the next run, far below, would leave: 4 runs in place of 5.
            if MANY_PARTS <= n_parts <= len(rises) and not self.slopes.ran:
                self.explore(float(rises[min(n_parts + n_parts // FEW_MORE, len(rises) - 1)]))
        return super().solve()

    def _start_coarse(self) -> None:
        """Begin with the optimum over every `COARSE`-th bound: runs prove more where a cheap partition is known."""
        if self.n < COARSE**2 or self.is_over:
            return
        starts = np.union1d(np.arange(0, self.n, COARSE), self.task.rules.fixed)
        if 2 * len(starts) > self.n:  # most bounds are fixed: nothing is gained
            return
        task = self._joined(starts) or replace(self.task, atoms=coarsen(self.task.atoms, starts), start=None)
        task = replace(task, rules=self.task.rules.coarsen(starts))
        make = Hulls if isinstance(self, Hulls) and task.n_atoms > HULL_ATOMS else Branches
        program = make(task, task.base, self.budget - self.n_prices, self.until)
        found = program.solve()
        self.n_prices += program.n_prices
        self._offer(starts[found.starts])
        self.slopes.known[len(self.best.starts)] = self.price_of(self.best.starts)

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
        atoms = alone(counts, np.zeros(len(starts), dtype=np.int32), counts.shape[1])
        return replace(self.task, atoms=atoms, start=None)

    def relaxed(self, slopes: NDArray[np.float64]) -> NDArray[np.float64] | None:
        kernel, n_chunks, at = self.relax_kernel, -(-self.n // CHUNK), 0
        floors, begun, counts = np.empty(n_chunks), np.empty((n_chunks, len(slopes))), self.buffers.counts
        prefix = np.empty((CHUNK + 1, len(slopes) + 1))

        def turn(size: int) -> bool:
            nonlocal at
            to = min(n_chunks, at + size)
            kernel(self.setup, slopes, floors, begun, prefix, counts, at, to)
            at = to
            return at == n_chunks

        self.task.clock.repeat(turn, None, size=max(1, 1024 // self.setup.sums[0].size))
        self.n_prices += at * CHUNK * CHUNK / 2
        if at < n_chunks:
            return None
        bind(join_chunks, self.task.criterion)(self.setup, floors, begun, counts)
        return np.minimum(begun[0], self.slopes.known[1]) + slopes  # or there is one part

    def fill(self, slope: float, before: Any, after: Any, came_from: Any, layer: tuple[int, int] | None = None) -> bool:
        buffers, kernel, is_done = self.buffers, self.run_kernel, False
        buffers.now[:] = buffers.open_to[:] = 0
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


class Hulls(Branches):
    """The same partitions of two classes: runs keep extreme points of blocks of bounds, and check that it is enough.

    Why it is enough is said in `gridmodl.search.column.hulls`. Layers, and slopes below 0, keep all bounds.
    """

    def __init__(self, task: Task, best: Partitioning, budget: float, until: float = 0.0) -> None:
        super().__init__(task, best, budget, until)
        n_blocks = -(-self.n // BLOCK)
        self.scratch = make_scratch()
        self.kept = np.zeros(self.n + 1, dtype=np.bool_)
        bind(mark_hulls)(self.sums, self.kept, self.scratch)
        self.blocks = Blocks(np.empty(n_blocks), np.empty((n_blocks, 2)), *np.zeros((2, n_blocks), dtype=np.bool_))
        self.n_known = 0  # blocks whose gains are known
        self.failed_at = np.full(n_blocks, -np.inf)  # the steepest slope at which the check of each block failed

    def _find_gains(self) -> bool:
        """Find the gains of all blocks, before the first run; False if the search was stopped."""
        n_blocks, kernel = len(self.blocks.gains), bind(block_gains, self.task.criterion)

        def turn(size: int) -> bool:
            at, self.n_known = self.n_known, min(n_blocks, self.n_known + size)
            self.n_prices += kernel(self.setup.p, self.sums, *self.blocks[:2], self.scratch, at, self.n_known)
            return self.n_known == n_blocks

        if self.n_known < n_blocks:
            self.task.clock.repeat(turn, None, size=512)
        return self.n_known == n_blocks

    def run(self, slope: float) -> tuple[NDArray[np.int64], float] | None:
        if slope < 0.0:
            return super().run(slope)
        if not self._find_gains():
            return None
        size = self.n + 1
        at, best, came_from = np.zeros(size, dtype=np.int64), np.empty(size), np.empty(size, dtype=np.int32)
        sums = np.zeros_like(self.sums)
        best[0], came_from[0] = 0.0, 0
        blocks, buffers, setup = self.blocks, self.buffers, self.setup
        n_blocks, begun = len(blocks.gains), self.n_prices
        blocks.is_failed[:] = False
        np.logical_or(self.failed_at >= slope, blocks.gains > slope - NEAR, out=blocks.is_refined)
        kept = self.kept.copy()
        kept[1:] |= np.repeat(blocks.is_refined, BLOCK)[: self.n]
        check, fill = bind(check_blocks, self.task.criterion), self.run_kernel
        buffers.now[:] = buffers.open_to[:] = 0
        first_kept = np.zeros(n_blocks + 1, dtype=np.int64)  # of each block
        k, n_kept, n_checks = 0, 1, 0  # blocks checked; kept bounds so far

        def step() -> bool:
            nonlocal k, n_kept, n_checks
            to = min(n_blocks, k + BLOCKS_AT_ONCE)
            lo, n_kept = k * BLOCK, int(first_kept[k]) + 1
            bounds = lo + 1 + np.flatnonzero(kept[lo + 1 : to * BLOCK + 1])
            span = slice(n_kept, n_kept + len(bounds))
            at[span], sums[span] = bounds, self.sums[bounds]
            n_kept += len(bounds)
            # A chunk that is not the last has to be whole.
            n_done = n_kept - 1 if to == n_blocks else (n_kept - 1) // CHUNK * CHUNK
            buffers.now[N_DONE] = min(buffers.now[N_DONE], first_kept[k] // CHUNK)
            part = setup._replace(sums=sums[: n_done + 1])  # windows leave out nothing
            fill(part, slope, best, best, came_from, buffers, 2**62)
            if to < n_blocks:
                to = int(at[n_done]) // BLOCK
            ends = np.minimum(np.arange(k, to + 1) * BLOCK, self.n)
            first_kept[k : to + 1] = np.searchsorted(at[:n_kept], ends)
            over = Kept(at[:n_kept], sums[:n_kept], best, came_from)
            first, n = check(
                setup.p, self.sums, over, blocks, slope, setup.margin, k, to, first_kept[k], self.scratch
            )  # fmt: skip
            n_checks += n
            self.n_prices = begun + float(buffers.now[N_PRICES]) + n_checks
            if first >= 0:
                failed = k + np.flatnonzero(blocks.is_failed[k:to])
                blocks.is_failed[failed], blocks.is_refined[failed] = False, True
                self.failed_at[failed] = np.maximum(self.failed_at[failed], slope)
                for block in failed:
                    kept[block * BLOCK : (block + 1) * BLOCK] = True
                to = first
            k = to
            return k == n_blocks or self.is_over

        self.task.clock.repeat(lambda size: any(step() for _ in range(size)), None, size=8)
        if k < n_blocks:
            return None
        starts = np.empty(n_kept - 1, dtype=np.int64)
        starts = starts[bind(trace)(came_from[:n_kept], starts) :]
        return at[starts], float(best[n_kept - 1])


def recursion(
    atoms: Any, setting: Setting, slope: float, before: Any, after: Any, came_from: Any, at: int, to: int,
    buffers: Buffers, first_end: Any, last_end: Any,
) -> None:  # fmt: skip
    """after[t] = min over s < t of before[s] + price(s, t) + slope, for `at` <= t < `to` (ties: leftmost s)."""
    first, frozen, counts, rows, values = atoms
    cell_counts, cell_rows, cell_prices = buffers.left, buffers.left_rows, buffers.left_price
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    for t in range(at, to):
        cells, n_rows, n_values = 0.0, 0, 0
        best, best_s = np.inf, 0
        for s in range(t - 1, -1, -1):
            for e in range(first[s], first[s + 1]):
                cells += add_entry(p, cell_counts, cell_rows, cell_prices, frozen[e], counts[e], rows[e])
                n_rows += rows[e]
            n_values += values[s]
            if first_end[s] <= t <= last_end[s]:
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


# The best partition for each of several prices of a part: one recursion over the bounds for all of them.


def optima_by_price(task: Task, prices: NDArray[np.float64]) -> list[NDArray[np.int64]] | None:
    """First atoms of the parts of the best partition if each part costs so much more, for each of `prices`.

    The cost must be a sum over parts. `max_parts` of the task is not kept. None if the clock stopped before the end.
    """
    n, at = task.n_atoms, 1
    totals = np.full((n + 1, len(prices)), np.inf)
    totals[0] = 0.0
    came_from = np.zeros((n + 1, len(prices)), dtype=np.int32)
    kernel = bind(recursions, task.criterion)

    def turn(size: int) -> bool:
        nonlocal at
        to = min(n + 1, at + size)
        kernel(task.atoms, task.setting, prices, totals, came_from, at, to, task.buffers, *task.windows)
        at = to
        return at > n

    task.clock.repeat(turn, None, 64)
    if at <= n:
        return None
    starts = np.empty((len(prices), n), dtype=np.int64)
    ends = [bind(trace)(np.ascontiguousarray(came_from[:, k]), starts[k]) for k in range(len(prices))]
    return [of_price[begin:] for of_price, begin in zip(starts, ends, strict=True)]


def recursions(
    atoms: Any, setting: Setting, prices: Any, totals: Any, came_from: Any, at: int, to: int, buffers: Buffers,
    first_end: Any, last_end: Any,
) -> None:  # fmt: skip
    """totals[t, k] = min over s < t of totals[s, k] + price(s, t) + prices[k], for `at` <= t < `to` (ties: left)."""
    first, frozen, counts, rows, values = atoms
    cell_counts, cell_rows, cell_prices = buffers.left, buffers.left_rows, buffers.left_price
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    for t in range(at, to):
        cells, n_rows, n_values = 0.0, 0, 0
        for s in range(t - 1, -1, -1):
            for e in range(first[s], first[s + 1]):
                cells += add_entry(p, cell_counts, cell_rows, cell_prices, frozen[e], counts[e], rows[e])
                n_rows += rows[e]
            n_values += values[s]
            if first_end[s] <= t <= last_end[s]:
                price = cells + part_price(p, facts, n_target_parts, n_rows, n_values)
                for k in range(len(prices)):
                    total = totals[s, k] + (price + prices[k])
                    if total <= totals[t, k]:
                        totals[t, k], came_from[t, k] = total, s
        clear(atoms, 0, t, buffers)
