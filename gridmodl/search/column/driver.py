"""Searches of one column, numerical or categorical: their steps and the order of these.

The steps are generators of the best partition after each step, so that a stopped search has the best one so far.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gridmodl.search import Search, run
from gridmodl.search.moves import is_cheaper
from gridmodl.search.rules import NO_RULES
from gridmodl.search.task import Grouping, Partitioning, Task

MOST_GAP = 0.05  # of the cost: a partition that may be further from the optimum is as good as not proven

Found = TypeVar("Found", Partitioning, Grouping)


def prove(task: Task, search: Search) -> tuple[Partitioning, str]:
    """Find the optimum; proven unless the search is stopped."""
    return _last(task, task.null(), _steps(task, search.post_optimize, is_exact=True)), "exact"


def prove_if_quick(task: Task, search: Search) -> tuple[Partitioning, str]:
    """Find the best partition; proven unless the proof would take much longer than usual, else with a useful gap."""
    found = _last(task, task.null(), _steps(task, search.post_optimize, in_budget=True))
    if found.proof is not None and found.cost - found.proof.lowest > MOST_GAP * (1.0 + abs(found.cost)):
        found = found._replace(proof=None)
    return found, "exact" if found.proven else "merge"


def merge(task: Task, search: Search) -> tuple[Partitioning, str]:
    """Find the best partition by a greedy merge and local moves."""
    return _last(task, task.null(), _steps(task, search.post_optimize)), "merge"


def _last(task: Task, best: Found, steps: Iterator[Found]) -> Found:
    """Result of the last step before the search ended or was stopped; `best` if there was none."""
    try:
        for found in steps:
            best = found
            if task.clock.stopped:
                break
    except KeyboardInterrupt:  # Ctrl-C outside of the kernels, whose turns the clock guards
        task.clock.stopped = "interrupted"
    return best


def _steps(task: Task, post_optimize: bool, is_exact: bool = False, in_budget: bool = False) -> Iterator[Partitioning]:
    """The best partition after each step.

    A short proof comes first: it finds what a merge and local moves do, so these are needed only where it fails. One
    that may take long comes last: who stops it has the improved partition.
    """
    from gridmodl.search.column.exact import (
        PLAIN_ATOMS,
        QUICK_SECONDS,
        budget_of,
        can_prune,
        make_program,
        proven_optimum,
    )
    from gridmodl.search.column.improve import improve_merged
    from gridmodl.search.column.merge import greedy_merge
    from gridmodl.search.proof import ALL, Proof
    from gridmodl.terms import finish

    null = task.null()
    if task.n_atoms == 1 or task.limits.max_parts == 1:
        yield null._replace(proven=True, proof=Proof(ALL, null.cost))
        return
    if task.clock.look():  # the preparation of the first step may take long and is not interrupted
        yield null
        return
    best, budget = null, budget_of(task) if in_budget or is_exact else 0.0
    is_few = task.n_atoms <= PLAIN_ATOMS  # all pairs are priced in milliseconds
    program = None
    if (is_few and (budget > 0.0 or is_exact)) or (
        budget > 0.0 and can_prune(task) and task.criterion.finish is finish
    ):
        task.clock.step = "proof"
        program = make_program(task, null, math.inf if is_few and is_exact else budget, QUICK_SECONDS)
        best, budget = program.solve(), 0.0
        yield best
        if best.proven or task.clock.look():
            return
    task.clock.step = "merge"
    merged = greedy_merge(task, None if task.start is None else task.priced(task.start))
    best = min(best, merged.best._replace(proof=best.proof), key=lambda found: found.cost)
    yield best
    if task.clock.look():
        return
    if in_budget and budget > 0.0:
        task.clock.step = "proof"
        best = proven_optimum(task, best, budget, QUICK_SECONDS)
        yield best
    if post_optimize and not best.proven and not task.clock.look():
        task.clock.step = "post-optimization"
        proof = best.proof
        best = improve_merged(task, merged, best)._replace(proof=proof)
        yield best._replace(proven=proof is not None and not is_cheaper(proof.lowest, best.cost))
    if is_exact and not task.clock.look():
        task.clock.step = "proof"
        yield proven_optimum(task, best) if program is None else program.go_on(best)


def group_by_all(task: Task, search: Search) -> tuple[Grouping, str]:
    """Find the optimum of all groupings of the values; they must be few, or of two classes."""
    found = _along_shares(task, search)
    if found is None and not _are_few(task):
        from gridmodl.search.column.subsets import MAX_VALUES

        raise ValueError(
            f"search={search.kind!r} was asked for a categorical variable with {task.n_atoms} values; all groupings "
            f"can be tried for up to {MAX_VALUES} values (and for any number with two classes, a criterion that "
            "declares groups_by_share, no other variable and min_rows=1); use search='merge' or 'auto'"
        )
    return found or _grouped(task, search, prove=True)


def group_by_all_if_few(task: Task, search: Search) -> tuple[Grouping, str]:
    """Find the best grouping; proven if the values are few, or of two classes."""
    return _along_shares(task, search) or _grouped(task, search, prove=_are_few(task))


def group_by_merges(task: Task, search: Search) -> tuple[Grouping, str]:
    """Find the best grouping by merges and local moves."""
    return _along_shares(task, search) or _grouped(task, search, prove=False)


def group_within_rules(task: Task, search: Search) -> tuple[Grouping, str]:
    """Find the best grouping that keeps the rules of the task.

    It is proven if the optimum without rules keeps them, or if there are few values and no limit on differences. Else
    the groups of that optimum are merged until they keep the rules, and with two classes intervals of values sorted by
    share are searched too.
    """
    from gridmodl.search.column.limited import limited_optimum
    from gridmodl.search.column.shares import has_shares, keeps_rules, merged_to_keep, share_line

    free = replace(task, rules=NO_RULES)
    found, kind = run("groups", free, search)
    if keeps_rules(task, found.groups):
        return found, kind
    if _are_few(task) and task.rules.min_difference == 0.0 and search.kind != "merge":
        return _grouped(task, search, prove=True)
    best = merged_to_keep(task, found)
    if has_shares(task):
        line = share_line(task)
        on_line = limited_optimum(line.task)
        if on_line is not None:
            best = min(best, line.grouping(task, on_line), key=lambda one: one.cost)
    return best._replace(proven=False, proof=found.proof), "merge"


def _along_shares(task: Task, search: Search) -> tuple[Grouping, str] | None:
    """Result of the search among intervals of values sorted by share; None if these do not suffice for the optimum."""
    from gridmodl.search.column.shares import is_enough, share_line

    if not is_enough(task):
        return None
    line = share_line(task)
    found, kind = run("intervals", line.task, search)
    return line.grouping(task, found), kind


def _are_few(task: Task) -> bool:
    """Whether all groupings can be tried."""
    from gridmodl.search.column.subsets import MAX_VALUES

    return task.n_atoms <= MAX_VALUES or task.limits.max_parts == 1  # then there is one grouping


def _grouped(task: Task, search: Search, prove: bool) -> tuple[Grouping, str]:
    """Result of the search among all groupings, by all of them if `prove`, else by merges; and its name."""
    from gridmodl.search.column.groups import priced_groups

    null = priced_groups(task, np.zeros(task.n_atoms))
    return _last(task, null, _grouping_steps(task, null, search.post_optimize, prove)), "exact" if prove else "merge"


def _grouping_steps(task: Task, null: Grouping, post_optimize: bool, prove: bool) -> Iterator[Grouping]:
    """Best grouping after each step."""
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
    if task.clock.look():  # the preparation of the first step may take long and is not interrupted
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
    if has_shares(task) and not task.clock.look():  # intervals of shares may not suffice, but are a good start
        line = share_line(task)
        found = line.grouping(task, merge(line.task, Search(post_optimize=post_optimize))[0])
        if post_optimize and not task.clock.stopped:
            found = local_search(task, found)
        yield min(best, found._replace(proven=False, proof=None), key=lambda grouping: grouping.cost)
