"""The best partitions of one variable of a model into each number of parts, found in the data it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import Options
from gridmodl.clock import Clock
from gridmodl.curve import curve_of
from gridmodl.grid import make_grid
from gridmodl.jointparts import with_values
from gridmodl.multivariate import grid_task, partition_of
from gridmodl.partition import Partition
from gridmodl.search.gridparts import best_beside

if TYPE_CHECKING:
    from gridmodl.alternatives import Variable


def of_column(variable: Variable, most: int, clock: Clock) -> list[tuple[Partition, float]]:
    """Of one column with classes: the best partition of each number of parts, and how far from the lowest it is."""
    model, partition = variable.model, variable.partition
    assert model._source is not None  # noqa: S101  for mypy
    table = model._source[0].priced_rows()
    special = {partition.name: partition.special} if len(partition.special) else {}
    options = Options(variable.criterion, special=special, max_parts=most)
    found, partitions = curve_of(table.column(partition.name, partition.kind), table, options, clock)
    return list(zip(partitions, found.gaps.tolist(), strict=True))


def of_grid(variable: Variable, most: int, clock: Clock) -> list[tuple[Partition, float]]:
    """The same of a variable of a grid, the others frozen."""
    model = variable.model
    assert model._source is not None  # noqa: S101  for mypy
    table = model._source[0]
    kinds = {name: part.kind for name, part in model.partitions.items()}
    columns, task = grid_task(table, Options(variable.criterion, kinds=kinds), variable.criterion, clock)
    labels: list[tuple[int, NDArray[Any]]] = []
    for v, column in enumerate(columns):
        of_atoms = np.zeros(task.rows.n_atoms(v), dtype=np.int64)
        of_atoms[task.rows.atom[v]] = variable.parts_of_rows[column.name]
        labels.append((v, of_atoms))
    grid, k = make_grid(labels), [column.name for column in columns].index(variable.partition.name)
    found = []
    for beside in best_beside(task, grid, k, most):
        other = make_grid([*labels[:k], (k, beside.parts), *labels[k + 1 :]])
        parts = other.parts_of(k, len(beside.parts))
        partition, renumbered = partition_of(columns[k], parts, task, other, k, table)
        if table.problem.kind != "classes":
            partition = with_values(partition, task, k, renumbered)
        found.append((partition, beside.gap))
    return found
