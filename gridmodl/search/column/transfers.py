"""Transfers: move single values to the group where they cost least, until no transfer makes the grouping cheaper.

    transfer     move a value to another group or to a new one of its own; a group that loses its last value ends
    merge        merge any two groups, down to one (`merge_groups`), after the transfers

The first pass prices each value with every group. Later passes price a value only with the groups that have changed
since its last visit: for the others, the lowest price found then is still a lower bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import coarsen
from gridmodl.jit.template import bind, inlined
from gridmodl.search.column.groups import MergedGroups, arranged, dense, merge_groups, most_groups, priced_groups
from gridmodl.search.moves import Limits, Setting, cell_price, is_cheaper, make_record, part_price, total_cost
from gridmodl.search.task import Grouping, Task

MANY_RESTARTS = 2048  # values from which there is only one restart, which takes seconds, unless it has too few groups
ONE_RESTART = 64  # groups that such a restart has at least
ROUGH_PASSES = 2  # passes over the values before the groups of a restart merge

# Jobs of a visit of a value: in the first pass, price its group and the value alone; then price the groups that
# changed, or all groups; after a move, price its old and its new group.
FIRST, CHANGED, ALL, REFRESH = range(4)


class Transfers(NamedTuple):
    """State of the transfers between two calls of the kernel."""

    # by atom
    group: Any
    alone: Any  # price of the atom as a group of its own
    floor: Any  # lower bound of the price of adding the atom to another group, as of its last visit
    seen: Any  # time of that visit; -1 if the bound is not valid
    # by slot for a group; the last slot is always empty
    counts: Any
    rows: Any
    cell_prices: Any
    n_atoms: Any
    n_rows: Any
    n_values: Any
    part_price: Any
    changed: Any  # time of the last change of the group; time is the number of moves made
    union: Any  # buffer for the counts of one cell
    now: Any  # see `transfers_record`


def improve_groups(task: Task, merged: MergedGroups, start: Grouping) -> Grouping:
    """Best grouping that transfers and merges find from `start` and from groupings on the path of a merge."""
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
    """Cheaper of `best` and the grouping that transfers and merges find from `n_groups` groups of the path.

    The restart has more groups than needed, improved in ROUGH_PASSES passes, then merged: 100,000 values in 20 groups
    of 10 classes took 3 s from 64 groups with 2 passes, and 34 s with unlimited passes, to a higher cost.
    """
    rough = transfer_values(task, priced_groups(task, merged.path(n_groups)), ROUGH_PASSES)
    fewer = merge_groups(task, rough.groups).best
    found = local_search(task, fewer) if not task.clock.stopped else rough
    return min(best, found, key=lambda grouping: grouping.cost)


def n_groups_of(grouping: Grouping) -> int:
    """Number of groups of a grouping."""
    return int(grouping.groups.max()) + 1


def local_search(task: Task, start: Grouping) -> Grouping:
    """Alternate transfers and merges from `start`, which keeps the limits, until neither saves."""
    best = start
    while True:
        moved = transfer_values(task, best)
        if task.clock.stopped:
            return moved
        merged = merge_groups(task, moved.groups).best
        if not is_cheaper(merged.cost, moved.cost):
            return moved
        best = merged


def transfer_values(task: Task, start: Grouping, max_passes: int = 2**62) -> Grouping:
    """Grouping that transfers find from `start`, which keeps the limits, in at most `max_passes` passes."""
    state = _start(task, start.groups)
    n_groups = n_groups_of(start)
    begin_transfers(state.now[0], n_groups, max_passes)
    kernel = bind(transfer_steps, task.criterion)
    task.clock.repeat(
        lambda n_visits: bool(kernel(state, task.atoms, task.setting, task.limits, n_visits)),
        None,
        max(1, 2**20 // (n_groups * task.atoms.counts.shape[1])),
    )
    found = priced_groups(task, state.group)
    return found if found.cost < start.cost else start


def _start(task: Task, groups: NDArray[np.int64]) -> Transfers:
    """State at the start of transfers from the grouping `groups`."""
    n, n_groups = task.n_atoms, int(groups.max()) + 1
    n_slots = max(n_groups, min(n, task.limits.max_parts, most_groups(task))) + 1
    atoms = coarsen(*arranged(task.atoms, groups))
    counts, rows = dense(atoms, task.n_frozen_cells, n_slots)
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
        now=transfers_record(),
    )


def transfers_record() -> Any:
    """Make the record `Transfers.now`."""
    return make_record(
        at=0,  # next value to visit
        n_passes=0,  # passes over the values; the first adds up the prices
        max_passes=0,
        has_moved=False,  # whether a value moved in this pass
        time=0,  # moves made
        n_groups=0,
        n_slots=0,  # slots in use; some of them may be empty again
        price=0.0,  # sum of the prices of all groups
        cost=0.0,
        scale=0.0,  # largest price so far
    )


@inlined
def begin_transfers(now: Any, n_groups: int, max_passes: int) -> None:
    """Reset the record for transfers that begin with `n_groups` groups."""
    now.at, now.n_passes, now.max_passes, now.has_moved, now.time = 0, 0, max_passes, False, 0
    now.n_groups, now.n_slots, now.price, now.cost, now.scale = n_groups, n_groups, 0.0, 0.0, 0.0


def transfer_steps(state: Transfers, atoms: Any, setting: Setting, limits: Limits, n_visits: int) -> bool:
    """Visit `n_visits` values; return True when a whole pass has moved none, or `max_passes` passes are over.

    The first pass only adds up prices. All jobs price a group with a value added (sign 1), taken out (-1) or unchanged
    (0) in the same place: every copy of the terms in a kernel takes half a second to compile.
    """
    group, alone, floor, seen, changed = state.group, state.alone, state.floor, state.seen, state.changed
    counts, rows, cell_prices, union = state.counts, state.rows, state.cell_prices, state.union
    n_atoms, n_rows, n_values, part_prices = state.n_atoms, state.n_rows, state.n_values, state.part_price
    first, frozen, more, more_rows, more_values = atoms.first, atoms.frozen, atoms.counts, atoms.rows, atoms.values
    now = state.now[0]
    at, n_passes, has_moved, time, n_groups = now.at, now.n_passes, now.has_moved, now.time, now.n_groups
    n_slots, total, cost, scale, max_passes = now.n_slots, now.price, now.cost, now.scale, now.max_passes
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    min_rows, most, is_done = limits.min_rows, min(limits.max_parts, len(n_atoms) - 1), False
    for _ in range(n_visits):
        if at == len(group):
            if n_passes == 0:
                cost = total_cost(setting, total, n_groups)
            elif not has_moved or n_passes == max_passes:
                is_done = True
                break
            at, has_moved, n_passes = 0, False, n_passes + 1
        v, own = at, np.int64(group[at])
        at += 1
        begin, end, v_rows = first[v], first[v + 1], 0
        for e in range(begin, end):
            v_rows += more_rows[e]
        is_last = n_atoms[own] == 1  # the only value of its group, which ends when the value leaves
        if n_passes > 0 and (seen[v] == time or (not is_last and n_rows[own] - v_rows < min_rows)):
            continue
        prices = abs(total) + scale
        leave, to = 0.0, -1
        job = FIRST if n_passes == 0 else CHANGED
        while True:
            lowest, lowest_m, n_known = np.inf, -1, 0
            for m in range(n_slots + 1):  # slot n_slots is empty
                if not is_priced(job, m, own, to, n_slots, n_atoms):
                    continue
                if job == CHANGED and m != own and changed[m] <= seen[v]:
                    n_known += 1
                    continue
                sign = (-1 if job == CHANGED else 0) if m == own else (0 if job == REFRESH else 1)
                change, largest = cells_change(
                    p, counts, rows, cell_prices, union, frozen, more, more_rows, begin, end, m, sign
                )
                n_part, price = n_rows[m] + sign * v_rows, 0.0
                if n_part > 0:
                    price = part_price(p, facts, n_target_parts, n_part, n_values[m] + sign * more_values[v])
                change += price - part_prices[m]
                if sign == 0:
                    part_prices[m] = price
                    total, scale = total + change, max(scale, largest, abs(price))
                elif sign < 0:
                    leave = change
                elif lowest_m < 0 or is_cheaper(
                    change, lowest, prices + abs(cost)
                ):  # ties up to rounding: lowest index
                    lowest, lowest_m = change, m
            if job == FIRST:
                alone[v] = lowest
                break
            if job == REFRESH:
                cost = total_cost(setting, total, n_groups)
                break
            floor[v] = lowest if n_known == 0 else min(floor[v], lowest)
            best, more_groups = cost, 0
            if floor[v] < np.inf:
                ends = 1 if is_last else 0
                new_cost = total_cost(setting, total + leave + floor[v], n_groups - ends)
                if is_cheaper(new_cost, best, prices):
                    if n_known > 0:  # the bound may come from a group that has changed since
                        job = ALL
                        continue
                    best, to, more_groups = new_cost, lowest_m, -ends
            if not is_last and v_rows >= min_rows and n_groups < most:
                new_cost = total_cost(setting, total + leave + alone[v], n_groups + 1)
                if is_cheaper(new_cost, best, prices):
                    to, more_groups = empty_slot(n_atoms), 1
            if to < 0:
                seen[v] = time
                break
            time, has_moved, n_groups, n_slots = time + 1, True, n_groups + more_groups, max(n_slots, to + 1)
            seen[v], changed[own], changed[to], group[v] = -1, time, time, to
            move_sizes(n_atoms, n_rows, n_values, own, to, v_rows, more_values[v])
            move_counts(counts, rows, frozen, more, more_rows, begin, end, own, to)
            job = REFRESH
    now.at, now.n_passes, now.has_moved, now.time, now.n_groups = at, n_passes, has_moved, time, n_groups
    now.n_slots, now.price, now.cost, now.scale = n_slots, total, cost, scale
    return is_done


@inlined
def is_priced(job: int, m: Any, own: Any, to: Any, n_slots: Any, n_atoms: Any) -> bool:
    """Whether `job` prices slot m; slot `n_slots` is empty."""
    if m == own:
        return job != ALL
    if job == FIRST:
        return m == n_slots
    return m == to if job == REFRESH else n_atoms[m] > 0


@inlined
def cells_change(
    p: Any, counts: Any, rows: Any, prices: Any, union: Any, frozen: Any, more: Any, more_rows: Any, begin: Any,
    end: Any, m: Any, sign: int,
) -> tuple[float, float]:  # fmt: skip
    """Change of the price of the cells of slot m by entries `begin` to `end`, and the largest price stored.

    With `sign` 1 the entries are added, with -1 taken out; with 0 the current prices of the cells are stored.
    """
    change, largest = 0.0, 0.0
    for e in range(begin, end):
        f = frozen[e]
        n, price = rows[m, f] + sign * more_rows[e], 0.0
        if n > 0:
            for c in range(len(union)):
                union[c] = np.int64(counts[m, f, c]) + sign * np.int64(more[e, c])
            price = cell_price(p, union, n)
        change += price - prices[m, f]
        if sign == 0:
            prices[m, f] = price
            largest = max(largest, abs(price))
    return change, largest


@inlined
def empty_slot(n_atoms: Any) -> int:
    """First slot without values."""
    slot = 0
    while n_atoms[slot] > 0:
        slot += 1
    return slot


@inlined
def move_sizes(n_atoms: Any, n_rows: Any, n_values: Any, own: Any, to: Any, v_rows: Any, v_values: Any) -> None:
    """Move the sizes of one value from group `own` to group `to`."""
    n_atoms[own] -= 1
    n_atoms[to] += 1
    n_rows[own] -= v_rows
    n_rows[to] += v_rows
    n_values[own] -= v_values
    n_values[to] += v_values


@inlined
def move_counts(
    counts: Any, rows: Any, frozen: Any, more: Any, more_rows: Any, begin: Any, end: Any, own: Any, to: Any
) -> None:
    """Move the counts of the entries `begin` to `end` from group `own` to group `to`."""
    for e in range(begin, end):
        f = frozen[e]
        rows[own, f] -= more_rows[e]
        rows[to, f] += more_rows[e]
        for c in range(more.shape[1]):
            counts[own, f, c] -= more[e, c]
            counts[to, f, c] += more[e, c]
