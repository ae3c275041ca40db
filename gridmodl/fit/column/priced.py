"""Price a partition of the user's own: fill it with the rows of the table, and add its costs up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Categories, Column, count_rows
from gridmodl.data.numbers import Numbers
from gridmodl.data.table import Table
from gridmodl.fit.column.common import Found, labelled_apart, one_part_cost
from gridmodl.fit.density import null_widths_and_rows, widths_and_rows, with_widths
from gridmodl.model.partition import Partition, rows_in_groups
from gridmodl.model.policy import STRICT
from gridmodl.pricing import ColumnValues, categorical_values, numerical_values, prepare, price_one_variable
from gridmodl.terms import Criterion, Variable


def priced(column: Column, table: Table, criterion: Criterion, partition: Partition) -> Found:
    """Fill a partition of the user's own with the rows of the table, and price it; empty parts cost nothing."""
    parts = partition.part_of_encoded(column, STRICT)
    n_parts = partition.n_parts
    rows = table.target.by_code(parts, n_parts)
    values, known = value_facts(column, table, partition)
    p, facts = prepare(criterion, table.problem, known)
    if table.problem.flags.has_widths:
        return _priced_density(column, partition, rows, p, facts, criterion)
    cost = price_one_variable(criterion, p, facts, rows, values)
    null_cost = one_part_cost(criterion, p, facts, table)
    filled = with_rows(partition, column, known.rows, *labelled_apart(rows, table.target))
    return Found(filled, cost, null_cost, False, "given", criterion)


def _priced_density(
    column: Column, partition: Partition, rows: NDArray[np.int64], p: Any, facts: Variable, criterion: Criterion
) -> Found:
    """Price the user's partition of a density; the null partition has the same masses."""
    assert isinstance(column, Numbers)  # noqa: S101  for mypy
    filled = with_widths(replace(partition, counts=rows), column)
    assert filled.n_values is not None  # noqa: S101  for mypy
    cost = price_one_variable(criterion, p, facts, widths_and_rows(filled), filled.n_values)
    null_cost = price_one_variable(criterion, p, facts, *null_widths_and_rows(filled))
    return Found(filled, cost, null_cost, False, "given", criterion)


def with_rows(
    partition: Partition,
    column: Column,
    value_rows: NDArray[np.int64],
    counts: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
) -> Partition:
    """Fill a partition of the user's own with counts; `value_rows` are the rows of each value, if categorical."""
    of_values = rows_in_groups(partition.groups, column.values, value_rows) if isinstance(column, Categories) else None
    return replace(partition, counts=counts, unlabelled=unlabelled, value_rows=of_values)


def with_missing(partition: Partition, column: Column, table: Table) -> Partition:
    """`partition` with the number of rows of `column` that have no value."""
    target = table.target
    if isinstance(column, Numbers):
        is_missing = column.missing
    else:
        is_missing = column.codes == column.values.index(None) if None in column.values else None
    if is_missing is None:
        return replace(partition, n_missing=table.n_missing)
    n_missing = np.count_nonzero(is_missing) if target.weights is None else target.weights[is_missing].sum()
    return replace(partition, n_missing=int(n_missing))


def value_facts(column: Column, table: Table, partition: Partition) -> tuple[NDArray[np.int64], ColumnValues]:
    """Number of distinct values of each part, and the facts on the values of the column for a criterion."""
    if isinstance(column, Categories):
        distinct: Column = column._replace(codes=np.arange(len(column.values), dtype=np.int32))
        known = categorical_values(count_rows(column.codes, table.target.weights, len(column.values)))
    else:
        distinct = _distinct(column)
        known = numerical_values(distinct.n_rows)
    values = np.bincount(partition.part_of_encoded(distinct, STRICT), minlength=partition.n_parts)
    return values.astype(np.int64), known


def _distinct(column: Numbers) -> Numbers:
    """Column with each value once, and one missing value if there are any."""
    missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    values = np.unique(column.values[~missing])
    n_missing = int(missing.any())
    values = np.concatenate([values, column.values[missing][:n_missing]])
    return column._replace(values=values, missing=np.arange(len(values)) >= len(values) - n_missing)
