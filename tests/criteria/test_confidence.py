"""The four criteria of confidence, at statistics where the survival itself is long 0: against sums of many digits."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from gridmodl import get_criterion, price
from gridmodl.criteria.confidence import log_chi2_survival
from gridmodl.terms import Problem, Shape, params_record

NAMES = ["g2", "x2", "g2-normal", "x2-normal"]
STATISTICS = [10.0, 1e3, 1e6, 1e7]
FREEDOMS = [1, 2, 3, 8, 99, 1000, 1001, 100_000]
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def log_survival(stat, df):
    """log Q(df/2, stat/2) by sums of positive terms, so that nothing cancels.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.4.4 and 26.4.5: e^-x times the sum of x^k / k! over
    k < df/2, or for odd df of x^k / Gamma(k+1) over k = 1/2, 3/2, ..., and erfc(sqrt x).
    """
    with localcontext() as context:
        context.prec = 40
        x = Decimal(stat) / 2
        term, k, total = (
            (Decimal(1), Decimal(0), Decimal(0))
            if df % 2 == 0
            else (2 * (x / PI).sqrt(), Decimal("0.5"), scaled_erfc(x.sqrt()))
        )
        while k < Decimal(df) / 2:
            total += term
            k += 1
            term *= x / k
        return total.ln() - x


def scaled_erfc(z):
    """e^(z^2) erfc z by its continued fraction, 7.1.14: 1/sqrt(pi) 1/(z + (1/2)/(z + 1/(z + (3/2)/(z + ...."""
    below = z
    for n in range(1500, 0, -1):
        below = z + Decimal(n) / 2 / below
    return 1 / (PI.sqrt() * below)


def exact_cost(name, stat, df):
    if not name.endswith("-normal"):
        return float(log_survival(stat, df))
    if stat <= df:
        return 0.0
    with localcontext() as context:
        context.prec = 40
        stat, df = Decimal(stat), Decimal(df)
        return float(-(stat - df * (1 + (stat / df).ln())))


def cost_of(name, stat, df):
    """What `finish` makes of the total that a statistic comes from, for df + 1 parts and two classes."""
    criterion = get_criterion(name)
    p = params_record(criterion, Problem("classes", 40_000_000, 1, np.array([20_000_000, 20_000_000])))
    total = p.null_loss - stat / 2 if name.startswith("g2") else -stat - p.n_rows
    return criterion.finish(p, total, Shape(1, 1, df + 1.0))


def test_the_reference_itself_is_right():
    assert float(log_survival(2.0, 2)) == pytest.approx(-1.0, abs=1e-15)
    for stat in (2.0, 9.0, 60.0):  # Q(1/2, x) = erfc(sqrt x), and Q(3/2, x) has one term more
        one = math.erfc(math.sqrt(stat / 2))
        assert float(log_survival(stat, 1)) == pytest.approx(math.log(one), rel=1e-13)
        three = one + 2 * math.sqrt(stat / 2 / math.pi) * math.exp(-stat / 2)
        assert float(log_survival(stat, 3)) == pytest.approx(math.log(three), rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("df", FREEDOMS)
def test_costs_are_right_from_ten_to_ten_million(name, df):
    for stat in STATISTICS:
        cost = cost_of(name, stat, df)
        assert math.isfinite(cost)
        # A total of 1e7 has nine digits after the point.
        assert cost == pytest.approx(exact_cost(name, stat, df), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("df", FREEDOMS)
def test_costs_fall_as_the_statistic_grows(name, df):
    stats = np.unique(np.concatenate([np.geomspace(1.0, 2e7, 300), df + np.linspace(-3.0, 5.0, 41)]))
    costs = [cost_of(name, float(stat), df) for stat in stats[stats > 0]]
    assert np.isfinite(costs).all()
    assert all(after <= before + 1e-9 for before, after in itertools.pairwise(costs))
    assert costs[-1] < costs[0] - 1e6
    assert max(costs) <= 0.0


@pytest.mark.parametrize("df", [1, 2, 3, 10, 999, 1000, 99_999, 100_000])
def test_both_ways_to_the_survival_agree_where_they_meet(df):
    border = df + 2.0  # the series below, the continued fraction from here on
    below, above = np.nextafter(border, 0.0), border
    assert log_chi2_survival(below, df) == pytest.approx(log_chi2_survival(above, df), rel=1e-9)
    for stat in (border - 1e-3, below, above, border + 1e-3):
        assert log_chi2_survival(stat, df) == pytest.approx(float(log_survival(stat, df)), rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_they_price_ten_million_rows(name):
    half = 5_000_000
    cost = price([1.0, 2.0], ["a", "b"], {"x0": [1.5]}, criterion=name, weights=[half, half])
    stat = 4 * half * math.log(2) if name.startswith("g2") else 2.0 * half
    assert cost == pytest.approx(exact_cost(name, stat, 1), rel=1e-9)
