"""Data files and standard input of any format, as named columns read in batches of rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from gridmodl.cli.csvfiles import CsvFile, TextFormat, readable
from gridmodl.cli.messages import Failure, label_of, suggest
from gridmodl.cli.streams import (
    closing_quietly,
    decompressed,
    format_of,
    open_stream,
    peek,
    size_of,
    spool,
)

ROWS = 2**16  # in a batch
BUFFER = 2**20  # bytes of a column read at a time; without it pyarrow would read all of a row group
DELIMITERS = {"csv": ",", "tsv": "\t"}


class Source(Protocol):
    """Named columns, read in batches of rows."""

    label: str
    names: list[str]
    is_text: bool  # all columns are text, and their types are still to be found

    @property
    def hint(self) -> str: ...

    @property
    def n_rows(self) -> int | None: ...

    def empty(self, names: Sequence[str]) -> pa.RecordBatch: ...

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]: ...


class DataFile(NamedTuple):
    """Path of a data file, and what the user says about its format."""

    path: str
    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    has_names: bool = True


def open_source(file: DataFile, once: bool = False) -> Source:
    """Open a file or a stream; a stream is copied to disk first unless it is read only `once`."""
    path, size = file.path, size_of(file.path)
    if size is None and once:
        head, stream = peek(decompressed(open_stream(path)))
        if format_of(path, head, file.format) == "parquet" or head.startswith(b"ARROW1"):
            raise Failure(f"{label_of(path)} is a Parquet or Arrow file, which is read from its end; give its path")
        return _source(file, head, lambda: stream, None)
    if size is None:
        kept = spool(path)
        size = kept.seek(0, os.SEEK_END)
        opened: Callable[[], Any] = partial(_RewoundFile, kept)
    else:
        opened = partial(pa.OSFile, path, "rb")
    first = opened()
    with closing_quietly(first):
        head = peek(decompressed(first))[0]
    return _source(file, head, opened, size)


class _RewoundFile:
    """Unnamed file on disk, read from its start; closing this leaves the file open."""

    def __init__(self, file: Any) -> None:
        self._file = file
        file.seek(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def close(self) -> None:
        return None


def _source(file: DataFile, head: bytes, opened: Callable[[], Any], size: int | None) -> Source:
    label, kind = label_of(file.path), format_of(file.path, head, file.format)
    if kind == "parquet":
        return ParquetData(label, decompressed(opened()))
    if kind == "arrow":
        return ArrowData(label, opened, size)
    delimiter = file.delimiter or DELIMITERS[kind]
    return CsvFile(label, opened, TextFormat(delimiter, file.encoding, file.has_names), size)


def check_present(source: Source, names: Sequence[str], what: str) -> None:
    """Raise a Failure if the source lacks one of the columns `names`; `what` says who needs it."""
    for name in names:
        if name not in source.names:
            raise Failure(f"{source.label} has no column {name!r}, {what}; {suggest(name, source.names)}{source.hint}")


class TypedFile:
    """Base of files that store the types of their columns."""

    is_text = False
    hint = ""

    def __init__(self, label: str, schema: pa.Schema) -> None:
        self.label, self.schema = label, schema
        self.names = list(schema.names)
        twice = [name for name, n in Counter(self.names).items() if n > 1]
        if twice:
            raise Failure(f"{label} has two columns called {twice[0]!r}; give each a name of its own")

    def empty(self, names: Sequence[str]) -> pa.RecordBatch:
        """Batch of the columns `names` without rows."""
        return pa.RecordBatch.from_arrays([pa.array([], self.schema.field(name).type) for name in names], list(names))

    def _indices(self, names: Sequence[str] | None) -> list[int]:
        return [self.names.index(name) for name in (self.names if names is None else names)]


class ParquetData(TypedFile):
    """Parquet file."""

    def __init__(self, label: str, stream: Any) -> None:
        with readable(label):
            self._file = pyarrow.parquet.ParquetFile(stream, buffer_size=BUFFER)
            super().__init__(label, self._file.schema_arrow)
            self.n_rows: int | None = self._file.metadata.num_rows

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read batches of rows with the columns `names`, or all."""
        with readable(self.label):
            wanted = self.names if names is None else list(names)
            for batch in self._file.iter_batches(batch_size=ROWS, columns=wanted):
                yield batch.select(wanted)


class ArrowData(TypedFile):
    """Arrow file (Feather) or stream."""

    def __init__(self, label: str, opened: Callable[[], Any], size: int | None) -> None:
        self._opened = opened
        self.size = size
        with readable(label):
            self._first: Any = self._reader(None)
            super().__init__(label, self._first.schema)

    @property
    def n_rows(self) -> int | None:
        """Estimate of the number of rows from the size of the first batch; None for a stream."""
        if self.size is None:
            return None
        first = next(self.batches(), None)
        return 0 if first is None else round(first.num_rows * self.size / max(1, first.nbytes))

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read batches of rows with the columns `names`, or all; a stream can be read only once."""
        wanted = self.names if names is None else list(names)
        with readable(self.label):
            reader = self._first if self.size is None else self._reader(self._indices(wanted))
            for batch in _all_batches(reader):
                yield batch.select(wanted)

    def _reader(self, fields: list[int] | None) -> Any:
        head, stream = peek(decompressed(self._opened()))
        options = pyarrow.ipc.IpcReadOptions(included_fields=fields)
        if head.startswith(b"ARROW1"):
            return pyarrow.ipc.open_file(stream, options=options)
        return pyarrow.ipc.open_stream(stream, options=options)


def _all_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pyarrow.ipc.RecordBatchFileReader):
        for i in range(reader.num_record_batches):
            yield from _small(reader.get_batch(i))
    else:
        with closing_quietly(reader):
            for batch in reader:
                yield from _small(batch)


def _small(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, ROWS):
        yield batch.slice(start, ROWS)
