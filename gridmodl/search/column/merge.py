"""Greedy merge, carried on to one part; the best partition met on the way is kept (exhaustive merge).

Grid and variable terms change by the same amount whichever two neighbours merge, so the cheapest merge is the one
with the smallest local delta: one look-up in a tournament tree, and after it two deltas change. N log N in all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import COUNTS_AT_ONCE, Atoms, coarsen
from gridmodl.jit.template import bind, inlined
from gridmodl.search.moves import Limits, Setting, cells_price, part_price, rows_in, total_cost
from gridmodl.search.task import Partitioning, Task

# The fields of `MergeState.now` (whole numbers) and `MergeState.sums`.
N_PARTS, N_SLOTS, N_TIERS, N_PRICED, N_QUEUED, STEP, BEST_STEP, N_SMALL = range(8)
PRICE, BEST_COST = range(2)


class MergeState(NamedTuple):
    """The state of a merge between two calls of the kernel.

    Small integers, and arrays that the kernel unpacks at its top: twice the bytes took twice the time, and arrays
    carried in the tuple through helper functions cost 4 x in reference counts.
    """

    # of each part; one more, with nothing in it, at the end
    counts: Any  # rows by frozen cell and class
    rows: Any  # rows by frozen cell
    values: Any
    # of each part
    price: Any
    joined: Any  # price of its union with the left neighbour
    left: Any  # neighbours that still live, -1 where there is none
    right: Any
    atom: Any  # its first atom
    tree: Any  # delta of merging it with its right neighbour, and the rest of the queue
    child: Any
    tiers: Any
    removed: Any  # of each atom, the step at which the bound before it was removed
    union: Any  # buffer for the counts of one cell
    now: Any
    sums: Any


class Merged(NamedTuple):
    """What a merge leaves behind: the best partition it met, and its whole path."""

    best: Partitioning
    atoms: NDArray[np.int64]  # where it started: the first atom of each part
    removed: NDArray[np.int32]  # of each of these, the step at which the bound before it was removed
    n_steps: int
    max_parts: int  # a partition of the path keeps the limits if it has at most so many parts

    def path(self, n_parts: int) -> NDArray[np.int64]:
        """First atoms of the parts when so many were left: the bounds that were hardest to give up."""
        return self.atoms[self.removed > min(max(len(self.atoms) - n_parts, 0), self.n_steps)]


def greedy_merge(task: Task, start: Partitioning | None = None) -> Merged:
    """Merge neighbours from the partition `start`, by default all atoms apart, down to one part.

    The best is the cheapest partition met that keeps the limits; one part always does.
    """
    first_atoms = np.arange(task.n_atoms) if start is None else start.starts
    state = _start(task.atoms if start is None else coarsen(task.atoms, start.starts), task.n_frozen_cells)
    steps = bind(merge_steps, task.criterion)

    def merge(small_only: bool) -> None:
        state.now[N_QUEUED] = 0
        task.clock.repeat(
            lambda n_steps: bool(steps(state, task.setting, task.limits, small_only, n_steps)),
            lambda: float(1.0 - state.now[N_PARTS] / len(first_atoms)),
            max(1, 2**16 // state.counts[0].size),
        )

    # Parts with too few rows merge first: only then can a partition met on the way keep the limit.
    if task.limits.min_rows > 1:
        merge(small_only=True)
    max_parts = int(state.now[N_PARTS]) if state.now[N_SMALL] == 0 or task.limits.min_rows == 1 else 1
    merge(small_only=False)
    kept = first_atoms[state.removed > state.now[BEST_STEP]]
    if state.sums[BEST_COST] == np.inf:  # stopped before any partition kept the limits
        kept = kept[:1]
    max_parts = min(max_parts, task.limits.max_parts)
    return Merged(task.priced(kept), first_atoms, state.removed, int(state.now[STEP]), max_parts)


def _start(atoms: Atoms, n_frozen_cells: int) -> MergeState:
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
    now = np.zeros(8, dtype=np.int64)
    now[N_PARTS] = now[N_SLOTS] = n
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
        now=now,
        sums=np.array([0.0, np.inf]),
    )


def merge_steps(state: MergeState, setting: Setting, limits: Limits, small_only: bool, n_steps: int) -> bool:
    """Do up to `n_steps` steps; True when there is nothing left to merge.

    First each step prices one part, then it queues one part's merge with its right neighbour, then it is a merge. All
    three need the price of a union, of two parts or of a part and nothing, and one place finds it: every copy of the
    terms in a kernel costs half a second of compile time.
    """
    counts, rows, values, price, joined, left, right, atom, tree, child, tiers, removed, union, now, sums = state
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    nothing, min_rows = len(values) - 1, limits.min_rows
    if now[N_QUEUED] == 0 and now[N_PARTS] < now[N_SLOTS]:
        compact(state)
    for _ in range(n_steps):
        pricing = now[N_PRICED] < now[N_SLOTS]
        queueing = not pricing and now[N_QUEUED] < now[N_SLOTS]
        if pricing:
            i = k = now[N_PRICED]
            now[N_PRICED] += 1
        elif queueing:
            i = k = now[N_QUEUED]
            now[N_QUEUED] += 1
        else:
            if now[N_PARTS] == 1 or (now[N_PARTS] <= limits.max_parts and now[N_SMALL] == 0):
                cost = total_cost(setting, sums[PRICE], now[N_PARTS])
                if cost <= sums[BEST_COST]:  # of equal costs, the fewest parts
                    sums[BEST_COST] = cost
                    now[BEST_STEP] = now[STEP]
            i = winner(child, tiers, now[N_TIERS])
            if tree[i] == np.inf:
                return True
            j = right[i]
            now[STEP] += 1
            now[N_PARTS] -= 1
            now[N_SMALL] -= (rows_in(rows, i) < min_rows) + (rows_in(rows, j) < min_rows)
            removed[atom[j]] = now[STEP]
            sums[PRICE] += tree[i]
            price[i] = joined[j]
            absorb(counts, rows, values, left, right, i, j)
            now[N_SMALL] += rows_in(rows, i) < min_rows
            tree[j] = np.inf
            if j >> 3 != i >> 3:  # siblings climb together
                climb(tree, child, tiers, now[N_TIERS], j)
            k = np.int64(left[i])
        # After a merge the pairs on both sides have a new price.
        for _side in range(1 if pricing or queueing else 2):
            if k >= 0:
                j = nothing if pricing else np.int64(right[k])
                together = 0.0
                if j >= 0:
                    together = cells_price(p, counts, rows, union, k, j)
                    n = rows_in(rows, k) + rows_in(rows, j)
                    together += part_price(p, facts, n_target_parts, n, values[k] + values[j])
                if pricing:
                    price[k] = together
                    sums[PRICE] += together
                    now[N_SMALL] += rows_in(rows, k) < min_rows
                else:
                    delta = np.inf
                    if j >= 0 and not (small_only and rows_in(rows, k) >= min_rows and rows_in(rows, j) >= min_rows):
                        delta = together - (price[k] + price[j])
                        joined[j] = together
                    tree[k] = delta
                    if not queueing and (k == i or k >> 3 != i >> 3):
                        climb(tree, child, tiers, now[N_TIERS], k)
            k = i
        if queueing and now[N_QUEUED] == now[N_SLOTS]:
            now[N_TIERS] = build(tree, child, tiers, now[N_SLOTS])
        # Half of the slots are empty: close the gaps, so that what is left stays in the cache.
        if not pricing and not queueing and 2 * now[N_PARTS] < now[N_SLOTS] and now[N_SLOTS] > 64:
            compact(state)
            now[N_QUEUED] = now[N_SLOTS]
            now[N_TIERS] = build(tree, child, tiers, now[N_SLOTS])
    return False


@inlined
def absorb(counts: Any, rows: Any, values: Any, left: Any, right: Any, i: Any, j: Any) -> None:
    """Add part `j` to its left neighbour `i`."""
    values[i] += values[j]
    for f in range(counts.shape[1]):
        rows[i, f] += rows[j, f]
        for c in range(counts.shape[2]):
            counts[i, f, c] += counts[j, f, c]
    right[i] = right[j]
    if right[j] >= 0:
        left[right[j]] = i


def compact(state: MergeState) -> None:
    """Renumber the parts that live, so that no gap is between them."""
    counts, rows, values, price, joined, left, right, atom, tree = state[:9]
    now = state.now
    now[N_SLOTS] = now[N_PRICED] = now[N_PARTS]
    i = 0
    for k in range(now[N_PARTS]):
        for f in range(counts.shape[1]):
            rows[k, f] = rows[i, f]
            for c in range(counts.shape[2]):
                counts[k, f, c] = counts[i, f, c]
        values[k], price[k], joined[k], atom[k], tree[k] = values[i], price[i], joined[i], atom[i], tree[i]
        i = right[i]
        left[k], right[k] = k - 1, k + 1 if i >= 0 else -1


# The smallest of many numbers that keep changing: a tournament tree with eight children per node.
#
# A node's eight children fill one cache line, a change climbs only as far as it changes a winner, and each node
# remembers which child won, so that the way down is one look-up a tier. Merging a million rows of noise with a lazy
# binary heap took four times as long. Equal numbers: the leftmost wins.

MAX_TIERS = 24


def tree_size(n_leaves: int) -> int:
    """Nodes of a tree with so many leaves, and a margin for the padding of every tier."""
    return n_leaves + n_leaves // 7 + 16 * MAX_TIERS


def build(tree: Any, child: Any, tiers: Any, n_leaves: int) -> int:
    """Make the tree over the leaves that stand at the front of `tree`; return the number of tiers below its root.

    Tier k begins at ``tiers[k]``; every tier is padded to a multiple of eight by infinities.
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
    """Let the eight numbers from `at` on play for `node` above them; whether its number has changed."""
    best, smallest = 0, tree[at]
    for i in range(1, 8):
        if tree[at + i] < smallest:
            best, smallest = i, tree[at + i]
    changed = tree[node] != smallest
    child[node], tree[node] = best, smallest
    return changed


@inlined
def climb(tree: Any, child: Any, tiers: Any, n_tiers: int, leaf: int) -> None:
    """Make the tree right again after changes of one leaf and of its siblings."""
    at = leaf
    for tier in range(n_tiers):
        at >>= 3
        if not play(tree, child, tiers[tier] + 8 * at, tiers[tier + 1] + at):
            break


@inlined
def winner(child: Any, tiers: Any, n_tiers: int) -> int:
    """The leaf with the smallest number, the leftmost of equals."""
    at: Any = 0
    for tier in range(n_tiers, 0, -1):
        at = 8 * at + np.int64(child[tiers[tier] + at])  # as numba counts; plain Python would stay with 8 bits
    return at
