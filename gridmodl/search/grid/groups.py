"""Groups of a categorical variable, the others frozen: order values, cut groups, prepare and finish transfers.

A group is cut in two along an order of its values: by how they differ from the rest of their group (their lean).

With classes, the residual of a value in a frozen cell and class is its number of rows minus the number it would have
with the share of that class in the group. With two classes and no other variable, the order by residual is the order by
class share, which contains the best cut. In general, values are ordered by their residual along one direction: the one
in which they differ most (a few steps of power iteration from the value with the largest residual). That direction also
finds values that differ in opposite ways in different cells, as in an XOR.

Without classes, values differ in the frozen cells of their rows. The place of a cell on the line is the mean place of
its rows in the group, and the place of a value is the mean place of its rows' cells, in turn: the same power iteration,
on the residuals against the profile of the group in units of their deviation (reciprocal averaging, the first axis of a
correspondence analysis).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gridmodl.jit.template import inlined
from gridmodl.search.column.transfers import Transfers
from gridmodl.search.grid.cells import State, fill_entries
from gridmodl.search.grid.state import GroupBuffers
from gridmodl.search.moves import Buffers, Limits, Setting, best_cut, is_cheaper, total_cost


def order_values(
    rows: Any,
    state: State,
    atoms: Any,
    slot: Any,
    orders: Any,
    groups: GroupBuffers,
    buffers: Buffers,
    k: int,
    n_frozen: int,
) -> None:
    """Sort the values by group, and within a group by lean.

    The order is written to `orders[1]`, the entries in that order to `atoms`, the groups to `groups.flat.group`, and
    the end of each group to `groups.flat.n_atoms`.
    """
    part, cell_of_row, frozen_of_cell = state.part, state.cell_of_row, state.frozen_of_cell
    group, ends, shifts_only = groups.flat.group, groups.flat.n_atoms, state.now[0].shifts_only
    lean, share, direction = groups.lean, groups.share, groups.direction
    totals, total_rows = buffers.left, buffers.left_rows
    by_index, order = orders[0], orders[1]
    lo, n, n_groups = rows.atom_at[k], rows.atom_at[k + 1] - rows.atom_at[k], state.n_parts[k]
    for m in range(n_groups):
        ends[m] = 0
    for v in range(n):
        ends[part[lo + v]] += 1
    begin = 0
    for m in range(n_groups):
        ends[m], begin = begin, begin + ends[m]
    for v in range(n):
        order[ends[part[lo + v]]] = v
        ends[part[lo + v]] += 1
    for time in range(2):
        if time == 0 and shifts_only:
            continue
        fill_entries(rows, cell_of_row, frozen_of_cell, atoms, slot, k, n_frozen, by_index if time == 0 else order)
        begin = 0
        for m in range(n_groups if time == 0 else 0):
            if ends[m] - begin > 1:
                if atoms.counts.shape[1] > 1:
                    lean_of_group(atoms, order, begin, ends[m], lean, share, direction, totals, total_rows)
                else:
                    lean_of_profiles(atoms, order, begin, ends[m], lean, direction, total_rows)
                sort_by_lean(order, begin, ends[m], lean)
            begin = ends[m]
    for i in range(n):
        group[i] = part[lo + order[i]]


def cut_groups(
    atoms: Any, setting: Setting, limits: Limits, buffers: Buffers, ends: Any, n_groups: int, n_apart: int, group: Any,
    may_leave: bool,
) -> tuple[int, float, float, float]:  # fmt: skip
    """Make the best cut of one of the first `n_groups` groups in two, if it pays; return their number and the cost.

    After them come `n_apart` groups that are not cut, numbered anew. Return also the cost of a single group, infinite
    unless `may_leave`, and the price of the groups apart.
    """
    price, price_apart, begin, together = 0.0, 0.0, 0, np.inf
    saving, at, until = np.inf, 0, 0
    n_all = n_groups + n_apart
    for m in range(-1 if may_leave else 0, n_all):
        lo, hi = begin, ends[n_all - 1 if m < 0 else m]
        whole, cut, bound = best_cut(atoms, setting, lo, hi, buffers, limits.min_rows)
        if m < 0:
            together = whole
            continue
        price += whole
        price_apart += whole if m >= n_groups else 0.0
        if m < n_groups and cut - whole < saving:
            saving, at, until = cut - whole, bound, hi
        begin = hi
    cost, single = np.inf, np.inf
    for more in range(-1 if may_leave else 0, 2):
        if more < 1 or (n_all < limits.max_parts and saving < np.inf):
            of_parts = together if more < 0 else (price + saving if more == 1 else price)
            cheaper = total_cost(setting, of_parts, 1 if more < 0 else n_all + more)
            if more < 0:
                single = cheaper
            elif more == 0:
                cost = cheaper
            elif is_cheaper(cheaper, cost, abs(price)):
                for i in range(at, until):
                    group[i] = n_groups
                return n_groups + 1, cheaper, single, price_apart
    return n_groups, cost, single, price_apart


def start_transfers(atoms: Any, flat: Transfers, n: int, n_slots: int, n_frozen: int) -> None:
    """Count the rows of the groups `flat.group` for transfers between them."""
    first, frozen, more, more_rows, values = atoms.first, atoms.frozen, atoms.counts, atoms.rows, atoms.values
    group, floor, seen, changed = flat.group, flat.floor, flat.seen, flat.changed
    counts, rows, prices, part_price = flat.counts, flat.rows, flat.cell_prices, flat.part_price
    n_atoms, n_rows, n_values = flat.n_atoms, flat.n_rows, flat.n_values
    n_classes = more.shape[1]
    for i in range(n_slots * n_frozen):
        rows[i], prices[i] = 0, 0.0
    for i in range(n_slots * n_frozen * n_classes):
        counts[i] = 0
    for m in range(n_slots):
        n_atoms[m] = n_rows[m] = n_values[m] = changed[m] = 0
        part_price[m] = 0.0
    for v in range(n):
        g = np.int64(group[v])
        seen[v], floor[v] = -1, np.inf
        n_atoms[g] += 1
        n_values[g] += values[v]
        for e in range(first[v], first[v + 1]):
            at = g * n_frozen + frozen[e]
            n_rows[g] += more_rows[e]
            rows[at] += more_rows[e]
            for c in range(n_classes):
                counts[at * n_classes + c] += more[e, c]


def name_groups(flat: Transfers, orders: Any, n: int, n_slots: int) -> None:
    """Write the groups in the order of the values, numbered 0, 1, ... in the order of their first values."""
    group, names, seen, order = flat.group, flat.n_atoms, flat.seen, orders[1]
    for i in range(n):
        seen[order[i]] = group[i]
    for m in range(n_slots):
        names[m] = -1
    n_groups = 0
    for v in range(n):
        m = seen[v]
        if names[m] < 0:
            names[m] = n_groups
            n_groups += 1
        group[v] = names[m]


N_STEPS = 2  # steps of the power iteration


def lean_of_group(
    atoms: Any, order: Any, lo: int, hi: int, lean: Any, share: Any, direction: Any, totals: Any, total_rows: Any
) -> None:
    """Write the lean of each of the values order[lo:hi], which form a group.

    `totals` and `total_rows` are buffers by frozen cell, zero between calls; `share` and `direction` need not be zero.
    """
    first, frozen, counts, rows = atoms.first, atoms.frozen, atoms.counts, atoms.rows
    n_classes = counts.shape[1]
    fill_shares(first, frozen, counts, rows, order, lo, hi, share, direction, totals, total_rows)
    largest, reference = -1.0, order[lo]
    for i in range(lo, hi):
        v = order[i]
        norm, n = 0.0, 0
        for e in range(first[v], first[v + 1]):
            n += rows[e]
            for c in range(n_classes):
                residual = counts[e, c] - rows[e] * share[frozen[e], c]
                norm += residual * residual
        if norm / n > largest:
            largest, reference = norm / n, v
        lean[v] = 0.0
    lean[reference] = 1.0
    for _ in range(N_STEPS):
        for i in range(lo, hi):
            v = order[i]
            if lean[v] != 0.0:
                for e in range(first[v], first[v + 1]):
                    for c in range(n_classes):
                        direction[frozen[e], c] += lean[v] * (counts[e, c] - rows[e] * share[frozen[e], c])
        largest = 0.0
        for i in range(lo, hi):
            v = order[i]
            along, n = 0.0, 0
            for e in range(first[v], first[v + 1]):
                n += rows[e]
                for c in range(n_classes):
                    along += direction[frozen[e], c] * (counts[e, c] - rows[e] * share[frozen[e], c])
            lean[v] = along / n
            largest = max(largest, abs(lean[v]))
        for i in range(lo, hi):
            v = order[i]
            if largest > 0.0:
                lean[v] /= largest
            for e in range(first[v], first[v + 1]):
                for c in range(n_classes):
                    direction[frozen[e], c] = 0.0


@inlined
def fill_shares(
    first: Any, frozen: Any, counts: Any, rows: Any, order: Any, lo: int, hi: int, share: Any, direction: Any,
    totals: Any, total_rows: Any,
) -> None:  # fmt: skip
    """Write the share of each class in each frozen cell of a group, and zeros to `direction`."""
    n_classes = counts.shape[1]
    for i in range(lo, hi):
        v = order[i]
        for e in range(first[v], first[v + 1]):
            for c in range(n_classes):
                totals[frozen[e], c] += counts[e, c]
            total_rows[frozen[e]] += rows[e]
    for i in range(lo, hi):
        v = order[i]
        for e in range(first[v], first[v + 1]):
            f = frozen[e]
            if total_rows[f] > 0:  # the first entry of this cell
                for c in range(n_classes):
                    share[f, c] = totals[f, c] / total_rows[f]
                    direction[f, c] = 0.0
                    totals[f, c] = 0
                total_rows[f] = 0


def lean_of_profiles(atoms: Any, order: Any, lo: int, hi: int, lean: Any, place: Any, total_rows: Any) -> None:
    """Write the lean of each of the values order[lo:hi], which form a group, if rows have no classes.

    `total_rows` is a buffer by frozen cell, zero between calls; `place` need not be zero.
    """
    first, frozen, rows = atoms.first, atoms.frozen, atoms.rows
    n_all = 0
    for i in range(lo, hi):
        v = order[i]
        for e in range(first[v], first[v + 1]):
            total_rows[frozen[e]] += rows[e]
            n_all += rows[e]
    largest, reference = -1.0, order[lo]
    for i in range(lo, hi):
        v = order[i]
        square, n = 0.0, 0
        for e in range(first[v], first[v + 1]):
            n += rows[e]
            square += float(rows[e]) * rows[e] / total_rows[frozen[e]]
        if n_all * square / n - n > largest:  # chi-square of its profile against that of the group
            largest, reference = n_all * square / n - n, v
        lean[v] = 0.0
    lean[reference] = 1.0
    for _ in range(N_STEPS):
        for i in range(lo, hi):
            v = order[i]
            for e in range(first[v], first[v + 1]):
                place[frozen[e], 0] = 0.0
        for i in range(lo, hi):
            v = order[i]
            for e in range(first[v], first[v + 1]):
                place[frozen[e], 0] += lean[v] * rows[e] / total_rows[frozen[e]]
        middle = 0.0
        for i in range(lo, hi):
            v = order[i]
            along, n = 0.0, 0
            for e in range(first[v], first[v + 1]):
                n += rows[e]
                along += place[frozen[e], 0] * rows[e]
            lean[v] = along / n
            middle += along
        largest = 0.0
        for i in range(lo, hi):
            lean[order[i]] -= middle / n_all
            largest = max(largest, abs(lean[order[i]]))
        for i in range(lo, hi):
            if largest > 0.0:
                lean[order[i]] /= largest
    for i in range(lo, hi):
        v = order[i]
        for e in range(first[v], first[v + 1]):
            total_rows[frozen[e]] = 0


def sort_by_lean(order: Any, lo: int, hi: int, lean: Any) -> None:
    """Sort order[lo:hi] by lean; ties: by index (Shell sort: in place, and quick to compile)."""
    gap = 1
    while gap < (hi - lo) // 3:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(lo + gap, hi):
            v = order[i]
            at = i
            while at >= lo + gap and (
                lean[order[at - gap]] > lean[v] or (lean[order[at - gap]] == lean[v] and order[at - gap] > v)
            ):
                order[at] = order[at - gap]
                at -= gap
            order[at] = v
        gap //= 3
