"""Values of a model as JSON has them: short, finite, and nothing that a page could take for markup."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

MAX_TEXT = 300  # characters of a name or label; nobody reads more of it, and a page of 1,000 columns must stay small
DIGITS = 6  # of numbers that nobody reads to more

# What could end the script element that holds the text, or open a comment in it.
UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def script_json(record: Any) -> str:
    """JSON that may stand in a script element: ASCII alone, so no lone surrogate and no line separator either."""
    return json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(UNSAFE)


def cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def plain_values(values: Any, digits: int = DIGITS) -> list[Any]:
    """A column of a table: whole numbers as they are, others to some digits, all else as text."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.tolist()
    if array.dtype.kind == "f":
        return [plain_number(value, digits) for value in array.tolist()]
    return [cut(str(value)) for value in values]


def plain_number(value: float, digits: int = DIGITS) -> float | str | None:
    """Some digits of it; None for NaN, which JSON does not have, and a text for an infinity."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short
