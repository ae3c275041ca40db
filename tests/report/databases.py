"""Databases that run a query on a table of the test's own: DuckDB and SQLite.

A table is given as columns of a type and values of Python; what comes back is one row for each of theirs, in order.
"""

from __future__ import annotations

import functools
import sqlite3
from typing import Any, NamedTuple

import duckdb

TYPES = {
    "sqlite": {"float32": "REAL", "double": "REAL", "uint64": "INTEGER", "bytes": "BLOB", "boolean": "INTEGER"},
    "duckdb": {"float32": "FLOAT", "double": "DOUBLE", "uint64": "UBIGINT", "bytes": "BLOB", "boolean": "BOOLEAN"},
}
SHARED = {"int64": "BIGINT", "text": "TEXT", "moment": "TIMESTAMP", "instant": "TIMESTAMPTZ", "date": "DATE"}
IN_SQLITE = {"moment": "TEXT", "instant": "TEXT", "date": "TEXT"}


class Stored(NamedTuple):
    """A column of a table: a type, and its values."""

    type: str
    values: list[Any]


def type_in(dialect: str, name: str) -> str:
    types = {**SHARED, **(IN_SQLITE if dialect == "sqlite" else {}), **TYPES[dialect]}
    return types.get(name, name)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@functools.cache
def connected(dialect: str) -> Any:
    return duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")


def run(dialect: str, query: str, columns: dict[str, Stored], table: str = "data") -> list[tuple[Any, ...]]:
    """What the query returns, by rows of the table; it must keep the column "row number", which comes first."""
    connection = connected(dialect)
    n = len(next(iter(columns.values())).values)
    columns = {"row number": Stored("int64", list(range(n))), **columns}
    declared = ", ".join(f"{quoted(name)} {type_in(dialect, stored.type)}" for name, stored in columns.items())
    connection.execute(f"CREATE TABLE {quoted(table)} ({declared})")
    marks = ", ".join(f"({', '.join('?' * len(columns))})" for _ in range(n))
    rows = zip(*(stored.values for stored in columns.values()), strict=True)
    connection.execute(f"INSERT INTO {quoted(table)} VALUES {marks}", [value for row in rows for value in row])  # noqa: S608  of our own
    try:
        found = connection.execute(query).fetchall()
    finally:
        connection.execute(f"DROP TABLE {quoted(table)}")
    assert sorted(row[0] for row in found) == list(range(n))
    return [tuple(row[1:]) for row in sorted(found, key=lambda row: row[0])]
