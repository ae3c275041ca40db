"""The target and the weights of the rows, and what can be wrong with them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.frames import Raw, as_array, object_array
from gridmodl.missing import n_missing_of, types_in
from gridmodl.quantities import EXACT_FLOAT, numbers_of_objects
from gridmodl.values import factorized, factorized_objects, small_codes, sorted_codes

TARGET_KINDS = ("classes", "grouped", "numerical")


class Classes(NamedTuple):
    """A class target."""

    names: NDArray[Any]  # in sorted order, of the user's own type
    codes: NDArray[np.int32]  # of each row


def encode_target(raw: Raw, target_kind: str | None) -> Classes:
    """The classes of a class target; a target of real numbers is not one."""
    if target_kind is not None and target_kind not in TARGET_KINDS:
        raise ValueError(f"unknown target_kind {target_kind!r}; allowed: None, {', '.join(TARGET_KINDS)}")
    if target_kind in ("grouped", "numerical"):
        raise NotImplementedError(f"target_kind={target_kind!r} is not available; the target is taken as classes only")
    n_missing = n_missing_of(raw)
    if n_missing:
        raise ValueError(
            f"target has {n_missing} missing values of {len(raw)}; drop those rows (learning from rows without a "
            "class, unlabelled=, is not available yet)"
        )
    if not isinstance(raw, np.ndarray) and isinstance(raw.dtype, (nw.String, nw.Categorical, nw.Enum)):
        codes, values = factorized(raw, "target")
        _check_order(values)
        values, codes = sorted_codes(codes, values)
        return Classes(object_array(values) if isinstance(values[0], str) else np.array(values), codes)
    array = raw if isinstance(raw, np.ndarray) else as_array(raw.to_numpy(), "target")
    if array.dtype.kind == "T":
        array = array.astype(object)
    if target_kind is None and _holds_fractions(array):
        raise NotImplementedError(
            "target holds real numbers, and numerical targets are not available; "
            "for classes named by numbers pass target_kind='classes'"
        )
    if array.dtype.kind not in "biufUSTO":
        raise TypeError(f"target holds {array.dtype}; classes are strings, integers, booleans or whole floats")
    return _codes_of(array)


def _holds_fractions(array: NDArray[Any]) -> bool:
    types = types_in(array) if array.dtype.kind == "O" else set()
    if types & {float, Decimal} and types <= {int, float, bool, Decimal}:
        array = array.astype(np.float64)  # a list such as [0, 0.5, 1]
    return array.dtype.kind == "f" and not (np.all(np.isfinite(array)) and np.array_equal(array, np.floor(array)))


def _codes_of(array: NDArray[Any]) -> Classes:
    small = small_codes(array) if array.dtype.kind in "biu" else None
    if small is not None:
        return Classes(small[1], small[0])
    if array.dtype.kind in "OUS":
        codes, values = factorized_objects(array.tolist(), "target")
        _check_order(values)
        values, codes = sorted_codes(codes, values)
        return Classes(object_array(values) if array.dtype.kind == "O" else np.array(values, dtype=array.dtype), codes)
    names, codes = np.unique(array, return_inverse=True)
    return Classes(names, codes.astype(np.int32))


def _check_order(values: list[Any]) -> None:
    try:
        sorted(values)
    except TypeError as error:
        raise TypeError(
            "target mixes labels that cannot be sorted, such as strings and numbers; give them one type"
        ) from error


def encode_weights(raw: Raw | None, n_rows: int) -> NDArray[np.int64] | None:
    """Whole, non-negative numbers of rows."""
    if raw is None:
        return None
    array = raw if isinstance(raw, np.ndarray) else raw.to_numpy()
    if array.dtype.kind == "O" and not any(issubclass(kind, str) for kind in types_in(array)):
        array, missing = numbers_of_objects(array, "weights")
        array = array.astype(np.float64) if missing is None else np.where(missing, np.nan, array)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"weights must be a 1-D array of numbers, got shape {array.shape} of {array.dtype}")
    if len(array) != n_rows:
        raise ValueError(f"weights has {len(array)} entries and data has {n_rows} rows")
    if not np.all(np.isfinite(array)) or np.any(array < 0) or np.any(array != np.floor(array)):
        raise ValueError("weights must be whole numbers, 0 or more: a row of weight w counts as w rows")
    if float(array.sum(dtype=np.float64)) >= EXACT_FLOAT:
        raise ValueError(f"weights sum to more than {EXACT_FLOAT}; scale them down")
    return array.astype(np.int64)
