"""Grids of many variables found by VNS, and what holds of every search of a grid."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from oracles.tiny_grids import (
    NO_LIMITS,
    TinyGrid,
    exhaustive_merge,
    greedy_merge,
    post_optimize,
    pre_optimize,
    random_problem,
    run_grid,
)
from oracles.tiny_groups import TinyGroups

from gridmodl.clock import Clock
from gridmodl.search import Search
from gridmodl.search.grid.neighbours import draw_neighbour
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.starts import null_grid, product_grid, single_grid
from gridmodl.search.grid.state import Worker, price_grid
from gridmodl.search.moves import Limits

SEARCHES = (pre_optimize, greedy_merge, exhaustive_merge, post_optimize)


def search(kind="vns", **options):
    return Search(kind, **options)


def xor(n_rows, n_dimensions, n_columns, seed):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 10 * n_rows, (n_columns, n_rows))
    classes = (columns[:n_dimensions] > 5 * n_rows).sum(axis=0) % 2
    return TinyGrid(list(columns), ["numerical"] * n_columns, classes)


@pytest.mark.parametrize("step", SEARCHES)
def test_no_search_is_more_expensive_than_its_start(step):
    for seed in range(12):
        problem = random_problem(seed, weighted=seed % 3 == 0)
        start = problem.random(seed)
        start = start._replace(cost=price_grid(problem.task, start))
        found = step(problem.task, start)
        assert found.cost <= start.cost
        assert problem.is_valid(found)
        assert found.cost == pytest.approx(problem.price(found), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("name", ["modl", "bic", "gini"])
def test_the_result_is_never_above_a_start(name):
    for seed in range(6):
        problem = random_problem(seed, name)
        task, worker = problem.task, Worker(problem.task)
        null = null_grid(worker)
        prices = worker.state.prices.copy()
        singles = [single_grid(task, null, prices, k) for k in range(4)]
        for single in singles:
            assert single.cost == pytest.approx(problem.price(single), rel=1e-12, abs=1e-9)
        product = product_grid(singles)
        costs = [null.cost, price_grid(task, product), *(single.cost for single in singles)]
        for kind in ("merge", "vns", "algorithm3", "diverse"):
            found = run_grid(task, search(kind, effort=2), random_state=seed)
            assert found.grid.cost <= min(costs) + 1e-9
            assert found.grid.cost == pytest.approx(problem.price(found.grid), rel=1e-12, abs=1e-9)
            assert found.null.cost == null.cost


def all_partitions(n, kind):
    if kind == "numerical":
        for cuts in itertools.product([0, 1], repeat=n - 1):
            yield np.cumsum([0, *cuts])
    else:
        yield from TinyGroups(np.ones((n, 2), dtype=int)).all_groups()


def test_small_grids_are_found_as_by_enumeration():
    n_best = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        kinds = [["numerical", "categorical"][int(i)] for i in rng.integers(0, 2, 2)]
        columns = rng.integers(0, 4, (2, 120))
        columns[:, :4] = np.arange(4)
        likely = rng.random((4, 4)).round()[columns[0], columns[1]]
        problem = TinyGrid(list(columns), kinds, (rng.random(120) < 0.2 + 0.6 * likely).astype(int))
        task = problem.task
        worker = Worker(task)
        grids = itertools.product(all_partitions(4, kinds[0]), all_partitions(4, kinds[1]))
        lowest = min(worker.load(make_grid([(0, a), (1, b)])) for a, b in grids)
        found = run_grid(task, search(), random_state=seed).grid
        assert found.cost >= lowest - 1e-9
        n_best += found.cost <= lowest + 1e-9
    assert n_best >= 9


def test_an_xor_is_found():
    for seed in range(5):
        assert run_grid(xor(40, 2, 2, seed).task, search(), random_state=seed).grid.variables == (0, 1)
        assert run_grid(xor(256, 5, 5, seed).task, search(), random_state=seed).grid.shape == (2, 2, 2, 2, 2)


def test_wine_has_the_published_grid():
    from sklearn.datasets import load_wine

    data, classes = load_wine(return_X_y=True)
    columns = [np.round(100 * data[:, k]).astype(int) for k in (0, 6)]
    task = TinyGrid(columns, ["numerical"] * 2, classes).task
    for seed in range(10):
        assert run_grid(task, search(), random_state=seed).grid.cost <= 89.470937


def test_noise_stays_noise():
    rng = np.random.default_rng(0)
    problem = TinyGrid(list(rng.integers(0, 1000, (5, 200))), ["numerical"] * 5, rng.integers(0, 2, 200))
    assert run_grid(problem.task, search(), random_state=0).grid.variables == ()


@pytest.mark.parametrize("kind", ["vns", "algorithm3", "diverse"])
def test_the_same_seed_gives_the_same_bits_with_any_number_of_threads(kind):
    problem = random_problem(5, n_rows=300, n_columns=8)
    runs = [run_grid(problem.task, search(kind, effort=4, keep_optima=20), n, random_state=3) for n in (1, 1, 2, 3)]
    for other in runs[1:]:
        assert other.grid.cost == runs[0].grid.cost
        assert other.grid.signature() == runs[0].grid.signature()
        assert [grid.signature() for grid in other.optima] == [grid.signature() for grid in runs[0].optima]


def test_optima_are_distinct_and_the_cheapest_ones():
    rng = np.random.default_rng(0)
    signal = rng.integers(0, 100, 200)
    columns = [signal + rng.integers(0, 80, 200) for _ in range(8)]  # each tells about as much as any other
    problem = TinyGrid(columns, ["numerical"] * 8, signal // 34)
    many = run_grid(problem.task, search(effort=5, keep_optima=1000), random_state=1).optima
    few = run_grid(problem.task, search(effort=5, keep_optima=3), random_state=1).optima
    assert len({grid.signature() for grid in many}) == len(many) > 3
    assert [grid.cost for grid in few] == [grid.cost for grid in many[:3]]


def test_improvements_are_told():
    told = []
    found = run_grid(random_problem(1).task, search(on_improvement=told.append), random_state=0)
    assert told[-1].cost == found.grid.cost
    assert told[-1].level == 1.0 - found.grid.cost / found.null.cost
    assert [i.cost for i in told] == sorted((i.cost for i in told), reverse=True)


OF_EACH = [Limits(2, 1), Limits(2**62, 12), Limits(1, 1), Limits(3, 20)]


@pytest.mark.parametrize(
    "limits",
    [Limits(2, 1), Limits(3, 10), Limits(2**62, 25), Limits(1, 1), Limits(2**62, 1000), OF_EACH, OF_EACH[::-1]],
)
def test_limits_hold(limits):
    for seed in range(6):
        problem = random_problem(seed, n_rows=100, limits=limits, weighted=seed % 2 == 0)
        found = run_grid(problem.task, search(effort=3, keep_optima=100), random_state=seed)
        assert all(problem.keeps_limits(grid) for grid in (found.grid, *found.optima))
        worker = Worker(problem.task)
        for n_parts in (2, 5):
            worker.load(found.grid)
            draw_neighbour(worker, 4, n_parts, n_parts == 2, seed, np.arange(problem.task.n_variables))
            assert problem.keeps_limits(worker.grid())


@pytest.mark.usefixtures("_processor_time")
def test_a_stopped_search_keeps_the_best():
    problem = random_problem(4, n_rows=2000, n_columns=10)
    run_grid(problem.task, search(effort=1))  # compiled before the clock runs
    task = replace(problem.task, clock=Clock(time_limit=0.3))
    found = run_grid(task, search(effort=30), n_jobs=2, random_state=0)
    assert task.clock.stopped == "time limit"
    assert task.clock.elapsed < 3.0
    assert found.grid.cost < found.null.cost
    assert found.grid.cost == pytest.approx(problem.price(found.grid))
    assert run_grid(replace(task, clock=Clock(time_limit=0.0)), search()).grid.cost <= found.null.cost


def test_a_thousand_columns_and_more_columns_than_rows():
    rng = np.random.default_rng(0)
    columns = list(rng.integers(0, 5, (998, 300)))
    constant, identifier = np.zeros(300, dtype=int), np.arange(300)
    classes = (columns[7] > 2).astype(int) ^ (rng.random(300) < 0.1)
    kinds = ["numerical", "categorical"] * 499
    problem = TinyGrid([*columns, constant, identifier], [*kinds, "numerical", "categorical"], classes)
    assert run_grid(problem.task, search(effort=0), random_state=0).grid.variables == (7,)


def test_a_thousand_classes():
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(1000), 3)
    columns = [classes // 100, rng.integers(0, 3000, 3000), classes % 10]
    problem = TinyGrid(columns, ["numerical", "numerical", "categorical"], classes)
    found = run_grid(problem.task, search(effort=0), random_state=0)
    assert 1 not in found.grid.variables
    assert problem.is_valid(found.grid)


def test_a_search_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="'exact' cannot find a grid"):
        run_grid(random_problem(0).task, search("exact"))
    assert NO_LIMITS.min_rows == 1


def test_ctrl_c_among_the_single_variables_ends_the_whole_search(monkeypatch):
    calls = []

    def interrupted(*_):
        calls.append(1)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("gridmodl.search.column.driver._steps", interrupted)
    task = replace(random_problem(1).task, clock=Clock())
    monkeypatch.setattr("gridmodl.search.column.driver._grouping_steps", interrupted)
    found = run_grid(task, search(effort=2), random_state=0)
    assert task.clock.stopped == "interrupted"
    assert len(calls) <= 1
    assert found.grid.cost <= found.null.cost
