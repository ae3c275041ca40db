"""Counts of columns: rows of each value, or span of values, and class. They add up, and are kept in Parquet files.

A file has one row; each column of the data is a column of it, a list of records: the lowest and the highest value of a
span, its class and its rows. What else is known is JSON in the metadata of the file. Nothing is unpickled.
"""

from __future__ import annotations

import datetime
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import narwhals as nw

from gridmodl.data.frames import Name
from gridmodl.data.remote.edges import Edges, Range
from gridmodl.data.remote.queries import (
    APART,
    BUCKET,
    CLASS,
    HIGH,
    LOW,
    RARE,
    ROWS,
    TARGET_BUCKET,
    TARGET_HIGH,
    TARGET_SUM,
)
from gridmodl.spelling import check_columns
from gridmodl.writing import replaced

VERSION = 1
METADATA = b"gridmodl counts"  # key in the metadata of a Parquet file
FIELDS = {LOW: "low", HIGH: "high", CLASS: "class", ROWS: "n", BUCKET: "bucket"}  # names of columns in files
OF_TARGET = {TARGET_BUCKET: "target_bucket", TARGET_HIGH: "target_high", TARGET_SUM: "target_sum"}
MAX_ROWS = 2**53 - 1
MAX_RANGES = 2**20  # of one column in a file


@dataclass(frozen=True)
class ColumnCounts:
    """Counts of one column: a pyarrow table with the columns of FIELDS, and of OF_TARGET if the target has edges."""

    table: Any
    edges: Edges = ()  # none if all values were counted one by one
    apart: tuple[Any, ...] = ()  # special values, which are counted by value
    rare: str | None = None  # name of all categories but the `frequent` ones, which are counted together as RARE
    frequent: frozenset[Any] | None = None

    @property
    def resolution(self) -> int:
        """Rows of the largest span of several values; 0 if there is none."""
        spans = nw.from_native(self.table, eager_only=True).filter(nw.col(BUCKET) != APART, nw.col(LOW) != nw.col(HIGH))
        return int(spans.group_by(BUCKET).agg(nw.col(ROWS).sum())[ROWS].max()) if len(spans) else 0

    @property
    def n_spans(self) -> int:
        """Number of values and spans that were counted."""
        import pyarrow as pa

        low, bucket = (_one_chunk(self.table[name]) for name in (LOW, BUCKET))
        # Groups of codes are found five times as fast as those of texts.
        codes = low if pa.types.is_dictionary(low.type) else low.dictionary_encode(null_encoding="encode")
        keys = pa.table({LOW: codes.indices, BUCKET: bucket})
        return int(keys.group_by([LOW, BUCKET], use_threads=False).aggregate([]).num_rows)


@dataclass(frozen=True, eq=False)
class Counts(Mapping[Name, Any]):
    """Rows of each value, or span of values, and class, of some columns of a table; made by `gridmodl.count`.

    A mapping from the names of the columns to pyarrow tables with the columns ``low``, ``high``, ``class`` and ``n``: a
    span of values from ``low`` to ``high``, a single value if these are equal, and its rows of one class. If the target
    is numerical and has many values, ``class`` and ``target_high`` are the ends of a span of the target and
    ``target_sum`` is the sum of the target in these rows. If a column has so many categories that rare ones are counted
    together, ``is_rare`` marks their rows, whose ``low`` and ``high`` are null.

    Counts of different rows with equal edges add up: ``yesterday + count(today, "y", like=yesterday)``.

    Attributes
    ----------
    target : str
        Name of the target.
    n_rows : int
        Number of rows that were counted; weights count.
    max_groups : int
        Most values, or spans of values, that one query asked for.
    columns : dict of str to ColumnCounts
        By column: its table as it was counted, and the edges of its spans; of very many categories the `frequent` ones,
        and the name of the `rare` ones, which were counted together.
    target_edges : tuple
        Edges of the spans of a numerical target; empty if its values were counted one by one.
    target_kind : str or None
        As it was given to `gridmodl.count`.
    resolution : dict of str to int
        By column: the rows of its largest span of several values; 0 if every value was counted, so that models of the
        counts are those of the rows.
    errors : dict of str to Exception
        Columns that could not be counted.

    Examples
    --------
    >>> import gridmodl
    >>> monday = gridmodl.count({"size": [1, 1, 7], "y": ["no", "no", "yes"]}, "y")
    >>> tuesday = gridmodl.count({"size": [2, 8], "y": ["no", "yes"]}, "y", like=monday)
    >>> monday + tuesday
    Counts(5 rows, target 'y', columns: 'size' (4 values))
    >>> gridmodl.optimize(monday + tuesday).partitions["size"].labels
    ['(-inf, inf)']
    """

    target: Name
    n_rows: int
    max_groups: int
    columns: Mapping[Name, ColumnCounts] = field(repr=False)
    target_edges: Edges = field(default=(), repr=False)
    target_kind: str | None = None
    errors: Mapping[Name, Exception] = field(default_factory=dict)

    def __getitem__(self, name: Name) -> Any:
        table, rare = self.columns[name].table, self.columns[name].rare
        shown = {LOW: "low", HIGH: "high", CLASS: "class", TARGET_HIGH: "target_high", TARGET_SUM: "target_sum"}
        shown = {inner: word for inner, word in {**shown, ROWS: "n"}.items() if inner in table.column_names}
        found = table.select(list(shown)).rename_columns(list(shown.values()))
        if rare is None:
            return found
        import pyarrow.compute as pc

        return found.append_column("is_rare", pc.equal(table[BUCKET], RARE))

    def __iter__(self) -> Iterator[Name]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.notebook import counts_html

        return counts_html(self)

    def __repr__(self) -> str:
        listed = [self._described(name) for name in list(self)[:10]] + ["..."] * (len(self) > 10)
        return f"Counts({self.n_rows} rows, target {self.target!r}, columns: {', '.join(listed)})"

    def _described(self, name: Name) -> str:
        """Name of a column, with its values or spans."""
        n, resolution = self.columns[name].n_spans, self.columns[name].resolution
        what = f"spans of up to {resolution} rows" if resolution else "values" if n != 1 else "value"
        return f"{name!r} ({n} {what})"

    def only(self, *names: Name) -> Counts:
        """Counts of the columns `names` alone.

        Parameters
        ----------
        *names : str
        """
        check_columns("only()", names, self.columns)
        return replace(self, columns={name: self.columns[name] for name in names}, errors={})

    @property
    def resolution(self) -> dict[Name, int]:
        return {name: column.resolution for name, column in self.columns.items()}

    def __add__(self, other: Any) -> Counts:
        """Counts of the rows of both; ValueError unless columns and edges are equal."""
        if not isinstance(other, Counts):
            return NotImplemented
        self._check_alike(other)
        columns = {name: _added(name, one, other.columns[name]) for name, one in self.columns.items()}
        n_rows = self.n_rows + other.n_rows
        if n_rows > MAX_ROWS:
            raise ValueError(f"the counts add up to {n_rows} rows; {MAX_ROWS} are the most that are counted exactly")
        return replace(self, n_rows=n_rows, columns=columns, errors={**other.errors, **self.errors})

    def _check_alike(self, other: Counts) -> None:
        """Raise ValueError unless other counts have the same target, columns and edges."""
        way_out = "; count the new rows with like=, which uses the edges of earlier counts"
        if (self.target, self.target_kind) != (other.target, other.target_kind):
            raise ValueError(f"counts of the targets {self.target!r} and {other.target!r} do not add up")
        only = set(self) ^ set(other)
        if only:
            raise ValueError(f"counts of different columns do not add up: {next(iter(only))!r} is in one of them only")
        if self.target_edges != other.target_edges:
            raise ValueError(f"the counts cut the target {self.target!r} at different edges{way_out}")
        for name, column in self.columns.items():
            if column.edges != other.columns[name].edges or set(column.apart) != set(other.columns[name].apart):
                raise ValueError(f"the counts cut column {name!r} at different edges{way_out}")
            if (column.rare, column.frequent) != (other.columns[name].rare, other.columns[name].frequent):
                raise ValueError(f"the counts of column {name!r} have other categories that are rare{way_out}")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a Parquet file, which any reader of Parquet can read: a list of records by column.

        An existing file is replaced as a whole or not at all.

        Parameters
        ----------
        path : str or path
        """
        import pyarrow as pa
        import pyarrow.parquet

        arrays = {}
        for name, column in self.columns.items():
            if not isinstance(name, str):
                raise TypeError(f"names of columns in a Parquet file are text, got {name!r}")
            words = {**FIELDS, **(OF_TARGET if self.target_edges else {})}
            table = column.table.select(list(words)).rename_columns(list(words.values()))
            records = table.to_struct_array().combine_chunks() if len(table) else pa.array([], _struct(table.schema))
            arrays[name] = pa.ListArray.from_arrays(pa.array([0, len(table)], pa.int32()), _one_chunk(records))
        facts = {
            "version": VERSION,
            "target": self.target,
            "target_kind": self.target_kind,
            "n_rows": self.n_rows,
            "max_groups": self.max_groups,
            "target_edges": _edges_to_json(self.target_edges),
            "edges": {name: _edges_to_json(column.edges) for name, column in self.columns.items()},
            "apart": {name: [_to_json(one) for one in column.apart] for name, column in self.columns.items()},
            "rare": {name: column.rare for name, column in self.columns.items() if column.rare is not None},
            "frequent": {
                name: [_to_json(value) for value in sorted(column.frequent)]
                for name, column in self.columns.items()
                if column.frequent is not None
            },
        }
        table = pa.table(arrays).replace_schema_metadata({METADATA: json.dumps(facts).encode()})
        with replaced(path) as beside:
            pyarrow.parquet.write_table(table, beside)

    @staticmethod
    def from_parquet(path: str | os.PathLike[str]) -> Counts:
        """Read counts from a Parquet file that `to_parquet` wrote; ValueError says what is wrong with another file.

        Parameters
        ----------
        path : str or path
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet
        except ModuleNotFoundError as error:
            raise ImportError("a file of counts needs pyarrow: pip install 'gridmodl[duckdb]'") from error

        try:
            with open(path, "rb") as file:
                found = pyarrow.parquet.read_table(file)
        except (pa.ArrowException, ValueError) as error:
            raise ValueError(f"{os.fspath(path)!r} is no Parquet file of counts: {error}") from error
        try:
            return _read(found)
        except (
            KeyError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError, pa.ArrowException
        ) as error:  # fmt: skip
            what = f"the field {error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(f"{os.fspath(path)!r} does not hold counts of gridmodl: {what}") from error


def _struct(schema: Any) -> Any:
    import pyarrow as pa

    return pa.struct(list(schema))


def _one_chunk(array: Any) -> Any:
    """An array of pyarrow; of a chunked one, its chunks together."""
    import pyarrow as pa

    if not isinstance(array, pa.ChunkedArray):
        return array
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def arranged(frame: Any) -> Any:
    """The pyarrow table of counts that an engine returned, in one order, without what only queries need."""
    kept = [name for name in (*FIELDS, *OF_TARGET) if name in frame.columns]
    if BUCKET not in frame.columns:
        frame, kept = frame.with_columns(nw.lit(APART).cast(nw.Int64).alias(BUCKET)), [*kept, BUCKET]
    table = frame.select(kept).filter(nw.col(ROWS) > 0).to_native()
    return _sorted(_plain(table))


def _plain(table: Any) -> Any:
    """The table with one type for each kind of values, whatever the engine returned or a file has kept."""
    import pyarrow as pa

    for i, column in enumerate(table.schema):
        if pa.types.is_dictionary(column.type) and column.type.ordered:
            table = table.set_column(i, column.name, _plain_levels(table.column(i)))
    return table.cast(_plain_types(table.schema))


def _plain_levels(column: Any) -> Any:
    """A column of levels in an order, whose texts are of one type."""
    import pyarrow as pa

    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), _long_texts(chunk.dictionary), ordered=True)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks) if chunks else column


def _long_texts(values: Any) -> Any:
    import pyarrow as pa

    return values if pa.types.is_integer(values.type) else values.cast(pa.large_string())


def _plain_types(schema: Any) -> Any:
    """The schema with one type for text, which engines return in many; levels with an order stay.

    Times of whole seconds are of milliseconds, as in Parquet files.
    """
    import pyarrow as pa

    texts = {pa.string(), pa.string_view(), pa.large_string()}
    fields = []
    for one in schema:
        is_plain = pa.types.is_dictionary(one.type) and not one.type.ordered
        is_text = (one.type.value_type if is_plain else one.type) in texts
        is_seconds = pa.types.is_timestamp(one.type) and one.type.unit == "s"
        kind = pa.large_string() if is_text else pa.timestamp("ms", one.type.tz) if is_seconds else one.type
        fields.append(one.with_type(kind))
    return pa.schema(fields)


def _sorted(table: Any) -> Any:
    """Rows by value, then by class; dictionaries are sorted by their texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = table.unify_dictionaries()
    keys = {}
    for name in (LOW, CLASS, BUCKET):
        column = table[name]
        keys[name] = pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column
    order = pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])
    return table.take(order)


def _with_types_of(counts: ColumnCounts, schema: Any) -> ColumnCounts:
    """The counts, in which a column of nulls without a type has the type of another schema."""
    import pyarrow as pa

    fields = [schema.field(one.name) if pa.types.is_null(one.type) else one for one in counts.table.schema]
    return replace(counts, table=counts.table.cast(pa.schema(fields)))


def _added(name: Name, one: ColumnCounts, other: ColumnCounts) -> ColumnCounts:
    """Counts of one column in the rows of both."""
    import pyarrow as pa

    one, other = _with_types_of(one, other.table.schema), _with_types_of(other, one.table.schema)
    wrong = [f for f in one.table.schema if f.type != other.table.schema.field(f.name).type]
    if wrong:
        what = "the target" if wrong[0].name in (CLASS, TARGET_HIGH) else f"column {name!r}"
        types = f"{wrong[0].type} and {other.table.schema.field(wrong[0].name).type}"
        raise ValueError(f"the values of {what} are of different types in the two counts, {types}; cast one of them")
    both = nw.from_native(
        pa.concat_tables([one.table, other.table.select(one.table.column_names)]).unify_dictionaries(), eager_only=True
    )
    has_edges = TARGET_BUCKET in both.columns
    if has_edges:
        ends = both.group_by(TARGET_BUCKET).agg(nw.col(CLASS).min(), nw.col(TARGET_HIGH).max())
        both = both.drop(CLASS, TARGET_HIGH).join(ends, on=TARGET_BUCKET, how="inner")
    by = [TARGET_BUCKET, CLASS, TARGET_HIGH] if has_edges else [CLASS]
    sums = [nw.col(what).sum() for what in ((ROWS, TARGET_SUM) if has_edges else (ROWS,))]
    points = both.filter(nw.col(BUCKET) == APART).group_by(LOW, HIGH, *by).agg(*sums)
    points = points.with_columns(nw.lit(APART).cast(nw.Int64).alias(BUCKET))
    spans = both.filter(nw.col(BUCKET) != APART)
    if len(spans):
        ends = spans.group_by(BUCKET).agg(nw.col(LOW).min(), nw.col(HIGH).max())
        spans = spans.group_by(BUCKET, *by).agg(*sums).join(ends, on=BUCKET, how="inner")
        points = nw.concat([spans, points.select(spans.columns)])
    return replace(one, table=_sorted(points.select(both.columns).to_native()))


# What a file says beside its tables.

MOMENTS: dict[str, type[Any]] = {"datetime": datetime.datetime, "date": datetime.date}


def _to_json(value: Any) -> Any:
    """A special value for JSON: numbers and texts as they are, others with their type."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, datetime.timedelta):
        return {"seconds": str(Decimal(value // datetime.timedelta(microseconds=1)) / 10**6)}
    for word, kind in MOMENTS.items():
        if isinstance(value, kind):
            return {word: value.isoformat()}
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return {"decimal": str(value)} if isinstance(value, Decimal) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, (int, float, str)):
        return value
    ((word, text),) = value.items()
    if word == "seconds":
        return datetime.timedelta(microseconds=int(Decimal(text) * 10**6))
    if word == "hex":
        return bytes.fromhex(text)
    return Decimal(text) if word == "decimal" else MOMENTS[word].fromisoformat(text)


def _edges_to_json(edges: Edges) -> list[list[Any]]:
    return [[None if i == 0 else one.start, *one[1:]] for i, one in enumerate(edges)]


def _edges_from_json(given: Any) -> Edges:
    """Edges of a file, whose ranges must be ascending and have buckets."""
    if len(given) > MAX_RANGES:
        raise ValueError(f"a column has {len(given)} ranges, {MAX_RANGES} are the most")
    edges: list[Range] = []
    for i, (start, low, high, n_buckets, first) in enumerate(given):
        one = Range(float("-inf") if i == 0 else float(start), float(low), float(high), n_buckets, first)
        is_whole = all(type(number) is int and 0 <= number < 2**53 for number in (n_buckets, first))
        is_range = -math.inf < one.low <= one.high < math.inf
        if not is_whole or n_buckets == 0 or not is_range or (edges and not edges[-1].start < one.start):
            raise ValueError(f"range {i} of a column is not a range of buckets")
        edges.append(one)
    return tuple(edges)


def _read(found: Any) -> Counts:
    """Counts of the table of a file; any of many errors if it holds something else."""
    facts = json.loads((found.schema.metadata or {})[METADATA])
    if facts["version"] != VERSION:
        raise ValueError(f"its version is {facts['version']!r}; this gridmodl reads version {VERSION}")
    if len(found) != 1:
        raise ValueError(f"it has {len(found)} rows instead of one")
    for what in ("n_rows", "max_groups"):
        if type(facts[what]) is not int or not 0 < facts[what] <= MAX_ROWS:
            raise ValueError(f"{what} must be a whole number, got {facts[what]!r}")
    if not isinstance(facts["target"], str) or facts["target_kind"] not in (None, "classes", "grouped", "numerical"):
        raise ValueError("target must be the name of a column, and target_kind a kind of target")
    if facts["target"] in found.column_names:
        raise ValueError(f"its target {facts['target']!r} is one of its columns")
    target_edges = _edges_from_json(facts["target_edges"])
    columns = {
        name: _read_column(name, found[name], facts, bool(target_edges)) for name in found.column_names
    }  # fmt: skip
    return Counts(
        facts["target"], facts["n_rows"], facts["max_groups"], columns, target_edges, facts["target_kind"]
    )  # fmt: skip


def _read_column(name: str, lists: Any, facts: Mapping[str, Any], has_target_edges: bool) -> ColumnCounts:
    """Counts of one column of a file."""
    import pyarrow as pa

    records = _one_chunk(lists).values
    words = {**FIELDS, **OF_TARGET} if has_target_edges else FIELDS
    table = _plain(pa.Table.from_struct_array(records).select(list(words.values())).rename_columns(list(words)))
    edges = _edges_from_json(facts["edges"][name])
    rows, buckets = table[ROWS], table[BUCKET]
    if rows.type != pa.int64() or buckets.type != pa.int64() or rows.null_count or buckets.null_count:
        raise ValueError(f"rows and buckets of column {name!r} must be whole numbers")
    if table[LOW].type != table[HIGH].type:
        raise ValueError(f"the ends of the spans of column {name!r} are of different types")
    frame = nw.from_native(table, eager_only=True)
    if len(frame) == 0 or frame[ROWS].min() <= 0 or sum(frame[ROWS].to_list()) != facts["n_rows"]:
        raise ValueError(f"the rows of column {name!r} do not add up to {facts['n_rows']}")
    is_point = (nw.col(LOW) == nw.col(HIGH)) | (nw.col(LOW).is_null() & nw.col(HIGH).is_null())
    is_empty = pa.types.is_null(table[LOW].type)  # pyarrow compares no values without a type
    is_span = nw.col(ROWS) < 0 if is_empty else ~is_point | (nw.col(LOW).is_null() != nw.col(HIGH).is_null())
    spans = frame.filter(is_span)
    if len(spans) and (not edges or len(spans.filter(nw.col(BUCKET) >= 0, nw.col(LOW) < nw.col(HIGH))) < len(spans)):
        raise ValueError(f"column {name!r} has spans that are not from a lowest to a highest value of a bucket")
    buckets = frame.filter(nw.col(BUCKET) >= 0).select(LOW, HIGH, BUCKET).unique().sort(LOW)
    overlap = len(buckets) > 1 and bool((buckets[LOW][1:] <= buckets[HIGH][:-1]).any())
    if overlap or buckets[BUCKET].n_unique() < len(buckets):
        raise ValueError(f"the spans of column {name!r} overlap, or two of them are of one bucket")
    if type(facts["apart"][name]) is not list:
        raise ValueError(f"the values of column {name!r} that are counted apart must be a list")
    rare, frequent = facts["rare"].get(name), facts["frequent"].get(name)
    if [type(rare), type(frequent)] not in ([type(None), type(None)], [str, list]):
        raise ValueError(f"column {name!r} must have a name for rare categories and a list of the others, or neither")
    of_rare = frame.filter(nw.col(BUCKET) == RARE)
    if len(of_rare) and (rare is None or len(of_rare.filter(~nw.col(LOW).is_null()))):
        raise ValueError(f"column {name!r} has rows of rare categories without their name, or with a value")
    apart = tuple(_from_json(one) for one in facts["apart"][name])
    return ColumnCounts(table, edges, apart, rare, None if frequent is None else frozenset(map(_from_json, frequent)))
