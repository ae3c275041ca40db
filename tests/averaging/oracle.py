"""Averages by trying all partitions: slow and obvious."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

SCALES = {"modl": 1.0, "aic": 0.5, "bic": 0.5}


class All(NamedTuple):
    """What all partitions of a column say together."""

    log_evidence: float
    p_parts: np.ndarray
    p_cuts: np.ndarray  # of a bound before each value but the first
    shares: np.ndarray  # by value and class
    left_out: np.ndarray  # of a row of each class that is there, by value and class
    partitions: dict  # probability by first values of the parts


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def cell_cost(name, counts, n_rows):
    n, n_classes = sum(counts), len(counts)
    if n == 0:
        return 0.0
    if name == "modl":
        order = math.lgamma(n + 1) - sum(math.lgamma(k + 1) for k in counts)
        return log_choose(n + n_classes - 1, n_classes - 1) + order
    loss = -sum(k * math.log(k / n) for k in counts if k)
    return 2.0 * loss + (n_classes - 1) * (2.0 if name == "aic" else math.log(n_rows))


def try_all(counts, name="modl", n_rows=None, n_places=None, max_parts=99, apart=()):
    """Sum over all partitions of values with labelled rows `counts` by class; `apart` are rows of special codes.

    `n_rows` counts unlabelled rows too, `n_places` is N in the prior of the number of parts.
    """
    counts = np.asarray(counts)
    n_values, n_classes = counts.shape
    n_rows = n_rows or int(counts.sum()) + int(np.sum(apart))
    n_places = n_places or n_rows
    fixed = sum(cell_cost(name, codes, n_rows) for codes in apart)
    weights, parts, cuts = {}, np.zeros(n_values + len(apart)), np.zeros(n_values)
    shares, inverse = np.zeros((2, n_values, n_classes))
    for k in range(n_values):
        n_parts = k + 1 + len(apart)
        if n_parts > max_parts:
            break
        for bounds in itertools.combinations(range(1, n_values), k):
            edges = list(itertools.pairwise([0, *bounds, n_values]))
            inside = [counts[lo:hi].sum(axis=0).tolist() for lo, hi in edges]
            cost = fixed + sum(cell_cost(name, cell, n_rows) for cell in inside)
            if name == "modl":
                cost += math.log(n_places) + log_choose(n_places + n_parts - 1, n_parts - 1)
            weight = math.exp(-SCALES[name] * cost)
            weights[0, *bounds] = weight
            parts[n_parts - 1] += weight
            cuts[list(bounds)] += weight
            for (lo, hi), cell in zip(edges, inside, strict=True):
                for c, n in enumerate(cell):
                    shares[lo:hi, c] += weight * (n + 1) / (sum(cell) + n_classes)
                    if n:
                        inverse[lo:hi, c] += weight * (sum(cell) + n_classes - 1) / n
    total = sum(weights.values())
    with np.errstate(divide="ignore"):
        left_out = np.where(counts > 0, total / inverse, np.nan)
    probabilities = {starts: weight / total for starts, weight in weights.items()}
    return All(math.log(total), parts / total, cuts[1:] / total, shares / total, left_out, probabilities)
