"""Khiops 11's joint criterion, as a stranger would write it: it shows that the interface carries it.

U(n)     = log 2.86511 + log(2) log2*(n)                                log2* = iterated base-2 logarithms
U(n; M)  = log( sum_{k=1..M} 2^(-log2*(k)) ) + log(2) log2*(n)
"""

import math

from gridmodl import Criterion
from gridmodl.codelength import log_binomial, log_compositions, log_factorial

LOG_UNIVERSAL = math.log(2.86511)


def log_star(n):
    total, n = 0.0, math.log2(n)
    while n > 0:
        total += n
        n = math.log2(n)
    return total


def log_normaliser(limit):
    return math.log(sum(2.0 ** -log_star(k) for k in range(1, limit + 1)))


class Khiops11(Criterion):
    name = "khiops11"
    problems = {"joint"}
    constants = {"log_bounds": float}

    def params(self, problem):
        return {"log_bounds": log_normaliser(problem.n_rows - 1)}

    def variable_constant(self, problem, variable):
        return log_normaliser(variable.n_values - 1) if variable.categorical else 0.0

    @staticmethod
    def grid(p, shape):
        cost = math.log(2.0) + log_compositions(p.n_rows, shape.n_cells) + log_factorial(p.n_rows)
        if shape.n_informative > 0:
            cost += LOG_UNIVERSAL + math.log(2.0) * log_star(shape.n_informative)
            cost -= log_factorial(shape.n_informative)
        return cost

    @staticmethod
    def variable(p, variable, n_parts):
        if not variable.categorical:
            return p.log_bounds + math.log(2.0) * log_star(n_parts - 1) if n_parts > 1 else 0.0
        cost = -variable.log_value_factorials
        if n_parts > 1:
            if variable.n_values > 7:
                cost += math.log(2.0)
            cost += variable.constant + math.log(2.0) * log_star(n_parts - 1)
            cost += variable.log_groupings[n_parts]
        return cost

    @staticmethod
    def part(p, variable, part, n_target_parts):
        cost = log_factorial(part.rows)
        if variable.categorical:
            cost += log_binomial(part.rows + part.values - 1, part.values - 1)
        return cost

    @staticmethod
    def cell(p, cell):
        return -log_factorial(cell.rows)
