"""The price of a grid of many variables, from nothing."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.tiny_grids import random_problem

from gridmodl.criteria.modl import ModlGrid
from gridmodl.data.atoms import Target
from gridmodl.data.columns import Categories
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker, make_task, price_grid
from gridmodl.search.moves import Limits

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


# Kernels read limits and codes without looking at lengths: what is too short is refused at the door.


def columns_of(n_columns, n_rows=6):
    codes = np.arange(n_rows, dtype=np.int32) % 2
    return [Categories(f"x{k}", ["a", "b"], codes) for k in range(n_columns)], Target(codes, None, 2)


@pytest.mark.parametrize("limits", [Limits(6, 1), [], [Limits(6, 1)], [Limits(6, 1)] * 3], ids=str)
def test_limits_are_one_for_each_column(limits):
    columns, target = columns_of(2)
    with pytest.raises(ValueError, match="limits must be one Limits for each of the 2 columns, got"):
        make_task(columns, target, ModlGrid(), limits)


def test_columns_have_the_rows_of_the_target():
    columns, target = columns_of(2)
    short = columns[1]._replace(codes=columns[1].codes[:4])
    with pytest.raises(ValueError, match=r"columns must have the 6 rows of the target, got \[6, 4\]"):
        make_task([columns[0], short], target, ModlGrid(), [Limits(6, 1)] * 2)
