"""The best partition for each number of parts: one recursion over the bounds for each, layer k from layer k - 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.search.exact import make_programme
from gridmodl.search.greedy import greedy_merge
from gridmodl.search.task import Partitioning, Task


class ByParts(NamedTuple):
    """What the best partitions into 1, 2, ... parts cost."""

    costs: NDArray[np.float64]
    gaps: NDArray[np.float64]  # NaN where no floor is known


def best_by_parts(task: Task) -> tuple[ByParts, list[Partitioning]]:
    """Up to as many parts as the limits allow; where it was stopped, those that a merge found, each with a gap."""
    task.clock.step = "merge"
    merged = greedy_merge(task)
    most = min(task.limits.max_parts, task.n_atoms)
    on_path = [task.null()]
    if not task.clock.stopped:
        on_path += [task.priced(merged.path(k)) for k in range(2, min(most, merged.max_parts) + 1)]
    task.clock.step = "proof"
    programme = make_programme(task, merged.best)
    if len(on_path) > 1:  # for the gaps, should the layers be stopped
        programme.explore((task.price_of([0]) - task.price_of(on_path[-1].starts)) / (len(on_path) - 1))
    found: list[Partitioning] = []
    for k in range(most):
        total = None if programme.is_over else programme.layer(k, most)
        if total is None or not np.isfinite(total):
            break
        found.append(task.priced(programme.trace_layers(k)))
    floors = programme.slopes.floors
    late = on_path[len(found) :] if programme.is_over else []
    gaps = [0.0] * len(found) + [max(0.0, one.cost - floors[len(one.starts) - 1]) for one in late]
    partitionings = found + late
    costs = np.array([one.cost for one in partitionings])
    return ByParts(costs, np.where(np.isfinite(gaps), gaps, np.nan)), partitionings
