"""Fit one column: make its atoms, search the best partition, or price a partition of the user's own."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import Target, alone, gap_ends, head, make_values, rows_by_code, tail
from gridmodl.data.columns import Categories, Column, count_rows
from gridmodl.data.line import Line, add_up, make_line
from gridmodl.data.numbers import Numbers, encode_special
from gridmodl.data.table import Table
from gridmodl.fit.options import Options
from gridmodl.jit.template import bind
from gridmodl.model.partition import Partition, default_group, group_partition, interval_partition, rows_in_groups
from gridmodl.plugins import criterion_for
from gridmodl.pricing import ColumnValues, categorical_values, check_cost, numerical_values, prepare, price_one_variable
from gridmodl.search import Search, run
from gridmodl.search.column.monotone import monotone_optimum
from gridmodl.search.moves import NO_LIMIT, Frozen, Limits, Setting
from gridmodl.search.proof import ALL, Certificate, Proof
from gridmodl.search.task import Grouping, Partitioning, Task
from gridmodl.terms import Criterion, Variable

# From this many counts on, a kernel adds them up: for 2^28 counts, np.add.reduceat takes 5 s, a kernel 0.2 s.
MANY_COUNTS = 2**22


class Found(NamedTuple):
    """A partition with its cost, and the name of the search that found it."""

    partition: Partition
    cost: float
    null_cost: float
    proven: bool
    search: str
    criterion: Criterion
    certificate: Certificate | None = None


class Intervals(NamedTuple):
    """Task of cutting a numerical column into intervals, and its special codes."""

    task: Task
    line: Line
    special: NDArray[Any]  # special codes of the user
    apart: NDArray[np.int64]  # rows of the special codes that occur, by code of the target


def certificate_of(proof: Proof | None, limits: Limits, monotone: str | None) -> Certificate | None:
    """Make the certificate of a proof; None if there is no proof."""
    if proof is None:
        return None
    slopes, totals = zip(*proof.runs, strict=True) if proof.runs else ((), ())
    max_parts = None if limits.max_parts == NO_LIMIT else limits.max_parts
    return Certificate(proof.method, proof.lowest, slopes, totals, max_parts, limits.min_rows, monotone)


def best_partition(column: Column, table: Table, options: Options, clock: Clock) -> Found:
    """Search the best partition of one column."""
    criterion = criterion_for(options.criterion, table.problem.kind)
    limits = options.limits(table.problem.n_rows)
    if isinstance(column, Categories):
        return _best_groups(column, table, criterion, options.search, limits, clock)
    return _best_intervals(column, table, criterion, options, limits, clock)


def _best_groups(
    column: Categories, table: Table, criterion: Criterion, search: Search, limits: Limits, clock: Clock
) -> Found:
    """Search the best groups of a categorical column."""
    task = values_task(column, table, criterion, limits, clock)
    found, kind = run("groups", task, search)
    cost, null_cost = check_cost(criterion, found.cost), check_cost(criterion, task.null().cost)
    partition = groups_of(column, table.target, found)
    partition = replace(partition, value_rows=rows_in_groups(partition.groups, column.values, task.atoms.rows))
    certificate = certificate_of(found.proof, limits, None)
    return Found(partition, cost, null_cost, found.proven, kind, criterion, certificate)


def values_task(column: Categories, table: Table, criterion: Criterion, limits: Limits, clock: Clock) -> Task:
    """Make the task of grouping the values of a categorical column."""
    atoms = make_values(column, table.target)
    p, facts = prepare(criterion, table.problem, categorical_values(atoms.rows))
    return Task(atoms, Setting(p, facts, Frozen()), type(criterion), limits, clock)


def groups_of(column: Categories, target: Target, found: Grouping) -> Partition:
    """Make the partition of a grouping of the values of `column`."""
    rows = target.by_code(found.groups[column.codes], int(found.groups.max()) + 1)
    groups, rows, _ = ordered_groups(column.values, found.groups, rows, target.n_classes)
    return group_partition(column.name, groups, *labelled_apart(rows, target))


def labelled_apart(by_code: NDArray[np.int64], target: Target) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Rows by class, and unlabelled rows; None if there are none."""
    counts = np.ascontiguousarray(by_code[:, : target.n_classes])
    return counts, by_code[:, -1].copy() if target.has_unlabelled else None


def class_means(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean class number of the rows of each group; infinite for a group without labelled rows."""
    labelled = counts.sum(axis=1)
    return np.where(labelled > 0, counts @ np.arange(counts.shape[1]) / np.maximum(labelled, 1), np.inf)


def ordered_groups(
    values: list[Any], labels: NDArray[Any], by_code: NDArray[np.int64], n_classes: int
) -> tuple[tuple[tuple[Any, ...], ...], NDArray[np.int64], NDArray[np.int64]]:
    """Groups in ascending order of the mean class number of their rows, their rows, and the new number of each group.

    This is the order that `Partition` documents; groups without labelled rows come last.
    """
    n_groups = len(by_code)
    order = np.argsort(class_means(by_code[:, :n_classes]), kind="stable")
    rank = np.empty(n_groups, dtype=np.int64)
    rank[order] = np.arange(n_groups)
    by_group = np.argsort(rank[labels], kind="stable")
    ends = np.cumsum(np.bincount(rank[labels], minlength=n_groups)).tolist()
    groups = tuple(tuple(values[i] for i in by_group[lo:hi]) for lo, hi in itertools.pairwise([0, *ends]))
    return groups, by_code[order], rank


def _best_intervals(
    column: Numbers, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock
) -> Found:
    """Search the best intervals of a numerical column."""
    intervals = intervals_task(column, table, criterion, options, limits, clock, may_stop=True)
    task, line, _, apart = intervals
    p, facts = task.setting.p, task.setting.variable
    if line.n_atoms == 0:  # all rows hold special codes
        found, kind = codes_alone(criterion, intervals), "exact"
    elif clock.stopped:  # before the atoms were made
        found, kind = task.null(), "merge"
    elif options.monotone is not None:
        found = best_monotone(task, options.monotone, line.has_missing)
        kind = "exact" if found.proven or clock.stopped else "merge"
    else:
        found, kind = run("intervals", task, options.search)
    null_cost = check_cost(criterion, task.null().cost) if len(apart) == 0 else _null_cost(criterion, p, facts, table)
    partition = intervals_of(column, intervals, table.target, found)
    certificate = certificate_of(found.proof, limits, options.monotone)
    return Found(partition, check_cost(criterion, found.cost), null_cost, found.proven, kind, criterion, certificate)


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

    With `may_join`, runs of one class may become one atom. With `may_stop`, a clock that stops before all values are
    counted leaves a single atom.
    """
    special = special_codes(column, options)
    # With min_rows= or monotone=, the best bound may lie inside a run of one class.
    join = may_join and criterion.joins_pure_runs and limits.min_rows <= 1 and options.monotone is None
    target = table.target
    line = make_line(column, target, join, special, clock.look if may_stop else lambda: False)
    apart = line.special[line.special.any(axis=1)]
    if len(special) >= limits.max_parts:
        raise ValueError(
            f"column {column.name!r} has {len(special)} special codes, each a part of its own; max_parts="
            f"{limits.max_parts} leaves none for the intervals"
        )
    # Special codes without rows count as parts.
    limits = limits._replace(max_parts=limits.max_parts - (len(special) - len(apart)))
    p, facts = prepare(criterion, table.problem, numerical_values(int(line.atoms.values.sum()) + len(apart)))
    ones = np.ones(len(apart), dtype=np.int32)
    start = gap_ends(line.atoms) if target.has_unlabelled else None
    task = Task(line.atoms, Setting(p, facts, Frozen()), type(criterion), limits, clock, start)
    task = task.set_apart(alone(apart.astype(line.atoms.counts.dtype), ones, target.n_classes))
    return Intervals(task, line, special, apart)


def codes_alone(criterion: Criterion, intervals: Intervals) -> Partitioning:
    """Partition of a column whose rows all hold special codes: one part per code, and an interval without rows."""
    p, facts, apart = intervals.task.setting.p, intervals.task.setting.variable, intervals.apart
    cost = price_one_variable(criterion, p, facts, apart, np.ones(len(apart), dtype=np.int64))
    return Partitioning(np.zeros(1, dtype=np.int64), cost, True, Proof(ALL, cost))


def best_monotone(task: Task, direction: str, has_missing: bool) -> Partitioning:
    """Search the cheapest monotone partition; missing values (first atom) join the lowest interval or are a part."""
    found = []
    for way in ("increasing", "decreasing") if direction == "auto" else (direction,):
        found.append(monotone_optimum(task, way))
        n_missing, n_rows = int(task.atoms.rows[0]), int(task.atoms.rows.sum())
        enough = min(n_missing, n_rows - n_missing) >= task.limits.min_rows
        if has_missing and enough and task.n_atoms > 1 and task.limits.max_parts > 1:
            rest = replace(task, atoms=tail(task.atoms, 1)).set_apart(head(task.atoms, 1))
            others = monotone_optimum(rest, way)
            found.append(others._replace(starts=np.append(0, others.starts + 1)))
    best = min(found, key=lambda partitioning: partitioning.cost)
    proofs = [partitioning.proof for partitioning in found if partitioning.proof is not None]
    lowest = min((proof.lowest for proof in proofs), default=best.cost)
    proof = Proof(ALL, min(lowest, best.cost)) if len(proofs) == len(found) else None
    return best._replace(proven=all(partitioning.proven for partitioning in found), proof=proof)


def _null_cost(criterion: Criterion, p: Any, facts: Variable, table: Table) -> float:
    """Cost of a single part with all rows, special codes included."""
    class_rows = table.problem.class_rows
    by_code = np.append(class_rows, table.problem.n_rows - class_rows.sum())[None, :]
    return price_one_variable(criterion, p, facts, by_code, np.array([facts.n_values]))


def intervals_of(column: Numbers, intervals: Intervals, target: Target, found: Partitioning) -> Partition:
    """Make the partition of `column` into the intervals `found` and its special codes."""
    line = intervals.line
    if line.n_atoms:
        rows = rows_of_runs(rows_by_code(line.atoms, target), found.starts)
    else:
        rows = np.zeros((1, target.n_codes), dtype=np.int64)  # an empty interval for values that are no codes
    counts, unlabelled = labelled_apart(np.concatenate([rows, line.special]), target)
    bounds = line.bounds(found.starts, column.type)
    return interval_partition(column, bounds, intervals.special, counts, line.has_missing, unlabelled)


def rows_of_runs(by_code: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows by code of the target of the parts that begin at atoms `starts`, given those of each atom."""
    if by_code.size < MANY_COUNTS:
        return np.asarray(np.add.reduceat(by_code, starts, axis=0, dtype=np.int64))
    rows = np.zeros((len(starts), by_code.shape[1]), dtype=np.int64)
    bind(add_up)(by_code, starts, rows)
    return rows


def special_codes(column: Numbers, options: Options) -> NDArray[Any]:
    """Special codes of a column, in the type of its values."""
    return encode_special(options.special.get(column.name, ()), column)


def priced(column: Column, table: Table, criterion: Criterion, partition: Partition) -> Found:
    """Fill a partition of the user's own with the rows of the table, and price it; empty parts cost nothing."""
    parts = partition.part_of_encoded(column, "error")
    n_parts = partition.n_parts
    rows = table.target.by_code(parts, n_parts)
    values, known = value_facts(column, table, partition)
    p, facts = prepare(criterion, table.problem, known)
    cost = price_one_variable(criterion, p, facts, rows, values)
    null_cost = _null_cost(criterion, p, facts, table)
    filled = with_rows(partition, column, known.rows, *labelled_apart(rows, table.target))
    return Found(filled, cost, null_cost, False, "given", criterion)


def with_rows(
    partition: Partition,
    column: Column,
    value_rows: NDArray[np.int64],
    counts: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
) -> Partition:
    """Fill a partition of the user's own with counts; `value_rows` are the rows of each value, if categorical."""
    filled = replace(partition, counts=counts, unlabelled=unlabelled)
    if isinstance(column, Numbers) and column.missing is not None and partition.missing is None:
        filled = replace(filled, missing=0)
    if isinstance(column, Categories):
        of_values = rows_in_groups(partition.groups, column.values, value_rows)
        filled = replace(filled, default=default_group(partition.groups, filled.rows), value_rows=of_values)
    return filled


def value_facts(column: Column, table: Table, partition: Partition) -> tuple[NDArray[np.int64], ColumnValues]:
    """Number of distinct values of each part, and the facts on the values of the column for a criterion."""
    if isinstance(column, Categories):
        distinct: Column = column._replace(codes=np.arange(len(column.values), dtype=np.int32))
        known = categorical_values(count_rows(column.codes, table.target.weights, len(column.values)))
    else:
        distinct = _distinct(column)
        known = numerical_values(distinct.n_rows)
    values = np.bincount(partition.part_of_encoded(distinct), minlength=partition.n_parts)
    return values.astype(np.int64), known


def _distinct(column: Numbers) -> Numbers:
    """Column with each value once, and one missing value if there are any."""
    missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    values = np.unique(column.values[~missing])
    n_missing = int(missing.any())
    values = np.concatenate([values, column.values[missing][:n_missing]])
    return column._replace(values=values, missing=np.arange(len(values)) >= len(values) - n_missing)
