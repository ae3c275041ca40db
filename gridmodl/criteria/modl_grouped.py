"""MODL with a target that is partitioned too: groups of many classes, or intervals of a numerical target.

    input         as in `gridmodl.criteria.modl`
    each margin   log C(N_i+J-1, J-1) + log N_i!
    each cell     - log N_ij!
    classes       log W + log B(W, J) + sum_j [ log C(N_j+m_j-1, m_j-1) + log N_j! ] - sum_w log n_w!
    numerical     log N + sum_j log N_j!

A margin is a cell of the inputs; with one input, it is a part of that input. The cost of a margin depends on J, the
number of parts of the target; nothing else couples the variables. With several inputs, their choice and the partitions
of the informative ones are coded as with classes (`ModlGrid`): given the parts of the target, it is the same cost.

M. Boullé, "Classification supervisée pour de grands nombres de classes à prédire : une approche par co-partitionnement
des variables explicatives et à expliquer", Formula 8; C. Hue and M. Boullé, "A new probabilistic approach in rank
regression with optimal Bayesian partitioning", JMLR 8, 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridmodl.codelength import log_binomial, log_order, unit_of
from gridmodl.criteria.modl import ModlGrid, partition_length
from gridmodl.criteria.modl_joint import ModlJoint, cell_order, value_order, values_length
from gridmodl.terms import Criterion, Part, Problem, Variable


class ModlGrouped(Criterion):
    name = "modl"
    problems = {"grouped", "numerical"}
    constants = {"unit": float}
    # If the input determines the groups of classes, the terms of its parts and of the cells cancel: with 2^36 rows the
    # rounding error is 1e-5 nats, and it grows with the rows.
    max_rows = 2**36
    scale = 1.0
    variable_facts = ModlJoint.variable_facts

    def params(self, problem: Problem) -> Mapping[str, Any]:
        return {"unit": unit_of(problem.n_rows)}

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        return values_length(p, variable, n_parts) if variable.is_target else partition_length(p, variable, n_parts)

    @staticmethod
    def part(p: Any, variable: Variable, part: Part) -> float:
        return value_order(p, variable, part) if variable.is_target else 0.0

    @staticmethod
    def margin(p: Any, rows: int, n_target_parts: int) -> float:
        return log_binomial(rows + n_target_parts - 1, n_target_parts - 1) + log_order(rows, p.n_rows, p.unit)

    cell = staticmethod(cell_order)


class ModlGroupedGrid(ModlGrouped):
    """The same for several inputs: codes which are informative, then the partition of each of these.

    ``selection=False`` leaves out the choice of the inputs.
    """

    problems = {"grouped_grid", "numerical_grid"}
    options = ModlGrid.options
    given_target = ModlGrid
    grid = staticmethod(ModlGrid.grid)

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        if variable.is_target:
            return values_length(p, variable, n_parts)
        return partition_length(p, variable, n_parts) if n_parts > 1 else 0.0
