"""Greedy merge of groups of values, over all pairs, down to one group; the best grouping met is kept.

The values of a categorical variable have no order: any two groups may merge. Each group stores its cheapest merge with
a later group, so the cheapest merge of all is found in one scan of the groups, and memory is linear. After a merge,
each pair with the union is priced once. A group whose partner is gone keeps its old delta, which is a lower bound of
its other merges; a new partner is sought only when that bound is the lowest of all (after D. Müllner, "Modern
hierarchical, agglomerative clustering algorithms", 2011). Time is quadratic in the groups, so the merge starts from at
most sqrt(N).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms, coarsen
from gridmodl.jit.template import bind, inlined
from gridmodl.search.moves import (
    TOLERANCE,
    Limits,
    Setting,
    cells_price,
    make_record,
    part_price,
    price_partition,
    rows_in,
    total_cost,
)
from gridmodl.search.task import Grouping, Task

MOST_GROUPS = 2048  # groups that a merge starts from at most: 2 million pairs
FEW_VALUES = 64  # up to this many values, a merge may also start from one group per value

SCANNED_AT_ONCE = 2**20  # counts that are converted at a time
NEVER = np.iinfo(np.int32).max


class PairMerge(NamedTuple):
    """State of a merge between two calls of the kernel."""

    # by group; one empty group more at the end
    counts: Any  # rows by frozen cell and class
    rows: Any  # rows by frozen cell
    values: Any
    # by group
    price: Any
    delta: Any  # delta of its cheapest merge with a later group, in units of the tolerance; or a lower bound of it
    partner: Any  # the later group of that merge; -1 if it must be sought again
    joined: Any  # price of their union
    removed: Any  # step at which the group was merged into an earlier one
    into: Any  # that earlier group
    union: Any  # buffer for the counts of one cell
    now: Any  # see `_start`


class MergedGroups(NamedTuple):
    """Result of a merge: the best grouping met, and the whole path."""

    best: Grouping
    start: NDArray[np.int64]  # group of each atom at the start
    removed: NDArray[np.int32]  # step at which each of these groups was merged into an earlier one
    into: NDArray[np.int32]  # that earlier group
    n_steps: int
    max_parts: int  # groupings of the path with at most this many groups keep the limits

    def path(self, n_groups: int) -> NDArray[np.int64]:
        """Group of each atom when `n_groups` groups were left."""
        return _groups_at(self.start, self.removed, self.into, min(max(len(self.into) - n_groups, 0), self.n_steps))


def _groups_at(start: NDArray[np.int64], removed: Any, into: Any, step: int) -> NDArray[np.int64]:
    """Group of each atom after `step` steps."""
    now = np.arange(len(into))
    for group in np.flatnonzero(removed <= step):  # ascending, so that the earlier group that it joins is final
        now[group] = now[into[group]]
    return numbered(now[start])


def numbered(groups: NDArray[Any]) -> NDArray[np.int64]:
    """Same grouping with its groups numbered 0, 1, ... in the order of their first atoms."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


def arranged(atoms: Atoms, groups: NDArray[Any]) -> tuple[Atoms, NDArray[np.int64]]:
    """Atoms sorted by group, and the first atom of each group: a grouping as a partition into intervals."""
    if not np.any(groups):
        return atoms, np.zeros(1, dtype=np.int64)
    order = np.argsort(groups, kind="stable")
    lengths = np.diff(atoms.first)[order]
    first = np.append(0, np.cumsum(lengths))
    entries = np.repeat(atoms.first[:-1][order] - first[:-1], lengths) + np.arange(first[-1])
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
    in_order = Atoms(
        first.astype(atoms.first.dtype),
        atoms.frozen[entries],
        atoms.counts[entries],
        atoms.rows[entries],
        atoms.values[order],
    )
    return in_order, starts


def priced_groups(task: Task, groups: NDArray[Any]) -> Grouping:
    """Grouping with its cost, computed from scratch."""
    groups = numbered(groups)
    atoms, starts = arranged(task.atoms, groups)
    cost, _ = bind(price_partition, task.criterion)(atoms, task.setting, starts, task.buffers)
    return Grouping(groups, cost)


def most_groups(task: Task) -> int:
    """Number of groups that a merge starts from at most: with fewer than sqrt(N) rows each, pairs tell little."""
    return min(math.isqrt(int(task.atoms.rows.sum())), MOST_GROUPS)


def starts_of(task: Task) -> list[NDArray[np.int64]]:
    """Groupings to start merges from: at most sqrt(N) groups, and for few values also one group per value.

    With few rows, sqrt(N) groups are few: the second start lowered the sum of 40 costs of g2 from -1263 to -1333.
    """
    start = start_groups(task)
    is_apart = len(start) == int(start.max()) + 1
    return [start] if is_apart or task.n_atoms > FEW_VALUES else [start, np.arange(task.n_atoms)]


def start_groups(task: Task) -> NDArray[np.int64]:
    """Group of each atom to start a merge from: one group per value, or if there are too many, rare values together.

    The most frequent values keep a group each. The others are sorted by the frozen cell and class of most of their
    rows, then by the share of these rows, and cut into groups of about equal rows.
    """
    n, most = task.n_atoms, max(most_groups(task), 1)
    if n <= most:
        return np.arange(n)
    first, frozen, _, entry_rows, _ = task.atoms
    rows = np.add.reduceat(entry_rows, first[:-1])
    n_apart = most // 2
    by_rows = np.argsort(-rows, kind="stable")
    rare = np.sort(by_rows[n_apart:])
    top_class, top_count = _largest(task.atoms.counts)
    largest = np.maximum.reduceat(top_count, first[:-1])
    atom = np.repeat(np.arange(n), np.diff(first))
    is_largest = np.flatnonzero(top_count == largest[atom])
    main = is_largest[np.unique(atom[is_largest], return_index=True)[1]]  # the entry of each atom's largest count
    order = rare[np.lexsort((largest[rare] / rows[rare], top_class[main[rare]], frozen[main[rare]]))]
    before = np.cumsum(rows[order]) - rows[order]
    groups = np.empty(n, dtype=np.int64)
    groups[by_rows[:n_apart]] = np.arange(n_apart)
    groups[order] = n_apart + before * (most - n_apart) // rows[order].sum()
    return numbered(groups)


def _largest(counts: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Class of the largest count of each entry, and that count; ties: first class.

    Classes are numbered in an order that depends on their rows alone, not on their names. Entries are converted in
    blocks: at once, a table of 1e8 counts would be copied to 8 bytes each, deaf to Ctrl-C meanwhile.
    """
    n, n_classes = counts.shape
    size = max(1, SCANNED_AT_ONCE // n_classes)
    blocks = [slice(lo, lo + size) for lo in range(0, n, size)]
    place = np.arange(1.0, n + 1.0)
    weights, keys = np.stack([place * place, place, np.ones(n)]), np.zeros((3, n_classes))
    for block in blocks:
        keys += weights[:, block] @ counts[block].astype(np.float64)
    order = np.lexsort(tuple(keys))[::-1]
    top_class, top_count = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for block in blocks:
        in_order = counts[block][:, order]
        top_class[block], top_count[block] = in_order.argmax(axis=1), in_order.max(axis=1)
    return top_class, top_count


def merge_groups(task: Task, start: NDArray[np.int64], is_step: bool = False) -> MergedGroups:
    """Merge the groups of `start`, numbered from 0, down to one.

    The best is the cheapest grouping met that keeps the limits; one group always does. `is_step` says that this merge
    is the whole step of the clock, so that its progress is known.
    """
    state = _start(task, start)
    n, now = len(state.price), state.now[0]
    steps = bind(pair_steps, task.criterion)
    size = max(1, 2**20 // (n * state.counts[0].size))  # a step prices up to n pairs
    # Price each group first, outside of the clock: its turns would grow with such short steps, and the first turn of
    # pairs would then take n times as long.
    steps(state, task.setting, task.limits, False, n)

    def merge(small_only: bool) -> None:
        now.n_queued = 0
        task.clock.repeat(
            lambda n_steps: bool(steps(state, task.setting, task.limits, small_only, n_steps)),
            None if small_only or not is_step else lambda: float((now.n_queued + now.step) / (2 * n)),
            size,
        )

    # Groups with too few rows merge first: only then can a grouping met on the way keep the limit.
    if task.limits.min_rows > 1:
        merge(small_only=True)
    max_parts = int(now.n_groups) if now.n_small == 0 or task.limits.min_rows == 1 else 1
    merge(small_only=False)
    best = _groups_at(start, state.removed, state.into, int(now.best_step))
    if now.best_cost == np.inf:  # stopped before any grouping kept the limits
        best = np.zeros(task.n_atoms, dtype=np.int64)
    max_parts = min(max_parts, task.limits.max_parts)
    return MergedGroups(priced_groups(task, best), start, state.removed, state.into, int(now.step), max_parts)


def dense(atoms: Atoms, n_cells: int, n_slots: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Counts by atom, frozen cell and class, and rows by atom and frozen cell, with `n_slots` slots for atoms."""
    counts = np.zeros((n_slots, n_cells, atoms.counts.shape[1]), dtype=atoms.counts.dtype)
    rows = np.zeros((n_slots, n_cells), dtype=np.int64)
    atom = np.repeat(np.arange(len(atoms.values)), np.diff(atoms.first))
    counts[atom, atoms.frozen], rows[atom, atoms.frozen] = atoms.counts, atoms.rows
    return counts, rows


def _start(task: Task, start: NDArray[np.int64]) -> PairMerge:
    """State at the start of a merge of the groups `start`."""
    atoms = coarsen(*arranged(task.atoms, start))
    n = len(atoms.values)
    counts, rows = dense(atoms, task.n_frozen_cells, n + 1)
    return PairMerge(
        counts=counts,
        rows=rows,
        values=np.append(atoms.values, np.int32(0)),
        price=np.empty(n),
        delta=np.full(n, np.inf),
        partner=np.full(n, -1, dtype=np.int32),
        joined=np.empty(n),
        removed=np.full(n, NEVER, dtype=np.int32),
        into=np.arange(n, dtype=np.int32),
        union=np.zeros(counts.shape[2], dtype=np.int64),
        now=make_record(
            n_groups=n,
            n_priced=0,
            n_queued=0,  # groups whose partner was sought
            n_small=0,  # groups with too few rows
            step=0,  # merges made
            seen_step=-1,  # last step whose cost was compared with the best
            best_step=0,
            price=0.0,  # sum of the prices of all groups
            best_cost=np.inf,
            scale=1.0,  # sum of the absolute prices
        ),
    )


def pair_steps(state: PairMerge, setting: Setting, limits: Limits, small_only: bool, n_steps: int) -> bool:
    """Do at most `n_steps` steps; return True when there is nothing left to merge.

    The first steps price one group each, the next find the partner of one group each, and all others merge two groups
    or seek a new partner. All need prices of unions of one group with others, computed in one place: every copy of the
    terms in a kernel takes half a second to compile.
    """
    counts, rows, values, price, union = state.counts, state.rows, state.values, state.price, state.union
    delta, partner, joined, removed, into = state.delta, state.partner, state.joined, state.removed, state.into
    now = state.now[0]
    n_groups, n_priced, n_queued, n_small, step = now.n_groups, now.n_priced, now.n_queued, now.n_small, now.step
    seen_step, best_step, total, best_cost, scale = now.seen_step, now.best_step, now.price, now.best_cost, now.scale
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    n, min_rows, is_done = len(price), limits.min_rows, False
    for _ in range(n_steps):
        pricing = n_priced < n
        gone: Any = -1  # group that a merge removes
        if pricing:
            k = n_priced
            n_priced += 1
        elif n_queued < n:
            k = n_queued
            n_queued += 1
            delta[k], partner[k] = np.inf, -1
            if removed[k] != NEVER:
                continue
        else:
            if seen_step != step:
                seen_step = step
                if n_groups == 1 or (n_groups <= limits.max_parts and n_small == 0):
                    cost = total_cost(setting, total, n_groups)
                    if cost <= best_cost:  # ties: the fewest groups
                        best_cost, best_step = cost, step
            k = lowest_of(delta)
            if delta[k] == np.inf:
                is_done = True
                break
            gone = np.int64(partner[k])
            if gone >= 0:
                step, n_groups = step + 1, n_groups - 1
                removed[gone], into[gone], delta[gone] = step, k, np.inf
                total += joined[k] - (price[k] + price[gone])
                price[k] = joined[k]
                n_small += absorb_group(counts, rows, values, k, gone, min_rows)
        k_rows = rows_in(rows, k)
        k_small = k_rows < min_rows
        equal = TOLERANCE * scale  # deltas are rounded to multiples of this; ties: lowest index
        lowest, lowest_m, lowest_joined = np.inf, -1, 0.0
        # Group n is the empty one. After a merge, the union may be the new partner of earlier groups too.
        for m in range(n if pricing else (0 if gone >= 0 else k + 1), n + 1 if pricing else n):
            m_rows = rows_in(rows, m)
            if not pricing:
                if m == k or removed[m] != NEVER:
                    continue
                if gone >= 0 and (partner[m] == gone or partner[m] == k):
                    partner[m] = -1
                if small_only and not k_small and m_rows >= min_rows:
                    continue
            together = cells_price(p, counts, rows, union, k, m)
            together += part_price(p, facts, n_target_parts, k_rows + m_rows, values[k] + values[m])
            if pricing:
                price[k] = together
                total, scale, n_small = total + together, scale + abs(together), n_small + k_small
                continue
            change = np.floor((together - (price[k] + price[m])) / equal + 0.5)
            if m > k:
                if change < lowest:
                    lowest, lowest_m, lowest_joined = change, m, together
            elif change < delta[m] or (change == delta[m] and (partner[m] < 0 or k < partner[m])):
                delta[m], partner[m], joined[m] = change, k, together
        if not pricing:
            delta[k], partner[k], joined[k] = lowest, lowest_m, lowest_joined
    now.n_groups, now.n_priced, now.n_queued, now.n_small, now.step = n_groups, n_priced, n_queued, n_small, step
    now.seen_step, now.best_step, now.price, now.best_cost, now.scale = seen_step, best_step, total, best_cost, scale
    return is_done


@inlined
def lowest_of(numbers: Any) -> int:
    """Index of the lowest number; ties: first."""
    k = 0
    for m in range(1, len(numbers)):
        if numbers[m] < numbers[k]:
            k = m
    return k


@inlined
def absorb_group(counts: Any, rows: Any, values: Any, k: Any, gone: Any, min_rows: int) -> int:
    """Add group `gone` to group `k`; return the change of the number of groups with too few rows."""
    n_k, n_gone = rows_in(rows, k), rows_in(rows, gone)
    n_small = (1 if n_k + n_gone < min_rows else 0) - (1 if n_k < min_rows else 0) - (1 if n_gone < min_rows else 0)
    values[k] += values[gone]
    for f in range(counts.shape[1]):
        rows[k, f] += rows[gone, f]
        for c in range(counts.shape[2]):
            counts[k, f, c] += counts[gone, f, c]
    return n_small
