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
# Below this many cells the binomial is exact enough as a difference; above, that difference cancels.
MANY_CELLS = 100.0


def log_factorial(n: int) -> float:
    """log n! for a whole number n >= 0; relative error below 1e-15."""
    if n < TABLE_SIZE:
        return LOG_FACTORIALS[n]
    # The next term of the series, 1/(360 n^3), is below the last bit of the sum from n = 4096 on.
    return (n + 0.5) * math.log(n) - n + HALF_LOG_TWO_PI + 1.0 / (12.0 * n)


def log_binomial(n: int, k: int) -> float:
    """log C(n, k) for whole numbers 0 <= k <= n."""
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


def log_compositions(n: int, cells: float) -> float:
    """log C(n + cells - 1, cells - 1): ways to spread n rows over so many cells.

    ``cells`` may be a float far beyond the integers, as the product of many numbers of parts is.
    """
    if cells < MANY_CELLS:
        return log_binomial(n + int(cells) - 1, int(cells) - 1)
    return (
        (cells + n - 0.5) * math.log1p(n / cells)
        + n * math.log(cells)
        - n
        + 1.0 / (12.0 * (cells + n))
        - 1.0 / (12.0 * cells)
        - log_factorial(n)
    )
