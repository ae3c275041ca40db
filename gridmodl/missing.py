"""What counts as missing: null and NaN alike, whatever the library."""

from __future__ import annotations

from decimal import InvalidOperation
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.frames import Raw


def n_missing_of(raw: Raw) -> int:
    if isinstance(raw, np.ndarray):
        return int(np.count_nonzero(is_missing(raw)))
    if isinstance(raw.dtype, (nw.Object, nw.Unknown)) or raw.dtype.is_float():
        return int(np.count_nonzero(is_missing(raw.to_numpy())))
    return int(raw.null_count())


def is_missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind == "O" and not types_in(array) <= {str, bytes, int, bool}:
        return np.array([is_nothing(value) for value in array.tolist()], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def types_in(array: NDArray[Any]) -> set[type]:
    return set(map(type, array.tolist()))


def is_nothing(value: Any) -> bool:
    """None, NaN, and what data frames put in their place; pandas' NA has no truth value, so it goes by its name."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except ValueError:  # an array in place of a value
        return False
    except InvalidOperation:  # a signalling NaN
        return True
    except Exception:  # a value that cannot be compared, which `gridmodl.values` refuses with the column's name
        return False


def is_text(array: NDArray[Any]) -> bool:
    if array.dtype.kind != "O":
        return False
    kinds = types_in(array)
    texts = {kind for kind in kinds if issubclass(kind, (str, bytes, bool, np.bool_))}
    if texts == kinds:
        return bool(texts)
    return bool(texts) and all(type(value) in texts or is_nothing(value) for value in array.tolist())
