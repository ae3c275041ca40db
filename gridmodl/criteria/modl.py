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

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import MANY_ROWS, log_binomial, log_factorial, log_groupings, log_order
from gridmodl.criteria.concave import log_loss, uniform_predictive
from gridmodl.terms import Cell, Criterion, Problem, Shape, Variable, Walk


def groupings(variable: Variable) -> NDArray[np.float64]:
    """log B(V, i) at index i for a categorical variable of V values; empty for a numerical one."""
    return log_groupings(variable.n_values) if variable.categorical else np.empty(0)


def partition_length(p: Any, variable: Variable, n_parts: int) -> float:
    """Code length of a partition into `n_parts` intervals or groups."""
    if variable.categorical:
        return math.log(variable.n_values) + variable.by_parts[n_parts]
    return p.log_rows + log_binomial(p.n_rows + n_parts - 1, n_parts - 1)


def class_length(p: Any, cell: Cell) -> float:
    """Code length of the classes of a cell's rows: first the number of rows of each class, then their order.

    log N_c! cancels: log C(N_c+J-1, J-1) + log N_c! = log (N_c+J-1)! - log (J-1)!. From MANY_ROWS rows on, the two
    code lengths are computed separately: both are positive, so that no digits are lost.
    """
    if cell.rows >= MANY_ROWS:
        unit = math.log(cell.rows) - 1.0
        cost = log_binomial(cell.rows + p.n_classes - 1, p.n_classes - 1) + log_order(cell.rows, cell.rows, unit)
        for n in cell.counts:
            cost -= log_order(n, cell.rows, unit)
        return cost
    cost = -log_factorial(p.n_classes - 1)
    cost += log_factorial(cell.rows + p.n_classes - 1)
    for n in cell.counts:
        cost -= log_factorial(n)
    return cost


def class_floor(p: Any, cell: Cell) -> float:
    """Floor of the code length of a cell's rows inside any larger cell: their entropy.

    Any code of the classes by shares, or by a mixture of shares, is at least as long as the code by the rows' own
    shares.
    """
    return log_loss(cell)


def class_excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
    """Lower bound of the difference of two class lengths over a walk, from a line below it.

    With r(a, b; y) = log (a+y)! - log (b+y)!, the difference is r of the rows (plus J-1) minus the sum of r of the
    classes. In y, r is concave for a >= b and convex for a < b. A chord bounds r from one side; the line through two
    neighbouring whole numbers, with slope log (a+y+1)/(b+y+1), bounds it from the other.
    """
    a, b = cell.rows + p.n_classes - 1, other.rows + p.n_classes - 1
    if a >= b:
        least = log_factorial(a) - log_factorial(b)
        along = log_factorial(a + walk.rows) - log_factorial(b + walk.rows) - least
    else:
        y = walk.rows // 2
        slope = math.log((a + y + 1) / (b + y + 1))
        least = log_factorial(a + y) - log_factorial(b + y) - slope * y
        along = slope * walk.rows
    aside, lag, steepest = 0.0, 0.0, -math.inf
    for j in range(len(cell.counts)):
        a, b, n = cell.counts[j], other.counts[j], walk.counts[j]
        if a >= b:
            y = n // 2
            slope = math.log((a + y + 1) / (b + y + 1))
            least -= log_factorial(a + y) - log_factorial(b + y) - slope * y
        else:
            start = log_factorial(a) - log_factorial(b)
            slope = (log_factorial(a + n) - log_factorial(b + n) - start) / n if n > 0 else 0.0
            least -= start
        along -= slope * n
        if n > 0:
            aside -= slope * walk.low[j]
            lag -= walk.low[j]
            steepest = max(steepest, slope)
    if lag > 0.0:
        aside -= lag * steepest
    return least + min(0.0, along) + aside


def class_tangent(p: Any, cell: Cell, more: Cell, walk: Walk, slopes: Any) -> float:
    """Write the slopes of a linear lower bound of the cost of adding rows of `more`; return its constant.

    The line through two neighbouring whole numbers is below the convex log (a+y)! of the rows, and chords are below
    the concave terms - log (a+y)! of the classes. The walk raises the first and lowers the others, so the bound uses
    the begin of the walk for the rows and its end for the classes.
    """
    a, y = cell.rows + p.n_classes - 1, more.rows // 2
    by_row = math.log(a + y + 1)
    constant = log_factorial(a + y) - log_factorial(a) - by_row * y
    for j in range(len(slopes)):
        a, n = cell.counts[j] + walk.counts[j], more.counts[j]
        slopes[j] = by_row - (log_factorial(a + n) - log_factorial(a)) / n if n > 0 else 0.0
    return constant


def class_gradient(p: Any, cell: Cell, slopes: Any) -> None:
    """Write slopes above those of the cost of more rows: log (n+J)/(n_j+1/2), to a cell of n rows.

    The cost is concave in real counts, with slopes psi(n+J) - psi(n_j+1), and log(x-1/2) < psi(x) < log x.
    """
    for j in range(len(slopes)):
        slopes[j] = math.log((cell.rows + p.n_classes) / (cell.counts[j] + 0.5))


class Modl(Criterion):
    """MODL for one input variable: the partition is always coded, even if it has one part."""

    name = "modl"
    problems = {"classes"}
    unread = {"selection": True}  # so that grids and columns share the compiled kernels of their cells
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True
    scale = 1.0
    predicts_exactly = True
    uniform_parts = True

    def variable_facts(
        self, problem: Problem, variable: Variable, value_rows: NDArray[np.int64]
    ) -> tuple[float, NDArray[np.float64]]:
        return 0.0, groupings(variable)

    def moved_bound_cost(self, problem: Problem, n_moved: float) -> float:
        """d log(e N / d) + (J - 1) log(1 + d), for d moved of the N rows of a problem of J classes.

        A block D of at most d rows leaves a part A for a part B. With W(S) = |S|! / prod S_j!, W(A) >= W(A - D) W(D)
        and W(B + D) <= C(n_B + |D|, |D|) W(B) W(D), so that the lengths of the classes grow by at most log C(N, d)
        <= d log(e N / d); the lengths of the class frequencies, log C(n + J - 1, J - 1), fall for A and grow by at most
        (J - 1) log(1 + d) for B; and the length of the bounds does not rise, as there are not more parts.
        """
        in_order = n_moved * (1.0 + math.log(problem.n_rows / n_moved))
        return in_order + (problem.n_classes - 1) * math.log1p(n_moved)

    variable = staticmethod(partition_length)
    cell = staticmethod(class_length)
    floor = staticmethod(class_floor)
    excess = staticmethod(class_excess)
    tangent = staticmethod(class_tangent)
    gradient = staticmethod(class_gradient)
    predictive = staticmethod(uniform_predictive)


class ModlGrid(Criterion):
    """MODL for several input variables: codes which are informative, then the partition of each of these.

    log(K+1) + log C(K+Ks-1, Ks) codes the choice of Ks out of K variables; ``selection=False`` leaves it out.
    """

    name = "modl"
    problems = {"grid"}
    options = {"selection": True}
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True
    scale = 1.0
    predicts_exactly = True
    variable_facts = Modl.variable_facts

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
    floor = staticmethod(class_floor)
    excess = staticmethod(class_excess)
    tangent = staticmethod(class_tangent)
    gradient = staticmethod(class_gradient)
    predictive = staticmethod(uniform_predictive)
