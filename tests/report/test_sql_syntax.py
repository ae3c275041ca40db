"""Every dialect's own grammar takes the SQL, as one statement, and reads the names and texts that were meant.

BigQuery and Snowflake cannot be run here; sqlglot knows their grammars.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from gridmodl import Model, Partition

DIALECTS = ["postgres", "duckdb", "sqlite", "mysql", "bigquery", "snowflake", "spark"]
HARD = [
    "it's",
    "a\\",
    "\\'; DROP TABLE data; --",
    "/* no",
    "--",
    '"',
    "`",
    "é😀",
    "",
    " ",
    "\\n",
    "a\\\\'b",
    "{0}",
    "x;y",
]


def numerical(name="x"):
    bounds = np.array([-np.inf, -1e-300, 2.45, 2.0**60])
    return Partition(
        name, "numerical", np.ones((7, 2), dtype=np.int64), bounds=bounds, special=np.array([-999.0]), missing=0
    )


def times(name, kind, **facts):
    bounds = np.array([-1, 10**15 + 1], dtype=kind)
    return Partition(name, "numerical", np.ones((3, 2), dtype=np.int64), bounds=bounds, **facts)


def categorical(values, name="c"):
    counts = np.ones((len(values) + 1, 2), dtype=np.int64)
    return Partition(
        name, "categorical", counts, groups=(*((v,) for v in values), (None,)), missing=len(values), default=0
    )


def parsed(query, dialect):
    (statement,) = sqlglot.parse(query, dialect=dialect)
    assert isinstance(statement, exp.Select)
    return statement


def texts_in(expression):
    """Texts, those with escapes among them, which sqlglot takes for bytes in Postgres, and are hexadecimal in MySQL."""
    found = expression.find_all(exp.Literal, exp.ByteString, exp.HexString)
    return [
        bytes.fromhex(text.this).decode() if isinstance(text, exp.HexString) else text.this
        for text in found
        if not isinstance(text, exp.Literal) or text.is_string
    ]


@pytest.fixture(scope="module")
def model():
    data = {
        "x": np.arange(40.0),
        "y`'\"": np.arange(40) % 7,
        "c": np.array(["it's", "a\\", "b", None] * 10, dtype=object),
    }
    partitions = {"x": [10.5], "y`'\"": [2.5], "c": [["it's", "b"], ["a\\", None]]}
    return Model.from_partitions(data, np.where(np.arange(40) > 15, "no\\", "ye's"), partitions)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_query_of_a_model(model, dialect):
    query = model.to_sql(
        dialect, ("a schema", "data"), keep=["id"], output=["parts", "labels", "cell", "predict", "proba"]
    )
    statement = parsed(query, dialect)
    names = [column.alias_or_name for column in statement.selects]
    assert len(names) == len(set(names)) == 1 + 3 + 3 + 1 + 1 + 2
    tables = {table.name for table in statement.find_all(exp.Table) if table.db}
    assert tables == {"data"}
    read = {column.name for column in statement.find_all(exp.Column) if column.table == "t"}
    assert read == {"id", *model.partitions}
    texts = texts_in(statement)
    assert {"no\\", "ye's"} <= set(texts)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_expressions_of_every_kind(dialect):
    partitions = [
        numerical(), categorical([1, 2.5, 2**53 + 1, 2**60]), categorical([True, False]), categorical([b"\x00'", b"a"]),
        times("m", "M8[us]"), times("u", "M8[us]", is_utc=True), categorical([np.datetime64("2020-01-01")]),
    ]  # fmt: skip
    if dialect not in ("sqlite", "mysql", "snowflake"):
        partitions.append(times("d", "m8[us]"))
    for partition in partitions:
        assert sqlglot.parse_one(partition.to_sql(dialect, unknown="neutral"), dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=8, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["C"]), max_size=6), max_size=4))
def test_texts_are_read_as_they_were_meant(dialect, drawn):
    values = list(dict.fromkeys([*HARD, *drawn]))
    found = sqlglot.parse_one(categorical(values).to_sql(dialect, unknown="neutral"), dialect=dialect)
    texts = [text for one in found.find_all(exp.In) for value in one.expressions for text in texts_in(value)]
    assert texts == values


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", [name for name in HARD if name])
def test_names_are_read_as_they_were_meant(dialect, name):
    if dialect == "mysql" and name in (" ", "é😀"):
        with pytest.raises(ValueError, match="is none that mysql takes"):
            numerical(name).to_sql(dialect)
        return
    found = sqlglot.parse_one(numerical(name).to_sql(dialect), dialect=dialect)
    assert {column.name for column in found.find_all(exp.Column)} == {name}
    statement = parsed(replace_classes(numerical(name)).to_sql(dialect, name, output="parts"), dialect)
    assert statement.find(exp.Table).name == name


def replace_classes(partition):
    model = Model(
        1.0, 2.0, "modl", "classes", 14, np.array(["no", "yes"]), {}, proven=False, search="given", elapsed=0.0
    )
    return replace(model, partitions={partition.name: partition})
