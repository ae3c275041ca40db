"""Find the cheapest grouping of a few values, with proof, by dynamic programming over their subsets.

    F(k, S) = min over the T in S that hold the first value of S of F(k - 1, S - T) + price(T)

is the lowest price of the values S in k groups; V values take 3^V / 2 steps for each k. Limits on the rows of a group
make some price(T) infinite; the limit max_parts and `finish` apply where k is chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.column.exact import ByParts
from gridmodl.search.column.groups import merge_groups, priced_groups
from gridmodl.search.moves import Buffers, Setting, cell_price, part_price
from gridmodl.search.proof import ALL, Proof, costs_by_parts
from gridmodl.search.task import Grouping, Task

MAX_VALUES = 12  # 12 values take 6 ms; each further value takes three times as long


def proven_grouping(task: Task) -> Grouping:
    """Cheapest grouping that keeps the limits; one group, without proof, if the search was stopped."""
    n = task.n_atoms
    if n > MAX_VALUES:
        raise ValueError(f"{n} values; all groupings can be tried up to {MAX_VALUES}")
    lowest, came_from = subset_layers(task, subset_prices(task))
    totals = lowest[1:, -1].copy()  # in a row, as the kernels that take them are compiled for
    null = priced_groups(task, np.zeros(n, dtype=np.int64))
    if task.clock.stopped:
        return null
    costs = costs_by_parts(task.criterion, task.setting, totals)
    # A number of groups that cannot keep the limits has an infinite total, for which `finish` is undefined.
    k = int(np.argmin(np.where(np.isfinite(totals), costs, np.inf)))
    found = priced_groups(task, _trace(came_from, k, n))
    best = min(null, found, key=lambda grouping: grouping.cost)
    return best._replace(proven=True, proof=Proof(ALL, best.cost))


def groupings_by_parts(task: Task) -> tuple[ByParts, list[Grouping]]:
    """Best grouping into 1, 2, ... groups for few values; for many, or if stopped, those on the path of a merge."""
    n = task.n_atoms
    if n <= MAX_VALUES:
        task.clock.step = "proof"
        lowest, came_from = subset_layers(task, subset_prices(task))
        totals = lowest[1:, -1].copy()  # in a row, as the kernels that take them are compiled for
        if not task.clock.stopped:
            found = [priced_groups(task, _trace(came_from, int(k), n)) for k in np.flatnonzero(np.isfinite(totals))]
            return _by_parts(found, 0.0), found
    task.clock.step = "merge"
    merged = merge_groups(task, np.arange(n), is_step=True)
    most = min(task.limits.max_parts, merged.max_parts, n) if not task.clock.stopped else 1
    found = [priced_groups(task, np.zeros(n)), *(priced_groups(task, merged.path(k)) for k in range(2, most + 1))]
    return _by_parts(found, np.nan), found


def _by_parts(found: list[Grouping], gap: float) -> ByParts:
    """Costs and gaps of groupings into 1, 2, ... groups."""
    gaps = np.full(len(found), gap)
    gaps[0] = 0.0  # there is only one grouping into one group
    return ByParts(np.array([grouping.cost for grouping in found]), gaps)


def subset_prices(task: Task) -> NDArray[np.float64]:
    """Price of each subset of the atoms as a group; subset s holds atom i if bit i of s is set."""
    prices = np.full(1 << task.n_atoms, np.inf)
    kernel, at = bind(price_subsets, task.criterion), 1

    def turn(size: int) -> bool:
        nonlocal at
        to = min(len(prices), at + size)
        kernel(task.atoms, task.setting, task.buffers, task.limits.min_rows, prices, at, to)
        at = to
        return at == len(prices)

    task.clock.repeat(turn, None, max(1, 2**17 // task.atoms.counts.size))
    if len(task.rules.min_counts):
        is_in = np.arange(len(prices))[:, None] >> np.arange(task.n_atoms) & 1
        lacks = np.any(is_in @ task.atoms.counts.astype(np.int64) < task.rules.min_counts, axis=1)
        lacks[-1] = False  # one group may always be
        prices[lacks] = np.inf
    return prices


def subset_layers(task: Task, prices: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Lowest price of each subset of the atoms in 0, 1, 2, ... groups; and the first group of each such grouping."""
    n_layers = min(task.n_atoms, task.limits.max_parts)
    lowest = np.full((n_layers + 1, len(prices)), np.inf)
    lowest[0, 0] = 0.0
    came_from = np.zeros((n_layers + 1, len(prices)), dtype=np.int32)
    kernel, k = bind(next_layer), 1

    def turn(size: int) -> bool:
        nonlocal k
        kernel(prices, lowest[k - 1], lowest[k], came_from[k])
        k += 1
        return k > n_layers

    task.clock.repeat(turn, lambda: (k - 1) / n_layers, 1)
    return lowest, came_from


def _trace(came_from: NDArray[np.int32], k: int, n: int) -> NDArray[np.int64]:
    """Group of each of `n` atoms in the best grouping into k + 1 groups."""
    groups, left = np.zeros(n, dtype=np.int64), (1 << n) - 1
    for layer in range(k + 1, 0, -1):
        group = int(came_from[layer, left])
        groups[[i for i in range(n) if group >> i & 1]] = layer
        left &= ~group
    return groups


def price_subsets(atoms: Any, setting: Setting, buffers: Buffers, min_rows: int, prices: Any, at: int, to: int) -> None:
    """Price the subsets `at` to `to`; infinite for too few rows, unless the subset is all atoms."""
    first, frozen, counts, rows, values = atoms
    cell_counts, cell_rows = buffers.left, buffers.left_rows
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    n = len(values)
    for subset in range(at, to):
        n_rows, n_values = 0, 0
        for i in range(n):
            if subset >> i & 1:
                n_values += values[i]
                for e in range(first[i], first[i + 1]):
                    n_rows += rows[e]
                    cell_rows[frozen[e]] += rows[e]
                    for c in range(counts.shape[1]):
                        cell_counts[frozen[e], c] += counts[e, c]
        price = part_price(p, facts, n_target_parts, n_rows, n_values)
        for i in range(n):
            if subset >> i & 1:
                for e in range(first[i], first[i + 1]):
                    f = frozen[e]
                    if cell_rows[f] > 0:  # not priced yet by an earlier entry
                        price += cell_price(p, cell_counts[f], cell_rows[f])
                        cell_rows[f] = 0
                        for c in range(counts.shape[1]):
                            cell_counts[f, c] = 0
        prices[subset] = price if n_rows >= min_rows or subset == len(prices) - 1 else np.inf


def next_layer(prices: Any, before: Any, after: Any, came_from: Any) -> None:
    """Set after[S] = min over the subsets T of S that hold the lowest bit of S of before[S - T] + price[T]."""
    for s in range(1, len(prices)):
        lowest_bit = s & -s
        rest = s ^ lowest_bit
        best, best_group = np.inf, s
        others = rest  # all subsets of the rest, from the largest to the empty one
        while True:
            group = others | lowest_bit
            price = prices[group] + before[s ^ group]
            if price < best:
                best, best_group = price, group
            if others == 0:
                break
            others = (others - 1) & rest
        after[s], came_from[s] = best, best_group
