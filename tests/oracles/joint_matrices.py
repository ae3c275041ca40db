"""Small matrices with groups of rows and columns, their models, and criteria to price them by."""

from __future__ import annotations

import math

import numpy as np
from gridmodl_khiops11 import Khiops11
from scipy.sparse import csr_array

import gridmodl
from gridmodl.codelength import log_groupings
from gridmodl.plugins import criterion_for
from gridmodl.terms import Criterion


class Coupled(Criterion):
    """Prices that no criterion has: what is cheap is dear with one row more, and so it is with one value more."""

    name = "coupled"
    problems = {"joint"}
    constants = {"root": float}

    def params(self, problem):
        return {"root": math.sqrt(problem.n_rows)}

    def variable_facts(self, problem, variable, value_rows):
        return float(variable.n_values) / problem.n_rows, log_groupings(variable.n_values)

    @staticmethod
    def grid(p, shape):
        return p.log_rows * shape.n_cells

    @staticmethod
    def variable(p, variable, n_parts):
        return variable.by_parts[n_parts] * p.log_rows

    @staticmethod
    def part(p, variable, part):
        price = part.rows * math.log(part.rows) / variable.n_values + variable.constant * part.values**2 * p.log_rows
        return price if variable.n_values % 2 == 0 else -price

    @staticmethod
    def cell(p, cell):
        price = cell.rows * math.log(cell.rows + p.root)
        return price if p.n_rows % 2 == 0 else -price


CRITERIA = {"modl": criterion_for("modl", "joint"), "khiops11": Khiops11(), "coupled": Coupled()}


def random_matrix(seed, n=14, k=9):
    """Counts, every row and column with some."""
    rng = np.random.default_rng([7, seed])
    counts = rng.poisson(rng.gamma(0.5, 2.0, (3, 3))[rng.integers(0, 3, n)][:, rng.integers(0, 3, k)])
    counts[np.arange(n), np.arange(n) % k] += 1
    return counts


def random_groups(seed, n, n_groups):
    """Groups of numbers from 0 to n - 1, none empty."""
    labels = np.append(np.arange(n_groups), np.random.default_rng([8, seed]).integers(0, n_groups, n - n_groups))
    return [np.flatnonzero(labels == g).tolist() for g in range(n_groups)]


def model_of(counts, rows, columns, criterion):
    partitions = {"row": rows, "column": columns}
    return gridmodl.Model.from_partitions(csr_array(counts), None, partitions, criterion=criterion)


def price(counts, rows, columns, criterion):
    return gridmodl.price(csr_array(counts), None, {"row": rows, "column": columns}, criterion=criterion)


def planted(n, k, n_groups, seed, inside=0.8, outside=0.05):
    """A matrix of presence with a block for each group, and the groups of rows and columns."""
    rng = np.random.default_rng([9, seed])
    rows, columns = np.arange(n) % n_groups, np.arange(k) % n_groups
    return (rng.random((n, k)) < np.where(rows[:, None] == columns, inside, outside)).astype(int), rows, columns
