"""Sort the values of a categorical variable by class share, for two classes, and search intervals of that order.

Why these intervals contain an optimum for many criteria: let a group cost f(n0, n1), f concave, f(0, 0) = 0. The sum
of f over at most I groups is then concave in their counts, so some minimum is at a vertex of the convex hull of all
groupings. A vertex is the only minimum of a linear function: each value (n0, n1) goes to the group g with the lowest
a_g n0 + b_g n1, which depends on the direction of (n0, n1) alone. Along the directions, that is, the shares, the lowest
of I lines makes intervals, and values of equal shares stay together. (Breiman et al. 1984 for two groups, Chou 1991
for more; unlike theirs, this proof needs no f that scales.) One condition remains: at the same total, the cost must not
fall as the number of groups grows. A criterion declares it by `Criterion.groups_by_share`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import coarsen
from gridmodl.search.column.groups import arranged, priced_groups
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
    return task.criterion.groups_by_share and task.limits.min_rows <= 1 and has_shares(task)


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
    return ShareLine(replace(task, atoms=atoms), place, bool(np.all(left <= right)))
