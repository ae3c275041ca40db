"""What it costs to merge two parts of a variable, for many pairs at once, by the plain terms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gridmodl.costterms import Counted

MAX_UNIONS = 2**22  # cells of all pairs of parts that may merge: some seconds


def merge_deltas(counted: Counted, k: int, pairs: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """What parts and cells cost more if two parts of variable k merge, for each of the pairs; None if too many.

    The other terms change alike for all of them, and `finish` keeps the order of totals.
    """
    others = np.delete(counted.parts, k, axis=1)
    n_frozen, frozen = _numbered_rows(others)
    if len(pairs) * n_frozen > MAX_UNIONS:
        return None
    place = np.full((len(counted.sides[k].rows), n_frozen), -1, dtype=np.int64)
    place[counted.parts[:, k], frozen] = np.arange(len(frozen))
    left, right = place[pairs[:, 0]], place[pairs[:, 1]]
    which, _ = both = np.nonzero((left >= 0) & (right >= 0))
    one, other = left[both], right[both]
    unions = counted.cell_prices(
        counted.counts[one] + counted.counts[other], counted.unlabelled[one] + counted.unlabelled[other]
    )
    alone = counted.cell_prices(counted.counts, counted.unlabelled)
    cells = np.bincount(which, unions - alone[one] - alone[other], len(pairs))
    return cells + _part_deltas(counted, k, pairs)


def _part_deltas(counted: Counted, k: int, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    side = counted.sides[k]
    i, j = pairs.T
    rows = np.concatenate([side.rows, side.rows[i] + side.rows[j]])
    values = np.concatenate([side.values, side.values[i] + side.values[j]])
    prices = counted.part_prices(k, rows, values)
    alone, union = prices[: len(side.rows)], prices[len(side.rows) :]
    return union - alone[i] - alone[j]


def _numbered_rows(keys: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """How many distinct rows there are, and the number of each."""
    if keys.shape[1] == 0:
        return 1, np.zeros(len(keys), dtype=np.int64)
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    return len(distinct), number.ravel()
