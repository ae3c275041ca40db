"""Fit a grid over several columns of a lazy frame: count combinations of values on its engine, search here.

Where there are few combinations, all are counted, and the grid is that of the rows. Otherwise columns of numbers are
cut into atoms whose combinations are counted (`codes`), or a sample of the rows is searched; and the grid that was
found is counted on all rows: its cost, shares and probabilities are exact, and only the search saw less.
`Model.resolution` says how many rows an atom has, `Model.sample_rows` how many rows the sample has. Rare values of a
column of very many categories are one value of it from the start (`rare`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gridmodl.clock import Clock
from gridmodl.data.frames import Name
from gridmodl.data.remote.cells import all_cells, column_of, in_order, lazy_cells, sampled_cells
from gridmodl.data.remote.counting import MAX_GROUPS, counted
from gridmodl.data.remote.queries import (
    CLASS,
    HIGH,
    LOW,
    ROWS,
    check_same_rows,
)
from gridmodl.data.remote.rows import lazy_rows
from gridmodl.data.table import Table
from gridmodl.fit.lazy.codes import SearchColumn, coded_cells, improved_parts
from gridmodl.fit.lazy.data import LazyData, Reader
from gridmodl.fit.lazy.rare import join_rare
from gridmodl.fit.lazy.recount import Recount
from gridmodl.fit.options import Options
from gridmodl.model.model import Model

MAX_CELLS = 2**20  # combinations of values and class that are counted
MAX_PAIRS = 2**22  # the same of two columns without a target, whose search takes counts of pairs
SAMPLE_ROWS = 2**18  # rows of a sample
MARGIN = 3.0  # standard deviations by which a sample keeps more rows in a part than min_rows asks for

Searcher = Callable[[Table, Options], Model]


class Searches(NamedTuple):
    """Functions that search: the grid of a table, and the best partition of a column, by name, of a table."""

    grid: Searcher
    column: SearchColumn


def counted_density(data: LazyData, options: Options, read: Reader, search: Searcher) -> Model:
    """Model of the density of the one column, counted by value."""
    (name,) = data.names
    rows = lazy_rows(data.frame, name, None, data.weights, data.n_rows)
    counts = counted(rows, [], MAX_GROUPS, by_value=True).counts
    check_same_rows(data.n_rows, int(counts[ROWS].sum()))
    if (counts[LOW] != counts[HIGH]).fill_null(False).any():
        raise ValueError(
            f"column {name!r} has more than {MAX_GROUPS} values; the density of a lazy frame takes one with fewer: "
            "its parts have widths, which depend on single values. Round its values, or collect a sample"
        )
    return search(read({name: in_order(counts, [LOW])[LOW]}, in_order(counts, [LOW])[ROWS].to_numpy()), options)


def counted_grid(data: LazyData, options: Options, read: Reader, search: Searches, clock: Clock) -> Model:
    """Model of a grid over all columns: `read` makes a table of counted rows, `search` finds its grid."""
    found = _all_cells(data)
    if found is not None:
        return search.grid(_table(data, found, read), options)
    joined = join_rare(data, options)
    found = _all_cells(joined.data) if joined.stand_ins else None
    if found is not None:
        return joined.named(search.grid(_table(data, found, read), options))
    return joined.named(_grid_of_many(joined.data, options, read, search, clock))


def _all_cells(data: LazyData) -> Any:
    """Rows of each combination of values and class; None if there are too many to search."""
    cells = lazy_cells(data.frame, data.names, data.target, data.weights)
    found = all_cells(cells, MAX_PAIRS if data.target is None and len(data.names) == 2 else MAX_CELLS)
    if found is not None:
        check_same_rows(data.n_rows, int(found[ROWS].sum()))
    return found


def _grid_of_many(data: LazyData, options: Options, read: Reader, search: Searches, clock: Clock) -> Model:
    """Model of a grid of too many combinations of values: found by codes or in a sample, counted on all rows."""
    coded = coded_cells(data, options, read, search.column, MAX_CELLS) if data.has_classes else None
    n_sample = 0
    if coded is not None:
        model = search.grid(coded.table, options)
    else:
        cells = lazy_cells(data.frame, data.names, data.target, data.weights)
        sample = sampled_cells(cells, data.n_rows, SAMPLE_ROWS)
        sampled = _table(data, sample, partial(read, event=None))  # it may lack the class of the event
        n_sample = sampled.target.n_rows
        model = search.grid(sampled, _of_sample(options, data, n_sample))
    with Clock().governing():  # the grid is found: Ctrl-C ends its counts on all rows, the time limit does not
        recount = Recount(data, options, model)
        if data.has_classes:
            max_cells = MAX_CELLS // len(model.classes)
            recount = recount.of_parts(improved_parts(data, recount.partitions(), options, read, clock, max_cells))
        on_all = recount.counted(read, clock)
    _check_limits(on_all, options)
    resolution = on_all.resolution if coded is None else coded.resolution
    return replace(on_all, resolution=resolution, sample_rows=n_sample, left_out=_left_out(on_all, model))


def _left_out(on_all: Model, model: Model) -> dict[Name, str]:
    """Reasons of the columns with one part: those of the search, or that their parts do not pay on all rows."""
    one_part = [name for name in on_all.partitions if name not in on_all.informative]
    return {name: model.left_out.get(name, "beside the others its parts cost more than they tell") for name in one_part}


def _table(data: LazyData, found: Any, read: Reader) -> Table:
    """Table of counted rows."""
    columns: dict[Name, Any] = {name: found[column_of(k)] for k, name in enumerate(data.names)}
    if data.target is not None:
        columns[data.target] = found[CLASS]
    return read(columns, found[ROWS].to_numpy())


def _of_sample(options: Options, data: LazyData, n_sample: int) -> Options:
    """Options for a sample: min_rows in proportion, and some more, so that all rows keep it too."""

    def scaled(given: Any) -> Any:
        if given is None:
            return None
        expected = (given if given >= 1 else given * data.n_rows) * n_sample / data.n_rows
        return max(1, math.ceil(expected + MARGIN * math.sqrt(expected)))

    given = options.min_rows
    by_name = {name: scaled(one) for name, one in given.items()} if isinstance(given, Mapping) else scaled(given)
    return options._replace(min_rows=by_name)


def _check_limits(model: Model, options: Options) -> None:
    """Raise ValueError if a part that the sample allowed has too few of all rows."""
    for name, partition in model.partitions.items():
        least = options.of(name).limits(model.n_rows).min_rows
        is_free = np.ones(partition.n_parts, dtype=bool)
        is_free[partition.n_parts - partition.n_special :] = False
        if partition.is_missing_apart and partition.missing is not None:
            is_free[partition.missing] = False
        if partition.n_parts > 1 and np.any(partition.rows[is_free] < least):
            raise ValueError(
                f"min_rows asks for {least} rows in each part of column {name!r}; the search saw a sample, and one of "
                f"its parts has {int(partition.rows[is_free].min())} of all rows. Ask for fewer, or for none"
            )
