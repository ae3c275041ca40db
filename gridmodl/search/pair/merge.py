"""Merges of parts of two variables, the cheapest first, down to one cell; the best grid on the way is kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind, inlined
from gridmodl.search.grid.optima import GridMerge
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import GridTask
from gridmodl.search.moves import Limits, Setting, is_cheaper, margin_price, partition_price, total_cost
from gridmodl.search.pair.deltas import (
    FEW_ROWS,
    LEFT,
    TOO_FEW,
    PairMergeBuffers,
    find_low,
    join_parts,
    meet,
    ready_part,
)
from gridmodl.search.pair.state import COST, Pair, frozen_side
from gridmodl.terms import Variable


def merge_path(task: GridTask, start: Grid) -> list[GridMerge]:
    """All merges that lead from a grid of two variables to a single cell, the cheapest first."""
    pair = Pair(task)
    pair.load((start.parts_of(0, pair.n_atoms(0)), start.parts_of(1, pair.n_atoms(1))))
    state, _ = run_merges(pair, is_greedy=False)
    n = int(state.now[N_DONE])
    arrays = (state.variable, state.stays, state.goes, state.cost)
    return [GridMerge(*step) for step in zip(*(array[:n].tolist() for array in arrays), strict=True)]


def merge(pair: Pair, limits: Limits, is_greedy: bool = False) -> list[NDArray[np.int64]]:
    """Merge the grid to the best one on the way to one cell that keeps the limits; while it saves, if `is_greedy`.

    Of each part of either variable that is left, the part it would be cheapest to merge with, where the way ends; -1
    where there is none.
    """
    state, buffers = run_merges(pair, is_greedy, limits)
    n_best = int(state.now[N_BEST])
    nearest = []
    for k in (0, 1):
        into = np.arange(pair.n_parts[k])
        steps = np.flatnonzero(state.variable[:n_best] == k)
        for step in steps[::-1]:  # from the end: where a part goes that others went into is known by then
            into[state.goes[step]] = into[state.stays[step]]
        number = np.cumsum(np.bincount(into, minlength=len(into)) > 0) - 1
        nearest.append(_nearest(buffers, k, number))
        pair.put(k, into[pair.sides[k].part])
    if n_best > 0:
        pair.sums[COST] = state.sums[BEST_COST]
    return nearest


def _nearest(buffers: PairMergeBuffers, k: int, number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each group where the merges ended, the nearest group."""
    n = int(buffers.counts[k, LEFT])
    nearest = np.full(int(number[-1]) + 1, -1, dtype=np.int64)
    if buffers.deltas[k].shape[1] > 1 and n == len(nearest):
        low = np.full(n, np.inf)
        names = number[buffers.name[k, :n]]
        for i in range(1, n):
            for a, b in ((i, buffers.near[k, i]), (buffers.near[k, i], i)):
                if buffers.low[k, i] < low[a]:
                    low[a], nearest[names[a]] = buffers.low[k, i], names[b]
    return nearest


def run_merges(pair: Pair, is_greedy: bool, limits: Limits | None = None) -> tuple[Merging, PairMergeBuffers]:
    """Merge down to one cell, or while it saves; what was merged, and the parts as they are then."""
    limits = pair.relaxed if limits is None else limits
    cells, part_totals, _ = pair.lay(0)
    n_0, n_1 = pair.n_parts
    buffers = _merge_buffers(pair, cells, part_totals, limits)
    n_steps = n_0 + n_1 - 2
    state = Merging(
        variable=np.zeros(n_steps, dtype=np.int64),
        stays=np.zeros(n_steps, dtype=np.int64),
        goes=np.zeros(n_steps, dtype=np.int64),
        cost=np.zeros(n_steps),
        now=np.array([0, 0, 0, int(is_greedy), -1], dtype=np.int64),
        sums=np.array([0.0, pair.cost, np.inf, 0.0]),
    )
    kernel = bind(merge_steps, pair.task.criterion)
    facts = pair.sides[0].facts, pair.sides[1].facts
    pair.task.clock.repeat(
        lambda n: bool(kernel(buffers, facts, pair.task.p, limits, pair.table, pair.one, state, n)),
        None,
        size=max(1, 2**22 // (n_0 * n_1)),
    )
    return state, buffers


def _merge_buffers(pair: Pair, cells: Any, part_totals: Any, limits: Limits) -> PairMergeBuffers:
    n_0, n_1 = pair.n_parts
    n = max(n_0, n_1)
    deltas = tuple(np.empty((m, m if pair.is_group(k) else 1)) for k, m in enumerate(pair.n_parts))
    name = np.stack([np.arange(n)] * 2)
    right = name + 1
    right[0, n_0 - 1] = right[1, n_1 - 1] = -1
    counts = np.array(
        [(m, np.count_nonzero(part_totals[2 * k, :m] < limits.min_rows)) for k, m in enumerate(pair.n_parts)]
    )
    shape = FEW_ROWS**2 + 1, n
    return PairMergeBuffers(
        cells=(cells.T.copy(), cells.copy()),  # copies: the transpose of a single row is the same memory
        deltas=deltas,
        low=np.full((2, n), np.inf),
        near=np.zeros((2, n), dtype=np.int64),
        sums=np.zeros((2, n)),
        price=np.zeros((2, n)),
        n_rows=part_totals[::2, :n].copy(),
        n_values=part_totals[1::2, :n].copy(),
        name=name,
        left=name - 1,
        right=right,
        counts=counts.astype(np.int64),
        changes=np.empty(shape),
        known=np.full(shape[0], -1, dtype=np.int64),
    )


# The steps of a merge of two variables: price all pairs of parts once, then merge the cheapest, again and again.

# The fields of `Merging.now` and `Merging.sums`.
READY, N_DONE, N_BEST, GREEDY, SHARED_FOR = range(5)
TOTAL, MERGE_COST, BEST_COST, SHARED = range(4)


class Merging(NamedTuple):
    """The state of the merges between two calls of the kernel, and what was merged."""

    variable: Any  # of each step
    stays: Any  # part by its number in the grid
    goes: Any  # into it
    cost: Any  # after it
    now: Any
    sums: Any


def pair_cost(p: Any, facts: Any, total: float, n_0: Any, n_1: Any) -> float:
    """The cost of a grid of `n_0` by `n_1` parts, whose parts and cells cost `total`."""
    one, other = facts
    frozen = frozen_side(one, other, n_1, partition_price(p, other, n_1), other.by_parts[:0])
    return total_cost(Setting(p, one, frozen), total, n_0)


def reprice_inputs(p: Any, facts: Variable, buffers: PairMergeBuffers, n_target_parts: Any) -> None:
    """Price the margins, which are parts of the input, and their merges, at `n_target_parts`: one less than before."""
    deltas, price, right = buffers.deltas[0], buffers.price[0], buffers.right[0]
    n_rows, change = buffers.n_rows[0], buffers.changes[0]
    n = buffers.counts[0, LEFT] if facts.categorical else np.int64(len(deltas))
    for i in range(n):
        # First the part itself, then its merges.
        n_others = np.int64(i) if facts.categorical else np.int64(1 if right[i] >= 0 else 0)
        for j in range(-1, n_others):
            other = np.int64(j) if facts.categorical else right[i]
            more = 0.0
            for way in range(2):
                rows = n_rows[i] + (n_rows[other] if j >= 0 else 0)
                price_of = margin_price(p, rows, n_target_parts + way)
                more += price_of if way == 0 else -price_of
            if j < 0:
                change[i] = more
                price[i] += more
            elif facts.categorical:
                deltas[i, j] += more - change[i] - change[other]
            else:
                deltas[i, 0] += more - change[i]  # the next one's own change follows below
    for i in range(n):
        if not facts.categorical and right[i] >= 0:
            deltas[i, 0] -= change[right[i]]
        find_low(facts.categorical, deltas, buffers.low[0], buffers.near[0], right, np.int64(i))


def inputs_change(p: Any, facts: Variable, buffers: PairMergeBuffers, n_target_parts: Any) -> float:
    """What one target part less changes the margins by."""
    n_rows, right = buffers.n_rows[0], buffers.right[0]
    change = 0.0
    i = np.int64(0)
    for _ in range(buffers.counts[0, LEFT]):
        for way in range(2):
            price = margin_price(p, n_rows[i], n_target_parts - 1 + way)
            change += price if way == 0 else -price
        i = i + 1 if facts.categorical else right[i]
    return change


def merge_steps(
    buffers: PairMergeBuffers, facts: Any, p: Any, limits: Limits, table: Any, one: Any, state: Merging, n_steps: int
) -> bool:
    """Make so many steps: price one part and its merges, or merge two parts; True when all is done."""
    steps_variable, steps_stays, steps_goes, steps_cost, now, sums = state
    counts, low, near, name, right = buffers.counts, buffers.low, buffers.near, buffers.name, buffers.right
    n_0, n_1 = np.int64(len(buffers.deltas[0])), np.int64(len(buffers.deltas[1]))
    has_target = facts[1].is_target
    for _ in range(n_steps):
        n_targets = counts[1, LEFT] if has_target else np.int64(0)
        if now[READY] < n_0 + n_1:
            ready: Any = np.int64(0 if now[READY] < n_0 else 1)
            i = now[READY] - n_0 * ready
            ready_part(p, facts[ready], table, one, buffers, ready, i, i, n_targets * (1 - ready))
            is_group = facts[ready].categorical
            if is_group or i > 0:
                row = i if is_group else i - 1
                find_low(is_group, buffers.deltas[ready], low[ready], near[ready], right[ready], row)
            sums[TOTAL] += buffers.price[ready, i] + (buffers.sums[ready, i] if ready == 0 else 0.0)
            now[READY] += 1
            if now[READY] == n_0 + n_1:
                sums[MERGE_COST] = pair_cost(p, facts, sums[TOTAL], n_0, n_1)
                note_best(limits, counts, now, sums)
            continue
        if counts[0, LEFT] == 1 and counts[1, LEFT] == 1:
            return True
        shared_for = counts[0, LEFT] * (n_1 + 1) + counts[1, LEFT]
        if has_target and counts[1, LEFT] > 1 and now[SHARED_FOR] != shared_for:
            now[SHARED_FOR] = shared_for
            sums[SHARED] = inputs_change(p, facts[0], buffers, n_targets)
        best_k: Any = np.int64(-1)
        best_i: Any = np.int64(-1)
        best_cost, best_total = np.inf, 0.0
        for k in range(2):
            lowest = np.inf
            at: Any = np.int64(-1)
            for i in range(counts[k, LEFT] if facts[k].categorical else len(buffers.deltas[k])):
                if low[k, i] < lowest:
                    lowest, at = low[k, i], i
            if at < 0:
                continue
            total = sums[TOTAL] + lowest + (sums[SHARED] if k == 1 and has_target else 0.0)
            cost = pair_cost(p, facts, total, counts[0, LEFT] - (1 - k), counts[1, LEFT] - k)
            if cost < best_cost or best_k < 0:
                best_k, best_i, best_cost, best_total = np.int64(k), at, cost, total
        if best_k < 0 or (now[GREEDY] == 1 and not is_cheaper(best_cost, sums[MERGE_COST], abs(sums[TOTAL]))):
            return True
        x, y = best_i, near[best_k, best_i]
        if facts[best_k].categorical:
            x, y = y, x  # the lower slot stays
        step = now[N_DONE]
        steps_variable[step], steps_stays[step], steps_goes[step] = best_k, name[best_k, x], name[best_k, y]
        steps_cost[step] = sums[MERGE_COST] = best_cost
        sums[TOTAL] = best_total
        now[N_DONE] += 1
        meet(p, facts[1 - best_k].categorical, table, one, buffers, 1 - best_k, x, y, step)
        join_parts(p, facts[best_k], table, one, buffers, best_k, x, y, n_targets * (1 - best_k), limits.min_rows)
        if best_k == 1 and has_target:
            reprice_inputs(p, facts[0], buffers, counts[1, LEFT])
        note_best(limits, counts, now, sums)
    return False


@inlined
def note_best(limits: Limits, counts: Any, now: Any, sums: Any) -> None:
    """Keep in mind a grid that is cheaper than all before it and keeps the limits; one cell always does."""
    keeps = max(counts[0, LEFT], counts[1, LEFT]) <= limits.max_parts
    for k in range(2):
        keeps = keeps and (counts[k, LEFT] == 1 or counts[k, TOO_FEW] == 0)
    if (keeps or (counts[0, LEFT] == 1 and counts[1, LEFT] == 1)) and sums[MERGE_COST] < sums[BEST_COST]:
        sums[BEST_COST] = sums[MERGE_COST]
        now[N_BEST] = now[N_DONE]
