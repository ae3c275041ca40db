"""Merges of a grid: of any variable, greedy or down to one cell."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles.tiny_grids import exhaustive_merge, greedy_merge, random_problem

from gridmodl.search.grid.merge import merge_state
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker


def merges_of(problem, grid):
    """Every grid that is one merge away."""
    for place, k in enumerate(grid.variables):
        labels, n = grid.parts[place], grid.shape[place]
        any_two = problem.kinds[k] == "categorical"
        for i, j in itertools.combinations(range(n), 2) if any_two else itertools.pairwise(range(n)):
            others = [(v, parts) for v, parts in zip(grid.variables, grid.parts, strict=True) if v != k]
            yield make_grid([*others, (k, np.where(labels == j, i, labels))])


def slow_merge(problem, grid, is_greedy):
    """The same by full prices; the cost of the best grid met."""
    best = cost = problem.price(grid)
    while grid.variables:
        grid, cost = min(((merged, problem.price(merged)) for merged in merges_of(problem, grid)), key=lambda x: x[1])
        if is_greedy and cost >= best:
            return best
        best = min(best, cost)
    return best


@pytest.mark.parametrize("name", ["modl", "bic"])
@pytest.mark.parametrize("merge", [greedy_merge, exhaustive_merge])
def test_merges_are_those_of_full_prices(name, merge):
    for seed in range(25):
        problem = random_problem(seed, name, n_rows=40, weighted=seed % 2 == 1)
        worker = Worker(problem.task)
        for start in (problem.random(seed), problem.random(seed + 100, max_parts=8)):
            found = merge(problem.task, start, worker)
            assert problem.is_valid(found)
            assert found.cost == pytest.approx(slow_merge(problem, start, merge is greedy_merge), rel=1e-11, abs=1e-9)
            assert not worker.buffers.left.any()
            assert not worker.buffers.left_rows.any()


def test_what_the_kernel_adds_up_is_the_price_of_its_grid():
    for seed in range(20):
        problem = random_problem(seed, n_rows=300, n_columns=6)
        worker = Worker(problem.task)
        worker.load(problem.random(seed, max_parts=14))
        merge_state(worker)
        assert worker.grid().cost == pytest.approx(worker.merge.now[0].best_cost, rel=1e-10)
