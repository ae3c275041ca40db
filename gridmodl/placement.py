"""Where to put a bound among rows without a class: the best partition of the labelled rows does not say.

Between the two labelled values that a bound separates every place costs the same. Taken as ranks rather than numbers,
places are equally likely, so the one to choose is the median of the unlabelled rows there (A. Bondu, M. Boullé,
V. Lemaire, "A non-parametric semi-supervised discretization method", 2010, section 5).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.atoms import Target
from gridmodl.encode import Column
from gridmodl.line import bounds_between
from gridmodl.partition import Partition
from gridmodl.quantities import Numbers


def counted(partition: Partition, column: Column, target: Target) -> Partition:
    """A partition of the labelled rows, with the unlabelled ones of the whole column counted in it."""
    rows = target.by_code(partition.part_of_encoded(column), partition.n_parts)
    return replace(partition, unlabelled=rows[:, -1].copy())


def at_medians(partition: Partition, column: Column, target: Target) -> Partition:
    """A partition of the labelled rows, with its bounds at the medians of the unlabelled ones between them."""
    if isinstance(column, Numbers) and len(partition.bounds):
        partition = replace(partition, bounds=_medians(partition, column, target))
    return counted(partition, column, target)


def _medians(partition: Partition, column: Numbers, target: Target) -> NDArray[Any]:
    parts = partition.part_of_encoded(column)
    n_bounds, first = len(partition.bounds), int(partition.is_missing_apart)
    is_inside = (parts >= first) & (parts <= first + n_bounds)
    if column.missing is not None:
        is_inside &= ~column.missing
    order = np.argsort(column.values[is_inside], kind="stable")
    values, parts = column.values[is_inside][order], parts[is_inside][order] - first
    is_labelled = (target.codes[is_inside] < target.n_classes)[order]
    weights = None if target.weights is None else target.weights[is_inside][order]
    ends = np.searchsorted(parts, np.arange(1, n_bounds + 1))  # the first row above each bound
    labelled, unlabelled = values[is_labelled], values[~is_labelled]
    above = np.searchsorted(np.flatnonzero(is_labelled), ends)
    low, high = labelled[above - 1], labelled[above]
    begin = np.searchsorted(unlabelled, low, side="right")
    end = np.searchsorted(unlabelled, high, side="left")
    free_weights = np.ones(len(unlabelled), dtype=np.int64) if weights is None else weights[~is_labelled]
    before = np.append(0, np.cumsum(free_weights))
    # The two rows in the middle, which with an odd number are one and the same.
    both = before[begin] + before[end]
    at = [np.searchsorted(before, (both + more) // 2, side="right") - 1 for more in (-1, 0)]
    is_there = begin < end
    pair = [unlabelled[np.where(is_there, i, 0)] if len(unlabelled) else low for i in at]
    medians = bounds_between(pair[0], pair[1], column.type)
    return np.where(is_there, medians, partition.bounds)
