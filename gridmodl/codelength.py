"""Code lengths in nats: log n!, log C(n, k), and log B(V, I), the number of ways to group values.

The terms of a criterion call the functions of plain numbers, and are compiled together with them.
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
# From this number of rows on, rounding errors of log n! matter in differences: 3e-8 at 2^24 rows, 0.06 at 2^44 rows.
# Criteria then use `log_order`, so that no large numbers cancel.
MANY_ROWS = 2**24


def log_factorial(n: int | np.int64) -> float:
    """log n! for a whole number n >= 0; relative error below 1e-15."""
    if n < TABLE_SIZE:
        return LOG_FACTORIALS[n]
    # The next term of the series, 1/(360 n^3), is below the last bit of the sum from n = 4096 on.
    return (n + 0.5) * math.log(n) - n + HALF_LOG_TWO_PI + 1.0 / (12.0 * n)


def log_rising(n: float, k: int | np.int64) -> float:
    """log (n+k)! - log n! for whole numbers; n may be a float beyond 64-bit integers.

    From n = 4,096 on, no large numbers cancel.
    """
    # np.int64 and comparisons instead of `int` and `min`, which numba would compile for every criterion.
    if n + k < TABLE_SIZE:
        return LOG_FACTORIALS[np.int64(n + k)] - LOG_FACTORIALS[np.int64(n)]
    if n < TABLE_SIZE:
        return log_factorial(np.int64(n + k)) - LOG_FACTORIALS[np.int64(n)]
    more = k / n
    return (n + 0.5) * math.log1p(more) + k * (math.log(n + k) - 1.0) - more / (12.0 * (n + k))


def log_binomial(n: int, k: int) -> float:
    """log C(n, k) for whole numbers 0 <= k <= n; absolute error below 2e-11 or relative error about 1e-13."""
    if n < TABLE_SIZE:
        return LOG_FACTORIALS[n] - LOG_FACTORIALS[k] - LOG_FACTORIALS[n - k]
    few = k if 2 * k < n else n - k
    if few < TABLE_SIZE:
        return log_rising(n - few, few) - LOG_FACTORIALS[few]
    return log_compositions(n - few, few + 1.0)


def log_order(n: int, rows: int, unit: float) -> float:
    """log n! - n * `unit`, for n <= `rows` and `unit` = `unit_of(rows)`, which is 0 or log(rows) - 1.

    With the second unit, the value is n log(n/rows) + log(2 pi n) / 2 + ...: in a sum of log n! whose large parts
    cancel, over numbers n that add up to `rows`, no summand is then larger than the result, and no digits are lost.
    """
    if unit == 0.0:
        return log_factorial(n)
    if n < TABLE_SIZE:
        return LOG_FACTORIALS[n] - n * unit
    others = rows - n
    share = math.log1p(-others / rows) if 2 * others < rows else math.log(n / rows)
    return n * share + 0.5 * math.log(n) + HALF_LOG_TWO_PI + 1.0 / (12.0 * n)


def log_compositions(n: int, cells: float) -> float:
    """log C(n + cells - 1, cells - 1): log of the number of ways to distribute `n` rows over `cells` cells.

    `cells` may be a float beyond 64-bit integers, such as the product of many numbers of parts.
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
    """Approximate rows of each value of a variable, for a model from an old file, which lacks the exact rows.

    The array holds the rows of each group, divided evenly among its values.
    """

    log_orders: float  # `log_orders` of the exact rows, with the unit `unit_of(n_rows)`; NaN if unknown


def unit_of(n_rows: int) -> float:
    """Number that criteria subtract from log n! for each row: 0, or log(n_rows) - 1 from MANY_ROWS rows on."""
    return math.log(n_rows) - 1.0 if n_rows >= MANY_ROWS else 0.0


def log_orders(value_rows: NDArray[np.int64], n_rows: int, unit: float) -> float:
    """Sum over values of log n! - n * `unit`, where n are the `value_rows` of each value, `n_rows` in all."""
    if isinstance(value_rows, SummedRows):
        return value_rows.log_orders + n_rows * (unit_of(n_rows) - unit)
    rows, times = np.unique(value_rows, return_counts=True)
    return math.fsum(m * log_order(n, n_rows, unit) for n, m in zip(rows.tolist(), times.tolist(), strict=True))


# log B(V, I): code length of a division of V values into at most I groups.
#
# B(V, I) is the sum of the Stirling numbers of the second kind S(V, i) over i <= I. Their explicit formula
#
#     S(V, i) = sum_k  k^V / k!  (-1)^(i-k) / (i-k)!          Graham, Knuth, Patashnik, Concrete Mathematics, 6.19
#
# alternates, but summed over i it becomes Dobinski's formula (Rota, The number of partitions of a set, 1964) cut at I:
#
#     B(V, I) = sum_{k <= I}  k^V / k!  d(I-k)          d(j) = sum_{i <= j} (-1)^i / i!
#
# d(j) is the share of derangements among the permutations of j things: 1, 0, 1/2, 1/3, 3/8 ... -> 1/e. No term is
# negative, so nothing cancels, and d converges fast: the rest is a running sum. This holds for all V and I up to
# rounding; no asymptotic formula is needed.

# |d(j) - 1/e| < 1/(j+1)!, so from j = 18 on both are the same double.
SETTLED = 18
DERANGED = tuple(itertools.accumulate((-1) ** i / math.factorial(i) for i in range(SETTLED)))


def log_groupings(n_values: int) -> NDArray[np.float64]:
    """log B(n_values, i) at index i = 0..n_values: log of the ways to divide values into at most i groups; -inf at 0.

    Largest error over all i, of log B or of its differences: 5e-12 up to 2,000 values (against exact integers), 6e-10
    for 100,000 values (against the recurrence). Not cached: 10 values take 0.04 ms, 100,000 take 54 ms, and the caller
    may write to the result.
    """
    if n_values < 1:
        raise ValueError(f"n_values must be at least 1, got {n_values}")
    log_terms = _log_terms(n_values)
    # All terms are relative to the largest term so far: no exponential overflows, and the sum never underflows to 0.
    largest = np.maximum.accumulate(log_terms)
    scaled = np.zeros(n_values)
    for j, share in enumerate(DERANGED[:n_values]):
        scaled[j:] += share * np.exp(log_terms[: n_values - j] - largest[j:])
    if n_values > SETTLED:
        settled = np.logaddexp.accumulate(log_terms[:-SETTLED])
        scaled[SETTLED:] += np.exp(settled - 1.0 - largest[SETTLED:])
    # If one more group adds less than the last bit, rounding could make the sequence decrease by that bit.
    return np.concatenate(([-math.inf], np.maximum.accumulate(largest + np.log(scaled))))


def _log_terms(n_values: int) -> NDArray[np.float64]:
    """log(k^V / k!) at index k - 1, for k = 1..V."""
    k = np.arange(1.0, n_values + 1.0)
    log_k = np.log(k)
    log_terms: NDArray[np.float64] = n_values * log_k
    # `log_factorial` for arrays; importing scipy.special for gammaln would take 240 ms.
    log_terms[: TABLE_SIZE - 1] -= LOG_FACTORIALS[1 : n_values + 1]
    k, log_k = k[TABLE_SIZE - 1 :], log_k[TABLE_SIZE - 1 :]
    log_terms[TABLE_SIZE - 1 :] -= (k + 0.5) * log_k - k + HALF_LOG_TWO_PI + 1.0 / (12.0 * k)
    return log_terms
