"""Fit the columns of a lazy frame or of `Counts`: count each on its engine, search here, count again near the bounds.

Counts are rows with weights, so all that follows is as for data in memory. Where atoms are spans of several values, the
search is repeated on spans that are divided near its bounds, until these are between single values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from gridmodl.data.columns import encode_column
from gridmodl.data.counts import Counts
from gridmodl.data.frames import Name, SpanColumn
from gridmodl.data.line import check_bounds
from gridmodl.data.numbers import encode_codes, is_missing_value
from gridmodl.data.remote.counting import (
    MAX_VALUES,
    count_again,
    count_frequent,
    counted,
    frequent_in,
    frequent_values,
)
from gridmodl.data.remote.queries import (
    CLASS,
    ROWS,
    TARGET_HIGH,
    TARGET_SUM,
    QueryStoppedError,
    check_same_rows,
    engine_errors,
)
from gridmodl.data.remote.rows import lazy_rows
from gridmodl.data.table import Table
from gridmodl.fit.lazy.axis import Axis, raw_column, resolution_of
from gridmodl.fit.lazy.data import LazyData, Reader, apart_of
from gridmodl.fit.lazy.spans_floor import with_span_floor
from gridmodl.fit.options import Options
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, with_others
from gridmodl.search.moves import is_cheaper

MAX_ZOOMS = 3  # searches of one column after the first
MORE_VALUES = 8  # times as many categories are counted by value when rare ones are asked for again


@dataclass(frozen=True)
class CountedColumn:
    """Counts of one column with the target; `axis` is None if they came as `Counts`, which cannot be divided."""

    name: Name
    target: Name
    counts: Any  # a frame: spans, classes or spans of the target, rows
    kind: Any = None
    axis: Axis | None = None
    of_target: Axis | None = None
    rare: str | None = None  # name of the categories that were counted together

    def table(self, read: Reader) -> Table:
        """Table of the counts, each a row with a weight."""
        rows = self.counts[ROWS].to_numpy()
        target: Any = self.counts[CLASS]
        if TARGET_SUM in self.counts.columns:
            target = SpanColumn(target, self.counts[TARGET_HIGH], self.counts[TARGET_SUM].to_numpy() / rows)
        return read({self.name: raw_column(self.counts, self.rare), self.target: target}, rows)

    @property
    def column(self) -> Any:
        """The spans as an encoded column."""
        return encode_column(raw_column(self.counts, self.rare), self.name, self.kind)

    @property
    def resolution(self) -> int:
        """Rows of the largest span of several values, of the column or of the target; 0 if there is none."""
        of_target = 0
        if TARGET_HIGH in self.counts.columns:
            spans = SpanColumn(self.counts[CLASS], self.counts[TARGET_HIGH])
            of_target = resolution_of(encode_column(spans, self.target, "numerical"), self.counts)
        return max(of_target, resolution_of(self.column, self.counts))

    def with_more_values(self, data: LazyData) -> CountedColumn | None:
        """The counts with MORE_VALUES times as many categories by value; None if these would be too many."""
        if self.axis is None or self.axis.max_groups * MORE_VALUES > MAX_VALUES:
            return None
        max_groups = self.axis.max_groups * MORE_VALUES
        counts, _, rows, rare = frequent_values(self.axis.rows, self.axis.apart, max_groups)
        axis = self.axis._replace(counts=counts, rows=rows, max_groups=max_groups, rare=rare)
        return _joined(data, axis, None)

    def near(self, data: LazyData, model: Model, is_moved: bool) -> CountedColumn | None:
        """The counts with the spans near the bounds of a model divided; None if all of these are values.

        `is_moved` says that this was done before, near the bounds of an earlier model.
        """
        if self.axis is None:
            return None
        axis, of_target = self.axis.near(model.partitions[self.name].bounds, is_moved), None
        if self.of_target is not None and model.target is not None:
            of_target = self.of_target.near(model.target.bounds, is_moved)
        if axis is None and of_target is None:
            return None
        return _joined(data, axis or self.axis, of_target or self.of_target)


def count_lazy(
    data: LazyData, name: Name, options: Options, given: Sequence[Any] = (), given_target: Sequence[Any] = (), *,
    others: Partition | None = None, beside: Mapping[str, Any] | None = None,
) -> CountedColumn:  # fmt: skip
    """Count the column `name` with the target; no span holds one of the bounds that the user gave.

    All categories that the partition `others` does not list are counted together, under the name that it has for them.
    `beside` are expressions of parts of other columns, which are counted apart.
    """
    kind, apart = options.kinds.get(name), apart_of(options, name)
    with data.lock, engine_errors(name):
        is_joint = data.of_target is not None
        target = None if is_joint else data.target
        rows = lazy_rows(data.frame, name, target, data.weights, data.n_rows, beside=beside)
        if kind not in (None, "numerical") and rows.is_ordered:
            rows = rows._replace(dtype=nw.Unknown())  # counted by value
        if others is None:
            counts, edges, rows, rare = counted(rows, apart, data.max_groups, not is_joint, data.look(rows, options))
        else:
            counts, edges, rare = count_frequent(rows, set(itertools.chain(*others.listed))), (), others.others
        axis = Axis(rows, counts, edges, apart, data.max_groups, kind, not is_joint, rare)
        axis = axis.at([*given_bounds_of(options, name), *given])
        return _joined(data, axis, None if data.of_target is None else data.of_target.at(given_target))


def _joined(data: LazyData, axis: Axis, of_target: Axis | None) -> CountedColumn:
    """Counts of a column by class, or by the spans of both a column and its target."""
    name, counts = axis.rows.name, axis.counts
    if of_target is not None:
        rows = lazy_rows(data.frame, name, data.target, data.weights, data.n_rows, of_target.edges)
        rows = rows._replace(dtype=axis.rows.dtype)
        if axis.rare is None:
            counts = count_again(rows, axis.apart, axis.edges, axis.max_groups)
        else:
            counts = count_frequent(rows, frequent_in(axis.counts))
    found = CountedColumn(name, data.target, counts, axis.kind, axis, of_target, axis.rare)
    check_same_rows(data.n_rows, int(counts[ROWS].sum()), name)
    return found


def kept_counts(counts: Counts, name: Name, options: Options) -> CountedColumn:
    """The column `name` of `counts`; raise ValueError for special values and bounds that lie inside of its spans."""
    kept, kind = counts.columns[name], options.kinds.get(name)
    frame = nw.from_native(kept.table, eager_only=True)
    found = CountedColumn(name, counts.target, frame, kind, rare=kept.rare)
    if not kept.edges:
        return found
    if kind not in (None, "numerical"):
        raise ValueError(f"column {name!r} was counted in spans of numbers; kinds= of count() makes it {kind}")
    column = found.column
    for given in apart_of(options, name):
        (code,) = encode_codes([given], column, f"special of column {name!r}").tolist()
        if np.any((column.values <= code) & (code <= column.ends) & (column.values < column.ends)):
            raise ValueError(
                f"special of column {name!r} holds {given!r}, which was counted in a span; give special= to count()"
            )
    check_bounds(column, given_bounds_of(options, name))
    return found


def counted_column(
    data: LazyData | Counts, name: Name, options: Options, given: Sequence[Any] = (), given_target: Sequence[Any] = ()
) -> CountedColumn:
    """Counts of the column `name`; no span holds one of the bounds `given`, of the column and of the target."""
    if isinstance(data, LazyData):
        return count_lazy(data, name, options, given, given_target)
    found = kept_counts(data, name, options)
    if given:
        check_bounds(found.column, given)
    return found


def _model_of_rare(
    data: LazyData, found: CountedColumn, read: Reader, search: Callable[[Table], Model]
) -> tuple[Model, CountedColumn]:
    """Model of very many categories: more of them are counted by value as long as the model gets cheaper."""
    best = search(found.table(read))
    while True:
        with _keeping_what_is() as stop, data.lock, engine_errors(found.name):
            finer = found.with_more_values(data)
        if stop.reason is not None:
            return replace(best, stopped=stop.reason), found
        model = None if finer is None else search(finer.table(read))
        if finer is None or model is None or not is_cheaper(model.cost, best.cost):
            return best, found
        best, found = model, finer


@dataclass
class _EndOfQueries:
    """Why queries were ended, as `Model.stopped` says it."""

    reason: str | None = None


@contextmanager
def _keeping_what_is() -> Iterator[_EndOfQueries]:
    """Let a time limit or Ctrl-C end the queries of the block alone: there is a model already."""
    stop = _EndOfQueries()
    try:
        yield stop
    except QueryStoppedError as error:
        stop.reason = error.reason
    except KeyboardInterrupt:
        stop.reason = "interrupted"


def counted_model(
    data: LazyData | Counts, name: Name, options: Options, read: Reader, search: Callable[[Table], Model]
) -> Model:
    """Model of the column `name`: `read` makes a table of counted rows and their weights, `search` finds its model."""
    found = counted_column(data, name, options)
    if found.rare is not None and isinstance(data, LazyData) and found.of_target is None:
        model, found = _model_of_rare(data, found, read, search)
        return _with_rare_values(model, name, found.rare)
    found, table, model = zoomed_model(data, found, read, search)
    return with_resolution(model, found, table, options)


def zoomed_model(
    data: LazyData | Counts, found: CountedColumn, read: Reader, search: Callable[[Table], Model]
) -> tuple[CountedColumn, Table, Model]:
    """Search a column that was counted, and again with the spans near the bounds divided; the last counts and model."""
    table = found.table(read)
    model = search(table)
    for zoom in range(MAX_ZOOMS):
        if not found.resolution or not isinstance(data, LazyData) or model.stopped:
            break
        with _keeping_what_is() as stop, data.lock, engine_errors(found.name):
            finer = found.near(data, model, zoom > 0)
        if stop.reason is not None:
            return found, table, replace(model, stopped=stop.reason)
        if finer is None:
            break
        finer_table = finer.table(read)
        next_model = search(finer_table)
        if next_model.stopped and not is_cheaper(next_model.cost, model.cost):  # it had no time to come as far
            return found, table, replace(model, stopped=next_model.stopped)
        found, table, model = finer, finer_table, next_model
    return found, table, model


def with_resolution(model: Model, found: CountedColumn, table: Table, options: Options) -> Model:
    """The model, with the rows of its largest span; where there is one, the proof is of a lower bound at most."""
    resolution = found.resolution
    model = _with_rare_values(model, found.name, found.rare)
    return with_span_floor(model, resolution, table, options) if resolution else model


def _with_rare_values(model: Model, name: Name, rare: str | None) -> Model:
    """The model, whose group of values that were counted together, if any, takes all values that no group lists."""
    if rare is None:
        return model
    partitions = {name: with_others(model.partitions[name], rare)}
    return replace(model, partitions=partitions, proven=False, certificate=None, unproven=None)


def model_at(
    data: LazyData | Counts, name: Name, options: Options, read: Reader, given: Mapping[Name, Any],
    build: Callable[[Table], Model],
) -> Model:  # fmt: skip
    """Model that `build` makes of the counts of the column `name`, by the parts `given` by name."""
    found = counted_at(data, name, options, given)
    return _with_rare_values(build(found.table(read)), name, found.rare)


def counted_at(data: LazyData | Counts, name: Name, options: Options, given: Mapping[Name, Any]) -> CountedColumn:
    """Counts of the column `name`, by the parts `given` by name.

    No span holds a bound of theirs. Categories that they do not list, and have a name for, are counted together.
    """
    parts, bounds = given.get(name), (_bounds_in(given.get(name)), _bounds_in(given.get(data.target)))
    if not isinstance(parts, Partition) or parts.others is None:
        return counted_column(data, name, options, *bounds)
    if isinstance(data, LazyData):
        return count_lazy(data, name, options, *bounds, others=parts)
    found = kept_counts(data, name, options)
    if found.rare != parts.others:
        raise ValueError(
            f"the counts of column {name!r} have other rare categories than its partition, {found.rare!r} and not "
            f"{parts.others!r}; give the partition to the lazy frame that was counted"
        )
    return found


def _bounds_in(given: Any) -> list[Any]:
    """Bounds of parts that are given as a Partition, as bounds or as groups, which have none."""
    if isinstance(given, Partition):
        return list(given.bounds) if given.kind == "numerical" else []
    if given is None or isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        return []
    return [one for one in given if np.ndim(one) == 0 and not isinstance(one, str) and not is_missing_value(one)]


def given_bounds_of(options: Options, name: Name) -> list[Any]:
    """Bounds of a column that the user fixes or allows."""
    of_column = options.of(name)
    return [bound for given in (of_column.fixed, of_column.allowed) if given is not None for bound in given]
