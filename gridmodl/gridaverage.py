"""The average of many grids over the same columns: the class shares of a row's cell in each, weighted.

    P(class | row) = sum over grids of weight times the share of the class in the row's cell

with weights in proportion to null cost - cost, and so to the level, those of grids that cost more than the null grid
being 0 (compression-based averaging: M. Boullé, "Data grid models for preparation and modeling in supervised learning",
2011, 7.2.2; weights by posterior probability would leave one grid, as these are peaked). An empty cell has the shares
of all rows.

All grids stand in the same few flat arrays. A column is read once, into parts so fine that each grid's parts are unions
of them; the cell of a row in a grid is found by going through its variables, from one number of the combinations that
exist to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.frames import Name
from gridmodl.partition import Partition, checked_unknown
from gridmodl.template import bind

BLOCK = 2**14  # rows whose probabilities and codes stay in the cache while all grids add to them


class Steps(NamedTuple):
    """All grids, variable after variable: from a number for the parts so far and the next part to a new number."""

    grid_at: Any  # where the variables of each grid begin; one more at the end
    column: Any  # which column each variable is
    part_at: Any  # where its parts begin in `part`
    part: Any  # of each fine part of the column, and last of values that were never seen; -1 for no part
    n_parts: Any
    step_at: Any  # where its steps begin in `step`
    step: Any  # at number * n_parts + part; -1 for a combination that no row had
    cell_at: Any  # where the cells of each grid begin in `shares`
    shares: Any  # of each class in each cell


@dataclass(frozen=True, eq=False)
class GridAverage:
    """An average of grids.

    Attributes
    ----------
    partitions : dict of str to Partition
        Of each column that some grid uses, the parts of which those of all grids are made.
    levels : ndarray
        Of each grid, NaN where it has none; their weights are in proportion to what they save, and so to these.
    shares : ndarray
        Of each class in all rows.
    """

    partitions: Mapping[Name, Partition]
    levels: NDArray[np.float64]
    shares: NDArray[np.float64]
    _steps: Steps
    _savings: NDArray[np.float64]  # null cost - cost of each grid

    def __len__(self) -> int:
        return len(self.levels)

    def __repr__(self) -> str:
        return f"GridAverage({len(self)} grids of {len(self.partitions)} columns)"

    @property
    def column_weights(self) -> dict[Name, float]:
        """By column, the weight of the grids that use it."""
        grid = np.repeat(np.arange(len(self)), np.diff(self._steps.grid_at))
        weights = np.bincount(self._steps.column, self._weights()[grid], len(self.partitions))
        return dict(zip(self.partitions, weights.tolist(), strict=True))

    def predict_proba(self, columns: Mapping[Name, Any], unknown: str | int = "default") -> NDArray[np.float64]:
        """The weighted mean over the grids of the class shares in the cell of each row.

        Parameters
        ----------
        columns : dict of str to column
            At least those of `partitions`.
        unknown : {"default", -1, "error"}
            What becomes of a category that was never seen: in each grid the group with the most values; no group, so
            that the shares are those of all rows; or a ValueError.
        """
        n_rows = len(next(iter(columns.values())))
        if not len(self):
            return np.tile(self.shares, (n_rows, 1))
        codes = self._codes(columns, unknown, n_rows)
        found = np.zeros((n_rows, len(self.shares)))
        add = bind(add_shares)
        for begin in range(0, n_rows, BLOCK):
            block = np.ascontiguousarray(codes[:, begin : begin + BLOCK])
            add(self._steps, self._weights(), self.shares, block, found[begin : begin + BLOCK])
        return found / found.sum(axis=1, keepdims=True)  # shares of whole numbers sum to 1 but for rounding

    def _codes(self, columns: Mapping[Name, Any], unknown: str | int, n_rows: int) -> NDArray[np.int32]:
        """The fine part of each row in each column; one more than there are for a value that was never seen."""
        how = checked_unknown(unknown)
        codes = np.empty((len(self.partitions), n_rows), dtype=np.int32)
        for k, (name, partition) in enumerate(self.partitions.items()):
            parts = partition.part_of_column(columns[name], "error" if how == "error" else -1)
            codes[k] = np.where(parts >= 0, parts, partition.n_parts + (how == "-1"))
        return codes

    def _weights(self) -> NDArray[np.float64]:
        return np.asarray(self._savings / self._savings.sum())


def add_shares(steps: Any, weights: Any, overall: Any, codes: Any, found: Any) -> None:
    """Add the weighted shares of each row's cell in each grid."""
    grid_at, column, part_at, part, n_parts, step_at, step, cell_at, shares = steps
    for g in range(len(weights)):
        for r in range(len(found)):
            number: Any = np.int64(0)
            for i in range(grid_at[g], grid_at[g + 1]):
                own: Any = part[part_at[i] + codes[column[i], r]]
                number = step[step_at[i] + number * n_parts[i] + own] if own >= 0 else np.int64(-1)
                if number < 0:
                    break
            for c in range(len(overall)):
                found[r, c] += weights[g] * (shares[cell_at[g] + number, c] if number >= 0 else overall[c])
