"""Other partitions of one variable of a model, all else as it is: what each costs, term by term.

Two parts that merge, and one part for all, follow from the counts of the model; for the best partition of another
number of parts the data is searched.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.coarsening import merged_partition
from gridmodl.analysis.cost_terms import CostTerms, Counted, PartValues, counted_grid, filled_parts
from gridmodl.analysis.curve import of_column, of_grid
from gridmodl.analysis.model_task import SAME_COST
from gridmodl.codelength import SummedRows
from gridmodl.data.frames import Name
from gridmodl.model.cells import make_cells
from gridmodl.model.partition import Partition, known_values
from gridmodl.plugins import criterion_for, get_criterion
from gridmodl.pricing import NO_ROWS

if TYPE_CHECKING:
    from gridmodl.clock import Clock
    from gridmodl.data.columns import Column
    from gridmodl.model.model import Model


class Alternative(NamedTuple):
    """Another partition of a variable, with the rest of the grid as it is.

    Attributes
    ----------
    n_parts : int
        Its parts with rows in them.
    cost : float
        Of the model with this partition.
    delta : float
        How much more that is than the cost of the model.
    terms : CostTerms
        What the terms of the criterion add to the cost.
    partition : Partition
        The parts.
    proven : bool
        Whether no partition into so many parts is cheaper.
    how : {"best", "merge", "split", "whole"}
        The best that a search found, two parts of the model merged, one of them split, or one part for all.
    """

    n_parts: int
    cost: float
    delta: float
    terms: CostTerms
    partition: Partition
    proven: bool
    how: str


class ModelVariable:
    """One variable of a model, and what can be priced of it."""

    def __init__(self, model: Model, name: Name) -> None:
        self.model, self.partition = model, model.partition(name)
        self.k = list(model.all_partitions).index(name)
        if model._source is not None:
            self.criterion = model._source[1]
        else:
            self.criterion = criterion_for(get_criterion(model.criterion, **dict(model.options)), model.problem)
        self.filled = filled_parts(model, self.partition)
        self.counted = self._counted()
        self.terms = self.counted.terms()

    @property
    def n_parts(self) -> int:
        return len(self.filled)

    @property
    def n_values(self) -> float:
        """Distinct values; NaN where neither model nor data say."""
        return float(self.counted.sides[self.k].facts.n_values)

    @property
    def rows_of_intervals(self) -> NDArray[np.int64]:
        """Rows of each part of a numerical variable that has some, but for special codes."""
        first_code = self.partition.n_parts - len(self.partition.special)
        return self.counted.sides[self.k].rows[self.filled < first_code]

    def _counted(self) -> Counted:
        """The grid of the model, if its criterion prices it as it says."""
        model = self.model
        known = {part.name: values_of(model, part) for part in model.all_partitions.values()}
        is_known = all(np.isfinite(values.of_parts).all() and _are_known(values.rows) for values in known.values())
        try:
            counted = counted_grid(model, self.criterion, known)
            cost = counted.cost(counted.terms())
        except (ValueError, TypeError, IndexError, OverflowError):
            if is_known:
                raise
            cost = math.nan
        if abs(cost - model.cost) <= SAME_COST * (1.0 + abs(model.cost)):
            return counted
        if not is_known:
            raise ValueError(
                f"the model does not know all that criterion {model.criterion!r} prices without its data, such as the "
                "number of values; give them: explain(name, data=..., target=...). An optimum that a search kept "
                "beside its best does not know all columns, and cannot be explained"
            )
        raise ValueError(
            f"the model costs {model.cost!r}, but criterion {model.criterion!r} prices its parts at {cost!r}: it was "
            "made by another criterion of that name, or another version of it, the data has changed, or it is an "
            "optimum that a search kept beside its best, which does not know all columns"
        )

    def whole(self) -> Alternative:
        """The variable in one part, special codes among the rest."""
        counted = self.counted.merged(self.k, np.zeros(self.n_parts, dtype=np.int64))
        return self._alternative(counted, one_part(self.partition), True, "whole")

    def cheapest_merge(self) -> Alternative | None:
        """The cheapest partition with two parts of the model merged; None where no two may, or too many."""
        pairs = self._pairs()
        deltas = merge_deltas(self.counted, self.k, pairs)
        if deltas is None or len(pairs) == 0:
            return None
        i, j = self.filled[pairs[int(np.argmin(deltas))]].tolist()
        parts = np.arange(self.partition.n_parts)
        if self.partition.kind == "categorical":
            parts[j] = i
        else:
            parts[i : j + 1] = i  # with those between them that have no rows
        parts = np.unique(parts, return_inverse=True)[1]
        labels = np.unique(parts[self.filled], return_inverse=True)[1]
        counted = self.counted.merged(self.k, labels)
        return self._alternative(counted, merged_partition(self.partition, parts), self.n_parts == 2, "merge")

    def _pairs(self) -> NDArray[np.int64]:
        """The parts that may merge: neighbouring intervals, missing values among them, or any two groups."""
        n = self.n_parts
        if self.partition.kind == "categorical":
            return np.column_stack(np.triu_indices(n, 1))
        n_intervals = len(self.rows_of_intervals)
        return np.array(list(itertools.pairwise(range(n_intervals))), dtype=np.int64).reshape(-1, 2)

    def _alternative(self, counted: Counted, partition: Partition, proven: bool, how: str) -> Alternative:
        terms = counted.terms()
        cost, n_parts = counted.cost(terms), len(counted.sides[self.k].rows)
        return Alternative(n_parts, cost, cost - self.model.cost, terms, partition, proven, how)

    def best_by_number(self, most: int, clock: Clock) -> list[Alternative]:
        """The cheapest partitions that a search of the data finds, of one part fewer, as many, ... up to `most`.

        Without a time limit only those that one need not wait for.
        """
        if self.model._cells is not None:
            found = of_grid(self, most, clock)
        else:
            found = of_column(self, most, clock, clock.time_limit is not None)
        near = [one for one in found if len(filled_parts(self.model, one.partition)) >= self.n_parts - 1]
        return [self._of_partition(*one) for one in near]

    def _of_partition(self, partition: Partition, gap: float, how: str) -> Alternative:
        model = self._with(partition)
        known = {part.name: values_of(model, part) for part in model.all_partitions.values()}
        return self._alternative(counted_grid(model, self.criterion, known), partition, gap == 0.0, how)

    def _with(self, partition: Partition) -> Model:
        """The model with another partition of the variable."""
        model = self.model
        if model._cells is None:
            return replace(model, partitions={partition.name: partition})
        parts = {**self.parts_of_rows, partition.name: partition.part_of_encoded(self.columns[partition.name])}
        names = [name for name, of_rows in parts.items() if np.any(of_rows != of_rows[0])]
        assert model._source is not None  # noqa: S101  for mypy
        cells = make_cells(names, [parts[name] for name in names], model._source[0].target)
        if partition.name in model.partitions:
            return replace(model, partitions={**model.partitions, partition.name: partition}, _cells=cells)
        return replace(model, target=partition, _cells=cells)

    @cached_property
    def columns(self) -> dict[Name, Column]:
        """The encoded columns of the data, that of a target that is partitioned too the last."""
        assert self.model._source is not None  # noqa: S101  for mypy
        table = self.model._source[0]
        columns = {name: table.column(name, part.kind) for name, part in self.model.partitions.items()}
        return columns if table.searched is None else {**columns, table.searched.name: table.searched}

    @cached_property
    def parts_of_rows(self) -> dict[Name, NDArray[np.int64]]:
        partitions = self.model.all_partitions
        return {name: partitions[name].part_of_encoded(column) for name, column in self.columns.items()}


def one_part(partition: Partition) -> Partition:
    """All parts of a partition as one."""
    labels = np.zeros(partition.n_parts, dtype=np.int64)
    if partition.kind == "categorical":
        return merged_partition(partition, labels)
    n_values = None if partition.n_values is None else partition.n_values.sum(keepdims=True)
    return replace(
        partition,
        counts=partition.counts.sum(axis=0, keepdims=True),
        bounds=partition.bounds[:0],
        special=partition.special[:0],
        missing=None if partition.missing is None else 0,
        n_values=n_values,
        unlabelled=None if partition.unlabelled is None else partition.unlabelled.sum(keepdims=True),
    )


def _are_known(value_rows: NDArray[np.int64]) -> bool:
    """Whether a criterion can make of `value_rows` what it made of those of the data."""
    return not isinstance(value_rows, SummedRows) or math.isfinite(value_rows.log_orders)


def values_of(model: Model, partition: Partition) -> PartValues:
    """The distinct values of each part: as the partition says, as the data does, or as far as its groups do."""
    if partition.n_values is not None:
        rows = known_values(partition).rows if partition.kind == "categorical" else NO_ROWS
        return PartValues(partition.n_values.astype(np.float64), rows)
    if model._source is not None:
        from gridmodl.fit.column import value_facts

        table = model._source[0].priced_rows()
        values, known = value_facts(table.column(partition.name, partition.kind), table, partition)
        return PartValues(values.astype(np.float64), known.rows)
    if partition.kind == "categorical":
        known = known_values(partition)
        if partition.value_rows is None:
            return PartValues(np.array([float(len(group)) for group in partition.groups]), known.rows)
        ends = np.cumsum([len(group) for group in partition.groups])
        there = np.append(0, np.cumsum(partition.value_rows > 0))
        return PartValues(np.diff(there[ends], prepend=0).astype(np.float64), known.rows)
    return PartValues(np.full(partition.n_parts, math.nan), NO_ROWS)


# What it costs to merge two parts of a variable, for many pairs at once, by the plain terms.

MAX_UNIONS = 2**22  # cells of all pairs of parts that may merge: some seconds


def merge_deltas(counted: Counted, k: int, pairs: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """What parts, margins and cells cost more if two parts of variable k merge, for each pair; None if too many.

    The other terms change alike for all of them, and `finish` keeps the order of totals.
    """
    n_frozen, frozen = _numbered_rows(np.delete(counted.parts, k, axis=1))
    if len(pairs) * n_frozen > MAX_UNIONS:
        return None
    n_parts, own = len(counted.sides[k].rows), counted.parts[:, k]
    which, one, other = _unions(n_parts, own, n_frozen, frozen, pairs)
    unions = counted.cell_prices(
        counted.counts[one] + counted.counts[other], counted.unlabelled[one] + counted.unlabelled[other]
    )
    alone = counted.cell_prices(counted.counts, counted.unlabelled)
    deltas = np.bincount(which, unions - alone[one] - alone[other], len(pairs)) + _part_deltas(counted, k, pairs)
    margins, rows = counted.margins()
    if len(rows) and not counted.sides[k].facts.is_target:
        n_frozen, frozen = _numbered_rows(np.delete(margins, k, axis=1))
        which, one, other = _unions(n_parts, margins[:, k], n_frozen, frozen, pairs)
        unions, alone = counted.margin_prices(rows[one] + rows[other]), counted.margin_prices(rows)
        deltas += np.bincount(which, unions - alone[one] - alone[other], len(pairs))
    return deltas


def _unions(
    n_parts: int, own: NDArray[np.int64], n_frozen: int, frozen: NDArray[np.int64], pairs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The two cells that each of the pairs of parts makes one, given the own part and the frozen cell of each cell."""
    place = np.full((n_parts, n_frozen), -1, dtype=np.int64)
    place[own, frozen] = np.arange(len(frozen))
    left, right = place[pairs[:, 0]], place[pairs[:, 1]]
    which, _ = both = np.nonzero((left >= 0) & (right >= 0))
    return which, left[both], right[both]


def _part_deltas(counted: Counted, k: int, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    side = counted.sides[k]
    i, j = pairs.T
    rows = np.concatenate([side.rows, side.rows[i] + side.rows[j]])
    values = np.concatenate([side.values, side.values[i] + side.values[j]])
    prices = counted.part_prices(k, rows, values)
    alone, union = prices[: len(side.rows)], prices[len(side.rows) :]
    return union - alone[i] - alone[j]


def _numbered_rows(keys: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """How many distinct rows there are, and the number of each."""
    if keys.shape[1] == 0:
        return 1, np.zeros(len(keys), dtype=np.int64)
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    return len(distinct), number.ravel()
