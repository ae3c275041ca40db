"""What searches of grids find: the best grid and the local optima beside it, noted as they come.

Both engines, that of grids and that of pairs, take a `GridTask`, run by `run_plan` and return a `GridFound`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gridmodl.search import Search
from gridmodl.search.grid.rows import Grid
from gridmodl.search.grid.state import GridTask
from gridmodl.terms import level_of


class GridFound(NamedTuple):
    """The best grid, the distinct local optima that were kept, and how it was found."""

    grid: Grid
    optima: tuple[Grid, ...]  # cheapest first
    kind: str
    null: Grid
    singles: tuple[Grid, ...]  # of each variable the best grid found with it alone, or the null grid
    n_rounds: int


class GridMerge(NamedTuple):
    """One step on the way from a grid to a single cell."""

    variable: int
    stays: int  # parts as the grid numbers them; the one that stays takes the other's values
    goes: int
    cost: float  # after it


class Improvement(NamedTuple):
    """What a callback is told of a cheaper grid."""

    round: int  #: 0: a start
    cost: float  #: of the grid
    level: float | None  #: 1 - cost / null cost, None where one of them is negative
    elapsed: float  #: seconds, those of compiling not counted


@dataclass
class BestSoFar:
    """The best grid so far, and the cheapest distinct local optima."""

    task: GridTask
    search: Search
    null: Grid
    best: Grid = field(init=False)
    singles: list[Grid] = field(init=False)  # of each variable the best grid with it alone, the null grid if unknown
    n_rounds: int = 0
    n_new: int = 0  # optima that were not among those kept
    optima: dict[Any, Grid] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best, self.singles = self.null, [self.null] * self.task.n_variables

    @property
    def keep(self) -> int:
        return self.search.keep_optima

    def add(self, grid: Grid, is_optimum: bool = True) -> bool:
        """Take note of a grid; whether it is the cheapest so far."""
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
        """All of it, at the end of a search of this kind."""
        optima = tuple(sorted(self.optima.values(), key=lambda grid: grid.cost))
        return GridFound(self.best, optima, kind, self.null, tuple(self.singles), self.n_rounds)


def run_plan(task: GridTask, search: Search, kind: str, null: Grid, plan: Callable[[BestSoFar], None]) -> GridFound:
    """Run `plan`, which adds to the `BestSoFar` what it finds, to its end or until the user interrupts."""
    best_so_far = BestSoFar(task, search, null)
    try:
        plan(best_so_far)
    except KeyboardInterrupt:
        task.clock.stopped = "interrupted"
    return best_so_far.found(kind)
