"""From a lazy frame or `Counts` to models: columns are counted on the engine of the frame, or were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gridmodl.clock import Clock
from gridmodl.data.counts import Counts
from gridmodl.data.frames import Name
from gridmodl.data.table import Table
from gridmodl.fit.build import (
    check_classes,
    check_grid_options,
    check_joint_columns,
    check_names,
    check_option_names,
    column_of_parts,
    parts_of,
)
from gridmodl.fit.lazy.column import counted_model, model_at
from gridmodl.fit.lazy.data import LazyData, Reader
from gridmodl.fit.lazy.grid import Searches, counted_density, counted_grid
from gridmodl.fit.models import best_model, table_model
from gridmodl.fit.options import Options
from gridmodl.model.model import Model
from gridmodl.search import Search
from gridmodl.spelling import check_columns

LAZY_FRAME = "pyarrow"  # kind of frame in which counts come, and tables of their models


def input_names(data: LazyData | Counts, options: Options, given: Mapping[Name, Any]) -> list[Name]:
    """Names of the input columns; raise ValueError if options or `given` name others."""
    names = data.names if isinstance(data, LazyData) else list(data)
    check_option_names(options, names)
    check_columns("partitions", given, names)
    return names


def refuse_periods(stable_over: Any, min_period_rows: Any) -> None:
    """Raise ValueError if a lazy frame or counts come with periods."""
    for what, given in (("stable_over=", stable_over), ("min_period_rows=", min_period_rows)):
        if given is not None:
            raise ValueError(
                "data is a lazy frame, whose columns are counted by value and class, not by period, and "
                f"{what} was given: collect the columns that you need, or a sample of the rows, or leave {what} out"
            )


def lazy_model(
    data: LazyData | Counts, read: Reader, options: Options, random_state: int | None, clock: Clock, n_threads: int
) -> Model:
    """Model of one column of a lazy frame or of counts, or of the grid of several columns of a lazy frame."""
    names = input_names(data, options, {})
    if len(names) > 1 and isinstance(data, Counts):
        raise ValueError(
            f"data are counts of {len(names)} columns, each on its own: optimize_each takes them, and optimize one, "
            f"such as optimize(counts.only({names[0]!r}))"
        )
    if len(names) == 1 and data.target is not None:
        return counted_model(data, names[0], options, read, _searching(names[0], options, random_state, clock))
    assert isinstance(data, LazyData)  # noqa: S101  for mypy: counts have a target

    def search(table: Table, of_table: Options) -> Model:
        return replace(table_model(table, of_table, random_state, clock, n_threads), frame=LAZY_FRAME)

    if len(names) == 1:
        return counted_density(data, options, read, search)
    if data.target is None:
        check_joint_columns(len(names))
    alone = options._replace(search=Search("merge"))
    of_column = partial(_searching, options=alone, random_state=random_state, clock=clock)
    return counted_grid(data, options, read, Searches(search, of_column), clock)


def _searching(name: Name, options: Options, random_state: int | None, clock: Clock) -> Callable[[Table], Model]:
    """Function that searches the best partition of the column `name` of a table of counts."""

    def search(table: Table) -> Model:
        check_names(table, options._replace(**_of_one(options, name)))
        if table.searched is not None:
            check_grid_options(options, table)
        else:
            check_classes(table, options)
        return replace(best_model(table, name, options, random_state, clock), frame=LAZY_FRAME)

    return search


def _pricing(name: Name, given: Any, options: Options, clock: Clock) -> Callable[[Table], Model]:
    """Function that prices the user's parts of the column `name` of a table of counts."""
    return lambda table: replace(column_of_parts(table, name, given, options, clock), frame=LAZY_FRAME)


def _of_one(options: Options, name: Name) -> dict[str, Any]:
    """Options that are dicts by column name, with the column `name` alone."""
    given = {what: getattr(options, what) for what in options._fields}
    return {what: {name: one[name]} if name in one else {} for what, one in given.items() if isinstance(one, Mapping)}


def lazy_model_or_error(
    data: LazyData | Counts, name: Name, options: Options, read: Reader, random_state: int | None, clock: Clock,
    given: Mapping[Name, Any],
) -> Model | Exception:  # fmt: skip
    """Model of the column `name` of a lazy frame, of the parts in `given` if they are there, or the error."""
    try:
        if name in given:
            parts = parts_of(given[name], name, data.target)
            return model_at(data, name, options, read, parts, _pricing(name, given[name], options, clock.child()))
        return counted_model(data, name, options, read, _searching(name, options, random_state, clock.child()))
    except Exception as error:
        return error
