"""Doors: all ways in which a user may hold one column, by type of its values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

DAYS = [dt.date(2020, 1, 1), dt.date(2020, 2, 1), dt.date(2021, 1, 1), dt.date(2023, 5, 1)]
MOMENTS = [dt.datetime.combine(day, dt.time(3, 15)) for day in DAYS]
# Four values of each type, ascending where that means something.
VALUES: dict[str, list[Any]] = {
    "whole": [3, 5, 7, 11],
    "float": [0.5, 1.25, 2.5, 7.125],
    "bool": [False, True],
    "text": ["b", "d", "a", "c"],
    "day": DAYS,
    "moment": MOMENTS,
    "zoned": [moment.replace(tzinfo=dt.UTC) for moment in MOMENTS],
    "duration": [dt.timedelta(days=n, hours=n) for n in (1, 2, 5, 9)],
    "decimal": [Decimal("0.5"), Decimal("1.25"), Decimal("2.5"), Decimal("7.125")],
}
NUMPY = {"whole": "int64", "float": "float64", "bool": "bool", "text": "str", "day": "M8[D]", "moment": "M8[us]",
         "duration": "m8[us]"}  # fmt: skip
HOLDS_MISSING = ("float", "day", "moment", "duration")  # of numpy
PANDAS = {"whole": "Int64", "float": "Float64", "bool": "boolean", "text": "string"}
ARROW = {"whole": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "text": pa.string(), "day": pa.date32(),
         "moment": pa.timestamp("us"), "zoned": pa.timestamp("us", "UTC"), "duration": pa.duration("us"),
         "decimal": pa.decimal128(9, 3)}  # fmt: skip
POLARS = {"whole": pl.Int64, "float": pl.Float64, "bool": pl.Boolean, "text": pl.String, "day": pl.Date,
          "moment": pl.Datetime("us"), "zoned": pl.Datetime("us", "UTC"), "duration": pl.Duration("us"),
          "decimal": pl.Decimal(9, 3)}  # fmt: skip


def doors(kind: str, rows: list[Any]) -> Iterator[tuple[str, Any]]:
    """Name and data of each door of `rows`, values of the type `kind` or None."""
    yield "list", rows
    yield "tuple", tuple(rows)
    objects = np.empty(len(rows), dtype=object)
    objects[:] = rows
    yield "array of objects", objects
    yield "pandas objects", pd.Series(rows, dtype=object)
    if kind in NUMPY and (None not in rows or kind in HOLDS_MISSING):
        array = np.array([np.nan if kind == "float" and one is None else one for one in rows], dtype=NUMPY[kind])
        yield "array", array
        if kind != "day":  # pandas would make seconds of days
            yield "pandas", pd.Series(array)
            yield "pandas index", pd.Index(array)
            yield "pandas array", pd.array(array)
    if kind == "zoned":
        yield "pandas", pd.Series(pd.to_datetime(rows))
        yield "pandas index", pd.Index(pd.to_datetime(rows))
        yield "pandas array", pd.Series(pd.to_datetime(rows)).array
    if kind in PANDAS:
        yield "pandas nullable", pd.Series(rows, dtype=PANDAS[kind])
        yield "pandas nullable array", pd.array(rows, dtype=PANDAS[kind])
    arrow = pa.array(rows, ARROW[kind])
    yield "arrow array", arrow
    yield "arrow chunks", pa.chunked_array([arrow[: len(rows) // 3], arrow[len(rows) // 3 :]])
    yield "pandas of arrow", pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type))
    yield "pandas array of arrow", pd.array(arrow, dtype=pd.ArrowDtype(arrow.type))
    yield "polars", pl.Series(rows, dtype=POLARS[kind])


def category_doors(kind: str, rows: list[Any], categories: list[Any], ordered: bool) -> Iterator[tuple[str, Any]]:
    """As `doors`, of the types that name all categories, in an order from low to high or without one."""
    raw = pd.Categorical(rows, categories=categories, ordered=ordered)
    yield "categorical", raw
    yield "pandas", pd.Series(raw)
    yield "pandas index", pd.CategoricalIndex(raw)
    codes = [None if one is None else categories.index(one) for one in rows]
    arrow = pa.DictionaryArray.from_arrays(
        pa.array(codes, pa.int32()), pa.array(categories, ARROW[kind]), ordered=ordered
    )
    yield "arrow array", arrow
    yield "arrow chunks", pa.chunked_array([arrow[: len(rows) // 3], arrow[len(rows) // 3 :]])
    yield "pandas of arrow", pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type))
    yield "pandas array of arrow", pd.array(arrow, dtype=pd.ArrowDtype(arrow.type))
    if kind == "text":
        yield "polars", pl.Series(rows, dtype=pl.Enum(categories) if ordered else pl.Categorical)


def tables(name: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Name and data of each table with one column, `name`."""
    yield "dict", {name: data}
    if isinstance(data, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
        yield "pandas frame", pd.DataFrame({name: data})
    elif isinstance(data, pl.Series):
        yield "polars frame", pl.DataFrame({name: data})
    elif isinstance(data, (pa.Array, pa.ChunkedArray)):
        yield "arrow table", pa.table({name: data})
    if isinstance(data, pa.Array):
        yield "arrow batch", pa.record_batch({name: data})
