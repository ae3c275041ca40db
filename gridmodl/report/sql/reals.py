"""Floats as SQL that a database reads back to the bit.

A plain ``2.45`` is a decimal number in most databases, and SQLite, which reads it as a float, is off by one bit once in
some thousand literals. So floats are texts that are cast, and in SQLite quotients of whole numbers, which are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

STEP = 62  # the power of two by which a float is scaled at a time


def cast_to(type_name: str) -> Callable[[float], str]:
    """A function that writes floats as texts of their digits, cast to a type."""
    return lambda value: f"'{_spelled(value, 'Infinity')}'::{type_name}"


def snowflake_real(value: float) -> str:
    return f"'{_spelled(value, 'inf')}'::FLOAT"


def bigquery_real(value: float) -> str:
    """A literal with a point or an exponent is a FLOAT64 there."""
    return f"CAST('{_spelled(value, 'inf')}' AS FLOAT64)" if math.isinf(value) else repr(value)


def _spelled(value: float, infinity: str) -> str:
    return "-" * (value < 0) + infinity if math.isinf(value) else repr(value)


def sqlite_real(value: float) -> str:
    """A literal where its digits are the float itself; else whole numbers whose quotient or product is the float."""
    if math.isinf(value):
        return "-" * (value < 0) + "9e999"
    if abs(value) < 1e15 and Decimal(repr(value)) == Decimal(value):
        return repr(value)
    mantissa, exponent = math.frexp(value)
    whole, exponent = int(mantissa * 2**53), exponent - 53
    steps, rest = divmod(abs(exponent), STEP)
    factors = [2**STEP] * steps + [2**rest] * (rest > 0)
    sign = "/" if exponent < 0 else "*"
    return f"({whole}.0{''.join(f' {sign} {factor}.0' for factor in factors)} /* {value!r} */)"
