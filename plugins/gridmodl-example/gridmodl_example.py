"""Likelihood with the penalty of Hannan and Quinn, which lies between those of AIC and BIC.

SL = - sum_i sum_j N_ij log(N_ij / N_i), I parts or non-empty cells, J classes:

    hqc     2 SL + 2 I (J-1) log log N

E. J. Hannan and B. G. Quinn, "The determination of the order of an autoregression", Journal of the Royal
Statistical Society B 41, 1979.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gridmodl import Criterion, hookimpl
from gridmodl.terms import Cell, Problem


def log_loss(cell: Cell) -> float:
    """SL of one cell."""
    loss = 0.0
    for n in cell.counts:
        if n > 0:
            loss -= n * math.log(n / cell.rows)
    return loss


class HannanQuinn(Criterion):
    name = "hqc"
    problems = {"classes", "grid"}
    constants = {"penalty": float}
    joins_pure_runs = True  # cutting a pure run adds no likelihood and may cost a penalty
    concave_cell = True  # as the loss is

    def params(self, problem: Problem) -> Mapping[str, Any]:
        # log log N is negative below N = e, where it would reward parts, and -inf at N = 1.
        log_log_rows = math.log(max(1.0, math.log(problem.n_rows)))
        return {"penalty": 2.0 * (problem.n_classes - 1) * log_log_rows}

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        cost: float = p.penalty + 2.0 * log_loss(cell)
        return cost

    @staticmethod
    def floor(p: Any, cell: Cell) -> float:
        # Rows add at least their own loss to that of any others; optional, and makes proofs faster.
        return 2.0 * log_loss(cell)


@hookimpl
def gridmodl_criteria() -> list[type[Criterion]]:
    return [HannanQuinn]
