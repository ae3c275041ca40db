"""Small tasks, also with other variables frozen, where an atom has rows in several cells; and a slow way to price."""

from __future__ import annotations

import itertools

import numpy as np

from gridmodl import get_criterion
from gridmodl.data.atoms import Atoms
from gridmodl.search.moves import Frozen, Limits, Setting
from gridmodl.search.task import Task
from gridmodl.terms import Cell, Part, Problem, Shape, Variable, params_record

NO_LIMITS = Limits(2**62, 1)


class Tiny:
    """Rows by atom, frozen cell and class, with a task to search and a slow way to price."""

    def __init__(self, counts, name="modl", limits=NO_LIMITS):
        self.counts, self.criterion = np.asarray(counts), get_criterion(name)
        n_atoms, n_cells, _ = self.counts.shape
        class_rows = self.counts.sum(axis=(0, 1))
        problem = Problem("classes", int(class_rows.sum()), 1, class_rows)
        self.values = np.arange(1, n_atoms + 1, dtype=np.int32) % 3 + 1  # distinct values of each atom
        variable = Variable(False, False, int(self.values.sum()), 0.0, np.empty(0))
        frozen = Frozen(3, 1, float(n_cells), 0, 0.25) if n_cells > 1 else Frozen()
        self.setting = Setting(params_record(self.criterion, problem), variable, frozen)
        self.task = Task(self._atoms(), self.setting, type(self.criterion), limits)

    def _atoms(self):
        atom, cell = np.nonzero(self.counts.any(axis=2))
        first = np.searchsorted(atom, np.arange(len(self.counts) + 1)).astype(np.int32)
        counts = self.counts[atom, cell].astype(np.int32)
        return Atoms(first, cell.astype(np.int32), counts, counts.sum(axis=1, dtype=np.int64), self.values)

    def price_interval(self, lo, hi):
        cells = self.counts[lo:hi].sum(axis=0)
        p, variable, _ = self.setting
        part = Part(int(cells.sum()), int(self.values[lo:hi].sum()))
        prices = [self.criterion.cell(p, Cell(c.tolist(), int(c.sum()), 0)) for c in cells if c.any()]
        return self.criterion.part(p, variable, part) + sum(prices)

    def price(self, starts):
        p, variable, frozen = self.setting
        n = len(starts)
        shape = Shape(frozen.n_variables, frozen.n_informative + (n > 1), frozen.n_cells * n)
        total = self.criterion.grid(p, shape) + self.criterion.variable(p, variable, n) + frozen.price
        total += sum(self.price_interval(lo, hi) for lo, hi in itertools.pairwise([*starts, len(self.counts)]))
        return self.criterion.finish(p, total, shape)

    def rows(self, starts):
        return [int(self.counts[lo:hi].sum()) for lo, hi in itertools.pairwise([*starts, len(self.counts)])]

    def all_starts(self):
        """Every partition that keeps the limits."""
        n, limits = len(self.counts), self.task.limits
        for k in range(n):
            for cuts in itertools.combinations(range(1, n), k):
                starts = [0, *cuts]
                if k == 0 or (len(starts) <= limits.max_parts and min(self.rows(starts)) >= limits.min_rows):
                    yield starts

    def lowest(self):
        return min(self.price(starts) for starts in self.all_starts())
