"""Densities of one column by additive criteria, straight from the formulas: the best sum of all runs of atoms."""

from __future__ import annotations

import itertools
import math

import numpy as np

from gridmodl.data.domain import DistinctValues, wide_gaps
from gridmodl.data.lattice import step_of


def log_binomial(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def step_of_values(values):
    """The step of the lattice of the values; 0 for none."""
    distinct = np.unique(np.asarray(values, dtype=float))
    return step_of(distinct, distinct.dtype)


def domain_of_values(values):
    """Both ends of the domain: half a step beyond the lowest and the highest value of a lattice."""
    half = step_of_values(values) / 2.0
    return float(min(values)) - half, float(max(values)) + half


def end_of(bound, lowest, step):
    """Where the part below a bound ends: half a step above the last point of the lattice up to it."""
    return bound if step == 0.0 else lowest + (math.floor((bound - lowest) / step + 1e-3) + 0.5) * step


def gaps_of(values):
    """The number of the value below each wide gap, and the ends of the gap."""
    distinct, rows = np.unique(values, return_counts=True)
    found = wide_gaps(DistinctValues(distinct.astype(float), rows, np.dtype(float), step_of_values(values)))
    return [(int(i), float(low), float(high)) for i, low, high in zip(*found, strict=True)]


def atoms_of(values, has_gaps):
    """Rows of values and of halves of wide gaps, and where these end, from the lower end of the first on."""
    distinct, rows = np.unique(values, return_counts=True)
    step = step_of_values(values)
    ends, of_atoms = [distinct[0] - step / 2.0], []
    inside = {i: (low, high) for i, low, high in gaps_of(values)} if has_gaps else {}
    for i, n in enumerate(rows.tolist()):
        of_atoms.append(n)
        if i == len(rows) - 1:
            ends.append(distinct[-1] + step / 2.0)
            break
        middle = (distinct[i] + distinct[i + 1]) / 2.0
        bounds = [inside[i][0], middle, inside[i][1]] if i in inside else [middle]
        ends += [end_of(bound, distinct[0], step) for bound in bounds]
        of_atoms += [0, 0] if i in inside else []
    return of_atoms, ends


def lowest_cost(name, values, max_parts, *, has_gaps=True, price_of_part=0.0, masses=()):
    """The lowest cost of all partitions into at most `max_parts` intervals beside masses of so many rows.

    Of modl, `price_of_part` is not asked for.
    """
    rows, ends = atoms_of(values, has_gaps)
    n_rows, n_values, n, width = sum(rows), len(np.unique(values)), len(rows), ends[-1] - ends[0]
    n_rows, n_values = n_rows + sum(masses), n_values + len(masses)

    def of_part(i, j):
        m, share = sum(rows[i:j]), (ends[j] - ends[i]) / width
        if name == "modl":
            return m * math.log(share) - math.lgamma(m + 1)
        return (0.0 if m == 0 else -m * math.log(m / n_rows / share)) + price_of_part

    def of_number(k):
        if name != "modl":
            return 0.0
        code = math.log(n_values) + log_binomial(n_values + k - 1, k - 1) + log_binomial(n_rows + k - 1, k - 1)
        return code + math.lgamma(n_rows + 1)

    prices = {(i, j): of_part(i, j) for i, j in itertools.combinations(range(n + 1), 2)}
    most = min(n, max_parts)
    best = [[math.inf] * (n + 1) for _ in range(most + 1)]
    best[0][0] = 0.0
    for k in range(1, most + 1):
        for t in range(1, n + 1):
            best[k][t] = min(best[k - 1][s] + prices[s, t] for s in range(t))
    of_masses = sum(-math.lgamma(m + 1) if name == "modl" else price_of_part - m * math.log(m / n_rows) for m in masses)
    return min(best[k][n] + of_number(k + len(masses)) for k in range(1, most + 1)) + of_masses
