"""How typical values are of their groups, against differences of full prices."""

from __future__ import annotations

import numpy as np
import pytest

from gridmodl.data.atoms import Target
from gridmodl.data.columns import Categories
from gridmodl.data.numbers import Numbers
from gridmodl.plugins import criterion_for
from gridmodl.search.grid import typical
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker, make_task
from gridmodl.search.grid.typical import typicality
from gridmodl.search.moves import Limits


def slow_typicality(task, grid, k):
    """By the full price of the grid after each transfer."""
    worker = Worker(task)
    cost, groups = worker.load(grid), grid.parts_of(k, task.rows.n_atoms(k))
    others = [(v, parts) for v, parts in zip(grid.variables, grid.parts, strict=True) if v != k]
    found = []
    for v in range(len(groups)):
        moved = [np.where(np.arange(len(groups)) == v, g, groups) for g in range(groups.max() + 1) if g != groups[v]]
        found.append(min((worker.load(make_grid([*others, (k, labels)])) for labels in moved), default=cost) - cost)
    return np.array(found)


def random_task(seed, kind, n=80):
    rng = np.random.default_rng(seed)
    a = np.append(np.arange(7), rng.integers(0, 7, n - 7))
    c = np.append(np.arange(6), rng.integers(0, 6, n - 6))
    b = Numbers("b", rng.integers(0, 9, n).astype(float), None, np.dtype(float))
    a, c = Categories("a", list(range(7)), a.astype(np.int32)), Categories("c", list(range(6)), c.astype(np.int32))
    columns = {"joint": [a, b, c], "grid": [a, b, c], "grouped": [(a, b)[seed % 2], c], "numerical": [a, b]}[kind]
    codes, n_classes = (rng.integers(0, 3, n), 3) if kind == "grid" else (np.zeros(n), 1)
    weights = rng.integers(1, 9, n) if seed % 3 == 0 else None
    target = Target(codes.astype(np.int32), weights, n_classes)
    task = make_task(columns, target, criterion_for("modl", kind), [Limits(2**62, 1)] * len(columns), kind=kind)
    parts = []
    for k, column in enumerate(columns):
        labels = rng.integers(0, (2, 4, 6)[seed % 3], task.rows.n_atoms(k))
        parts.append((k, labels if isinstance(column, Categories) else np.sort(labels)))
    return task, make_grid(parts)


@pytest.mark.parametrize("kind", ["joint", "grid", "grouped", "numerical"])
@pytest.mark.parametrize("max_bytes", [2**28, 1])
def test_it_is_the_difference_of_full_prices(monkeypatch, kind, max_bytes):
    monkeypatch.setattr(typical, "MAX_BYTES", max_bytes)  # 1: each group is a block of its own
    for seed in range(6):
        task, grid = random_task(seed, kind)
        for k in np.flatnonzero(task.facts.categorical).tolist():
            found = typicality(task, grid, k)
            assert found == pytest.approx(slow_typicality(task, grid, k), abs=1e-9)
            assert np.all(np.isfinite(found))


def test_values_of_one_group_are_all_alike():
    task, _ = random_task(0, "joint")
    assert typicality(task, make_grid([]), 0).tolist() == [0.0] * 7
