"""Statistics of drift, against formulas written out row by row and against other software."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from gridmodl.monitoring.drift import (
    ENOUGH,
    holm,
    log_loss,
    psi_noise,
    psi_terms,
    rate_change,
    same_relation,
    same_shares,
)

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_numbers():
    """Numbers of a test do not depend on the tests before it."""
    global RNG
    RNG = np.random.default_rng(0)


def slow_psi(old, new):
    filled = [i for i in range(len(old)) if old[i] or new[i]]
    n_old, n_new = sum(old[i] + 0.5 for i in filled), sum(new[i] + 0.5 for i in filled)
    terms = [0.0] * len(old)
    for i in filled:
        p, q = (old[i] + 0.5) / n_old, (new[i] + 0.5) / n_new
        terms[i] = (q - p) * math.log(q / p)
    return terms


@pytest.mark.parametrize("n_parts", [1, 2, 5, 30])
def test_terms_of_the_psi(n_parts):
    for _ in range(20):
        old, new = (RNG.integers(0, 6, (2, n_parts)) * RNG.integers(1, 1000, (2, 1))).astype(np.int64)
        if not old.any() or not new.any():
            continue
        np.testing.assert_allclose(psi_terms(old, new), slow_psi(old.tolist(), new.tolist()), rtol=1e-12, atol=1e-15)
        assert np.all(psi_terms(old, new) >= 0.0)


def test_psi_is_the_usual_one_where_no_part_is_rare():
    old, new = np.array([300_000, 500_000, 200_000]), np.array([250_000, 500_000, 250_000])
    p, q = old / old.sum(), new / new.sum()
    assert psi_terms(old, new).sum() == pytest.approx(float(np.sum((q - p) * np.log(q / p))), rel=1e-4)


def test_parts_that_are_empty_then_and_now_change_nothing():
    old, new = np.array([40, 0, 60, 0]), np.array([[5, 0, 10, 0], [0, 0, 3, 0]])
    np.testing.assert_allclose(psi_terms(old, new)[:, [0, 2]], psi_terms(old[[0, 2]], new[:, [0, 2]]), rtol=1e-14)
    assert not psi_terms(old, new)[:, [1, 3]].any()
    np.testing.assert_allclose(psi_noise(old, new), [1 / 100 + 1 / 15, 1 / 100 + 1 / 3])
    assert np.isnan(psi_noise(old, np.zeros(4, dtype=np.int64)))


def test_noise_is_the_mean_of_the_psi_without_drift():
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    found = [psi_terms(RNG.multinomial(4000, shares), RNG.multinomial(1000, shares)).sum() for _ in range(2000)]
    expected = 3 * (1 / 4000 + 1 / 1000)
    assert np.mean(found) == pytest.approx(expected, rel=0.08)


def williams(table):
    """The correction of Williams, in the words of Sokal and Rohlf's Biometry, for a table of two lines."""
    lines, columns, n = (
        [sum(line) for line in table],
        [sum(column) for column in zip(*table, strict=True)],
        sum(map(sum, table)),
    )
    of_lines, of_columns = n * sum(1 / line for line in lines) - 1, n * sum(1 / column for column in columns) - 1
    return 1 + of_lines * of_columns / (6 * n * (len(columns) - 1))


def test_shares_are_tested_as_scipy_does():
    for n_parts in (2, 3, 8):
        old, new = RNG.integers(50, 500, n_parts), RNG.integers(50, 500, n_parts)
        expected = scipy.stats.chi2_contingency([old, new], correction=False, lambda_="log-likelihood")
        test, statistic = same_shares(old, new), expected.statistic / williams([old.tolist(), new.tolist()])
        assert test.statistic == pytest.approx(statistic)
        assert test.degrees == expected.dof
        assert test.p_value == pytest.approx(scipy.stats.chi2.sf(statistic, expected.dof))


def test_rare_parts_are_tested_together():
    old, new = np.array([1000, 3, 900, 2, 1]), np.array([500, 1, 450, 3, 1])
    expected = scipy.stats.chi2_contingency([[1000, 900 + 6], [500, 450 + 5]], correction=False,
                                            lambda_="log-likelihood")  # fmt: skip
    # 11 rare rows, of which 11 * 955 / 2861 = 3.7 are expected now: too few, so that the smallest other joins.
    factor = williams([[1000, 906], [500, 455]])
    assert same_shares(old, new).statistic == pytest.approx(expected.statistic / factor)


def test_rare_parts_are_tested_one_by_one_too():
    old, new = np.array([0, 40_000, 60_000]), np.array([5, 20, 20])  # some new rows in a part that was not there
    test = same_shares(old, new)
    exact = scipy.stats.binom.sf(4, 5, 45 / 100_045)
    assert test.p_rare == pytest.approx(2 * exact, rel=1e-9, abs=0.0)
    assert test.p_value == pytest.approx(4 * exact, rel=1e-9, abs=0.0)
    few, many = np.array([40, 40]), np.array([1, 10**12])
    assert same_shares(few, many).p_value < 1e-100
    assert same_shares(many, few).p_value < 1e-100
    for old, new in ([[3, 900], [1, 800]], [[0, 900], [3, 800]], [[4, 900], [0, 800]]):
        rows = old[0] + new[0]
        tails = scipy.stats.binom(rows, sum(new) / (sum(old) + sum(new)))
        expected = 2 * min(tails.cdf(new[0]), tails.sf(new[0] - 1))
        assert same_shares(np.array(old), np.array(new)).p_rare == pytest.approx(min(1.0, expected))


@pytest.mark.parametrize(("old", "new"), [([5], [7]), ([5, 5], [1, 0]), ([0, 0], [3, 4]), ([9, 9], [0, 0])])
def test_nothing_is_tested_on_few_rows(old, new):
    test = same_shares(np.array(old), np.array(new))
    assert (test.degrees, test.p_value) == (0, 1.0)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.25] * 4, [0.9, 0.05, 0.04, 0.009, 0.001], [0.002] * 500])
@pytest.mark.parametrize("n_new", [700, 20, 100_000])
def test_few_false_alarms_of_shares(shares, n_new):
    n, rng = 400, np.random.default_rng([len(shares), n_new])
    p = [same_shares(rng.multinomial(3000, shares), rng.multinomial(n_new, shares)).p_value for _ in range(n)]
    assert np.mean(np.array(p) < 0.05) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / n)


def slow_relation(old, new):
    """Twice the loss of likelihood if class odds differ by the same factors in all parts, by a plain optimiser."""
    n_parts, n_classes = old.shape

    def minus_log_likelihood(x):
        of_parts = x[: n_parts * (n_classes - 1)].reshape(n_parts, n_classes - 1)
        shift = x[n_parts * (n_classes - 1) :]
        total = 0.0
        for counts, scores in ((old, of_parts), (new, of_parts + shift)):
            full = np.column_stack([np.zeros(n_parts), scores])
            total -= float(np.sum(counts * (full - scipy.special.logsumexp(full, axis=1, keepdims=True))))
        return total

    start = np.zeros((n_parts + 1) * (n_classes - 1))
    found = scipy.optimize.minimize(minus_log_likelihood, start, method="BFGS", options={"gtol": 1e-8})
    free = -sum(float(np.sum(c[c > 0] * np.log((c / c.sum(axis=1, keepdims=True))[c > 0]))) for c in (old, new))
    return 2.0 * (found.fun - free)


@pytest.mark.parametrize(("n_parts", "n_classes"), [(2, 2), (5, 2), (3, 3), (4, 4)])
def test_relation_by_a_plain_optimiser(n_parts, n_classes):
    old, new = RNG.integers(60, 400, (2, n_parts, n_classes))
    test, lost = same_relation(old, new)
    assert test.statistic == pytest.approx(slow_relation(old, new), rel=1e-5)
    assert test.degrees == (n_parts - 1) * (n_classes - 1)
    shares = old / old.sum()
    known = sum(
        shares[i, j] * math.log(shares[i, j] / (shares[i].sum() * shares[:, j].sum()))
        for i, j in itertools.product(range(n_parts), range(n_classes))
    )
    m = old.sum() * new.sum() / (old.sum() + new.sum())
    assert lost == pytest.approx(max(0.0, test.statistic - test.degrees) / (2 * m) / known)


def test_a_common_change_of_the_odds_is_no_change_of_the_relation():
    odds = np.array([0.1, 0.3, 1.0, 2.0])
    rows = 100_000
    old = np.column_stack([rows / (1 + odds), rows * odds / (1 + odds)]).round().astype(np.int64)
    new = np.column_stack([rows / (1 + 3 * odds), rows * 3 * odds / (1 + 3 * odds)]).round().astype(np.int64)
    test, lost = same_relation(old, new)
    assert test.statistic < 1e-3
    assert lost == 0.0
    test, lost = same_relation(old, old[::-1])
    assert test.p_value < 1e-100
    assert lost > 1.0


def test_few_false_alarms_of_relations():
    odds, n = np.array([0.02, 0.05, 0.1, 0.7]), 400
    p = []
    for _ in range(n):
        events = [RNG.binomial(rows, one / (1 + one)) for rows, one in ((4000, odds), (700, 1.2 * odds))]
        tables = [np.column_stack([rows - one, one]) for rows, one in zip((4000, 700), events, strict=True)]
        p.append(same_relation(*tables).test.p_value)
    assert np.mean(np.array(p) < 0.05) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / n)


@pytest.mark.parametrize(
    "counts", [[[9, 9]], [[9], [8]], [[9, 9], [0, 0]], [[100, 1], [100, 1]], [[0, 0], [0, 0]], [[100, 0], [100, 0]]]
)
def test_no_relation_on_few_rows(counts):
    test, lost = same_relation(np.array(counts), np.array(counts))
    assert test.p_value == 1.0
    assert math.isnan(lost)
    assert ENOUGH == 5.0


def test_holm_by_its_definition():
    for n in (0, 1, 2, 7):
        p = RNG.random(n).round(2)
        order = sorted(range(n), key=lambda i: p[i])
        adjusted, largest = [0.0] * n, 0.0
        for rank, i in enumerate(order):
            largest = max(largest, (n - rank) * p[i])
            adjusted[i] = min(1.0, largest)
        np.testing.assert_allclose(holm(p), adjusted)


def test_the_interval_is_that_of_newcombe():
    """R. G. Newcombe, 1998, table II, example (a), method 10: 56/70 - 48/80."""
    found = rate_change(np.array([48]), np.array([80]), np.array([56]), np.array([70]))
    assert found.change[0] == pytest.approx(0.2)
    assert (found.lower[0], found.upper[0]) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    nothing = rate_change(np.array([0, 3]), np.array([0, 10]), np.array([[2, 0]]), np.array([[5, 0]]))
    assert np.isnan(nothing.change).all()
    zero = rate_change(np.array([0]), np.array([10]), np.array([0]), np.array([20]))
    assert zero.lower[0] < 0.0 < zero.upper[0]


def test_the_interval_covers():
    n, hits = 4000, 0
    for _ in range(n):
        old, new = RNG.binomial(60, 0.1), RNG.binomial(40, 0.2)
        found = rate_change(np.array([old]), np.array([60]), np.array([new]), np.array([40]))
        hits += found.lower[0] <= 0.1 <= found.upper[0]
    assert hits / n > 0.94


def test_log_loss_row_by_row():
    old, new = RNG.integers(0, 9, (4, 3)), RNG.integers(0, 9, (2, 4, 3))
    old[1], new[0, 2], new[1, :, 1] = 0, 0, 0
    n = old.sum()
    for s in range(2):
        total, best, rows = 0.0, 0.0, 0
        for i, j in itertools.product(range(4), range(3)):
            overall = (old[:, j].sum() + 1 / 3) / (n + 1)
            share = (old[i, j] + overall) / (old[i].sum() + 1)
            for _ in range(new[s, i, j]):
                total -= math.log(share)
                best -= math.log(new[s, i, j] / new[s, i].sum())
                rows += 1
        found = log_loss(old, new)
        assert found.old_shares[s] == pytest.approx(total / rows)
        assert found.best_shares[s] == pytest.approx(best / rows)
    assert math.isnan(log_loss(old, np.zeros((1, 4, 3), dtype=np.int64)).old_shares[0])
