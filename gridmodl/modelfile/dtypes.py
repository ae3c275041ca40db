"""The types of arrays by name, and the dates of numpy as text."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np

from gridmodl.modelfile.text import ModelFileError, shown, wrong

_DTYPE = re.compile(
    r"([<>]?)(bool|u?int(?:8|16|32|64)|float(?:16|32|64)|object|[US][0-9]{1,7}"
    r"|(?:datetime64|timedelta64)\[[0-9]{0,10}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])"
)
_DATE = re.compile(r"-?[0-9]{4,}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,18})?)?)?)?)?)?")


def write_dtype(dtype: np.dtype[Any], place: str) -> str:
    """Such as float64, U7 or datetime64[us]; bytes in an order that is not this machine's are marked < or >."""
    name = dtype.str[1:] if dtype.kind in "US" else dtype.name
    text = dtype.byteorder + name if dtype.byteorder in "<>" else name
    if not _DTYPE.fullmatch(text):
        raise TypeError(f"{place} is of {dtype}, which a model file cannot hold")
    return text


def read_dtype(given: Any, place: str) -> np.dtype[Any]:
    """The type that `write_dtype` wrote."""
    found = _DTYPE.fullmatch(given) if isinstance(given, str) else None
    if found:
        order: Any = found[1] or "="
        with contextlib.suppress(TypeError, ValueError, OverflowError):  # a unit of too many seconds
            return np.dtype(found[2]).newbyteorder(order)
    raise wrong(place, f"names no type that gridmodl knows: {shown(given)}")


def write_date(date: np.datetime64) -> str | int:
    """A date as text, or as numpy's number for it where that text would not be read as this date."""
    number = int(date.astype(np.int64))
    try:
        return str(date) if read_date(str(date), date.dtype, "") == number else number
    except ModelFileError:
        return number


def read_date(text: str, dtype: np.dtype[Any], place: str) -> int:
    """numpy's number for a date of this type."""
    try:
        date = np.array(text, dtype=dtype)[()] if _DATE.fullmatch(text) else None
    except (ValueError, OverflowError):
        date = None
    if date is None or str(date) != text:
        raise wrong(place, f"is no date of {dtype}: {shown(text)}")
    return int(date.astype(np.int64))
