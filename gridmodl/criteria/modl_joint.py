"""MODL without a target: the joint density of all variables, as a code length.

    log C(N+G-1, G-1) + log N! - sum over cells log N_c!
    numerical     log N + sum over parts log N_p!
    categorical   log V + log B(V, I) + sum over groups [ log N_g! + log C(N_g+m_g-1, m_g-1) ]
                  - sum over values log n_v!

M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, Formula 5,
extended by the same construction to any number and kind of variables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gridmodl.codelength import MANY_ROWS, log_binomial, log_compositions, log_order
from gridmodl.terms import Cell, Criterion, Part, Problem, Shape, Variable


def unit_of(problem: Problem) -> float:
    """What to take off every log n!, n times: rows are in as many of these as they are taken off, so it cancels.

    0 but where rows are so many that log n! has too few digits after the point.
    """
    return math.log(problem.n_rows) - 1.0 if problem.n_rows >= MANY_ROWS else 0.0


def cell_order(p: Any, cell: Cell) -> float:
    """What knowing a cell's rows together saves."""
    return -log_order(cell.rows, p.n_rows, p.unit)


def value_order(p: Any, variable: Variable, part: Part, n_target_parts: int) -> float:
    """Code length of the values of a part's rows: ranks in an interval; in a group, how many of each first."""
    cost = log_order(part.rows, p.n_rows, p.unit)
    if variable.categorical:
        cost += log_binomial(part.rows + part.values - 1, part.values - 1)
    return cost


def values_constant(problem: Problem, variable: Variable) -> float:
    """The sum over the values of log n_v!, less the unit of each row where there is one."""
    return variable.constant if problem.n_rows >= MANY_ROWS else variable.log_value_factorials


def values_length(p: Any, variable: Variable, n_parts: int) -> float:
    """Code length of a partition, and what knowing the rows of each value saves."""
    if variable.categorical:
        return math.log(variable.n_values) + variable.log_groupings[n_parts] - variable.constant
    return p.log_rows + p.n_rows * p.unit


class ModlJoint(Criterion):
    name = "modl"
    problems = {"joint"}
    constants = {"unit": float}

    def params(self, problem: Problem) -> Mapping[str, Any]:
        return {"unit": unit_of(problem)}

    def variable_constant(self, problem: Problem, variable: Variable) -> float:
        return values_constant(problem, variable)

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        return log_compositions(p.n_rows, shape.n_cells) + log_order(p.n_rows, p.n_rows, p.unit)

    variable = staticmethod(values_length)

    part = staticmethod(value_order)
    cell = staticmethod(cell_order)
