"""MODL when only some rows have a class.

    numerical     log N + log C(N+I-1, I-1)
    categorical   log V + log B(V, I)
    each cell     log C(N_c+J-1, J-1) + log N_c! - sum_j log N_cj! - log N^u_c! + sum_j log N^u_cj!

N^l are labelled rows, N^u = N - N^l. The N_cj >= N^l_cj are not observed: those that cost least, found by
giving the rows one by one to the class with the largest N^l_cj / (N_cj + 1) (D'Hondt's rule; the increments are
convex, so greedy is optimal).

A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", Knowledge and
Information Systems 24, 2010, Equation 17. Its Lemma 2 is a closed form that holds for two classes only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gridmodl.codelength import log_binomial, log_rising
from gridmodl.criteria.modl import Modl, partition_length
from gridmodl.terms import Cell, Criterion, Problem

MOST_PRODUCTS = 2**61  # of rows and labelled rows: their products are compared as 64-bit integers


def lowest_completion(counts: Any, rows: int, unlabelled: int) -> float:
    """log N! - log N^u! - sum_j (log N_j! - log N^u_j!) where the N_j are those that make it lowest.

    A function of its own, which the compiler meets once and not wherever a kernel prices a cell.
    """
    all_labelled = rows - unlabelled
    n_present = 0
    for labelled in counts:
        n_present += labelled > 0
    # Rows for a class are those of its labelled ones times a common factor, rounded down: so D'Hondt's rule has
    # them, for a total that this factor brings close to the rows of the cell.
    over, under = 1, 1
    if unlabelled > 0:
        over, under = 2 * rows + n_present, 2 * all_labelled
    cost = log_rising(unlabelled, all_labelled)
    missing = rows
    for labelled in counts:
        n = labelled * over // under
        missing -= n
        cost -= log_rising(n - labelled, labelled)
    # The next row goes to the largest labelled / (n + 1), or where there are too many, leaves at the smallest
    # labelled / n; of equals first class first. Without memory, each turn looks for the quotient that follows the
    # one of the last turn.
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


class ModlSemi(Criterion):
    name = "modl"
    problems = {"semi"}
    unread = {"selection": True}  # as of `Modl`, with which it shares what is compiled
    # Known by trial, not by proof: no exception in 23,000 random samples, ties included, of which every partition was
    # tried, and check_criterion tries more. Inside a gap between different classes no place is left out.
    joins_pure_runs = True
    variable_facts = Modl.variable_facts

    def params(self, problem: Problem) -> Mapping[str, Any]:
        n_rows, n_labelled = int(problem.n_rows), int(problem.class_rows.sum())
        if (2 * n_rows + problem.n_classes) * n_labelled >= MOST_PRODUCTS:
            raise ValueError(f"{n_labelled} labelled rows of {n_rows} are too many to be compared; scale weights down")
        return {}

    variable = staticmethod(partition_length)

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        cost = log_binomial(cell.rows + p.n_classes - 1, p.n_classes - 1)
        if cell.unlabelled == cell.rows:  # any completion is as good as any other
            return cost
        return cost + lowest_completion(cell.counts, cell.rows, cell.unlabelled)
