"""Generalized entropy of a cell's classes, and the lower bounds that follow because it is concave and homogeneous.

    E(n) = sum_j n_j (1 - p_j^b)/b,    p_j = n_j / sum of n;    b = 0: Shannon's, n log n - sum_j n_j log n_j

E is concave, so it lies below each of its tangents. E is homogeneous, so a tangent at n is the sum of slope_j(n) times
the counts, and adding rows adds at least their own entropy: E(m + n) >= E(m) + E(n).
"""

from __future__ import annotations

import math
from typing import Any

from gridmodl.terms import Cell, Walk


def deformed_log(x: float, beta: float) -> float:
    """(1 - x^beta) / beta, which is -log x at beta = 0; computed without cancellation near 0."""
    if beta == 0.0:
        return -math.log(x)
    if beta == 1.0:
        return 1.0 - x
    return -math.expm1(beta * math.log(x)) / beta


def log_loss(cell: Cell) -> float:
    """E of a cell at b = 0: the negative log-likelihood of its rows under its own shares."""
    cost = 0.0
    for n in cell.counts:
        if n > 0:
            cost -= n * math.log(n / cell.rows)
    return cost


def uniform_predictive(p: Any, cell: Cell, code: int) -> float:
    """(n_j+1) / (n+J): posterior mean share of class `code` in a cell, under a uniform prior of the shares."""
    return float(cell.counts[code] + 1) / float(cell.rows + p.n_classes)


def entropy(cell: Cell, beta: float) -> float:
    """E of a non-empty cell."""
    cost = 0.0
    for n in cell.counts:
        if n > 0:
            cost += n * deformed_log(n / cell.rows, beta)
    return cost


def entropy_excess(cell: Cell, other: Cell, walk: Walk, beta: float, constant: float) -> float:
    """Lower bound of E(cell + y) - E(other + y) over all steps y of a walk.

    `constant` is the cost of a non-empty cell besides E. It is subtracted if `cell` is empty, because before the first
    step of the walk this cell does not cost it.

    E(other + y) is below its tangent at half of the walk. E(cell + y) minus that tangent is concave in y, so its
    minimum is at a corner. The corners of the walk are share * counts + low, plus (sum of -low) in one class, for a
    share of 0 and of 1.
    """
    middle = other.rows + 0.5 * walk.rows
    mean = 0.0
    for j in range(len(walk.counts)):
        n = other.counts[j] + 0.5 * walk.counts[j]
        if n > 0.0:
            mean += n / middle * deformed_log(n / middle, beta)
    lag = 0.0
    for j in range(len(walk.counts)):
        lag -= walk.low[j]
    if cell.rows == 0 and lag > 0.0:  # a corner would have negative counts
        return -math.inf
    least = math.inf
    for share in range(2 if walk.rows > 0 else 1):
        rows = float(cell.rows + share * walk.rows)
        value, further = 0.0, math.inf
        for j in range(len(walk.counts)):
            step = share * walk.counts[j] + walk.low[j]
            n, at = cell.counts[j] + step, other.counts[j] + 0.5 * walk.counts[j]
            if n < 0.0:
                return -math.inf
            slope = (1.0 + beta) * deformed_log(at / middle, beta) - beta * mean if at > 0.0 else 0.0
            own = n * deformed_log(n / rows, beta) if n > 0.0 else 0.0
            value += own - slope * (other.counts[j] + step)
            if lag > 0.0 and walk.counts[j] > 0:
                further = min(further, (n + lag) * deformed_log((n + lag) / rows, beta) - own - slope * lag)
        least = min(least, value + further if lag > 0.0 else value)
    return least - constant if cell.rows == 0 else least


def entropy_tangent(cell: Cell, more: Cell, walk: Walk, beta: float, slopes: Any) -> float:
    """Write the slopes of a lower bound of E(cell + walk + d) - E(cell + walk), for rows d out of `more`; return 0.

    By concavity, rows d add at least d times the slopes at the point that contains d; the slopes are lowest when all
    rows of `more` are added. slope_j = (1+b) (1 - p_j^b)/b - b E/n, where the share p_j is at most the share with all
    rows of class j and no others.
    """
    slopes[:] = 0.0
    if cell.rows == 0:
        return 0.0
    mean = 0.0
    if beta > 0.0:  # E/n is below its tangent at the cell, taken at the largest possible shares
        for n in cell.counts:
            if n > 0:
                mean += n / cell.rows * deformed_log(n / cell.rows, beta)
        highest = 0.0
        for j in range(len(slopes)):
            top = walk.counts[j] + more.counts[j]
            share = (cell.counts[j] + top) / (cell.rows + top)
            n = cell.counts[j]
            own = deformed_log(n / cell.rows, beta) if n > 0 else 1.0 / beta
            highest += share * max(0.0, (1.0 + beta) * own - beta * mean)
        mean = highest
    for j in range(len(slopes)):
        top = walk.counts[j] + more.counts[j]
        if more.counts[j] > 0:
            share = (cell.counts[j] + top) / (cell.rows + top)
            slopes[j] = (1.0 + beta) * deformed_log(share, beta) - beta * mean
    return 0.0
