"""What holds for every criterion and every search, from the registry: tested by existing."""

from __future__ import annotations

import math
from collections import Counter

import naive
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gridmodl
from gridmodl.testing import check_criterion

SEARCHES = ["merge", "exact", "auto", gridmodl.Search("merge", post_optimize=False)]
CRITERIA = gridmodl.list_criteria("classes")

few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def samples(draw, max_rows=12):
    """Few rows with ties, and 1 to 4 classes."""
    n = draw(st.integers(1, max_rows))
    values = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    target = draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n))
    return [float(v) for v in values], target


def cost_of(model, name, values, target):
    """The price of the model's own partition, from the rows up, by the plain terms."""
    parts = naive.cut(values, model.partitions["x0"].bounds.tolist())
    return naive.price(gridmodl.get_criterion(name), "classes", [naive.Column(values, parts)], target)


@pytest.mark.parametrize("name", CRITERIA)
def test_check_criterion_accepts_it(name):
    check_criterion(name)


@pytest.mark.parametrize("search", SEARCHES, ids=str)
@pytest.mark.parametrize("name", CRITERIA)
@few
@given(sample=samples())
def test_the_cost_is_the_cost_and_nobody_beats_enumeration(name, search, sample):
    values, target = sample
    model = gridmodl.optimize(values, target, criterion=name, search=search)
    lowest, _ = naive.best(gridmodl.get_criterion(name), values, target)
    null = naive.price(gridmodl.get_criterion(name), "classes", [naive.Column(values, [0] * len(values))], target)
    assert model.cost == pytest.approx(cost_of(model, name, values, target), rel=1e-9, abs=1e-9)
    assert model.null_cost == pytest.approx(null, rel=1e-9, abs=1e-9)
    assert model.cost <= null + 1e-9
    assert model.cost >= lowest - 1e-9
    if model.proven:
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)
    assert model.proven or model.search == "merge"


@pytest.mark.parametrize("search", ["merge", "exact"])
@pytest.mark.parametrize("name", CRITERIA)
@few
@given(sample=samples(), max_parts=st.integers(1, 4), min_rows=st.integers(1, 5))
def test_limits_hold_and_exact_is_the_best_within_them(name, search, sample, max_parts, min_rows):
    values, target = sample
    model = gridmodl.optimize(values, target, criterion=name, search=search, max_parts=max_parts, min_rows=min_rows)
    partition = model.partitions["x0"]
    assert partition.n_parts <= max_parts
    rows = Counter(naive.cut(values, partition.bounds.tolist()))
    assert partition.n_parts == 1 or min(rows.values()) >= min_rows
    assert [rows[i] for i in range(partition.n_parts)] == partition.counts.sum(axis=1).tolist()
    lowest, _ = naive.best(gridmodl.get_criterion(name), values, target, max_parts, min_rows)
    assert model.cost >= lowest - 1e-9
    if search == "exact":
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("search", ["merge", "exact"])
@pytest.mark.parametrize("name", CRITERIA)
def test_order_of_rows_and_classes_does_not_matter(name, search):
    rng = np.random.default_rng(11)
    x = rng.integers(0, 40, 300).astype(float)
    y = (x > 20).astype(int) + (rng.random(300) < 0.2)
    order, names = rng.permutation(300), np.array(["b", "c", "a"])
    one = gridmodl.optimize(x, y, criterion=name, search=search)
    two = gridmodl.optimize(x[order], names[y][order], criterion=name, search=search)
    assert two.cost == pytest.approx(one.cost, rel=1e-12)
    assert two.partitions["x0"].bounds.tolist() == one.partitions["x0"].bounds.tolist()


@pytest.mark.parametrize("name", CRITERIA)
def test_the_same_data_give_the_same_model_to_the_bit(name):
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=500), rng.integers(0, 3, 500)
    models = [gridmodl.optimize(x, y, criterion=name, search="merge") for _ in range(2)]
    assert models[0].cost == models[1].cost
    assert models[0].partitions["x0"].bounds.tolist() == models[1].partitions["x0"].bounds.tolist()


def test_aic_never_has_fewer_parts_than_bic():
    """Jin, Breitbart and Muoh, Theorem 6, where log N >= 2."""
    rng = np.random.default_rng(13)
    some_differ = False
    for _ in range(60):
        n = int(rng.integers(8, 200))
        x = rng.integers(0, 30, n).astype(float)
        y = (rng.random(n) < 0.5 + 0.45 * np.sin(x / rng.uniform(1, 10))).astype(int)
        aic, bic = (gridmodl.optimize(x, y, criterion=name, search="exact") for name in ("aic", "bic"))
        assert math.log(n) >= 2
        assert aic.partitions["x0"].n_parts >= bic.partitions["x0"].n_parts
        some_differ |= aic.partitions["x0"].n_parts > bic.partitions["x0"].n_parts
    assert some_differ


def test_check_criterion_catches_a_false_claim_about_pure_runs():
    class Short(gridmodl.Criterion):
        """Wants parts of two rows, so that a run of one class is best cut inside."""

        name = "short"
        problems = {"classes"}
        joins_pure_runs = True

        @staticmethod
        def cell(p, cell):
            return (cell.rows - 2.0) ** 2

    with pytest.raises(AssertionError, match="joins_pure_runs"):
        check_criterion(Short)


def test_check_criterion_catches_a_falling_finish():
    class Falling(gridmodl.Criterion):
        name = "falling"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            return 1.0

        @staticmethod
        def finish(p, total, shape):
            return -total

    with pytest.raises(AssertionError, match="finish falls"):
        check_criterion(Falling)


def test_check_criterion_catches_a_term_that_favours_a_class():
    class Partial(gridmodl.Criterion):
        name = "partial"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            return cell.counts[0] + 0.5

    with pytest.raises(AssertionError, match="another order"):
        check_criterion(Partial)


def test_check_criterion_catches_an_infinite_term():
    class Infinite(gridmodl.Criterion):
        name = "infinite"
        problems = {"classes", "grid"}

        @staticmethod
        def cell(p, cell):
            return math.inf

    with pytest.raises(AssertionError, match="finite"):
        check_criterion(Infinite)
