"""Number the non-empty cells of a grid, and make the atoms of one variable while all others are frozen.

Each cell has a 64-bit key: the sum over the informative variables of a random number for the part of the cell. The key
of a frozen cell (the cell without variable k) is that key minus the number of its part of k, so cells that differ only
in k are found by one look-up, for any number of variables. The cells themselves are numbered by exact pairs (cell so
far, part), and every grid that a search returns is priced that way: two cells with the same key, a chance of 1e-10 at
100,000 cells, could mislead a step but never a price.

Hash tables are emptied by a new generation number, not by clearing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gridmodl.jit.template import inlined

GOLDEN, MIX_1, MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT_32, SHIFT_30, SHIFT_27, SHIFT_31 = np.uint64(32), np.uint64(30), np.uint64(27), np.uint64(31)
LOW = np.int64(2**32 - 1)


class State(NamedTuple):
    """A grid under search, with its cells; one for each thread."""

    part: Any  # part of each atom, all variables in one flat array
    n_parts: Any  # number of parts of each variable
    prices: Any  # variable term and part terms of each variable
    cell_of_row: Any
    cell_row: Any  # one row of each cell
    cell_key: Any
    keys: Any  # keys of the hash table
    marks: Any  # generation << 32 | number of each slot of the hash table
    frozen_of_cell: Any
    now: Any  # see `Worker`


@inlined
def mixed(x: Any) -> Any:
    """Hash of a 64-bit number (splitmix64)."""
    x = x + GOLDEN
    x = (x ^ (x >> SHIFT_30)) * MIX_1
    x = (x ^ (x >> SHIFT_27)) * MIX_2
    return x ^ (x >> SHIFT_31)


@inlined
def salt(k: Any, part: Any) -> Any:
    """Number that a part adds to the keys of its cells; 0 for the first part, so variables of one part add nothing."""
    return mixed((np.uint64(k) << SHIFT_32) + np.uint64(part)) if part > 0 else np.uint64(0)


@inlined
def slot_of(keys: Any, marks: Any, generation: Any, key: Any) -> Any:
    """Slot of a key in the hash table, or the slot where it would go, whose generation is an older one."""
    mask = np.uint64(len(keys) - 1)
    place = np.int64((key ^ (key >> SHIFT_32)) * GOLDEN >> SHIFT_31 & mask)
    while marks[place] >> 32 == generation and keys[place] != key:
        place = (place + 1) & np.int64(mask)
    return place


def number_cells(rows: Any, state: State) -> None:
    """Number the cells of the grid by exact pairs (cell so far, part), variable after variable."""
    part, n_parts, cell_of_row, cell_row = state.part, state.n_parts, state.cell_of_row, state.cell_row
    keys, marks, now = state.keys, state.marks, state.now[0]
    order, atom_at, first = rows.order, rows.atom_at, rows.first
    n = len(cell_of_row)
    now.n_cells, now.n_informative, now.n_all_cells = 1, 0, 1.0
    for r in range(n):
        cell_of_row[r] = 0
    cell_row[0] = 0
    for k in range(len(n_parts)):
        if n_parts[k] > 1:
            refine(order, first, part, cell_of_row, keys, marks, now, k, atom_at[k], atom_at[k + 1])
            now.n_informative += 1
            now.n_all_cells *= float(n_parts[k])
    give_keys(rows, state)


def refine(
    order: Any, first: Any, part: Any, cell_of_row: Any, keys: Any, marks: Any, now: Any, k: int, begin: int, end: int
) -> None:
    """Cut each cell by the parts of variable k."""
    generation, n_cells = now.generation + 1, 0
    now.generation = generation
    for a in range(begin, end):
        above = np.uint64(part[a]) << SHIFT_32
        for i in range(first[a + k], first[a + k + 1]):
            r = order[k, i]
            key = above + np.uint64(cell_of_row[r])
            place = slot_of(keys, marks, generation, key)
            if marks[place] >> 32 != generation:
                keys[place], marks[place] = key, generation << 32 | n_cells
                n_cells += 1
            cell_of_row[r] = marks[place] & LOW
    now.n_cells = n_cells


def give_keys(rows: Any, state: State) -> None:
    """Find a row and the key of each cell."""
    part, n_parts, cell_of_row, cell_row, cell_key = (
        state.part, state.n_parts, state.cell_of_row, state.cell_row, state.cell_key
    )  # fmt: skip
    atom, atom_at, n_cells = rows.atom, rows.atom_at, state.now[0].n_cells
    for r in range(len(cell_of_row)):
        cell_row[cell_of_row[r]] = r
    for c in range(n_cells):
        cell_key[c] = np.uint64(0)
    for k in range(len(n_parts)):
        if n_parts[k] > 1:
            for c in range(n_cells):
                cell_key[c] += salt(k, part[atom_at[k] + atom[k, cell_row[c]]])


def find_frozen(rows: Any, state: State, k: int) -> int:
    """Number the cells without variable k; return their number."""
    part, n_parts, cell_row, cell_key = state.part, state.n_parts, state.cell_row, state.cell_key
    keys, marks, frozen_of_cell, now = state.keys, state.marks, state.frozen_of_cell, state.now[0]
    atom, at = rows.atom, rows.atom_at[k]
    n_cells = now.n_cells
    if n_parts[k] == 1:
        for c in range(n_cells):
            frozen_of_cell[c] = c
        return n_cells
    generation, n_frozen = now.generation + 1, 0
    now.generation = generation
    for c in range(n_cells):
        key = cell_key[c] - salt(k, part[at + atom[k, cell_row[c]]])
        place = slot_of(keys, marks, generation, key)
        if marks[place] >> 32 != generation:
            keys[place], marks[place] = key, generation << 32 | n_frozen
            n_frozen += 1
        frozen_of_cell[c] = marks[place] & LOW
    return n_frozen


def fill_entries(
    rows: Any, cell_of_row: Any, frozen_of_cell: Any, atoms: Any, slot: Any, k: int, n_frozen: int, in_order: Any
) -> None:
    """Write the entries of the atoms of variable k, taken in the order `in_order`, to the front of `atoms`.

    `slot` is a buffer for the last entry of each frozen cell.
    """
    order, atom_at, places = rows.order, rows.atom_at, rows.first
    codes, weights, atom_values = rows.codes, rows.weights, rows.atom_values
    first, frozen, counts, entry_rows, values = atoms.first, atoms.frozen, atoms.counts, atoms.rows, atoms.values
    at = atom_at[k]
    n_atoms, weighted = atom_at[k + 1] - at, len(weights) > 0
    for f in range(n_frozen):
        slot[f] = -1
    n_entries = 0
    for i in range(n_atoms):
        a = at + k + in_order[i]
        first[i] = begin = n_entries
        values[i] = atom_values[at + in_order[i]]
        if places[a + 1] - places[a] == 1:  # an atom of one row needs no look-up: 14 instead of 28 ns
            r = order[k, places[a]]
            n = weights[r] if weighted else 1
            frozen[begin], entry_rows[begin] = frozen_of_cell[cell_of_row[r]], n
            for c in range(counts.shape[1]):
                counts[begin, c] = n if c == codes[r] else 0
            n_entries += 1
            continue
        for place in range(places[a], places[a + 1]):
            r = order[k, place]
            f = frozen_of_cell[cell_of_row[r]]
            e: Any = np.int64(slot[f])
            if e < begin:
                e = n_entries
                n_entries += 1
                slot[f], frozen[e], entry_rows[e] = e, f, 0
                for c in range(counts.shape[1]):
                    counts[e, c] = 0
            n = weights[r] if weighted else 1
            counts[e, codes[r]] += n
            entry_rows[e] += n
    first[n_atoms] = n_entries


def cut_cells(rows: Any, state: State, k: int, n_frozen: int) -> None:
    """Number the cells again after a change of variable k, from the frozen cells."""
    part, n_parts, cell_of_row, frozen_of_cell = state.part, state.n_parts, state.cell_of_row, state.frozen_of_cell
    keys, marks, now, atom_at = state.keys, state.marks, state.now[0], rows.atom_at
    for r in range(len(cell_of_row)):
        cell_of_row[r] = frozen_of_cell[cell_of_row[r]]
    now.n_cells = n_frozen
    if n_parts[k] > 1:
        refine(rows.order, rows.first, part, cell_of_row, keys, marks, now, k, atom_at[k], atom_at[k + 1])
    now.n_informative, now.n_all_cells = 0, 1.0
    for v in range(len(n_parts)):
        if n_parts[v] > 1:
            now.n_informative += 1
            now.n_all_cells *= float(n_parts[v])
    give_keys(rows, state)
