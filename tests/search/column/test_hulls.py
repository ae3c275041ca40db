"""Runs over the extreme points of blocks: as those over all bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles import naive_exact
from oracles.tiny import NO_LIMITS, Tiny

import gridmodl
from gridmodl.search.column import exact
from gridmodl.search.column.exact import AllBounds, Branches, Hulls, has_hulls, make_program
from gridmodl.search.column.hulls import BLOCK, chain, make_scratch, mark_hulls
from gridmodl.search.moves import Limits
from gridmodl.terms import gradient

NAMES = ["modl", "aic", "entropy"]  # each takes a compilation of its own
CONCAVE = [name for name in gridmodl.list_criteria("classes") if gridmodl.get_criterion(name).concave_cell]


@pytest.fixture(autouse=True)
def _hulls_of_short_lines(monkeypatch):
    monkeypatch.setattr(exact, "HULL_ATOMS", 0)


@pytest.fixture
def make_line():
    """Tasks of two classes whose atoms fill several blocks."""

    def make(kind, name="modl", n_atoms=5 * BLOCK + 7, n_rows=1, limits=NO_LIMITS, seed=0):
        rng = np.random.default_rng([seed, n_atoms, n_rows])
        column = np.sort(rng.random(n_rows * n_atoms))
        target = naive_exact.random_classes(rng, kind, column, 2)
        counts = np.zeros((n_atoms, 1, 2), dtype=np.int64)
        np.add.at(counts, (np.arange(len(column)) // n_rows, 0, target), 1)
        return Tiny(counts, name, limits)

    return make


def check_runs(task, slopes=(0.0, 0.7, 3.0, 6.0, 9.0, 14.0)):
    """The share of blocks of which not all bounds were kept."""
    hulls, branches = (make(task, task.null(), np.inf) for make in (Hulls, Branches))
    reduced = []
    for slope in slopes:
        (starts, total), (all_starts, all_total) = hulls.run(slope), branches.run(slope)
        assert total == pytest.approx(all_total, rel=1e-12, abs=1e-9)
        assert task.price_of(starts) + slope * len(starts) == pytest.approx(all_total, rel=1e-12, abs=1e-9)
        np.testing.assert_array_equal(starts, all_starts)
        reduced.append(1.0 - hulls.blocks.is_refined.mean())
    return reduced


@pytest.mark.parametrize("kind", naive_exact.KINDS)
@pytest.mark.parametrize("n_rows", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_runs_are_those_over_all_bounds(make_line, name, n_rows, kind):
    check_runs(make_line(kind, name, n_rows=n_rows).task)


@pytest.mark.parametrize("kind", ["noise", "steps"])
def test_steep_runs_leave_most_bounds_out(make_line, kind):
    assert min(check_runs(make_line(kind, n_atoms=1_500).task, (9.0, 14.0))) > 0.5


@pytest.mark.parametrize("n_atoms", [1, 2, 3, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 2])
def test_runs_are_right_wherever_the_last_block_ends(make_line, n_atoms):
    check_runs(make_line("steps", n_atoms=n_atoms).task)


@pytest.mark.parametrize("kind", ["noise", "smooth"])
def test_without_a_gradient_all_pairs_are_compared(make_line, kind):
    task = make_line(kind).task
    plain = type("PlainGradient", (task.criterion,), {"gradient": staticmethod(gradient)})
    assert has_hulls(replace(task, criterion=plain))
    hulls, branches = Hulls(replace(task, criterion=plain), task.null(), np.inf), Branches(task, task.null(), np.inf)
    for slope in (3.0, 9.0):
        assert hulls.run(slope)[1] == pytest.approx(branches.run(slope)[1], rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["noise", "steps", "smooth"])
@pytest.mark.parametrize("name", ["modl", "mdlp", "gini"])
def test_the_optimum_is_that_of_the_quadratic_search(make_line, name, kind, seed):
    task = make_line(kind, name, n_atoms=400, seed=seed).task
    program = make_program(task)
    assert isinstance(program, Hulls)
    quick, slow = program.solve(), AllBounds(task, task.null(), np.inf).solve()
    assert quick.proven
    assert quick.cost == pytest.approx(slow.cost, rel=1e-12)
    np.testing.assert_array_equal(quick.starts, slow.starts)


@pytest.mark.parametrize(
    ("limits", "n_cells", "n_classes"), [(Limits(2**62, 2), 1, 2), (NO_LIMITS, 2, 2), (NO_LIMITS, 1, 3)]
)
def test_where_hulls_do_not_hold_all_bounds_are_kept(limits, n_cells, n_classes):
    counts = np.random.default_rng(0).integers(0, 3, (300, n_cells, n_classes)) + 1
    task = Tiny(counts, "modl", limits).task
    assert type(make_program(task)) is Branches


def test_a_negative_slope_keeps_all_bounds(make_line):
    task = make_line("smooth").task
    hulls, branches = (make(task, task.null(), np.inf) for make in (Hulls, Branches))
    starts, total = hulls.run(-1.0)
    np.testing.assert_array_equal(starts, branches.run(-1.0)[0])
    assert total == branches.run(-1.0)[1]


@pytest.mark.parametrize("name", CONCAVE)
def test_criteria_that_declare_concavity_use_it(make_line, name):
    assert has_hulls(make_line("noise", name).task)


def test_evenly_spread_labels_and_spikes_are_run_right():
    """Bounds that are nearly as good as their neighbours, all along; then rows of one class in the midst of another."""
    rng = np.random.default_rng(3)
    for _ in range(4):
        share = 1.0 / (1.0 + np.exp(-rng.uniform(0.0, 8.0) * np.linspace(-0.5, 0.5, 700)))
        even = np.diff(np.floor(np.concatenate([[0.0], np.cumsum(share)]))).astype(np.int64)
        spiked = (rng.random(700) < 0.02).astype(np.int64)
        at = int(rng.integers(0, 650))
        spiked[at : at + int(rng.integers(5, 50))] = 1
        for target in (even, spiked):
            counts = np.zeros((700, 1, 2), dtype=np.int64)
            counts[np.arange(700), 0, target] = rng.choice([1, 1_000])
            task = Tiny(counts, "modl").task
            hulls, branches = (make(task, task.null(), np.inf) for make in (Hulls, Branches))
            for slope in (1.0, 5.0, 10.0):
                assert hulls.run(slope)[1] == pytest.approx(branches.run(slope)[1], rel=1e-12)


def test_hulls_are_the_extreme_points():
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, BLOCK, 3 * BLOCK + 5):
        steps = rng.integers(0, 4, (n, 2))
        steps[~steps.any(axis=1)] = 1
        sums = np.concatenate([np.zeros((1, 2), dtype=np.int64), np.cumsum(steps, axis=0)])
        kept = np.zeros(n + 1, dtype=np.bool_)
        mark_hulls(sums[:, None, :], kept, make_scratch())
        for a in range(0, n, BLOCK):
            block = sums[a : a + BLOCK + 1]
            directions = rng.normal(size=(2_000, 2))
            best = (block @ directions.T).argmax(axis=0)
            assert kept[a + best].all()  # each extreme point is best in some direction
            for side in (1, -1):
                vertices = np.zeros(BLOCK + 2, dtype=np.int64)
                m = chain(block[:, None, :], 0, len(block) - 1, side, vertices)
                edges = np.diff(block[vertices[:m]], axis=0)
                assert (side * (edges[:-1, 0] * edges[1:, 1] - edges[:-1, 1] * edges[1:, 0]) < 0).all()


def test_a_run_that_is_over_says_nothing(make_line):
    task = make_line("smooth", n_atoms=1_000).task
    hulls = Hulls(task, task.null(), 10.0)
    assert hulls.run(5.0) is None or hulls.n_prices > 10.0
    assert not make_program(task, budget=10.0).solve().proven


@pytest.mark.slow
@pytest.mark.parametrize("kind", naive_exact.KINDS)
def test_long_runs_are_those_over_all_bounds(make_line, kind):
    check_runs(make_line(kind, n_atoms=12_000).task)


def test_how_a_run_is_cut_into_turns_changes_nothing(make_line, monkeypatch):
    """A turn that ignored its size let the clock double it without end."""
    task = make_line("smooth", n_atoms=9_000).task
    hulls, whole = Hulls(task, task.null(), np.inf), Hulls(task, task.null(), np.inf).run(6.0)
    for size, n_turns in ((1, 3), (10**6, 1)):
        turns = []
        monkeypatch.setattr(task.clock, "repeat", lambda turn, *_, n=size, done=turns, **__: _until(turn, n, done))
        starts, total = hulls.run(6.0)
        assert total == whole[1]
        np.testing.assert_array_equal(starts, whole[0])
        assert len(turns) >= n_turns if size == 1 else len(turns) == 1


def _until(turn, size, turns):
    while not turn(size):
        turns.append(size)
    turns.append(size)


def test_ctrl_c_is_heard_while_gains_are_found_and_they_go_on_where_they_were(make_line):
    task = make_line("smooth", n_atoms=100 * BLOCK).task
    hulls, branches = (make(task, task.null(), np.inf) for make in (Hulls, Branches))

    def press(progress):
        raise KeyboardInterrupt

    with task.clock.reporting(press):
        assert hulls.run(6.0) is None
    assert task.clock.stopped == "interrupted"
    assert 0 < hulls.n_known < len(hulls.blocks.gains)
    task.clock.stopped = None
    (starts, total), (all_starts, all_total) = hulls.run(6.0), branches.run(6.0)
    assert total == all_total
    np.testing.assert_array_equal(starts, all_starts)
    whole = Hulls(task, task.null(), np.inf)
    whole.run(6.0)
    np.testing.assert_array_equal(hulls.blocks.gains, whole.blocks.gains)
    assert hulls.n_prices == whole.n_prices


def test_verify_uses_no_hulls(monkeypatch):
    """An auditor's check rests on code of its own."""
    rng = np.random.default_rng(2)
    x = rng.random(3_000)
    y = (rng.random(3_000) < 0.5 + 0.4 * np.sin(9.0 * x)).astype(int)
    model = gridmodl.optimize(x, y, search="exact")
    assert model.proven

    def fail(*arguments):
        raise AssertionError("verify used hulls")

    monkeypatch.setattr(exact.Hulls, "__init__", fail)
    with pytest.raises(AssertionError, match="used hulls"):
        gridmodl.optimize(x, y, search="exact")
    assert gridmodl.verify(model, x, y)
