"""Joint grids of two categorical variables against the plain local search of `naive_joint`."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import naive, naive_joint

import gridmodl
from gridmodl.criteria.modl_joint import ModlJoint


def make_pair(seed, n_rows=300, n_values=(8, 7), n_groups=3):
    """Two columns of texts whose values fall into planted groups; rows fall into the cells of these unevenly."""
    rng = np.random.default_rng([73, seed])
    first, second = (rng.integers(0, n_groups, n) for n in n_values)
    weights = (rng.random((n_groups, n_groups)) ** 4)[first][:, second].ravel()
    rows = rng.choice(len(weights), n_rows, p=weights / weights.sum())
    return {
        "first": np.array(list("abcdefgh"))[rows // n_values[1]],
        "second": np.array(list("tuvwxyz"))[rows % n_values[1]],
    }


def test_the_plain_price_is_that_of_the_terms():
    rng = np.random.default_rng(4)
    columns = make_pair(0)
    codes = [np.unique(column, return_inverse=True)[1] for column in columns.values()]
    table = naive_joint.table_of(*columns.values())
    for _ in range(20):
        groups = [rng.integers(0, 4, n) for n in table.shape]
        grid = [
            naive.Column(values, groups[k][codes[k]], categorical=True) for k, values in enumerate(columns.values())
        ]
        assert naive_joint.price(table, *groups) == pytest.approx(naive.price(ModlJoint(), "joint", grid))


@pytest.mark.parametrize("seed", range(6))
def test_no_restart_of_a_plain_local_search_is_cheaper(seed):
    columns = make_pair(seed)
    cost, grid, _ = naive_joint.best_of_restarts(naive_joint.table_of(*columns.values()), 10, seed)
    assert grid[0].shape == (len(set(columns["first"])),)
    assert gridmodl.optimize(columns, random_state=seed).cost <= cost + 1e-6
