"""Branch and bound over starts: the same as without leaving any out, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles import naive_exact
from oracles.tiny import NO_LIMITS, Tiny

import gridmodl
from gridmodl.data.atoms import tail
from gridmodl.search.column import exact
from gridmodl.search.column.branch_and_bound import CHUNK
from gridmodl.search.column.exact import AllBounds, Branches, can_prune, make_program, proven_optimum
from gridmodl.search.moves import Limits
from gridmodl.terms import floor

NAMES = [name for name in gridmodl.list_criteria("classes") if gridmodl.get_criterion(name).floor is not floor]
KNOWN_TO_ORACLE = ["modl", "aic", "bic", "mdlp", "gini", "entropy"]
BIT_BY_BIT = ["modl", "entropy"]  # each takes a compilation of its own
DEFAULTS = {"entropy": {"alpha": 0.5, "beta": 0.0}}


@pytest.fixture
def make_line():
    """Tasks whose atoms fill several chunks and blocks."""

    def make(kind, name="modl", n_cells=1, n_classes=2, n_atoms=300, limits=NO_LIMITS, seed=0):
        rng = np.random.default_rng([seed, n_cells, n_classes, n_atoms])
        column = np.sort(rng.random(2 * n_atoms))
        target = naive_exact.random_classes(rng, kind, column, n_classes)
        counts = np.zeros((n_atoms, n_cells, n_classes), dtype=np.int64)
        np.add.at(counts, (np.arange(2 * n_atoms) // 2, rng.integers(0, n_cells, 2 * n_atoms), target), 1)
        return Tiny(counts, name, limits)

    return make


@pytest.fixture
def without_floors():
    """The same task by a criterion that knows no floors under its cell, so that no start is left out."""
    return lambda task: replace(task, criterion=naive_exact.without_floors(task.criterion))


def check_runs(task, plain):
    pruned, full = (Branches(each, task.null(), np.inf) for each in (task, plain))
    for slope in (0.0, 0.7, 3.0, 9.0):
        (costs, came_from), (all_costs, all_came_from) = naive_exact.run(pruned, slope), naive_exact.run(full, slope)
        np.testing.assert_array_equal(costs, all_costs)
        np.testing.assert_array_equal(came_from, all_came_from)
    check_costs(task)
    return pruned.n_prices, full.n_prices


def check_costs(task):
    """As the quadratic recursion, which sums in another order."""
    quick, slow = (make(task, task.null(), np.inf) for make in (Branches, AllBounds))
    for slope in (0.0, 0.7, 3.0, 9.0):
        costs, slow_costs = naive_exact.run(quick, slope)[0], naive_exact.run(slow, slope)[0]
        np.testing.assert_allclose(costs, slow_costs, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("kind", naive_exact.KINDS)
@pytest.mark.parametrize(("n_cells", "n_classes"), [(1, 2), (1, 5), (3, 3)])
def test_runs_of_modl_are_those_without_pruning_to_the_last_bit(make_line, without_floors, kind, n_cells, n_classes):
    task = make_line(kind, "modl", n_cells, n_classes, n_atoms=700).task
    pruned, full = check_runs(task, without_floors(task))
    assert pruned < full


@pytest.mark.parametrize("kind", ["noise", "smooth"])
@pytest.mark.parametrize(("n_cells", "n_classes"), [(1, 2), (2, 4)])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "modl"])
def test_runs_of_any_criterion_with_a_floor_are_those_without_pruning(
    make_line, without_floors, name, n_cells, n_classes, kind
):
    task = make_line(kind, name, n_cells, n_classes).task
    assert can_prune(task)
    if name in BIT_BY_BIT:
        check_runs(task, without_floors(task))
    else:
        check_costs(task)


@pytest.mark.parametrize("min_rows", [2, 7, 40, 300, 5000])
@pytest.mark.parametrize("n_cells", [1, 2])
@pytest.mark.parametrize("name", BIT_BY_BIT)
def test_runs_keep_min_rows_as_without_pruning(make_line, without_floors, name, n_cells, min_rows):
    task = make_line("smooth", name, n_cells, 3, limits=Limits(2**62, min_rows)).task
    check_runs(task, without_floors(task))


@pytest.mark.parametrize("n_atoms", [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 8 * CHUNK, 8 * CHUNK + 1])
def test_runs_are_right_wherever_the_last_chunk_ends(make_line, without_floors, n_atoms):
    task = make_line("steps", n_atoms=n_atoms).task
    check_runs(task, without_floors(task))


def test_of_equal_starts_the_leftmost_is_taken():
    """Rows of one class, and parts whose price the slope takes back: every partition costs exactly nothing."""
    task = Tiny(np.tile([[[1, 0]]], (10 * CHUNK + 3, 1, 1)), "aic").task
    costs, came_from = naive_exact.run(Branches(task, task.null(), np.inf), -2.0)
    assert not costs.any()
    assert not came_from.any()


@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0, 2.5])
def test_runs_of_entropy_are_right_for_any_of_its_options(make_line, without_floors, beta):
    tiny = make_line("smooth", "entropy", n_classes=3)
    p = tiny.setting.p._replace(beta=beta, penalty=1.5)
    task = replace(tiny.task, setting=tiny.setting._replace(p=p))
    check_runs(task, without_floors(task))


@pytest.mark.parametrize(("n_cells", "min_rows"), [(1, 1), (3, 1), (1, 30)])
@pytest.mark.parametrize("kind", ["noise", "steps", "smooth"])
def test_layers_are_those_of_the_quadratic_recursion(make_line, kind, n_cells, min_rows):
    task = make_line(kind, n_cells=n_cells, limits=Limits(2**62, min_rows)).task
    quick, slow = (make(task, task.null(), np.inf) for make in (Branches, AllBounds))
    for k in range(6):
        assert quick.layer(k, 6) == pytest.approx(slow.layer(k, 6), rel=1e-11)
        np.testing.assert_allclose(quick.before, slow.before, rtol=1e-11, atol=1e-9)
        starts = quick.trace_layers(k)
        assert len(starts) == k + 1
        assert task.price_of(starts) == pytest.approx(task.price_of(slow.trace_layers(k)), rel=1e-11)


@pytest.mark.parametrize("kind", ["noise", "steps", "smooth"])
@pytest.mark.parametrize("n_cells", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_relaxed_total_is_below_that_of_a_run(make_line, name, n_cells, kind):
    task = make_line(kind, name, n_cells, 3).task
    program = Branches(task, task.null(), np.inf)
    slopes = np.array([0.0, 0.3, 2.0, 8.0, 50.0])
    for slope, relaxed in zip(slopes, program.relaxed(slopes), strict=True):
        _, total = program.run(slope)
        assert relaxed <= total + 1e-9 * (1.0 + abs(total))
        assert np.isfinite(relaxed)


def test_the_relaxed_total_is_near_that_of_a_run_within_one_chunk(make_line):
    """All parts but the first begin there, and the first costs its floor."""
    task = make_line("steps", n_atoms=CHUNK).task
    program = Branches(task, task.null(), np.inf)
    starts, total = program.run(-10.0)
    first = task.price_of(starts) - replace(task, atoms=tail(task.atoms, 1)).price_of(starts[1:] - 1)
    assert len(starts) == CHUNK
    assert program.relaxed(np.array([-10.0]))[0] == pytest.approx(total - first, rel=1e-12)  # the floor of one row is 0


@pytest.mark.parametrize("n_atoms", [2, CHUNK - 1, CHUNK + 1, 2 * CHUNK + 3, 5 * CHUNK, 9 * CHUNK + 1])
def test_the_relaxed_total_is_below_the_cheapest_of_two_parts_or_more(make_line, n_atoms):
    task = make_line("noise", n_atoms=n_atoms).task
    program, slopes = AllBounds(task, task.null(), np.inf), np.array([0.5, 4.0, 20.0])
    least = np.min([program.layer(k, n_atoms) + slopes * (k + 1) for k in range(n_atoms)][1:], axis=0)
    relaxed = Branches(task, task.null(), np.inf).relaxed(slopes)
    assert (relaxed <= least + 1e-9).all()
    assert (relaxed <= task.price_of([0]) + slopes + 1e-9).all()


@pytest.mark.parametrize("name", KNOWN_TO_ORACLE)
def test_the_optimum_is_that_of_a_table_over_parts_and_bounds(name, monkeypatch):
    monkeypatch.setattr(exact, "PLAIN_ATOMS", 0)
    rng = np.random.default_rng([3, KNOWN_TO_ORACLE.index(name)])
    for _ in range(120 if name == "modl" else 40):
        case = naive_exact.random_case(rng)
        options = DEFAULTS.get(name, {})
        model = gridmodl.optimize(
            case.column, case.target, weights=case.weights, criterion=name, search="exact", **case.limits
        )
        lowest = naive_exact.lowest_cost(name, naive_exact.class_counts(case), options, **case.limits)
        assert model.proven
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)
        own = naive_exact.cost_of(name, model.partitions["x0"].counts, options)
        assert own == pytest.approx(lowest, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(4, 1), Limits(2**62, 25), Limits(3, 60)])
@pytest.mark.parametrize("n_cells", [1, 3])
@pytest.mark.parametrize("kind", ["noise", "steps", "smooth"])
def test_the_optimum_is_that_of_the_quadratic_search(make_line, kind, n_cells, limits):
    task = make_line(kind, n_cells=n_cells, limits=limits).task
    assert isinstance(make_program(task), Branches)
    quick, slow = proven_optimum(task), AllBounds(task, task.null(), np.inf).solve()
    assert quick.proven
    assert slow.proven
    assert quick.cost == pytest.approx(slow.cost, rel=1e-12)
    np.testing.assert_array_equal(quick.starts, slow.starts)


@pytest.mark.slow
@pytest.mark.parametrize("kind", naive_exact.KINDS)
@pytest.mark.parametrize("n_classes", [2, 5])
def test_long_runs_are_those_without_pruning(make_line, without_floors, kind, n_classes):
    task = make_line(kind, n_classes=n_classes, n_atoms=12_000).task
    check_runs(task, without_floors(task))
