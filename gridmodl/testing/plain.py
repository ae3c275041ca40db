"""Prices by the plain Python terms, and every partition of a few values: what compiled searches are held against."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.pricing import categorical_facts, check_term
from gridmodl.terms import Cell, Criterion, Part, Problem, Shape, Variable, params_record

RELATIVE = 1e-9


def require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def all_cuts(n_values: int) -> Iterator[tuple[int, ...]]:
    for k in range(n_values):
        yield from itertools.combinations(range(1, n_values), k)


def all_groupings(n_values: int) -> Iterator[NDArray[np.int64]]:
    """Every way to group so many values, as the group of each: a value joins one of the groups so far or opens one."""
    groupings: list[tuple[int, ...]] = [()]
    for _ in range(n_values):
        groupings = [(*groups, group) for groups in groupings for group in range(max(groups, default=-1) + 2)]
    yield from (np.array(groups) for groups in groupings)


class Sample(NamedTuple):
    """Rows by distinct value and class, and those of each value without a class."""

    kind: str  # of problem
    counts: NDArray[np.int64]
    unlabelled: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum() + self.unlabelled.sum())

    def arguments(self) -> dict[str, Any]:
        """The data as `optimize` and `price` take it."""
        by_code = np.column_stack([self.unlabelled, self.counts])
        values, codes = np.nonzero(by_code)
        n = by_code[values, codes]
        given = {"data": np.repeat(values, n), "target": np.repeat(codes - 1, n)}
        return given | ({"unlabelled": -1} if self.kind == "semi" else {})


def plain_price(criterion: Criterion, sample: Sample, cuts: tuple[int, ...]) -> float:
    """The cost of one variable by the plain Python terms."""
    p, variable = facts_of(criterion, sample)
    shape = Shape(1, int(len(cuts) > 0), float(len(cuts) + 1))
    total = criterion.grid(p, shape) + criterion.variable(p, variable, len(cuts) + 1)
    for lo, hi in itertools.pairwise((0, *cuts, len(sample.counts))):
        inside, unlabelled = [int(n) for n in sample.counts[lo:hi].sum(axis=0)], int(sample.unlabelled[lo:hi].sum())
        rows = sum(inside) + unlabelled
        total += criterion.part(p, variable, Part(rows, hi - lo), 0)
        # First of an array, as searches have them: what a term writes into a list would hide that it writes.
        check_term(criterion, "cell", p, Cell(np.array(inside), rows, unlabelled))
        total += criterion.cell(p, Cell(inside, rows, unlabelled))
    return float(criterion.finish(p, total, shape))


def plain_optimum(criterion: Criterion, sample: Sample) -> float:
    """The lowest cost of all partitions of one variable by the plain Python terms: of 1 part, of 2, and so on."""
    p, variable = facts_of(criterion, sample)
    n = len(sample.counts)
    by_value = np.column_stack([sample.counts, sample.unlabelled])
    sums = np.concatenate([np.zeros((1, by_value.shape[1]), dtype=np.int64), np.cumsum(by_value, axis=0)])
    prices = np.full((n + 1, n + 1), np.inf)
    for lo, hi in itertools.combinations(range(n + 1), 2):
        inside = sums[hi] - sums[lo]
        rows = int(inside.sum())
        prices[lo, hi] = criterion.part(p, variable, Part(rows, hi - lo), 0)
        prices[lo, hi] += criterion.cell(p, Cell(inside[:-1], rows, int(inside[-1])))
    lowest, up_to = np.inf, np.where(np.arange(n + 1) == 0, 0.0, np.inf)
    for n_parts in range(1, n + 1):
        up_to = (up_to[:, None] + prices).min(axis=0)
        shape = Shape(1, int(n_parts > 1), float(n_parts))
        total = criterion.grid(p, shape) + criterion.variable(p, variable, n_parts) + up_to[n]
        lowest = min(lowest, float(criterion.finish(p, total, shape)))
    return lowest


def facts_of(criterion: Criterion, sample: Sample) -> tuple[Any, Variable]:
    problem = Problem(sample.kind, sample.n_rows, 1, sample.counts.sum(axis=0))
    variable = Variable(False, False, len(sample.counts), 0.0, 0.0, np.empty(0))
    variable = variable._replace(constant=float(criterion.variable_constant(problem, variable)))
    return params_record(criterion, problem), variable


def plain_grouping(criterion: Criterion, kind: str, counts: NDArray[np.int64]) -> Callable[[Any], float]:
    """What prices a grouping, given the group of each value, by the plain Python terms."""
    problem = Problem(kind, int(counts.sum()), 2 if kind == "grid" else 1, counts.sum(axis=0))
    variable = categorical_facts(counts.sum(axis=1))
    variable = variable._replace(constant=float(criterion.variable_constant(problem, variable)))
    p = params_record(criterion, problem)

    def price_grouping(groups: Any) -> float:
        names = np.unique(groups)
        shape = Shape(problem.n_variables, int(len(names) > 1), float(len(names)))
        total = criterion.grid(p, shape) + criterion.variable(p, variable, len(names))
        for name in names:
            inside = [int(n) for n in counts[groups == name].sum(axis=0)]
            total += criterion.part(p, variable, Part(sum(inside), int((groups == name).sum())), 0)
            check_term(criterion, "cell", p, Cell(np.array(inside), sum(inside), 0))
            total += criterion.cell(p, Cell(inside, sum(inside), 0))
        return float(criterion.finish(p, total, shape))

    return price_grouping
