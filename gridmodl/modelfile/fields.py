"""JSON of a known shape: the objects, lists, integers and booleans that a model is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gridmodl.modelfile.text import shown, wrong

MAX_INTEGER = 2**63 - 1  # of a number of rows or parts


def read_object(given: Any, place: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise wrong(place, f"must be an object, got {shown(given)}")
    return given


def read_fields(given: Any, place: str, names: Sequence[str]) -> dict[str, Any]:
    """An object that has these fields and no others."""
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
