"""Two variables as entries: how often each pair of their values occurs, in the order of either, and coarser ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.search.gridtask import GridTask
from gridmodl.template import bind
from gridmodl.terms import Variable

# Values of a numerical variable that are all places for a bound; of more, as many quantiles are.
MAX_PLACES = 1024


class Side(NamedTuple):
    """One variable of the two: its facts, its atoms, and the pairs of atoms that occur, in the order of its own."""

    facts: Variable
    first: Any  # entries of atom i are first[i] to first[i + 1]
    other: Any  # the other variable's atom of each entry
    rows: Any  # rows of each entry
    atom_rows: Any
    atom_values: Any
    part: Any  # part of each atom; what searches change


def gather_entries(
    atom: Any, order: Any, place: Any, weights: Any, by_both: Any, first: Any, other: Any, rows: Any
) -> int:
    """Write the distinct pairs of atoms in the order of variable 0, then 1, and their rows; how many there are.

    `place` is the first place of each atom of variable 0 among the rows in its order, and is used up.
    """
    n = order.shape[1]
    for i in range(n):
        r = order[1, i]
        a = atom[0, r]
        by_both[place[a]] = r
        place[a] += 1
    n_entries, last, last_other = 0, np.int32(-1), np.int32(-1)
    for i in range(n):
        r = by_both[i]
        a, b = atom[0, r], atom[1, r]
        if a != last or b != last_other:
            other[n_entries], rows[n_entries] = b, 0
            first[a + 1] += 1
            n_entries, last, last_other = n_entries + 1, a, b
        rows[n_entries - 1] += weights[r] if len(weights) > 0 else 1
    for a in range(len(first) - 1):
        first[a + 1] += first[a]
    return n_entries


def turn_entries(first: Any, other: Any, rows: Any, into_first: Any, into_other: Any, into_rows: Any) -> None:
    """The same entries in the order of the other variable; `into_first` is zero."""
    n_atoms = len(into_first) - 1
    for e in range(len(other)):
        into_first[other[e] + 1] += 1
    for b in range(n_atoms):
        into_first[b + 1] += into_first[b]
    for a in range(len(first) - 1):
        for e in range(first[a], first[a + 1]):
            b = other[e]
            place = into_first[b]
            into_other[place], into_rows[place] = a, rows[e]
            into_first[b] += 1
    for b in range(n_atoms, 0, -1):
        into_first[b] = into_first[b - 1]
    into_first[0] = 0


def make_sides(task: GridTask) -> tuple[Side, Side]:
    """Both variables of a task, each in one part."""
    rows = task.rows
    n, n_0, n_1 = rows.n_lines, rows.n_atoms(0), rows.n_atoms(1)
    place = rows.first[: n_0 + 1].astype(np.int64)
    first, other, count = np.zeros(n_0 + 1, np.int64), np.empty(n, np.int32), np.empty(n, np.int64)
    by_both = np.empty(n, dtype=np.int32)
    n_entries = bind(gather_entries)(rows.atom, rows.order, place, rows.weights, by_both, first, other, count)
    if n_entries < n:
        other, count = other[:n_entries].copy(), count[:n_entries].copy()
    turned = np.zeros(n_1 + 1, np.int64), np.empty(n_entries, np.int32), np.empty(n_entries, np.int64)
    bind(turn_entries)(first, other, count, *turned)

    def side(k: int, entries: Any) -> Side:
        at = slice(rows.atom_at[k], rows.atom_at[k + 1])
        n_values = rows.atom_values[at].astype(np.int64)
        part = np.zeros(rows.n_atoms(k), dtype=np.int32)
        first, other, count = entries
        n_rows = np.array(rows.atom_rows[at], dtype=np.int64)
        return Side(task.facts.variable(k), first, other, count, n_rows, n_values, part)

    return side(0, (first, other, count)), side(1, turned)


def fill_coarse(
    side: Any, across_part: Any, places: Any, first: Any, frozen: Any, rows: Any, values: Any, slot: Any
) -> int:
    """Write the entries of the atoms between places, one for each part of the other variable; how many there are."""
    first_entry, other, entry_rows, atom_values = side.first, side.other, side.rows, side.atom_values
    n_atoms, n_entries = len(atom_values), 0
    for i in range(len(places)):
        first[i] = begin = n_entries
        end = places[i + 1] if i + 1 < len(places) else n_atoms
        for a in range(places[i], end):
            values[i] += atom_values[a]
        for e in range(first_entry[places[i]], first_entry[end]):
            t = across_part[other[e]]
            s = slot[t]
            if s < begin:
                s = n_entries
                n_entries += 1
                slot[t], frozen[s], rows[s] = s, t, 0
            rows[s] += entry_rows[e]
    first[len(places)] = n_entries
    return n_entries


def quantile_places(side: Side, n_rows: int) -> NDArray[np.int64]:
    """First atoms of parts that hold about as many rows each, or all atoms where they are few."""
    n = len(side.atom_rows)
    if n <= MAX_PLACES or side.facts.categorical:
        return np.arange(n if n <= MAX_PLACES else 0)
    number = (np.cumsum(side.atom_rows) - side.atom_rows) // max(1, n_rows // MAX_PLACES)
    return np.flatnonzero(np.append(True, number[1:] != number[:-1]))
