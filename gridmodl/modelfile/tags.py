"""All tags of values, in one table, and the small ones: text, numbers, bytes, times of day and tuples."""

from __future__ import annotations

import datetime
import math
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from gridmodl.modelfile.arrays import read_scalar, write_scalar
from gridmodl.modelfile.pandasvalues import (
    is_interval,
    is_period,
    is_timedelta,
    is_timestamp,
    read_interval,
    read_period,
    read_timedelta,
    read_timestamp,
    write_interval,
    write_period,
    write_timedelta,
    write_timestamp,
)
from gridmodl.modelfile.text import wrong
from gridmodl.modelfile.times import read_duration, read_moment, write_duration, write_moment
from gridmodl.modelfile.values import Tag, read_values, write_value

_FRACTION = re.compile("-?[0-9]+(/[0-9]+)?")


def _write_text(value: str, place: str) -> str:
    return value.encode("utf-8", "surrogatepass").hex()


def _read_text(content: Any, place: str) -> str:
    return bytes.fromhex(content).decode("utf-8", "surrogatepass")


def _read_large(content: Any, place: str) -> int:
    return int(content, 16)  # hexadecimal takes linear time, decimal quadratic


def _read_special_float(content: Any, place: str) -> float:
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[content]


def _write_decimal(value: Decimal, place: str) -> str:
    if value.is_nan():
        raise wrong(place, "is a Decimal that is not a number")
    return str(value)


def _read_decimal(content: Any, place: str) -> Decimal:
    if not isinstance(content, str):  # it takes floats and tuples too
        raise TypeError(content)
    return Decimal(content)


def _read_fraction(content: Any, place: str) -> Fraction:
    if not _FRACTION.fullmatch(content):  # it would take decimals too, and write out a power of ten
        raise ValueError(content)
    return Fraction(content)


def _write_tuple(value: tuple[Any, ...], place: str) -> list[Any]:
    return [write_value(item, place) for item in value]


def _read_tuple(content: Any, place: str) -> tuple[Any, ...]:
    return tuple(read_values(content, place))


def _write_time(value: datetime.time, place: str) -> str:
    if value.tzinfo is not None and type(value.tzinfo) is not datetime.timezone:
        raise TypeError(f"{place} is {value!r}, whose offset from UTC is known on some day only")
    return value.isoformat()


def _only(kind: type) -> Callable[[Any], bool]:
    """Whether a value is of this type itself: a datetime is a date too, and is not to be written as one."""
    return lambda value: type(value) is kind


# Not exact are those that depend on this machine's time zones and on pandas; the items of a tuple are checked by
# themselves.
KNOWN_TAGS = {
    "str": Tag(_only(str), _write_text, _read_text),
    "int": Tag(_only(int), lambda value, place: hex(value), _read_large),
    "float": Tag(_only(float), lambda value, place: repr(value), _read_special_float),
    "bytes": Tag(_only(bytes), lambda value, place: value.hex(), lambda content, place: bytes.fromhex(content)),
    "date": Tag(
        _only(datetime.date),
        lambda value, place: value.isoformat(),
        lambda content, place: datetime.date.fromisoformat(content),
    ),
    "datetime": Tag(_only(datetime.datetime), write_moment, read_moment, is_exact=False),
    "timedelta": Tag(_only(datetime.timedelta), write_duration, read_duration),
    "time": Tag(_only(datetime.time), _write_time, lambda content, place: datetime.time.fromisoformat(content)),
    "Decimal": Tag(_only(Decimal), _write_decimal, _read_decimal),
    "Fraction": Tag(_only(Fraction), lambda value, place: str(value), _read_fraction),
    "UUID": Tag(_only(uuid.UUID), lambda value, place: str(value), lambda content, place: uuid.UUID(content)),
    "tuple": Tag(_only(tuple), _write_tuple, _read_tuple, is_exact=False),
    "numpy": Tag(lambda value: isinstance(value, np.generic), write_scalar, read_scalar),
    "Timestamp": Tag(is_timestamp, write_timestamp, read_timestamp, is_exact=False),
    "Timedelta": Tag(is_timedelta, write_timedelta, read_timedelta, is_exact=False),
    "Interval": Tag(is_interval, write_interval, read_interval, is_exact=False),
    "Period": Tag(is_period, write_period, read_period),
}
