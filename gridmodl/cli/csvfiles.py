"""CSV and TSV: read as columns of text, in blocks (`columns` finds their types), and written."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from gridmodl.cli.messages import Failure
from gridmodl.cli.streams import JoinedStream, as_utf8, closing_quietly, decompressed
from gridmodl.report.text import shortened

PIECE = 2**16  # bytes read at a time
BLOCK = 2**22  # bytes that are parsed at a time; no row may be longer
SAMPLE = 2**20  # bytes read to estimate the length of a row; compressed bytes may hold a thousand times as many
BOM = b"\xef\xbb\xbf"
DELIMITERS = (";", "\t", "|", ",")


class Header(NamedTuple):
    """Names of the columns, and the bytes read after them."""

    names: list[str]
    rest: bytes


def read_header(stream: Any, delimiter: str, label: str, has_names: bool = True) -> Header:
    """Read the names of the columns of a CSV in UTF-8; x0, x1, ... without a header."""
    text, is_all = b"", False
    while True:
        piece = stream.read(PIECE)
        text, is_all = text + piece, not piece
        fields, n_bytes = _first_record(text.removeprefix(BOM), delimiter, is_all, label)
        if n_bytes is not None:
            break
        if len(text) > BLOCK:
            raise Failure(
                f"the first line of {label} is longer than {BLOCK} bytes; a quote that is opened and never closed "
                "makes one, and so does a file that is no CSV"
            )
    if not fields:
        raise Failure(f"{label} is empty: it has no columns")
    text = text.removeprefix(BOM)
    if not has_names:
        return Header([f"x{i}" for i in range(len(fields))], text)
    return Header(_checked(fields, label), text[n_bytes:])


def _first_record(text: bytes, delimiter: str, is_all: bool, label: str) -> tuple[list[str], int | None]:
    """Fields of the first record that is not blank, and the position of its end; None if the record may go on."""
    whole = text if is_all else text[: max(text.rfind(b"\n"), text.rfind(b"\r")) + 1]
    try:
        lines = io.StringIO(whole.decode("utf-8"), newline="").readlines()
    except UnicodeDecodeError as error:
        raise Failure(f"{label} is not in UTF-8; say what it is in, such as --encoding latin-1 or utf-16") from error
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        fields = next((record for record in reader if record), [])
    except csv.Error as error:
        raise Failure(f"the first line of {label} cannot be read as CSV: {error}") from error
    if not is_all and (not fields or reader.line_num == len(lines)):  # a quoted name may hold a line break
        return [], None
    return fields, len("".join(lines[: reader.line_num]).encode())


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


class TextFormat(NamedTuple):
    """Delimiter, encoding and header of a text file."""

    delimiter: str = ","
    encoding: str = "utf-8"
    has_names: bool = True


class CsvStart(NamedTuple):
    """Opened file whose header has been read."""

    raw: Any
    stream: Any  # unpacked and in UTF-8
    header: Header

    def close(self) -> None:
        self.raw.close()


class CsvFile:
    """Text file, or standard input, as columns of text; each pass reads it from the start."""

    is_text = True
    _is_warned = False

    def __init__(self, label: str, opened: Callable[[], Any], dialect: TextFormat, size: int | None) -> None:
        self.label, self._opened, self._dialect = label, opened, dialect
        self.size = size  # bytes on disk, packed or not
        start = self._start()
        self.names = start.header.names
        self._only = start if size is None else None  # a stream cannot be opened again
        if size is not None:
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
        raw = self._opened()
        with closing_quietly(raw):
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
        start = self._only or self._start()
        wanted = self.names if names is None else list(names)
        stream = JoinedStream(start.header.rest, start.stream)
        with closing_quietly(start):
            yield from self._parsed(stream, wanted)
        if stream.n_quotes % 2 and not self._is_warned:
            self._is_warned = True
            warnings.warn(
                f"{self.label} has an odd number of quotes: one that is opened and not closed hides the rows behind it",
                stacklevel=2,
            )

    def _start(self) -> CsvStart:
        raw = self._opened()
        with readable(self.label):
            stream = as_utf8(decompressed(raw), self._dialect.encoding)
            header = read_header(stream, self._dialect.delimiter, self.label, self._dialect.has_names)
        return CsvStart(raw, stream, header)

    def _parsed(self, stream: JoinedStream, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        with readable(self.label, ragged):
            try:
                reader = pyarrow.csv.open_csv(
                    pa.PythonFile(stream, mode="r"),
                    pyarrow.csv.ReadOptions(column_names=self.names, block_size=BLOCK, use_threads=True),
                    pyarrow.csv.ParseOptions(
                        delimiter=self._dialect.delimiter, newlines_in_values=True, invalid_row_handler=refuse
                    ),
                    pyarrow.csv.ConvertOptions(
                        column_types=dict.fromkeys(self.names, pa.string()),
                        include_columns=wanted,
                        strings_can_be_null=False,
                    ),
                )
            except pa.ArrowInvalid as error:
                if "Empty CSV file" in str(error):
                    return
                raise
            try:
                yield from reader
            finally:  # threads of pyarrow read ahead even after an error: at exit they would hang or abort
                stream.is_ended = True
                reader.close()
                del reader


@contextlib.contextmanager
def readable(label: str, ragged: Sequence[Any] = ()) -> Iterator[None]:
    """Turn errors of pyarrow into a Failure that says what to do."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError, EOFError) as error:
        raise Failure(_told(label, str(error), ragged)) from error


def _told(label: str, message: str, ragged: Sequence[Any]) -> str:
    if ragged:
        row = ragged[0]
        return (
            f"a row of {label} has {row.actual_columns} fields and the header {row.expected_columns}: "
            f"{shortened(row.text, 60)!r}; "
            "values that hold the delimiter must be quoted, and all rows have the same fields"
        )
    if "straddling" in message:
        return f"a row of {label} is longer than {BLOCK} bytes; a quote that is opened and never closed makes one"
    if re.search("invalid UTF8|codec can't decode|cannot decode", message):
        return f"{label} holds bytes that are no text in this encoding; say what it is in, such as --encoding latin-1"
    return f"{label} cannot be read: {message}"


def csv_text(batch: pa.RecordBatch, delimiter: str = ",") -> bytes:
    """Write a batch as lines of CSV; fields are quoted only if they must be, and a missing value is empty."""
    fields = [_quoted(_as_text(batch.column(i), name), delimiter) for i, name in enumerate(batch.schema.names)]
    if len(fields) == 1:  # an empty line would be no row
        fields = [pc.if_else(pc.equal(fields[0], ""), '""', fields[0])]
    lines = pc.binary_join_element_wise(*fields, delimiter)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n")
    return bytes(joined[0].as_buffer()) + b"\n"


def csv_lines(columns: Mapping[str, Any]) -> Iterator[str]:
    """Write a small table of columns as CSV."""
    yield csv_header(list(columns), ",")
    arrays = [pa.array(column) for column in columns.values()]
    if arrays and len(arrays[0]):
        yield csv_text(pa.RecordBatch.from_arrays(arrays, list(columns))).decode()


def csv_header(names: list[str], delimiter: str) -> str:
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
