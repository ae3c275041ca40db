"""Merge parts of two variables, the cheapest merge first, down to one cell; the best grid on the way is kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind, inlined
from gridmodl.search.grid.optima import GridMerge
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import GridTask
from gridmodl.search.moves import (
    GridLimits,
    Setting,
    is_cheaper,
    make_record,
    margin_price,
    partition_price,
    total_cost,
)
from gridmodl.search.pair.deltas import (
    FEW_ROWS,
    PairMergeBuffers,
    find_low,
    join_parts,
    meet,
    ready_part,
)
from gridmodl.search.pair.state import Pair, frozen_side
from gridmodl.terms import Variable


def merge_path(task: GridTask, start: Grid) -> list[GridMerge]:
    """Merges from a grid of two variables down to a single cell, the cheapest first."""
    pair = Pair(task)
    pair.load((start.parts_of(0, pair.n_atoms(0)), start.parts_of(1, pair.n_atoms(1))))
    state, _ = run_merges(pair, is_greedy=False)
    n = int(state.now[0].n_done)
    arrays = (state.variable, state.stays, state.goes, state.cost)
    return [GridMerge(*step) for step in zip(*(array[:n].tolist() for array in arrays), strict=True)]


def merge(pair: Pair, limits: GridLimits, is_greedy: bool = False) -> list[NDArray[np.int64]]:
    """Merge down to one cell, or with `is_greedy` as long as it saves; keep the best grid within the limits.

    Return for each variable the part that each part of the best grid would be cheapest to merge with; -1 if not known.
    """
    state, buffers = run_merges(pair, is_greedy, limits)
    n_best = int(state.now[0].n_best)
    nearest = []
    for k in (0, 1):
        into = np.arange(pair.n_parts[k])
        steps = np.flatnonzero(state.variable[:n_best] == k)
        for step in steps[::-1]:  # backwards, so that the final part of `stays` is known already
            into[state.goes[step]] = into[state.stays[step]]
        number = np.cumsum(np.bincount(into, minlength=len(into)) > 0) - 1
        nearest.append(_nearest(buffers, k, number))
        pair.put(k, into[pair.sides[k].part])
    if n_best > 0:
        pair.laid[0].cost = state.now[0].best_cost
    return nearest


def _nearest(buffers: PairMergeBuffers, k: int, number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nearest group of each group at the end of the merges; -1 if they went beyond the best grid."""
    n = int(buffers.n_left[k])
    nearest = np.full(int(number[-1]) + 1, -1, dtype=np.int64)
    if buffers.deltas[k].shape[1] > 1 and n == len(nearest):
        low = np.full(n, np.inf)
        names = number[buffers.name[k, :n]]
        for i in range(1, n):
            for a, b in ((i, buffers.near[k, i]), (buffers.near[k, i], i)):
                if buffers.low[k, i] < low[a]:
                    low[a], nearest[names[a]] = buffers.low[k, i], names[b]
    return nearest


def run_merges(pair: Pair, is_greedy: bool, limits: GridLimits | None = None) -> tuple[Merging, PairMergeBuffers]:
    """Merge down to one cell, or with `is_greedy` as long as it saves; return the merges, and the parts at the end."""
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
        now=make_record(
            n_ready=0,  # parts whose merges are priced
            n_done=0,  # merges made
            n_best=0,  # merges that led to the best grid
            is_greedy=is_greedy,
            total=0.0,  # price of all parts and cells
            cost=pair.cost,
            best_cost=np.inf,
            change=0.0,  # change of the margins if the target has one part fewer
            change_is_for=-1,  # key of the numbers of parts for which `change` was computed
        ),
    )
    kernel = bind(merge_steps, pair.task.criterion)
    facts = pair.sides[0].facts, pair.sides[1].facts
    pair.task.clock.repeat(
        lambda n: bool(kernel(buffers, facts, pair.task.p, limits, pair.table, pair.one, state, n)),
        None,
        size=max(1, 2**22 // (n_0 * n_1)),
    )
    return state, buffers


def _merge_buffers(pair: Pair, cells: Any, part_totals: Any, limits: GridLimits) -> PairMergeBuffers:
    """Make the buffers for merges of the grid as it is laid out."""
    n_0, n_1 = pair.n_parts
    n = max(n_0, n_1)
    deltas = tuple(np.empty((m, m if pair.is_group(k) else 1)) for k, m in enumerate(pair.n_parts))
    name = np.stack([np.arange(n)] * 2)
    right = name + 1
    right[0, n_0 - 1] = right[1, n_1 - 1] = -1
    n_small = [np.count_nonzero(part_totals[2 * k, :m] < limits.min_rows[k]) for k, m in enumerate(pair.n_parts)]
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
        n_left=np.array(pair.n_parts, dtype=np.int64),
        n_small=np.array(n_small, dtype=np.int64),
        changes=np.empty(shape),
        known=np.full(shape[0], -1, dtype=np.int64),
    )


# Steps of the merges: first price all pairs of parts, then make the cheapest merge, one per step.


class Merging(NamedTuple):
    """State of the merges between two calls of the kernel, and the merges made."""

    # by step
    variable: Any
    stays: Any  # number in the grid of the part that stays
    goes: Any  # number of the part that is merged into it
    cost: Any  # cost after the step
    now: Any  # see `run_merges`


def pair_cost(p: Any, facts: Any, total: float, n_0: Any, n_1: Any) -> float:
    """Cost of a grid of `n_0` by `n_1` parts, whose parts and cells cost `total`."""
    one, other = facts
    frozen = frozen_side(one, other, n_1, partition_price(p, other, n_1), other.by_parts[:0])
    return total_cost(Setting(p, one, frozen), total, n_0)


def reprice_inputs(p: Any, facts: Variable, buffers: PairMergeBuffers, n_target_parts: Any) -> None:
    """Price the margins of the parts of the input, and their merges, at `n_target_parts`, one fewer than before."""
    deltas, price, right = buffers.deltas[0], buffers.price[0], buffers.right[0]
    n_rows, change = buffers.n_rows[0], buffers.changes[0]
    n = buffers.n_left[0] if facts.categorical else np.int64(len(deltas))
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
                deltas[i, 0] += more - change[i]  # the change of the next part is subtracted below
    for i in range(n):
        if not facts.categorical and right[i] >= 0:
            deltas[i, 0] -= change[right[i]]
        find_low(facts.categorical, deltas, buffers.low[0], buffers.near[0], right, np.int64(i))


def inputs_change(p: Any, facts: Variable, buffers: PairMergeBuffers, n_target_parts: Any) -> float:
    """Change of the margins if the target had one part fewer than `n_target_parts`."""
    n_rows, right = buffers.n_rows[0], buffers.right[0]
    change = 0.0
    i = np.int64(0)
    for _ in range(buffers.n_left[0]):
        for way in range(2):
            price = margin_price(p, n_rows[i], n_target_parts - 1 + way)
            change += price if way == 0 else -price
        i = i + 1 if facts.categorical else right[i]
    return change


def merge_steps(
    buffers: PairMergeBuffers,
    facts: Any,
    p: Any,
    limits: GridLimits,
    table: Any,
    one: Any,
    state: Merging,
    n_steps: int,
) -> bool:
    """Make `n_steps` steps, each pricing one part and its merges or merging two parts; return True when all is done."""
    n_left, low, near, name, right = buffers.n_left, buffers.low, buffers.near, buffers.name, buffers.right
    n_0, n_1 = np.int64(len(buffers.deltas[0])), np.int64(len(buffers.deltas[1]))
    has_target, now, is_done = facts[1].is_target, state.now[0], False
    n_ready, n_done, n_best, total, cost, best_cost = (
        now.n_ready, now.n_done, now.n_best, now.total, now.cost, now.best_cost
    )  # fmt: skip
    for _ in range(n_steps):
        n_targets = n_left[1] if has_target else np.int64(0)
        if n_ready < n_0 + n_1:
            ready: Any = np.int64(0 if n_ready < n_0 else 1)
            i = n_ready - n_0 * ready
            ready_part(p, facts[ready], table, one, buffers, ready, i, i, n_targets * (1 - ready))
            is_group = facts[ready].categorical
            if is_group or i > 0:
                row = i if is_group else i - 1
                find_low(is_group, buffers.deltas[ready], low[ready], near[ready], right[ready], row)
            total += buffers.price[ready, i] + (buffers.sums[ready, i] if ready == 0 else 0.0)
            n_ready += 1
            if n_ready < n_0 + n_1:
                continue
            cost = pair_cost(p, facts, total, n_0, n_1)
        else:
            if n_left[0] == 1 and n_left[1] == 1:
                is_done = True
                break
            if has_target and n_left[1] > 1 and now.change_is_for != n_left[0] * (n_1 + 1) + n_left[1]:
                now.change_is_for = n_left[0] * (n_1 + 1) + n_left[1]
                now.change = inputs_change(p, facts[0], buffers, n_targets)
            k, x, new_cost, new_total = cheapest_merge(p, facts, buffers, total, now.change if has_target else 0.0)
            if k < 0 or (now.is_greedy and not is_cheaper(new_cost, cost, abs(total))):
                is_done = True
                break
            y = near[k, x]
            if facts[k].categorical:
                x, y = y, x  # the lower slot stays
            state.variable[n_done], state.stays[n_done], state.goes[n_done] = k, name[k, x], name[k, y]
            state.cost[n_done] = new_cost
            meet(p, facts[1 - k].categorical, table, one, buffers, 1 - k, x, y, n_done)
            join_parts(p, facts[k], table, one, buffers, k, x, y, n_targets * (1 - k), limits.min_rows[k])
            if k == 1 and has_target:
                reprice_inputs(p, facts[0], buffers, n_left[1])
            cost, total, n_done = new_cost, new_total, n_done + 1
        if cost < best_cost and keeps_limits(limits, n_left, buffers.n_small):
            best_cost, n_best = cost, n_done
    now.n_ready, now.n_done, now.n_best, now.total, now.cost, now.best_cost = (
        n_ready, n_done, n_best, total, cost, best_cost
    )  # fmt: skip
    return is_done


def cheapest_merge(
    p: Any, facts: Any, buffers: PairMergeBuffers, total: float, change: float
) -> tuple[Any, Any, float, float]:
    """Variable and part of the merge with the lowest cost (-1 if there is none), that cost, and the total price.

    A merge of parts of variable 1 also changes the total by `change`.
    """
    low, n_left, deltas = buffers.low, buffers.n_left, buffers.deltas
    best_k: Any = np.int64(-1)
    best_i: Any = np.int64(-1)
    best_cost, best_total = np.inf, 0.0
    for k in range(2):
        lowest = np.inf
        at: Any = np.int64(-1)
        for i in range(n_left[k] if facts[k].categorical else len(deltas[k])):
            if low[k, i] < lowest:
                lowest, at = low[k, i], i
        if at < 0:
            continue
        new_total = total + lowest + (change if k == 1 else 0.0)
        cost = pair_cost(p, facts, new_total, n_left[0] - (1 - k), n_left[1] - k)
        if cost < best_cost or best_k < 0:
            best_k, best_i, best_cost, best_total = np.int64(k), at, cost, new_total
    return best_k, best_i, best_cost, best_total


@inlined
def keeps_limits(limits: GridLimits, n_left: Any, n_small: Any) -> bool:
    """Whether a grid keeps the limits; one cell always does."""
    if n_left[0] == 1 and n_left[1] == 1:
        return True
    keeps = True
    for k in range(2):
        keeps = keeps and n_left[k] <= limits.max_parts[k] and (n_left[k] == 1 or n_small[k] == 0)
    return keeps
