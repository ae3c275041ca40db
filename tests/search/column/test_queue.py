"""The tournament tree, in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from gridmodl.search.column import merge as queue


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 600])
def test_the_winner_is_the_leftmost_smallest_after_every_change(n):
    rng = np.random.default_rng(n)
    tree, child = np.empty(queue.tree_size(n)), np.zeros(queue.tree_size(n), dtype=np.int8)
    tiers = np.zeros(queue.MAX_TIERS, dtype=np.int64)
    numbers = rng.integers(0, 5, n).astype(float)
    tree[:n] = numbers
    n_tiers = queue.build(tree, child, tiers, n)
    for _ in range(200):
        assert queue.winner(child, tiers, n_tiers) == np.argmin(numbers)
        leaf = int(rng.integers(n))
        tree[leaf] = numbers[leaf] = rng.choice([0.0, 1.0, 2.0, 3.0, np.inf])
        queue.climb(tree, child, tiers, n_tiers, leaf)


def test_the_winner_without_a_compiler_counts_beyond_8_bits():
    n = 700
    tree, child, tiers = (
        np.empty(queue.tree_size(n)),
        np.zeros(queue.tree_size(n), dtype=np.int8),
        np.zeros(30, np.int64),
    )
    tree[:n] = np.arange(n, 0, -1.0)
    with np.errstate(over="raise"):
        assert queue.winner(child, tiers, queue.build(tree, child, tiers, n)) == n - 1
