"""Lengths of codes, in nats: log n!, log C(n, k), and the number of ways to spread rows over cells.

Plain functions of plain numbers: a criterion calls them, and they are compiled together with it.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

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


class SummedRows(np.ndarray):
    """Rows of each value of a variable of a model that does not know them, as one of an old file.

    The array holds the rows of each group shared evenly among its values.
    """

    log_orders: float  # of the true rows, with `unit_of` all rows taken off; NaN where that is not known


def unit_of(n_rows: int) -> float:
    """What criteria take off log n! for each of the n rows: 0, but of very many rows log(rows) - 1, see `log_order`."""
    return math.log(n_rows) - 1.0 if n_rows >= MANY_ROWS else 0.0


def log_orders(value_rows: NDArray[np.int64], n_rows: int, unit: float) -> float:
    """The sum over values of log n! - n `unit`, given the rows n of each, `n_rows` in all."""
    if isinstance(value_rows, SummedRows):
        return value_rows.log_orders + n_rows * (unit_of(n_rows) - unit)
    rows, times = np.unique(value_rows, return_counts=True)
    return math.fsum(m * log_order(n, n_rows, unit) for n, m in zip(rows.tolist(), times.tolist(), strict=True))


# log B(V, I): how many nats it takes to say how V values are divided into at most I groups.
#
# B(V, I) is the sum of the Stirling numbers of the second kind S(V, i) over i <= I. Their explicit formula
#
#     S(V, i) = sum_k  k^V / k!  (-1)^(i-k) / (i-k)!          Graham, Knuth, Patashnik, Concrete Mathematics, 6.19
#
# alternates, but summed over i it becomes Dobinski's formula (Rota, The number of partitions of a set, 1964) cut at I:
#
#     B(V, I) = sum_{k <= I}  k^V / k!  d(I-k)          d(j) = sum_{i <= j} (-1)^i / i!
#
# d(j) is the share of the permutations of j things that leave none in its place: 1, 0, 1/2, 1/3, 3/8 ... -> 1/e. No
# term is negative, so nothing cancels, and d soon settles: the rest is a running sum. Exact but for rounding, this
# serves every V and I; no asymptotic formula is needed.

# d(j) is 1/e within 1/(j+1)!, so from j = 18 on both are the same double.
SETTLED = 18
DERANGED = tuple(itertools.accumulate((-1) ** i / math.factorial(i) for i in range(SETTLED)))


def log_groupings(n_values: int) -> NDArray[np.float64]:
    """log B(n_values, i) at index i = 0..n_values: ways to divide the values into at most i groups. -inf at 0.

    Largest error measured over all i, of log B or of its differences: 5e-12 up to 2,000 values (exact integers), 6e-10
    for 100,000 (recurrence). Not cached: 10 values take 0.04 ms, 100,000 take 54 ms, and the caller may write to it.
    """
    if n_values < 1:
        raise ValueError(f"n_values must be at least 1, got {n_values}")
    log_terms = _log_terms(n_values)
    # Everything is said relative to the largest term so far: no exponential overflows, and the sum never vanishes.
    largest = np.maximum.accumulate(log_terms)
    scaled = np.zeros(n_values)
    for j, share in enumerate(DERANGED[:n_values]):
        scaled[j:] += share * np.exp(log_terms[: n_values - j] - largest[j:])
    if n_values > SETTLED:
        settled = np.logaddexp.accumulate(log_terms[:-SETTLED])
        scaled[SETTLED:] += np.exp(settled - 1.0 - largest[SETTLED:])
    # Where one more group adds less than the last bit, rounding could make the sequence fall by that bit.
    return np.concatenate(([-math.inf], np.maximum.accumulate(largest + np.log(scaled))))


def _log_terms(n_values: int) -> NDArray[np.float64]:
    """log(k^V / k!) at index k - 1, for k = 1..V."""
    k = np.arange(1.0, n_values + 1.0)
    log_k = np.log(k)
    log_terms: NDArray[np.float64] = n_values * log_k
    # codelength.log_factorial, many at once: just importing scipy.special for its gammaln would take 240 ms.
    log_terms[: TABLE_SIZE - 1] -= LOG_FACTORIALS[1 : n_values + 1]
    k, log_k = k[TABLE_SIZE - 1 :], log_k[TABLE_SIZE - 1 :]
    log_terms[TABLE_SIZE - 1 :] -= (k + 0.5) * log_k - k + HALF_LOG_TWO_PI + 1.0 / (12.0 * k)
    return log_terms
