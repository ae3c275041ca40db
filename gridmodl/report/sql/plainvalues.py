"""Values of the user's own types as the few kinds that SQL has, and their literals."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from gridmodl.quantities import has_zone
from gridmodl.report.sql.dialects import Dialect
from gridmodl.report.sql.moments import nanoseconds_of


class Value(NamedTuple):
    """A value: its kind, and what it is in Python's or numpy's own types."""

    kind: str  # text, number, boolean, bytes, moment, instant (of UTC) or duration
    plain: Any


PLAIN: tuple[tuple[type, str, Any], ...] = (
    (bool, "boolean", bool),
    (int, "number", int.__int__),
    (float, "number", float.__float__),
    (str, "text", str.__str__),
    (bytes, "bytes", bytes),
    (np.datetime64, "moment", None),
    (np.timedelta64, "duration", None),
)


def value_of(value: Any, what: str) -> Value:
    """A value of a column or class, `what` says of which."""
    if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
        value = value.item()
    if isinstance(value, Decimal) and value.is_finite():
        value = int(value) if value == value.to_integral_value() else float(value) if value == float(value) else value
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return _value_of_time(value)
    for kind, name, exact in PLAIN:
        if isinstance(value, kind):
            return Value(name, value if exact is None else exact(value))
    raise ValueError(
        f"{what} has the value {value!r} ({type(value).__name__}), for which there is no SQL; "
        "there is for text, numbers, booleans, bytes, dates and durations"
    )


def _value_of_time(value: Any) -> Value:
    if isinstance(value, datetime.timedelta):
        return Value("duration", value.to_timedelta64() if hasattr(value, "to_timedelta64") else np.timedelta64(value))
    kind = "moment"
    if has_zone(value):
        kind, value = "instant", value.astimezone(datetime.UTC).replace(tzinfo=None)
    return Value(kind, value.to_datetime64() if hasattr(value, "to_datetime64") else np.datetime64(value))


def values_of(values: Iterable[Any], what: str) -> list[Value]:
    """Values of one kind."""
    found = [value_of(value, what) for value in values]
    kinds = sorted({value.kind for value in found})
    if len(kinds) > 1:
        raise ValueError(f"{what} has values of several kinds, {' and '.join(kinds)}; a column in SQL has one type")
    return found


def literal(value: Value, dialect: Dialect, what: str) -> str:
    """The value in SQL; of a number see `gridmodl.report.sql.numbers` for how to compare it."""
    if value.kind == "text":
        return _text(value.plain, dialect, what)
    if value.kind == "boolean":
        return dialect.booleans[value.plain]
    if value.kind == "bytes":
        return dialect.binary.format(value.plain.hex())
    if value.kind == "number":
        is_real = isinstance(value.plain, float)
        return dialect.real(value.plain) if is_real else dialect.integer(value.plain)
    return time_literal(value, dialect, what)


def _text(text: str, dialect: Dialect, what: str) -> str:
    if "\0" in text or (not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)):
        raise ValueError(f"{what} has the value {text!r}; there is no SQL for NUL and for half of a surrogate pair")
    return dialect.text(text)


def time_literal(value: Value, dialect: Dialect, what: str) -> str:
    """A moment or duration, rounded down to what columns of the database hold."""
    time, _ = nanoseconds_of(value.plain)
    if value.kind == "duration":
        if dialect.duration is None:
            raise ValueError(
                f"{what} has durations, for which {dialect.name} has no type; use numbers, such as seconds"
            )
        return dialect.duration(time)
    try:
        return dialect.moment(time, value.kind == "instant")
    except ValueError as error:
        raise ValueError(f"{what} has {value.plain!r}, which {error}") from error


def is_held(value: Value, dialect: Dialect) -> bool:
    """Whether a column of the database can hold this moment or duration, or only one close by."""
    time, is_exact = nanoseconds_of(value.plain)
    unit = {"moment": dialect.moment_unit, "instant": dialect.instant_unit, "duration": 1_000}[value.kind]
    return is_exact and time % unit == 0
