"""One variable and classes: every partition of a few values is tried."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from gridmodl.pipeline import optimize, price
from gridmodl.terms import Criterion, Shape
from gridmodl.testing.plain import (
    RELATIVE,
    Sample,
    all_cuts,
    all_groupings,
    facts_of,
    plain_grouping,
    plain_price,
    require,
)


def random_sample(rng: np.random.Generator, kind: str) -> Sample:
    """Few values and classes, ties, pure values and runs of them; some values of unlabelled rows alone."""
    n_values, n_classes = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    counts = rng.integers(0, 4, (n_values, n_classes)) * (rng.random((n_values, n_classes)) < 0.6)
    empty = counts.sum(axis=1) == 0
    counts[empty, rng.integers(0, n_classes, int(empty.sum()))] = rng.integers(1, 9, int(empty.sum()))
    unlabelled = np.zeros(n_values, dtype=np.int64)
    if kind == "semi":
        counts[1:] *= rng.random((n_values - 1, 1)) < 0.7
        unlabelled = rng.integers(0, 6, n_values) * (rng.random(n_values) < 0.6)
        unlabelled[counts.sum(axis=1) == 0] += 1
        unlabelled[-1] += unlabelled.sum() == 0
    return Sample(kind, counts[:, counts.any(axis=0)], unlabelled)


def check_one_variable(criterion: Criterion, sample: Sample, rng: np.random.Generator) -> None:
    counts, given = sample.counts, sample.arguments()
    shown = f"criterion {criterion.name!r}, rows by value and class {counts.tolist()}: "
    if sample.kind == "semi":
        shown = f"{shown[:-2]}, unlabelled rows by value {sample.unlabelled.tolist()}: "
    by_cuts = {cuts: plain_price(criterion, sample, cuts) for cuts in all_cuts(len(counts))}
    lowest = min(by_cuts.values())
    tolerance = RELATIVE * (1.0 + abs(lowest))

    for cuts in list(by_cuts)[:: max(1, len(by_cuts) // 8)]:
        compiled = price(partitions={"x0": np.array(cuts) - 0.5}, criterion=criterion, **given)
        require(
            math.isclose(compiled, by_cuts[cuts], rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}cuts {cuts} cost {by_cuts[cuts]!r} by the plain terms and {compiled!r} compiled",
        )
        other_order = sample._replace(counts=counts[:, rng.permutation(counts.shape[1])])
        shuffled = plain_price(criterion, other_order, cuts)
        require(
            math.isclose(shuffled, by_cuts[cuts], rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}cuts {cuts} cost {by_cuts[cuts]!r}, and {shuffled!r} with the classes in another order",
        )
    _check_finish(criterion, sample, shown)
    if criterion.joins_pure_runs:
        kept = min(cost for cuts, cost in by_cuts.items() if not any(_is_inside_run(counts, cut) for cut in cuts))
        require(
            kept <= lowest + tolerance,
            f"{shown}joins_pure_runs is declared, but the optimum {lowest!r} cuts inside a run of one class; "
            f"without such cuts the lowest is {kept!r}",
        )
    for search in ("exact", "merge"):
        model = optimize(criterion=criterion, search=search, **given)
        require(model.cost >= lowest - tolerance, f"{shown}search {search!r} reports {model.cost!r}, below {lowest!r}")
        require(model.cost <= by_cuts[()] + tolerance, f"{shown}search {search!r} is worse than one part")
        if search == "exact":
            require(model.cost <= lowest + tolerance, f"{shown}exact found {model.cost!r}, the optimum is {lowest!r}")


def _check_finish(criterion: Criterion, sample: Sample, shown: str) -> None:
    p, _ = facts_of(criterion, sample)
    for n_parts in range(1, len(sample.counts) + 1):
        shape = Shape(1, int(n_parts > 1), float(n_parts))
        finished = [criterion.finish(p, total, shape) for total in np.linspace(-50.0, 50.0, 21)]
        require(
            all(low <= high + RELATIVE * (1.0 + abs(high)) for low, high in itertools.pairwise(finished)),
            f"{shown}finish falls while the total grows, for {n_parts} parts",
        )


def _is_inside_run(counts: NDArray[np.int64], cut: int) -> bool:
    """Whether the labelled values next to a cut on both sides hold one and the same class only, or there is no such."""
    is_labelled = counts.sum(axis=1) > 0
    before, after = np.flatnonzero(is_labelled[:cut]), np.flatnonzero(is_labelled[cut:])
    if len(before) == 0 or len(after) == 0:
        return True
    both = counts[[before[-1], cut + after[0]]] > 0
    return bool((both.sum(axis=1) == 1).all() and (both[0] == both[1]).all())


def check_groups_by_share(criterion: Criterion, kind: str, n_samples: int) -> None:
    """Try every grouping of a few values of two classes."""
    rng = np.random.default_rng(19841)
    for _ in range(n_samples):
        counts = _two_classes(rng)
        price = plain_grouping(criterion, kind, counts)
        place = np.unique(counts[:, 1] / counts.sum(axis=1), return_inverse=True)[1]
        lowest = min(price(groups) for groups in all_groupings(len(counts)))
        by_share = min(price(np.searchsorted(cuts, place, side="right")) for cuts in all_cuts(int(place.max()) + 1))
        # The survival of a statistic of 1e-15 instead of 0 shows in the eighth digit.
        require(
            by_share <= lowest + 1e-6 * (1.0 + abs(lowest)),
            f"criterion {criterion.name!r}, rows by value and class {counts.tolist()}: groups_by_share is declared, "
            f"but the lowest cost of all groupings is {lowest!r}, and of intervals in the order of shares {by_share!r}",
        )


def _two_classes(rng: np.random.Generator) -> NDArray[np.int64]:
    """Few values, with equal shares, pure values and rows from 1 to 1,000."""
    n_values = int(rng.integers(2, 7))
    counts = rng.integers(0, 4, (n_values, 2)) * rng.choice([1, 1, 2, 5, 100], (n_values, 1))
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0] += counts.sum(axis=0) == 0
    return counts
