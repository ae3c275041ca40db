"""Moments, time zones and durations of Python's own types.

The name of a moment's zone matters: Python calls a moment of the hour that a clock repeats unequal to the same moment
in any other zone, so a dict would not find it.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from typing import Any

from gridmodl.modelfile.fields import read_integer, read_list

_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
_OFFSET = re.compile(r"[+-][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{6})?)?")
_ANY_MOMENT = "2000-01-01T00:00:00"


def write_moment(value: datetime.datetime, place: str) -> Any:
    """Its text, with the zone's name if that has one: "2020-01-31T12:00:00" or ["...+01:00", "Europe/Paris"]."""
    name = getattr(value.tzinfo, "key", None)
    return value.isoformat() if name is None else [value.isoformat(), name]


def read_moment(content: Any, place: str) -> datetime.datetime:
    text, name = content if isinstance(content, list) else (content, None)
    moment = datetime.datetime.fromisoformat(text)
    if moment.isoformat() != text or (name is not None and moment.tzinfo is None):
        raise ValueError(text)
    zone = None if name is None else zone_named(name)
    if zone is not None:
        for fold in (0, 1):
            local = moment.replace(tzinfo=zone, fold=fold)
            if local.utcoffset() == moment.utcoffset():
                return local
    return moment  # the zone is unknown here, or its rules have changed: the instant stays


def zone_named(name: Any) -> datetime.tzinfo | None:
    """The time zone of a name such as Europe/Paris, None where this machine does not know it."""
    if not isinstance(name, str) or not _ZONE.fullmatch(name):
        raise ValueError(name)
    try:
        return zoneinfo.ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None


def offset_text(offset: datetime.timedelta) -> str:
    """Such as +01:00, as a moment's own text ends."""
    moment = datetime.datetime.fromisoformat(_ANY_MOMENT).replace(tzinfo=datetime.timezone(offset))
    return moment.isoformat().removeprefix(_ANY_MOMENT)


def zone_of_offset(text: str) -> datetime.tzinfo | None:
    """The time zone of an offset such as +01:00, None if the text is none."""
    return datetime.datetime.fromisoformat(_ANY_MOMENT + text).tzinfo if _OFFSET.fullmatch(text) else None


def write_duration(value: datetime.timedelta, place: str) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def read_duration(content: Any, place: str) -> datetime.timedelta:
    days, seconds, microseconds = (read_integer(n, place, -(2**40), 2**40) for n in read_list(content, place))
    return datetime.timedelta(days, seconds, microseconds)
