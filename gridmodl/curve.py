"""The best cost for each number of parts: the curve that says what one part more is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import Options, check_integer, checked_options, checked_time
from gridmodl.clock import Clock, Progress
from gridmodl.decisions import asked_column, check_names, check_one_input, is_grid
from gridmodl.encode import Column
from gridmodl.frames import ARRAYS, Name, make_frame
from gridmodl.partition import Partition
from gridmodl.plugins import criterion_for
from gridmodl.progress import showing
from gridmodl.quantities import Numbers
from gridmodl.search.layers import ByParts, best_by_parts
from gridmodl.search.shares import is_enough, share_line
from gridmodl.search.subsets import groupings_by_parts
from gridmodl.table import Table, read_table
from gridmodl.targets import NOT_GIVEN, ManyNumbers
from gridmodl.terms import Criterion
from gridmodl.univariate import codes_alone, groups_of, intervals_of, intervals_task, values_task


@dataclass(frozen=True, eq=False)
class CostByParts:
    """What `cost_by_parts` returns.

    Attributes
    ----------
    n_parts : ndarray
        Numbers of parts, ascending; those that no partition has, as of two values in three parts, are left out.
    cost : ndarray
        The lowest cost found of a partition with so many parts.
    gap : ndarray
        How far above the lowest of all it is at most: 0 where it is proven; NaN where no floor is known.
    partitions : tuple of Partition
        Those of these costs.
    stopped : str or None
        Why it was cut short: ``"time limit"`` or ``"interrupted"``.
    elapsed : float
        Seconds.
    frame : str
        The kind of frame that the data came in, which `table` gives back.
    """

    n_parts: NDArray[np.int64]
    cost: NDArray[np.float64]
    gap: NDArray[np.float64]
    partitions: tuple[Partition, ...]
    stopped: str | None
    elapsed: float
    frame: str = ARRAYS

    def table(self, frame: str | None = None) -> Any:
        """One row for each number of parts, in a `frame` of the kind that the data had or of the kind that is named."""
        columns = {"parts": self.n_parts, "cost": self.cost, "gap": self.gap}
        return make_frame(columns, frame or self.frame)


def cost_by_parts(
    data: Any,
    target: Any,
    *,
    max_parts: int = 20,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    special: Mapping[Name, Any] | None = None,
    min_rows: int | float | None = None,
    unlabelled: Any = NOT_GIVEN,
    time_limit: float | None = None,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> CostByParts:
    """The best partition of one column into 1, 2, ... parts, and what each costs.

    Parameters
    ----------
    data, target, criterion, weights, kinds, special, min_rows, unlabelled, progress
        As of `optimize`, for one column and a class target.
    max_parts : int
        The largest number of parts, those of special codes included.
    time_limit : float, optional
        Seconds after which numbers of parts that were not reached get what a merge found, with a gap; so does Ctrl-C.

    Returns
    -------
    CostByParts
        Proven for a numerical column, and for a categorical one with two classes and a criterion that groups by share
        or with at most 12 values; other values are grouped by a merge, and nothing is known of the gap.

    Notes
    -----
    Each number takes one recursion over the bounds: near-linear in the rows for a criterion with the floors of
    `gridmodl.terms.FLOORS`, quadratic for others.

    Examples
    --------
    >>> import gridmodl
    >>> curve = gridmodl.cost_by_parts([1, 2, 3, 4, 5, 6], ["a", "a", "b", "b", "a", "a"], max_parts=3)
    >>> curve.cost.round(3).tolist()
    [6.446, 8.237, 8.42]
    >>> curve.gap.tolist()
    [0.0, 0.0, 0.0]
    """
    clock = Clock(checked_time(time_limit))
    check_integer("max_parts", max_parts)
    options = checked_options(criterion, "exact", kinds, special, None, max_parts, min_rows)
    if target is None:
        raise ValueError("cost_by_parts takes a class target, and no target was given")
    try:
        table = read_table(data, target, weights, None, unlabelled)
    except ManyNumbers as error:
        raise ValueError(f"{error.found}; give it as text if each number is a class") from error
    check_names(table, options)
    check_one_input(table, unlabelled)
    if is_grid(table):
        what = "the target is numerical" if table.searched is not None else f"data has {len(table.names)} columns"
        raise ValueError(f"cost_by_parts takes one column and a class target; {what}")
    (name,) = table.names
    with showing(progress, clock):
        found, partitions = curve_of(asked_column(table, name, options), table, options, clock)
    return CostByParts(
        np.array([partition.n_parts for partition in partitions], dtype=np.int64),
        found.costs,
        found.gaps,
        partitions,
        clock.stopped,
        clock.elapsed,
        table.inputs.kind,
    )


def curve_of(column: Column, table: Table, options: Options, clock: Clock) -> tuple[ByParts, tuple[Partition, ...]]:
    criterion = criterion_for(options.criterion, table.problem.kind)
    limits = options.limits(table.problem.n_rows)
    if isinstance(column, Numbers):
        # For a given number of parts, the best bound may lie inside a run of one class.
        intervals = intervals_task(column, table, criterion, options, limits, clock, may_join=False)
        if intervals.line.n_atoms == 0:
            alone = codes_alone(criterion, intervals)
            found, partitionings = ByParts(np.array([alone.cost]), np.zeros(1)), [alone]
        else:
            found, partitionings = best_by_parts(intervals.task)
        return found, tuple(intervals_of(column, intervals, table.target, one) for one in partitionings)
    task = values_task(column, table, criterion, limits, clock)
    if is_enough(task):
        line = share_line(task)
        found, partitionings = best_by_parts(line.task)
        groupings = [line.grouping(task, one) for one in partitionings]
    else:
        found, groupings = groupings_by_parts(task)
    return found, tuple(groups_of(column, table.target, grouping) for grouping in groupings)
