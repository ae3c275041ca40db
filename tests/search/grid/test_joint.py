"""Joint grids of three variables and more: no classes, one count to a cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles import naive
from oracles.tiny_grids import NO_LIMITS, run_grid

from gridmodl.clock import Clock
from gridmodl.data.atoms import Atoms, Target
from gridmodl.data.columns import Categories
from gridmodl.data.numbers import Numbers
from gridmodl.plugins import criterion_for
from gridmodl.search import Search
from gridmodl.search.grid.groups import lean_of_profiles
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.starts import pair_grid, pair_task, pairs_of
from gridmodl.search.grid.state import make_task, price_grid
from gridmodl.search.moves import Limits

MODL = criterion_for("modl", "joint")


class Planted:
    """Rows of a few kinds: most variables tell of the kind, the others are noise. `labels` are the planted parts."""

    def __init__(self, seed, n_rows, kinds, n_noise=0, n_kinds=3, n_values=12, strength=0.85):
        rng = np.random.default_rng(seed + 5000)
        self.n_rows, self.columns, self.labels = n_rows, [], []
        kind_of_row = rng.integers(0, n_kinds, n_rows)
        for i, kind in enumerate([*kinds, *("nc"[i % 2] for i in range(n_noise))]):
            told = np.where(rng.random(n_rows) < strength, rng.permutation(n_kinds)[kind_of_row], -1)
            told = told if i < len(kinds) else np.full(n_rows, -1)
            part = np.where(told < 0, rng.integers(0, n_kinds, n_rows), told)
            if kind == "n":
                values = part + rng.random(n_rows)
                self.columns.append(Numbers("n", values, None, np.dtype(float)))
                labels = np.sort(part)
            else:
                of_value = rng.permutation(np.arange(n_values) % n_kinds)
                choice = [rng.choice(np.flatnonzero(of_value == g)) for g in part]
                values, codes = np.unique(choice, return_inverse=True)
                self.columns.append(Categories("c", values.tolist(), codes.astype(np.int32)))
                labels = of_value[values]
            self.labels.append(labels if i < len(kinds) else np.zeros_like(labels))

    def task(self, limits=NO_LIMITS, weights=None, clock=None):
        target = Target(np.zeros(self.n_rows, dtype=np.int32), weights, 1)
        return make_task(self.columns, target, MODL, [limits] * len(self.columns), clock, "joint")

    @property
    def planted(self):
        return make_grid(list(enumerate(self.labels)))

    def price(self, task, grid, weights=None):
        times = np.ones(self.n_rows, dtype=int) if weights is None else weights
        columns = []
        for k, column in enumerate(self.columns):
            parts = grid.parts_of(k, task.rows.n_atoms(k))[task.rows.atom[k]]
            columns.append(
                naive.Column(
                    np.repeat(task.rows.atom[k], times).tolist(),
                    np.repeat(parts, times).tolist(),
                    categorical=isinstance(column, Categories),
                )
            )
        return naive.price(MODL, "joint", columns)


@pytest.mark.parametrize(("kinds", "n_noise"), [("ncc", 1), ("ncncn", 2), ("ccc", 2)])
def test_what_was_planted_is_found(kinds, n_noise):
    for seed in range(3):
        data = Planted(seed, 600, kinds, n_noise)
        task = data.task()
        found = run_grid(task, Search(effort=3), random_state=seed)
        assert found.grid.cost <= price_grid(task, data.planted) + 1e-6
        assert found.grid.cost == pytest.approx(data.price(task, found.grid), rel=1e-12)
        assert max(found.grid.variables) < len(kinds)


def test_sparse_values_are_found_by_pairs():
    """Twenty rows a value: random groups of them all look alike."""
    data = Planted(0, 4000, "ccc", 1, n_kinds=4, n_values=200, strength=0.7)
    task = data.task()
    assert run_grid(task, Search("merge"), random_state=1).grid.cost <= price_grid(task, data.planted) + 1e-6


def test_noise_stays_noise():
    for seed in range(4):
        data = Planted(seed, 400, "", 5)
        assert run_grid(data.task(), Search(effort=3), random_state=seed).grid.variables == ()


def test_weights_are_rows():
    weights = np.random.default_rng(0).integers(1, 4, 300)
    data = Planted(1, 300, "ncc")
    task = data.task(weights=weights)
    found = run_grid(task, Search(effort=2), random_state=0).grid
    assert found.cost <= price_grid(task, data.planted) + 1e-6
    assert found.cost == pytest.approx(data.price(task, found, weights), rel=1e-12)


@pytest.mark.parametrize("limits", [Limits(2, 1), Limits(3, 60), Limits(1, 1), Limits(2**62, 1000)])
def test_limits_hold(limits):
    data = Planted(2, 500, "ncc", 1, n_kinds=5)
    task = data.task(limits)
    found = run_grid(task, Search(effort=2, keep_optima=20), random_state=0)
    for grid in (found.grid, *found.optima):
        for k, parts, n_parts in zip(grid.variables, grid.parts, grid.shape, strict=True):
            assert n_parts <= limits.max_parts
            assert np.bincount(parts, task.rows.rows_of_atoms(k)).min() >= limits.min_rows
    assert (limits.max_parts == 1 or limits.min_rows > 500) == (found.grid.variables == ())


def test_the_same_seed_gives_the_same_bits_with_any_number_of_threads():
    task = Planted(3, 500, "ncnc", 1).task()
    runs = [run_grid(task, Search(effort=3, keep_optima=5), n_jobs, 7) for n_jobs in (1, 2, 1)]
    for other in runs[1:]:
        assert other.grid.signature() == runs[0].grid.signature()
        assert other.grid.cost == runs[0].grid.cost
        assert [grid.signature() for grid in other.optima] == [grid.signature() for grid in runs[0].optima]


def test_a_stopped_search_keeps_the_best():
    data = Planted(4, 3000, "ncncnc", 2)
    task = data.task()
    run_grid(task, Search(effort=0))  # compiled before the clock runs
    for seconds in (0.0, 0.2):
        clock = Clock(time_limit=seconds)
        found = run_grid(replace(task, clock=clock), Search(effort=30), 2, 0)
        assert clock.stopped == "time limit"
        assert clock.elapsed < seconds + 3.0
        assert found.grid.cost <= found.null.cost
        assert found.grid.cost == pytest.approx(price_grid(task, found.grid), rel=1e-12)


def test_two_variables_of_many_are_a_task_of_their_own():
    data = Planted(5, 400, "ncnc")
    task = data.task()
    null = price_grid(task, make_grid([]))
    for i, j in pairs_of(4):
        found = pair_grid(task, i, j, seed=3)
        assert set(found.variables) <= {i, j}
        assert null + found.cost == pytest.approx(price_grid(task, found), rel=1e-12)
        two = pair_task(task, i, j)
        assert np.array_equal(two.rows.atom, task.rows.atom[[i, j]])
        assert [two.facts.variable(0).n_values, two.facts.variable(1).n_values] == task.facts.n_values[[i, j]].tolist()


def test_of_many_variables_each_meets_some_others():
    assert len(pairs_of(10)) == len(set(pairs_of(10))) == 45
    assert pairs_of(2) == [(0, 1)]
    many = pairs_of(100)
    assert len(set(many)) == len(many) == 100
    assert {k for pair in many for k in pair} == set(range(100))


def test_values_of_a_group_are_told_apart_by_their_profiles():
    """Even values have their rows in some frozen cells, odd ones in others."""
    rng = np.random.default_rng(0)
    shares = np.array([[0.6, 0.3, 0.1, 0.0], [0.1, 0.1, 0.3, 0.5]])
    rows = np.array([rng.multinomial(40 + v, shares[v % 2]) for v in range(10)])
    value, cell = np.nonzero(rows)
    counts = rows[value, cell]
    first = np.searchsorted(value, np.arange(11))
    atoms = Atoms(first, cell, counts[:, None], counts, np.ones(10, dtype=np.int32))
    lean, place, total_rows = np.zeros(10), np.zeros((4, 1)), np.zeros(4, dtype=np.int64)
    lean_of_profiles(atoms, np.arange(10), 0, 10, lean, place, total_rows)
    even, odd = lean[::2], lean[1::2]
    assert even.max() < odd.min() or odd.max() < even.min()
    assert not total_rows.any()
    assert np.sum(lean * rows.sum(axis=1)) == pytest.approx(0, abs=1e-9)
