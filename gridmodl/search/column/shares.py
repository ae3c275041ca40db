"""Sort the values of a categorical variable by class share, for two classes, and search intervals of that order.

Why these intervals contain an optimum for many criteria: let a group cost f(n0, n1), f concave, f(0, 0) = 0. The sum
of f over at most I groups is then concave in their counts, so some minimum is at a vertex of the convex hull of all
groupings. A vertex is the only minimum of a linear function: each value (n0, n1) goes to the group g with the lowest
a_g n0 + b_g n1, which depends on the direction of (n0, n1) alone. Along the directions, that is, the shares, the lowest
of I lines makes intervals, and values of equal shares stay together. (Breiman et al. 1984 for two groups, Chou 1991
for more; unlike theirs, this proof needs no f that scales.) One condition remains: at the same total, the cost must not
fall as the number of groups grows. A criterion declares it by `Criterion.groups_by_share`; beside groups that are set
apart, the cost of mdlp may fall, so `Task.more_parts_cost_more` looks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import coarsen
from gridmodl.search.column.groups import arranged, priced_groups
from gridmodl.search.rules import keeps_order
from gridmodl.search.task import Grouping, Partitioning, Task


class ShareLine(NamedTuple):
    """Values sorted by share; values of equal shares are one atom."""

    task: Task
    place: NDArray[np.int64]  # atom of each value in `task`
    is_sorted: bool  # whether the order is right beyond rounding

    def grouping(self, task: Task, found: Partitioning) -> Grouping:
        """Convert the intervals `found` on the line to groups of the values of `task`."""
        groups = np.searchsorted(found.starts, self.place, side="right") - 1
        proof = found.proof if self.is_sorted else None
        return priced_groups(task, groups)._replace(proven=found.proven and self.is_sorted, proof=proof)


def has_shares(task: Task) -> bool:
    """Whether values have a class share: two classes, a single frozen cell, no unlabelled rows."""
    counts, rows = task.atoms.counts, task.atoms.rows
    return counts.shape[1] == 2 and task.n_frozen_cells == 1 and bool(np.all(counts.sum(axis=1) == rows))


def is_enough(task: Task) -> bool:
    """Whether some optimal grouping consists of intervals in the order of shares."""
    # A limit min_rows can forbid every such grouping; a limit max_parts cannot.
    is_declared = task.criterion.groups_by_share and task.limits.min_rows <= 1 and has_shares(task)
    return is_declared and task.more_parts_cost_more(task.n_atoms)


def share_line(task: Task) -> ShareLine:
    """Make the task of the values sorted by share, for searches of intervals."""
    counts, rows = task.atoms.counts, task.atoms.rows
    share = counts[:, 1] / rows
    order = np.argsort(share, kind="stable")
    # Shares are compared as fractions. Floats have the order of the fractions up to 2^26 rows per value; beyond, two
    # shares may round to the same float, so the order is checked.
    wide = object if int(rows.sum()) >= 2**31 else np.int64
    part, whole = counts[order, 1].astype(wide), rows[order].astype(wide)
    left, right = part[:-1] * whole[1:], part[1:] * whole[:-1]
    place = np.empty(task.n_atoms, dtype=np.int64)
    place[order] = np.append(0, np.cumsum(left != right))
    atoms = coarsen(*arranged(task.atoms, place))
    scores = task.rules.scores
    rules = task.rules._replace(scores=np.bincount(place, scores).astype(np.int64)) if len(scores) else task.rules
    if rules.periods is not None:
        rules = rules._replace(periods=rules.periods.placed(place))
    return ShareLine(replace(task, atoms=atoms, rules=rules), place, bool(np.all(left <= right)))


# Groups within rules: rows of each class in a group, the difference of scores of neighbours, the order in periods.


def keeps_rules(task: Task, groups: NDArray[np.int64]) -> bool:
    """Whether groups keep the rules of the task; one group does."""
    counts, rows, scores = _of_groups(task, groups)
    if len(rows) == 1:
        return True
    if len(task.rules.min_counts) and np.any(counts < task.rules.min_counts):
        return False
    order = np.argsort(scores / rows, kind="stable")
    is_apart = keeps_order(scores[order], rows[order], None, task.rules.min_difference)
    return is_apart and len(task.breaks(groups)) == 0


def merged_to_keep(task: Task, found: Grouping) -> Grouping:
    """Merge two groups at a time until all keep the rules: one that breaks a rule, and the one that costs least."""
    groups = found.groups
    while not keeps_rules(task, groups):
        counts, rows, scores = _of_groups(task, groups)
        order = np.argsort(scores / rows, kind="stable")
        least = task.rules.min_counts if len(task.rules.min_counts) else 0
        lacks = np.flatnonzero(np.any(counts < least, axis=1))
        breaks = np.unique(task.breaks(groups)[:, 1:], axis=0)
        if len(lacks):
            pairs = [(int(lacks[0]), other) for other in range(len(rows)) if other != lacks[0]]
        elif len(breaks):
            pairs = [(int(one), int(other)) for one, other in breaks]
        else:
            at = np.arange(len(rows) - 1)
            near = np.diff((scores / rows)[order])
            pairs = [(int(order[i]), int(order[i + 1])) for i in at[near <= near.min()][:1]]
        merged = [priced_groups(task, np.where(groups == one, other, groups)) for one, other in pairs]
        groups = min(merged, key=lambda grouping: grouping.cost).groups
    return priced_groups(task, groups)


def _of_groups(task: Task, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Rows by class, rows, and scores times rows of each group."""
    atoms, n_groups = task.atoms, int(groups.max()) + 1
    counts = np.zeros((n_groups, atoms.counts.shape[1]), dtype=np.int64)
    np.add.at(counts, groups, atoms.counts)
    rows, scores = (np.zeros(n_groups, dtype=np.int64) for _ in range(2))
    np.add.at(rows, groups, atoms.rows)
    if len(task.rules.scores):
        np.add.at(scores, groups, task.rules.scores)
    return counts, rows, scores
