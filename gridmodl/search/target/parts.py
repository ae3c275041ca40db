"""Parts of the target given the cells of the inputs, which are frozen.

    intervals   dynamic programming over all bounds, or for many values over some quantiles, followed by local moves
    groups      transfers and merges; of few classes, all groupings

The margins, one for each cell of the inputs, depend on the number of parts of the target alone: their sum is tabulated.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import coarsen
from gridmodl.jit.template import bind
from gridmodl.search.column.exact import proven_optimum
from gridmodl.search.column.groups import priced_groups
from gridmodl.search.column.improve import improve
from gridmodl.search.column.subsets import MAX_VALUES, proven_grouping
from gridmodl.search.column.transfers import local_search
from gridmodl.search.grid.exact import candidates, variable_task, visit_budget
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import GridTask, Worker
from gridmodl.search.grid.typical import sum_margins
from gridmodl.search.moves import Limits
from gridmodl.search.target.given import inputs_of, with_target
from gridmodl.search.task import Task


def best_target(worker: Worker, grid: Grid, most_bounds: int) -> Grid:
    """The grid with the cheapest parts of the target that are found; a numerical one has `most_bounds` to choose from.

    The inputs stay as they are. The grid itself if no other parts are cheaper.
    """
    task = worker.task
    target = task.n_variables - 1
    worker.load(grid)
    one = target_task(worker)
    parts = grid.parts_of(target, one.n_atoms).astype(np.int64)
    labels = _best_groups(one, parts) if task.facts.categorical[target] else _best_cuts(one, task, parts, most_bounds)
    found = with_target(task, inputs_of(task, grid), labels)
    found = found._replace(cost=worker.load(found))
    return found if found.cost < grid.cost else grid


def target_task(worker: Worker) -> Task:
    """Task of the target of the grid in the state, the inputs frozen."""
    task, target = worker.task, worker.task.n_variables - 1
    one = variable_task(worker, target)
    margin_rows = np.zeros(one.n_frozen_cells, dtype=np.int64)
    np.add.at(margin_rows, one.atoms.frozen, one.atoms.rows)
    limits = task.limits.of(target)
    most = min(limits.max_parts, one.n_atoms, 4 * int(worker.state.n_parts[target]) + 64)
    by_target = np.zeros(most + 1)
    bind(sum_margins, task.criterion)(task.p, margin_rows, 1, by_target)
    frozen = one.setting.frozen._replace(n_variables=target, by_target=by_target)
    return replace(one, setting=one.setting._replace(frozen=frozen), limits=Limits(most, limits.min_rows))


def _best_groups(one: Task, parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups of the classes, given the cells of the inputs; they begin with `parts`."""
    if one.n_atoms <= MAX_VALUES:
        return proven_grouping(one).groups
    return local_search(one, priced_groups(one, parts)).groups


def _best_cuts(one: Task, task: GridTask, parts: NDArray[np.int64], most_bounds: int) -> NDArray[np.int64]:
    """Intervals of a numerical target, given the cells of the inputs; they begin with `parts`."""
    own = np.append(0, np.flatnonzero(np.diff(parts)) + 1)
    starts = np.union1d(own, candidates(one.atoms, task, task.n_variables - 1, most_bounds))
    is_all = len(starts) == one.n_atoms
    coarse = one if is_all else replace(one, atoms=coarsen(one.atoms, starts))
    found = proven_optimum(coarse, coarse.priced(np.searchsorted(starts, own)), visit_budget(len(starts)))
    cuts = starts[found.starts]
    if not is_all and not one.clock.stopped:
        cuts = improve(one, one.priced(cuts)).starts
    is_start = np.zeros(one.n_atoms, dtype=np.int64)
    is_start[cuts[1:]] = 1
    return np.cumsum(is_start)
