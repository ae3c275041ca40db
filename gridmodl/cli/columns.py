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
from gridmodl.frames import object_array
from gridmodl.partition import Partition

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


class Fit(NamedTuple):
    """Text as values, and the types that may still fit the rest of the column."""

    values: pa.Array
    types: tuple[pa.DataType, ...]


def nullified(text: pa.Array, nulls: Iterable[str]) -> pa.Array:
    """The text, missing where it is one of the spellings of nothing."""
    is_null = pc.is_in(text, value_set=pa.array(list(nulls), pa.string()))
    return pc.if_else(is_null, pa.scalar(None, pa.string()), text)


def fitted(text: pa.Array, families: Iterable[tuple[pa.DataType, ...]], nulls: Iterable[str]) -> Fit | None:
    """The text as values of the first type that all of it fits, in a family; None if it is just text.

    Spaces around numbers and dates mean nothing.
    """
    families = list(families)
    fit = _exactly(text, families)
    if fit is not None:
        return fit
    trimmed = pc.utf8_trim_whitespace(text)
    return None if trimmed.equals(text) else _exactly(nullified(trimmed, nulls), families)


def _exactly(text: pa.Array, families: Iterable[tuple[pa.DataType, ...]]) -> Fit | None:
    for family in families:
        for i, narrow in enumerate(family):
            values = _as_type(text, narrow)
            if values is not None:
                return Fit(values, family[i:])
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
    """A column of a text file while it is read, piece by piece."""

    def __init__(self, nulls: Iterable[str], as_text: bool = False) -> None:
        self.nulls = list(nulls)
        self.types: tuple[pa.DataType, ...] | None = () if as_text else None  # None: all is missing so far
        self.chunks: list[Any] = []
        self.is_spoilt = False  # what was taken for numbers is text, and has to be read again

    def add(self, text: pa.Array) -> None:
        if self.is_spoilt:
            return
        text = nullified(text, self.nulls)
        if self.types == ():
            self.chunks.append(text.dictionary_encode())
        elif text.null_count == len(text):
            self.chunks.append(pa.nulls(len(text)))
        else:
            self._add_values(text)

    def _add_values(self, text: pa.Array) -> None:
        fit = fitted(text, FAMILIES if self.types is None else [self.types], self.nulls)
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
        """All pieces in one type; numbers where all is missing."""
        kind = pa.float64() if self.types is None else self.types[0] if self.types else TEXT
        chunks = [pa.nulls(len(c), kind) if pa.types.is_null(c.type) else c.cast(kind, safe=False) for c in self.chunks]
        return pa.chunked_array(chunks, kind).unify_dictionaries()


class TypedColumn:
    """A column of a file that knows its types, while it is read; text is kept as numbers of its distinct values."""

    is_spoilt = False

    def __init__(self, kind: pa.DataType) -> None:
        self.is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        self.kind = pa.dictionary(pa.int32(), kind) if self.is_text else kind
        self.chunks: list[Any] = []

    def add(self, values: pa.Array) -> None:
        self.chunks.append(values.dictionary_encode() if self.is_text else values)

    def finished(self) -> pa.ChunkedArray:
        return pa.chunked_array(self.chunks, self.kind).unify_dictionaries()


class Reading(NamedTuple):
    """How columns are read."""

    nulls: Iterable[str] = NULLS
    as_text: Collection[str] = ()  # columns of a text file whose values are names, whatever they look like
    n_rows: int | None = None  # of a sample
    seed: int | None = 0
    tell: Callable[[int], Any] = lambda n_rows: None  # is told how many rows were read


def gathered(source: Source, names: Sequence[str], reading: Reading) -> dict[str, pa.ChunkedArray]:
    """These columns, in this order; what was taken for numbers and is not, is read again as text."""
    columns = _read(source, names, reading)
    spoilt = [name for name in names if columns[name].is_spoilt]
    if spoilt:
        columns |= _read(source, spoilt, reading._replace(as_text=spoilt))
    return {name: columns[name].finished() for name in names}


def _read(source: Source, names: Sequence[str], reading: Reading) -> dict[str, Any]:
    columns: dict[str, Any]
    if source.is_text:
        columns = {name: TextColumn(reading.nulls, name in reading.as_text) for name in names}
    else:
        columns = {field.name: TypedColumn(field.type) for field in source.empty(names).schema}
    n_rows = 0
    for batch in sampled(source.batches(names), reading.n_rows, reading.seed):
        for name in names:
            columns[name].add(batch.column(name))
        n_rows += batch.num_rows
        reading.tell(n_rows)
    return columns


def sampled(batches: Iterable[pa.RecordBatch], n_rows: int | None, seed: int | None) -> Iterator[pa.RecordBatch]:
    """At most `n_rows` rows, drawn at random; all if it is None. The same seed draws the same rows of the same file."""
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
    """Those rows whose random keys are the lowest so far: these are a sample of all that was seen."""
    if len(keys) <= n_rows:
        return kept, keys, places
    chosen = np.argpartition(keys, n_rows)[:n_rows]
    rows = pa.Table.from_batches(kept).take(chosen)
    return rows.to_batches(), keys[chosen], places[chosen]


def values_for(partition: Partition, text: pa.Array, nulls: Iterable[str], label: str, n_before: int) -> Any:
    """A column of text as what the partition is of; `n_before` rows of the file came before it."""
    if partition.kind == "categorical":
        return _categories(partition, text, nulls)
    families, what = _families(partition)
    text = nullified(text, nulls)
    fit = fitted(text, families, nulls)
    if fit is not None:
        return fit.values
    i = _first_unfit(text, lambda some: fitted(some, families, nulls) is not None)
    value = text[i].as_py()
    if fitted(text[i : i + 1], families, nulls) is None:
        raise Failure(
            f"row {n_before + i + 1} of {label} has {value!r} in column {partition.name!r}, where the "
            f"model has {what}; --null {value!r} would take it as missing"
        )
    raise Failure(
        f"column {partition.name!r} of {label} mixes {what} of several kinds, which cannot be compared: row "
        f"{n_before + i + 1} has {value!r}, which is not as the rows before it"
    )


def _first_unfit(text: pa.Array, fits: Callable[[pa.Array], bool]) -> int:
    """The first value that does not fit in with those before it, where not all of them fit; in a few looks."""
    low, high = 0, len(text)  # so many of the first values fit, and so many do not
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
    """Each text as the value that it stands for; a name that the model knows is no missing value."""
    known = [value for group in partition.groups for value in group if value is not None]
    names = {value for value in known if isinstance(value, str)}
    encoded = nullified(text, [spelling for spelling in nulls if spelling not in names]).dictionary_encode()
    read = _reader(known)
    values = object_array([*map(read, encoded.dictionary.to_pylist()), None])
    return values[encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)]


def _reader(known: list[Any]) -> Callable[[str], Any]:
    """How a text is read where these values are known; one that can be none of them stays a text, and unknown."""
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
