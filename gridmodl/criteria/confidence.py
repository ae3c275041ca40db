"""How surely the parts differ: the chi-square test of independence, of G2 or of Pearson's X2.

    G2 = 2 (SL of the null - SL)      X2 = N ( sum_ij N_ij^2 / (N_i N_j) - 1 )      df = (I-1)(J-1)

    g2, x2                  log of the chi-square survival at the statistic, 0 for one part
    g2-normal, x2-normal    -(stat - df (1 + log(stat/df))) for stat > df, else 0

Not sums of terms: the statistic is one, and for a given number of parts the cost falls as it grows, so
`finish` turns the one into the other.

R. Jin, Y. Breitbart, C. Muoh, "Data discretization unification", Knowledge and Information Systems 19, 2009,
section 3.2 and Equation 16.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gridmodl.criteria.information import log_loss
from gridmodl.terms import Cell, Criterion, Problem, Shape


def log_chi2_survival(stat: float, df: float) -> float:
    """log Q(df/2, stat/2); the logarithm stays exact far beyond where the survival itself underflows."""
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
    # Lentz's continued fraction of the upper incomplete gamma function.
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


def normal_confidence(stat: float, df: float) -> float:
    """The exponent of the normal approximation to the survival, as a cost."""
    if stat <= df:
        return 0.0
    return -(stat - df * (1.0 + math.log(stat / df)))


def freedom(p: Any, shape: Shape) -> float:
    return (shape.n_cells - 1.0) * (p.n_classes - 1)


class G2(Criterion):
    name = "g2"
    problems = {"classes"}
    constants = {"null_loss": float}
    joins_pure_runs = True
    groups_by_share = True

    def params(self, problem: Problem) -> Mapping[str, Any]:
        counts = [int(n) for n in problem.class_rows]
        return {"null_loss": log_loss(Cell(counts, problem.n_rows, 0))}

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return log_loss(cell)

    @staticmethod
    def finish(p: Any, total: float, shape: Shape) -> float:
        df = freedom(p, shape)
        return log_chi2_survival(2.0 * (p.null_loss - total), df) if df > 0.0 else 0.0


class G2Normal(G2):
    name = "g2-normal"

    @staticmethod
    def finish(p: Any, total: float, shape: Shape) -> float:
        df = freedom(p, shape)
        return normal_confidence(2.0 * (p.null_loss - total), df) if df > 0.0 else 0.0


class X2(Criterion):
    name = "x2"
    problems = {"classes"}
    joins_pure_runs = True
    groups_by_share = True

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        cost = 0.0
        for j in range(p.n_classes):
            n = cell.counts[j]
            cost -= n / cell.rows * (n / p.class_rows[j]) * p.n_rows
        return cost

    @staticmethod
    def finish(p: Any, total: float, shape: Shape) -> float:
        df = freedom(p, shape)
        return log_chi2_survival(-total - p.n_rows, df) if df > 0.0 else 0.0


class X2Normal(X2):
    name = "x2-normal"

    @staticmethod
    def finish(p: Any, total: float, shape: Shape) -> float:
        df = freedom(p, shape)
        return normal_confidence(-total - p.n_rows, df) if df > 0.0 else 0.0
