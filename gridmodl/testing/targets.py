"""Check a criterion of several inputs whose target is partitioned too: its prices, and `given_target`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.cost_terms import Counted
from gridmodl.data.frames import Name
from gridmodl.pipeline import optimize, price
from gridmodl.search import Search
from gridmodl.terms import PROBLEMS, Criterion, Problem
from gridmodl.testing.bruteforce import RELATIVE, finest_grid, require

NAMES = "aby"  # two inputs and the target
N_GRIDS = 4  # random grids of a sample


class TargetSample(NamedTuple):
    """Rows by value of two inputs and of the target, and which of these are categorical."""

    counts: NDArray[np.int64]
    categorical: tuple[bool, ...]

    def arguments(self, kind: str) -> dict[str, Any]:
        """The data as arguments of `optimize` and `price`."""
        cells = np.nonzero(self.counts)
        data = {name: np.repeat(values, self.counts[cells]) for name, values in zip(NAMES, cells, strict=True)}
        kinds = {name: "categorical" for name, is_one in zip("ab", self.categorical, strict=False) if is_one}
        target_kind = "numerical" if PROBLEMS[kind].target_is_numerical else "grouped"
        return {"data": data, "target": "y", "target_kind": target_kind, "kinds": kinds}

    def draw(self, rng: np.random.Generator, k: int) -> NDArray[np.int64]:
        """Random parts of one variable, numbered without gaps."""
        parts = rng.integers(0, 3, self.counts.shape[k])
        return np.unique(parts if self.categorical[k] else np.sort(parts), return_inverse=True)[1]

    def written(self, k: int, parts: NDArray[np.int64]) -> Any:
        """A partition in the form that `price` takes."""
        if self.categorical[k]:
            return [np.flatnonzero(parts == part).tolist() for part in np.unique(parts)]
        return (np.flatnonzero(np.diff(parts)) + 0.5).tolist()


def random_target(rng: np.random.Generator, kind: str) -> TargetSample:
    """Draw few values of two inputs and of the target, which depends on both."""
    shape = rng.integers(2, 5, 3)
    counts = rng.integers(0, 3, shape) * (rng.random(shape) < 0.6)
    a, b, y = np.indices(counts.shape)
    counts += rng.integers(0, 9) * ((a + b) % 2 == y % 2)
    counts[0] += counts.sum(axis=0) == 0  # every value of the inputs and of the target occurs
    counts[:, 0, 0] += 1
    return TargetSample(counts, (*(rng.random(2) < 0.5).tolist(), not PROBLEMS[kind].target_is_numerical))


def check_target_grid(criterion: Criterion, kind: str, sample: TargetSample, rng: np.random.Generator) -> None:
    """Compare plain prices with those of the engine, and the costs of inputs with those by `given_target`."""
    shown = f"criterion {criterion.name!r}, problem {kind!r}, rows {sample.counts.tolist()}: "
    arguments, of_target = sample.arguments(kind), sample.draw(rng, 2)
    finest = finest_grid(criterion, _problem(kind, sample), sample.categorical, sample.counts[..., None], True)
    differences = []
    for _ in range(N_GRIDS):
        labels = [sample.draw(rng, 0), sample.draw(rng, 1), of_target]
        counted = finest
        for k, parts in enumerate(labels):
            counted = counted.merged(k, parts)
        cost = counted.cost(counted.terms())
        partitions: dict[Name, Any] = {name: sample.written(k, labels[k]) for k, name in enumerate(NAMES)}
        compiled = price(partitions=partitions, criterion=criterion, **arguments)
        parts_shown = " and ".join(str(parts.tolist()) for parts in labels)
        require(
            math.isclose(compiled, cost, rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}parts {parts_shown} cost {cost!r} by the plain terms and {compiled!r} by the engine",
        )
        given = _given_target(criterion, sample, labels)
        differences.append(cost - given.cost(given.terms()))
        require(
            math.isclose(differences[0], differences[-1], rel_tol=RELATIVE, abs_tol=RELATIVE * (1.0 + abs(cost))),
            f"{shown}parts {parts_shown} cost {differences[-1]!r} more than by given_target, and other inputs with the "
            f"same parts of the target {differences[0]!r} more: that does not depend on the target alone",
        )
    model = optimize(criterion=criterion, search=Search(effort=0), **arguments)
    again = price(partitions=model.all_partitions, criterion=criterion, **arguments)
    require(
        math.isclose(model.cost, again, rel_tol=RELATIVE, abs_tol=RELATIVE) and model.cost <= model.null_cost,
        f"{shown}the search reports {model.cost!r}, its partitions cost {again!r} and one cell {model.null_cost!r}",
    )


def _problem(kind: str, sample: TargetSample) -> Problem:
    return Problem(kind, int(sample.counts.sum()), 2, np.empty(0, dtype=np.int64))


def _given_target(criterion: Criterion, sample: TargetSample, labels: list[NDArray[np.int64]]) -> Counted:
    """The grid of the inputs with the parts of the target as classes."""
    assert criterion.given_target is not None  # noqa: S101  for mypy: checked with the class
    both = set(criterion.given_target.options) & set(criterion.options)
    given = criterion.given_target(**{name: criterion.chosen[name] for name in both})
    n_classes = int(labels[2].max()) + 1
    table = np.zeros((*sample.counts.shape[:2], n_classes), dtype=np.int64)
    for y, part in enumerate(labels[2].tolist()):
        table[..., part] += sample.counts[..., y]
    problem = Problem("grid", int(table.sum()), 2, table.sum(axis=(0, 1)))
    return finest_grid(given, problem, sample.categorical[:2], table).merged(0, labels[0]).merged(1, labels[1])
