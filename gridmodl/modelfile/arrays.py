"""Arrays, and scalars of numpy: ``{"dtype": "float64", "values": [1.5, 2.0]}``.

Types are looked up in a list that is written down in `gridmodl.modelfile.dtypes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.frames import object_array
from gridmodl.modelfile.dtypes import read_date, read_dtype, write_date, write_dtype
from gridmodl.modelfile.fields import read_fields
from gridmodl.modelfile.text import MAX_BYTES, shown, wrong
from gridmodl.modelfile.values import read_values, write_value

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


def write_array(array: NDArray[Any], place: str) -> dict[str, Any]:
    """A 1-D array of a type that `read_array` knows."""
    dtype = write_dtype(array.dtype, place)
    if array.dtype.kind == "M":
        values = [write_date(date) for date in array]
    elif array.dtype.kind == "m":
        values = array.astype(np.int64).tolist()
    else:
        values = [write_value(value, f"{place}.values[{i}]") for i, value in enumerate(array.tolist())]
    return {"dtype": dtype, "values": values}


def read_array(given: Any, place: str) -> NDArray[Any]:
    """The array that `write_array` wrote."""
    record = read_fields(given, place, ("dtype", "values"))
    dtype = read_dtype(record["dtype"], f"{place}.dtype")
    values = read_values(record["values"], f"{place}.values")
    if len(values) * dtype.itemsize > MAX_BYTES:  # a wide text type: a few letters would take all memory
        raise wrong(place, f"would take more than {MAX_BYTES} bytes")
    if dtype.kind == "O":
        return object_array(values)
    items = [_read_item(value, dtype, f"{place}.values[{i}]") for i, value in enumerate(values)]
    return _array_of(items, dtype, f"{place}.values")


def _read_item(value: Any, dtype: np.dtype[Any], place: str) -> Any:
    if dtype.kind == "M" and isinstance(value, str):
        return read_date(value, dtype, place)
    if type(value) not in ITEM_TYPES[dtype.kind]:
        raise wrong(place, f"must be of {dtype}, got {shown(value)}")
    return value


def _array_of(items: list[Any], dtype: np.dtype[Any], place: str) -> NDArray[Any]:
    try:
        with np.errstate(over="ignore"):
            if dtype.kind in "mM":
                return np.array(items, dtype=np.int64).view(dtype.newbyteorder("=")).astype(dtype)
            array = np.array(items, dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise wrong(place, f"holds a value beyond {dtype}") from error
    if array.tolist() != items:
        raise wrong(place, f"holds a value that {dtype} cannot")
    return array


def write_scalar(value: Any, place: str) -> list[Any]:
    """A scalar of numpy as its type and its value, those of an array of one."""
    array = np.array([value], dtype=value.dtype)
    if array[0] != value and value == value:  # a text that ends in zeros
        raise TypeError(f"{place} is {value!r}, which numpy does not keep")
    record = write_array(array, place)
    return [record["dtype"], record["values"][0]]


def read_scalar(content: Any, place: str) -> Any:
    dtype, value = content
    scalar = read_array({"dtype": dtype, "values": [value]}, place)[0]
    if not isinstance(scalar, np.generic):
        raise TypeError(dtype)
    return scalar
