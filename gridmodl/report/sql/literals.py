"""Values and names of the user's as SQL: literals, exact comparisons with numbers, quoted names.

Text of the user's reaches a query only as a quoted literal or a quoted name.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from gridmodl.data.frames import Name
from gridmodl.data.numbers import EXACT_FLOAT, has_zone
from gridmodl.report.sql.dialects import Dialect, nanoseconds_of

LARGEST_FLOAT = int(sys.float_info.max)
SHORT = 2**24  # integers up to this are exact in any type of floats


class Value(NamedTuple):
    """A value as one of the few kinds that SQL has."""

    kind: str  # text, number, boolean, bytes, moment, instant (UTC) or duration
    plain: Any  # the value in a type of Python or numpy itself, no subclass


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
    """The value with its kind; `what` names the column or target in errors."""
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
    """The values with their kind; ValueError if they are of several kinds."""
    found = [value_of(value, what) for value in values]
    kinds = sorted({value.kind for value in found})
    if len(kinds) > 1:
        raise ValueError(f"{what} has values of several kinds, {' and '.join(kinds)}; a column in SQL has one type")
    return found


def literal(value: Value, dialect: Dialect, what: str) -> str:
    """The value in SQL; to compare with a number, use `at_most`, `equal_to` or `listed`."""
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
    """A moment or duration in SQL, rounded down to the precision of the database."""
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
    """Whether a column of the database can hold this moment or duration exactly."""
    time, is_exact = nanoseconds_of(value.plain)
    unit = {"moment": dialect.moment_unit, "instant": dialect.instant_unit, "duration": 1_000}[value.kind]
    return is_exact and time % unit == 0


# Numbers are compared with a column as exactly as Python does, whether the column holds integers or floats. Databases
# round a large integer before they compare it with a float, so that a value just above a bound would equal the bound.


def at_most(x: str, bound: float, dialect: Dialect) -> str:
    """Condition that x is at most `bound`, a float or an integer."""
    if not dialect.has_infinity and bound in (-math.inf, math.inf):
        return f"{x} IS {'NOT ' if bound > 0 else ''}NULL"
    if isinstance(bound, int) and not _is_integer_of(bound, dialect):
        bound = _floats_around(bound)[0]  # only floats are that large in this database
    if dialect.compares_exactly or (abs(bound) < EXACT_FLOAT and isinstance(bound, float)):
        return f"{x} <= {_number(bound, dialect)}"
    if isinstance(bound, float):
        if math.isinf(bound) or not _is_integer_of(int(bound), dialect):
            return f"{x} <= {dialect.real(bound)}"
        return f"({x} <= {dialect.real(bound)} AND {x} <= {dialect.integer(int(bound))})"
    low, high = map(int, _floats_around(bound))
    if low == bound:
        return f"{x} <= {dialect.integer(bound)}"
    # No float lies between low and high, so in a column of floats only the first comparison can hold.
    return f"({x} <= {dialect.integer(low)} OR ({x} < {dialect.integer(high)} AND {x} <= {dialect.integer(bound)}))"


def equal_to(x: str, number: float, dialect: Dialect) -> str | None:
    """Condition that x equals `number`; None where no column can hold the number."""
    if not dialect.has_infinity and number in (-math.inf, math.inf):
        return None
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
    """The number as an entry of an IN list; None where its comparison would not be exact."""
    short = EXACT_FLOAT if dialect.compares_exactly else SHORT
    if abs(number) <= short and number == int(number):
        return dialect.integer(int(number))
    return dialect.real(float(number)) if abs(number) < EXACT_FLOAT else None


def _is_integer_of(number: int, dialect: Dialect) -> bool:
    return dialect.integers[0] <= number <= dialect.integers[1]


def _number(number: float, dialect: Dialect) -> str:
    return dialect.real(number) if isinstance(number, float) else dialect.integer(number)


def _floats_around(number: float) -> tuple[float, float]:
    """The largest float at or below a whole number, and the smallest at or above it."""
    near = float(number)
    low = near if near <= number else math.nextafter(near, -math.inf)
    return low, low if low == number else math.nextafter(low, math.inf)


def sql_name(name: Name, what: str) -> str:
    """Default name in SQL of a column of the model: its own name, or its number as text."""
    if isinstance(name, str):
        return str.__str__(name)
    if isinstance(name, numbers.Integral) and not isinstance(name, bool):
        return str(int(name))
    raise ValueError(f"{what} {name!r} ({type(name).__name__}) has no name in SQL; give it one, as a text")


def quoted(name: Any, dialect: Dialect, what: str) -> str:
    """The name in quotes, escaped so that nothing in it can end them; `what` names it in errors."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"the name of {what} must be a text that is not empty, got {name!r}")
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValueError(f"the name of {what}, {name!r}, is no text that SQL can hold: {error.reason}") from error
    if "\0" in name:
        raise ValueError(f"the name of {what}, {name!r}, holds the character NUL, which no name in SQL can")
    unit, size = ("characters", len(name)) if dialect.has_basic_names else ("bytes", size)
    if dialect.max_name is not None and size > dialect.max_name:
        raise ValueError(f"the name of {what}, {name!r}, has {size} {unit}; {dialect.name} takes {dialect.max_name}")
    if dialect.has_basic_names and _basic(name) != name:
        raise ValueError(
            f"the name of {what}, {name!r}, is none that {dialect.name} takes: a name has no character beyond U+FFFF, "
            "and does not end with white space"
        )
    if dialect.escapes_quotes:
        name = name.replace("\\", "\\\\").replace(dialect.quote, "\\" + dialect.quote)
    else:
        name = name.replace(dialect.quote, 2 * dialect.quote)
    return f"{dialect.quote}{name}{dialect.quote}"


def _basic(name: str) -> str:
    """The name with characters beyond U+FFFF, and white space at the end, replaced."""
    return re.sub(r"[^\0-\uffff]|\s+\Z", "_", name)


def quoted_path(path: Any, dialect: Dialect, what: str) -> str:
    """A quoted name, or several from the outermost on, such as schema and table."""
    if isinstance(path, str):
        return quoted(path, dialect, what)
    if not isinstance(path, Sequence) or isinstance(path, bytes) or not path:
        raise ValueError(f"{what} must be a name or a sequence of names such as ('schema', 'name'), got {path!r}")
    return ".".join(quoted(name, dialect, what) for name in path)


class Aliases:
    """Names of the columns that a query returns, all distinct to the database."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._taken: set[str] = set()

    def _key(self, name: str) -> str:
        return name if self._dialect.fold is None else self._dialect.fold(name)

    def is_free(self, name: str) -> bool:
        return self._key(name) not in self._taken

    def keep(self, name: str) -> None:
        """Mark a name of the user's as taken."""
        self._taken.add(self._key(name))

    def add(self, wanted: str) -> str:
        """Take a free name like `wanted` and return it quoted: characters replaced, cut or numbered as needed."""
        wanted = wanted.replace("\0", "_").encode("utf-8", "replace").decode("utf-8")
        if self._dialect.has_plain_aliases:
            wanted = re.sub(r"\W", "_", wanted)
        if self._dialect.has_basic_names:
            wanted = _basic(wanted)
        name, n = self._cut(wanted, ""), 1
        while not self.is_free(name):
            n += 1
            name = self._cut(wanted, f"_{n}")
        self.keep(name)
        return quoted(name, self._dialect, "a result")

    def _cut(self, name: str, ending: str) -> str:
        if self._dialect.max_name is None:
            return name + ending
        whole = name.encode("utf-8")[: self._dialect.max_name - len(ending)]
        return whole.decode("utf-8", "ignore") + ending
