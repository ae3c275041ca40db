"""Tags of values: how the content of each tag is written and read, and the table `KNOWN_TAGS` of all tags.

The name of a datetime's time zone is kept: at the end of daylight saving time, Python calls a datetime of the repeated
hour unequal to the same instant in any other zone, so a dict would not find it. Values of pandas are read as types of
pandas, because no other types have the same hash; without pandas, timestamps and durations are read as Python's own
types, if these can hold them.
"""

from __future__ import annotations

import datetime
import importlib
import math
import re
import uuid
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from gridmodl.model.file.fields import read_integer, read_list, wrong
from gridmodl.model.file.values import Tag, read_scalar, read_value, read_values, write_scalar, write_value

_FRACTION = re.compile("-?[0-9]+(/[0-9]+)?")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
_OFFSET = re.compile(r"[+-][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{6})?)?")
_ANY_MOMENT = "2000-01-01T00:00:00"
CLOSED = ("left", "right", "both", "neither")  # which ends belong to an interval


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
    if not isinstance(content, str):  # Decimal takes floats and tuples too
        raise TypeError(content)
    return Decimal(content)


def _read_fraction(content: Any, place: str) -> Fraction:
    if not _FRACTION.fullmatch(content):  # Fraction takes decimals too, and would write out a power of ten
        raise ValueError(content)
    return Fraction(content)


def _read_uuid(content: Any, place: str) -> uuid.UUID:
    if not isinstance(content, str):  # UUID fails on others with an AttributeError
        raise TypeError(content)
    return uuid.UUID(content)


def _write_tuple(value: tuple[Any, ...], place: str) -> list[Any]:
    return [write_value(item, place) for item in value]


def _read_tuple(content: Any, place: str) -> tuple[Any, ...]:
    return tuple(read_values(content, place))


def _write_time(value: datetime.time, place: str) -> str:
    if value.tzinfo is not None and type(value.tzinfo) is not datetime.timezone:
        raise TypeError(f"{place} is {value!r}, whose offset from UTC depends on the day")
    return value.isoformat()


def _only(kind: type) -> Callable[[Any], bool]:
    """Test whether the type of a value is `kind` itself: a datetime is a date too, but is not written as one."""
    return lambda value: type(value) is kind


def _write_moment(value: datetime.datetime, place: str) -> Any:
    """Write a datetime, with its zone if that has a name: "2020-01-31T12:00:00" or ["...+01:00", "Europe/Paris"]."""
    name = getattr(value.tzinfo, "key", None)
    return value.isoformat() if name is None else [value.isoformat(), name]


def _read_moment(content: Any, place: str) -> datetime.datetime:
    text, name = content if isinstance(content, list) else (content, None)
    moment = datetime.datetime.fromisoformat(text)
    if moment.isoformat() != text or (name is not None and moment.tzinfo is None):
        raise ValueError(text)
    zone = None if name is None else _zone_named(name)
    if zone is not None:
        for fold in (0, 1):
            local = moment.replace(tzinfo=zone, fold=fold)
            if local.utcoffset() == moment.utcoffset():
                return local
    return moment  # the zone is unknown here, or its rules have changed: the instant stays


def _zone_named(name: Any) -> datetime.tzinfo | None:
    """Time zone of a name such as Europe/Paris; None if this machine does not know the name."""
    if not isinstance(name, str) or not _ZONE.fullmatch(name):
        raise ValueError(name)
    try:
        return zoneinfo.ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None


def _offset_text(offset: datetime.timedelta) -> str:
    """Text of an offset, such as +01:00, as at the end of an ISO datetime."""
    moment = datetime.datetime.fromisoformat(_ANY_MOMENT).replace(tzinfo=datetime.timezone(offset))
    return moment.isoformat().removeprefix(_ANY_MOMENT)


def _zone_of_offset(text: str) -> datetime.tzinfo | None:
    """Time zone of an offset such as +01:00; None if `text` is no offset."""
    return datetime.datetime.fromisoformat(_ANY_MOMENT + text).tzinfo if _OFFSET.fullmatch(text) else None


def _write_duration(value: datetime.timedelta, place: str) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def _read_duration(content: Any, place: str) -> datetime.timedelta:
    days, seconds, microseconds = (read_integer(n, place, -(2**40), 2**40) for n in read_list(content, place))
    return datetime.timedelta(days, seconds, microseconds)


def _only_of_pandas(name: str) -> Callable[[Any], bool]:
    """Test whether a value is of the type `name` of pandas, without importing pandas."""
    return lambda value: type(value).__name__ == name and type(value).__module__.split(".")[0] == "pandas"


def _write_timestamp(value: Any, place: str) -> list[Any]:
    """Write a timestamp, in UTC if it has a zone, and the name or the offset of the zone."""
    if value.tzinfo is None:
        return [*write_scalar(value.to_datetime64(), place), None]
    instant = value.tz_convert("UTC").tz_localize(None).to_datetime64()
    name = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)  # zoneinfo or pytz
    return [*write_scalar(instant, place), _offset_text(value.utcoffset()) if name is None else name]


def _read_timestamp(content: Any, place: str) -> Any:
    dtype, text, name = content
    instant = read_scalar([dtype, text], place)
    if not isinstance(instant, np.datetime64):
        raise TypeError(instant)
    zone = None if name is None else _zone_of(name)
    pandas = _pandas()
    if pandas is None:
        moment = _without_pandas(instant, "datetime64[us]", place)
        return moment if zone is None else moment.replace(tzinfo=datetime.UTC).astimezone(zone)
    stamp = pandas.Timestamp(instant)
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(zone)


def _zone_of(name: Any) -> datetime.tzinfo:
    """Time zone of an offset or a name; UTC if this machine does not know the name: the instant stays the same."""
    by_offset = _zone_of_offset(name) if isinstance(name, str) else None
    return by_offset or _zone_named(name) or datetime.UTC


def _write_timedelta(value: Any, place: str) -> list[Any]:
    return write_scalar(value.to_timedelta64(), place)


def _read_timedelta(content: Any, place: str) -> Any:
    duration = read_scalar(content, place)
    if not isinstance(duration, np.timedelta64):
        raise TypeError(duration)
    pandas = _pandas()
    return _without_pandas(duration, "timedelta64[us]", place) if pandas is None else pandas.Timedelta(duration)


def _write_interval(value: Any, place: str) -> list[Any]:
    """Write the two ends of an interval, and which of them belong to it: ``[0.5, 1.5, "right"]``."""
    return [write_value(value.left, place), write_value(value.right, place), value.closed]


def _read_interval(content: Any, place: str) -> Any:
    left, right, closed = read_list(content, place)
    if closed not in CLOSED:
        raise ValueError(closed)
    return _needed(place, "an interval").Interval(read_value(left, place), read_value(right, place), closed)


def _write_period(value: Any, place: str) -> list[Any]:
    """Write the number of a period since 1970 in units of its frequency, and the frequency: ``[600, "M"]``."""
    return [value.ordinal, value.freqstr]


def _read_period(content: Any, place: str) -> Any:
    ordinal, frequency = read_list(content, place)
    if not isinstance(frequency, str):
        raise TypeError(frequency)
    return _needed(place, "a period").Period(ordinal=read_integer(ordinal, place, -(2**63), 2**63 - 1), freq=frequency)


def _needed(place: str, what: str) -> Any:
    """Import pandas for a value that no type of Python can hold."""
    pandas = _pandas()
    if pandas is None:
        raise wrong(place, f"is {what} of pandas; install pandas to read it")
    return pandas


def _pandas() -> Any:
    """Import pandas, which only values of its own types need; None if it is not installed."""
    try:
        return importlib.import_module("pandas")
    except ImportError:
        return None


def _without_pandas(scalar: Any, dtype: str, place: str) -> Any:
    """Convert a scalar of numpy to Python's own type; raise ModelFileError if that would round it."""
    rounded = scalar.astype(dtype)
    if rounded != scalar or not isinstance(rounded.item(), (datetime.datetime, datetime.timedelta)):
        raise wrong(place, f"is {scalar!r} of pandas, which Python's own types cannot hold; install pandas")
    return rounded.item()


# Not exact are tags that depend on this machine's time zones or on pandas, and tuples, whose items are checked alone.
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
    "datetime": Tag(_only(datetime.datetime), _write_moment, _read_moment, is_exact=False),
    "timedelta": Tag(_only(datetime.timedelta), _write_duration, _read_duration),
    "time": Tag(_only(datetime.time), _write_time, lambda content, place: datetime.time.fromisoformat(content)),
    "Decimal": Tag(_only(Decimal), _write_decimal, _read_decimal),
    "Fraction": Tag(_only(Fraction), lambda value, place: str(value), _read_fraction),
    "UUID": Tag(_only(uuid.UUID), lambda value, place: str(value), _read_uuid),
    "tuple": Tag(_only(tuple), _write_tuple, _read_tuple, is_exact=False),
    "numpy": Tag(lambda value: isinstance(value, np.generic), write_scalar, read_scalar),
    "Timestamp": Tag(_only_of_pandas("Timestamp"), _write_timestamp, _read_timestamp, is_exact=False),
    "Timedelta": Tag(_only_of_pandas("Timedelta"), _write_timedelta, _read_timedelta, is_exact=False),
    "Interval": Tag(_only_of_pandas("Interval"), _write_interval, _read_interval, is_exact=False),
    "Period": Tag(_only_of_pandas("Period"), _write_period, _read_period),
}
