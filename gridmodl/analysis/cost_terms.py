"""What a grid costs term by term, by the plain terms of its criterion: no compiler, no search, and of a model no data.

cost = finish( grid + variable + part + margin + cell )

The twin of `gridmodl.pricing.finished` and `gridmodl.search.moves`: the only place that adds plain terms up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.pricing import categorical_values, numerical_values, variable_of
from gridmodl.terms import PROBLEMS, Cell, Criterion, Part, Problem, Shape, Variable, params_record

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition


class CostTerms(NamedTuple):
    """The terms of a cost, each summed over what it prices.

    Attributes
    ----------
    grid : float
        Of the sizes of the grid: which variables are in it, how many cells it has.
    variable : float
        Of the numbers of parts of the variables, and the choice among all partitions into so many.
    part : float
        Of the parts, one by one.
    margin : float
        Of the non-empty cells of the inputs, where the target is partitioned too; else 0.
    cell : float
        Of the non-empty cells: what is left to say of the classes, or of the rows, in them.
    """

    grid: float
    variable: float
    part: float
    margin: float
    cell: float

    @property
    def total(self) -> float:
        """Their sum, which is the cost of a criterion that is a plain sum."""
        return math.fsum(self)


class PartValues(NamedTuple):
    """What a price needs to know of the values of a variable."""

    of_parts: NDArray[np.float64]  # distinct values of each part; NaN where a model does not know
    rows: NDArray[np.int64]  # of each value of a categorical variable; empty for a numerical one


class Side(NamedTuple):
    """One variable: what a criterion may know of it, and its parts with rows in them."""

    facts: Variable
    rows: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Counted:
    """A grid as counts: its variables, and its non-empty cells by part of each of them."""

    criterion: Criterion
    p: Any
    sides: tuple[Side, ...]
    parts: NDArray[np.int64]  # by cell and variable
    counts: NDArray[np.int64]  # by cell and class
    unlabelled: NDArray[np.int64]  # by cell

    @property
    def shape(self) -> Shape:
        sizes = [len(side.rows) for side in self.sides]
        inputs = [n for n, side in zip(sizes, self.sides, strict=True) if not side.facts.is_target]
        return Shape(len(inputs), sum(n > 1 for n in inputs), math.prod(map(float, sizes)))

    @property
    def n_target_parts(self) -> int:
        """Of a target that is partitioned too; 0 where there is none."""
        return next((len(side.rows) for side in self.sides if side.facts.is_target), 0)

    def terms(self) -> CostTerms:
        """What each term adds to the cost."""
        variables = [self.criterion.variable(self.p, side.facts, len(side.rows)) for side in self.sides]
        parts = [self.part_prices(k, side.rows, side.values) for k, side in enumerate(self.sides)]
        cells = self.cell_prices(self.counts, self.unlabelled)
        grid = float(self.criterion.grid(self.p, self.shape))
        margins = math.fsum(self.margin_prices(self.margins()[1]))
        return CostTerms(grid, math.fsum(variables), math.fsum(np.concatenate(parts)), margins, math.fsum(cells))

    def cost(self, terms: CostTerms) -> float:
        """What `finish` makes of the terms."""
        return float(self.criterion.finish(self.p, terms.total, self.shape))

    def part_prices(self, k: int, rows: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The price of each of these parts of variable k."""
        facts = self.sides[k].facts
        prices = [self.criterion.part(self.p, facts, part) for part in _parts(rows, values)]
        return np.asarray(prices, dtype=np.float64)

    def margins(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The non-empty cells of the inputs, where the target is partitioned too: their parts, and their rows.

        Parts are by variable, 0 for the target.
        """
        is_target = np.array([side.facts.is_target for side in self.sides])
        if not is_target.any():
            return self.parts[:0], np.empty(0, dtype=np.int64)
        parts, cell = np.unique(np.where(is_target, 0, self.parts), axis=0, return_inverse=True)
        rows = np.zeros(len(parts), dtype=np.int64)
        np.add.at(rows, cell.ravel(), self.counts.sum(axis=1))
        return parts, rows

    def margin_prices(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The price of each of these cells of the inputs; without a target in parts there are none."""
        prices = [self.criterion.margin(self.p, n, self.n_target_parts) for n in rows.tolist()]
        return np.asarray(prices, dtype=np.float64)

    def cell_prices(self, counts: NDArray[np.int64], unlabelled: NDArray[np.int64]) -> NDArray[np.float64]:
        """The price of each of these cells; equal ones are priced once."""
        both, again = np.unique(np.column_stack([counts, unlabelled]), axis=0, return_inverse=True)
        prices = [
            self.criterion.cell(self.p, Cell(of_cell[:-1], sum(of_cell), of_cell[-1])) for of_cell in both.tolist()
        ]
        return np.asarray(prices, dtype=np.float64)[again.ravel()]

    def merged(self, k: int, labels: NDArray[np.int64]) -> Counted:
        """The grid whose parts of variable k fall together as `labels` says, numbered 0, 1, ..."""
        side, n = self.sides[k], int(labels.max()) + 1
        rows = np.zeros(n, dtype=np.int64)
        np.add.at(rows, labels, side.rows)
        values = np.zeros(n)
        np.add.at(values, labels, side.values)
        parts = self.parts.copy()
        parts[:, k] = labels[parts[:, k]]
        parts, cell = np.unique(parts, axis=0, return_inverse=True)
        cell = cell.ravel()
        counts = np.zeros((len(parts), self.counts.shape[1]), dtype=np.int64)
        np.add.at(counts, cell, self.counts)
        unlabelled = np.bincount(cell, self.unlabelled, len(parts)).astype(np.int64)
        sides = (*self.sides[:k], side._replace(rows=rows, values=values), *self.sides[k + 1 :])
        return Counted(self.criterion, self.p, sides, parts, counts, unlabelled)


def _parts(rows: NDArray[np.int64], values: NDArray[np.float64]) -> list[Part]:
    """Parts as terms are handed them; the values of a part that nobody knows stay NaN, and so does what needs them."""
    return [Part(n, m if math.isnan(m) else int(m)) for n, m in zip(rows.tolist(), values.tolist(), strict=True)]


def counted_grid(model: Model, criterion: Criterion, values: Mapping[Name, PartValues]) -> Counted:
    """The grid of a model; `values` says of each of its variables what a price needs to know of its values."""
    partitions = list(model.all_partitions.values())
    filled = [filled_parts(model, partition) for partition in partitions]
    parts, counts, unlabelled = _cells(model, partitions, filled)
    has_classes = PROBLEMS[model.problem].has_classes
    class_rows = counts.sum(axis=0) if has_classes else np.empty(0, dtype=np.int64)
    n_inputs = len(partitions) - (model.target is not None)
    problem = Problem(model.problem, int(counts.sum() + unlabelled.sum()), n_inputs, class_rows)
    sides = [
        _side(model, partition, some, values[partition.name], criterion, problem)
        for partition, some in zip(partitions, filled, strict=True)
    ]
    return Counted(criterion, params_record(criterion, problem), tuple(sides), parts, counts, unlabelled)


def part_rows(model: Model, partition: Partition) -> NDArray[np.int64]:
    """The rows of each part that are priced: those without a class are, where the problem is to learn from them."""
    labelled: NDArray[np.int64] = partition.counts.sum(axis=1)
    return partition.rows if PROBLEMS[model.problem].has_unlabelled else labelled


def filled_parts(model: Model, partition: Partition) -> NDArray[np.int64]:
    """The parts with rows: a partition of the user's own may have others, which cost nothing."""
    return np.flatnonzero(part_rows(model, partition))


def _side(
    model: Model,
    partition: Partition,
    filled: NDArray[np.int64],
    values: PartValues,
    criterion: Criterion,
    problem: Problem,
) -> Side:
    of_parts = values.of_parts[filled]
    n_values = float(of_parts.sum())
    if partition.kind == "categorical":
        known = categorical_values(values.rows)
    else:
        known = numerical_values(n_values if math.isnan(n_values) else int(n_values))  # type: ignore[arg-type]
    facts = variable_of(criterion, problem, known, is_target=partition is model.target)
    return Side(facts, part_rows(model, partition)[filled], of_parts)


def _cells(
    model: Model, partitions: Sequence[Partition], filled: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Parts of each cell among those with rows, its rows by class, and those without one."""
    cells = model.cells
    parts = np.zeros((len(cells.parts), len(partitions)), dtype=np.int64)
    for k, partition in enumerate(partitions):
        if partition.name in cells.names:
            place = np.zeros(partition.n_parts, dtype=np.int64)
            place[filled[k]] = np.arange(len(filled[k]))
            parts[:, k] = place[cells.parts[:, cells.names.index(partition.name)]]
    unlabelled = np.zeros(len(cells.parts), dtype=np.int64)
    if cells.unlabelled is not None and PROBLEMS[model.problem].has_unlabelled:
        unlabelled = cells.unlabelled
    has_rows = cells.counts.any(axis=1) | (unlabelled > 0)
    return parts[has_rows], cells.counts[has_rows], unlabelled[has_rows]
