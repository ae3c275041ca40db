"""CSV and TSV: all columns as text, in blocks; `texts` says what they mean."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv

from gridmodl.cli.data.header import BLOCK, PIECE, Header, other_delimiter, read_header
from gridmodl.cli.data.streams import Joined, closing_quietly, in_utf8, unpacked
from gridmodl.cli.failures import Failure

SAMPLE = 2**20  # bytes that tell how long rows are, packed ones too: a thousand times as many can be in them


class Dialect(NamedTuple):
    """How a text file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"
    has_names: bool = True


class Begun(NamedTuple):
    """A file whose header was read."""

    raw: Any
    stream: Any  # unpacked and in UTF-8
    header: Header

    def close(self) -> None:
        self.raw.close()


class CsvFile:
    """A text file, or standard input, that is read from the start each time it is opened."""

    is_text = True
    _is_warned = False

    def __init__(self, label: str, opened: Callable[[], Any], dialect: Dialect, size: int | None) -> None:
        self.label, self._opened, self._dialect = label, opened, dialect
        self.size = size  # bytes on disk, packed or not
        begun = self._begun()
        self.names = begun.header.names
        self._only = begun if size is None else None  # of a stream, which cannot be opened again
        if size is not None:
            begun.close()

    @property
    def hint(self) -> str:
        """What else may be wrong where a column is not found."""
        other = other_delimiter(self.names, self._dialect.delimiter)
        return "" if other is None else f" (are columns separated by {other!r}? then --delimiter {other!r})"

    @property
    def n_rows(self) -> int | None:
        """About how many rows there are, from the length of the first ones; None where nobody can know."""
        if self.size is None:
            return None
        raw = self._opened()
        with closing_quietly(raw):
            packed = raw.read(SAMPLE)
        n_lines = n_bytes = 0
        with contextlib.suppress(OSError, pa.ArrowException):  # of a packed sample, the end is missing
            stream = unpacked(io.BytesIO(packed))
            while piece := stream.read(PIECE):
                n_lines, n_bytes = n_lines + piece.count(b"\n"), n_bytes + len(piece)
        if packed and not n_bytes:
            return None
        n_lines = max(0, n_lines - self._dialect.has_names)
        return n_lines if len(packed) < SAMPLE else round(n_lines * self.size / len(packed))

    def empty(self, names: Sequence[str]) -> pa.RecordBatch:
        """No rows of these columns."""
        return pa.RecordBatch.from_arrays([pa.array([], pa.string()) for _ in names], list(names))

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Blocks of rows with these columns, or all, as text; nothing is taken for missing yet."""
        begun = self._only or self._begun()
        wanted = self.names if names is None else list(names)
        stream = Joined(begun.header.rest, begun.stream)
        with closing_quietly(begun):
            yield from self._parsed(stream, wanted)
        if stream.n_quotes % 2 and not self._is_warned:
            self._is_warned = True
            warnings.warn(
                f"{self.label} has an odd number of quotes: one that is opened and not closed hides the rows behind it",
                stacklevel=2,
            )

    def _begun(self) -> Begun:
        raw = self._opened()
        with readable(self.label):
            stream = in_utf8(unpacked(raw), self._dialect.encoding)
            header = read_header(stream, self._dialect.delimiter, self.label, self._dialect.has_names)
        return Begun(raw, stream, header)

    def _parsed(self, stream: Joined, wanted: list[str]) -> Iterator[pa.RecordBatch]:
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
            finally:  # after an error too, threads of pyarrow read ahead: at the exit that would hang or abort
                stream.is_ended = True
                reader.close()
                del reader


@contextlib.contextmanager
def readable(label: str, ragged: Sequence[Any] = ()) -> Iterator[None]:
    """Errors of the reader, told in our words."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError, EOFError) as error:
        raise Failure(_told(label, str(error), ragged)) from error


def _told(label: str, message: str, ragged: Sequence[Any]) -> str:
    if ragged:
        row = ragged[0]
        text = row.text if len(row.text) <= 60 else row.text[:60] + "..."
        return (
            f"a row of {label} has {row.actual_columns} fields and the header {row.expected_columns}: {text!r}; "
            "values that hold the delimiter must be quoted, and all rows have the same fields"
        )
    if "straddling" in message:
        return f"a row of {label} is longer than {BLOCK} bytes; a quote that is opened and never closed makes one"
    if re.search("invalid UTF8|codec can't decode|cannot decode", message):
        return f"{label} holds bytes that are no text in this encoding; say what it is in, such as --encoding latin-1"
    return f"{label} cannot be read: {message}"
