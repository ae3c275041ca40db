"""Data files and standard input of any format, as named columns read in batches of rows."""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from gridmodl.cli.messages import STDIN, Failure, label_of, suggest
from gridmodl.cli.reading.csvfiles import CsvFile, TextFormat, decompressed, open_stream, peek, readable, spool
from gridmodl.cli.reading.engine import ROWS, EngineLimits
from gridmodl.data.frames import without_views

BUFFER = 2**20  # bytes of a column read at a time; without it pyarrow would read all of a row group
DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMATS = ("csv", "tsv", "parquet", "arrow")
_SUFFIXES = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
PACKED_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
FROM_THE_END = (b"PAR1", b"ARROW1")  # beginnings of files that are not read from their start to their end
_BEGINNINGS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_OTHERS = {b"FEA1": "Feather version 1", b"PK\x03\x04": "a zip or Excel file", b"\xd0\xcf\x11\xe0": "an old Excel file"}


class Source(Protocol):
    """Named columns, read in batches of rows."""

    label: str
    names: list[str]
    is_text: bool  # all columns are text, and their types are still to be found
    parquet: str | None  # path of a Parquet file that DuckDB can read as it is

    @property
    def hint(self) -> str: ...

    @property
    def n_rows(self) -> int | None: ...

    def empty(self, names: Sequence[str]) -> pa.RecordBatch: ...

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]: ...


class DataFile(NamedTuple):
    """Path or pattern of data files, what the user says about their format, and the memory that reading may take."""

    path: str
    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    has_names: bool = True
    memory_limit: int | None = None


def data_file(settings: Any) -> DataFile:
    """The data file of a command that has the options of `gridmodl.cli.options.reading`; some have --memory-limit."""
    limit = getattr(settings, "memory_limit", None)
    return DataFile(
        settings.data, settings.format, settings.delimiter, settings.encoding, not settings.no_header, limit
    )


def open_source(file: DataFile, once: bool = False) -> Source:
    """Open a file, all files of a pattern, or a stream, which is copied to disk first unless it is read only `once`."""
    paths = _matching(file.path)
    if len(paths) == 1:
        return _open_one(file._replace(path=paths[0]), once)
    return JoinedFiles(file.path, [_open_one(file._replace(path=path), once) for path in paths])


def _matching(path: str) -> list[str]:
    """Files of a pattern such as ``folder/*.parquet``, sorted; a path that exists, or has no pattern, is itself."""
    if path == STDIN or os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(one for one in glob.glob(path, recursive=True) if os.path.isfile(one))
    if not found:
        raise Failure(f"{path}: no file matches this pattern")
    return found


def _open_one(file: DataFile, once: bool) -> Source:
    path, label = file.path, label_of(file.path)
    is_stream = not _is_regular(path)
    if is_stream and once:
        head, stream = peek(decompressed(open_stream(path)))
        if format_of(path, head, file.format) == "parquet" or head.startswith(FROM_THE_END):
            raise Failure(f"{label} is a Parquet or Arrow file, which is read from its end; give its path")
        return _source(file, label, head, lambda: stream, None)
    kept = spool(open_stream(path)) if is_stream else path
    with readable(label), pa.OSFile(kept, "rb") as first:
        stream = decompressed(first)
        head, rest = peek(stream)
        if stream is not first and head.startswith(FROM_THE_END):
            kept = spool(rest)
    return _source(file, label, head, partial(pa.OSFile, kept, "rb"), kept)


def _is_regular(path: str) -> bool:
    """Whether a path is that of a file; not for standard input, a pipe or a device, which can be read only once."""
    if path == STDIN:
        return False
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise Failure(
            f"{path} is a folder; give a file, or a pattern in quotes such as '{os.path.join(path, '*.csv')}'"
        )
    return stat.S_ISREG(mode)


def _source(file: DataFile, label: str, head: bytes, opened: Callable[[], Any], path: str | None) -> Source:
    kind = format_of(file.path, head, file.format)
    if kind == "parquet":
        return ParquetData(label, opened, path)
    if kind == "arrow":
        return ArrowData(label, opened, None if path is None else os.stat(path).st_size)
    delimiter = file.delimiter or DELIMITERS[kind]
    dialect, limits = TextFormat(delimiter, file.encoding, file.has_names), EngineLimits(file.memory_limit)
    return CsvFile(label, opened, path, dialect, limits)


def format_of(path: str, head: bytes, chosen: str | None) -> str:
    """Format of a file: the one `chosen` by the user, else by its first bytes, else by its suffix."""
    if chosen is not None:
        return chosen
    for beginning, found in _BEGINNINGS.items():
        if head.startswith(beginning):
            return found
    for beginning, what in _OTHERS.items():
        if head.startswith(beginning):
            raise Failure(f"{label_of(path)} is {what}; gridmodl reads CSV, TSV, Parquet and Arrow")
    if path == STDIN:
        raise Failure("standard input may be CSV or TSV; give --format csv or --format tsv")
    found_suffix = suffix_format(path)
    if found_suffix is None:
        raise Failure(f"{path}: its name does not tell the format; give --format, one of {', '.join(FORMATS)}")
    if found_suffix not in ("csv", "tsv"):
        raise Failure(
            f"{path} does not begin like a file of format {found_suffix}; if it has another format, give --format"
        )
    return found_suffix


def suffix_format(path: str) -> str | None:
    """Format that the suffix of a name tells, before a suffix of compression."""
    name = Path(path)
    if name.suffix.lower() in PACKED_SUFFIXES:
        name = name.with_suffix("")
    return _SUFFIXES.get(name.suffix.lower())


def parts_of(source: Source) -> Sequence[Source]:
    """Files of a source."""
    return source.parts if isinstance(source, JoinedFiles) else [source]


def check_present(source: Source, names: Sequence[str], what: str) -> None:
    """Raise a Failure if the source lacks one of the columns `names`; `what` says who needs it."""
    for name in names:
        if name not in source.names:
            raise Failure(f"{source.label} has no column {name!r}, {what}; {suggest(name, source.names)}{source.hint}")


class TypedFile:
    """Base of files that store the types of their columns."""

    is_text = False
    hint = ""
    parquet: str | None = None

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
    """Parquet file.

    pyarrow reads it into memory: DuckDB takes durations for numbers, long decimals for floats, and forgets the order of
    dictionaries.
    """

    def __init__(self, label: str, opened: Callable[[], Any], path: str | None) -> None:
        self.parquet = path
        with readable(label):
            self._file = pyarrow.parquet.ParquetFile(opened(), buffer_size=BUFFER)
            super().__init__(label, self._file.schema_arrow)
            self.n_rows: int | None = self._file.metadata.num_rows

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read batches of rows with the columns `names`, or all."""
        with readable(self.label):
            wanted = self.names if names is None else list(names)
            for batch in self._file.iter_batches(batch_size=ROWS, columns=wanted):
                yield batch.select(wanted)


class JoinedFiles:
    """Files of a pattern as one source: the same columns in each, rows file after file, in types that hold all."""

    parquet: str | None = None  # its parts may be

    def __init__(self, label: str, parts: Sequence[Source]) -> None:
        self.label, self.parts, self.names = label, parts, parts[0].names
        self.is_text, self.hint = parts[0].is_text, parts[0].hint
        for part in parts[1:]:
            if part.names != self.names or part.is_text != self.is_text:
                other = next((name for name in {*part.names} ^ {*self.names}), None)
                why = "in another order or format" if other is None else f"only one of them has {other!r}"
                raise Failure(
                    f"{part.label} has not the columns of {parts[0].label} ({why}); files of one pattern must have the "
                    "same columns in the same order"
                )

    @property
    def n_rows(self) -> int | None:
        found = [part.n_rows for part in self.parts]
        return None if None in found else sum(n for n in found if n is not None)

    def empty(self, names: Sequence[str]) -> pa.RecordBatch:
        """Batch of the columns `names` without rows."""
        schemas = [part.empty(names).schema for part in self.parts]
        kinds = [self._joint_type(name, [schema.types[i] for schema in schemas]) for i, name in enumerate(names)]
        return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in kinds], list(names))

    def _joint_type(self, name: str, kinds: list[pa.DataType]) -> pa.DataType:
        """Type that holds the values of all files."""
        if all(kind == kinds[0] for kind in kinds):
            return kinds[0]
        plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
        plain = [pa.timestamp("s") if pa.types.is_date(kind) else kind for kind in plain]
        joint = plain[0]
        for part, kind in zip(self.parts, plain, strict=True):
            try:
                both = [pa.schema({"": one}) for one in (joint, kind)]
                joint = pa.unify_schemas(both, promote_options="permissive").field(0).type
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise Failure(
                    f"column {name!r} holds {kind} in {part.label} and {joint} in files before it; files of one "
                    "pattern must have the same types, or numbers"
                ) from error
        return joint

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read batches of rows with the columns `names`, or all."""
        schema = self.empty(self.names if names is None else names).schema
        for part in self.parts:
            with readable(part.label):
                for batch in part.batches(names):
                    yield batch if batch.schema.equals(schema) else batch.cast(schema)


class ArrowData(TypedFile):
    """Arrow file (Feather) or stream; views of texts, as Polars writes them, are read as texts."""

    def __init__(self, label: str, opened: Callable[[], Any], size: int | None) -> None:
        self._opened = opened
        self.size = size
        with readable(label):
            self._first: Any = self._reader(None)
            kinds = [(field.name, without_views(field.type)) for field in self._first.schema]
            super().__init__(label, pa.schema(kinds))

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
        schema = self.empty(wanted).schema
        with readable(self.label):
            reader = self._first if self.size is None else self._reader(self._indices(wanted))
            for batch in _all_batches(reader):
                chosen = batch.select(wanted)
                yield chosen if chosen.schema.equals(schema) else chosen.cast(schema)

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
        for batch in reader:
            yield from _small(batch)


def _small(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, ROWS):
        yield batch.slice(start, ROWS)
