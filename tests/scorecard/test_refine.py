"""Finer parts by AIC, against slow and obvious code."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import gridmodl
from gridmodl.scorecard import refine as tested


def aic(parts: np.ndarray) -> float:
    cost = 0.0
    for part in parts:
        cost += 1.0 - sum(n * math.log(n / part.sum()) for n in part if n)
    return cost


@pytest.mark.parametrize("seed", range(8))
def test_levels_are_those_of_the_isotonic_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, (30, 2))
    counts[rng.random(30) < 0.1] = 0
    counts[0] = 1, 2
    for event in (0, 1):
        starts = tested._isotonic(counts, event)
        rows = counts.sum(axis=1)
        shares = counts[:, event] / np.maximum(rows, 1)
        kept = rows > 0
        places = np.arange(30)[kept]
        expected = IsotonicRegression().fit(places, shares[kept], sample_weight=rows[kept]).predict(places)
        parts = tested._add(counts, starts)
        found = (parts[:, event] / parts.sum(axis=1))[np.searchsorted(starts, places, side="right") - 1]
        np.testing.assert_allclose(found, expected)
        assert np.all(np.diff(parts[:, event] / parts.sum(axis=1)) > 0)


@pytest.mark.parametrize("seed", range(8))
def test_parts_are_joined_while_that_is_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 30, (7, 2))
    starts = tested._joined(counts, np.arange(7), 7)
    found = tested._add(counts, starts)
    for i in range(len(starts) - 1):  # no two neighbours are cheaper as one
        one = np.delete(starts, i + 1)
        assert aic(tested._add(counts, one)) >= aic(found) - 1e-9
    assert aic(found) <= aic(counts) + 1e-9
    assert len(tested._joined(counts, np.arange(7), 2)) <= 2
    np.testing.assert_allclose(tested._losses(counts).sum() + 7, aic(counts))


@pytest.mark.parametrize("least", [1, 5, 20, 1000])
def test_bins_have_enough_rows(least: int) -> None:
    counts = np.random.default_rng(0).integers(0, 5, (60, 2))
    starts = tested._bins(counts, least)
    rows = tested._add(counts, starts).sum(axis=1)
    assert rows.min() >= min(least, counts.sum())
    for i in range(len(starts) - 1):  # the first segment of the next bin was not needed
        assert rows[i] - counts[starts[i + 1] - 1].sum() < least


def test_values_have_parts_if_that_is_cheaper_than_one() -> None:
    counts = np.array([[90, 10], [10, 90], [88, 12], [3, 1], [2, 9]])
    assert tested.refined_groups(counts, 20, None) == [[0, 2], [1, 3, 4]]  # the rare ones are like value 1
    groups = tested.refined_groups(counts, 10, None)
    assert groups is not None
    assert sorted(itertools.chain(*groups)) == [0, 1, 2, 3, 4]
    assert tested.refined_groups(np.array([[50, 50], [48, 52], [51, 49]]), 20, None) is None
    assert tested.refined_groups(np.array([[5, 5], [4, 6]]), 20, None) is None
    different = np.array([[90, 10], [50, 50], [10, 90]])
    assert tested.refined_groups(different, 20, None) == [[0], [1], [2]]
    limited = tested.refined_groups(different, 20, 2)
    assert limited is not None
    assert len(limited) == 2


@pytest.mark.parametrize("seed", range(4))
def test_refined_intervals_are_cheaper_monotone_and_have_enough_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=800)
    y = rng.random(800) < 1 / (1 + np.exp(1 - (0.4 if seed % 2 else -0.4) * x))
    x[rng.random(800) < 0.1] = np.nan
    average = gridmodl.average({"x": x}, y)
    plain = tested.missing_apart(average, average.partition(0.001))
    assert plain.partitions["x"].is_missing_apart
    found = tested.refined_intervals(average, plain, 25)
    counts = found.partitions["x"].counts
    assert aic(counts) <= aic(plain.partitions["x"].counts)
    assert len(counts) > 2
    assert counts[1:].sum(axis=1).min() >= 25
    shares = counts[1:, 1] / counts[1:].sum(axis=1)
    assert np.all(np.diff(shares) * (1 if seed % 2 else -1) > 0)
    np.testing.assert_array_equal(
        counts, gridmodl.Model.from_partitions({"x": x}, y, {"x": found.partitions["x"]}).partitions["x"].counts
    )


def test_strong_curves_that_rise_and_fall_keep_their_parts() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = np.abs(x) + 0.3 * rng.normal(size=2000) > 1
    average = gridmodl.average(x, y)
    plain = average.partition(0.001)
    assert tested.refined_intervals(average, plain, 20) is plain
