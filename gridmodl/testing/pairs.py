"""Two variables that are partitioned together, the second of which may be the target: every grid is tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.pipeline import optimize, price
from gridmodl.pricing import categorical_facts, numerical_facts
from gridmodl.terms import SEARCHED_TARGETS, Cell, Criterion, Part, Problem, Shape, params_record
from gridmodl.testing.plain import RELATIVE, all_cuts, all_groupings, require


class Pair(NamedTuple):
    """Rows by value of two variables, and which of these are categorical; the second may be the target."""

    counts: NDArray[np.int64]
    categorical: tuple[bool, bool]

    def all_parts(self, k: int) -> list[NDArray[np.int64]]:
        """Every partition of one variable, as the part of each of its values."""
        n = self.counts.shape[k]
        if self.categorical[k]:
            return list(all_groupings(n))
        return [np.searchsorted(cuts, np.arange(n), side="right") for cuts in all_cuts(n)]

    def written(self, k: int, parts: NDArray[np.int64]) -> Any:
        """A partition as a user writes it."""
        if self.categorical[k]:
            return [np.flatnonzero(parts == part).tolist() for part in np.unique(parts)]
        return (np.flatnonzero(np.diff(parts)) + 0.5).tolist()

    def arguments(self, kind: str) -> dict[str, Any]:
        """The data as `optimize` and `price` take it."""
        cells = np.nonzero(self.counts)
        a, b = (np.repeat(values, self.counts[cells]) for values in cells)
        kinds = {name: "categorical" for name, is_one in zip("ab", self.categorical, strict=True) if is_one}
        if kind == "joint":
            return {"data": {"a": a, "b": b}, "kinds": kinds}
        kinds.pop("b", None)
        return {"data": {"a": a, "b": b}, "target": "b", "target_kind": kind, "kinds": kinds}


def random_pair(rng: np.random.Generator, kind: str) -> Pair:
    """Few values of two variables, some of which go together."""
    shape = rng.integers(1, 5, 2)
    counts = rng.integers(0, 3, shape) * (rng.random(shape) < 0.7)
    counts += rng.integers(0, 9) * (np.arange(shape[0])[:, None] % 2 == np.arange(shape[1]) % 2)
    counts[0, 0] += 1
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0, counts.sum(axis=0) == 0] = 1
    categorical = rng.random(2) < 0.5
    return Pair(counts, (bool(categorical[0]), kind == "grouped" or (kind == "joint" and bool(categorical[1]))))


def check_pair(criterion: Criterion, kind: str, sample: Pair, rng: np.random.Generator) -> None:
    """Try every grid over two variables."""
    kinds = ["categorical" if is_one else "numerical" for is_one in sample.categorical]
    shown = f"criterion {criterion.name!r}, problem {kind!r}, {' x '.join(kinds)}, rows {sample.counts.tolist()}: "
    plain = plain_pair(criterion, kind, sample)
    costs = [(plain(a, b), a, b) for a in sample.all_parts(0) for b in sample.all_parts(1)]
    lowest = min(cost for cost, *_ in costs)
    tolerance = RELATIVE * (1.0 + abs(lowest))
    given = sample.arguments(kind)
    for i in rng.integers(0, len(costs), 3):
        cost, a, b = costs[i]
        compiled = price(
            partitions={"a": sample.written(0, a), "b": sample.written(1, b)}, criterion=criterion, **given
        )
        require(
            math.isclose(compiled, cost, rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}parts {a.tolist()} and {b.tolist()} cost {cost!r} by the plain terms and {compiled!r} compiled",
        )
    null = plain(np.zeros(sample.counts.shape[0], dtype=int), np.zeros(sample.counts.shape[1], dtype=int))
    model = optimize(criterion=criterion, **given)
    require(model.cost >= lowest - tolerance, f"{shown}the search reports {model.cost!r}, below {lowest!r}")
    require(model.cost <= null + tolerance, f"{shown}the search is worse than one cell, which costs {null!r}")
    again = price(partitions=model.all_partitions, criterion=criterion, **given)
    require(
        math.isclose(model.cost, again, rel_tol=RELATIVE, abs_tol=RELATIVE),
        f"{shown}the search reports {model.cost!r}, its partitions cost {again!r}",
    )


def plain_pair(criterion: Criterion, kind: str, sample: Pair) -> Callable[[Any, Any], float]:
    """What prices a grid over two variables, given the part of each of their values, by the plain Python terms."""
    counts, is_searched = sample.counts, kind in SEARCHED_TARGETS
    problem = Problem(kind, int(counts.sum()), 1 if is_searched else 2, np.empty(0, dtype=np.int64))
    facts = []
    for k in (0, 1):
        rows = counts.sum(axis=1 - k)
        variable = categorical_facts(rows) if sample.categorical[k] else numerical_facts(len(rows))
        variable = variable._replace(is_target=is_searched and k == 1)
        facts.append(variable._replace(constant=float(criterion.variable_constant(problem, variable))))
    p = params_record(criterion, problem)

    def price_grid(*parts: Any) -> float:
        sizes = [len(np.unique(labels)) for labels in parts]
        inputs = sizes[:1] if is_searched else sizes
        shape = Shape(len(inputs), sum(n > 1 for n in inputs), float(sizes[0] * sizes[1]))
        total = criterion.grid(p, shape)
        for k, labels in enumerate(parts):
            total += criterion.variable(p, facts[k], sizes[k])
            for part in np.unique(labels):
                rows = int(counts.sum(axis=1 - k)[labels == part].sum())
                n_target_parts = sizes[1] if is_searched and k == 0 else 0  # not for the target's own parts
                total += criterion.part(p, facts[k], Part(rows, int((labels == part).sum())), n_target_parts)
        for one, other in itertools.product(*map(np.unique, parts)):
            rows = int(counts[np.ix_(parts[0] == one, parts[1] == other)].sum())
            total += criterion.cell(p, Cell([rows], rows, 0)) if rows else 0.0
        return float(criterion.finish(p, total, shape))

    return price_grid
