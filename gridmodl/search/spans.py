"""Intervals of atoms priced from sums of counts: any two bounds in the time of one, without walking between them.

The room is atoms x frozen cells x classes, so this is for a variable alone or beside a small frozen grid, and for
criteria whose `part` is free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.atoms import Atoms
from gridmodl.template import inlined
from gridmodl.terms import Cell, cell, floor


def make_sums(atoms: Atoms, n_frozen_cells: int) -> NDArray[Any]:
    """Rows before each bound, by frozen cell and class."""
    n, n_classes = len(atoms.values), atoms.counts.shape[1]
    # No sum of counts is above that of rows; half the room where it fits.
    dtype = np.int32 if atoms.rows.sum(dtype=np.float64) < 2**31 else np.int64
    sums = np.zeros((n + 1, n_frozen_cells, n_classes), dtype=dtype)
    atom = np.repeat(np.arange(1, n + 1), np.diff(atoms.first))
    sums[atom, atoms.frozen] = atoms.counts
    return np.cumsum(sums, axis=0, out=sums)


@inlined
def fill_span(sums: Any, lo: int, hi: int, f: int, counts: Any) -> int:
    """Put the counts of frozen cell `f` between two bounds into `counts`; their sum."""
    rows: Any = 0
    for c in range(len(counts)):
        n = np.int64(sums[hi, f, c]) - np.int64(sums[lo, f, c])
        counts[c] = n
        rows += n
    return rows


def span_price(p: Any, sums: Any, lo: int, hi: int, counts: Any) -> float:
    """The price of the cells between two bounds; `counts` is room for those of one cell."""
    price = 0.0
    for f in range(sums.shape[1]):
        rows = fill_span(sums, lo, hi, f, counts)
        if rows > 0:
            price += cell(p, Cell(counts, rows, 0))
    return price


def span_floor(p: Any, sums: Any, lo: int, hi: int, counts: Any) -> float:
    """What the atoms between two bounds add at least to the price of an interval that they join."""
    least = 0.0
    for f in range(sums.shape[1]):
        rows = fill_span(sums, lo, hi, f, counts)
        if rows > 0:
            least += floor(p, Cell(counts, rows, 0))
    return least
