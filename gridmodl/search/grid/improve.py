"""Improve one variable after the other, all others frozen, until none of them makes the grid cheaper.

    numerical     the sweep of `postoptimize`: split, merge, shift a bound, merge two bounds into another
    categorical   cut a group in two along the residual class share (`residuals`), then transfer values (`transfers`)

All of it in one kernel: no Python runs between two variables. A variable that is not informative may become so. As
pre-optimization bounds only move, and values only change groups: a first random grid must not lose its variables before
the others have found their place (two variables of an XOR each look useless beside the unfit other).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.column import improve, transfers
from gridmodl.search.column.improve import LEAST_SAVING, Sweep, sweep
from gridmodl.search.column.transfers import Transfers, transfer_steps
from gridmodl.search.grid.cells import (
    COST,
    FIXED,
    MAX_VISITS,
    N_ALL_CELLS,
    N_INFORMATIVE,
    N_QUIET,
    N_VISITS,
    SHIFTS_ONLY,
    State,
    cut_cells,
    fill_entries,
    find_frozen,
)
from gridmodl.search.grid.groups import cut_groups, name_groups, order_values, start_transfers
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import MORE_GROUPS, GridTask, GroupBuffers, Worker, variable_price
from gridmodl.search.moves import Buffers, Frozen, Limits, Setting
from gridmodl.terms import Variable

FOREVER = 2**62
ROUGH_PASSES = 2  # of transfers, in a pre-optimization

SWEEP_PARTS, SWEEP_SHIFTS = improve.N_PARTS, improve.ONLY_SHIFTS
SWEEP_COST, MOVES_COST = improve.COST, transfers.COST
MOVES_PASSES = transfers.MAX_PASSES


def post_optimize(task: GridTask, grid: Grid, worker: Worker | None = None, order: Any = None) -> Grid:
    """The grid that local moves of all variables in turn lead to, informative or not; `order` is of their visits."""
    worker = Worker(task) if worker is None else worker
    worker.load(grid)
    improve_state(worker, np.arange(task.n_variables) if order is None else order)
    found = worker.grid()
    return found if found.cost < grid.cost else grid


def improve_state(worker: Worker, visits: NDArray[np.int64], max_rounds: int = 100, shifts_only: bool = False) -> None:
    """Improve the grid in the state, visiting the variables `visits` in turn."""
    task, now = worker.task, worker.state.now
    if len(visits) == 0:
        return
    now[N_VISITS], now[N_QUIET], now[MAX_VISITS] = 0, 0, max_rounds * len(visits)
    now[SHIFTS_ONLY] = int(shifts_only)
    kernel = bind(improve_steps, task.criterion)
    buffers = (
        worker.atoms,
        worker.slot,
        worker.orders,
        worker.buffers,
        worker.sweep,
        worker.groups,
        worker.part_totals,
    )
    task.clock.repeat(
        lambda n_visits: bool(
            kernel(task.rows, task.facts, task.p, worker.state, *buffers, task.limits, visits, n_visits),
        ),
        None,
        size=max(1, 2**18 // task.rows.n_lines),
    )


def improve_steps(
    rows: Any,
    facts: Any,
    p: Any,
    state: State,
    atoms: Any,
    slot: Any,
    orders: Any,
    buffers: Buffers,
    sweeping: Sweep,
    groups: GroupBuffers,
    part_totals: Any,
    limits: Limits,
    visits: Any,
    n_visits: int,
) -> bool:
    """Visit so many variables; True when a whole round has saved nothing.

    Calls are kept flat: each level of helpers is optimized again with all it calls, a second of compile time or more.
    """
    part, n_parts, prices, cell_of_row, _, _, _, _, frozen_of_cell, now, sums = state
    categorical, n_values, constant = facts.categorical, facts.n_values, facts.constant
    by_parts, by_parts_at = facts.by_parts, facts.by_parts_at
    _, _, atom_at, _, atom_rows, _, _, atom_values = rows
    end, before, scanned, whole, cut_price, cut, sweep_now, sweep_sums = sweeping
    group, alone, floor, seen, all_counts, all_rows, all_prices, ends, group_rows, group_values = groups[:10]
    group_price, changed, union, moves_now, moves_sums = groups[10:15]
    for _ in range(n_visits):
        if now[N_QUIET] >= len(visits) or now[N_VISITS] >= now[MAX_VISITS]:
            return True
        k = visits[now[N_VISITS] % len(visits)]
        now[N_VISITS] += 1
        now[N_QUIET] += 1
        lo, n = atom_at[k], atom_at[k + 1] - atom_at[k]
        if n == 1 or limits.max_parts == 1 or (now[SHIFTS_ONLY] == 1 and n_parts[k] == 1):
            continue
        n_frozen = find_frozen(rows, state, k)
        if n_frozen > len(buffers.left_rows):
            continue
        table = by_parts[by_parts_at[k] : by_parts_at[k + 1]]
        known = Variable(categorical[k], False, n_values[k], constant[k], table)
        n_informative, n_cells = now[N_INFORMATIVE], sums[N_ALL_CELLS]
        if n_parts[k] > 1:
            n_informative, n_cells = n_informative - 1, n_cells / float(n_parts[k])
        others = sums[FIXED] - prices[k]
        setting = Setting(p, known, Frozen(len(n_parts), n_informative, n_cells, 0, others, 0, sums[:0]))
        if categorical[k]:
            order_values(rows, state, atoms, slot, orders, groups, buffers, k, n_frozen)
            n_groups, cost, shifts_only = n_parts[k], np.inf, now[SHIFTS_ONLY] == 1
            if not shifts_only:
                n_groups, cost = cut_groups(atoms, setting, limits, buffers, ends, n_groups, group)
            n_slots = min(n_groups + MORE_GROUPS, n) + 1
            if n_groups > 1 and n_slots * n_frozen <= len(all_rows):
                size, n_classes = n_slots * n_frozen, len(union)
                start_transfers(atoms, groups, n, n_groups, n_slots, n_frozen)
                moves_now[MOVES_PASSES] = ROUGH_PASSES if shifts_only else FOREVER
                moves = Transfers(
                    group[:n],
                    alone,
                    floor,
                    seen,
                    all_counts[: size * n_classes].reshape((n_slots, n_frozen, n_classes)),
                    all_rows[:size].reshape((n_slots, n_frozen)),
                    all_prices[:size].reshape((n_slots, n_frozen)),
                    ends[:n_slots],
                    group_rows,
                    group_values,
                    group_price,
                    changed,
                    union,
                    moves_now,
                    moves_sums,
                )
                most = n_groups if shifts_only else limits.max_parts
                transfer_steps(moves, atoms, setting, Limits(most, limits.min_rows), FOREVER)
                cost = min(cost, moves_sums[MOVES_COST])
            name_groups(groups, orders, n, n_slots)
        else:
            fill_entries(rows, cell_of_row, frozen_of_cell, atoms, slot, k, n_frozen, orders[0])
            for i in range(5):
                sweep_now[i] = 0
            sweep_now[SWEEP_SHIFTS] = now[SHIFTS_ONLY]
            sweep_sums[0] = sweep_sums[1] = 0.0
            begin, last = 0, -1
            for a in range(n):
                end[a] = scanned[0, a] = scanned[1, a] = scanned[2, a] = 0
                if a == n - 1 or part[lo + a + 1] != part[lo + a]:
                    end[begin], before[begin] = a + 1, last
                    begin, last = a + 1, begin
                    sweep_now[SWEEP_PARTS] += 1
            intervals = Sweep(end[:n], before, scanned, whole, cut_price, cut, sweep_now, sweep_sums)
            sweep(intervals, atoms, setting, limits, buffers, FOREVER)
            cost = sweep_sums[SWEEP_COST]
        if cost < sums[COST] - LEAST_SAVING * (1.0 + abs(sums[COST])):
            number = -1
            for a in range(n):
                if categorical[k]:
                    part[lo + a] = group[a]
                    number = max(number, group[a])
                else:
                    number += 1 if end[a] > 0 else 0
                    part[lo + a] = number
            n_parts[k] = number + 1
            sums[FIXED] -= prices[k]
            prices[k] = variable_price(p, known, 0, n_parts[k], part, lo, n, atom_rows, atom_values, part_totals)
            sums[FIXED] += prices[k]
            sums[COST] = cost
            cut_cells(rows, state, k, n_frozen)
            now[N_QUIET] = 1
    return False


# Light pre-optimization: the bounds and values of a random grid find their place before any part is merged.
#
# A random grid is likely to be blind to a pattern, and merges of its parts would only destroy what there is (M. Boullé,
# "Data grid models for preparation and modeling in supervised learning", 2011, section 6.2.2). So for at most a few
# rounds bounds only shift and values only change groups, in informative variables alone.

MAX_ROUNDS = 4


def pre_optimize(task: GridTask, grid: Grid, worker: Worker | None = None) -> Grid:
    """The grid that shifts of bounds and transfers of values lead to in a few rounds."""
    worker = Worker(task) if worker is None else worker
    cost = worker.load(grid)
    pre_optimize_state(worker)
    found = worker.grid()
    return found if found.cost < cost else grid._replace(cost=cost)


def pre_optimize_state(worker: Worker) -> None:
    improve_state(worker, np.flatnonzero(worker.state.n_parts > 1), MAX_ROUNDS, shifts_only=True)
