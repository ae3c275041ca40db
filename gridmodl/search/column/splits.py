"""Split one part: the best new bound, by one scan of each part; or the best split of a group, by merging its values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import head, tail
from gridmodl.jit.template import bind
from gridmodl.search.column.exact import PRICES_PER_ATOM, can_prune
from gridmodl.search.column.groups import arranged, merge_groups
from gridmodl.search.column.shares import is_enough
from gridmodl.search.column.subsets import MAX_VALUES as FEW_VALUES
from gridmodl.search.moves import best_cut
from gridmodl.search.task import Partitioning, Task

MAX_VALUES = 1024  # values of a group that may be split; the merge prices all pairs of them
MOST_PRICES = 2e9  # prices times classes of a search of every number of parts; this many take about ten seconds


def takes_long(task: Task, n_layers: int) -> bool:
    """Whether finding the best partitions into 1, 2, ..., `n_layers` parts takes long."""
    n = float(task.n_atoms)
    prices = min(PRICES_PER_ATOM, n / 2) * n if can_prune(task) else n * n / 2
    return n_layers * prices * task.atoms.counts.shape[1] > MOST_PRICES


def grouping_takes_long(task: Task) -> bool:
    """Whether grouping takes long: no faster search applies, and a merge over all pairs of values is slow."""
    n = float(task.n_atoms)
    is_merged = n > FEW_VALUES and not is_enough(task)
    return is_merged and n * n / 2 * task.atoms.counts.shape[1] > MOST_PRICES


def best_split(task: Task, starts: NDArray[np.int64]) -> Partitioning | None:
    """Cheapest partition with one of the parts cut in two; None if each part is a single atom."""
    kernel, ends = bind(best_cut, task.criterion), np.append(starts[1:], task.n_atoms)
    lowest, bound = np.inf, -1
    for lo, hi in zip(starts.tolist(), ends.tolist(), strict=True):
        if hi - lo > 1:
            whole, both, cut = kernel(task.atoms, task.setting, lo, hi, task.buffers, 1)
            if both - whole < lowest:
                lowest, bound = both - whole, cut
    return task.priced(np.sort(np.append(starts, bound))) if bound >= 0 else None


def group_split(task: Task, groups: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Cheapest grouping found with one of the groups cut in two, by merging its values down to two groups.

    None if each group is a single value, or too large to cut.
    """
    order = np.argsort(groups, kind="stable")
    atoms, starts = arranged(task.atoms, groups)
    lowest, split = np.inf, None
    for lo, hi in zip(starts.tolist(), [*starts[1:].tolist(), task.n_atoms], strict=True):
        if not 1 < hi - lo <= MAX_VALUES:
            continue
        one = replace(task, atoms=head(tail(atoms, lo), hi - lo))
        halves = merge_groups(one, np.arange(hi - lo)).path(2)
        in_order, both = arranged(one.atoms, halves)
        delta = replace(one, atoms=in_order).price_of(both) - one.price_of([0])
        if delta < lowest:
            lowest, split = delta, groups.copy()
            split[order[lo:hi][halves == 1]] = len(starts)
    return split
