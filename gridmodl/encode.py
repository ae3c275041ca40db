"""From what a user has to what the engine counts: columns of numbers, class codes, whole weights.

Everything that can be wrong with the input is said here, in one sentence each.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

KINDS = ("numerical", "categorical")
TARGET_KINDS = ("classes", "grouped", "numerical")
EXACT_FLOAT = 2**53  # up to here every whole number is a float64


class Column(NamedTuple):
    """A numerical column: float64, or 64-bit integers where float64 would lose digits."""

    name: str
    values: NDArray[Any]


class Classes(NamedTuple):
    """A class target."""

    names: NDArray[Any]  # in sorted order, of the user's own type
    codes: NDArray[np.int32]  # of each row


def encode_column(data: ArrayLike, kinds: Mapping[str, str] | None = None) -> Column:
    """The one numerical column of `data`, an array of shape (n,) or (n, 1)."""
    array = _as_array(data, "data")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2 and array.shape[1] > 1:
        raise NotImplementedError(
            f"data has {array.shape[1]} columns; gridmodl takes one column of numbers, a 1-D or (n, 1) array"
        )
    if array.ndim != 1:
        raise ValueError(f"data must be a 1-D or (n, 1) array, got shape {array.shape}")
    if len(array) == 0:
        raise ValueError("data has no rows")
    name = "x0"
    return Column(name, _as_numbers(array, name, _kind_of(array, name, kinds)))


def _kind_of(array: NDArray[Any], name: str, kinds: Mapping[str, str] | None) -> str:
    if kinds is not None and not isinstance(kinds, Mapping):
        raise TypeError(f"kinds must be a dict from column name to kind, got {kinds!r}")
    given = dict(kinds or {})
    for column, kind in given.items():
        if column != name:
            raise ValueError(f"kinds names column {column!r}; the data has {name!r}")
        if kind not in KINDS:
            raise ValueError(f"kinds says {kind!r} for column {column!r}; allowed: {', '.join(KINDS)}")
    guess = "categorical" if array.dtype.kind in "bUST" or _is_text(array) else "numerical"
    return given.get(name, guess)


def _as_numbers(array: NDArray[Any], name: str, kind: str) -> NDArray[Any]:
    if kind == "categorical":
        raise NotImplementedError(
            f"column {name!r} ({array.dtype}) is categorical; gridmodl takes one column of numbers"
        )
    if array.dtype.kind == "O":
        array = _numbers_of_objects(array, name)
    if array.dtype.kind == "b":
        array = array.astype(np.float64)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"column {name!r} holds {array.dtype}; gridmodl takes real numbers of at most 64 bits")
    if array.dtype.kind in "iu" and _needs_integers(array):
        return np.ascontiguousarray(array, dtype=np.uint64 if array.dtype.kind == "u" else np.int64)
    return np.ascontiguousarray(array, dtype=np.float64) + 0.0  # a copy, in which -0.0 is 0.0


def _needs_integers(array: NDArray[Any]) -> bool:
    return array.dtype.itemsize == 8 and (int(array.max()) > EXACT_FLOAT or int(array.min()) < -EXACT_FLOAT)


def _numbers_of_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    """An object array of numbers and missing values as an array of numbers."""
    array = np.where(_is_missing(array), np.array(None, dtype=object), array)
    bad = [value for value in array.tolist() if not (value is None or isinstance(value, (numbers.Real, Decimal)))]
    if bad:
        raise TypeError(
            f"column {name!r} mixes numbers with other things, such as {bad[0]!r} ({type(bad[0]).__name__}); "
            "give it one type"
        )
    values = [math.nan if value is None else value for value in array.tolist()]
    whole = [int(value) for value in values if isinstance(value, numbers.Integral)]
    if len(whole) == len(values):
        for dtype in (np.int64, np.uint64):
            if np.iinfo(dtype).min <= min(whole) and max(whole) <= np.iinfo(dtype).max:
                return np.array(whole, dtype=dtype)
        raise TypeError(f"column {name!r} holds integers beyond 64 bits; scale them or use floats")
    if any(abs(value) > EXACT_FLOAT and int(float(value)) != value for value in whole):
        raise TypeError(
            f"column {name!r} mixes integers beyond 2**53 with missing values or floats, which would round them"
        )
    try:
        return np.array([float(value) for value in values])
    except OverflowError as error:
        raise TypeError(f"column {name!r} holds numbers too large for a float; scale them") from error


def encode_target(target: ArrayLike, target_kind: str | None) -> Classes:
    """The classes of a class target; a target of real numbers is not one."""
    if target_kind is not None and target_kind not in TARGET_KINDS:
        raise ValueError(f"unknown target_kind {target_kind!r}; allowed: None, {', '.join(TARGET_KINDS)}")
    if target_kind in ("grouped", "numerical"):
        raise NotImplementedError(f"target_kind={target_kind!r} is not available; the target is taken as classes only")
    array = as_vector(target, "target")
    if array.dtype.kind == "T":
        array = array.astype(object)
    n_missing = int(np.count_nonzero(_is_missing(array)))
    if n_missing:
        raise ValueError(
            f"target has {n_missing} missing values of {len(array)}; drop those rows (learning from rows without a "
            "class, unlabelled=, is not available yet)"
        )
    if array.dtype.kind == "f" and target_kind is None and not np.array_equal(array, np.floor(array)):
        raise NotImplementedError(
            "target holds real numbers, and numerical targets are not available; "
            "for classes named by numbers pass target_kind='classes'"
        )
    if array.dtype.kind not in "biufUSTO":
        raise TypeError(f"target holds {array.dtype}; classes are strings, integers, booleans or whole floats")
    return _codes_of(array)


def _codes_of(array: NDArray[Any]) -> Classes:
    if array.dtype.kind in "biu" and len(array):
        # Small integers: a look-up table instead of a sort, 4 ms instead of 9 for a million rows.
        low, high = int(array.min()), int(array.max())
        if high - low < max(1024, len(array) // 4):
            offset = (
                array.astype(np.int64) - low
                if array.dtype.kind != "u"
                else (array - array.dtype.type(low)).astype(np.int64)
            )
            present = np.bincount(offset, minlength=high - low + 1) > 0
            codes = (np.cumsum(present, dtype=np.int32) - 1).astype(np.int32)[offset]
            return Classes(np.array([low + int(i) for i in np.flatnonzero(present)], dtype=array.dtype), codes)
    try:
        names, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            "target mixes labels that cannot be sorted, such as strings and numbers; give them one type"
        ) from error
    return Classes(names, codes.astype(np.int32))


def encode_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.int64] | None:
    """Whole, non-negative numbers of rows."""
    if weights is None:
        return None
    array = _as_array(weights, "weights")
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise TypeError(f"weights must be a 1-D array of numbers, got shape {array.shape} of {array.dtype}")
    if len(array) != n_rows:
        raise ValueError(f"weights has {len(array)} entries and data has {n_rows} rows")
    if not np.all(np.isfinite(array)) or np.any(array < 0) or np.any(array != np.floor(array)):
        raise ValueError("weights must be whole numbers, 0 or more: a row of weight w counts as w rows")
    if float(array.sum(dtype=np.float64)) >= EXACT_FLOAT:
        raise ValueError(f"weights sum to more than {EXACT_FLOAT}; scale them down")
    return array.astype(np.int64)


def count_rows(codes: NDArray[Any], weights: NDArray[np.int64] | None, n_codes: int) -> NDArray[np.int64]:
    """Rows of each code, each counted as often as its weight says; exact, as weights sum to less than 2^53."""
    return np.rint(np.bincount(codes, weights, n_codes)).astype(np.int64)


def as_vector(data: Any, what: str) -> NDArray[Any]:
    array = _as_array(data, what)
    if array.ndim != 1:
        raise ValueError(f"{what} must be a 1-D array with one entry per row, got shape {array.shape}")
    return array


def _as_array(data: Any, what: str) -> NDArray[Any]:
    if isinstance(data, (str, bytes)):
        raise TypeError(f"{what} must be array-like, got {type(data).__name__} {data!r}")
    if isinstance(data, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(data)
        data = np.where(masked, np.array(None, dtype=object), data.data) if masked.any() else data.data
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"{what} must be a regular array: its rows have different lengths") from error
    if array.dtype.kind in "US" and not isinstance(data, np.ndarray) and _mixes_text(data):
        raise TypeError(f"{what} mixes text with numbers; give it one type")
    if array.dtype.kind == "c":
        raise TypeError(f"{what} holds complex numbers, which have no order; use their real part or modulus")
    if array.ndim == 0:
        raise TypeError(f"{what} must be array-like, got {type(data).__name__} {data!r}")
    return array


def _mixes_text(data: Any) -> bool:
    """Whether a list that numpy turned into text was not all text: [1, 'a'] is not ['1', 'a']."""
    return isinstance(data, (list, tuple)) and any(
        not isinstance(v, (str, bytes, np.ndarray, list, tuple)) for v in data
    )


def _is_text(array: NDArray[Any]) -> bool:
    if array.dtype.kind != "O":
        return False
    present = array[~_is_missing(array)].tolist()
    return bool(present) and all(isinstance(value, (str, bytes, bool)) for value in present)


def _is_missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind == "O":
        return np.array([_is_nothing(value) for value in array.tolist()], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def _is_nothing(value: Any) -> bool:
    """None, NaN, and what data frames put in their place; pandas' NA has no truth value, so it goes by its name."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)
