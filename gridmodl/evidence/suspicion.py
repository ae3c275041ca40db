"""`suspicion_of`: whether a column makes no error on the target, so that it may be a copy of it, in words.

    parts with labelled rows    each of one class alone; or those of missing values and special codes are mixed,
                                and all others are of one class each and have every class
    runs                        intervals of one class that lie side by side are one run, any other part is a run
    no chance                   MANY_ROWS rows; each class in one run, or with MANY_IN_RUN rows a run on average

The last line is for partitions with a part for almost every row, which make no error either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.partition import Partition

MANY_ROWS = 100  # rows from which on a column that makes no error is hardly a chance
MANY_IN_RUN = 10.0


IS_COPY = "is it a copy of the target, or known only after it?"


def suspicion_of(partition: Partition) -> str:
    """What is suspicious where the parts of a column tell the class of each of many rows; else an empty text."""
    counts, is_apart = partition.counts, _is_apart(partition)
    is_mixed = np.count_nonzero(counts, axis=1) > 1
    if is_mixed[~is_apart].any():
        return ""
    kept = counts.any(axis=1) & ~(is_apart & is_mixed.any())
    if not _is_no_chance(partition, kept, is_apart[kept]):
        return ""
    but = " but those of missing values and special codes" if is_mixed.any() else ""
    return f"each part{but} has one class only: {IS_COPY}"


def _is_no_chance(partition: Partition, kept: NDArray[np.bool_], is_apart: NDArray[np.bool_]) -> bool:
    """Whether the parts `kept`, each of one class, have every class and too few runs to be made for the rows."""
    of_class, rows = partition.counts[kept].argmax(axis=1), partition.counts[kept].sum(axis=0)
    is_class = partition.counts.any(axis=0)
    if np.count_nonzero(is_class) < 2 or not rows[is_class].all() or rows.sum() < MANY_ROWS:
        return False
    follows = np.zeros(len(of_class), dtype=bool)  # the part before it is an interval of the same class
    if partition.kind != "categorical":
        follows[1:] = ~is_apart[1:] & ~is_apart[:-1] & (of_class[1:] == of_class[:-1])
    runs = np.bincount(of_class[~follows], minlength=len(rows))
    return bool(np.all((runs <= 1) | (rows >= MANY_IN_RUN * runs)))


def _is_apart(partition: Partition) -> NDArray[np.bool_]:
    """Whether each part is of missing values alone, or of special codes."""
    found = np.arange(partition.n_parts) >= partition.n_parts - partition.n_special
    is_alone = partition.is_missing_apart
    if partition.kind == "categorical":
        is_alone = partition.missing is not None and partition.groups[partition.missing] == (None,)
    if is_alone:
        found[partition.missing] = True
    return found
