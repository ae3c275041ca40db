"""Price every partition of a few values as a density by the plain Python terms, and check searches against them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.cost_terms import Counted, Side
from gridmodl.data.domain import AROUND, DistinctValues, wide_gaps
from gridmodl.data.lattice import ROUNDING, step_of
from gridmodl.pipeline import optimize, price
from gridmodl.pricing import numerical_values, variable_of
from gridmodl.terms import DOMAIN, Criterion, Problem, params_record
from gridmodl.testing.bruteforce import RELATIVE, all_cuts, cost_of, cut_grid, require
from gridmodl.testing.declarations import check_empty_parts

MOST_CUTS = 3  # of the values around a gap, which are too many for all partitions


def random_values(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw few values for a density, with ties; whole numbers or far from even."""
    values = rng.integers(0, 9, int(rng.integers(2, 8))).astype(float)
    values = np.exp(values) if rng.random() < 0.5 else values
    return np.append(np.repeat(values, rng.integers(1, 4, len(values))), [values.min(), values.max() + 1.0])


def values_with_gap(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw values that are near to one another, but for a wide gap in their midst."""
    steps = rng.uniform(1.0, 2.0, 2 * AROUND + 2)
    steps[AROUND + 1] = rng.uniform(20.0, 60.0)
    return np.repeat(np.cumsum(steps), rng.integers(1, 4, len(steps)))


def check_density(criterion: Criterion, rng: np.random.Generator) -> None:
    """Check prices and searches of the density of a few values; with gaps where the criterion prices these."""
    what = type(criterion).validated
    if what is not None and criterion.chosen[what] == 0.0:  # else each search would choose it
        criterion = type(criterion)(**{**criterion.chosen, what: 2.0})
    values = random_values(rng)
    _check_values(criterion, values, all_cuts(len(np.unique(values))), None)
    if not criterion.empty_parts:
        return
    check_empty_parts(criterion)
    values = values_with_gap(rng)
    n_atoms = len(np.unique(values)) + 2
    _check_values(criterion, values, all_cuts(n_atoms, MOST_CUTS), MOST_CUTS + 1)


def _check_values(
    criterion: Criterion, values: NDArray[np.float64], every: Iterable[tuple[int, ...]], max_parts: int | None
) -> None:
    """Price the partitions with the cuts `every`, all of at most `max_parts` parts, and check prices and searches."""
    shown = f"criterion {criterion.name!r}, values {sorted(values.tolist())}: "
    finest, bounds = finest_density(criterion, values)
    by_cuts = {cuts: cost_of(cut_grid(finest, cuts)) for cuts in every}
    lowest = min(by_cuts.values())
    tolerance = RELATIVE * (1.0 + abs(lowest))
    for cuts in list(by_cuts)[:: max(1, len(by_cuts) // 8)]:
        at = bounds[np.array(cuts, dtype=np.int64) - 1]
        compiled = price(values, None, {"x0": at}, criterion=criterion, special=[])
        require(
            math.isclose(compiled, by_cuts[cuts], rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}bounds {at.tolist()} cost {by_cuts[cuts]!r} by the plain terms and {compiled!r} compiled",
        )
    for search in ("exact", "merge"):
        model = optimize(values, criterion=criterion, search=search, special=[], max_parts=max_parts)
        require(model.cost >= lowest - tolerance, f"{shown}search {search!r} reports {model.cost!r}, below {lowest!r}")
        require(model.cost <= by_cuts[()] + tolerance, f"{shown}search {search!r} is worse than one part")
        if search == "exact":
            require(model.cost <= lowest + tolerance, f"{shown}exact found {model.cost!r}, the optimum is {lowest!r}")


def finest_density(criterion: Criterion, values: NDArray[np.float64]) -> tuple[Counted, NDArray[np.float64]]:
    """The density of values, each a part of its own, and the bounds between them; from the formulas, value by value.

    If the criterion prices gaps, both halves of a wide one are parts too.
    """
    distinct, rows = np.unique(values, return_counts=True)
    bounds, step = (distinct[1:] + distinct[:-1]) / 2.0, step_of(distinct, distinct.dtype)
    if criterion.empty_parts:
        gaps = wide_gaps(DistinctValues(distinct, rows, distinct.dtype, step))
        bounds = np.sort(np.concatenate([bounds, gaps.low, gaps.high]))
        rows = np.insert(rows, np.repeat(gaps.at + 1, 2), 0)
    ends = bounds
    if step:  # half a step above the last point up to each bound
        ends = distinct[0] + (np.floor((bounds - distinct[0]) / step + ROUNDING) + 0.5) * step
    low, high = distinct[0] - step / 2.0, distinct[-1] + step / 2.0
    shares = (np.append(ends, high) - np.append(low, ends)) / (high - low)
    widths = np.rint(shares * DOMAIN).astype(np.int64)
    problem = Problem("density", len(values), 1, np.empty(0, dtype=np.int64))
    known = variable_of(criterion, problem, numerical_values(len(distinct)))
    side, parts = Side(known, rows, (rows > 0).astype(np.float64)), np.arange(len(rows))[:, None]
    p = params_record(criterion, problem)
    return Counted(criterion, p, (side,), parts, widths[:, None], rows - widths), bounds
