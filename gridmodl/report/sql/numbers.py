"""Numbers compared with a column as exactly as Python does, whether the column holds integers or floats.

Databases round a large integer before they compare it with a float, so a value just above a bound would count as on it.
The comparisons here say the same of columns of both types.
"""

from __future__ import annotations

import math
import sys

from gridmodl.quantities import EXACT_FLOAT
from gridmodl.report.sql.dialects import Dialect

LARGEST_FLOAT = int(sys.float_info.max)
SHORT = 2**24  # integers up to here are the same in any type of floats


def at_most(x: str, bound: float, dialect: Dialect) -> str:
    """Whether x is at most this bound, a float or an integer."""
    if isinstance(bound, int) and not _is_integer_of(bound, dialect):
        bound = _floats_around(bound)[0]  # only floats are so large there
    if dialect.compares_exactly or (abs(bound) < EXACT_FLOAT and isinstance(bound, float)):
        return f"{x} <= {_number(bound, dialect)}"
    if isinstance(bound, float):
        if math.isinf(bound) or not _is_integer_of(int(bound), dialect):
            return f"{x} <= {dialect.real(bound)}"
        return f"({x} <= {dialect.real(bound)} AND {x} <= {dialect.integer(int(bound))})"
    low, high = map(int, _floats_around(bound))
    if low == bound:
        return f"{x} <= {dialect.integer(bound)}"
    # No float lies between the two; of a column of floats, only the first comparison can hold.
    return f"({x} <= {dialect.integer(low)} OR ({x} < {dialect.integer(high)} AND {x} <= {dialect.integer(bound)}))"


def equal_to(x: str, number: float, dialect: Dialect) -> str | None:
    """Whether x is this number; None where no column can hold it."""
    if isinstance(number, float) and not number.is_integer():
        return f"{x} = {dialect.real(number)}"
    whole = int(number)
    is_integer, is_float = _is_integer_of(whole, dialect), abs(whole) <= LARGEST_FLOAT and float(whole) == whole
    if is_float and (abs(whole) < EXACT_FLOAT or dialect.compares_exactly or not is_integer):
        return f"{x} = {dialect.real(float(whole))}"
    if not is_integer:
        return None
    equal = f"{x} = {dialect.integer(whole)}"
    if is_float:
        return f"({x} = {dialect.real(float(whole))} AND {equal})"
    if dialect.compares_exactly:
        return equal
    low, high = map(int, _floats_around(whole))
    return f"({x} > {dialect.integer(low)} AND {x} < {dialect.integer(high)} AND {equal})"


def listed(number: float, dialect: Dialect) -> str | None:
    """The number in a list that a column is looked up in; None where that would not be exact."""
    short = EXACT_FLOAT if dialect.compares_exactly else SHORT
    if abs(number) <= short and number == int(number):
        return dialect.integer(int(number))
    return dialect.real(float(number)) if abs(number) < EXACT_FLOAT else None


def _is_integer_of(number: int, dialect: Dialect) -> bool:
    return dialect.integers[0] <= number <= dialect.integers[1]


def _number(number: float, dialect: Dialect) -> str:
    return dialect.real(number) if isinstance(number, float) else dialect.integer(number)


def _floats_around(number: float) -> tuple[float, float]:
    """The largest float that is not above a whole number, and the smallest that is not below it."""
    near = float(number)
    low = near if near <= number else math.nextafter(near, -math.inf)
    return low, low if low == number else math.nextafter(low, math.inf)
