"""Search a grid of two variables with one count per cell: coclustering, and targets that are partitioned too.

    start      random groups and intervals of both variables, or spectral groups (`starts`); passes, merge to one cell
               keeping the best grid, descend
    pass       move each value to the group where it costs least; shift each bound to its best place
    descend    splits, passes, merges, and pairs of groups merged and split, in turn until they save little
    round      from the best grid: forced splits of half or all of its parts, passes, merge to one cell keeping the best
               grid, descend; kept if it is cheaper. As long as the best grid is one cell, another start instead. On a
               small table forced splits of half, a start from few random parts, and forced merges, in turn

Neither many random groups nor few are a safe start alone: on sparse data, many lead back to one cell, while few with
splits find the pattern. To get from a local optimum to a better one, forced splits are by far the best: restarts,
random groups, annealing, and splits that must save all ended at higher costs. Small tables have local optima that no
split leaves, such as three groups whose values should be in two others; there a start takes about as long as a round.

After M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, section 6.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import MANY_ROWS
from gridmodl.jit.template import bind
from gridmodl.search import Search
from gridmodl.search.grid.neighbours import below
from gridmodl.search.grid.optima import BestSoFar, GridFound, run_plan
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import GridTask, Worker
from gridmodl.search.moves import is_cheaper
from gridmodl.search.pair.intervals import cut_intervals, improve_intervals, set_starts
from gridmodl.search.pair.merge import merge
from gridmodl.search.pair.splits import all_groups, split, with_nearest
from gridmodl.search.pair.starts import Points
from gridmodl.search.pair.state import Pair
from gridmodl.search.pair.transfers import transfer

FINER, MANY, SOME, FEW = 256, 64, 16, 4  # numbers of random parts of each variable to start from
# Passes over many and over few random parts. On sparse data (200,000 rows, 5,000 x 5,000 values, 40 x 40 groups), 10
# pairs of passes led 7 of 8 times from 4 random groups to a grid that pays; 5 pairs never did, nor 10 from 16 groups.
MANY_PASSES, FEW_PASSES = 3, 20
NEAR = (40, 16)  # numbers of spectral groups to start from
NEAR_PASSES = 4  # passes over them
# A table is small if the merges of all pairs of values take at most this many prices, 10 ms: then one part per value is
# a start, and rounds are of three kinds.
SMALL_PRICES = 2e6
NEW_PARTS = 8  # largest number of random parts that a round of a small table starts from
MERGED = 4  # one of so many parts merges with another in a round of forced merges
TURNS = 6  # largest number of turns of a descent
LITTLE = 2e-7  # a descent ends with a turn that saves at most this share of the cost
QUIET_ROUNDS = 2  # rounds in a row without a cheaper grid that end the search, per unit of effort


def run_merge(task: GridTask, search: Search) -> GridFound:
    """Search the best grid of two variables from the starts only."""
    return _run(task, search, "merge", 0)


def run_vns(task: GridTask, search: Search) -> GridFound:
    """Search the best grid of two variables in rounds from the best so far."""
    return _run(task, search, "vns", search.effort)


def _run(task: GridTask, search: Search, kind: str, effort: int) -> GridFound:
    """Run the search; the result never costs more than one cell."""
    pair = Pair(task)

    def plan(best_so_far: BestSoFar) -> None:
        if task.limits.max_parts.max() > 1 and max(pair.n_atoms(0), pair.n_atoms(1)) > 1:
            _Run(pair, best_so_far, task.seed).run(effort)

    found = run_plan(task, search, kind, pair.grid(), plan)
    return found if task.n_rows < MANY_ROWS else _priced_again(task, found)


def _priced_again(task: GridTask, found: GridFound) -> GridFound:
    """Price the grids found again, by compensated sums.

    From 2^24 rows on, large terms may cancel: only compensated sums do not depend on the order of terms. Optima that
    are not priced when the time is up are dropped.
    """
    worker = Worker(task)

    def priced(grid: Grid) -> Grid:
        return grid._replace(cost=worker.load(grid))

    best, null, optima = priced(found.grid), priced(found.null), list[Grid]()
    try:
        for grid in found.optima:
            if task.clock.look():
                break
            optima.append(priced(grid))
    except KeyboardInterrupt:
        task.clock.stopped = "interrupted"
    optima.sort(key=lambda grid: grid.cost)
    best = min(best, null, *optima, key=lambda grid: grid.cost)
    return found._replace(grid=best, null=null, singles=(null, null), optima=tuple(optima))


class _Run:
    """One search: the pair of variables, the best grid so far, and the random numbers."""

    def __init__(self, pair: Pair, best_so_far: BestSoFar, seed: NDArray[np.uint64]) -> None:
        self.fine, self.best_so_far, self.seed = pair, best_so_far, seed
        self.clock, self.limits = pair.task.clock, pair.task.limits
        # With many values of a numerical variable, bounds are at quantiles only, until `_polish`.
        self.pair = Pair(pair.task, pair) if pair.has_many_bounds(0) or pair.has_many_bounds(1) else pair
        self.best = self.pair.save()
        self.is_polishing = False
        self.points = Points(self.pair, np.random.default_rng(seed)) if _has_points(self.pair) else None
        self.is_small = _is_small(self.pair)

    def run(self, effort: int) -> None:
        """Search from all starts, then in rounds until QUIET_ROUNDS * `effort` rounds in a row find nothing cheaper."""
        self.clock.step = "start"
        for n_parts in _start_sizes(self.pair):
            self._start(n_parts)
        if self.points is not None:
            for n_groups in NEAR:
                self._start((n_groups, n_groups), near=True)
        n_quiet, most = 0, QUIET_ROUNDS * effort
        while n_quiet < most and not self.clock.stopped:
            n_quiet = 0 if self._round(n_quiet) else n_quiet + 1
            self.clock.tell(None)
        self._polish()

    def _note(self) -> bool:
        """Add the grid, a local optimum, to the results; return whether it is the cheapest so far."""
        pair, best_so_far = self.pair, self.best_so_far
        cost = pair.price()
        is_better = is_cheaper(cost, best_so_far.best.cost)
        if not (is_better or best_so_far.keep > 0) or not pair.keeps_limits():
            return False
        if is_better:
            self.best = pair.save()
        best_so_far.add(pair.grid())
        return is_better

    def _start(self, n_parts: tuple[int, int], near: bool = False) -> bool:
        """Find a local optimum from `n_parts` random parts, or spectral groups if `near`; return whether it is best.

        Few parts are split before they merge.
        """
        if self.clock.stopped:
            return False
        for k in (0, 1):
            if near and self.points is not None:
                self.pair.put(k, self.points.groups(k, n_parts[k]))
            else:
                self._scatter(k, n_parts[k])
        self.pair.price()
        is_many = max(n_parts) > SOME and not near
        self._passes(MANY_PASSES if is_many else (NEAR_PASSES if near else FEW_PASSES))
        if not is_many and self.pair.keeps_limits():
            self._descend()
        if not self.clock.stopped:
            merge(self.pair, self.limits)
        self._descend()
        return self._note()

    def _scatter(self, k: int, n_parts: int) -> None:
        """Draw at most `n_parts` random parts of variable k."""
        pair = self.pair
        n_parts = min(n_parts, pair.n_atoms(k), max(2, math.isqrt(pair.task.n_rows)))
        if pair.n_atoms(k) <= n_parts:
            pair.put(k, np.arange(pair.n_atoms(k)))
        elif pair.is_group(k):
            labels = np.empty(pair.n_atoms(k), dtype=np.int64)
            bind(draw_numbers)(self.seed, n_parts, labels)
            pair.put(k, labels)
        else:
            before = np.cumsum(pair.sides[k].atom_rows)
            jitter = np.empty(n_parts - 1, dtype=np.int64)
            bind(draw_numbers)(self.seed, 2**20, jitter)
            rows = (np.arange(1, n_parts) + jitter / 2**20 - 0.5) * (pair.task.n_rows / n_parts)
            starts = np.minimum(np.searchsorted(before, rows), pair.n_atoms(k) - 1)
            set_starts(pair, k, np.unique(np.append(0, starts)))

    def _passes(self, n: int) -> None:
        """Make at most `n` passes over both variables, until they save little; no part is made, but groups may end."""
        for _ in range(n):
            before = self.pair.cost
            for k in (0, 1):
                if self.pair.n_parts[k] > 1 and not self.clock.stopped:
                    if self.pair.is_group(k):
                        transfer(self.pair, k, self.pair.relaxed, 1, opens=False)
                    else:
                        improve_intervals(self.pair, k, self.pair.relaxed, only_shifts=True)
            if before - self.pair.cost <= LITTLE * abs(before):
                return

    def _improve(self, k: int, n_passes: int) -> None:
        """Improve variable k: by at most `n_passes` passes over its values, or by local moves of its intervals."""
        if self.pair.n_atoms(k) > 1 and not self.clock.stopped:
            if self.pair.is_group(k):
                transfer(self.pair, k, self.limits, n_passes)
            else:
                improve_intervals(self.pair, k, self.limits)

    def _descend(self, n_turns: int = TURNS) -> None:
        """Improve the grid by splits, passes and merges, in at most `n_turns` turns, until a turn saves little."""
        pair = self.pair
        for _ in range(n_turns):
            if self.clock.stopped or self._is_back():
                return
            before = pair.cost
            for k in (0, 1):
                if pair.is_group(k) and not self.clock.stopped:
                    split(pair, k, self.limits, all_groups(pair.n_parts[k]), self.seed)
            for k in (0, 1):
                self._improve(k, 1)
            if self.clock.stopped:
                return
            nearest = merge(pair, self.limits, is_greedy=True)
            for k in (0, 1):
                jobs = with_nearest(nearest[k])
                if len(jobs) and not self.clock.stopped:
                    split(pair, k, self.limits, jobs, self.seed)
            if before - pair.cost <= LITTLE * abs(pair.cost):
                return

    def _is_back(self) -> bool:
        """Whether the grid costs as much as the best, from which a descent was made already; False for one cell.

        Descents from one cell differ by their random splits: on sparse data some find the pattern, most do not.
        """
        best = self.best_so_far.best
        if self.is_polishing or not best.variables:
            return False
        return not (is_cheaper(self.pair.cost, best.cost) or is_cheaper(best.cost, self.pair.cost))

    def _round(self, n_quiet: int) -> bool:
        """Find a local optimum near the best grid, or from new parts; return whether it is cheaper."""
        pair = self.pair
        self.best_so_far.n_rounds += 1
        if not self.best_so_far.best.variables:
            return self._start((FEW, FEW) if self.points is None else (NEAR[0], NEAR[0]), self.points is not None)
        kind = n_quiet % 3 if self.is_small else 0
        if kind == 1:
            more = np.empty(1, dtype=np.int64)
            bind(draw_numbers)(self.seed, NEW_PARTS - 1, more)
            return self._start((2 + int(more[0]), 2 + int(more[0])))
        pair.load(self.best)
        pair.price()
        for k in (0, 1):
            if kind == 2:
                self._force_merges(k)
            else:
                self._force_splits(k, all_of_them=not self.is_small and n_quiet % 2 == 1)
        self._passes(2)
        if not self.clock.stopped:
            merge(pair, self.limits)
        self._descend()
        return self._note()

    def _polish(self) -> None:
        """Descend from the best grid until little is saved, with bounds at any value."""
        if self.clock.stopped:
            return
        parts = self.pair.task_parts(self.best)
        self.pair, self.is_polishing = self.fine, True
        self.pair.load(parts)
        self.pair.price()
        cost = np.inf
        while self.pair.cost < cost - LITTLE * abs(self.pair.cost) and not self.clock.stopped:
            cost = self.pair.cost
            self._descend()
            for k in (0, 1):
                if self.pair.has_many_bounds(k) and not self.clock.stopped:
                    improve_intervals(self.pair, k, self.limits, around_bounds=True)
        self._note()

    def _force_splits(self, k: int, all_of_them: bool) -> None:
        """Split all parts of variable k, or a random half of them, even if that does not pay."""
        pair = self.pair
        if pair.n_atoms(k) == 1 or self.clock.stopped:
            return
        n = pair.n_parts[k]
        draws = np.zeros(n, dtype=np.int64)
        if not all_of_them:
            bind(draw_numbers)(self.seed, 2, draws)
        chosen = draws == 0
        if pair.is_group(k):
            split(pair, k, pair.relaxed, all_groups(n)[chosen], self.seed, forced=True)
        else:
            cut_intervals(pair, k, chosen)

    def _force_merges(self, k: int) -> None:
        """Merge some random groups of variable k with others, or intervals with those before, even at a loss."""
        pair = self.pair
        n = pair.n_parts[k]
        chance, other = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        bind(draw_numbers)(self.seed, MERGED, chance)
        bind(draw_numbers)(self.seed, n, other)
        merges = chance == 0
        labels = np.where(merges, other, np.arange(n)) if pair.is_group(k) else np.cumsum(~merges) - (not merges[0])
        pair.put(k, labels[pair.sides[k].part])


def _has_points(pair: Pair) -> bool:
    """Whether both variables are categorical with more than MANY values, so that random groups may find nothing."""
    return all(pair.is_group(k) and pair.n_atoms(k) > MANY for k in (0, 1))


def _is_small(pair: Pair) -> bool:
    """Whether all merges of pairs of values take at most SMALL_PRICES prices."""
    n_0, n_1 = pair.n_atoms(0), pair.n_atoms(1)
    merges = [n * n / 2 if pair.is_group(k) else n for k, n in enumerate((n_0, n_1))]
    return merges[0] * n_1 + merges[1] * n_0 <= SMALL_PRICES


def _start_sizes(pair: Pair) -> list[tuple[int, int]]:
    """Numbers of parts to start from, each once: one part per value, if a table is small, then random parts."""
    n_0, n_1 = pair.n_atoms(0), pair.n_atoms(1)
    finest = [(n_0, n_1)] if _is_small(pair) else []
    # If each of a hundred intervals of one variable goes with one of the other, 64 intervals each miss some for good.
    finer = [] if pair.is_group(0) and pair.is_group(1) else [FINER]
    sizes = [*finer, MANY, *([] if _has_points(pair) else [FEW, SOME])]
    return list(dict.fromkeys([*finest, *((min(n, n_0), min(n, n_1)) for n in sizes)]))


def draw_numbers(seed: Any, n: int, numbers: Any) -> None:
    """Draw random whole numbers below n."""
    for i in range(len(numbers)):
        numbers[i] = below(seed, n)
