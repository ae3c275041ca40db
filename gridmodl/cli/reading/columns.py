"""Columns of a data file as typed values in memory.

The text of a column gets the narrowest type that fits all of it. A column that is read in pieces can go on to a wider
type of its family, but not to another family: then it is text and has to be read again, because 7 is not written
``007``. How the file is cut into pieces makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gridmodl.cli.reading.engine import ROWS
from gridmodl.cli.reading.sources import Source
from gridmodl.cli.reading.texts import FAMILIES, NULLS, NUMBERS, as_type, typed_values, with_nulls

MANY = 256  # columns of text from which on numbers are read many columns at a time

TEXT = pa.dictionary(pa.int32(), pa.string())


class TextColumn:
    """Column of a text file, read piece by piece."""

    def __init__(self, nulls: Iterable[str], as_text: bool = False) -> None:
        self.nulls = list(nulls)
        self.types: tuple[pa.DataType, ...] | None = () if as_text else None  # None: all values so far are missing
        self.chunks: list[Any] = []
        self.has_blanks = False  # some values are only spaces, which are missing, but not in text
        self.is_spoilt = False  # was read as numbers, dates or missing but is text: read it again

    def add(self, text: pa.Array) -> None:
        if self.is_spoilt:
            return
        text = with_nulls(text, self.nulls)
        fit = None
        if self.types != ():
            fit = typed_values(text, FAMILIES if self.types is None else [self.types], self.nulls)
        if fit is None:
            self._add_text(text)
        elif fit.types is None:
            self.has_blanks = self.has_blanks or text.null_count < len(text)
            self.chunks.append(pa.nulls(len(text)))
        else:
            self.types = fit.types
            self.chunks.append(fit.values)

    def _add_text(self, text: pa.Array) -> None:
        if self.types or self.has_blanks:
            self.is_spoilt = True
            self.chunks.clear()
        else:
            self.types = ()
            self.chunks.append(text.dictionary_encode())

    def add_numbers(self, numbers: pa.Array) -> bool:
        """Add a piece that was read as integers or floats; return False where the column is none of numbers."""
        if self.types is not None and self.types[:1] not in (NUMBERS[:1], NUMBERS[1:]):
            return False
        self.types = NUMBERS if numbers.type == pa.int64() and self.types != NUMBERS[1:] else NUMBERS[1:]
        self.chunks.append(numbers)
        return True

    @property
    def kind(self) -> pa.DataType:
        """Type of all pieces so far; float if all values are missing."""
        if self.is_spoilt or self.types == ():
            return TEXT
        return pa.float64() if self.types is None else self.types[0]

    def finished(self) -> pa.ChunkedArray:
        """Join the pieces in one type."""
        kind = self.kind
        chunks = [pa.nulls(len(c), kind) if pa.types.is_null(c.type) else c for c in self.chunks]
        joined = pa.chunked_array([c if c.type == kind else c.cast(kind, safe=False) for c in chunks], kind)
        return joined.unify_dictionaries() if kind == TEXT else joined


class TypedColumn:
    """Column of a typed file, read piece by piece; text is dictionary-encoded."""

    is_spoilt = False

    def __init__(self, kind: pa.DataType) -> None:
        self.is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        self.kind = pa.dictionary(pa.int32(), kind) if self.is_text else kind
        self.chunks: list[Any] = []

    def add(self, values: pa.Array) -> None:
        self.chunks.append(values.dictionary_encode() if self.is_text else values)

    def finished(self) -> pa.ChunkedArray:
        joined = pa.chunked_array(self.chunks, self.kind)
        return joined if getattr(self.kind, "ordered", False) else joined.unify_dictionaries()


class ReadSettings(NamedTuple):
    """Settings of `read_columns`."""

    nulls: Iterable[str] = NULLS
    as_text: Collection[str] = ()  # columns of a text file to read as text even if all values are numbers
    n_rows: int | None = None  # size of a random sample; None for all rows
    seed: int | None = 0
    tell: Callable[[int], Any] = lambda n_rows: None  # called with the number of rows read so far


def read_columns(source: Source, names: Sequence[str], reading: ReadSettings) -> dict[str, pa.ChunkedArray]:
    """Read the columns `names`, in this order; a column that starts as numbers and is text is read a second time."""
    columns = _read(source, names, reading)
    spoilt = [name for name in names if columns[name].is_spoilt]
    if spoilt:
        columns |= _read(source, spoilt, reading._replace(as_text=spoilt))
    return {name: columns[name].finished() for name in names}


def _read(source: Source, names: Sequence[str], reading: ReadSettings) -> dict[str, Any]:
    columns: dict[str, Any]
    if source.is_text:
        columns = {name: TextColumn(reading.nulls, name in reading.as_text) for name in names}
    else:
        columns = {field.name: TypedColumn(field.type) for field in source.empty(names).schema}
    for batch in told(sample_rows(source.batches(names), reading.n_rows, reading.seed), reading):
        added = _add_numbers(columns, batch, reading.nulls) if source.is_text and len(names) >= MANY else ()
        for name, piece in zip(names, batch.columns, strict=True):
            if name not in added:
                columns[name].add(piece)
    return columns


def told(batches: Iterable[pa.RecordBatch], reading: ReadSettings) -> Iterator[pa.RecordBatch]:
    """The batches; after each, the number of rows so far is told."""
    n_rows = 0
    for batch in batches:
        yield batch
        n_rows += batch.num_rows
        reading.tell(n_rows)


def _add_numbers(columns: dict[str, Any], batch: pa.RecordBatch, nulls: Iterable[str]) -> set[str]:
    """Add the pieces of columns that are integers or floats, many columns at a time; return their names."""
    names, pieces, added = batch.schema.names, batch.columns, set()
    for start in range(0, len(names) if batch.num_rows else 0, MANY):
        some = names[start : start + MANY]
        cells = with_nulls(pa.concat_arrays(pieces[start : start + MANY]), nulls)
        shape = (len(some), batch.num_rows)
        is_filled = pc.is_valid(cells).to_numpy(zero_copy_only=False).reshape(shape).any(axis=1)
        is_digits = pc.fill_null(pc.match_substring_regex(cells, "^-?[0-9]{1,18}$"), True)
        is_whole = is_digits.to_numpy(zero_copy_only=False).reshape(shape).all(axis=1)
        for kind, chosen in zip(NUMBERS, (is_filled & is_whole, is_filled & ~is_whole), strict=True):
            places = np.flatnonzero(chosen)
            texts = [cells.slice(i * batch.num_rows, batch.num_rows) for i in places.tolist()]
            numbers = as_type(pa.concat_arrays(texts), kind) if texts else None
            if numbers is None:
                continue
            for k, i in enumerate(places.tolist()):
                if columns[some[i]].add_numbers(numbers.slice(k * batch.num_rows, batch.num_rows)):
                    added.add(some[i])
    return added


def sample_rows(batches: Iterable[pa.RecordBatch], n_rows: int | None, seed: int | None) -> Iterator[pa.RecordBatch]:
    """Draw at most `n_rows` rows, each with the same chance, in one pass and in their order; None takes all rows.

    The same seed draws the same rows of the same file.
    """
    if n_rows is None:
        yield from batches
        return
    rng = np.random.default_rng(seed)
    kept: list[pa.RecordBatch] = []
    keys, places, n_seen = np.empty(0), np.empty(0, dtype=np.int64), 0
    for batch in batches:
        drawn = rng.random(batch.num_rows)
        kept.append(batch)
        keys, places = np.append(keys, drawn), np.append(places, n_seen + np.arange(batch.num_rows))
        n_seen += batch.num_rows
        if len(keys) > 2 * n_rows + ROWS:
            kept, keys, places = _lowest(kept, keys, places, n_rows)
    kept, keys, places = _lowest(kept, keys, places, n_rows)
    if kept:
        rows = pa.Table.from_batches(kept).take(np.argsort(places))
        yield from rows.to_batches(max_chunksize=ROWS)


def _lowest(
    kept: list[pa.RecordBatch], keys: np.ndarray, places: np.ndarray, n_rows: int
) -> tuple[list[pa.RecordBatch], np.ndarray, np.ndarray]:
    """Keep the `n_rows` rows with the lowest random keys: they are a sample of all rows seen so far."""
    if len(keys) <= n_rows:
        return kept, keys, places
    chosen = np.argpartition(keys, n_rows)[:n_rows]
    rows = pa.Table.from_batches(kept).take(chosen)
    return rows.to_batches(), keys[chosen], places[chosen]
