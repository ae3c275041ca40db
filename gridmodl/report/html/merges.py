"""What it would cost to merge two parts of a variable, for the merges that a page offers."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.alternatives import ModelVariable, merge_deltas
from gridmodl.report.html.plain import plain_number

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_PRICED = 1000  # merges on a page, of about a millisecond each
MAX_OF_COLUMN = 60
MAX_CELLS = 3_000_000  # summed over the merges of a page: a grid of many cells has fewer
MAX_GROUPS = 300  # of a column whose pairs are compared


class MergePrices:
    """Prices merges of two parts, until a page has `MAX_PRICED` of them."""

    def __init__(self) -> None:
        self.left, self.cells = MAX_PRICED, MAX_CELLS

    def of(self, model: Model, partition: Partition) -> list[dict[str, Any]]:
        """Merges of two parts, the cheapest first: their numbers, the cost, and what it is above that of the model.

        Of intervals all neighbours, of groups the cheapest pairs. Empty if the model does not know its price without
        its data, so that a model from a file has the same page.
        """
        if self.left <= 0 or partition.n_parts < 2:
            return []
        try:
            variable = ModelVariable(replace(model, _source=None), partition.name)
        except (ValueError, TypeError):
            return []  # of an element of `optima`, or of a criterion that is not known by its name
        n_cells = len(variable.counted.parts)
        pairs = _pairs(variable)[: max(0, min(self.left, self.cells // max(1, n_cells)))]
        self.left, self.cells = self.left - len(pairs), self.cells - len(pairs) * n_cells
        found: list[tuple[float, list[int], float]] = []
        for i, j in pairs.tolist():
            labels = np.arange(variable.n_parts)
            labels[j] = i
            merged = variable.counted.merged(variable.k, np.unique(labels, return_inverse=True)[1])
            cost = float(merged.cost(merged.terms()))
            parts = [int(variable.filled[i]), int(variable.filled[j])]
            if math.isfinite(cost):
                found.append((cost - model.cost, parts, cost))
        found.sort(key=lambda one: one[0])
        return [{"parts": parts, "cost": cost, "delta": plain_number(delta)} for delta, parts, cost in found]


def _pairs(variable: ModelVariable) -> NDArray[np.int64]:
    """Pairs of parts with rows that `Model.edit` would merge: neighbouring intervals, or the cheapest pairs of groups.

    Intervals with one without rows between them are left out, and so are special parts.
    """
    n_plain, filled = len(variable.rows_of_plain_parts), variable.filled
    if variable.partition.kind != "categorical":
        near = [(i, j) for i, j in itertools.pairwise(range(n_plain)) if filled[j] == filled[i] + 1]
        return np.array(near[:MAX_OF_COLUMN], dtype=np.int64).reshape(-1, 2)
    if n_plain > MAX_GROUPS:
        return np.empty((0, 2), dtype=np.int64)
    pairs = np.column_stack(np.triu_indices(n_plain, 1))
    deltas = merge_deltas(variable.counted, variable.k, pairs)
    if deltas is None:
        return pairs[:0]
    return pairs[np.argsort(deltas, kind="stable")[:MAX_OF_COLUMN]]
