"""Gini's index and the generalized entropy, each with a penalty for the number of parts.

    gini      sum_i N_i (1 - sum_j p_ij^2) + 2 (I-1)
    entropy   sum_i N_i H_b(i) + a (I-1)(J-1) (1 - N^-b)/b        H_b(i) = sum_j p_ij (1 - p_ij^b)/b
              b = 0: Shannon's entropy and a (I-1)(J-1) log N

I parts or non-empty cells. entropy(a=1/2, b=0) ranks as bic, entropy(a=1/log N, b=0) as aic, and
entropy(a=2N/((N-1)(J-1)), b=1) is gini.

R. Jin, Y. Breitbart, C. Muoh, "Data discretization unification", Knowledge and Information Systems 19, 2009,
sections 3.3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gridmodl.terms import Cell, Criterion, Problem, Shape


def deformed_log(x: float, beta: float) -> float:
    """(1 - x^beta) / beta, which is -log x at beta = 0; without the cancellation near 0."""
    if beta == 0.0:
        return -math.log(x)
    return -math.expm1(beta * math.log(x)) / beta


class Gini(Criterion):
    name = "gini"
    problems = {"classes", "grid"}
    joins_pure_runs = True
    groups_by_share = True

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        return -2.0

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        squares = 0.0
        for n in cell.counts:
            share = n / cell.rows
            squares += share * share
        return cell.rows * (1.0 - squares) + 2.0


class Entropy(Criterion):
    name = "entropy"
    problems = {"classes", "grid"}
    options = {"alpha": 0.5, "beta": 0.0}
    constants = {"penalty": float}
    joins_pure_runs = True
    groups_by_share = True

    def check_options(self) -> None:
        alpha, beta = self.chosen["alpha"], self.chosen["beta"]
        if not 0.0 < alpha < math.inf:
            raise ValueError(f"alpha of criterion 'entropy' must be positive and finite, got {alpha!r}")
        if not 0.0 <= beta < math.inf:
            raise ValueError(f"beta of criterion 'entropy' must be at least 0 and finite, got {beta!r}")

    def params(self, problem: Problem) -> Mapping[str, Any]:
        alpha, beta = self.chosen["alpha"], self.chosen["beta"]
        return {"penalty": alpha * (problem.n_classes - 1) * deformed_log(1.0 / problem.n_rows, beta)}

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        return -p.penalty

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        cost = p.penalty
        for n in cell.counts:
            if n > 0:
                cost += n * deformed_log(n / cell.rows, p.beta)
        return cost
