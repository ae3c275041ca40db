"""Merges of parts of two variables, the cheapest first, down to one cell; the best grid on the way is kept.

Merging parts a and b of a variable changes the price of the cells by sum_t [ cell(a_t + b_t) - cell(a_t) - cell(b_t) ]
over the parts t of the other variable: kept for all pairs of groups, for neighbours only of a numerical variable. A
merge of p and q on the other variable changes two terms of each of these sums, so they are updated, not computed anew:

    cell(x_a + x_b) - cell(p_a + p_b) - cell(q_a + q_b) - u_a - u_b     x = p + q,  u = cell(x) - cell(p) - cell(q)

which is 0 where either of a and b has no rows in p and q.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.grid import Grid
from gridmodl.search.gridtask import GridTask
from gridmodl.search.moves import Limits, part_price
from gridmodl.search.pairtask import COST, Pair, price_at
from gridmodl.search.postoptimize import LEAST_SAVING
from gridmodl.template import bind, inlined
from gridmodl.terms import Shape, Variable, finish, grid, variable

FEW_ROWS = 8  # in a cell: where p_a and q_a both are fewer, the change is worked out once for all a that have the same

# The fields of `Merging.now` and `Merging.sums`.
READY, N_DONE, N_BEST, GREEDY, SHARED_FOR = range(5)
TOTAL, MERGE_COST, BEST_COST, SHARED = range(4)
LEFT, TOO_FEW = range(2)  # parts that are left, those with too few rows


class MergeRoom(NamedTuple):
    """The parts of both variables under merges, by variable and slot; a gone group's slot is taken by the last one."""

    cells: Any  # of each variable: rows by own part, then by part of the other variable
    deltas: Any  # of merging parts i and j < i; of a numerical variable, of part i and the next, in column 0
    low: Any  # the lowest of these in row i
    near: Any  # and its j
    sums: Any  # price of the cells of a part
    price: Any  # part term
    n_rows: Any
    n_values: Any
    name: Any  # number of the part that the slot holds
    left: Any  # neighbours of an interval, -1 where there is none
    right: Any
    counts: Any
    changes: Any  # of deltas by a merge of the other variable, by p_a and q_a, then by b
    known: Any  # step at which each of these was worked out


class Merging(NamedTuple):
    """The state of the merges between two calls of the kernel, and what was merged."""

    variable: Any  # of each step
    kept: Any
    gone: Any
    cost: Any  # after it
    now: Any
    sums: Any


class MergePath(NamedTuple):
    """All merges from a grid down to one cell, the cheapest first."""

    variable: NDArray[np.int64]  # 0 or 1, for each step
    kept: NDArray[np.int64]  # the part that stays, by its number in the grid
    gone: NDArray[np.int64]  # the part that goes into it
    cost: NDArray[np.float64]  # of the grid after the step


def merge_path(task: GridTask, start: Grid) -> MergePath:
    """The merges that lead from a grid of two variables down to one cell."""
    pair = Pair(task)
    pair.load((start.parts_of(0, pair.n_atoms(0)), start.parts_of(1, pair.n_atoms(1))))
    state, _ = run_merges(pair, is_greedy=False)
    n = int(state.now[N_DONE])
    return MergePath(state.variable[:n], state.kept[:n], state.gone[:n], state.cost[:n])


def merge(pair: Pair, limits: Limits, is_greedy: bool = False) -> list[NDArray[np.int64]]:
    """Merge the grid to the best one on the way to one cell that keeps the limits; while it saves, if `is_greedy`.

    Of each part of either variable that is left, the part it would be cheapest to merge with, where the way ends; -1
    where there is none.
    """
    state, room = run_merges(pair, is_greedy, limits)
    n_best = int(state.now[N_BEST])
    nearest = []
    for k in (0, 1):
        into = np.arange(pair.n_parts[k])
        steps = np.flatnonzero(state.variable[:n_best] == k)
        for step in steps[::-1]:  # from the end: where a part goes that others went into is known by then
            into[state.gone[step]] = into[state.kept[step]]
        number = np.cumsum(np.bincount(into, minlength=len(into)) > 0) - 1
        nearest.append(_nearest(room, k, number))
        pair.put(k, into[pair.sides[k].part])
    if n_best > 0:
        pair.sums[COST] = state.sums[BEST_COST]
    return nearest


def _nearest(room: MergeRoom, k: int, number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each group where the merges ended, the nearest group."""
    n = int(room.counts[k, LEFT])
    nearest = np.full(int(number[-1]) + 1, -1, dtype=np.int64)
    if room.deltas[k].shape[1] > 1 and n == len(nearest):
        low = np.full(n, np.inf)
        names = number[room.name[k, :n]]
        for i in range(1, n):
            for a, b in ((i, room.near[k, i]), (room.near[k, i], i)):
                if room.low[k, i] < low[a]:
                    low[a], nearest[names[a]] = room.low[k, i], names[b]
    return nearest


def run_merges(pair: Pair, is_greedy: bool, limits: Limits | None = None) -> tuple[Merging, MergeRoom]:
    """Merge down to one cell, or while it saves; what was merged, and the parts as they are then."""
    limits = pair.relaxed if limits is None else limits
    cells, tally, _ = pair.lay(0)
    n_0, n_1 = pair.n_parts
    room = _merge_room(pair, cells, tally, limits)
    n_steps = n_0 + n_1 - 2
    state = Merging(
        variable=np.zeros(n_steps, dtype=np.int64),
        kept=np.zeros(n_steps, dtype=np.int64),
        gone=np.zeros(n_steps, dtype=np.int64),
        cost=np.zeros(n_steps),
        now=np.array([0, 0, 0, int(is_greedy), -1], dtype=np.int64),
        sums=np.array([0.0, pair.cost, np.inf, 0.0]),
    )
    kernel = bind(merge_steps, pair.task.criterion)
    facts = pair.sides[0].facts, pair.sides[1].facts
    pair.task.clock.repeat(
        lambda n: bool(kernel(room, facts, pair.task.p, limits, pair.table, pair.one, state, n)),
        lambda: float((state.now[READY] + state.now[N_DONE]) / (2 * n_steps + 2)),
        size=max(1, 2**22 // (n_0 * n_1)),
    )
    return state, room


def _merge_room(pair: Pair, cells: Any, tally: Any, limits: Limits) -> MergeRoom:
    n_0, n_1 = pair.n_parts
    n = max(n_0, n_1)
    deltas = tuple(np.empty((m, m if pair.is_group(k) else 1)) for k, m in enumerate(pair.n_parts))
    name = np.stack([np.arange(n)] * 2)
    right = name + 1
    right[0, n_0 - 1] = right[1, n_1 - 1] = -1
    counts = np.array([(m, np.count_nonzero(tally[2 * k, :m] < limits.min_rows)) for k, m in enumerate(pair.n_parts)])
    room = FEW_ROWS**2 + 1, n
    return MergeRoom(
        cells=(cells.T.copy(), cells.copy()),  # copies: the transpose of a single row is the same memory
        deltas=deltas,
        low=np.full((2, n), np.inf),
        near=np.zeros((2, n), dtype=np.int64),
        sums=np.zeros((2, n)),
        price=np.zeros((2, n)),
        n_rows=tally[::2, :n].copy(),
        n_values=tally[1::2, :n].copy(),
        name=name,
        left=name - 1,
        right=right,
        counts=counts.astype(np.int64),
        changes=np.empty(room),
        known=np.full(room[0], -1, dtype=np.int64),
    )


def pair_cost(p: Any, facts: Any, total: float, n_0: Any, n_1: Any) -> float:
    """The cost of a grid of `n_0` by `n_1` parts, whose parts and cells cost `total`."""
    n_variables, n_informative, shared = 0, 0, 0.0
    for k in range(2):
        n_parts = n_0 if k == 0 else n_1
        shared += variable(p, facts[k], n_parts)
        if not facts[k].is_target:
            n_variables, n_informative = n_variables + 1, n_informative + (1 if n_parts > 1 else 0)
    shape = Shape(n_variables, n_informative, float(n_0) * float(n_1))
    return finish(p, total + shared + grid(p, shape), shape)


def ready_part(
    p: Any, facts: Variable, table: Any, one: Any, room: MergeRoom, k: Any, i: Any, n_slots: Any, n_target_parts: Any
) -> None:
    """Price part i, then its merges with the parts below `n_slots`."""
    cells, deltas, sums, price = room.cells[k], room.deltas[k], room.sums, room.price
    n_rows, n_values, left, right = room.n_rows, room.n_values, room.left, room.right
    n_across, is_tabled = cells.shape[1], p.n_rows < len(table)
    # The first round prices the part itself, the others with each part that it may merge with.
    for j in range(-1, n_slots if facts.categorical else np.int64(2)):
        other = np.int64(j)
        if not facts.categorical and j >= 0:
            other = left[k, i] if j == 0 else right[k, i]
            if other < 0 or other >= n_slots:
                continue
        if other == i:
            continue
        total = 0.0
        if other < 0:
            for t in range(n_across):
                total += price_at(p, table, one, cells[i, t])
        elif is_tabled:
            for t in range(n_across):
                total += table[cells[i, t] + cells[other, t]]
        else:
            for t in range(n_across):
                total += price_at(p, table, one, cells[i, t] + cells[other, t])
        rows, values = n_rows[k, i], n_values[k, i]
        if other >= 0:
            rows, values = rows + n_rows[k, other], values + n_values[k, other]
        part = part_price(p, facts, n_target_parts, rows, values)
        if other < 0:
            sums[k, i], price[k, i] = total, part
            continue
        delta = total - sums[k, i] - sums[k, other] + part - price[k, i] - price[k, other]
        if facts.categorical:
            deltas[max(i, other), min(i, other)] = delta
        else:
            deltas[min(i, other), 0] = delta


def find_low(is_group: Any, deltas: Any, low: Any, near: Any, right: Any, i: Any) -> None:
    """Find the lowest delta in row i; of equals the lowest j."""
    low[i] = np.inf
    if is_group:
        for j in range(i):
            if deltas[i, j] < low[i]:
                low[i], near[i] = deltas[i, j], j
    elif right[i] >= 0:
        low[i], near[i] = deltas[i, 0], right[i]


def fill_changes(
    p: Any, table: Any, one: Any, own: Any, x: Any, y: Any, a: Any, b: Any, begin: Any, end: Any, into: Any
) -> None:
    """cell(x_a + x_b) - cell(p_a + p_b) - cell(q_a + q_b) for p_a = a, q_a = b, and parts b from begin to end."""
    if p.n_rows < len(table):
        for t in range(begin, end):
            n, m = a + own[x, t], b + own[y, t]
            into[t] = table[n + m] - table[n] - table[m]
        return
    for t in range(begin, end):
        into[t] = 0.0
        for way in range(3):
            n, m = a + own[x, t], b + own[y, t]
            price = price_at(p, table, one, n + m if way == 0 else (n if way == 1 else m))
            into[t] += price if way == 0 else -price


def meet(p: Any, is_group: Any, table: Any, one: Any, room: MergeRoom, k: Any, x: Any, y: Any, step: Any) -> None:
    """Update the deltas of variable k where parts x and y of the other one merge."""
    own, deltas, changes, known, right = room.cells[1 - k], room.deltas[k], room.changes, room.known, room.right[k]
    low, near, sums = room.low[k], room.near[k], room.sums[k]
    n = np.int64(own.shape[1])
    fill_changes(p, table, one, own, x, y, np.int64(0), np.int64(0), np.int64(0), n, changes[0])
    alone = changes[0]  # u
    for s in range(n):
        a, b = own[x, s], own[y, s]
        if a + b == 0:
            continue
        sums[s] += alone[s]
        row = a * FEW_ROWS + b if a < FEW_ROWS and b < FEW_ROWS else np.int64(FEW_ROWS**2)
        if not is_group:
            t = right[s]
            if t >= 0:
                fill_changes(p, table, one, own, x, y, a, b, t, t + 1, changes[row])
                deltas[s, 0] += changes[row, t] - alone[s] - alone[t]
                low[s] = deltas[s, 0]
            continue
        if row == FEW_ROWS**2:
            fill_changes(p, table, one, own, x, y, a, b, np.int64(0), np.int64(s), changes[row])
        elif known[row] != step:
            known[row] = step
            fill_changes(p, table, one, own, x, y, a, b, np.int64(0), n, changes[row])
        lowest, at, less = np.inf, near[s], alone[s]
        for t in range(s):
            delta = deltas[s, t] + (changes[row, t] - alone[t] - less)
            deltas[s, t] = delta
            if delta < lowest:
                lowest, at = delta, t
        low[s], near[s] = lowest, at


def join_parts(
    p: Any,
    facts: Variable,
    table: Any,
    one: Any,
    room: MergeRoom,
    k: Any,
    x: Any,
    y: Any,
    n_target_parts: Any,
    min_rows: int,
) -> None:
    """Make parts x and y one, x, and price its merges."""
    cells, across, deltas, low, near = room.cells[k], room.cells[1 - k], room.deltas[k], room.low[k], room.near[k]
    n_rows, n_values, left, right = room.n_rows[k], room.n_values[k], room.left[k], room.right[k]
    price, sums, name, counts = room.price[k], room.sums[k], room.name[k], room.counts
    counts[k, TOO_FEW] -= (1 if n_rows[x] < min_rows else 0) + (1 if n_rows[y] < min_rows else 0)
    n_rows[x] += n_rows[y]
    n_values[x] += n_values[y]
    counts[k, TOO_FEW] += 1 if n_rows[x] < min_rows else 0
    counts[k, LEFT] -= 1
    last = counts[k, LEFT] if facts.categorical else y  # moves into the slot of the part that goes
    for t in range(cells.shape[1]):
        cells[x, t] += cells[y, t]
        cells[y, t] = 0
        across[t, x] = cells[x, t]
        across[t, y] = 0
        if last != y:
            cells[y, t] = across[t, y] = cells[last, t]
            cells[last, t] = across[t, last] = 0
    if not facts.categorical:
        right[x] = right[y]
        if right[y] >= 0:
            left[right[y]] = x
        low[y], right[y] = np.inf, -1
        ready_part(p, facts, table, one, room, k, x, np.int64(len(cells)), n_target_parts)
        for way in range(2):
            i = x if way == 0 else left[x]
            if i >= 0:
                find_low(facts.categorical, deltas, low, near, right, i)
        return
    if last != y:
        sums[y], n_rows[y], n_values[y], price[y] = sums[last], n_rows[last], n_values[last], price[last]
        name[y] = name[last]
        for j in range(y):
            deltas[y, j] = deltas[last, j]
        for i in range(y + 1, last):
            deltas[i, y] = deltas[last, i]
    n = counts[k, LEFT]
    ready_part(p, facts, table, one, room, k, x, n, n_target_parts)
    for i in range(n):
        if i in (x, y) or near[i] in (x, y) or near[i] >= n:
            find_low(facts.categorical, deltas, low, near, right, np.int64(i))
            continue
        for way in range(2):
            j = x if way == 0 else y
            if j < i and (deltas[i, j] < low[i] or (deltas[i, j] == low[i] and j < near[i])):
                low[i], near[i] = deltas[i, j], j


def reprice_inputs(p: Any, facts: Variable, room: MergeRoom, n_target_parts: Any) -> None:
    """Price the parts of the input, and their merges, at another number of target parts: one less than before."""
    deltas, price, right = room.deltas[0], room.price[0], room.right[0]
    n_rows, n_values = room.n_rows[0], room.n_values[0]
    change = room.changes[0]
    n = room.counts[0, LEFT] if facts.categorical else np.int64(len(deltas))
    for i in range(n):
        # First the part itself, then its merges.
        n_others = np.int64(i) if facts.categorical else np.int64(1 if right[i] >= 0 else 0)
        for j in range(-1, n_others):
            other = np.int64(j) if facts.categorical else right[i]
            more = 0.0
            for way in range(2):
                rows, values = n_rows[i], n_values[i]
                if j >= 0:
                    rows, values = rows + n_rows[other], values + n_values[other]
                part = part_price(p, facts, n_target_parts + way, rows, values)
                more += part if way == 0 else -part
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
        find_low(facts.categorical, deltas, room.low[0], room.near[0], right, np.int64(i))


def inputs_change(p: Any, facts: Variable, room: MergeRoom, n_target_parts: Any) -> float:
    """What one target part less changes the part terms of the input by."""
    n_rows, n_values, price, right = room.n_rows[0], room.n_values[0], room.price[0], room.right[0]
    change = 0.0
    i = np.int64(0)
    for _ in range(room.counts[0, LEFT]):
        change += part_price(p, facts, n_target_parts - 1, n_rows[i], n_values[i]) - price[i]
        i = i + 1 if facts.categorical else right[i]
    return change


def merge_steps(
    room: MergeRoom, facts: Any, p: Any, limits: Limits, table: Any, one: Any, state: Merging, n_steps: int
) -> bool:
    """Make so many steps: price one part and its merges, or merge two parts; True when all is done."""
    steps_variable, steps_kept, steps_gone, steps_cost, now, sums = state
    counts, low, near, name, right = room.counts, room.low, room.near, room.name, room.right
    n_0, n_1 = np.int64(len(room.deltas[0])), np.int64(len(room.deltas[1]))
    has_target = facts[1].is_target
    for _ in range(n_steps):
        n_targets = counts[1, LEFT] if has_target else np.int64(0)
        if now[READY] < n_0 + n_1:
            ready: Any = np.int64(0 if now[READY] < n_0 else 1)
            i = now[READY] - n_0 * ready
            ready_part(p, facts[ready], table, one, room, ready, i, i, n_targets * (1 - ready))
            is_group = facts[ready].categorical
            if is_group or i > 0:
                row = i if is_group else i - 1
                find_low(is_group, room.deltas[ready], low[ready], near[ready], right[ready], row)
            sums[TOTAL] += room.price[ready, i] + (room.sums[ready, i] if ready == 0 else 0.0)
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
            sums[SHARED] = inputs_change(p, facts[0], room, n_targets)
        best_k: Any = np.int64(-1)
        best_i: Any = np.int64(-1)
        best_cost, best_total = np.inf, 0.0
        for k in range(2):
            lowest = np.inf
            at: Any = np.int64(-1)
            for i in range(counts[k, LEFT] if facts[k].categorical else len(room.deltas[k])):
                if low[k, i] < lowest:
                    lowest, at = low[k, i], i
            if at < 0:
                continue
            total = sums[TOTAL] + lowest + (sums[SHARED] if k == 1 and has_target else 0.0)
            cost = pair_cost(p, facts, total, counts[0, LEFT] - (1 - k), counts[1, LEFT] - k)
            if cost < best_cost or best_k < 0:
                best_k, best_i, best_cost, best_total = np.int64(k), at, cost, total
        least = LEAST_SAVING * (abs(sums[TOTAL]) + abs(sums[MERGE_COST]))
        if best_k < 0 or (now[GREEDY] == 1 and not best_cost < sums[MERGE_COST] - least):
            return True
        x, y = best_i, near[best_k, best_i]
        if facts[best_k].categorical:
            x, y = y, x  # the lower slot stays
        step = now[N_DONE]
        steps_variable[step], steps_kept[step], steps_gone[step] = best_k, name[best_k, x], name[best_k, y]
        steps_cost[step] = sums[MERGE_COST] = best_cost
        sums[TOTAL] = best_total
        now[N_DONE] += 1
        meet(p, facts[1 - best_k].categorical, table, one, room, 1 - best_k, x, y, step)
        join_parts(p, facts[best_k], table, one, room, best_k, x, y, n_targets * (1 - best_k), limits.min_rows)
        if best_k == 1 and has_target:
            reprice_inputs(p, facts[0], room, counts[1, LEFT])
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
