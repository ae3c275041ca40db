"""Databases that run a query on a table of the test's own: DuckDB, SQLite, PostgreSQL and MariaDB.

A table is given as columns of a type and values of Python; what comes back is one row for each of theirs, in order.
"""

from __future__ import annotations

import datetime
import functools
import math
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

import duckdb
from report import servers

DIALECTS = ["duckdb", "sqlite", "postgres", "mysql"]  # those that are run
TYPES = {
    "duckdb": {"float32": "FLOAT", "double": "DOUBLE", "uint64": "UBIGINT", "bytes": "BLOB"},
    "sqlite": {
        "float32": "REAL", "double": "REAL", "uint64": "INTEGER", "bytes": "BLOB", "boolean": "INTEGER",
        "moment": "TEXT", "instant": "TEXT", "date": "TEXT",
    },
    "postgres": {"float32": "REAL", "double": "FLOAT8", "uint64": "NUMERIC(20)", "bytes": "BYTEA"},
    "mysql": {
        "float32": "FLOAT", "double": "DOUBLE", "uint64": "BIGINT UNSIGNED", "bytes": "BLOB", "text": "LONGTEXT",
        "moment": "DATETIME(6)", "instant": "TIMESTAMP(6) NULL",
    },
}  # fmt: skip
SHARED = {
    "int64": "BIGINT", "text": "TEXT", "boolean": "BOOLEAN", "moment": "TIMESTAMP", "instant": "TIMESTAMPTZ",
    "date": "DATE",
}  # fmt: skip
FIRST_INSTANT = datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.UTC)  # that MariaDB holds


class Stored(NamedTuple):
    """A column of a table: a type, and its values."""

    type: str
    values: list[Any]


def type_in(dialect: str, name: str) -> str:
    return {**SHARED, **TYPES[dialect]}.get(name, name)


def held(dialect: str, values: Sequence[Any]) -> list[int]:
    """Numbers of the values that a column of the database can hold; NaN, which is missing, is NULL in MariaDB."""
    return [i for i, value in enumerate(values) if dialect != "mysql" or not _is_beyond(value)]


def _is_beyond(value: Any) -> bool:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value < FIRST_INSTANT
    return isinstance(value, float) and math.isinf(value)


def quoted(name: str, dialect: str = "duckdb") -> str:
    quote = "`" if dialect == "mysql" else '"'
    return quote + name.replace(quote, 2 * quote) + quote


@functools.cache
def connected(dialect: str) -> Any:
    if dialect in ("duckdb", "sqlite"):
        return duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    return servers.postgres() if dialect == "postgres" else servers.mariadb().cursor()


def _as_stored(dialect: str, value: Any) -> Any:
    if dialect == "mysql" and isinstance(value, float) and math.isnan(value):
        return None
    if dialect == "mysql" and isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(servers.ZONE).replace(tzinfo=None)
    return value


def run(dialect: str, query: str, columns: dict[str, Stored], table: str = "data") -> list[tuple[Any, ...]]:
    """What the query returns, by rows of the table; it must keep the column "row number", which comes first."""
    connection = connected(dialect)
    n = len(next(iter(columns.values())).values)
    columns = {"row number": Stored("int64", list(range(n))), **columns}
    declared = ", ".join(f"{quoted(name, dialect)} {type_in(dialect, stored.type)}" for name, stored in columns.items())
    name, mark = quoted(table, dialect), "?" if dialect in ("duckdb", "sqlite") else "%s"
    connection.execute(f"CREATE TEMPORARY TABLE {name} ({declared})")
    try:
        marks = ", ".join(f"({', '.join([mark] * len(columns))})" for _ in range(n))
        rows = zip(*(stored.values for stored in columns.values()), strict=True)
        values = [_as_stored(dialect, value) for row in rows for value in row]
        connection.execute(f"INSERT INTO {name} VALUES {marks}", values)  # noqa: S608  of our own
        answer = connection.execute(query)
        found = (connection if dialect == "mysql" else answer).fetchall()
    finally:
        connection.execute(f"DROP TABLE {name}")
    assert sorted(row[0] for row in found) == list(range(n))
    return [tuple(row[1:]) for row in sorted(found, key=lambda row: row[0])]
