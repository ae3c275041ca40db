"""Deltas of all merges of two parts of either of two variables, updated while parts merge.

Merging parts a and b of a variable changes the price of the cells by sum_t [ cell(a_t + b_t) - cell(a_t) - cell(b_t) ]
over the parts t of the other variable. This sum is stored for all pairs of groups, or for all neighbours of a numerical
variable. A merge of parts p and q of the other variable changes two terms of each sum, so the sums are updated, by

    cell(x_a + x_b) - cell(p_a + p_b) - cell(q_a + q_b) - u_a - u_b     x = p + q,  u = cell(x) - cell(p) - cell(q)

which is 0 if a or b has no rows in p and q.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gridmodl.jit.template import inlined
from gridmodl.search.moves import part_price
from gridmodl.search.pair.state import price_at
from gridmodl.terms import Variable

FEW_ROWS = 8  # if p_a and q_a are both below this, the change is computed once for all a with the same p_a and q_a


class PairMergeBuffers(NamedTuple):
    """Parts of both variables under merges, by variable and slot; the last group takes the slot of a merged one."""

    cells: Any  # for each variable: rows by own part, then by part of the other variable
    deltas: Any  # delta of merging parts i and j < i; for a numerical variable, of part i and the next, in column 0
    low: Any  # lowest delta of row i
    near: Any  # j of that delta
    sums: Any  # price of the cells of a part
    price: Any  # part term
    n_rows: Any
    n_values: Any
    name: Any  # number of the part that the slot holds
    left: Any  # left neighbour of an interval, -1 if none
    right: Any  # right neighbour
    n_left: Any  # number of parts of each variable
    n_small: Any  # number of parts with too few rows
    changes: Any  # changes of deltas by a merge of the other variable, by p_a and q_a, then by b
    known: Any  # step at which each row of `changes` was computed


def ready_part(
    p: Any,
    facts: Variable,
    table: Any,
    one: Any,
    buffers: PairMergeBuffers,
    k: Any,
    i: Any,
    n_slots: Any,
    n_target_parts: Any,
) -> None:
    """Price part i, then its merges with the parts in slots below `n_slots`."""
    cells, deltas, sums, price = buffers.cells[k], buffers.deltas[k], buffers.sums, buffers.price
    n_rows, n_values, left, right = buffers.n_rows, buffers.n_values, buffers.left, buffers.right
    n_across, is_tabled = cells.shape[1], p.n_rows < len(table)
    # The first round prices the part itself, the others its union with each part that it may merge with.
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
    """Find the lowest delta in row i; ties: lowest j."""
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
    """Write cell(x_a + x_b) - cell(p_a + p_b) - cell(q_a + q_b) for p_a = a, q_a = b, and parts b from begin to end.

    If part b is part a itself, its rows count twice: that entry is never used, so its sums are cut at the number of
    all rows.
    """
    most = p.n_rows
    if most < len(table):
        for t in range(begin, end):
            n, m = a + own[x, t], b + own[y, t]
            into[t] = table[min(n + m, most)] - table[min(n, most)] - table[min(m, most)]
        return
    for t in range(begin, end):
        into[t] = 0.0
        for way in range(3):
            n, m = a + own[x, t], b + own[y, t]
            price = price_at(p, table, one, min(n + m if way == 0 else (n if way == 1 else m), most))
            into[t] += price if way == 0 else -price


def meet(
    p: Any, is_group: Any, table: Any, one: Any, buffers: PairMergeBuffers, k: Any, x: Any, y: Any, step: Any
) -> None:
    """Update the deltas of variable k for a merge of parts x and y of the other variable."""
    own, deltas, changes, known, right = (
        buffers.cells[1 - k],
        buffers.deltas[k],
        buffers.changes,
        buffers.known,
        buffers.right[k],
    )
    low, near, sums = buffers.low[k], buffers.near[k], buffers.sums[k]
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
    buffers: PairMergeBuffers,
    k: Any,
    x: Any,
    y: Any,
    n_target_parts: Any,
    min_rows: int,
) -> None:
    """Merge part y into part x of variable k, and price the merges of the union."""
    cells, across, deltas, n_left = buffers.cells[k], buffers.cells[1 - k], buffers.deltas[k], buffers.n_left
    n_rows, n_values, price, sums = buffers.n_rows[k], buffers.n_values[k], buffers.price[k], buffers.sums[k]
    low, near, left, right = buffers.low[k], buffers.near[k], buffers.left[k], buffers.right[k]
    n_small = (1 if n_rows[x] < min_rows else 0) + (1 if n_rows[y] < min_rows else 0)
    n_rows[x] += n_rows[y]
    n_values[x] += n_values[y]
    buffers.n_small[k] += (1 if n_rows[x] < min_rows else 0) - n_small
    n_left[k] -= 1
    last = n_left[k] if facts.categorical else y  # this group moves to slot y
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
        ready_part(p, facts, table, one, buffers, k, x, np.int64(len(cells)), n_target_parts)
        for way in range(2):
            i = x if way == 0 else left[x]
            if i >= 0:
                find_low(facts.categorical, deltas, low, near, right, i)
        return
    if last != y:
        take_slot(deltas, sums, price, n_rows, n_values, buffers.name[k], y, last)
    n = n_left[k]
    ready_part(p, facts, table, one, buffers, k, x, n, n_target_parts)
    for i in range(n):
        if i in (x, y) or near[i] in (x, y) or near[i] >= n:
            find_low(facts.categorical, deltas, low, near, right, np.int64(i))
            continue
        for way in range(2):
            j = x if way == 0 else y
            if j < i and (deltas[i, j] < low[i] or (deltas[i, j] == low[i] and j < near[i])):
                low[i], near[i] = deltas[i, j], j


@inlined
def take_slot(deltas: Any, sums: Any, price: Any, n_rows: Any, n_values: Any, name: Any, y: Any, last: Any) -> None:
    """Move the group in slot `last` to the free slot y."""
    sums[y], n_rows[y], n_values[y], price[y] = sums[last], n_rows[last], n_values[last], price[last]
    name[y] = name[last]
    for j in range(y):
        deltas[y, j] = deltas[last, j]
    for i in range(y + 1, last):
        deltas[i, y] = deltas[last, i]
