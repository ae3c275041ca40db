"""Read a lazy frame or `Counts`: check names and weights, count rows, cut a numerical target of many values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from gridmodl.data.columns import encode_column
from gridmodl.data.counts import Counts
from gridmodl.data.frames import Name, SpanColumn, lazy_frame
from gridmodl.data.numbers import Numbers, special_parts
from gridmodl.data.remote.counting import MAX_GROUPS, counted
from gridmodl.data.remote.looks import Look, Looks
from gridmodl.data.remote.queries import (
    CLASS,
    HIGH,
    LOW,
    ROWS,
    Schema,
    collected,
    engine_errors,
    is_finite,
    one_if,
    schema_of,
)
from gridmodl.data.remote.rows import LazyRows, lazy_rows
from gridmodl.data.table import MEDIAN, Table, read_table
from gridmodl.data.targets import NOT_GIVEN, check_target_type, check_weight_sum
from gridmodl.fit.lazy.axis import Axis
from gridmodl.fit.options import Options, check_one_input
from gridmodl.spelling import check_columns

# A numerical target is counted by value where all pairs of values are at most JOINT_ROWS, as there are no more rows.
JOINT_ROWS = 2**20
JOINT_GROUPS = 1024  # else: buckets of the target, and of the column
MAX_BY_CLASS = 2**22  # pairs of a value and a class that one query asks for, if there are more than 64 classes
Reader = Callable[..., Table]  # of columns, weights of their rows and, if another is meant, the event


class LazyData(NamedTuple):
    """A lazy frame, and the names of its columns that are inputs, target and weights."""

    frame: Any  # a narwhals LazyFrame
    names: list[Name]
    target: Name | None
    weights: Name | None
    n_rows: int
    lock: threading.Lock  # engines take one query at a time
    max_groups: int = MAX_GROUPS
    of_target: Axis | None = None  # spans of a numerical target with many values
    looks: Looks | None = None  # at columns of numbers and times
    has_classes: bool = False  # whether the target is one of classes that are not grouped

    def look(self, rows: LazyRows, options: Options) -> Look | None:
        """A look at a column, with others that will be counted; None if its type tells enough, or if it is short."""
        if self.looks is None or not rows.is_ordered or self.n_rows <= self.max_groups:
            return None

        def special(name: Name) -> list[Any] | None:
            return apart_of(options, name) if options.kinds.get(name) in (None, "numerical") else None

        return self.looks.of(rows, special, self.max_groups)


def read_lazy(frame: Any, target: Any, weights: Any, target_kind: str | None = None) -> LazyData:
    """Check the names of target and weights, if any; count the rows of a lazy frame, and a target of many values."""
    schema = schema_of(frame)
    check_lazy_names("data", schema, target=target, weights=weights)
    names: list[Name] = [name for name in schema if name not in (target, weights)]
    if not names:
        raise ValueError("data has no column besides the target")
    if target is not None:
        check_target_type(schema[target])
    first = names[0] if target is None else target
    with engine_errors(first):
        rows, bad = (nw.len(), nw.lit(0)) if weights is None else sums_of_weights(schema, weights)
        real = nw.lit(0) if target is None else _is_real(schema, target)
        totals = collected(frame.select(rows.alias("total"), bad.alias("bad"), real.alias("real")), first)
    check_sums_of_weights(totals["total"][0], totals["bad"][0], weights)
    n_rows = int(totals["total"][0] or 0)
    if n_rows == 0:
        raise ValueError("data has no rows" if weights is None else "all weights are 0: there are no rows")
    looks = Looks(frame, names, weights)
    is_numerical = target_kind == "numerical" or (target_kind is None and bool(totals["real"][0]))
    has_classes = target is not None and target_kind in (None, "classes") and not is_numerical
    data = LazyData(
        frame, names, target, weights, n_rows, threading.Lock(), MAX_GROUPS, looks=looks, has_classes=has_classes
    )
    if n_rows <= JOINT_ROWS or target is None:
        return data
    return _with_target_spans(data) if is_numerical else _with_classes(data)


def check_lazy_names(frame: str, schema: Collection[str], **names: Any) -> None:
    """Raise unless each of `names`, by argument, is None or a column of the lazy frame of the argument `frame`."""
    for what, name in names.items():
        if name is None:
            continue
        if not isinstance(name, str):
            raise TypeError(
                f"{frame} is a lazy frame, whose rows have no order: {what} must be the name of one of its columns, "
                f"got {type(name).__name__}"
            )
        check_columns(what, [name], schema)


def sums_of_weights(schema: Schema, weights: str) -> tuple[Any, Any]:
    """Sum of the column `weights`, and the number of its entries that are missing, negative or not whole numbers.

    Floats add up where whole numbers may wrap around, and the sum is exact below 2^53.
    """
    if not (schema[weights].is_numeric() or isinstance(schema[weights], nw.Boolean)):
        raise TypeError(f"weights must be a column of whole numbers; column {weights!r} holds {schema[weights]}")
    entry, amount = schema.col(weights), schema.col(weights).cast(nw.Float64)
    wrong = entry.is_null() | (entry < 0)
    if schema[weights].is_float() or schema[weights].is_decimal():
        wrong = wrong | ~is_finite(amount) | ~(amount == amount.floor())
    return amount.sum(), one_if(wrong).sum()


def check_sums_of_weights(total: float | None, n_wrong: int, weights: Name | None) -> None:
    """Raise ValueError for entries of the column `weights` that are no weights, and for too many rows to count."""
    if n_wrong:
        raise ValueError(f"weights must be whole numbers, 0 or more; column {weights!r} has others")
    if weights is not None:
        check_weight_sum(total or 0.0)


def _is_real(schema: Schema, target: str) -> Any:
    """Number of entries of the target that are not whole numbers, as `kind_of_target` says of rows."""
    if not (schema[target].is_float() or schema[target].is_decimal()):
        return nw.lit(0)
    entry = schema.col(target).cast(nw.Float64)
    return one_if(~entry.is_nan() & (~entry.is_finite() | (entry != entry.floor()))).sum()


def _with_target_spans(data: LazyData) -> LazyData:
    """`data` with the spans of a numerical target, if it has more than JOINT_GROUPS values."""
    with engine_errors(data.target):
        rows = lazy_rows(data.frame, data.target, None, data.weights, data.n_rows)
        if not rows.dtype.is_numeric():
            return data  # an error of its own, when its values are read
        counts, edges, rows, _ = counted(rows, [], JOINT_GROUPS)
    groups = min(JOINT_GROUPS, MAX_GROUPS)
    if not edges:
        return data._replace(max_groups=groups)
    column = encode_column(SpanColumn(counts[LOW], counts[HIGH]), data.target, "numerical")
    assert isinstance(column, Numbers)  # noqa: S101  for mypy
    absent = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    infinite = ~absent & ~np.isfinite(column.values.astype(np.float64))
    for what, found in (("missing", absent), ("infinite", infinite)):
        if found.any():
            n = int(counts[ROWS].to_numpy()[found].sum())
            raise ValueError(f"target has {n} {what} values of {data.n_rows}; drop those rows")
    return data._replace(max_groups=groups, of_target=Axis(rows, counts, edges, [], JOINT_GROUPS))


def _with_classes(data: LazyData) -> LazyData:
    """`data` with fewer groups of each column if there are so many classes that pairs of both would be too many."""
    target = str(data.target)
    with engine_errors(data.target):
        schema = schema_of(data.frame)
        if isinstance(schema[target], nw.Boolean):
            return data
        classes = data.frame.select(schema.col(target).alias(CLASS)).group_by(CLASS).agg(nw.len().alias(ROWS))
        n_classes = int(collected(classes.select(nw.len().alias(ROWS)), data.target)[ROWS][0])
    return data._replace(max_groups=min(MAX_GROUPS, max(JOINT_GROUPS, MAX_BY_CLASS // max(1, n_classes))))


def counted_data(
    data: Any, target: Any, weights: Any, target_kind: str | None, unlabelled: Any = NOT_GIVEN,
    placement: str | None = None, event: Any = None, needs_target: bool = True,
) -> tuple[LazyData | Counts, Reader] | None:  # fmt: skip
    """A lazy frame or `Counts`, and the function that makes tables of their counts; None for data in memory."""
    if isinstance(data, Counts):
        _check_counts(data, target, weights, target_kind)
        found: LazyData | Counts = data
        target, target_kind = data.target, target_kind or data.target_kind
    else:
        lazy = lazy_frame(data)
        if lazy is None:
            return None
        if target is None and needs_target:
            raise TypeError("data is a lazy frame, and no target was given: name one of its columns")
        found = read_lazy(lazy, target, weights, target_kind)
    if placement == MEDIAN:
        raise ValueError("placement='median' places bounds among single rows, which counts do not have")

    def read(columns: Mapping[Name, Any], rows: Any, event: Any = event) -> Table:
        table = read_table(columns, target, rows, target_kind, unlabelled, placement, event)
        check_one_input(table, unlabelled)
        return table

    return found, read


def _check_counts(counts: Counts, target: Any, weights: Any, target_kind: str | None) -> None:
    """Raise if arguments say something else than the counts."""
    if target is not None and (not isinstance(target, str) or target != counts.target):
        raise ValueError(f"data are counts by {counts.target!r}: leave target= out, or name it; got {target!r}")
    if weights is not None:
        raise ValueError("data are counts, in which weights are counted; give weights= to count()")
    if len(counts) == 0:
        raise ValueError("data are counts of no column")
    if counts.target_edges and target_kind not in (None, "numerical"):
        raise ValueError(f"the target {counts.target!r} was counted in spans of numbers, and cannot be {target_kind}")


def apart_of(options: Options, name: Name) -> list[Any]:
    """Special values of a column, all parts together."""
    given = options.of(name).special
    return [value for part in special_parts(given, "special") for value in part] if given else []
