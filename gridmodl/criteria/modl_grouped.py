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

import math
from typing import Any

from gridmodl.codelength import log_binomial, log_factorial
from gridmodl.criteria.modl import partition_length
from gridmodl.criteria.modl_joint import cell_order, value_order
from gridmodl.terms import Criterion, Part, Variable


class ModlGrouped(Criterion):
    name = "modl"
    problems = {"grouped", "numerical"}

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        if not variable.is_target:
            return partition_length(p, variable, n_parts)
        if variable.categorical:
            return math.log(variable.n_values) + variable.log_groupings[n_parts] - variable.log_value_factorials
        return p.log_rows

    @staticmethod
    def part(p: Any, variable: Variable, part: Part, n_target_parts: int) -> float:
        if variable.is_target:
            return value_order(p, variable, part, n_target_parts)
        return log_binomial(part.rows + n_target_parts - 1, n_target_parts - 1) + log_factorial(part.rows)

    cell = staticmethod(cell_order)
