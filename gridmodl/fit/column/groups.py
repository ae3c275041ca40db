"""Fit a categorical column: make the task of grouping its values, search, and build the partition."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import Target, alone, make_values, rows_by_code
from gridmodl.data.columns import Categories
from gridmodl.data.table import Table
from gridmodl.fit.column.common import (
    ColumnResult,
    Found,
    certificate_of,
    joint_result,
    labelled_apart,
    one_part_cost,
    rest_is_enough,
    rules_of,
    special_of,
    why_unproven,
)
from gridmodl.fit.options import Options
from gridmodl.fit.periods import make_periods, stability_of
from gridmodl.model.given import special_groups
from gridmodl.model.partition import Partition, group_partition, rows_in_groups
from gridmodl.pricing import categorical_values, check_cost, prepare, price_one_variable
from gridmodl.search import Search, run
from gridmodl.search.column.driver import group_within_rules
from gridmodl.search.column.shares import is_enough, share_line
from gridmodl.search.moves import Frozen, Limits, Setting
from gridmodl.search.proof import ALL, LIMITED, Proof
from gridmodl.search.rules import NONE
from gridmodl.search.stable.groups import stable_groups
from gridmodl.search.task import Grouping, Task
from gridmodl.terms import Criterion


class ValuesTask(NamedTuple):
    """Task of grouping the values of a categorical column, and the values that are set apart."""

    task: Task
    kept: NDArray[np.int64]  # number of the value of each atom of the task
    special: tuple[tuple[Any, ...], ...]  # special groups of the user
    labels: NDArray[np.int64]  # of each value that is apart, the number of its special group, or MISSING; else FREE
    apart: NDArray[np.int64]  # rows of the parts that are apart and occur, by code of the target
    apart_values: NDArray[np.int32]  # number of values of each of them
    rows: NDArray[np.int64]  # rows of each value

    @property
    def n_apart(self) -> int:
        """Number of parts set apart, those without rows included."""
        return len(self.special) + int(np.any(self.labels == MISSING))


FREE, MISSING = -1, -2


def best_groups(
    column: Categories, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock
) -> Found:
    """Search the best groups of a categorical column."""
    of_column = options.of(column.name)._replace(monotone=None, fixed=None, allowed=None)
    ways = value_tasks(column, table, criterion, options, limits, clock)
    results = [_searched_groups(way, criterion, options.search) for way in ways]
    found, kind = joint_result([result.found for result in results], len(ways)), results[0].kind
    values = ways[min(range(len(ways)), key=lambda i: results[i].found.cost)]
    task = ways[0].task
    if task.setting.frozen.n_apart:
        null_cost = one_part_cost(criterion, task.setting.p, task.setting.variable, table)
    else:
        null_cost = check_cost(criterion, task.null().cost)
    partition = groups_of(column, values, table.target, found)
    partition = replace(partition, value_rows=rows_in_groups(partition.groups, column.values, values.rows))
    certificate = certificate_of(found.proof, limits, column, of_column, tuple(task.rules.min_counts.tolist()))
    stability = None
    if table.target.periods is not None:
        i = min(range(len(ways)), key=lambda i: (results[i].free.cost, -i))
        free = groups_of(column, ways[i], table.target, results[i].free)
        stability = stability_of(free, results[i].free.cost, column, table, of_column)
    cost = check_cost(criterion, found.cost)
    is_line = task.n_atoms > 0 and is_enough(task) and task.rules.is_nothing
    unproven = why_unproven(found, share_line(task).task, options.search) if is_line else None
    return Found(partition, cost, null_cost, found.proven, kind, criterion, certificate, stability, unproven)


def _searched_groups(values: ValuesTask, criterion: Criterion, search: Search) -> ColumnResult:
    """Best grouping of a task."""
    task = values.task
    if task.n_atoms == 0:
        alone = groups_alone(criterion, values)
        return ColumnResult(alone, "exact", alone)
    within = replace(task, rules=task.rules._replace(periods=None))
    is_free = within.rules.is_nothing or min(task.n_atoms, task.limits.max_parts) == 1
    free, kind = run("groups", within, search) if is_free else group_within_rules(within, search)
    if task.rules.periods is None or len(task.breaks(free.groups)) == 0:
        return ColumnResult(free, kind, free)
    return ColumnResult(*stable_groups(task, free, search), free)


def groups_alone(criterion: Criterion, values: ValuesTask) -> Grouping:
    """Grouping of a column whose values are all set apart."""
    p, facts = values.task.setting.p, values.task.setting.variable
    cost = price_one_variable(criterion, p, facts, values.apart, values.apart_values.astype(np.int64))
    return Grouping(np.empty(0, dtype=np.int64), cost, True, Proof(ALL, cost))


def value_tasks(
    column: Categories, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock
) -> list[ValuesTask]:
    """Tasks of which one has the best groups: missing values are a value like others, or a part of their own.

    The second task is needed only where a limit concerns a group of the missing values alone, which need not keep it.
    """
    values = values_task(column, table, criterion, options, limits, clock)
    missing = options.of(column.name).missing
    task, first = values.task, column.values[0] is None and values.labels[0] == FREE
    if not first or missing == LIMITED or task.n_atoms < 2:
        return [values]
    is_limited = int(task.atoms.rows[0]) < task.limits.min_rows or task.limits.max_parts < task.n_atoms
    is_needed = is_limited or not task.rules.is_nothing
    if not is_needed or not rest_is_enough(task):
        return [values]
    return [values, values_task(column, table, criterion, options, limits, clock, is_missing_apart=True)]


def values_task(
    column: Categories,
    table: Table,
    criterion: Criterion,
    options: Options,
    limits: Limits,
    clock: Clock,
    is_missing_apart: bool = False,
) -> ValuesTask:
    """Make the task of grouping the values of a categorical column, with special groups as parts of their own."""
    given, target = options.of(column.name), table.target
    special = special_groups(column, special_of(column, options))
    group_of = {value: i for i, group in enumerate(special) for value in group}
    labels = np.array([group_of.get(value, FREE) for value in column.values], dtype=np.int64)
    has_others = int(np.count_nonzero(labels == FREE)) > 1
    is_missing_apart = column.values[0] is None and (is_missing_apart or (given.missing == "apart" and has_others))
    if is_missing_apart:
        labels[0] = MISSING
    kept = np.flatnonzero(labels == FREE)
    atoms = make_values(column, target)
    p, facts = prepare(criterion, table.problem, categorical_values(atoms.rows))
    setting = Setting(p, facts, Frozen())
    numbers, at = np.unique(labels[labels != FREE], return_inverse=True)
    by_code = rows_by_code(atoms, target)
    apart = np.zeros((len(numbers), by_code.shape[1]), dtype=np.int64)
    np.add.at(apart, at, by_code[labels != FREE])
    sizes = np.bincount(at, minlength=len(numbers)).astype(np.int32)
    if len(numbers):
        ones = np.ones(len(kept), dtype=np.int32)
        atoms_apart = alone(apart.astype(atoms.counts.dtype), sizes, target.n_classes)
        free = alone(np.ascontiguousarray(by_code[kept]), ones, target.n_classes)
        task = Task(free, setting, type(criterion), limits, clock).set_apart(atoms_apart)
    else:
        task = Task(atoms, setting, type(criterion), limits, clock)
    given = given._replace(monotone=None, fixed=None, allowed=None)
    rules, _ = rules_of(given, task.atoms, NONE, target, table.problem.class_rows)
    if target.periods is not None:
        place = np.full(len(labels), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        rules = rules._replace(periods=make_periods(place[column.codes], target, given))
    return ValuesTask(replace(task, rules=rules), kept, special, labels, apart, sizes, atoms.rows)


def groups_of(column: Categories, values: ValuesTask, target: Target, found: Grouping) -> Partition:
    """Make the partition of a grouping of the values of `column`; special groups come last."""
    n_found = int(found.groups.max()) + 1 if len(found.groups) else 0
    n_groups, n_special = n_found + int(np.any(values.labels == MISSING)), len(values.special)
    labels = np.where(values.labels == MISSING, n_found, n_groups + values.labels)
    labels[values.kept] = found.groups
    rows = target.by_code(labels[column.codes], n_groups + n_special)
    plain = np.flatnonzero(labels < n_groups)
    groups, counts, _ = ordered_groups(
        [column.values[i] for i in plain.tolist()], labels[plain], rows[:n_groups], target.n_classes, target.one_event
    )
    counts = np.concatenate([counts, rows[n_groups:]])
    return group_partition(column.name, groups + values.special, *labelled_apart(counts, target), n_special=n_special)


def class_means(counts: NDArray[np.int64], event: int | None = None) -> NDArray[np.float64]:
    """Mean class number of the rows of each group, or share of `event`; infinite for a group without labelled rows."""
    labelled = counts.sum(axis=1)
    sums = counts @ np.arange(counts.shape[1]) if event is None else counts[:, event]
    return np.where(labelled > 0, sums / np.maximum(labelled, 1), np.inf)


def ordered_groups(
    values: list[Any], labels: NDArray[Any], by_code: NDArray[np.int64], n_classes: int, event: int | None = None
) -> tuple[tuple[tuple[Any, ...], ...], NDArray[np.int64], NDArray[np.int64]]:
    """Groups in ascending order of the share of the event, their rows, and the new number of each group.

    Without an event, the order is that of the mean class number. This is the order that `Partition` documents; groups
    without labelled rows come last.
    """
    n_groups = len(by_code)
    order = np.argsort(class_means(by_code[:, :n_classes], event), kind="stable")
    rank = np.empty(n_groups, dtype=np.int64)
    rank[order] = np.arange(n_groups)
    by_group = np.argsort(rank[labels], kind="stable")
    ends = np.cumsum(np.bincount(rank[labels], minlength=n_groups)).tolist()
    groups = tuple(tuple(values[i] for i in by_group[lo:hi]) for lo, hi in itertools.pairwise([0, *ends]))
    return groups, by_code[order], rank
