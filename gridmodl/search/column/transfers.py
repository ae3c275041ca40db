"""Transfers: single values go to the group where they cost least, until no transfer makes the grouping cheaper.

    transfer     a value to another group, to a new one of its own, or out of a group that ends with it
    merge        of any two groups, again and again (`merge_groups`), after the transfers

A pass over the values prices each with every group. Later passes price it only with the groups that have changed since
its last visit: the lowest price of joining any other is a floor that still holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import coarsen
from gridmodl.jit.template import bind
from gridmodl.search.column.groups import MergedGroups, arranged, dense, merge_groups, most_groups, priced_groups
from gridmodl.search.column.improve import LEAST_SAVING
from gridmodl.search.moves import Limits, Setting, cell_price, part_price, total_cost
from gridmodl.search.task import Grouping, Task

MANY_RESTARTS = 2048  # values; beyond, a restart takes seconds, and one with enough groups has to do
ONE_RESTART = 64  # groups that it has at least
ROUGH_PASSES = 2  # over the values, before the many groups of a restart merge

# What a visit of a value does in turn: price the groups that changed, price all, and after a move, price the two.
FIRST, CHANGED, ALL, REFRESH, DONE = range(5)

# The fields of `Transfers.now` and `Transfers.sums`.
AT, N_GROUPS, N_SLOTS, TIME, HAS_MOVED, N_PASSES, MAX_PASSES = range(7)
PRICE, COST, SCALE = range(3)


class Transfers(NamedTuple):
    """The state of the transfers between two calls of the kernel."""

    group: Any  # of each atom
    alone: Any  # price of each atom as a group of its own
    floor: Any  # under the price of adding each atom to another group, as of its last visit
    seen: Any  # time of that visit; -1 where the floor says nothing
    # of each slot for a group; one more than may be used, always empty
    counts: Any
    rows: Any
    cell_prices: Any
    n_atoms: Any
    n_rows: Any
    n_values: Any
    part_price: Any
    changed: Any  # time of its last change; time is the number of moves made
    union: Any  # buffer for the counts of one cell
    now: Any
    sums: Any


def improve_groups(task: Task, merged: MergedGroups, start: Grouping) -> Grouping:
    """The best grouping that transfers and merges lead to from `start` and from groupings on the path of a merge."""
    best = local_search(task, start)
    max_groups = min(len(merged.into), merged.max_parts)
    if task.n_atoms > MANY_RESTARTS:
        n_groups = 0
        while n_groups < min(2 * n_groups_of(best), max_groups) and not task.clock.stopped:
            n_groups = min(max(ONE_RESTART, 4 * n_groups_of(best)), max_groups)
            best = _restarted(task, merged, best, n_groups)
        return best
    n_groups = 2
    while n_groups <= min(max_groups, 4 * n_groups_of(best) + 8) and not task.clock.stopped:
        best = _restarted(task, merged, best, n_groups)
        n_groups *= 2
    return best


def _restarted(task: Task, merged: MergedGroups, best: Grouping, n_groups: int) -> Grouping:
    """The better of `best` and what transfers and merges lead to from so many groups of the path.

    More groups than needed, roughly right, then merged: 100,000 values in 20 groups of 10 classes took 3 s from 64
    groups with 2 passes, and 34 s with as many passes as it takes, to a higher cost.
    """
    rough = transfer_values(task, priced_groups(task, merged.path(n_groups)), ROUGH_PASSES)
    fewer = merge_groups(task, rough.groups).best
    found = local_search(task, fewer) if not task.clock.stopped else rough
    return min(best, found, key=lambda grouping: grouping.cost)


def n_groups_of(grouping: Grouping) -> int:
    return int(grouping.groups.max()) + 1


def local_search(task: Task, start: Grouping) -> Grouping:
    """Transfers and merges of pairs from `start`, which keeps the limits, in turn until neither saves."""
    best = start
    while True:
        moved = transfer_values(task, best)
        if task.clock.stopped:
            return moved
        merged = merge_groups(task, moved.groups).best
        if not merged.cost < moved.cost - LEAST_SAVING * (1.0 + abs(moved.cost)):
            return moved
        best = merged


def transfer_values(task: Task, start: Grouping, max_passes: int = 2**62) -> Grouping:
    """The grouping that transfers lead to from `start`, which keeps the limits, in so many passes at most."""
    state = _start(task, start.groups)
    state.now[MAX_PASSES] = max_passes
    kernel = bind(transfer_steps, task.criterion)
    task.clock.repeat(
        lambda n_visits: bool(kernel(state, task.atoms, task.setting, task.limits, n_visits)),
        None,
        max(1, 2**20 // (int(state.now[N_SLOTS]) * task.atoms.counts.shape[1])),
    )
    found = priced_groups(task, state.group)
    return found if found.cost < start.cost else start


def _start(task: Task, groups: NDArray[np.int64]) -> Transfers:
    n, n_groups = task.n_atoms, int(groups.max()) + 1
    n_slots = max(n_groups, min(n, task.limits.max_parts, most_groups(task))) + 1
    atoms = coarsen(*arranged(task.atoms, groups))
    counts, rows = dense(atoms, task.n_frozen_cells, n_slots)
    now = np.zeros(7, dtype=np.int64)
    now[N_GROUPS] = now[N_SLOTS] = n_groups
    return Transfers(
        group=groups.astype(np.int32),
        alone=np.empty(n),
        floor=np.full(n, np.inf),
        seen=np.full(n, -1, dtype=np.int64),
        counts=counts,
        rows=rows,
        cell_prices=np.zeros(rows.shape),
        n_atoms=np.bincount(groups, minlength=n_slots),
        n_rows=rows.sum(axis=1),
        n_values=np.append(atoms.values, np.zeros(n_slots - n_groups, dtype=np.int32)).astype(np.int64),
        part_price=np.zeros(n_slots),
        changed=np.zeros(n_slots, dtype=np.int64),
        union=np.zeros(counts.shape[2], dtype=np.int64),
        now=now,
        sums=np.zeros(3),
    )


def transfer_steps(state: Transfers, atoms: Any, setting: Setting, limits: Limits, n_visits: int) -> bool:
    """Visit so many values; True when a whole pass has moved none.

    The first pass only adds up prices. One place prices a group with a value added (sign 1), taken out (-1) or as it
    is (0), whatever for: every copy of the terms in a kernel costs half a second of compile time.
    """
    group, alone, floor, seen, counts, rows, cell_prices, n_atoms, n_rows, n_values, part_prices = state[:11]
    changed, union, now, sums = state[11:]
    first, frozen, more, more_rows, more_values = atoms
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    n, min_rows, n_slots = len(group), limits.min_rows, len(n_atoms) - 1
    for _ in range(n_visits):
        if now[AT] == n:
            if now[N_PASSES] == 0:
                sums[COST] = total_cost(setting, sums[PRICE], now[N_GROUPS])
            elif now[HAS_MOVED] == 0 or now[N_PASSES] == now[MAX_PASSES]:
                return True
            now[AT], now[HAS_MOVED] = 0, 0
            now[N_PASSES] += 1
        v = now[AT]
        now[AT] += 1
        own = np.int64(group[v])
        v_rows = 0
        for e in range(first[v], first[v + 1]):
            v_rows += more_rows[e]
        is_last = n_atoms[own] == 1  # of its group, which ends when it leaves
        if now[N_PASSES] > 0 and (seen[v] == now[TIME] or (not is_last and n_rows[own] - v_rows < min_rows)):
            continue
        least = LEAST_SAVING * (abs(sums[PRICE]) + abs(sums[COST]) + sums[SCALE])
        leave, to = 0.0, -1
        job = FIRST if now[N_PASSES] == 0 else CHANGED
        while job != DONE:
            lowest, lowest_m, n_skipped = np.inf, -1, 0
            for m in range(now[N_SLOTS] + 1):  # the last one is empty
                if m == own:
                    sign = -1 if job == CHANGED else 0
                    skip = job == ALL
                elif job == REFRESH:
                    sign, skip = 0, m != to
                else:
                    sign = 1
                    skip = (m != now[N_SLOTS]) if job == FIRST else n_atoms[m] == 0
                    if job == CHANGED and not skip and changed[m] <= seen[v]:
                        n_skipped += 1
                        skip = True
                if skip:
                    continue
                change = 0.0
                for e in range(first[v], first[v + 1]):
                    f = frozen[e]
                    n_cell, price = rows[m, f] + sign * more_rows[e], 0.0
                    if n_cell > 0:
                        for c in range(len(union)):
                            union[c] = np.int64(counts[m, f, c]) + sign * np.int64(more[e, c])
                        price = cell_price(p, union, n_cell)
                    change += price - cell_prices[m, f]
                    if sign == 0:
                        cell_prices[m, f] = price
                        sums[SCALE] = max(sums[SCALE], abs(price))
                n_part, price = n_rows[m] + sign * v_rows, 0.0
                if n_part > 0:
                    price = part_price(p, facts, n_target_parts, n_part, n_values[m] + sign * more_values[v])
                change += price - part_prices[m]
                if sign == 0:
                    part_prices[m] = price
                    sums[SCALE] = max(sums[SCALE], abs(price))
                    sums[PRICE] += change
                elif sign < 0:
                    leave = change
                elif change < lowest - least:  # of equals the lowest index, whatever the rounding
                    lowest, lowest_m = change, m
            if job == FIRST:
                alone[v] = lowest
                job = DONE
                continue
            if job == REFRESH:
                sums[COST] = total_cost(setting, sums[PRICE], now[N_GROUPS])
                job = DONE
                continue
            floor[v] = lowest if n_skipped == 0 else min(floor[v], lowest)
            best, more_groups = sums[COST], 0
            if floor[v] < np.inf:
                ends = 1 if is_last else 0
                cost = total_cost(setting, sums[PRICE] + leave + floor[v], now[N_GROUPS] - ends)
                if cost < best - least:
                    if n_skipped > 0:  # the floor may be of a group that has changed
                        job = ALL
                        continue
                    best, to, more_groups = cost, lowest_m, -ends
            if not is_last and v_rows >= min_rows and now[N_GROUPS] < min(limits.max_parts, n_slots):
                cost = total_cost(setting, sums[PRICE] + leave + alone[v], now[N_GROUPS] + 1)
                if cost < best - least:
                    best, more_groups = cost, 1
                    to = 0
                    while n_atoms[to] > 0:
                        to += 1
            if to < 0:
                seen[v] = now[TIME]
                job = DONE
                continue
            now[TIME] += 1
            now[HAS_MOVED] = 1
            now[N_GROUPS] += more_groups
            now[N_SLOTS] = max(now[N_SLOTS], to + 1)
            seen[v], changed[own], changed[to] = -1, now[TIME], now[TIME]
            group[v] = to
            n_atoms[own] -= 1
            n_atoms[to] += 1
            n_rows[own] -= v_rows
            n_rows[to] += v_rows
            n_values[own] -= more_values[v]
            n_values[to] += more_values[v]
            for e in range(first[v], first[v + 1]):
                f = frozen[e]
                rows[own, f] -= more_rows[e]
                rows[to, f] += more_rows[e]
                for c in range(len(union)):
                    counts[own, f, c] -= more[e, c]
                    counts[to, f, c] += more[e, c]
            job = REFRESH
    return False
