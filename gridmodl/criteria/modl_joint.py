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
from typing import Any

from gridmodl.codelength import log_binomial, log_compositions, log_factorial
from gridmodl.terms import Cell, Criterion, Part, Shape, Variable


def cell_order(p: Any, cell: Cell) -> float:
    """What knowing a cell's rows together saves."""
    return -log_factorial(cell.rows)


def value_order(p: Any, variable: Variable, part: Part, n_target_parts: int) -> float:
    """Code length of the values of a part's rows: ranks in an interval; in a group, how many of each first."""
    cost = log_factorial(part.rows)
    if variable.categorical:
        cost += log_binomial(part.rows + part.values - 1, part.values - 1)
    return cost


class ModlJoint(Criterion):
    name = "modl"
    problems = {"joint"}

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        return log_compositions(p.n_rows, shape.n_cells) + log_factorial(p.n_rows)

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        if variable.categorical:
            return math.log(variable.n_values) + variable.log_groupings[n_parts] - variable.log_value_factorials
        return p.log_rows

    part = staticmethod(value_order)
    cell = staticmethod(cell_order)
