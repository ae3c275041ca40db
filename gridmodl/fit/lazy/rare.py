"""Join rare categories of a lazy frame whose columns make a grid: beyond the most frequent, all are one value.

Where a column has so many categories that they cannot all be counted, one value of its type stands for all that are
rare, in the frame itself, so that queries and searches of grids need not know. Models have the name of the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw

from gridmodl.data.frames import Name
from gridmodl.data.remote.counting import has_too_many, most_frequent
from gridmodl.data.remote.queries import (
    VALUE,
    EngineError,
    collected,
    comparable,
    engine_errors,
    is_one_of,
    is_text,
    plain_value,
    schema_of,
)
from gridmodl.data.remote.rows import LazyRows, lazy_rows
from gridmodl.fit.lazy.data import LazyData, apart_of
from gridmodl.fit.options import Options
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, with_others


class StandIn(NamedTuple):
    """Value that stands for all rare categories of a column in its frame, and their name in models."""

    value: Any
    others: str


class JoinedData(NamedTuple):
    """A lazy frame in which the rare categories of some columns are one value each."""

    data: LazyData
    stand_ins: Mapping[Name, StandIn]

    def in_frame(self, partitions: Mapping[Name, Partition]) -> dict[Name, Partition]:
        """Partitions with names of others as those of the frame, in which a value stands for the others."""
        return {name: self._in_frame(one) for name, one in partitions.items()}

    def _in_frame(self, partition: Partition) -> Partition:
        one = self.stand_ins.get(partition.name)
        if one is None or partition.kind != "categorical":
            return partition
        return replace(partition, groups=_renamed(partition, one.others, one.value), default=None, others=None)

    def named(self, model: Model) -> Model:
        """The model of the frame with the names of the others in its partitions."""
        if not self.stand_ins:
            return model
        partitions = {name: self._named(one) for name, one in model.partitions.items()}
        return replace(model, partitions=partitions, optima=tuple(map(self.named, model.optima)))

    def _named(self, partition: Partition) -> Partition:
        one = self.stand_ins.get(partition.name)
        if one is None:
            return partition
        return with_others(replace(partition, groups=_renamed(partition, one.value, one.others)), one.others)


def _renamed(partition: Partition, old: Any, new: Any) -> tuple[tuple[Any, ...], ...]:
    """Groups of a partition with the value `new` in place of `old`."""
    return tuple(
        tuple(new if value is not None and value == old else value for value in group) for group in partition.groups
    )


def join_rare(data: LazyData, options: Options) -> JoinedData:
    """Join the rare categories of all columns that have too many to count."""
    joined = JoinedData(data, {})
    for name in data.names:
        kind = options.kinds.get(name)
        with data.lock, engine_errors(name):
            rows = lazy_rows(data.frame, name, None, data.weights, data.n_rows)
            is_categorical = kind == "categorical" or (kind is None and not rows.is_ordered)
            if is_categorical and has_too_many(rows):
                kept, others = most_frequent(rows, apart_of(options, name), data.max_groups)
                joined = _joined(joined, rows, kept, others)
    return joined


def join_others(data: LazyData, partitions: Mapping[Name, Any]) -> JoinedData:
    """Join the categories that a partition does not list, and has a name for, as one value of its column."""
    joined = JoinedData(data, {})
    for name, one in partitions.items():
        if isinstance(one, Partition) and one.others is not None and name in data.names:
            with data.lock, engine_errors(name):
                rows = lazy_rows(data.frame, name, None, data.weights, data.n_rows)
                joined = _joined(joined, rows, list(itertools.chain(*one.listed)), one.others)
    return joined


def _joined(joined: JoinedData, rows: LazyRows, kept: Collection[Any], others: str) -> JoinedData:
    """The frame in which one value stands for those of a column that are not `kept`: of texts, the name `others`.

    Of other types, it is the lowest value that is not kept.
    """
    data, name = joined.data, str(rows.name)
    if data.frame.implementation.is_dask() and not (
        is_text(rows.dtype) or rows.dtype.is_float() or rows.dtype.is_integer()
    ):
        raise EngineError(
            f"column {name!r} has too many categories to count all, and Dask has no constants of {rows.dtype}, one of "
            "which would stand for the rare ones in a grid; cast the column to text"
        )
    value, stand_in = plain_value(schema_of(data.frame), name), others
    if is_text(rows.dtype):
        value = value.cast(nw.String)
    else:
        rare = rows.frame.filter(_is_rare(rows.dtype, nw.col(VALUE), kept))
        (stand_in,) = collected(rare.select(nw.col(VALUE).min()), rows.name)[VALUE].to_list()
    if stand_in is None:  # there is no rare value
        return joined
    column = nw.when(_is_rare(rows.dtype, value, kept)).then(nw.lit(comparable(stand_in))).otherwise(value)
    # Constants of Spark have a zone, those of others no nanoseconds.
    if rows.dtype == nw.Datetime and rows.dtype.time_zone is None:
        column = column.cast(rows.dtype)
    frame = data.frame.with_columns(column.alias(name))
    return JoinedData(data._replace(frame=frame), {**joined.stand_ins, rows.name: StandIn(stand_in, others)})


def _is_rare(dtype: Any, value: Any, kept: Collection[Any]) -> Any:
    """Whether a value of the type `dtype` is neither missing nor one of `kept`."""
    return ~value.is_null() & ~is_one_of(dtype, value, kept) if kept else ~value.is_null()
