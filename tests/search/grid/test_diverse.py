"""Many different grids: more of them than neighbours of one grid are, each at its true cost."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.tiny_grids import TinyGrid, random_problem, run_engine, run_grid
from oracles.tiny_pairs import random_pair

from gridmodl.search import Search
from gridmodl.search.grid.starts import null_grid
from gridmodl.search.grid.state import Worker
from gridmodl.search.grid.vns import local_optimum


def alike(n_rows=200, n_columns=8, seed=0):
    """Columns of which each tells about as much as any other."""
    rng = np.random.default_rng(seed)
    signal = rng.integers(0, 100, n_rows)
    columns = [signal + rng.integers(0, 80, n_rows) for _ in range(n_columns)]
    return TinyGrid(columns, ["numerical"] * n_columns, signal // 34)


def optima(problem, kind, effort, **options):
    return run_grid(problem.task, Search(kind, effort=effort, keep_optima=1000), random_state=1, **options).optima


def test_it_finds_more_distinct_grids_than_vns():
    problem = alike()
    assert len(optima(problem, "diverse", 6)) > 2 * len(optima(problem, "vns", 6))


def test_each_has_its_true_cost_and_they_are_sorted():
    problem = alike()
    found = optima(problem, "diverse", 4)
    assert len({grid.signature() for grid in found}) == len(found) > 1
    for grid in found:
        assert grid.cost == pytest.approx(problem.price(grid), rel=1e-12, abs=1e-9)
    assert [grid.cost for grid in found] == sorted(grid.cost for grid in found)


def test_a_round_uses_no_other_variable_than_the_chosen_ones():
    problem = alike()
    worker = Worker(problem.task)
    null = null_grid(worker)
    for seed, chosen in enumerate([[0], [1, 2], [3, 5, 7]]):
        grid = local_optimum(worker, null, 0.5, False, seed, np.array(chosen))
        assert grid.variables
        assert set(grid.variables) <= set(chosen)


def test_it_stops_where_there_are_no_more_grids():
    rounds = []
    for columns in (1, 8):  # one column, where there is one optimum, and several alike
        problem = alike(n_columns=columns)
        rounds.append(run_grid(problem.task, Search("diverse", effort=8, keep_optima=1000), random_state=1).n_rounds)
    assert rounds[0] == 63
    assert rounds[1] == 2**9 - 1
    assert run_grid(alike(n_columns=1).task, Search("diverse", effort=6), random_state=1).n_rounds == 127  # none kept


def test_it_needs_classes():
    columns = random_problem(0).columns
    problem = TinyGrid(columns, ["numerical"] * len(columns), np.zeros(len(columns[0])))
    assert run_grid(problem.task, Search("diverse", effort=1), random_state=0).grid.variables == ()
    task = random_pair(2, "joint", ("numerical", "categorical")).task
    for engine in (run_engine, run_grid):
        with pytest.raises(ValueError, match="'diverse'"):
            engine(task, Search("diverse"), 1, 1)
