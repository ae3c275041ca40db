"""Cost of adding values to each existing group of a variable: new values, or the values of another group.

The parts of the other variable stay as they are. The values that join have e_t rows in part t of the other variable, n
rows in total, and are v distinct values. The change of the price is

    sum_t [ cell(N_gt + e_t) - cell(N_gt) ] + part(N_g + n, V_g + v) - part(N_g, V_g)          for each group g

Sums are cut at the number of all rows and values: only prices that are never used, such as that of a group that joins
itself, would exceed them.

The grid and variable terms, and all other prices, do not depend on the group that is joined, so the group with the
lowest change costs least. Joining an empty group makes a group of its own. This is for grids without classes, where a
cell has one count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.grid.typical import N_LOOKED_UP
from gridmodl.search.moves import part_price
from gridmodl.search.pair.state import price_at
from gridmodl.terms import Criterion, Variable


class Groups(NamedTuple):
    """Groups of a variable."""

    cells: NDArray[np.int64]  # rows by part of the other variable, then by group
    rows: NDArray[np.int64]  # rows of each group
    values: NDArray[np.int64]  # distinct values of each group


class Joining(NamedTuple):
    """Values, or groups of values, that may join a group, with their rows by part of the other variable."""

    first: NDArray[np.int64]  # index of the first entry of each; at the end, the number of entries
    part: NDArray[np.int64]  # part of each entry; a part may occur more than once
    rows: NDArray[np.int64]  # rows of each entry
    values: NDArray[np.int64]  # number of distinct values of each


class JoinBuffers(NamedTuple):
    """Buffers for prices by part of the other variable, or by group."""

    tables: Any  # prices of cells, then their changes by 1, 2, ... more rows
    entry: Any  # rows of one of the joining values; zero between calls
    touched: Any  # parts where it has rows
    of_parts: Any  # change of the part price of each group
    empty: Any  # price of a cell without rows: 0
    one: Any  # count of one cell


def make_join_buffers(n_tables: int, n_parts: int, n_groups: int) -> JoinBuffers:
    """Make buffers for `n_parts` parts of the other variable, `n_groups` groups and `n_tables` tables of prices."""
    return JoinBuffers(
        tables=np.zeros((n_tables, n_parts, n_groups)),
        entry=np.zeros(n_parts, dtype=np.int64),
        touched=np.zeros(n_parts, dtype=np.int64),
        of_parts=np.zeros(n_groups),
        empty=np.zeros(1),
        one=np.zeros(1, dtype=np.int64),
    )


def join_prices(
    criterion: type[Criterion], p: Any, facts: Variable, groups: Groups, joining: Joining, which: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Change of the price if each of `which` joins each of the groups, without terms that are equal for all groups."""
    n_parts, n_groups = groups.cells.shape
    n_entries = int((joining.first[which + 1] - joining.first[which]).sum())
    n_tables = 1 + N_LOOKED_UP if n_entries > (1 + N_LOOKED_UP) * n_parts else 0  # only if the tables save time
    changes = np.zeros((len(which), n_groups))
    bind(price_joins, criterion)(
        p,
        facts,
        groups,
        joining,
        which,
        make_join_buffers(n_tables, n_parts, n_groups),
        changes,
    )
    return changes


def price_joins(
    p: Any,
    facts: Variable,
    groups: Groups,
    joining: Joining,
    which: Any,
    buffers: JoinBuffers,
    changes: Any,
) -> None:
    """Tabulate the prices of cells and their changes by few more rows, then price each join; `changes` are zero."""
    tables, entry, touched, of_parts, empty, one = buffers
    cells, group_rows, group_values = groups
    first, part, rows, values = joining
    n_tables, n_parts, n_groups = tables.shape
    for more in range(n_tables):
        for t in range(n_parts):
            for g in range(n_groups):
                price = price_at(p, empty, one, min(cells[t, g] + more, p.n_rows))
                tables[more, t, g] = price - tables[0, t, g] if more > 0 else price
    last_n, last_values = np.int64(-1), np.int64(-1)
    for i in range(len(which)):
        v, change = which[i], changes[i]
        n_touched, n = 0, np.int64(0)
        for e in range(first[v], first[v + 1]):
            if entry[part[e]] == 0:
                touched[n_touched] = part[e]
                n_touched += 1
            entry[part[e]] += rows[e]
            n += rows[e]
        for k in range(n_touched):
            t = touched[k]
            more = entry[t]
            entry[t] = 0
            if more < n_tables:
                table = tables[more, t]
                for g in range(n_groups):
                    change[g] += table[g]
                continue
            for g in range(n_groups):
                before = tables[0, t, g] if n_tables > 0 else price_at(p, empty, one, cells[t, g])
                change[g] += price_at(p, empty, one, min(cells[t, g] + more, p.n_rows)) - before
        if n != last_n or values[v] != last_values:  # often the same as for the one before
            last_n, last_values = n, values[v]
            for g in range(n_groups):
                of_parts[g] = part_change(p, facts, group_rows[g], group_values[g], n, values[v])
        for g in range(n_groups):
            change[g] += of_parts[g]


def part_change(p: Any, facts: Variable, n: Any, n_values: Any, more: Any, more_values: Any) -> float:
    """Change of the part price of a group, which may be empty, by `more` rows of `more_values` values."""
    change = 0.0
    for way in range(0 if n > 0 else 1, 2):
        rows, values = min(n + way * more, p.n_rows), min(n_values + way * more_values, facts.n_values)
        price = part_price(p, facts, 0, rows, values)
        change += price if way == 1 else -price
    return change
