"""Read the user's data as named columns, and return results in the same kind of frame.

Accepts arrays, lists, dicts of columns, sparse matrices, and series and frames of any library that narwhals supports.
The data are never changed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.spelling import did_you_mean

Name = Hashable  # name of a column: a string, but pandas allows more


@dataclass(frozen=True)
class SpanColumn:
    """A column of which spans of values were counted: the lowest and highest value of each, as series of pyarrow."""

    low: nw.Series[Any]
    high: nw.Series[Any]
    means: NDArray[np.float64] | None = None  # of the values in each span, if it is a target

    def __len__(self) -> int:
        return len(self.low)

    @property
    def ends(self) -> nw.Series[Any]:
        """All lowest values, then all highest ones."""
        import pyarrow

        chunks = [*self.low.to_native().chunks, *self.high.to_native().chunks]
        return nw.from_native(pyarrow.chunked_array(chunks, self.low.to_native().type), series_only=True)

    def filter(self, kept: list[bool]) -> SpanColumn:
        """The spans where `kept` is True."""
        means = None if self.means is None else self.means[np.asarray(kept)]
        return SpanColumn(self.low.filter(kept), self.high.filter(kept), means)


Raw = nw.Series[Any] | NDArray[Any]  # a column before it is encoded

FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
ARRAYS = "arrays"  # kind of frame for data that came as arrays: a dict of arrays


class Frame(NamedTuple):
    """Named columns of one length, each a narwhals series or a 1-D array."""

    columns: dict[Name, Any]  # or a SpanColumn, of counts
    n_rows: int
    kind: str  # library that the data came from, or ARRAYS
    has_names: bool = True  # whether the names are the user's own
    is_column: bool = False  # whether the data were a single column, not a table of one column
    entries: NDArray[Any] | None = None  # entries of a sparse matrix; its row and column numbers are the columns

    def without(self, name: Name) -> Frame:
        """The frame without the column `name`."""
        return self._replace(columns={key: column for key, column in self.columns.items() if key != name})


def read_frame(data: Any, what: str = "data") -> Frame:
    """Read the columns of `data`; those of an array are named x0, x1, ..., those of a sparse matrix row and column."""
    if is_sparse(data):
        row, column, values = read_entries(data, what)
        return Frame(dict(zip(NAMES, (row, column), strict=True)), len(values), ARRAYS, entries=values)
    if isinstance(data, Mapping):
        _check_names(data, what)
        columns = {
            name: column if isinstance(column, SpanColumn) else read_column(column, f"column {name!r}")
            for name, column in data.items()
        }
        return _frame_of_columns(columns, what)
    native = _from_native(data, what)
    if isinstance(native, nw.DataFrame):
        _check_names(native.columns, what)
        columns = {name: native.get_column(name) for name in native.columns}
        return Frame(columns, native.shape[0], native.implementation.value)
    if isinstance(native, nw.Series):
        _check_names([native.name], what)
        name = native.name if native.name not in (None, "") else "x0"
        return Frame({name: native}, len(native), native.implementation.value, is_column=True)
    array = as_array(data, what)
    if array.ndim == 1:
        return Frame({"x0": array}, len(array), ARRAYS, has_names=False, is_column=True)
    if array.ndim != 2:
        raise ValueError(f"{what} must be one column or a table of columns, got an array of shape {array.shape}")
    return Frame({f"x{i}": array[:, i] for i in range(array.shape[1])}, len(array), ARRAYS, has_names=False)


def lazy_frame(data: Any) -> Any:
    """`data` as a narwhals LazyFrame if it is lazy, else None; `read_frame` says what is wrong with other data."""
    try:
        found = nw.from_native(data, allow_series=True, pass_through=True)
    except nw.exceptions.NarwhalsError:
        return None
    return found if isinstance(found, nw.LazyFrame) else None


def read_column(data: Any, what: str) -> Raw:
    """Read one column as a series, or as a 1-D array with one entry per row."""
    native = _from_native(data, what)
    if isinstance(native, nw.DataFrame):
        if native.shape[1] != 1:
            raise ValueError(f"{what} must be one column, got a frame of {native.shape[1]} columns")
        return native.get_column(native.columns[0])
    if isinstance(native, nw.Series):
        return native
    array = as_array(data, what)
    if array.ndim != 1:
        raise ValueError(f"{what} must be a 1-D array with one entry per row, got shape {array.shape}")
    return array


def array_of(raw: Raw) -> NDArray[Any]:
    """A column as an array of its values."""
    return raw if isinstance(raw, np.ndarray) else without_dictionary(raw).to_numpy()


def without_dictionary(raw: nw.Series[Any]) -> nw.Series[Any]:
    """A dictionary of pyarrow, also in a series of pandas, as its values; pyarrow has arrays of it without nulls."""
    chunked = arrow_of(raw)
    value_type = getattr(getattr(chunked, "type", None), "value_type", None)
    if value_type is None or not isinstance(raw.dtype, nw.Categorical):
        return raw
    return nw.from_native(chunked.cast(value_type), series_only=True)


def arrow_of(raw: nw.Series[Any]) -> Any:
    """The chunked array of pyarrow that holds a column, also in a series of pandas; None for other columns."""
    native = raw.to_native()
    if raw.implementation.is_pyarrow():
        return native
    return native.array.__arrow_array__() if hasattr(getattr(native, "dtype", None), "pyarrow_dtype") else None


def make_frame(columns: Mapping[str, Any], kind: str) -> Any:
    """Make a frame of the library `kind`, or a dict of arrays if `kind` is ARRAYS."""
    if kind == ARRAYS:
        return {name: np.asarray(column) for name, column in columns.items()}
    if kind not in FRAMES:
        known = (*FRAMES, ARRAYS)
        raise ValueError(f"frame must be one of {', '.join(map(repr, known))}, got {kind!r}{did_you_mean(kind, known)}")
    backend: Any = kind
    return nw.from_dict(dict(columns), backend=backend).to_native()


def as_array(data: Any, what: str) -> NDArray[Any]:
    """Convert `data` to an array of one type; raise if there is no such array, or if it would change the values."""
    if isinstance(data, (str, bytes)):
        is_file = isinstance(data, str) and data.lower().endswith((".parquet", ".csv", ".feather", ".arrow"))
        advice = (
            "; read the file first, as by polars.scan_parquet or duckdb.read_csv, or use the command line" * is_file
        )
        raise TypeError(f"{what} must be array-like, got {type(data).__name__} {data!r}{advice}")
    if isinstance(data, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(data)
        nothing = {"f": np.nan, "m": "NaT", "M": "NaT"}.get(data.dtype.kind)
        nothing = np.array(nothing, dtype=object if nothing is None else data.dtype)
        data = np.where(masked, nothing, data.data) if masked.any() else data.data
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"{what} must be a regular array: its rows have different lengths") from error
    if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
        array = np.array(data, dtype=object)  # else numpy converts numbers to text
    elif array.dtype.kind in "iuf" and isinstance(data, (list, tuple)) and _has_many_types(data, array.ndim):
        array = np.array(data, dtype=object)  # else True becomes 1.0, and 2**60 + 1 is rounded
    if array.dtype.kind == "c":
        raise TypeError(f"{what} holds complex numbers, which have no order; use their real part or modulus")
    if array.dtype.kind == "V":
        raise TypeError(f"{what} is a structured array; pass a dict of columns, such as {{name: array[name]}}")
    if array.ndim == 0:
        raise TypeError(f"{what} must be array-like, got {type(data).__name__} {data!r}")
    return array


def _has_many_types(data: Any, ndim: int) -> bool:
    """Whether the values of a list are of several types."""
    rows = data if ndim > 1 else [data]
    return len({kind for row in rows for kind in set(map(type, row))}) > 1


def table_of_batch(batch: Any) -> Any:
    """Convert a record batch of pyarrow to a table of pyarrow, which narwhals can read."""
    import pyarrow

    return pyarrow.Table.from_batches([batch])


def _series_of_pandas(data: Any) -> Any:
    """An array or an index of pandas as a series, which keeps its type, such as the order of categories."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, (pandas.api.extensions.ExtensionArray, pandas.Index)):
        return data
    return data if isinstance(data, pandas.MultiIndex) else pandas.Series(data)


def object_array(values: list[Any]) -> NDArray[Any]:
    """1-D array of objects, also if they are tuples, which numpy would turn into further dimensions."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def without_views(kind: Any) -> Any:
    """The type of pyarrow that holds the values of `kind` without views, which Polars has and few functions accept."""
    import pyarrow

    plain = {pyarrow.string_view(): pyarrow.large_string(), pyarrow.binary_view(): pyarrow.large_binary()}
    if pyarrow.types.is_dictionary(kind) and kind.value_type in plain:
        return pyarrow.dictionary(kind.index_type, plain[kind.value_type], kind.ordered)
    return plain.get(kind, kind)


def _plain_arrow(data: Any) -> Any:
    """A table or an array of pyarrow without views; an array in chunks."""
    import pyarrow

    if isinstance(data, pyarrow.Table):
        kinds = [without_views(kind) for kind in data.schema.types]
        if kinds == data.schema.types:
            return data
        columns = [column.cast(kind) for column, kind in zip(data.columns, kinds, strict=True)]
        return pyarrow.Table.from_arrays(columns, data.column_names)
    if isinstance(data, pyarrow.Array):
        data = pyarrow.chunked_array([data])
    if isinstance(data, pyarrow.ChunkedArray) and without_views(data.type) != data.type:
        return data.cast(without_views(data.type))
    return data


def as_series(data: Any) -> nw.Series[Any] | None:
    """A narwhals series of a series, or of an array of pandas or pyarrow; None for other data."""
    found = nw.from_native(_as_frame_or_series(data), allow_series=True, pass_through=True)
    return found if isinstance(found, nw.Series) else None


def _as_frame_or_series(data: Any) -> Any:
    """Arrays of pandas and pyarrow as series, and batches as tables, which narwhals reads; other data as they are."""
    if type(data).__name__ == "RecordBatch":
        data = table_of_batch(data)
    if type(data).__module__.startswith("pyarrow"):
        data = _plain_arrow(data)
    return _series_of_pandas(data)


def _from_native(data: Any, what: str) -> Any:
    """Wrap `data` as a narwhals frame or series; other data are returned as they are."""
    if is_sparse(data):  # `as_array` would make a 0-D array of the matrix
        raise TypeError(f"{what} is a sparse {type(data).__name__}; call its toarray() first")
    try:
        native = nw.from_native(_as_frame_or_series(data), allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        names = ", ".join(re.findall("'.*?'", str(error)))
        raise ValueError(f"{what} has several columns of one name, {names}; rename all but one") from error
    except nw.exceptions.NarwhalsError as error:
        raise ValueError(f"{what} cannot be read: {error}") from error
    if isinstance(native, nw.LazyFrame):
        raise TypeError(
            f"{what} is a lazy {type(data).__name__}, which optimize_each, optimize, count, transform and "
            "predict_proba take; here, collect it first, or some of its rows"
        )
    return native


def _check_names(names: Iterable[Any], what: str) -> None:
    """Raise if a name is not equal to itself, as NaN and tuples with NaN: no column could be found by it."""
    for name in names:
        if _differs_from_itself(name):
            raise ValueError(
                f"{what} has a column named {name!r}, which is not equal to itself, so that the column cannot be found "
                "by name; rename the column"
            )


def _differs_from_itself(name: Any) -> bool:
    if isinstance(name, tuple):
        return any(map(_differs_from_itself, name))
    try:
        return bool(name != name)
    except Exception:  # NA, whose comparison is neither true nor false, and names that cannot be compared at all
        return True


def _frame_of_columns(columns: dict[Name, Any], what: str) -> Frame:
    """Frame of `columns`, which must have one length."""
    if not columns:
        raise ValueError(f"{what} has no columns")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r} has {n}" for name, n in list(lengths.items())[:5])
        raise ValueError(f"the columns of {what} have different lengths: {listed}")
    return Frame(columns, next(iter(lengths.values())), ARRAYS)


# Sparse matrices: each non-zero entry is a row of data, with its row number and its column number as columns.
#
# There is no Python loop over entries, and no dense copy. Entries that are stored twice are added up (booleans: or), as
# in scipy; scipy itself is not imported.

NAMES = ("row", "column")
EXACT_FLOAT = 2**53  # float64 is exact for all whole numbers up to this one


class Entries(NamedTuple):
    """Non-zero entries of a sparse matrix, row by row and within a row by column."""

    row: NDArray[Any]
    column: NDArray[Any]
    values: NDArray[Any]  # bool, int64 or float64


def is_sparse(data: Any) -> bool:
    """Whether `data` is a sparse matrix or array of scipy."""
    return hasattr(data, "tocsr") and hasattr(data, "tocoo")


def read_entries(matrix: Any, what: str) -> Entries:
    """Read the entries of a sparse matrix or array of any format, which is not changed."""
    if len(matrix.shape) != 2:
        raise ValueError(f"{what} is a sparse array of {len(matrix.shape)} dimension(s); it must have rows and columns")
    found = matrix.tocoo()
    values = found.data
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"{what} is a sparse matrix of {values.dtype}; it takes whole numbers, or booleans for presence"
        )
    if values.dtype.kind == "u" and values.dtype.itemsize == 8 and np.any(values > EXACT_FLOAT):
        raise ValueError(f"{what} holds entries of more than {EXACT_FLOAT}; scale them down")
    if values.dtype.kind != "b":  # sums of small integers would overflow
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    row, column, values = _sorted_entries(found.row, found.col, values, int(matrix.shape[1]))
    is_there = values != 0
    return (
        Entries(row, column, values) if is_there.all() else Entries(row[is_there], column[is_there], values[is_there])
    )


def _sorted_entries(
    row: NDArray[Any], column: NDArray[Any], values: NDArray[Any], n_columns: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Entries row by row, with those of one place added up."""
    if len(row) == 0:
        return row, column, values
    if int(row.max()) * n_columns + n_columns < 2**63:
        place = row.astype(np.int64) * n_columns + column
        if np.all(place[1:] > place[:-1]):  # as in most matrices
            return row, column, values
        order = np.argsort(place, kind="stable")
    else:
        order = np.lexsort((column, row))
    row, column, values = row[order], column[order], values[order]
    first = np.flatnonzero(np.append(True, (row[1:] != row[:-1]) | (column[1:] != column[:-1])))
    add = np.logical_or if values.dtype.kind == "b" else np.add
    return row[first], column[first], add.reduceat(values, first)


def entry_weights(values: NDArray[Any], what: str) -> NDArray[np.int64] | None:
    """Weight of each entry; None if all weights are 1."""
    if values.dtype.kind == "b":
        return None
    if not np.all(np.isfinite(values)) or np.any(values < 0) or np.any(values != np.floor(values)):
        raise ValueError(
            f"{what} is a sparse matrix whose entries are not all whole numbers of 0 or more: an entry n counts as n "
            "rows; pass matrix != 0 for presence"
        )
    if float(values.sum(dtype=np.float64)) >= EXACT_FLOAT:
        raise ValueError(f"the entries of {what} sum to more than {EXACT_FLOAT}; scale them down")
    return None if np.all(values == 1) else values.astype(np.int64)
