"""Search a grid of several inputs together with the parts of the target, which is the last variable.

singles      each input with the target, by the search of two variables; priced as a grid of all inputs
starts       the parts that the target has in the best of these, and others; and the product of the single inputs
alternate    inputs given the parts of the target, which are then classes (`given`); parts of the target given the
             cells of the inputs (`parts`); in turn, until neither saves
round        a random neighbour of the best grid given its target (`grid.neighbours`), its local optimum, alternate
stage        as many rounds as neighbourhood sizes: 1, 2, 4, ... 2^effort, as for grids of classes
end          exact search of the numerical inputs in turn, and of a numerical target among more bounds
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.search import Search, run
from gridmodl.search.grid.exact import exact_optimize
from gridmodl.search.grid.optima import BestSoFar, GridFound, run_plan
from gridmodl.search.grid.rows import Grid, make_grid, numbered_parts
from gridmodl.search.grid.starts import most_in_product, null_grid, pair_task, product_grid
from gridmodl.search.grid.state import MAX_ROW_COUNTS, GridTask, Worker
from gridmodl.search.grid.vns import (
    EXACT_EFFORT,
    FRESH,
    choose,
    diverse_stages,
    local_optimum,
    local_search_from,
    seed_of_round,
    stages,
)
from gridmodl.search.grid.workers import BATCH, Workers
from gridmodl.search.moves import is_cheaper
from gridmodl.search.target.given import inputs_of, inputs_task, with_target
from gridmodl.search.target.parts import best_target

SINGLE_EFFORT = 0  # effort of the search of each input with the target
BEST_SINGLES = 3  # singles whose parts of the target are starts
EVEN_PARTS = (2, 6)  # numbers of parts of about equal rows that a numerical target starts from
FEW_CLASSES = 64  # up to this many classes, a start has one part of the target per class
FEW_BOUNDS, MORE_BOUNDS = 128, 512  # bounds of a numerical target to choose from: in rounds, and in the end


def run_merge(task: GridTask, search: Search) -> GridFound:
    """Search the best grid from the starts only."""
    return _run(task, search, "merge", lambda rounds: None)


def run_vns(task: GridTask, search: Search) -> GridFound:
    """Run rounds from random neighbours of the best grid, then exact searches of its variables."""

    def plan(rounds: _Rounds) -> None:
        rounds.near_best()
        if search.effort >= EXACT_EFFORT and not task.clock.stopped:
            rounds.exact()

    return _run(task, search, "vns", plan)


def run_diverse(task: GridTask, search: Search) -> GridFound:
    """Search many different grids, each of a random choice of the inputs; the best of them."""
    return _run(task, search, "diverse", lambda rounds: rounds.diverse())


def _run(task: GridTask, search: Search, kind: str, plan: Callable[[_Rounds], None]) -> GridFound:
    """Run `plan` from the starts; the result never costs more than the null grid or any single input."""
    most = np.full(task.n_variables, task.limits.max_parts.max())
    few = max(2, MAX_ROW_COUNTS // 2 // task.rows.n_lines)  # inputs are searched with a table of these counts
    most[-1] = min(few, max(1, task.n_rows // max(1, int(task.limits.min_rows[-1]))))
    limits = task.limits._replace(max_parts=np.minimum(task.limits.max_parts, most))
    task = replace(task, limits=limits)
    with Workers(task) as workers:

        def start(best_so_far: BestSoFar) -> None:
            rounds = _Rounds(workers, best_so_far)
            if task.limits.max_parts[-1] > 1 and task.limits.max_parts[:-1].max() > 1:
                rounds.singles()
                rounds.starts()
                if not task.clock.stopped:
                    plan(rounds)

        return run_plan(task, search, kind, null_grid(workers.first), start)


class _Rounds:
    """One search: its workers, the best grid so far, and for each worker one of the inputs given the target."""

    def __init__(self, workers: Workers, best_so_far: BestSoFar) -> None:
        self.workers, self.best_so_far, self.task = workers, best_so_far, best_so_far.task
        self.target = self.task.n_variables - 1
        self.seed = int(self.task.seed[0])
        self.inner: dict[int, tuple[bytes, Worker]] = {}

    def labels(self, grid: Grid) -> NDArray[np.int32]:
        """Part of each atom of the target."""
        return grid.parts_of(self.target, self.task.rows.n_atoms(self.target))

    def singles(self) -> None:
        """Search each input with the target; their costs are those of a grid of all inputs."""
        task, best_so_far = self.task, self.best_so_far
        task.clock.step = "single variables"

        def single(worker: Worker, k: int) -> Grid:
            if 1 in (task.rows.n_atoms(k), task.limits.max_parts[k]) or worker.task.clock.look():
                return best_so_far.null
            pair = replace(pair_task(worker.task, k, self.target), random_state=(self.seed + k) % 2**63, n_jobs=1)
            found = run("pair", pair, Search(effort=SINGLE_EFFORT)).grid
            _pass_on(pair, worker.task)
            grid = make_grid([((k, self.target)[i], parts) for i, parts in zip(*found[:2], strict=True)])
            return grid._replace(cost=worker.load(grid)) if len(grid.variables) == 2 else best_so_far.null

        for k, grid in enumerate(self.workers.each(single, self.target)):
            best_so_far.singles[k] = grid
            best_so_far.add(grid, is_optimum=False)
            task.clock.tell((k + 1) / self.target)

    def starts(self) -> None:
        """Find local optima from the parts that the target has in the best singles, and from others."""
        self.task.clock.step = "start"
        singles = sorted(self.best_so_far.singles[: self.target], key=lambda grid: grid.cost)
        labels = [self.labels(grid) for grid in singles[:BEST_SINGLES] if grid.variables] + self._other_starts()
        labels = list({one.tobytes(): one for one in labels if one.any() and self._keeps_limits(one)}.values())
        product = product_grid(singles, most_in_product(self.task, self.workers.first.most_cells))

        def work(worker: Worker, i: int) -> Grid:
            if i < len(labels):
                return self.alternate(worker, self._from_singles(worker, labels[i]))
            grid = self.priced(worker, with_target(self.task, product, labels[0]))
            return self.alternate(worker, grid, is_settled=False)

        n = len(labels) + (1 if len(product.variables) > 1 and labels else 0)
        for i, grid in enumerate(self.workers.each(work, n)):
            self.best_so_far.add(grid)
            self.task.clock.tell((i + 1) / n)

    def _other_starts(self) -> list[NDArray[np.int32]]:
        """Parts of the target that no input suggests: no input may tell anything alone."""
        n = self.task.rows.n_atoms(self.target)
        if self.task.facts.categorical[self.target]:
            return [np.arange(n, dtype=np.int32)] if n <= FEW_CLASSES else []
        return [self._cut(np.arange(1, n_parts) / n_parts) for n_parts in EVEN_PARTS]

    def _cut(self, shares: NDArray[np.float64]) -> NDArray[np.int32]:
        """Intervals of a numerical target with bounds after these shares of the rows."""
        rows = self.task.rows.rows_of_atoms(self.target)
        return numbered_parts(np.searchsorted(shares * self.task.n_rows, np.cumsum(rows) - rows / 2.0))

    def _keeps_limits(self, labels: NDArray[Any]) -> bool:
        """Whether the parts of the target keep its limits."""
        rows = np.bincount(labels, self.task.rows.rows_of_atoms(self.target))
        limits = self.task.limits.of(self.target)
        return len(rows) <= limits.max_parts and bool(rows.min() >= limits.min_rows)

    def priced(self, worker: Worker, grid: Grid) -> Grid:
        """The grid with its cost, computed from scratch; without both inputs and target, the null grid."""
        if self.target not in grid.variables or len(grid.variables) == 1:
            return self.best_so_far.null
        return grid._replace(cost=worker.load(grid))

    def worker_given(self, worker: Worker, labels: NDArray[Any]) -> Worker:
        """Worker of the inputs given the parts of the target; the last one is kept for each thread."""
        key = labels.tobytes()
        kept = self.inner.get(id(worker))
        if kept is None or kept[0] != key:
            kept = (key, Worker(inputs_task(worker.task, labels)))
            self.inner[id(worker)] = kept
        return kept[1]

    def _from_singles(self, worker: Worker, labels: NDArray[Any]) -> Grid:
        """Best grid of the inputs given the target, from each input alone and their product."""
        task = inputs_task(worker.task, labels)
        task = replace(task, clock=worker.task.clock.child(), random_state=0)
        found = run("grid", task, Search("merge")).grid
        _pass_on(task, worker.task)
        return self.priced(worker, with_target(self.task, found, labels))

    def alternate(self, worker: Worker, grid: Grid, is_settled: bool = True) -> Grid:
        """Improve the target given the inputs and the inputs given the target, in turn, until neither saves.

        `is_settled` says that the inputs are a local optimum given the target already.
        """
        n_settled, is_target = int(is_settled), True
        while n_settled < 2 and grid.variables and not worker.task.clock.look():
            found = best_target(worker, grid, FEW_BOUNDS) if is_target else self._improve_inputs(worker, grid)
            is_target, n_settled = not is_target, n_settled + 1
            if is_cheaper(found.cost, grid.cost):
                grid, n_settled = found, 1
        return grid

    def _improve_inputs(self, worker: Worker, grid: Grid) -> Grid:
        """Improve the inputs given the target by merges and local moves."""
        if len(grid.variables) < 2:
            return self.best_so_far.null
        labels = self.labels(grid)
        found = local_search_from(self.worker_given(worker, labels), inputs_of(self.task, grid))
        return self.priced(worker, with_target(self.task, found, labels))

    def _inputs_optimum(
        self, worker: Worker, near: Grid, share: float, r: int, labels: NDArray[Any], chosen: Any = None
    ) -> Grid:
        """Local optimum of the inputs near those of grid `near`, given the parts `labels` of the target."""
        inner, inputs = self.worker_given(worker, labels), inputs_of(self.task, near)
        found = local_optimum(inner, inputs, share, r % 2 == 0, seed_of_round(self.seed, r), chosen)
        return self.priced(worker, with_target(self.task, found, labels))

    def near_best(self) -> None:
        """Run stages of 1, 2, 4, ... 2^effort rounds, from the smallest neighbourhood to the largest in each."""
        self.task.clock.step = "vns"

        def work(worker: Worker, best: Grid, r: int, n_sizes: int) -> Grid:
            share = (r - (n_sizes - 1) + 1) / n_sizes
            is_fresh = r % BATCH in FRESH or not best.variables
            labels = self._drawn(best, r) if is_fresh else self.labels(best)
            near = self.best_so_far.null if is_fresh else best
            return self.alternate(worker, self._inputs_optimum(worker, near, share, r, labels))

        for _ in stages(self.workers, self.best_so_far, work):
            pass

    def diverse(self) -> None:
        """Run stages of rounds, each with some of the inputs; only the target is improved, so that grids differ."""

        def work(worker: Worker, best: Grid, r: int, _: int) -> Grid:
            rng = np.random.default_rng([self.seed, r])
            chosen = choose(rng, self.target)
            labels = self._drawn(best, r) if r % 2 or not best.variables else self.labels(best)
            grid = self._inputs_optimum(worker, self.best_so_far.null, float(rng.random()), r, labels, chosen)
            return best_target(worker, grid, FEW_BOUNDS) if grid.variables else grid

        diverse_stages(self.workers, self.best_so_far, work)

    def _drawn(self, best: Grid, r: int) -> NDArray[np.int32]:
        """Random parts of the target: up to twice as many as in the best grid, and a few more."""
        rng, n = np.random.default_rng([self.seed, r, 1]), self.task.rows.n_atoms(self.target)
        drawn = int(rng.integers(2, 2 * (int(self.labels(best).max()) + 1) + 3))
        n_parts = min(drawn, n, self.task.limits.of(self.target).max_parts)
        if self.task.facts.categorical[self.target]:
            labels = numbered_parts(rng.integers(0, n_parts, n))
        else:
            labels = self._cut((np.arange(1, n_parts) + 0.5 * (rng.random(n_parts - 1) - 0.5)) / n_parts)
        return labels if labels.any() and self._keeps_limits(labels) else self.labels(best)

    def exact(self) -> None:
        """Search the numerical inputs and the target of the best grid exactly, one variable after the other."""
        self.task.clock.step = "exact"

        def work(worker: Worker, _: int) -> Grid:
            grid = self.best_so_far.best
            while grid.variables and not worker.task.clock.look():
                labels = self.labels(grid)
                inner = self.worker_given(worker, labels)
                inputs = inputs_of(self.task, grid)
                inputs = exact_optimize(inner.task, inputs._replace(cost=inner.load(inputs)), inner)
                found = self.priced(worker, with_target(self.task, inputs, labels))
                found = best_target(worker, min(grid, found, key=lambda one: one.cost), MORE_BOUNDS)
                if not is_cheaper(found.cost, grid.cost):
                    break
                grid = self.alternate(worker, found)
            return grid

        for grid in self.workers.each(work, 1):
            self.best_so_far.add(grid)


def _pass_on(task: GridTask, outer: GridTask) -> None:
    """Stop the whole search if the user interrupted a part of it, which has a clock of its own."""
    if task.clock.stopped == "interrupted":
        outer.clock.stopped = "interrupted"
