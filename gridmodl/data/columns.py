"""Encode a user's column as numbers, as places in an order, or as categories: distinct values and codes of rows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name, Raw, SpanColumn, arrow_of, as_array, without_dictionary
from gridmodl.data.numbers import NoNumbersError, Numbers, encode_numbers, is_missing_value, is_text

KINDS = ("numerical", "categorical", "ordinal")
Kind = str | tuple[Any, ...]  # of a column, one of KINDS; a tuple holds the levels of an ordinal one, from low to high


class ColumnWarning(UserWarning):
    """Warning that a column has no model or no average of its own, or that a grid cannot fill in its missing values."""


def error_beside_name(error: Exception, name: Name) -> str:
    """Text of an error of a column, for a sentence that names the column already."""
    text, named = str(error), f"column {name!r} "
    return f"it {text.removeprefix(named)}" if text.startswith(named) else text


def encode_column(raw: Raw | SpanColumn, name: Name, kind: Kind | None = None) -> Column:
    """Encode a column as numbers, levels or categories: as `kind` says, or else as its type says."""
    if isinstance(raw, SpanColumn):
        return _encode_spans(raw, name, kind)
    raw = _plain(raw, name)
    if len(raw) == 0:
        raise ValueError(f"column {name!r} has no rows")
    kind = kind_of(raw) if kind is None else kind
    if kind == "categorical":
        return encode_values(raw, name)
    if kind == "numerical":
        return encode_numbers(raw, name)
    return encode_levels(raw, name, kind if isinstance(kind, tuple) else _known_levels(raw, name))


def encode_for_model(raw: Raw, name: Name, kind: Kind) -> Column:
    """As `encode_column`, of new rows for a model that has the column as `kind`."""
    try:
        return encode_column(raw, name, kind)
    except NoNumbersError as error:
        raise TypeError(f"{error.found}, and the model has numbers or dates there; convert the column") from error


def _encode_spans(spans: SpanColumn, name: Name, kind: Kind | None) -> Column:
    """Encode spans of numbers by their lowest values, with their highest values beside; other values are no spans."""
    if (kind or kind_of(spans)) != "numerical":
        return encode_column(spans.low, name, kind)
    column, n = encode_numbers(_plain(spans.ends, name), name), len(spans)
    missing = None if column.missing is None else column.missing[:n]
    return column._replace(values=column.values[:n], missing=missing, ends=column.values[n:])


def kind_of(raw: Raw | SpanColumn) -> str:
    """Kind of a variable according to the type of its column, one of KINDS."""
    raw = raw.low if isinstance(raw, SpanColumn) else raw
    if not isinstance(raw, np.ndarray) and isinstance(raw.dtype, (nw.Object, nw.Unknown)):
        raw = raw.to_numpy()
    if isinstance(raw, np.ndarray):
        return "categorical" if raw.dtype.kind in "bUST" or is_text(raw) else "numerical"
    if levels_in(raw) is not None:
        return "ordinal"
    texts = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Binary)
    return "categorical" if isinstance(raw.dtype, texts) else "numerical"


def _plain(raw: Raw, name: Name) -> Raw:
    """A series of a supported type, or an array."""
    if isinstance(raw, np.ndarray):
        return raw
    if isinstance(raw.dtype, nw.Unknown) and _has_zone(raw):  # a zone that narwhals cannot read: America/New_York
        return nw.from_native(raw.to_native().dt.tz_convert("UTC"), series_only=True)
    if isinstance(raw.dtype, nw.Unknown) and raw.null_count() == len(raw):
        return np.full(len(raw), np.nan)  # Polars would make short floats of them
    if isinstance(raw.dtype, (nw.Object, nw.Unknown)):
        return as_array(raw.to_numpy(), f"column {name!r}")
    if isinstance(raw.dtype, (nw.Time, nw.Int128, nw.UInt128)):
        raise _type_error(name, raw.dtype)
    check_no_records(name, raw.dtype)
    return raw


def check_no_records(name: Name, dtype: Any) -> None:
    """Raise TypeError for a column of lists or records."""
    if isinstance(dtype, (nw.List, nw.Array, nw.Struct)):
        raise _type_error(name, dtype)


def _type_error(name: Name, dtype: Any) -> TypeError:
    """Error about a column of a type that is not taken."""
    return TypeError(
        f"column {name!r} holds {dtype}; gridmodl takes numbers, dates, durations, text, categories, booleans"
    )


def _has_zone(raw: nw.Series[Any]) -> bool:
    """Whether the type of a pandas series has a time zone."""
    dtype = getattr(raw.to_native(), "dtype", None)
    return (
        getattr(dtype, "tz", None) is not None or getattr(getattr(dtype, "pyarrow_dtype", None), "tz", None) is not None
    )


# Ordinal columns: places on a line, from 0 for the lowest level.


def levels_in(raw: Raw) -> tuple[Any, ...] | None:
    """Levels of a column whose type has an order (ordered categorical, enum, ordered dictionary), from low to high."""
    if isinstance(raw, np.ndarray):
        return None
    if isinstance(raw.dtype, nw.Enum):
        return tuple(raw.dtype.categories)
    chunked = arrow_of(raw)
    if getattr(getattr(chunked, "type", None), "ordered", False):
        return _levels_of_chunks([chunk.dictionary.to_pylist() for chunk in chunked.chunks], raw.name)
    return None


def _levels_of_chunks(orders: list[list[Any]], name: Name) -> tuple[Any, ...]:
    """Levels of an ordered dictionary of pyarrow, of which each chunk has its own; they must not contradict."""
    levels = tuple(dict.fromkeys(level for order in orders for level in order))
    place = {level: i for i, level in enumerate(levels)}
    for order in orders:
        if any(place[low] > place[high] for low, high in itertools.pairwise(order)):
            raise ValueError(f"the chunks of column {name!r} order its levels in different ways; give one with order=")
    return levels


def _known_levels(raw: Raw, name: Name) -> tuple[Any, ...]:
    """Levels of a column that the user calls ordinal, from its type."""
    levels = levels_in(raw)
    if levels is None:
        raise ValueError(
            f"kinds calls column {name!r} ordinal, and its type, {raw.dtype}, does not order its values; give its "
            "levels from low to high with order=, or make it an ordered categorical"
        )
    return levels


def checked_levels(levels: Any, name: Name) -> tuple[Any, ...]:
    """The user's levels of the column `name` as a tuple; raise if they are no list, repeat, or are missing values."""
    wrong = f"order of column {name!r} must be a list of its levels, from low to high"
    if isinstance(levels, (str, bytes, dict, set)) or not isinstance(levels, Iterable):
        raise TypeError(f"{wrong}; got {levels!r}")
    found = tuple(levels.tolist() if isinstance(levels, np.ndarray) else levels)
    if not found:
        raise ValueError(f"{wrong}; got none")
    if not all(isinstance(level, Hashable) for level in found):
        raise TypeError(f"{wrong}; got {levels!r}")
    if any(map(is_missing_value, found)):
        raise ValueError(f"{wrong}, without missing values, which are below all levels; got {levels!r}")
    twice = [level for level, n in Counter(found).items() if n > 1]
    if twice:
        raise ValueError(f"{wrong}, each once; {twice[0]!r} is there twice")
    return found


def encode_levels(raw: Raw, name: Name, levels: tuple[Any, ...]) -> Numbers:
    """Encode a column as the places of its values in `levels`."""
    codes, values = factorized(raw, name)
    place = {level: float(i) for i, level in enumerate(levels)}
    absent = np.array([*map(is_missing_value, values), True])  # the last entry is for code -1
    is_used = np.zeros(len(absent), dtype=bool)
    is_used[codes] = True
    places = np.array([*(place.get(value, np.nan) for value in values), np.nan])
    unknown = np.flatnonzero(np.isnan(places) & ~absent & is_used)
    if len(unknown):
        raise ValueError(
            f"column {name!r} holds {len(unknown)} values that are not in its order, such as {values[unknown[0]]!r}; "
            f"its levels are {', '.join(map(repr, levels[:5]))}{', ...' * (len(levels) > 5)}"
        )
    missing, of_rows = absent[codes], np.where(absent, 0.0, places)[codes]
    return Numbers(name, of_rows, missing if missing.any() else None, np.dtype(np.int64), levels=levels)


# Categorical columns.

COMPARABLE = {str, bytes, int, float, bool, type(None)}  # types whose values can always be compared
SHORT_UNITS = ("ns", "ps", "fs", "as")  # of numpy, shorter than those of Python
MANY_CODES = 4  # codes per row, from which a table of counts is filled row by row


class Categories(NamedTuple):
    """A categorical column: its distinct values in sorted order, None (missing) first, and the code of each row."""

    name: Name
    values: list[Any]  # in the user's own type
    codes: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        return len(self.codes)


Column = Numbers | Categories


def kind_of_column(column: Column) -> str:
    """Kind of an encoded column, one of KINDS."""
    return "categorical" if isinstance(column, Categories) else "numerical" if column.levels is None else "ordinal"


def encode_values(raw: Raw, name: Name) -> Categories:
    """Encode a column as categories."""
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "biu":  # values are sorted already, and none is missing
        found, values = factorized(raw, name)
        return Categories(name, values, found.astype(np.int32, copy=False))
    return Categories(name, *sorted_codes(*factorized(raw, name)))


def factorized(raw: Raw, name: Name) -> tuple[NDArray[Any], list[Any]]:
    """Code of each row, -1 for a missing value, and the value of each code."""
    if not isinstance(raw, np.ndarray):
        if raw.implementation.is_pandas_like():
            codes, found = raw.to_native().factorize()
            values = found.tolist()
            check_comparable(values, name)
            return np.asarray(codes), values
        if isinstance(raw.dtype, (nw.Categorical, nw.Enum)):
            raw = without_dictionary(raw) if raw.implementation.is_pyarrow() else raw.cast(nw.String)
        if isinstance(raw.dtype, (nw.Datetime, nw.Duration)) and raw.dtype.time_unit == "ns":
            return factorized(as_array(raw.to_numpy(), f"column {name!r}"), name)  # a list would lose nanoseconds
        if isinstance(raw.dtype, (nw.Datetime, nw.Duration)) and raw.implementation.is_polars():
            raw = raw.cast(_in_microseconds(raw.dtype))  # as values of Python are, which it would look up in a list
        if isinstance(raw.dtype, (nw.Decimal, nw.UInt64)):  # Polars and pyarrow cannot look these up in a list
            return factorized_objects(raw.to_list(), name)
        values = raw.drop_nulls().unique().to_list()
        if any(value != value for value in values) or isinstance(raw.dtype, nw.Unknown) or not values:
            return factorized(as_array(raw.to_numpy(), f"column {name!r}"), name)
        found = raw.replace_strict(values, list(range(len(values))), return_dtype=nw.Int32)
        return found.fill_null(-1).to_numpy(), values
    if raw.dtype.kind in "biu":
        small = small_codes(raw)
        if small is not None:
            return small[0], small[1].tolist()
    if raw.dtype.kind in "biufmM":
        names, codes = np.unique(raw, return_inverse=True)
        return codes, names.tolist() if raw.dtype.kind not in "mM" else values_of_times(names)
    return factorized_objects(raw.tolist(), name)


def values_of_times(times: NDArray[Any]) -> list[Any]:
    """Dates or durations as values of Python, as other columns have them; as values of numpy where Python has none."""
    rounded = times.astype(f"{times.dtype.kind}8[us]") if np.datetime_data(times.dtype)[0] in SHORT_UNITS else times
    found = zip(rounded.tolist(), rounded == times, times, strict=True)  # an integer where Python has no such time
    return [of_python if is_same and not isinstance(of_python, int) else time for of_python, is_same, time in found]


def _in_microseconds(dtype: nw.Datetime | nw.Duration) -> Any:
    """The type of times or durations in microseconds."""
    return nw.Datetime("us", dtype.time_zone) if isinstance(dtype, nw.Datetime) else nw.Duration("us")


def factorized_objects(values: list[Any], name: Name) -> tuple[NDArray[Any], list[Any]]:
    """Code of each value of a list, and the distinct values in the order of their first row."""
    # Two passes in C over the methods of a dict take 0.1 us per row; sorting texts would take 1 us.
    try:
        found = dict.fromkeys(values)
        index = {value: i for i, value in enumerate(found)}
        codes = np.fromiter(map(index.__getitem__, values), np.int64, len(values))
    except MemoryError:
        raise
    except Exception as error:  # `__hash__` and `__eq__` of a value may raise any error
        kinds = ", ".join(sorted({kind.__name__ for kind in set(map(type, values)) - COMPARABLE}))
        raise TypeError(
            f"column {name!r} holds values of {kinds} that cannot be told apart: {_error_text(error)}"
        ) from error
    check_comparable(found, name)
    return codes, list(index)


def check_comparable(values: Iterable[Any], name: Name) -> None:
    """Raise if a value cannot be compared or shown: it could not be told if it is missing or equal to another."""
    for value in values:
        if type(value) in COMPARABLE or is_missing_value(value):
            continue
        try:
            is_same = bool(value == value)
            repr(value)
        except Exception as error:
            kind = type(value).__name__
            raise TypeError(
                f"column {name!r} holds a {kind} that cannot be compared or shown: {_error_text(error)}"
            ) from error
        if not is_same:
            raise TypeError(f"column {name!r} holds a {type(value).__name__} that is not equal to itself: {value!r}")


def _error_text(error: Exception) -> str:
    """Type and message of an error."""
    return f"{type(error).__name__}: {error}"


def sorted_codes(codes: NDArray[Any], values: list[Any]) -> tuple[list[Any], NDArray[np.int32]]:
    """Sort the values, missing first, so that their order does not depend on that of the rows; recode the rows."""
    is_used = np.zeros(len(values) + 1, dtype=bool)  # the last entry is for code -1
    is_used[codes] = True  # a dictionary of pyarrow may hold unused values
    is_absent = [is_missing_value(value) for value in values]
    has_missing = bool(is_used[-1]) or any(used for used, absent in zip(is_used, is_absent, strict=False) if absent)
    present = [i for i, absent in enumerate(is_absent) if is_used[i] and not absent]
    try:
        present.sort(key=values.__getitem__)
    except Exception:  # several types, or a type without an order
        present.sort(key=lambda i: (type(values[i]).__name__, repr(values[i])))
    rank = np.zeros(len(values) + 1, dtype=np.int32)
    rank[present] = np.arange(has_missing, has_missing + len(present), dtype=np.int32)
    return [None] * has_missing + [values[i] for i in present], rank[codes]


def small_codes(array: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any]] | None:
    """Codes and sorted values of integers in a small range, or None if the range is large.

    A look-up table instead of a sort: 4 ms instead of 9 ms for a million rows.
    """
    if len(array) == 0:
        return None
    low, high = int(array.min()), int(array.max())
    if high - low >= max(1024, len(array) // 4):
        return None
    unsigned = array.dtype.kind == "u"
    offset = (array - array.dtype.type(low)).astype(np.int64) if unsigned else array.astype(np.int64) - low
    present = np.bincount(offset, minlength=high - low + 1) > 0
    codes = (np.cumsum(present, dtype=np.int32) - 1).astype(np.int32)[offset]
    return codes, np.array([low + int(i) for i in np.flatnonzero(present)], dtype=array.dtype)


def count_rows(codes: NDArray[Any], weights: NDArray[np.int64] | None, n_codes: int) -> NDArray[np.int64]:
    """Sum of the weights of the rows of each code; exact, because the sum of all weights is below 2^53."""
    if n_codes > MANY_CODES * len(codes):  # most counts are 0: memory that is not written to takes no time
        rows = np.zeros(n_codes, dtype=np.int64)
        np.add.at(rows, codes, 1 if weights is None else weights)
        return rows
    rows = np.bincount(codes, weights, n_codes)
    return rows if weights is None else np.rint(rows, out=rows).astype(np.int64)
