"""Average of many grids over the same columns: weighted mean of the class shares in a row's cell of each grid.

    P(class | row) = sum over grids of weight * share of the class in the row's cell

The weights are proportional to null cost - cost, and so to the level; grids that cost more than the null grid have
weight 0 (compression-based averaging: M. Boullé, "Data grid models for preparation and modeling in supervised
learning", 2011, 7.2.2; weights by posterior probability would leave one grid, as these are peaked). An empty cell has
the shares of all rows. If a value belongs to no part, the cells of the grid that agree in the other columns are one, as
in `Model.predict_proba`.

All grids are stored in a few flat arrays (`Steps`). Each column is encoded once, into parts so fine that the parts of
each grid are unions of them. The cell of a row in a grid is found variable by variable: the number of the combination
of parts so far and the next part give the next number, as far as that combination exists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.frames import Name
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.build import check_names, grid_model
from gridmodl.fit.column.groups import class_means
from gridmodl.fit.grid import Searched, found_grid, partition_of, search_grids
from gridmodl.fit.options import check_seed, checked_jobs, checked_options, checked_time
from gridmodl.jit.template import bind
from gridmodl.model.cells import Cells, make_cells
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.model.policy import Policy, checked_policy
from gridmodl.search import Search
from gridmodl.search.grid.rows import Grid, numbered_parts
from gridmodl.terms import Criterion, level_of

LARGEST = -2  # index of the entry of the group with the most rows, after all fine parts
BLOCK = 2**14  # rows of a block, whose probabilities and codes stay in the cache while all grids are added


def best_average(
    data: Any,
    target: Any,
    *,
    criterion: str | Criterion,
    search: str | Search,
    weights: Any,
    kinds: Mapping[Name, str] | None,
    order: Mapping[Name, Any] | None,
    event: Any,
    time_limit: float | None,
    random_state: int | None,
    n_jobs: int,
    **by_column: Any,
) -> tuple[Model, GridAverage]:
    """Model of the best grid, and the average of all optima that the search keeps; arguments as in `optimize`.

    `by_column` are limits, for all columns or by column name.
    """
    if not isinstance(search, Search) or search.keep_optima == 0:
        raise ValueError(
            "search must say how many grids to average, such as gridmodl.Search('diverse', effort=10, "
            f"keep_optima=2000); got {search!r}"
        )
    clock = Clock(checked_time(time_limit))
    options = checked_options(criterion, search, kinds, order, **by_column)
    check_seed(random_state)
    n_threads = checked_jobs(n_jobs)
    table = read_table(data, target, weights, "classes", NOT_GIVEN, event=event)
    check_names(table, options)
    searched = search_grids(table, options, n_threads, random_state, clock)
    return grid_model(table, found_grid(table, searched), clock, options), average_of(table, searched)


def average_of(table: Table, searched: Searched) -> GridAverage:
    """Make the average of the optima that a search kept."""
    columns, task, found, held = searched.columns, searched.task, searched.found, searched.held
    grids = [grid for grid in found.optima if grid.cost < found.null.cost]
    used = sorted({k for grid in grids for k in grid.variables})
    fine = [_fine_parts([grid for grid in grids if k in grid.variables], k) for k in used]
    partitions, parts_of_atoms, sizes = {}, {}, {}
    for k, labels in zip(used, fine, strict=True):
        partition, parts_of_atoms[k] = partition_of(columns[k], labels, task, found.grid, k, table, held.get(k))
        partitions[partition.name], sizes[k] = partition, partition.n_parts
    class_rows = table.problem.class_rows
    return GridAverage(
        partitions,
        np.array([_level(grid.cost, found.null.cost) for grid in grids]),
        class_rows / class_rows.sum(),
        _make_steps(grids, used, parts_of_atoms, sizes, table, searched),
        np.array([found.null.cost - grid.cost for grid in grids]),
    )


def _level(cost: float, null_cost: float) -> float:
    """Level of a grid; NaN if it has none."""
    level = level_of(cost, null_cost)
    return math.nan if level is None else level


def _fine_parts(grids: Sequence[Grid], k: int) -> NDArray[np.int32]:
    """Part of each atom of variable k in the coarsest partition of which the parts of all `grids` are unions."""
    fine = np.zeros(len(grids[0].parts[grids[0].variables.index(k)]), dtype=np.int64)
    for grid in grids:
        parts = grid.parts[grid.variables.index(k)]
        fine = numbered_parts(fine * (int(parts.max()) + 1) + parts).astype(np.int64)
    return fine.astype(np.int32)


def _make_steps(
    grids: Sequence[Grid],
    used: Sequence[int],
    parts_of_atoms: Mapping[int, NDArray[np.int64]],
    sizes: Mapping[int, int],
    table: Table,
    searched: Searched,
) -> Steps:
    """Store `grids` as flat arrays; `sizes` are the numbers of fine parts."""
    rows, target = searched.task.rows, table.target
    column: list[int] = []
    n_parts: list[int] = []
    part, step, shares, cell_rows = [], [], [], []
    for grid in grids:
        of_rows = [parts[rows.atom[k]] for k, parts in zip(grid.variables, grid.parts, strict=True)]
        cells = make_cells(grid.variables, of_rows, target)
        shares.append(cells.shares())
        cell_rows.append(cells.rows)
        step += _steps_of(cells, grid.shape)
        n_parts += grid.shape
        for i, k in enumerate(grid.variables):
            column.append(used.index(k))
            part.append(_part_of_fine(grid.parts[i], parts_of_atoms[k], sizes[k]))
            if searched.task.facts.categorical[k]:
                part[-1][LARGEST] = _largest(target.counts(of_rows[i], grid.shape[i]), target.one_event)
    return Steps(
        grid_at=_begins([len(grid.variables) for grid in grids]),
        column=np.array(column, dtype=np.int32),
        part_at=_begins(map(len, part))[:-1],
        part=np.concatenate(part).astype(np.int32) if part else np.empty(0, dtype=np.int32),
        n_parts=np.array(n_parts, dtype=np.int64),
        step_at=_begins(map(len, step))[:-1],
        step=np.concatenate(step).astype(np.int32) if step else np.empty(0, dtype=np.int32),
        cell_at=_begins(map(len, shares))[:-1],
        shares=np.concatenate(shares) if shares else np.empty((0, searched.task.n_counts)),
        rows=np.concatenate(cell_rows).astype(np.float64) if shares else np.empty(0),
    )


def _begins(sizes: Any) -> NDArray[np.int64]:
    """Start of each of consecutive blocks of `sizes`, and the end of the last block."""
    return np.cumsum([0, *sizes], dtype=np.int64)


def _steps_of(cells: Cells, shape: Sequence[int]) -> list[NDArray[np.int64]]:
    """For each variable of a grid: number of each combination of parts up to this variable, -1 if no cell has it.

    The numbers of the last variable are those of the cells in `cells`.
    """
    found, known, n_known = [], np.zeros(len(cells.parts), dtype=np.int64), 1
    for of_cells, width in zip(cells.parts.T, shape, strict=True):
        combinations, numbers = np.unique(known * width + of_cells, return_inverse=True)
        steps = np.full(n_known * width, -1, dtype=np.int64)
        steps[combinations] = np.arange(len(combinations))
        found.append(steps)
        known, n_known = numbers, len(combinations)
    return found


def _part_of_fine(parts: NDArray[np.int32], fine: NDArray[np.int64], n_fine: int) -> NDArray[np.int64]:
    """Part of each fine part; then two entries of -1: of the largest group, if there are groups, and of no part."""
    found = np.full(n_fine + 2, -1, dtype=np.int64)
    found[fine] = parts
    return found


def _largest(counts: NDArray[np.int64], event: int | None) -> int:
    """Group with the most rows; ties: the first in the order of a `Partition`."""
    order = np.argsort(class_means(counts, event), kind="stable")
    return int(order[counts.sum(axis=1)[order].argmax()])


class Steps(NamedTuple):
    """All grids in flat arrays, variable after variable: from a combination of parts and the next part to the next."""

    grid_at: Any  # index of the first variable of each grid; at the end, the number of variables
    column: Any  # column of each variable
    part_at: Any  # index in `part` of the first entry of each variable
    part: Any  # part of each fine part, then the largest group, then -1 for values of no part
    n_parts: Any  # number of parts of each variable
    step_at: Any  # index in `step` of the first entry of each variable
    step: Any  # next number, at number * n_parts + part; -1 for a combination that no row had
    cell_at: Any  # index in `shares` of the first cell of each grid
    shares: Any  # share of each class in each cell
    rows: Any  # rows of each cell


@dataclass(frozen=True, eq=False)
class GridAverage:
    """An average of grids.

    Attributes
    ----------
    partitions : dict of str to Partition
        Partition of each column that a grid uses; the parts of every grid are unions of its parts.
    levels : ndarray
        Level of each grid; NaN if it has none. The weights of the grids are proportional to null cost - cost, and so
        to the levels.
    shares : ndarray
        Share of each class in all rows.
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
        """Sum of the weights of the grids that use each column."""
        grid = np.repeat(np.arange(len(self)), np.diff(self._steps.grid_at))
        weights = np.bincount(self._steps.column, self.weights[grid], len(self.partitions))
        return dict(zip(self.partitions, weights.tolist(), strict=True))

    def predict_proba(
        self, columns: Mapping[Name, Any], unknown: str | None = None, missing: str | None = None
    ) -> NDArray[np.float64]:
        """Weighted mean over the grids of the class shares in the cell of each row.

        Parameters
        ----------
        columns : dict of str to column
            At least the columns of `partitions`.
        unknown, missing
            As in `Model.predict_proba`; ``"largest"`` is the group with the most rows in each grid.
        """
        policy = checked_policy(unknown, missing)
        n_rows = len(next(iter(columns.values())))
        if not len(self):
            return np.tile(self.shares, (n_rows, 1))
        codes = self._codes(columns, policy, n_rows)
        found = np.zeros((n_rows, len(self.shares)))
        add = bind(add_shares)
        widths = np.diff(self._steps.grid_at)
        walk = np.empty((2, int(widths.max()) + 1), dtype=np.int64)
        for begin in range(0, n_rows, BLOCK):
            block = np.ascontiguousarray(codes[:, begin : begin + BLOCK])
            add(self._steps, self.weights, self.shares, block, walk, found[begin : begin + BLOCK])
        return found / found.sum(axis=1, keepdims=True)  # the sums differ from 1 by rounding

    def _codes(self, columns: Mapping[Name, Any], policy: Policy, n_rows: int) -> NDArray[np.int32]:
        """Fine part of each row in each column; n_parts for the largest group, n_parts + 1 for no part."""
        codes = np.empty((len(self.partitions), n_rows), dtype=np.int32)
        for k, (name, partition) in enumerate(self.partitions.items()):
            n_parts = partition.n_parts
            if policy.unknown == "largest" and partition.kind != "numerical":
                # In each grid another group may be the largest, so unknown values get a number of their own.
                marked = replace(partition, default=n_parts)
                parts = marked.part_of_column(columns[name], Policy(None, policy.missing or "neutral"))
            else:
                parts = partition.part_of_column(columns[name], policy)
            codes[k] = np.where(parts >= 0, parts, n_parts + 1)
        return codes

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each grid; they sum to 1."""
        return np.asarray(self._savings / self._savings.sum())

    def cells(self) -> Iterator[Cells]:
        """The cells of each grid, with the columns that it uses."""
        steps, names = self._steps, tuple(self.partitions)
        cell_end, step_end = (
            np.append(steps.cell_at[1:], len(steps.rows)),
            np.append(steps.step_at[1:], len(steps.step)),
        )
        for g in range(len(self)):
            of_grid = slice(steps.cell_at[g], cell_end[g])
            number, parts = np.arange(of_grid.stop - of_grid.start), []
            for i in range(steps.grid_at[g + 1] - 1, steps.grid_at[g] - 1, -1):  # from the last variable to the first
                step = steps.step[steps.step_at[i] : step_end[i]]
                entries = np.flatnonzero(step >= 0)
                entry_of = np.empty(len(entries), dtype=np.int64)
                entry_of[step[entries]] = entries
                number, part = np.divmod(entry_of[number], steps.n_parts[i])
                parts.append(part)
            counts = np.rint(steps.shares[of_grid] * steps.rows[of_grid, None]).astype(np.int64)
            used = steps.column[steps.grid_at[g] : steps.grid_at[g + 1]]
            yield Cells(tuple(names[k] for k in used.tolist()), np.column_stack(parts[::-1]), counts)


def add_shares(steps: Any, weights: Any, overall: Any, codes: Any, walk: Any, found: Any) -> None:
    """Add to `found` the weighted class shares of each row's cell in each grid; `walk` is a buffer."""
    grid_at, column, part_at, part, n_parts, step_at, step, cell_at, shares, _ = steps
    for g in range(len(weights)):
        for r in range(len(found)):
            number: Any = np.int64(0)
            scale: Any = weights[g]
            for i in range(grid_at[g], grid_at[g + 1]):
                own: Any = part[part_at[i] + codes[column[i], r]]
                if own < 0:
                    total: Any = add_cells(steps, g, codes, r, 0.0, walk, found)
                    if total > 0.0:
                        add_cells(steps, g, codes, r, weights[g] / total, walk, found)
                        scale = 0.0
                    number = np.int64(-1)
                    break
                number = step[step_at[i] + number * n_parts[i] + own]
                if number < 0:
                    break
            if scale > 0.0:
                for c in range(len(overall)):
                    found[r, c] += scale * (shares[cell_at[g] + number, c] if number >= 0 else overall[c])


def add_cells(steps: Any, g: Any, codes: Any, r: Any, scale: Any, walk: Any, found: Any) -> Any:
    """Add the shares of all cells of grid `g` that row `r` may be in, times their rows times `scale`; return the rows.

    In a variable where the row has no part, all parts are tried one after the other, as an odometer counts.
    """
    grid_at, column, part_at, part, n_parts, step_at, step, cell_at, shares, rows = steps
    first, last = grid_at[g], grid_at[g + 1]
    total: Any = 0.0
    i: Any = first
    walk[0, 0] = 0  # number of the combination before each variable
    walk[1, 0] = 0  # next part to try in each variable
    while i >= first:
        own: Any = part[part_at[i] + codes[column[i], r]]
        tried: Any = walk[1, i - first]
        at: Any = own if own >= 0 and tried == 0 else tried
        walk[1, i - first] = n_parts[i] if own >= 0 else tried + 1
        if at >= n_parts[i]:
            i -= 1
            continue
        number: Any = step[step_at[i] + walk[0, i - first] * n_parts[i] + at]
        if number < 0:
            continue
        if i + 1 < last:
            i += 1
            walk[0, i - first] = number
            walk[1, i - first] = 0
            continue
        total += rows[cell_at[g] + number]
        for c in range(found.shape[1]):
            found[r, c] += scale * rows[cell_at[g] + number] * shares[cell_at[g] + number, c]
    return total
