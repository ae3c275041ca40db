"""Count the rows of a lazy frame on the engine that holds it, in results of bounded size.

A column is counted by value where it has at most `max_groups` values. A longer one is cut into buckets of equal width,
each with its lowest and its highest value, so that an atom is a span of values, and bounds lie between values that the
data have. Buckets with many rows are divided again. Missing values, infinite values and special codes are counted by
value.

Only expressions that all engines of narwhals have are used, so that their answers are equal to the bit, whatever the
order of the rows: -0.0 is 0.0, and NaN is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name

MAX_GROUPS = 65_536  # values or buckets that one query asks for
MAX_VALUES = 2**22  # values of a categorical column
MAX_RANGES = 128  # ranges that one query divides: each is a branch of its expression
MAX_LEVELS = 5  # queries that divide a column before its search
NEAR = 2  # spans on each side of a bound that are divided after a search
HEAVY = 2.0  # a bucket is divided again if it has more than HEAVY times the mean rows of MAX_GROUPS buckets

# Columns of queries; those of the user have other names.
VALUE, CLASS, WEIGHT, KEY, BUCKET = (f"gridmodl_{word}" for word in ("value", "class", "weight", "key", "bucket"))
# Columns of counted spans: the lowest and highest value, the same as floats that sort alike, and the number of rows.
LOW, HIGH, LOW_KEY, HIGH_KEY, ROWS = "low", "high", "low_key", "high_key", "rows"
SPAN = {LOW: nw.col(VALUE).min(), HIGH: nw.col(VALUE).max(), LOW_KEY: nw.col(KEY).min(), HIGH_KEY: nw.col(KEY).max()}


class EngineError(RuntimeError):
    """A query failed on the engine of a lazy frame, or two of its answers contradict each other."""


class LazyRows(NamedTuple):
    """Rows of one column of a lazy frame: VALUE, CLASS if there is a target, WEIGHT, and KEY if values are in order."""

    frame: Any  # a narwhals LazyFrame
    name: Name
    dtype: Any  # narwhals type of the values
    n_rows: int  # sum of the weights of all rows
    has_target: bool
    is_local: bool = False  # whether keys are times of a local clock, which shows an hour twice a year

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers or times, which can be cut into buckets."""
        return bool(self.dtype.is_numeric() or self.dtype.is_temporal())

    @property
    def classes(self) -> list[str]:
        return [CLASS] if self.has_target else []

    def by_value(self, frame: Any) -> Any:
        """Rows of each value and class of `frame`, a part of the lazy frame."""
        keys = {LOW_KEY: SPAN[LOW_KEY], HIGH_KEY: SPAN[HIGH_KEY]} if self.is_ordered else {}
        groups = frame.group_by(VALUE, *self.classes)
        found = collected(
            groups.agg(nw.col(WEIGHT).sum().alias(ROWS), *(e.alias(k) for k, e in keys.items())), self.name
        )
        return found.with_columns(nw.col(VALUE).alias(LOW), nw.col(VALUE).alias(HIGH)).drop(VALUE)

    def by_bucket(self, frame: Any, ranges: Sequence[Range]) -> Any:
        """Rows of each bucket of `ranges` and class, with the span of values of the bucket in all classes."""
        bucket = nw.lit(-1)
        for one in ranges:
            bucket = nw.when((nw.col(KEY) >= one.low) & (nw.col(KEY) <= one.high)).then(one.bucket()).otherwise(bucket)
        counts = frame.with_columns(bucket.cast(nw.Int64).alias(BUCKET)).group_by(BUCKET, *self.classes)
        found = collected(
            counts.agg(nw.col(WEIGHT).sum().alias(ROWS), *(e.alias(k) for k, e in SPAN.items())), self.name
        )
        ends = found.group_by(BUCKET).agg(
            nw.col(LOW).min(), nw.col(HIGH).max(), nw.col(LOW_KEY).min(), nw.col(HIGH_KEY).max()
        )
        return found.drop(LOW, HIGH, LOW_KEY, HIGH_KEY).join(ends, on=BUCKET, how="inner").drop(BUCKET)


class Range(NamedTuple):
    """Keys that are cut into buckets of equal width."""

    low: float
    high: float
    n_buckets: int
    first: int = 0  # number of its first bucket

    def bucket(self) -> Any:
        """Number of the bucket of each key; it never falls as the key rises."""
        if self.n_buckets == 1 or self.high == self.low:
            return nw.lit(self.first)
        place = ((nw.col(KEY) - self.low) * (self.n_buckets / (self.high - self.low))).floor()
        return self.first + nw.when(place < self.n_buckets).then(place).otherwise(nw.lit(self.n_buckets - 1.0))


def collected(lazy: Any, name: Name) -> Any:
    """Run a query; its result as a narwhals frame of pyarrow, with ROWS as 64-bit integers."""
    try:
        found = lazy.collect(backend="pyarrow")
        return found.with_columns(nw.col(ROWS).cast(nw.Int64)) if ROWS in found.columns else found
    except Exception as error:
        raise EngineError(
            f"the engine of the lazy frame failed to count column {name!r}: {type(error).__name__}: {error}"
        ) from error


def key_of(dtype: Any, value: Any) -> Any:
    """Floats that sort like the values of a column of numbers or times; different values may have the same float."""
    if dtype.is_numeric():
        return value.cast(nw.Float64)
    if isinstance(dtype, nw.Duration):
        return value.dt.total_microseconds().cast(nw.Float64)
    days = (value.dt.year() * 12 + value.dt.month()) * 31 + value.dt.day()
    if isinstance(dtype, nw.Date):
        return days.cast(nw.Float64)
    seconds = ((days.cast(nw.Float64) * 24 + value.dt.hour()) * 60 + value.dt.minute()) * 60 + value.dt.second()
    return seconds + value.dt.microsecond() / 1e6


def lazy_rows(frame: Any, name: Name, target: Name | None, weights: Name | None, n_rows: int) -> LazyRows:
    """Rows of the column `name` of a lazy frame."""
    dtype = frame.collect_schema()[name]
    value = nw.col(str(name))
    if dtype.is_float():
        value = nw.when(value.is_nan()).then(None).otherwise(value + 0.0)
    columns = {
        VALUE: value,
        WEIGHT: nw.lit(1).cast(nw.Int64) if weights is None else nw.col(str(weights)).cast(nw.Int64),
    }
    if target is not None:
        columns[CLASS] = nw.col(str(target))
    selected = frame.select(**columns)
    rows = LazyRows(selected, name, dtype, n_rows, target is not None)
    if not rows.is_ordered:
        return rows
    value = nw.col(VALUE)
    if isinstance(dtype, nw.Datetime) and dtype.time_zone not in (None, "UTC"):
        try:
            in_utc = selected.with_columns(key_of(dtype, value.dt.convert_time_zone("UTC")).alias(KEY))
            return rows._replace(frame=in_utc)
        except NotImplementedError:  # as DuckDB, whose times are of the zone of the session
            rows = rows._replace(is_local=True)
    return rows._replace(frame=selected.with_columns(key_of(dtype, value).alias(KEY)))


def count_column(rows: LazyRows, apart: Collection[Any], max_groups: int) -> Any:
    """Counts of a column: a frame of spans, LOW to HIGH, with their ROWS by CLASS; each of `apart` is a span alone."""
    if not rows.is_ordered:
        found = collected(rows.frame.select(VALUE).unique().head(MAX_VALUES + 1), rows.name)
        if len(found) > MAX_VALUES:
            raise ValueError(f"column {rows.name!r} has more than {MAX_VALUES} categories; join rare ones first")
        return rows.by_value(rows.frame)
    is_apart = _is_apart(rows, apart, VALUE)
    on_line = rows.frame.filter(~is_apart)
    ends = collected(on_line.select(nw.col(KEY).min().alias(LOW), nw.col(KEY).max().alias(HIGH)), rows.name)
    low, high = ends[LOW][0], ends[HIGH][0]
    if low is None or _has_few_values(rows, on_line, low, high, max_groups):
        return rows.by_value(rows.frame)
    if rows.is_local:
        raise ValueError(
            f"column {rows.name!r} has more than {max_groups} times of the zone {rows.dtype.time_zone}, and its engine "
            "cannot convert them to UTC; set the time zone of its session to UTC (DuckDB: SET TimeZone = 'UTC')"
        )
    first = rows.by_value(rows.frame.filter(is_apart))
    line = rows.by_bucket(on_line, [Range(float(low), float(high), max_groups)])
    for _ in range(MAX_LEVELS - 1):
        spans = spans_of(line)
        heavy = spans.is_divisible & (spans.rows > HEAVY * rows.n_rows / max_groups)
        if not heavy.any():
            break
        line = _divided(rows, on_line, line, spans, heavy, max_groups)
    return _joined(first, line)


def _is_apart(rows: LazyRows, apart: Collection[Any], column: str) -> Any:
    """Whether a value is counted by value: missing, infinite, or one of `apart`."""
    is_apart = nw.col(column).is_null()
    if rows.dtype.is_float():
        is_apart = is_apart | ~nw.col(column).is_finite()
    for value in apart:
        is_apart = is_apart | (nw.col(column) == value)
    return is_apart


def _has_few_values(rows: LazyRows, on_line: Any, low: float, high: float, max_groups: int) -> bool:
    """Whether a column has at most `max_groups` values; a look at some rows tells most columns with more."""
    if rows.dtype.is_integer() and high - low < max_groups:
        return True
    some = collected(on_line.select(VALUE).head(2 * max_groups), rows.name)
    if some.get_column(VALUE).n_unique() > max_groups:
        return False
    return len(collected(on_line.select(VALUE).unique().head(max_groups + 1), rows.name)) <= max_groups


class Spans(NamedTuple):
    """Spans of counted values, in ascending order."""

    low_key: NDArray[np.float64]
    high_key: NDArray[np.float64]
    rows: NDArray[np.int64]
    is_divisible: NDArray[np.bool_]  # whether a span has several values


def spans_of(line: Any) -> Spans:
    """Spans of the counts of a line, all classes together."""
    spans = line.group_by(LOW, HIGH).agg(nw.col(LOW_KEY).min(), nw.col(HIGH_KEY).max(), nw.col(ROWS).sum()).sort(LOW)
    is_divisible = (spans.get_column(LOW) != spans.get_column(HIGH)).to_numpy()
    low_key, high_key, rows = (spans.get_column(name).to_numpy() for name in (LOW_KEY, HIGH_KEY, ROWS))
    return Spans(low_key, high_key, rows, np.asarray(is_divisible, dtype=bool))


def zoomed(rows: LazyRows, counts: Any, places: Collection[int], apart: Collection[Any], max_groups: int) -> Any:
    """The counts with the spans near bounds divided; None if all of these are values.

    Each of `places` is the number of spans below a bound.
    """
    on_line = rows.frame.filter(~_is_apart(rows, apart, VALUE))
    is_first = _is_apart(rows, apart, LOW)
    line, first = counts.filter(~is_first), counts.filter(is_first)
    spans = spans_of(line)
    near = np.zeros(len(spans.rows), dtype=bool)
    for at in places:
        near[max(0, at - NEAR) : at + NEAR] = True
    chosen = near & spans.is_divisible
    return _joined(first, _divided(rows, on_line, line, spans, chosen, max_groups)) if chosen.any() else None


def _divided(rows: LazyRows, on_line: Any, line: Any, spans: Spans, chosen: NDArray[np.bool_], max_groups: int) -> Any:
    """The counts of a line in which the `chosen` spans are divided, with those between near ones if they are many."""
    runs = _runs(chosen, MAX_RANGES)
    in_run = np.array([int(spans.rows[first:end].sum()) for first, end in runs])
    shares = np.maximum(2, (max_groups * in_run) // max(1, int(in_run.sum())))
    ranges = [
        Range(float(spans.low_key[first]), float(spans.high_key[end - 1]), int(n), int(at))
        for (first, end), n, at in zip(runs, shares, np.append(0, np.cumsum(shares)[:-1]), strict=True)
    ]
    is_old = _within(ranges, LOW_KEY)
    n_old = int(line.filter(is_old).get_column(ROWS).sum())
    some = on_line.filter(_within(ranges, KEY))
    new = rows.by_value(some) if n_old <= max_groups else rows.by_bucket(some, ranges)
    n_new = int(new.get_column(ROWS).sum())
    if n_new != n_old:
        raise EngineError(
            f"the rows of column {rows.name!r} have changed between two queries: {n_old} rows became {n_new}; count a "
            "copy that stays the same, such as a table or a file"
        )
    return _joined(line.filter(~is_old), new)


def _runs(chosen: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
    """First and end of at most `most` runs that hold all `chosen` spans; the smallest gaps between them are filled."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    firsts, ends = edges[::2], edges[1::2]
    gaps = firsts[1:] - ends[:-1]
    kept = np.sort(np.argsort(-gaps, kind="stable")[: most - 1])
    return list(
        zip(
            np.append(firsts[:1], firsts[1:][kept]).tolist(),
            np.append(ends[:-1][kept], ends[-1:]).tolist(),
            strict=True,
        )
    )


def _within(ranges: Sequence[Range], key: str) -> Any:
    """Whether the column `key` lies in one of the ranges."""
    inside = nw.lit(False)
    for one in ranges:
        inside = inside | ((nw.col(key) >= one.low) & (nw.col(key) <= one.high))
    return inside


def _joined(one: Any, other: Any) -> Any:
    """The rows of two frames of counts."""
    names = one.columns
    return other if len(one) == 0 else nw.concat([one, other.select(names)]) if len(other) else one
