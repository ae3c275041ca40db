"""Criteria of a likelihood with a penalty for the number of parts: AIC, BIC and MDLP.

SL = - sum_i sum_j N_ij log(N_ij / N_i); I is the number of parts or non-empty cells:

    aic     2 SL + 2 I (J-1)
    bic     2 SL + I (J-1) log N
    mdlp    SL + (I-1) log(N/(I-1)) + I (J-1) log J

R. Jin, Y. Breitbart, C. Muoh, "Data discretization unification", Knowledge and Information Systems 19, 2009,
Equations 2 to 4.
"""

from __future__ import annotations

import math
from typing import Any

from gridmodl.criteria.concave import entropy_excess, entropy_gradient, entropy_tangent, log_loss, uniform_predictive
from gridmodl.terms import Cell, Criterion, Variable, Walk


class Aic(Criterion):
    name = "aic"
    problems = {"classes", "grid"}
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True
    scale = 0.5  # exp(-cost / 2) approximates a posterior; the choice of the predictive is ours

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return 2.0 * log_loss(cell) + 2.0 * (p.n_classes - 1)

    predictive = staticmethod(uniform_predictive)

    @staticmethod
    def floor(p: Any, cell: Cell) -> float:
        return 2.0 * log_loss(cell)

    @staticmethod
    def excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
        return 2.0 * entropy_excess(cell, other, walk, 0.0, p.n_classes - 1.0)

    @staticmethod
    def tangent(p: Any, cell: Cell, more: Cell, walk: Walk, slopes: Any) -> float:
        constant = 2.0 * entropy_tangent(cell, more, walk, 0.0, slopes)
        _double(slopes)
        return constant

    @staticmethod
    def gradient(p: Any, cell: Cell, slopes: Any) -> None:
        entropy_gradient(cell, 0.0, slopes)
        _double(slopes)


def _double(slopes: Any) -> None:
    """Double `slopes`, without the array that numpy would make."""
    for j in range(len(slopes)):
        slopes[j] *= 2.0


class Bic(Aic):
    name = "bic"

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return 2.0 * log_loss(cell) + (p.n_classes - 1) * p.log_rows

    @staticmethod
    def excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
        return 2.0 * entropy_excess(cell, other, walk, 0.0, 0.5 * (p.n_classes - 1) * p.log_rows)


class Mdlp(Criterion):
    name = "mdlp"
    problems = {"classes"}
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        if n_parts == 1:
            return 0.0
        return (n_parts - 1) * math.log(p.n_rows / (n_parts - 1))

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return log_loss(cell) + (p.n_classes - 1) * math.log(p.n_classes)

    @staticmethod
    def floor(p: Any, cell: Cell) -> float:
        return log_loss(cell)

    @staticmethod
    def excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
        return entropy_excess(cell, other, walk, 0.0, (p.n_classes - 1) * math.log(p.n_classes))

    @staticmethod
    def tangent(p: Any, cell: Cell, more: Cell, walk: Walk, slopes: Any) -> float:
        return entropy_tangent(cell, more, walk, 0.0, slopes)

    @staticmethod
    def gradient(p: Any, cell: Cell, slopes: Any) -> None:
        entropy_gradient(cell, 0.0, slopes)
