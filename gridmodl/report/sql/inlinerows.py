"""A small table that a query brings with it, to be joined under the name c."""

from __future__ import annotations

from collections.abc import Sequence

MARGIN = "\n    "


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return f",{MARGIN}".join(f"({', '.join(row)})" for row in rows)


def named_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"(VALUES{MARGIN}{_lines(rows)}\n  ) AS c ({', '.join(columns)})"


def sqlite_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """There only WITH takes the names of columns."""
    rows_of_c = f"WITH c ({', '.join(columns)}) AS (VALUES{MARGIN}{_lines(rows)}\n  )"
    return f"({rows_of_c} SELECT * FROM c) AS c"  # noqa: S608  all of it is quoted


def bigquery_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """There are no rows without a table, but arrays of structs; the first names the columns of all."""
    first = ", ".join(f"{value} AS {column}" for value, column in zip(rows[0], columns, strict=True))
    others = f",{MARGIN}{_lines(rows[1:])}" if len(rows) > 1 else ""
    return f"UNNEST([{MARGIN}STRUCT({first}){others}\n  ]) AS c"
