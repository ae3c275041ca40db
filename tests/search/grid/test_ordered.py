"""Means of a numerical target in order: against trying all grids, and never out of order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gridmodl

ORDERS = ("increasing", "decreasing", "peak", "valley")


def is_ordered(means, order):
    rises = [other >= one - 1e-9 for one, other in itertools.pairwise(means)]
    falls = [other <= one + 1e-9 for one, other in itertools.pairwise(means)]
    if order in ("increasing", "decreasing"):
        return all(rises if order == "increasing" else falls)
    before, after = (rises, falls) if order == "peak" else (falls, rises)
    return any(all(before[:k]) and all(after[k:]) for k in range(len(rises) + 1))


def cuttings(n):
    for k in range(n):
        for cuts in itertools.combinations(range(1, n), k):
            yield [c - 0.5 for c in cuts]


def means_of(x, y, bounds):
    part = np.searchsorted(bounds, x)
    return [y[part == i].mean() for i in range(len(bounds) + 1)]


@pytest.mark.parametrize("order", ORDERS)
def test_it_finds_what_trying_all_grids_finds(order):
    n_found = n_forced = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = np.repeat(np.arange(5.0), 12)
        y = np.clip(np.rint(rng.permutation(5)[x.astype(int)] + rng.normal(0, 0.6, len(x))), 0, 4)
        model = gridmodl.optimize({"x": x}, y, target_kind="numerical", monotone=order)
        bounds = model.partition("x").bounds
        assert is_ordered(means_of(x, y, bounds), order)
        values = np.unique(y)
        costs = [
            gridmodl.price({"x": x}, y, {"x": given, "target": np.asarray(of_target)}, target_kind="numerical")
            for given in cuttings(5)
            if is_ordered(means_of(x, y, given), order)
            for of_target in ([values[0] + b for b in cut] for cut in cuttings(int(values[-1] - values[0]) + 1))
        ]
        assert model.cost >= min(costs) - 1e-9
        n_found += model.cost <= min(costs) + 1e-9
        free = gridmodl.optimize({"x": x}, y, target_kind="numerical")
        n_forced += model.cost > free.cost + 1e-9
    assert n_found >= 5
    assert n_forced > 0


@pytest.mark.parametrize("order", [*ORDERS, "auto"])
def test_the_means_keep_the_order_with_weights_missing_values_and_limits(order):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 300, 800).astype(float)
    y = np.sin(x / 60.0) + rng.normal(0, 0.3, len(x))
    x[:40], y[:40] = np.nan, 5.0
    weights = rng.integers(0, 3, len(x))
    model = gridmodl.optimize({"x": x}, y, weights=weights, monotone=order, min_rows=30, max_parts=6)
    partition = model.partition("x")
    first = int(partition.is_missing_apart)
    means = model._target_quantiles.means[first : partition.n_parts]
    orders = ORDERS if order == "auto" else (order,)
    kept = [one for one in orders if is_ordered(means, one)]
    assert kept
    assert f"means that are monotone ({order}{f': {kept[0]}' if order == 'auto' else ''})" in model.limits
    assert partition.n_parts <= 6
    assert partition.n_parts > 1
    assert partition.rows[first:].min() >= 30
    assert not model.proven


def test_a_categorical_column_has_no_order():
    with pytest.raises(ValueError, match="column 'x' is categorical; monotone= is for intervals"):
        gridmodl.optimize({"x": list("abc") * 5}, np.arange(15) + 0.5, monotone="auto")
    models = gridmodl.optimize_each({"x": list("abc") * 5, "z": np.arange(15)}, np.arange(15) + 0.5, monotone="auto")
    assert set(models) == {"x", "z"}
