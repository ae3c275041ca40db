"""Ends of columns, and a first look at some rows: for many columns of a lazy frame in one query each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw

from gridmodl.data.frames import Name
from gridmodl.data.remote.queries import (
    HIGH,
    KEY,
    LOW,
    VALUE,
    EngineError,
    Schema,
    collected,
    has_keys_here,
    is_apart_from,
    is_finite,
    is_ordered,
    key_of,
    keys_here,
    schema_of,
    weight_of,
)
from gridmodl.data.remote.rows import LazyRows

AT_ONCE = 32  # columns in one query

SpecialOf = Callable[[Name], Collection[Any] | None]  # special values of a column; None if it is not one of numbers


class Look(NamedTuple):
    """Lowest and highest key of a column, None if it has none, and whether some rows show more than `max_groups`."""

    low: Any
    high: Any
    has_many: bool


class Looks:
    """Looks at the numbers and times of a lazy frame: at `AT_ONCE` columns in one query, at one if that fails."""

    def __init__(self, frame: Any, names: Sequence[Name], weights: Name | None) -> None:
        self._frame, self._names, self._weights = frame, names, weights
        self._found: dict[Name, Look] = {}
        self._at_once = AT_ONCE

    def of(self, rows: LazyRows, special: SpecialOf, max_groups: int) -> Look:
        """Look of the column of `rows`, which is looked at with others that follow it."""
        if rows.name not in self._found and self._at_once > 1:
            try:
                self._found |= self._looks(self._block(rows.name, special), max_groups)
            except (EngineError, NotImplementedError, AttributeError, nw.exceptions.NarwhalsError):
                self._at_once = 1  # it may be another column that failed
        if rows.name in self._found:
            return self._found[rows.name]
        return look_at(rows, special(rows.name) or (), max_groups)

    def _block(self, name: Name, special: SpecialOf) -> dict[Name, Collection[Any]]:
        """Columns to look at together, the column `name` first; not those in a time zone, which engines convert."""
        schema, block = schema_of(self._frame), dict[Name, Collection[Any]]()
        for one in self._names[self._names.index(name) :]:
            dtype, apart = schema[str(one)], special(one)
            if is_ordered(dtype) and getattr(dtype, "time_zone", None) in (None, "UTC") and apart is not None:
                block[one] = apart
        return dict(list(block.items())[: self._at_once])

    def _looks(self, block: Mapping[Name, Collection[Any]], max_groups: int) -> dict[Name, Look]:
        """Looks at the columns of a block, given the special values of each."""
        if not block:
            return {}
        names, schema, rows = list(block), schema_of(self._frame), self._frame
        if self._weights is not None:
            rows = rows.filter(weight_of(schema, self._weights) > 0)
        on_line = {name: _on_line(schema, name, apart) for name, apart in block.items()}
        keys = [
            value if _is_own_key(schema[str(name)]) else key_of(schema[str(name)], value)
            for name, value in on_line.items()
        ]
        ends = rows.select(
            *(key.min().alias(f"{LOW}_{k}") for k, key in enumerate(keys)),
            *(key.max().alias(f"{HIGH}_{k}") for k, key in enumerate(keys)),
        )
        found = collected(ends, names[0])
        lows, highs = (
            [_key(schema[str(name)], found[f"{end}_{k}"]) for k, name in enumerate(names)] for end in (LOW, HIGH)
        )
        unknown = [
            k
            for k, name in enumerate(names)
            if lows[k] is not None and not _is_short(schema[str(name)], lows[k], highs[k], max_groups)
        ]
        has_many = dict.fromkeys(range(len(names)), False)
        if unknown:
            some = rows.select(*(on_line[names[k]].alias(f"{VALUE}_{k}") for k in unknown)).head(2 * max_groups)
            seen = collected(some, names[0])
            has_many |= {k: seen[f"{VALUE}_{k}"].drop_nulls().n_unique() > max_groups for k in unknown}
        return {name: Look(lows[k], highs[k], has_many[k]) for k, name in enumerate(names)}


def _on_line(schema: Schema, name: Name, apart: Collection[Any]) -> Any:
    """Values of a column that are neither missing, infinite nor special, null for others; -0.0 may be there."""
    value = schema.col(name)
    is_line = [is_finite(value)] if schema[str(name)].is_float() else []
    is_line += [value != one for one in apart]
    return nw.when(*is_line).then(value) if is_line else value


def _is_own_key(dtype: Any) -> bool:
    """Whether ends of a column are asked for as they are: numbers; Dask has no lowest date."""
    return bool(dtype.is_numeric() and has_keys_here(dtype))


def _key(dtype: Any, end: Any) -> Any:
    """Key of an end of a column: a series of one value, or of its key."""
    if end[0] is None:
        return None
    return keys_here(dtype, end)[0] if _is_own_key(dtype) else end[0]


def look_at(rows: LazyRows, apart: Collection[Any], max_groups: int) -> Look:
    """Look of one column."""
    on_line = rows.frame.filter(~is_apart_from(rows.dtype, apart, nw.col(VALUE)))
    ends = collected(on_line.select(nw.col(KEY).min().alias(LOW), nw.col(KEY).max().alias(HIGH)), rows.name)
    low, high = ends[LOW][0], ends[HIGH][0]
    if low is None or _is_short(rows.dtype, low, high, max_groups):
        return Look(low, high, False)
    some = collected(on_line.select(VALUE).head(2 * max_groups), rows.name)
    return Look(low, high, some[VALUE].n_unique() > max_groups)


def _is_short(dtype: Any, low: Any, high: Any, max_groups: int) -> bool:
    """Whether whole numbers between two ends are at most `max_groups`."""
    return bool(dtype.is_integer() and float(high) - float(low) < max_groups)
