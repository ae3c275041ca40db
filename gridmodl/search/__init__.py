"""Searches by name: the options of the user (`Search`), and the registry of search functions (`SEARCHES`).

A search function takes a task and the `Search`. Its result never costs more than one part, or one cell. To add a
search, write its function and enter it in `SEARCHES`; all other code, the command line included, reads that table.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.search.grid.optima import GridFound
    from gridmodl.search.grid.state import GridTask
    from gridmodl.search.task import Grouping, Partitioning, Task


class Need(NamedTuple):
    """Condition of a search on its task."""

    is_met: Callable[[Any], bool]
    otherwise: str  # error message if the condition is not met, after the name of the search


class Entry(NamedTuple):
    """One search of one engine."""

    function: str  # module:function below `gridmodl.search`, imported at the first call
    needs: tuple[Need, ...] = ()


class Engine(NamedTuple):
    """Searches for one kind of partition, by name."""

    refuses: str  # error message for a search that the engine lacks, after its name; {names} are those it has
    searches: Mapping[str, Entry]


INPUTS_ONLY = Need(
    lambda task: not task.facts.is_target.any(),
    "cannot group the classes of a target or cut it into intervals; use 'auto', 'vns' or 'merge' with a target and one "
    "column",
)
CLASSES = Need(lambda task: task.has_classes, "finds grids of classes, and there is no target; use 'auto' or 'vns'")
ONE_COLUMN = "finds grids of several columns; for one use {names}"
AUTO = "auto"  # the default of every engine
SEARCHES = {
    "intervals": Engine(  # of a numerical column
        ONE_COLUMN,
        {
            AUTO: Entry("column.driver:prove_if_quick"),
            "exact": Entry("column.driver:prove"),
            "merge": Entry("column.driver:merge"),
        },
    ),
    "groups": Engine(  # of the values of a categorical column
        ONE_COLUMN,
        {
            AUTO: Entry("column.driver:group_by_all_if_few"),
            "exact": Entry("column.driver:group_by_all"),
            "merge": Entry("column.driver:group_by_merges"),
        },
    ),
    "grid": Engine(  # of any number of variables
        "cannot find a grid of several variables; known: {plain_names}",
        {
            AUTO: Entry("grid.vns:run_vns", (INPUTS_ONLY,)),
            "vns": Entry("grid.vns:run_vns", (INPUTS_ONLY,)),
            "algorithm3": Entry("grid.vns:run_algorithm_3", (INPUTS_ONLY,)),
            "diverse": Entry("grid.vns:run_diverse", (INPUTS_ONLY, CLASSES)),
            "merge": Entry("grid.vns:run_merge", (INPUTS_ONLY,)),
        },
    ),
    "target": Engine(  # of several inputs and a target that is partitioned too
        "cannot find a grid of several columns and of the parts of the target; use {names}",
        {
            AUTO: Entry("target.vns:run_vns"),
            "vns": Entry("target.vns:run_vns"),
            "diverse": Entry("target.vns:run_diverse"),
            "merge": Entry("target.vns:run_merge"),
        },
    ),
    "pair": Engine(  # of two variables without classes
        "cannot find a grid of two variables; use {names}",
        {
            AUTO: Entry("pair.vns:run_vns"),
            "vns": Entry("pair.vns:run_vns"),
            "merge": Entry("pair.vns:run_merge"),
        },
    ),
}
KINDS = tuple(dict.fromkeys(name for engine in SEARCHES.values() for name in engine.searches))


@overload
def run(engine: Literal["intervals"], task: Task, search: Search) -> tuple[Partitioning, str]: ...


@overload
def run(engine: Literal["groups"], task: Task, search: Search) -> tuple[Grouping, str]: ...


@overload
def run(engine: Literal["grid", "target", "pair"], task: GridTask, search: Search) -> GridFound: ...


def run(engine: str, task: Any, search: Search) -> Any:
    """Run a search of an engine; return its result, and for one column also the name of the search that found it."""
    entry = SEARCHES[engine].searches.get(search.kind)
    if entry is None:
        names = list(SEARCHES[engine].searches)
        *others, last = map(repr, names)
        raise ValueError(
            f"search={search.kind!r} "
            + SEARCHES[engine].refuses.format(names=f"{', '.join(others)} or {last}", plain_names=", ".join(names))
        )
    for need in entry.needs:
        if not need.is_met(task):
            raise ValueError(f"search={search.kind!r} {need.otherwise}")
    module, function = entry.function.split(":")
    return getattr(importlib.import_module(f"gridmodl.search.{module}"), function)(task, search)


def has_search(engine: str, search: Search) -> bool:
    """Whether an engine has this search."""
    return search.kind in SEARCHES[engine].searches


MAX_EFFORT = 40  # 2^40 rounds take longer than anybody can wait
MAX_OPTIMA = 1_000_000


@dataclass(frozen=True)
class Search:
    """Options of the search; ``search="merge"`` is short for ``search=Search("merge")``.

    Parameters
    ----------
    kind : {"auto", "exact", "merge", "vns", "algorithm3", "diverse"}
        What is done depends on the columns.

        * One column: ``"merge"`` is a greedy merge down to one part, then post-optimization of the best partition met.
          ``"exact"`` proves the optimum by dynamic programming: near-linear in the rows for a criterion with floors
          under its cells (all built-in ones for labelled rows have them), quadratic in the distinct values for others.
          ``"auto"`` is exact too, but if the proof takes much longer than usual (a second, or a number of prices,
          whichever is later) it returns what ``"merge"`` finds, or within limits the best over some bounds;
          ``Model.gap`` is then the largest possible distance from the optimum, None if that is more than 5 % of the
          cost. The values of a categorical variable can be grouped exactly if they are few, or if there are two classes
          and the criterion allows it.
        * A grid of several columns: ``"merge"`` merges and post-optimizes the product of the best partitions of each
          column. ``"vns"``, which is ``"auto"``, then tries random neighbours of the best grid (variable neighbourhood
          search); ``"algorithm3"`` does so in the order of the paper. ``"diverse"``, with classes, looks for many
          different grids instead of a single cheaper one: each of its rounds takes a random choice of the columns, see
          ``keep_optima``.
        * Several columns and a target that is partitioned too (grouped classes, or a numerical target): the columns
          given the parts of the target and these given the columns, in turn, from the best single columns
          (``"merge"``), and from random neighbours of the best grid (``"vns"``, ``"diverse"``).
        * Two columns without classes (no target, grouped classes, or a numerical target): ``"merge"`` improves and
          merges random grids; ``"vns"``, which is ``"auto"``, then splits the parts of the best grid and merges again;
          ``"algorithm3"`` needs a grid without a target.
    post_optimize : bool
        Whether to improve the merged partition of one column by local moves.
    effort : int
        Number of rounds of ``"vns"`` and ``"diverse"``: 1 + 2 + 4 + ... + 2^effort; ``"diverse"`` ends early if a
        stage of 32 rounds or more finds no new grid. For two columns without classes, the rounds end after 2 effort
        rounds in a row without a cheaper grid; with effort 0 there are none.
    keep_optima : int
        Number of distinct local optima of these searches to keep as ``Model.optima``, the cheapest ones.
    on_improvement : callable, optional
        Called with an `Improvement` (round, cost, level and elapsed seconds) for every cheaper grid that the search
        finds.
    """

    kind: str = AUTO
    post_optimize: bool = True
    effort: int = 5
    keep_optima: int = 0
    on_improvement: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown search {self.kind!r}; known: {', '.join(KINDS)}{did_you_mean(self.kind, KINDS)}")
        if not isinstance(self.post_optimize, bool):
            raise TypeError(f"post_optimize must be True or False, got {self.post_optimize!r}")
        _check_number("effort", self.effort, MAX_EFFORT)
        _check_number("keep_optima", self.keep_optima, MAX_OPTIMA)
        if self.on_improvement is not None and not callable(self.on_improvement):
            raise TypeError(f"on_improvement must be a callable or None, got {self.on_improvement!r}")


def _check_number(name: str, value: Any, most: int) -> None:
    """Raise ValueError unless `value` is a whole number from 0 to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{name} must be a whole number from 0 to {most}, got {value!r}")
