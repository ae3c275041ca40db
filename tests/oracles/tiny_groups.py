"""Small tasks with a categorical variable, also with other variables frozen; and a slow way to price its groupings."""

from __future__ import annotations

import numpy as np
from oracles.tiny import NO_LIMITS, Tiny

from gridmodl.pricing import categorical_values, variable_of
from gridmodl.search.task import Task
from gridmodl.terms import Cell, Part, Problem, Shape


class TinyGroups(Tiny):
    """Rows by value, frozen cell and class; or by value and class."""

    def __init__(self, counts, name="modl", limits=NO_LIMITS):
        counts = np.asarray(counts)
        super().__init__(counts if counts.ndim == 3 else counts[:, None, :], name, limits)
        self.values = np.ones(len(counts), dtype=np.int32)
        class_rows = self.counts.sum(axis=(0, 1))
        problem = Problem("classes", int(class_rows.sum()), 1, class_rows)
        values = categorical_values(self.counts.sum(axis=(1, 2)))
        self.setting = self.setting._replace(variable=variable_of(self.criterion, problem, values))
        self.task = Task(self._atoms(), self.setting, type(self.criterion), limits)

    def price(self, groups):
        p, variable, frozen = self.setting
        names = np.unique(groups)
        shape = Shape(frozen.n_variables, frozen.n_informative + (len(names) > 1), frozen.n_cells * len(names))
        total = self.criterion.grid(p, shape) + self.criterion.variable(p, variable, len(names)) + frozen.price
        for name in names:
            cells = self.counts[groups == name].sum(axis=0)
            part = Part(int(cells.sum()), int((groups == name).sum()))
            total += self.criterion.part(p, variable, part)
            total += sum(self.criterion.cell(p, Cell(c.tolist(), int(c.sum()), 0)) for c in cells if c.any())
        return self.criterion.finish(p, total, shape)

    def keeps_limits(self, groups):
        rows = np.bincount(groups, self.counts.sum(axis=(1, 2)))
        return len(rows) == 1 or (len(rows) <= self.task.limits.max_parts and rows.min() >= self.task.limits.min_rows)

    def all_groups(self):
        """Every grouping that keeps the limits."""
        groupings = [()]
        for _ in range(len(self.counts)):
            groupings = [(*groups, group) for groups in groupings for group in range(max(groups, default=-1) + 2)]
        yield from filter(self.keeps_limits, map(np.array, groupings))

    def lowest(self):
        return min(self.price(groups) for groups in self.all_groups())


def random_groups(seed, n_cells=1, name="modl", n_values=6, n_classes=3, limits=NO_LIMITS):
    """Values without order: few rows, ties, pure values, cells without rows."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, (n_values, n_cells, n_classes)) * (rng.random((n_values, n_cells, n_classes)) < 0.6)
    counts[:, 0, 0] += ~counts.any(axis=(1, 2))  # no value without rows
    counts[0, 0] += ~counts.any(axis=(0, 1))  # no class without rows
    return TinyGroups(counts, name, limits)
