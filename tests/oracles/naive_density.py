"""Densities straight from the definition: sums over pairs of rows, every cut of every interval again and again."""

from __future__ import annotations

import itertools
import math

import numpy as np
from oracles.naive_histogram import domain_of_values

TOLERANCE = 1e-9
KERNELS = {
    "box": lambda u: 0.5,
    "triangle": lambda u: 1.0 - abs(u),
    "epanechnikov": lambda u: 0.75 * (1.0 - u * u),
    "gaussian": lambda u: math.exp(-u * u / 2.0) / math.sqrt(2.0 * math.pi),
}


def kernel_score(parts, kern):
    """The sum over rows of |p - f|; a part is its rows and its width."""
    n = sum(len(rows) for rows, _ in parts)
    total = 0.0
    for rows, w in parts:
        f = len(rows) / (w * n)
        for x in rows:
            p = sum(kern((x - y) / w) for y in rows) / (w * n)
            total += abs(p - f)
    return total


def likelihood_score(parts):
    n, width = sum(len(rows) for rows, _ in parts), sum(w for _, w in parts)
    after = sum(len(rows) * math.log(len(rows) / (w * n)) for rows, w in parts)
    return after - n * math.log(1.0 / width)


def score_of(parts, kernel):
    return likelihood_score(parts) if kernel is None else kernel_score(parts, KERNELS[kernel])


def best_cut(rows, left, right, kernel, min_rows=1):
    """The score and the place of the best cut of one interval; None if there is none."""
    values = sorted(set(rows))
    found = []
    for low, high in itertools.pairwise(values):
        cut = (low + high) / 2.0
        below, above = [x for x in rows if x <= cut], [x for x in rows if x > cut]
        if min(len(below), len(above)) >= min_rows:
            found.append((score_of([(below, cut - left), (above, right - cut)], kernel), cut))
    if not found:
        return None
    largest = max(score for score, _ in found)
    if kernel is None and largest <= 1e-12 * len(rows):
        return "flat"
    return next((largest, cut) for score, cut in found if score >= largest * (1.0 - TOLERANCE))


def grow(rows, low, high, kernel, max_cuts, min_rows=1):
    """Cuts in the order they are made, and whether no further one would change the density."""
    cuts = []
    while len(cuts) < max_cuts:
        edges = [low, *sorted(cuts), high]
        best, is_flat = [], False
        for i, (left, right) in enumerate(itertools.pairwise(edges)):
            inside = [x for x in rows if (x > left or i == 0) and x <= right]
            found = best_cut(inside, left, right, kernel, min_rows)
            is_flat |= found == "flat"
            if found not in (None, "flat"):
                best.append(found)
        if not best:
            return cuts, is_flat
        largest = max(score for score, _ in best)
        cuts.append(next(cut for score, cut in best if score >= largest * (1.0 - TOLERANCE)))
    return cuts, False


def log_likelihood(test, rows, cuts, low, high):
    """Of rows that had no part in the cuts, with one row spread over the domain; beyond it, of one more row."""
    edges, n, total = [low, *sorted(cuts), high], len(rows), 0.0
    for x in test:
        i = next((i for i, cut in enumerate(sorted(cuts)) if x <= cut), len(cuts))
        w = edges[i + 1] - edges[i]
        m = sum(1 for y in rows if (y > edges[i] or i == 0) and (y <= edges[i + 1] or i == len(cuts)))
        inside = (m + w / (high - low)) / (w * (n + 1))
        total += math.log(inside if low <= x <= high else inside * w / ((m + 1) * (high - low)))
    return total


def folds_of(n_rows, n_folds, seed):
    """The fold of each row, rows in ascending order."""
    fold = np.arange(n_rows) % n_folds
    np.random.default_rng(seed).shuffle(fold)
    return fold.tolist()


def cross_validated(rows, kernel, n_folds, seed, max_cuts=1000, min_rows=1):
    """The log-likelihood of held-out rows by number of cuts, and all cuts of all rows."""
    rows = sorted(rows)
    low, high = domain_of_values(rows)
    path, _ = grow(rows, low, high, kernel, max_cuts, min_rows)
    fold, curves = folds_of(len(rows), min(n_folds, len(rows)), seed), []
    for f in range(max(fold) + 1):
        kept = [x for x, g in zip(rows, fold, strict=True) if g != f]
        test = [x for x, g in zip(rows, fold, strict=True) if g == f]
        cuts, is_flat = grow(kept, low, high, kernel, len(path), min_rows)
        curve = [log_likelihood(test, kept, cuts[:k], low, high) for k in range(len(cuts) + 1)]
        if is_flat:
            curve += [curve[-1]] * (len(path) + 1 - len(curve))
        curves.append(curve)
    n = min(map(len, curves))
    return np.sum([curve[:n] for curve in curves], axis=0), path
