"""Criteria of the chi-square test of independence between parts and classes, with G2 or Pearson's X2.

    G2 = 2 (SL of the null - SL)      X2 = N ( sum_ij N_ij^2 / (N_i N_j) - 1 )      df = (I-1)(J-1)

    g2, x2                  log of the chi-square survival at the statistic, 0 for one part
    g2-normal, x2-normal    -(stat - df (1 + log(stat/df))) for stat > df, else 0

The cost is not a sum of terms, but the statistic is, and for a fixed number of parts the cost decreases in the
statistic: `finish` computes the cost from the statistic.

R. Jin, Y. Breitbart, C. Muoh, "Data discretization unification", Knowledge and Information Systems 19, 2009,
section 3.2 and Equation 16.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gridmodl.criteria.concave import entropy_excess, entropy_tangent, log_loss
from gridmodl.terms import Cell, Criterion, Problem, Shape, Walk


def log_chi2_survival(stat: float, df: float) -> float:
    """log Q(df/2, stat/2), the log of the chi-square survival; accurate even if the survival itself underflows."""
    a, x = 0.5 * df, 0.5 * stat
    if x <= 0.0:
        return 0.0
    front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1.0:
        term = 1.0 / a
        series, n = term, a
        while term > 1e-17 * series:
            n += 1.0
            term *= x / n
            series += term
        return math.log1p(-min(math.exp(front) * series, 1.0))
    # Continued fraction of the upper incomplete gamma function, by Lentz's method.
    tiny = 1e-300
    b = x + 1.0 - a
    c, d = 1.0 / tiny, 1.0 / b
    fraction, change, i = d, 0.0, 0.0
    while abs(change - 1.0) > 1e-15:
        i += 1.0
        step = -i * (i - a)
        b += 2.0
        d = step * d + b
        if abs(d) < tiny:
            d = tiny
        c = b + step / c
        if abs(c) < tiny:
            c = tiny
        d = 1.0 / d
        change = d * c
        fraction *= change
    return front + math.log(fraction)


# The statistic is a small difference of sums that grow with the rows; with 2^31 rows it has six decimals left.
MAX_ROWS = 2**31


def normal_confidence(stat: float, df: float) -> float:
    """Cost from the normal approximation of the survival: its exponent."""
    if stat <= df:
        return 0.0
    return -(stat - df * (1.0 + math.log(stat / df)))


def degrees_of_freedom(p: Any, shape: Shape) -> float:
    """(I-1)(J-1)."""
    return (shape.n_cells - 1.0) * (p.n_classes - 1)


class G2(Criterion):
    name = "g2"
    problems = {"classes"}
    constants = {"null_loss": float}
    max_rows = MAX_ROWS
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True

    def params(self, problem: Problem) -> Mapping[str, Any]:
        counts = [int(n) for n in problem.class_rows]
        return {"null_loss": log_loss(Cell(counts, problem.n_rows, 0))}

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return log_loss(cell)

    @staticmethod
    def floor(p: Any, cell: Cell) -> float:
        return log_loss(cell)

    @staticmethod
    def excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
        return entropy_excess(cell, other, walk, 0.0, 0.0)

    @staticmethod
    def tangent(p: Any, cell: Cell, more: Cell, walk: Walk, slopes: Any) -> float:
        return entropy_tangent(cell, more, walk, 0.0, slopes)

    @staticmethod
    def finish(p: Any, total: float, shape: Shape) -> float:
        df = degrees_of_freedom(p, shape)
        return log_chi2_survival(2.0 * (p.null_loss - total), df) if df > 0.0 else 0.0


class G2Normal(G2):
    name = "g2-normal"

    @staticmethod
    def finish(p: Any, total: float, shape: Shape) -> float:
        df = degrees_of_freedom(p, shape)
        return normal_confidence(2.0 * (p.null_loss - total), df) if df > 0.0 else 0.0


def square_loss(p: Any, cell: Cell) -> float:
    """- N sum_j n_j^2 / (n N_j): minus the cell's summand of X2 + N. Concave and homogeneous, like the log-loss."""
    cost = 0.0
    for j in range(p.n_classes):
        n = cell.counts[j]
        cost -= n / cell.rows * (n / p.class_rows[j]) * p.n_rows
    return cost


def square_excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
    """Lower bound of `square_loss` of cell + y minus that of other + y, at the same corners as `entropy_excess`.

    slope_j = - 2 w_j p_j + sum_i w_i p_i^2, where w_j = N / N_j. The loss is concave for negative counts too, as long
    as the sum of the counts is positive.
    """
    middle = other.rows + 0.5 * walk.rows
    mean, lag = 0.0, 0.0
    for j in range(p.n_classes):
        lag -= walk.low[j]
        if middle > 0.0:
            mean += p.n_rows / p.class_rows[j] * ((other.counts[j] + 0.5 * walk.counts[j]) / middle) ** 2
    if cell.rows == 0 and lag > 0.0:
        return -math.inf
    least = math.inf
    for share in range(2 if walk.rows > 0 else 1):
        rows = float(cell.rows + share * walk.rows)
        value, further = 0.0, math.inf
        for j in range(p.n_classes):
            step = share * walk.counts[j] + walk.low[j]
            weight, n = p.n_rows / p.class_rows[j], cell.counts[j] + step
            at = (other.counts[j] + 0.5 * walk.counts[j]) / middle if middle > 0.0 else 0.0
            slope = mean - 2.0 * weight * at
            value -= slope * (other.counts[j] + step)
            if rows > 0.0:
                value -= weight * n * n / rows
                if walk.counts[j] > 0:
                    further = min(further, -weight * lag * (2.0 * n + lag) / rows - slope * lag)
        least = min(least, value + further if lag > 0.0 else value)
    return least


def square_tangent(p: Any, cell: Cell, more: Cell, walk: Walk, slopes: Any) -> float:
    """Write lower bounds of the slopes, as `entropy_tangent` does; return 0.

    Takes the highest p_j in - 2 w_j p_j and the lowest in sum_i w_i p_i^2, a sum that is at least 1.
    """
    least = 0.0
    for j in range(p.n_classes):
        share = cell.counts[j] / (cell.rows + walk.rows + more.rows)
        least += p.n_rows / p.class_rows[j] * share * share
    for j in range(p.n_classes):
        top = cell.counts[j] + walk.counts[j] + more.counts[j]
        others = cell.rows - cell.counts[j]
        slopes[j] = max(1.0, least) - 2.0 * p.n_rows / p.class_rows[j] * top / (top + others) if top > 0 else 0.0
    return 0.0


class X2(Criterion):
    name = "x2"
    problems = {"classes"}
    max_rows = MAX_ROWS
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True

    cell = staticmethod(square_loss)
    floor = staticmethod(square_loss)
    excess = staticmethod(square_excess)
    tangent = staticmethod(square_tangent)

    @staticmethod
    def finish(p: Any, total: float, shape: Shape) -> float:
        df = degrees_of_freedom(p, shape)
        return log_chi2_survival(-total - p.n_rows, df) if df > 0.0 else 0.0


class X2Normal(X2):
    name = "x2-normal"

    @staticmethod
    def finish(p: Any, total: float, shape: Shape) -> float:
        df = degrees_of_freedom(p, shape)
        return normal_confidence(-total - p.n_rows, df) if df > 0.0 else 0.0
