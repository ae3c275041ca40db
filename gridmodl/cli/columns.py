"""Columns of a data file as typed values in memory.

The text of a column gets the narrowest type that fits all of it. Types come in families, narrow ones first; in a family
every value of one type is a value of the next. A column that is read in pieces can therefore go on to a wider type of
its family, but not to another family: then it is text and has to be read again, because 7 is not written ``007``.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gridmodl.cli.messages import Failure
from gridmodl.cli.options import number_of
from gridmodl.cli.sources import ROWS, Source
from gridmodl.data.frames import object_array
from gridmodl.model.partition import Partition

NULLS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "Null", "null", "None",
    "NaT", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip

NUMBERS = (pa.int64(), pa.float64())
BOOLEANS = (pa.bool_(),)
DATES = (pa.date32(), *(pa.timestamp(unit) for unit in ("s", "us", "ns")))
MOMENTS = tuple(pa.timestamp(unit, "UTC") for unit in ("s", "us", "ns"))  # with a time zone
FAMILIES = (NUMBERS, BOOLEANS, DATES, MOMENTS)

TEXT = pa.dictionary(pa.int32(), pa.string())


class TypedText(NamedTuple):
    """Values of a text, and the types that may still fit the rest of the column."""

    values: pa.Array
    types: tuple[pa.DataType, ...]


def with_nulls(text: pa.Array, nulls: Iterable[str]) -> pa.Array:
    """Replace each text in `nulls` by null."""
    is_null = pc.is_in(text, value_set=pa.array(list(nulls), pa.string()))
    return pc.if_else(is_null, pa.scalar(None, pa.string()), text)


def typed_values(text: pa.Array, families: Iterable[tuple[pa.DataType, ...]], nulls: Iterable[str]) -> TypedText | None:
    """Convert the text to the first type of a family that fits all of it; None if no type does.

    Spaces around numbers and dates are ignored.
    """
    families = list(families)
    fit = _exactly(text, families)
    if fit is not None:
        return fit
    trimmed = pc.utf8_trim_whitespace(text)
    return None if trimmed.equals(text) else _exactly(with_nulls(trimmed, nulls), families)


def _exactly(text: pa.Array, families: Iterable[tuple[pa.DataType, ...]]) -> TypedText | None:
    for family in families:
        for i, narrow in enumerate(family):
            values = _as_type(text, narrow)
            if values is not None:
                return TypedText(values, family[i:])
    return None


def _as_type(text: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if pa.types.is_boolean(wanted):  # a cast would take 0 and 1 too
        lower = pc.utf8_lower(text)
        is_word = pc.is_in(lower, value_set=pa.array(["true", "false", None]))
        return pc.equal(lower, "true") if pc.all(is_word).as_py() else None
    try:
        return text.cast(wanted)
    except pa.ArrowInvalid:
        return None


class TextColumn:
    """Column of a text file, read piece by piece."""

    def __init__(self, nulls: Iterable[str], as_text: bool = False) -> None:
        self.nulls = list(nulls)
        self.types: tuple[pa.DataType, ...] | None = () if as_text else None  # None: all values so far are missing
        self.chunks: list[Any] = []
        self.is_spoilt = False  # was read as numbers or dates but is text: read it again

    def add(self, text: pa.Array) -> None:
        if self.is_spoilt:
            return
        text = with_nulls(text, self.nulls)
        if self.types == ():
            self.chunks.append(text.dictionary_encode())
        elif text.null_count == len(text):
            self.chunks.append(pa.nulls(len(text)))
        else:
            self._add_values(text)

    def _add_values(self, text: pa.Array) -> None:
        fit = typed_values(text, FAMILIES if self.types is None else [self.types], self.nulls)
        if fit is not None:
            self.chunks.append(fit.values)
            self.types = fit.types
        elif self.types is None:
            self.types = ()
            self.chunks.append(text.dictionary_encode())
        else:
            self.is_spoilt = True
            self.chunks.clear()

    def finished(self) -> pa.ChunkedArray:
        """Join the pieces in one type; float if all values are missing."""
        kind = pa.float64() if self.types is None else self.types[0] if self.types else TEXT
        chunks = [pa.nulls(len(c), kind) if pa.types.is_null(c.type) else c.cast(kind, safe=False) for c in self.chunks]
        return pa.chunked_array(chunks, kind).unify_dictionaries()


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
    n_rows = 0
    for batch in sample_rows(source.batches(names), reading.n_rows, reading.seed):
        for name in names:
            columns[name].add(batch.column(name))
        n_rows += batch.num_rows
        reading.tell(n_rows)
    return columns


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


def values_for(partition: Partition, text: pa.Array, nulls: Iterable[str], label: str, n_before: int) -> Any:
    """Read new text in the type that the column had when the model was made.

    `n_before` rows of the file came before this text; error messages count from there.
    """
    if partition.kind != "numerical":
        return _categories(partition, text, nulls)
    families, what = _families(partition)
    text = with_nulls(text, nulls)
    fit = typed_values(text, families, nulls)
    if fit is not None:
        return fit.values
    i = _first_unfit(text, lambda some: typed_values(some, families, nulls) is not None)
    value = text[i].as_py()
    if typed_values(text[i : i + 1], families, nulls) is None:
        raise Failure(
            f"row {n_before + i + 1} of {label} has {value!r} in column {partition.name!r}, where the "
            f"model has {what}; --null {value!r} would take it as missing"
        )
    raise Failure(
        f"column {partition.name!r} of {label} mixes {what} of several kinds, which cannot be compared: row "
        f"{n_before + i + 1} has {value!r}, which is not as the rows before it"
    )


def _first_unfit(text: pa.Array, fits: Callable[[pa.Array], bool]) -> int:
    """Find by bisection the first value that does not fit together with the values before it; not all values fit."""
    low, high = 0, len(text)  # the first `low` values fit, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        if fits(text[:middle]):
            low = middle
        else:
            high = middle
    return low


def _families(partition: Partition) -> tuple[list[tuple[pa.DataType, ...]], str]:
    kind = partition.bounds.dtype.kind
    if kind == "M":
        return ([MOMENTS], "moments with a time zone") if partition.is_utc else ([DATES], "dates")
    if kind == "m":
        raise Failure(f"column {partition.name!r} has durations, which text files do not hold; use Parquet or Arrow")
    return [NUMBERS, BOOLEANS], "numbers"


def _categories(partition: Partition, text: pa.Array, nulls: Iterable[str]) -> np.ndarray:
    """Map each text to the category it stands for; a category of the model is never read as missing."""
    known = [value for group in partition.groups for value in group if value is not None]
    names = {value for value in known if isinstance(value, str)}
    encoded = with_nulls(text, [spelling for spelling in nulls if spelling not in names]).dictionary_encode()
    read = _reader(known)
    values = object_array([*map(read, encoded.dictionary.to_pylist()), None])
    return values[encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)]


def _reader(known: list[Any]) -> Callable[[str], Any]:
    """Make a function that maps a text to one of the `known` values; other texts stay texts, which are unknown."""
    if all(isinstance(value, str) for value in known):
        return str
    by_text = {str(value): value for value in known}
    if any(isinstance(value, (bool, np.bool_)) for value in known):
        by_text |= {"true": True, "false": False}
    has_numbers = any(isinstance(value, numbers.Number) and not isinstance(value, bool) for value in known)

    def read(text: str) -> Any:
        for spelling in (text, text.lower()):
            if spelling in by_text:
                return by_text[spelling]
        return number_of(text) if has_numbers else text

    return read
