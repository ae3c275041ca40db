"""The smallest of many numbers that keep changing: a tournament tree with eight children per node.

A node's eight children fill one cache line, a change climbs only as far as it changes a winner, and each node
remembers which child won, so that the way down is one look-up a tier. Merging a million rows of noise with a lazy
binary heap took four times as long. Equal numbers: the leftmost wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gridmodl.template import inlined

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
