"""Make a grid task of a model: its non-empty cells stand for the rows, its parts for the values.

A merge of parts never separates rows of one cell, so merges can be priced from the model alone, without the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gridmodl.clock import Clock
from gridmodl.data.atoms import Target
from gridmodl.data.columns import Categories
from gridmodl.model.partition import known_values
from gridmodl.plugins import criterion_of
from gridmodl.pricing import numerical_values
from gridmodl.search.grid.rows import Grid, checked_facts, make_grid, make_rows, no_holds
from gridmodl.search.grid.state import GridTask, price_grid
from gridmodl.search.moves import NO_LIMIT, Limits, make_limits
from gridmodl.terms import PROBLEMS, Problem

if TYPE_CHECKING:
    from gridmodl.model.model import Model

SAME_COST = 1e-6  # relative; if the cost of the model and the price of its parts differ more, the criterion is another


class ModelTask:
    """Task and grid of a model: one part per non-empty part of the model; and its partitions, by variable."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.partitions = list(model.all_partitions.values())
        if PROBLEMS[model.problem].has_widths:
            raise ValueError(
                "a density has no hierarchy: cost_by_parts(data) has its best partition for each number of parts, and "
                "edit(name, merge=[0, 1]) merges parts"
            )
        for partition in self.partitions:
            if partition.n_values is None:
                raise ValueError(
                    f"column {partition.name!r} does not say how many values its parts hold, which merges need: only "
                    "models without a target, or with a partitioned target, know these numbers"
                )
            if partition.n_special:
                raise ValueError(
                    f"column {partition.name!r} has special values, which are parts of their own: they cannot be merged"
                )
        self.filled = [np.flatnonzero(partition.counts.any(axis=1)) for partition in self.partitions]
        rows = model.cells.rows  # all of one class: such models have no classes, or the classes are partitioned
        self.target = Target(np.zeros(len(rows), dtype=np.int32), rows.astype(np.int64), 1)
        self.task = self._task()
        self.grid = self._finest()

    def _task(self) -> GridTask:
        """Task whose rows are the cells of the model."""
        model, cells = self.model, self.model.cells
        columns, values, facts = [], [], []
        for partition, filled in zip(self.partitions, self.filled, strict=True):
            of_cells = np.zeros(len(cells.parts), dtype=np.int32)
            if partition.name in cells.names:
                place = np.zeros(partition.n_parts, dtype=np.int32)
                place[filled] = np.arange(len(filled))
                of_cells = place[cells.parts[:, cells.names.index(partition.name)]]
            columns.append(Categories(partition.name, [None] * len(filled), of_cells))
            assert partition.n_values is not None  # noqa: S101  for mypy
            values.append(partition.n_values[filled].astype(np.int32))
            n_values = int(values[-1].sum())
            facts.append(known_values(partition) if partition.kind == "categorical" else numerical_values(n_values))
        rows = make_rows(columns, self.target)._replace(atom_values=np.concatenate(values))
        n_inputs = len(columns) - (1 if PROBLEMS[model.problem].target_is_partitioned else 0)
        problem = Problem(model.problem, model.n_rows, n_inputs, np.empty(0, dtype=np.int64))
        criterion = criterion_of(model.criterion, model.options, model.problem)
        p, known = checked_facts(criterion, problem, facts)
        limits = make_limits([Limits(NO_LIMIT, 1)] * len(columns))
        return GridTask(rows, known, p, type(criterion), limits, no_holds(rows), Clock())

    def _finest(self) -> Grid:
        """Grid of the model; raise ValueError unless the criterion prices it at the cost of the model."""
        grid = make_grid([(k, np.arange(len(filled))) for k, filled in enumerate(self.filled)])
        cost, model_cost = price_grid(self.task, grid), self.model.cost
        if not abs(cost - model_cost) <= SAME_COST * (1.0 + abs(model_cost)):
            raise ValueError(
                f"the model costs {model_cost!r}, but criterion {self.model.criterion!r} prices its parts at {cost!r}: "
                "it was made by another criterion of that name, or another version of it"
            )
        return grid._replace(cost=cost)
