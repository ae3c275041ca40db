"""Read JSON fields of a known type, and the error that says what is wrong, and where."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

MAX_BYTES = 2**30  # largest size of a text, and of an array
MAX_INTEGER = 2**63 - 1  # largest number of rows or parts


class ModelFileError(ValueError):
    """Raised for a text that is no model; the message says what is wrong, and where."""


def wrong(place: str, reason: str) -> ModelFileError:
    """Make the error for the field at `place`."""
    return ModelFileError(f"{place}: {reason}" if place else reason)


def shown(value: Any) -> str:
    """Text of a value for a message, shortened if it is long."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of too many digits
        return f"a long {type(value).__name__}"


def read_object(raw: Any, place: str) -> dict[str, Any]:
    """Check that a JSON value is an object."""
    if not isinstance(raw, dict):
        raise wrong(place, f"must be an object, got {shown(raw)}")
    return raw


def read_fields(raw: Any, place: str, names: Sequence[str]) -> dict[str, Any]:
    """Check that a JSON value is an object with the fields `names` and no others."""
    record = read_object(raw, place)
    absent = [name for name in names if name not in record]
    if absent:
        raise wrong(place, f"lacks the field {absent[0]!r}")
    unknown = [name for name in record if name not in names]
    if unknown:
        raise wrong(place, f"has the unknown field {shown(unknown[0])}")
    return record


def read_list(raw: Any, place: str) -> list[Any]:
    """Check that a JSON value is a list."""
    if not isinstance(raw, list):
        raise wrong(place, f"must be a list, got {shown(raw)}")
    return raw


def read_integer(raw: Any, place: str, low: int, high: int) -> int:
    """Check that a JSON value is an integer from `low` to `high`."""
    if type(raw) is not int or not low <= raw <= high:
        raise wrong(place, f"must be an integer from {low} to {high}, got {shown(raw)}")
    return raw


def read_bool(raw: Any, place: str) -> bool:
    """Check that a JSON value is a boolean."""
    if not isinstance(raw, bool):
        raise wrong(place, f"must be true or false, got {shown(raw)}")
    return raw
