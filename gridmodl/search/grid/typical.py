"""Typicality of a value in its group: the cost increase if the value moved to the best other group.

Values that are characteristic of a group cost most to move; values that fit elsewhere as well cost almost nothing. All
other values and variables stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import count_rows
from gridmodl.jit.template import bind, inlined
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import GridTask
from gridmodl.search.moves import Frozen, Setting, cell_price, margin_price, part_price, total_cost
from gridmodl.search.target.given import inputs_given
from gridmodl.terms import Part

# Counts and prices by frozen cell and group, 256 MB: further groups are priced in another block.
MAX_BYTES = 2**28
# Without classes, the price of a cell depends on its rows alone, and a value has few rows in most cells: the change by
# 1 to N_LOOKED_UP more rows is looked up. That takes one addition per group: 1.5 million entries by 200 groups, 0.4 s.
N_LOOKED_UP = 4


class _Values(NamedTuple):
    """Values of a variable and their rows."""

    order: Any  # rows sorted by value
    first: Any  # first place of each value in `order`; one more entry at the end
    frozen: Any  # frozen cell of each row
    codes: Any  # class of each row
    weights: Any  # weight of each row; empty if all are 1
    n_values: Any  # distinct values of each value; 1, unless it stands for a part of another grid


class _Groups(NamedTuple):
    """Groups of a variable."""

    group: Any  # group of each value
    rows: Any  # rows of each group
    values: Any  # distinct values of each group
    prices: Any  # part price of each group


class _TypicalBuffers(NamedTuple):
    """Buffers for counts and prices by frozen cell and group."""

    counts: Any
    rows: Any
    tables: Any  # prices of the cells, then their changes by 1, 2, ... more rows
    entry: Any  # counts of one value by frozen cell; zero between calls
    union: Any  # counts of one cell
    touched: Any  # frozen cells where a value has rows
    changes: Any  # change of the price of the cells of each group if a value joins it


def typicality(task: GridTask, grid: Grid, k: int) -> NDArray[np.float64]:
    """Cost increase of the grid if a value moved to the best other group, for each value of categorical variable k.

    All zero if there is one group. Negative only if the grid is not a local optimum.
    """
    if task.has_margins and not task.facts.is_target[k]:
        task, grid = inputs_given(task, grid)
    rows, n_values = task.rows, task.rows.n_atoms(k)
    groups = grid.parts_of(k, n_values)
    n_groups = int(groups.max()) + 1
    if n_groups == 1:
        return np.zeros(n_values)
    frozen, n_frozen = _frozen_cells(task, grid, k)
    setting = setting_beside(task, grid, k, (n_groups - 1, n_groups))
    part_rows, part_values, part_prices = _prices_of_parts(task, grid, k)
    n_counts, n_looked_up = task.n_counts, N_LOOKED_UP if task.n_counts == 1 else 0
    width = max(1, min(n_groups, MAX_BYTES // (8 * n_frozen * (n_counts + n_looked_up + 2))))
    at, end = rows.atom_at[k], rows.atom_at[k + 1]
    leave, join = np.zeros(n_values), np.full(n_values, np.inf)
    values = _Values(
        rows.order[k], rows.first[at + k : end + k + 1], frozen, rows.codes, rows.weights, rows.atom_values[at:end]
    )
    parts = _Groups(groups, part_rows, part_values, part_prices)
    buffers = _TypicalBuffers(
        counts=np.zeros((n_frozen, width, n_counts), dtype=np.int64),
        rows=np.zeros((n_frozen, width), dtype=np.int64),
        tables=np.zeros((1 + n_looked_up, n_frozen, width)),
        entry=np.zeros((n_frozen, n_counts), dtype=np.int64),
        union=np.zeros(n_counts, dtype=np.int64),
        touched=np.zeros(n_frozen, dtype=np.int64),
        changes=np.zeros(width),
    )
    cells_total, kernel = 0.0, bind(price_transfers, task.criterion)
    for lo in range(0, n_groups, width):
        cells_total += kernel(values, setting, parts, buffers, lo, min(lo + width, n_groups), leave, join)
    typical = np.empty(n_values)
    size = np.bincount(groups, minlength=n_groups)
    bind(cost_of_moves, task.criterion)(
        setting, cells_total + part_prices.sum(), n_groups, leave + join, size[groups] == 1, typical
    )
    return typical


def _frozen_cells(task: GridTask, grid: Grid, k: int) -> tuple[NDArray[np.int64], int]:
    """Frozen cell of each row (its cell without variable k), and the number of frozen cells."""
    cell, n_cells = np.zeros(task.rows.n_lines, dtype=np.int64), 1
    for variable, parts, n_parts in zip(grid.variables, grid.parts, grid.shape, strict=True):
        if variable == k:
            continue
        keys = cell * n_parts + parts[task.rows.atom[variable]]
        if n_cells * n_parts <= 4 * len(keys) + 1024:  # a table instead of a sort
            is_there = np.zeros(n_cells * n_parts, dtype=bool)
            is_there[keys] = True
            cell = (np.cumsum(is_there) - 1)[keys]
        else:
            cell = np.unique(keys, return_inverse=True)[1]
        n_cells = int(cell.max()) + 1
    return cell, n_cells


def setting_beside(task: GridTask, grid: Grid, k: int, sizes: Sequence[int]) -> Setting:
    """Setting of a search of variable k, the others frozen; if k is the target, for the numbers of parts `sizes`."""
    p, facts, n_parts = task.p, task.facts, _n_parts(task, grid)
    is_target, n_target_parts = facts.is_target, _n_target_parts(task, grid)
    price, by_target = 0.0, np.zeros(max(sizes) + 1 if is_target[k] else 0)
    for v in range(task.n_variables):
        if v == k:
            continue
        known, parts = facts.variable(v), _parts(task, grid, v, int(n_parts[v]))
        price += task.criterion.variable(p, known, int(n_parts[v]))
        price += sum(task.criterion.part(p, known, part) for part in parts)
    if is_target[k]:
        bind(sum_margins, task.criterion)(p, _margin_rows(task, grid, k), min(sizes), by_target)
    others = np.arange(task.n_variables) != k
    frozen = Frozen(
        n_variables=int(np.count_nonzero(~is_target)),
        n_informative=int(np.count_nonzero((n_parts > 1) & others & ~is_target)),
        n_cells=float(np.prod(n_parts[others], dtype=np.float64)),
        n_target_parts=0 if is_target[k] else n_target_parts,
        price=float(price),
        by_target=by_target,
    )
    return Setting(p, facts.variable(k), frozen)


def _margin_rows(task: GridTask, grid: Grid, k: int) -> NDArray[np.int64]:
    """Rows of the cells of the inputs, which are the frozen cells beside the target k."""
    frozen, n_frozen = _frozen_cells(task, grid, k)
    return count_rows(frozen, task.rows.weights if len(task.rows.weights) else None, n_frozen)


def sum_margins(p: Any, rows: Any, least: int, by_target: Any) -> None:
    """Write the sum of all margins, of `rows` rows each, for `least` and more parts of the target."""
    for j in range(least, len(by_target)):
        by_target[j] = 0.0
        for c in range(len(rows)):
            by_target[j] += margin_price(p, rows[c], np.int64(j))


def _n_parts(task: GridTask, grid: Grid) -> NDArray[np.int64]:
    """Number of parts of each variable."""
    n_parts = np.ones(task.n_variables, dtype=np.int64)
    n_parts[list(grid.variables)] = grid.shape
    return n_parts


def _n_target_parts(task: GridTask, grid: Grid) -> int:
    """Number of parts of a partitioned target; 0 if there is none."""
    is_target = task.facts.is_target
    return int(_n_parts(task, grid)[is_target][0]) if is_target.any() else 0


def _prices_of_parts(
    task: GridTask, grid: Grid, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows, values and prices of the parts of variable k."""
    parts = _parts(task, grid, k, int(_n_parts(task, grid)[k]))
    coupled = 0 if task.facts.is_target[k] else _n_target_parts(task, grid)
    terms, facts = task.criterion, task.facts.variable(k)
    prices = [terms.part(task.p, facts, part) for part in parts]
    if coupled:
        prices = [price + terms.margin(task.p, part.rows, coupled) for price, part in zip(prices, parts, strict=True)]
    rows, values = zip(*parts, strict=True)
    return np.array(rows, dtype=np.int64), np.array(values, dtype=np.int64), np.array(prices, dtype=np.float64)


def _parts(task: GridTask, grid: Grid, k: int, n_parts: int) -> list[Part]:
    """Parts of variable k: rows and distinct values of each."""
    labels, at = grid.parts_of(k, task.rows.n_atoms(k)), task.rows.atom_at
    rows, values = np.zeros(n_parts, dtype=np.int64), np.zeros(n_parts, dtype=np.int64)
    np.add.at(rows, labels, task.rows.rows_of_atoms(k))
    np.add.at(values, labels, task.rows.atom_values[at[k] : at[k + 1]])
    return [Part(n, m) for n, m in zip(rows.tolist(), values.tolist(), strict=True)]


def price_transfers(
    values: _Values, setting: Setting, parts: _Groups, buffers: _TypicalBuffers, lo: int, hi: int, leave: Any, join: Any
) -> float:
    """Price each value taken out of its group, and added to groups `lo` to `hi`; return the cell prices of these.

    `leave` gets the change of the group that a value leaves, `join` the lowest change of a group that it joins.
    """
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    group, part_rows, part_values, part_prices = parts.group, parts.rows, parts.values, parts.prices
    counts, cell_rows, tables, union = buffers.counts, buffers.rows, buffers.tables, buffers.union
    entry, touched, changes, atom_values = buffers.entry, buffers.touched, buffers.changes, values.n_values
    n_classes, n_tables, width = counts.shape[2], tables.shape[0], hi - lo
    count_cells(values, group, buffers, lo, width)
    total = fill_tables(p, buffers, width)
    for v in range(len(group)):
        own: Any = np.int64(group[v]) - lo
        n_touched, v_rows = fill_entry(values, buffers, v)
        for g in range(width):
            changes[g] = 0.0
        leaving = 0.0
        for t in range(n_touched):
            f = touched[t]
            n = 0
            for c in range(n_classes):
                n += entry[f, c]
            begin: Any = 0
            end: Any = width
            if n < n_tables:
                for g in range(width):
                    changes[g] += tables[n, f, g]
                begin, end = (own, own + 1) if 0 <= own < width else (0, 0)
            for g in range(begin, end):
                sign = -1 if g == own else 1
                n_cell, price = cell_rows[f, g] + sign * n, 0.0
                if n_cell > 0:
                    for c in range(n_classes):
                        union[c] = counts[f, g, c] + sign * entry[f, c]
                    price = cell_price(p, union, n_cell)
                if g == own:
                    leaving += price - tables[0, f, g]
                else:
                    changes[g] += price - tables[0, f, g]
        for g in range(width):
            sign, price = -1 if g == own else 1, 0.0
            n = part_rows[lo + g] + sign * v_rows
            if n > 0:
                price = part_price(p, facts, n_target_parts, n, part_values[lo + g] + sign * atom_values[v])
            if g == own:
                leave[v] = leaving + price - part_prices[lo + g]
            else:
                join[v] = min(join[v], changes[g] + price - part_prices[lo + g])
        for t in range(n_touched):
            for c in range(n_classes):
                entry[touched[t], c] = 0
    return total


@inlined
def count_cells(values: _Values, group: Any, buffers: _TypicalBuffers, lo: Any, width: Any) -> None:
    """Count the rows of `width` groups from group `lo` on, by frozen cell and class."""
    order, first, frozen, codes, weights = values.order, values.first, values.frozen, values.codes, values.weights
    counts, rows = buffers.counts, buffers.rows
    for f in range(counts.shape[0]):
        for g in range(width):
            rows[f, g] = 0
            for c in range(counts.shape[2]):
                counts[f, g, c] = 0
    for v in range(len(group)):
        own: Any = np.int64(group[v]) - lo
        if 0 <= own < width:
            for i in range(first[v], first[v + 1]):
                r = order[i]
                n = weights[r] if len(weights) > 0 else 1
                counts[frozen[r], own, codes[r]] += n
                rows[frozen[r], own] += n


@inlined
def fill_tables(p: Any, buffers: _TypicalBuffers, width: Any) -> float:
    """Price the cells of `width` groups, and their changes by few more rows; return the sum of the prices."""
    counts, rows, tables, union = buffers.counts, buffers.rows, buffers.tables, buffers.union
    total = 0.0
    for f in range(counts.shape[0]):
        for g in range(width):
            for more in range(tables.shape[0]):  # `more` > 0 only if a cell has one count
                price = 0.0
                n = min(rows[f, g] + more, p.n_rows)  # no cell has more rows than there are
                if n > 0:
                    for c in range(counts.shape[2]):
                        union[c] = counts[f, g, c] + n - rows[f, g]
                    price = cell_price(p, union, n)
                tables[more, f, g] = price - tables[0, f, g] if more > 0 else price
            total += tables[0, f, g]
    return total


@inlined
def fill_entry(values: _Values, buffers: _TypicalBuffers, v: Any) -> tuple[Any, Any]:
    """Count the rows of value v by frozen cell and class; return the number of cells with rows, and of all rows."""
    order, first, frozen, codes, weights = values.order, values.first, values.frozen, values.codes, values.weights
    entry, touched = buffers.entry, buffers.touched
    n_touched, n_rows = 0, 0
    for i in range(first[v], first[v + 1]):
        r = order[i]
        n, f = weights[r] if len(weights) > 0 else 1, frozen[r]
        is_new = True
        for c in range(entry.shape[1]):
            is_new = is_new and entry[f, c] == 0
        if is_new:
            touched[n_touched] = f
            n_touched += 1
        entry[f, codes[r]] += n
        n_rows += n
    return n_touched, n_rows


def cost_of_moves(setting: Setting, parts_price: float, n_parts: int, changes: Any, ends: Any, typical: Any) -> None:
    """Write to `typical` the change of the cost by each change of the price of the parts; `ends`: a part ends too."""
    cost = 0.0
    for i in range(-1, len(changes)):
        change = changes[i] if i >= 0 else 0.0
        after = total_cost(setting, parts_price + change, n_parts - (1 if i >= 0 and ends[i] else 0))
        if i >= 0:
            typical[i] = after - cost
        else:
            cost = after
