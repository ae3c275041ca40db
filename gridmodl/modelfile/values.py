"""Values as JSON, exact to the bit and to the type.

null, true, false, text, integers of 64 bits and finite floats stand for themselves. Any other value is an object of one
key, its tag: ``{"float": "inf"}``, ``{"date": "2020-01-31"}``, ``{"tuple": [1, "a"]}``. Nothing in a text is ever run,
imported or handed to pickle: tags are looked up in a list that is written down in `gridmodl.modelfile.tags`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gridmodl.modelfile.fields import read_list
from gridmodl.modelfile.text import ModelFileError, shown, wrong


class Tag(NamedTuple):
    """The values that a tag is for, and how its content is written and read, at a place that errors name."""

    is_for: Callable[[Any], bool]
    write: Callable[[Any, str], Any]
    read: Callable[[Any, str], Any]
    is_exact: bool = True  # whether a value is written again as it was read, here and on any machine


DEEP = (tuple, datetime.time)  # types of which some values can be written and others not
TAGS: dict[str, Tag] = {}  # filled by the package: arrays and tuples hold values, and are values
PLAIN = (str, int, float, bool, type(None))
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


def write_value(value: Any, place: str) -> Any:
    """A value as JSON; a TypeError where there is no way to write it."""
    if type(value) in PLAIN and _stands_for_itself(value):
        return value
    for name, tag in TAGS.items():
        if tag.is_for(value):
            return {name: tag.write(value, place)}
    for base, exact in EXACT:
        # An Enum of texts, say: what it equals is as good, as values are looked up by hash.
        if isinstance(value, base) and exact(value) == value and hash(exact(value)) == hash(value):
            return write_value(exact(value), place)
    raise TypeError(
        f"{place} is {shown(value)} ({type(value).__name__}), which a model file cannot hold; it takes {KNOWN}"
    )


def check_writable(values: Iterable[Any], what: str) -> None:
    """Refuse values that no model file could hold; `what` they are is the beginning of the message."""
    tried: set[type] = set()
    for value in values:
        kind = type(value)
        if kind in PLAIN or kind in tried:
            continue
        try:
            write_value(value, "it")
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{what} holds {shown(value)} ({kind.__name__}), which no model file can hold; it takes {KNOWN}. Give "
                "it as one of these, such as text"
            ) from error
        if kind not in DEEP and not issubclass(kind, tuple(base for base, _ in EXACT)):
            tried.add(kind)  # as this one is written, so are all


def _stands_for_itself(value: Any) -> bool:
    if isinstance(value, str):
        # The two halves of a surrogate pair, each escaped, would come back as one character.
        return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def read_value(given: Any, place: str) -> Any:
    """The value that `write_value` wrote."""
    if type(given) in PLAIN:
        return given
    if not isinstance(given, dict) or len(given) != 1:
        raise wrong(place, f"must be a value, or an object of one tag, got {shown(given)}")
    ((name, content),) = given.items()
    if name not in TAGS:
        raise wrong(place, f"has the unknown tag {shown(name)}; known: {', '.join(TAGS)}")
    tag = TAGS[name]
    try:
        value = tag.read(content, place)
        is_same = not tag.is_exact or write_value(value, place) == given
    except ModelFileError:
        raise
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        raise wrong(place, f"is no {name}: {shown(content)}") from error
    if not is_same:  # readers of dates and numbers take much that no writer writes
        raise wrong(place, f"is no {name} as gridmodl writes it: {shown(content)}")
    return value


def read_values(given: Any, place: str) -> list[Any]:
    """A list of values."""
    values = read_list(given, place)
    # Most stand for themselves: no place is spelled out for them, which would take longer than all else.
    return [v if type(v) in PLAIN else read_value(v, f"{place}[{i}]") for i, v in enumerate(values)]


def read_float(given: Any, place: str) -> float:
    """A float, also one that another program wrote as 5 in place of 5.0."""
    if type(given) is int and int(float(given)) == given:
        return float(given)
    value = read_value(given, place)
    if type(value) is not float:
        raise wrong(place, f"must be a float, got {shown(value)}")
    return value


def read_floats(given: Any, place: str) -> list[float]:
    return [read_float(number, f"{place}[{i}]") for i, number in enumerate(read_list(given, place))]


def read_text(given: Any, place: str) -> str:
    value = read_value(given, place)
    if type(value) is not str:
        raise wrong(place, f"must be a text, got {shown(value)}")
    return value
