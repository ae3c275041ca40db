"""Parquet and Arrow: files that know their types, of which single columns can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from gridmodl.cli.data.csvfiles import readable
from gridmodl.cli.data.streams import begins_with, closing_quietly, unpacked
from gridmodl.cli.failures import Failure

ROWS = 2**16  # at a time
BUFFER = 2**20  # bytes of a column that are at hand; else all of it in a group of rows would be


class TypedFile:
    """What files of known types have in common."""

    is_text = False
    hint = ""

    def __init__(self, label: str, schema: pa.Schema) -> None:
        self.label, self.schema = label, schema
        self.names = list(schema.names)
        twice = [name for name, n in Counter(self.names).items() if n > 1]
        if twice:
            raise Failure(f"{label} has two columns called {twice[0]!r}; give each a name of its own")

    def empty(self, names: Sequence[str]) -> pa.RecordBatch:
        """No rows of these columns."""
        return pa.RecordBatch.from_arrays([pa.array([], self.schema.field(name).type) for name in names], list(names))

    def _indices(self, names: Sequence[str] | None) -> list[int]:
        return [self.names.index(name) for name in (self.names if names is None else names)]


class ParquetData(TypedFile):
    """A Parquet file."""

    def __init__(self, label: str, stream: Any) -> None:
        with readable(label):
            self._file = pyarrow.parquet.ParquetFile(stream, buffer_size=BUFFER)
            super().__init__(label, self._file.schema_arrow)
            self.n_rows: int | None = self._file.metadata.num_rows

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of rows with these columns, or all."""
        with readable(self.label):
            wanted = self.names if names is None else list(names)
            for batch in self._file.iter_batches(batch_size=ROWS, columns=wanted):
                yield batch.select(wanted)


class ArrowData(TypedFile):
    """An Arrow file (Feather) or stream."""

    def __init__(self, label: str, opened: Callable[[], Any], size: int | None) -> None:
        self._opened = opened
        self.size = size
        with readable(label):
            self._first: Any = self._reader(None)
            super().__init__(label, self._first.schema)

    @property
    def n_rows(self) -> int | None:
        """About how many rows there are, from the size of the first ones; None where nobody can know."""
        if self.size is None:
            return None
        first = next(self.batches(), None)
        return 0 if first is None else round(first.num_rows * self.size / max(1, first.nbytes))

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of rows with these columns, or all; of a stream that cannot be read again, once."""
        wanted = self.names if names is None else list(names)
        with readable(self.label):
            reader = self._first if self.size is None else self._reader(self._indices(wanted))
            for batch in _all_batches(reader):
                yield batch.select(wanted)

    def _reader(self, fields: list[int] | None) -> Any:
        head, stream = begins_with(unpacked(self._opened()))
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
