"""Batches of rows written as CSV, TSV, Parquet or Arrow, packed or not."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import click
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet

from gridmodl.cli.data.streams import FORMATS, PACKED_SUFFIXES, suffix_format
from gridmodl.cli.failures import Failure
from gridmodl.cli.outputs import STDOUT, replaced


class Target(NamedTuple):
    """Where rows go, and how they are written there."""

    path: str
    format: str
    codec: str | None
    is_stream: bool  # of Arrow: for a pipe, without the index that a file has at its end


def target_of(path: str, given: str | None) -> Target:
    """As the user says, or the name of the file; CSV on standard output."""
    if path == STDOUT:
        return Target(path, given or "csv", None, True)
    suffix = path.lower().rsplit(".", 1)[-1]
    codec = PACKED_SUFFIXES.get(f".{suffix}")
    found = given or suffix_format(path)
    if found is None:
        raise click.UsageError(f"--output {path}: its name does not say how; add --to, one of {', '.join(FORMATS)}")
    return Target(path, found, codec, suffix == "arrows")


class Sink(Protocol):
    """What takes batches of rows, one after the other."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


class CsvSink:
    """Lines of text."""

    def __init__(self, stream: Any, schema: pa.Schema, delimiter: str) -> None:
        self._stream, self._delimiter = stream, delimiter
        stream.write(_header(schema.names, delimiter).encode())

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            self._stream.write(csv_text(batch, self._delimiter))

    def close(self) -> None:
        return None


class TypedSink:
    """Parquet and Arrow."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


@contextlib.contextmanager
def sink_to(target: Target, schema: pa.Schema) -> Iterator[Sink]:
    """A sink whose file is there, whole, when the block ends well."""
    with contextlib.ExitStack() as stack:
        if target.path == STDOUT:
            stream: Any = sys.stdout.buffer
            stack.callback(stream.flush)
        else:
            stream = stack.enter_context(open(stack.enter_context(replaced(target.path)), "wb"))
        if target.codec is not None:
            stream = stack.enter_context(pa.CompressedOutputStream(pa.PythonFile(stream, mode="w"), target.codec))
        sink = _sink(stream, target, schema)
        yield sink
        sink.close()


def _sink(stream: Any, target: Target, schema: pa.Schema) -> Sink:
    if target.format == "parquet":
        return TypedSink(pyarrow.parquet.ParquetWriter(stream, schema))
    if target.format == "arrow":
        if target.is_stream:
            return TypedSink(pyarrow.ipc.new_stream(stream, schema))
        return TypedSink(pyarrow.ipc.new_file(stream, schema))
    return CsvSink(stream, schema, "\t" if target.format == "tsv" else ",")


def csv_text(batch: pa.RecordBatch, delimiter: str = ",") -> bytes:
    """Lines of CSV; only what must be is quoted, and a missing value is nothing."""
    fields = [_quoted(_as_text(batch.column(i), name), delimiter) for i, name in enumerate(batch.schema.names)]
    if len(fields) == 1:  # an empty line would be no row
        fields = [pc.if_else(pc.equal(fields[0], ""), '""', fields[0])]
    lines = pc.binary_join_element_wise(*fields, delimiter)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n")
    return bytes(joined[0].as_buffer()) + b"\n"


def csv_lines(columns: Mapping[str, Any]) -> Iterator[str]:
    """A small table of columns as CSV."""
    yield _header(list(columns), ",")
    arrays = [pa.array(column) for column in columns.values()]
    if arrays and len(arrays[0]):
        yield csv_text(pa.RecordBatch.from_arrays(arrays, list(columns))).decode()


def _header(names: list[str], delimiter: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow(names)
    return text.getvalue()


def _as_text(column: pa.Array, name: str) -> pa.Array:
    try:
        return pc.fill_null(column.cast(pa.string()), "")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise Failure(f"column {name!r} holds {column.type}, which text cannot; write Parquet or Arrow") from error


def _quoted(text: pa.Array, delimiter: str) -> pa.Array:
    needs = pc.match_substring_regex(text, f'["\r\n{re.escape(delimiter)}]')
    if not pc.any(needs).as_py():
        return text
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
    return pc.if_else(needs, quoted, text)
