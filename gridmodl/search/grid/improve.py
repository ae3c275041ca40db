"""Improve one variable after the other by local moves, all others frozen, until none makes the grid cheaper.

    numerical     the sweep of `gridmodl.search.column.improve`: split, merge, merge-split, merge-merge-split
    categorical   cut a group in two along the lean of its values (`groups`), then transfer values
                  (`gridmodl.search.column.transfers`)

One kernel visits all variables: no Python runs between two of them. A variable of one part may get more. In a
pre-optimization, bounds only shift and values only change groups: a random grid must not lose variables before the
others have found their place (each of the two variables of an XOR looks useless while the other has random parts).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms
from gridmodl.jit.template import bind, inlined
from gridmodl.search.column.improve import Sweep, begin_sweep, sweep
from gridmodl.search.column.transfers import Transfers, begin_transfers, transfer_steps
from gridmodl.search.grid.cells import State, cut_cells, fill_entries, find_frozen
from gridmodl.search.grid.groups import cut_groups, name_groups, order_values, start_transfers
from gridmodl.search.grid.state import MORE_GROUPS, GroupBuffers, Worker, variable_price
from gridmodl.search.moves import Buffers, Frozen, GridLimits, Limits, Setting, is_cheaper
from gridmodl.terms import Variable

FOREVER = 2**62
ROUGH_PASSES = 2  # passes of transfers in a pre-optimization
# Missing values that may be a part of their own: leave them where they are, join them to others, set them apart.
AS_IS, JOINED, APART = range(3)
LEAVE, PRICE, MOVE = range(3)  # jobs of a visit of a numerical variable


class VisitBuffers(NamedTuple):
    """Buffers for the local moves of one variable, the others frozen."""

    atoms: Any  # atoms of the variable, in the order of the moves
    slot: Any  # last entry of each frozen cell
    orders: Any  # orders of the atoms: by index, and by group
    buffers: Buffers
    sweep: Sweep
    groups: GroupBuffers
    part_totals: Any  # rows and values of each part
    visited: Any  # parts of the variable before the visit, the cheapest found, and names of groups


class KeptParts(NamedTuple):
    """What the moves of one variable must keep."""

    begins: Any  # flat: whether a part begins at the atom, for a numerical variable
    n_apart: Any  # number of atoms, each a part of its own: the first if numerical, the last if categorical
    may_leave: Any  # whether the variable may have one part although it keeps more


def improve_state(worker: Worker, visits: NDArray[np.int64], max_rounds: int = 100, shifts_only: bool = False) -> None:
    """Improve the grid in the state by visits of the variables `visits` in turn, in at most `max_rounds` rounds."""
    task, now = worker.task, worker.state.now[0]
    if len(visits) == 0:
        return
    now.n_visits, now.n_quiet, now.max_visits, now.shifts_only = 0, 0, max_rounds * len(visits), shifts_only
    kernel = bind(improve_steps, task.criterion)
    buffers = VisitBuffers(
        worker.atoms,
        worker.slot,
        worker.orders,
        worker.buffers,
        worker.sweep,
        worker.groups,
        worker.part_totals,
        worker.visited,
    )
    task.clock.repeat(
        lambda n_visits: bool(
            kernel(task.rows, task.facts, task.p, worker.state, buffers, task.limits, task.holds, visits, n_visits),
        ),
        None,
        size=max(1, 2**18 // task.rows.n_lines),
    )


def improve_steps(
    rows: Any, facts: Any, p: Any, state: State, visit: VisitBuffers, limits: GridLimits, holds: Any, visits: Any,
    n_visits: int,
) -> bool:  # fmt: skip
    """Visit `n_visits` variables; return True when a whole round has saved nothing, or all rounds are over.

    There are few levels of helpers: each level is compiled again with all it calls, for a second or more.
    """
    part, n_parts, prices, now = state.part, state.n_parts, state.prices, state.now[0]
    categorical, n_values, constant = facts.categorical, facts.n_values, facts.constant
    by_parts, by_parts_at = facts.by_parts, facts.by_parts_at
    atom_at, atom_rows, atom_values = rows.atom_at, rows.atom_rows, rows.atom_values
    atoms, slot, orders, buffers = visit.atoms, visit.slot, visit.orders, visit.buffers
    intervals, groups, part_totals, visited = visit.sweep, visit.groups, visit.part_totals, visit.visited
    group, end, max_parts, min_rows = groups.flat.group, intervals.end, limits.max_parts, limits.min_rows
    begins, least, required, loose = holds.begins, holds.least, holds.required, holds.loose
    for _ in range(n_visits):
        if now.n_quiet >= len(visits) or now.n_visits >= now.max_visits:
            return True
        k = visits[now.n_visits % len(visits)]
        now.n_visits += 1
        now.n_quiet += 1
        lo, n, n_before = atom_at[k], atom_at[k + 1] - atom_at[k], n_parts[k]
        if n == 1 or max_parts[k] == 1 or (now.shifts_only and n_before == 1):
            continue
        n_frozen = find_frozen(rows, state, k)
        if n_frozen > len(buffers.left_rows):
            continue
        table = by_parts[by_parts_at[k] : by_parts_at[k + 1]]
        known = Variable(categorical[k], False, n_values[k], constant[k], table)
        n_informative, n_cells = now.n_informative, now.n_all_cells
        if n_before > 1:
            n_informative, n_cells = n_informative - 1, n_cells / float(n_before)
        others, of_parts = now.fixed - prices[k], Limits(max_parts[k], min_rows[k])
        setting = Setting(p, known, Frozen(len(n_parts), n_informative, n_cells, 0, others, 0, prices[:0]))
        may_leave = least[k] > 1 and n_before > 1 and not (required[k] or now.shifts_only)
        lowest, n_found = now.cost, 0
        for a in range(n):
            visited[0, a] = part[lo + a]
        both_ways = loose[k] >= 0 and not now.shifts_only
        for way in range(JOINED if both_ways else AS_IS, APART + 1 if both_ways else AS_IS + 1):
            if categorical[k]:
                n_apart = start_groups(part, visited[0], begins, atom_rows, lo, n, of_parts, visited[2], loose[k], way)
            else:
                n_apart = start_intervals(part, visited[0], begins, atom_rows, lo, n, of_parts, loose[k] >= 0, way)
            if n_apart < 0:
                continue
            n_parts[k] = count_parts(part, lo, n)
            kept = KeptParts(begins, n_apart, may_leave)
            if categorical[k]:
                cost = move_values(
                    rows, state, atoms, slot, orders, groups, buffers, setting, of_parts, kept, k, n_frozen
                )
            else:
                cost = move_bounds(
                    rows, state, atoms, slot, orders, intervals, buffers, setting, of_parts, kept, k, n_frozen
                )
            if is_cheaper(cost, lowest):
                lowest, n_found = cost, take_parts(visited[1], n, categorical[k], group, end)
        n_parts[k] = n_found if n_found > 0 else n_before
        for a in range(n):
            part[lo + a] = visited[1 if n_found > 0 else 0, a]
        if n_found > 0:
            fixed = now.fixed - prices[k]
            prices[k] = variable_price(p, known, 0, n_found, part, lo, n, atom_rows, atom_values, part_totals)
            now.fixed, now.cost, now.n_quiet = fixed + prices[k], lowest, 1
            cut_cells(rows, state, k, n_frozen)
    return False


@inlined
def start_intervals(
    part: Any, before: Any, begins: Any, atom_rows: Any, lo: Any, n: Any, limits: Limits, has_loose: bool, way: Any
) -> int:
    """Write the intervals that a visit starts from, given those `before` it; return 1 if missing values are apart.

    A variable of one part starts from the parts that it keeps. If `has_loose`, missing values share a part with others
    (JOINED), or are a part of their own (APART): -1 if that cannot be.
    """
    number, is_new = 0, before[n - 1] == before[0]
    for a in range(n):
        number += 1 if is_new and begins[lo + a] else 0
        part[lo + a] = number if is_new else before[a]
    if not has_loose or way == AS_IS:
        return 0
    end, n_rest = 1, np.int64(0)
    while end < n and part[lo + end] == 0:
        n_rest += atom_rows[lo + end]
        end += 1
    shift = -1 if way == JOINED and end == 1 else 0
    if way == APART and end > 1:
        if n_rest >= limits.min_rows and part[lo + n - 1] + 1 < limits.max_parts:
            shift = 1
        elif end == n or begins[lo + end]:
            return -1
        else:  # what the missing values leave behind joins the next interval
            for a in range(1, end):
                part[lo + a] = 1
    for a in range(1, n):
        part[lo + a] += shift
    return 1 if way == APART else 0


@inlined
def start_groups(
    part: Any,
    before: Any,
    begins: Any,
    atom_rows: Any,
    lo: Any,
    n: Any,
    limits: Limits,
    names: Any,
    loose: Any,
    way: Any,
) -> int:
    """As `start_intervals`, for groups; return the number of the last values that are apart. `names` is a buffer.

    Groups are numbered in the order of their first values, those apart last.
    """
    n_held, n_groups = 0, 0
    for a in range(n):
        n_held += 1 if begins[lo + a] else 0
        names[a] = -1
    n_free = n - n_held - (1 if loose >= 0 else 0)
    own = before[loose] if loose >= 0 else before[0]
    other, n_rest, n_now = np.int64(-1), np.int64(0), 1 + n_held
    for a in range(n_free):
        if before[a] == own:
            n_rest += atom_rows[lo + a]
        elif other < 0:
            other = np.int64(before[a])
    for a in range(n):
        n_now = max(n_now, before[a] + 1)
    is_apart = loose >= 0 and (way == APART or (way == AS_IS and n_rest == 0))
    moves_rest = is_apart and n_rest > 0 and (n_rest < limits.min_rows or n_now >= limits.max_parts)
    if moves_rest and other < 0:
        return -1
    for a in range(n_free):
        label = other if moves_rest and before[a] == own else np.int64(before[a])
        if names[label] < 0:
            names[label] = n_groups
            n_groups += 1
        part[lo + a] = names[label]
    if loose >= 0:
        part[lo + loose] = n_groups if is_apart else max(names[own], 0)
        n_groups += 1 if is_apart else 0
    for a in range(n - n_held, n):
        part[lo + a] = n_groups + a - (n - n_held)
    return n_held + (1 if is_apart else 0)


@inlined
def count_parts(part: Any, lo: Any, n: Any) -> int:
    """Number of parts of a variable."""
    most = 0
    for a in range(lo, lo + n):
        most = max(most, part[a])
    return most + 1


def move_values(
    rows: Any, state: State, atoms: Any, slot: Any, orders: Any, groups: GroupBuffers, buffers: Buffers,
    setting: Setting, limits: Limits, kept: KeptParts, k: Any, n_frozen: Any,
) -> float:  # fmt: skip
    """Cut a group of categorical variable k in two if that pays, then transfer values; return the lowest cost.

    The groups are written to `groups.flat.group`. The last `kept.n_apart` values are groups that stay as they are.
    """
    flat, n_parts, shifts_only = groups.flat, state.n_parts, state.now[0].shifts_only
    group, ends, union, now = flat.group, flat.n_atoms, flat.union, flat.now
    counts, cell_rows, cell_prices, n_apart = flat.counts, flat.rows, flat.cell_prices, kept.n_apart
    order_values(rows, state, atoms, slot, orders, groups, buffers, k, n_frozen)
    n, n_groups, cost = rows.atom_at[k + 1] - rows.atom_at[k], n_parts[k] - n_apart, np.inf
    whole, price_apart = np.inf, 0.0
    if n_apart > 0 or not shifts_only:
        most = n_parts[k] if shifts_only else limits.max_parts
        n_groups, cost, whole, price_apart = cut_groups(
            atoms, setting, Limits(most, limits.min_rows), buffers, ends, n_groups, n_apart, group, kept.may_leave
        )
    n_free = n - n_apart
    n_slots = min(n_groups + MORE_GROUPS, n_free) + 1
    if n_groups > 1 and n_slots * n_frozen <= len(cell_rows):
        size, n_classes = n_slots * n_frozen, len(union)
        start_transfers(atoms, flat, n_free, n_slots, n_frozen)
        begin_transfers(now[0], n_groups, ROUGH_PASSES if shifts_only else FOREVER)
        moves = Transfers(
            group=group[:n_free],
            alone=flat.alone,
            floor=flat.floor,
            seen=flat.seen,
            counts=counts[: size * n_classes].reshape((n_slots, n_frozen, n_classes)),
            rows=cell_rows[:size].reshape((n_slots, n_frozen)),
            cell_prices=cell_prices[:size].reshape((n_slots, n_frozen)),
            n_atoms=ends[:n_slots],
            n_rows=flat.n_rows,
            n_values=flat.n_values,
            part_price=flat.part_price,
            changed=flat.changed,
            union=union,
            now=now,
        )
        most = n_groups if shifts_only else limits.max_parts - n_apart
        beside = set_apart(setting, price_apart, n_apart)
        transfer_steps(moves, atoms, beside, Limits(most, limits.min_rows), FOREVER)
        cost = min(cost, now[0].cost)
    if whole <= cost:
        for i in range(n):
            group[i] = 0
        return whole
    for i in range(n_free, n):
        group[i] = n_slots + i - n_free
    name_groups(flat, orders, n, n_slots + n_apart)
    return cost


@inlined
def set_apart(setting: Setting, price: float, n_apart: Any) -> Setting:
    """Setting with `n_apart` parts of this price set apart."""
    p, known, frozen = setting
    n_variables, n_informative, n_cells, n_target_parts, others, _, by_target = frozen
    return Setting(
        p, known, Frozen(n_variables, n_informative, n_cells, n_target_parts, others + price, n_apart, by_target)
    )


def move_bounds(
    rows: Any, state: State, atoms: Any, slot: Any, orders: Any, intervals: Sweep, buffers: Buffers,
    setting: Setting, limits: Limits, kept: KeptParts, k: Any, n_frozen: Any,
) -> float:  # fmt: skip
    """Sweep over the intervals of numerical variable k; return the cost. The intervals are in `intervals.end`.

    Bounds that are kept cut the variable into segments. With several, all are priced first, then each is swept while
    the parts of the others are apart. `LEAVE` prices all atoms as one part.
    """
    fill_entries(rows, state.cell_of_row, state.frozen_of_cell, atoms, slot, k, n_frozen, orders[0])
    end, before, scanned, now = intervals.end, intervals.before, intervals.scanned, intervals.now
    part, lo, n, n_parts = state.part, rows.atom_at[k], rows.atom_at[k + 1] - rows.atom_at[k], state.n_parts[k]
    begins, n_apart, shifts_only = kept.begins, kept.n_apart, state.now[0].shifts_only
    is_one = n_apart == 0
    for a in range(1, n):
        is_one = is_one and not begins[lo + a]
    whole, cost, price = np.inf, np.inf, 0.0
    for job in range(MOVE if is_one else (LEAVE if kept.may_leave else PRICE), MOVE + 1):
        begin = 0
        while begin < n:
            stop = begin + 1
            while stop < n and (job == LEAVE or not (begins[lo + stop] or stop == n_apart)):
                stop += 1
            n_intervals = link_intervals(part, end, before, scanned, lo, begin, stop, job == LEAVE)
            begin_sweep(now[0], shifts_only or job == LEAVE)
            now[0].n_parts = n_intervals
            short = Sweep(
                end=end[begin:stop],
                before=before,
                scanned=scanned,
                whole=intervals.whole,
                cut_price=intervals.cut_price,
                cut=intervals.cut,
                now=now,
            )
            of_segment = Atoms(
                atoms.first[begin : stop + 1], atoms.frozen, atoms.counts, atoms.rows, atoms.values[begin:stop]
            )
            own, n_others = 0.0, 0
            # The first visits of a sweep, one for each part, only add up their prices.
            for is_moving in range(1 if is_one or job == LEAVE else 0, 2 if job != PRICE else 1):
                if is_moving == 1 and not is_one and job == MOVE:
                    own, n_others = now[0].price, n_parts - n_intervals
                sweep(
                    short, of_segment, set_apart(setting, price - own if n_others > 0 else 0.0, n_others),
                    Limits(limits.max_parts - n_others, limits.min_rows), buffers,
                    FOREVER if is_moving == 1 else n_intervals,
                )  # fmt: skip
            if job == LEAVE:
                whole = now[0].cost
            else:
                cost, price, n_parts = now[0].cost, price + now[0].price - own, n_parts + now[0].n_parts - n_intervals
            begin = stop
    if whole <= cost:
        for a in range(1, n):
            end[a] = 0
        return whole
    return cost


@inlined
def link_intervals(
    part: Any, end: Any, before: Any, scanned: Any, lo: Any, begin: Any, stop: Any, is_whole: bool
) -> int:
    """Link the intervals of the atoms `begin` to `stop`, one if `is_whole`, for a sweep; return their number.

    Numbers of atoms, but in `part`, count from `begin`.
    """
    start, last, n_intervals = 0, -1, 0
    for a in range(stop - begin):
        end[begin + a] = scanned[0, a] = scanned[1, a] = scanned[2, a] = 0
        if begin + a == stop - 1 or (part[lo + begin + a + 1] != part[lo + begin + a] and not is_whole):
            end[begin + start], before[start] = a + 1, last
            start, last, n_intervals = a + 1, start, n_intervals + 1
    return n_intervals


@inlined
def take_parts(found: Any, n: Any, is_group: Any, group: Any, end: Any) -> int:
    """Write the groups, or the intervals that begin where `end` > 0, to `found`; return their number."""
    number = -1
    for a in range(n):
        if is_group:
            found[a] = group[a]
            number = max(number, group[a])
        else:
            number += 1 if end[a] > 0 else 0
            found[a] = number
    return number + 1


# Light pre-optimization of a random grid, before any of its parts merge.
#
# The parts of a random grid rarely show a pattern, and merges of them would destroy what there is (M. Boullé, "Data
# grid models for preparation and modeling in supervised learning", 2011, section 6.2.2). So for at most MAX_ROUNDS
# rounds, bounds only shift and values only change groups, in the informative variables alone.

MAX_ROUNDS = 4


def pre_optimize_state(worker: Worker) -> None:
    """Improve the grid in the state by shifts of bounds and transfers of values, in at most MAX_ROUNDS rounds."""
    improve_state(worker, np.flatnonzero(worker.state.n_parts > 1), MAX_ROUNDS, shifts_only=True)
