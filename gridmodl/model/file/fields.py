"""JSON of a known shape: objects, lists, integers and booleans, and the error that says what is wrong where."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

MAX_BYTES = 2**30  # of a text, and of an array
MAX_INTEGER = 2**63 - 1  # of a number of rows or parts


class ModelFileError(ValueError):
    """Raised for a text that is no model; the message says what is wrong, and where."""


def wrong(place: str, reason: str) -> ModelFileError:
    """The error to raise for the field at `place`."""
    return ModelFileError(f"{place}: {reason}" if place else reason)


def shown(value: Any) -> str:
    """The value as a message shows it, cut if it is long."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of too many digits
        return f"a long {type(value).__name__}"


def read_object(given: Any, place: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise wrong(place, f"must be an object, got {shown(given)}")
    return given


def read_fields(given: Any, place: str, names: Sequence[str]) -> dict[str, Any]:
    """Check that an object has the fields `names` and no others."""
    record = read_object(given, place)
    absent = [name for name in names if name not in record]
    if absent:
        raise wrong(place, f"lacks the field {absent[0]!r}")
    unknown = [name for name in record if name not in names]
    if unknown:
        raise wrong(place, f"has the unknown field {shown(unknown[0])}")
    return record


def read_list(given: Any, place: str) -> list[Any]:
    if not isinstance(given, list):
        raise wrong(place, f"must be a list, got {shown(given)}")
    return given


def read_integer(given: Any, place: str, low: int, high: int) -> int:
    if type(given) is not int or not low <= given <= high:
        raise wrong(place, f"must be an integer from {low} to {high}, got {shown(given)}")
    return given


def read_bool(given: Any, place: str) -> bool:
    if not isinstance(given, bool):
        raise wrong(place, f"must be true or false, got {shown(given)}")
    return given
