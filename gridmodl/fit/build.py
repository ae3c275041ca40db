"""Build the `Model` from a search result, or from partitions of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gridmodl.clock import Clock
from gridmodl.data.columns import Categories, Column
from gridmodl.data.frames import Name
from gridmodl.data.numbers import Numbers
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.column import Found, priced, special_codes
from gridmodl.fit.grid import FoundGrid, GridModel, given_grid, grid_problem
from gridmodl.fit.options import Options, checked_options
from gridmodl.model.file.values import check_writable
from gridmodl.model.given import given_partition, with_unlabelled
from gridmodl.model.model import Model
from gridmodl.plugins import criterion_for
from gridmodl.spelling import check_columns, did_you_mean


def column_model(table: Table, name: Name, found: Found, clock: Clock) -> Model:
    """Build the model of one column."""
    return Model(
        **_facts(table, found, clock),
        problem=table.problem.kind,
        cost=found.cost,
        partitions={name: found.partition},
        proven=found.proven,
        certificate=found.certificate,
        _source=(table.only(name), found.criterion),
    )


def grid_model(table: Table, found: FoundGrid, clock: Clock) -> Model:
    """Build the model of a grid over several columns, or over a column and its target, with the optima kept."""
    facts, class_rows = _facts(table, found, clock), table.class_rows

    def model(grid: GridModel, **more: Any) -> Model:
        return Model(
            **facts,
            problem=grid_problem(table),
            cost=grid.cost,
            partitions=grid.partitions,
            target=grid.target,
            proven=False,
            _cells=grid.cells,
            _class_rows=class_rows,
            _target_quantiles=grid.target_quantiles,
            **more,
        )

    optima = tuple(model(grid) for grid in found.optima)
    return model(found.best, left_out=found.left_out, optima=optima, _source=(table, found.criterion))


def _facts(table: Table, found: Found | FoundGrid, clock: Clock) -> dict[str, Any]:
    """Fields that models of one column and of several have in common."""
    return {
        "null_cost": found.null_cost,
        "criterion": found.criterion.name,
        "options": dict(found.criterion.chosen),
        "n_rows": table.target.n_rows,
        "classes": table.classes,
        "search": found.search,
        "stopped": clock.stopped,
        "elapsed": clock.elapsed,
        "frame": table.inputs.kind,
    }


# Partitions of the user's own, with their exact cost: `Model.from_partitions` and `Model.edit`.

JOINT_COLUMNS = 10  # largest joint grid that was tested; 400 columns took 41 s, without a useful result


def model_of_partitions(
    data: Any, target: Any, partitions: Any, criterion: Any, weights: Any, kinds: Any, special: Any,
    target_kind: str | None, unlabelled: Any = NOT_GIVEN,
) -> Model:  # fmt: skip
    """Build the model of the user's partitions: the body of `Model.from_partitions`."""
    clock = Clock()
    options = checked_options(criterion, "auto", kinds, special, None, None, None)
    table = read_table(data, target, weights, target_kind, unlabelled)
    if not isinstance(partitions, Mapping):
        raise TypeError(f"partitions must be a dict of bounds or groups by column name, got {partitions!r}")
    check_columns("partitions", partitions, table.known_names)
    check_names(table, options)
    check_one_input(table, unlabelled)
    if is_grid(table):
        check_grid_options(options)
    return of_partitions(table, partitions, options, clock)


def edited(model: Model, name: Name, bounds: Any, groups: Any) -> Model:
    """Build the model with another partition of the column `name`: the body of `Model.edit`."""
    partitions = model.all_partitions
    if name not in partitions:
        raise ValueError(
            f"the model has no column {name!r}; it has {', '.join(map(repr, partitions))}"
            f"{did_you_mean(name, partitions)}"
        )
    partition = partitions[name]
    if (bounds is None) == (groups is None):
        raise TypeError("edit takes either bounds= or groups=")
    if (groups is None) == (partition.kind == "categorical"):
        wanted = "groups" if partition.kind == "categorical" else "bounds"
        raise TypeError(f"column {name!r} is {partition.kind}: edit it with {wanted}=")
    if model._source is None:
        raise ValueError(
            "this model came without its data, from a file, a pickle or optima; price another partition with "
            "gridmodl.Model.from_partitions(data, target, partitions)"
        )
    special = {name: partition.special} if len(partition.special) else {}
    table, criterion = model._source
    kinds = {column: other.kind for column, other in model.partitions.items()}
    options = Options(criterion, kinds=kinds, special=special)
    clock = Clock()
    same = of_partitions(table, partitions, options, clock)
    is_same = all(np.array_equal(same.partition(key).counts, partitions[key].counts) for key in partitions)
    cells = (same.cells, model.cells)
    if not is_same or not all(np.array_equal(*pair) for pair in zip(*(c[1:] for c in cells), strict=True)):
        raise ValueError("the data has changed since the model was made; optimize it anew")
    given = {**partitions, name: bounds if groups is None else groups}
    new = of_partitions(table, given, options, clock)
    return replace(new, delta=new.cost - model.cost)


def of_partitions(table: Table, partitions: Mapping[Name, Any], options: Options, clock: Clock) -> Model:
    """Build the model of the user's partitions of a table."""
    if is_grid(table):
        return grid_model(table, given_grid(table, partitions, options), clock)
    (name,) = table.names
    return _given_model(table, name, partitions.get(name, ()), options, clock)


def _given_model(table: Table, name: Name, given: Any, options: Options, clock: Clock) -> Model:
    """Build the model of the user's partition `given` of one column."""
    rows = table.priced_rows()
    column = encoded_column(rows, name, options)
    special = special_codes(column, options) if isinstance(column, Numbers) else np.empty(0)
    partition = given_partition(column, given, special, table.target.n_classes)
    criterion = criterion_for(options.criterion, table.problem.kind)
    found = priced(column, rows, criterion, partition)
    if table.placed:
        column = encoded_column(table, name, options)
        found = found._replace(partition=with_unlabelled(found.partition, column, table.target))
    return column_model(table, name, found, clock)


def check_names(table: Table, options: Options) -> None:
    """Raise if an option names an unknown column, or if a model file cannot hold the name of a column or a class."""
    for name in table.known_names:
        check_writable([name], "the name of a column")
    check_writable(table.classes.tolist(), "the target")
    check_columns("kinds", options.kinds, table.names)
    check_columns("special", options.special, table.names)


def is_grid(table: Table) -> bool:
    """Whether several variables are partitioned together; the target may be one of them."""
    return len(table.names) > 1 or table.searched is not None


def check_one_input(table: Table, unlabelled: Any = NOT_GIVEN) -> None:
    """Raise ValueError if unlabelled rows or a partitioned target come with several columns."""
    if unlabelled is not NOT_GIVEN and len(table.names) > 1:
        raise ValueError(
            f"unlabelled= is for one input column, and data has {len(table.names)}; optimize_each takes each on its own"
        )
    if table.searched is not None and len(table.names) > 1:
        what = "a numerical target" if table.problem.flags.target_is_numerical else "target_kind='grouped'"
        raise ValueError(
            f"{what} is for one input column, and data has {len(table.names)}; optimize_each takes each on its own "
            "(target_kind='classes' takes the target as classes)"
        )


def check_joint_columns(n_columns: int) -> None:
    """Raise ValueError for a joint grid of more than JOINT_COLUMNS columns."""
    if n_columns > JOINT_COLUMNS:
        raise ValueError(
            f"data has {n_columns} columns and no target was given; a joint grid is for {JOINT_COLUMNS} columns at "
            "most. For a table of counts, whose rows and columns are to be grouped, use gridmodl.GridCoclustering, or "
            "give it as a sparse matrix: optimize(scipy.sparse.csr_matrix(data)). Else choose some columns, such as "
            "optimize(data[['age', 'town']]), or give a target"
        )


def check_grid_options(options: Options) -> None:
    """Raise NotImplementedError for options that only a single column with classes can have."""
    for what, given in (("special", options.special), ("monotone", options.monotone)):
        if given:
            raise NotImplementedError(
                f"{what}= is for one column with classes; where several variables are partitioned together, the target "
                "or other columns, it is not kept"
            )


def encoded_column(table: Table, name: Name, options: Options) -> Column:
    """Encode the column `name` as `options` say; raise if its values or options do not fit."""
    column = table.column(name, options.kinds.get(name))
    if isinstance(column, Categories):
        check_writable(column.values, f"column {name!r}")
    if isinstance(column, Categories) and name in options.special:
        raise ValueError(f"column {name!r} is categorical: each of its values is told apart; special= is for numbers")
    return column
