"""The price of a grid from nothing: what every search of a grid starts from and every result is checked with."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridmodl.search.cells import COST, FIXED, N_ALL_CELLS, N_CELLS, N_INFORMATIVE, Board, number_cells
from gridmodl.search.moves import cell_price, part_price
from gridmodl.template import inlined
from gridmodl.terms import Shape, Variable, finish, grid, variable


@inlined
def added(total: float, rest: float, more: float) -> tuple[float, float]:
    """A sum and what rounding has left out of it so far, with one more term (A. Neumaier).

    So a price does not depend on the order of its terms, even where large ones cancel.
    """
    new = total + more
    lost = (total - new) + more if abs(total) >= abs(more) else (more - new) + total
    return new, rest + lost


def variable_price(
    p: Any,
    facts: Variable,
    n_target_parts: int,
    n_parts: int,
    part: Any,
    at: int,
    n_atoms: int,
    atom_rows: Any,
    atom_values: Any,
    tally: Any,
) -> float:
    """The variable term and the part terms of the variable whose atoms begin at `at`."""
    price, rest = variable(p, facts, n_parts), 0.0
    for i in range(n_parts):
        tally[i, 0] = tally[i, 1] = 0
    if n_parts == 1:
        tally[0, 0], tally[0, 1] = p.n_rows, facts.n_values
    for a in range(at, at + n_atoms if n_parts > 1 else at):
        tally[part[a], 0] += atom_rows[a]
        tally[part[a], 1] += atom_values[a]
    for i in range(n_parts):
        price, rest = added(price, rest, part_price(p, facts, n_target_parts, tally[i, 0], tally[i, 1]))
    return price + rest


def price_board(rows: Any, facts: Any, p: Any, board: Board, tally: Any, counts: Any, by_cell: Any) -> float:
    """Number the cells of the grid on the board and price it, from nothing."""
    number_cells(rows, board)
    part, n_parts, prices, cell_of_row = board.part, board.n_parts, board.prices, board.cell_of_row
    now, sums = board.now, board.sums
    categorical, is_target, n_values, log_factorials, constant, log_groupings, groupings_at = facts
    atom_at, atom_rows, atom_values = rows.atom_at, rows.atom_rows, rows.atom_values
    codes, weights = rows.codes, rows.weights
    n_inputs, n_informative, n_target_parts = len(n_parts), now[N_INFORMATIVE], 0
    for k in range(len(n_parts)):
        if is_target[k]:
            n_inputs, n_target_parts = n_inputs - 1, n_parts[k]
            n_informative -= 1 if n_parts[k] > 1 else 0
    total, rest = 0.0, 0.0
    for k in range(len(n_parts)):
        table = log_groupings[groupings_at[k] : groupings_at[k + 1]]
        known = Variable(categorical[k], is_target[k], n_values[k], log_factorials[k], constant[k], table)
        n_atoms = atom_at[k + 1] - atom_at[k]
        coupled = 0 if is_target[k] else n_target_parts  # only parts of an input know the number of the target's
        prices[k] = variable_price(
            p, known, coupled, n_parts[k], part, atom_at[k], n_atoms, atom_rows, atom_values, tally
        )
        total, rest = added(total, rest, prices[k])
    sums[FIXED] = total + rest
    # Rows in the order of their cells: a table of counts by cell could be as large as rows times classes.
    n_cells = now[N_CELLS]
    first, order = by_cell[0], by_cell[1]
    for c in range(n_cells + 1):
        first[c] = 0
    for r in range(len(cell_of_row)):
        first[cell_of_row[r] + 1] += 1
    for c in range(n_cells):
        first[c + 1] += first[c]
    for r in range(len(cell_of_row) - 1, -1, -1):
        first[cell_of_row[r] + 1] -= 1
        order[first[cell_of_row[r] + 1]] = r
    # first[c + 1] is now where cell c begins.
    for c in range(n_cells):
        end = first[c + 2] if c + 1 < n_cells else len(cell_of_row)
        for j in range(len(counts)):
            counts[j] = 0
        n: Any = np.int64(0)
        for i in range(first[c + 1], end):
            r = order[i]
            counts[codes[r]] += weights[r] if len(weights) > 0 else 1
            n += weights[r] if len(weights) > 0 else 1
        total, rest = added(total, rest, cell_price(p, counts, n))
    shape = Shape(n_inputs, n_informative, sums[N_ALL_CELLS])
    total, rest = added(total, rest, grid(p, shape))
    sums[COST] = finish(p, total + rest, shape)
    return sums[COST]
