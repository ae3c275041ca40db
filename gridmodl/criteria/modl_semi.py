"""MODL with unlabelled rows: only some rows have a class.

    numerical     log N + log C(N+I-1, I-1)
    categorical   log V + log B(V, I)
    each cell     log C(N_c+J-1, J-1) + log N_c! - sum_j log N_cj! - log N^u_c! + sum_j log N^u_cj!

N^l are labelled rows, N^u = N - N^l. The N_cj >= N^l_cj are not observed; the cost takes the cheapest ones. D'Hondt's
rule finds them: it gives the rows one by one to the class with the largest N^l_cj / (N_cj + 1). The increments are
convex, so this greedy rule is optimal.

Averaged over the N_cj instead, a cell costs what its labelled rows cost alone, whatever N_c (docs/bound_posterior.md):

    each cell     log C(N^l_c+J-1, J-1) + log N^l_c! - sum_j log N^l_cj!

A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", Knowledge and
Information Systems 24, 2010, Equation 17. Its Lemma 2 is a closed form that holds for two classes only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gridmodl.codelength import HALF_LOG_TWO_PI, LOG_FACTORIALS, log_binomial, log_rising
from gridmodl.criteria.concave import uniform_predictive
from gridmodl.criteria.modl import Modl, partition_length
from gridmodl.terms import Cell, Criterion, Problem

FEW = 64  # below this n, remainders are looked up; from it on, Stirling's series is exact to the last bit
REMAINDERS = LOG_FACTORIALS[:FEW] - [n * math.log(max(n, 1)) - n for n in range(FEW)]

MAX_PRODUCT = 2**61  # largest product of rows and labelled rows, which are compared as 64-bit integers


def lowest_completion(counts: Any, rows: int, unlabelled: int) -> float:
    """Minimum over the N_j of log N! - log N^u! - sum_j (log N_j! - log N^u_j!).

    A separate function, so that it compiles once per kernel and not at each place that prices a cell.
    """
    all_labelled = rows - unlabelled
    n_present = 0
    for labelled in counts:
        n_present += labelled > 0
    # Multiplying the labelled rows of each class by a common factor and rounding down gives a state that D'Hondt's
    # rule passes through. The factor is chosen so that the total is close to the rows of the cell.
    over, under = 1, 1
    if unlabelled > 0:
        over, under = 2 * rows + n_present, 2 * all_labelled
    cost = log_rising(unlabelled, all_labelled)
    missing = rows
    for labelled in counts:
        n = labelled * over // under
        missing -= n
        cost -= log_rising(n - labelled, labelled)
    # If rows are missing, the next row goes to the class with the largest labelled / (n + 1); if there are too many, it
    # leaves the class with the smallest labelled / n (ties: first class). To need no array of the n, each turn searches
    # for the quotient that follows that of the last turn.
    way = 1 if missing > 0 else -1
    last_labelled, last_n, last_class = (way + 1) // 2, (1 - way) // 2, -1  # before all quotients: 1 / 0 or 0 / 1
    for _turn in range(abs(missing)):
        next_labelled, next_n, next_class = 0, 1, -1
        j = -1
        for labelled in counts:
            j += 1
            if labelled == 0:
                continue
            n = labelled * over // under + (way > 0)
            beyond = way * (last_labelled * n - labelled * last_n)
            while beyond < 0 or (beyond == 0 and j <= last_class):
                n += way
                beyond = way * (last_labelled * n - labelled * last_n)
            if next_class < 0 or way * (labelled * next_n - next_labelled * n) > 0:
                next_labelled, next_n, next_class = labelled, n, j
        cost += way * math.log1p(-next_labelled / next_n)
        last_labelled, last_n, last_class = next_labelled, next_n, next_class
    return cost


def label_length(counts: Any) -> float:
    """log C(n+J-1, J-1) + log n! - sum_j log n_j!, computed from terms no larger than their sum.

    With log n! = n log n - n + remainder(n), the large parts of the factorials cancel in the formula, before rounding.
    The relative error is below 1e-14 for all counts.
    """
    k, n = len(counts) - 1, np.int64(0)
    for n_j in counts:
        n += n_j
    if n == 0:
        return 0.0
    length = remainder(n + k) - remainder(k)
    if k > 0:
        length += n * math.log1p(k / n) + k * math.log1p(n / k)
    for n_j in counts:
        if n_j > 0:
            length += n_j * math.log1p((n - n_j) / n_j) - remainder(n_j)
    return length


def remainder(n: int | np.int64) -> float:
    """log n! - (n log n - n), which is small for every n."""
    if n < FEW:
        return REMAINDERS[n]
    # Stirling's series; the next term, 1/(1680 n^7), is below the last bit of the sum from n = 64 on.
    inverse = 1.0 / n
    square = inverse * inverse
    return 0.5 * math.log(n) + HALF_LOG_TWO_PI + inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0))


class ModlAveraged(Criterion):
    """MODL averaged over the classes of unlabelled rows, which `gridmodl.average` takes in place of `ModlSemi`."""

    name = "modl"
    problems = {"semi"}
    unread = {"selection": True}
    scale = 1.0
    predicts_exactly = True
    uniform_parts = True
    variable_facts = Modl.variable_facts

    variable = staticmethod(partition_length)
    predictive = staticmethod(uniform_predictive)

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        return label_length(cell.counts)


class ModlSemi(Criterion):
    name = "modl"
    problems = {"semi"}
    unread = {"selection": True}  # as in `Modl`, with which it shares compiled kernels
    # An observation, not a theorem: no exception in 23,000 random samples, ties included, with all partitions
    # enumerated; check_criterion tries more. In a gap between different classes all places are kept.
    joins_pure_runs = True
    averaged = ModlAveraged
    variable_facts = Modl.variable_facts

    def params(self, problem: Problem) -> Mapping[str, Any]:
        n_rows, n_labelled = int(problem.n_rows), int(problem.class_rows.sum())
        if (2 * n_rows + problem.n_classes) * n_labelled >= MAX_PRODUCT:
            raise ValueError(f"{n_labelled} labelled rows of {n_rows} are too many to be compared; scale weights down")
        return {}

    variable = staticmethod(partition_length)

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        cost = log_binomial(cell.rows + p.n_classes - 1, p.n_classes - 1)
        if cell.unlabelled == cell.rows:  # all completions cost the same
            return cost
        return cost + lowest_completion(cell.counts, cell.rows, cell.unlabelled)
