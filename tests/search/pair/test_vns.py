"""The search for grids of two variables: joint, grouped and numerical targets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.tiny_grids import run_engine
from oracles.tiny_pairs import TinyPair, planted, random_pair, run_pair

from gridmodl import Criterion
from gridmodl.clock import Clock
from gridmodl.search import Search
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import price_grid
from gridmodl.search.moves import Limits
from gridmodl.search.pair.intervals import cut_intervals, improve_intervals
from gridmodl.search.pair.merge import merge, merge_path
from gridmodl.search.pair.splits import all_groups, split
from gridmodl.search.pair.state import Pair
from gridmodl.search.pair.transfers import transfer

C, N = "categorical", "numerical"
PROBLEMS = [
    ("joint", (C, C)),
    ("joint", (N, C)),
    ("joint", (C, N)),
    ("joint", (N, N)),
    ("grouped", (C, C)),
    ("grouped", (N, C)),
    ("numerical", (C, N)),
    ("numerical", (N, N)),
]


class Squashed(Criterion):
    """Not a plain sum: it shows that `finish` is honoured."""

    name = "squashed"
    problems = {"joint"}

    @staticmethod
    def variable(p, variable, n_parts):
        return 1.5 * n_parts

    @staticmethod
    def part(p, variable, part):
        return part.rows * math.log(part.rows) + 0.1 * part.values

    @staticmethod
    def cell(p, cell):
        return -cell.rows * math.log(cell.rows)

    @staticmethod
    def finish(p, total, shape):
        return math.sqrt(1000.0 + total) * (1.0 + 0.001 * shape.n_cells)


def load(tiny, grid):
    pair = Pair(tiny.task)
    pair.load(tuple(grid.parts_of(k, pair.n_atoms(k)) for k in (0, 1)))
    pair.price()
    return pair


def cheapest(tiny):
    return min(load(tiny, grid).cost for grid in tiny.grids())


@pytest.mark.parametrize(("problem", "kinds"), PROBLEMS)
def test_price_from_nothing(problem, kinds):
    for seed in range(3):
        tiny = random_pair(seed, problem, kinds)
        grid = tiny.random(seed)
        price = load(tiny, grid).cost
        assert price == pytest.approx(tiny.price(grid), abs=1e-9)
        assert price == pytest.approx(price_grid(tiny.task, grid), abs=1e-9)


@pytest.mark.parametrize(("problem", "kinds"), PROBLEMS)
def test_finds_the_cheapest_of_all_grids(problem, kinds):
    for seed in range(6):
        tiny = random_pair(seed, problem, kinds)
        found = run_pair(tiny.task, Search(), seed + 100)
        assert tiny.is_valid(found.grid)
        assert found.grid.cost == pytest.approx(tiny.price(found.grid), abs=1e-9)
        assert found.grid.cost == pytest.approx(cheapest(tiny), abs=1e-9)
        assert found.null.cost == pytest.approx(tiny.price(make_grid([])), abs=1e-9)


def test_a_criterion_that_is_no_sum():
    for seed in range(4):
        tiny = random_pair(seed, "joint", (N, C), criterion=Squashed())
        found = run_pair(tiny.task, Search(), seed + 100)
        assert found.grid.cost == pytest.approx(tiny.price(found.grid), abs=1e-9)
        assert found.grid.cost == pytest.approx(cheapest(tiny), abs=1e-9)


@pytest.mark.parametrize(
    "limits",
    [
        Limits(2, 1),
        Limits(3, 9),
        Limits(2**62, 12),
        Limits(1, 1),
        [Limits(2, 1), Limits(5, 9)],
        [Limits(9, 8), Limits(3, 1)],
    ],
)
@pytest.mark.parametrize("problem", ["joint", "grouped"])
def test_limits_are_kept(problem, limits):
    for seed in range(6):
        tiny = random_pair(seed, problem, (N, C), max_values=6, limits=limits)
        found = run_pair(tiny.task, Search(keep_optima=50), seed + 100)
        assert all(map(tiny.is_valid, (found.grid, *found.optima)))
        assert found.grid.cost >= cheapest(tiny) - 1e-9
        assert found.grid.cost <= found.null.cost


@pytest.mark.parametrize(("problem", "kinds"), PROBLEMS)
def test_steps_know_the_cost_of_what_they_make(problem, kinds):
    """The deltas of all the moves of a step add up to the difference of two full prices."""
    tiny = random_pair(7, problem, kinds, max_values=12)
    seed = np.array([5], dtype=np.uint64)
    for k in (0, 1):
        pair = load(tiny, tiny.random(k, max_parts=6))
        if kinds[k] == N:
            cut_intervals(pair, k, np.ones(pair.n_parts[k], dtype=bool))
            before = pair.price()
            improve_intervals(pair, k, pair.relaxed)
            assert pair.cost <= before
            continue
        for step in (
            lambda pair=pair, k=k: transfer(pair, k, pair.relaxed, 3),
            lambda pair=pair, k=k: split(pair, k, pair.relaxed, all_groups(pair.n_parts[k]), seed),
            lambda pair=pair, k=k: split(pair, k, pair.relaxed, all_groups(pair.n_parts[k]), seed, forced=True),
            lambda pair=pair, k=k: split(pair, k, pair.relaxed, np.array([[0, 1]]), seed),
            lambda pair=pair: merge(pair, pair.relaxed),
        ):
            step()
            cost = pair.cost
            assert cost == pytest.approx(pair.price(), abs=1e-8)


@pytest.mark.parametrize(("problem", "kinds"), PROBLEMS)
def test_path_of_merges(problem, kinds):
    tiny = random_pair(3, problem, kinds, max_values=9)
    grid = tiny.random(1, max_parts=9)
    path = merge_path(tiny.task, grid)
    labels = [grid.parts_of(k, tiny.task.rows.n_atoms(k)).copy() for k in (0, 1)]
    assert len(path) == sum(labels[k].max() for k in (0, 1))
    for k, stays, goes, cost in path:
        assert stays in labels[k]
        assert goes in labels[k]
        labels[k][labels[k] == goes] = stays
        assert tiny.price(make_grid([(0, labels[0]), (1, labels[1])])) == pytest.approx(cost, abs=1e-8)
    assert all(np.ptp(labels[k]) == 0 for k in (0, 1))


def test_merges_of_whole_parts_count_their_values():
    """A task whose atoms stand for several values each has the costs of the task they come from."""
    (x, y), _ = planted(500, 12, 3, seed=1)
    fine = TinyPair([x, y], (C, C))
    groups = np.arange(12) // 2
    coarse = TinyPair([groups[x], y], (C, C)).task
    facts = fine.task.facts
    rows = coarse.rows._replace(atom_values=np.array([2] * 6 + [1] * 12, dtype=np.int32))
    coarse = type(coarse)(rows, facts, fine.task.p, coarse.criterion, coarse.limits, coarse.holds)
    path = merge_path(coarse, make_grid([(0, np.arange(6)), (1, np.arange(12))]))
    of_fine = merge_path(fine.task, make_grid([(0, groups), (1, np.arange(12))]))
    assert [merge.cost for merge in path] == pytest.approx([merge.cost for merge in of_fine], abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_groups_are_found(seed):
    columns, groups = planted(4000, 60, 4, seed)
    tiny = TinyPair(columns, (C, C))
    found = run_pair(tiny.task, Search(), seed + 100)
    assert found.grid.cost <= price_grid(tiny.task, make_grid([(0, groups[0]), (1, groups[1])])) + 1e-6


def test_same_seed_same_grid():
    columns, _ = planted(2000, 50, 5, seed=4)
    tiny = TinyPair(columns, (C, C))
    first, second = (run_pair(tiny.task, Search(effort=2), 11).grid for _ in range(2))
    assert first.signature() == second.signature()
    assert first.cost == second.cost


def test_a_weight_is_so_many_rows():
    for problem, kinds in (("joint", (C, C)), ("grouped", (N, C))):
        tiny = random_pair(5, problem, kinds, max_values=8)
        columns = [np.repeat(column, tiny.weights) for column in tiny.columns]
        repeated = TinyPair(columns, kinds, problem)
        found, again = (run_pair(some.task, Search(effort=1), 3).grid for some in (tiny, repeated))
        assert found.signature() == again.signature()
        assert found.cost == pytest.approx(again.cost, abs=1e-9)


def test_huge_weights():
    """Cells far beyond any table of prices, and sums beyond 32 bits."""
    x, y = np.repeat(np.arange(6), 6), np.tile(np.arange(6), 6)
    weights = np.where((x < 3) == (y < 3), 4_000_000_000, 1_000_000).astype(np.int64)
    tiny = TinyPair([x, y], (C, C), weights=weights)
    found = run_pair(tiny.task, Search(effort=1), 3)
    assert found.grid.cost == pytest.approx(price_grid(tiny.task, found.grid), rel=1e-12)
    assert [parts.tolist() for parts in found.grid.parts] == [[0, 0, 0, 1, 1, 1]] * 2


def test_one_value_makes_one_cell():
    for kinds in ((C, C), (N, N)):
        tiny = TinyPair([np.zeros(9, dtype=int), np.arange(9)], kinds)
        assert run_pair(tiny.task, Search(), 1).grid.variables == ()


def test_a_search_that_is_stopped_keeps_its_best():
    columns, _ = planted(20_000, 400, 8, seed=2)
    run_pair(TinyPair(columns, (C, C)).task, Search("merge"), 1)  # compiled
    tiny = TinyPair(columns, (C, C), clock=Clock(time_limit=0.02))
    found = run_pair(tiny.task, Search(effort=40), 1)
    assert tiny.task.clock.stopped == "time limit"
    assert found.grid.cost == pytest.approx(price_grid(tiny.task, found.grid), abs=1e-6)


def test_an_interrupted_search_keeps_its_best():
    columns, _ = planted(3000, 60, 4, seed=2)

    def interrupt(improvement):
        raise KeyboardInterrupt

    tiny = TinyPair(columns, (C, C))
    found = run_pair(tiny.task, Search(on_improvement=interrupt), 1)
    assert tiny.task.clock.stopped == "interrupted"
    assert found.grid.cost < found.null.cost


def test_what_a_search_tells():
    columns, _ = planted(3000, 60, 4, seed=2)
    told = []
    found = run_pair(TinyPair(columns, (C, C)).task, Search(keep_optima=3, on_improvement=told.append), 1)
    assert [t.cost for t in told] == sorted((t.cost for t in told), reverse=True)
    assert told[-1].cost == found.grid.cost == found.optima[0].cost
    assert 1 <= len(found.optima) <= 3
    assert found.singles == (found.null, found.null)
    assert found.kind == "vns"
    assert found.n_rounds > 0


def test_kinds_of_search():
    tiny = random_pair(2, "joint", (N, C))
    assert run_pair(tiny.task, Search("merge"), 1).n_rounds == 0
    assert run_pair(tiny.task, Search(effort=0), 1).n_rounds == 0
    assert run_engine(tiny.task, Search("algorithm3", effort=1), 1, 1).kind == "algorithm3"
    with pytest.raises(ValueError, match=r"'exact'.*'vns'"):
        run_pair(tiny.task, Search("exact"), 1)
    with pytest.raises(ValueError, match=r"'algorithm3'.*'auto'"):
        run_engine(random_pair(2, "grouped", (N, C)).task, Search("algorithm3"), 1, 1)
