"""Columns of a data file as a relation that DuckDB counts, for tables that are long or that memory does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from gridmodl.cli.outputs import folder_of_command
from gridmodl.cli.reading.columns import TEXT, ReadSettings, TextColumn, told
from gridmodl.cli.reading.engine import identifier, path_literal
from gridmodl.cli.reading.sources import Source, parts_of
from gridmodl.cli.reading.texts import typed_values, with_nulls

WIDEST = 2**13  # columns; DuckDB plans queries of wider tables slowly

# Types of DuckDB; those with a time zone have microseconds only.
TIMES = {
    pa.timestamp("s"): "TIMESTAMP_S", pa.timestamp("ms"): "TIMESTAMP_MS", pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("ns"): "TIMESTAMP_NS", pa.timestamp("us", "UTC"): "TIMESTAMPTZ",
}  # fmt: skip


class CountedFrame(NamedTuple):
    """Relation of DuckDB, and an empty array in the type of each of its columns."""

    relation: Any
    types: dict[str, pa.Array]


def countable_names(source: Source, names: Sequence[str]) -> list[str]:
    """Those of the columns `names` that DuckDB can count as this program reads them.

    None of very wide tables. Not nested ones, durations and ordered dictionaries; of names that differ in upper and
    lower case only, the first; none that is a star, which means all columns.
    """
    if len(source.names) > WIDEST:
        return []
    kinds = _types(source, names)
    first = {name.lower(): name for name in reversed(names)}
    is_named = {name: first[name.lower()] == name and name != "*" for name in names}
    return [name for name in names if _sql_type(kinds[name]) is not None and is_named[name]]


def _sql_type(kind: pa.DataType) -> str | None:
    """Type of DuckDB for a type of pyarrow; empty for one that it reads as such, None for one that it lacks."""
    if pa.types.is_dictionary(kind) and not kind.ordered:
        kind = kind.value_type
    if pa.types.is_timestamp(kind):
        return TIMES.get(kind)
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string,
             pa.types.is_decimal128, pa.types.is_large_string, pa.types.is_date32)  # fmt: skip
    return "" if any(test(kind) for test in tests) else None


def counted_frame(source: Source, names: Sequence[str], reading: ReadSettings, connection: Any) -> CountedFrame:
    """The columns `names` as a relation of DuckDB, in the types of `read_columns`; those of other types are left out.

    DuckDB reads Parquet where it lies. All else is written as Parquet to a temporary file, after the types of text
    were found.
    """
    kinds = _text_kinds(source, names, reading) if source.is_text else _types(source, names)
    kinds = {name: kind for name, kind in kinds.items() if _sql_type(kind) is not None}
    paths = [part.parquet for part in parts_of(source) if part.parquet is not None and _types(part, names) == kinds]
    if len(paths) == len(parts_of(source)):
        codes = {name: f"c{i}" for i, name in enumerate(source.names)}
    else:
        codes = {name: f"c{i}" for i, name in enumerate(kinds)}
        paths = [_written(source, kinds, list(codes.values()), reading)]
    listed = ", ".join(map(path_literal, paths))
    table = f"read_parquet([{listed}], hive_partitioning=false) AS t({', '.join(codes.values())})"
    columns = [f"{_cast(codes[name], _sql_type(kind))} AS {identifier(name)}" for name, kind in kinds.items()]
    relation = connection.sql(f"SELECT {', '.join(columns)} FROM {table}")  # noqa: S608  literals and identifiers
    return CountedFrame(relation, {name: pa.array([], kind) for name, kind in kinds.items()})


def _types(source: Source, names: Sequence[str]) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in source.empty(names).schema}


def _cast(code: str, kind: str | None) -> str:
    return f"CAST({code} AS {kind})" if kind else code


def _text_kinds(source: Source, names: Sequence[str], reading: ReadSettings) -> dict[str, pa.DataType]:
    """Type of each column of a text file, which all its values have."""
    columns = {name: TextColumn(reading.nulls, name in reading.as_text) for name in names}
    for batch in told(source.batches(names), reading):
        for name, column in columns.items():
            if column.types != ():
                column.add(batch.column(name))
                column.chunks.clear()
    return {name: column.kind for name, column in columns.items()}


def _written(source: Source, kinds: dict[str, pa.DataType], codes: list[str], reading: ReadSettings) -> str:
    """Write the columns in `kinds` as Parquet, in these types and called `codes`; return the path."""
    path = str(folder_of_command() / "data.parquet")
    schema = pa.schema(list(zip(codes, kinds.values(), strict=True)))
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for batch in told(source.batches(list(kinds)), reading):
            columns = batch.columns
            if source.is_text:
                columns = [_as_kind(*one, reading.nulls) for one in zip(columns, kinds.values(), strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    return path


def _as_kind(text: pa.Array, kind: pa.DataType, nulls: Iterable[str]) -> pa.Array:
    """Values of a piece of a column of text of which all values have the type `kind`."""
    text = with_nulls(text, nulls)
    fit = None if kind == TEXT else typed_values(text, [(kind,)], nulls)
    return text.dictionary_encode() if fit is None else fit.values.cast(kind)
