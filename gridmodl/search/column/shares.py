"""Two classes: the values of a categorical variable in the order of their class shares.

Why intervals of that order are enough for many criteria. Let a group cost f(n0, n1), f concave, f(0, 0) = 0. The sum
of f over at most I groups is then concave in their counts, so some minimum is at a vertex of the convex hull of all
groupings. A vertex is the only minimum of a linear function: there each value (n0, n1) goes to the group g with the
lowest a_g n0 + b_g n1, which depends on the direction of (n0, n1) alone. Along the directions, that is the shares,
the lowest of I lines makes intervals, and values of equal shares stay together. (Breiman et al. 1984 for two groups,
Chou 1991 for more; unlike theirs, this needs no f that scales.) What is left to ask of a criterion: its cost must not
fall as the number of groups grows at the same total. It says so by `Criterion.groups_by_share`.
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
    """The values in the order of their shares, those of equal shares as one atom."""

    task: Task
    place: NDArray[np.int64]  # of each value, its atom in `task`
    is_sorted: bool  # without doubt

    def grouping(self, task: Task, found: Partitioning) -> Grouping:
        """The intervals found in the line, as groups of the values of `task`."""
        groups = np.searchsorted(found.starts, self.place, side="right") - 1
        proof = found.proof if self.is_sorted else None
        return priced_groups(task, groups)._replace(proven=found.proven and self.is_sorted, proof=proof)


def has_shares(task: Task) -> bool:
    """Whether the values have a share of one of two classes: no frozen cells, no rows without a class."""
    counts, rows = task.atoms.counts, task.atoms.rows
    return counts.shape[1] == 2 and task.n_frozen_cells == 1 and bool(np.all(counts.sum(axis=1) == rows))


def is_enough(task: Task) -> bool:
    """Whether some cheapest grouping is made of intervals in the order of shares."""
    # A lower limit on rows can forbid every such grouping; an upper one on groups cannot.
    return task.criterion.groups_by_share and task.limits.min_rows <= 1 and has_shares(task)


def share_line(task: Task) -> ShareLine:
    """A task with the values in the order of their shares, which searches of intervals can take."""
    counts, rows = task.atoms.counts, task.atoms.rows
    share = counts[:, 1] / rows
    order = np.argsort(share, kind="stable")
    # Equal as fractions, not as floats. The order of floats is that of fractions up to 2^26 rows a value; beyond, two
    # shares may be closer than floats can tell, so it is checked.
    wide = object if int(rows.sum()) >= 2**31 else np.int64
    part, whole = counts[order, 1].astype(wide), rows[order].astype(wide)
    left, right = part[:-1] * whole[1:], part[1:] * whole[:-1]
    place = np.empty(task.n_atoms, dtype=np.int64)
    place[order] = np.append(0, np.cumsum(left != right))
    atoms = coarsen(*arranged(task.atoms, place))
    return ShareLine(replace(task, atoms=atoms), place, bool(np.all(left <= right)))
