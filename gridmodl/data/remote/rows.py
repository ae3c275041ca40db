"""Rows of one column of a lazy frame, counted by value or in buckets; each bucket with its lowest and highest value."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw

from gridmodl.data.columns import check_no_records
from gridmodl.data.frames import Name
from gridmodl.data.remote.edges import Edges, Range, bucket_of
from gridmodl.data.remote.queries import (
    APART,
    BUCKET,
    CLASS,
    HIGH,
    HIGH_KEY,
    KEY,
    LOW,
    LOW_KEY,
    ROWS,
    TARGET_BUCKET,
    TARGET_HIGH,
    TARGET_KEY,
    TARGET_SUM,
    VALUE,
    WEIGHT,
    Schema,
    collected,
    has_keys_here,
    in_utc,
    is_finite,
    is_ordered,
    key_of,
    keys_here,
    plain_value,
    schema_of,
    weight_of,
)
from gridmodl.spelling import check_columns

KEYS = {LOW_KEY: nw.col(KEY).min(), HIGH_KEY: nw.col(KEY).max()}
ENDS = ((LOW, LOW_KEY), (HIGH, HIGH_KEY))
# Numbers of the values of a column that are counted by value: missing ones, infinite ones, then those of `apart`.
MISSING, INFINITE, MINUS_INFINITE, SPECIAL = -1, -2, -3, -4


class LazyRows(NamedTuple):
    """Rows of one column of a lazy frame: VALUE, CLASS if there is a target, WEIGHT, and KEY if values are in order."""

    frame: Any  # a narwhals LazyFrame
    name: Name
    dtype: Any  # narwhals type of the values
    n_rows: int  # sum of the weights of all rows
    has_target: bool
    has_weights: bool
    is_local: bool = False  # whether keys are times of a local clock, which shows an hour twice a year
    target_edges: Edges | None = None  # buckets of a numerical target with many values
    beside: tuple[str, ...] = ()  # columns that are counted beside: parts of other columns

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers or times, which can be cut into buckets."""
        return is_ordered(self.dtype)

    @property
    def has_keys_here(self) -> bool:
        """Whether keys of values that were returned can be computed here, with the digits of the engine."""
        return has_keys_here(self.dtype)

    @property
    def _is_duration(self) -> bool:
        """Whether the values are durations, of which pyarrow finds no lowest one in a group."""
        return isinstance(self.dtype, nw.Duration)

    @property
    def classes(self) -> list[str]:
        """Columns that tell the classes, or the buckets of the target, apart, and those that are counted beside."""
        if not self.has_target:
            return [*self.beside]
        return [CLASS if self.target_edges is None else TARGET_BUCKET, *self.beside]

    def by_value(self, frame: Any, most: int | None = None, groups: Sequence[str] = (VALUE,)) -> Any:
        """Rows of each value and class of `frame`, a part of the lazy frame; of any `most` + 1 if they are more.

        `groups` are the columns that tell values apart.
        """
        found = self._collected(frame, groups, {} if not self.is_ordered or self.has_keys_here else KEYS, most)
        found = found.with_columns(nw.col(VALUE).alias(LOW), nw.col(VALUE).alias(HIGH)).drop(VALUE)
        return self._with_keys(found)

    def by_edges(self, frame: Any, edges: Sequence[Range], apart: Collection[Any] | None = None) -> Any:
        """Rows of each bucket and class, with the span of values of the bucket in all classes.

        With `apart`, these values, missing and infinite ones are counted by value; else `frame` has none of them.
        """
        bucket = bucket_of(edges, KEY)
        if apart is not None:
            bucket = self._apart_or(bucket, apart)
        ends = {LOW: nw.col(VALUE).min(), HIGH: nw.col(VALUE).max(), **({} if self.has_keys_here else KEYS)}
        found = self._collected(frame.with_columns(bucket.alias(BUCKET)), [BUCKET], ends)
        lowest = nw.col(*(name for name in ends if name in (LOW, LOW_KEY))).min()
        highest = nw.col(*(name for name in ends if name in (HIGH, HIGH_KEY))).max()
        spans = found.with_columns(nw.col(LOW, HIGH).cast(nw.Int64)) if self._is_duration else found
        spans = spans.group_by(BUCKET).agg(lowest, highest)
        spans = spans.with_columns(nw.col(LOW, HIGH).cast(found.schema[LOW])) if self._is_duration else spans
        found, number = found.drop(*ends).join(spans, on=BUCKET, how="inner"), nw.col(BUCKET)
        return self._with_keys(found.with_columns(nw.when(number < 0).then(APART).otherwise(number).alias(BUCKET)))

    def _apart_or(self, bucket: Any, apart: Collection[Any]) -> Any:
        """Number of the bucket of each row; those of missing, infinite and special values are negative."""
        value = nw.col(VALUE)
        if self.dtype.is_float():
            infinite = nw.when(value > 0).then(nw.lit(INFINITE)).otherwise(nw.lit(MINUS_INFINITE)).cast(nw.Int64)
            bucket = nw.when(is_finite(value)).then(bucket).otherwise(infinite)
        for i, one in enumerate(apart):
            bucket = nw.when(value == one).then(nw.lit(SPECIAL - i).cast(nw.Int64)).otherwise(bucket)
        return nw.when(value.is_null()).then(nw.lit(MISSING).cast(nw.Int64)).otherwise(bucket)

    def _with_keys(self, found: Any) -> Any:
        """Counts of spans with the keys of their ends."""
        if not self.is_ordered or not self.has_keys_here:
            return found
        return found.with_columns(*(keys_here(self.dtype, found[end]).alias(key) for end, key in ENDS))

    def _collected(self, frame: Any, groups: Sequence[str], what: Mapping[str, Any], most: int | None = None) -> Any:
        """Rows of the `groups` by class, with `what` of each; of a target in buckets, its ends and its sum."""
        rows = nw.col(WEIGHT).sum() if self.has_weights else nw.len()
        aggregates = [rows.alias(ROWS), *(each.alias(name) for name, each in what.items())]
        if self.target_edges is not None:
            frame, aggregates = with_target_buckets(frame, self.target_edges), aggregates + target_facts()
        query = frame.group_by(*groups, *self.classes).agg(*aggregates)
        found = collected(query if most is None else query.head(most + 1), self.name)
        return found if self.target_edges is None else with_target_ends(found)


def with_target_buckets(frame: Any, edges: Edges) -> Any:
    """Rows with TARGET_BUCKET, of TARGET_KEY, and with what a row adds to TARGET_SUM."""
    weighted = nw.col(TARGET_KEY) * nw.col(WEIGHT)
    return frame.with_columns(bucket_of(edges, TARGET_KEY).alias(TARGET_BUCKET), weighted.alias(TARGET_SUM))


def target_facts() -> list[Any]:
    """Ends and sum of a target in buckets."""
    return [nw.col(CLASS).min(), nw.col(CLASS).max().alias(TARGET_HIGH), nw.col(TARGET_SUM).sum()]


def with_target_ends(found: Any) -> Any:
    """Counts by buckets of a target, with the ends of each bucket in all rows."""
    ends = found.group_by(TARGET_BUCKET).agg(nw.col(CLASS).min(), nw.col(TARGET_HIGH).max())
    return found.drop(CLASS, TARGET_HIGH).join(ends, on=TARGET_BUCKET, how="inner")


def target_columns(schema: Schema, target: Name) -> dict[str, Any]:
    """Values of a numerical target that is counted in buckets, and their keys."""
    dtype, value = schema[str(target)], schema.col(target)
    value = value + 0 if dtype.is_float() else value
    return {CLASS: value, TARGET_KEY: key_of(dtype, value)}


def lazy_rows(
    frame: Any, name: Name, target: Name | None, weights: Name | None, n_rows: int, target_edges: Edges | None = None,
    beside: Mapping[str, Any] | None = None,
) -> LazyRows:  # fmt: skip
    """Rows of the column `name` of a lazy frame; `target_edges` are of a numerical target.

    `beside` are expressions of further columns, by name, whose values are counted apart.
    """
    schema = schema_of(frame)
    check_columns("data", [name], schema)
    dtype = schema[str(name)]
    check_no_records(name, dtype)
    columns = {VALUE: plain_value(schema, name), WEIGHT: weight_of(schema, weights), **(beside or {})}
    if target is not None:
        columns[CLASS] = plain_value(schema, target)
    if target is not None and target_edges is not None:
        columns |= target_columns(schema, target)
    selected = frame.select(**columns)
    if weights is not None:
        selected = selected.filter(nw.col(WEIGHT) > 0)
    has_target, keys = target is not None, tuple(beside or ())
    rows = LazyRows(selected, name, dtype, n_rows, has_target, weights is not None, False, target_edges, keys)
    if not rows.is_ordered:
        return rows
    if dtype.is_integer() and selected.implementation.is_pyarrow():  # rows in memory; it refuses to round long integers
        here = selected.collect()
        return rows._replace(frame=here.with_columns(keys_here(dtype, here[VALUE])).lazy())
    value = in_utc(selected, nw.col(VALUE), dtype)
    key = key_of(dtype, nw.col(VALUE) if value is None else value)
    return rows._replace(frame=selected.with_columns(key.alias(KEY)), is_local=value is None)
