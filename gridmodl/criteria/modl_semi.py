"""MODL when only some rows have a class.

    numerical     log N + log C(N+I-1, I-1)
    each cell     log C(N_c+J-1, J-1) + log N_c! - sum_j log N_cj! - log N^u_c! + sum_j log N^u_cj!

N^l are labelled rows, N^u = N - N^l. The N_cj >= N^l_cj are not observed: those that cost least, found by
giving the unlabelled rows one by one to the class with the largest N^l_cj / (N_cj + 1) (D'Hondt's rule; the
increments are convex, so greedy is optimal).

A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", Knowledge and
Information Systems 24, 2010, Equation 17. Its Lemma 2 is a closed form that holds for two classes only.
"""

from __future__ import annotations

from typing import Any

from gridmodl.codelength import log_binomial, log_factorial
from gridmodl.criteria.modl import partition_length
from gridmodl.terms import Cell, Criterion


def sure_rows(labelled: int, rows: int, all_labelled: int) -> int:
    """Rows that D'Hondt's rule gives a class for sure; what is missing to `rows` goes out one by one."""
    if labelled == 0:
        return 0
    return ((rows + 1) * labelled - 1) // all_labelled


def completion(labelled: int, n: int) -> float:
    """What a class of `n` rows costs when `labelled` of them were observed."""
    return log_factorial(n - labelled) - log_factorial(n)


class ModlSemi(Criterion):
    name = "modl"
    problems = {"semi"}

    variable = staticmethod(partition_length)

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        cost = log_binomial(cell.rows + p.n_classes - 1, p.n_classes - 1)
        all_labelled = cell.rows - cell.unlabelled
        if all_labelled == 0:
            return cost
        cost += log_factorial(cell.rows) - log_factorial(cell.unlabelled)
        missing = cell.rows
        for labelled in cell.counts:
            n = sure_rows(labelled, cell.rows, all_labelled)
            missing -= n
            cost += completion(labelled, n)
        # The next row goes to the largest labelled / (n + extra), first class first; without memory, each
        # turn looks for the largest quotient after the one served last.
        last_over, last_under, last_class = 1, 0, -1
        for _turn in range(missing):
            best_over, best_under, best_class, best_n = 0, 1, -1, 0
            j = -1
            for labelled in cell.counts:
                j += 1
                if labelled == 0:
                    continue
                n = sure_rows(labelled, cell.rows, all_labelled) + 1
                behind = last_over * n - labelled * last_under
                while behind < 0 or (behind == 0 and j <= last_class):
                    n += 1
                    behind = last_over * n - labelled * last_under
                if labelled * best_under > best_over * n:
                    best_over, best_under, best_class, best_n = labelled, n, j, n
            cost += completion(best_over, best_n) - completion(best_over, best_n - 1)
            last_over, last_under, last_class = best_over, best_under, best_class
        return cost
