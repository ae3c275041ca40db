"""Build the `Model` from a search result, or from partitions of the user's own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gridmodl.clock import Clock
from gridmodl.data.columns import Categories, Column
from gridmodl.data.frames import Name
from gridmodl.data.line import check_bounds
from gridmodl.data.table import Table
from gridmodl.fit.column.common import Found, special_of
from gridmodl.fit.column.priced import priced, with_missing
from gridmodl.fit.density import checked_density
from gridmodl.fit.grid import FoundGrid, GridModel, given_grid, grid_problem
from gridmodl.fit.options import (
    FOR_NUMBERS,
    RULES,
    ColumnOptions,
    Options,
    for_numbers,
)
from gridmodl.model.densities.ranges import with_domain
from gridmodl.model.file.values import check_column, check_writable
from gridmodl.model.given import given_partition, with_rare_named, with_unlabelled
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, with_others
from gridmodl.plugins import criterion_for
from gridmodl.spelling import check_columns
from gridmodl.terms import Criterion


def column_model(table: Table, column: Column, found: Found, clock: Clock) -> Model:
    """Build the model of one column, all of whose rows are in `column`."""
    name = column.name
    return Model(
        **_facts(table, found, clock),
        problem=table.problem.kind,
        cost=found.cost,
        partitions={name: with_domain(with_missing(found.partition, column, table), column)},
        proven=found.proven,
        certificate=found.certificate,
        stability=found.stability,
        unproven=found.unproven,
        _source=(table.only(name).without_periods(), found.criterion),
    )


def grid_model(table: Table, found: FoundGrid, clock: Clock, options: Options | None = None) -> Model:
    """Build the model of a grid over several columns, or over a column and its target, with the optima kept.

    `options` are those of the search, None if there was none.
    """
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
            limits=() if options is None else limit_texts(options, found.order),
            _target_quantiles=grid.target_quantiles,
            **more,
        )

    optima = tuple(model(grid) for grid in found.optima)
    return model(found.best, left_out=found.left_out, optima=optima, _source=(table, found.criterion))


def limit_texts(options: Options, order: str | None) -> tuple[str, ...]:
    """Limits that the search of a grid kept, each in words; `order` is what monotone="auto" took."""
    texts = []
    for what, text in LIMIT_TEXTS.items():
        given = getattr(options, what)
        by_name = given if isinstance(given, Mapping) else {None: given}
        for name, value in by_name.items():
            if value is not None and (what, value) != ("missing", "auto"):
                shown = f"auto: {order}" if what == "monotone" and value == "auto" and order else value
                texts.append(text.format(shown) + (f" ({name})" if isinstance(given, Mapping) else ""))
    return tuple(texts)


def _facts(table: Table, found: Found | FoundGrid, clock: Clock) -> dict[str, Any]:
    """Fields that models of one column and of several have in common."""
    return {
        "null_cost": found.null_cost,
        "criterion": found.criterion.name,
        "options": dict(found.criterion.chosen),
        "n_rows": table.target.n_rows,
        "classes": table.classes,
        "target_name": table.target_name,
        "event_index": table.target.event,
        "event_is_default": table.target.event_is_default,
        "search": found.search,
        "stopped": clock.stopped,
        "elapsed": clock.elapsed,
        "frame": table.inputs.kind,
    }


LIMIT_TEXTS = {
    "max_parts": "at most {} parts",
    "min_rows": "at least {} rows in each part",
    "monotone": "means that are monotone ({})",
    "missing": "missing values in a part of their own",
    "special": "special values {}",
    "fixed": "fixed bounds {}",
    "allowed": "no other bounds than {}",
}

# Partitions of the user's own, with their exact cost: `Model.from_partitions` (fit/given.py) and `Model.edit`.

OF_SHARES = (
    "monotone=",
    "min_events=",
    "min_difference=",
    "stable_over=",
)  # limits that a grid of several columns cannot have
JOINT_COLUMNS = 10  # largest joint grid that was tested; 400 columns took 41 s, without a useful result


def edited(model: Model, name: Name, bounds: Any, groups: Any) -> Model:
    """Build the model with other bounds or groups of the column `name`: the body of `Model.edit`."""
    partition = model.partition(name)
    if (bounds is None) == (partition.kind == "numerical"):
        wanted = "bounds" if partition.kind == "numerical" else "groups"
        raise TypeError(f"column {name!r} is {partition.kind}: edit it with {wanted}=, merge= or split=")
    return with_parts(model, name, bounds if groups is None else groups)


def source_of(model: Model) -> tuple[Table, Criterion]:
    """Data and criterion of a model; raise ValueError if it came without its data."""
    if model._source is None:
        raise ValueError(
            "this model came without its data, from a file, a pickle or optima, and only merge= needs none; price "
            "another partition with gridmodl.Model.from_partitions(data, target, partitions)"
        )
    return model._source


def with_parts(model: Model, name: Name, given: Any) -> Model:
    """Build the model with `given` in place of its partition of the column `name`: bounds, groups or a Partition."""
    table, criterion = source_of(model)
    partitions = model.all_partitions
    special = {name: partitions[name].special_parts} if partitions[name].n_special else {}
    kinds = {column: other.column_kind for column, other in model.partitions.items()}
    missing = {name: "apart"} if partitions[name].is_missing_apart else None
    options = Options(criterion, kinds=kinds, special=special, missing=missing)
    clock = Clock()
    same = of_partitions(table, partitions, options, clock)
    is_same = all(np.array_equal(same.partition(key).counts, partitions[key].counts) for key in partitions)
    cells = (same.cells, model.cells)
    if not is_same or not all(np.array_equal(*pair) for pair in zip(*(c[1:] for c in cells), strict=True)):
        raise ValueError("the data has changed since the model was made; optimize it anew")
    new = of_partitions(table, {**partitions, name: given}, options, clock)
    if partitions[name].others is not None:
        new = replace(
            new, partitions={**new.partitions, name: with_others(new.partitions[name], partitions[name].others)}
        )
    return replace(new, delta=new.cost - model.cost)


def of_partitions(table: Table, partitions: Mapping[Name, Any], options: Options, clock: Clock) -> Model:
    """Build the model of the user's partitions of a table."""
    table = with_rare_values(table, partitions)
    if is_grid(table):
        return grid_model(table, given_grid(table, partitions, options), clock)
    (name,) = table.names
    return _given_model(table, name, partitions.get(name, ()), options, clock)


def with_rare_values(table: Table, partitions: Mapping[Name, Any]) -> Table:
    """The table, in which categories that one of `partitions` counts together have its name for them."""
    named = {
        name: with_rare_named(table.inputs.columns[name], parts)
        for name, parts in partitions.items()
        if isinstance(parts, Partition) and parts.others is not None
    }
    return table._replace(inputs=table.inputs._replace(columns={**table.inputs.columns, **named}))


def column_of_parts(table: Table, name: Name, given: Any, options: Options, clock: Clock) -> Model:
    """Build the model of one column of a table from the user's parts: a Model, a Partition, bounds or groups."""
    table = table.only(name)
    partitions = parts_of(given, name, None if table.searched is None else table.searched.name)
    if table.searched is not None and len(partitions) == 1:
        raise ValueError(
            f"the target is {table.problem.kind}, and has parts beside those of column {name!r}: partitions= takes a "
            "Model of such a target, which has both"
        )
    if isinstance(partitions[name], Partition):
        options = options._replace(kinds={name: partitions[name].column_kind, **options.kinds})
    return of_partitions(table, partitions, options, clock)


def parts_of(given: Any, name: Name, target: Name | None) -> dict[Name, Any]:
    """Parts of the column `name` by name; those of a Model with those of its partitioned target, if there is one."""
    if not isinstance(given, Model):
        return {name: given}
    if list(given.partitions) != [name]:
        raise ValueError(f"partitions has for column {name!r} a model of {list(given.partitions)}")
    partitions = {name: given.partitions[name]}
    if given.target is not None and target is not None:
        partitions[target] = replace(given.target, name=target)
    return partitions


def _given_model(table: Table, name: Name, given: Any, options: Options, clock: Clock) -> Model:
    """Build the model of the user's partition `given` of one column."""
    rows = table.priced_rows()
    column = encoded_column(rows, name, options)
    if table.problem.flags.has_widths:
        checked_density(column, options)
    is_apart = options.of(name).missing == "apart"
    partition = given_partition(column, given, special_of(column, options), table.target.n_classes, is_apart)
    check_bounds(column, partition.bounds)
    criterion = criterion_for(options.criterion, table.problem.kind)
    found = priced(column, rows, criterion, partition)
    if table.placed:
        column = encoded_column(table, name, options)
        found = found._replace(partition=with_unlabelled(found.partition, column, table.target))
    return column_model(table, column, found, clock)


def check_names(table: Table, options: Options) -> None:
    """Raise if an option names an unknown column, or if a model file cannot hold the name of a column or a class."""
    for name in table.known_names:
        check_writable([name], "the name of a column")
    check_writable(table.classes.tolist(), "the target")
    check_option_names(options, table.names)


def check_option_names(options: Options, names: Collection[Name]) -> None:
    """Raise ValueError if an option is a dict that names a column that is not one of `names`."""
    for what in ("order", "kinds", *ColumnOptions._fields):
        given = getattr(options, what)
        if isinstance(given, Mapping):
            check_columns(what, given, names)


def is_grid(table: Table) -> bool:
    """Whether several variables are partitioned together; the target may be one of them."""
    return len(table.names) > 1 or table.searched is not None


def check_joint_columns(n_columns: int) -> None:
    """Raise ValueError for a joint grid of more than JOINT_COLUMNS columns."""
    if n_columns > JOINT_COLUMNS:
        raise ValueError(
            f"data has {n_columns} columns and no target was given; a joint grid is for {JOINT_COLUMNS} columns at "
            "most. For a table of counts, whose rows and columns are to be grouped, use gridmodl.GridCoclustering, or "
            "give it as a sparse matrix: optimize(scipy.sparse.csr_matrix(data)). Else choose some columns, such as "
            "optimize(data[['age', 'town']]), or give a target"
        )


def check_grid_options(options: Options, table: Table) -> None:
    """Raise NotImplementedError for options that only a single column with classes can have.

    A numerical target has means, so that monotone= has a meaning for a single column. A grid of columns alone keeps
    bounds, special values and missing values apart.
    """
    words = {f"{what}=": _is_given(getattr(options, what)) for what in RULES} | {"special=": bool(options.special)}
    words["monotone="] &= not (table.problem.flags.target_is_numerical and len(table.names) == 1)
    missing = options.missing.values() if isinstance(options.missing, Mapping) else [options.missing]
    words["missing='apart'"] = "apart" in missing
    words["stable_over="] = table.target.periods is not None
    for what in (what for what, is_given in words.items() if is_given):
        if table.searched is not None:
            raise NotImplementedError(
                f"{what} is for one column with classes, or a grid of several; a {table.problem.kind} target is "
                "partitioned together with the column, and such a search does not keep it: group the values of the "
                "target to classes yourself (target_kind='classes'), or leave it out"
            )
        if what in OF_SHARES:
            raise NotImplementedError(
                f"{what} limits the class shares of the parts of one column, and a grid of several columns has shares "
                "of cells, which other columns change: use optimize_each, which takes each column on its own, and "
                "Model.from_partitions if you want a grid of the partitions that it finds"
            )


def check_classes(table: Table, options: Options) -> None:
    """Raise ValueError if the classes of the target do not allow monotone=, min_difference= or stable_over=."""
    given = {what: _is_given(getattr(options, what)) for what in ("monotone", "min_difference")}
    given["stable_over"] = table.target.periods is not None
    for what in (what for what, is_given in given.items() if is_given):
        if table.target.event is None:
            raise ValueError(
                f"{what}= compares the shares of a class, the event, with those of others, and the target has one class"
            )
        if table.problem.flags.has_unlabelled:
            raise ValueError(
                f"{what}= compares the shares of classes, and unlabelled rows have none; leave these rows out, or let "
                "them only place the bounds: placement='median'"
            )


def _is_given(option: Any) -> bool:
    """Whether an option is given, for all columns or for one."""
    return any(one is not None for one in option.values()) if isinstance(option, Mapping) else option is not None


def encoded_column(table: Table, name: Name, options: Options) -> Column:
    """Encode the column `name` as `options` say; raise if its values or options do not fit."""
    column = table.column(name, options.kinds.get(name))
    check_column(column)
    for what in FOR_NUMBERS:
        if isinstance(column, Categories) and options.names(what, name):
            raise for_numbers(what, name)
    return column
