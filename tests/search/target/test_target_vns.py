"""Grids of several inputs whose target is partitioned too: their price, the search of the target, and of all."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from oracles import naive
from oracles.tiny_grids import NO_LIMITS, encoded, plain_columns

import gridmodl
from gridmodl import Search, get_criterion
from gridmodl.clock import Clock
from gridmodl.data.atoms import Target
from gridmodl.plugins import criterion_for
from gridmodl.search import run
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker, make_task
from gridmodl.search.grid.typical import typicality
from gridmodl.search.moves import Limits
from gridmodl.search.target.given import inputs_given
from gridmodl.search.target.parts import best_target

PROBLEMS = {"numerical_grid": "numerical", "grouped_grid": "categorical"}


class TinyTarget:
    """Columns of small whole numbers, the target last, and which kinds they are."""

    def __init__(self, problem, columns, kinds, weights=None, limits=None, **options):
        self.problem, self.kinds = problem, [*kinds, PROBLEMS[problem]]
        self.columns, self.weights = [np.asarray(column) for column in columns], weights
        self.criterion = criterion_for(get_criterion("modl", **options), problem)
        self.limits = limits or [NO_LIMITS] * len(columns)

    @property
    def task(self):
        target = Target(np.zeros(len(self.columns[0]), dtype=np.int32), self.weights, 1)
        columns = list(map(encoded, self.columns, self.kinds))
        return make_task(columns, target, self.criterion, self.limits, Clock(), self.problem)

    def price(self, grid):
        columns, _ = plain_columns(grid, self.columns, self.kinds, self.weights)
        columns[-1].is_target = True
        return naive.price(self.criterion, self.problem, columns)

    def partitions(self, k):
        """All partitions of variable k, as the part of each value."""
        n = len(np.unique(self.columns[k]))
        if self.kinds[k] == "categorical":
            return [np.array(labels) for labels in _groupings(n)]
        return [np.searchsorted(cuts, np.arange(n), side="right") for cuts in naive.partitions_of(n)]

    def random(self, seed, max_parts=4):
        rng, parts = np.random.default_rng(seed), []
        for k, (column, kind) in enumerate(zip(self.columns, self.kinds, strict=True)):
            labels = rng.integers(0, int(rng.integers(1, max_parts + 1)), len(np.unique(column)))
            parts.append((k, labels if kind == "categorical" else np.sort(labels)))
        return make_grid(parts)


def _groupings(n):
    """All groupings of n values, as restricted growth strings."""
    labels = [[0]]
    for _ in range(n - 1):
        labels = [[*one, g] for one in labels for g in range(max(one) + 2)]
    return labels


def random_case(problem, seed, n_rows=30, n_inputs=3, n_values=5, weighted=True, signal=0.8):
    """Columns of both kinds; the target depends on the first and the last input."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["numerical", "categorical"], n_inputs).tolist()
    columns = [rng.integers(-1 if kind == "numerical" else 0, n_values - 1, n_rows) for kind in kinds]
    target = (columns[0] > 0).astype(int) + 2 * (columns[-1] % 2)
    target = np.where(rng.random(n_rows) < signal, target, rng.integers(0, n_values, n_rows))
    weights = rng.integers(1, 5, n_rows).astype(np.int64) if weighted else None
    return TinyTarget(problem, [*columns, target], kinds, weights)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", range(12))
def test_price(problem, seed):
    case = random_case(problem, seed, n_inputs=2 + seed % 3, weighted=seed % 2 == 0)
    worker = Worker(case.task)
    for i in range(4):
        grid = case.random(100 * seed + i)
        assert worker.load(grid) == pytest.approx(case.price(grid), rel=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_price_without_selection(problem):
    case = random_case(problem, 5)
    free = TinyTarget(problem, case.columns, case.kinds[:-1], case.weights, selection=False)
    grid = case.random(3)
    n, informative = 3, sum(k < 3 for k in grid.variables)
    chosen = np.log(n + 1) + np.log(float(len(list(itertools.combinations(range(n + informative - 1), informative)))))
    assert Worker(case.task).load(grid) - Worker(free.task).load(grid) == pytest.approx(chosen, abs=1e-9)
    assert Worker(free.task).load(grid) == pytest.approx(free.price(grid), rel=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_known_price(problem):
    """Four rows, one informative input in two parts, the target in two; written out by hand."""
    x, y = [0, 0, 1, 1], [0, 1, 2, 3]
    case = TinyTarget(problem, [x, [0, 1, 0, 1], y], ["numerical", "numerical"])
    grid = make_grid([(0, np.array([0, 1])), (2, np.array([0, 0, 1, 1]))])
    log, fact = np.log, [1, 1, 2, 6, 24]
    inputs = log(3) + log(2) + log(4) + log(5)  # choice of 1 of 2 inputs; 2 intervals of 4 rows
    margins = 2 * (log(3) + log(fact[2])) - 2 * log(fact[2])
    target = log(4) + 2 * log(fact[2])
    if problem == "grouped_grid":
        target = log(4) + log(8) + 2 * (log(3) + log(fact[2]))  # B(4, 2) = 8 groupings; C(2+2-1, 1) = 3
    assert Worker(case.task).load(grid) == pytest.approx(inputs + margins + target, rel=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", range(4))
def test_inputs_given_the_target_cost_the_same_but_for_the_target(problem, seed):
    case = random_case(problem, seed)
    task, one = case.task, case.random(seed)
    target = (3, one.parts_of(3, task.rows.n_atoms(3)))
    differences = []
    for i in range(5):
        other = case.random(50 + i)
        inputs = [(k, parts) for k, parts in zip(other.variables, other.parts, strict=True) if k != 3]
        grid = make_grid([*inputs, target])
        given, alone = inputs_given(task, grid)
        differences.append(Worker(task).load(grid) - Worker(given).load(alone))
    assert differences == pytest.approx([differences[0]] * 5, rel=1e-11)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", range(8))
def test_best_target_against_all(problem, seed):
    """Given the cells of the inputs, no partition of the target is cheaper."""
    case = random_case(problem, seed, n_rows=25)
    worker, grid = Worker(case.task), case.random(seed)
    found = best_target(worker, grid._replace(cost=worker.load(grid)), 128)
    inputs = [(k, parts) for k, parts in zip(grid.variables, grid.parts, strict=True) if k != 3]
    costs = [worker.load(make_grid([*inputs, (3, labels)])) for labels in case.partitions(3)]
    assert found.cost == pytest.approx(min(costs), rel=1e-11)
    assert found.cost == pytest.approx(case.price(found), rel=1e-12)


def test_best_target_of_many_values():
    """With bounds at some quantiles and local moves, a numerical target is close to its optimum over all bounds."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 4, 600)
    case = TinyTarget("numerical_grid", [x, rng.integers(0, 3, 600), x * 300 + rng.integers(0, 400, 600)],
                      ["numerical", "categorical"])  # fmt: skip
    worker = Worker(case.task)
    grid = make_grid([(0, np.arange(4)), (2, np.arange(case.task.rows.n_atoms(2)) * 3 // case.task.rows.n_atoms(2))])
    grid = grid._replace(cost=worker.load(grid))
    few, all_bounds = best_target(worker, grid, 32), best_target(worker, grid, 10**6)
    assert all_bounds.cost <= few.cost < grid.cost
    assert few.cost - all_bounds.cost < 0.01 * (grid.cost - all_bounds.cost)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", range(10))
def test_against_all_grids(problem, seed):
    """Every partition of two inputs times every partition of the target, of a few rows of large weight."""
    rng = np.random.default_rng([seed, 7])
    n = 6
    kinds = rng.choice(["numerical", "categorical"], 2).tolist()
    columns = [rng.integers(0, 4, n), rng.integers(0, 3, n), rng.integers(0, 5, n)]
    weights = rng.integers(1, 12, n).astype(np.int64)
    case = TinyTarget(problem, columns, kinds, weights)
    worker = Worker(case.task)
    every = itertools.product(*(case.partitions(k) for k in range(3)))
    costs = [worker.load(make_grid(list(enumerate(labels)))) for labels in every]
    found = run("target", replace(case.task, random_state=seed), Search())
    assert found.grid.cost == pytest.approx(min(costs), rel=1e-11)
    assert found.null.cost == pytest.approx(worker.load(make_grid([])), rel=1e-12)


def test_some_of_these_grids_are_informative():
    """Else the test above would pass with a search that always returns the null grid."""
    shapes = []
    for problem, seed in itertools.product(PROBLEMS, range(10)):
        rng = np.random.default_rng([seed, 7])
        kinds = rng.choice(["numerical", "categorical"], 2).tolist()
        columns = [rng.integers(0, 4, 6), rng.integers(0, 3, 6), rng.integers(0, 5, 6)]
        case = TinyTarget(problem, columns, kinds, rng.integers(1, 12, 6).astype(np.int64))
        shapes.append(len(run("target", replace(case.task, random_state=seed), Search(effort=1)).grid.variables))
    assert shapes.count(0) < 15
    assert shapes.count(3) >= 1


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kind", ["merge", "vns", "diverse"])
def test_never_above_singles(problem, kind):
    for seed in range(3):
        case = random_case(problem, seed, n_rows=60)
        found = run("target", replace(case.task, random_state=seed), Search(kind, effort=1, keep_optima=20))
        singles = [grid.cost for grid in found.singles[:3]]
        assert found.grid.cost <= min(singles)
        assert found.grid.cost <= found.null.cost
        assert found.grid.cost == pytest.approx(case.price(found.grid), rel=1e-12)
        for grid in found.optima:
            assert grid.cost == pytest.approx(case.price(grid), rel=1e-12)
            assert 3 in grid.variables
            assert len(grid.variables) > 1


@pytest.mark.parametrize("problem", PROBLEMS)
def test_same_seed_same_grid_for_any_number_of_threads(problem):
    case = random_case(problem, 2, n_rows=60)
    grids = [
        run("target", replace(case.task, random_state=3, n_jobs=n_jobs), Search(effort=3)).grid for n_jobs in (1, 1, 3)
    ]
    assert grids[0].signature() == grids[1].signature() == grids[2].signature()
    assert grids[0].cost == grids[1].cost == grids[2].cost


@pytest.mark.parametrize("problem", PROBLEMS)
def test_limits(problem):
    case = random_case(problem, 1, n_rows=80, weighted=False)
    case.limits = [Limits(2, 10), Limits(1, 1), Limits(3, 5), Limits(2, 20)]
    grid = run("target", replace(case.task, random_state=0), Search(effort=2)).grid
    assert 1 not in grid.variables
    assert 3 in grid.variables
    for k, parts, n_parts in zip(grid.variables, grid.parts, grid.shape, strict=True):
        rows = np.bincount(parts[case.task.rows.atom[k]])
        assert n_parts <= case.limits[k].max_parts
        assert rows.min() >= case.limits[k].min_rows


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kind", ["merge", "vns", "diverse"])
def test_limits_that_leave_one_part_of_the_target(problem, kind):
    case = random_case(problem, 1, n_rows=9, weighted=False)
    for least in (5, 9, 10, 50):
        case.limits = [Limits(9, 1)] * 3 + [Limits(9, least)]
        found = run("target", replace(case.task, random_state=0), Search(kind, effort=3))
        assert found.grid.variables == ()
        assert found.grid.cost == found.null.cost


def test_xor_of_two_inputs_that_tell_nothing_alone():
    rng = np.random.default_rng(8)
    x = rng.random((300, 5))
    y = np.where((x[:, 0] > 0.5) == (x[:, 1] > 0.5), 0.0, 3.0) + rng.normal(size=300)
    model = gridmodl.optimize({f"x{k}": x[:, k] for k in range(5)}, y)
    assert model.informative == ["x0", "x1"]
    assert model.problem == "numerical_grid"
    assert model.level > 0.02


@pytest.mark.parametrize("problem", PROBLEMS)
def test_time_limit(problem):
    case = random_case(problem, 2, n_rows=60)
    clock = Clock(time_limit=0.0)
    found = run("target", replace(case.task, clock=clock, random_state=3), Search(effort=20))
    assert clock.stopped == "time limit"
    assert found.grid.cost <= found.null.cost


def test_interrupted():
    case = random_case("numerical_grid", 2, n_rows=60)
    costs = []

    def stop(improvement):
        costs.append(improvement.cost)
        if len(costs) == 2:
            raise KeyboardInterrupt

    task = replace(case.task, random_state=3)
    found = run("target", task, Search(effort=20, on_improvement=stop))
    assert task.clock.stopped == "interrupted"
    assert len(costs) == 2
    assert found.grid.cost == costs[-1]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_typicality(problem):
    """What a value costs elsewhere, against the price of every move of it."""
    case = random_case(problem, 0)
    case.kinds[0], case.columns[0] = "categorical", np.abs(case.columns[0])
    task = case.task
    worker, grid = Worker(task), case.random(5)
    labels = np.arange(task.rows.n_atoms(0)) % 3
    others = [(k, parts) for k, parts in zip(grid.variables, grid.parts, strict=True) if k not in (0, 3)]
    target = (3, np.arange(task.rows.n_atoms(3)) * 2 // task.rows.n_atoms(3))
    grid = make_grid([(0, labels), *others, target])
    cost = worker.load(grid)
    moved = []
    for value in range(len(labels)):
        costs = []
        for to in range(3):
            if to != labels[value]:
                changed = labels.copy()
                changed[value] = to
                costs.append(worker.load(make_grid([(0, changed), *others, target])) - cost)
        moved.append(min(costs))
    assert typicality(task, grid, 0) == pytest.approx(moved, rel=1e-9, abs=1e-9)
