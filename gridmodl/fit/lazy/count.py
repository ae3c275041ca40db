"""Public function `count`: the rows of each value and class of a table, as `Counts`."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock, in_threads
from gridmodl.data.counts import ColumnCounts, Counts, arranged
from gridmodl.data.frames import Frame, Name, Raw, array_of, lazy_frame, read_frame
from gridmodl.data.numbers import types_in
from gridmodl.data.remote.counting import MAX_GROUPS, count_again, count_frequent, counted, frequent_in
from gridmodl.data.remote.queries import CLASS, ROWS, check_same_rows, engine_errors, raise_interrupt
from gridmodl.data.remote.rows import LazyRows, lazy_rows
from gridmodl.data.targets import TARGET_KINDS, encode_weights
from gridmodl.fit.lazy.axis import Axis
from gridmodl.fit.lazy.data import JOINT_GROUPS, LazyData, apart_of, read_lazy
from gridmodl.fit.options import Options, check_integer, checked_options
from gridmodl.spelling import check_choice, check_columns

ON_ERROR = ("warn", "ignore", "raise")


class CountWarning(UserWarning):
    """Warning that a column could not be counted."""


def count(
    data: Any,
    target: Any = None,
    *,
    columns: Sequence[Name] | None = None,
    weights: Any = None,
    target_kind: str | None = None,
    kinds: Mapping[Name, str] | None = None,
    special: Any = None,
    max_groups: int = MAX_GROUPS,
    like: Counts | None = None,
    on_error: str = "warn",
) -> Counts:
    """Count the rows of each value and class, on the engine that holds them; `optimize_each` takes the counts.

    A column of at most `max_groups` values is counted value by value, and its models are those of the rows. A longer
    one is cut into at most `max_groups` buckets of equal width, of which those with many rows are divided again.
    Categories are counted value by value; with more than 4,194,304 of them, rare ones are counted together.

    Parameters
    ----------
    data : lazy frame, frame or dict of columns
        Any that narwhals reads: a relation of DuckDB, a lazy frame of Polars, a frame of Spark, Dask or Ibis; or rows
        in memory.
    target : str
        Name of the column of the target, as in `optimize`; with `like` it may be left out.
    columns : list of str, optional
        Columns to count; by default all but target and weights, or those of `like`.
    weights : str, optional
        Name of a column of whole numbers; a row of weight w counts as w rows.
    target_kind : {"classes", "grouped", "numerical"}, optional
        As in `optimize`. A numerical target of more than 1,024 values in more than 1,048,576 rows is counted in spans
        too, with its sum in each.
    kinds : dict, optional
        ``"numerical"``, ``"categorical"`` or ``"ordinal"`` by column name, for columns whose type says otherwise.
    special : list or dict by column name, optional
        Values that are codes and not quantities, as in `optimize`: they are never counted in a span.
    max_groups : int
        Most values or buckets that a query asks for, 16 or more.
    like : Counts, optional
        Earlier counts, whose edges, special values and kind of target are used, so that both add up. Values beyond the
        ends of the earlier ones are in the outermost buckets.
    on_error : {"warn", "ignore", "raise"}
        With ``"warn"`` or ``"ignore"``, a column that fails is in ``Counts.errors``, with or without a warning, and the
        others are counted. With ``"raise"``, its error is raised. Ctrl-C cancels the query that runs: columns that were
        not counted are in ``Counts.errors``; KeyboardInterrupt is raised if none was, and with ``"raise"``.

    Returns
    -------
    Counts

    Examples
    --------
    >>> import gridmodl
    >>> counts = gridmodl.count({"size": [1, 1, 7], "y": ["no", "no", "yes"]}, "y")
    >>> counts["size"].to_pylist()
    [{'low': 1, 'high': 1, 'class': 'no', 'n': 2}, {'low': 7, 'high': 7, 'class': 'yes', 'n': 1}]
    """
    check_choice("on_error", on_error, ON_ERROR)
    check_choice("target_kind", target_kind, (*TARGET_KINDS, None))
    check_integer("max_groups", max_groups)
    if max_groups < 16:
        raise ValueError(f"max_groups must be 16 or more, got {max_groups}")
    if like is not None:
        target, target_kind = _of_like(like, target, target_kind, special)
        max_groups = like.max_groups
    if target is None:
        raise ValueError(
            "target must name the column of the classes or numbers to count by; only with like= it may be None"
        )
    options = checked_options("modl", kinds=kinds, special=special)
    rows = read_lazy(_as_lazy(data, weights), target, weights, target_kind)
    names = _names(rows, columns, like)
    rows = _with_groups(rows, int(max_groups), like)
    for what in ("kinds", "special"):
        if isinstance(getattr(options, what), Mapping):
            check_columns(what, getattr(options, what), rows.names)

    def work(name: Name) -> ColumnCounts | Exception:
        try:
            return _count_column(rows, name, options, None if like is None else like.columns[name])
        except Exception as error:
            return error

    answers = in_threads(work, names, 1, Clock())
    errors = {name: answer for name, answer in answers.items() if isinstance(answer, Exception)}
    found = {name: answer for name, answer in answers.items() if isinstance(answer, ColumnCounts)}
    if errors and (on_error == "raise" or not found):
        raise_interrupt(errors.values())
        raise next(iter(errors.values()))
    for name, error in errors.items() if on_error == "warn" else ():
        warnings.warn(f"column {name!r} was not counted: {error}", CountWarning, stacklevel=2)
    edges = () if rows.of_target is None else rows.of_target.edges
    return Counts(rows.target, rows.n_rows, int(max_groups), found, edges, target_kind, errors)


def _of_like(like: Any, target: Any, target_kind: str | None, special: Any) -> tuple[Any, str | None]:
    """Target and its kind as earlier counts have them; raise if the arguments say otherwise."""
    if not isinstance(like, Counts):
        raise TypeError(f"like must be earlier Counts, got {type(like).__name__}")
    if target is not None and target != like.target:
        raise ValueError(f"like= has counts by the target {like.target!r}, got {target!r}")
    if target_kind is not None and target_kind != like.target_kind:
        raise ValueError(f"like= has counts of target_kind={like.target_kind!r}, got {target_kind!r}")
    if special is not None:
        raise ValueError("special values are those of like=; leave special= out")
    return like.target, like.target_kind


def _as_lazy(data: Any, weights: Any) -> Any:
    """`data` as a narwhals LazyFrame; rows in memory as one of pyarrow, with weights that are checked."""
    lazy = lazy_frame(data)
    if lazy is not None:
        return lazy
    if isinstance(data, Counts):
        raise TypeError("data are counts already; add them with +, or count the rows")
    frame = read_frame(data)
    if isinstance(weights, str) and weights in frame.columns:
        encode_weights(frame.columns[weights], frame.n_rows)  # pyarrow refuses large ones in words of its own
    try:
        return nw.from_native(_arrow_table(frame), eager_only=True).lazy()
    except ModuleNotFoundError as error:
        raise ImportError(f"counts are tables of {error.name}: pip install 'gridmodl[duckdb]'") from error


def _arrow_table(frame: Frame) -> Any:
    """The columns of a frame as a table of pyarrow."""
    import pyarrow as pa

    return pa.table({str(name): _arrow_column(column, name) for name, column in frame.columns.items()})


def _arrow_column(raw: Raw, name: Name) -> Any:
    """A column as an array of pyarrow, of a type that can be counted."""
    import pyarrow as pa

    array = None
    if isinstance(raw, np.ndarray) or (isinstance(raw.dtype, (nw.Unknown, nw.Object)) and raw.null_count() < len(raw)):
        array = _known_unit(array_of(raw), name)
    try:
        found = raw.to_arrow() if array is None else pa.array(array, from_pandas=True)  # type: ignore[union-attr]
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise _not_counted(name, raw.dtype if array is None else array.dtype, array) from error
    if found.type == pa.float16():  # for which pyarrow has few functions
        return found.cast(pa.float32())
    kind = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
    if isinstance(kind, pa.BaseExtensionType):
        raise _not_counted(name, kind.extension_name)
    if kind != found.type and pa.types.is_nested(kind):
        raise _not_counted(name, f"categories of {kind}")
    return found


def _not_counted(name: Name, what: Any, array: NDArray[Any] | None = None) -> TypeError:
    """Error about a column that no table of counts can hold; `array` has its values if these are objects."""
    if array is not None and array.dtype.kind == "O":
        what = f"values of {', '.join(sorted(kind.__name__ for kind in types_in(array)))}"
    return TypeError(
        f"column {name!r} holds {what}, which cannot be counted; make numbers of at most 64 bits of it, or dates, "
        "durations, text, categories or booleans"
    )


def _known_unit(array: NDArray[Any], name: Name) -> NDArray[Any]:
    """Dates and durations in a unit that pyarrow has; other arrays as they are."""
    unit = np.datetime_data(array.dtype)[0] if array.dtype.kind in "mM" else "s"
    if array.dtype.kind == "m" and unit in ("Y", "M"):
        raise TypeError(f"column {name!r} holds {array.dtype}, whose length is not known; use days or seconds")
    if unit not in ("Y", "M", "W", "D", "h", "m"):
        return array
    is_day = array.dtype.kind == "M" and unit not in ("h", "m")
    return array.astype(f"{array.dtype.kind}8[{'D' if is_day else 's'}]")


def _names(rows: LazyData, columns: Any, like: Counts | None) -> list[Name]:
    """Columns to count."""
    if columns is None:
        names = rows.names if like is None else list(like)
    elif isinstance(columns, (str, bytes)) or not isinstance(columns, Sequence):
        raise TypeError(f"columns must be a list of names, got {columns!r}")
    else:
        names = list(dict.fromkeys(columns))
    if not names:
        raise ValueError("columns names no column")
    check_columns("columns" if like is None else "like", names, rows.names)
    if like is not None:
        check_columns("columns", names, list(like))
    return names


def _with_groups(rows: LazyData, max_groups: int, like: Counts | None) -> LazyData:
    """Rows with the groups that a query may have, and with the edges of the target of earlier counts."""
    if like is None:
        is_any = rows.max_groups == MAX_GROUPS  # else there are many classes, or a numerical target
        return rows._replace(max_groups=max_groups if is_any else min(max_groups, rows.max_groups))
    rows = rows._replace(max_groups=max_groups, of_target=None)
    if not like.target_edges:
        return rows
    of_target = lazy_rows(rows.frame, rows.target, None, rows.weights, rows.n_rows)
    return rows._replace(of_target=Axis(of_target, None, like.target_edges, [], JOINT_GROUPS))


def _count_column(rows: LazyData, name: Name, options: Options, like: ColumnCounts | None) -> ColumnCounts:
    """Counts of one column, by the edges of `like` if there are any."""
    target_edges, found = None if rows.of_target is None else rows.of_target.edges, None
    with rows.lock, engine_errors(name):
        of_name = lazy_rows(rows.frame, name, rows.target, rows.weights, rows.n_rows, target_edges)
        if options.kinds.get(name) not in (None, "numerical") and of_name.is_ordered:
            of_name = of_name._replace(dtype=nw.Unknown())  # counted by value
        if like is None:
            like, found = _first_counts(rows, of_name, options)
        if found is None and like.frequent is not None:
            found = count_frequent(of_name, like.frequent)
        elif found is None:
            found = count_again(of_name, like.apart, like.edges, rows.max_groups)
    check_same_rows(rows.n_rows, int(found[ROWS].sum()), name)
    with engine_errors(name):
        return replace(like, table=arranged(found))


def _first_counts(rows: LazyData, of_name: LazyRows, options: Options) -> tuple[ColumnCounts, Any]:
    """Edges of a column that was not counted before, and its counts; None if the edges are of the column alone.

    With edges of the target, the column alone is counted first.
    """
    apart, alone = apart_of(options, of_name.name), of_name
    if of_name.target_edges is not None:
        alone = lazy_rows(rows.frame, of_name.name, None, rows.weights, rows.n_rows)._replace(dtype=of_name.dtype)
    first = counted(alone, apart, rows.max_groups, look=rows.look(alone, options))
    frequent = None if first.rare is None else frequent_in(first.counts).union(apart)
    like = ColumnCounts(None, first.edges, tuple(apart), first.rare, frequent)
    return like, first.counts if of_name.target_edges is None else None


# Streams: batches in memory, one after another.


def count_batch(
    earlier: Counts | None, columns: Mapping[Name, Any], target: Any, weights: Any, options: Options, max_groups: int
) -> Counts:
    """Counts of the earlier batches and of one more, in which no column has many more than `max_groups` values.

    A column is counted by value until it has more; then its counts are put into buckets, whose edges stay.
    """
    y, w = (_unused(word, columns) for word in ("target", "weights"))
    frame: dict[Name, Any] = {**columns, y: target}
    if weights is not None:
        frame[w] = weights
    rows = read_lazy(_as_lazy(frame, None), y, None if weights is None else w, "classes")
    rows = rows._replace(max_groups=max(max_groups, rows.n_rows))
    found = {
        name: _count_column(rows, name, options, None if earlier is None else earlier.columns[name]) for name in columns
    }
    batch = Counts(y, rows.n_rows, max_groups, found, target_kind=None if earlier is None else earlier.target_kind)
    both = batch if earlier is None else earlier + batch
    return replace(both, columns={name: _bounded(both, name, options) for name in both})


def _unused(word: str, columns: Collection[Name]) -> str:
    """A name that no column has."""
    while word in columns:
        word += "'"
    return word


def _bounded(counts: Counts, name: Name, options: Options) -> ColumnCounts:
    """Counts of a column, put into buckets if it has more than `max_groups` values one by one."""
    one = counts.columns[name]
    if one.edges or len(one.table) <= counts.max_groups or options.kinds.get(name) not in (None, "numerical"):
        return one
    frame = nw.from_native(counts[name], eager_only=True).lazy()
    rows = lazy_rows(frame.rename({"low": str(name), "class": CLASS, "n": ROWS}), name, CLASS, ROWS, counts.n_rows)
    if not rows.is_ordered:
        return one
    found = counted(rows, one.apart, counts.max_groups)
    return ColumnCounts(arranged(found.counts), found.edges, one.apart)
