"""The non-empty cells of a grid: which parts they combine, the rows of each class in them, and the cell of a new row.

Never more cells than rows, whatever the product of the numbers of parts: a cell is found by going through the variables
one by one, each time numbering only the combinations that exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name

if TYPE_CHECKING:
    from gridmodl.data.atoms import Target  # needs the compiler, which a model that is read does not


class Cells(NamedTuple):
    """Non-empty cells, in the order of their parts."""

    names: tuple[Name, ...]  #: of the informative variables
    parts: NDArray[np.int64]  #: part of each cell, by variable
    counts: NDArray[np.int64]  #: rows of each cell, by class
    unlabelled: NDArray[np.int64] | None = None  #: rows of each cell without a class, where there are any

    @property
    def rows(self) -> NDArray[np.int64]:
        """All rows of each cell."""
        labelled = np.asarray(self.counts.sum(axis=1))
        return labelled if self.unlabelled is None else labelled + self.unlabelled

    def shares(self) -> NDArray[np.float64]:
        """The share of each class in the labelled rows of each cell; in those of all cells where there are none."""
        labelled = self.counts.sum(axis=1, keepdims=True)
        overall = self.counts.sum(axis=0) / labelled.sum()
        return np.where(labelled > 0, self.counts / np.maximum(labelled, 1), overall)

    def cell_of(self, parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The cell of each row, given its `parts`, one array for each variable; -1 where no row of the data was."""
        n_rows = len(parts[0]) if len(parts) else 0
        known, found = np.zeros(len(self.parts), dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
        for of_cells, of_rows in zip(self.parts.T, parts, strict=True):
            width = int(of_cells.max()) + 1
            combinations, known = np.unique(known * width + of_cells, return_inverse=True)
            is_there = (found >= 0) & (of_rows >= 0) & (of_rows < width)
            keys = np.where(is_there, found * width + of_rows, -1)
            at = np.minimum(np.searchsorted(combinations, keys), len(combinations) - 1)
            found = np.where(combinations[at] == keys, at, -1)
        return found  # cells are in this very order


def make_cells(names: Sequence[Name], parts: Sequence[NDArray[np.int64]], target: Target) -> Cells:
    """The cells that rows are in, given the part of each row in each informative variable."""
    n_rows = len(target.codes)
    cell = np.zeros(n_rows, dtype=np.int64)
    for of_rows in parts:  # numbered anew each time, so that no product of numbers of parts overflows
        cell = _numbered(cell * (int(of_rows.max()) + 1) + of_rows)
    n_cells = int(cell.max()) + 1
    one_of = np.zeros(n_cells, dtype=np.int64)
    one_of[cell] = np.arange(n_rows)
    combined = np.column_stack([of_rows[one_of] for of_rows in parts]) if len(parts) else np.zeros((n_cells, 0))
    return Cells(tuple(names), combined.astype(np.int64), target.counts(cell, n_cells))


def cells_of_parts(name: Name, counts: NDArray[np.int64], unlabelled: NDArray[np.int64] | None = None) -> Cells:
    """The cells of one variable alone, given the rows of its parts by class and those without one."""
    filled = np.flatnonzero(counts.any(axis=1) if unlabelled is None else counts.any(axis=1) | (unlabelled > 0))
    if unlabelled is not None:
        unlabelled = unlabelled[filled]
    if len(filled) == 1:
        return Cells((), np.zeros((1, 0), dtype=np.int64), counts[filled], unlabelled)
    return Cells((name,), filled[:, None].astype(np.int64), counts[filled], unlabelled)


def _numbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each key among the distinct ones: by a table where they are small, which is faster than a sort."""
    most = int(keys.max())
    if most >= 4 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True)[1]
    is_there = np.zeros(most + 1, dtype=bool)
    is_there[keys] = True
    return (np.cumsum(is_there) - 1)[keys]
