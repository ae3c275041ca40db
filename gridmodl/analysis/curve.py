"""Best cost for each number of parts: `cost_by_parts`, and the same for one variable of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock, Progress
from gridmodl.data.columns import Categories, Column
from gridmodl.data.frames import ARRAYS, Name, make_frame
from gridmodl.data.numbers import Numbers
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN, ManyNumbers
from gridmodl.fit.build import check_names, encoded_column, is_grid
from gridmodl.fit.column.groups import ValuesTask, groups_alone, groups_of, value_tasks, values_task
from gridmodl.fit.column.intervals import Intervals, codes_alone, interval_tasks, intervals_of, intervals_task
from gridmodl.fit.density import checked_density, column_limits, with_masses
from gridmodl.fit.grid import grid_task, partition_of, with_values
from gridmodl.fit.options import Options, check_integer, check_one_input, checked_options, checked_time
from gridmodl.model.partition import Partition
from gridmodl.model.policy import STRICT
from gridmodl.plugins import criterion_for
from gridmodl.progress import showing
from gridmodl.search.column.exact import ByParts, best_by_parts
from gridmodl.search.column.groups import numbered, priced_groups
from gridmodl.search.column.shares import is_enough, share_line
from gridmodl.search.column.splits import best_split, group_split, grouping_takes_long, takes_long
from gridmodl.search.column.subsets import groupings_by_parts
from gridmodl.search.grid.exact import TooMany, best_beside
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.moves import NO_LIMIT, Limits
from gridmodl.spelling import names_arguments
from gridmodl.terms import Criterion

if TYPE_CHECKING:
    from gridmodl.analysis.alternatives import ModelVariable

Way = TypeVar("Way", Intervals, ValuesTask)


@dataclass(frozen=True, eq=False)
class CostByParts:
    """Result of `cost_by_parts`.

    Attributes
    ----------
    n_parts : ndarray
        Numbers of parts, ascending. A number that no partition has, such as three parts of two values, is left out.
    cost : ndarray
        Lowest cost found for each number of parts.
    gap : ndarray
        Upper limit of the difference between ``cost`` and the optimum for that number of parts: 0 if proven, NaN if
        no limit is known.
    partitions : tuple of Partition
        Partition of each cost.
    stopped : str or None
        Why the search was cut short: ``"time limit"`` or ``"interrupted"``.
    elapsed : float
        Seconds since the call, without the time of compiling.
    frame : str
        Kind of frame that the data came in; `table` returns the same kind.
    """

    n_parts: NDArray[np.int64]
    cost: NDArray[np.float64]
    gap: NDArray[np.float64]
    partitions: tuple[Partition, ...]
    stopped: str | None
    elapsed: float
    frame: str = ARRAYS

    def table(self, frame: str | None = None) -> Any:
        """Table with one row per number of parts, as a `frame` of the kind of the data or of the kind named."""
        columns = {"parts": self.n_parts, "cost": self.cost, "gap": self.gap}
        return make_frame(columns, frame or self.frame)

    def plot(self, ax: Any = None) -> Any:
        """Draw the costs with matplotlib: `gridmodl.plot.CostDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CostDisplay
        """
        from gridmodl.plot import CostDisplay

        return CostDisplay.from_curve(self).plot(ax)

    def __repr__(self) -> str:
        least, most = (int(self.n_parts[place]) for place in (0, -1))
        best = int(self.cost.argmin())
        name, found = self.partitions[best].name, f"lowest {self.cost[best]:,.2f} with {self.n_parts[best]}"
        return f"CostByParts({name!r}, {least} to {most} parts, {found})"

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.curves import curve_html

        return curve_html(self)


@names_arguments
def cost_by_parts(
    data: Any,
    target: Any = None,
    *,
    max_parts: int = 20,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    order: Mapping[Name, Any] | None = None,
    special: Any = None,
    min_rows: int | float | None = None,
    unlabelled: Any = NOT_GIVEN,
    time_limit: float | None = None,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> CostByParts:
    """Find the best partition of one column into each number of parts, and its cost.

    Parameters
    ----------
    data, target, criterion, weights, kinds, order, special, min_rows, unlabelled, progress
        As in `optimize`, for one column and a class target, or for the density of one column without a target. The
        price of a part of ``"penalized-likelihood"`` is not chosen but 0 by default: the costs are those of the
        likelihood alone.
    max_parts : int
        Largest number of parts, those of special codes and of missing values included; one other part there is always.
    time_limit : float, optional
        Seconds after which the search stops, as it does at Ctrl-C. Numbers of parts not reached until then get the
        partition of a greedy merge, with a gap.

    Returns
    -------
    CostByParts
        Proven for a numerical column, and for a categorical one with two classes and a criterion that groups by share
        or with at most 12 values; other values are grouped by a greedy merge, and the gap is unknown.

    Notes
    -----
    Each number of parts takes one recursion over the bounds: near-linear in the rows for a criterion with the floors
    of `gridmodl.terms.FLOORS`, quadratic for others.

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
    options = checked_options(criterion, "exact", kinds, order, special=special, max_parts=max_parts, min_rows=min_rows)
    try:
        table = read_table(data, target, weights, None, unlabelled)
    except ManyNumbers as error:
        raise ValueError(f"{error.found}; pass it as text if each number is a class") from error
    check_names(table, options)
    check_one_input(table, unlabelled)
    if is_grid(table):
        what = "the target is numerical" if table.searched is not None else f"data has {len(table.names)} columns"
        raise ValueError(f"cost_by_parts takes one column and a class target; {what}")
    (name,) = table.names
    column = encoded_column(table, name, options)
    if table.problem.flags.has_widths:
        options = with_masses(checked_density(column, options), table, options)
    with showing(progress, clock):
        found, partitions = curve_of(column, table, options, clock)
    return CostByParts(
        np.array([partition.n_parts for partition in partitions], dtype=np.int64),
        found.costs,
        found.gaps,
        partitions,
        clock.stopped,
        clock.elapsed,
        table.inputs.kind,
    )


def curve_of(
    column: Column, table: Table, options: Options, clock: Clock, counts_apart: bool = True
) -> tuple[ByParts, tuple[Partition, ...]]:
    """Costs and gaps of the best partitions of `column` by number of parts, and these partitions.

    With `counts_apart`, max_parts counts parts of special codes and of missing values alone; searches exempt them.
    """
    criterion = criterion_for(options.criterion, table.problem.kind)
    limits = column_limits(options.of(column.name), table.problem.n_rows, criterion)
    most = limits.max_parts if counts_apart else NO_LIMIT
    limits = limits._replace(max_parts=NO_LIMIT) if counts_apart else limits
    if isinstance(column, Numbers):
        # For a fixed number of parts, the best bound may lie inside a run of one class.
        ways = interval_tasks(column, table, criterion, options, limits, clock, may_stop=False, may_join=False)
        return _cheapest([_interval_curve(column, table, criterion, _at_most(way, most)) for way in ways])
    of_values = value_tasks(column, table, criterion, options, limits, clock)
    return _cheapest([_group_curve(column, table, criterion, _at_most(way, most)) for way in of_values])


def _at_most(way: Way, most: int) -> Way:
    """The same task for partitions of at most `most` parts, those set apart included; one part there is always."""
    limits = way.task.limits
    limits = limits._replace(max_parts=min(limits.max_parts, max(1, most - way.n_apart)))
    return way._replace(task=replace(way.task, limits=limits))


Curve = tuple[ByParts, tuple[Partition, ...]]


def _interval_curve(column: Numbers, table: Table, criterion: Criterion, intervals: Intervals) -> Curve:
    if intervals.line.n_atoms == 0:
        alone = codes_alone(criterion, intervals)
        found, partitionings = ByParts(np.array([alone.cost]), np.zeros(1)), [alone]
    else:
        found, partitionings = best_by_parts(intervals.task)
    return found, tuple(intervals_of(column, intervals, table, one) for one in partitionings)


def _group_curve(column: Categories, table: Table, criterion: Criterion, values: ValuesTask) -> Curve:
    task = values.task
    if task.n_atoms == 0:
        grouping = groups_alone(criterion, values)
        found, groupings = ByParts(np.array([grouping.cost]), np.zeros(1)), [grouping]
    elif is_enough(task):
        line = share_line(task)
        found, partitionings = best_by_parts(line.task)
        groupings = [line.grouping(task, one) for one in partitionings]
    else:
        found, groupings = groupings_by_parts(task)
    return found, tuple(groups_of(column, values, table.target, grouping) for grouping in groupings)


def _cheapest(curves: list[Curve]) -> Curve:
    """Cheapest partition of several curves for each number of parts: missing values are with others, or apart."""
    if len(curves) == 1:
        return curves[0]
    every = [
        (partition.n_parts, cost, cost - gap, partition)
        for found, partitions in curves
        for cost, gap, partition in zip(found.costs.tolist(), found.gaps.tolist(), partitions, strict=True)
    ]
    costs, gaps, cheapest = [], [], []
    for n in sorted({n_parts for n_parts, *_ in every}):
        same = [one for one in every if one[0] == n]
        _, cost, _, partition = min(same, key=lambda one: one[1])
        costs.append(cost)
        gaps.append(max(0.0, cost - np.min([floor for _, _, floor, _ in same])))  # NaN if one is
        cheapest.append(partition)
    return ByParts(np.array(costs), np.array(gaps)), tuple(cheapest)


# Best partitions of one variable of a model for each number of parts, searched in the data of the model.


class ByNumber(NamedTuple):
    """A partition that a search found."""

    partition: Partition
    gap: float  # upper limit of cost - optimum for its number of parts; NaN if not known
    how: str  # "best" of all partitions searched, or "split": best with one part of the model cut in two


def of_column(variable: ModelVariable, most: int, clock: Clock, is_patient: bool) -> list[ByNumber]:
    """Best partitions of the column of a model with classes, for each number of parts up to `most`.

    If the search would take long and not `is_patient`: only the best split of one of the model's parts.
    """
    model, partition = variable.model, variable.partition
    assert model._source is not None  # noqa: S101  for mypy
    table = model._source[0].priced_rows()
    special = {partition.name: partition.special_parts} if partition.n_special else {}
    # A special part that no row has counts as a part of a curve, but not in variable.n_parts.
    n_absent = partition.n_special - (variable.n_parts - len(variable.rows_of_plain_parts))
    options = Options(variable.criterion, special=special, max_parts=most + n_absent)
    column = table.column(partition.name, partition.column_kind)
    if isinstance(column, Numbers):
        splits = _split(variable, column, table, options, clock)
    else:
        splits = _split_of_many(variable, column, table, clock) if not is_patient else []
    if splits and not is_patient:
        return splits
    found, partitions = curve_of(column, table, options, clock)
    if isinstance(column, Categories) and np.isnan(found.gaps).any() and not clock.stopped:
        splits = _group_split(variable, column, table, clock)
    return [*splits, *(ByNumber(one, gap, "best") for one, gap in zip(partitions, found.gaps.tolist(), strict=True))]


def _split(variable: ModelVariable, column: Numbers, table: Table, options: Options, clock: Clock) -> list[ByNumber]:
    """Best partition with one bound more than the model, if a search of all partitions would take long; else none."""
    limits = Limits(NO_LIMIT, 1)
    intervals = intervals_task(column, table, variable.criterion, options, limits, clock, may_join=False)
    task = intervals.task
    if intervals.line.n_atoms == 0 or not takes_long(task, variable.n_parts + 1):
        return []
    rows = np.add.reduceat(task.atoms.rows, task.atoms.first[:-1])
    ends = np.cumsum(variable.rows_of_plain_parts)[:-1]
    starts = np.append(0, np.searchsorted(np.cumsum(rows), ends) + 1)
    found = best_split(task, starts)
    return [] if found is None else [ByNumber(intervals_of(column, intervals, table, found), np.nan, "split")]


def _split_of_many(variable: ModelVariable, column: Categories, table: Table, clock: Clock) -> list[ByNumber]:
    """Best split of one group of the model, if a merge of all values would take long; else none."""
    task = values_task(column, table, variable.criterion, Options(), Limits(NO_LIMIT, 1), clock).task
    if not grouping_takes_long(task):
        return []
    splits = _group_split(variable, column, table, clock)
    if not splits:
        raise TooMany(f"it has {task.n_atoms} values; explain(name, time_limit=...) says how long to search")
    return splits


def _group_split(variable: ModelVariable, column: Categories, table: Table, clock: Clock) -> list[ByNumber]:
    """Best split of one group of the model; none if no group can be split."""
    if variable.partition.n_special:  # a split of a special part would be none
        return []
    values = values_task(column, table, variable.criterion, Options(), Limits(NO_LIMIT, 1), clock)
    task = values.task
    groups = np.zeros(task.n_atoms, dtype=np.int64)
    groups[column.codes] = variable.partition.part_of_encoded(column, STRICT)
    split = group_split(task, numbered(groups))
    if split is None:
        return []
    return [ByNumber(groups_of(column, values, table.target, priced_groups(task, split)), np.nan, "split")]


def of_grid(variable: ModelVariable, most: int, clock: Clock) -> list[ByNumber]:
    """Best partitions of one variable of a grid for each number of parts up to `most`, the other variables frozen."""
    model = variable.model
    assert model._source is not None  # noqa: S101  for mypy
    table = model._source[0]
    kinds = {name: part.column_kind for name, part in model.partitions.items()}
    columns, task = grid_task(table, Options(variable.criterion, kinds=kinds), variable.criterion, clock)
    labels: list[tuple[int, NDArray[Any]]] = []
    for v, column in enumerate(columns):
        of_atoms = np.zeros(task.rows.n_atoms(v), dtype=np.int64)
        of_atoms[task.rows.atom[v]] = variable.parts_of_rows[column.name]
        labels.append((v, of_atoms))
    grid, k = make_grid(labels), [column.name for column in columns].index(variable.partition.name)
    found = []
    for beside in best_beside(task, grid, k, most):
        other = make_grid([*labels[:k], (k, beside.parts), *labels[k + 1 :]])
        parts = other.parts_of(k, len(beside.parts))
        partition, renumbered = partition_of(columns[k], parts, task, other, k, table)
        if not table.problem.flags.has_classes:
            partition = with_values(partition, renumbered)
        found.append(ByNumber(partition, beside.gap, beside.how))
    return found
