"""Greedy merge of neighbours down to one part; the best partition met on the way is kept (exhaustive merge).

The grid and variable terms change by the same amount for all merges, so the cheapest merge is the one with the smallest
local delta: one look-up in a tournament tree. After it, two deltas change. The time is O(N log N).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import COUNTS_AT_ONCE, Atoms, coarsen
from gridmodl.jit.template import bind, inlined
from gridmodl.search.moves import Limits, Setting, cells_price, make_record, part_price, rows_in, total_cost
from gridmodl.search.task import Partitioning, Task


class MergeState(NamedTuple):
    """State of a merge between two calls of the kernel.

    Integers are small, and the kernel unpacks the arrays at its top: twice the bytes took twice the time, and passing
    the tuple through helper functions took four times as long, for reference counts.
    """

    # by part; one empty part more at the end
    counts: Any  # rows by frozen cell and class
    rows: Any  # rows by frozen cell
    values: Any
    # by part
    price: Any
    joined: Any  # price of its union with the left neighbour
    left: Any  # left neighbour that is left, -1 if none
    right: Any  # right neighbour
    atom: Any  # first atom of the part
    tree: Any  # delta of merging each part with its right neighbour, then the upper nodes of the tournament tree
    child: Any  # see `build`
    tiers: Any  # see `build`
    removed: Any  # step at which the bound before each atom was removed
    union: Any  # buffer for the counts of one cell
    now: Any  # see `_start`


class Merged(NamedTuple):
    """Result of a merge: the best partition met, and the whole path."""

    best: Partitioning
    atoms: NDArray[np.int64]  # first atom of each part at the start
    removed: NDArray[np.int32]  # step at which the bound before each of these atoms was removed
    n_steps: int
    max_parts: int  # partitions of the path with at most this many parts keep the limits

    def path(self, n_parts: int) -> NDArray[np.int64]:
        """First atoms of the parts when `n_parts` parts were left: those of the bounds removed last."""
        return self.atoms[self.removed > min(max(len(self.atoms) - n_parts, 0), self.n_steps)]


def greedy_merge(task: Task, start: Partitioning | None = None) -> Merged:
    """Merge neighbours from the partition `start`, by default one part per atom, down to one part.

    The best is the cheapest partition met that keeps the limits; one part always does.
    """
    first_atoms = np.arange(task.n_atoms) if start is None else start.starts
    state = _start(task.atoms if start is None else coarsen(task.atoms, start.starts), task.n_frozen_cells)
    now = state.now[0]
    steps = bind(merge_steps, task.criterion)

    def merge(small_only: bool) -> None:
        now.n_queued = 0
        task.clock.repeat(
            lambda n_steps: bool(steps(state, task.setting, task.limits, small_only, n_steps)),
            lambda: float(1.0 - now.n_parts / len(first_atoms)),
            max(1, 2**16 // state.counts[0].size),
        )

    # Parts with too few rows merge first: only then can a partition met on the way keep the limit.
    if task.limits.min_rows > 1:
        merge(small_only=True)
    max_parts = int(now.n_parts) if now.n_small == 0 or task.limits.min_rows == 1 else 1
    merge(small_only=False)
    kept = first_atoms[state.removed > now.best_step]
    if now.best_cost == np.inf:  # stopped before any partition kept the limits
        kept = kept[:1]
    max_parts = min(max_parts, task.limits.max_parts)
    return Merged(task.priced(kept), first_atoms, state.removed, int(now.step), max_parts)


def _start(atoms: Atoms, n_frozen_cells: int) -> MergeState:
    """State at the start of a merge, with one part per atom."""
    n, n_classes = len(atoms.values), atoms.counts.shape[1]
    counts = np.zeros((n + 1, n_frozen_cells, n_classes), dtype=atoms.counts.dtype)
    rows = np.zeros((n + 1, n_frozen_cells), dtype=np.int64)
    if n_frozen_cells == 1:
        rows[:n, 0] = atoms.rows
        size = max(1, COUNTS_AT_ONCE // n_classes)
        for lo in range(0, n, size):
            counts[lo : min(lo + size, n), 0] = atoms.counts[lo : lo + size]
    else:
        atom_of_entry = np.repeat(np.arange(n), np.diff(atoms.first))
        counts[atom_of_entry, atoms.frozen], rows[atom_of_entry, atoms.frozen] = atoms.counts, atoms.rows
    index = np.arange(n, dtype=np.int32)
    return MergeState(
        counts=counts,
        rows=rows,
        values=np.append(atoms.values, np.int32(0)),
        price=np.empty(n),
        joined=np.empty(n),
        left=index - 1,
        right=np.append(index[1:], np.int32(-1)),
        atom=index,
        tree=np.empty(tree_size(n)),
        child=np.empty(tree_size(n), dtype=np.int8),
        tiers=np.zeros(MAX_TIERS, dtype=np.int64),
        removed=np.full(n, np.iinfo(np.int32).max, dtype=np.int32),
        union=np.zeros(n_classes, dtype=np.int64),
        now=make_record(
            n_parts=n,
            n_slots=n,  # slots for parts; parts that were merged leave empty slots
            n_tiers=0,  # tiers of the tournament tree
            n_priced=0,
            n_queued=0,  # parts whose merge with the right neighbour is in the tree
            n_small=0,  # parts with too few rows
            step=0,  # merges made
            best_step=0,
            price=0.0,  # sum of the prices of all parts
            best_cost=np.inf,
        ),
    )


def merge_steps(state: MergeState, setting: Setting, limits: Limits, small_only: bool, n_steps: int) -> bool:
    """Do at most `n_steps` steps; return True when there is nothing left to merge.

    The first steps price one part each, the next price the merge of one part with its right neighbour each, and all
    others make one merge. All need the price of a union, of two parts or of a part and the empty part, computed in one
    place: every copy of the terms in a kernel takes half a second to compile.
    """
    counts, rows, values, union, price = state.counts, state.rows, state.values, state.union, state.price
    joined, left, right, atom, removed = state.joined, state.left, state.right, state.atom, state.removed
    tree, child, tiers, now = state.tree, state.child, state.tiers, state.now[0]
    n_parts, n_slots, n_priced, n_queued, n_small = now.n_parts, now.n_slots, now.n_priced, now.n_queued, now.n_small
    n_tiers, step, best_step, total, best_cost = now.n_tiers, now.step, now.best_step, now.price, now.best_cost
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    nothing, min_rows, is_done = len(values) - 1, limits.min_rows, False
    if n_queued == 0 and n_parts < n_slots:
        compact(state, n_parts)
        n_slots = n_priced = n_parts
    for _ in range(n_steps):
        pricing = n_priced < n_slots
        queueing = not pricing and n_queued < n_slots
        if pricing:
            i = k = n_priced
            n_priced += 1
        elif queueing:
            i = k = n_queued
            n_queued += 1
        else:
            if n_parts == 1 or (n_parts <= limits.max_parts and n_small == 0):
                cost = total_cost(setting, total, n_parts)
                if cost <= best_cost:  # ties: the fewest parts
                    best_cost, best_step = cost, step
            i = winner(child, tiers, n_tiers)
            if tree[i] == np.inf:
                is_done = True
                break
            j = right[i]
            step, n_parts, total = step + 1, n_parts - 1, total + tree[i]
            removed[atom[j]] = step
            price[i] = joined[j]
            n_small += absorb(counts, rows, values, left, right, i, j, min_rows)
            tree[j] = np.inf
            if j >> 3 != i >> 3:  # a sibling of i is updated with i below
                climb(tree, child, tiers, n_tiers, j)
            k = np.int64(left[i])
        # After a merge, the pairs on both sides of the union have a new price.
        for _side in range(1 if pricing or queueing else 2):
            if k >= 0:
                j = nothing if pricing else np.int64(right[k])
                together = 0.0
                if j >= 0:
                    n = rows_in(rows, k) + rows_in(rows, j)
                    together = cells_price(p, counts, rows, union, k, j)
                    together += part_price(p, facts, n_target_parts, n, values[k] + values[j])
                if pricing:
                    price[k] = together
                    total += together
                    n_small += rows_in(rows, k) < min_rows
                else:
                    tree[k] = np.inf
                    if j >= 0 and not (small_only and rows_in(rows, k) >= min_rows and rows_in(rows, j) >= min_rows):
                        tree[k], joined[j] = together - (price[k] + price[j]), together
                    if not queueing and (k == i or k >> 3 != i >> 3):
                        climb(tree, child, tiers, n_tiers, k)
            k = i
        if queueing and n_queued == n_slots:
            n_tiers = build(tree, child, tiers, n_slots)
        # Half of the slots are empty: close the gaps, so that the parts left stay in the cache.
        if not pricing and not queueing and 2 * n_parts < n_slots and n_slots > 64:
            compact(state, n_parts)
            n_slots = n_priced = n_queued = n_parts
            n_tiers = build(tree, child, tiers, n_slots)
    now.n_parts, now.n_slots, now.n_priced, now.n_queued, now.n_small = n_parts, n_slots, n_priced, n_queued, n_small
    now.n_tiers, now.step, now.best_step, now.price, now.best_cost = n_tiers, step, best_step, total, best_cost
    return is_done


@inlined
def absorb(counts: Any, rows: Any, values: Any, left: Any, right: Any, i: Any, j: Any, min_rows: int) -> int:
    """Add part `j` to its left neighbour `i`; return the change of the number of parts with too few rows."""
    n_i, n_j = rows_in(rows, i), rows_in(rows, j)
    n_small = (1 if n_i + n_j < min_rows else 0) - (1 if n_i < min_rows else 0) - (1 if n_j < min_rows else 0)
    values[i] += values[j]
    for f in range(counts.shape[1]):
        rows[i, f] += rows[j, f]
        for c in range(counts.shape[2]):
            counts[i, f, c] += counts[j, f, c]
    right[i] = right[j]
    if right[j] >= 0:
        left[right[j]] = i
    return n_small


def compact(state: MergeState, n_parts: int) -> None:
    """Renumber the `n_parts` parts that are left, so that no slot between them is empty."""
    counts, rows, values, price, joined = state.counts, state.rows, state.values, state.price, state.joined
    left, right, atom, tree = state.left, state.right, state.atom, state.tree
    i = 0
    for k in range(n_parts):
        for f in range(counts.shape[1]):
            rows[k, f] = rows[i, f]
            for c in range(counts.shape[2]):
                counts[k, f, c] = counts[i, f, c]
        values[k], price[k], joined[k], atom[k], tree[k] = values[i], price[i], joined[i], atom[i], tree[i]
        i = right[i]
        left[k], right[k] = k - 1, k + 1 if i >= 0 else -1


# Tournament tree with eight children per node: the smallest of many numbers that keep changing; ties: leftmost.
#
# The eight children of a node fill one cache line, a change moves up only as long as it changes a winner, and each node
# stores which child won, so that the way down takes one look-up per tier. Merging a million rows of noise with a lazy
# binary heap took four times as long.

MAX_TIERS = 24


def tree_size(n_leaves: int) -> int:
    """Number of nodes of a tree with `n_leaves` leaves, with a margin for the padding of every tier."""
    return n_leaves + n_leaves // 7 + 16 * MAX_TIERS


def build(tree: Any, child: Any, tiers: Any, n_leaves: int) -> int:
    """Build the tree over the `n_leaves` leaves at the front of `tree`; return the number of tiers below its root.

    Tier k begins at ``tiers[k]``; every tier is padded to a multiple of eight by infinities. ``child`` is the number,
    0 to 7, of the smallest child of each node.
    """
    begin, size, n_tiers = 0, n_leaves, 0
    while True:
        padded = (size + 7) // 8 * 8
        for i in range(size, padded):
            tree[begin + i] = np.inf
        tiers[n_tiers] = begin
        n_tiers += 1
        above = begin + padded
        tiers[n_tiers] = above
        for i in range(padded // 8):
            play(tree, child, begin + 8 * i, above + i)
        if padded == 8:
            return n_tiers
        begin, size = above, padded // 8


@inlined
def play(tree: Any, child: Any, at: int, node: int) -> bool:
    """Set `node` to the smallest of its eight children, which begin at `at`; return whether its number has changed."""
    best, smallest = 0, tree[at]
    for i in range(1, 8):
        if tree[at + i] < smallest:
            best, smallest = i, tree[at + i]
    changed = tree[node] != smallest
    child[node], tree[node] = best, smallest
    return changed


@inlined
def climb(tree: Any, child: Any, tiers: Any, n_tiers: int, leaf: int) -> None:
    """Update the tree after changes of one leaf and of its siblings."""
    at = leaf
    for tier in range(n_tiers):
        at >>= 3
        if not play(tree, child, tiers[tier] + 8 * at, tiers[tier + 1] + at):
            break


@inlined
def winner(child: Any, tiers: Any, n_tiers: int) -> int:
    """Index of the leaf with the smallest number; ties: leftmost."""
    at: Any = 0
    for tier in range(n_tiers, 0, -1):
        at = 8 * at + np.int64(child[tiers[tier] + at])  # in plain Python, 8-bit integers of numpy would overflow
    return at
