"""Count a column of a lazy frame on the engine that holds it, in results of bounded size.

A column is counted by value where it has at most `max_groups` values. A longer one is cut into buckets of equal width,
each with its lowest and its highest value, so that an atom is a span of values, and bounds lie between values that the
data have. Buckets with many rows are divided again. Missing values, infinite values and special codes are counted by
value. The `Edges` of the buckets can be used again, on other rows.

Answers do not depend on the engine or on the order of its rows; how many queries are asked may depend on both.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.remote.edges import Edges, Range, Spans, divided_ranges, is_within, spans_of, with_ranges
from gridmodl.data.remote.looks import Look, look_at
from gridmodl.data.remote.queries import (
    APART,
    BUCKET,
    CLASS,
    KEY,
    LOW,
    LOW_KEY,
    RARE,
    ROWS,
    TARGET_HIGH,
    TARGET_SUM,
    VALUE,
    WEIGHT,
    check_same_rows,
    collected,
    is_apart_from,
    is_one_of,
    is_text,
)
from gridmodl.data.remote.rows import LazyRows, with_target_ends

MAX_GROUPS = 65_536  # values or buckets that one query asks for
MAX_VALUES = 2**22  # values of a categorical column that are all counted
MAX_RANGES = 32  # ranges near bounds that one query divides: each is a branch of its expression
MAX_RUNS = 8  # ranges of heavy buckets that one query divides: branches over all rows are what costs
MAX_LEVELS = 5  # queries that divide a column before its search
# Spans on each side of a bound that are divided after a search; after later ones, unless all beside bounds are values.
NEAR = 2
HEAVY = 2.0  # buckets of more than HEAVY times the mean rows of MAX_GROUPS buckets are divided again,
TOO_HEAVY = 5.0  # if one has more than TOO_HEAVY times the mean
PAIRS = 16  # values and classes, as a multiple of the groups, that are counted by value to see whether values are few
SIZE = "gridmodl_size"  # rows of a category


class CountedAtoms(NamedTuple):
    """Counts of a column, the edges of its buckets, and the rows that were counted, on the engine or here."""

    counts: Any  # a frame of spans, LOW to HIGH, with their ROWS by CLASS
    edges: Edges  # none if all values are counted
    rows: LazyRows
    rare: str | None = None  # name under which rare categories are counted together


def counted(
    rows: LazyRows, apart: Collection[Any], max_groups: int, by_value: bool = False, look: Look | None = None
) -> CountedAtoms:
    """Counts of a column; each of `apart` is a span alone, and rare ones of very many categories are counted together.

    With `by_value`, spans of few rows are divided into values, and the edges say nothing of these. `look` is what is
    known of the column.
    """
    if not rows.is_ordered:
        return count_categories(rows, apart, max_groups)
    if rows.n_rows <= max_groups:
        return CountedAtoms(rows.by_value(rows.frame), (), rows)
    look = look or look_at(rows, apart, max_groups)
    if look.low is None:
        return CountedAtoms(rows.by_value(rows.frame), (), rows)
    if not look.has_many:
        found = _values(rows, apart, max_groups)
        if found.are_few:
            return CountedAtoms(found.counts, (), rows)
        rows = rows if found.counts is None else _kept_here(rows, found.counts)
    if rows.is_local:
        raise ValueError(
            f"column {rows.name!r} has more than {max_groups} times of the zone {rows.dtype.time_zone}, and its engine "
            "cannot convert them to UTC; set the time zone of its session to UTC (DuckDB: SET TimeZone = 'UTC'; "
            "Spark: spark.sql.session.timeZone)"
        )
    edges: Edges = (Range(-math.inf, float(look.low), float(look.high), max_groups),)
    counts = rows.by_edges(rows.frame, edges, apart)
    first, line = (counts.filter(nw.col(BUCKET) == APART), counts.filter(nw.col(BUCKET) != APART))
    on_line = rows.frame.filter(~is_apart_from(rows.dtype, apart, nw.col(VALUE)))
    mean = rows.n_rows / max_groups
    for _ in range(MAX_LEVELS - 1):
        spans = spans_of(line)
        if not np.any(spans.rows[spans.is_divisible] > TOO_HEAVY * mean):
            break
        heavy = Division(spans.is_divisible & (spans.rows > HEAVY * mean), MAX_RUNS, max_groups, mean)
        line, edges = _divided(rows, on_line, line, spans, heavy, edges, by_value)
    return CountedAtoms(_joined(first, line), edges, rows)


class ValueCounts(NamedTuple):
    """Counts by value, None if there are too many to have all, and whether these are few enough to be atoms."""

    counts: Any
    are_few: bool


def _values(rows: LazyRows, apart: Collection[Any], max_groups: int) -> ValueCounts:
    """Count a column by value if it has at most `max_groups` values, or not many more."""
    found = rows.by_value(rows.frame, PAIRS * max_groups)
    on_line = found.filter(~is_apart_from(rows.dtype, apart, nw.col(LOW)))
    if on_line[LOW].n_unique() > max_groups:
        return ValueCounts(found if len(found) <= PAIRS * max_groups else None, False)
    if len(found) <= PAIRS * max_groups:
        return ValueCounts(found, True)
    line = rows.frame.filter(~is_apart_from(rows.dtype, apart, nw.col(VALUE)))
    values = line.group_by(VALUE).agg(nw.len().alias(ROWS)).head(max_groups + 1)
    are_few = len(collected(values, rows.name)) <= max_groups
    return ValueCounts(rows.by_value(rows.frame) if are_few else None, are_few)


def _kept_here(rows: LazyRows, counts: Any) -> LazyRows:
    """The rows as counts by value that are here: further queries need no engine, and have the same answers."""
    if not rows.has_keys_here:
        return rows
    names = {LOW: VALUE, ROWS: WEIGHT, LOW_KEY: KEY, **{one: one for one in rows.classes}}
    return rows._replace(frame=counts.select(*names).rename(names).lazy(), has_weights=True)


def count_again(rows: LazyRows, apart: Collection[Any], edges: Edges, max_groups: int) -> Any:
    """Counts of a column by the edges of an earlier count; by value if there are none."""
    if edges and rows.is_ordered:
        return rows.by_edges(rows.frame, edges, apart)
    if not rows.is_ordered:
        found = _categories(rows)
        if found is None:
            raise ValueError(
                f"column {rows.name!r} has more than {MAX_VALUES} categories, and had fewer in the counts of like=, "
                "where each was counted; count all rows together"
            )
        return found
    if rows.n_rows <= max_groups:
        return rows.by_value(rows.frame)
    found = _values(rows, (), max_groups)
    if not found.are_few:
        raise ValueError(
            f"column {rows.name!r} has more than {max_groups} values, and had fewer in the counts of like=, where each "
            "was counted; count all rows together, or raise max_groups"
        )
    return found.counts


def count_categories(rows: LazyRows, apart: Collection[Any], max_groups: int) -> CountedAtoms:
    """Counts of the values of a categorical column; of rare ones together if there are more than MAX_VALUES."""
    found = _categories(rows)
    return frequent_values(rows, apart, max_groups) if found is None else CountedAtoms(found, (), rows)


def count_values(rows: LazyRows) -> Any:
    """Counts of all values of a categorical column; raise ValueError if it has more than MAX_VALUES."""
    found = _categories(rows)
    if found is None:
        raise ValueError(
            f"column {rows.name!r} has more than {MAX_VALUES} categories, which cannot all be counted; give it a "
            "partition with others, as models of lazy frames have it, or join rare ones on the engine"
        )
    return found


def _categories(rows: LazyRows) -> Any:
    """Counts of the values of a categorical column, None if it has more than MAX_VALUES."""
    found = rows.by_value(rows.frame, MAX_VALUES)
    if len(found) <= MAX_VALUES:
        return found
    return None if has_too_many(rows) else rows.by_value(rows.frame)


def has_too_many(rows: LazyRows) -> bool:
    """Whether a column has more than MAX_VALUES values."""
    if rows.n_rows <= MAX_VALUES:
        return False
    values = rows.frame.group_by(VALUE).agg(nw.len().alias(ROWS))
    return int(collected(values.select(nw.len().alias(ROWS)), rows.name)[ROWS][0]) > MAX_VALUES


def frequent_values(rows: LazyRows, apart: Collection[Any], max_groups: int) -> CountedAtoms:
    """Counts of the most frequent categories, at most `max_groups`, and of those `apart`; of all others as RARE."""
    rows, kept, least = _frequent(rows, apart, max_groups)
    found = _marked(rows, rows.frame.join(kept, on=VALUE, how="left"), ~nw.col(SIZE).is_null())
    if len(found.filter(nw.col(BUCKET) == RARE)) == 0:
        return CountedAtoms(found, (), rows)
    return CountedAtoms(found, (), rows, _name_of_others(least, frequent_in(found)))


def most_frequent(rows: LazyRows, apart: Collection[Any], max_groups: int) -> tuple[frozenset[Any], str]:
    """The most frequent categories, at most `max_groups`, and those `apart`; and the name of all others."""
    rows, kept, least = _frequent(rows, apart, max_groups)
    values = frozenset(collected(kept.select(VALUE), rows.name)[VALUE].to_list())
    return values, _name_of_others(least, values)


def _frequent(rows: LazyRows, apart: Collection[Any], max_groups: int) -> tuple[LazyRows, Any, int]:
    """The rows, texts as plain ones; a lazy frame of the frequent categories and their SIZE; the least size of these.

    Classes have no part in the choice, so that no chance of rare ones is taken for a pattern.
    """
    rows = _plain_text(rows)
    there = rows.frame.filter(~nw.col(VALUE).is_null())
    sizes = there.group_by(VALUE).agg(nw.col(WEIGHT).sum().alias(SIZE)).with_columns(nw.col(SIZE).cast(nw.Int64))
    by_size = collected(sizes.group_by(SIZE).agg(nw.len().alias(ROWS)), rows.name).sort(SIZE, descending=True)
    size, n_as_large = by_size[SIZE].to_numpy().astype(np.int64), np.cumsum(by_size[ROWS].to_numpy())
    is_kept = n_as_large <= max_groups
    least = int(size[is_kept][-1]) if is_kept.any() else int(size[0]) + 1
    is_kept_apart = is_one_of(rows.dtype, nw.col(VALUE), apart) if apart else nw.lit(False)
    return rows, sizes.filter((nw.col(SIZE) >= least) | is_kept_apart), least


def _name_of_others(least: int, values: Collection[Any]) -> str:
    """Name of the categories of fewer than `least` rows, which none of `values` has."""
    name = f"(others < {least} rows)"
    while name in values:
        name = f"({name})"
    return name


def _plain_text(rows: LazyRows) -> LazyRows:
    """The rows, with texts of any type as plain ones."""
    if not is_text(rows.dtype):
        return rows
    return rows._replace(frame=rows.frame.with_columns(nw.col(VALUE).cast(nw.String)), dtype=nw.String())


def _marked(rows: LazyRows, frame: Any, is_kept: Any) -> Any:
    """Counts of the values that are kept, of missing ones, and of all others together as RARE."""
    value = nw.col(VALUE)
    columns = {
        VALUE: nw.when(is_kept).then(value).otherwise(None),
        BUCKET: nw.when(is_kept | value.is_null()).then(nw.lit(APART)).otherwise(nw.lit(RARE)).cast(nw.Int64),
    }
    return rows.by_value(frame.with_columns(**columns), groups=(VALUE, BUCKET))


def frequent_in(counts: Any) -> frozenset[Any]:
    """Categories that were counted by value."""
    return frozenset(counts[LOW].drop_nulls().to_list())


def count_frequent(rows: LazyRows, frequent: Collection[Any]) -> Any:
    """Counts of the categories `frequent`, and of all others together as RARE; missing values stay missing.

    A query names at most MAX_GROUPS of them, as constants take memory: 4 kB each on DuckDB.
    """
    rows, values, value = _plain_text(rows), list(frequent), nw.col(VALUE)
    found = _marked(rows, rows.frame, is_one_of(rows.dtype, value, values[:MAX_GROUPS]))
    for first in range(MAX_GROUPS, len(values), MAX_GROUPS):
        some = rows.frame.filter(is_one_of(rows.dtype, value, values[first : first + MAX_GROUPS]))
        found = _with_listed(rows, found, _marked(rows, some, nw.lit(True)))
    return found


def _with_listed(rows: LazyRows, found: Any, listed: Any) -> Any:
    """The counts `found` with those of values that are `listed`, and that were among the rare ones."""
    if len(listed) == 0:
        return found
    is_rare, of_class = nw.col(BUCKET) == RARE, [BUCKET, *rows.classes]
    sums, ends = ([ROWS], []) if rows.target_edges is None else ([ROWS, TARGET_SUM], [CLASS, TARGET_HIGH])
    rare, taken = found.filter(is_rare), listed.with_columns(nw.lit(RARE).cast(nw.Int64).alias(BUCKET), -nw.col(*sums))
    both = nw.concat([one.select(*of_class, *sums, *ends) for one in (rare, taken)])
    facts = [nw.col(*sums).sum(), *([nw.col(CLASS).min(), nw.col(TARGET_HIGH).max()] if ends else [])]
    left = both.group_by(*of_class).agg(*facts).filter(nw.col(ROWS) > 0)
    rare = rare[[0] * len(left)].with_columns(*(left[name] for name in left.columns))
    found = _joined(_joined(found.filter(~is_rare), listed), rare)
    return with_target_ends(found) if ends else found


class FoundBounds(NamedTuple):
    """Bounds of a partition of spans: the number of spans below each, and how well each span would do as a place."""

    places: Collection[int]
    excess: NDArray[np.float64] | None = None  # by span: what a bound there would cost more; None if not known
    is_moved: bool = False  # whether spans were divided before, near the bounds of an earlier search


def zoomed(
    rows: LazyRows, counts: Any, bounds: FoundBounds, apart: Collection[Any], max_groups: int, edges: Edges,
    by_value: bool = False,
) -> tuple[Any, Edges]:  # fmt: skip
    """The counts with the spans near bounds divided, None if that is done; and the edges of the buckets.

    With `by_value` and an `excess` of the bounds, spans in which a bound would cost little more are divided too, as
    many as `max_groups` values allow.
    """
    is_first = is_apart_from(rows.dtype, apart, nw.col(LOW))
    line, first = counts.filter(~is_first), counts.filter(is_first)
    spans = spans_of(line)
    can_divide = spans.is_divisible if by_value else spans.is_divisible & (spans.low_key < spans.high_key)
    beside, near = (np.zeros(len(spans.rows), dtype=bool) for _ in range(2))
    for at in bounds.places:
        beside[max(0, at - 1) : at + 1] = True
        near[max(0, at - NEAR) : at + NEAR] = True
    chosen = near & can_divide
    if not chosen.any() or (bounds.is_moved and not np.any(beside & can_divide)):
        return None, edges
    left = max_groups - int(spans.rows[chosen].sum())
    if by_value and bounds.excess is not None and left > 0:
        others = np.flatnonzero(can_divide & ~chosen & np.isfinite(bounds.excess))
        others = others[np.argsort(bounds.excess[others], kind="stable")]
        chosen[others[np.cumsum(spans.rows[others]) <= left]] = True
    on_line = rows.frame.filter(~is_apart_from(rows.dtype, apart, nw.col(VALUE)))
    finest = max(1.0, float(spans.rows[chosen].sum()) / max_groups)
    line, edges = _divided(
        rows, on_line, line, spans, Division(chosen, MAX_RANGES, max_groups, finest), edges, by_value
    )  # fmt: skip
    return _joined(first, line), edges


class Division(NamedTuple):
    """Spans to divide, in at most `n_ranges` ranges, into at most `max_groups` buckets of about `rows` rows."""

    chosen: NDArray[np.bool_]
    n_ranges: int
    max_groups: int
    rows: float


def _divided(
    rows: LazyRows, on_line: Any, line: Any, spans: Spans, divided: Division, edges: Edges, by_value: bool
) -> tuple[Any, Edges]:
    """The counts of a line in which spans are divided, with some between them; into values if there are few rows.

    Also the edges, of which those of spans that became values are not kept.
    """
    first = 1 + max((one.first + one.n_buckets for one in edges), default=0)
    ranges = divided_ranges(spans, divided.chosen, divided.n_ranges, divided.max_groups, divided.rows, first)
    is_old = is_within(ranges, LOW_KEY)
    n_old = int(line.filter(is_old).get_column(ROWS).sum())
    some = on_line.filter(is_within(ranges, KEY))
    if by_value and n_old <= 2 * divided.max_groups:
        new = rows.by_value(some)
    else:
        new = rows.by_edges(some, [one for one, _ in ranges])
        edges = with_ranges(edges, ranges) if edges else edges
    check_same_rows(n_old, int(new.get_column(ROWS).sum()), rows.name)
    return _joined(line.filter(~is_old), new), edges


def _joined(one: Any, other: Any) -> Any:
    """The rows of two frames of counts; the bucket of values is APART."""
    if len(one) == 0 or len(other) == 0:
        return other if len(one) == 0 else one
    one, other = (
        part if BUCKET in part.columns else part.with_columns(nw.lit(APART).cast(nw.Int64).alias(BUCKET))
        for part in (one, other)
    )
    return nw.concat([one, other.select(one.columns)])
