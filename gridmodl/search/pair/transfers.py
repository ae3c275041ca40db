"""Transfer single values between the groups of one of two variables, in passes over all values.

A value with c rows in part t of the other variable that joins a group changes the price of their cell, of x rows, by
cell(x+c) - cell(x). For small c these differences are tabulated in single precision, by t and then by group, so that a
value is priced with all groups by adding rows of the table; the cheapest group is priced again in double precision
before the value moves. Part terms are kept for the next value if it has as many rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gridmodl.jit.template import bind, inlined
from gridmodl.search.moves import GridLimits, Limits, Setting, is_cheaper, make_record, part_price, total_cost
from gridmodl.search.pair.state import Pair, PairSide, price_at
from gridmodl.terms import Variable

N_STEPS = 4  # largest c whose differences are tabulated
MORE_GROUPS = 8  # new groups that passes may make, and a quarter of the number of groups more


class Passing(NamedTuple):
    """State of the passes between two calls of the kernel; slots hold groups, and some slots are empty."""

    order: Any  # order of the visits
    # by part of the other variable and slot
    cells: Any  # rows
    prices: Any
    steps: Any  # changes of the price by c = 1, 2, ... more rows
    # by slot
    n_atoms: Any
    n_rows: Any
    n_values: Any
    part_price: Any
    joins: Any  # change of the part price if the visited value joins
    near: Any  # change of the prices of the cells where the visited value has few rows
    far: Any  # change of the part price, and of the prices of the cells where the visited value has many rows
    # by part of the other variable
    profile: Any  # rows of the visited value; zero between visits
    touched: Any  # parts where the visited value has rows
    now: Any  # see `transfer`


def transfer(pair: Pair, k: int, limits: GridLimits, max_passes: int, opens: bool = True) -> None:
    """Pass over the values of categorical variable k at most `max_passes` times, or until none moves.

    If `opens`, a value may make a new group; a group ends when its last value leaves.
    """
    n_groups, n_across, own = pair.n_parts[k], pair.n_parts[1 - k], limits.of(k)
    most = min(own.max_parts, pair.most_parts(k), n_groups + (MORE_GROUPS + n_groups // 4 if opens else 0))
    n_slots = max(most, n_groups)
    cells, part_totals, setting = pair.lay(k, n_slots)
    side, across = pair.sides[k], pair.sides[1 - k]
    n_atoms = np.zeros(n_slots, dtype=np.int64)
    n_atoms[:n_groups] = np.bincount(side.part, minlength=n_groups)
    state = Passing(
        order=pair.orders[k],
        cells=cells,
        prices=np.empty(cells.shape),
        steps=np.empty((N_STEPS, *cells.shape), dtype=np.float32),
        n_atoms=n_atoms,
        n_rows=np.zeros(n_slots, dtype=np.int64),
        n_values=np.zeros(n_slots, dtype=np.int64),
        part_price=np.zeros(n_slots),
        joins=np.zeros(n_slots),
        near=np.zeros(n_slots, dtype=np.float32),
        far=np.zeros(n_slots),
        profile=np.zeros(n_across, dtype=np.int64),
        touched=np.zeros(n_across, dtype=np.int32),
        now=make_record(
            is_begun=False,  # whether cells and groups are priced
            at=0,  # index in `order` of the next value
            n_passes=0,
            max_passes=max_passes,
            has_moved=False,  # whether a value moved in this pass
            n_groups=n_groups,
            n_used=min(n_groups + 1, n_slots),  # slots that a value may join
            empty=n_groups if n_slots > n_groups else -1,  # first empty slot
            join_rows=-1,  # rows of the value that `joins` is for
            join_values=0,  # distinct values of the value that `joins` is for
            price=float(pair.laid[0].price),
            cost=pair.cost,
        ),
    )
    state.n_rows[:n_groups], state.n_values[:n_groups] = part_totals[0, :n_groups], part_totals[1, :n_groups]
    kernel = bind(transfer_visits, pair.task.criterion)
    pair.task.clock.repeat(
        lambda n_visits: bool(
            kernel(side, across.part, setting, own, pair.table, pair.one, state, n_visits),
        ),
        None,
        size=max(64, 2**22 // (n_slots * 16)),
    )
    pair.put(k, side.part)
    pair.laid[0].cost = state.now[0].cost


@inlined
def step_up(p: Any, table: Any, one: Any, cells: Any, prices: Any, steps: Any, t: Any, g: Any) -> None:
    """Price a cell, and the changes of its price by 1, 2, ... more rows."""
    n = cells[t, g]
    price = price_at(p, table, one, n)
    prices[t, g] = price
    if n + N_STEPS < len(table):
        for c in range(N_STEPS):
            steps[c, t, g] = table[n + c + 1] - price
    else:
        for c in range(N_STEPS):  # no cell has more than n_rows rows, and terms must not be called for such a cell
            steps[c, t, g] = price_at(p, table, one, min(n + c + 1, p.n_rows)) - price


@inlined
def join_part(p: Any, facts: Variable, n_target_parts: Any, rows: Any, values: Any) -> float:
    """Price of a group with a value added; rows and values are cut at their maximum, if the value is in it already."""
    return part_price(p, facts, n_target_parts, min(rows, p.n_rows), min(values, facts.n_values))


def begin_passes(p: Any, setting: Setting, table: Any, one: Any, state: Passing) -> None:
    """Price the cells and the groups."""
    facts, n_target_parts = setting.variable, setting.frozen.n_target_parts
    cells, prices, steps = state.cells, state.prices, state.steps
    for t in range(cells.shape[0]):
        for g in range(cells.shape[1]):
            step_up(p, table, one, cells, prices, steps, t, g)
    for g in range(state.now[0].n_groups):
        state.part_price[g] = part_price(p, facts, n_target_parts, state.n_rows[g], state.n_values[g])


def transfer_visits(
    side: PairSide,
    across_part: Any,
    setting: Setting,
    limits: Limits,
    table: Any,
    one: Any,
    state: Passing,
    n_visits: int,
) -> bool:
    """Visit `n_visits` values; return True when a whole pass has moved none, or after `max_passes` passes."""
    facts, group, order = side.facts, side.part, state.order
    first, other, rows, atom_rows, atom_values = side.first, side.other, side.rows, side.atom_rows, side.atom_values
    n_atoms, n_rows, n_values, part_prices = state.n_atoms, state.n_rows, state.n_values, state.part_price
    joins, profile, touched, now = state.joins, state.profile, state.touched, state.now[0]
    p, n_target_parts, min_rows, is_done = setting.p, setting.frozen.n_target_parts, limits.min_rows, False
    if not now.is_begun:
        begin_passes(p, setting, table, one, state)
        now.is_begun = True
    at, n_passes, max_passes, has_moved = now.at, now.n_passes, now.max_passes, now.has_moved
    n_groups, n_used, first_empty, total, cost = now.n_groups, now.n_used, now.empty, now.price, now.cost
    join_rows, join_values = now.join_rows, now.join_values
    for _ in range(n_visits):
        if at == len(order):
            n_passes += 1
            if not has_moved or n_passes >= max_passes:
                is_done = True
                break
            at, has_moved = 0, False
        v = order[at]
        at += 1
        own = np.int64(group[v])
        n, m = atom_rows[v], atom_values[v]
        is_last = n_atoms[own] == 1
        if (is_last and n_groups == 1) or (not is_last and n_rows[own] - n < min_rows):
            continue
        n_touched = fill_profile(first[v], first[v + 1], other, rows, across_part, profile, touched)
        if join_rows != n or join_values != m:
            join_rows, join_values = n, m
            for g in range(n_used):
                joins[g] = join_part(p, facts, n_target_parts, n_rows[g] + n, n_values[g] + m) - part_prices[g]
        best = cheapest_group(p, table, one, state, own, n_touched, n_used)
        empty = np.int64(-1)
        if not is_last and n >= min_rows and n_groups < limits.max_parts:
            empty = first_empty
        leave, join, alone = price_moves(
            p, facts, n_target_parts, table, one, state, own, best, empty, n_touched, n, m
        )  # fmt: skip
        scale = abs(total)
        to, best_cost, price, more = np.int64(-1), cost, 0.0, 0
        if best >= 0 and (is_last or leave + join < 0.0):
            new_price = total + leave + join
            new_cost = total_cost(setting, new_price, n_groups - (1 if is_last else 0))
            if is_cheaper(new_cost, best_cost, scale):
                to, best_cost, price, more = best, new_cost, new_price, -1 if is_last else 0
        if empty >= 0:
            new_price = total + leave + alone
            new_cost = total_cost(setting, new_price, n_groups + 1)
            if is_cheaper(new_cost, best_cost, scale):
                to, best_cost, price, more = empty, new_cost, new_price, 1
        if to >= 0:
            total, cost, has_moved, n_groups = price, best_cost, True, n_groups + more
            group[v] = to
            move_value(p, facts, n_target_parts, table, one, state, own, to, n_touched, n, m)
            if more != 0:
                first_empty = empty_after(n_atoms, first_empty, more, own)
            if first_empty >= n_used:
                n_used, join_rows = first_empty + 1, -1
        for i in range(n_touched):
            profile[touched[i]] = 0
    now.at, now.n_passes, now.has_moved, now.n_groups, now.n_used = at, n_passes, has_moved, n_groups, n_used
    now.empty, now.join_rows, now.join_values, now.price, now.cost = first_empty, join_rows, join_values, total, cost
    return is_done


@inlined
def fill_profile(begin: Any, end: Any, other: Any, rows: Any, across_part: Any, profile: Any, touched: Any) -> int:
    """Add up the rows of a value by part of the other variable, and list these parts; return their number."""
    n_touched = 0
    for e in range(begin, end):
        t = across_part[other[e]]
        if profile[t] == 0:
            touched[n_touched] = t
            n_touched += 1
        profile[t] += rows[e]
    return n_touched


@inlined
def cheapest_group(p: Any, table: Any, one: Any, state: Passing, own: Any, n_touched: Any, n_used: Any) -> Any:
    """Other group that the visited value joins at the lowest price, in single precision; -1 if there is none."""
    cells, prices, steps, n_atoms = state.cells, state.prices, state.steps, state.n_atoms
    joins, near, far, profile, touched = state.joins, state.near, state.far, state.profile, state.touched
    for g in range(n_used):
        near[g] = np.float32(0.0)
        far[g] = joins[g]
    for i in range(n_touched):
        t = np.int64(touched[i])
        c = profile[t]
        # Its own group has these rows already: without them, no sum exceeds the number of rows. The price of joining
        # that group is not used.
        cells[t, own] -= c
        if c <= N_STEPS:
            for g in range(n_used):
                near[g] += steps[c - 1, t, g]
        elif p.n_rows < len(table):
            for g in range(n_used):
                far[g] += table[cells[t, g] + c] - prices[t, g]
        else:
            for g in range(n_used):
                far[g] += price_at(p, table, one, cells[t, g] + c) - prices[t, g]
        cells[t, own] += c
    best: Any = np.int64(-1)
    lowest = np.inf
    for g in range(n_used):
        if far[g] + near[g] < lowest and n_atoms[g] > 0 and g != own:
            best, lowest = g, far[g] + near[g]
    return best


@inlined
def price_moves(
    p: Any, facts: Variable, n_target_parts: Any, table: Any, one: Any, state: Passing, own: Any, best: Any, empty: Any,
    n_touched: Any, n: Any, m: Any,
) -> tuple[float, float, float]:  # fmt: skip
    """Changes of the price if the visited value leaves its group, joins group `best`, or is alone in slot `empty`.

    The value has n rows and m distinct values. A change is infinite if `best` or `empty` is -1.
    """
    cells, prices, profile, touched = state.cells, state.prices, state.profile, state.touched
    n_atoms, n_rows, n_values, part_prices = state.n_atoms, state.n_rows, state.n_values, state.part_price
    leave, join, alone = 0.0, np.inf, np.inf
    for move in range(3):
        slot = own if move == 0 else (best if move == 1 else empty)
        if slot < 0:
            continue
        sign, change = -1 if move == 0 else 1, 0.0
        for i in range(n_touched):
            t = np.int64(touched[i])
            change += price_at(p, table, one, cells[t, slot] + sign * profile[t]) - prices[t, slot]
        if move == 0:
            leave = change - part_prices[own]
            if n_atoms[own] > 1:
                leave += part_price(p, facts, n_target_parts, n_rows[own] - n, n_values[own] - m)
        elif move == 1:
            join = change + state.joins[slot]
        else:
            alone = change + state.joins[slot]
    return leave, join, alone


@inlined
def move_value(
    p: Any, facts: Variable, n_target_parts: Any, table: Any, one: Any, state: Passing, own: Any, to: Any,
    n_touched: Any, n: Any, m: Any,
) -> None:  # fmt: skip
    """Move the visited value, of n rows and m distinct values, from slot `own` to slot `to`, and price both again."""
    cells, prices, steps, profile, touched = state.cells, state.prices, state.steps, state.profile, state.touched
    n_atoms, n_rows, n_values, part_prices = state.n_atoms, state.n_rows, state.n_values, state.part_price
    for way in range(2):
        slot, sign = (own, -1) if way == 0 else (to, 1)
        n_atoms[slot] += sign
        n_rows[slot] += sign * n
        n_values[slot] += sign * m
        for i in range(n_touched):
            t = np.int64(touched[i])
            cells[t, slot] += sign * profile[t]
            step_up(p, table, one, cells, prices, steps, t, slot)
        part_prices[slot] = 0.0
        if n_atoms[slot] > 0:
            part_prices[slot] = part_price(p, facts, n_target_parts, n_rows[slot], n_values[slot])
        joined = join_part(p, facts, n_target_parts, n_rows[slot] + n, n_values[slot] + m)
        state.joins[slot] = joined - part_prices[slot]


@inlined
def empty_after(n_atoms: Any, first_empty: Any, more: int, own: Any) -> Any:
    """First empty slot (-1 if there is none) after a move that filled a slot (`more` > 0) or emptied slot `own`."""
    if more < 0 and first_empty >= 0:
        return min(first_empty, own)
    for g in range(len(n_atoms)):
        if n_atoms[g] == 0:
            return np.int64(g)
    return np.int64(-1)
