"""Criteria of the density of one column: minus a log-likelihood, and a price of the parts.

Part i has n_i of N rows in a width of w_i of W; a mass, a value with a part of its own, has no width, and a gap has no
rows: 0 log 0 is 0. Against a density that is even over the domain,

    L = - sum over intervals of n_i log( (n_i / N) / (w_i / W) ) - sum over masses of n_i log(n_i / N)

    bayesian-blocks        L + (4 - log(73.53 p0 N^-0.478)) I
    penalized-likelihood   L + penalty I
    modl                   log V + log C(V+I-1, I-1) + log C(N+I-1, I-1) + log N! - sum_i log n_i!
                           + sum over intervals of n_i log(w_i / W)

for I intervals and masses of V distinct values. W, N and the values themselves do not change with the parts, so that
the first has the optima of J. D. Scargle, J. P. Norris, B. Jackson, J. Chiang, "Studies in astronomical time series
analysis. VI. Bayesian block representations", The Astrophysical Journal 764, 2013, Equations 19 and 21 (events): p0 is
the share of samples of a constant rate that get a bound nevertheless. Their blocks have rows, and so searches try no
gaps for it.

The last is a code length: the number of parts, the values of each part, none for a gap, the rows of each part, which
rows these are, and where each of them is in its part. It is the criterion of V. Zelaya Mendizábal,
M. Boullé, F. Rossi, "Fast and fully-automated histograms for large-scale data sets", Computational Statistics & Data
Analysis 180, 2023, with bounds midway between two values in place of those of a fine grid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gridmodl.codelength import log_binomial, log_order, unit_of
from gridmodl.terms import DOMAIN, Cell, Criterion, Part, Problem, Variable


def evenly(cell: Cell) -> float:
    """Code length of where the rows of a part are in the domain, in nats: less than 0 as the part is narrower."""
    width = cell.counts[0]
    return cell.rows * math.log(width / DOMAIN) if width > 0 else 0.0


def surprise(p: Any, cell: Cell) -> float:
    """Minus the log-likelihood of the rows of a part, against a density that is even over the domain."""
    if cell.rows == 0:
        return 0.0
    return cell.rows * (p.log_rows - math.log(cell.rows)) + evenly(cell)


class BayesianBlocks(Criterion):
    name = "bayesian-blocks"
    problems = {"density"}
    options = {"p0": 0.05}
    constants = {"prior": float}

    def check_options(self) -> None:
        if not 0.0 < self.chosen["p0"] < 1.0:
            raise ValueError(f"p0, the share of false bounds, must be above 0 and below 1, got {self.chosen['p0']!r}")

    def params(self, problem: Problem) -> Mapping[str, Any]:
        return {"prior": 4.0 - math.log(73.53 * self.chosen["p0"]) + 0.478 * math.log(problem.n_rows)}

    @staticmethod
    def part(p: Any, variable: Variable, part: Part) -> float:
        return float(p.prior)

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return surprise(p, cell)


class PenalizedLikelihood(Criterion):
    name = "penalized-likelihood"
    problems = {"density"}
    options = {"penalty": 0.0}  # nats for a part; 0: `optimize` chooses it
    validated = "penalty"
    empty_parts = True

    def check_options(self) -> None:
        penalty = self.chosen["penalty"]
        if not 0.0 <= penalty < math.inf:
            raise ValueError(f"penalty must be a number of nats, 0 or more (0: by cross-validation), got {penalty!r}")

    @staticmethod
    def part(p: Any, variable: Variable, part: Part) -> float:
        return float(p.penalty)

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return surprise(p, cell)


class ModlDensity(Criterion):
    name = "modl"
    problems = {"density"}
    constants = {"unit": float}
    scale = 1.0
    empty_parts = True

    def params(self, problem: Problem) -> Mapping[str, Any]:
        return {"unit": unit_of(problem.n_rows)}

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        bounds = math.log(variable.n_values) + log_binomial(variable.n_values + n_parts - 1, n_parts - 1)
        return bounds + log_binomial(p.n_rows + n_parts - 1, n_parts - 1) + log_order(p.n_rows, p.n_rows, p.unit)

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return evenly(cell) - log_order(cell.rows, p.n_rows, p.unit)
