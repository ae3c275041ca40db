"""The joint criterion of Khiops 11: MODL without a target, with universal codes for the numbers of parts.

    U(n)      = log 2.86511 + log(2) log2*(n)                   log2*(n) = log2 n + log2 log2 n + ..., positive terms
    U(n; M)   = log( sum_{k=1..M} 2^(-log2*(k)) ) + log(2) log2*(n)

    log 2 + [Ks > 0: U(Ks) - log Ks!]
    + log C(N+G-1, G-1) + log N! - sum over cells log N_c!
    numerical     [I > 1: U(I-1; N-1)] + sum over parts log N_p!
    categorical   [I > 1: [V > 7: log 2] + U(I-1; V-1) + log B(V, I)]
                  + sum over groups [ log N_g! + log C(N_g+m_g-1, m_g-1) ] - sum over values log n_v!

N rows, G cells, Ks informative variables, I parts of a variable, V values of it, m_g of them in group g. The terms are
facts of Khiops' public source, verified against costs that it publishes; its optional garbage group, whose choice costs
the log 2 of more than seven values, is left out. The universal code is that of J. Rissanen, "A universal prior for
integers and estimation by minimum description length", The Annals of Statistics 11, 1983.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl import Criterion, hookimpl
from gridmodl.codelength import log_binomial, log_compositions, log_factorial, log_groupings, log_orders
from gridmodl.terms import Cell, Part, Problem, Shape, Variable

LOG_TWO = math.log(2.0)
LOG_UNIVERSAL = math.log(2.86511)  # Khiops' value of the normaliser of all whole numbers, to its digits

# Where log2* gets one more term; the next such number has 20,000 digits.
LAST_TOWER = 2**16


def log_star(n: float) -> float:
    """log2*(n), the sum of the positive iterated base-2 logarithms of n; 0 up to n = 1."""
    total = 0.0
    while n > 1.0:
        n = math.log2(n)
        total += n
    return total


def log_normaliser(limit: int) -> float:
    """log of the sum of 2^(-log2*(k)) over k = 1 to `limit`; 0 where nothing is to be told apart."""
    if limit <= 1:
        return 0.0
    weights = _first_weights()
    total = float(weights[:limit].sum())
    if limit > LAST_TOWER:
        total += _sum_beyond(limit)
    return math.log(total)


@functools.cache
def _first_weights() -> NDArray[np.float64]:
    """2^(-log2*(k)) of k = 1 to LAST_TOWER."""
    logs = np.arange(1.0, LAST_TOWER + 1.0)
    exponents = np.zeros(LAST_TOWER)
    while logs[-1] > 1.0:
        logs = np.log2(np.maximum(logs, 1.0))
        exponents += logs
    return np.exp2(-exponents)


def _sum_beyond(limit: int) -> float:
    """The sum of 2^(-log2*(k)) over k = LAST_TOWER + 1 to `limit`, by Euler and Maclaurin.

    Beyond LAST_TOWER the summand is f(x) = 1 / (x l1 l2 l3 l4) with l1 = log2 x, l2 = log2 l1, ..., which is the
    derivative of log(2)^5 l5. The first term left out, that of the third derivative, is about 4e-24.
    """
    top_integral, top_value, top_slope = _weight_beyond(float(limit))
    _, low_value, low_slope = _weight_beyond(float(LAST_TOWER))  # whose integral is 0
    return top_integral + (top_value - low_value) / 2.0 + (top_slope - low_slope) / 12.0


def _weight_beyond(x: float) -> tuple[float, float, float]:
    """Integral from LAST_TOWER to x, value and derivative of the summand at x."""
    product, factor, relative_slope = 1.0, x, 0.0
    for i in range(5):
        product *= factor
        relative_slope += LOG_TWO**-i / product  # of factor i: its own relative derivative
        factor = math.log2(factor)
    return LOG_TWO**5 * factor, 1.0 / product, -relative_slope / product


class Khiops11(Criterion):
    name = "khiops11"
    problems = {"joint"}
    constants = {"log_bounds": float}
    scale = 1.0
    max_rows = 2**31  # log n! of more rows has too few digits after the point

    def params(self, problem: Problem) -> Mapping[str, Any]:
        return {"log_bounds": log_normaliser(problem.n_rows - 1)}

    def variable_facts(
        self, problem: Problem, variable: Variable, value_rows: NDArray[np.int64]
    ) -> tuple[float, NDArray[np.float64]]:
        """Of a categorical variable the sum over its values of log n_v!, and what choosing among groupings costs."""
        if not variable.categorical:
            return 0.0, np.empty(0)
        no_garbage = LOG_TWO if variable.n_values > 7 else 0.0
        choice = no_garbage + log_normaliser(variable.n_values - 1) + log_groupings(variable.n_values)
        return log_orders(value_rows, problem.n_rows, 0.0), choice

    @staticmethod
    def grid(p: Any, shape: Shape) -> float:
        cost = LOG_TWO + log_compositions(p.n_rows, shape.n_cells) + log_factorial(p.n_rows)
        if shape.n_informative > 0:
            cost += LOG_UNIVERSAL + LOG_TWO * log_star(shape.n_informative) - log_factorial(shape.n_informative)
        return cost

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        universal = LOG_TWO * log_star(n_parts - 1)
        if not variable.categorical:
            return p.log_bounds + universal if n_parts > 1 else 0.0
        cost = -variable.constant
        if n_parts > 1:
            cost += universal + variable.by_parts[n_parts]
        return cost

    @staticmethod
    def part(p: Any, variable: Variable, part: Part) -> float:
        cost = log_factorial(part.rows)
        if variable.categorical:
            cost += log_binomial(part.rows + part.values - 1, part.values - 1)
        return cost

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return -log_factorial(cell.rows)


@hookimpl
def gridmodl_criteria() -> list[type[Criterion]]:
    return [Khiops11]
