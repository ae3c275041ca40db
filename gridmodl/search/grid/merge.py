"""Merge parts of any variable, best merge first: down to one cell, keeping the best grid met, or as long as it pays.

The change of the cost has a share common to all merges of a variable (grid and variable terms), and a local share: the
two parts, and the pairs of cells that merge. Numerical variables merge neighbours, categorical ones any two groups. The
sum over the pairs of cells is stored for each pair of parts. A merge takes out the cells of the part that goes, which
is the one with fewer cells, moves them and puts them back, so only pairs with a moved cell are priced again. The
partner of a cell in another part is found by one look-up of its key.

A variable that keeps parts (`Holds`) does not merge them, until these are all it has: then it may only leave the grid,
merge by merge. Grids on that way are never the best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gridmodl.jit.template import bind, inlined
from gridmodl.pricing import finished
from gridmodl.search.grid.cells import LOW, State, salt, slot_of
from gridmodl.search.grid.optima import GridMerge
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import GridTask, MergeBuffers, Worker
from gridmodl.search.moves import Buffers, cell_price, part_price, partition_price
from gridmodl.terms import Shape, Variable


def merge_state(worker: Worker, is_greedy: bool = False) -> int:
    """Merge the grid in the state, which must be priced, and price the result; return the number of merges made.

    The grid stays as it is if it has more cells or pairs of groups than the buffers hold: such a grid tells nothing.
    """
    task, merging, state = worker.task, worker.merge, worker.state
    now, n_cells = merging.now[0], int(state.now[0].n_cells)
    informative = np.flatnonzero(state.n_parts > 1)
    n, n_parts = len(informative), state.n_parts[informative]
    n_pairs = np.where(task.facts.categorical[informative], n_parts * n_parts, n_parts)
    fits = (
        0 < n <= len(merging.variables)
        and n_cells <= len(merging.listed)
        and n_parts.sum() <= len(merging.left)
        and n_pairs.sum() <= len(merging.deltas)
    )
    if not fits:
        return 0
    merging.variables[:n] = informative
    merging.n_left[:n] = n_parts
    merging.least[:n] = np.where(task.holds.required, 0, task.holds.least)[informative]
    merging.part_at[1 : n + 1] = np.cumsum(n_parts)
    merging.pair_at[1 : n + 1] = np.cumsum(n_pairs)
    now.n_variables, now.step, now.best_step, now.is_built, now.is_greedy = n, 0, 0, False, is_greedy
    steps = bind(merge_steps, task.criterion)
    task.clock.repeat(
        lambda n_steps: bool(
            steps(task.rows, task.facts, task.p, task.holds.begins, state, merging, worker.buffers, n_steps)
        ),
        None,
        size=max(1, 2**20 // (n_cells * n)),
    )
    if not now.is_built:  # stopped before the first step: there is no path
        return 0
    bind(keep_best)(task.rows, state, merging, worker.buffers)
    worker.price()
    return int(now.best_step)


def merge_path(task: GridTask, grid: Grid) -> list[GridMerge]:
    """Merges from a grid down to a single cell, the cheapest first."""
    worker = Worker(task, whole=True)
    worker.load(grid)
    merge_state(worker)
    merging, path = worker.merge, []
    for s, k in enumerate(grid.variables):
        base = int(merging.part_at[s])
        for goes in range(grid.shape[s]):
            step = int(merging.gone[base + goes])
            if step < NEVER:
                path.append((step, GridMerge(k, int(merging.into[base + goes]), goes, float(merging.costs[step - 1]))))
    return [merge for _, merge in sorted(path)]


# Phases of a merge: take out the cells of the part that goes, put them back into the part that stays, add the pairs of
# all its cells with its new neighbour.
TAKE_OUT, PUT_BACK, MEET = range(3)


def merge_steps(
    rows: Any, facts: Any, p: Any, begins: Any, state: State, merging: MergeBuffers, buffers: Buffers, n_steps: int
) -> bool:
    """Make at most `n_steps` merges; return True when there are no more to make.

    Cells are taken out and put back one by one, each with its pairs; if a cell moves into another, that one is taken
    out too, and their union is put back. The first step puts all cells in. So cells and pairs are priced in one place:
    every copy of the terms in a kernel takes half a second to compile.
    """
    cell_part, listed, moved, keys = merging.cell_part, merging.listed, merging.moved, state.keys
    part_at, part_cells, costs = merging.part_at, merging.n_cells, merging.costs
    cell_rows, state_now, now = buffers.left_rows, state.now[0], merging.now[0]
    for _ in range(n_steps):
        is_building, step, n_listed = not now.is_built, now.step, state_now.n_cells
        if is_building:
            start(rows, begins, state, merging, buffers)
            now.total, now.best_cost, now.n_used = state_now.fixed, state_now.cost, 0
        cost, change, v, stays, goes, price = cheapest_merge(facts, p, merging, now.total, is_building)
        if not is_building:
            if cost == np.inf or (now.is_greedy and not cost < now.best_cost):
                return True
            now.total += change
            if part_cells[part_at[v] + goes] > part_cells[part_at[v] + stays]:
                stays, goes = goes, stays
            n_listed = list_cells(cell_part[v], cell_rows, moved, listed, goes, step, state_now.n_cells)
            if 2 * (now.n_used + n_listed) > len(keys):
                now.n_used = forget_keys(state, cell_rows)
        move_cells(p, facts.categorical, state, merging, buffers, v, stays, goes, price, n_listed, is_building)
        if not is_building:
            costs[step] = cost
            now.step = step + 1
            if cost <= now.best_cost and keeps_holds(merging):  # ties: the fewest parts
                now.best_cost, now.best_step = cost, step + 1
        now.is_built = True
    return False


@inlined
def move_cells(
    p: Any, categorical: Any, state: State, merging: MergeBuffers, buffers: Buffers, v: Any, stays: Any, goes: Any,
    price_of_union: float, n_listed: Any, is_building: bool,
) -> None:  # fmt: skip
    """Move the listed cells from part `goes` of variable v to part `stays`; if `is_building`, put all cells in."""
    cell_key, keys, marks, generation = state.cell_key, state.keys, state.marks, state.now[0].generation
    variables, cell_part, listed, moved = merging.variables, merging.cell_part, merging.listed, merging.moved
    part_at, part_cells, now = merging.part_at, merging.n_cells, merging.now[0]
    counts, cell_rows, cell_prices = buffers.left, buffers.left_rows, buffers.left_price
    step, n_variables, total, n_used = now.step, now.n_variables, now.total, now.n_used
    beyond: Any = np.int64(-1)
    c: Any = np.int64(-1)
    for phase in range(PUT_BACK if is_building else TAKE_OUT, 3):
        if phase == PUT_BACK and not is_building:
            beyond = unlink(merging, v, stays, goes, price_of_union)
        if phase == MEET:
            n_listed = 0
            if beyond >= 0:
                n_listed = list_cells(cell_part[v], cell_rows, moved, listed, stays, step, state.now[0].n_cells)
        for t in range(2 * n_listed if phase == PUT_BACK else n_listed):
            other: Any = -1
            sign = -1.0
            if phase != PUT_BACK:
                c, sign = np.int64(listed[t]), phase - 1.0
            elif t % 2 == 1:
                c, sign = np.int64(listed[t // 2]), 1.0
            elif is_building:
                continue
            else:  # before a cell is put back, the cell that it merges with is taken out
                other = np.int64(listed[t // 2])
                cell_key[other] += salt(variables[v], stays) - salt(variables[v], goes)
                cell_part[v, other] = stays
                c = cell_at(keys, marks, generation, cell_key[other])
                if c == NO_CELL:
                    continue
                listed[t // 2] = c
            if phase == PUT_BACK and not is_building:
                moved[c] = step
            place = slot_of(keys, marks, generation, cell_key[c])
            n_used += 1 if marks[place] >> 32 != generation else 0
            keys[place], marks[place] = cell_key[c], generation << 32 | (c if sign > 0.0 else NO_CELL)
            price_cell(p, categorical, state, merging, buffers, n_variables, c, sign, phase, v, beyond, other >= 0)
            if is_building:
                total += cell_prices[c]
            if other >= 0:
                join_cells(counts, cell_rows, cell_part, part_at, part_cells, n_variables, c, other)
    now.total, now.n_used = total, n_used


def cheapest_merge(
    facts: Any, p: Any, merging: MergeBuffers, total: float, is_building: bool
) -> tuple[float, float, Any, Any, Any, float]:
    """Merge with the lowest cost: cost, change of the prices, variable, its two parts, price of their union.

    If `is_building`, only the prices of the parts are computed.
    """
    categorical, n_values, constant = facts.categorical, facts.n_values, facts.constant
    by_parts, by_parts_at = facts.by_parts, facts.by_parts_at
    variables, part_at, pair_at, n_left = merging.variables, merging.part_at, merging.pair_at, merging.n_left
    head, right, deltas, n_variables = merging.head, merging.right, merging.deltas, merging.now[0].n_variables
    part_rows, part_values, part_prices = merging.n_rows, merging.n_values, merging.price
    held, least = merging.held, merging.least
    n_informative, n_all_cells = 0, 1.0
    for s in range(n_variables):
        n_informative += 1 if n_left[s] > 1 else 0
        n_all_cells *= float(n_left[s])
    lowest, change, v, stays, goes, price = np.inf, 0.0, np.int64(0), np.int64(0), np.int64(0), 0.0
    for s in range(n_variables):
        if n_left[s] == 1:
            continue
        k, base = variables[s], part_at[s]
        table = by_parts[by_parts_at[k] : by_parts_at[k + 1]]
        known = Variable(categorical[k], False, n_values[k], constant[k], table)
        best, best_price = np.inf, 0.0
        best_i, best_j = np.int64(-1), np.int64(-1)
        i = head[s]
        while i >= 0:
            j = i if is_building else np.int64(right[base + i])
            while j >= 0:
                n, m = part_rows[base + i], part_values[base + i]
                if not is_building:
                    n, m = n + part_rows[base + j], m + part_values[base + j]
                union_price = part_price(p, known, 0, n, m)
                if is_building:
                    part_prices[base + i] = union_price
                    break
                at = pair_at[s] + (min(i, j) * (part_at[s + 1] - base) + max(i, j) if categorical[k] else i)
                more = deltas[at] + union_price - part_prices[base + i] - part_prices[base + j]
                is_held = n_left[s] > least[s] and (held[base + j] or (categorical[k] and held[base + i]))
                if more < best and not is_held:
                    best, best_i, best_j, best_price = more, i, j, union_price
                j = np.int64(right[base + j]) if categorical[k] else np.int64(-1)
            i = np.int64(right[base + i])
        if is_building or best == np.inf:
            continue
        n_after = n_informative - (1 if n_left[s] == 2 else 0)
        shape = Shape(len(categorical), n_after, n_all_cells / float(n_left[s]) * float(n_left[s] - 1))
        best += partition_price(p, known, n_left[s] - 1) - partition_price(p, known, n_left[s])
        cost = finished(p, total + best, 0.0, shape)
        if cost < lowest:
            lowest, change, v, stays, goes, price = cost, best, np.int64(s), best_i, best_j, best_price
    return lowest, change, v, stays, goes, price


@inlined
def keeps_holds(merging: MergeBuffers) -> bool:
    """Whether each variable has one part, or all parts that it keeps."""
    n_left, least = merging.n_left, merging.least
    is_kept = True
    for s in range(merging.now[0].n_variables):
        is_kept = is_kept and not 1 < n_left[s] < least[s]
    return is_kept


@inlined
def list_cells(parts: Any, cell_rows: Any, moved: Any, listed: Any, part: Any, step: Any, n_cells: Any) -> int:
    """List the cells of a part that have not moved at this step; return their number."""
    n_listed = 0
    for i in range(n_cells):
        if parts[i] == part and cell_rows[i] > 0 and moved[i] != step:
            listed[n_listed] = i
            n_listed += 1
    return n_listed


@inlined
def cell_at(keys: Any, marks: Any, generation: Any, key: Any) -> Any:
    """Cell with a key, or NO_CELL."""
    place = slot_of(keys, marks, generation, key)
    return marks[place] & LOW if marks[place] >> 32 == generation else NO_CELL


@inlined
def price_cell(
    p: Any, categorical: Any, state: State, merging: MergeBuffers, buffers: Buffers, n_variables: Any, c: Any,
    sign: float, phase: Any, v: Any, beyond: Any, is_joined: bool,
) -> None:  # fmt: skip
    """Price cell `c` if it is put back, and add its pairs to the deltas; if `sign` is -1, subtract them.

    In phase MEET, only the pairs with part `beyond` of variable v are added. If `is_joined`, another cell is about to
    merge with `c`, whose pairs with `beyond` are in no delta yet.
    """
    cell_key, keys, marks, generation = state.cell_key, state.keys, state.marks, state.now[0].generation
    variables, part_at, pair_at, cell_part = merging.variables, merging.part_at, merging.pair_at, merging.cell_part
    n_left, head, left, right, deltas = merging.n_left, merging.head, merging.left, merging.right, merging.deltas
    counts, cell_rows, cell_prices, union = buffers.left, buffers.left_rows, buffers.left_price, merging.union
    for s in range(-1, n_variables):  # -1: the cell itself
        if (sign < 0.0 or phase == MEET) if s < 0 else (n_left[s] == 1 or (phase == MEET and s != v)):
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
            near = beyond if phase == MEET else near
        while near >= 0:
            d: Any = c
            if s >= 0:
                d = NO_CELL
                if near != q and not (is_joined and s == v and near == beyond):
                    d = cell_at(keys, marks, generation, key + salt(k, near))
            if d != NO_CELL:
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
            if s >= 0 and is_group:
                near = np.int64(right[base + near])
            elif s >= 0 and phase != MEET and near == left[base + q]:
                near = np.int64(right[base + q])
            else:
                near = np.int64(-1)


@inlined
def join_cells(
    counts: Any, cell_rows: Any, cell_part: Any, part_at: Any, part_cells: Any, n_variables: Any, c: Any, other: Any
) -> None:
    """Move all rows of cell `other` to cell c."""
    cell_rows[c] += cell_rows[other]
    cell_rows[other] = 0
    for i in range(counts.shape[1]):
        counts[c, i] += counts[other, i]
    for s in range(n_variables):
        part_cells[part_at[s] + cell_part[s, other]] -= 1


# Buffers of merges: parts and cells are counted and linked at the start, unlinked by a merge, renumbered at the end.

NEVER = 2**62
NO_CELL = LOW  # number in the hash table for a key that no cell has any more


def start(rows: Any, begins: Any, state: State, merging: MergeBuffers, buffers: Buffers) -> None:
    """Count the rows of cells and parts, and link each part to its neighbours."""
    part, cell_of_row, cell_row, state_now = state.part, state.cell_of_row, state.cell_row, state.now[0]
    atom, atom_at, atom_rows, atom_values = rows.atom, rows.atom_at, rows.atom_rows, rows.atom_values
    codes, weights, n_cells, n_variables = rows.codes, rows.weights, state_now.n_cells, merging.now[0].n_variables
    variables, part_at, pair_at, head = merging.variables, merging.part_at, merging.pair_at, merging.head
    cell_part, listed, moved, deltas = merging.cell_part, merging.listed, merging.moved, merging.deltas
    left, right, gone, held = merging.left, merging.right, merging.gone, merging.held
    part_cells, part_rows, part_values = merging.n_cells, merging.n_rows, merging.n_values
    counts, cell_rows = buffers.left, buffers.left_rows
    state_now.generation += 1
    for i in range(pair_at[n_variables]):
        deltas[i] = 0.0
    for s in range(n_variables):
        k, base, head[s] = variables[s], part_at[s], 0
        width = part_at[s + 1] - base
        for i in range(width):
            left[base + i], right[base + i] = i - 1, i + 1 if i + 1 < width else -1
            part_cells[base + i] = part_rows[base + i] = part_values[base + i] = 0
            gone[base + i], held[base + i] = NEVER, False
        for a in range(atom_at[k], atom_at[k + 1]):
            held[base + part[a]] |= begins[a]
            part_rows[base + part[a]] += atom_rows[a]
            part_values[base + part[a]] += atom_values[a]
        for c in range(n_cells):
            q = part[atom_at[k] + atom[k, cell_row[c]]]
            cell_part[s, c] = q
            part_cells[base + q] += 1
    for c in range(n_cells):
        listed[c], moved[c] = c, -1
    for r in range(len(cell_of_row)):
        n = weights[r] if len(weights) > 0 else 1
        counts[cell_of_row[r], codes[r]] += n
        cell_rows[cell_of_row[r]] += n


def unlink(merging: MergeBuffers, v: int, stays: int, goes: int, price: float) -> Any:
    """Merge part `goes` of variable v, whose cells are taken out, into part `stays`, whose new price is `price`.

    Return the new neighbour of the part that stays, if the variable is numerical and there is one, else -1.
    """
    part_at, pair_at, n_left, head = merging.part_at, merging.pair_at, merging.n_left, merging.head
    left, right, into, gone, deltas = merging.left, merging.right, merging.into, merging.gone, merging.deltas
    part_cells, part_rows, part_values = merging.n_cells, merging.n_rows, merging.n_values
    base, step = part_at[v], merging.now[0].step
    before, after = np.int64(left[base + goes]), np.int64(right[base + goes])
    is_numerical = pair_at[v + 1] - pair_at[v] == part_at[v + 1] - base
    if is_numerical and before >= 0:
        deltas[pair_at[v] + before] = 0.0  # no cells are left, so the sum is 0 but for rounding
    if before >= 0:
        right[base + before] = after
    else:
        head[v] = after
    if after >= 0:
        left[base + after] = before
    if before != stays:
        merging.held[base + stays] = merging.held[base + goes]
    into[base + goes], gone[base + goes] = stays, step + 1
    n_left[v] -= 1
    part_cells[base + stays] += part_cells[base + goes]
    part_rows[base + stays] += part_rows[base + goes]
    part_values[base + stays] += part_values[base + goes]
    merging.price[base + stays] = price
    if not is_numerical:
        return -1
    return after if before == stays else before


def forget_keys(state: State, cell_rows: Any) -> int:
    """Rebuild the hash table from the cells with rows; return their number."""
    cell_key, keys, marks, now = state.cell_key, state.keys, state.marks, state.now[0]
    generation, n_used = now.generation + 1, 0
    now.generation = generation
    for c in range(now.n_cells):
        if cell_rows[c] > 0:
            place = slot_of(keys, marks, generation, cell_key[c])
            keys[place], marks[place] = cell_key[c], generation << 32 | c
            n_used += 1
    return n_used


def keep_best(rows: Any, state: State, merging: MergeBuffers, buffers: Buffers) -> None:
    """Write the best grid met to the state, and clear the buffers."""
    part, n_parts, atom_at = state.part, state.n_parts, rows.atom_at
    variables, part_at, number = merging.variables, merging.part_at, merging.left
    into, gone, best = merging.into, merging.gone, merging.now[0].best_step
    for c in range(state.now[0].n_cells):
        for i in range(buffers.left.shape[1]):
            buffers.left[c, i] = 0
        buffers.left_rows[c] = 0
        buffers.left_price[c] = 0.0
    for s in range(merging.now[0].n_variables):
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
