"""Slow and obvious: a plain local search with restarts for the joint grid of two categorical variables.

MODL without a target (M. Boullé, "Data grid models for preparation and modeling in supervised learning", Formula 5)
written out on the table of counts; every move is priced from nothing. No shared code with the engine.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
from oracles import naive
from scipy.special import gammaln

log_groupings = functools.cache(naive.log_groupings)


def log_factorial(n):
    return gammaln(np.asarray(n) + 1.0)


def log_choose(n, k):
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


def table_of(first, second):
    """Rows by value of two columns, values in alphabetical order."""
    (names, rows), (other_names, columns) = (np.unique(column, return_inverse=True) for column in (first, second))
    table = np.zeros((len(names), len(other_names)), dtype=int)
    np.add.at(table, (rows, columns), 1)
    return table


def price(table, first, second):
    """The cost of a grid: `first` and `second` are the group of each value, in any numbers."""
    first, second = (np.unique(groups, return_inverse=True)[1] for groups in (first, second))
    cells = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(cells, (first[:, None], second[None, :]), table)
    n = table.sum()
    cost = log_choose(n + cells.size - 1, cells.size - 1) + log_factorial(n) - log_factorial(cells).sum()
    return float(cost + _price_groups(table.sum(axis=1), first) + _price_groups(table.sum(axis=0), second))


def _price_groups(value_rows, groups):
    rows, values = np.bincount(groups, value_rows), np.bincount(groups)
    cost = np.log(len(groups)) + log_groupings(len(groups))[len(rows)]
    cost += (log_factorial(rows) + log_choose(rows + values - 1, values - 1)).sum()
    return cost - log_factorial(value_rows).sum()


def descend(table, first, second, rng):
    """A grid that no transfer of one value, to another group or to one of its own, and no merge of two improves."""
    grid = [np.array(first), np.array(second)]
    best = price(table, *grid)
    while True:
        before = best
        sides = [(side, value) for side in (0, 1) for value in range(len(grid[side]))]
        for side, value in rng.permutation(sides):
            best = _best_transfer(table, grid, side, value, best)
        for side in (0, 1):
            best = _best_merge(table, grid, side, best)
        if best >= before - 1e-9:
            return best, grid


def _best_transfer(table, grid, side, value, best):
    groups = grid[side]
    kept = groups[value]
    for group in [*np.unique(groups), groups.max() + 1]:
        groups[value] = group
        cost = price(table, *grid)
        if cost < best - 1e-9:
            best, kept = cost, group
    groups[value] = kept
    return best


def _best_merge(table, grid, side, best):
    kept = grid[side]
    for p, q in itertools.combinations(np.unique(kept), 2):
        merged = [*grid]
        merged[side] = np.where(kept == q, p, kept)
        cost = price(table, *merged)
        if cost < best - 1e-9:
            best, grid[side] = cost, merged[side]
    return best


def best_of_restarts(table, n_restarts, seed):
    """The lowest cost of local searches: from one group per value, then from random numbers of random groups.

    Returns
    -------
    cost : float
    grid : list of two arrays, the group of each value
    n_reached : int, how many of the restarts end at that cost
    """
    rng = np.random.default_rng([2011, seed])  # a sequence, so that no search of the same seed shares its draws
    found = []
    for restart in range(n_restarts):
        start = [np.arange(n) if restart == 0 else rng.integers(0, rng.integers(1, n + 1), n) for n in table.shape]
        found.append(descend(table, *start, rng))
    cost, grid = min(found, key=lambda pair: pair[0])
    return cost, grid, sum(other <= cost + 1e-6 for other, _ in found)
