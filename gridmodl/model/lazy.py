"""Apply partitions to lazy frames: expressions that the engine of the frame evaluates, so that nothing is collected."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.model.policy import Policy
from gridmodl.spelling import check_columns

if TYPE_CHECKING:
    from gridmodl.model.partition import Partition


class Lookup(NamedTuple):
    """A new column of a lazy frame: a number for each part of a column, last that of values of no part."""

    partition: Partition
    numbers: NDArray[Any] | None  # None for the number of the part itself


def lazy_columns(frame: Any, columns: Mapping[Any, Lookup], policy: Policy) -> Any:
    """Lazy frame of new `columns` by name, of the library of `frame`; nothing is collected."""
    for what, word in policy._asdict().items():
        if word == "error":
            raise ValueError(
                f"{what}='error' is not for a lazy frame: its engine cannot stop at a value that no part holds"
            )
    parts = {id(one.partition): part_of(frame, one.partition, policy) for one in columns.values()}
    selected = (_looked_up(parts[id(one.partition)], one.numbers).alias(str(name)) for name, one in columns.items())
    return frame.select(*selected).to_native()


def part_of(frame: Any, partition: Partition, policy: Policy) -> Any:
    """Expression of the number of the part of a column, with the same result as `Partition.part_of`."""
    schema = frame.collect_schema()
    check_columns("the model", [partition.name], schema.names())
    value, dtype = nw.col(str(partition.name)), schema[partition.name]
    if dtype.is_float():
        value = nw.when(value.is_nan()).then(None).otherwise(value)
    if partition.kind == "numerical":
        part = _interval_of(value, partition, _zone_of(dtype, partition))
    else:
        part = _group_of(value, partition, policy)
    missing = nw.lit(partition.part_of_missing(policy))
    return nw.when(value.is_null()).then(missing).otherwise(part).cast(nw.Int64)


def _zone_of(dtype: Any, partition: Partition) -> datetime.tzinfo | None:
    """Time zone of a column, None if it has none; raise TypeError if the bounds are of the other kind.

    Polars compares times of one zone only, and DuckDB would take times without a zone as those of its session.
    """
    zone = dtype.time_zone if isinstance(dtype, nw.Datetime) else None
    is_time = dtype in (nw.Datetime, nw.Date) and partition.bounds.dtype.kind == "M"
    if is_time and partition.is_utc != (zone is not None):
        with_or_without = ("without", "with") if partition.is_utc else ("with", "without")
        raise TypeError(f"column {partition.name!r} is {' a time zone; the partition '.join(with_or_without)} one")
    return None if zone is None else zoneinfo.ZoneInfo(zone)


def _interval_of(value: Any, partition: Partition, zone: datetime.tzinfo | None) -> Any:
    """Number of the interval or special part of each value that is not missing."""
    part = nw.lit(int(partition.is_missing_apart))
    for bound in _literals(partition.bounds, zone):
        part = part + (value > bound).cast(nw.Int64)
    sizes = partition.special_sizes or [1] * partition.n_special
    of_code = np.repeat(np.arange(partition.n_special), sizes) + partition.n_parts - partition.n_special
    for code, number in zip(_literals(partition.special, zone), of_code.tolist(), strict=True):
        part = nw.when(value == code).then(nw.lit(number)).otherwise(part)
    return part


def _group_of(value: Any, partition: Partition, policy: Policy) -> Any:
    """Number of the group of each value that is not missing."""
    part = nw.lit(partition.part_of_unknown(policy))
    for number, group in enumerate(partition.groups):
        values = [one for one in group if one is not None]
        if values:
            part = nw.when(value.is_in(values)).then(nw.lit(number)).otherwise(part)
    return part


def _literals(array: NDArray[Any], zone: datetime.tzinfo | None) -> list[Any]:
    """Numbers, or times in `zone`, as plain Python values, which hold microseconds."""
    if array.dtype.kind not in "mM":
        return list(array.tolist())
    rounded = array.astype(f"{array.dtype.kind}8[us]")
    if np.any(rounded.astype(array.dtype) != array):
        raise ValueError(
            "a bound has nanoseconds, which expressions of lazy frames cannot hold; use to_sql, or placement='short' "
            "in training"
        )
    values = rounded.tolist()
    return values if zone is None else [value.replace(tzinfo=datetime.UTC).astimezone(zone) for value in values]


def _looked_up(part: Any, numbers: NDArray[Any] | None) -> Any:
    """The number of each part; the last of `numbers` for part -1."""
    if numbers is None:
        return part
    found = nw.lit(float(numbers[-1]))
    for i, number in enumerate(numbers[:-1].tolist()):
        found = nw.when(part == i).then(nw.lit(number)).otherwise(found)
    return found
