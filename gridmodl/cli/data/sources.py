"""A data file by its path, or standard input: whatever its format, named columns that are read in batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from gridmodl.cli.data.arrowfiles import ArrowData, ParquetData
from gridmodl.cli.data.csvfiles import CsvFile, Dialect
from gridmodl.cli.data.streams import (
    begins_with,
    closing_quietly,
    format_of,
    label_of,
    open_stream,
    size_of,
    spooled,
    unpacked,
)
from gridmodl.cli.failures import Failure, near

DELIMITERS = {"csv": ",", "tsv": "\t"}


class Source(Protocol):
    """Named columns, read in batches of rows."""

    label: str
    names: list[str]
    is_text: bool  # whether all columns come as text, whose types are to be found

    @property
    def hint(self) -> str: ...

    @property
    def n_rows(self) -> int | None: ...

    def empty(self, names: Sequence[str]) -> pa.RecordBatch: ...

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]: ...


class Given(NamedTuple):
    """What the user says about a data file."""

    path: str
    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    has_names: bool = True


def open_source(given: Given, once: bool = False) -> Source:
    """The source of a file, or of a stream, which goes to disk first unless it is read only `once`."""
    path, size = given.path, size_of(given.path)
    if size is None and once:
        head, stream = begins_with(unpacked(open_stream(path)))
        if format_of(path, head, given.format) == "parquet" or head.startswith(b"ARROW1"):
            raise Failure(f"{label_of(path)} is a Parquet or Arrow file, which is read from its end; give its path")
        return _source(given, head, lambda: stream, None)
    if size is None:
        kept = spooled(path)
        size = kept.seek(0, os.SEEK_END)
        opened: Callable[[], Any] = partial(_Again, kept)
    else:
        opened = partial(pa.OSFile, path, "rb")
    first = opened()
    with closing_quietly(first):
        head = begins_with(unpacked(first))[0]
    return _source(given, head, opened, size)


class _Again:
    """A file on disk without a name, read from its start; closing it leaves it there."""

    def __init__(self, file: Any) -> None:
        self._file = file
        file.seek(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def close(self) -> None:
        return None


def _source(given: Given, head: bytes, opened: Callable[[], Any], size: int | None) -> Source:
    label, kind = label_of(given.path), format_of(given.path, head, given.format)
    if kind == "parquet":
        return ParquetData(label, unpacked(opened()))
    if kind == "arrow":
        return ArrowData(label, opened, size)
    delimiter = given.delimiter or DELIMITERS[kind]
    return CsvFile(label, opened, Dialect(delimiter, given.encoding, given.has_names), size)


def check_present(source: Source, names: Sequence[str], what: str) -> None:
    """Every column that is asked for must be there."""
    for name in names:
        if name not in source.names:
            raise Failure(f"{source.label} has no column {name!r}, {what}; {near(name, source.names)}{source.hint}")
