"""Random columns with classes, and their cheapest partition by a table over (parts, bound), from the plain formulas."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from gridmodl.terms import FLOORS

KINDS = ("noise", "steps", "smooth", "near-pure", "rare", "alternating", "even", "spikes")


class Case(NamedTuple):
    column: Any
    target: Any
    weights: Any  # None: each row counts once
    limits: dict[str, int]  # max_parts and min_rows, where there are any


def random_case(rng: np.random.Generator, most_rows: int = 160) -> Case:
    """2 to 20 classes of any kind, most often 2, half with ties, some with weights and limits."""
    n_rows, n_classes = int(rng.integers(2, most_rows + 1)), int(rng.choice([2, 2, 2, 3, 4, 5, rng.integers(6, 21)]))
    column = rng.random(n_rows)
    target = random_classes(rng, str(rng.choice(KINDS)), column, n_classes)
    if rng.random() < 0.5:
        n_values = int(rng.integers(1, n_rows + 1))
        column = np.floor(column * n_values)
    weights = rng.integers(0, 6, n_rows) if rng.random() < 0.2 else None
    if weights is not None:
        weights[0] += 1  # not all may be 0
    limits = {}
    if rng.random() < 0.25:
        limits["max_parts"] = int(rng.integers(1, 8))
    if rng.random() < 0.25:
        limits["min_rows"] = int(rng.integers(2, 3 + n_rows // 4))
    return Case(column, target, weights, limits)


def random_classes(rng: np.random.Generator, kind: str, column: Any, n_classes: int) -> Any:
    """Classes 0, 1, ... of rows with values between 0 and 1."""
    n = len(column)
    noise = rng.integers(0, n_classes, n)
    if kind == "noise":
        return noise
    if kind == "steps":
        favoured = rng.integers(0, n_classes, int(rng.integers(2, 13)))
        return np.where(rng.random(n) < rng.random(), favoured[(column * len(favoured)).astype(np.int64)], noise)
    if kind == "smooth":
        mean = 0.5 + 0.5 * np.sin(rng.uniform(1.0, 40.0) * column)
        return rng.binomial(n_classes - 1, mean)
    if kind == "near-pure":  # also with no other class at all
        return np.where(rng.random(n) < 0.05, noise, 0)
    if kind == "rare":
        shares = rng.dirichlet(np.full(n_classes, 0.2), 3)[(column * 3).astype(np.int64)]
        return np.minimum((rng.random((n, 1)) > shares.cumsum(axis=1)).sum(axis=1), n_classes - 1)
    if kind == "even":  # the first class as evenly as whole rows can be around a share that changes smoothly, or not
        slope = rng.uniform(-8.0, 8.0) * (rng.random() < 0.7)
        share = 1.0 / (1.0 + np.exp(slope * (np.sort(column) - rng.random())))
        is_other = np.diff(np.floor(np.cumsum(share) + rng.random()), prepend=0.0).astype(np.int64)
        in_order = is_other * (1 + np.arange(n) % (n_classes - 1))
        return in_order[np.argsort(np.argsort(column))]
    if kind == "spikes":  # a few intervals of one class in the midst of others
        target = np.where(rng.random(n) < rng.choice([0.5, 0.1, 0.01]), noise, 0)
        for _ in range(int(rng.integers(1, 6))):
            begin, width = rng.random(), rng.random() ** 3
            target[(column >= begin) & (column < begin + width)] = rng.integers(0, n_classes)
        return target
    ranks = np.argsort(np.argsort(column))  # alternating: runs as even as can be
    return (ranks * rng.uniform(0.0, 1.0)).astype(np.int64) % n_classes


def class_counts(case: Case) -> Any:
    """Rows by distinct value and class, those of weight 0 left out."""
    weights = np.ones(len(case.column), dtype=np.int64) if case.weights is None else case.weights
    kept = weights > 0
    values, at = np.unique(case.column[kept], return_inverse=True)
    classes, codes = np.unique(case.target[kept], return_inverse=True)
    counts = np.zeros((len(values), len(classes)), dtype=np.int64)
    np.add.at(counts, (at, codes), weights[kept])
    return counts


def prices(name: str, counts: Any, options: dict[str, float], n_rows: int) -> Any:
    """What intervals cost by themselves; `counts` has the classes in its last axis."""
    n_classes, rows = counts.shape[-1], counts.sum(axis=-1)
    if name == "modl":
        return gammaln(rows + n_classes) - gammaln(n_classes) - gammaln(counts + 1.0).sum(axis=-1)
    loss = xlogy(rows, rows) - xlogy(counts, counts).sum(axis=-1)
    if name == "aic":
        return 2.0 * loss + 2.0 * (n_classes - 1)
    if name == "bic":
        return 2.0 * loss + (n_classes - 1) * math.log(n_rows)
    if name == "mdlp":
        return loss + (n_classes - 1) * math.log(n_classes)
    squares = (counts.astype(np.float64) ** 2).sum(axis=-1) / np.maximum(rows, 1)
    if name == "gini":
        return rows - squares + 2.0
    alpha, beta = options["alpha"], options["beta"]
    if beta == 0.0:
        return loss + alpha * (n_classes - 1) * math.log(n_rows)
    powers = (counts ** (1.0 + beta)).sum(axis=-1) / np.maximum(rows, 1) ** beta
    return (rows - powers) / beta + alpha * (n_classes - 1) * (1.0 - n_rows**-beta) / beta


def shared_price(name: str, n_parts: int, n_rows: int, n_classes: int, options: dict[str, float]) -> float:
    """What partitions into `n_parts` intervals cost besides."""
    if name == "modl":
        more = gammaln(n_rows + n_parts) - gammaln(n_parts) - gammaln(n_rows + 1)
        return float(math.log(n_rows) + more)
    if name == "mdlp":
        return (n_parts - 1) * math.log(n_rows / (n_parts - 1)) if n_parts > 1 else 0.0
    if name == "gini":
        return -2.0
    if name == "entropy":
        alpha, beta = options["alpha"], options["beta"]
        deformed = math.log(n_rows) if beta == 0.0 else (1.0 - n_rows**-beta) / beta
        return -alpha * (n_classes - 1) * deformed
    return 0.0


def cost_of(name: str, counts: Any, options: dict[str, float]) -> float:
    """The cost of the partition whose intervals hold these counts."""
    n_rows = int(counts.sum())
    shared = shared_price(name, len(counts), n_rows, counts.shape[1], options)
    return float(prices(name, counts, options, n_rows).sum()) + shared


def lowest_cost(
    name: str, counts: Any, options: dict[str, float], max_parts: int | None = None, min_rows: int = 1,
    first_is_free: bool = False,
) -> float:  # fmt: skip
    """The cost of the cheapest partition: the best of each number of parts at each bound, from one part less.

    With `first_is_free`, the first value alone may have few rows, and is none of `max_parts`.
    """
    n, n_classes = counts.shape
    n_rows = int(counts.sum())
    sums = np.concatenate([np.zeros((1, n_classes), dtype=np.int64), np.cumsum(counts, axis=0)])
    between = np.maximum(sums[None, :, :] - sums[:, None, :], 0)  # from a bound to another
    is_part = np.triu(np.ones((n + 1, n + 1), dtype=bool), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(is_part, prices(name, between, options, n_rows), np.inf)
    one_part = float(price[0, n]) + shared_price(name, 1, n_rows, n_classes, options)
    is_small = between.sum(axis=2) < min_rows
    is_small[0, 1] &= not first_is_free
    price[is_small] = np.inf
    best, lowest = price[0], one_part
    most = n if max_parts is None else max_parts + first_is_free
    for n_parts in range(2, min(n, most) + 1):
        if n_parts > most - first_is_free:  # one more, if the first value is alone
            best = np.where(np.arange(n + 1) == 1, price[0], np.inf)
            for _ in range(n_parts - 2):
                best = (best[:, None] + price).min(axis=0)
        best = (best[:, None] + price).min(axis=0)
        if not np.isfinite(best[n]):
            continue
        lowest = min(lowest, float(best[n]) + shared_price(name, n_parts, n_rows, n_classes, options))
    return lowest


@functools.cache
def without_floors(criterion):
    """The criterion class as one that knows nothing of its cell: no start is ever left out."""
    return type(f"Plain{criterion.__name__}", (criterion,), {free.__name__: staticmethod(free) for free in FLOORS})


def run(program, slope):
    """F of a run at each bound, and where each but the first came from."""
    costs, came_from = np.full(program.n + 1, np.inf), np.zeros(program.n + 1, dtype=np.int32)
    costs[0] = 0.0
    assert program.fill(float(slope), costs, costs, came_from)
    return costs, came_from[1:]
