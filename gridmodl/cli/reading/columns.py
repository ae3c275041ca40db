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
from gridmodl.cli.outputs import temporary_folder
from gridmodl.cli.reading.csvfiles import CsvFile
from gridmodl.cli.reading.engine import ROWS, identifier, literal, path_literal
from gridmodl.cli.reading.sources import Source, parts_of
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

MANY = 256  # columns of text from which on numbers are read many columns at a time

TEXT = pa.dictionary(pa.int32(), pa.string())

# Types of DuckDB; those with a time zone have microseconds only.
SQL_TYPES = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.bool_(): "BOOLEAN", pa.date32(): "DATE"}
TIMES = {
    pa.timestamp("s"): "TIMESTAMP_S", pa.timestamp("ms"): "TIMESTAMP_MS", pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("ns"): "TIMESTAMP_NS", pa.timestamp("us", "UTC"): "TIMESTAMPTZ",
}  # fmt: skip
SPACES = "".join(c for c in map(chr, range(0x3001)) if c.isspace())


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

    def add_numbers(self, numbers: pa.Array) -> bool:
        """Add a piece that was read as integers or floats; return False where the column is none of numbers."""
        if self.types is not None and self.types[:1] not in (NUMBERS[:1], NUMBERS[1:]):
            return False
        self.types = NUMBERS if numbers.type == pa.int64() and self.types != NUMBERS[1:] else NUMBERS[1:]
        self.chunks.append(numbers)
        return True

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
    n_rows = 0
    for batch in sample_rows(source.batches(names), reading.n_rows, reading.seed):
        added = _add_numbers(columns, batch, reading.nulls) if source.is_text and len(names) >= MANY else ()
        for name, piece in zip(names, batch.columns, strict=True):
            if name not in added:
                columns[name].add(piece)
        n_rows += batch.num_rows
        reading.tell(n_rows)
    return columns


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
            numbers = _as_type(pa.concat_arrays(texts), kind) if texts else None
            if numbers is None:
                continue
            for k, i in enumerate(places.tolist()):
                if columns[some[i]].add_numbers(numbers.slice(k * batch.num_rows, batch.num_rows)):
                    added.add(some[i])
    return added


class CountedFrame(NamedTuple):
    """Relation of DuckDB, and an empty array in the type of each of its columns."""

    relation: Any
    types: dict[str, pa.Array]


def countable_names(source: Source, names: Sequence[str]) -> list[str]:
    """Those of the columns `names` that DuckDB can count as this program reads them.

    None of files that it cannot open more than once. Not nested ones, durations and ordered dictionaries; of names that
    differ in upper and lower case only, the first; none that is a star, which means all columns.
    """
    if not all(part.is_countable for part in parts_of(source)):
        return []
    kinds = {field.name: field.type for field in source.empty(names).schema}
    first = {name.lower(): name for name in reversed(names)}
    is_named = {name: first[name.lower()] == name and name != "*" for name in names}
    return [name for name in names if _sql_type(kinds[name]) is not None and is_named[name]]


def _sql_type(kind: pa.DataType) -> str | None:
    """Type of DuckDB for a type of pyarrow; empty for one that it reads as such, None for one that it lacks."""
    if pa.types.is_dictionary(kind) and not kind.ordered:
        kind = kind.value_type
    if pa.types.is_timestamp(kind):
        return TIMES.get(kind)
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string, pa.types.is_decimal,
             pa.types.is_large_string, pa.types.is_date32)  # fmt: skip
    return "" if any(test(kind) for test in tests) else None


def counted_frame(source: Source, names: Sequence[str], reading: ReadSettings, connection: Any) -> CountedFrame:
    """The columns `names` as a relation of DuckDB, in the types of `read_columns`; those of other types are left out.

    Text is read twice, to find its types and to write it as Parquet to a temporary file, which is counted.
    """
    codes = {name: f"c{source.names.index(name)}" for name in names}
    if source.is_text:
        kinds = _text_kinds(source, names, reading)
        kinds = {name: kind for name, kind in kinds.items() if _sql_type(kind) is not None}
        values = {codes[name]: _sql_value(codes[name], kind, reading.nulls) for name, kind in kinds.items()}
        table = _read_parquet(_written(source, list(kinds), values, connection))
    else:
        kinds = {field.name: field.type for field in source.empty(names).schema}
        all_codes = ", ".join(f"c{i}" for i in range(len(source.names)))
        table = f"{_read_parquet([str(part.path) for part in parts_of(source)])} AS t({all_codes})"
    columns = [f"{_cast(codes[name], _sql_type(kind))} AS {identifier(name)}" for name, kind in kinds.items()]
    relation = connection.sql(f"SELECT {', '.join(columns)} FROM {table}")  # noqa: S608  literals and identifiers
    return CountedFrame(relation, {name: pa.array([], kind) for name, kind in kinds.items()})


def _written(source: Source, names: list[str], values: dict[str, str], connection: Any) -> list[str]:
    """Write the expressions `values` of the columns `names` of each text file as Parquet; return the paths."""
    folder, paths = temporary_folder(), []
    columns = ", ".join(f"{value} AS {code}" for code, value in values.items())
    for i, part in enumerate(parts_of(source)):
        assert isinstance(part, CsvFile)  # noqa: S101  for mypy
        paths.append(str(folder / f"{i}.parquet"))
        with part.scan(names) as query:
            rows = f"SELECT {columns} FROM ({query})"  # noqa: S608  numbers and literals
            connection.execute(f"COPY ({rows}) TO {literal(paths[-1])} (FORMAT parquet)")
    return paths


def _cast(code: str, kind: str | None) -> str:
    return f"CAST({code} AS {kind})" if kind else code


def _read_parquet(paths: Sequence[str]) -> str:
    return f"read_parquet([{', '.join(map(path_literal, paths))}], hive_partitioning=false)"


def _text_kinds(source: Source, names: Sequence[str], reading: ReadSettings) -> dict[str, pa.DataType]:
    """Type of each column of a text file, which all its values have."""
    columns = {name: TextColumn(reading.nulls, name in reading.as_text) for name in names}
    n_rows = 0
    for batch in source.batches(names):
        for name, column in columns.items():
            if column.types != ():
                column.add(batch.column(name))
                column.chunks.clear()
        n_rows += batch.num_rows
        reading.tell(n_rows)
    return {name: column.kind for name, column in columns.items()}


def _sql_value(code: str, kind: pa.DataType, nulls: Iterable[str]) -> str:
    """Expression for the value of a column of text of which all values have the type `kind`."""
    missing = ", ".join(map(literal, nulls))
    text = f"CASE WHEN {code} IN ({missing}) THEN NULL ELSE {code} END"
    if kind == TEXT:
        return text
    text = f"trim({code}, {literal(SPACES)})"
    text = f"CASE WHEN {code} IN ({missing}) OR {text} IN ({missing}) THEN NULL ELSE {text} END"
    if pa.types.is_boolean(kind):
        return f"lower({text}) = 'true'"
    if pa.types.is_timestamp(kind):  # DuckDB wants minutes
        text = rf"regexp_replace({text}, '^(\d+-\d+-\d+[ T]\d\d)($|Z|[+-])', '\1:00\2')"
    return _cast(text, SQL_TYPES.get(kind) or TIMES[kind])


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
