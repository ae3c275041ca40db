"""One part more: the cheapest bound, by one scan of each part, or a group cut in two, by merges of its values."""

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

MAX_VALUES = 1024  # of a group that may be cut: a merge of all pairs of them
MOST_PRICES = 2e9  # by class, for the best partition of each number of parts: some ten seconds


def takes_long(task: Task, n_layers: int) -> bool:
    """Whether one would wait for the best partitions into 1, 2, ... up to so many parts."""
    n = float(task.n_atoms)
    prices = min(PRICES_PER_ATOM, n / 2) * n if can_prune(task) else n * n / 2
    return n_layers * prices * task.atoms.counts.shape[1] > MOST_PRICES


def grouping_takes_long(task: Task) -> bool:
    """Whether one would wait for a merge of all values, pair by pair, where no faster search is enough."""
    n = float(task.n_atoms)
    is_merged = n > FEW_VALUES and not is_enough(task)
    return is_merged and n * n / 2 * task.atoms.counts.shape[1] > MOST_PRICES


def best_split(task: Task, starts: NDArray[np.int64]) -> Partitioning | None:
    """The cheapest partition with one of these parts cut in two; None where each is a single atom."""
    kernel, ends = bind(best_cut, task.criterion), np.append(starts[1:], task.n_atoms)
    lowest, bound = np.inf, -1
    for lo, hi in zip(starts.tolist(), ends.tolist(), strict=True):
        if hi - lo > 1:
            whole, both, cut = kernel(task.atoms, task.setting, lo, hi, task.buffers, 1)
            if both - whole < lowest:
                lowest, bound = both - whole, cut
    return task.priced(np.sort(np.append(starts, bound))) if bound >= 0 else None


def group_split(task: Task, groups: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The cheapest grouping found with one of these groups cut in two, each by merging its values down to two groups.

    None where each group is a single value, or too large to cut.
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
