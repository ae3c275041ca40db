"""Price intervals of atoms from cumulative counts: in constant time for any two bounds.

The table of counts has atoms x frozen cells x classes entries, so it is for a variable alone or with a small frozen
grid, and for criteria whose `part` costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import COUNTS_AT_ONCE, Atoms
from gridmodl.jit.template import bind, inlined
from gridmodl.search.moves import labelled_price
from gridmodl.terms import Cell, floor

MANY_CLASSES = 256  # from here on, np.cumsum takes ten times as long as the sum row by row


def make_sums(atoms: Atoms, n_frozen_cells: int, clock: Clock) -> NDArray[Any]:
    """Rows before each bound, by frozen cell and class; incomplete if the clock stops the search meanwhile."""
    n, n_classes = len(atoms.values), atoms.counts.shape[1]
    # No sum of counts exceeds the sum of rows: 32 bits if that fits, for half the memory.
    dtype = np.int32 if atoms.rows.sum(dtype=np.float64) < 2**31 else np.int64
    sums = np.zeros((n + 1, n_frozen_cells, n_classes), dtype=dtype)
    if n_frozen_cells == 1 and n_classes >= MANY_CLASSES:
        size = max(1, COUNTS_AT_ONCE // n_classes)
        for lo in range(0, n, size):
            if clock.look():
                break
            bind(add_before)(atoms.counts[lo : lo + size], sums[lo : lo + size + 1, 0])
        return sums
    atom = np.repeat(np.arange(1, n + 1), np.diff(atoms.first))
    sums[atom, atoms.frozen] = atoms.counts
    return np.cumsum(sums, axis=0, out=sums)


def sum_classes(sums: NDArray[Any]) -> NDArray[np.int64]:
    """Rows before each bound."""
    rows = np.zeros(len(sums), dtype=np.int64)
    for by_bound in sums.reshape(len(sums), -1).T:  # np.sum over a short axis takes ten times as long
        rows += by_bound
    return rows


def add_before(counts: Any, sums: Any) -> None:
    """Write the cumulative sums of `counts` to `sums`, whose first row holds the sums before them."""
    for i in range(len(counts)):
        for c in range(counts.shape[1]):
            sums[i + 1, c] = sums[i, c] + counts[i, c]


@inlined
def fill_span(sums: Any, lo: int, hi: int, f: int, counts: Any) -> int:
    """Write the counts of frozen cell `f` between two bounds to `counts`; return their sum."""
    rows: Any = 0
    for c in range(len(counts)):
        n = np.int64(sums[hi, f, c]) - np.int64(sums[lo, f, c])
        counts[c] = n
        rows += n
    return rows


def span_price(p: Any, sums: Any, lo: int, hi: int, counts: Any) -> float:
    """Price of the cells between two bounds; `counts` is a buffer for the counts of one cell."""
    price = 0.0
    for f in range(sums.shape[1]):
        rows = fill_span(sums, lo, hi, f, counts)
        if rows > 0:
            price += labelled_price(p, counts, rows)
    return price


def span_floor(p: Any, sums: Any, lo: int, hi: int, counts: Any) -> float:
    """Lower bound of what the atoms between two bounds add to the price of an interval that they join."""
    least = 0.0
    for f in range(sums.shape[1]):
        rows = fill_span(sums, lo, hi, f, counts)
        if rows > 0:
            least += floor(p, Cell(counts, rows, 0))
    return least
