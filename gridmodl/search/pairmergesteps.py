"""The steps of a merge of two variables: price all pairs of parts once, then merge the cheapest, again and again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gridmodl.search.moves import Limits, part_price
from gridmodl.search.pairdeltas import LEFT, TOO_FEW, MergeRoom, find_low, join_parts, meet, ready_part
from gridmodl.search.postoptimize import LEAST_SAVING
from gridmodl.template import inlined
from gridmodl.terms import Shape, Variable, finish, grid, variable

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
    n_variables, n_informative, shared = 0, 0, 0.0
    for k in range(2):
        n_parts = n_0 if k == 0 else n_1
        shared += variable(p, facts[k], n_parts)
        if not facts[k].is_target:
            n_variables, n_informative = n_variables + 1, n_informative + (1 if n_parts > 1 else 0)
    shape = Shape(n_variables, n_informative, float(n_0) * float(n_1))
    return finish(p, total + shared + grid(p, shape), shape)


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
    steps_variable, steps_stays, steps_goes, steps_cost, now, sums = state
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
        steps_variable[step], steps_stays[step], steps_goes[step] = best_k, name[best_k, x], name[best_k, y]
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
