"""Likelihood with a penalty for the number of parts: AIC, BIC and the MDLP of the same family.

SL = - sum_i sum_j N_ij log(N_ij / N_i), I parts or non-empty cells:

    aic     2 SL + 2 I (J-1)
    bic     2 SL + I (J-1) log N
    mdlp    SL + (I-1) log(N/(I-1)) + I (J-1) log J

R. Jin, Y. Breitbart, C. Muoh, "Data discretization unification", Knowledge and Information Systems 19, 2009,
Equations 2 to 4.
"""

from __future__ import annotations

import math
from typing import Any

from gridmodl.terms import Cell, Criterion, Variable


def log_loss(cell: Cell) -> float:
    """The cell's part of SL."""
    cost = 0.0
    for n in cell.counts:
        if n > 0:
            cost -= n * math.log(n / cell.rows)
    return cost


class Aic(Criterion):
    name = "aic"
    problems = {"classes", "grid"}
    joins_pure_runs = True
    groups_by_share = True

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return 2.0 * log_loss(cell) + 2.0 * (p.n_classes - 1)


class Bic(Criterion):
    name = "bic"
    problems = {"classes", "grid"}
    joins_pure_runs = True
    groups_by_share = True

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return 2.0 * log_loss(cell) + (p.n_classes - 1) * p.log_rows


class Mdlp(Criterion):
    name = "mdlp"
    problems = {"classes"}
    joins_pure_runs = True
    groups_by_share = True

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        if n_parts == 1:
            return 0.0
        return (n_parts - 1) * math.log(p.n_rows / (n_parts - 1))

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return log_loss(cell) + (p.n_classes - 1) * math.log(p.n_classes)
