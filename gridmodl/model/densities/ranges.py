"""The range of a numerical column, and of its values in each interval: what `spread` needs beside counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Column
from gridmodl.data.domain import Domain, in_engine
from gridmodl.data.numbers import Numbers, encode_special
from gridmodl.model.partition import Partition


def with_domain(partition: Partition, column: Column) -> Partition:
    """`partition` with the lowest and the highest number of `column`, if their distance is finite."""
    found = _ends_of_values(partition, column)
    if found is None or partition.widths is not None:  # of a density, the domain is that of its widths
        return partition
    lows, highs, dtype = found
    if len(lows) == 0:
        return replace(partition, domain=np.empty(0, dtype=partition.bounds.dtype))
    domain = _domain_of(lows, highs, dtype)
    return partition if domain is None else replace(partition, domain=domain.ends())


def with_ranges(partition: Partition, column: Column) -> Partition:
    """`partition` with the lowest and highest number of `column`, and of each interval, if all distances are finite."""
    found = _ends_of_values(partition, column)
    if found is None:
        return partition
    lows, highs, dtype = found
    if len(lows) == 0:
        none = np.empty(0, dtype=partition.bounds.dtype)
        return replace(partition, domain=none, lowest=none, highest=none)
    domain = _domain_of(lows, highs, dtype)
    if domain is None:
        return partition
    bounds = in_engine(partition.bounds)
    n = len(bounds) + 1
    lowest, highest = np.full(n, domain.high), np.full(n, domain.low)
    np.minimum.at(lowest, np.searchsorted(bounds, lows, side="left"), lows)
    np.maximum.at(highest, np.searchsorted(bounds, highs, side="left"), highs)
    ends = [domain.in_own_type(list(found)) for found in (lowest, highest)]
    return replace(partition, domain=domain.ends(), lowest=ends[0], highest=ends[1])


def _ends_of_values(partition: Partition, column: Column) -> tuple[NDArray[Any], NDArray[Any], np.dtype[Any]] | None:
    """Low and high end of each entry that is neither missing nor special, and their type; None without numbers."""
    if not isinstance(column, Numbers) or column.levels is not None:
        return None
    kept = np.ones(column.n_rows, dtype=bool) if column.missing is None else ~column.missing
    if partition.n_special:
        kept &= ~np.isin(column.values, encode_special(partition.special_parts, column).codes)
    lows = column.values[kept]
    highs = lows if column.ends is None else column.ends[kept]  # of spans that were counted together
    return lows, highs, column.type


def _domain_of(lows: NDArray[Any], highs: NDArray[Any], dtype: np.dtype[Any]) -> Domain | None:
    """Domain of the values; None if its width is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        domain = Domain(lows.min(), highs.max(), dtype)
        return domain if np.isfinite(domain.width) else None


def merged_ranges(partition: Partition, parts: NDArray[np.int64]) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """``lowest`` and ``highest`` after intervals have merged; `parts` is the new part of each part."""
    low, high = partition.lowest, partition.highest
    if low is None or high is None or len(low) == 0:
        return low, high
    first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
    begins = np.flatnonzero(np.append(True, np.diff(parts[first:last]) != 0))
    return np.minimum.reduceat(low, begins), np.maximum.reduceat(high, begins)
