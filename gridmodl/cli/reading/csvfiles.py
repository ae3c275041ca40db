"""CSV and TSV: bytes into text, text into columns of text by DuckDB (`texts` has their types)."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import os
import re
import shutil
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import click
import pyarrow as pa

from gridmodl.cli.messages import STDIN, Failure
from gridmodl.cli.outputs import folder_of_command
from gridmodl.cli.reading.engine import EngineLimits, batches_of, connected, is_engine_error, literal, path_literal
from gridmodl.model.names import shortened

PIECE = 2**16  # bytes read at a time
BLOCK = 2**22  # bytes of the longest row
SAMPLE = 2**20  # bytes read to estimate the length of a row; compressed bytes may hold a thousand times as many
# Columns of the widest table that DuckDB parses: 100,000 columns of 20 rows took it 38 seconds of processor time, and 8
# for the first 100 of them alone; Python's reader takes 3.
WIDE = 2**13
CELLS = 2**22  # of a batch of a wide table
DELIMITERS = (";", "\t", "|", ",")
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


# Bytes.


class JoinedStream(io.RawIOBase):
    """Bytes that were read ahead, then the rest of their stream."""

    def __init__(self, head: bytes, tail: Any) -> None:
        self._head, self._tail = head, tail

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._tail.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._tail.close()
        super().close()


def open_stream(path: str) -> IO[bytes]:
    """Open standard input, a pipe or a device, which can be read only once."""
    if path == STDIN:
        return sys.stdin.buffer
    file = open(path, "rb")  # noqa: SIM115  closed when the command ends
    command = click.get_current_context(silent=True)
    if command is not None:
        command.call_on_close(file.close)
    return file


def spool(stream: Any) -> str:
    """Copy a stream to a temporary file, which can be read more than once; return its path."""
    copy = folder_of_command() / "data"
    with copy.open("wb") as file:
        shutil.copyfileobj(stream, file, 2**20)
    return str(copy)


def peek(stream: Any) -> tuple[bytes, Any]:
    """Read the first bytes of a stream; return them and a stream that starts with them again."""
    head = b""
    while len(head) < 8:
        more = stream.read(8 - len(head))
        if not more:
            break
        head += more
    if stream.seekable():
        stream.seek(0)
        return head, stream
    return head, io.BufferedReader(JoinedStream(head, stream), PIECE)


def decompressed(stream: Any) -> Any:
    """Decompress a stream of gzip, bzip2 or zstd; return any other stream as it is."""
    head, stream = peek(stream)
    for beginning, codec in _PACKED.items():
        if head.startswith(beginning):
            native = stream if isinstance(stream, pa.NativeFile) else pa.PythonFile(stream, mode="r")
            return pa.CompressedInputStream(native, codec)
    return stream


@contextlib.contextmanager
def readable(label: str, n_before: int = 0) -> Iterator[None]:
    """Turn errors of pyarrow and of DuckDB into a Failure; `n_before` lines came before those that DuckDB counts."""
    try:
        yield
    except Exception as error:
        if not isinstance(
            error, (pa.ArrowException, OSError, UnicodeError, EOFError, csv.Error)
        ) and not is_engine_error(error):
            raise
        raise Failure(_told(label, str(error), n_before)) from error


def _told(label: str, message: str, n_before: int) -> str:
    """Say in one line what is wrong with a file."""
    found = re.search(r"CSV Error on Line: (\d+)", message)
    line = f"line {int(found[1]) + n_before} of {label}" if found else label
    counts = re.search(r"Original Line: ?(.*)\nExpected Number of Columns: (\d+) Found: (\d+)", message, re.DOTALL)
    if counts:
        return ragged_row(f"a row of {label}", int(counts[3]), int(counts[2]), counts[1], line)
    too_long = f"a row of {label} is longer than {BLOCK} bytes"
    if "unterminated quote" in message:  # said of a row in quotes that is too long, too
        return (
            f"{line} has a quote that is opened and never closed, text behind the end of a quoted value, or {too_long}"
        )
    if "Maximum line size" in message:
        return f"{too_long} ({line}); a quote that is opened and never closed makes one"
    if "reached an invalid state" in message:
        return f"{label} ends its lines in several ways, or has quotes that do not match; write it again as one CSV"
    if re.search("Invalid unicode|codec can't decode|invalid UTF", message):
        return f"{line} holds bytes that are no text in this encoding; say what it is in, such as --encoding latin-1"
    if "Out of Memory" in message:
        return f"{label} needs more memory than DuckDB may take; --memory-limit says that there is more"
    return f"{label} cannot be read: {shortened(' '.join(message.split()), 300)}"


def ragged_row(what: str, found: int, expected: int, text: str, line: str) -> str:
    """Say that a row has not the fields of the header."""
    return (
        f"{what} has {found} fields and the header {expected}: {shortened(text, 60)!r} ({line}); "
        "values that hold the delimiter must be quoted, and all rows have the same fields"
    )


# Text.


class TextFormat(NamedTuple):
    """Delimiter, encoding and header of a text file."""

    delimiter: str = ","
    encoding: str = "utf-8"
    has_names: bool = True

    @property
    def is_utf8(self) -> bool:
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig")


class OpenText:
    """Text of a file, decompressed and decoded, whose first record has been read."""

    def __init__(self, raw: Any, dialect: TextFormat, label: str) -> None:
        self._raw = raw
        encoding = "utf-8-sig" if dialect.is_utf8 else dialect.encoding
        self.text = io.TextIOWrapper(decompressed(raw), encoding, newline="")
        self._first: list[str] = []
        self._reader = csv.reader(self._lines(label), delimiter=dialect.delimiter)
        try:
            self.fields = next((record for record in self._reader if record), [])
        except UnicodeDecodeError as error:
            raise Failure(
                f"{label} is not in {dialect.encoding.upper()}; say what it is in, such as --encoding latin-1 or utf-16"
            ) from error
        except csv.Error as error:
            raise Failure(f"the first line of {label} cannot be read as CSV: {error}") from error
        if not self.fields:
            raise Failure(f"{label} is empty: it has no columns")
        self.n_lines = 0 if not dialect.has_names else self._reader.line_num
        self.ends_with_feed = "\r" not in self._first[-1]
        self._head = "" if dialect.has_names else "".join(self._first)

    def _lines(self, label: str) -> Iterator[str]:
        """Lines of the first record; nothing is read behind it."""
        n_chars = 0
        while line := self.text.readline(BLOCK + 1):
            n_chars += len(line)
            if n_chars > BLOCK:
                raise Failure(
                    f"the first line of {label} is longer than {BLOCK} bytes; a quote that is opened and never closed "
                    "makes one, and so does a file that is no CSV"
                )
            self._first.append(line)
            yield line

    def lines(self) -> Iterator[str]:
        """Lines of the rows."""
        yield from io.StringIO(self._head, newline="")
        yield from self.text

    def pieces(self, dialect: TextFormat, is_rewritten: bool) -> Iterator[bytes]:
        """The rows in UTF-8, their lines ended by a line feed; rewritten if they may end otherwise."""
        if not is_rewritten:
            yield self._head.encode()
            while piece := self.text.read(PIECE):
                yield piece.encode()
            return
        csv.field_size_limit(BLOCK)
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=dialect.delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for row in csv.reader(self.lines(), delimiter=dialect.delimiter):
            if row:
                writer.writerow(_without_tail(row, len(self.fields)))
            if text.tell() > PIECE:
                yield text.getvalue().encode()
                text.seek(0)
                text.truncate()
        yield text.getvalue().encode()

    def close(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._raw.close()


def _checked(fields: list[str], label: str) -> list[str]:
    names = [name if name.strip() else f"column_{i}" for i, name in enumerate(fields, start=1)]
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        where = [str(i) for i, name in enumerate(names, start=1) if name == twice[0]]
        raise Failure(
            f"columns {' and '.join(where)} of {label} have the same name {twice[0]!r}; give each a name of its own"
        )
    return names


def other_delimiter(names: list[str], delimiter: str) -> str | None:
    """Guess the delimiter if all names were read as one."""
    if len(names) != 1:
        return None
    return next((other for other in DELIMITERS if other != delimiter and other in names[0]), None)


class CsvFile:
    """Text file, or a stream that is read once, as columns of text; each pass reads the file from the start."""

    is_text = True
    parquet: str | None = None

    def __init__(
        self,
        label: str,
        opened: Callable[[], Any],
        path: str | None,
        dialect: TextFormat,
        limits: EngineLimits,
    ) -> None:
        self.label, self._opened, self._path, self._dialect, self._limits = label, opened, path, dialect, limits
        self.size = None if path is None else os.stat(path).st_size  # bytes on disk, packed or not
        start = self._start()
        if dialect.has_names:
            self.names = _checked(start.fields, label)
        else:
            self.names = [f"x{i}" for i in range(len(start.fields))]
        self._index = {name: i for i, name in enumerate(self.names)}
        self._only = start if path is None else None  # a stream cannot be opened again
        if path is not None:
            start.close()

    @property
    def hint(self) -> str:
        """Advice for the message that a column is not found."""
        other = other_delimiter(self.names, self._dialect.delimiter)
        return "" if other is None else f" (are columns separated by {other!r}? then --delimiter {other!r})"

    @property
    def n_rows(self) -> int | None:
        """Estimate of the number of rows from the length of the first rows; None for a stream."""
        if self.size is None:
            return None
        with contextlib.closing(self._opened()) as raw:
            packed = raw.read(SAMPLE)
        n_lines = n_bytes = 0
        with contextlib.suppress(OSError, pa.ArrowException):  # a compressed sample lacks its end
            stream = decompressed(io.BytesIO(packed))
            while piece := stream.read(PIECE):
                n_lines, n_bytes = n_lines + piece.count(b"\n"), n_bytes + len(piece)
        if packed and not n_bytes:
            return None
        n_lines = max(0, n_lines - self._dialect.has_names)
        return n_lines if len(packed) < SAMPLE else round(n_lines * self.size / len(packed))

    def empty(self, names: Sequence[str]) -> pa.RecordBatch:
        """Batch of the columns `names` without rows."""
        return pa.RecordBatch.from_arrays([pa.array([], pa.string()) for _ in names], list(names))

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read blocks of rows with the columns `names`, or all, as text; missing values are not marked yet."""
        wanted = self.names if names is None else list(names)
        if len(self.names) > WIDE:
            yield from self._wide_batches(wanted)
            return
        with connected(self._limits) as connection, self._scan(wanted) as query:
            for batch in batches_of(connection.sql(query)):
                yield batch.rename_columns(wanted)

    @contextlib.contextmanager
    def _scan(self, names: Sequence[str]) -> Iterator[str]:
        """Query of DuckDB for the columns `names`, called c and their number; it can be run once."""
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.names)))
        columns = ", ".join(f"coalesce(c{self._index[name]}, '') AS c{self._index[name]}" for name in names)
        rule = " WHERE c0 IS NOT NULL" if len(self.names) == 1 else ""  # an empty line is no row
        with self._readable_by_engine() as (path, beginning):
            options = (
                f"auto_detect=false, {beginning}, delim={literal(self._dialect.delimiter)}, quote='\"', "
                f"escape='\"', columns={{{types}}}, compression='none', allow_quoted_nulls=false, "
                f"max_line_size={BLOCK}, buffer_size={2 * BLOCK}"
            )
            yield f"SELECT {columns} FROM read_csv({path}, {options}){rule}"  # noqa: S608  numbers and literals

    @contextlib.contextmanager
    def _readable_by_engine(self) -> Iterator[tuple[str, str]]:
        """Literal of a path for DuckDB, and options that say how it begins; that of a pipe for all but plain UTF-8."""
        start = self._only or self._start()
        is_plain = self._path is not None and self._dialect.is_utf8 and _packing(self._path) is None
        is_mixed = self._path is not None and self._has_mixed_ends()
        if is_plain and not is_mixed and start.n_lines <= 1:
            start.close()
            with readable(self.label):
                yield path_literal(str(self._path)), f"header={str(self._dialect.has_names).lower()}"
            return
        pieces = start.pieces(self._dialect, is_mixed or not start.ends_with_feed)
        with contextlib.closing(start), readable(self.label, start.n_lines), _piped(pieces) as path:
            yield literal(path), r"header=false, new_line='\n'"

    def _has_mixed_ends(self) -> bool:
        """Whether a file has several of the line ends LF, CRLF and CR, which DuckDB does not take."""
        n_feeds = n_returns = n_both = 0
        last = b""
        with readable(self.label), contextlib.closing(self._opened()) as raw:
            stream = decompressed(raw)
            while piece := stream.read(2**22):
                n_feeds += piece.count(b"\n")
                if b"\r" in piece or last == b"\r":
                    n_returns += piece.count(b"\r")
                    n_both += piece.count(b"\r\n") + (last == b"\r" and piece[:1] == b"\n")
                last = piece[-1:]
        return n_returns > 0 and not (n_feeds == 0 or n_feeds == n_returns == n_both)

    def _start(self) -> OpenText:
        with readable(self.label):
            return OpenText(self._opened(), self._dialect, self.label)

    def _wide_batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        """Read a table of very many columns with Python's reader."""
        start, n_columns = self._only or self._start(), len(self.names)
        csv.field_size_limit(BLOCK)
        with contextlib.closing(start), readable(self.label):
            reader = csv.reader(start.lines(), delimiter=self._dialect.delimiter, strict=True)
            places = [self._index[name] for name in wanted]
            rows: list[list[str]] = []
            try:
                for fields in reader:
                    row = _without_tail(fields, n_columns)
                    if row and len(row) != n_columns:
                        line = f"line {reader.line_num + start.n_lines} of {self.label}"
                        text = self._dialect.delimiter.join(row[:50])
                        raise Failure(ragged_row(f"a row of {self.label}", len(row), n_columns, text, line))
                    if row:
                        rows.append(row)
                    if len(rows) * n_columns >= CELLS:
                        yield _transposed(rows, places, wanted)
                        rows = []
            except csv.Error as error:
                place = reader.line_num + start.n_lines
                raise Failure(f"line {place} of {self.label} cannot be read as CSV: {error}") from error
            if rows:
                yield _transposed(rows, places, wanted)


def _without_tail(row: list[str], n_columns: int) -> list[str]:
    """Drop empty fields behind the last column, as DuckDB does."""
    while len(row) > n_columns and not row[-1]:
        row.pop()
    return row


def _transposed(rows: list[list[str]], places: list[int], names: list[str]) -> pa.RecordBatch:
    """Rows of texts as columns, which are slices of one array."""
    columns = list(zip(*rows, strict=True))
    cells = pa.array(list(chain.from_iterable(columns[i] for i in places)), pa.string())
    return pa.RecordBatch.from_arrays([cells.slice(i * len(rows), len(rows)) for i in range(len(places))], names)


def _packing(path: str) -> str | None:
    """Codec of a compressed file, by its first bytes."""
    with open(path, "rb") as file:
        head = file.read(8)
    return next((codec for beginning, codec in _PACKED.items() if head.startswith(beginning)), None)


@contextlib.contextmanager
def _piped(pieces: Iterator[bytes]) -> Iterator[str]:
    """Path of a pipe into which a thread writes the pieces; a file where the system has no paths of pipes."""
    if not Path("/dev/fd").exists():
        copy = folder_of_command() / "data"
        with copy.open("wb") as file:
            file.writelines(pieces)
        yield str(copy)
        return
    errors: list[Exception] = []
    outlet, inlet = os.pipe()

    def write() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})  # would end the process if DuckDB stops early
        try:
            with open(inlet, "wb", buffering=0) as file:
                for piece in pieces:
                    view = memoryview(piece)
                    while len(view):
                        view = view[file.write(view) :]
        except BrokenPipeError:
            pass
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield f"/dev/fd/{outlet}"
    except Exception as error:
        os.close(outlet)
        raise (errors[0] if errors else error) from error
    except BaseException:
        os.close(outlet)
        raise
    os.close(outlet)
    thread.join()
    if errors:
        raise errors[0]
