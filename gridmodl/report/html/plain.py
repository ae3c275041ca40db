"""Texts and numbers as JSON values that are short and finite: texts are cut, numbers rounded, and NaN is None."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gridmodl.model.names import shortened

MAX_TEXT = 300  # characters of a name or label, to keep a page of 1,000 columns small
DIGITS = 6  # significant digits of most numbers


def cut(text: str) -> str:
    return shortened(text, MAX_TEXT)


def caption(what: str, name: Any) -> str:
    """Caption of a table on the column `name`, which comes last: nothing after it can be turned around by it."""
    return f"{what} {name if str(name).strip() else '(no name)'}"


def plain_values(values: Any, digits: int = DIGITS) -> list[Any]:
    """The values for JSON: integers unchanged, floats rounded to `digits` significant digits, all else as text."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.tolist()
    if array.dtype.kind == "f":
        return [plain_number(value, digits) for value in array.tolist()]
    if array.dtype.kind == "b":
        return ["yes" if value else "no" for value in array.tolist()]
    return [cut(str(value)) for value in values]


def plain_number(value: float, digits: int = DIGITS) -> float | str | None:
    """The number rounded to `digits` significant digits; None for NaN and a text for infinity, unknown to JSON."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short
