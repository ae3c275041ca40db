"""The room of merges: parts and cells counted and linked at the start, unlinked at a merge, numbered in the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridmodl.search.cells import GENERATION, LOW, N_CELLS, Board, slot_of
from gridmodl.search.gridtask import MergeRoom
from gridmodl.search.moves import Work

NEVER = 2**62
NOBODY = LOW  # in the hash table, the cell of a key that no cell has any more

# The fields of `MergeRoom.now` and `MergeRoom.sums`.
STEP, BEST_STEP, N_USED, IS_BUILT, IS_GREEDY = range(5)
TOTAL, BEST_COST = range(2)


def start(rows: Any, board: Board, room: MergeRoom, work: Work, n_variables: int) -> None:
    """Count the rows of cells and parts, and link each part with its neighbours."""
    part, _, _, cell_of_row, cell_row, _, _, _, _, board_now, _ = board
    atom, _, atom_at, _, atom_rows, codes, weights, atom_values = rows
    variables, part_at, pair_at, _, head, cell_part, listed, moved, deltas, left, right = room[:11]
    part_cells, part_rows, part_values, _, _, gone = room[11:17]
    counts, cell_rows = work.left, work.left_rows
    board_now[GENERATION] += 1
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
        for c in range(board_now[N_CELLS]):
            q = part[atom_at[k] + atom[k, cell_row[c]]]
            cell_part[s, c] = q
            part_cells[base + q] += 1
    for c in range(board_now[N_CELLS]):
        listed[c], moved[c] = c, -1
    for r in range(len(cell_of_row)):
        n = weights[r] if len(weights) > 0 else 1
        counts[cell_of_row[r], codes[r]] += n
        cell_rows[cell_of_row[r]] += n


def unlink(room: MergeRoom, v: int, stays: int, goes: int, price: float) -> Any:
    """Let one part of a variable go into another; no cell is left in it.

    Returns the new neighbour of the part that stays, if the variable is numerical and there is one, else -1.
    """
    _, part_at, pair_at, n_left, head, _, _, _, deltas, left, right = room[:11]
    part_cells, part_rows, part_values, part_prices, into, gone, now, _, _ = room[11:]
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


def forget_keys(board: Board, cell_rows: Any, now: Any) -> None:
    """Make the hash table anew from the cells that live."""
    cell_key, keys, marks, board_now = board.cell_key, board.keys, board.marks, board.now
    board_now[GENERATION] += 1
    now[N_USED] = 0
    for c in range(board_now[N_CELLS]):
        if cell_rows[c] > 0:
            place = slot_of(keys, marks, board_now[GENERATION], cell_key[c])
            keys[place], marks[place] = cell_key[c], board_now[GENERATION] << 32 | c
            now[N_USED] += 1


def keep_best(rows: Any, board: Board, room: MergeRoom, work: Work, n_variables: int) -> None:
    """Put the best grid met on the board, and leave the room clean."""
    part, n_parts, board_now, atom_at = board.part, board.n_parts, board.now, rows.atom_at
    variables, part_at, number, into, gone, best = (
        room.variables,
        room.part_at,
        room.left,
        room.into,
        room.gone,
        room.now[BEST_STEP],
    )
    for c in range(board_now[N_CELLS]):
        for i in range(work.left.shape[1]):
            work.left[c, i] = 0
        work.left_rows[c] = 0
        work.left_price[c] = 0.0
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
