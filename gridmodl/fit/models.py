"""From a table to models: a grid over its columns, or the best partition of one column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridmodl.clock import Clock
from gridmodl.data.columns import Categories, Column
from gridmodl.data.frames import Name
from gridmodl.data.numbers import Numbers
from gridmodl.data.table import Table
from gridmodl.fit.build import (
    check_classes,
    check_grid_options,
    check_joint_columns,
    check_names,
    column_model,
    column_of_parts,
    encoded_column,
    grid_model,
    is_grid,
)
from gridmodl.fit.column.common import Found, given_bounds
from gridmodl.fit.column.groups import best_groups
from gridmodl.fit.column.intervals import best_intervals
from gridmodl.fit.density import column_limits, density_options
from gridmodl.fit.grid import best_grid
from gridmodl.fit.options import FOR_NUMBERS, Options, for_numbers
from gridmodl.fit.periods import check_periods
from gridmodl.model.given import at_medians
from gridmodl.model.model import Model
from gridmodl.plugins import criterion_for


def table_model(table: Table, options: Options, random_state: int | None, clock: Clock, n_threads: int) -> Model:
    """Model of all columns of a table: a grid, or the partition of its one column."""
    check_names(table, options)
    if not table.problem.flags.has_target:
        check_joint_columns(len(table.names))
    for what in FOR_NUMBERS if len(table.names) == 1 else ():
        (name,) = table.names
        if getattr(options.of(name), what) is not None and table.is_categorical(name, options.kinds.get(name)):
            raise for_numbers(what, name)
    if is_grid(table):
        check_grid_options(options, table)
        return grid_model(table, best_grid(table, options, n_threads, random_state, clock), clock, options)
    if table.problem.flags.has_classes:
        check_classes(table, options)
    (name,) = table.names
    return best_model(table, name, options, random_state, clock)


def best_model(table: Table, name: Name, options: Options, random_state: int | None, clock: Clock) -> Model:
    """Search the best partition of the column `name`, and build its model."""
    if table.searched is not None:
        table = table.only(name)
        return grid_model(table, best_grid(table, options, 1, random_state, clock), clock, options)
    column = encoded_column(table, name, options)
    if not table.placed:
        if table.problem.flags.has_widths:
            options = density_options(column, table, options, random_state, clock)
        return column_model(table, column, best_partition(column, table, options, clock), clock)
    rows, kind = table.priced_rows(), "categorical" if isinstance(column, Categories) else column.levels or "numerical"
    found = best_partition(encoded_column(rows, name, options._replace(kinds={name: kind})), rows, options, clock)
    kept = np.empty(0)
    if isinstance(column, Numbers):
        given = options.of(name)
        kept = np.concatenate([given_bounds(column, what, getattr(given, what)) for what in ("fixed", "allowed")])
    placed = found._replace(partition=at_medians(found.partition, column, table.target, kept))
    return column_model(table, column, placed, clock)


def best_partition(column: Column, table: Table, options: Options, clock: Clock) -> Found:
    """Search the best partition of one column."""
    criterion = criterion_for(options.criterion, table.problem.kind)
    limits = column_limits(options.of(column.name), table.problem.n_rows, criterion)
    if table.target.periods is not None:
        check_periods(table, options.of(column.name))
    if isinstance(column, Categories):
        return best_groups(column, table, criterion, options, limits, clock)
    return best_intervals(column, table, criterion, options, limits, clock)


def model_or_error(
    table: Table, name: Name, options: Options, random_state: int | None, clock: Clock, given: Mapping[Name, Any]
) -> Model | Exception:
    """Model of the column `name`, of the parts in `given` if they are there, or the error that was raised."""
    try:
        if name in given:
            return column_of_parts(table, name, given[name], options, clock.child())
        return best_model(table, name, options, random_state, clock.child())
    except Exception as error:
        return error
