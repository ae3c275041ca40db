"""Find the cheapest grouping of values whose scores have the same order in all periods.

For few values, `gridmodl.search.column.subsets` has the lowest price of each subset in k groups, whatever the periods.
For each number of groups, a depth-first search compares each group with all before it; those prices are the least that
the values left cost, so groups are tried by rising price, and none once it leaves no room below the best grouping
known. For more values, the groups of the best grouping are merged until they agree; with two classes, intervals of
values sorted by share are searched too.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gridmodl.jit.template import bind
from gridmodl.search import Search
from gridmodl.search.column.groups import priced_groups
from gridmodl.search.column.limited import limited_optimum
from gridmodl.search.column.shares import has_shares, keeps_rules, merged_to_keep, share_line
from gridmodl.search.column.subsets import MAX_VALUES, subset_layers, subset_prices
from gridmodl.search.moves import TOLERANCE, is_cheaper
from gridmodl.search.proof import ALL, Proof, costs_by_parts
from gridmodl.search.rules import agree, leads
from gridmodl.search.stable.intervals import MAX_STEPS, stable_optimum, sum_at_cost
from gridmodl.search.task import Grouping, Task


def stable_groups(task: Task, free: Grouping, search: Search) -> tuple[Grouping, str]:
    """Find the best grouping that keeps all rules of the task, and the name of the search.

    `free` is the best one that keeps the rules besides those on periods, with its proof.
    """
    best = merged_to_keep(task, free)._replace(proven=False, proof=free.proof)
    if task.clock.look():
        return best, "merge"
    if task.n_atoms <= MAX_VALUES and search.kind != "merge":
        return _of_few(task, best, math.inf if search.kind == "exact" else MAX_STEPS), "exact"
    if has_shares(task):
        line = share_line(task)
        within = line.task.rules._replace(periods=None)
        on_line = limited_optimum(replace(line.task, rules=within))
        if on_line is not None and not line.task.keeps_rules(on_line.starts):
            on_line = stable_optimum(line.task, on_line)
        if on_line is not None:
            best = min(best, line.grouping(task, on_line), key=lambda one: one.cost)
    return best._replace(proven=False, proof=free.proof), "merge"


class GroupWalk(NamedTuple):
    """State of a depth-first search."""

    left: Any  # values that are in no group yet, before each group; bit i is value i
    groups: Any
    sums: Any  # prices of the groups before each
    seen: Any  # lowest price with the last group that was tried
    now: Any  # AT, FOUND, STEPS
    limit: Any  # a grouping must cost less
    found: Any  # groups of the cheapest grouping found


AT, FOUND, STEPS = 0, 1, 2


class SubsetScores(NamedTuple):
    """Prices and scores of all subsets of the values, and how groups are compared."""

    prices: Any
    lowest: Any  # price of each subset in 0, 1, 2, ... groups
    rows: Any  # of each subset: of all periods, then by period
    scores: Any  # times rows
    difference: float  # of the scores of any two groups


def _of_few(task: Task, best: Grouping, max_steps: float) -> Grouping:
    """Cheapest grouping of few values that keeps all rules; `best` keeps them."""
    task.clock.step = "proof"
    prices = subset_prices(task)
    lowest, _ = subset_layers(task, prices)
    if task.clock.stopped:
        return best
    totals, periods = lowest[1:, -1], task.rules.periods
    assert periods is not None  # noqa: S101  for mypy
    rows, scores = periods.tables(np.arange(task.n_atoms), task.atoms.rows, task.rules.scores)
    is_in = np.arange(len(prices))[:, None] >> np.arange(task.n_atoms) & 1
    difference = float(task.rules.min_difference)
    values = SubsetScores(prices, lowest, is_in @ rows, is_in @ scores, difference)
    costs = np.where(
        np.isfinite(totals),
        costs_by_parts(task.criterion, task.setting, np.where(np.isfinite(totals), totals, 0.0)),
        np.inf,
    )
    lowest_left, n_steps = math.inf, 0
    for k in np.argsort(costs, kind="stable").tolist():
        if not is_cheaper(costs[k], best.cost):
            break
        cost = best.cost - TOLERANCE * (1.0 + abs(best.cost))
        most = sum_at_cost(task, k + 1, cost, float(totals[k]))
        walk, is_done = _descended(task, values, k + 1, most, max_steps - n_steps)
        n_steps += int(walk.now[STEPS])
        if not is_done:
            lowest_left = min(lowest_left, float(costs[k]))
        if walk.now[FOUND]:
            labels = np.argmax(walk.found[:, None] >> np.arange(task.n_atoms) & 1, axis=0)
            found = priced_groups(task, labels)
            best = found if found.cost < best.cost and keeps_rules(task, found.groups) else best
    low = min(lowest_left, best.cost)
    return best._replace(proven=not is_cheaper(low, best.cost), proof=Proof(ALL, low))


def _descended(
    task: Task, values: SubsetScores, n_groups: int, most: float, max_steps: float
) -> tuple[GroupWalk, bool]:
    """Result of the search of groupings into `n_groups` whose prices are below `most`; and whether it was finished."""
    walk = GroupWalk(
        left=np.zeros(n_groups + 1, dtype=np.int64),
        groups=np.zeros(n_groups + 1, dtype=np.int64),
        sums=np.zeros(n_groups + 1),
        seen=np.full(n_groups + 1, -np.inf),
        now=np.zeros(3, dtype=np.int64),
        limit=np.array([most]),
        found=np.zeros(n_groups, dtype=np.int64),
    )
    walk.left[0] = len(values.prices) - 1
    kernel, is_done = bind(descend_groups), False

    def turn(size: int) -> bool:
        nonlocal is_done
        is_done = kernel(values, walk, n_groups, size)
        return is_done or walk.now[STEPS] > max_steps

    task.clock.repeat(turn, None, size=2**16)
    return walk, bool(is_done)


def descend_groups(values: SubsetScores, walk: GroupWalk, n_groups: int, n_steps: int) -> bool:
    """Go on with a depth-first search for about `n_steps`; True if it is done."""
    now, limit = walk.now, walk.limit
    until = now[STEPS] + n_steps
    while now[STEPS] < until:
        d = now[AT]
        if d < 0:
            return True
        left, k = walk.left[d], n_groups - d
        lowest_bit = left & -left
        rest = left ^ lowest_bit
        best, at, others = np.inf, 0, rest
        while True:  # the next group by rising price, among those of the first value that is left
            group = others | lowest_bit
            price = values.prices[group] + values.lowest[k - 1, left ^ group]
            is_new = price > walk.seen[d] or (price == walk.seen[d] and group > walk.groups[d])
            if is_new and (price < best or (price == best and group < at)):
                best, at = price, group
            now[STEPS] += 1
            if others == 0:
                break
            others = (others - 1) & rest
        if at == 0 or not walk.sums[d] + best < limit[0]:
            now[AT] -= 1
            continue
        walk.seen[d], walk.groups[d] = best, at
        if not fits(values, walk, d):
            continue
        if k == 1:
            limit[0] = walk.sums[d] + best
            now[FOUND] = 1
            for i in range(n_groups):
                walk.found[i] = walk.groups[i]
            continue
        walk.sums[d + 1] = walk.sums[d] + values.prices[at]
        walk.left[d + 1], walk.groups[d + 1], walk.seen[d + 1] = left ^ at, 0, -np.inf
        now[AT] += 1
    return False


def fits(values: SubsetScores, walk: GroupWalk, d: int) -> bool:
    """Whether group `d` of a walk keeps the limits with all groups before it."""
    rows, scores, group = values.rows, values.scores, walk.groups[d]
    for i in range(d):
        other = walk.groups[i]
        if values.difference > 0.0:
            rises = leads(scores[group, 0], rows[group, 0], scores[other, 0], rows[other, 0], values.difference)
            falls = leads(scores[other, 0], rows[other, 0], scores[group, 0], rows[group, 0], values.difference)
            if not (rises or falls):
                return False
        if not agree(rows, scores, group, other):
            return False
    return True
