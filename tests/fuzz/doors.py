"""Doors: other arrays, series and types that hold the same rows, from which the same model must be found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from fuzz.cases import Case, Rng
from fuzz.columns import TIMES, Column

import gridmodl
from gridmodl import Model

ARROW = {
    "float64": pa.float64(), "float32": pa.float32(), "int64": pa.int64(), "int32": pa.int32(), "int8": pa.int8(),
    "uint8": pa.uint8(), "whole": pa.int64(), "float": pa.float64(), "text": pa.string(), "bool": pa.bool_(),
    "day": pa.date32(),
}  # fmt: skip

OF_OBJECTS = ("list", "tuple", "array of objects", "pandas of objects")


def other_doors(objects: list[Any], type_: str) -> dict[str, Any]:
    """The same values as many things that name no categories; None is missing."""
    boxed = np.empty(len(objects), dtype=object)
    boxed[:] = objects
    arrow = pa.array(objects, ARROW[type_])
    half = len(objects) // 2
    return {
        "list": objects,
        "tuple": tuple(objects),
        "array of objects": boxed,
        "pandas of objects": pd.Series(boxed),
        "arrow": arrow,
        "arrow chunks": pa.chunked_array([arrow[:half], arrow[half:]]),
        "pandas of arrow": pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)),
        "pandas array of arrow": pd.array(arrow, dtype=pd.ArrowDtype(arrow.type)),
        "polars": pl.Series("x", arrow),
    }


def category_doors(objects: list[Any], categories: list[Any], type_: str, ordered: bool) -> dict[str, Any]:
    """The same values as types that name all categories, from low to high if they are `ordered`."""
    raw = pd.Categorical(objects, categories=categories, ordered=ordered)
    codes = pa.array([None if one is None else categories.index(one) for one in objects], pa.int32())
    arrow = pa.DictionaryArray.from_arrays(codes, pa.array(categories, ARROW[type_]), ordered=ordered)
    return {
        "series": pd.Series(raw),
        "categorical": raw,
        "index": pd.CategoricalIndex(raw),
        "dictionary": arrow,
        "pandas of a dictionary": pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)),
    }


def doors_of(column: Column) -> dict[str, Any]:
    if column.type in TIMES:
        arrow = pa.array(np.asarray(column.raw()))
        doors = {"arrow": arrow, "arrow chunks": pa.chunked_array([arrow[:1], arrow[1:]])}
        return doors if column.type.endswith("[s]") else doors | {"polars": pl.Series("x", arrow)}  # has no seconds
    if column.kind == "ordinal":
        return category_doors(column.objects(), column.values, column.type, ordered=True)
    doors = other_doors(column.objects(), column.type)
    if column.type == "float32":  # numbers of Python have 64 bits, and a bound is of the column's own type
        is_list = column.container == "list"
        doors = {name: rows for name, rows in doors.items() if (name in OF_OBJECTS) == is_list}
    if column.kind == "categorical":
        doors |= category_doors(column.objects(), column.values, column.type, ordered=False)
    return doors


def check_doors(case: Case, model: Model, rng: Rng) -> None:
    """Each column through a door of its own, and a class target with an order through raw types and series."""
    if case.kind in ("sparse", "baseline"):
        return
    rows, names = case.rows(), {}
    for name, column in case.columns.items():
        doors = doors_of(column)
        names[name] = str(rng.choice(list(doors)))
        rows["data"] = {**rows["data"], name: doors[names[name]]}
    if case.target is not None and case.target_kind is None and not case.has_mark:
        doors = other_doors(case.target.objects(), case.target.type)
        names["target"] = str(rng.choice(list(doors)))
        rows["target"] = doors[names["target"]]
    _assert_same(model, case.optimized(rows), f"through {names}")
    if "target" in names and rng.random() < 0.3:
        ordered = category_doors(case.target.objects(), case.target.values, case.target.type, ordered=True)
        series = case.optimized({**rows, "target": ordered["series"]})
        door = str(rng.choice(list(ordered)))
        _assert_same(series, case.optimized({**rows, "target": ordered[door]}), f"of an ordered target as {door}")
        assert gridmodl.verify(series, **{**case.rows(), "target": ordered["categorical"]}) or case.is_placed


def _assert_same(one: Model, other: Model, what: str) -> None:
    assert other.cost == one.cost, f"the cost {what} is {other.cost!r}, it was {one.cost!r}"
    assert other.null_cost == one.null_cost, f"the null cost {what} is {other.null_cost!r}, it was {one.null_cost!r}"
    assert (other.classes.tolist(), other.event) == (one.classes.tolist(), one.event), f"classes or event {what}"
    for name, partition in one.partitions.items():
        found = other.partitions[name]
        assert found.column_kind == partition.column_kind, f"{name!r} {what} is {found.column_kind}"
        assert found.counts.tolist() == partition.counts.tolist(), f"counts of {name!r} {what}"
        assert found.bounds.tolist() == partition.bounds.tolist(), f"bounds of {name!r} {what}"
