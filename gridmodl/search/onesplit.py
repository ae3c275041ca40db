"""One more bound in a partition: the cheapest there is, by one scan of each part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gridmodl.search.exact import PRICES_PER_ATOM, can_prune
from gridmodl.search.moves import best_cut
from gridmodl.search.task import Partitioning, Task
from gridmodl.template import bind

MOST_PRICES = 2e9  # by class, for the best partition of each number of parts: some ten seconds


def takes_long(task: Task, n_layers: int) -> bool:
    """Whether one would wait for the best partitions into 1, 2, ... up to so many parts."""
    n = float(task.n_atoms)
    prices = min(PRICES_PER_ATOM, n / 2) * n if can_prune(task) else n * n / 2
    return n_layers * prices * task.atoms.counts.shape[1] > MOST_PRICES


def best_split(task: Task, starts: NDArray[np.int64]) -> Partitioning | None:
    """The cheapest partition with one of these parts cut in two; None where each is a single atom."""
    kernel, ends = bind(best_cut, task.criterion), np.append(starts[1:], task.n_atoms)
    lowest, bound = np.inf, -1
    for lo, hi in zip(starts.tolist(), ends.tolist(), strict=True):
        if hi - lo > 1:
            whole, both, cut = kernel(task.atoms, task.setting, lo, hi, task.work, 1)
            if both - whole < lowest:
                lowest, bound = both - whole, cut
    return task.priced(np.sort(np.append(starts, bound))) if bound >= 0 else None
