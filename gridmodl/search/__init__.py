"""Searches: each takes a task and a partition to start from, and returns one that is never more expensive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gridmodl.search.task import Partitioning, Task

KINDS = ("auto", "exact", "merge")

# A run of the exact search takes 5-10 ns per pair of atoms and class, and it takes two to six runs: up to here it
# is done in well under a second.
QUICK_PRICES = 2e7


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


def run_search(task: Task, search: Search) -> tuple[Partitioning, str]:
    """The best partition found, and which search found it."""
    from gridmodl.search.exact import proven_optimum
    from gridmodl.search.greedy import greedy_merge
    from gridmodl.search.postoptimize import improve_merged

    best, clock = task.null(), task.clock
    if task.n_atoms == 1 or task.limits.max_parts == 1:
        return best._replace(proven=True), "exact" if search.kind == "auto" else search.kind
    clock.step = "merge"
    merged = greedy_merge(task)
    best = min(best, merged.best, key=lambda found: found.cost)
    if search.post_optimize:
        clock.step = "post-optimization"
        best = improve_merged(task, merged, best)
    kind = search.kind if search.kind != "auto" else ("exact" if _is_quick(task) else "merge")
    if kind == "exact":
        clock.step = "proof"
        best = proven_optimum(task, best)
    return best, kind


def _is_quick(task: Task) -> bool:
    from gridmodl.terms import finish

    n_prices = task.n_atoms**2 * int(task.atoms.counts.shape[1])
    if task.criterion.finish is not finish:  # one layer for each number of parts
        n_prices *= min(task.n_atoms, task.limits.max_parts)
    return n_prices <= QUICK_PRICES
