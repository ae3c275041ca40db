"""What databases differ in, a small record each: quotes, literals, names, and how they compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gridmodl.report.sql.inlinerows import bigquery_rows, named_rows, sqlite_rows
from gridmodl.report.sql.moments import duration_text, moment_text, sqlite_moment
from gridmodl.report.sql.reals import bigquery_real, cast_to, snowflake_real, sqlite_real
from gridmodl.report.sql.texts import bigquery_text, plain_text, postgres_text, snowflake_text
from gridmodl.spelling import check_choice

SMALLEST, LARGEST = -(2**63), 2**63 - 1
DIGITS = 10**38 - 1  # the largest number of 38 digits


class Dialect(NamedTuple):
    """One kind of SQL."""

    name: str
    text: Callable[[str], str]
    binary: str  # a literal of bytes, given their hexadecimal digits
    real: Callable[[float], str]
    is_nan: str | None  # whether a number is not a number; None where columns hold none
    moment: Callable[[int, bool], str]  # of nanoseconds since 1970, and whether they are of UTC
    duration: Callable[[int], str] | None  # of nanoseconds; None where there are no durations
    compared: str  # a text as it is compared: character by character, whatever the collation of the column
    rows: Callable[[Sequence[str], Sequence[Sequence[str]]], str]  # a table c of named columns, to select from
    integers: tuple[int, int] = (SMALLEST, LARGEST)  # the smallest and the largest that numbers can be
    integer: Callable[[int], str] = str
    compared_moment: Callable[[str, bool], str] = lambda x, is_utc: x
    moment_unit: int = 1_000  # nanoseconds; columns hold nothing finer
    instant_unit: int = 1_000  # the same of moments with a time zone
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    quote: str = '"'
    escapes_quotes: bool = False  # by a backslash; else the quote is written twice
    fold: Callable[[str], str] | None = None  # what quoted names that differ are the same by; None: no names are
    max_name: int | None = None  # bytes
    has_plain_aliases: bool = False  # of letters, digits and underscores only
    compares_exactly: bool = False  # integers with floats; else the integers are rounded


def dialect_named(name: Any) -> Dialect:
    check_choice("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]


def _moments(form: str, form_utc: str, digits: int = 6) -> Callable[[int, bool], str]:
    return lambda time, is_utc: (form_utc if is_utc else form).format(moment_text(time, digits))


def _duckdb_moment(time: int, is_utc: bool) -> str:
    if is_utc:
        return f"TIMESTAMPTZ '{moment_text(time, 6)}+00'"
    return f"TIMESTAMP_NS '{moment_text(time, 9)}'" if time % 1_000 else f"TIMESTAMP '{moment_text(time, 6)}'"


def _durations(form: str) -> Callable[[int], str]:
    return lambda time: form.format(*duration_text(time))


def _lowered(name: str) -> str:
    """Without the case of the letters A to Z; that of others counts."""
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
            moment_unit=1,
            instant_unit=1,
            booleans=("0", "1"),
            fold=_lowered,
            compares_exactly=True,
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
            max_name=255,
        ),
    )
}
