"""Random columns: small whole numbers, called levels, as values of many types in many containers."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

MISSING = -1  # the level of a missing value
CONTAINERS = ("array", "list", "pandas", "polars")

TEXTS = ["a", "B", "", " ", "it's", 'say "so"', "grün", "日本", "1", "None", "nan", "a\\b", "%_", "ab", "-- x", "Z"]
PLAIN_NAMES = ["k", "b", "m", "a", "t", "z", "c", "x", "q", "d", "f", "e", "y", "g", "w", "h"]


@dataclass(frozen=True)
class Column:
    """Levels of rows, and what each level is in the user's own type; those of a numerical one ascend."""

    kind: str  # numerical, categorical or ordinal
    type: str  # of the values, a key of NUMBERS or VALUES
    levels: Any  # of each row, MISSING among them
    values: list[Any]  # of each level, those that no row has among them
    container: str = "array"

    def taken(self, rows: Any) -> Column:
        return replace(self, levels=self.levels[rows])

    def everything(self, with_missing: bool) -> Column:
        """One row for each level, those that were never seen too."""
        first = MISSING if with_missing else 0
        return replace(self, levels=np.arange(first, len(self.values)))

    @property
    def has_missing(self) -> bool:
        return bool(np.any(self.levels == MISSING))

    @property
    def needs_order(self) -> bool:
        """Whether the levels of an ordinal column must be given, as its type does not order them."""
        return self.kind == "ordinal" and self.container not in ("pandas", "polars")

    @property
    def is_text(self) -> bool:
        """Whether the type of the values says that the column is categorical."""
        return self.type in ("text", "bool") and bool(np.any(self.levels != MISSING))

    def objects(self) -> list[Any]:
        """The value of each row, None where it is missing."""
        return [None if level == MISSING else self.values[level] for level in self.levels.tolist()]

    def raw(self) -> Any:
        """The column as a user has it."""
        if self.type in TIMES:
            return self._times()
        objects = self.objects()
        if self.kind == "ordinal" and self.container == "pandas":
            return pd.Series(pd.Categorical(objects, categories=self.values, ordered=True))
        if self.kind == "ordinal" and self.container == "polars":
            return pl.Series("x", objects, dtype=pl.Enum(self.values))
        if self.kind != "numerical":
            return self._texts(objects)
        if self.container == "list":
            return objects
        if self.container == "polars":
            return pl.Series("x", objects, dtype=POLARS[self.type], strict=True)
        if self.type in ("float64", "float32"):
            array = np.array([np.nan if value is None else value for value in objects], dtype=self.type)
            return pd.Series(array) if self.container == "pandas" else array
        if self.container == "pandas" or self.has_missing:
            return pd.Series(objects, dtype=PANDAS[self.type])
        return np.array(objects, dtype=self.type)

    def _times(self) -> Any:
        text = np.array(["NaT" if value is None else value for value in self.objects()], dtype=self.type)
        if self.container == "pandas" and self.type not in ("M8[D]", "m8[D]"):
            return pd.Series(text)
        return text

    def _texts(self, objects: list[Any]) -> Any:
        if self.container == "pandas" and self.type == "text":
            return pd.Series(objects, dtype="category")
        if self.container == "polars" and self.type in ("text", "bool"):
            return pl.Series("x", objects, dtype=pl.String if self.type == "text" else pl.Boolean)
        if self.container == "array" and self.type == "bool" and not self.has_missing:
            return np.array(objects, dtype=bool)
        array = np.empty(len(objects), dtype=object)
        array[:] = objects
        return array if self.container != "list" else objects

    def stored(self, dialect: str) -> tuple[str, list[Any]] | None:
        """The type and the values of the column in a database; None where it has no such type."""
        objects = self.objects()
        if self.type in ("float64", "float32"):
            return ("double" if self.type == "float64" else "float32"), [
                None if value is None else float(value) for value in objects
            ]
        if self.type == "text":
            return "text", objects
        if self.type == "bool":
            return "boolean", objects
        if self.type in ("M8[D]", "M8[us]"):
            moments = [None if value is None else value.astype(self.type).item() for value in objects]
            if dialect == "sqlite":
                moments = [None if moment is None else moment.isoformat() for moment in moments]
            return ("date" if self.type == "M8[D]" else "moment"), moments
        if self.type in PANDAS:
            return "int64", [None if value is None else int(value) for value in objects]
        return None

    def fed(self, type_: str) -> Any:
        """The values as a graph of ONNX takes them."""
        objects = self.objects()
        if type_ == "tensor(string)":
            return np.array(["<missing>" if value is None else value for value in objects], dtype=object)
        if self.type in TIMES:
            return np.array(["NaT" if value is None else value for value in objects], dtype=self.type).view(np.int64)
        if type_ == "tensor(int64)":
            smallest = np.iinfo(np.int64).min
            return np.array([smallest if value is None else int(value) for value in objects], dtype=np.int64)
        return np.array([np.nan if value is None else float(value) for value in objects])


PANDAS = {"int64": "Int64", "int8": "Int8", "uint8": "UInt8", "int32": "Int32"}
POLARS = {
    "int64": pl.Int64, "int8": pl.Int8, "uint8": pl.UInt8, "int32": pl.Int32, "float64": pl.Float64,
    "float32": pl.Float32,
}  # fmt: skip
TIMES = ("M8[D]", "M8[s]", "M8[us]", "M8[ns]", "m8[s]")


def _floats(rng: np.random.Generator, n: int) -> Any:
    kind = rng.integers(0, 7)
    if kind == 0:
        return np.arange(n) - float(rng.integers(0, 3))
    if kind == 1:
        return np.unique(rng.normal(size=4 * n))[:n]
    if kind == 2:  # neighbours: no number lies between them
        values = [float(rng.choice([0.0, 1.0, -1.0, 2.0**53, 1e300, 0.1]))]
        while len(values) < n:
            values.append(float(np.nextafter(values[-1], np.inf)))
        return np.array(values)
    if kind == 3:
        return np.sort(rng.choice([-1.7976931348623157e308, -1e9, -5e-324, 0.0, 5e-324, 1e-9, 1.0, 1e9, 1e300,
                                   1.7976931348623157e308, 3.0, 7.0, 0.1, 0.2], n, replace=False))  # fmt: skip
    values = np.sort(rng.choice(1000, n, replace=False) / 8.0)
    if kind == 4 and n > 1:
        values[-1] = np.inf
    if kind == 5 and n > 1:
        values[0] = -np.inf
    if kind == 6 and n > 2:
        values[[0, -1]] = -np.inf, np.inf
    return values


def _whole(dtype: str) -> Any:
    info = np.iinfo(dtype)

    def values(rng: np.random.Generator, n: int) -> Any:
        kind = rng.integers(0, 3)
        if kind == 0:
            start = int(rng.integers(0, 5))
            return np.arange(start, start + n, dtype=dtype)
        near = [int(info.min) + i for i in range(n)] if kind == 1 else [int(info.max) - n + 1 + i for i in range(n)]
        if dtype == "int64" and rng.random() < 0.5:  # beyond what floats tell apart
            near = [2**53 + i for i in range(n)]
        return np.array(near, dtype=dtype)

    return values


def _single(rng: np.random.Generator, n: int) -> Any:
    with np.errstate(over="ignore"):
        found = np.unique(_floats(rng, n).astype(np.float32))
    return found if len(found) == n else np.arange(n, dtype=np.float32) / np.float32(10)


def _moments(unit: str) -> Any:
    def values(rng: np.random.Generator, n: int) -> Any:
        start = np.datetime64("2020-02-28", unit).astype(np.int64) - int(rng.integers(0, 40_000))
        steps = np.cumsum(rng.integers(1, rng.choice([2, 50]), n))
        return (start + steps).astype(np.int64).view(f"M8[{unit}]")

    return values


def _durations(rng: np.random.Generator, n: int) -> Any:
    return np.sort(rng.choice(2000, n, replace=False) - 1000).astype(np.int64).view("m8[s]")


NUMBERS = {
    "float64": _floats, "float32": _single, "int64": _whole("int64"), "int8": _whole("int8"), "uint8": _whole("uint8"),
    "int32": _whole("int32"), "M8[D]": _moments("D"), "M8[s]": _moments("s"), "M8[us]": _moments("us"),
    "M8[ns]": _moments("ns"), "m8[s]": _durations,
}  # fmt: skip
FREQUENT = ("float64", "int64", "int32")


def numerical(rng: np.random.Generator, levels: Any, n_levels: int, kind: str | None = None) -> Column:
    """A numerical column with these levels, of any type or of one."""
    name = kind or str(rng.choice(FREQUENT) if rng.random() < 0.6 else rng.choice(list(NUMBERS)))
    if n_levels > 12 and name not in ("int64", "int32"):
        name = "float64"
    values = np.arange(n_levels) / 4.0 if n_levels > 12 and name == "float64" else NUMBERS[name](rng, n_levels)
    kept = list(values) if name in TIMES else values.tolist()
    return Column("numerical", name, levels, kept, str(rng.choice(CONTAINERS)))


def ordinal(rng: np.random.Generator, column: Column) -> Column:
    """An ordinal column with the levels of a numerical one, named in an order that no sorting gives."""
    names = [str(name) for name in rng.permutation(TEXTS if rng.random() < 0.5 else PLAIN_NAMES)]
    values = [names[i] if i < len(names) else f"v{i}" for i in range(len(column.values))]
    return replace(column, kind="ordinal", type="text", values=values, container=str(rng.choice(CONTAINERS)))


def categorical(rng: np.random.Generator, levels: Any, n_levels: int) -> Column:
    """A categorical column with these levels."""
    if n_levels <= 2 and rng.random() < 0.3:
        values, name = [False, True][:n_levels], "bool"
    elif rng.random() < 0.15:
        values, name = rng.permutation(n_levels).tolist(), "whole"
    elif rng.random() < 0.1:
        values, name = [dt.date(2020, 2, 27) + dt.timedelta(days=i) for i in range(n_levels)], "day"
    else:
        names = [str(name) for name in rng.permutation(TEXTS if rng.random() < 0.5 else PLAIN_NAMES)]
        values, name = [names[i] if i < len(names) else f"v{i}" for i in range(n_levels)], "text"
    return Column("categorical", name, levels, values, str(rng.choice(CONTAINERS)))


def classes(rng: np.random.Generator, levels: Any, n_levels: int) -> Column:
    """A class target; its levels are the classes."""
    kind = rng.integers(0, 4)
    if kind == 0:
        values, name = rng.permutation(np.arange(n_levels) - int(rng.integers(0, 3))).tolist(), "whole"
    elif kind == 1 and n_levels <= 2:
        values, name = [False, True][:n_levels], "bool"
    elif kind == 2:
        values, name = (rng.permutation(n_levels) * 1.0).tolist(), "float"
    else:
        values, name = [PLAIN_NAMES[i] if i < len(PLAIN_NAMES) else f"v{i}" for i in rng.permutation(n_levels)], "text"
    return Column("categorical", name, levels, values, "array")
