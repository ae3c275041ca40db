"""Place bounds of equal width or equal frequency, which use no target; for densities and baselines."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.bounds import bounds_between


class Cuts(NamedTuple):
    """Inner bounds, and the share of the range below each."""

    bounds: NDArray[Any]
    shares: NDArray[np.float64]


def equal_width_cuts(low: Any, high: Any, n_parts: int, dtype: np.dtype[Any]) -> Cuts:
    """Bounds of intervals of equal width from `low` to `high`, in the column's own type.

    There are fewer intervals if the type has no number for each bound: no bound is repeated, and the last is below
    `high`. Bounds are rounded down to the type, so that a value above a bound stays above; shares are not rounded.

    Parameters
    ----------
    low, high : scalar
        Ends of the range, as encoded: floats, or integers for dates and for integers beyond 2**53.
    n_parts : int
        Number of intervals.
    dtype : dtype
        Type of the bounds.
    """
    if dtype.kind == "f":
        bounds, is_inside = _float_bounds(float(low), float(high), n_parts, dtype)
    else:
        start, width = int(low), int(high) - int(low)
        whole = [start + width * j // n_parts for j in range(1, n_parts)]
        bounds = np.array(whole, dtype=np.uint64 if dtype.kind == "u" else np.int64).view(dtype)
        is_inside = np.ones(len(bounds), dtype=bool)
    shares = np.arange(1, n_parts) / n_parts
    found, at = np.unique(bounds[is_inside], return_index=True)
    return Cuts(found, shares[is_inside][at])


def _float_bounds(low: float, high: float, n_parts: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Bounds rounded down to `dtype`, and flags of those inside the range."""
    if math.isinf(high - low):
        shares = np.arange(1, n_parts) / n_parts
        exact = low * (1.0 - shares) + high * shares
    else:  # scaled below 1, as j times the width may overflow; exact if the bound is a value of round data
        size, exponent = math.frexp(high - low)
        exact = low + np.ldexp(np.arange(1, n_parts) * size / n_parts, exponent)
    bounds = exact.astype(dtype)
    above = bounds > exact
    bounds[above] = np.nextafter(bounds[above], dtype.type(-np.inf))
    return bounds, (bounds >= low) & (bounds < high)


def equal_frequency_starts(rows: NDArray[np.int64], n_parts: int) -> NDArray[np.int64]:
    """First values of parts with about equally many rows; `rows` are those of each distinct value, in ascending order.

    Each bound is placed where the number of rows below is nearest to its share of all rows (ties: lower). One value
    may have the rows of several parts; then there are fewer parts than `n_parts`.
    """
    if len(rows) < 2:
        return np.zeros(1, dtype=np.int64)
    below = np.cumsum(rows)[:-1]  # rows below the start of each value but the first
    wanted = np.arange(1, n_parts) * (float(rows.sum()) / n_parts)
    up = np.clip(np.searchsorted(below, wanted), 1, max(1, len(below) - 1))
    if len(below) == 1:
        nearest = np.zeros(len(wanted), dtype=np.int64)
    else:
        nearest = np.where(wanted - below[up - 1] <= below[up] - wanted, up - 1, up)
    return np.unique(np.concatenate([[0], nearest + 1])).astype(np.int64)


def equal_frequency_bounds(
    values: NDArray[Any], rows: NDArray[np.int64], n_parts: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Inner bounds of intervals with about equally many rows, in the column's own type.

    Parameters
    ----------
    values : ndarray
        Distinct values, ascending, as encoded.
    rows : ndarray
        Rows of each value.
    n_parts : int
        Number of intervals.
    dtype : dtype
        Type of the bounds.
    """
    starts = equal_frequency_starts(rows, n_parts)[1:]
    return bounds_between(values[starts - 1], values[starts], dtype)
