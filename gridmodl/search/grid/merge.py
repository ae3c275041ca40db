"""Merge parts of any variable, best merge first: down to one cell keeping the best grid met, or while it pays.

The cost changes by what all merges of a variable share (grid and variable terms), and by what is local: the two parts,
and the pairs of cells that fall together. Numerical variables merge neighbours, categorical ones any two groups. The
sum over the pairs of cells is kept for each pair of parts; a merge takes out the cells of the part that goes, the one
with fewer cells, moves them, and puts them back, so only pairs that share a moved cell are priced again. The partner of
a cell in another part is one look-up by its key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gridmodl.jit.template import bind
from gridmodl.pricing import finished
from gridmodl.search.grid.cells import COST, FIXED, GENERATION, LOW, N_CELLS, State, salt, slot_of
from gridmodl.search.grid.optima import GridMerge
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import GridTask, MergeBuffers, Worker
from gridmodl.search.moves import Buffers, cell_price, part_price, partition_price
from gridmodl.terms import Shape, Variable


def greedy_merge(task: GridTask, grid: Grid, worker: Worker | None = None) -> Grid:
    """The grid that merges lead to while they make it cheaper."""
    return _merged(task, grid, worker, is_greedy=True)


def exhaustive_merge(task: GridTask, grid: Grid, worker: Worker | None = None) -> Grid:
    """The cheapest grid met while merging down to one cell."""
    return _merged(task, grid, worker, is_greedy=False)


def _merged(task: GridTask, grid: Grid, worker: Worker | None, is_greedy: bool) -> Grid:
    worker = Worker(task) if worker is None else worker
    cost = worker.load(grid)
    merge_state(worker, is_greedy)
    found = worker.grid()
    return found if found.cost < cost else grid._replace(cost=cost)


def merge_state(worker: Worker, is_greedy: bool = False) -> int:
    """Merge the grid in the state, which is priced, and price what is left; how many merges were made.

    Left as it is if it has more cells or pairs of groups than the buffers hold: such a grid is blind to the data.
    """
    task, merge_buffers, state = worker.task, worker.merge, worker.state
    informative = np.flatnonzero(state.n_parts > 1)
    n, n_parts = len(informative), state.n_parts[informative]
    n_pairs = np.where(task.facts.categorical[informative], n_parts * n_parts, n_parts)
    fits = (
        0 < n <= len(merge_buffers.variables)
        and state.now[N_CELLS] <= len(merge_buffers.listed)
        and n_parts.sum() <= len(merge_buffers.left)
        and n_pairs.sum() <= len(merge_buffers.deltas)
    )
    if not fits:
        return 0
    merge_buffers.variables[:n] = informative
    merge_buffers.n_left[:n] = n_parts
    merge_buffers.part_at[1 : n + 1] = np.cumsum(n_parts)
    merge_buffers.pair_at[1 : n + 1] = np.cumsum(n_pairs)
    merge_buffers.now[:] = 0
    merge_buffers.now[IS_GREEDY] = int(is_greedy)
    merge_buffers.sums[:] = 0.0
    steps = bind(merge_steps, task.criterion)
    task.clock.repeat(
        lambda n_steps: bool(
            steps(task.rows, task.facts, task.p, state, merge_buffers, worker.buffers, worker.counts, n, n_steps)
        ),
        None,
        size=max(1, 2**20 // (int(state.now[N_CELLS]) * n)),
    )
    if merge_buffers.now[IS_BUILT] == 0:  # stopped before the first turn: there is no path to go back on
        return 0
    bind(keep_best)(task.rows, state, merge_buffers, worker.buffers, n)
    worker.price()
    return int(merge_buffers.now[BEST_STEP])


def merge_path(task: GridTask, grid: Grid) -> list[GridMerge]:
    """All merges that lead from a grid to a single cell, the cheapest first."""
    worker = Worker(task, whole=True)
    worker.load(grid)
    merge_state(worker)
    merge_buffers, path = worker.merge, []
    for s, k in enumerate(grid.variables):
        base = int(merge_buffers.part_at[s])
        for goes in range(grid.shape[s]):
            step = int(merge_buffers.gone[base + goes])
            if step < NEVER:
                path.append(
                    (
                        step,
                        GridMerge(k, int(merge_buffers.into[base + goes]), goes, float(merge_buffers.costs[step - 1])),
                    )
                )
    return [merge for _, merge in sorted(path)]


def merge_steps(
    rows: Any,
    facts: Any,
    p: Any,
    state: State,
    merge_buffers: MergeBuffers,
    buffers: Buffers,
    union: Any,
    n_variables: int,
    n_steps: int,
) -> bool:
    """Make up to so many merges; True when there are no more to make.

    Cells are taken out and put back one by one, each with its pairs; where a cell moves into another, that one is taken
    out too, and their union put back. To build all is to put all in. So one place prices cells and pairs: every copy of
    the terms in a kernel costs half a second of compile time.
    """
    _, n_parts, _, _, _, cell_key, keys, marks, _, state_now, state_sums = state
    categorical, n_values, constant = facts.categorical, facts.n_values, facts.constant
    by_parts, by_parts_at = facts.by_parts, facts.by_parts_at
    variables, part_at, pair_at, n_left, head, cell_part, listed, moved, deltas, left, right = merge_buffers[:11]
    part_cells, part_rows, part_values, part_prices, _, _, now, sums, costs = merge_buffers[11:]
    counts, cell_rows, cell_prices = buffers.left, buffers.left_rows, buffers.left_price
    n_cells = state_now[N_CELLS]
    for _ in range(n_steps):
        is_building = now[IS_BUILT] == 0
        v, n_listed = 0, 0
        stays: Any = np.int64(0)
        goes: Any = np.int64(0)
        if is_building:
            start(rows, state, merge_buffers, buffers, n_variables)
            sums[TOTAL], sums[BEST_COST] = state_sums[FIXED], state_sums[COST]
            n_listed = n_cells
        # The cheapest merge of each variable, and of all. While building only the prices of the parts are found.
        n_informative, n_all_cells = 0, 1.0
        for s in range(n_variables):
            n_informative += 1 if n_left[s] > 1 else 0
            n_all_cells *= float(n_left[s])
        lowest, change_of_all, price_of_union = np.inf, 0.0, 0.0
        for s in range(n_variables):
            if n_left[s] == 1:
                continue
            k, base, width = variables[s], part_at[s], part_at[s + 1] - part_at[s]
            table = by_parts[by_parts_at[k] : by_parts_at[k + 1]]
            known = Variable(categorical[k], False, n_values[k], constant[k], table)
            best, best_i, best_j, best_price = np.inf, np.int64(-1), np.int64(-1), 0.0
            i = head[s]
            while i >= 0:
                j = i if is_building else np.int64(right[base + i])
                while j >= 0:
                    n, m = part_rows[base + i], part_values[base + i]
                    if not is_building:
                        n, m = n + part_rows[base + j], m + part_values[base + j]
                    price = part_price(p, known, 0, n, m)
                    if is_building:
                        part_prices[base + i] = price
                        break
                    at = min(i, j) * width + max(i, j) if categorical[k] else i
                    change = deltas[pair_at[s] + at] + price - part_prices[base + i] - part_prices[base + j]
                    if change < best:
                        best, best_i, best_j, best_price = change, i, j, price
                    j = np.int64(right[base + j]) if categorical[k] else np.int64(-1)
                i = np.int64(right[base + i])
            if is_building:
                continue
            n_after = n_informative - (1 if n_left[s] == 2 else 0)
            shape = Shape(len(n_parts), n_after, n_all_cells / float(n_left[s]) * float(n_left[s] - 1))
            best += partition_price(p, known, n_left[s] - 1) - partition_price(p, known, n_left[s])
            cost = finished(p, sums[TOTAL] + best, 0.0, shape)
            if cost < lowest:
                lowest, change_of_all, v, stays, goes, price_of_union = cost, best, s, best_i, best_j, best_price
        if not is_building:
            if lowest == np.inf or (now[IS_GREEDY] == 1 and not lowest < sums[BEST_COST]):
                return True
            sums[TOTAL] += change_of_all
            base = part_at[v]
            if part_cells[base + goes] > part_cells[base + stays]:
                stays, goes = goes, stays
            for i in range(n_cells):
                if cell_part[v, i] == goes and cell_rows[i] > 0:
                    listed[n_listed] = i
                    n_listed += 1
            if 2 * (now[N_USED] + n_listed) > len(keys):
                forget_keys(state, cell_rows, now)
        generation = state_now[GENERATION]
        beyond: Any = np.int64(-1)
        c: Any = np.int64(-1)
        for phase in range(1 if is_building else 0, 3):  # take out, put back, meet the new neighbour
            if phase == 1 and not is_building:
                beyond = unlink(merge_buffers, v, stays, goes, price_of_union)
            if phase == 2:
                n_listed = 0
                for i in range(n_cells if beyond >= 0 else 0):
                    if cell_part[v, i] == stays and cell_rows[i] > 0 and moved[i] != now[STEP]:
                        listed[n_listed] = i
                        n_listed += 1
            for t in range(2 * n_listed if phase == 1 else n_listed):
                other: Any = -1
                sign = -1.0
                if phase != 1:
                    c, sign = np.int64(listed[t]), phase - 1.0
                elif t % 2 == 1:
                    c, sign = np.int64(listed[t // 2]), 1.0
                elif is_building:
                    continue
                else:  # before a cell is put back, the one that it falls together with is taken out
                    other = np.int64(listed[t // 2])
                    cell_key[other] += salt(variables[v], stays) - salt(variables[v], goes)
                    cell_part[v, other] = stays
                    place = slot_of(keys, marks, generation, cell_key[other])
                    c = marks[place] & LOW
                    if marks[place] >> 32 != generation or c == NOBODY:
                        continue
                    listed[t // 2] = c
                if phase == 1 and not is_building:
                    moved[c] = now[STEP]
                place = slot_of(keys, marks, generation, cell_key[c])
                now[N_USED] += 1 if marks[place] >> 32 != generation else 0
                keys[place], marks[place] = cell_key[c], generation << 32 | (c if sign > 0.0 else NOBODY)
                for s in range(-1, n_variables):  # -1: the cell itself
                    if (sign < 0.0 or phase == 2) if s < 0 else (n_left[s] == 1 or (phase == 2 and s != v)):
                        continue
                    k, base, q, near, is_group = np.int64(0), np.int64(0), np.int64(0), np.int64(0), False
                    key = cell_key[c]
                    if s >= 0:
                        k, base, q = variables[s], part_at[s], np.int64(cell_part[s, c])
                        key -= salt(k, q)
                        is_group = categorical[k]
                        near = head[s] if is_group else np.int64(left[base + q])
                        if near < 0:
                            near = np.int64(right[base + q])
                        near = beyond if phase == 2 else near
                    while near >= 0:
                        d: Any = c
                        if s >= 0:
                            d = NOBODY
                            # What stays has met its new neighbour only once it was put back.
                            if near != q and not (other >= 0 and s == v and near == beyond):
                                place = slot_of(keys, marks, generation, key + salt(k, near))
                                d = marks[place] & LOW if marks[place] >> 32 == generation else NOBODY
                        if d != NOBODY:
                            n = cell_rows[c]
                            for i in range(len(union)):
                                union[i] = counts[c, i]
                            if s >= 0:
                                n += cell_rows[d]
                                for i in range(len(union)):
                                    union[i] += counts[d, i]
                            price = cell_price(p, union, n)
                            if s >= 0:
                                at = near if near == left[base + q] else q
                                if is_group:
                                    at = min(q, near) * (part_at[s + 1] - base) + max(q, near)
                                deltas[pair_at[s] + at] += sign * (price - cell_prices[c] - cell_prices[d])
                            else:
                                cell_prices[c] = price
                                if is_building:
                                    sums[TOTAL] += price
                        if s >= 0 and is_group:
                            near = np.int64(right[base + near])
                        elif s >= 0 and phase < 2 and near == left[base + q]:
                            near = np.int64(right[base + q])
                        else:
                            near = np.int64(-1)
                if other >= 0:
                    cell_rows[c] += cell_rows[other]
                    cell_rows[other] = 0
                    for i in range(len(union)):
                        counts[c, i] += counts[other, i]
                    for s in range(n_variables):
                        part_cells[part_at[s] + cell_part[s, other]] -= 1
        if not is_building:
            costs[now[STEP]] = lowest
            now[STEP] += 1
            if lowest <= sums[BEST_COST]:  # of equal costs, the fewest parts
                sums[BEST_COST], now[BEST_STEP] = lowest, now[STEP]
        now[IS_BUILT] = 1
    return False


# The buffers of merges: parts and cells counted and linked at the start, unlinked at a merge, numbered in the end.

NEVER = 2**62
NOBODY = LOW  # in the hash table, the cell of a key that no cell has any more

# The fields of `MergeBuffers.now` and `MergeBuffers.sums`.
STEP, BEST_STEP, N_USED, IS_BUILT, IS_GREEDY = range(5)
TOTAL, BEST_COST = range(2)


def start(rows: Any, state: State, merge_buffers: MergeBuffers, buffers: Buffers, n_variables: int) -> None:
    """Count the rows of cells and parts, and link each part with its neighbours."""
    part, _, _, cell_of_row, cell_row, _, _, _, _, state_now, _ = state
    atom, _, atom_at, _, atom_rows, codes, weights, atom_values = rows
    variables, part_at, pair_at, _, head, cell_part, listed, moved, deltas, left, right = merge_buffers[:11]
    part_cells, part_rows, part_values, _, _, gone = merge_buffers[11:17]
    counts, cell_rows = buffers.left, buffers.left_rows
    state_now[GENERATION] += 1
    for i in range(pair_at[n_variables]):
        deltas[i] = 0.0
    for s in range(n_variables):
        k, base, head[s] = variables[s], part_at[s], 0
        width = part_at[s + 1] - base
        for i in range(width):
            left[base + i], right[base + i] = i - 1, i + 1 if i + 1 < width else -1
            part_cells[base + i] = part_rows[base + i] = part_values[base + i] = 0
            gone[base + i] = NEVER
        for a in range(atom_at[k], atom_at[k + 1]):
            part_rows[base + part[a]] += atom_rows[a]
            part_values[base + part[a]] += atom_values[a]
        for c in range(state_now[N_CELLS]):
            q = part[atom_at[k] + atom[k, cell_row[c]]]
            cell_part[s, c] = q
            part_cells[base + q] += 1
    for c in range(state_now[N_CELLS]):
        listed[c], moved[c] = c, -1
    for r in range(len(cell_of_row)):
        n = weights[r] if len(weights) > 0 else 1
        counts[cell_of_row[r], codes[r]] += n
        cell_rows[cell_of_row[r]] += n


def unlink(merge_buffers: MergeBuffers, v: int, stays: int, goes: int, price: float) -> Any:
    """Let one part of a variable go into another; no cell is left in it.

    Returns the new neighbour of the part that stays, if the variable is numerical and there is one, else -1.
    """
    _, part_at, pair_at, n_left, head, _, _, _, deltas, left, right = merge_buffers[:11]
    part_cells, part_rows, part_values, part_prices, into, gone, now, _, _ = merge_buffers[11:]
    base = part_at[v]
    before, after = np.int64(left[base + goes]), np.int64(right[base + goes])
    is_numerical = pair_at[v + 1] - pair_at[v] == part_at[v + 1] - base
    if is_numerical and before >= 0:
        deltas[pair_at[v] + before] = 0.0  # as it is now, but for rounding
    if before >= 0:
        right[base + before] = after
    else:
        head[v] = after
    if after >= 0:
        left[base + after] = before
    into[base + goes], gone[base + goes] = stays, now[STEP] + 1
    n_left[v] -= 1
    part_cells[base + stays] += part_cells[base + goes]
    part_rows[base + stays] += part_rows[base + goes]
    part_values[base + stays] += part_values[base + goes]
    part_prices[base + stays] = price
    if not is_numerical:
        return -1
    return after if before == stays else before


def forget_keys(state: State, cell_rows: Any, now: Any) -> None:
    """Make the hash table anew from the cells that live."""
    cell_key, keys, marks, state_now = state.cell_key, state.keys, state.marks, state.now
    state_now[GENERATION] += 1
    now[N_USED] = 0
    for c in range(state_now[N_CELLS]):
        if cell_rows[c] > 0:
            place = slot_of(keys, marks, state_now[GENERATION], cell_key[c])
            keys[place], marks[place] = cell_key[c], state_now[GENERATION] << 32 | c
            now[N_USED] += 1


def keep_best(rows: Any, state: State, merge_buffers: MergeBuffers, buffers: Buffers, n_variables: int) -> None:
    """Put the best grid met in the state, and clear the buffers."""
    part, n_parts, state_now, atom_at = state.part, state.n_parts, state.now, rows.atom_at
    variables, part_at, number, into, gone, best = (
        merge_buffers.variables,
        merge_buffers.part_at,
        merge_buffers.left,
        merge_buffers.into,
        merge_buffers.gone,
        merge_buffers.now[BEST_STEP],
    )
    for c in range(state_now[N_CELLS]):
        for i in range(buffers.left.shape[1]):
            buffers.left[c, i] = 0
        buffers.left_rows[c] = 0
        buffers.left_price[c] = 0.0
    for s in range(n_variables):
        k, base = variables[s], part_at[s]
        n = 0
        for i in range(base, part_at[s + 1]):
            number[i] = -1
        for a in range(atom_at[k], atom_at[k + 1]):
            q = np.int64(part[a])
            while gone[base + q] <= best:
                q = np.int64(into[base + q])
            if number[base + q] < 0:
                number[base + q] = n
                n += 1
            part[a] = number[base + q]
        n_parts[k] = n
