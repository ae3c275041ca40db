"""MODL with a target that is partitioned too: many classes in groups, or a numerical target in intervals.

    input         as for a class target, + sum_i [ log C(N_i+J-1, J-1) + log N_i! ]
    each cell     - log N_ij!
    classes       log W + log B(W, J) + sum_j [ log C(N_j+m_j-1, m_j-1) + log N_j! ] - sum_w log n_w!
    numerical     log N + sum_j log N_j!

J, the number of parts of the target, enters the price of every input part: the one coupling of variables.

M. Boullé, "Classification supervisée pour de grands nombres de classes à prédire : une approche par co-partitionnement
des variables explicatives et à expliquer", Formula 8; C. Hue and M. Boullé, "A new probabilistic approach in rank
regression with optimal Bayesian partitioning", JMLR 8, 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridmodl.codelength import log_binomial, log_order
from gridmodl.criteria.modl import partition_length
from gridmodl.criteria.modl_joint import cell_order, unit_of, value_order, values_constant, values_length
from gridmodl.terms import Criterion, Part, Problem, Variable


class ModlGrouped(Criterion):
    name = "modl"
    problems = {"grouped", "numerical"}
    constants = {"unit": float}
    # Where the input tells the groups of classes, what the rows cost in its parts and in the cells cancels: 1e-5 nats
    # are left of them here, and digits would be lost beyond.
    max_rows = 2**36

    def params(self, problem: Problem) -> Mapping[str, Any]:
        return {"unit": unit_of(problem)}

    def variable_constant(self, problem: Problem, variable: Variable) -> float:
        return values_constant(problem, variable)

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        return values_length(p, variable, n_parts) if variable.is_target else partition_length(p, variable, n_parts)

    @staticmethod
    def part(p: Any, variable: Variable, part: Part, n_target_parts: int) -> float:
        if variable.is_target:
            return value_order(p, variable, part, n_target_parts)
        order = log_order(part.rows, p.n_rows, p.unit)
        return log_binomial(part.rows + n_target_parts - 1, n_target_parts - 1) + order

    cell = staticmethod(cell_order)
