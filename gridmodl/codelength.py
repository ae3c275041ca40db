"""Lengths of codes, in nats: log n!, log C(n, k), and the number of ways to spread rows over cells.

Plain functions of plain numbers: a criterion calls them, and they are compiled together with it.
"""

from __future__ import annotations

import math

import numpy as np

# A look-up takes 1-3 ns, lgamma 13-21 ns; beyond the table Stirling's series takes 2-8 ns.
TABLE_SIZE = 4096
LOG_FACTORIALS = np.array([math.lgamma(n + 1.0) for n in range(TABLE_SIZE)])
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
# From this many rows on log n! has too few digits after the point for differences of such numbers: 3e-8 here, 0.06 at
# 2^44 rows. Criteria then write them so that nothing large cancels (`log_order`).
MANY_ROWS = 2**24


def log_factorial(n: int | np.int64) -> float:
    """log n! for a whole number n >= 0; relative error below 1e-15."""
    if n < TABLE_SIZE:
        return LOG_FACTORIALS[n]
    # The next term of the series, 1/(360 n^3), is below the last bit of the sum from n = 4096 on.
    return (n + 0.5) * math.log(n) - n + HALF_LOG_TWO_PI + 1.0 / (12.0 * n)


def log_rising(n: float, k: int | np.int64) -> float:
    """log (n+k)! - log n! for whole numbers, n a float beyond the integers too; from 4,096 on no large parts cancel."""
    # np.int64 and comparisons, as `int` and `min` are functions that numba compiles for every criterion.
    if n + k < TABLE_SIZE:
        return LOG_FACTORIALS[np.int64(n + k)] - LOG_FACTORIALS[np.int64(n)]
    if n < TABLE_SIZE:
        return log_factorial(np.int64(n + k)) - LOG_FACTORIALS[np.int64(n)]
    more = k / n
    return (n + 0.5) * math.log1p(more) + k * (math.log(n + k) - 1.0) - more / (12.0 * (n + k))


def log_binomial(n: int, k: int) -> float:
    """log C(n, k) for whole numbers 0 <= k <= n; error below 2e-11 or a relative one of some 1e-13, however large n."""
    if n < TABLE_SIZE:
        return LOG_FACTORIALS[n] - LOG_FACTORIALS[k] - LOG_FACTORIALS[n - k]
    few = k if 2 * k < n else n - k
    if few < TABLE_SIZE:
        return log_rising(n - few, few) - LOG_FACTORIALS[few]
    return log_compositions(n - few, few + 1.0)


def log_order(n: int, rows: int, unit: float) -> float:
    """log n! - n `unit`, for `unit` 0 or log(rows) - 1 and n <= rows.

    With the latter it is n log(n/rows) + log(2 pi n) / 2 + ...: where numbers n add up to `rows`, sums of log n! whose
    large parts cancel are sums of numbers no larger than the result, and keep all digits.
    """
    if unit == 0.0:
        return log_factorial(n)
    if n < TABLE_SIZE:
        return LOG_FACTORIALS[n] - n * unit
    others = rows - n
    share = math.log1p(-others / rows) if 2 * others < rows else math.log(n / rows)
    return n * share + 0.5 * math.log(n) + HALF_LOG_TWO_PI + 1.0 / (12.0 * n)


def log_compositions(n: int, cells: float) -> float:
    """log C(n + cells - 1, cells - 1): ways to spread n rows over so many cells.

    ``cells`` may be a float far beyond the integers, as the product of many numbers of parts is.
    """
    k = cells - 1.0
    if k < TABLE_SIZE:
        return log_rising(n, np.int64(k)) - LOG_FACTORIALS[np.int64(k)]
    if n < TABLE_SIZE:
        return log_rising(k, n) - LOG_FACTORIALS[n]
    return (
        n * math.log1p(k / n)
        + k * math.log1p(n / k)
        + 0.5 * (math.log1p(k / n) - math.log(k))
        - HALF_LOG_TWO_PI
        + (1.0 / (n + k) - 1.0 / n - 1.0 / k) / 12.0
    )
