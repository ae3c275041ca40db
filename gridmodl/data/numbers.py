"""Encode a numerical column: numbers, dates or durations as numbers that sort in the same order."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name, Raw, as_array, object_array, without_dictionary

EXACT_FLOAT = 2**53  # float64 is exact for all whole numbers up to this one
MISSING_TIME = np.iinfo(np.int64).min  # numpy's code of a missing date


class Numbers(NamedTuple):
    """A numerical column: float64, or 64-bit integers for dates and for integers that float64 would round."""

    name: Name
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None  # None if no value is missing
    type: np.dtype[Any]  # type of the bounds: a float, integer, date or duration
    is_utc: bool = False  # whether the dates had a time zone and are now in UTC
    levels: tuple[Any, ...] | None = None  # of an ordinal column, from low to high; values are places in it
    ends: NDArray[Any] | None = None  # highest value of each row, if rows are spans and `values` their lowest values

    @property
    def n_rows(self) -> int:
        return len(self.values)


class NoNumbersError(TypeError):
    """A column of numbers holds text or other things: `found` says which."""

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(found, advice)
        self.found, self.advice = found, advice

    def __str__(self) -> str:
        return f"{self.found}; {self.advice}"


def encode_numbers(raw: Raw, name: Name) -> Numbers:
    """Encode the column `raw` as numbers; raise TypeError if it holds anything else."""
    missing, is_utc = None, False
    if isinstance(raw, np.ndarray):
        array = raw
    else:
        raw = without_dictionary(raw)
        is_utc = isinstance(raw.dtype, nw.Datetime) and raw.dtype.time_zone is not None
        if is_utc:
            raw = raw.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        if raw.dtype.is_integer() and raw.null_count() > 0:
            missing = raw.is_null().to_numpy().astype(bool)
            raw = raw.fill_null(0)
        array = raw.to_numpy()
    if array.dtype.kind in "OUST":
        array = array.astype(object, copy=False)
        is_utc = any(map(has_zone, array.tolist()))
        array, missing = numbers_of_objects(_in_utc(array) if is_utc else array, name)
    if array.dtype.kind in "mM":
        return _times(array, name, is_utc)
    if array.dtype.kind == "b":
        array = array.astype(np.float64)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"column {name!r} holds {array.dtype}; gridmodl takes real numbers of at most 64 bits")
    if array.dtype.kind in "iu" and _needs_integers(array):
        whole = np.array(array, dtype=np.uint64 if array.dtype.kind == "u" else np.int64)
        return Numbers(name, whole, missing, whole.dtype)
    values = np.ascontiguousarray(array, dtype=np.float64) + 0.0  # a copy, with 0.0 in place of -0.0
    absent = np.isnan(values) if array.dtype.kind == "f" else missing
    absent = absent if absent is not None and absent.any() else None
    kept_type = array.dtype if array.dtype.kind == "f" else values.dtype
    return Numbers(name, values, absent, kept_type)


def _needs_integers(array: NDArray[Any]) -> bool:
    """Whether float64 would round a value of `array`, or a special code next to it, such as 2^53 + 1 to 2^53."""
    return array.dtype.itemsize == 8 and (int(array.max()) >= EXACT_FLOAT or int(array.min()) <= -EXACT_FLOAT)


def _times(array: NDArray[Any], name: Name, is_utc: bool) -> Numbers:
    """Encode dates or durations as 64-bit integers."""
    if np.datetime_data(array.dtype)[0] in ("generic", "Y", "M") and array.dtype.kind == "m":
        raise TypeError(f"column {name!r} holds {array.dtype}, whose length is not known; use days or seconds")
    if np.datetime_data(array.dtype)[0] == "generic":
        array = array.astype("datetime64[s]")  # all values are missing, so there is no unit
    array = array.astype(array.dtype.newbyteorder("="))
    values = np.ascontiguousarray(array).view(np.int64)
    missing = values == MISSING_TIME
    return Numbers(name, values, missing if missing.any() else None, array.dtype, is_utc)


def numbers_of_objects(array: NDArray[Any], name: Name) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Convert an object array of numbers or dates to a typed array, and flags of the missing values or None."""
    missing = is_missing(array)
    present = array[~missing].tolist()
    for kind, times in ((np.datetime64, datetime.date), (np.timedelta64, datetime.timedelta)):
        if present and all(isinstance(value, (kind, times)) for value in present):
            return _times_of_objects(missing, present, kind, name), None
    bad = [value for value in present if not isinstance(value, (numbers.Real, Decimal))]
    if bad:
        such_as = f"such as {_safe_repr(bad[0])} ({type(bad[0]).__name__})"
        if len(bad) == len(present):
            raise NoNumbersError(f"column {name!r} holds no numbers, {such_as}", "call it categorical with kinds=")
        raise NoNumbersError(
            f"column {name!r} mixes numbers with other things, {such_as}",
            "give it one type, or call it categorical with kinds=",
        )
    whole = [int(value) for value in present if isinstance(value, numbers.Integral)]
    if whole and len(whole) == len(present):
        for dtype in (np.dtype(np.int64), np.dtype(np.uint64)):
            if np.iinfo(dtype).min <= min(whole) and max(whole) <= np.iinfo(dtype).max:
                values = np.zeros(len(array), dtype=dtype)
                values[~missing] = whole
                return values, missing if missing.any() else None
        raise TypeError(f"column {name!r} holds integers beyond 64 bits; scale them or use floats")
    if any(abs(value) > EXACT_FLOAT and int(float(value)) != value for value in whole):
        raise TypeError(f"column {name!r} mixes integers beyond 2**53 with floats, which would round them")
    floats = np.full(len(array), np.nan)
    try:
        floats[~missing] = [float(value) for value in present]
    except OverflowError as error:
        raise TypeError(f"column {name!r} holds numbers too large for a float; scale them") from error
    return floats, None


def _safe_repr(value: Any) -> str:
    """`repr` of a value, or a phrase if `repr` fails."""
    try:
        return repr(value)
    except Exception:  # `__repr__` may raise any error
        return "a value that cannot be shown"


def has_zone(value: Any) -> bool:
    """Whether `value` is a datetime with a time zone."""
    return isinstance(value, datetime.datetime) and value.tzinfo is not None


def _in_utc(array: NDArray[Any]) -> NDArray[Any]:
    """Convert datetimes to naive ones in UTC. Those that were naive get a time zone, so that the mix is refused."""
    utc = datetime.UTC
    moments = [
        value.astimezone(utc).replace(tzinfo=None) if has_zone(value)
        else value.replace(tzinfo=utc) if isinstance(value, datetime.datetime) else value
        for value in array.tolist()
    ]  # fmt: skip
    return object_array(moments)


def _times_of_objects(missing: NDArray[np.bool_], present: list[Any], kind: Any, name: Name) -> NDArray[Any]:
    if any(has_zone(value) for value in present):
        raise TypeError(f"column {name!r} mixes dates with and without a time zone; give it one type")
    # Each value has a unit of its own (pandas: nanoseconds); numpy chooses one that holds all.
    found = np.array([value.to_numpy() if hasattr(value, "to_numpy") else kind(value) for value in present])
    times = np.full(len(missing), kind("NaT"), dtype=found.dtype)
    times[~missing] = found
    return times


class Special(NamedTuple):
    """Special codes of a numerical column."""

    codes: NDArray[Any]  # in the type of the column's values, part by part
    sizes: tuple[int, ...]  # number of codes of each part

    @property
    def n_parts(self) -> int:
        return len(self.sizes)

    def by_part(self, of_codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum the rows of `of_codes`, one for each code, over the codes of each part."""
        if not self.sizes:
            return of_codes
        return np.asarray(np.add.reduceat(of_codes, np.append(0, np.cumsum(self.sizes)[:-1]), axis=0))


def special_parts(special: Any, what: str) -> list[list[Any]]:
    """Values of each special part: a value is a part of its own, those of a nested list share one."""
    is_one = isinstance(special, (str, bytes)) or not isinstance(special, Iterable)
    if is_one or (isinstance(special, np.ndarray) and special.ndim == 0):
        special = [special]
    parts = [list(part) if isinstance(part, (list, tuple, np.ndarray)) else [part] for part in special]
    if not all(parts):
        raise ValueError(f"{what} has an empty list: name the values that share a part, such as [[-999, -998], -1]")
    return parts


def encode_special(special: Any, column: Numbers) -> Special:
    """Encode the special codes of a numerical column in the type of its values, without repeats."""
    what = f"special of column {column.name!r}"
    parts = special_parts(special, what)
    encoded = [encode_codes(part, column, what) for part in parts]
    codes: dict[Any, int] = {}
    for i, part in enumerate(encoded):
        for code in part.tolist():
            if codes.setdefault(code, i) != i and (len(part) > 1 or len(encoded[codes[code]]) > 1):
                given = next(one for one in parts[i] if encode_codes([one], column, what).item() == code)
                raise ValueError(f"{what} has {given!r} in two parts")
    sizes = [sum(part == i for part in codes.values()) for i in range(len(parts))]
    values = np.array(list(codes), dtype=column.values.dtype)
    return Special(values, tuple(size for size in sizes if size))


def encode_codes(special: Any, column: Numbers, what: str) -> NDArray[Any]:
    """Encode some codes, or other numbers of the user, in the type of the values of a column; `what` names them."""
    if column.levels is not None:
        return _special_levels(special, column, what)
    array = as_array(special, what)
    if array.ndim != 1:
        raise ValueError(f"{what} must be a list of numbers or dates, got {special!r}")
    try:
        codes = encode_numbers(array, column.name)
    except TypeError as error:
        raise TypeError(f"{what} must be a list of numbers or dates, got {special!r}") from error
    if codes.is_utc and not column.is_utc:
        raise TypeError(f"{what} have a time zone, the column has none")
    if codes.missing is not None:
        raise ValueError(f"{what} holds a missing value; missing values have no bound and are no code")
    if codes.type.kind != column.type.kind and "M" in (codes.type.kind + column.type.kind).upper():
        raise TypeError(f"{what} holds {codes.type}, the column {column.type}")
    if codes.type.kind in "mM":
        times = codes.values.view(codes.type)
        if np.any(times.astype(column.type).astype(codes.type) != times):
            raise ValueError(f"{what} holds times that {column.type} cannot")
        values = times.astype(column.type).view(np.int64)
    elif column.type.kind == "f":
        values = codes.values.astype(column.type).astype(column.values.dtype)  # 0.1 as float32 differs from 0.1
    else:
        values = codes.values.astype(column.values.dtype)
        if np.any(values != codes.values):
            raise ValueError(f"{what} holds numbers that {column.values.dtype} cannot")
    return np.array(list(dict.fromkeys(values.tolist())), dtype=values.dtype)


def encode_bounds(given: Any, column: Numbers, what: str) -> NDArray[Any]:
    """Encode bounds of the user in the type of the values of a column; those of dates may be texts."""
    if column.type.kind == "M" and len(given) and all(isinstance(one, str) for one in given):
        try:
            given = np.array(given, dtype="datetime64")
        except ValueError as error:
            raise ValueError(f"{what} must be dates, got {given!r}") from error
    return encode_codes(list(given), column, what)


def _special_levels(special: Any, column: Numbers, what: str) -> NDArray[Any]:
    """Places of some levels of an ordinal column; `what` names them."""
    levels = column.levels or ()
    for level in special:
        if level not in levels:
            raise ValueError(f"{what} holds {level!r}, which is no level of it")
    return np.array(list(dict.fromkeys(levels.index(level) for level in special)), dtype=column.values.dtype)


# Missing values: null and NaN alike, of all libraries.


def missing_rows(raw: Raw) -> NDArray[np.bool_]:
    """Flags of the missing values of a column."""
    if isinstance(raw, np.ndarray):
        return is_missing(raw)
    if isinstance(raw.dtype, (nw.Object, nw.Unknown)) or raw.dtype.is_float():
        return is_missing(raw.to_numpy())
    return np.asarray(raw.is_null().to_numpy(), dtype=bool)


def is_missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Flags of the missing values of an array."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind == "O" and not types_in(array) <= {str, bytes, int, bool}:
        return np.array([is_missing_value(value) for value in array.tolist()], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def types_in(array: NDArray[Any]) -> set[type]:
    """Python types of the values of an array."""
    return set(map(type, array.tolist()))


def is_missing_value(value: Any) -> bool:
    """Whether `value` is None, NaN, NaT or NA; the NA of pandas has no truth value, so its type name decides."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except ValueError:  # an array in place of a value
        return False
    except InvalidOperation:  # a signalling NaN
        return True
    except Exception:  # not comparable: `gridmodl.data.columns` raises an error that names the column
        return False


def is_text(array: NDArray[Any]) -> bool:
    """Whether an object array holds only text, bytes, booleans and missing values, and not only missing values."""
    if array.dtype.kind != "O":
        return False
    kinds = types_in(array)
    texts = {kind for kind in kinds if issubclass(kind, (str, bytes, bool, np.bool_))}
    if texts == kinds:
        return bool(texts)
    return bool(texts) and all(type(value) in texts or is_missing_value(value) for value in array.tolist())
