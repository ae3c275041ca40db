"""Price other partitions of one variable of a model, the rest of the model unchanged, term by term.

Merges of two parts, and the variable in one part, are priced from the counts of the model. The best partition for
another number of parts needs a search of the data.
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
from gridmodl.model.policy import STRICT
from gridmodl.plugins import criterion_of
from gridmodl.pricing import NO_ROWS

if TYPE_CHECKING:
    from gridmodl.clock import Clock
    from gridmodl.data.columns import Column
    from gridmodl.model.model import Model


class Alternative(NamedTuple):
    """Another partition of a variable, the rest of the grid unchanged.

    Attributes
    ----------
    n_parts : int
        Number of its parts that have rows.
    cost : float
        Cost of the model with this partition.
    delta : float
        ``cost`` minus the cost of the model.
    terms : CostTerms
        Contributions of the terms of the criterion to the cost.
    partition : Partition
        The parts.
    proven : bool
        Whether it is proven that no partition into ``n_parts`` parts is cheaper.
    how : {"best", "merge", "split", "whole"}
        The best partition that a search found, two parts of the model merged, one part of the model split, or the
        variable in one part.
    """

    n_parts: int
    cost: float
    delta: float
    terms: CostTerms
    partition: Partition
    proven: bool
    how: str


class ModelVariable:
    """One variable of a model, for pricing alternatives of its partition."""

    def __init__(self, model: Model, name: Name) -> None:
        self.model, self.partition = model, model.partition(name)
        self.k = list(model.all_partitions).index(name)
        if model._source is not None:
            self.criterion = model._source[1]
        else:
            self.criterion = criterion_of(model.criterion, model.options, model.problem)
        self.filled = filled_parts(model, self.partition)
        self.counted = self._counted()
        self.terms = self.counted.terms()

    @property
    def n_parts(self) -> int:
        return len(self.filled)

    @property
    def n_values(self) -> float:
        """Number of distinct values; NaN if neither the model nor its data tell."""
        return float(self.counted.sides[self.k].facts.n_values)

    @property
    def rows_of_plain_parts(self) -> NDArray[np.int64]:
        """Rows of each non-empty interval or group, special parts excluded."""
        first_code = self.partition.n_parts - self.partition.n_special
        return self.counted.sides[self.k].rows[self.filled < first_code]

    def _counted(self) -> Counted:
        """Counts of the model's grid; raise ValueError unless the criterion prices them at the cost of the model."""
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
                f"criterion {model.criterion!r} needs facts that the model does not know without its data, such as "
                "the number of values; pass the data: explain(name, data=..., target=...), or "
                "Model.from_partitions(data, target, partitions) for parts of your own. An element of optima does not "
                "know all columns and can be neither explained nor edited"
            )
        raise ValueError(
            f"the model costs {model.cost!r}, but criterion {model.criterion!r} prices its parts at {cost!r}: the "
            "model was made by another criterion of that name or by another version of it, the data has changed, or "
            "the model is an element of optima, which does not know all columns"
        )

    def whole(self) -> Alternative:
        """Alternative with the variable in one part, special codes included; of a density, one beside its masses."""
        labels = np.zeros(self.n_parts, dtype=np.int64)
        if self.partition.widths is not None:
            n_masses = self.n_parts - len(self.rows_of_plain_parts)
            labels[self.n_parts - n_masses :] = np.arange(1, n_masses + 1)
        return self._alternative(self.counted.merged(self.k, labels), one_part(self.partition), True, "whole")

    def cheapest_merge(self) -> Alternative | None:
        """Cheapest alternative with two parts of the model merged; None if no two may merge, or too many pairs may."""
        pairs = self._pairs()
        deltas = merge_deltas(self.counted, self.k, pairs)
        if deltas is None or len(pairs) == 0:
            return None
        i, j = self.filled[pairs[int(np.argmin(deltas))]].tolist()
        parts = np.arange(self.partition.n_parts)
        if self.partition.kind == "categorical":
            parts[j] = i
        else:
            parts[i : j + 1] = i  # parts without rows between the two merge too
        parts = np.unique(parts, return_inverse=True)[1]
        labels = np.unique(parts[self.filled], return_inverse=True)[1]
        counted = self.counted.merged(self.k, labels)
        return self._alternative(counted, merged_partition(self.partition, parts), self.n_parts == 2, "merge")

    def _pairs(self) -> NDArray[np.int64]:
        """Pairs of parts that may merge: neighbouring intervals, a part of missing values included, or any groups.

        Special parts merge with no other.
        """
        n_plain = len(self.rows_of_plain_parts)
        if self.partition.kind == "categorical":
            return np.column_stack(np.triu_indices(n_plain, 1))
        return np.array(list(itertools.pairwise(range(n_plain))), dtype=np.int64).reshape(-1, 2)

    def _alternative(self, counted: Counted, partition: Partition, proven: bool, how: str) -> Alternative:
        """Price the grid `counted`, whose partition of this variable is `partition`."""
        terms = counted.terms()
        cost, n_parts = counted.cost(terms), len(counted.sides[self.k].rows)
        return Alternative(n_parts, cost, cost - self.model.cost, terms, partition, proven, how)

    def best_by_number(self, most: int, clock: Clock) -> list[Alternative]:
        """Cheapest partitions that a search of the data finds, from one part fewer than the model to `most` parts.

        Without a time limit, searches that would take long are skipped.
        """
        if self.model._cells is not None:
            found = of_grid(self, most, clock)
        else:
            found = of_column(self, most, clock, clock.time_limit is not None)
        near = [one for one in found if len(filled_parts(self.model, one.partition)) >= self.n_parts - 1]
        return [self._of_partition(*one) for one in near]

    def _of_partition(self, partition: Partition, gap: float, how: str) -> Alternative:
        """Price the model with `partition` in place of that of this variable."""
        model = self._with(partition)
        known = {part.name: values_of(model, part) for part in model.all_partitions.values()}
        return self._alternative(counted_grid(model, self.criterion, known), partition, gap == 0.0, how)

    def _with(self, partition: Partition) -> Model:
        """Model with `partition` in place of that of this variable."""
        model = self.model
        if model._cells is None:
            return replace(model, partitions={partition.name: partition})
        parts = {**self.parts_of_rows, partition.name: partition.part_of_encoded(self.columns[partition.name], STRICT)}
        names = [name for name, of_rows in parts.items() if np.any(of_rows != of_rows[0])]
        assert model._source is not None  # noqa: S101  for mypy
        cells = make_cells(names, [parts[name] for name in names], model._source[0].target)
        if partition.name in model.partitions:
            return replace(model, partitions={**model.partitions, partition.name: partition}, _cells=cells)
        return replace(model, target=partition, _cells=cells)

    @cached_property
    def columns(self) -> dict[Name, Column]:
        """Encoded columns of the data by name; a partitioned target comes last."""
        assert self.model._source is not None  # noqa: S101  for mypy
        table = self.model._source[0]
        columns = {name: table.column(name, part.column_kind) for name, part in self.model.partitions.items()}
        return columns if table.searched is None else {**columns, table.searched.name: table.searched}

    @cached_property
    def parts_of_rows(self) -> dict[Name, NDArray[np.int64]]:
        """Part of the model of each row, for each of `columns`."""
        partitions = self.model.all_partitions
        return {name: partitions[name].part_of_encoded(column, STRICT) for name, column in self.columns.items()}


def one_part(partition: Partition) -> Partition:
    """Merge all parts of a partition into one; masses of a density stay."""
    labels = np.zeros(partition.n_parts, dtype=np.int64)
    if partition.widths is not None:
        labels[partition.n_parts - partition.n_special :] = np.arange(1, partition.n_special + 1)
    if partition.kind == "categorical" or partition.widths is not None:
        return merged_partition(partition, labels)
    n_values = None if partition.n_values is None else partition.n_values.sum(keepdims=True)
    return replace(
        partition,
        counts=partition.counts.sum(axis=0, keepdims=True),
        bounds=partition.bounds[:0],
        special=partition.special[:0],
        special_sizes=None,
        missing=None if partition.missing is None else 0,
        n_values=n_values,
        unlabelled=None if partition.unlabelled is None else partition.unlabelled.sum(keepdims=True),
    )


def _are_known(value_rows: NDArray[np.int64]) -> bool:
    """Whether `value_rows` determines the facts of the variable as the values of the data did."""
    return not isinstance(value_rows, SummedRows) or math.isfinite(value_rows.log_orders)


def values_of(model: Model, partition: Partition) -> PartValues:
    """Distinct values of each part: from the partition, else from the data, else as far as its groups tell."""
    if partition.n_values is not None:
        rows = known_values(partition).rows if partition.kind == "categorical" else NO_ROWS
        return PartValues(partition.n_values.astype(np.float64), rows)
    if model._source is not None:
        from gridmodl.fit.column.priced import value_facts

        table = model._source[0].priced_rows()
        values, known = value_facts(table.column(partition.name, partition.column_kind), table, partition)
        return PartValues(values.astype(np.float64), known.rows)
    if partition.kind == "categorical":
        known = known_values(partition)
        if partition.value_rows is None:
            return PartValues(np.array([float(len(group)) for group in partition.groups]), known.rows)
        ends = np.cumsum([len(group) for group in partition.groups])
        there = np.append(0, np.cumsum(partition.value_rows > 0))
        return PartValues(np.diff(there[ends], prepend=0).astype(np.float64), known.rows)
    return PartValues(np.full(partition.n_parts, math.nan), NO_ROWS)


# Prices of merging two parts of a variable, for many pairs at once, by the plain terms.

MAX_UNIONS = 2**22  # limit on pairs of parts times frozen cells; this many take some seconds


def merge_deltas(counted: Counted, k: int, pairs: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Change of the part, margin and cell terms if the parts of each pair merge in variable k; None if too many.

    The other terms change by the same amount for all pairs, and `finish` keeps the order of totals.
    """
    n_frozen, frozen = numbered_rows(np.delete(counted.parts, k, axis=1))
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
        n_frozen, frozen = numbered_rows(np.delete(margins, k, axis=1))
        which, one, other = _unions(n_parts, margins[:, k], n_frozen, frozen, pairs)
        unions, alone = counted.margin_prices(rows[one] + rows[other]), counted.margin_prices(rows)
        deltas += np.bincount(which, unions - alone[one] - alone[other], len(pairs))
    return deltas


def _unions(
    n_parts: int, own: NDArray[np.int64], n_frozen: int, frozen: NDArray[np.int64], pairs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of cells that a merge of two parts unites: number of the pair of parts, first cell, second cell.

    A cell is given by its part in the variable (`own`) and its parts in the other variables, as one number (`frozen`).
    """
    place = np.full((n_parts, n_frozen), -1, dtype=np.int64)
    place[own, frozen] = np.arange(len(frozen))
    left, right = place[pairs[:, 0]], place[pairs[:, 1]]
    which, _ = both = np.nonzero((left >= 0) & (right >= 0))
    return which, left[both], right[both]


def _part_deltas(counted: Counted, k: int, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Change of the part terms of variable k if the parts of each pair merge."""
    side = counted.sides[k]
    i, j = pairs.T
    rows = np.concatenate([side.rows, side.rows[i] + side.rows[j]])
    values = np.concatenate([side.values, side.values[i] + side.values[j]])
    prices = counted.part_prices(k, rows, values)
    alone, union = prices[: len(side.rows)], prices[len(side.rows) :]
    return union - alone[i] - alone[j]


def numbered_rows(keys: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """Number of distinct rows of `keys`, and for each row the number of its distinct row."""
    if keys.shape[1] == 0:
        return 1, np.zeros(len(keys), dtype=np.int64)
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    return len(distinct), number.ravel()
