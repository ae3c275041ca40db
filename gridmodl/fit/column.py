"""Fit one column: make its atoms, search the best partition, or price a partition of the user's own."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import Atoms, Target, alone, gap_ends, head, make_values, rows_by_code, tail
from gridmodl.data.columns import Categories, Column, count_rows
from gridmodl.data.frames import Name
from gridmodl.data.line import Line, add_up, make_line
from gridmodl.data.numbers import Numbers, Special, encode_codes, encode_special
from gridmodl.data.table import Table
from gridmodl.fit.density import line_of_density, null_widths_and_rows, of_widths, widths_and_rows, with_widths
from gridmodl.fit.options import ColumnOptions, Options
from gridmodl.jit.template import bind
from gridmodl.model.given import special_groups
from gridmodl.model.labels import counted
from gridmodl.model.partition import Partition, group_partition, interval_partition, rows_in_groups
from gridmodl.model.policy import STRICT
from gridmodl.plugins import criterion_for
from gridmodl.pricing import ColumnValues, categorical_values, check_cost, numerical_values, prepare, price_one_variable
from gridmodl.search import Search, run
from gridmodl.search.column.driver import group_within_rules
from gridmodl.search.column.limited import limited_optimum
from gridmodl.search.moves import NO_LIMIT, Frozen, Limits, Setting, is_cheaper
from gridmodl.search.proof import ALL, LIMITED, Certificate, Proof
from gridmodl.search.rules import NO_RULES, NONE, Rules
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
    orders: tuple[str | None, ...]  # of the scores: the cheapest partition in one of these orders is searched
    line: Line
    is_missing_apart: bool  # whether the task has the missing values, the first atom of the line, as a part apart
    special: Special  # special codes of the user
    apart: NDArray[np.int64]  # rows of the special parts that occur, by code of the target
    apart_values: NDArray[np.int32]  # number of codes that occur in each of them

    @property
    def has_neighbours(self) -> bool:
        """Whether a limit compares neighbours."""
        return self.orders != (None,) or self.task.rules.has_neighbours


def certificate_of(
    proof: Proof | None, limits: Limits, column: Column, options: ColumnOptions, min_events: tuple[int, ...] = ()
) -> Certificate | None:
    """Make the certificate of a proof within the limits of a column; None if there is no proof."""
    if proof is None:
        return None
    slopes, totals = zip(*proof.runs, strict=True) if proof.runs else ((), ())
    certificate = Certificate(
        proof.method, proof.lowest, slopes, totals,
        max_parts=None if limits.max_parts == NO_LIMIT else limits.max_parts,
        min_rows=limits.min_rows,
        missing=options.missing,
        min_events=min_events,
        min_difference=float(options.min_difference or 0.0),
    )  # fmt: skip
    if not isinstance(column, Numbers):
        return certificate
    return replace(
        certificate,
        monotone=options.monotone,
        fixed=_as_given(column, "fixed", options.fixed),
        allowed=None if options.allowed is None else _as_given(column, "allowed", options.allowed),
    )


def _as_given(column: Numbers, what: str, given: Any) -> tuple[Any, ...]:
    """Bounds of the user, ascending, in the type of the column's bounds; levels of an ordinal column."""
    bounds = given_bounds(column, what, given)
    return tuple(bounds if column.levels is None else [column.levels[int(place)] for place in bounds])


def best_partition(column: Column, table: Table, options: Options, clock: Clock) -> Found:
    """Search the best partition of one column."""
    criterion = criterion_for(options.criterion, table.problem.kind)
    limits = options.of(column.name).limits(table.problem.n_rows)
    if isinstance(column, Categories):
        return _best_groups(column, table, criterion, options, limits, clock)
    return _best_intervals(column, table, criterion, options, limits, clock)


class ValuesTask(NamedTuple):
    """Task of grouping the values of a categorical column, and the values that are set apart."""

    task: Task
    kept: NDArray[np.int64]  # number of the value of each atom of the task
    special: tuple[tuple[Any, ...], ...]  # special groups of the user
    labels: NDArray[np.int64]  # of each value that is apart, the number of its special group, or MISSING; else FREE
    apart: NDArray[np.int64]  # rows of the parts that are apart and occur, by code of the target
    apart_values: NDArray[np.int32]  # number of values of each of them
    rows: NDArray[np.int64]  # rows of each value


FREE, MISSING = -1, -2


def _best_groups(
    column: Categories, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock
) -> Found:
    """Search the best groups of a categorical column."""
    of_column = options.of(column.name)._replace(monotone=None, fixed=None, allowed=None)
    ways = value_tasks(column, table, criterion, options, limits, clock)
    results = [_searched_groups(way, criterion, options.search) for way in ways]
    found, kind = joint_result([found for found, _ in results], len(ways)), results[0][1]
    values = ways[min(range(len(ways)), key=lambda i: results[i][0].cost)]
    task = ways[0].task
    if task.setting.frozen.n_apart:
        null_cost = _null_cost(criterion, task.setting.p, task.setting.variable, table)
    else:
        null_cost = check_cost(criterion, task.null().cost)
    partition = groups_of(column, values, table.target, found)
    partition = replace(partition, value_rows=rows_in_groups(partition.groups, column.values, values.rows))
    certificate = certificate_of(found.proof, limits, column, of_column, tuple(task.rules.min_counts.tolist()))
    return Found(partition, check_cost(criterion, found.cost), null_cost, found.proven, kind, criterion, certificate)


def _searched_groups(values: ValuesTask, criterion: Criterion, search: Search) -> tuple[Grouping, str]:
    """Best grouping of a task, and the name of the search."""
    if values.task.n_atoms == 0:
        return groups_alone(criterion, values), "exact"
    is_free = values.task.rules.is_nothing or min(values.task.n_atoms, values.task.limits.max_parts) == 1
    return run("groups", values.task, search) if is_free else group_within_rules(values.task, search)


def groups_alone(criterion: Criterion, values: ValuesTask) -> Grouping:
    """Grouping of a column whose values are all set apart."""
    p, facts = values.task.setting.p, values.task.setting.variable
    cost = price_one_variable(criterion, p, facts, values.apart, values.apart_values.astype(np.int64))
    return Grouping(np.empty(0, dtype=np.int64), cost, True, Proof(ALL, cost))


def value_tasks(
    column: Categories, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock
) -> list[ValuesTask]:
    """Tasks of which one has the best groups: missing values are a value like others, or a part of their own.

    The second task is needed only where a limit forbids a group of the missing values alone.
    """
    values = values_task(column, table, criterion, options, limits, clock)
    missing = options.of(column.name).missing
    task, first = values.task, column.values[0] is None and values.labels[0] == FREE
    if not first or missing == LIMITED or task.n_atoms < 2 or task.limits.max_parts < 2:
        return [values]
    is_needed = int(task.atoms.rows[0]) < task.limits.min_rows or not task.rules.is_nothing
    if not is_needed or not _rest_is_enough(task):
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
    check_apart(column.name, len(special), is_missing_apart, limits.max_parts, "groups" if len(kept) else None)
    n_absent = len(special) + is_missing_apart - len(numbers)  # special groups without rows count as parts
    limits = limits._replace(max_parts=max(1, limits.max_parts - n_absent))
    if len(numbers):
        ones = np.ones(len(kept), dtype=np.int32)
        atoms_apart = alone(apart.astype(atoms.counts.dtype), sizes, target.n_classes)
        free = alone(np.ascontiguousarray(by_code[kept]), ones, target.n_classes)
        task = Task(free, setting, type(criterion), limits, clock).set_apart(atoms_apart)
    else:
        task = Task(atoms, setting, type(criterion), limits, clock)
    given = given._replace(monotone=None, fixed=None, allowed=None)
    rules, _ = _rules_of(given, task.atoms, NONE, target, table.problem.class_rows)
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


def labelled_apart(by_code: NDArray[np.int64], target: Target) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Rows by class, and unlabelled rows; None if there are none."""
    counts = np.ascontiguousarray(by_code[:, : target.n_classes])
    return counts, by_code[:, -1].copy() if target.has_unlabelled else None


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


def _best_intervals(
    column: Numbers, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock
) -> Found:
    """Search the best intervals of a numerical column."""
    of_column = options.of(column.name)
    ways = interval_tasks(column, table, criterion, options, limits, clock, may_stop=True)
    searched = [(_searched_intervals(way, criterion, options.search, clock), way) for way in ways]
    results = [(result, way) for result, way in searched if result is not None]
    if not results:
        raise ValueError(_why_none(ways[0].task, column.name, of_column))
    found, kind = joint_result([found for (found, _), _ in results], len(ways)), results[0][0][1]
    intervals = min(results, key=lambda one: one[0][0].cost)[1]
    task = ways[0].task
    if intervals.line.n_atoms == 0 and table.problem.flags.has_widths:
        null_cost = found.cost
    elif task.setting.frozen.n_apart and not table.problem.flags.has_widths:
        null_cost = _null_cost(criterion, task.setting.p, task.setting.variable, table)
    else:
        null_cost = check_cost(criterion, task.null().cost)
    partition = intervals_of(column, intervals, table, found)
    certificate = certificate_of(found.proof, limits, column, of_column, tuple(task.rules.min_counts.tolist()))
    return Found(partition, check_cost(criterion, found.cost), null_cost, found.proven, kind, criterion, certificate)


def _searched_intervals(
    intervals: Intervals, criterion: Criterion, search: Search, clock: Clock
) -> tuple[Partitioning, str] | None:
    """Best partition of a task, and the name of the search; None if no partition keeps the limits."""
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

    A search that may cut anywhere tries both. Where a limit forbids a part of the missing values alone, or an order
    of the shares that they need not keep, a second task has them apart.
    """
    intervals = intervals_task(column, table, criterion, options, limits, clock, may_join, may_stop)
    task, is_limited = intervals.task, options.of(column.name).missing == LIMITED
    if intervals.is_missing_apart or not intervals.line.has_missing or task.n_atoms < 2 or task.limits.max_parts < 2:
        return [intervals]
    is_few = int(task.atoms.rows[0]) < task.limits.min_rows
    is_needed = intervals.has_neighbours or not task.rules.is_nothing or is_few
    if not is_needed or not _rest_is_enough(task) or (is_limited and is_few):
        return [intervals]
    return [intervals, missing_apart(intervals, table.target)]


def _rest_is_enough(task: Task) -> bool:
    """Whether all atoms but the first, as one part, have enough rows, in all and of each class."""
    atoms, least = task.atoms, task.rules.min_counts
    is_enough = int(atoms.rows[1:].sum()) >= task.limits.min_rows
    return is_enough and (len(least) == 0 or bool(np.all(atoms.counts[1:].sum(axis=0) >= least)))


def missing_apart(intervals: Intervals, target: Target) -> Intervals:
    """Same task with the missing values as a part of their own, which no limit but that on their number concerns."""
    task = intervals.task
    rest = tail(task.atoms, 1)
    start = gap_ends(rest) if target.has_unlabelled else None
    task = replace(task, atoms=rest, start=start, rules=task.rules.without_first()).set_apart(head(task.atoms, 1))
    return intervals._replace(task=task, is_missing_apart=True)


def joint_result(found: list[Any], n_searches: int) -> Any:
    """Cheapest result of several searches; searches without a result found that none is.

    It is proven if each of the others is, or at least that none of its partitions costs less than the cheapest result.
    """
    best = min(found, key=lambda one: one.cost)
    if n_searches == 1:
        return best
    proofs = [one.proof for one in found if one.proof is not None]
    lowest = min((proof.lowest for proof in proofs), default=best.cost)
    proof = Proof(ALL, min(lowest, best.cost)) if len(proofs) == len(found) else None
    beaten = [one.proven or (one.proof is not None and not is_cheaper(one.proof.lowest, best.cost)) for one in found]
    return best._replace(proven=all(beaten), proof=proof)


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
    of_column, target = options.of(column.name), table.target
    # With a limit on parts, the best bound may lie inside a run of one class.
    join = may_join and criterion.joins_pure_runs and limits.min_rows <= 1 and not of_column.has_rules
    may_stop &= of_column.fixed is None  # a single atom has no bounds
    line = make_line(column, target, join, special.codes, clock.look if may_stop else lambda: False)
    line, fixed = _with_bounds(line, column, of_column)
    has_widths = table.problem.flags.has_widths
    widths = np.empty(0, dtype=np.int64)
    if has_widths:
        line, fixed, widths = line_of_density(line, fixed, column, special.codes)
    code_occurs = np.asarray(line.special.any(axis=1), dtype=np.int64)
    line = line._replace(special=special.by_part(line.special))
    occurs = line.special.any(axis=1)
    apart, apart_values = line.special[occurs], special.by_part(code_occurs)[occurs].astype(np.int32)
    check_apart(column.name, special.n_parts, False, limits.max_parts, "intervals")
    # Special parts without rows count as parts.
    max_parts = limits.max_parts
    limits = limits._replace(max_parts=limits.max_parts - (special.n_parts - len(apart)))
    n_values = int(line.atoms.values.sum()) + int(apart_values.sum())
    p, facts = prepare(criterion, table.problem, numerical_values(n_values))
    start = gap_ends(line.atoms) if target.has_unlabelled else None
    rules, orders = _rules_of(of_column, line.atoms, fixed, target, table.problem.class_rows)
    atoms = of_widths(line.atoms, widths) if has_widths else line.atoms
    apart_atoms = alone(apart.astype(line.atoms.counts.dtype), apart_values, target.n_classes)
    if has_widths:  # masses, which have none
        apart_atoms = of_widths(apart_atoms, np.zeros(len(apart), dtype=np.int64))
        apart = np.column_stack([np.zeros(len(apart), dtype=np.int64), apart[:, 0]])
    task = Task(atoms, Setting(p, facts, Frozen()), type(criterion), limits, clock, start, rules)
    task = task.set_apart(apart_atoms)
    intervals = Intervals(task, orders, line, False, special, apart, apart_values)
    if options.of(column.name).missing != "apart" or not line.has_missing or line.n_atoms < 2:
        return intervals
    check_apart(column.name, special.n_parts, True, max_parts, "intervals")
    return missing_apart(intervals, target)


def check_apart(name: Name, n_special: int, is_missing_apart: bool, max_parts: int, others: str | None) -> None:
    """Raise ValueError if special parts and a part of missing values leave no part for the `others`, None for none."""
    n_apart = n_special + is_missing_apart
    if n_apart < max_parts or (others is None and n_apart == max_parts):
        return
    parts = [counted(n_special, "special part")] if n_special else []
    parts += ["a part of missing values (missing='apart')"] if is_missing_apart else []
    why = "allows fewer" if others is None else f"leaves none for the {others}"
    raise ValueError(f"column {name!r} has {' and '.join(parts)}; max_parts={max_parts} {why}")


def codes_alone(criterion: Criterion, intervals: Intervals) -> Partitioning:
    """Partition of a column whose rows all hold special codes: one part per code, and an interval without rows."""
    p, facts, apart = intervals.task.setting.p, intervals.task.setting.variable, intervals.apart
    cost = price_one_variable(criterion, p, facts, apart, intervals.apart_values.astype(np.int64))
    return Partitioning(np.zeros(1, dtype=np.int64), cost, True, Proof(ALL, cost))


def given_bounds(column: Numbers, what: str, given: Any) -> NDArray[Any]:
    """Bounds of the user in the type of the column's bounds, ascending."""
    bounds = bounds_of(column, what, given)
    return bounds.astype(column.type) if bounds.dtype.kind == "f" else bounds.view(column.type)


def bounds_of(column: Numbers, what: str, given: Any) -> NDArray[Any]:
    """Bounds of the user in the type of the column's values, ascending; dates may be texts."""
    if given is None:
        return np.empty(0, dtype=column.values.dtype)
    if column.type.kind == "M" and all(isinstance(one, str) for one in given):
        try:
            given = np.array(given, dtype="datetime64")
        except ValueError as error:
            raise ValueError(f"{what} of column {column.name!r} must be dates, got {given!r}") from error
    if len(given) == 0:
        return np.empty(0, dtype=column.values.dtype)
    return np.unique(encode_codes(list(given), column, f"{what} of column {column.name!r}"))


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
    texts = [str(bound) for bound in fixed.view(column.type) if column.type.kind in "mM"] or fixed.tolist()
    if column.levels is not None:
        texts = [repr(column.levels[int(place)]) for place in fixed]
    for i, (bound, cut) in enumerate(zip(texts, cuts.tolist(), strict=True)):
        if cut == 0:
            raise ValueError(f"fixed of column {name!r} has the bound {bound}, with no values of the data on one side")
        if i > 0 and cut == cuts[i - 1]:
            raise ValueError(
                f"fixed of column {name!r} has the bounds {texts[i - 1]} and {bound}, no value between them"
            )


def _rules_of(
    options: ColumnOptions, atoms: Atoms, fixed: NDArray[np.int64], target: Target, class_rows: NDArray[np.int64]
) -> tuple[Rules, tuple[str | None, ...]]:
    """Limits besides those on parts and rows, and the orders to try."""
    if not options.has_rules:
        return NO_RULES, (None,)
    orders = ("increasing", "decreasing") if options.monotone == "auto" else (options.monotone,)
    scores = NONE if target.event is None else atoms.counts[:, target.event].astype(np.int64)
    least = options.min_counts(class_rows, target.event)
    return Rules(None, float(options.min_difference or 0.0), scores, least, fixed), orders


def _why_none(task: Task, name: Name, options: ColumnOptions) -> str:
    """Sentence that says which limit no partition of a column can keep; it has fixed bounds, else one part does."""
    n_fixed, most = len(task.rules.fixed), task.limits.max_parts + task.setting.frozen.n_apart
    begin = f"column {name!r} has {counted(n_fixed, 'fixed bound')}"
    make, leave, these = ("make", "leave", "these") if n_fixed > 1 else ("makes", "leaves", "it")
    if n_fixed + 1 > task.limits.max_parts:
        n_parts = n_fixed + 1 + task.setting.frozen.n_apart
        return f"{begin}, which {make} {n_parts} parts; max_parts={most} allows fewer"
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
    return f"{begin}, and no partition with {these} was found that keeps {' and '.join(given)}"


def _null_cost(criterion: Criterion, p: Any, facts: Variable, table: Table) -> float:
    """Cost of a single part with all rows, special codes included."""
    class_rows = table.problem.class_rows
    by_code = np.append(class_rows, table.problem.n_rows - class_rows.sum())[None, :]
    return price_one_variable(criterion, p, facts, by_code, np.array([facts.n_values]))


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


def special_codes(column: Numbers, options: Options) -> Special:
    """Special codes of a column, in the type of its values."""
    return encode_special(special_of(column, options), column)


def special_of(column: Column, options: Options) -> Any:
    """Special values of a column as the user gave them; a list for all columns is for those of numbers."""
    given = options.of(column.name).special
    has_numbers = isinstance(column, Numbers) and column.levels is None and column.type.kind in "iuf"
    return () if given is None or not (has_numbers or isinstance(options.special, Mapping)) else given


def priced(column: Column, table: Table, criterion: Criterion, partition: Partition) -> Found:
    """Fill a partition of the user's own with the rows of the table, and price it; empty parts cost nothing."""
    parts = partition.part_of_encoded(column, STRICT)
    n_parts = partition.n_parts
    rows = table.target.by_code(parts, n_parts)
    values, known = value_facts(column, table, partition)
    p, facts = prepare(criterion, table.problem, known)
    if table.problem.flags.has_widths:
        return _priced_density(column, partition, rows, p, facts, criterion)
    cost = price_one_variable(criterion, p, facts, rows, values)
    null_cost = _null_cost(criterion, p, facts, table)
    filled = with_rows(partition, column, known.rows, *labelled_apart(rows, table.target))
    return Found(filled, cost, null_cost, False, "given", criterion)


def _priced_density(
    column: Column, partition: Partition, rows: NDArray[np.int64], p: Any, facts: Variable, criterion: Criterion
) -> Found:
    """Price the user's partition of a density; the null partition has the same masses."""
    assert isinstance(column, Numbers)  # noqa: S101  for mypy
    filled = with_widths(replace(partition, counts=rows), column)
    assert filled.n_values is not None  # noqa: S101  for mypy
    cost = price_one_variable(criterion, p, facts, widths_and_rows(filled), filled.n_values)
    null_cost = price_one_variable(criterion, p, facts, *null_widths_and_rows(filled))
    return Found(filled, cost, null_cost, False, "given", criterion)


def with_rows(
    partition: Partition,
    column: Column,
    value_rows: NDArray[np.int64],
    counts: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
) -> Partition:
    """Fill a partition of the user's own with counts; `value_rows` are the rows of each value, if categorical."""
    of_values = rows_in_groups(partition.groups, column.values, value_rows) if isinstance(column, Categories) else None
    return replace(partition, counts=counts, unlabelled=unlabelled, value_rows=of_values)


def with_missing(partition: Partition, column: Column, table: Table) -> Partition:
    """`partition` with the number of rows of `column` that have no value."""
    target = table.target
    if isinstance(column, Numbers):
        is_missing = column.missing
    else:
        is_missing = column.codes == column.values.index(None) if None in column.values else None
    if is_missing is None:
        return replace(partition, n_missing=table.n_missing)
    n_missing = np.count_nonzero(is_missing) if target.weights is None else target.weights[is_missing].sum()
    return replace(partition, n_missing=int(n_missing))


def value_facts(column: Column, table: Table, partition: Partition) -> tuple[NDArray[np.int64], ColumnValues]:
    """Number of distinct values of each part, and the facts on the values of the column for a criterion."""
    if isinstance(column, Categories):
        distinct: Column = column._replace(codes=np.arange(len(column.values), dtype=np.int32))
        known = categorical_values(count_rows(column.codes, table.target.weights, len(column.values)))
    else:
        distinct = _distinct(column)
        known = numerical_values(distinct.n_rows)
    values = np.bincount(partition.part_of_encoded(distinct, STRICT), minlength=partition.n_parts)
    return values.astype(np.int64), known


def _distinct(column: Numbers) -> Numbers:
    """Column with each value once, and one missing value if there are any."""
    missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    values = np.unique(column.values[~missing])
    n_missing = int(missing.any())
    values = np.concatenate([values, column.values[missing][:n_missing]])
    return column._replace(values=values, missing=np.arange(len(values)) >= len(values) - n_missing)
