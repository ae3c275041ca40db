"""Edges of buckets: ranges of keys that are cut into buckets of equal width, and how many of these a range needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.remote.queries import HIGH, HIGH_KEY, LOW, LOW_KEY, ROWS

WORTH_A_RANGE = 0.05  # share of all buckets that one more range must save: each is a branch over all rows


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
        distance = nw.col(key) - self.low if half == 1.0 else nw.col(key) * half - self.low * half
        place = (distance * scale).floor()
        place = nw.when(place < self.n_buckets).then(place).otherwise(nw.lit(self.n_buckets - 1.0))
        place = nw.when(place > 0.0).then(place).otherwise(nw.lit(0.0)).cast(nw.Int64)
        return place + self.first if self.first else place


Edges = tuple[Range, ...]  # ascending; all keys that are not apart
EndedRange = tuple[Range, float]  # a range, and where it ends


def bucket_of(edges: Sequence[Range], key: str) -> Any:
    """Number of the bucket of each key: a tree of comparisons, as deep as the logarithm of the number of ranges."""
    if len(edges) == 1:
        return edges[0].bucket(key)
    middle = len(edges) // 2
    below, above = bucket_of(edges[:middle], key), bucket_of(edges[middle:], key)
    return nw.when(nw.col(key) < edges[middle].start).then(below).otherwise(above)


def with_ranges(edges: Edges, ranges: Sequence[EndedRange]) -> Edges:
    """The edges with other `ranges`, each with its end, in place of what was there; what is left keeps its buckets."""
    for new, end in ranges:
        inside = max(i for i, one in enumerate(edges) if one.start < end)  # holds the keys just below the end
        next_start = edges[inside + 1].start if inside + 1 < len(edges) else math.inf
        before = tuple(one for one in edges if one.start < new.start)
        rest = (edges[inside]._replace(start=end),) if end < next_start else ()
        edges = (*before, new, *rest, *(one for one in edges if one.start >= end))
    return edges


def is_within(ranges: Sequence[EndedRange], key: str) -> Any:
    """Whether the column `key` lies in one of the ranges, ascending, each given with its end."""
    stretches: list[tuple[float, float]] = []
    for one, end in ranges:
        is_next = bool(stretches) and stretches[-1][1] == one.start
        stretches[len(stretches) - is_next :] = [(stretches[-1][0] if is_next else one.start, end)]
    return _within(stretches, key)


def _within(stretches: Sequence[tuple[float, float]], key: str) -> Any:
    if len(stretches) == 1:
        ((start, end),) = stretches
        return (nw.col(key) >= start) & (nw.col(key) < end)
    middle = len(stretches) // 2
    below, above = _within(stretches[:middle], key), _within(stretches[middle:], key)
    return nw.when(nw.col(key) < stretches[middle][0]).then(below).otherwise(above)


class Spans(NamedTuple):
    """Spans of counted values, in ascending order."""

    low_key: NDArray[np.float64]
    high_key: NDArray[np.float64]
    rows: NDArray[np.int64]
    is_divisible: NDArray[np.bool_]  # whether a span has several values

    @property
    def starts(self) -> NDArray[np.float64]:
        """Lowest key of each span, and infinity."""
        return np.append(self.low_key, math.inf)


def spans_of(line: Any) -> Spans:
    """Spans of the counts of a line, all classes together."""
    spans = line.group_by(LOW, HIGH).agg(nw.col(LOW_KEY).min(), nw.col(HIGH_KEY).max(), nw.col(ROWS).sum()).sort(LOW)
    is_divisible = (spans.get_column(LOW) != spans.get_column(HIGH)).to_numpy()
    low_key, high_key, rows = (spans.get_column(name).to_numpy() for name in (LOW_KEY, HIGH_KEY, ROWS))
    return Spans(low_key, high_key, rows, np.asarray(is_divisible, dtype=bool))


def runs_of(chosen: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
    """First and end of at most `most` runs that hold all `chosen` spans: the smallest gaps between runs are filled."""
    turns = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    firsts, ends = turns[::2], turns[1::2]
    kept = np.sort(np.argsort(ends[:-1] - firsts[1:], kind="stable")[: most - 1])  # the widest gaps
    return list(
        zip(
            np.append(firsts[:1], firsts[1:][kept]).tolist(),
            np.append(ends[:-1][kept], ends[-1:]).tolist(),
            strict=True,
        )
    )


def divided_ranges(
    spans: Spans, chosen: NDArray[np.bool_], most: int, max_buckets: int, rows: float, first: int
) -> list[EndedRange]:
    """At most `most` ranges that hold all `chosen` spans, cut into about `max_buckets` buckets or fewer.

    A bucket has about `rows` rows at most if rows lie evenly in each span and `max_buckets` suffice. `first` is the
    number of the first bucket.
    """
    runs, needs = _balanced(spans, runs_of(chosen, most), most)
    wanted = np.maximum(1.0, needs / rows)
    wanted *= min(1.0, max_buckets / wanted.sum())
    least = np.array([2 * (end - begin) for begin, end in runs])  # so that no span becomes a wider one
    n_buckets = np.maximum(least, np.ceil(wanted).astype(np.int64))
    offsets, starts = first + np.append(0, np.cumsum(n_buckets)[:-1]), spans.starts
    return [
        (Range(float(starts[a]), float(starts[a]), float(spans.high_key[b - 1]), int(n), int(at)), float(starts[b]))
        for (a, b), n, at in zip(runs, n_buckets, offsets, strict=True)
    ]


def _balanced(
    spans: Spans, runs: list[tuple[int, int]], most: int
) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
    """The runs, cut into at most `most` where density changes, and the rows that each has at its highest density.

    In buckets of equal width, the densest span of a run decides how many buckets the run needs.
    """
    ends = 0.25 * np.append(spans.low_key, spans.high_key[-1:])  # a quarter: differences do not overflow
    widths = np.maximum(np.diff(ends), 1e-15 * max(float(ends[-1] - ends[0]), 1e-300))
    density = spans.rows / widths
    places = np.append(0.0, np.cumsum(widths))

    def need(begin: int, end: int) -> float:
        return float((places[end] - places[begin]) * density[begin:end].max())

    def best_cut(begin: int, end: int) -> tuple[float, int]:
        """Rows that a cut saves, and where."""
        if end - begin < 2:
            return 0.0, begin
        below = np.maximum.accumulate(density[begin : end - 1])
        above = np.maximum.accumulate(density[begin + 1 : end][::-1])[::-1]
        middle = places[begin + 1 : end]
        parts = (middle - places[begin]) * below + (places[end] - middle) * above
        at = int(parts.argmin())
        return need(begin, end) - float(parts[at]), begin + 1 + at

    while len(runs) < most:
        saved, at, i = max((*best_cut(*run), i) for i, run in enumerate(runs))
        if saved <= WORTH_A_RANGE * sum(need(*run) for run in runs):
            break
        runs = [*runs[:i], (runs[i][0], at), (at, runs[i][1]), *runs[i + 1 :]]
    return runs, np.array([need(*run) for run in runs])
