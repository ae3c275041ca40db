"""The price of a grid of many variables, from nothing."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.tiny_grids import random_problem

from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker, price_grid

NAMES = ("modl", "aic", "bic", "gini", "entropy")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_price_is_that_of_the_plain_terms(name, weighted):
    for seed in range(10):
        problem = random_problem(seed, name, weighted=weighted)
        worker = Worker(problem.task)  # used again: nothing of the last grid may be left
        for grid in [make_grid([]), problem.random(seed), problem.random(seed + 1, max_parts=9)]:
            cost = worker.load(grid)
            assert cost == pytest.approx(problem.price(grid), rel=1e-12, abs=1e-9)
            assert cost == price_grid(problem.task, grid)
            assert worker.grid().signature() == grid.signature()


def test_rows_are_ranked_with_missing_values_first():
    problem = random_problem(3)
    rows = problem.task.rows
    for k, column in enumerate(problem.columns):
        assert np.array_equal(rows.atom[k], np.unique(column, return_inverse=True)[1])
        assert np.all(np.diff(rows.atom[k][rows.order[k]]) >= 0)
        assert rows.rows_of_atoms(k).tolist() == np.unique(column, return_counts=True)[1].tolist()
