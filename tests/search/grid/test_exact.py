"""One numerical variable of a grid by the exact search, the others frozen."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from oracles.tiny_grids import NO_LIMITS, TinyGrid, post_optimize, random_problem, run_grid

import gridmodl
from gridmodl.clock import Clock
from gridmodl.search import Search
from gridmodl.search.column.exact import AllBounds, Branches, can_prune
from gridmodl.search.grid.exact import MAX_BOUNDS, candidates, exact_optimize, find_optimum, variable_task
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker, price_grid
from gridmodl.search.grid.vns import EXACT_EFFORT
from gridmodl.search.moves import Limits

NAMES = gridmodl.list_criteria("grid")
SLOPES = (0.0, 0.7, 3.0, 9.0)


@pytest.fixture
def make_tiny_grid():
    """A variable of six values beside others that leave cells empty, and a random grid over them."""

    def make(name, seed, limits=NO_LIMITS):
        rng = np.random.default_rng([7, seed])
        n = 40
        columns = [rng.integers(0, 6, n), rng.integers(0, 5, n), rng.integers(0, 4, n)]
        columns[0][:6] = np.arange(6)
        columns[1] = np.where(columns[0] > 3, columns[1] // 2, columns[1])  # no row in some cells
        classes = np.where(rng.random(n) < 0.7, (columns[0] > 2) ^ (columns[1] > 2), rng.integers(0, 3, n))
        kinds = ["numerical", "numerical", "categorical"]
        problem = TinyGrid(columns, kinds, classes, name, limits, rng.integers(1, 4, n) if seed % 3 == 0 else None)
        return problem, problem.random(seed)

    return make


@pytest.fixture
def make_frozen():
    """The first variable of a grid of so many cells beside it, and atoms enough for many chunks."""

    def make(name, n_atoms, n_cells, n_classes=2, seed=0, limits=NO_LIMITS):
        rng = np.random.default_rng([11, n_atoms, n_cells, seed])
        n = 3 * n_atoms
        columns = [rng.permutation(np.arange(n) % n_atoms), rng.permutation(np.arange(n) % n_cells)]
        share = 0.5 + 0.45 * np.sin(9.0 * columns[0] / n_atoms + columns[1])
        problem = TinyGrid(columns, ["numerical"] * 2, rng.binomial(n_classes - 1, share), name, limits)
        worker = Worker(problem.task)
        worker.load(make_grid([(0, np.arange(n_atoms) // (n_atoms // 4)), (1, np.arange(n_cells))]))
        return worker, variable_task(worker, 0)

    return make


def with_parts(grid, k, labels):
    others = [(v, parts) for v, parts in zip(grid.variables, grid.parts, strict=True) if v != k]
    return make_grid([*others, (k, labels)])


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(3, 1), Limits(2**62, 8)])
@pytest.mark.parametrize("name", NAMES)
def test_a_variable_beside_frozen_ones_is_found_as_by_enumeration(make_tiny_grid, name, limits):
    for seed in range(12):
        problem, grid = make_tiny_grid(name, seed, limits)
        worker = Worker(problem.task)
        worker.load(grid)
        one = variable_task(worker, 0)
        prices = {}
        for cuts in itertools.product([0, 1], repeat=5):
            changed = with_parts(grid, 0, np.cumsum([0, *cuts]))
            own = changed._replace(
                variables=(0,) if 0 in changed.variables else (), parts=changed.parts[: int(0 in changed.variables)]
            )
            if problem.keeps_limits(own):
                prices[cuts] = problem.price(changed)
        found = Branches(one, one.null(), np.inf).solve()
        assert found.proven
        assert found.cost == pytest.approx(min(prices.values()), rel=1e-10, abs=1e-9)
        cuts = tuple(int(a in found.starts) for a in range(1, 6))
        assert prices[cuts] == pytest.approx(found.cost, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n_atoms", "n_cells", "n_classes"), [(100, 2, 2), (250, 5, 3), (400, 12, 2)])
def test_runs_beside_frozen_cells_are_those_of_the_quadratic_search(make_frozen, name, n_atoms, n_cells, n_classes):
    _, one = make_frozen(name, n_atoms, n_cells, n_classes)
    assert one.n_frozen_cells == n_cells
    if not can_prune(one):
        pytest.skip("prices all pairs of bounds anyhow")
    for slope in SLOPES:
        costs = []
        for program in (Branches, AllBounds):
            run, came_from = np.full(n_atoms + 1, np.inf), np.zeros(n_atoms + 1, dtype=np.int32)
            run[0] = 0.0
            assert program(one, one.null(), np.inf).fill(slope, run, run, came_from)
            costs.append(run)
        np.testing.assert_allclose(*costs, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_visit_finds_the_optimum_of_all_bounds(make_frozen, name):
    for seed, n_atoms in enumerate((60, 150, 250)):
        worker, one = make_frozen(name, n_atoms, 4, seed=seed)
        lowest = AllBounds(one, one.null(), np.inf).solve()
        assert lowest.proven
        is_changed = find_optimum(worker, 0)
        assert is_changed == can_prune(one)
        if is_changed:
            assert worker.grid().cost == pytest.approx(lowest.cost, rel=1e-11)
            assert not find_optimum(worker, 0)


def test_pure_runs_of_a_frozen_cell_are_joined_and_cost_nothing(make_frozen):
    worker, _ = make_frozen("modl", 300, 2)
    pure = np.repeat(np.arange(30), 10) % 3  # runs of two classes in the first cell, and one of the second
    worker.task.rows.codes[:] = np.where(pure == 1, 1, 0)[worker.task.rows.atom[0]]
    worker.price()
    one = variable_task(worker, 0)
    starts = candidates(one.atoms, worker.task, 0, MAX_BOUNDS)
    assert 30 <= len(starts) < 300
    lowest = AllBounds(one, one.null(), np.inf).solve()
    find_optimum(worker, 0)
    assert worker.grid().cost == pytest.approx(lowest.cost, rel=1e-11)


def test_no_run_is_joined_where_min_rows_binds(make_frozen):
    worker, _ = make_frozen("modl", 300, 2, limits=Limits(2**62, 5))
    worker.task.rows.codes[:] = 0
    assert len(candidates(variable_task(worker, 0).atoms, worker.task, 0, MAX_BOUNDS)) == 300


def test_many_bounds_are_quantiles(make_frozen):
    worker, one = make_frozen("modl", 4000, 3)
    starts = candidates(one.atoms, worker.task, 0, 100)
    assert starts[0] == 0
    assert len(starts) == 100
    np.testing.assert_allclose(np.diff(starts), 40, atol=5)


@pytest.mark.parametrize("n_rows", [1000, 5000])
def test_what_local_moves_miss_is_found(n_rows):
    """Now and then, of a smooth signal; with all bounds of a variable to choose from, and with some."""
    n_missed = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        columns = rng.permutation(np.tile(np.arange(n_rows), (2, 1)), axis=1)
        columns[1] = rng.permutation(columns[1])
        x, y = columns / n_rows
        problem = TinyGrid(list(columns), ["numerical"] * 2, rng.random(n_rows) < 0.5 + 0.45 * np.sin(14 * x + 3 * y))
        halves = make_grid([(k, np.arange(n_rows) // (n_rows // 2)) for k in (0, 1)])
        halves = halves._replace(cost=price_grid(problem.task, halves))
        local = post_optimize(problem.task, halves)
        found = exact_optimize(problem.task, local)
        assert found.cost <= local.cost
        assert found.cost == pytest.approx(problem.price(found), rel=1e-11)
        n_missed += found.cost < local.cost - 0.1
    assert n_missed > 0


@pytest.mark.parametrize("name", ["modl", "bic"])
@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(2, 1), Limits(3, 10)])
def test_the_grid_is_never_more_expensive_and_keeps_the_limits(name, limits):
    n_cheaper = 0
    for seed in range(8):
        problem = random_problem(seed, name, n_rows=150, limits=limits, weighted=seed % 2 == 1)
        start = run_grid(problem.task, Search("merge")).grid
        found = exact_optimize(problem.task, start)
        assert found.cost <= start.cost
        assert problem.keeps_limits(found)
        assert problem.is_valid(found)
        assert found.cost == pytest.approx(problem.price(found), rel=1e-11, abs=1e-9)
        rough = problem.random(seed) if limits == NO_LIMITS else make_grid([])
        rough = rough._replace(cost=price_grid(problem.task, rough))
        n_cheaper += exact_optimize(problem.task, rough).cost < rough.cost
    assert n_cheaper > 0 or limits != NO_LIMITS


def test_a_stopped_clock_leaves_the_grid_as_it_is():
    problem = random_problem(3, n_rows=200)
    grid = problem.random(3)._replace(cost=np.inf)
    assert exact_optimize(replace(problem.task, clock=Clock(time_limit=0.0)), grid).signature() == grid.signature()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_vns_ends_with_it(monkeypatch, n_jobs):
    improved = []

    def spy(task, grid, worker):
        improved.append(grid.signature())
        return exact_optimize(task, grid, worker)

    monkeypatch.setattr("gridmodl.search.grid.vns.exact_optimize", spy)
    task = random_problem(2, n_rows=200).task
    for kind, effort, n in (("merge", 5, 0), ("vns", EXACT_EFFORT - 1, 0), ("vns", EXACT_EFFORT, 1)):
        improved.clear()
        run_grid(task, Search(kind, effort=effort), n_jobs, random_state=0)
        assert len(improved) == n


def test_ctrl_c_in_it_keeps_the_best(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gridmodl.search.grid.vns.exact_optimize", interrupted)
    task = replace(random_problem(2, n_rows=200).task, clock=Clock())
    found = run_grid(task, Search("vns", effort=EXACT_EFFORT), random_state=0)
    assert task.clock.stopped == "interrupted"
    assert found.grid.cost < found.null.cost
