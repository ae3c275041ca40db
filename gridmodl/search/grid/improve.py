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


class VisitBuffers(NamedTuple):
    """Buffers for the local moves of one variable, the others frozen."""

    atoms: Any  # atoms of the variable, in the order of the moves
    slot: Any  # last entry of each frozen cell
    orders: Any  # orders of the atoms: by index, and by group
    buffers: Buffers
    sweep: Sweep
    groups: GroupBuffers
    part_totals: Any  # rows and values of each part


def improve_state(worker: Worker, visits: NDArray[np.int64], max_rounds: int = 100, shifts_only: bool = False) -> None:
    """Improve the grid in the state by visits of the variables `visits` in turn, in at most `max_rounds` rounds."""
    task, now = worker.task, worker.state.now[0]
    if len(visits) == 0:
        return
    now.n_visits, now.n_quiet, now.max_visits, now.shifts_only = 0, 0, max_rounds * len(visits), shifts_only
    kernel = bind(improve_steps, task.criterion)
    buffers = VisitBuffers(
        worker.atoms, worker.slot, worker.orders, worker.buffers, worker.sweep, worker.groups, worker.part_totals
    )
    task.clock.repeat(
        lambda n_visits: bool(
            kernel(task.rows, task.facts, task.p, worker.state, buffers, task.limits, visits, n_visits),
        ),
        None,
        size=max(1, 2**18 // task.rows.n_lines),
    )


def improve_steps(
    rows: Any, facts: Any, p: Any, state: State, visit: VisitBuffers, limits: GridLimits, visits: Any, n_visits: int
) -> bool:
    """Visit `n_visits` variables; return True when a whole round has saved nothing, or all rounds are over.

    There are few levels of helpers: each level is compiled again with all it calls, for a second or more.
    """
    part, n_parts, prices, now = state.part, state.n_parts, state.prices, state.now[0]
    categorical, n_values, constant = facts.categorical, facts.n_values, facts.constant
    by_parts, by_parts_at = facts.by_parts, facts.by_parts_at
    atom_at, atom_rows, atom_values = rows.atom_at, rows.atom_rows, rows.atom_values
    atoms, slot, orders, buffers = visit.atoms, visit.slot, visit.orders, visit.buffers
    intervals, groups, part_totals = visit.sweep, visit.groups, visit.part_totals
    group, end, max_parts, min_rows = groups.flat.group, intervals.end, limits.max_parts, limits.min_rows
    for _ in range(n_visits):
        if now.n_quiet >= len(visits) or now.n_visits >= now.max_visits:
            return True
        k = visits[now.n_visits % len(visits)]
        now.n_visits += 1
        now.n_quiet += 1
        lo, n = atom_at[k], atom_at[k + 1] - atom_at[k]
        if n == 1 or max_parts[k] == 1 or (now.shifts_only and n_parts[k] == 1):
            continue
        n_frozen = find_frozen(rows, state, k)
        if n_frozen > len(buffers.left_rows):
            continue
        table = by_parts[by_parts_at[k] : by_parts_at[k + 1]]
        known = Variable(categorical[k], False, n_values[k], constant[k], table)
        n_informative, n_cells = now.n_informative, now.n_all_cells
        if n_parts[k] > 1:
            n_informative, n_cells = n_informative - 1, n_cells / float(n_parts[k])
        others, of_parts = now.fixed - prices[k], Limits(max_parts[k], min_rows[k])
        setting = Setting(p, known, Frozen(len(n_parts), n_informative, n_cells, 0, others, 0, prices[:0]))
        if categorical[k]:
            cost = move_values(rows, state, atoms, slot, orders, groups, buffers, setting, of_parts, k, n_frozen)
        else:
            cost = move_bounds(rows, state, atoms, slot, orders, intervals, buffers, setting, of_parts, k, n_frozen)
        if is_cheaper(cost, now.cost):
            n_parts[k] = take_parts(part, lo, n, categorical[k], group, end)
            fixed = now.fixed - prices[k]
            prices[k] = variable_price(p, known, 0, n_parts[k], part, lo, n, atom_rows, atom_values, part_totals)
            now.fixed, now.cost, now.n_quiet = fixed + prices[k], cost, 1
            cut_cells(rows, state, k, n_frozen)
    return False


def move_values(
    rows: Any, state: State, atoms: Any, slot: Any, orders: Any, groups: GroupBuffers, buffers: Buffers,
    setting: Setting, limits: Limits, k: Any, n_frozen: Any,
) -> float:  # fmt: skip
    """Cut a group of categorical variable k in two if that pays, then transfer values; return the lowest cost.

    The groups are written to `groups.flat.group`.
    """
    flat, n_parts, shifts_only = groups.flat, state.n_parts, state.now[0].shifts_only
    group, ends, union, now = flat.group, flat.n_atoms, flat.union, flat.now
    counts, cell_rows, cell_prices = flat.counts, flat.rows, flat.cell_prices
    order_values(rows, state, atoms, slot, orders, groups, buffers, k, n_frozen)
    n, n_groups, cost = rows.atom_at[k + 1] - rows.atom_at[k], n_parts[k], np.inf
    if not shifts_only:
        n_groups, cost = cut_groups(atoms, setting, limits, buffers, ends, n_groups, group)
    n_slots = min(n_groups + MORE_GROUPS, n) + 1
    if n_groups > 1 and n_slots * n_frozen <= len(cell_rows):
        size, n_classes = n_slots * n_frozen, len(union)
        start_transfers(atoms, flat, n, n_slots, n_frozen)
        begin_transfers(now[0], n_groups, ROUGH_PASSES if shifts_only else FOREVER)
        moves = Transfers(
            group=group[:n],
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
        most = n_groups if shifts_only else limits.max_parts
        transfer_steps(moves, atoms, setting, Limits(most, limits.min_rows), FOREVER)
        cost = min(cost, now[0].cost)
    name_groups(flat, orders, n, n_slots)
    return cost


def move_bounds(
    rows: Any, state: State, atoms: Any, slot: Any, orders: Any, intervals: Sweep, buffers: Buffers,
    setting: Setting, limits: Limits, k: Any, n_frozen: Any,
) -> float:  # fmt: skip
    """Sweep over the intervals of numerical variable k; return the cost. The intervals are in `intervals.end`."""
    fill_entries(rows, state.cell_of_row, state.frozen_of_cell, atoms, slot, k, n_frozen, orders[0])
    end, before, scanned, now = intervals.end, intervals.before, intervals.scanned, intervals.now
    part, lo, n = state.part, rows.atom_at[k], rows.atom_at[k + 1] - rows.atom_at[k]
    begin_sweep(now[0], state.now[0].shifts_only)
    begin, last, n_intervals = 0, -1, 0
    for a in range(n):
        end[a] = scanned[0, a] = scanned[1, a] = scanned[2, a] = 0
        if a == n - 1 or part[lo + a + 1] != part[lo + a]:
            end[begin], before[begin] = a + 1, last
            begin, last, n_intervals = a + 1, begin, n_intervals + 1
    now[0].n_parts = n_intervals
    short = Sweep(
        end=end[:n],
        before=before,
        scanned=scanned,
        whole=intervals.whole,
        cut_price=intervals.cut_price,
        cut=intervals.cut,
        now=now,
    )
    sweep(short, atoms, setting, limits, buffers, FOREVER)
    return now[0].cost


@inlined
def take_parts(part: Any, lo: Any, n: Any, is_group: Any, group: Any, end: Any) -> int:
    """Write the groups, or the intervals that begin where `end` > 0, to the parts of a variable; return n_parts."""
    number = -1
    for a in range(n):
        if is_group:
            part[lo + a] = group[a]
            number = max(number, group[a])
        else:
            number += 1 if end[a] > 0 else 0
            part[lo + a] = number
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
