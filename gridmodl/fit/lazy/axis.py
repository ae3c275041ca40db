"""Spans of a column that were counted on its engine, and those that are divided after a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import encode_column, encode_values, values_of_times
from gridmodl.data.frames import SpanColumn, object_array
from gridmodl.data.line import check_bounds, holds_bounds
from gridmodl.data.numbers import Numbers, encode_bounds, encode_codes
from gridmodl.data.remote.counting import FoundBounds, zoomed
from gridmodl.data.remote.edges import Edges
from gridmodl.data.remote.queries import BUCKET, CLASS, HIGH, LOW, RARE, ROWS
from gridmodl.data.remote.rows import LazyRows

MAX_DIVISIONS = 12  # queries that divide the spans that hold bounds of the user


class Axis(NamedTuple):
    """Spans of a column that were counted, by class or alone, and what is needed to divide them."""

    rows: LazyRows
    counts: Any  # a frame, as of `gridmodl.data.remote.counting`
    edges: Edges
    apart: list[Any]
    max_groups: int
    kind: Any = None  # what the user says of the column
    by_value: bool = False  # whether spans of few rows become values, so that their edges are lost
    rare: str | None = None  # name of the categories that were counted together

    @property
    def column(self) -> Any:
        """The spans as an encoded column."""
        return encode_column(raw_column(self.counts, self.rare), self.rows.name, self.kind)

    @property
    def resolution(self) -> int:
        return resolution_of(self.column, self.counts)

    def near(self, bounds: NDArray[Any], is_moved: bool = False) -> Axis | None:
        """The axis with the spans near `bounds` divided; None if all of these are values.

        `is_moved` says that this was done before, and that these are bounds of a search after it.
        """
        column = self.column
        if not isinstance(column, Numbers) or column.ends is None or not resolution_of(column, self.counts):
            return None
        on_line = _on_line(column, self.apart)
        lows, span = np.unique(column.values[on_line], return_inverse=True)
        at = bounds.view(np.int64) if bounds.dtype.kind in "mM" else bounds
        places = np.searchsorted(lows, at, side="right")
        excess = None
        if self.rows.has_target and self.by_value and len(places):
            classes = self._classes()[on_line]
            by_class = np.zeros((len(lows), int(classes.max()) + 1))
            np.add.at(by_class, (span, classes), self.counts[ROWS].to_numpy()[on_line])
            excess = move_excess(by_class, places)
        near = FoundBounds(places.tolist(), excess, is_moved)
        finer, edges = zoomed(self.rows, self.counts, near, self.apart, self.max_groups, self.edges, self.by_value)
        return None if finer is None else self._replace(counts=finer, edges=edges)

    def _classes(self) -> NDArray[np.int64]:
        """Number of the class of each count; classes beside other parts of other columns are others."""
        classes = encode_values(self.counts[CLASS], "target").codes.astype(np.int64)
        for one in self.rows.beside:
            part = self.counts[one].to_numpy()
            _, classes = np.unique(classes * (int(part.max()) + 1) + part, return_inverse=True)
        return classes

    def at(self, given: Sequence[Any]) -> Axis:
        """The axis in which no span of several values holds one of the bounds `given` by the user."""
        axis = self
        for _ in range(MAX_DIVISIONS if len(given) else 0):
            column = axis.column
            if not isinstance(column, Numbers) or column.ends is None:
                return axis
            bounds = encode_bounds(given, column, f"bounds of column {self.rows.name!r}")
            if not holds_bounds(column, bounds):
                return axis
            finer = axis.near(bounds)
            if finer is None:
                break
            axis = finer
        check_bounds(axis.column, given)
        return axis


def raw_column(counts: Any, rare: str | None) -> Any:
    """The spans of counts as a column; categories that were counted together have the name `rare`."""
    if rare is None:
        return SpanColumn(counts[LOW], counts[HIGH])
    low = counts[LOW]
    has_nanoseconds = isinstance(low.dtype, (nw.Datetime, nw.Duration)) and low.dtype.time_unit == "ns"
    # As columns in memory have them.
    values = object_array(values_of_times(low.to_numpy()) if has_nanoseconds else low.to_list())
    values[counts[BUCKET].to_numpy() == RARE] = rare
    return values


def _on_line(column: Numbers, apart: list[Any]) -> NDArray[np.bool_]:
    """Whether each value is neither missing, infinite nor special."""
    values = column.values
    on_line = np.isfinite(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)
    if column.missing is not None:
        on_line &= ~column.missing
    return on_line & ~np.isin(values, encode_codes(apart, column, "special")) if apart else on_line


def move_excess(by_class: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Code length of the classes that is added by moving a bound into each span, while the other bounds stay.

    `by_class` has the rows of each span, `places` the number of spans below each bound. The excess of a span is the
    smaller one of its two ends, and of the bounds of the part that it lies in.
    """
    below = np.vstack([np.zeros(by_class.shape[1]), np.cumsum(by_class, axis=0)])
    stops = np.concatenate([[0], np.sort(places), [len(by_class)]])
    excess = np.full(len(by_class), np.inf)
    for first, at, end in zip(stops[:-2], stops[1:-1], stops[2:], strict=True):
        length = _length(below[first : end + 1] - below[first]) + _length(below[end] - below[first : end + 1])
        more = length - length[at - first]
        excess[first:end] = np.minimum(excess[first:end], np.minimum(more[:-1], more[1:]))
    return excess


def _length(by_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """Code length of the classes of parts by the entropy of each, in nats."""
    rows = by_class.sum(axis=1)
    return rows * np.log(np.maximum(rows, 1.0)) - (by_class * np.log(np.maximum(by_class, 1.0))).sum(axis=1)


def resolution_of(column: Any, counts: Any) -> int:
    """Rows of the largest span of several values; 0 if every span is one value."""
    if not isinstance(column, Numbers) or column.ends is None:
        return 0
    is_span = column.ends != column.values
    if column.missing is not None:
        is_span &= ~column.missing
    if not is_span.any():
        return 0
    _, span = np.unique(column.values[is_span], return_inverse=True)
    return int(np.bincount(span, counts[ROWS].to_numpy()[is_span]).max())
