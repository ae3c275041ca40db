"""Make the grids that searches start from.

with classes      the null grid, the best grid of each variable alone, and the product of those that pay
without classes   no variable pays alone: the best grid of each pair of variables, and products of their parts
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms, Target, alone, coarsen, head, tail
from gridmodl.search import Search, run
from gridmodl.search.column.groups import priced_groups
from gridmodl.search.grid.rows import Grid, make_grid, no_holds, numbered_parts
from gridmodl.search.grid.state import GridTask, Worker
from gridmodl.search.moves import Frozen, Setting
from gridmodl.search.task import Task

MAX_PAIRS = 45  # pairs of variables: all pairs of ten
PAIR_EFFORT = 1  # effort of the search of each pair


def null_grid(worker: Worker) -> Grid:
    """Grid without informative variables, with its cost."""
    empty = make_grid([])
    return empty._replace(cost=worker.load(empty))


def base_grid(worker: Worker) -> Grid:
    """Grid of the parts that variables must have, with its cost; the null grid if there are none."""
    task = worker.task
    required = np.flatnonzero(task.holds.required).tolist()
    base = make_grid([(k, kept_parts(task, k, np.zeros(task.rows.n_atoms(k), dtype=np.int64))) for k in required])
    return base._replace(cost=worker.load(base))


def kept_grid(task: GridTask, grid: Grid) -> Grid:
    """Grid whose variables have the parts that they keep besides their own; its cost is that of `grid`."""
    if task.holds.is_nothing:
        return grid
    required = [k for k in np.flatnonzero(task.holds.required).tolist() if k not in grid.variables]
    parts = [*zip(grid.variables, grid.parts, strict=True)]
    parts += [(k, np.zeros(task.rows.n_atoms(k), dtype=np.int32)) for k in required]
    return make_grid([(k, kept_parts(task, k, labels)) for k, labels in parts], grid.cost)


def kept_parts(task: GridTask, k: int, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Parts of variable k cut where it keeps bounds and groups; a part of too few rows joins a neighbour or a group."""
    rows, limits, at = task.rows.rows_of_atoms(k), task.limits.of(k), task.rows.atom_at
    begins = task.holds.begins[at[k] : at[k + 1]]
    if task.facts.categorical[k]:
        n_held = int(np.count_nonzero(begins))
        _, groups = np.unique(labels[: len(labels) - n_held], return_inverse=True)
        sizes = np.bincount(groups, rows[: len(groups)]) if len(groups) else np.empty(0)
        order = np.argsort(-sizes, kind="stable")
        is_kept = np.arange(len(sizes)) < max(1, limits.max_parts - n_held)
        number = np.where(is_kept & (sizes[order] >= limits.min_rows), np.arange(len(sizes)), 0)
        rank = np.empty(len(sizes), dtype=np.int64)
        rank[order] = number
        return np.concatenate([rank[groups], len(sizes) + np.arange(n_held)])
    cuts, before = np.append(False, labels[1:] != labels[:-1]), np.append(0, np.cumsum(rows))
    kept = np.append(np.flatnonzero(begins), len(rows))
    starts, most = [0], limits.max_parts - int(np.count_nonzero(begins))
    for a in np.flatnonzero(cuts | begins).tolist():
        end = kept[np.searchsorted(kept, a, side="right")]
        is_large = min(before[a] - before[starts[-1]], before[end] - before[a]) >= limits.min_rows
        if begins[a] or (is_large and most > 1):
            starts.append(a)
            most -= not begins[a]
    return np.searchsorted(starts, np.arange(len(rows)), side="right") - 1


def single_grid(task: GridTask, null: Grid, prices: NDArray[np.float64], k: int) -> Grid:
    """Best grid of variable k alone, found by a search of one column; `prices` are those of the null grid.

    The null grid if none pays, unless the variable must have parts.
    """
    if task.rows.n_atoms(k) == 1 or task.limits.of(k).max_parts == 1 or task.clock.look():
        return null
    atoms, starts = _atoms(task, k)
    others = Frozen(n_variables=task.n_variables, price=float(prices.sum() - prices[k]))
    setting = Setting(task.p, task.facts.variable(k), others)
    alone_task = Task(atoms, setting, task.criterion, task.limits.of(k), task.clock.child())
    if not task.holds.is_plain(k):
        grid = _kept_single(task, alone_task, k)
        if not task.holds.required[k] and not grid.cost < null.cost:
            grid = null
    elif task.facts.categorical[k]:
        grouping, _ = run("groups", alone_task, Search("merge"))
        grid = make_grid([(k, grouping.groups)], grouping.cost)
    else:
        found, _ = run("intervals", alone_task, Search("merge"))
        labels = np.zeros(task.rows.n_atoms(k), dtype=np.int64)
        labels[starts[found.starts[1:]]] = 1
        grid = make_grid([(k, np.cumsum(labels))], found.cost)
    if alone_task.clock.stopped == "interrupted":  # Ctrl-C stops the whole search, not only this thread
        task.clock.stopped = "interrupted"
    return grid


def _kept_single(task: GridTask, one: Task, k: int) -> Grid:
    """Cheapest grid found of variable k alone with the parts that it keeps, missing values joined or apart."""
    n, begins = one.n_atoms, task.holds.begins[task.rows.atom_at[k] : task.rows.atom_at[k + 1]]
    n_apart = int(np.count_nonzero(begins)) if task.facts.categorical[k] else 0
    found = []
    for more in range(2 if task.holds.loose[k] >= 0 else 1):
        if task.facts.categorical[k]:
            n_free = n - n_apart - more
            most = one.limits._replace(max_parts=max(1, one.limits.max_parts - n_apart - more))
            free = replace(one, atoms=head(one.atoms, n_free), limits=most).set_apart(tail(one.atoms, n_free))
            if more and not _is_allowed(free, n_apart + more, one):
                continue
            groups = run("groups", free, Search("merge"))[0].groups if n_free else np.empty(0, dtype=np.int64)
            labels = np.append(groups, n + np.arange(n_apart + more))
        else:
            kept = np.union1d(np.flatnonzero(begins), [1] * more).astype(np.int64)
            starts = np.append(0, kept)
            if more and not _is_allowed(one.within(1, int([*kept[1:], n][0]), starts), len(kept), one):
                continue
            for begin, end in itertools.pairwise([*starts.tolist(), n]):
                segment, _ = run("intervals", one.within(begin, end, starts), Search("merge"))
                starts = np.union1d(starts, begin + segment.starts)
            labels = np.searchsorted(starts, np.arange(n), side="right") - 1
        found.append(make_grid([(k, labels)], _cost_of(one, labels)))
    return min(found, key=lambda grid: grid.cost)


def _is_allowed(rest: Task, n_apart: int, one: Task) -> bool:
    """Whether missing values may be apart: a part is left for the `rest`, with enough rows."""
    return n_apart < one.limits.max_parts and int(rest.atoms.rows.sum()) >= one.limits.min_rows


def _cost_of(one: Task, labels: NDArray[np.int64]) -> float:
    """Cost of the parts `labels` of the atoms of a task."""
    return priced_groups(one, numbered_parts(labels).astype(np.int64)).cost


def _atoms(task: GridTask, k: int) -> tuple[Atoms, NDArray[Any]]:
    """Atoms of variable k alone, and their first values; runs of one class are joined if the criterion allows it."""
    rows, n_atoms = task.rows, task.rows.n_atoms(k)
    target = Target(rows.codes, rows.weights if len(rows.weights) else None, task.n_counts)
    counts = target.table(rows.atom[k], n_atoms)
    atoms = alone(counts, rows.atom_values[rows.atom_at[k] : rows.atom_at[k + 1]].copy(), counts.shape[1])
    starts = np.arange(n_atoms)
    may_join = task.criterion.joins_pure_runs and task.limits.of(k).min_rows <= 1 and task.holds.is_plain(k)
    if may_join and not task.facts.categorical[k]:
        pure = np.where(np.count_nonzero(counts, axis=1) == 1, counts.argmax(axis=1), -1)
        starts = np.flatnonzero(np.append(True, (pure[1:] != pure[:-1]) | (pure[1:] < 0)))
        atoms = coarsen(atoms, starts)
    return atoms, starts


def product_grid(singles: list[Grid], most: int | None = None) -> Grid:
    """Product of the grids of one variable, or of the `most` cheapest of them; without its cost."""
    informative = sorted((grid for grid in singles if grid.variables), key=lambda grid: grid.cost)
    return make_grid([(grid.variables[0], grid.parts[0]) for grid in informative[:most]])


def pairs_of(n_variables: int) -> list[tuple[int, int]]:
    """Pairs of variables to search: all pairs, or for many variables, each with a few others."""
    ring = [(k, (k + d) % n_variables) for d in range(1, n_variables // 2 + 1) for k in range(n_variables)]
    distinct = dict.fromkeys((min(pair), max(pair)) for pair in ring)
    return list(distinct)[: max(MAX_PAIRS, n_variables)]


def pair_grid(task: GridTask, i: int, j: int, seed: int) -> Grid:
    """Best grid found of two variables i < j; its cost is minus what it saves against the null grid of the two."""
    if 1 in task.limits.max_parts[[i, j]]:  # one column alone tells nothing
        return make_grid([])
    pair = replace(pair_task(task, i, j), random_state=seed % 2**63)
    found = run("pair", pair, Search(effort=PAIR_EFFORT))
    if pair.clock.stopped == "interrupted":  # Ctrl-C stops the whole search, not only this thread
        task.clock.stopped = "interrupted"
    saving = found.null.cost - found.grid.cost
    grid = Grid(tuple((i, j)[k] for k in found.grid.variables), found.grid.parts, -saving)
    return kept_grid(task, grid) if grid.variables else grid


def pair_task(task: GridTask, i: int, j: int) -> GridTask:
    """Task of two of the variables; `p` is still that of all variables."""
    rows = task.rows.only([i, j])
    return replace(task, rows=rows, facts=task.facts.only([i, j]), limits=task.limits.only([i, j]),
                   holds=no_holds(rows), clock=task.clock.child())  # fmt: skip


def products_of_pairs(pairs: list[Grid], most: int) -> list[Grid]:
    """Products of the parts of variables in their pairs, for the best 2, 3, ..., `most` variables; without costs.

    Variables are ranked by the cheapest pair that they are in. A variable has the parts of that pair; in one more
    product, the parts of the pair where it has the most parts.
    """
    best: dict[int, Grid] = {}
    finest: dict[int, Grid] = {}
    for grid in sorted((grid for grid in pairs if grid.variables), key=lambda grid: grid.cost):
        for k, n_parts in zip(grid.variables, grid.shape, strict=True):
            best.setdefault(k, grid)
            if k not in finest or n_parts > finest[k].shape[finest[k].variables.index(k)]:
                finest[k] = grid
    order = list(best)[:most]
    chosen = [(best, order[:n]) for n in range(2, len(order) + 1)] + [(finest, order)]
    products = [make_grid([(k, kind[k].parts[kind[k].variables.index(k)]) for k in some]) for kind, some in chosen]
    return list({grid.signature(): grid for grid in products if grid.variables}.values())


def most_in_product(task: GridTask, most_cells: int) -> int:
    """Number of variables of a product at most: log2 N, as more would leave about one row per cell."""
    return max(1, int(math.log2(max(2, min(task.n_rows, most_cells)))))


def with_clock(task: GridTask) -> GridTask:
    """Same task with a clock for one thread, which stops with the clock of the task."""
    return replace(task, clock=task.clock.child())
