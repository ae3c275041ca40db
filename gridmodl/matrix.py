"""A sparse matrix as rows of data: each entry that is not zero is a row with a number of its row and of its column.

No entry is looked at by Python, and nothing is made dense. Entries that are stored twice are one entry, their sum, or
for booleans either of them, as everywhere in scipy; scipy itself is not imported to find out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NAMES = ("row", "column")
EXACT_FLOAT = 2**53  # up to here every whole number is a float64


class Entries(NamedTuple):
    """The entries that are not zero, row by row and in each row by column."""

    row: NDArray[Any]
    column: NDArray[Any]
    values: NDArray[Any]  # bool, int64 or float64


def is_sparse(data: Any) -> bool:
    return hasattr(data, "tocsr") and hasattr(data, "tocoo")


def read_entries(matrix: Any, what: str) -> Entries:
    """The entries of a sparse matrix or array of any format, which stays as it is."""
    if len(matrix.shape) != 2:
        raise ValueError(f"{what} is a sparse array of {len(matrix.shape)} dimension(s); it must have rows and columns")
    found = matrix.tocoo()
    values = found.data
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"{what} is a sparse matrix of {values.dtype}; it takes whole numbers, or booleans for presence"
        )
    if values.dtype.kind == "u" and values.dtype.itemsize == 8 and np.any(values > EXACT_FLOAT):
        raise ValueError(f"{what} holds entries of more than {EXACT_FLOAT}; scale them down")
    if values.dtype.kind != "b":  # sums of small integers would overflow
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    row, column, values = _in_order(found.row, found.col, values, int(matrix.shape[1]))
    is_there = values != 0
    return (
        Entries(row, column, values) if is_there.all() else Entries(row[is_there], column[is_there], values[is_there])
    )


def _in_order(
    row: NDArray[Any], column: NDArray[Any], values: NDArray[Any], n_columns: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Row by row, each place once."""
    if len(row) == 0:
        return row, column, values
    if int(row.max()) * n_columns + n_columns < 2**63:
        place = row.astype(np.int64) * n_columns + column
        if np.all(place[1:] > place[:-1]):  # so are most matrices
            return row, column, values
        order = np.argsort(place, kind="stable")
    else:
        order = np.lexsort((column, row))
    row, column, values = row[order], column[order], values[order]
    first = np.flatnonzero(np.append(True, (row[1:] != row[:-1]) | (column[1:] != column[:-1])))
    add = np.logical_or if values.dtype.kind == "b" else np.add
    return row[first], column[first], add.reduceat(values, first)


def entry_weights(values: NDArray[Any], what: str) -> NDArray[np.int64] | None:
    """How often each entry counts; None: once each."""
    if values.dtype.kind == "b":
        return None
    if not np.all(np.isfinite(values)) or np.any(values < 0) or np.any(values != np.floor(values)):
        raise ValueError(
            f"{what} is a sparse matrix whose entries are not all whole numbers of 0 or more: one of n counts as n "
            "rows; pass matrix != 0 for presence"
        )
    if float(values.sum(dtype=np.float64)) >= EXACT_FLOAT:
        raise ValueError(f"the entries of {what} sum to more than {EXACT_FLOAT}; scale them down")
    return None if np.all(values == 1) else values.astype(np.int64)
