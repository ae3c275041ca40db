"""What criteria say of their `cell` by `floor`, `excess` and `tangent`, against all that can happen to few rows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gridmodl
from gridmodl.jit.template import bind
from gridmodl.plugins import criterion_for
from gridmodl.search.column.branch_and_bound import fill_walk
from gridmodl.terms import FLOORS, Cell, Criterion, Problem, Walk, excess, floor, params_record, tangent
from gridmodl.testing.floors import check_floors, random_atoms

OFFERING = [
    pytest.param(criterion, kind, id=f"{criterion.name}-{kind}")
    for kind in ("classes", "grid")
    for criterion in (criterion_for(name, kind) for name in gridmodl.list_criteria(kind))
    if criterion.floor is not floor
]
ENTROPIES = [
    pytest.param(gridmodl.get_criterion("entropy", beta=beta), "classes", id=f"entropy-{beta}")
    for beta in (1e-9, 0.3, 1.0, 2.5, 20.0)
]

some = settings(max_examples=40, deadline=None)


class Place:
    """Starts and ends on a line of atoms, as the search looks at them."""

    def __init__(self, criterion, kind, atoms, begin, end, origin, last):
        sums = np.concatenate([np.zeros((1, 1, atoms.shape[1]), dtype=np.int64), np.cumsum(atoms, axis=0)[:, None]])
        n_rows = int(sums[-1].sum())
        self.criterion = criterion
        self.p = params_record(criterion, Problem(kind, n_rows, 2 if kind == "grid" else 1, sums[-1, 0]))
        self.far, self.near, self.between = (
            cell_of(sums[hi, 0] - sums[lo, 0]) for lo, hi in ((begin, origin), (end, origin), (begin, end))
        )
        low = np.zeros((1, atoms.shape[1]))
        walk, rows = np.zeros(low.shape, dtype=np.int64), np.zeros(1, dtype=np.int64)
        fill_walk(sums, origin, last - origin, walk, rows, low, np.zeros(low.shape[1], dtype=np.int64))
        self.walk = Walk(walk[0], int(rows[0]), low[0])
        self.tolerance = 1e-12 * (1.0 + n_rows * math.log(n_rows + 1.0))

    def price(self, counts):
        return self.criterion.cell(self.p, cell_of(counts)) if counts.any() else 0.0

    def steps(self):
        """All that a walk of these counts and lags may have gained on the way."""
        for y in all_up_to(self.walk.counts):
            share = y.sum() / max(1, self.walk.rows)
            if np.all(y - share * self.walk.counts >= self.walk.low):
                yield y


def cell_of(counts):
    return Cell(counts, int(counts.sum()), 0)


def all_up_to(counts):
    return map(np.array, itertools.product(*(range(n + 1) for n in counts)))


@st.composite
def places(draw):
    """Few atoms of few rows and 1 to 3 classes, each of which has rows; and four bounds."""
    n, n_classes = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    atom = st.lists(st.integers(0, 3), min_size=n_classes, max_size=n_classes)
    atoms = np.array(draw(st.lists(atom, min_size=n, max_size=n)), dtype=np.int64)
    atoms[0, atoms.sum(axis=0) == 0] = 1
    begin, end, origin, last = sorted(draw(st.lists(st.integers(0, n), min_size=4, max_size=4)))
    return atoms, begin, end, origin, min(last, origin + 4)


def test_all_families_offer_floors():
    """So that none of the tests below is empty."""
    by_kind = {kind: {p.values[0].name for p in OFFERING if p.values[1] == kind} for kind in ("classes", "grid")}
    assert by_kind["classes"] >= {"modl", "aic", "bic", "mdlp", "gini", "entropy", "g2", "x2", "g2-normal", "x2-normal"}
    assert by_kind["grid"] >= {"modl", "aic", "bic", "gini", "entropy"}


@pytest.mark.parametrize(("criterion", "kind"), [*OFFERING, *ENTROPIES])
@some
@given(place=places())
def test_rows_add_at_least_their_floor_to_any_cell(criterion, kind, place):
    at = Place(criterion, kind, *place)
    if at.between.rows:
        least = criterion.floor(at.p, at.between)
        for joined in (at.near.counts, at.walk.counts, at.near.counts * 0):
            assert at.price(joined + at.between.counts) - at.price(joined) >= least - at.tolerance


@pytest.mark.parametrize(("criterion", "kind"), [*OFFERING, *ENTROPIES])
@some
@given(place=places())
def test_the_excess_holds_at_every_step_that_a_walk_may_take(criterion, kind, place):
    at = Place(criterion, kind, *place)
    if at.far.rows:
        for one, other in itertools.permutations((at.far, at.near)):
            least = criterion.excess(at.p, one, other, at.walk)
            for y in at.steps():
                assert at.price(one.counts + y) - at.price(other.counts + y) >= least - at.tolerance


@pytest.mark.parametrize(("criterion", "kind"), [*OFFERING, *ENTROPIES])
@some
@given(place=places())
def test_the_line_is_below_what_any_rows_add_at_every_step(criterion, kind, place):
    at = Place(criterion, kind, *place)
    if at.between.rows:
        slopes = np.zeros(at.p.n_classes)
        constant = criterion.tangent(at.p, at.near, at.between, at.walk, slopes)
        below = list(all_up_to(at.between.counts))
        for y in list(at.steps())[:: 1 + at.walk.rows // 4]:
            before = at.price(at.near.counts + y)
            for d in below[:: 1 + len(below) // 50]:
                assert at.price(at.near.counts + y + d) - before >= constant + slopes @ d - at.tolerance


@pytest.mark.parametrize(("criterion", "kind"), [*OFFERING, *ENTROPIES])
def test_they_hold_for_few_and_many_rows(criterion, kind):
    check_floors(criterion, kind, n_samples=10)


def all_floors(p, near, far, between, walk_counts, low, found, slopes):
    """The three floors, with room for them and for slopes."""
    walk = Walk(walk_counts, walk_counts.sum(), low)
    near_cell, far_cell = Cell(near, near.sum(), 0), Cell(far, far.sum(), 0)
    more = Cell(between, between.sum(), 0)
    found[0] = floor(p, more)
    found[1] = excess(p, near_cell, far_cell, walk)
    found[2] = excess(p, far_cell, near_cell, walk)
    found[3] = tangent(p, near_cell, more, walk, slopes)


@pytest.mark.parametrize(("criterion", "kind"), OFFERING)
def test_compiled_they_are_what_they_are_in_plain_python(criterion, kind):
    rng, n_compared = np.random.default_rng(3), 0
    while n_compared < 40:
        atoms = random_atoms(rng, criterion)
        begin, end, origin, last = sorted(rng.integers(0, len(atoms) + 1, 4).tolist())
        at = Place(criterion, kind, atoms, begin, end, origin, min(last, origin + 16))
        if not at.between.rows:
            continue
        n_compared += 1
        found, slopes, plain_slopes = np.zeros(4), np.zeros(at.p.n_classes), np.zeros(at.p.n_classes)
        counts = (at.near.counts, at.far.counts, at.between.counts, at.walk.counts, at.walk.low)
        bind(all_floors, type(criterion))(at.p, *counts, found, slopes)
        plain = [
            criterion.floor(at.p, at.between),
            criterion.excess(at.p, at.near, at.far, at.walk),
            criterion.excess(at.p, at.far, at.near, at.walk),
            criterion.tangent(at.p, at.near, at.between, at.walk, plain_slopes),
        ]
        assert found == pytest.approx(plain, rel=1e-11, abs=at.tolerance)
        assert slopes == pytest.approx(plain_slopes, rel=1e-11, abs=1e-11)


def test_floors_left_out_say_nothing():
    class Bare(Criterion):
        name = "bare"
        problems = {"classes"}

    cell, slopes = cell_of(np.array([2, 1])), np.ones(2)
    walk = Walk(np.array([1, 1]), 2, np.zeros(2))
    assert [function.__name__ for function in FLOORS] == ["floor", "excess", "tangent", "gradient"]
    assert Bare.floor(None, cell) == Bare.excess(None, cell, cell, walk) == -math.inf
    assert Bare.tangent(None, cell, cell, walk, slopes) == -math.inf
    assert slopes.tolist() == [0.0, 0.0]
    Bare.gradient(None, cell, slopes)
    assert slopes.tolist() == [math.inf, math.inf]
