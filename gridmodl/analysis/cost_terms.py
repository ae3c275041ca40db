"""Price a grid term by term with the plain terms of its criterion, from a model alone: nothing compiled, no data.

    cost = finish( grid + variable + part + margin + cell )

Plain twin of `gridmodl.pricing.finished` and `gridmodl.search.moves`: the only place that adds plain terms up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.fit.density import widths_and_rows
from gridmodl.pricing import categorical_values, numerical_values, variable_of
from gridmodl.terms import PROBLEMS, Cell, Criterion, Part, Problem, Shape, Variable, params_record

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition


class CostTerms(NamedTuple):
    """Terms of a cost, each summed over what it prices.

    Attributes
    ----------
    grid : float
        Price of the sizes of the grid: which variables are in it, how many cells it has.
    variable : float
        Price of the number of parts of each variable, and of the choice among all partitions into that number.
    part : float
        Sum of the prices of the parts.
    margin : float
        Sum of the prices of the non-empty cells of the inputs, if the target is partitioned too; else 0.
    cell : float
        Sum of the prices of the non-empty cells: the classes, or the rows, in each.
    """

    grid: float
    variable: float
    part: float
    margin: float
    cell: float

    @property
    def total(self) -> float:
        """Sum of the terms: the cost, unless the criterion applies a function to the sum."""
        return math.fsum(self)


class PartValues(NamedTuple):
    """Values of a variable, as far as prices depend on them."""

    of_parts: NDArray[np.float64]  # distinct values of each part; NaN if the model does not know
    rows: NDArray[np.int64]  # rows of each value of a categorical variable; empty for a numerical one


class Side(NamedTuple):
    """One variable: the facts that terms see, and the rows and distinct values of its non-empty parts."""

    facts: Variable
    rows: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Counted:
    """A grid as counts: its variables, and its non-empty cells."""

    criterion: Criterion
    p: Any  # parameters of the terms
    sides: tuple[Side, ...]  # the variables
    parts: NDArray[np.int64]  # part of each cell in each variable
    counts: NDArray[np.int64]  # rows of each cell and class
    unlabelled: NDArray[np.int64]  # unlabelled rows of each cell; of a density, whose counts are widths, rows - width

    @property
    def shape(self) -> Shape:
        sizes = [len(side.rows) for side in self.sides]
        inputs = [n for n, side in zip(sizes, self.sides, strict=True) if not side.facts.is_target]
        return Shape(len(inputs), sum(n > 1 for n in inputs), math.prod(map(float, sizes)))

    @property
    def n_target_parts(self) -> int:
        """Number of parts of a partitioned target; 0 if there is none."""
        return next((len(side.rows) for side in self.sides if side.facts.is_target), 0)

    def terms(self) -> CostTerms:
        """Compute the terms of the cost."""
        variables = [self.criterion.variable(self.p, side.facts, len(side.rows)) for side in self.sides]
        parts = [self.part_prices(k, side.rows, side.values) for k, side in enumerate(self.sides)]
        cells = self.cell_prices(self.counts, self.unlabelled)
        grid = float(self.criterion.grid(self.p, self.shape))
        margins = math.fsum(self.margin_prices(self.margins()[1]))
        return CostTerms(grid, math.fsum(variables), math.fsum(np.concatenate(parts)), margins, math.fsum(cells))

    def cost(self, terms: CostTerms) -> float:
        """Cost: `finish` applied to the sum of the terms."""
        return self.cost_of_sum(terms.total)

    def cost_of_sum(self, total: float) -> float:
        """Cost of a grid of this shape whose terms sum to `total`."""
        return float(self.criterion.finish(self.p, total, self.shape))

    def part_prices(self, k: int, rows: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Price of each part of variable k, given its rows and its distinct values."""
        facts = self.sides[k].facts
        prices = [self.criterion.part(self.p, facts, part) for part in _parts(rows, values)]
        return np.asarray(prices, dtype=np.float64)

    def margins(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Parts and rows of the non-empty cells of the inputs; no cells unless the target is partitioned too.

        The parts have one column per variable, 0 for the target.
        """
        is_target = np.array([side.facts.is_target for side in self.sides])
        if not is_target.any():
            return self.parts[:0], np.empty(0, dtype=np.int64)
        parts, cell = np.unique(np.where(is_target, 0, self.parts), axis=0, return_inverse=True)
        rows = np.zeros(len(parts), dtype=np.int64)
        np.add.at(rows, cell.ravel(), self.counts.sum(axis=1))
        return parts, rows

    def margin_prices(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Price of each cell of the inputs, given its rows."""
        prices = [self.criterion.margin(self.p, n, self.n_target_parts) for n in rows.tolist()]
        return np.asarray(prices, dtype=np.float64)

    def cell_prices(self, counts: NDArray[np.int64], unlabelled: NDArray[np.int64]) -> NDArray[np.float64]:
        """Price of each cell, given its rows by class and its unlabelled rows; equal cells are priced once."""
        both, again = np.unique(np.column_stack([counts, unlabelled]), axis=0, return_inverse=True)
        prices = [
            self.criterion.cell(self.p, Cell(of_cell[:-1], sum(of_cell), of_cell[-1])) for of_cell in both.tolist()
        ]
        return np.asarray(prices, dtype=np.float64)[again.ravel()]

    def merged(self, k: int, labels: NDArray[np.int64]) -> Counted:
        """Merge parts of variable k; `labels` is the new part of each part, numbered 0, 1, ..."""
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
        unlabelled = np.zeros(len(parts), dtype=np.int64)
        np.add.at(unlabelled, cell, self.unlabelled)
        sides = (*self.sides[:k], side._replace(rows=rows, values=values), *self.sides[k + 1 :])
        return Counted(self.criterion, self.p, sides, parts, counts, unlabelled)


def _parts(rows: NDArray[np.int64], values: NDArray[np.float64]) -> list[Part]:
    """Parts as the terms take them. An unknown number of values stays NaN, and so does a price that depends on it."""
    return [Part(n, m if math.isnan(m) else int(m)) for n, m in zip(rows.tolist(), values.tolist(), strict=True)]


def counted_grid(model: Model, criterion: Criterion, values: Mapping[Name, PartValues]) -> Counted:
    """Counts of the grid of a model, given the values of each of its variables."""
    partitions = list(model.all_partitions.values())
    filled = [filled_parts(model, partition) for partition in partitions]
    parts, counts, unlabelled = _cells(model, partitions, filled)
    if PROBLEMS[model.problem].has_widths:
        counts, unlabelled = np.split(widths_and_rows(partitions[0])[filled[0]], 2, axis=1)
        parts, unlabelled = np.arange(len(counts))[:, None], unlabelled[:, 0]
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
    """Priced rows of each part: the labelled ones, and in a semi-supervised problem the unlabelled ones too."""
    labelled: NDArray[np.int64] = partition.counts.sum(axis=1)
    return partition.rows if PROBLEMS[model.problem].has_unlabelled else labelled


def filled_parts(model: Model, partition: Partition) -> NDArray[np.int64]:
    """Numbers of the parts with rows, and of gaps of a density, which have a width.

    A partition of the user's own may have other parts without rows, which cost nothing.
    """
    has_width = partition.widths is not None and partition.widths > 0
    return np.flatnonzero((part_rows(model, partition) > 0) | has_width)


def _side(
    model: Model,
    partition: Partition,
    filled: NDArray[np.int64],
    values: PartValues,
    criterion: Criterion,
    problem: Problem,
) -> Side:
    """Facts of one variable and counts of its `filled` parts."""
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
    """Parts, rows by class and unlabelled rows of each non-empty cell; parts are numbered among the `filled` ones."""
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
