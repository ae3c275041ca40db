"""Post-optimization of a grid: all variables in turn, the others frozen."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.tiny_grids import post_optimize, random_problem

from gridmodl.search.grid.improve import improve_state
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker


@pytest.mark.parametrize("name", ["modl", "bic"])
@pytest.mark.parametrize("shifts_only", [False, True])
def test_what_the_kernel_adds_up_is_the_price_of_its_grid(name, shifts_only):
    for seed in range(30):
        problem = random_problem(seed, name, weighted=seed % 2 == 1)
        worker = Worker(problem.task)
        for start in (problem.random(seed), problem.random(seed + 100, max_parts=3), make_grid([])):
            cost = worker.load(start)
            improve_state(worker, np.arange(4), shifts_only=shifts_only)
            kept = float(worker.state.now[0].cost)
            found = worker.grid()
            assert problem.is_valid(found)
            assert found.cost <= cost + 1e-9
            assert found.cost == pytest.approx(kept, rel=1e-11, abs=1e-9)
            assert found.cost == pytest.approx(problem.price(found), rel=1e-11, abs=1e-9)
            if shifts_only:
                assert set(found.variables) <= set(start.variables)
            assert not worker.buffers.left.any()
            assert not worker.buffers.right.any()


def test_post_optimization_lets_variables_in():
    problem = random_problem(1, n_rows=200)
    found = post_optimize(problem.task, make_grid([], problem.price(make_grid([]))))
    assert len(found.variables) > 0
