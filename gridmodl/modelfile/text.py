"""Strict JSON text: no NaN, no infinite number, no key twice when it is read; easy to read when it is written."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Sequence
from typing import Any

MAX_BYTES = 2**30  # of a text, and of an array
MAX_DIGITS = 20  # of an integer that stands for itself: all of 64 bits; larger ones are tagged
MAX_LINE = 100  # what fits is written on one line


class ModelFileError(ValueError):
    """A text that is no model; it says what is wrong, and where."""


def wrong(place: str, reason: str) -> ModelFileError:
    return ModelFileError(f"{place}: {reason}" if place else reason)


def shown(value: Any) -> str:
    """A value in a message, however long it is."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of too many digits
        return f"a long {type(value).__name__}"


def parse_json(text: str) -> Any:
    """The JSON of a text, if it is strict."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_float=_finite_float,
            parse_int=_short_integer,
        )
    except json.JSONDecodeError as error:
        raise ModelFileError(f"the text is no JSON: {error}") from error
    except RecursionError as error:
        raise ModelFileError("the text is nested too deeply to be a model") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ModelFileError(f"the text has the key {shown(key)} twice in one object")
        found[key] = value
    return found


def _no_constant(text: str) -> Any:
    raise ModelFileError(f"the text holds {text}, which is no JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ModelFileError(f"the text holds the number {shown(text)}, too large for a float")
    return number


def _short_integer(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise ModelFileError(f"the text holds an integer of {len(text)} digits, {shown(text)}")
    return int(text)


def render_json(value: Any, indent: int = 0) -> str:
    """JSON on one line where that is short or a list of values; else one line per field, or per row of a list."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if indent + len(line) <= MAX_LINE:
        return line
    if isinstance(value, dict) and len(value) > 1:
        fields = [f"{json.dumps(key, ensure_ascii=False)}: {render_json(v, indent + 2)}" for key, v in value.items()]
        return _in_lines("{", fields, "}", indent)
    if isinstance(value, list) and any(_is_row(item) for item in value):
        return _in_lines("[", [render_json(item, indent + 2) for item in value], "]", indent)
    return line


def _is_row(item: Any) -> bool:
    return isinstance(item, list) or (isinstance(item, dict) and len(item) > 1)  # one key: a tagged value


def _in_lines(opening: str, items: Sequence[str], closing: str, indent: int) -> str:
    margin = "\n" + " " * indent
    return f"{opening}{margin}  {f',{margin}  '.join(items)}{margin}{closing}"
