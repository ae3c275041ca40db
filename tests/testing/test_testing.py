"""The plain prices that `check_criterion` holds compiled ones against, and wrong floors that it names."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles import naive

import gridmodl
from gridmodl import Criterion
from gridmodl.criteria.concave import entropy_excess, entropy_tangent, log_loss
from gridmodl.criteria.confidence import X2
from gridmodl.criteria.information import Aic, Bic
from gridmodl.criteria.modl import Modl, class_excess, class_floor, class_length, class_tangent
from gridmodl.plugins import criterion_for
from gridmodl.testing import check_criterion
from gridmodl.testing.bruteforce import ColumnSample, all_cuts, plain_optimum, plain_pair, plain_price, random_pair
from gridmodl.testing.floors import check_floors, check_pruning, random_atoms


class Coupled(Criterion):
    """Every part of an input costs something for each part of the target."""

    name = "coupled"
    problems = {"joint", "grouped", "numerical"}

    @staticmethod
    def part(p, variable, part):
        return part.rows

    @staticmethod
    def margin(p, rows, n_target_parts):
        return math.sqrt(rows) + 100.0 * n_target_parts

    @staticmethod
    def cell(p, cell):
        return cell.rows**2


@pytest.mark.parametrize("kind", ["joint", "grouped", "numerical"])
def test_plain_prices_of_pairs_are_those_of_the_oracle(kind):
    rng = np.random.default_rng(5)
    for _ in range(10):
        sample = random_pair(rng, kind)
        price = plain_pair(Coupled(), kind, sample)
        cells = np.nonzero(sample.counts)
        values = [np.repeat(of_cells, sample.counts[cells]) for of_cells in cells]
        for parts in ((sample.all_parts(0)[i], sample.all_parts(1)[i]) for i in (0, -1)):
            columns = [
                naive.Column(
                    values[k].tolist(),
                    parts[k][values[k]].tolist(),
                    categorical=sample.categorical[k],
                    is_target=kind != "joint" and k == 1,
                )
                for k in (0, 1)
            ]
            assert price(*parts) == pytest.approx(naive.price(Coupled(), kind, columns))


def test_the_plain_optimum_is_that_of_all_partitions():
    rng = np.random.default_rng(8)
    for name, kind in [("modl", "classes"), ("bic", "classes"), ("x2", "classes"), ("modl", "semi")]:
        criterion = criterion_for(name, kind)
        for _ in range(5):
            counts = rng.integers(0, 5, (6, 2)) + np.eye(6, 2, dtype=int)
            sample = ColumnSample(kind, counts, (counts.sum(axis=1) == 0) + rng.integers(0, 3, 6) * (kind == "semi"))
            lowest = min(plain_price(criterion, sample, cuts) for cuts in all_cuts(6))
            assert plain_optimum(criterion, sample) == pytest.approx(lowest)


# Floors: right ones pass (tests/criteria/test_contracts.py goes through the registry), wrong ones are named.


def own_price(p, cell):
    return class_length(p, cell)


def a_little_more(p, cell):
    return class_floor(p, cell) + 1e-6


def own_price_with_penalty(p, cell):
    return 2.0 * log_loss(cell) + (p.n_classes - 1) * p.log_rows


def not_a_number(p, cell):
    return math.nan


def nothing_known(p, cell):
    return -math.inf


def broken(p, cell):
    return 1.0 / (cell.rows - cell.rows)


def excess_at_once(p, cell, other, walk):
    """Before the walk only."""
    price = class_length(p, cell) if cell.rows else 0.0
    return price - (class_length(p, other) if other.rows else 0.0)


def excess_of_the_end(p, cell, other, walk):
    one, two = (
        type(cell)(counts, counts.sum(), 0) for counts in (cell.counts + walk.counts, other.counts + walk.counts)
    )
    return class_length(p, one) - class_length(p, two)


def excess_without_lags(p, cell, other, walk):
    return class_excess(p, cell, other, walk._replace(low=0.0 * walk.low))


def excess_that_forgets_the_penalty(p, cell, other, walk):
    """An empty cell costs none."""
    return 2.0 * entropy_excess(cell, other, walk, 0.0, 0.0)


def excess_without_end(p, cell, other, walk):
    return math.inf


def tangent_before_the_walk(p, cell, more, walk, slopes):
    return class_tangent(p, cell, more, walk._replace(counts=0 * walk.counts, rows=0), slopes)


def tangent_at_the_cell(p, cell, more, walk, slopes):
    """Above what a concave price does, not below."""
    return entropy_tangent(cell, more._replace(counts=np.minimum(more.counts, 1)), walk, 0.0, slopes)


def tangent_of_a_constant(p, cell, more, walk, slopes):
    slopes[:] = 0.0
    return 1e-3


def tangent_without_slopes(p, cell, more, walk, slopes):
    return 0.0


@pytest.mark.parametrize(
    ("name", "base", "wrong", "message"),
    [
        (
            "floor",
            Modl,
            own_price,
            r"'wrong'.*by `floor` rows \[.*\] add at least \d.*, but they add .* or leave `floor` out",
        ),
        ("floor", Modl, a_little_more, r"by `floor` rows"),
        ("floor", Bic, own_price_with_penalty, r"by `floor` rows"),
        ("floor", Modl, not_a_number, r"'floor' of criterion 'wrong' returned nan"),
        ("floor", Modl, nothing_known, r"'floor' of criterion 'wrong' returned -inf"),
        ("floor", Modl, broken, r"'floor' of criterion 'wrong' failed: ZeroDivisionError"),
        (
            "excess",
            Modl,
            excess_at_once,
            r"by `excess` rows .* cost at least .* more than rows .*, but after .* leave `excess` out",
        ),
        ("excess", Modl, excess_of_the_end, r"by `excess` rows"),
        ("excess", Modl, excess_without_lags, r"by `excess` rows"),
        ("excess", Bic, excess_that_forgets_the_penalty, r"by `excess` rows"),
        ("excess", Modl, excess_without_end, r"`excess` returned inf"),
        (
            "tangent",
            Modl,
            tangent_before_the_walk,
            r"by `tangent` .* rows .* add at least .* they add .* leave `tangent` out",
        ),
        ("tangent", Bic, tangent_at_the_cell, r"by `tangent`"),
        ("tangent", Modl, tangent_of_a_constant, r"by `tangent`"),
        ("tangent", Modl, tangent_without_slopes, r"`tangent` set its slopes to \[nan"),
    ],
)
def test_a_wrong_floor_excess_or_tangent_is_named(name, base, wrong, message):
    cls = type("Wrong", (base,), {"name": "wrong", name: staticmethod(wrong)})
    with pytest.raises(AssertionError, match=message):
        check_criterion(cls)


def test_floors_are_checked_for_grids_too():
    class Wrong(gridmodl.get_criterion("gini").__class__):
        name = "wrong"
        problems = {"grid"}

        @staticmethod
        def floor(p, cell):
            return 1.0 + cell.rows

    with pytest.raises(AssertionError, match=r"problem 'grid'.*by `floor`"):
        check_criterion(Wrong)


def test_a_weak_floor_is_no_error():
    """No rows lower the price of a cell: little to know, but true."""

    class Weak(Modl):
        name = "weak"

        @staticmethod
        def floor(p, cell):
            return 0.0

    check_floors(Weak(), "classes", 20)


def test_the_search_check_sees_a_wrong_floor_by_itself():
    class Wrong(Aic):
        """As if rows cost no less together with others than alone: the penalty of a part is not in what they add."""

        name = "wrong"

        @staticmethod
        def floor(p, cell):
            return 2.0 * log_loss(cell) + 2.0 * (p.n_classes - 1)

    with pytest.raises(AssertionError, match=r"the exact search found .*, the optimum is .*; one of them is wrong"):
        check_pruning(Wrong(), 4)


def test_the_search_check_accepts_squares():
    check_pruning(X2(), 4)


def test_atoms_are_few_and_many_pure_and_mixed():
    """Or the checks above would prove little."""
    rng = np.random.default_rng(4)
    samples = [random_atoms(rng, Modl()) for _ in range(60)]
    rows = np.concatenate([atoms.sum(axis=1) for atoms in samples])
    classes = np.concatenate([(atoms > 0).sum(axis=1) for atoms in samples])
    assert {atoms.shape[1] for atoms in samples} == {1, 2, 3, 4, 5}
    assert rows.min() == 0
    assert rows.max() > 50_000
    assert set(classes.tolist()) >= {0, 1, 2, 3, 4}
    assert all((atoms.sum(axis=0) > 0).all() for atoms in samples)


# Floors that no search would use.


def test_excess_and_tangent_without_a_floor_are_refused():
    class NoFloor(Criterion):
        name = "no-floor"
        problems = {"classes"}
        excess = staticmethod(class_excess)
        tangent = staticmethod(class_tangent)

    message = r"criterion 'no-floor' has 'excess' and 'tangent' but no 'floor'.*write a floor, or leave them out"
    with pytest.raises(AssertionError, match=message):
        check_criterion(NoFloor)
    with pytest.raises(TypeError, match=message):
        gridmodl.optimize([1.0, 2.0], ["a", "b"], criterion=NoFloor)


def test_floors_beside_priced_parts_are_refused():
    class Priced(Modl):
        name = "priced"

        @staticmethod
        def part(p, variable, part):
            return 1.0

    message = "has 'floor' and 'excess' and 'tangent' and 'gradient', which no search uses as it prices parts too"
    with pytest.raises(AssertionError, match=message):
        check_criterion(Priced)


def test_given_target_must_price_the_inputs_alike():
    from gridmodl.criteria.modl import ModlGrid
    from gridmodl.criteria.modl_grouped import ModlGroupedGrid

    check_criterion(ModlGroupedGrid, n_samples=3, compiled=False)

    class Dearer(ModlGrid):
        @staticmethod
        def cell(p, cell):
            return 1.0 + ModlGrid.cell(p, cell)

    class Wrong(ModlGroupedGrid):
        given_target = Dearer

    class Missing(ModlGroupedGrid):
        given_target = None

    class Other(ModlGroupedGrid):
        given_target = ModlGroupedGrid

    with pytest.raises(AssertionError, match="does not depend on the target alone"):
        check_criterion(Wrong, n_samples=3, compiled=False)
    with pytest.raises(AssertionError, match="must declare given_target"):
        check_criterion(Missing, n_samples=1, compiled=False)
    with pytest.raises(AssertionError, match="must be a criterion class of problem 'grid'"):
        check_criterion(Other, n_samples=1, compiled=False)
