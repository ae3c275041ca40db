"""Prices of partitions: nats to describe them before the classes of rows are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.cost_terms import Counted, Side
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.plugins import criterion_for
from gridmodl.pricing import (
    ColumnValues,
    categorical_values,
    numerical_values,
    prepare,
    price_one_variable,
    variable_of,
)
from gridmodl.terms import Problem, params_record

PREPARED_BY = "modl"  # prices partitions, whatever criterion found them


def preparation_cost(model: Model) -> float:
    """Cost under `PREPARED_BY` of the partition of a column before the classes of its rows are known.

    It codes the parts, and the number of rows of each class (or group of classes) in each part; if classes are grouped,
    also the groups, and the number of rows of each class. ``modl`` charges the same for these numbers whatever they
    are, and nothing for the order of rows of one class. So the preparation cost is the price of the same parts with
    rows of one class in each, and the cost of a model under ``modl`` is the preparation cost plus the negative
    log-likelihood of the classes.
    """
    (partition,) = model.partitions.values()
    if model.target is None:
        return _cost_before_classes(model, partition)
    return _cost_before_groups(model, partition, model.target)


def _cost_before_classes(model: Model, partition: Partition) -> float:
    criterion = criterion_for(PREPARED_BY, "classes")
    problem = Problem("classes", model.n_rows, 1, model.class_rows)
    p, facts = prepare(criterion, problem, _known(partition))
    pure = np.zeros_like(partition.counts)
    pure[:, 0] = partition.rows
    return price_one_variable(criterion, p, facts, pure, _values(partition))


def _cost_before_groups(model: Model, partition: Partition, groups: Partition) -> float:
    criterion = criterion_for(PREPARED_BY, "grouped")
    problem = Problem("grouped", model.n_rows, 1, np.empty(0, dtype=np.int64))
    pure = np.zeros(len(model.classes), dtype=np.int64)
    pure[: groups.n_parts] = groups.rows
    filled = np.flatnonzero(partition.rows)
    rows = partition.rows[filled]
    sides = (
        Side(variable_of(criterion, problem, _known(partition)), rows, _values(partition)[filled].astype(np.float64)),
        Side(
            variable_of(criterion, problem, categorical_values(pure), is_target=True),
            groups.rows,
            _values(groups).astype(np.float64),
        ),
    )
    cells = np.column_stack([np.arange(len(rows)), np.zeros_like(rows)])  # all rows of a part beside one group
    p = params_record(criterion, problem)
    counted = Counted(criterion, p, sides, cells, rows[:, None], np.zeros_like(rows))
    return counted.cost(counted.terms())


def structure_cost(grid: Model, n_columns: int) -> float:
    """Cost under `PREPARED_BY` of the structure of a grid: the choice among `n_columns` columns, and the parts of each.

    The cost of a grid under ``modl`` is this, plus `classes_cost` of its cells.
    """
    criterion, problem = criterion_for(PREPARED_BY, "grid"), Problem("grid", grid.n_rows, n_columns, grid.class_rows)
    sides = [
        Side(variable_of(criterion, problem, _known(partition)), partition.rows, _values(partition).astype(np.float64))
        for partition in (grid.partitions[name] for name in grid.informative)
    ]
    whole = Side(variable_of(criterion, problem, numerical_values(1)), np.array([grid.n_rows]), np.ones(1))
    sides += [whole] * (n_columns - len(sides))
    no_cells = np.empty((0, len(sides)), dtype=np.int64)
    no_rows = np.empty((0, len(grid.classes)), dtype=np.int64)
    p = params_record(criterion, problem)
    return Counted(criterion, p, tuple(sides), no_cells, no_rows, no_rows[:, 0]).terms().total


def classes_cost(counts: NDArray[np.int64]) -> float:
    """Cost under `PREPARED_BY` of the classes of the rows in cells, given their rows by cell and class."""
    criterion = criterion_for(PREPARED_BY, "grid")
    p = params_record(criterion, Problem("grid", int(counts.sum()), 1, counts.sum(axis=0)))
    none = np.zeros(len(counts), dtype=np.int64)
    return float(Counted(criterion, p, (), none[:, None], counts, none).cell_prices(counts, none).sum())


def shares_cost(counts: NDArray[np.int64]) -> float:
    """Part of `classes_cost` that is due to the unknown shares of the classes in each cell: its excess over entropy."""
    rows = counts.sum(axis=1, keepdims=True)
    return classes_cost(counts) - float(np.sum(counts * np.log(np.maximum(rows, 1) / np.maximum(counts, 1))))


def _values(partition: Partition) -> NDArray[np.int64]:
    """Number of values of each part; 1 for an interval, whose values are not priced."""
    is_grouped = partition.kind == "categorical"
    lengths = [len(group) for group in partition.groups] if is_grouped else [1] * partition.n_parts
    return np.array(lengths, dtype=np.int64)


def _known(partition: Partition) -> ColumnValues:
    """The values of an input: all that are in its groups."""
    if partition.kind != "categorical":
        return numerical_values(partition.n_parts)
    return categorical_values(np.ones(int(_values(partition).sum()), dtype=np.int64))  # their rows are not priced
