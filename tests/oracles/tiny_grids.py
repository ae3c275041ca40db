"""Small random problems of many variables, numerical and categorical, and the slow price of a grid over them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracles import naive

from gridmodl import get_criterion
from gridmodl.data.atoms import Target
from gridmodl.data.columns import Categories
from gridmodl.data.numbers import Numbers
from gridmodl.fit import grid as fit
from gridmodl.plugins import criterion_for
from gridmodl.search import run
from gridmodl.search.grid.improve import improve_state, pre_optimize_state
from gridmodl.search.grid.merge import merge_state
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker, make_task
from gridmodl.search.moves import Limits

NO_LIMITS = Limits(2**62, 1)


def run_grid(task, search, n_jobs=1, random_state=None):
    """The engine of grids."""
    return run("grid", replace(task, n_jobs=n_jobs, random_state=random_state), search)


def run_engine(task, search, n_jobs=1, random_state=None):
    """The engine that suits."""
    return fit.run_engine(replace(task, n_jobs=n_jobs, random_state=random_state), search)


# Steps of the engine, each alone: the grid that it leads to, or its start if that is not more expensive.


def _after(step, task, grid, worker):
    worker = Worker(task) if worker is None else worker
    cost = worker.load(grid)
    step(worker)
    found = worker.grid()
    return found if found.cost < cost else grid._replace(cost=cost)


def greedy_merge(task, grid, worker=None):
    return _after(lambda worker: merge_state(worker, is_greedy=True), task, grid, worker)


def exhaustive_merge(task, grid, worker=None):
    return _after(merge_state, task, grid, worker)


def pre_optimize(task, grid, worker=None):
    return _after(pre_optimize_state, task, grid, worker)


def post_optimize(task, grid, worker=None):
    return _after(lambda worker: improve_state(worker, np.arange(task.n_variables)), task, grid, worker)


def encoded(column, kind):
    """A column of small whole numbers; below 0 a numerical one is missing."""
    if kind == "categorical":
        values, codes = np.unique(column, return_inverse=True)
        return Categories("x", values.tolist(), codes.astype(np.int32))
    missing = column < 0
    return Numbers("x", column.astype(float), missing if missing.any() else None, np.dtype(float))


def plain_columns(grid, columns, kinds, weights):
    """The columns for `naive.price`, each row as often as its weight says; and how often that is."""
    times = np.ones(len(columns[0]), dtype=int) if weights is None else weights
    plain = []
    for k, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        values, atoms = np.unique(column, return_inverse=True)
        rows = (np.repeat(of_rows, times).tolist() for of_rows in (column, grid.parts_of(k, len(values))[atoms]))
        plain.append(naive.Column(*rows, categorical=kind == "categorical"))
    return plain, times


class TinyGrid:
    """Columns of small whole numbers (-1: missing), which kinds they are, and the classes of the rows."""

    def __init__(self, columns, kinds, classes, name="modl", limits=NO_LIMITS, weights=None, **options):
        self.columns, self.kinds = [np.asarray(column) for column in columns], kinds
        self.classes, self.weights = np.asarray(classes), weights
        criterion = get_criterion(name, **options) if options else name
        self.criterion = criterion_for(criterion, "grid")
        self.limits = limits

    @property
    def all_limits(self):
        """Limits of each column; `limits` may be those of all."""
        return self.limits if isinstance(self.limits, list) else [self.limits] * len(self.columns)

    @property
    def task(self):
        _, codes = np.unique(self.classes, return_inverse=True)
        target = Target(codes.astype(np.int32), self.weights, int(codes.max()) + 1)
        return make_task(list(map(encoded, self.columns, self.kinds)), target, self.criterion, self.all_limits)

    def price(self, grid):
        """By the plain terms, from the rows up; a row counts as often as its weight says."""
        columns, times = plain_columns(grid, self.columns, self.kinds, self.weights)
        return naive.price(self.criterion, "grid", columns, np.repeat(self.classes, times).tolist())

    def random(self, seed, max_parts=4):
        """Any grid, whatever its cost."""
        rng = np.random.default_rng(seed)
        parts = []
        for k, (column, kind) in enumerate(zip(self.columns, self.kinds, strict=True)):
            n, n_parts = len(np.unique(column)), int(rng.integers(1, max_parts + 1))
            labels = rng.integers(0, n_parts, n)
            parts.append((k, labels if kind == "categorical" else np.sort(labels)))
        return make_grid(parts)

    def keeps_limits(self, grid):
        weights = np.ones(len(self.classes)) if self.weights is None else self.weights
        for k, parts, n_parts in zip(grid.variables, grid.parts, grid.shape, strict=True):
            atoms = np.unique(self.columns[k], return_inverse=True)[1]
            rows = np.bincount(parts[atoms], weights, n_parts)
            if n_parts > self.all_limits[k].max_parts or rows.min() < self.all_limits[k].min_rows:
                return False
        return True

    def is_valid(self, grid):
        """Parts are numbered without gaps, and those of numerical variables are intervals."""
        return all(
            set(parts.tolist()) == set(range(n_parts))
            and n_parts > 1
            and (self.kinds[k] == "categorical" or np.all(np.diff(parts) >= 0))
            for k, parts, n_parts in zip(grid.variables, grid.parts, grid.shape, strict=True)
        )


def random_problem(seed, name="modl", n_rows=60, n_columns=4, n_classes=None, limits=NO_LIMITS, weighted=False):
    """Columns of all kinds; the class depends on some of them."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["numerical", "categorical"], n_columns).tolist()
    columns = [rng.integers(-1, rng.integers(2, 14), n_rows) for _ in range(n_columns)]
    n_classes = n_classes or int(rng.integers(2, 5))
    signal = (columns[0] > 3).astype(int) + (columns[-1] % 3 == 0)
    classes = np.where(rng.random(n_rows) < 0.8, signal, rng.integers(0, n_classes, n_rows)) % n_classes
    classes[:n_classes] = np.arange(n_classes)
    weights = rng.integers(1, 4, n_rows).astype(np.int64) if weighted else None
    return TinyGrid(columns, kinds, classes, name, limits, weights)


def random_mixed(seed, n=40):
    """Columns of all kinds with missing values, weights, and a partition of each, parts without rows among them."""
    rng = np.random.default_rng(seed)
    frame, partitions, columns = {}, {}, []
    weights = rng.integers(1, 4, n) if seed % 2 else None
    times = np.ones(n, dtype=int) if weights is None else weights
    for k in range(rng.integers(2, 5)):
        if rng.random() < 0.5:
            values = rng.integers(0, 8, n).astype(float)
            bounds = np.unique(rng.integers(-2, 10, rng.integers(0, 4)) + 0.5).tolist()
            if rng.random() < 0.5:
                values[rng.random(n) < 0.2] = np.nan
                bounds = [np.nan, *bounds] if rng.random() < 0.5 else bounds
            partitions[f"x{k}"] = bounds
            parts = naive.cut(values.tolist(), bounds)
            shown = np.where(np.isnan(values), -1, values).tolist()  # one value, whereas NaN differs from NaN
        else:
            values = rng.choice(np.array([*"abcdefg", None], dtype=object), n)
            known = [*sorted(set(values.tolist()), key=str), "never", "nowhere"]
            group_of = rng.integers(0, 4, len(known))
            groups = [[v for v, g in zip(known, group_of, strict=True) if g == i] for i in set(group_of.tolist())]
            partitions[f"x{k}"] = groups
            parts, shown = naive.group(values.tolist(), groups), values.tolist()
        frame[f"x{k}"] = values
        columns.append((shown, parts, values.dtype == object))
    target = rng.integers(0, 3, n)
    target[:3] = [0, 1, 2]
    repeated = [
        naive.Column(
            [v for v, t in zip(shown, times, strict=True) for _ in range(t)], np.repeat(parts, times).tolist(),
            categorical=is_categorical,
        )
        for shown, parts, is_categorical in columns
    ]  # fmt: skip
    return frame, partitions, repeated, target, weights, np.repeat(target, times).tolist()
