"""Convert values and arrays to JSON and back, exact to the bit and to the type.

null, true, false, text, integers of 64 bits and finite floats are written as they are. Any other value is an object
with one key, its tag: ``{"float": "inf"}``, ``{"date": "2020-01-31"}``, ``{"tuple": [1, "a"]}``. An array is an object
of its type and its values: ``{"dtype": "float64", "values": [1.5, 2.0]}``. Nothing in a text is ever run, imported or
passed to pickle: tags are looked up in `gridmodl.model.file.tags`, and types of arrays must match `_DTYPE`.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Categories, Column
from gridmodl.data.frames import object_array
from gridmodl.model.file.fields import MAX_BYTES, ModelFileError, read_fields, read_list, shown, wrong

DEEP = (tuple, datetime.time)  # types with some values that can be written and others that cannot
TAGS: dict[str, Tag] = {}  # filled by `gridmodl.model.file` from `tags`, whose tuples and scalars use this module
PLAIN = (str, int, float, bool, type(None))
# Base types, and the conversion of an instance of a subclass to the base type.
EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (bytes, bytes.__bytes__),
    (tuple, tuple),
)
KNOWN = (
    "text, numbers, booleans, bytes, dates, times, durations, Decimal, Fraction, UUID, tuples of these, scalars of "
    "numpy, and Timestamp, Timedelta, Interval and Period of pandas"
)
ITEM_TYPES: dict[str, tuple[type, ...]] = {
    "b": (bool,),
    "i": (int,),
    "u": (int,),
    "f": (float, int),  # another program may write 5 in place of 5.0
    "U": (str,),
    "S": (bytes,),
    "m": (int,),
    "M": (int,),
}
_DTYPE = re.compile(
    r"([<>]?)(bool|u?int(?:8|16|32|64)|float(?:16|32|64)|object|[US][0-9]{1,7}"
    r"|(?:datetime64|timedelta64)\[[0-9]{0,10}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])"
)
_DATE = re.compile(r"-?[0-9]{4,}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,18})?)?)?)?)?)?")


class Tag(NamedTuple):
    """A tag: test of the values that it is for, writer and reader of its content; `place` is named in errors."""

    is_for: Callable[[Any], bool]
    write: Callable[[Any, str], Any]
    read: Callable[[Any, str], Any]
    is_exact: bool = True  # whether a value is written again as it was read, here and on any machine


def write_value(value: Any, place: str) -> Any:
    """Write a value as JSON; raise TypeError if it has no tag."""
    if type(value) in PLAIN and _stands_for_itself(value):
        return value
    for name, tag in TAGS.items():
        if tag.is_for(value):
            return {name: tag.write(value, place)}
    for base, exact in EXACT:
        # A subclass, such as an Enum of texts: values are looked up by hash, so the equal plain value will do.
        if isinstance(value, base) and exact(value) == value and hash(exact(value)) == hash(value):
            return write_value(exact(value), place)
    raise TypeError(
        f"{place} is {shown(value)} ({type(value).__name__}), which a model file cannot hold; it takes {KNOWN}"
    )


def check_column(column: Column) -> None:
    """Raise TypeError or ValueError if a model file cannot hold a category or level of `column`."""
    check_writable(column.values if isinstance(column, Categories) else column.levels or (), f"column {column.name!r}")


def check_writable(values: Iterable[Any], what: str) -> None:
    """Raise TypeError if a model file cannot hold one of the values; the message begins with `what`."""
    writable: set[type] = set()
    for value in values:
        kind = type(value)
        if kind in PLAIN or kind in writable:
            continue
        try:
            write_value(value, "it")
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{what} holds {shown(value)} ({kind.__name__}), which no model file can hold; it takes {KNOWN}. Give "
                "it as one of these, such as text"
            ) from error
        if kind not in DEEP and not issubclass(kind, tuple(base for base, _ in EXACT)):
            writable.add(kind)  # all values of this type can be written if one can


def _stands_for_itself(value: Any) -> bool:
    """Whether a value of a type of PLAIN is written as it is, without a tag."""
    if isinstance(value, str):
        # The two halves of a surrogate pair, each escaped, would be read as one character.
        return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def read_value(raw: Any, place: str) -> Any:
    """Read the value that `write_value` wrote."""
    if type(raw) in PLAIN:
        return raw
    if not isinstance(raw, dict) or len(raw) != 1:
        raise wrong(place, f"must be a value, or an object of one tag, got {shown(raw)}")
    ((name, content),) = raw.items()
    if name not in TAGS:
        raise wrong(place, f"has the unknown tag {shown(name)}; known: {', '.join(TAGS)}")
    tag = TAGS[name]
    try:
        value = tag.read(content, place)
        is_same = not tag.is_exact or write_value(value, place) == raw
    except ModelFileError:
        raise
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        raise wrong(place, f"is no {name}: {shown(content)}") from error
    if not is_same:  # parsers of dates and numbers accept more spellings than the writers produce
        raise wrong(place, f"is no {name} as gridmodl writes it: {shown(content)}")
    return value


def read_values(raw: Any, place: str) -> list[Any]:
    """Read a list of values."""
    values = read_list(raw, place)
    # Most values have no tag; formatting their place would take most of the time.
    return [v if type(v) in PLAIN else read_value(v, f"{place}[{i}]") for i, v in enumerate(values)]


def read_float(raw: Any, place: str) -> float:
    """Read a float, also one that another program wrote as 5 in place of 5.0."""
    if type(raw) is int and int(float(raw)) == raw:
        return float(raw)
    value = read_value(raw, place)
    if type(value) is not float:
        raise wrong(place, f"must be a float, got {shown(value)}")
    return value


def read_floats(raw: Any, place: str) -> list[float]:
    return [read_float(number, f"{place}[{i}]") for i, number in enumerate(read_list(raw, place))]


def read_text(raw: Any, place: str) -> str:
    value = read_value(raw, place)
    if type(value) is not str:
        raise wrong(place, f"must be a text, got {shown(value)}")
    return value


def write_array(array: NDArray[Any], place: str) -> dict[str, Any]:
    """Write a 1-D array of a type that `read_array` knows."""
    dtype = write_dtype(array.dtype, place)
    if array.dtype.kind == "M":
        values = [write_date(date) for date in array]
    elif array.dtype.kind == "m":
        values = array.astype(np.int64).tolist()
    else:
        values = [write_value(value, f"{place}.values[{i}]") for i, value in enumerate(array.tolist())]
    return {"dtype": dtype, "values": values}


def read_array(raw: Any, place: str) -> NDArray[Any]:
    """Read the array that `write_array` wrote."""
    record = read_fields(raw, place, ("dtype", "values"))
    dtype = read_dtype(record["dtype"], f"{place}.dtype")
    values = read_values(record["values"], f"{place}.values")
    if len(values) * dtype.itemsize > MAX_BYTES:  # with a wide text type, a few letters would fill the memory
        raise wrong(place, f"would take more than {MAX_BYTES} bytes")
    if dtype.kind == "O":
        return object_array(values)
    items = [_read_item(value, dtype, f"{place}.values[{i}]") for i, value in enumerate(values)]
    return _array_of(items, dtype, f"{place}.values")


def _read_item(value: Any, dtype: np.dtype[Any], place: str) -> Any:
    """Item of an array of type `dtype`; dates as integers."""
    if dtype.kind == "M" and isinstance(value, str):
        return read_date(value, dtype, place)
    if type(value) not in ITEM_TYPES[dtype.kind]:
        raise wrong(place, f"must be of {dtype}, got {shown(value)}")
    return value


def _array_of(items: list[Any], dtype: np.dtype[Any], place: str) -> NDArray[Any]:
    """Make an array of type `dtype`; raise `ModelFileError` if that would change an item."""
    try:
        with np.errstate(over="ignore"):
            if dtype.kind in "mM":
                return np.array(items, dtype=np.int64).view(dtype.newbyteorder("=")).astype(dtype)
            array = np.array(items, dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise wrong(place, f"holds a value beyond {dtype}") from error
    if array.tolist() != items:
        raise wrong(place, f"holds a value that {dtype} cannot hold")
    return array


def write_scalar(value: Any, place: str) -> list[Any]:
    """Write a scalar of numpy as type and value of an array of one item."""
    array = np.array([value], dtype=value.dtype)
    if array[0] != value and value == value:  # a text that ends in null characters
        raise TypeError(f"{place} is {value!r}, which numpy does not keep")
    record = write_array(array, place)
    return [record["dtype"], record["values"][0]]


def read_scalar(content: Any, place: str) -> Any:
    """Read the scalar that `write_scalar` wrote."""
    dtype, value = content
    scalar = read_array({"dtype": dtype, "values": [value]}, place)[0]
    if not isinstance(scalar, np.generic):
        raise TypeError(dtype)
    return scalar


def write_dtype(dtype: np.dtype[Any], place: str) -> str:
    """Name of a type, such as float64, U7 or datetime64[us]; < or > marks a byte order other than this machine's."""
    name = dtype.str[1:] if dtype.kind in "US" else dtype.name
    text = dtype.byteorder + name if dtype.byteorder in "<>" else name
    if not _DTYPE.fullmatch(text):
        raise TypeError(f"{place} is of {dtype}, which a model file cannot hold")
    return text


def read_dtype(raw: Any, place: str) -> np.dtype[Any]:
    """Read the type that `write_dtype` wrote."""
    found = _DTYPE.fullmatch(raw) if isinstance(raw, str) else None
    if found:
        order: Any = found[1] or "="
        with contextlib.suppress(TypeError, ValueError, OverflowError):  # a unit of too many seconds
            return np.dtype(found[2]).newbyteorder(order)
    raise wrong(place, f"names no type that gridmodl knows: {shown(raw)}")


def write_date(date: np.datetime64) -> str | int:
    """Write a date as text, or as the integer of numpy if the text would not be read as the same date."""
    number = int(date.astype(np.int64))
    try:
        return str(date) if read_date(str(date), date.dtype, "") == number else number
    except ModelFileError:
        return number


def read_date(text: str, dtype: np.dtype[Any], place: str) -> int:
    """Read a date of type `dtype` as the integer of numpy."""
    try:
        date = np.array(text, dtype=dtype)[()] if _DATE.fullmatch(text) else None
    except (ValueError, OverflowError):
        date = None
    if date is None or str(date) != text:
        raise wrong(place, f"is no date of {dtype}: {shown(text)}")
    return int(date.astype(np.int64))
