"""Queries of lazy frames: names and values of their columns, their results, and what is said where an engine fails.

Only expressions that all engines of narwhals have are used, so that their answers are equal to the bit, whatever the
order of the rows: -0.0 is 0.0, and NaN is missing.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.data.remote.running import QueryEnded, answer_of

# Columns of queries; those of the user have other names.
VALUE, CLASS, WEIGHT, KEY, BUCKET = (f"gridmodl_{word}" for word in ("value", "class", "weight", "key", "bucket"))
TARGET_KEY, TARGET_BUCKET = (f"gridmodl_{word}" for word in ("target_key", "target_bucket"))
# Columns of counted spans: the lowest and highest value, the same as floats that sort alike, and the number of rows.
# Of a numerical target in buckets, CLASS is the lowest value, TARGET_HIGH the highest one, TARGET_SUM the sum.
LOW, HIGH, LOW_KEY, HIGH_KEY, ROWS = "low", "high", "low_key", "high_key", "rows"
TARGET_HIGH, TARGET_SUM = "target_high", "target_sum"
APART = -1  # bucket of the values that are counted by value
RARE = -2  # bucket of all rare categories, whose value is null


class EngineError(RuntimeError):
    """A query failed on the engine of a lazy frame, or two of its answers contradict each other."""


class QueryStoppedError(EngineError):
    """A column was not counted, because of a time limit or Ctrl-C; `reason` says which, as ``Model.stopped`` does."""

    def __init__(self, name: Name, reason: str) -> None:
        super().__init__(name, reason)
        self.reason = reason

    def __str__(self) -> str:
        name, reason = self.args
        return f"column {name!r} was not counted: {SAID.get(reason, reason)}"


SAID = {
    "time limit": "the time limit was over before its engine had the answer",
    "interrupted": "interrupted before its engine had the answer",
}


def raise_interrupt(errors: Collection[Exception]) -> None:
    """Raise KeyboardInterrupt if one of `errors` says that Ctrl-C was the reason; nothing else was found."""
    for error in errors:
        if isinstance(error, QueryStoppedError) and error.reason == "interrupted":
            raise KeyboardInterrupt from error


@contextmanager
def raising_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt where Ctrl-C is the reason of a column that was not counted."""
    try:
        yield
    except QueryStoppedError as error:
        raise_interrupt([error])
        raise


def collected(lazy: Any, name: Name) -> Any:
    """Run a query; its result as a narwhals frame of pyarrow, with ROWS as 64-bit integers.

    Raises QueryStoppedError where a time limit or Ctrl-C ends it.
    """
    try:
        found = _with_durations(answer_of(lazy), name)
        found = found.with_columns(nw.col(ROWS).cast(nw.Int64)) if ROWS in found.columns else found
    except ModuleNotFoundError as error:
        raise EngineError(
            f"counts come as Arrow tables, and {error.name} is not installed: pip install 'gridmodl[duckdb]'"
        ) from error
    except EngineError:
        raise
    except QueryEnded as ended:
        raise QueryStoppedError(name, *ended.args) from None
    except Exception as error:
        if is_interrupt(error):
            if threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt from error
            raise EngineError(f"the query that counts column {name!r} was interrupted") from error
        raise EngineError(
            f"the engine of the lazy frame failed to count column {name!r}: {type(error).__name__}: {error}"
        ) from error
    if lazy.implementation.is_duckdb():
        _check_long_integers(lazy, found, name)
    return _with_integers(lazy, found, name) if lazy.implementation.is_dask() else found


def _with_durations(found: Any, name: Name) -> Any:
    """The result of a query, in which intervals of months, days and nanoseconds, as DuckDB has them, are durations."""
    import pyarrow as pa

    table = found.to_native()
    for i, column in enumerate(table.schema):
        if column.type == pa.month_day_nano_interval():
            array = pa.concat_arrays(table.column(i).chunks) if table.num_rows else pa.array([], column.type)
            table = table.set_column(i, column.name, _durations(array, name))
    return nw.from_native(table, eager_only=True)


def _durations(array: Any, name: Name) -> Any:
    """Durations, in microseconds, of an array of intervals; EngineError if one has months, whose length varies."""
    import pyarrow as pa

    is_null = np.asarray(array.is_null())
    parts = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
    found = np.zeros(len(array), dtype=parts)
    if not is_null.all():
        found[:] = np.frombuffer(array.buffers()[1], parts)[array.offset : array.offset + len(array)]
        found[is_null] = 0
    if found["months"].any():
        raise EngineError(
            f"column {name!r} was counted with intervals of months, which have no length in days; make durations of "
            "them, as by to_days() or by the difference of two timestamps"
        )
    microseconds = found["days"].astype(np.int64) * 86_400_000_000 + found["nanoseconds"] // 1000
    return pa.array(microseconds, mask=is_null).cast(pa.duration("us"))


def _with_integers(lazy: Any, found: Any, name: Name) -> Any:
    """The result of a query of Dask; columns of integers that it read as floats, as some are missing, are integers."""
    for column, dtype in lazy.collect_schema().items():
        if dtype.is_integer() and found.schema[column].is_float():
            if (found[column].abs() >= 2.0**53).any():
                raise EngineError(
                    f"Dask has rounded integers beyond 2^53, as some are missing, which column {name!r} was counted "
                    'with; read them with dtype_backend="pyarrow"'
                )
            found = found.with_columns(nw.col(column).cast(dtype))
    return found


def _check_long_integers(lazy: Any, found: Any, name: Name) -> None:
    """Raise EngineError for integers of 128 bits that DuckDB returns as decimals of 38 digits, and that have more."""
    for column, dtype in lazy.collect_schema().items():
        if not isinstance(dtype, (nw.Int128, nw.UInt128)):
            continue
        values = found[column].drop_nulls()
        lowest = 0 if dtype == nw.UInt128 else 1 - 10**38  # longer ones without a sign come as negative ones
        if len(values) and (values.min() < lowest or values.max() >= 10**38):
            raise EngineError(
                f"column {name!r} was counted with integers of more than 38 digits, which DuckDB cannot return; make "
                "texts of them, as by CAST(... AS VARCHAR)"
            )


def is_interrupt(error: Exception) -> bool:
    """Whether an error is what DuckDB makes of Ctrl-C while it runs a query."""
    is_noticed = isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    return is_noticed or type(error).__name__ == "InterruptException"  # the latter where its connection was told


@contextmanager
def engine_errors(name: Name) -> Iterator[None]:
    """Raise EngineError where the engine of a lazy frame lacks an operation, or where a column or the table is gone."""
    try:
        yield
    except (NotImplementedError, AttributeError) as error:
        raise EngineError(
            f"the engine of the lazy frame lacks an operation that counting column {name!r} needs: "
            f"{type(error).__name__}: {error}; collect the column, or bring the table to another engine, such as DuckDB"
        ) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] in (__name__.partition(".")[0], "builtins"):
            raise
        raise EngineError(
            f"the query that counts column {name!r} cannot be made: {type(error).__name__}: {error}"
        ) from error


def check_same_rows(n_before: int, n_now: int, name: Name | None = None) -> None:
    """Raise EngineError if a query, of the column `name`, counts other rows than an earlier one."""
    if n_now != n_before:
        where = "" if name is None else f" in column {name!r}"
        raise EngineError(
            f"the rows of the lazy frame have changed between two queries: {n_before} rows became {n_now}{where}; use "
            "a copy that stays the same, such as a table or a file"
        )


def check_same_parts(before: NDArray[Any], now: NDArray[Any], name: Name) -> None:
    """Raise EngineError if a query finds other rows in the parts of the column `name` than an earlier one."""
    if not np.array_equal(before, now):
        raise EngineError(
            f"the rows of column {name!r} have changed between two queries; count a copy that stays the same, such as "
            "a table or a file"
        )


class Schema(dict[str, Any]):
    """Types of the columns of a lazy frame, by name, and expressions of these columns."""

    def __init__(self, types: Mapping[str, Any], engine: Any) -> None:
        super().__init__(types)
        self._engine = engine

    def col(self, name: Name) -> Any:
        """The column of this very name; Polars and Spark read some as patterns or fields of records."""
        word = str(name)
        if self._engine.is_polars() and (word == "*" or (word.startswith("^") and word.endswith("$"))):
            return nw.col(f"^{re.escape(word)}$")
        if self._engine.is_spark_like() and not word.isidentifier():
            quoted = word.replace("`", "``")
            return nw.col(f"`{quoted}`")
        if self._engine.is_duckdb() and word == "*":
            raise EngineError("DuckDB reads the name '*' as all columns of the lazy frame; rename the column")
        return nw.col(word)


def schema_of(frame: Any) -> Schema:
    """Types of the columns of a lazy frame, by name; EngineError if the engine cannot tell, as where a file is gone."""
    try:
        types, engine = dict(frame.collect_schema()), frame.implementation
        if engine.is_pyspark() or engine.is_pyspark_connect():
            types = _in_zone_of_session(types, frame.to_native().sparkSession)
        return Schema(types, engine)
    except Exception as error:
        raise EngineError(
            f"the engine of the lazy frame cannot tell its columns: {type(error).__name__}: {error}"
        ) from error


def _in_zone_of_session(types: Mapping[str, Any], session: Any) -> dict[str, Any]:
    """Types of columns of Spark, whose session may have changed its zone since narwhals has seen it."""
    zone = session.conf.get("spark.sql.session.timeZone")
    return {
        name: nw.Datetime(one.time_unit, zone) if isinstance(one, nw.Datetime) and one.time_zone is not None else one
        for name, one in types.items()
    }


def key_of(dtype: Any, value: Any) -> Any:
    """Floats that sort like the values of a column of numbers or times; different values may have the same float."""
    if dtype.is_numeric():
        return value.cast(nw.Float64)
    if isinstance(dtype, nw.Duration):
        return value.dt.total_microseconds().cast(nw.Float64)
    days = (value.dt.year() * 12 + value.dt.month()) * 31 + value.dt.day()
    if isinstance(dtype, nw.Date):
        return days.cast(nw.Float64)
    seconds = ((days.cast(nw.Float64) * 24 + value.dt.hour()) * 60 + value.dt.minute()) * 60 + value.dt.second()
    return seconds + value.dt.microsecond() * 1e-6  # Polars would divide by a constant with other digits


def in_utc(frame: Any, value: Any, dtype: Any) -> Any:
    """Values of a column of `frame`, times of another zone in UTC; None if the engine cannot convert them.

    DuckDB and Spark cannot: their times are of the zone of the session.
    """
    if not isinstance(dtype, nw.Datetime) or dtype.time_zone in (None, "UTC"):
        return value
    if frame.implementation.is_spark_like():
        return None  # narwhals takes the zone that it has seen first for that of the session
    try:
        frame.select(value.dt.convert_time_zone("UTC"))
    except NotImplementedError:
        return None
    return value.dt.convert_time_zone("UTC")


def has_keys_here(dtype: Any) -> bool:
    """Whether keys of values that an engine returned can be computed here, with the digits of the engine."""
    if isinstance(dtype, nw.Datetime):
        return dtype.time_zone is None
    is_long = isinstance(dtype, (nw.Int128, nw.UInt128))
    return bool(dtype.is_float() or (dtype.is_integer() and not is_long) or dtype == nw.Date)


def keys_here(dtype: Any, values: Any) -> Any:
    """Keys of values that an engine returned: a series."""
    if not dtype.is_numeric():
        return values.to_frame().select(key_of(dtype, nw.col(values.name)).alias(KEY))[KEY]
    floats = np.asarray(values.to_numpy(), dtype=np.float64)  # pyarrow refuses to round long integers
    return nw.new_series(KEY, floats, nw.Float64, backend="pyarrow")


def plain_value(schema: Schema, name: Name) -> Any:
    """Values of a column; NaN is missing, and -0.0 is 0.0.

    Null is not written: a column of nulls is one of objects on Dask, and so would be the values beside it.
    """
    value, dtype = schema.col(name), schema[str(name)]
    if not dtype.is_float():
        return value
    # Sums of a float32 are float64 on some engines, and bounds have the type of their column.
    return nw.when(~value.is_nan()).then((value + 0.0).cast(dtype))


def comparable(category: Any) -> Any:
    """A category as engines compare it with values of a column: no -0.0, and times of numpy as those of Python."""
    if not isinstance(category, np.datetime64 | np.timedelta64):
        return category + 0.0 if isinstance(category, float) else category
    rounded = category.astype(f"{category.dtype.kind}8[us]")
    if rounded != category:
        raise ValueError(
            f"the category {category!r} has nanoseconds, which expressions of lazy frames cannot hold; round its "
            "column to microseconds, or make texts of it"
        )
    return rounded.item()


def is_one_of(dtype: Any, value: Any, categories: Collection[Any]) -> Any:
    """Whether a value is one of `categories`.

    UUIDs of DuckDB, a type that narwhals does not know, and categories on Dask are compared with texts as texts.
    """
    known = [comparable(one) for one in categories]
    if isinstance(dtype, (nw.Unknown, nw.Categorical)) and all(isinstance(one, str) for one in known):
        value = value.cast(nw.String)
    return value.is_in(known)


def weight_of(schema: Schema, weights: Name | None) -> Any:
    """Weight of each row as a whole number."""
    return nw.lit(1).cast(nw.Int64) if weights is None else schema.col(weights).cast(nw.Int64)


def one_if(condition: Any) -> Any:
    """1 where a condition holds, else 0, also where a missing value leaves it open: Dask casts no such booleans."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)


def is_ordered(dtype: Any) -> bool:
    """Whether values of a type are numbers, dates, moments or durations, which can be cut into buckets."""
    return bool(dtype.is_numeric() or dtype.is_temporal()) and not isinstance(dtype, nw.Time)


def is_text(dtype: Any) -> bool:
    """Whether values of a type are texts, also where these are of a list of categories."""
    return isinstance(dtype, (nw.String, nw.Categorical, nw.Enum))


def is_finite(value: Any) -> Any:
    """Whether a float is neither missing nor infinite: by comparisons, which Dask has for floats of pyarrow too."""
    return (value > -math.inf) & (value < math.inf)


def is_apart_from(dtype: Any, apart: Collection[Any], value: Any) -> Any:
    """Whether a value is counted by value: missing, infinite, or one of `apart`."""
    is_apart = value.is_null()
    if dtype.is_float():
        is_apart = is_apart | ~is_finite(value)
    for one in apart:
        is_apart = is_apart | (value == one)
    return is_apart
