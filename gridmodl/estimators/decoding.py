"""`GridDiscretizer.inverse_transform`: from the encoded parts back to values of theirs."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gridmodl.data.frames import object_array
from gridmodl.model.partition import Partition
from gridmodl.model.policy import NO_PART

INVERTIBLE = ("ordinal", "onehot")


def decoded(X: Any, encode: str, unknown_code: int | str, partitions: Collection[Partition]) -> NDArray[Any]:
    """A value of the part of each row and column that `X` encodes."""
    sizes = [partition.n_parts for partition in partitions]
    parts = parts_of_onehot(X, sizes) if encode == "onehot" else parts_of_codes(X, sizes, unknown_code)
    columns = [typical_values(partition)[of] for partition, of in zip(partitions, parts.T, strict=True)]
    if all(column.dtype == np.float64 for column in columns):
        return np.column_stack(columns)
    found = np.empty(parts.shape, dtype=object)
    for k, column in enumerate(columns):
        found[:, k] = object_array(list(column) if column.dtype.kind in "mM" else column.tolist())
    return found


def parts_of_codes(X: Any, sizes: list[int], unknown_code: int | str) -> NDArray[np.int64]:
    """Number of the part by row and column, -1 for none, from ordinal codes."""
    codes = np.asarray(X)
    _check_shape(codes, len(sizes))
    try:
        parts = codes.astype(np.int64)
        is_whole = bool(np.all(parts == codes))
    except (TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise ValueError("X must hold numbers of parts, as transform returns them")
    if unknown_code == "last":
        parts = np.where(parts == np.array(sizes), NO_PART, parts)
    wrong = np.argwhere((parts < NO_PART) | (parts >= np.array(sizes)))
    if len(wrong):
        row, k = wrong[0].tolist()
        raise ValueError(f"X has code {parts[row, k]} in column {k}, whose parts are 0 to {sizes[k] - 1}")
    return parts


def parts_of_onehot(X: Any, sizes: list[int]) -> NDArray[np.int64]:
    """Number of the part by row and column, -1 for a row of zeros, from a column for each part."""
    ends = np.cumsum([0, *sizes])
    matrix: Any = X.tocsc() if issparse(X) else np.asarray(X)
    _check_shape(matrix, int(ends[-1]))
    parts = np.full((matrix.shape[0], len(sizes)), NO_PART, dtype=np.int64)
    for k, (first, end) in enumerate(itertools.pairwise(ends.tolist())):
        of_parts = matrix[:, first:end].toarray() if issparse(matrix) else matrix[:, first:end]
        if not np.all((of_parts == 0) | (of_parts == 1)) or np.any((of_parts == 1).sum(axis=1) > 1):
            raise ValueError(f"X must have at most one 1, and zeros, in the columns {first} to {end - 1} of a row")
        row, part = np.nonzero(of_parts == 1)
        parts[row, k] = part
    return parts


def _check_shape(matrix: Any, n_columns: int) -> None:
    if matrix.ndim != 2 or matrix.shape[1] != n_columns:
        raise ValueError(f"X has the shape {matrix.shape}; transform returns {n_columns} columns")


def typical_values(partition: Partition) -> NDArray[Any]:
    """A value of each part, last a missing value, which is that of no part."""
    if partition.kind == "numerical":
        return _typical_numbers(partition)
    n_ordinary = partition.n_parts - partition.n_special
    rows = iter([] if partition.value_rows is None else partition.value_rows.tolist())
    found: list[Any] = []
    for i, group in enumerate(partition.groups):
        values = [(next(rows, 0), value) for value in group]
        known = [(n, value) for n, value in values if value is not None] or [(0, None)]
        if partition.kind == "ordinal" and i < n_ordinary:
            found.append(known[(len(known) - 1) // 2][1])
        else:
            found.append(max(known, key=lambda one: one[0])[1])
    return object_array([*found, None])


def _typical_numbers(partition: Partition) -> NDArray[Any]:
    """The middle of each interval, in the type of the bounds; the first of the codes of a special part."""
    middles = _middles(partition)
    none = middles.dtype.type("NaT") if middles.dtype.kind in "mM" else None
    if middles.dtype.kind == "f":
        middles, none = middles.astype(np.float64), np.float64("nan")
    missing = [none] * partition.is_missing_apart
    codes = [part[0] for part in partition.special_parts]
    values = [*missing, *middles, *codes, none]
    if none is None:
        return object_array([value if value is None else int(value) for value in values])
    return np.array(values, dtype=middles.dtype)


def _middles(partition: Partition) -> NDArray[Any]:
    """A value of each interval: the middle of its bounds, or of a bound and the end of the domain."""
    own, is_time = partition.bounds.dtype, partition.bounds.dtype.kind in "mM"
    bounds = partition.bounds.view(np.int64) if is_time else partition.bounds
    ends = bounds[:0]
    if partition.domain is not None:
        ends = partition.domain.astype(own).view(np.int64) if is_time else partition.domain.astype(own)
    if len(bounds) == len(ends) == 0:  # one interval, of which nothing is known
        return np.array(["NaT"], dtype=own) if is_time else np.array([np.nan])
    if len(ends) == 0:  # no values, or some that are infinite
        ends = bounds[[0, -1]]
    is_whole = bounds.dtype.kind in "iu"
    if len(bounds):
        after = bounds[-1] + 1 if is_whole else np.nextafter(bounds[-1], np.inf)
        ends = np.array([min(ends[0], bounds[0]), max(ends[1], after)], dtype=bounds.dtype)
    lows, highs = np.append(ends[0], bounds), np.append(bounds, ends[1])
    found = lows + (highs - lows) // 2 if is_whole else lows / 2 + highs / 2
    found[1:] = np.where(found[1:] > lows[1:], found[1:], highs[1:])  # an interval does not hold its lower bound
    return found.view(own) if is_time else found
