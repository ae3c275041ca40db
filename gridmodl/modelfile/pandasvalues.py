"""Timestamps, durations, periods and intervals of pandas, read as its own types: no others hash alike.

Without pandas, timestamps and durations are read as Python's own, if those can hold them.
"""

from __future__ import annotations

import datetime
import importlib
from typing import Any

import numpy as np

from gridmodl.modelfile.arrays import read_scalar, write_scalar
from gridmodl.modelfile.fields import read_integer, read_list
from gridmodl.modelfile.text import wrong
from gridmodl.modelfile.times import offset_text, zone_named, zone_of_offset
from gridmodl.modelfile.values import read_value, write_value

CLOSED = ("left", "right", "both", "neither")  # the ends that belong to an interval


def is_timestamp(value: Any) -> bool:
    return _is_of_pandas(type(value), "Timestamp")


def is_timedelta(value: Any) -> bool:
    return _is_of_pandas(type(value), "Timedelta")


def is_interval(value: Any) -> bool:
    return _is_of_pandas(type(value), "Interval")


def is_period(value: Any) -> bool:
    return _is_of_pandas(type(value), "Period")


def _is_of_pandas(kind: type, name: str) -> bool:
    return kind.__name__ == name and kind.__module__.split(".")[0] == "pandas"  # which need not be imported for this


def write_timestamp(value: Any, place: str) -> list[Any]:
    """The instant in UTC if there is a zone, then the zone: its name, or its offset."""
    if value.tzinfo is None:
        return [*write_scalar(value.to_datetime64(), place), None]
    instant = value.tz_convert("UTC").tz_localize(None).to_datetime64()
    name = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)  # of zoneinfo, of pytz
    return [*write_scalar(instant, place), offset_text(value.utcoffset()) if name is None else name]


def read_timestamp(content: Any, place: str) -> Any:
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
    """The zone of an offset or of a name; UTC where this machine does not know the name: the instant stays."""
    by_offset = zone_of_offset(name) if isinstance(name, str) else None
    return by_offset or zone_named(name) or datetime.UTC


def write_timedelta(value: Any, place: str) -> list[Any]:
    return write_scalar(value.to_timedelta64(), place)


def read_timedelta(content: Any, place: str) -> Any:
    duration = read_scalar(content, place)
    if not isinstance(duration, np.timedelta64):
        raise TypeError(duration)
    pandas = _pandas()
    return _without_pandas(duration, "timedelta64[us]", place) if pandas is None else pandas.Timedelta(duration)


def write_interval(value: Any, place: str) -> list[Any]:
    """Its two ends, and which of them belong to it: ``[0.5, 1.5, "right"]``."""
    return [write_value(value.left, place), write_value(value.right, place), value.closed]


def read_interval(content: Any, place: str) -> Any:
    left, right, closed = read_list(content, place)
    if closed not in CLOSED:
        raise ValueError(closed)
    return _needed(place, "an interval").Interval(read_value(left, place), read_value(right, place), closed)


def write_period(value: Any, place: str) -> list[Any]:
    """Its number in the units of its frequency since 1970, and the frequency: ``[600, "M"]``."""
    return [value.ordinal, value.freqstr]


def read_period(content: Any, place: str) -> Any:
    ordinal, frequency = read_list(content, place)
    if not isinstance(frequency, str):
        raise TypeError(frequency)
    return _needed(place, "a period").Period(ordinal=read_integer(ordinal, place, -(2**63), 2**63 - 1), freq=frequency)


def _needed(place: str, what: str) -> Any:
    """pandas, for a value that no type of Python stands for."""
    pandas = _pandas()
    if pandas is None:
        raise wrong(place, f"is {what} of pandas; install pandas to read it")
    return pandas


def _pandas() -> Any:
    """pandas, which only its own values need; None where it is not installed."""
    try:
        return importlib.import_module("pandas")
    except ImportError:
        return None


def _without_pandas(scalar: Any, dtype: str, place: str) -> Any:
    rounded = scalar.astype(dtype)
    if rounded != scalar or not isinstance(rounded.item(), (datetime.datetime, datetime.timedelta)):
        raise wrong(place, f"is {scalar!r} of pandas, which Python's own types cannot hold; install pandas")
    return rounded.item()
