"""Rows dealt into groups: sizes, classes, weights, seeds."""

from __future__ import annotations

import numpy as np
import pytest

from gridmodl.data import folds
from gridmodl.data.atoms import Target
from gridmodl.data.columns import Categories
from gridmodl.data.folds import deal_rows
from gridmodl.data.numbers import Numbers


def numbers(values, missing=None):
    return Numbers("x", np.asarray(values, dtype=np.float64), missing, np.dtype(np.float64))


def sample(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 20, n).astype(np.float64), rng.integers(0, 3, n).astype(np.int32)


@pytest.mark.parametrize("sizes", [(1,) * 5, (1, 1, 2, 4, 8), (3,)])
def test_groups_have_their_share_of_each_class(sizes):
    x, y = sample()
    dealt = deal_rows([numbers(x)], Target(y, None, 3), sizes, 1)
    assert np.array_equal(dealt.sum(axis=1), np.ones(300))
    for code in range(3):
        rows = dealt[y == code].sum(axis=0)
        expected = np.array(sizes) * rows.sum() / sum(sizes)
        assert np.all(np.abs(rows - expected) < np.array(sizes) + 1e-9)


def test_groups_tell_nothing_of_each_other_along_the_values():
    """Rows dealt in turn along the values would have the same shares in each stretch of the other groups."""
    rng = np.random.default_rng(0)
    x, y = np.arange(4000.0), rng.integers(0, 2, 4000).astype(np.int32)
    stretch = (x // 40).astype(int)
    products = []
    for seed in range(20):
        dealt = deal_rows([numbers(x)], Target(y, None, 2), (1,) * 4, seed)
        new = dealt[:, 0] == 1
        ones = [np.bincount(stretch[rows], y[rows] - y.mean(), 100) for rows in (new, ~new)]
        products.append(np.mean(ones[0] * ones[1]) / np.mean(ones[0] ** 2))
    # Given the classes, what is in the one is not in the other; dealt evenly the ratio would be 3.
    assert abs(np.mean(products)) < 0.5


@pytest.mark.parametrize("many", [2**24, 10])
def test_weights_are_repeated_rows_in_any_order(many, monkeypatch):
    monkeypatch.setattr(folds, "MANY_ROWS", many)
    x, y = sample()
    rng = np.random.default_rng(2)
    weights = rng.integers(1, 9, len(x))
    rows = rng.permutation(np.repeat(np.arange(len(x)), weights))
    weighted = deal_rows([numbers(x)], Target(y, weights, 3), (1,) * 5, 7)
    repeated = deal_rows([numbers(x[rows])], Target(y[rows], None, 3), (1,) * 5, 7)
    assert np.array_equal(weighted.sum(axis=1), weights)
    assert weighted.min() >= 0
    for value in np.unique(x):
        for code in range(3):
            here, there = (x == value) & (y == code), (x[rows] == value) & (y[rows] == code)
            assert np.array_equal(weighted[here].sum(axis=0), repeated[there].sum(axis=0))


def test_a_large_weight_is_dealt_without_repeating_rows():
    dealt = deal_rows([numbers([1.0, 2.0])], Target(np.zeros(2, dtype=np.int32), np.array([10**12, 3]), 1), (1, 3), 0)
    assert dealt.sum(axis=1).tolist() == [10**12, 3]
    assert abs(dealt[0, 0] - 250_000_000_000) < 10**7  # 20 standard deviations


def test_a_seed_decides_and_seeds_differ():
    x, y = sample()
    dealt = [deal_rows([numbers(x)], Target(y, None, 3), (1,) * 4, seed) for seed in (3, 3, 4, 2**80)]
    assert np.array_equal(dealt[0], dealt[1])
    assert not np.array_equal(dealt[0], dealt[2])
    assert not np.array_equal(dealt[0], dealt[3])


def test_missing_values_are_equal_and_categories_have_codes():
    x, y = sample()
    missing = x < 5
    other = np.where(missing, np.arange(300) * 7.0 % 11, x)  # what is under the mask says nothing
    one, two = (deal_rows([numbers(v, missing)], Target(y, None, 3), (1,) * 5, 0) for v in (x, other))
    for code in range(3):
        assert np.array_equal(one[missing & (y == code)].sum(axis=0), two[missing & (y == code)].sum(axis=0))
    codes = x.astype(np.int32)
    of_codes = deal_rows([Categories("c", list(range(20)), codes)], Target(y, None, 3), (1,) * 5, 0)
    assert np.array_equal(of_codes, deal_rows([numbers(x)], Target(y, None, 3), (1,) * 5, 0))


@pytest.mark.parametrize("many", [2**24, 10])
def test_each_group_is_as_likely_as_its_size(many, monkeypatch):
    monkeypatch.setattr(folds, "MANY_ROWS", many)
    target = Target(np.zeros(30, dtype=np.int32), None, 1)
    mean = np.mean([deal_rows([numbers(np.arange(30.0))], target, (1, 3), seed) for seed in range(400)], axis=0)
    assert np.abs(mean[:, 0] - 0.25).max() < 0.1  # standard deviation 0.022
    assert np.abs(mean[:, 0].mean() - 0.25) < 0.02
