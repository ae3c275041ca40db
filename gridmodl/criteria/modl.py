"""MODL with a class target: the posterior probability of a partition, as a code length.

    numerical     log N + log C(N+I-1, I-1)
    categorical   log V + log B(V, I)
    each cell     log C(N_c+J-1, J-1) + log N_c! - sum_j log N_cj!

M. Boullé, "MODL: a Bayes optimal discretization method for continuous attributes", Machine Learning 65,
2006, and "Data grid models for preparation and modeling in supervised learning", 2011, Formulas 1 to 3.
"""

from __future__ import annotations

import math
from typing import Any

from gridmodl.codelength import log_binomial, log_factorial
from gridmodl.terms import Cell, Criterion, Shape, Variable


def partition_length(p: Any, variable: Variable, n_parts: int) -> float:
    """Code length of a partition into `n_parts` intervals or groups."""
    if variable.categorical:
        return math.log(variable.n_values) + variable.log_groupings[n_parts]
    return p.log_rows + log_binomial(p.n_rows + n_parts - 1, n_parts - 1)


def class_length(p: Any, cell: Cell) -> float:
    """Code length of the classes of a cell's rows: first how many of each, then in which order.

    log N_c! cancels: log C(N_c+J-1, J-1) + log N_c! = log (N_c+J-1)! - log (J-1)!
    """
    cost = -log_factorial(p.n_classes - 1)
    cost += log_factorial(cell.rows + p.n_classes - 1)
    for n in cell.counts:
        cost -= log_factorial(n)
    return cost


class Modl(Criterion):
    """One input variable: its partition is always coded, also when it has one part."""

    name = "modl"
    problems = {"classes"}
    joins_pure_runs = True
    groups_by_share = True

    variable = staticmethod(partition_length)
    cell = staticmethod(class_length)


class ModlGrid(Criterion):
    """Several input variables: which are informative, then the partition of each of those.

    log(K+1) + log C(K+Ks-1, Ks), left out with ``selection=False``, codes the choice of Ks out of K.
    """

    name = "modl"
    problems = {"grid"}
    options = {"selection": True}
    joins_pure_runs = True
    groups_by_share = True

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        if not p.selection:
            return 0.0
        chosen = log_binomial(shape.n_variables + shape.n_informative - 1, shape.n_informative)
        return math.log(shape.n_variables + 1) + chosen

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        return partition_length(p, variable, n_parts) if n_parts > 1 else 0.0

    cell = staticmethod(class_length)
