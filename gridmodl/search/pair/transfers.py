"""Transfers of single values between the groups of one of two variables, in passes over all values.

A value with c rows in part t of the other variable changes the price of that cell by cell(x+c) - cell(x), x the cell's
rows in the group that it joins. For small c these differences are tabulated in single precision, by t and then by
group, so that one value is priced with all groups by adding rows of the table; the cheapest group is priced again in
double precision before a value moves. Part terms are kept for the next value where that has as many rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gridmodl.jit.template import bind, inlined
from gridmodl.search.moves import Limits, Setting, is_cheaper, part_price, total_cost
from gridmodl.search.pair.state import COST, PRICE, Pair, PairSide, price_at
from gridmodl.terms import Variable

N_STEPS = 4  # c up to which differences are tabulated
MORE_GROUPS = 8  # that a pass may open, and a quarter of those there are

# The fields of `Passing.now` and `Passing.sums`.
AT, N_GROUPS, N_USED, EMPTY, N_PASSES, MAX_PASSES, HAS_MOVED, JOIN_ROWS, JOIN_VALUES, BEGUN = range(10)
PASS_PRICE, PASS_COST = range(2)


class Passing(NamedTuple):
    """The state of the passes between two calls of the kernel; slots are places for groups, some of them empty."""

    order: Any  # of the visits
    cells: Any  # rows by part of the other variable and slot
    prices: Any  # of these cells
    steps: Any  # what c = 1, 2, ... rows more would change them by
    n_atoms: Any  # by slot
    n_rows: Any
    n_values: Any
    part_price: Any
    joins: Any  # what the value in hand would change the part price by
    near: Any  # and the prices of the cells: where it has few rows
    far: Any  # and where it has many
    profile: Any  # rows of the value in hand, by part of the other variable; zero between visits
    touched: Any  # where it has any
    now: Any
    sums: Any


def transfer(pair: Pair, k: int, limits: Limits, max_passes: int, opens: bool = True) -> None:
    """Pass over the values of categorical variable k so often at most, or until none moves.

    Values may open new groups if `opens`; a group ends with its last value.
    """
    n_groups, n_across = pair.n_parts[k], pair.n_parts[1 - k]
    most = min(limits.max_parts, pair.most_parts(k), n_groups + (MORE_GROUPS + n_groups // 4 if opens else 0))
    n_slots = max(most, n_groups)
    cells, part_totals, setting = pair.lay(k, n_slots)
    side, across = pair.sides[k], pair.sides[1 - k]
    n_atoms = np.zeros(n_slots, dtype=np.int64)
    n_atoms[:n_groups] = np.bincount(side.part, minlength=n_groups)
    now = np.zeros(10, dtype=np.int64)
    now[N_GROUPS], now[MAX_PASSES], now[JOIN_ROWS] = n_groups, max_passes, -1
    now[N_USED] = min(n_groups + 1, n_slots)
    now[EMPTY] = n_groups if n_slots > n_groups else -1
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
        now=now,
        sums=np.array([pair.sums[PRICE], pair.sums[COST]]),
    )
    state.n_rows[:n_groups], state.n_values[:n_groups] = part_totals[0, :n_groups], part_totals[1, :n_groups]
    kernel = bind(transfer_visits, pair.task.criterion)
    pair.task.clock.repeat(
        lambda n_visits: bool(
            kernel(side, across.part, setting, limits, pair.table, pair.one, state, n_visits),
        ),
        None,
        size=max(64, 2**22 // (n_slots * 16)),
    )
    pair.put(k, side.part)
    pair.sums[COST] = state.sums[PASS_COST]


@inlined
def step_up(p: Any, table: Any, one: Any, cells: Any, prices: Any, steps: Any, t: Any, g: Any) -> None:
    """Price a cell, and what more rows would change it by."""
    n = cells[t, g]
    price = price_at(p, table, one, n)
    prices[t, g] = price
    if n + N_STEPS < len(table):
        for c in range(N_STEPS):
            steps[c, t, g] = table[n + c + 1] - price
    else:
        for c in range(N_STEPS):  # no value brings a cell more rows than there are, and terms are asked of no such cell
            steps[c, t, g] = price_at(p, table, one, min(n + c + 1, p.n_rows)) - price


@inlined
def join_part(p: Any, facts: Variable, n_target_parts: Any, rows: Any, values: Any) -> float:
    """The price of a group that a value joins, or of the largest there can be where it is the value's own already."""
    return part_price(p, facts, n_target_parts, min(rows, p.n_rows), min(values, facts.n_values))


def begin_passes(p: Any, setting: Setting, table: Any, one: Any, state: Passing) -> None:
    """Price the cells and the groups."""
    facts, n_target_parts = setting.variable, setting.frozen.n_target_parts
    cells, prices, steps = state.cells, state.prices, state.steps
    for t in range(cells.shape[0]):
        for g in range(cells.shape[1]):
            step_up(p, table, one, cells, prices, steps, t, g)
    for g in range(state.now[N_GROUPS]):
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
    """Visit so many values; True when a whole pass has moved none, or after as many passes as were asked for."""
    facts, first, other, rows, atom_rows, atom_values, group = side
    order, cells, prices, steps, n_atoms, n_rows, n_values, part_prices, joins, near, far = state[:11]
    profile, touched, now, sums = state[11:]
    p, n_target_parts = setting.p, setting.frozen.n_target_parts
    min_rows = limits.min_rows
    if now[BEGUN] == 0:
        begin_passes(p, setting, table, one, state)
        now[BEGUN] = 1
    for _ in range(n_visits):
        if now[AT] == len(order):
            now[N_PASSES] += 1
            if now[HAS_MOVED] == 0 or now[N_PASSES] >= now[MAX_PASSES]:
                return True
            now[AT], now[HAS_MOVED] = 0, 0
        v = order[now[AT]]
        now[AT] += 1
        own = np.int64(group[v])
        n, m = atom_rows[v], atom_values[v]
        is_last = n_atoms[own] == 1
        if (is_last and now[N_GROUPS] == 1) or (not is_last and n_rows[own] - n < min_rows):
            continue
        n_touched = 0
        for e in range(first[v], first[v + 1]):
            t = across_part[other[e]]
            if profile[t] == 0:
                touched[n_touched] = t
                n_touched += 1
            profile[t] += rows[e]
        n_used = now[N_USED]
        if now[JOIN_ROWS] != n or now[JOIN_VALUES] != m:
            now[JOIN_ROWS], now[JOIN_VALUES] = n, m
            for g in range(n_used):
                joins[g] = join_part(p, facts, n_target_parts, n_rows[g] + n, n_values[g] + m) - part_prices[g]
        for g in range(n_used):
            near[g] = np.float32(0.0)
            far[g] = joins[g]
        for i in range(n_touched):
            t = np.int64(touched[i])
            c = profile[t]
            # Its own group has these rows already: without them, no sum is of more rows than there are. What it would
            # cost to join that group is not looked at.
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
        empty = np.int64(-1)
        if not is_last and n >= min_rows and now[N_GROUPS] < limits.max_parts:
            empty = now[EMPTY]
        leave, join, alone = 0.0, np.inf, np.inf
        for job in range(3):
            slot = own if job == 0 else (best if job == 1 else empty)
            if slot < 0:
                continue
            sign = -1 if job == 0 else 1
            change = 0.0
            for i in range(n_touched):
                t = np.int64(touched[i])
                change += price_at(p, table, one, cells[t, slot] + sign * profile[t]) - prices[t, slot]
            if job == 0:
                leave = change - part_prices[own]
                if not is_last:
                    leave += part_price(p, facts, n_target_parts, n_rows[own] - n, n_values[own] - m)
            elif job == 1:
                join = change + joins[slot]
            else:
                alone = change + joins[slot]
        scale = abs(sums[PASS_PRICE])
        to, cost, price, more = np.int64(-1), sums[PASS_COST], 0.0, 0
        if best >= 0 and (is_last or leave + join < 0.0):
            now_price = sums[PASS_PRICE] + leave + join
            now_cost = total_cost(setting, now_price, now[N_GROUPS] - (1 if is_last else 0))
            if is_cheaper(now_cost, cost, scale):
                to, cost, price, more = best, now_cost, now_price, -1 if is_last else 0
        if empty >= 0:
            now_price = sums[PASS_PRICE] + leave + alone
            now_cost = total_cost(setting, now_price, now[N_GROUPS] + 1)
            if is_cheaper(now_cost, cost, scale):
                to, cost, price, more = empty, now_cost, now_price, 1
        if to >= 0:
            sums[PASS_PRICE], sums[PASS_COST] = price, cost
            now[HAS_MOVED] = 1
            now[N_GROUPS] += more
            group[v] = to
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
                joins[slot] = (
                    join_part(p, facts, n_target_parts, n_rows[slot] + n, n_values[slot] + m) - part_prices[slot]
                )
            if more > 0 or (more < 0 and now[EMPTY] < 0):
                now[EMPTY] = -1
                for g in range(len(n_atoms)):
                    if n_atoms[g] == 0:
                        now[EMPTY] = g
                        break
            elif more < 0:
                now[EMPTY] = min(now[EMPTY], own)
            if now[EMPTY] >= now[N_USED]:
                now[N_USED] = now[EMPTY] + 1
                now[JOIN_ROWS] = -1
        for i in range(n_touched):
            profile[touched[i]] = 0
    return False
