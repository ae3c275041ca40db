"""log B against exact integers, and where those grow too long, against a recurrence and an asymptotic formula."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.special import lambertw

from gridmodl.codelength import log_groupings

# In nats, as FORMULAS.md asks. Measured: 6e-10 and 4e-10 with 100,000 values.
LOG_ERROR = 1e-6
DIFFERENCE_ERROR = 1e-8
# Measured against exact integers: 5e-12 up to 2,000 values. This sees d(j) taken for 1/e too early, from j = 12 on.
EXACT_ERROR = 1e-11
MANY = 100_000


@functools.cache
def some_rows(sizes):
    """The exact numbers of ways B(v, 1), B(v, 2) ... B(v, v), for some v."""
    rows, stirling = {}, [1]
    for v in range(1, max(sizes) + 1):
        stirling = [0] + [stirling[i - 1] + (i * stirling[i] if i < v else 0) for i in range(1, v + 1)]
        if v in sizes:
            rows[v] = list(itertools.accumulate(stirling[1:]))
    return rows


def log_ratio(more, fewer):
    """log(more / fewer), though the two integers may be too long for floats and nearly the same."""
    if more < 2 * fewer:
        return math.log1p((more - fewer) / fewer)
    return math.log((more << 100) // fewer) - 100 * math.log(2)


def check(n_values, ways):
    found = log_groupings(n_values)
    assert found.shape == (n_values + 1,)
    assert found[0] == -math.inf
    np.testing.assert_allclose(found[1:], [math.log(w) for w in ways], rtol=0, atol=EXACT_ERROR)
    differences = [log_ratio(more, fewer) for fewer, more in itertools.pairwise(ways)]
    np.testing.assert_allclose(np.diff(found[1:]), differences, rtol=0, atol=EXACT_ERROR)


def recurrence(n_values, n_groups):
    """log S(n_values, k) for k = 1..n_groups, by S(n, k) = S(n-1, k-1) + k S(n-1, k) alone.

    Its growth S(n, k) / S(n-1, k) = k + r(k), where r(k) = S(n-1, k-1) / S(n-1, k), neither overflows nor cancels.
    """
    k = np.arange(1.0, n_groups + 1.0)
    ratio = k * (k - 1.0) / 2.0  # S(k, k-1) / S(k, k), what each k starts from
    log_growth, product = np.zeros(n_groups), np.ones(n_groups)
    for n in range(2, n_values + 1):
        known = min(n - 1, n_groups)  # the k whose S(n-1, k) is not zero
        growth = k[:known] + ratio[:known]
        ratio[1:known] *= growth[:-1] / growth[1:]
        product[:known] *= growth / k[:known]
        if n % 50 == 0 or n == n_values:  # a logarithm at every step would take most of the time
            log_growth += np.log(product)
            product[:] = 1.0
            ratio[ratio < 1e-290] = 0.0  # subnormal numbers are slow
    return log_growth + (n_values - k) * np.log(k)


def check_recurrence(n_values, n_groups):
    found = log_groupings(n_values)[1:]
    stirling = recurrence(n_values, n_groups)
    expected = np.logaddexp.accumulate(stirling)
    assert stirling[-1] < expected[-1] - 30  # more groups would add nothing
    np.testing.assert_allclose(found[:n_groups], expected, rtol=0, atol=LOG_ERROR)
    np.testing.assert_allclose(found[n_groups:], expected[-1], rtol=0, atol=LOG_ERROR)
    differences = np.logaddexp(0.0, stirling[1:] - expected[:-1])
    np.testing.assert_allclose(np.diff(found[:n_groups]), differences, rtol=0, atol=DIFFERENCE_ERROR)


def log_bell(n_values):
    """log of the number of all groupings, within 2e-7 from a thousand values on.

    L. Moser, M. Wyman, An asymptotic formula for the Bell numbers, 1955.
    """
    r = lambertw(n_values).real
    correction = r * r * (2 * r * r + 7 * r + 10) / (24 * n_values * (r + 1) ** 3)
    return n_values * (r + 1 / r - 1) - 1 - 0.5 * math.log(r + 1) + math.log1p(-correction)


def test_known_numbers():
    assert np.exp(log_groupings(1)) == pytest.approx([0, 1])
    assert np.exp(log_groupings(4)) == pytest.approx([0, 1, 8, 14, 15])
    assert np.exp(log_groupings(10)[-1]) == pytest.approx(115_975)


SMALL = (*range(1, 61), 100, 150, 237, 400)


@pytest.mark.parametrize("n_values", SMALL)
def test_exact_integers(n_values):
    check(n_values, some_rows(SMALL)[n_values])


@pytest.mark.slow
def test_exact_integers_of_many_values():
    for n_values, ways in some_rows((700, 1_000, 1_500, 2_000)).items():
        check(n_values, ways)


def test_recurrence():
    check_recurrence(20_000, 3_500)


@pytest.mark.slow
def test_recurrence_of_many_values():
    check_recurrence(MANY, 12_000)


@pytest.mark.parametrize("n_values", [2, 17, 18, 19, 20, 999, 4_095, 4_096, 4_097, 30_000, MANY])
def test_more_groups_never_mean_fewer_ways(n_values):
    differences = np.diff(log_groupings(n_values)[1:])
    assert differences.min() >= 0.0
    # B is log-concave in i: each further group opens relatively fewer ways.
    assert np.diff(differences).max(initial=0.0) < DIFFERENCE_ERROR


def test_many_values():
    found = log_groupings(MANY)
    assert found[1] == 0.0
    assert found[2] == pytest.approx((MANY - 1) * math.log(2), rel=0, abs=LOG_ERROR)
    # S(V, 3) = (3^(V-1) - 2^V + 1) / 2, of which the powers of 2 are nothing here
    assert found[3] == pytest.approx((MANY - 1) * math.log(3) - math.log(2), rel=0, abs=LOG_ERROR)
    assert found[-1] == pytest.approx(log_bell(MANY), rel=0, abs=LOG_ERROR)
    differences = np.diff(found[1:])
    assert differences[:9_000].min() > 0.1
    assert differences[12_000:].max() == 0.0


@pytest.mark.parametrize("n_values", [1_000, 4_095, 4_096, 50_000])
def test_all_groupings(n_values):
    assert log_groupings(n_values)[-1] == pytest.approx(log_bell(n_values), rel=0, abs=LOG_ERROR)


def test_arrays_are_not_shared():
    first = log_groupings(5)
    first[:] = 0.0
    assert log_groupings(5)[0] == -math.inf


@pytest.mark.parametrize("n_values", [0, -1])
def test_no_values(n_values):
    with pytest.raises(ValueError, match="at least 1"):
        log_groupings(n_values)
