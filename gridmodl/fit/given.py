"""Price the user's own parts: of rows in memory, and of lazy frames, whose cells are counted on their engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gridmodl.clock import Clock
from gridmodl.data.counts import Counts
from gridmodl.data.frames import Name
from gridmodl.data.remote.queries import engine_errors, is_ordered
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.build import check_grid_options, check_names, is_grid, of_partitions
from gridmodl.fit.column.common import special_of
from gridmodl.fit.lazy.column import model_at
from gridmodl.fit.lazy.data import LazyData, Reader, counted_data
from gridmodl.fit.lazy.models import LAZY_FRAME
from gridmodl.fit.lazy.rare import join_others
from gridmodl.fit.lazy.recount import Recount
from gridmodl.fit.options import Options, check_one_input, checked_options
from gridmodl.model.given import given_partition
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.spelling import check_columns

NO_ROWS = np.zeros((1, 1), dtype=np.int64)


def model_of_partitions(
    data: Any, target: Any, partitions: Any, criterion: Any, weights: Any, kinds: Any, order: Any, special: Any,
    target_kind: str | None, unlabelled: Any = NOT_GIVEN, event: Any = None,
) -> Model:  # fmt: skip
    """Build the model of the user's partitions: the body of `Model.from_partitions`."""
    clock = Clock()
    options = checked_options(criterion, kinds=kinds, order=order, special=special)
    check_order(target, partitions)
    counted = counted_data(data, target, weights, target_kind, unlabelled, event=event, needs_target=False)

    def build(table: Table) -> Model:
        check_columns("partitions", partitions, table.known_names)
        given = {name: parts for name, parts in partitions.items() if isinstance(parts, Partition)}
        levels = {name: parts.levels for name, parts in given.items() if parts.levels}
        of_table = options._replace(kinds={**levels, **options.kinds})
        check_names(table, of_table)
        check_one_input(table, unlabelled)
        if is_grid(table):
            check_grid_options(of_table, table)
        return of_partitions(table, partitions, of_table, clock)

    if counted is None:
        return build(read_table(data, target, weights, target_kind, unlabelled, event=event))
    lazy, read = counted
    names = lazy.names if isinstance(lazy, LazyData) else list(lazy)
    check_columns("partitions", partitions, names if lazy.target is None else [*names, lazy.target])
    if len(names) == 1 and lazy.target is not None:
        model = model_at(lazy, names[0], options, read, partitions, build)
    elif isinstance(lazy, Counts):
        raise ValueError(
            f"data are counts of {len(names)} columns, each on its own: optimize_each(counts, partitions=) takes them, "
            f"and one alone is counts.only({names[0]!r})"
        )
    elif len(names) == 1:
        raise TypeError("data is a lazy frame of one column, and no target was given: name one of its columns")
    else:
        model = _lazy_grid(lazy, partitions, options, read, build)
    return replace(model, frame=LAZY_FRAME)


def check_order(target: Any, partitions: Any) -> None:
    """Raise TypeError if `partitions` are no dict, or if they stand where the target belongs."""
    if isinstance(target, Mapping):
        raise TypeError(
            "data, target and partitions come in this order, and the target is a dict; without a target, pass None "
            "there, or partitions= by name"
        )
    if not isinstance(partitions, Mapping):
        raise TypeError(
            f"partitions must be a dict of bounds or groups by column name, got {type(partitions).__name__}; they come "
            "third, after data and target"
        )


def _lazy_grid(
    data: LazyData, given: Mapping[Name, Any], options: Options, read: Reader, build: Callable[[Table], Model]
) -> Model:
    """Model of the parts `given` by name: `build` makes it of rows that have the cells of all rows."""
    kinds = {name: one.column_kind for name, one in given.items() if isinstance(one, Partition) and name in data.names}
    options = options._replace(kinds={**kinds, **options.kinds})
    joined = join_others(data, given)
    data = joined.data
    in_frame = {**given, **joined.in_frame({name: given[name] for name in joined.stand_ins})}
    with data.lock, engine_errors(", ".join(map(str, data.names))):
        whole = {name: Partition(name, "numerical", NO_ROWS) for name in data.names}
        start = Recount(data, options, _unpriced(data, whole, given))
        parts = {name: _parts(start, name, in_frame.get(name, ())) for name in data.names}
        recount = start.of_parts(parts)
        table, values = recount.table(parts, read)
    model = build(table)
    if not table.problem.flags.has_classes:
        described = recount.described(joined.in_frame(model.partitions), values)
        model = joined.named(replace(model, partitions=described))
    resolution = 0 if recount.of_target is None else recount.of_target.resolution
    return replace(model, resolution=resolution, _source=None)


def _unpriced(data: LazyData, parts: Mapping[Name, Partition], given: Mapping[Name, Any]) -> Model:
    """Model of parts without rows, for `Recount`; a target that is partitioned has the bounds that are `given`."""
    target = None
    if data.target is not None and not data.has_classes:
        bounds = np.empty(0)
        if data.of_target is not None:
            bounds = given_partition(data.of_target.column, given.get(data.target, ()), (), 1).bounds
        target = Partition(data.target, "numerical", NO_ROWS, bounds)
    return Model(0.0, 0.0, "", "", data.n_rows, np.empty(0), parts, False, "given", 0.0, target=target)


def _parts(recount: Recount, name: Name, given: Any) -> Partition:
    """The parts `given` of a column, without rows; an error if a category of the column is in none."""
    options, dtype = recount.options, recount.data.frame.collect_schema()[str(name)]
    column = recount.column(name, is_ordered(dtype) and options.kinds.get(name) in (None, "numerical"))
    if isinstance(given, Partition) and given.kind == "categorical":
        given = [list(group) for group in given.groups]
    return given_partition(column, given, special_of(column, options), 1)
