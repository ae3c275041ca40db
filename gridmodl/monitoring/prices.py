"""Price the classes of new rows by the criterion of a model: with its parts, and with the best parts for these rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gridmodl.clock import Clock, in_threads
from gridmodl.data.frames import Name, Raw
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.build import check_names, column_of_parts, grid_model, of_partitions, with_rare_values
from gridmodl.fit.grid import best_grid
from gridmodl.fit.models import best_model
from gridmodl.fit.options import Options, checked_jobs, checked_options
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.monitoring.counting import NewData, PartsCounts, classes_of
from gridmodl.monitoring.parts import Prices
from gridmodl.plugins import class_number, criterion_for, criterion_of
from gridmodl.terms import PROBLEMS, Criterion


def column_prices(
    models: Mapping[Name, Model], counts: Mapping[Name, PartsCounts], columns: Mapping[Name, Raw], data: NewData
) -> dict[Name, Prices]:
    """Prices of models of one column each, of the new rows in memory whose class the model knows."""
    if data.target is None:
        return {}
    clock = Clock()
    priced = [name for name, model in models.items() if can_price(model, [counts[name]])]
    tables: dict[int, Table | None] = {}
    for name in priced:  # a target that is partitioned too knows other classes in each column
        key = id(models[name]) if models[name].target is not None else 0
        if key not in tables:
            tables[key] = _table(models[name], {one: columns[one] for one in (priced if key == 0 else [name])}, data)

    def of_one(name: Name) -> Prices:
        table = tables[id(models[name]) if models[name].target is not None else 0]
        return Prices() if table is None else prices_of_column(table, models[name], counts[name], clock).prices

    found = dict(in_threads(of_one, priced, checked_jobs(-1), clock))
    if clock.stopped is not None:  # searches that were cut short would pass for the best
        raise KeyboardInterrupt
    return found


def can_price(model: Model, counts: list[PartsCounts]) -> bool:
    """Whether a model has a target, no column of levels has new ones, which have no place in its order, and the rows
    have the classes that the criterion needs.
    """
    is_known = all(one.compared.kind != "ordinal" or not one.new_values for one in counts)
    if not PROBLEMS[model.problem].has_target or not is_known:
        return False
    n_classes = class_number(criterion_of(model.criterion, model.options, model.problem))
    if n_classes is None or not PROBLEMS[model.problem].has_classes:
        return True
    return all(np.count_nonzero(one.new[..., :-1].any(axis=(0, 1))) == n_classes for one in counts)


def _table(model: Model, columns: Mapping[Name, Raw], data: NewData) -> Table | None:
    """Table of the new rows whose class the model knows; None if there are none."""
    is_known = data.rows(classes_of(model)).key % (len(classes_of(model)) + 1) < len(classes_of(model))
    weights = is_known.astype(np.int64) if data.weights is None else np.where(is_known, data.weights, 0)
    if not weights.any():
        return None
    return read_table(dict(columns), data.target, weights, target_kind_of(model), NOT_GIVEN)


def target_kind_of(model: Model) -> str:
    """Kind of the target of a model, as `target_kind` of `optimize`."""
    flags = PROBLEMS[model.problem]
    return "classes" if flags.has_classes else "numerical" if flags.target_is_numerical else "grouped"


class PricedColumn(NamedTuple):
    """Prices of a model of one column, and the best model of the new rows."""

    prices: Prices
    best: Model


def prices_of_column(table: Table, model: Model, counts: PartsCounts, clock: Clock) -> PricedColumn:
    """Price the parts of a model of one column, and search the best."""
    ((name, partition),) = model.partitions.items()
    table = with_rare_values(table.only(name), {name: partition})
    options = options_of(model, [name])
    given = replace(model, partitions={name: extended(partition, counts)})
    same = column_of_parts(table, name, given, options, clock.child())
    best = best_model(table, name, options, 0, clock.child())
    return PricedColumn(_prices(same, best, criterion_for(options.criterion, same.problem)), best)


def options_of(model: Model, names: Collection[Name]) -> Options:
    """Options of a search for parts of the columns `names` of a model: criterion, kinds and special values."""
    partitions = {name: one for name, one in model.partitions.items() if name in names}
    return checked_options(
        criterion_of(model.criterion, model.options, model.problem),
        kinds={name: one.kind for name, one in partitions.items() if one.kind != "ordinal"},
        order={name: one.levels for name, one in partitions.items() if one.kind == "ordinal"},
        special={name: one.special_parts for name, one in partitions.items() if one.n_special} or None,
    )


def extended(partition: Partition, counts: PartsCounts) -> Partition:
    """`partition` with one more part for the values that it does not hold: new categories, or missing values."""
    is_new_missing = partition.missing is None and bool(counts.missing.any())
    unknown = (*counts.new_values, *([None] if is_new_missing else []))
    if not unknown:
        return partition
    more = np.zeros((partition.n_parts + 1, partition.counts.shape[1]), dtype=np.int64)
    plain = replace(partition, counts=more, unlabelled=None, value_rows=None, n_values=None)
    if partition.kind != "categorical":
        return replace(plain, missing=0)
    at = partition.n_parts - partition.n_special
    groups = (*partition.groups[:at], unknown, *partition.groups[at:])
    missing = next((i for i, group in enumerate(groups) if None in group), None)
    return replace(plain, groups=groups, missing=missing)


def grid_prices(model: Model, counts: Mapping[Name, PartsCounts], columns: Mapping[Name, Raw], data: NewData) -> Prices:
    """Prices of a grid over several columns, of the new rows in memory whose class the model knows."""
    if data.target is None or not can_price(model, list(counts.values())):
        return Prices()
    table = _table(model, columns, data)
    if table is None:
        return Prices()
    clock, options = Clock(), options_of(model, columns)
    check_names(table, options)
    partitions: dict[Name, Any] = {name: extended(model.partitions[name], counts[name]) for name in columns}
    if model.target is not None and table.searched is not None:
        partitions[table.searched.name] = replace(model.target, name=table.searched.name)
    same = of_partitions(table, partitions, options, clock)
    best = grid_model(table, best_grid(table, options, 1, 0, clock), clock, options)
    return _prices(same, best, criterion_for(options.criterion, same.problem))


def _prices(same: Model, best: Model, criterion: Criterion) -> Prices:
    """Costs per row, in nats where the criterion says what its unit is; the parts of the model are a candidate too."""
    scale = criterion.scale
    unit = (1.0 if scale is None else scale) / same.n_rows
    return Prices(same.cost * unit, min(same.cost, best.cost) * unit, scale is not None)
