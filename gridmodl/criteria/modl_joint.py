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

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import log_binomial, log_compositions, log_order, log_orders, unit_of
from gridmodl.criteria.modl import groupings
from gridmodl.terms import Cell, Criterion, Part, Problem, Shape, Variable

# p.unit is taken off every log n!, n times: rows are in as many of these as they are taken off, so it cancels.


def cell_order(p: Any, cell: Cell) -> float:
    """What knowing a cell's rows together saves."""
    return -log_order(cell.rows, p.n_rows, p.unit)


def value_order(p: Any, variable: Variable, part: Part) -> float:
    """Code length of the values of a part's rows: ranks in an interval; in a group, how many of each first."""
    cost = log_order(part.rows, p.n_rows, p.unit)
    if variable.categorical:
        cost += log_binomial(part.rows + part.values - 1, part.values - 1)
    return cost


def values_length(p: Any, variable: Variable, n_parts: int) -> float:
    """Code length of a partition, and what knowing the rows of each value saves."""
    if variable.categorical:
        return math.log(variable.n_values) + variable.by_parts[n_parts] - variable.constant
    return p.log_rows + p.n_rows * p.unit


class ModlJoint(Criterion):
    name = "modl"
    problems = {"joint"}
    constants = {"unit": float}
    scale = 1.0

    def params(self, problem: Problem) -> Mapping[str, Any]:
        return {"unit": unit_of(problem.n_rows)}

    def variable_facts(
        self, problem: Problem, variable: Variable, value_rows: NDArray[np.int64]
    ) -> tuple[float, NDArray[np.float64]]:
        """The sum over the values of log n_v!, less the unit of each row where there is one, and log B(V, i)."""
        return log_orders(value_rows, problem.n_rows, unit_of(problem.n_rows)), groupings(variable)

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        return log_compositions(p.n_rows, shape.n_cells) + log_order(p.n_rows, p.n_rows, p.unit)

    variable = staticmethod(values_length)

    part = staticmethod(value_order)
    cell = staticmethod(cell_order)
