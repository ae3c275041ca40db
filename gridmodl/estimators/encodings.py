"""Part numbers as columns of numbers, and names for these columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from gridmodl.partition import Partition
from gridmodl.report.parts import log_odds


def onehot_rows(partition: Partition) -> NDArray[np.float64]:
    """A row for each part, and a last one, that of part -1: zeros."""
    return np.eye(partition.n_parts + 1, partition.n_parts)


def log_odds_rows(partition: Partition) -> NDArray[np.float64]:
    """A row for each part, and a last one, that of part -1: zeros."""
    counts = partition.counts
    n_classes = counts.shape[1]
    columns = log_odds(counts)[:, 1:] if n_classes == 2 else log_odds(counts) * (n_classes > 1)
    columns[counts.sum(axis=1) == 0] = 0.0
    return np.concatenate([columns, np.zeros((1, columns.shape[1]))])


def sparse_onehot(parts: list[NDArray[np.int64]], n_parts: list[int]) -> Any:
    offsets = np.cumsum([0, *n_parts])
    columns = np.column_stack(parts)
    is_known = columns >= 0
    ends = np.append(0, np.cumsum(is_known.sum(axis=1)))
    indices = (columns + offsets[:-1])[is_known]
    return csr_matrix((np.ones(len(indices)), indices, ends), shape=(len(columns), int(offsets[-1])))


def unique_names(names: Iterable[str]) -> NDArray[np.object_]:
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 2
        while free in taken:
            free, number = f"{name} ({number})", number + 1
        taken[free] = None
    return np.array(list(taken), dtype=object)
