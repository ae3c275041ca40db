"""Non-empty cells of a grid: their parts, their rows by class, and the look-up of the cell of a new row.

There are never more cells than rows, however large the product of the numbers of parts: the look-up takes one variable
at a time, and after each numbers only the combinations that exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name

if TYPE_CHECKING:
    from gridmodl.data.atoms import Target  # not imported at run time: reading a model file needs no numba


class Cells(NamedTuple):
    """Non-empty cells, sorted by their parts."""

    names: tuple[Name, ...]  #: names of the informative variables
    parts: NDArray[np.int64]  #: part of each cell, by variable
    counts: NDArray[np.int64]  #: labelled rows of each cell, by class
    unlabelled: NDArray[np.int64] | None = None  #: unlabelled rows of each cell; None if all rows are labelled

    @property
    def rows(self) -> NDArray[np.int64]:
        """All rows of each cell."""
        labelled = np.asarray(self.counts.sum(axis=1))
        return labelled if self.unlabelled is None else labelled + self.unlabelled

    def shares(self) -> NDArray[np.float64]:
        """Share of each class in the labelled rows of each cell; of all cells for a cell without labelled rows."""
        labelled = self.counts.sum(axis=1, keepdims=True)
        overall = self.counts.sum(axis=0) / labelled.sum()
        return np.where(labelled > 0, self.counts / np.maximum(labelled, 1), overall)

    def over(self, columns: Sequence[int]) -> Cells:
        """Cells of the variables number `columns` alone: rows that differ in the other variables only are added up."""
        kept = [self.parts[:, k] for k in columns]
        number = np.zeros(len(self.parts), dtype=np.int64)
        for of_cells in kept:  # renumbered each time, so that no product of numbers of parts overflows
            number = _ranks(number * (int(of_cells.max()) + 1) + of_cells)
        n_cells = int(number.max()) + 1
        one_of = np.zeros(n_cells, dtype=np.int64)
        one_of[number] = np.arange(len(number))
        counts = np.zeros((n_cells, self.counts.shape[1]), dtype=np.int64)
        np.add.at(counts, number, self.counts)
        parts = np.column_stack([of_cells[one_of] for of_cells in kept]) if kept else np.zeros((n_cells, 0), np.int64)
        return Cells(tuple(self.names[k] for k in columns), parts, counts)

    def cell_of(self, parts: Sequence[NDArray[np.int64]], n_rows: int) -> NDArray[np.int64]:
        """Cell of each of `n_rows` rows, given its `parts`, one array per variable; -1 for an unseen combination."""
        known, found = np.zeros(len(self.parts), dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
        for of_cells, of_rows in zip(self.parts.T, parts, strict=True):
            width = int(of_cells.max()) + 1
            combinations, known = np.unique(known * width + of_cells, return_inverse=True)
            is_there = (found >= 0) & (of_rows >= 0) & (of_rows < width)
            keys = np.where(is_there, found * width + of_rows, -1)
            at = np.minimum(np.searchsorted(combinations, keys), len(combinations) - 1)
            found = np.where(combinations[at] == keys, at, -1)
        return found  # `combinations` are sorted as the cells are


def make_cells(names: Sequence[Name], parts: Sequence[NDArray[np.int64]], target: Target) -> Cells:
    """Make the cells of the rows, given the part of each row in each informative variable."""
    n_rows = len(target.codes)
    cell = np.zeros(n_rows, dtype=np.int64)
    for of_rows in parts:  # renumbered each time, so that no product of numbers of parts overflows
        cell = _ranks(cell * (int(of_rows.max()) + 1) + of_rows)
    n_cells = int(cell.max()) + 1
    one_of = np.zeros(n_cells, dtype=np.int64)
    one_of[cell] = np.arange(n_rows)
    combined = np.column_stack([of_rows[one_of] for of_rows in parts]) if len(parts) else np.zeros((n_cells, 0))
    return Cells(tuple(names), combined.astype(np.int64), target.counts(cell, n_cells))


def cells_of_parts(name: Name, counts: NDArray[np.int64], unlabelled: NDArray[np.int64] | None = None) -> Cells:
    """Cells of a single variable, given the labelled rows of its parts by class and the `unlabelled` rows."""
    filled = np.flatnonzero(counts.any(axis=1) if unlabelled is None else counts.any(axis=1) | (unlabelled > 0))
    if unlabelled is not None:
        unlabelled = unlabelled[filled]
    if len(filled) == 1:
        return Cells((), np.zeros((1, 0), dtype=np.int64), counts[filled], unlabelled)
    return Cells((name,), filled[:, None].astype(np.int64), counts[filled], unlabelled)


def _ranks(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank of each key among the distinct keys; small keys use a table, which is faster than a sort."""
    most = int(keys.max())
    if most >= 4 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True)[1]
    is_there = np.zeros(most + 1, dtype=bool)
    is_there[keys] = True
    return (np.cumsum(is_there) - 1)[keys]
