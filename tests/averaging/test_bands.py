"""Mixtures of Beta distributions against scipy's incomplete beta function."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betainc

from gridmodl.averaging.bands import WeighedIntervals, find_quantiles, mixture_below, shapes_of
from gridmodl.jit.template import bind

TAILS = np.array([0.05, 0.95])


def shapes_in(kind, rng):
    """Parameters a, and a + b, of 400 intervals."""
    if kind == "dense":  # walks over whole numbers
        sizes = rng.integers(3, 40, 400).astype(float)
        return rng.binomial((sizes - 2).astype(int), 0.3) + 1.0, sizes
    if kind == "sparse":  # gaps too long for a walk
        sizes = rng.choice([500.0, 1500.0, 1900.0], 400)
        return rng.integers(1, 450, 400).astype(float), sizes
    if kind == "fractions":
        sizes = rng.choice([7.5, 20.0], 400)
        return rng.choice([0.5, 1.25, 1.75, 2.25, 6.0], 400), sizes
    return rng.choice([1.0, 2.0, 600.0], 400), np.full(400, 1_000.0)  # far: densities that are 0 in floats


def mixed(kind, seed):
    rng = np.random.default_rng(seed)
    a, sizes = shapes_in(kind, rng)
    return a, sizes, rng.dirichlet(np.ones(len(a)))


@pytest.mark.parametrize("kind", ["dense", "sparse", "fractions", "far"])
def test_the_distribution_function_of_a_mixture_is_the_sum_of_those_of_its_parts(kind):
    a, sizes, masses = mixed(kind, 0)
    shapes, of_shapes = shapes_of(a, sizes)
    assert len(shapes.a) == len({*zip(a, sizes, strict=True)})
    assert np.array_equal(shapes.a[of_shapes], a)
    own = np.bincount(of_shapes, masses)
    mixture = np.array([own, shapes.a, shapes.b, shapes.log_beta])
    for x in [1e-6, 0.01, 0.2, 0.5, 0.61, 0.97]:
        below, density, slope = bind(mixture_below)(mixture, x)
        assert below == pytest.approx(masses @ betainc(a, sizes - a, x), abs=1e-12)
        step = 1e-6 * x
        around = [bind(mixture_below)(mixture, at) for at in (x - step, x + step)]
        assert density == pytest.approx((around[1][0] - around[0][0]) / (2.0 * step), rel=1e-4, abs=1e-6)
        assert slope == pytest.approx((around[1][1] - around[0][1]) / (2.0 * step), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("kind", ["dense", "sparse", "fractions", "far"])
def test_quantiles_are_those_of_the_mixture_at_each_place(kind):
    """The search begins where the one before ended, also if the quantiles are the same or far away."""
    a, sizes, masses = mixed(kind, 1)
    begins = np.repeat([0, 1, 3, 3], 100)
    ends = np.repeat([2, 4, 4, 5], 100)
    at, share = np.array([0, 0, 1, 1, 3, 4]), np.array([0.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    shapes, of_shapes = shapes_of(a, sizes)
    found = np.empty((len(at), 2))
    buffer = np.zeros((4, len(shapes.a)))
    bind(find_quantiles)(WeighedIntervals(begins, ends, masses, of_shapes), shapes, at, share, TAILS, buffer, found)
    for i in range(len(at)):
        here, above = ((begins <= at[i] + k) & (at[i] + k < ends) for k in (0, 1))
        weights = masses * (here * (1.0 - share[i]) + above * share[i])
        weights /= weights.sum()
        for t, tail in enumerate(TAILS):
            exact = brentq(
                lambda x, weights=weights, tail=tail: weights @ betainc(a, sizes - a, x) - tail, 1e-12, 1.0, xtol=1e-15
            )
            assert found[i, t] == pytest.approx(exact, abs=1e-9)


def test_the_only_class_has_the_probability_one():
    shapes, of_shapes = shapes_of(np.array([3.0]), np.array([3.0]))
    found = np.empty((1, 2))
    only = WeighedIntervals(np.array([0]), np.array([1]), np.ones(1), of_shapes)
    bind(find_quantiles)(only, shapes, np.array([0]), np.zeros(1), TAILS, np.zeros((4, 1)), found)
    assert found == pytest.approx(1.0)
