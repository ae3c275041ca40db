"""Fit a numerical or ordinal column: make its line of atoms, search, and build the partition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import Target, alone, gap_ends, head, rows_by_code, tail
from gridmodl.data.frames import Name
from gridmodl.data.line import Line, add_up, make_line
from gridmodl.data.numbers import Numbers, Special
from gridmodl.data.table import Table
from gridmodl.fit.column.common import (
    ColumnResult,
    Found,
    bounds_of,
    certificate_of,
    joint_result,
    labelled_apart,
    one_part_cost,
    rest_is_enough,
    rules_of,
    special_codes,
    why_unproven,
)
from gridmodl.fit.density import line_of_density, of_widths, with_widths
from gridmodl.fit.options import ColumnOptions, Options
from gridmodl.fit.periods import atoms_of_rows, make_periods, stability_of
from gridmodl.jit.template import bind
from gridmodl.model.labels import counted
from gridmodl.model.partition import Partition, interval_partition
from gridmodl.pricing import check_cost, numerical_values, prepare, price_one_variable
from gridmodl.search import Search, run
from gridmodl.search.column.limited import limited_optimum
from gridmodl.search.moves import Frozen, Limits, Setting
from gridmodl.search.proof import ALL, LIMITED, Proof
from gridmodl.search.rules import order_of
from gridmodl.search.stable.intervals import stable_optimum
from gridmodl.search.task import Partitioning, Task
from gridmodl.terms import Criterion

# From this many counts on, a kernel adds them up: for 2^28 counts, np.add.reduceat takes 5 s, a kernel 0.2 s.
MANY_COUNTS = 2**22


class Intervals(NamedTuple):
    """Task of cutting a numerical column into intervals, and its special codes."""

    task: Task
    orders: tuple[str | None, ...]  # of the scores: the cheapest partition in one of these orders is searched
    line: Line
    is_missing_apart: bool  # whether the task has the missing values, the first atom of the line, as a part apart
    special: Special  # special codes of the user
    apart: NDArray[np.int64]  # rows of the special parts that occur, by code of the target
    apart_values: NDArray[np.int32]  # number of codes that occur in each of them

    @property
    def n_apart(self) -> int:
        """Number of parts set apart, those without rows included."""
        return self.special.n_parts + self.is_missing_apart

    @property
    def has_neighbours(self) -> bool:
        """Whether a limit compares parts."""
        rules = self.task.rules
        return self.orders != (None,) or rules.has_neighbours or rules.periods is not None


def best_intervals(
    column: Numbers, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock
) -> Found:
    """Search the best intervals of a numerical column."""
    of_column = options.of(column.name)
    ways = interval_tasks(column, table, criterion, options, limits, clock, may_stop=True)
    searched = [(_searched_intervals(way, criterion, options.search, clock), way) for way in ways]
    results = [(result, way) for result, way in searched if result is not None]
    if not results:
        raise ValueError(_why_none(ways[0].task, column.name, of_column))
    found, kind = joint_result([result.found for result, _ in results], len(ways)), results[0][0].kind
    intervals = min(results, key=lambda one: one[0].found.cost)[1]
    task = ways[0].task
    if intervals.line.n_atoms == 0 and table.problem.flags.has_widths:
        null_cost = found.cost
    elif task.setting.frozen.n_apart and not table.problem.flags.has_widths:
        null_cost = one_part_cost(criterion, task.setting.p, task.setting.variable, table)
    else:
        null_cost = check_cost(criterion, task.null().cost)
    partition = intervals_of(column, intervals, table, found)
    order = _order_of(partition, table.target.event) if of_column.monotone == "auto" else None
    certificate = certificate_of(found.proof, limits, column, of_column, tuple(task.rules.min_counts.tolist()), order)
    stability = None
    if table.target.periods is not None:
        best, way = min(reversed(results), key=lambda one: one[0].free.cost)
        free = intervals_of(column, way, table, best.free)
        stability = stability_of(free, best.free.cost, column, table, of_column)
    cost = check_cost(criterion, found.cost)
    unproven = why_unproven(found, task, options.search)
    return Found(partition, cost, null_cost, found.proven, kind, criterion, certificate, stability, unproven)


def _order_of(partition: Partition, event: int | None) -> str | None:
    """The narrowest order of the shares of the event over the intervals, without missing values and special codes."""
    counts = partition.counts[int(partition.is_missing_apart) : partition.n_parts - partition.n_special]
    return None if event is None else order_of(counts[:, event], counts.sum(axis=1))


def _searched_intervals(
    intervals: Intervals, criterion: Criterion, search: Search, clock: Clock
) -> ColumnResult | None:
    """Best partition of a task; None if no partition keeps the limits."""
    task = intervals.task
    within = replace(task, rules=task.rules._replace(periods=None))
    best = _searched_within(intervals._replace(task=within), criterion, search, clock)
    if best is None:
        return None
    free, kind = best
    tasks = [replace(task, rules=task.rules._replace(order=order)) for order in intervals.orders]
    if task.rules.periods is None or task.n_atoms == 0 or any(one.keeps_rules(free.starts) for one in tasks):
        return ColumnResult(free, kind, free)
    searched = [stable_optimum(one, free, search.kind == "exact") for one in tasks]
    results = [one for one in searched if one is not None]
    if not results:
        return None
    found = joint_result(results, len(tasks))
    return ColumnResult(found, "exact" if found.proven or clock.stopped else "merge", free)


def _searched_within(
    intervals: Intervals, criterion: Criterion, search: Search, clock: Clock
) -> tuple[Partitioning, str] | None:
    """Best partition of a task without periods, and the name of the search; None if no partition keeps the limits."""
    task = intervals.task
    if intervals.line.n_atoms == 0:  # all rows hold special codes
        return codes_alone(criterion, intervals), "exact"
    if clock.stopped and len(task.rules.fixed) == 0:  # before the atoms were made
        return task.null(), "merge"
    if task.rules.is_nothing and not intervals.has_neighbours:
        return run("intervals", task, search)
    if not task.can_keep_fixed:
        return None
    tasks = [replace(task, rules=task.rules._replace(order=order)) for order in intervals.orders]
    searched = [limited_optimum(one, search.kind == "exact") for one in tasks]
    results = [one for one in searched if one is not None]
    if not results:
        return None
    found = joint_result(results, len(tasks))
    return found, "exact" if found.proven or clock.stopped else "merge"


def interval_tasks(
    column: Numbers,
    table: Table,
    criterion: Criterion,
    options: Options,
    limits: Limits,
    clock: Clock,
    may_stop: bool,
    may_join: bool = True,
) -> list[Intervals]:
    """Tasks of which one has the best partition: missing values join the lowest interval, or are a part of their own.

    A search that may cut anywhere tries both. Where a limit concerns a part of the missing values alone, which need
    not keep it, a second task has them apart; in old files, only where shares have an order or parts rows of a class.
    """
    intervals = intervals_task(column, table, criterion, options, limits, clock, may_join, may_stop)
    task, is_limited = intervals.task, options.of(column.name).missing == LIMITED
    if intervals.is_missing_apart or not intervals.line.has_missing or task.n_atoms < 2:
        return [intervals]
    is_few, most = int(task.atoms.rows[0]) < task.limits.min_rows, task.limits.max_parts
    has_rules = intervals.has_neighbours or not task.rules.is_nothing
    is_needed = has_rules and not is_few and most > 1 if is_limited else has_rules or is_few or most < task.n_atoms
    if not is_needed or not rest_is_enough(task):
        return [intervals]
    apart = missing_apart(intervals, table.target)
    if is_limited:
        apart = apart._replace(task=replace(apart.task, limits=task.limits._replace(max_parts=most - 1)))
    return [intervals, apart]


def missing_apart(intervals: Intervals, target: Target) -> Intervals:
    """Same task with the missing values as a part of their own, which no limit concerns."""
    task = intervals.task
    rest = tail(task.atoms, 1)
    start = gap_ends(rest) if target.has_unlabelled else None
    task = replace(task, atoms=rest, start=start, rules=task.rules.without_first()).set_apart(head(task.atoms, 1))
    return intervals._replace(task=task, is_missing_apart=True)


def intervals_task(
    column: Numbers,
    table: Table,
    criterion: Criterion,
    options: Options,
    limits: Limits,
    clock: Clock,
    may_join: bool = True,
    may_stop: bool = False,
) -> Intervals:
    """Make the task of cutting a numerical column into intervals, with its special codes as parts of their own.

    With `may_join`, runs of one class may become one atom where no partition is cheaper for a bound inside. With
    `may_stop`, a clock that stops before all values are counted leaves a single atom.
    """
    special = special_codes(column, options)
    of_column, target = options.of(column.name), table.target
    # With a limit on parts, the best bound may lie inside a run of one class.
    is_free = limits.min_rows <= 1 and not of_column.has_rules and target.periods is None
    join = may_join and criterion.joins_pure_runs and is_free
    may_stop &= of_column.fixed is None  # a single atom has no bounds
    line = make_line(column, target, join, special.codes, clock.look if may_stop else lambda: False)
    line, fixed = _with_bounds(line, column, of_column)
    has_widths = table.problem.flags.has_widths
    widths = np.empty(0, dtype=np.int64)
    if has_widths:
        line, fixed, widths = line_of_density(line, fixed, column, special.codes, has_gaps=limits.min_rows == 0)
    code_occurs = np.asarray(line.special.any(axis=1), dtype=np.int64)
    line = line._replace(special=special.by_part(line.special))
    occurs = line.special.any(axis=1)
    apart, apart_values = line.special[occurs], special.by_part(code_occurs)[occurs].astype(np.int32)
    n_values = int(line.atoms.values.sum()) + int(apart_values.sum())
    p, facts = prepare(criterion, table.problem, numerical_values(n_values))
    start = gap_ends(line.atoms) if target.has_unlabelled else None
    rules, orders = rules_of(of_column, line.atoms, fixed, target, table.problem.class_rows)
    if target.periods is not None:
        rules = rules._replace(periods=make_periods(atoms_of_rows(column, line, special), target, of_column))
    atoms = of_widths(line.atoms, widths) if has_widths else line.atoms
    apart_atoms = alone(apart.astype(line.atoms.counts.dtype), apart_values, target.n_classes)
    if has_widths:  # masses, which have none
        apart_atoms = of_widths(apart_atoms, np.zeros(len(apart), dtype=np.int64))
        apart = np.column_stack([np.zeros(len(apart), dtype=np.int64), apart[:, 0]])
    task = Task(atoms, Setting(p, facts, Frozen()), type(criterion), limits, clock, start, rules)
    task = task.set_apart(apart_atoms)
    intervals = Intervals(task, orders, line, False, special, apart, apart_values)
    if options.of(column.name).missing == "apart" and line.has_missing and line.n_atoms > 1:
        intervals = missing_apart(intervals, target)
    if join and line.n_atoms and not intervals.task.more_parts_cost_more(int(line.atoms.values.sum(dtype=np.int64))):
        return intervals_task(column, table, criterion, options, limits, clock, may_join=False, may_stop=may_stop)
    return intervals


def codes_alone(criterion: Criterion, intervals: Intervals) -> Partitioning:
    """Partition of a column whose rows all hold special codes: one part per code, and an interval without rows."""
    p, facts, apart = intervals.task.setting.p, intervals.task.setting.variable, intervals.apart
    cost = price_one_variable(criterion, p, facts, apart, intervals.apart_values.astype(np.int64))
    return Partitioning(np.zeros(1, dtype=np.int64), cost, True, Proof(ALL, cost))


def _with_bounds(line: Line, column: Numbers, options: ColumnOptions) -> tuple[Line, NDArray[np.int64]]:
    """Line with the user's bounds, and the atoms at which a part must begin; `allowed` leaves no other bounds."""
    fixed = bounds_of(column, "fixed", options.fixed)
    cuts = line.cuts_at(fixed)
    check_fixed(column.name, fixed, cuts, column)
    if options.allowed is not None and line.n_atoms > 0:
        allowed = bounds_of(column, "allowed", options.allowed)
        at = line.cuts_at(allowed)
        at, which = np.unique(at, return_index=True)  # of several bounds between two values, the lowest
        allowed, at = allowed[which][at > 0], at[at > 0]
        line = line.with_bounds(at, allowed).with_bounds(cuts, fixed)
        kept = np.union1d(at, cuts)
        line = line.coarsen(kept)
        return line, np.searchsorted(kept, cuts) + 1 + int(line.has_missing)
    return line.with_bounds(cuts, fixed) if len(cuts) else line, cuts


def check_fixed(name: Name, fixed: NDArray[Any], cuts: NDArray[np.int64], column: Numbers) -> None:
    """Raise ValueError if a fixed bound has no values on one side of it, up to the next fixed bound."""
    if column.type.kind in "mM":
        texts = [str(bound) for bound in fixed.view(column.type)]
    else:
        texts = [repr(bound).removesuffix(".0") for bound in fixed.tolist()]  # as users write whole numbers
    if column.levels is not None:
        texts = [repr(column.levels[int(place)]) for place in fixed]
    for i, (bound, cut) in enumerate(zip(texts, cuts.tolist(), strict=True)):
        if cut == 0:
            raise ValueError(f"fixed of column {name!r} has the bound {bound}, with no values of the data on one side")
        if i > 0 and cut == cuts[i - 1]:
            raise ValueError(
                f"fixed of column {name!r} has the bounds {texts[i - 1]} and {bound}, no value between them"
            )


def _why_none(task: Task, name: Name, options: ColumnOptions) -> str:
    """Sentence that says which limit no partition of a column can keep; it has fixed bounds, else one part does."""
    n_fixed, most = len(task.rules.fixed), task.limits.max_parts
    begin = f"column {name!r} has {counted(n_fixed, 'fixed bound')}"
    make, leave, these = ("make", "leave", "these") if n_fixed > 1 else ("makes", "leaves", "it")
    if n_fixed + 1 > most:
        return f"{begin}, which {make} {n_fixed + 1} parts; max_parts={most} allows fewer"
    starts = np.append(0, task.rules.fixed)
    rows = int(np.add.reduceat(task.atoms.rows, starts).min())
    if rows < task.limits.min_rows:
        return f"{begin}, which {leave} a part of {rows} rows; min_rows={options.min_rows!r} asks for more"
    if len(task.rules.min_counts):
        counts = np.add.reduceat(task.atoms.counts, starts, axis=0)
        if np.any(counts < task.rules.min_counts):
            few = int(counts[counts < task.rules.min_counts].min())
            least = f"min_events={options.min_events!r}"
            return f"{begin}, which {leave} a part with {few} rows of a class; {least} asks for more"
    given = [f"{what}={getattr(options, what)!r}" for what in ("monotone", "min_difference")
             if getattr(options, what) is not None]  # fmt: skip
    given += ["stable_over"] if task.rules.periods is not None else []
    return f"{begin}, and no partition with {these} was found that keeps {' and '.join(given)}"


def intervals_of(column: Numbers, intervals: Intervals, table: Table, found: Partitioning) -> Partition:
    """Make the partition of `column` into the intervals `found` and its special codes."""
    line, target, starts = intervals.line, table.target, found.starts
    if intervals.is_missing_apart:
        starts = np.append(0, starts + 1)
    if line.n_atoms:
        rows = rows_of_runs(rows_by_code(line.atoms, target), starts)
    else:
        rows = np.zeros((1, target.n_codes), dtype=np.int64)  # an empty interval for values that are no codes
    counts, unlabelled = labelled_apart(np.concatenate([rows, line.special]), target)
    bounds = line.bounds(starts, column.type, table.placement)
    partition = interval_partition(column, bounds, intervals.special, counts, line.has_missing, unlabelled)
    return with_widths(partition, column) if table.problem.flags.has_widths else partition


def rows_of_runs(by_code: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows by code of the target of the parts that begin at atoms `starts`, given those of each atom."""
    if by_code.size < MANY_COUNTS:
        return np.asarray(np.add.reduceat(by_code, starts, axis=0, dtype=np.int64))
    rows = np.zeros((len(starts), by_code.shape[1]), dtype=np.int64)
    bind(add_up)(by_code, starts, rows)
    return rows
