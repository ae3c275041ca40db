"""Count the rows of a lazy frame on the engine that holds it, in results of bounded size.

A column is counted by value where it has at most `max_groups` values. A longer one is cut into buckets of equal width,
each with its lowest and its highest value, so that an atom is a span of values, and bounds lie between values that the
data have. Buckets with many rows are divided again. Missing values, infinite values and special codes are counted by
value. The `Edges` of the buckets can be used again, on other rows.

Only expressions that all engines of narwhals have are used, so that their answers are equal to the bit, whatever the
order of the rows: -0.0 is 0.0, and NaN is missing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.spelling import check_columns

MAX_GROUPS = 65_536  # values or buckets that one query asks for
MAX_VALUES = 2**22  # values of a categorical column
MAX_RANGES = 128  # ranges near bounds that one query divides: each is a branch of its expression
MAX_RUNS = 8  # runs of heavy buckets that one query divides: branches over all rows are what costs
MAX_LEVELS = 5  # queries that divide a column before its search
NEAR = 2  # spans on each side of a bound that are divided after a search
HEAVY = 2.0  # a bucket is divided again if it has more than HEAVY times the mean rows of MAX_GROUPS buckets

# Columns of queries; those of the user have other names.
VALUE, CLASS, WEIGHT, KEY, BUCKET = (f"gridmodl_{word}" for word in ("value", "class", "weight", "key", "bucket"))
POINT, TARGET_KEY, TARGET_BUCKET = (f"gridmodl_{word}" for word in ("point", "target_key", "target_bucket"))
# Columns of counted spans: the lowest and highest value, the same as floats that sort alike, and the number of rows.
# Of a numerical target in buckets, CLASS is the lowest value, TARGET_HIGH the highest one, TARGET_SUM the sum.
LOW, HIGH, LOW_KEY, HIGH_KEY, ROWS = "low", "high", "low_key", "high_key", "rows"
TARGET_HIGH, TARGET_SUM = "target_high", "target_sum"
SIZE = "gridmodl_size"  # rows of a category
RARE = "(all values of fewer than "  # begin of the name of rare categories
APART = -1  # bucket of the values that are counted by value
SPAN = {LOW: nw.col(VALUE).min(), HIGH: nw.col(VALUE).max(), LOW_KEY: nw.col(KEY).min(), HIGH_KEY: nw.col(KEY).max()}


class EngineError(RuntimeError):
    """A query failed on the engine of a lazy frame, or two of its answers contradict each other."""


class Range(NamedTuple):
    """Keys from `start` to the start of the next range, cut into buckets of equal width from `low` to `high`.

    Keys below `low` are in the first bucket, keys above `high` in the last one.
    """

    start: float
    low: float
    high: float
    n_buckets: int
    first: int = 0  # number of its first bucket

    def bucket(self, key: str) -> Any:
        """Number of the bucket of each key; it never falls as the key rises."""
        half = 1.0 if math.isfinite(self.high - self.low) else 0.5  # else the width is infinite
        width = self.high * half - self.low * half
        scale = self.n_buckets / width if width > 0.0 else math.inf
        if self.n_buckets == 1 or not math.isfinite(scale):
            return nw.lit(self.first).cast(nw.Int64)
        place = ((nw.col(key) * half - self.low * half) * scale).floor()
        place = nw.when(place < self.n_buckets).then(place).otherwise(nw.lit(self.n_buckets - 1.0))
        place = nw.when(place > 0.0).then(place).otherwise(nw.lit(0.0))
        return place.cast(nw.Int64) + self.first


Edges = tuple[Range, ...]  # ascending; all keys that are not apart


def bucket_of(edges: Sequence[Range], key: str) -> Any:
    """Number of the bucket of each key: a tree of comparisons, as deep as the logarithm of the number of ranges."""
    if len(edges) == 1:
        return edges[0].bucket(key)
    middle = len(edges) // 2
    below, above = bucket_of(edges[:middle], key), bucket_of(edges[middle:], key)
    return nw.when(nw.col(key) < edges[middle].start).then(below).otherwise(above)


def with_ranges(edges: Edges, ranges: Sequence[tuple[Range, float]]) -> Edges:
    """The edges with other `ranges`, each with its end, in place of what was there; what is left keeps its buckets."""
    for new, end in ranges:
        inside = max(i for i, one in enumerate(edges) if one.start < end)  # holds the keys just below the end
        next_start = edges[inside + 1].start if inside + 1 < len(edges) else math.inf
        before = tuple(one for one in edges if one.start < new.start)
        rest = (edges[inside]._replace(start=end),) if end < next_start else ()
        edges = (*before, new, *rest, *(one for one in edges if one.start >= end))
    return edges


class LazyRows(NamedTuple):
    """Rows of one column of a lazy frame: VALUE, CLASS if there is a target, WEIGHT, and KEY if values are in order."""

    frame: Any  # a narwhals LazyFrame
    name: Name
    dtype: Any  # narwhals type of the values
    n_rows: int  # sum of the weights of all rows
    has_target: bool
    is_local: bool = False  # whether keys are times of a local clock, which shows an hour twice a year
    target_edges: Edges | None = None  # buckets of a numerical target with many values

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers or times, which can be cut into buckets."""
        return bool(self.dtype.is_numeric() or self.dtype.is_temporal())

    @property
    def classes(self) -> list[str]:
        """Columns that tell the classes, or the buckets of the target, apart."""
        if not self.has_target:
            return []
        return [CLASS] if self.target_edges is None else [TARGET_BUCKET]

    def by_value(self, frame: Any) -> Any:
        """Rows of each value and class of `frame`, a part of the lazy frame."""
        keys = {LOW_KEY: SPAN[LOW_KEY], HIGH_KEY: SPAN[HIGH_KEY]} if self.is_ordered else {}
        found = self._collected(frame, [VALUE], keys)
        return found.with_columns(nw.col(VALUE).alias(LOW), nw.col(VALUE).alias(HIGH)).drop(VALUE)

    def by_edges(self, frame: Any, edges: Sequence[Range], is_apart: Any = None) -> Any:
        """Rows of each bucket and class, with the span of values of the bucket in all classes.

        Rows that `is_apart` says are counted by value.
        """
        bucket, groups = bucket_of(edges, KEY), [BUCKET]
        if is_apart is not None:
            bucket = nw.when(is_apart).then(nw.lit(APART).cast(nw.Int64)).otherwise(bucket)
            frame = frame.with_columns(nw.when(is_apart).then(nw.col(VALUE)).otherwise(None).alias(POINT))
            groups = [BUCKET, POINT]
        found = self._collected(frame.with_columns(bucket.alias(BUCKET)), groups, SPAN)
        found = found.drop(POINT) if is_apart is not None else found
        spans = found.filter(nw.col(BUCKET) != APART)
        ends = spans.group_by(BUCKET).agg(
            nw.col(LOW).min(), nw.col(HIGH).max(), nw.col(LOW_KEY).min(), nw.col(HIGH_KEY).max()
        )
        spans = spans.drop(LOW, HIGH, LOW_KEY, HIGH_KEY).join(ends, on=BUCKET, how="inner")
        return _joined(found.filter(nw.col(BUCKET) == APART), spans)

    def _collected(self, frame: Any, groups: Sequence[str], what: Mapping[str, Any]) -> Any:
        """Rows of the `groups` by class, with `what` of each; of a target in buckets, its ends and its sum."""
        aggregates = [nw.col(WEIGHT).sum().alias(ROWS), *(each.alias(name) for name, each in what.items())]
        if self.target_edges is None:
            return collected(frame.group_by(*groups, *self.classes).agg(*aggregates), self.name)
        bucket = bucket_of(self.target_edges, TARGET_KEY)
        frame = frame.with_columns(bucket.alias(TARGET_BUCKET), (nw.col(TARGET_KEY) * nw.col(WEIGHT)).alias(TARGET_SUM))
        aggregates += [
            nw.col(CLASS).min(), nw.col(CLASS).max().alias(TARGET_HIGH), nw.col(TARGET_SUM).sum()
        ]  # fmt: skip
        found = collected(frame.group_by(*groups, TARGET_BUCKET).agg(*aggregates), self.name)
        ends = found.group_by(TARGET_BUCKET).agg(nw.col(CLASS).min(), nw.col(TARGET_HIGH).max())
        return found.drop(CLASS, TARGET_HIGH).join(ends, on=TARGET_BUCKET, how="inner")


def collected(lazy: Any, name: Name) -> Any:
    """Run a query; its result as a narwhals frame of pyarrow, with ROWS as 64-bit integers."""
    try:
        found = lazy.collect(backend="pyarrow")
        return found.with_columns(nw.col(ROWS).cast(nw.Int64)) if ROWS in found.columns else found
    except ModuleNotFoundError as error:
        raise EngineError(
            f"counts come as Arrow tables, and {error.name} is not installed: pip install 'gridmodl[duckdb]'"
        ) from error
    except Exception as error:
        raise EngineError(
            f"the engine of the lazy frame failed to count column {name!r}: {type(error).__name__}: {error}"
        ) from error


@contextmanager
def engine_errors(name: Name) -> Iterator[None]:
    """Raise EngineError where the engine of a lazy frame lacks an operation, or where a column is gone."""
    try:
        yield
    except (NotImplementedError, AttributeError) as error:
        raise EngineError(
            f"the engine of the lazy frame lacks an operation that counting column {name!r} needs: "
            f"{type(error).__name__}: {error}; collect the column, or bring the table to another engine, such as DuckDB"
        ) from error
    except nw.exceptions.NarwhalsError as error:
        raise EngineError(
            f"the query that counts column {name!r} cannot be made: {type(error).__name__}: {error}"
        ) from error


def check_same_rows(n_before: int, n_now: int, name: Name | None = None) -> None:
    """Raise EngineError if a query, of the column `name`, counts other rows than an earlier one."""
    if n_now != n_before:
        where = "" if name is None else f" in column {name!r}"
        raise EngineError(
            f"the rows of the lazy frame have changed between two queries: {n_before} rows became {n_now}{where}; use "
            "a copy that stays the same, such as a table or a file"
        )


def schema_of(frame: Any) -> dict[str, Any]:
    """Types of the columns of a lazy frame, by name; EngineError if the engine cannot tell, as where a file is gone."""
    try:
        return dict(frame.collect_schema())
    except Exception as error:
        raise EngineError(
            f"the engine of the lazy frame cannot tell its columns: {type(error).__name__}: {error}"
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


def plain_value(schema: Mapping[str, Any], name: Name) -> Any:
    """Values of a column; NaN is missing, and -0.0 is 0.0."""
    value, dtype = nw.col(str(name)), schema[str(name)]
    if not dtype.is_float():
        return value
    # Sums of a float32 are float64 on some engines, and bounds have the type of their column.
    return nw.when(value.is_nan()).then(None).otherwise((value + 0.0).cast(dtype))


def weight_of(weights: Name | None) -> Any:
    """Weight of each row as a whole number."""
    return nw.lit(1).cast(nw.Int64) if weights is None else nw.col(str(weights)).cast(nw.Int64)


def lazy_rows(
    frame: Any, name: Name, target: Name | None, weights: Name | None, n_rows: int, target_edges: Edges | None = None
) -> LazyRows:
    """Rows of the column `name` of a lazy frame; `target_edges` are of a numerical target."""
    schema = schema_of(frame)
    check_columns("data", [name], schema)
    dtype = schema[str(name)]
    columns = {VALUE: plain_value(schema, name), WEIGHT: weight_of(weights)}
    if target is not None:
        columns[CLASS] = nw.col(str(target))
    if target is not None and target_edges is not None:
        columns[CLASS] = nw.col(str(target)) + 0 if schema[str(target)].is_float() else nw.col(str(target))
        columns[TARGET_KEY] = key_of(schema[str(target)], columns[CLASS])
    selected = frame.select(**columns)
    if weights is not None:
        selected = selected.filter(nw.col(WEIGHT) > 0)
    rows = LazyRows(selected, name, dtype, n_rows, target is not None, target_edges=target_edges)
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
    return counted(rows, apart, max_groups, by_value=True)[0]


def counted(rows: LazyRows, apart: Collection[Any], max_groups: int, by_value: bool = False) -> tuple[Any, Edges]:
    """Counts of a column as of `count_column`, and the edges of its buckets; none if all values are counted.

    With `by_value`, spans of few rows are divided into values, and the edges say nothing of these; and the rare ones of
    more than MAX_VALUES categories are counted together, else an error.
    """
    if not rows.is_ordered:
        is_text = isinstance(rows.dtype, (nw.String, nw.Categorical, nw.Enum))
        is_few = check_categories(rows, may_be_more=by_value and is_text)
        return rows.by_value(rows.frame) if is_few else frequent_values(rows, max_groups), ()
    is_apart = _is_apart(rows, apart, VALUE)
    on_line = rows.frame.filter(~is_apart)
    ends = collected(on_line.select(nw.col(KEY).min().alias(LOW), nw.col(KEY).max().alias(HIGH)), rows.name)
    low, high = ends[LOW][0], ends[HIGH][0]
    if low is None or has_few_values(rows, on_line, float(high) - float(low), max_groups):
        return rows.by_value(rows.frame), ()
    if rows.is_local:
        raise ValueError(
            f"column {rows.name!r} has more than {max_groups} times of the zone {rows.dtype.time_zone}, and its engine "
            "cannot convert them to UTC; set the time zone of its session to UTC (DuckDB: SET TimeZone = 'UTC')"
        )
    edges: Edges = (Range(-math.inf, float(low), float(high), max_groups),)
    counts = rows.by_edges(rows.frame, edges, is_apart)
    first, line = (counts.filter(nw.col(BUCKET) == APART), counts.filter(nw.col(BUCKET) != APART))
    for _ in range(MAX_LEVELS - 1):
        spans = spans_of(line)
        heavy = spans.is_divisible & (spans.rows > HEAVY * rows.n_rows / max_groups)
        if not heavy.any():
            break
        line, edges = _divided(rows, on_line, line, spans, heavy, max_groups, edges, by_value, MAX_RUNS)
    return _joined(first, line), edges


def count_again(rows: LazyRows, apart: Collection[Any], edges: Edges, max_groups: int) -> Any:
    """Counts of a column by the edges of an earlier count; by value if there are none."""
    if edges and rows.is_ordered:
        return rows.by_edges(rows.frame, edges, _is_apart(rows, apart, VALUE))
    if not rows.is_ordered:
        check_categories(rows)
    elif not has_few_values(rows, rows.frame, math.inf, max_groups):
        raise ValueError(
            f"column {rows.name!r} has more than {max_groups} values, and had fewer in the counts of like=, where each "
            "was counted; count all rows together, or raise max_groups"
        )
    return rows.by_value(rows.frame)


def check_categories(rows: LazyRows, may_be_more: bool = False) -> bool:
    """Whether a categorical column has at most MAX_VALUES values; ValueError if it has more and may not."""
    n_values = int(collected(rows.frame.select(VALUE).unique().select(nw.len().alias(ROWS)), rows.name)[ROWS][0])
    if n_values > MAX_VALUES and not may_be_more:
        raise ValueError(f"column {rows.name!r} has {n_values} categories; {MAX_VALUES} are the most: join rare ones")
    return n_values <= MAX_VALUES


def frequent_values(rows: LazyRows, max_groups: int) -> Any:
    """Counts of the most frequent texts, at most `max_groups`, and of all rarer ones together under a name of theirs.

    The name, `rare_name`, says how many rows such a text has.
    """
    there = rows.frame.filter(~nw.col(VALUE).is_null()).with_columns(nw.col(VALUE).cast(nw.String))
    sizes = there.group_by(VALUE).agg(nw.col(WEIGHT).sum().alias(SIZE))
    by_size = collected(sizes.group_by(SIZE).agg(nw.len().alias(ROWS)), rows.name)
    by_size = by_size.with_columns(nw.col(SIZE).cast(nw.Int64)).sort(SIZE, descending=True)
    n_as_large = np.cumsum(by_size[ROWS].to_numpy())
    is_kept = n_as_large <= max_groups
    least = int(by_size[SIZE].to_numpy()[is_kept][-1]) if is_kept.any() else int(by_size[SIZE][0]) + 1
    kept = sizes.filter(nw.col(SIZE) >= least).select(VALUE)
    common = rows.by_value(there.join(kept, on=VALUE, how="inner"))
    absent = rows.by_value(rows.frame.filter(nw.col(VALUE).is_null()))
    totals = collected(there.group_by(CLASS).agg(nw.col(WEIGHT).sum().alias(ROWS)), rows.name)
    of_common = common.with_columns(nw.col(ROWS) * -1).group_by(CLASS).agg(nw.col(ROWS).sum())
    rare = nw.concat([totals, of_common.select(totals.columns)]).group_by(CLASS).agg(nw.col(ROWS).sum())
    name = nw.lit(rare_name(least)).cast(nw.String)
    rare = rare.filter(nw.col(ROWS) > 0).with_columns(name.alias(LOW), name.alias(HIGH))
    found = [one.with_columns(nw.col(LOW, HIGH).cast(nw.String)).select(rare.columns) for one in (common, absent)]
    texts = [nw.from_native(one.to_native().cast(rare.to_native().schema), eager_only=True) for one in found]
    return nw.concat([*texts, rare])


def rare_name(least: int) -> str:
    """Name of all texts of fewer than `least` rows, which stands for them in groups."""
    return f"{RARE}{least} rows)"


def _is_apart(rows: LazyRows, apart: Collection[Any], column: str) -> Any:
    """Whether a value is counted by value: missing, infinite, or one of `apart`."""
    is_apart = nw.col(column).is_null()
    if rows.dtype.is_float():
        is_apart = is_apart | ~nw.col(column).is_finite()
    for value in apart:
        is_apart = is_apart | (nw.col(column) == value)
    return is_apart


def has_few_values(rows: LazyRows, on_line: Any, width: float, max_groups: int) -> bool:
    """Whether a column has at most `max_groups` values; a look at some rows tells most columns with more.

    `width` is the difference of its ends.
    """
    if rows.dtype.is_integer() and width < max_groups:
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


def zoomed(
    rows: LazyRows, counts: Any, places: Collection[int], apart: Collection[Any], max_groups: int, edges: Edges,
    by_value: bool = False,
) -> tuple[Any, Edges]:  # fmt: skip
    """The counts with the spans near bounds divided, None if all of these are values; and the edges of the buckets.

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
    if not by_value:
        chosen &= spans.low_key < spans.high_key
    if not chosen.any():
        return None, edges
    line, edges = _divided(rows, on_line, line, spans, chosen, max_groups, edges, by_value, MAX_RANGES)
    return _joined(first, line), edges


def _divided(
    rows: LazyRows, on_line: Any, line: Any, spans: Spans, chosen: NDArray[np.bool_], max_groups: int, edges: Edges,
    by_value: bool, most: int,
) -> tuple[Any, Edges]:  # fmt: skip
    """The counts of a line in which the `chosen` spans are divided, with those between them if they are over `most`.

    Also the edges, of which those of spans that became values are not kept.
    """
    runs = _runs(chosen, most)
    in_run = np.array([int(spans.rows[first:end].sum()) for first, end in runs])
    least = np.array([2 * (end - first) for first, end in runs])  # so that no span becomes a wider one
    shares = np.maximum(least, (max_groups * in_run) // max(1, int(in_run.sum())))
    offsets = 1 + max((one.first + one.n_buckets for one in edges), default=0) + np.append(0, np.cumsum(shares)[:-1])
    starts = np.append(spans.low_key, math.inf)
    ranges = [
        (Range(float(starts[first]), float(starts[first]), float(spans.high_key[end - 1]), int(n), int(at)),
         float(starts[end]))
        for (first, end), n, at in zip(runs, shares, offsets, strict=True)
    ]  # fmt: skip
    is_old = _within(ranges, LOW_KEY)
    n_old = int(line.filter(is_old).get_column(ROWS).sum())
    some = on_line.filter(_within(ranges, KEY))
    if by_value and n_old <= max_groups:
        new = rows.by_value(some)
    else:
        new = rows.by_edges(some, [one for one, _ in ranges])
        edges = with_ranges(edges, ranges) if edges else edges
    check_same_rows(n_old, int(new.get_column(ROWS).sum()), rows.name)
    return _joined(line.filter(~is_old), new), edges


def _runs(chosen: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
    """First and end of at most `most` runs that hold all `chosen` spans: each alone if they are few enough.

    Else neighbours are one run, and the smallest gaps between runs are filled.
    """
    if np.count_nonzero(chosen) <= most:
        return [(int(i), int(i) + 1) for i in np.flatnonzero(chosen)]
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


def _within(ranges: Sequence[tuple[Range, float]], key: str) -> Any:
    """Whether the column `key` lies in one of the ranges, ascending, each given with its end."""
    if len(ranges) == 1:
        ((one, end),) = ranges
        return (nw.col(key) >= one.start) & (nw.col(key) < end)
    middle = len(ranges) // 2
    below, above = _within(ranges[:middle], key), _within(ranges[middle:], key)
    return nw.when(nw.col(key) < ranges[middle][0].start).then(below).otherwise(above)


def _joined(one: Any, other: Any) -> Any:
    """The rows of two frames of counts; the bucket of values is APART."""
    if len(one) == 0 or len(other) == 0:
        return other if len(one) == 0 else one
    one, other = (
        part if BUCKET in part.columns else part.with_columns(nw.lit(APART).cast(nw.Int64).alias(BUCKET))
        for part in (one, other)
    )
    return nw.concat([one, other.select(one.columns)])
