"""Gini's index and the generalized entropy, each with a penalty for the number of parts.

    gini      sum_i N_i (1 - sum_j p_ij^2) + 2 (I-1)
    entropy   sum_i N_i H_b(i) + a (I-1)(J-1) (1 - N^-b)/b        H_b(i) = sum_j p_ij (1 - p_ij^b)/b
              b = 0: Shannon's entropy and a (I-1)(J-1) log N

I is the number of parts or non-empty cells; a and b are the options alpha and beta. entropy(a=1/2, b=0) ranks
partitions as bic does, entropy(a=1/log N, b=0) as aic does, and entropy(a=2N/((N-1)(J-1)), b=1) is gini.

R. Jin, Y. Breitbart, C. Muoh, "Data discretization unification", Knowledge and Information Systems 19, 2009,
sections 3.3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gridmodl.criteria.concave import deformed_log, entropy, entropy_excess, entropy_gradient, entropy_tangent
from gridmodl.terms import Cell, Criterion, Problem, Shape, Walk

MIN_BETA = 1e-300  # 1 / beta of a smaller beta is infinite


class Gini(Criterion):
    name = "gini"
    problems = {"classes", "grid"}
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        return -2.0

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return entropy(cell, 1.0) + 2.0

    @staticmethod
    def floor(p: Any, cell: Cell) -> float:
        return entropy(cell, 1.0)

    @staticmethod
    def excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
        return entropy_excess(cell, other, walk, 1.0, 2.0)

    @staticmethod
    def tangent(p: Any, cell: Cell, more: Cell, walk: Walk, slopes: Any) -> float:
        return entropy_tangent(cell, more, walk, 1.0, slopes)

    @staticmethod
    def gradient(p: Any, cell: Cell, slopes: Any) -> None:
        entropy_gradient(cell, 1.0, slopes)


class Entropy(Criterion):
    name = "entropy"
    problems = {"classes", "grid"}
    options = {"alpha": 0.5, "beta": 0.0}
    constants = {"penalty": float}
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True
    penalty_option = "alpha"
    tried_options = {"beta": (0.0, 0.5, 1.0)}

    def check_options(self) -> None:
        alpha, beta = self.chosen["alpha"], self.chosen["beta"]
        if not 0.0 < alpha < math.inf:
            raise ValueError(f"alpha of criterion 'entropy' must be positive and finite, got {alpha!r}")
        if not 0.0 <= beta < math.inf or 0.0 < beta < MIN_BETA:
            raise ValueError(
                f"beta of criterion 'entropy' must be finite, and 0 or at least {MIN_BETA:g}, got {beta!r}"
            )

    def params(self, problem: Problem) -> Mapping[str, Any]:
        alpha, beta = self.chosen["alpha"], self.chosen["beta"]
        return {"penalty": alpha * (problem.n_classes - 1) * deformed_log(1.0 / problem.n_rows, beta)}

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        return -p.penalty

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return p.penalty + entropy(cell, p.beta)

    @staticmethod
    def floor(p: Any, cell: Cell) -> float:
        return entropy(cell, p.beta)

    @staticmethod
    def excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
        return entropy_excess(cell, other, walk, p.beta, p.penalty)

    @staticmethod
    def tangent(p: Any, cell: Cell, more: Cell, walk: Walk, slopes: Any) -> float:
        return entropy_tangent(cell, more, walk, p.beta, slopes)

    @staticmethod
    def gradient(p: Any, cell: Cell, slopes: Any) -> None:
        entropy_gradient(cell, p.beta, slopes)
