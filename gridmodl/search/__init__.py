"""Searches: each takes a task and a partition to start from, and returns one that is never more expensive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.search.task import Grouping, Partitioning, Task

Found = TypeVar("Found", "Partitioning", "Grouping")

KINDS = ("auto", "exact", "merge", "vns", "algorithm3", "diverse")
GRID_ONLY = ("vns", "algorithm3", "diverse")
MAX_EFFORT = 40  # more rounds than anybody can wait for
MAX_OPTIMA = 1_000_000


@dataclass(frozen=True)
class Search:
    """How to search; ``search="merge"`` is short for ``search=Search("merge")``.

    Parameters
    ----------
    kind : {"auto", "exact", "merge", "vns", "algorithm3", "diverse"}
        For one column: ``"merge"`` is a greedy merge down to one part, then post-optimization of the best partition
        met; ``"exact"`` the same, then dynamic programming that proves the optimum, near-linear in the rows for a
        criterion that offers floors under its cells (all built-in ones for labelled rows do) and quadratic in the
        distinct values for others; ``"auto"`` is exact too, but gives up where the proof takes much longer than usual:
        then ``Model.gap`` says how far from the optimum it is at most. The values of a categorical variable can be
        grouped exactly where they are few, or where there are two classes and the criterion allows it.
        For a grid of several columns: ``"merge"`` merges and post-optimizes the product of the best partitions of each
        column; ``"vns"``, which is ``"auto"``, goes on from there to random neighbours of the best grid;
        ``"algorithm3"`` does so in the order of the paper. ``"diverse"``, with classes, looks for many different
        grids instead of one that is cheaper still: its rounds each take a random choice of the columns, see
        ``keep_optima``.
        For two columns without classes (no target, classes in groups, a numerical target): ``"merge"`` improves and
        merges random grids; ``"vns"``, which is ``"auto"``, goes on from the best by splitting its parts and merging
        again; ``"algorithm3"`` needs a grid without a target.
    post_optimize : bool
        Whether to improve the merged partition of one column by local moves.
    effort : int
        The rounds of ``"vns"`` and ``"diverse"``: 1 + 2 + 4 + ... + 2^effort; ``"diverse"`` ends early where a stage of
        32 rounds or more finds no new grid. For two columns without classes, the rounds end when 2 effort of them in a
        row have found no cheaper grid; with effort 0 there are none.
    keep_optima : int
        So many distinct local optima of these searches are kept, the cheapest, as ``Model.optima``.
    on_improvement : callable, optional
        Told of every cheaper grid that the search finds, by an `Improvement`: round, cost, level and elapsed
        seconds.
    """

    kind: str = "auto"
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
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{name} must be a whole number from 0 to {most}, got {value!r}")


def run_search(task: Task, search: Search) -> tuple[Partitioning, str]:
    """The best partition found, and which search found it."""
    _check_for_one(search)
    found = _last(task, task.null(), _steps(task, search))
    return found, "exact" if search.kind == "exact" or (search.kind == "auto" and found.proven) else "merge"


def _check_for_one(search: Search) -> None:
    if search.kind in GRID_ONLY:
        raise ValueError(
            f"search={search.kind!r} finds grids of several columns; for one use 'auto', 'exact' or 'merge'"
        )


def _last(task: Task, best: Found, steps: Iterator[Found]) -> Found:
    """What the last step found, or the one before the search was stopped."""
    try:
        for found in steps:
            best = found
            if task.clock.stopped:
                break
    except KeyboardInterrupt:  # between two turns of the clock, which hears it too
        task.clock.stopped = "interrupted"
    return best


def _steps(task: Task, search: Search) -> Iterator[Partitioning]:
    """The best partition after each step."""
    from gridmodl.search.column.exact import PLAIN_ATOMS, budget_of, proven_optimum
    from gridmodl.search.column.improve import improve_merged
    from gridmodl.search.column.merge import greedy_merge
    from gridmodl.search.proof import ALL, Proof, is_lowest

    null = task.null()
    if task.n_atoms == 1 or task.limits.max_parts == 1:
        yield null._replace(proven=True, proof=Proof(ALL, null.cost))
        return
    if task.clock.look():  # what comes first is no turn, and may take long
        yield null
        return
    best, budget = null, budget_of(task) if search.kind == "auto" else 0.0
    if task.n_atoms <= PLAIN_ATOMS and (budget > 0.0 or search.kind == "exact"):
        # All pairs are priced in milliseconds: a merge before would save none, and compiling it would take seconds.
        task.clock.step = "proof"
        best, budget = proven_optimum(task, null, budget or math.inf), 0.0
        yield best
        if best.proven or task.clock.look():
            return
    task.clock.step = "merge"
    merged = greedy_merge(task, None if task.start is None else task.priced(task.start))
    best = min(best, merged.best, key=lambda found: found.cost)
    yield best
    if task.clock.look():
        return
    if budget > 0.0:
        # A short proof finds what post-optimization does, so that is needed only where it fails. One that may take long
        # comes last: who stops it has the improved partition.
        task.clock.step = "proof"
        best = proven_optimum(task, best, budget)
        yield best
    if search.post_optimize and not best.proven and not task.clock.look():
        task.clock.step = "post-optimization"
        proof = best.proof
        best = improve_merged(task, merged, best)._replace(proof=proof)
        yield best._replace(proven=proof is not None and is_lowest(best.cost, proof.lowest))
    if search.kind == "exact" and not task.clock.look():
        task.clock.step = "proof"
        yield proven_optimum(task, best)


def run_grouping(task: Task, search: Search) -> tuple[Grouping, str]:
    """The best grouping found of a categorical variable, and which search found it."""
    import numpy as np

    from gridmodl.search.column.groups import priced_groups
    from gridmodl.search.column.shares import is_enough, share_line

    _check_for_one(search)
    if is_enough(task):
        line = share_line(task)
        found, kind = run_search(line.task, search)
        return line.grouping(task, found), kind
    kind = _grouping_kind(task, search)
    null = priced_groups(task, np.zeros(task.n_atoms))
    return _last(task, null, _grouping_steps(task, null, search.post_optimize, kind == "exact")), kind


def _grouping_kind(task: Task, search: Search) -> str:
    from gridmodl.search.column.subsets import MAX_VALUES

    # One group, where there can be no other, is proven at once.
    if task.n_atoms <= MAX_VALUES or task.limits.max_parts == 1:
        return search.kind if search.kind != "auto" else "exact"
    if search.kind == "exact":
        raise ValueError(
            f"search='exact' was asked for a categorical variable with {task.n_atoms} values; all groupings can be "
            f"tried for up to {MAX_VALUES} values (and for any number with two classes, a criterion that declares "
            "groups_by_share, no other variable and min_rows=1); use search='merge' or 'auto'"
        )
    return "merge"


def _grouping_steps(task: Task, null: Grouping, post_optimize: bool, prove: bool) -> Iterator[Grouping]:
    """The best grouping after each step."""
    from gridmodl.search.column.groups import merge_groups, starts_of
    from gridmodl.search.column.shares import has_shares, share_line
    from gridmodl.search.column.subsets import proven_grouping
    from gridmodl.search.column.transfers import improve_groups, local_search
    from gridmodl.search.proof import ALL, Proof

    if task.n_atoms == 1 or task.limits.max_parts == 1:
        yield null._replace(proven=True, proof=Proof(ALL, null.cost))
        return
    if prove:
        task.clock.step = "proof"
        yield proven_grouping(task)
        return
    best = null
    if task.clock.look():  # what comes first is no turn, and may take long
        yield null
        return
    for start in starts_of(task):
        if task.clock.look():
            break
        task.clock.step = "merge"
        merged = merge_groups(task, start, is_step=True)
        best = min(best, merged.best, key=lambda found: found.cost)
        yield best
        if post_optimize and not task.clock.look():
            task.clock.step = "post-optimization"
            best = min(best, improve_groups(task, merged, merged.best), key=lambda found: found.cost)
            yield best
    if has_shares(task) and not task.clock.look():  # where intervals of shares are not enough, they are a good start
        line = share_line(task)
        found = line.grouping(task, run_search(line.task, Search("merge", post_optimize))[0])
        if post_optimize and not task.clock.stopped:
            found = local_search(task, found)
        yield min(best, found._replace(proven=False, proof=None), key=lambda grouping: grouping.cost)
