"""Fit the columns of a lazy frame: count each on its engine, search here, and count again near the bounds found.

Counts are rows with weights, so all that follows is as for data in memory. Where atoms are spans of several values, the
search is repeated on spans that are divided near its bounds, until these are between single values.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import encode_column
from gridmodl.data.frames import Name, SpanColumn
from gridmodl.data.numbers import Numbers, encode_codes, special_parts
from gridmodl.data.remote import (
    CLASS,
    HIGH,
    LOW,
    MAX_GROUPS,
    ROWS,
    EngineError,
    LazyRows,
    collected,
    count_column,
    lazy_rows,
    zoomed,
)
from gridmodl.data.table import Table
from gridmodl.fit.options import Options
from gridmodl.model.model import Model
from gridmodl.spelling import check_columns

MAX_ZOOMS = 3  # searches of one column after the first


class LazyData(NamedTuple):
    """A lazy frame, and the names of its columns that are inputs, target and weights."""

    frame: Any  # a narwhals LazyFrame
    names: list[Name]
    target: Name
    weights: Name | None
    n_rows: int
    lock: threading.Lock  # engines take one query at a time


def read_lazy(frame: Any, target: Any, weights: Any) -> LazyData:
    """Check the names of target and weights, and count the rows of a lazy frame."""
    columns = frame.collect_schema().names()
    if target is None:
        raise TypeError(
            "data is a lazy frame, and no target was given: name one of its columns; for a density or a joint grid, "
            "collect the columns first"
        )
    for what, name in (("target", target), ("weights", weights)):
        if name is None and what == "weights":
            continue
        if not isinstance(name, str):
            raise TypeError(
                f"data is a lazy frame, whose rows have no order: {what} must be the name of one of its columns, got "
                f"{type(name).__name__}"
            )
        check_columns(what, [name], columns)
    names = [name for name in columns if name not in (target, weights)]
    if not names:
        raise ValueError("data has no column besides the target")
    rows = nw.len() if weights is None else nw.col(weights).sum()
    bad = nw.lit(0) if weights is None else _is_no_weight(frame, weights).cast(nw.Int64).sum()
    totals = collected(frame.select(rows.alias("total"), bad.alias("bad")), target)
    if totals["bad"][0]:
        raise ValueError(f"weights must be whole numbers, 0 or more; column {weights!r} has others")
    n_rows = int(totals["total"][0] or 0)
    if n_rows == 0:
        raise ValueError("data has no rows" if weights is None else "all weights are 0: there are no rows")
    return LazyData(frame, names, target, weights, n_rows, threading.Lock())


def _is_no_weight(frame: Any, weights: str) -> Any:
    """Whether an entry of the column `weights` is missing, negative or not a whole number."""
    entry = nw.col(weights)
    wrong = entry.is_null() | (entry < 0)
    return wrong | ~(entry == entry.floor()) if frame.collect_schema()[weights].is_float() else wrong


def counted_model(
    data: LazyData,
    name: Name,
    options: Options,
    read: Callable[[dict[Name, Any], Any], Table],
    search: Callable[[Table], Model],
) -> Model:
    """Model of the column `name`: `read` makes a table of counted rows and their weights, `search` finds its model."""
    kind, apart = options.kinds.get(name), _apart(options, name)
    with data.lock:
        rows = lazy_rows(data.frame, name, data.target, data.weights, data.n_rows)
        if kind not in (None, "numerical"):
            rows = rows._replace(dtype=nw.String())  # counted by value
        counts = count_column(rows, apart, MAX_GROUPS)
        counts = _divided_at(rows, counts, _given_bounds(options, name), apart)
    _check_rows(data, name, counts)
    for zoom in range(MAX_ZOOMS + 1):
        spans = SpanColumn(counts[LOW], counts[HIGH])
        table = read({name: spans, data.target: counts[CLASS]}, counts[ROWS].to_numpy())
        column = encode_column(spans, name, kind)
        if table.searched is not None and _resolution(column, counts):
            raise ValueError(
                f"column {name!r} has more than {MAX_GROUPS} values; a lazy frame with a target that is partitioned "
                "too takes columns with fewer. Round its values, or collect the columns that you need"
            )
        model = search(table)
        if zoom == MAX_ZOOMS or not _resolution(column, counts):
            break
        assert isinstance(column, Numbers)  # noqa: S101  for mypy: only numbers have spans
        with data.lock:
            places = _places(column, apart, model.partitions[name].bounds)
            finer = zoomed(rows, counts, places, apart, MAX_GROUPS)
        if finer is None:
            break
        counts = finer
    resolution = _resolution(column, counts)
    return replace(model, proven=False, certificate=None, resolution=resolution) if resolution else model


def _divided_at(rows: LazyRows, counts: Any, bounds: list[Any], apart: list[Any]) -> Any:
    """The counts in which no span of several values holds one of the `bounds` of the user."""
    for _ in range(MAX_ZOOMS):
        column = encode_column(SpanColumn(counts[LOW], counts[HIGH]), rows.name, None)
        if not bounds or not _resolution(column, counts):
            return counts
        assert isinstance(column, Numbers)  # noqa: S101  for mypy
        at = encode_codes(bounds, column, f"bounds of column {rows.name!r}")
        finer = zoomed(rows, counts, _places(column, apart, at), apart, MAX_GROUPS)
        if finer is None:
            return counts
        counts = finer
    return counts


def _apart(options: Options, name: Name) -> list[Any]:
    """Special values of a column, all parts together."""
    given = options.of(name).special
    return [value for part in special_parts(given, "special") for value in part] if given else []


def _given_bounds(options: Options, name: Name) -> list[Any]:
    """Bounds of a column that the user fixes or allows."""
    of_column = options.of(name)
    return [bound for given in (of_column.fixed, of_column.allowed) if given is not None for bound in given]


def _places(column: Numbers, apart: list[Any], bounds: NDArray[Any]) -> list[int]:
    """Number of spans below each bound, of those that are neither missing, infinite nor special."""
    values = column.values if column.missing is None else column.values[~column.missing]
    lows = np.unique(values[np.isfinite(values)] if values.dtype.kind == "f" else values)
    lows = np.setdiff1d(lows, encode_codes(apart, column, "special")) if apart else lows
    at = bounds.view(np.int64) if bounds.dtype.kind in "mM" else bounds
    return [int(place) for place in np.searchsorted(lows, at, side="right")]


def _resolution(column: Any, counts: Any) -> int:
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


def _check_rows(data: LazyData, name: Name, counts: Any) -> None:
    """Raise EngineError if a column has other rows than the frame had before."""
    n_rows = int(counts[ROWS].sum())
    if n_rows != data.n_rows:
        raise EngineError(
            f"the rows of the lazy frame have changed between two queries: {data.n_rows} rows became {n_rows} in "
            f"column {name!r}; count a copy that stays the same, such as a table or a file"
        )
