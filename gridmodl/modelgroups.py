"""The groups of one variable of a joint grid of two, and what a criterion may know of it, from a model alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridmodl.frames import Name
from gridmodl.pricing import order_with, prepare, values_facts
from gridmodl.search.joining import Groups
from gridmodl.terms import Criterion, Problem, Variable

if TYPE_CHECKING:
    from gridmodl.model import Model


class ModelGroups:
    """A categorical variable of a joint grid of two variables; every part has rows."""

    def __init__(self, model: Model, criterion: Criterion, name: Name) -> None:
        self.model, self.criterion = model, criterion
        self.partition = model.partition(name)
        (self.other,) = (partition for partition in model.partitions.values() if partition.name != name)
        self.groups = self._groups()

    def _groups(self) -> Groups:
        cells, n_values = self.model.cells, self.partition.n_values
        table = np.zeros((self.other.n_parts, self.partition.n_parts), dtype=np.int64)
        whole = np.zeros(len(cells.parts), dtype=np.int64)  # cells name no part of a variable that has one
        across, own = (
            cells.parts[:, cells.names.index(part.name)] if part.name in cells.names else whole
            for part in (self.other, self.partition)
        )
        table[across, own] = cells.rows
        assert n_values is not None  # noqa: S101  for mypy: a joint grid has them
        return Groups(table, self.partition.rows.astype(np.int64), n_values.astype(np.int64))

    def facts(self, n_more: int = 0) -> Variable:
        """The variable as it is, or with so many values more, whose rows are not counted."""
        n_values = int(self.groups.values.sum()) + n_more
        return values_facts(n_values, self.partition.log_value_factorials, self.model.n_rows)

    def prepared(self, facts: Variable, more_rows: int = 0) -> tuple[Any, Variable]:
        """`p` and the facts with the criterion's own constant, after a value of so many rows has come."""
        problem = Problem("joint", self.model.n_rows + more_rows, 2, np.empty(0, dtype=np.int64))
        order = order_with(facts.constant, self.model.n_rows, more_rows)
        return prepare(self.criterion, problem, values_facts(facts.n_values, order, problem.n_rows))
