"""Results of searches of grids: the best grid, and the local optima kept.

All engines (of `grid`, `pair` and `target`) take a `GridTask`, run through `run_plan` and return a `GridFound`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.search import Search
from gridmodl.search.grid.rows import Grid, make_grid
from gridmodl.search.grid.state import GridTask, Worker
from gridmodl.search.moves import is_cheaper
from gridmodl.terms import level_of


class GridFound(NamedTuple):
    """The best grid, the distinct local optima that were kept, and how it was found."""

    grid: Grid
    optima: tuple[Grid, ...]  # cheapest first
    kind: str
    null: Grid
    singles: tuple[Grid, ...]  # best grid found of each variable alone, or the null grid
    n_rounds: int


class GridMerge(NamedTuple):
    """One step on the way from a grid to a single cell."""

    variable: int
    stays: int  # number of the first part in the grid; the merged part keeps this number
    goes: int  # number of the second part
    cost: float  # cost after the step


class Improvement(NamedTuple):
    """A cheaper grid, as passed to ``Search.on_improvement``."""

    round: int  #: number of the round; 0 for the start
    cost: float  #: cost of the grid
    level: float | None  #: 1 - cost / null cost; None if one of them is negative
    elapsed: float  #: seconds since the call, without the time of compiling


@dataclass
class BestSoFar:
    """The best grid so far, and the cheapest distinct local optima."""

    task: GridTask
    search: Search
    null: Grid
    base: Grid  # the cheapest grid known at the start: of the parts that variables must have, or the null grid
    best: Grid = field(init=False)
    singles: list[Grid] = field(init=False)  # best grid of each variable alone; the null grid if unknown
    n_rounds: int = 0
    n_new: int = 0  # optima added that were not among those kept
    optima: dict[Any, Grid] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best, self.singles = self.base, [self.null] * self.task.n_variables

    @property
    def keep(self) -> int:
        return self.search.keep_optima

    def add(self, grid: Grid, is_optimum: bool = True) -> bool:
        """Add a grid; return whether it is the cheapest so far."""
        if is_optimum and self.keep > 0 and grid.variables:
            signature = grid.signature()
            self.n_new += signature not in self.optima
            self.optima.setdefault(signature, grid)
            if len(self.optima) > self.keep:
                del self.optima[max(self.optima, key=lambda key: self.optima[key].cost)]
        if not grid.cost < self.best.cost:
            return False
        self.best = grid
        level = level_of(grid.cost, self.null.cost)
        shown = "" if level is None else f", level {level:.4f}"
        self.task.clock.rename(f"round {self.n_rounds}, cost {grid.cost:.2f}{shown}")  # for the progress bar
        if self.search.on_improvement is not None:
            self.search.on_improvement(Improvement(self.n_rounds, grid.cost, level, self.task.clock.elapsed))
        return True

    def found(self, kind: str) -> GridFound:
        """Result at the end of a search of this `kind`."""
        optima = tuple(sorted(self.optima.values(), key=lambda grid: grid.cost))
        return GridFound(self.best, optima, kind, self.null, tuple(self.singles), self.n_rounds)


def missing_apart(task: GridTask, found: GridFound, missing: Mapping[int, int]) -> GridFound:
    """The grids found, with missing values as a part of their own wherever that pays and a limit forbade it.

    For a target that is partitioned too, whose searches take limits for such a part as for any other; `missing` has the
    atom of the missing values by variable.
    """
    limited = {
        k: atom
        for k, atom in missing.items()
        if task.rows.rows_of_atoms(k)[atom] < task.limits.of(k).min_rows
        or task.limits.of(k).max_parts < task.rows.n_atoms(k)
    }
    if not limited:
        return found
    worker = Worker(task)
    cut = [_cut_missing(worker, grid, limited) for grid in (found.grid, *found.optima)]
    optima = {grid.signature(): grid for grid in sorted(cut[1:], key=lambda grid: grid.cost)}
    return found._replace(grid=min(cut, key=lambda grid: grid.cost), optima=tuple(optima.values()))


def _cut_missing(worker: Worker, grid: Grid, limited: Mapping[int, int]) -> Grid:
    """The grid with the missing values cut from the parts that they share, one variable at a time, while that pays."""
    is_quiet = False
    while not is_quiet:
        is_quiet = True
        for k, atom in limited.items():
            others = [(v, parts) for v, parts in zip(grid.variables, grid.parts, strict=True) if v != k]
            cuts = [make_grid([*others, (k, labels)]) for labels in _cuts(worker.task, grid, k, atom)]
            cuts = [cut._replace(cost=worker.load(cut)) for cut in cuts]
            best = min(cuts, key=lambda cut: cut.cost, default=grid)
            if is_cheaper(best.cost, grid.cost):
                grid, is_quiet = best, False
    return grid


def _cuts(task: GridTask, grid: Grid, k: int, atom: int) -> Iterator[NDArray[np.int64]]:
    """Parts of variable k with `atom` apart; what it shared a part with stays one, or joins the next or any group."""
    rows, parts, limits = task.rows.rows_of_atoms(k), grid.parts_of(k, task.rows.n_atoms(k)), task.limits.of(k)
    n_parts, own = int(parts.max()) + 1, int(parts[atom])
    n_rest = int(rows[parts == own].sum() - rows[atom])
    is_atom = np.arange(len(parts)) == atom
    if n_rest >= max(1, limits.min_rows):
        yield np.where(is_atom, n_parts, parts)
    joined = range(n_parts) if task.facts.categorical[k] else range(own + 1, min(own + 2, n_parts))
    for part in joined if n_rest > 0 else ():
        if part != own:
            yield np.where(is_atom, n_parts, np.where(parts == own, part, parts))


def run_plan(task: GridTask, search: Search, kind: str, null: Grid, plan: Callable[[BestSoFar], None],
             base: Grid | None = None) -> GridFound:  # fmt: skip
    """Run `plan`, which adds the grids it finds to the `BestSoFar`, to its end or until the user interrupts."""
    best_so_far = BestSoFar(task, search, null, null if base is None else base)
    try:
        plan(best_so_far)
    except KeyboardInterrupt:
        task.clock.stopped = "interrupted"
    return best_so_far.found(kind)
