"""The greedy merge, alone, and its tournament tree, in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from gridmodl.search.column.merge import MAX_TIERS, build, climb, greedy_merge, tree_size, winner
from gridmodl.search.moves import Limits


def merged_by_hand(tiny, starts=None):
    """Always the cheapest merge, ties: leftmost, down to one part: every partition met, with its cost."""
    starts = list(range(len(tiny.counts))) if starts is None else list(starts)
    met = [(tiny.price(starts), list(starts))]
    while len(starts) > 1:
        smaller = [starts[:i] + starts[i + 1 :] for i in range(1, len(starts))]
        starts = min(smaller, key=lambda fewer: round(tiny.price(fewer), 9))
        met.append((tiny.price(starts), starts))
    return met


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("n_cells", "name"), [(1, "modl"), (3, "modl"), (1, "gini"), (2, "aic")])
def test_it_meets_what_merging_by_hand_meets(make_tiny, n_cells, name, seed):
    tiny = make_tiny(seed, n_cells, name)
    met = merged_by_hand(tiny)
    merged = greedy_merge(tiny.task)
    assert merged.best.cost == pytest.approx(min(cost for cost, _ in met), rel=1e-12)
    for _, starts in met:
        assert tiny.price(merged.path(len(starts))) == pytest.approx(tiny.price(starts), rel=1e-9)


def test_it_starts_where_it_is_told(make_tiny):
    tiny = make_tiny(3)
    start = tiny.task.priced([0, 2, 3, 6])
    merged = greedy_merge(tiny.task, start)
    assert set(merged.best.starts) <= {0, 2, 3, 6}
    assert merged.best.cost == pytest.approx(min(cost for cost, _ in merged_by_hand(tiny, start.starts)), rel=1e-12)


@pytest.mark.parametrize("limits", [Limits(2, 1), Limits(2**62, 9), Limits(3, 7), Limits(2**62, 10**6)])
@pytest.mark.parametrize("seed", range(4))
def test_limits_hold(make_tiny, seed, limits):
    tiny = make_tiny(seed, limits=limits)
    best = greedy_merge(tiny.task).best
    assert len(best.starts) <= limits.max_parts
    assert len(best.starts) == 1 or min(tiny.rows(best.starts)) >= limits.min_rows


def test_it_goes_on_where_a_turn_ended(make_tiny):
    """However the work is cut into turns, the result is the same: 300 atoms in turns of one step."""
    whole, turns = make_tiny(5, 1, n_atoms=300), make_tiny(5, 1, n_atoms=300)

    def one_by_one(turn, share, size=1):
        while not turn(1):
            assert 0.0 <= share() <= 1.0

    turns.task.clock.repeat = one_by_one
    assert np.array_equal(greedy_merge(whole.task).best.starts, greedy_merge(turns.task).best.starts)


def test_stopped_at_once_it_returns_one_part(make_tiny):
    tiny = make_tiny(6)
    tiny.task.clock.stopped = "time limit"
    assert greedy_merge(tiny.task).best.starts.tolist() == [0]


# The tournament tree.


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 600])
def test_the_winner_is_the_leftmost_smallest_after_every_change(n):
    rng = np.random.default_rng(n)
    tree, child = np.empty(tree_size(n)), np.zeros(tree_size(n), dtype=np.int8)
    tiers = np.zeros(MAX_TIERS, dtype=np.int64)
    numbers = rng.integers(0, 5, n).astype(float)
    tree[:n] = numbers
    n_tiers = build(tree, child, tiers, n)
    for _ in range(200):
        assert winner(child, tiers, n_tiers) == np.argmin(numbers)
        leaf = int(rng.integers(n))
        tree[leaf] = numbers[leaf] = rng.choice([0.0, 1.0, 2.0, 3.0, np.inf])
        climb(tree, child, tiers, n_tiers, leaf)


def test_the_winner_without_a_compiler_counts_beyond_8_bits():
    n = 700
    tree, child, tiers = (
        np.empty(tree_size(n)),
        np.zeros(tree_size(n), dtype=np.int8),
        np.zeros(30, np.int64),
    )
    tree[:n] = np.arange(n, 0, -1.0)
    with np.errstate(over="raise"):
        assert winner(child, tiers, build(tree, child, tiers, n)) == n - 1
