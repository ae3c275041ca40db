"""MODL without a target: code length of the joint density of all variables.

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

# n * p.unit is subtracted from every log n!. Each row is in as many added as subtracted factorials, so the sum of all
# terms does not change; see `gridmodl.codelength.log_order`.


def cell_order(p: Any, cell: Cell) -> float:
    """- log N_c!, as the order of a cell's rows is not coded."""
    return -log_order(cell.rows, p.n_rows, p.unit)


def value_order(p: Any, variable: Variable, part: Part) -> float:
    """Code length of the values of a part's rows: their order; in a group, first the number of rows of each value."""
    cost = log_order(part.rows, p.n_rows, p.unit)
    if variable.categorical:
        cost += log_binomial(part.rows + part.values - 1, part.values - 1)
    return cost


def values_length(p: Any, variable: Variable, n_parts: int) -> float:
    """Code length of a partition, minus log n_v! for each value of a categorical variable."""
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
        """Sum over the values of log n_v! - n_v * unit, and log B(V, i) by number of parts i."""
        return log_orders(value_rows, problem.n_rows, unit_of(problem.n_rows)), groupings(variable)

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        return log_compositions(p.n_rows, shape.n_cells) + log_order(p.n_rows, p.n_rows, p.unit)

    variable = staticmethod(values_length)

    part = staticmethod(value_order)
    cell = staticmethod(cell_order)
