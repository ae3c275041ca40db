"""Find a grid of one numerical input and a partitioned target in which the means of the target keep an order.

With the parts of the target frozen, the best intervals of the input in order are found as for classes
(`gridmodl.search.column.limited`): a score is the mean of the target. Then the parts of the target are searched with
those of the input frozen, and so on in turn while it pays, from several first partitions of the target. Both steps are
exact up to some bounds; together they are a local search, and nothing is proven.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import coarsen, head, tail
from gridmodl.search.column.limited import limited_optimum
from gridmodl.search.grid.exact import alone_beside, bounds_beside
from gridmodl.search.grid.optima import GridFound
from gridmodl.search.grid.rows import Grid, make_grid
from gridmodl.search.grid.state import GridTask, price_grid
from gridmodl.search.grid.typical import setting_beside
from gridmodl.search.moves import is_cheaper
from gridmodl.search.rules import NO_RULES, Rules, keeps_order, order_of
from gridmodl.search.task import Task

INPUT, TARGET = 0, 1
N_PARTS = (2, 4, 8, 16)  # of the first partitions of the target, besides that of the best grid without an order
MAX_ROUNDS = 20


def ordered(
    task: GridTask, found: GridFound, orders: tuple[str, ...], scores: NDArray[np.int64], has_missing: bool
) -> GridFound:
    """The best grid found in one of the `orders` of the mean of the target; `found` is the best without an order.

    `scores` are sums of the target for each value of the input; missing values, the first, keep no order.
    """
    of_parts = _sums(task, found.grid, scores, has_missing)
    if any(keeps_order(*of_parts, order, 0.0) for order in orders):
        return found._replace(optima=())
    best = found.null
    for order in orders:
        for start in _first_targets(task, found.grid):
            grid = _improved(task, start, Rules(order, scores=scores), has_missing)
            best = grid if is_cheaper(grid.cost, best.cost) else best
    return found._replace(grid=best, optima=())


def order_of_grid(task: GridTask, grid: Grid, scores: NDArray[np.int64], has_missing: bool) -> str | None:
    """The narrowest order of the means of the target over the parts of the input; None of one part."""
    return order_of(*_sums(task, grid, scores, has_missing))


def _sums(
    task: GridTask, grid: Grid, scores: NDArray[np.int64], has_missing: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores times rows, and rows, of the parts of the input, but for missing values that are a part of their own."""
    parts = grid.parts_of(INPUT, task.rows.n_atoms(INPUT))
    first = int(has_missing and len(parts) > 1 and parts[1] != parts[0])
    of_parts = [np.bincount(parts, of.astype(np.float64)) for of in (scores, task.rows.rows_of_atoms(INPUT))]
    return of_parts[0][first:], of_parts[1][first:]


def _first_targets(task: GridTask, grid: Grid) -> list[NDArray[np.int64]]:
    """Partitions of the target to begin with: that of the best grid, and some of as many rows in each part."""
    n_atoms = task.rows.n_atoms(TARGET)
    rows = task.rows.rows_of_atoms(TARGET)
    before = np.cumsum(rows) - rows
    quantiles = [(before * n // int(rows.sum())).astype(np.int64) for n in N_PARTS if n <= n_atoms]
    return [grid.parts_of(TARGET, n_atoms).astype(np.int64), *quantiles]


def _improved(task: GridTask, target: NDArray[np.int64], rules: Rules, has_missing: bool) -> Grid:
    """Search the input and the target in turn, from a partition of the target; the null grid if nothing pays."""
    n_input = task.rows.n_atoms(INPUT)
    best, parts = make_grid([], price_grid(task, make_grid([]))), np.zeros(n_input, dtype=np.int64)
    for _ in range(MAX_ROUNDS):
        if task.clock.look() or not np.any(target != target[0]):
            break
        parts = _best_parts(task, make_grid([(INPUT, parts), (TARGET, target)]), INPUT, rules, has_missing)
        target = _best_parts(task, make_grid([(INPUT, parts), (TARGET, target)]), TARGET, NO_RULES, False)
        grid = make_grid([(INPUT, parts), (TARGET, target)])
        cost = price_grid(task, grid)
        if not is_cheaper(cost, best.cost):
            break
        best = grid._replace(cost=cost)
    return best


def _best_parts(task: GridTask, grid: Grid, k: int, rules: Rules, has_missing: bool) -> NDArray[np.int64]:
    """Part of each atom in the best partition of variable k within limits, the other frozen."""
    n_atoms = task.rows.n_atoms(k)
    if n_atoms == 1 or not set(grid.variables) - {k}:
        return np.zeros(n_atoms, dtype=np.int64)
    one = alone_beside(task, grid, k, n_atoms)
    starts = bounds_beside(task, grid, k, one)
    starts = np.union1d(starts, [1]) if has_missing else starts
    one = replace(
        one,
        atoms=coarsen(one.atoms, starts),
        setting=setting_beside(task, grid, k, range(1, len(starts) + 1)),
        limits=task.limits.of(k),
        rules=rules.coarsen(starts),
    )
    found = [] if (joined := limited_optimum(one)) is None else [(joined.cost, joined.starts)]
    if has_missing and one.n_atoms > 1:
        apart = limited_optimum(_first_apart(one))
        found += [] if apart is None else [(apart.cost, np.append(0, apart.starts + 1))]
    _, best = min(found, key=lambda one: one[0])
    return np.searchsorted(starts[best], np.arange(n_atoms), side="right") - 1


def _first_apart(task: Task) -> Task:
    """Same task with its first atom as a part of its own."""
    rest = replace(task, atoms=tail(task.atoms, 1), start=None, rules=task.rules.without_first())
    return rest.set_apart(head(task.atoms, 1))
