"""Searches: each takes a task and a partition to start from, and returns one that is never more expensive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gridmodl.search.task import Partitioning, Task

KINDS = ("auto", "exact", "merge")

# Prices of pairs of atoms, by class, that the exact search may take when nobody asked for it: a second or less.
QUICK_PRICES = 8e7


@dataclass(frozen=True)
class Search:
    """How to search; ``search="merge"`` is short for ``search=Search("merge")``.

    Parameters
    ----------
    kind : {"auto", "exact", "merge"}
        ``"merge"``: greedy merge down to one part, then post-optimization of the best partition met.
        ``"exact"``: the same, then dynamic programming that proves the optimum, in time quadratic in the number of
        distinct values. ``"auto"``: exact where that is quick, merge beyond.
    post_optimize : bool
        Whether to improve the merged partition by local moves.
    """

    kind: str = "auto"
    post_optimize: bool = True

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown search {self.kind!r}; known: {', '.join(KINDS)}")
        if not isinstance(self.post_optimize, bool):
            raise TypeError(f"post_optimize must be True or False, got {self.post_optimize!r}")


def run_search(task: Task, search: Search) -> tuple[Partitioning, str]:
    """The best partition found, and which search found it."""
    kind = search.kind if search.kind != "auto" else ("exact" if _is_quick(task) else "merge")
    best = task.null()
    try:
        for found in _steps(task, search.post_optimize, kind == "exact"):
            best = found
            if task.clock.stopped:
                break
    except KeyboardInterrupt:  # between two turns of the clock, which hears it too
        task.clock.stopped = "interrupted"
    return best, kind


def _steps(task: Task, post_optimize: bool, prove: bool) -> Iterator[Partitioning]:
    """The best partition after each step."""
    from gridmodl.search.exact import proven_optimum
    from gridmodl.search.greedy import greedy_merge
    from gridmodl.search.postoptimize import improve_merged

    null = task.null()
    if task.n_atoms == 1 or task.limits.max_parts == 1:
        yield null._replace(proven=True)
        return
    task.clock.step = "merge"
    merged = greedy_merge(task)
    best = min(null, merged.best, key=lambda found: found.cost)
    yield best
    if post_optimize:
        task.clock.step = "post-optimization"
        best = improve_merged(task, merged, best)
        yield best
    if prove:
        task.clock.step = "proof"
        yield proven_optimum(task, best)


def _is_quick(task: Task) -> bool:
    from gridmodl.search.exact import n_recursions

    n_prices = task.n_atoms**2 * int(task.atoms.counts.shape[1])
    return n_prices <= QUICK_PRICES and n_prices * n_recursions(task) <= QUICK_PRICES
