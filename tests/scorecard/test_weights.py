"""Weights of a scorecard: Newton's method, folds and removals against slow and obvious code."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from gridmodl.scorecard import weights as tested
from gridmodl.scorecard.weights import Choice, ScoreRows, fit_weights


def make_rows(n: int = 400, k: int = 4, seed: int = 0, most: int = 2) -> ScoreRows:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    parts = [np.digitize(hidden + rng.normal(size=n), [-1.0, 0.0, 1.0]) for _ in range(k)]
    is_event = rng.random(n) < 1 / (1 + np.exp(1 - 1.5 * hidden))
    order = np.argsort(is_event, kind="stable")  # rows are dealt in the order of their class
    return ScoreRows([one[order] for one in parts], [4] * k, is_event[order], rng.integers(1, most, n))


def all_rows(rows: ScoreRows) -> tested._Rows:
    return tested._rows_of(rows, rows.rows, tested._woe_tables(rows, rows.rows))


def woe_of(rows: ScoreRows, k: int, kept: np.ndarray) -> np.ndarray:
    found = np.zeros(rows.n_parts[k])
    events, rest = rows.rows[kept & rows.is_event].sum(), rows.rows[kept & ~rows.is_event].sum()
    for part in range(rows.n_parts[k]):
        mine = kept & (rows.parts[k] == part)
        a, b = rows.rows[mine & rows.is_event].sum(), rows.rows[mine & ~rows.is_event].sum()
        if a + b and events and rest:
            found[part] = np.log((a + 0.5) / (b + 0.5)) - np.log((events + 0.5) / (rest + 0.5))
    return found


@pytest.mark.parametrize("l2", [0.0, 3.0])
def test_newton_finds_the_lowest_cost(l2: float) -> None:
    rows = make_rows()
    fold = all_rows(rows)
    for k in range(4):
        np.testing.assert_allclose(fold.woe[:, k], woe_of(rows, k, np.ones(400, dtype=bool))[rows.parts[k]])

    def cost(found: np.ndarray) -> float:
        total = 0.0
        for x, y, n in zip(fold.woe, rows.is_event, rows.rows, strict=True):
            p = 1 / (1 + np.exp(-(x[:-1] @ found[:-1] + found[-1])))
            total -= n * np.log(p if y else 1 - p)
        w = found[:-1]
        return total + l2 / 2 * np.sum((w - w.mean()) ** 2) + 0.5 * (w.mean() - 1) ** 2

    fit = tested._fitted(fold, tested._Start([0, 1, 2, 3], 0.0), l2, False)
    slow = minimize(cost, np.append(np.full(4, 0.5), 0.0), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(fit.found, slow.x, atol=1e-4)
    assert cost(fit.found) <= slow.fun + 1e-7
    steps = np.eye(5) * 1e-3
    hessian = np.array([
        [(cost(fit.found + a + b) - cost(fit.found + a - b) - cost(fit.found - a + b) + cost(fit.found - a - b)) / 4e-6
         for b in steps] for a in steps
    ])  # fmt: skip
    np.testing.assert_allclose(np.linalg.inv(fit.spread), hessian, rtol=1e-2, atol=0.05)


def test_held_out_rows_are_in_no_woe() -> None:
    rows = make_rows(60, 2)
    dealt = tested._dealt(rows, 5)
    assert dealt is not None
    np.testing.assert_array_equal(dealt.sum(axis=1), rows.rows)
    assert np.ptp(dealt[rows.is_event].sum(axis=0)) <= 1
    assert tested._dealt(rows, 1) is None
    for f, split in enumerate(tested._splits(rows, dealt)):
        is_own = dealt[:, f] > 0
        assert split.own.rows.sum() == is_own.sum()
        for k in range(2):
            woe = woe_of(rows, k, ~is_own)
            np.testing.assert_allclose(split.own.woe[:, k], woe[rows.parts[k][is_own]])
            np.testing.assert_allclose(split.others.woe[:, k], woe[rows.parts[k][~is_own]])
        np.testing.assert_array_equal(split.own.is_event, rows.is_event[is_own])


def test_held_out_loss_is_that_of_weights_of_the_other_rows() -> None:
    rows = make_rows(200, 3)
    dealt = tested._dealt(rows, 5)
    assert dealt is not None
    start = tested._fitted(all_rows(rows), tested._Start([0, 1, 2], 0.0), 3.0, False)
    expected = 0.0
    for split in tested._splits(rows, dealt):
        found = tested._fitted(split.others, tested._Start([0, 1, 2], 0.0), 3.0, False).found
        p = 1 / (1 + np.exp(-split.own.woe @ found))
        expected -= float(np.log(np.where(split.own.is_event > 0, p, 1 - p)).sum())
    found = tested._held_out(tested._splits(rows, dealt), [3.0, 100.0], start, False)
    assert found[0] == pytest.approx(expected, rel=1e-6)
    assert found[1] != found[0]


def test_weights_shrink_by_the_slope_of_held_out_rows() -> None:
    rng = np.random.default_rng(0)
    rows = make_rows(300, 2, seed=1)
    many = rows._replace(  # columns of many small parts, whose woe is mostly chance
        parts=[*rows.parts, *(rng.integers(0, 40, 300) for _ in range(3))], n_parts=[4, 4, 40, 40, 40]
    )
    dealt = tested._dealt(many, 5)
    assert dealt is not None
    start = tested._fitted(all_rows(many), tested._Start(list(range(5)), 0.0), 10.0, True)
    slope, loss = tested._shrinkage(tested._splits(many, dealt), 10.0, start, True)
    assert 0.0 < slope < 0.9
    assert loss < tested._held_out(tested._splits(many, dealt), [10.0], start, True)[0]
    found = fit_weights(many, Choice(l2=10.0, validate=False))
    ratios = found.weights[start.columns] / start.found[:-1]  # rows are in another order there, and so in other folds
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-5)
    assert 0.0 < ratios[0] < 1.0


def test_removals_are_those_of_the_quadratic() -> None:
    rows = make_rows()
    fold = all_rows(rows)
    fit = tested._fitted(fold, tested._Start([0, 1, 2, 3], 0.0), 3.0, False)
    order, weights = tested._removals(fit, None)
    curvature = np.linalg.inv(fit.spread)
    for n_gone, found in enumerate(weights):
        kept = [i for i in range(5) if i not in order[:n_gone]]
        gone = order[:n_gone]
        # The lowest point of the quadratic around the fit, with the weights that are gone at 0.
        expected = np.zeros(5)
        pull = curvature[np.ix_(kept, kept)] @ fit.found[kept] + curvature[np.ix_(kept, gone)] @ fit.found[gone]
        expected[kept] = np.linalg.solve(curvature[np.ix_(kept, kept)], pull)
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_fewer_columns_are_chosen_by_held_out_loss() -> None:
    rng = np.random.default_rng(3)
    rows = make_rows(600, 2, seed=3)
    noise = [rng.integers(0, 4, 600) for _ in range(3)]
    found = fit_weights(rows._replace(parts=[*rows.parts, *noise], n_parts=[4] * 5), Choice(l2=1.0))
    assert {0, 1} <= {k for k in range(5) if found.weights[k] > 0}
    assert found.left_out
    assert found.held_out is not None


def test_order_and_weights_of_rows_change_nothing() -> None:
    rows = make_rows(200, 3, most=4)
    expected = fit_weights(rows, Choice())
    mixed = np.random.default_rng(0).permutation(200)
    several = np.repeat(np.arange(200), rows.rows)
    for at, counts in ((mixed, rows.rows[mixed]), (several, np.ones(len(several), dtype=np.int64))):
        again = fit_weights(ScoreRows([one[at] for one in rows.parts], [4] * 3, rows.is_event[at], counts), Choice())
        np.testing.assert_allclose(again.weights, expected.weights, rtol=1e-10)
        assert again.intercept == pytest.approx(expected.intercept, rel=1e-10)


def test_weights_are_not_negative_and_the_sign_can_be_free() -> None:
    for seed, sign in itertools.product(range(5), (True, False)):
        found = fit_weights(make_rows(80, 6, seed), Choice(sign=sign, validate=False, l2=0.0))
        assert np.all(found.weights >= 0) or not sign
    assert fit_weights(make_rows(50, 0), Choice()).weights.shape == (0,)


def test_many_rows_are_dealt_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "MANY_ROWS", 100)
    found = fit_weights(make_rows(400, 2, most=5), Choice())
    assert np.all(np.isfinite(found.weights))
