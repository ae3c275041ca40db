"""A lower bound of the cost where atoms are spans of several values, for any number of parts: how tight it is.

    .venv/bin/pip install -e '.[duckdb]' polars
    .venv/bin/python -m reproduce.measured.span_floor check --columns 1000
    .venv/bin/python -m reproduce.measured.span_floor gaps --columns 100 --groups 1024

The bound. Let a criterion's cell be concave in its counts and 0 for no rows (`Criterion.concave_cell`), and let its
other terms not fall with the number of parts. Take any partition P into I parts, with bounds anywhere. Let u_1 <= u_2
<= ... be the class counts of the rows of a span that lie before each bound inside of the span, of c rows by class. All
that is known of them is 0 <= u_1 <= u_2 <= ... <= c, class by class. The counts of parts are linear in all u, so the
sum of cells is concave in them, and is lowest at a vertex of the set that these inequalities describe. At a vertex each
u_k has 0 or c_j rows of class j: each class of each span lies in one part as a whole. Parts that become empty cost
nothing and may go, as fewer parts of the same sum do not cost more. So no partition costs less than the cheapest one of

    spans that are cut into blocks of one class each, in any order, chosen for each span.

That is a shortest path over positions: the ends of spans, and for each span all sets of classes that lie before a bound
(two in a span of two classes). It is no chain of atoms, as neither of two sets need hold the other one, so the searches
of gridmodl, near-linear over a chain, do not apply; a run over all pairs of P positions takes P^2 / 2 prices. With
65,536 buckets that is, by arithmetic, minutes for each slope and column: `gap` of a model does not use this bound.

`check` tries all partitions of random columns of few rows, with classes at random, sorted, or sorted inside of spans:
none may cost less than the bound. `gaps` draws the columns of `reproduce.measured.scale`, counts them in buckets, and
prints how far the model is above the bound, and above the optimum in memory. For `modl`.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

import gridmodl
from gridmodl.data.remote.queries import CLASS, HIGH, LOW, ROWS
from gridmodl.fit.lazy import column as lazy_column
from gridmodl.fit.lazy import data as lazy_data
from reproduce.measured.scale import drawn


@numba.njit(cache=True)
def shortest(positions: Any, log_factorials: Any, slope: float) -> float:
    """Lowest sum of the prices of parts and `slope` for each, over all paths from the first position to the last."""
    n, n_classes = positions.shape
    best = np.full(n, np.inf)
    best[0] = 0.0
    for q in range(1, n):
        for p in range(q):
            price, rows = best[p] + slope - log_factorials[n_classes - 1], n_classes - 1
            for j in range(n_classes):
                count = positions[q, j] - positions[p, j]
                if count < 0:  # two sets of classes of one span, neither of which holds the other
                    price = np.inf
                    break
                rows += count
                price -= log_factorials[count]
            if price < np.inf:
                best[q] = min(best[q], price + log_factorials[rows])
    return float(best[n - 1])


def positions_of(counts: np.ndarray, is_divisible: Sequence[bool]) -> np.ndarray:
    """Rows by class before each place where a part may end, given the rows by class of each span."""
    before, found = np.zeros(counts.shape[1], dtype=np.int64), [np.zeros(counts.shape[1], dtype=np.int64)]
    for rows, can_divide in zip(counts, is_divisible, strict=True):
        classes = np.flatnonzero(rows)
        for size in range(1, len(classes) if can_divide else 0):
            for some in itertools.combinations(classes.tolist(), size):
                found.append(before.copy())
                found[-1][list(some)] += rows[list(some)]
        before = before + rows
        found.append(before)
    return np.array(found)


def lower_bound(counts: np.ndarray, is_divisible: Sequence[bool]) -> float:
    """The bound, from runs at some slopes: I parts cost at least Q(slope) - slope I and the terms of I."""
    positions, n_rows = positions_of(counts, is_divisible), int(counts.sum())
    log_factorials = np.cumsum(np.log(np.maximum(1.0, np.arange(n_rows + counts.shape[1] + 1))))
    numbers = np.arange(1, len(positions))
    shared = math.log(n_rows) + np.array(
        [math.lgamma(n_rows + i) - math.lgamma(i) - math.lgamma(n_rows + 1) for i in numbers]
    )
    at = np.unique(np.minimum(2 ** np.arange(0, 20), len(numbers)))
    least = np.full(len(numbers), -np.inf)
    for slope in [0.0, *(math.log((n_rows + i) / i) for i in at)]:
        least = np.maximum(least, shortest(positions, log_factorials, slope) - slope * numbers)
    return float(np.min(shared + least))


def part_cost(counts: np.ndarray) -> float:
    """The price of a part under `modl`."""
    n, n_classes = int(counts.sum()), len(counts)
    return math.lgamma(n + n_classes) - math.lgamma(n_classes) - sum(math.lgamma(one + 1) for one in counts)


def cheapest(classes: np.ndarray, n_classes: int) -> float:
    """Lowest cost of all partitions of rows in order, by trying all."""
    n, best = len(classes), math.inf
    for n_bounds in range(n):
        shared = math.log(n) + math.lgamma(n + n_bounds + 1) - math.lgamma(n_bounds + 1) - math.lgamma(n + 1)
        for bounds in itertools.combinations(range(1, n), n_bounds):
            ends = itertools.pairwise([0, *bounds, n])
            best = min(best, shared + sum(part_cost(np.bincount(classes[a:b], minlength=n_classes)) for a, b in ends))
    return best


def check(columns: int) -> None:
    """Compare the bound with the optimum of columns of few rows."""
    rng, gaps = np.random.default_rng(0), []
    for _ in range(columns):
        n, n_classes = int(rng.integers(4, 12)), int(rng.integers(2, 4))
        classes = rng.integers(0, n_classes, n)
        ends = np.concatenate([[0], np.flatnonzero(rng.random(n - 1) < 0.3) + 1, [n]])
        order = rng.integers(3)
        if order == 1:
            classes.sort()
        elif order == 2:
            for a, b in itertools.pairwise(ends):
                classes[a:b] = np.sort(classes[a:b])
        counts = np.array([np.bincount(classes[a:b], minlength=n_classes) for a, b in itertools.pairwise(ends)])
        gaps.append(cheapest(classes, n_classes) - lower_bound(counts, [True] * len(counts)))
    below = np.array(gaps)
    print(f"{columns} columns: the optimum is above the bound by {below.min():.2e} at least", end=", ")
    print(f"{below.mean():.2f} in the mean, equal on {np.mean(below < 1e-9):.1%}")
    if below.min() < -1e-9:
        raise SystemExit("the bound is wrong")


def gaps(columns: int, groups: int, rows: int) -> None:
    """Cost of models of buckets, less the bound."""
    import polars as pl

    lazy_data.MAX_GROUPS = groups  # type: ignore[attr-defined]
    counted: list[Any] = []
    with_resolution = lazy_column.with_resolution

    def kept(model: Any, found: Any, *rest: Any) -> Any:
        counted.append(found.counts)
        return with_resolution(model, found, *rest)

    lazy_column.with_resolution = kept  # type: ignore[assignment]
    rng, found, lost, resolutions = np.random.default_rng(0), [], [], []
    for _ in range(columns):
        x, y = drawn(rng, rows)
        frame = pl.DataFrame({"x": x, "y": y})
        model = gridmodl.optimize(frame.lazy(), "y")
        spans = (
            pl.DataFrame(counted[-1].to_native()).pivot(CLASS, index=[LOW, HIGH], values=ROWS).sort(LOW).fill_null(0)
        )
        counts = spans.select(pl.exclude(LOW, HIGH)).to_numpy()
        found.append(model.cost - lower_bound(counts, (spans[LOW] != spans[HIGH]).to_list()))
        lost.append(model.cost - gridmodl.optimize(frame, "y", search="exact").cost)
        resolutions.append(model.resolution)
    gap, loss, resolution = np.array(found), np.array(lost), np.array(resolutions)
    print(
        f"{columns} columns of {rows:,} rows, {groups:,} groups in a query, resolution {np.median(resolution):.0f} rows"
    )
    print(f"gap: mean {gap.mean():.1f}, median {np.median(gap):.3g}, largest {gap.max():.0f} nats", end="; ")
    print(f"below 1 on {np.mean(gap < 1):.0%} of the columns; least gap - loss {np.min(gap - loss):.1e}")
    for most in (10, 20, 30, 40, 80):
        some = gap[resolution <= most]
        if len(some):
            print(f"resolution up to {most}: {len(some)} columns, mean {some.mean():.2f}, largest {some.max():.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "gaps"))
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--groups", type=int, default=1024)
    parser.add_argument("--rows", type=int, default=20_000)
    given = parser.parse_args()
    if given.what == "check":
        check(given.columns)
    else:
        gaps(given.columns, given.groups, given.rows)


if __name__ == "__main__":
    main()
