"""SQL dialects, one record each: quotes, literals, names and comparisons.

MySQL and MariaDB are one dialect. To add a dialect, add a record to `DIALECTS`, and functions for the literals that it
writes in its own way.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from gridmodl.spelling import check_choice

SMALLEST, LARGEST = -(2**63), 2**63 - 1  # of 64-bit integers
DIGITS = 10**38 - 1  # the largest number of 38 digits
STEP = 62  # power of two of one factor of a float in SQLite
SECOND = 10**9  # in nanoseconds, as all below
DAY = 86_400 * SECOND
FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
ATTOSECONDS = {
    "as": 1, "fs": 10**3, "ps": 10**6, "ns": 10**9, "us": 10**12, "ms": 10**15, "s": 10**18,
    "m": 60 * 10**18, "h": 3_600 * 10**18, "D": 86_400 * 10**18, "W": 604_800 * 10**18,
}  # fmt: skip
ZEROS = "0000-00-00 00:00:00.000000000"  # padding of dates in SQLite, which are texts there
MARGIN = "\n    "


class Dialect(NamedTuple):
    """Quotes, literals, names and comparisons of one SQL dialect."""

    name: str
    text: Callable[[str], str]
    binary: str  # a literal of bytes, given their hexadecimal digits
    real: Callable[[float], str]
    is_nan: str | None  # condition that a number is NaN; None where columns hold no NaN
    moment: Callable[[int, bool], str]  # literal of nanoseconds since 1970, given whether they are UTC
    duration: Callable[[int], str] | None  # literal of nanoseconds; None where there is no type for durations
    compared: str  # a text in the form that is compared character by character, whatever the column's collation
    rows: Callable[..., str]  # a table of named columns, called c unless it has an alias, to select from
    integers: tuple[int, int] = (SMALLEST, LARGEST)  # the smallest and the largest integer
    integer: Callable[[int], str] = str
    compared_moment: Callable[[str, bool], str] = lambda x, is_utc: x
    microseconds: Callable[[str, bool], str] = lambda x, is_utc: f"epoch_us({x})"  # of a moment, since 1970
    moment_unit: int = 1_000  # nanoseconds; columns hold nothing finer
    instant_unit: int = 1_000  # the same for moments with a time zone
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    greatest: str = "GREATEST"  # function: the largest of several numbers of one row
    quote: str = '"'
    escapes_quotes: bool = False  # by a backslash; else the quote is written twice
    fold: Callable[[str], str] | None = None  # quoted names with equal fold are one name; None: only equal names are
    max_name: int | None = None  # bytes
    has_plain_aliases: bool = False  # aliases have letters, digits and underscores only
    has_basic_names: bool = False  # names have characters up to U+FFFF, which max_name counts, no white space last
    has_infinity: bool = True  # columns of floats hold infinities
    compares_exactly: bool = False  # compares integers with floats exactly; else the integers are rounded


def dialect_named(name: Any) -> Dialect:
    check_choice("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]


# Texts: nothing in a text can end the literal that holds it.


def plain_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def postgres_text(text: str) -> str:
    """Literal with backslashes escaped: under E'' they always are escapes, in '' only by a setting of the server."""
    if "\\" not in text:
        return plain_text(text)
    return "E" + plain_text(text.replace("\\", "\\\\"))


def snowflake_text(text: str) -> str:
    return plain_text(text.replace("\\", "\\\\"))


def mysql_text(text: str) -> str:
    """Literal that is the same text under every character set of the connection, whether or not \\ escapes there."""
    if "\\" in text:
        return f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)"
    return plain_text(text) if text.isascii() else f"CONVERT({plain_text(text)} USING utf8mb4)"


def spark_text(text: str) -> str:
    """Literal with escapes; ``${`` would begin the name of a variable, which Spark replaces even in a literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\u0024{")
    return f"'{escaped}'"


def bigquery_text(text: str) -> str:
    """Literal with all that cannot be printed escaped, as no line may end inside a literal."""
    escaped = "".join(_bigquery_character(character) for character in text)
    return f"'{escaped}'"


def _bigquery_character(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"


# Floats that a database reads back to the bit. A plain ``2.45`` is a decimal number in most databases; SQLite reads it
# as a float, but is off by one bit for one in some thousand literals. So floats are texts that are cast, and in SQLite
# quotients or products of whole numbers, which are exact.


def cast_to(type_name: str) -> Callable[[float], str]:
    """A function that writes a float as the text of its digits, cast to the type `type_name`."""
    return lambda value: f"'{_spelled(value, 'Infinity')}'::{type_name}"


def snowflake_real(value: float) -> str:
    return f"'{_spelled(value, 'inf')}'::FLOAT"


def bigquery_real(value: float) -> str:
    """Plain digits, as BigQuery reads a literal with a point or an exponent as FLOAT64."""
    return f"CAST('{_spelled(value, 'inf')}' AS FLOAT64)" if math.isinf(value) else repr(value)


def mysql_real(value: float) -> str:
    """Digits with an exponent, as MySQL reads those without one as a decimal number."""
    if math.isinf(value):
        raise ValueError("an infinite number has no literal in mysql, whose columns hold none")
    digits = repr(value)
    return digits if "e" in digits else f"{digits}e0"


def _spelled(value: float, infinity: str) -> str:
    return "-" * (value < 0) + infinity if math.isinf(value) else repr(value)


def sqlite_real(value: float) -> str:
    """Plain digits where they are the float exactly; else whole numbers whose quotient or product is the float."""
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


# Dates, moments and durations, from those of numpy.


def nanoseconds_of(time: Any) -> tuple[int, bool]:
    """Nanoseconds since 1970 of a moment, or of a duration, rounded down; and whether they are exact."""
    unit, count = np.datetime_data(time.dtype)
    if unit in ("Y", "M"):
        time, unit, count = time.astype("datetime64[D]"), "D", 1
    whole, rest = divmod(int(time.astype(np.int64)) * count * ATTOSECONDS[unit], ATTOSECONDS["ns"])
    return whole, rest == 0


def moment_text(nanoseconds: int, digits: int) -> str:
    """Date and time such as 2020-01-31 12:00:00.000000, truncated to `digits` digits behind the point."""
    days, rest = divmod(nanoseconds, DAY)
    try:
        date = datetime.date.fromordinal(FIRST_DAY + days)
    except (ValueError, OverflowError) as error:
        raise ValueError("is a date outside of the years 1 to 9999") from error
    return f"{date.isoformat()} {_clock(rest, digits)}"


def duration_text(nanoseconds: int) -> tuple[str, str]:
    """Days and time, such as -1 and -02:03:04.500000, rounded down to microseconds."""
    microseconds = nanoseconds // 1_000
    sign = "-" * (microseconds < 0)
    days, rest = divmod(abs(microseconds) * 1_000, DAY)
    return f"{sign}{days}", f"{sign}{_clock(rest, 6)}"


def _clock(nanoseconds: int, digits: int) -> str:
    seconds, fraction = divmod(nanoseconds, SECOND)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock}.{fraction:09d}"[: len(clock) + 1 + digits]


def sqlite_moment(x: str, is_utc: bool) -> str:
    """A date or moment as text of fixed length; converted to UTC if `is_utc`, where texts name a zone."""
    if not is_utc:
        return f"(replace({x}, 'T', ' ') || substr('{ZEROS}', length({x}) + 1))"
    zone = f"ltrim(substr({x}, 20), '.0123456789')"
    fraction = f"substr({x}, 20, max(length({x}) - 19 - length({zone}), 0))"
    clock = f"strftime('%Y-%m-%d %H:%M:%S', substr({x}, 1, 19) || {zone})"
    return f"({clock} || {fraction} || substr('{ZEROS[19:]}', length({fraction}) + 1))"


# A small table that a query brings with it, joined under a name of its own.


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return f",{MARGIN}".join(f"({', '.join(row)})" for row in rows)


def named_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], alias: str = "c") -> str:
    return f"(VALUES{MARGIN}{_lines(rows)}\n  ) AS {alias} ({', '.join(columns)})"


def sqlite_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], alias: str = "c") -> str:
    """Rows in a WITH clause, the only place where SQLite takes names for the columns of VALUES."""
    rows_of_c = f"WITH c ({', '.join(columns)}) AS (VALUES{MARGIN}{_lines(rows)}\n  )"
    return f"({rows_of_c} SELECT * FROM c) AS {alias}"  # noqa: S608  all of it is quoted


def mysql_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], alias: str = "c") -> str:
    """Rows as a union, the one form that both MySQL and MariaDB take; the first row names the columns."""
    first = ", ".join(f"{value} AS {column}" for value, column in zip(rows[0], columns, strict=True))
    lines = [first, *(", ".join(row) for row in rows[1:])]
    return f"({MARGIN}SELECT " + f"{MARGIN}UNION ALL SELECT ".join(lines) + f"\n  ) AS {alias}"


def bigquery_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], alias: str = "c") -> str:
    """Rows as an array of structs, as BigQuery has no VALUES; the first struct names the columns."""
    first = ", ".join(f"{value} AS {column}" for value, column in zip(rows[0], columns, strict=True))
    others = f",{MARGIN}{_lines(rows[1:])}" if len(rows) > 1 else ""
    return f"UNNEST([{MARGIN}STRUCT({first}){others}\n  ]) AS {alias}"


def _moments(form: str, form_utc: str, digits: int = 6) -> Callable[[int, bool], str]:
    return lambda time, is_utc: (form_utc if is_utc else form).format(moment_text(time, digits))


def sqlite_microseconds(x: str, is_utc: bool) -> str:
    """Microseconds since 1970 of a text in the form that moments are compared in."""
    text = sqlite_moment(x, is_utc)
    seconds = f"CAST(strftime('%s', substr({text}, 1, 19)) AS INTEGER)"
    return f"{seconds} * 1000000 + CAST(substr({text}, 21, 6) AS INTEGER)"


def mysql_moment(time: int, is_utc: bool) -> str:
    """A DATETIME; of a column with a zone, seconds since 1970, because literals have the zone of the session."""
    text = moment_text(time, 6)
    if not is_utc:
        return f"TIMESTAMP '{text}'"
    seconds, fraction = divmod(abs(time // 1_000), 1_000_000)
    return f"{'-' * (time < 0)}{seconds}.{fraction:06d} /* {text} UTC */"


def mysql_microseconds(x: str, is_utc: bool) -> str:
    if is_utc:
        return f"CAST(UNIX_TIMESTAMP({x}) * 1000000 AS SIGNED)"
    return f"TIMESTAMPDIFF(MICROSECOND, TIMESTAMP '1970-01-01 00:00:00', {x})"


def _duckdb_moment(time: int, is_utc: bool) -> str:
    if is_utc:
        return f"TIMESTAMPTZ '{moment_text(time, 6)}+00'"
    return f"TIMESTAMP_NS '{moment_text(time, 9)}'" if time % 1_000 else f"TIMESTAMP '{moment_text(time, 6)}'"


def _durations(form: str) -> Callable[[int], str]:
    return lambda time: form.format(*duration_text(time))


def _spark_duration(time: int) -> str:
    """A literal whose sign is that of all fields."""
    days, clock = duration_text(time)
    return f"INTERVAL '{days} {clock.removeprefix('-')}' DAY TO SECOND"


def spark_microseconds(x: str, is_utc: bool) -> str:
    """Microseconds since 1970; of a moment without a zone from the fields of an interval, which no session changes."""
    if is_utc:
        return f"unix_micros({x})"
    since = f"({x} - TIMESTAMP_NTZ '1970-01-01 00:00:00')"
    units = {"DAY": 86_400, "HOUR": 3_600, "MINUTE": 60}
    whole = [f"CAST(EXTRACT({unit} FROM {since}) AS BIGINT) * {n * 10**6}" for unit, n in units.items()]
    return " + ".join([*whole, f"CAST(EXTRACT(SECOND FROM {since}) * 1000000 AS BIGINT)"])  # a decimal of six digits


def _lowered(name: str) -> str:
    """The name with A to Z in lower case and all other letters unchanged."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def _bigquery_integer(number: int) -> str:
    return str(number) if SMALLEST <= number <= LARGEST else f"NUMERIC '{number}'"


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "postgres",
            text=postgres_text,
            binary="decode('{0}', 'hex')",
            real=cast_to("float8"),
            is_nan="{0} = 'NaN'::float8",
            moment=_moments("TIMESTAMP '{0}'", "TIMESTAMPTZ '{0}+00'"),
            duration=_durations("INTERVAL '{0} days {1}'"),
            compared='CAST({0} AS text) COLLATE "C"',
            rows=named_rows,
            integers=(-DIGITS, DIGITS),
            microseconds=lambda x, is_utc: f"CAST(EXTRACT(EPOCH FROM {x}) * 1000000 AS BIGINT)",
            max_name=63,
        ),
        Dialect(
            "duckdb",
            text=plain_text,
            binary="unhex('{0}')",
            real=cast_to("DOUBLE"),
            is_nan="{0} = 'NaN'::DOUBLE",
            moment=_duckdb_moment,
            duration=_durations("INTERVAL '{0} days {1}'"),
            compared="CAST({0} AS VARCHAR) COLLATE C",
            rows=named_rows,
            integers=(-(2**127), 2**127 - 1),
            moment_unit=1,
            fold=_lowered,
        ),
        Dialect(
            "sqlite",
            text=plain_text,
            binary="X'{0}'",
            real=sqlite_real,
            is_nan=None,
            moment=_moments("'{0}'", "'{0}'", 9),
            duration=None,
            compared="{0} COLLATE BINARY",
            rows=sqlite_rows,
            compared_moment=sqlite_moment,
            microseconds=sqlite_microseconds,
            moment_unit=1,
            instant_unit=1,
            booleans=("0", "1"),
            greatest="max",
            fold=_lowered,
            compares_exactly=True,
        ),
        Dialect(
            "mysql",
            text=mysql_text,
            binary="X'{0}'",
            real=mysql_real,
            is_nan=None,
            moment=mysql_moment,
            duration=None,
            compared="CAST(CONVERT({0} USING utf8mb4) AS BINARY)",
            rows=mysql_rows,
            integers=(-DIGITS, DIGITS),
            compared_moment=lambda x, is_utc: f"UNIX_TIMESTAMP({x})" if is_utc else x,
            microseconds=mysql_microseconds,
            quote="`",
            fold=str.lower,
            max_name=64,
            has_basic_names=True,
            has_infinity=False,
        ),
        Dialect(
            "bigquery",
            text=bigquery_text,
            binary="FROM_HEX('{0}')",
            real=bigquery_real,
            is_nan="IS_NAN({0})",
            moment=_moments("DATETIME '{0}'", "TIMESTAMP '{0}+00'"),
            duration=_durations("INTERVAL '{0} {1}' DAY TO SECOND"),
            compared="COLLATE({0}, '')",
            rows=bigquery_rows,
            integers=(-(10**28), 10**28),
            integer=_bigquery_integer,
            quote="`",
            escapes_quotes=True,
            fold=str.casefold,
            microseconds=lambda x, is_utc: f"UNIX_MICROS({x if is_utc else f'TIMESTAMP({x})'})",
            max_name=300,
            has_plain_aliases=True,
        ),
        Dialect(
            "snowflake",
            text=snowflake_text,
            binary="TO_BINARY('{0}', 'HEX')",
            real=snowflake_real,
            is_nan="{0} = 'NaN'::FLOAT",
            moment=_moments("'{0}'::TIMESTAMP_NTZ(9)", "'{0} +00:00'::TIMESTAMP_TZ(9)", 9),
            duration=None,
            compared="COLLATE({0}, 'utf8')",
            rows=named_rows,
            integers=(-DIGITS, DIGITS),
            moment_unit=1,
            instant_unit=1,
            microseconds=lambda x, is_utc: f"DATE_PART(EPOCH_MICROSECOND, {x})",
            max_name=255,
        ),
        Dialect(
            "spark",
            text=spark_text,
            binary="X'{0}'",
            real=lambda value: f"CAST('{_spelled(value, 'Infinity')}' AS DOUBLE)",
            is_nan="isnan({0})",
            moment=_moments("TIMESTAMP_NTZ '{0}'", "TIMESTAMP '{0}+00:00'"),
            duration=_spark_duration,
            compared="CAST({0} AS STRING)",
            rows=named_rows,
            integers=(-DIGITS, DIGITS),
            microseconds=spark_microseconds,
            quote="`",
            fold=str.casefold,
        ),
    )
}
