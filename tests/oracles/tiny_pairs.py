"""Small problems of two variables, their slow price, and all their grids."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from oracles import naive
from oracles.tiny_grids import NO_LIMITS, encoded, plain_columns

from gridmodl.clock import Clock
from gridmodl.data.atoms import Target
from gridmodl.plugins import criterion_for
from gridmodl.search import run
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import make_task


def run_pair(task, search, random_state=None):
    """The engine of pairs."""
    return run("pair", replace(task, random_state=random_state), search)


class TinyPair:
    """Two columns of whole numbers, which kinds they are, and the problem: the second may be a target."""

    def __init__(self, columns, kinds, problem="joint", criterion="modl", limits=NO_LIMITS, weights=None, clock=None):
        self.columns, self.kinds, self.problem = [np.asarray(column) for column in columns], kinds, problem
        self.criterion = criterion_for(criterion, problem) if isinstance(criterion, str) else criterion
        self.limits, self.weights = limits if isinstance(limits, list) else [limits] * 2, weights
        target = Target(np.zeros(len(self.columns[0]), dtype=np.int32), weights, 1)
        self.task = make_task(
            list(map(encoded, self.columns, kinds)),
            target,
            self.criterion,
            self.limits,
            clock or Clock(),
            kind=problem,
        )

    def price(self, grid):
        """By the plain terms, from the rows up; a row counts as often as its weight says."""
        columns, _ = plain_columns(grid, self.columns, self.kinds, self.weights)
        columns[1].is_target = self.problem != "joint"
        return naive.price(self.criterion, self.problem, columns)

    def partitions(self, k):
        """Every partition of variable k that keeps the limits, as labels of its atoms."""
        rows = self.task.rows.rows_of_atoms(k)
        every = groupings(len(rows)) if self.kinds[k] == "categorical" else cuttings(len(rows))
        for labels in every:
            sizes = np.bincount(labels, rows)
            if len(sizes) == 1 or (len(sizes) <= self.limits[k].max_parts and sizes.min() >= self.limits[k].min_rows):
                yield labels

    def random(self, seed, max_parts=4):
        """Any grid, whatever its cost."""
        rng = np.random.default_rng(seed)
        parts = []
        for k, kind in enumerate(self.kinds):
            labels = rng.integers(0, rng.integers(1, max_parts + 1), self.task.rows.n_atoms(k))
            parts.append((k, labels if kind == "categorical" else np.sort(labels)))
        return make_grid(parts)

    def grids(self):
        for labels, others in itertools.product(self.partitions(0), list(self.partitions(1))):
            yield make_grid([(0, labels), (1, others)])

    def is_valid(self, grid):
        """Parts are numbered without gaps, those of numerical variables are intervals, and the limits are kept."""
        for k, parts, n_parts in zip(grid.variables, grid.parts, grid.shape, strict=True):
            sizes = np.bincount(parts, self.task.rows.rows_of_atoms(k), n_parts)
            in_order = self.kinds[k] == "categorical" or np.all(np.diff(parts) >= 0)
            if not in_order or n_parts < 2 or n_parts > self.limits[k].max_parts:
                return False
            if sizes.min() < self.limits[k].min_rows:
                return False
        return True


def groupings(n):
    """All ways to put n values into groups."""

    def rest(labels, n_groups):
        if len(labels) == n:
            yield np.array(labels)
            return
        for g in range(n_groups + 1):
            yield from rest([*labels, g], max(n_groups, g + 1))

    yield from rest([], 0)


def cuttings(n):
    """All ways to cut n values into intervals."""
    for cuts in itertools.product((0, 1), repeat=n - 1):
        yield np.cumsum((0, *cuts))


def random_pair(seed, problem, kinds, max_values=5, **options):
    """Two columns of which the second depends on the first."""
    rng = np.random.default_rng(seed)
    n, n_0, n_1 = int(rng.integers(20, 60)), int(rng.integers(2, max_values + 1)), int(rng.integers(2, max_values + 1))
    x = rng.integers(0, n_0, n)
    y = np.where(rng.random(n) < 0.7, x * n_1 // n_0, rng.integers(0, n_1, n))
    weights = rng.integers(1, 4, n).astype(np.int64) if seed % 2 else None
    return TinyPair([x, y], kinds, problem, weights=weights, **options)


def planted(n_rows, n_values, n_blocks, seed):
    """Two columns of values in hidden groups, and these."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_blocks, (2, n_values))
    share = rng.random((n_blocks, n_blocks)) ** 4
    weights = share[groups[0]][:, groups[1]].ravel()
    cells = rng.choice(n_values**2, n_rows, p=weights / weights.sum())
    columns = cells // n_values, cells % n_values
    return columns, [groups[k][np.unique(columns[k])] for k in (0, 1)]
