"""Verify a model on the data it was made from: its counts, its cost, and its proof of optimality.

Counts and cost are computed anew from the rows. The runs of the certificate are repeated on the mirrored column, from
the last value to the first, so that every block, chunk and start of the search differs: by the plain recursion over all
pairs of bounds if these are few enough, else by branch and bound. Simple arithmetic on the results of the runs then
gives the proven bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gridmodl.clock import Clock
from gridmodl.data.columns import Column
from gridmodl.data.counts import Counts
from gridmodl.data.frames import Name
from gridmodl.data.numbers import Numbers
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN, MissingTarget
from gridmodl.fit.build import encoded_column, of_partitions, parts_of
from gridmodl.fit.column.groups import value_tasks
from gridmodl.fit.column.intervals import interval_tasks
from gridmodl.fit.density import column_limits
from gridmodl.fit.lazy.column import counted_at, counted_model
from gridmodl.fit.lazy.data import LazyData, Reader, counted_data
from gridmodl.fit.lazy.rare import join_others
from gridmodl.fit.lazy.recount import Recount
from gridmodl.fit.models import best_model, best_partition
from gridmodl.fit.options import Options
from gridmodl.fit.periods import broken_periods
from gridmodl.model.file import ModelFileError
from gridmodl.model.file.checks import check_certificate
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.plugins import MissingCriterion, criterion_of_model
from gridmodl.search import Search
from gridmodl.search.column.exact import AllBounds, Branches, can_prune
from gridmodl.search.column.shares import is_enough, share_line
from gridmodl.search.moves import Limits, is_cheaper
from gridmodl.search.proof import LIMITED, SLOPES, SPANS, Certificate
from gridmodl.search.rules import ANY_ORDER, NO_RULES, keeps_order
from gridmodl.search.task import Task
from gridmodl.spelling import check_columns, did_you_mean
from gridmodl.terms import PROBLEMS, Criterion

# Relative difference below which two costs are equal. It is wider than the tolerance for rounding within a search,
# `gridmodl.search.moves.TOLERANCE`: logarithms differ between machines, and sums depend on their order.
SAME = 1e-9
PLAIN_PRICES = 5e8  # limit on pairs of bounds * classes * runs for the plain recursion; this many take some seconds


@dataclass(frozen=True)
class Verification:
    """Result of `verify`; its truth value is ``valid``.

    Attributes
    ----------
    valid : bool
        Whether the counts, the costs and the proof of the model are right.
    reason : str
        What is wrong, or how the model was checked.
    """

    valid: bool
    reason: str

    def __bool__(self) -> bool:
        return self.valid


def verify(
    model: Model,
    data: Any,
    target: Any = None,
    *,
    weights: Any = None,
    unlabelled: Any = NOT_GIVEN,
    placement: str | None = None,
    stable_over: Any = None,
) -> Verification:
    """Verify the counts, the cost and the proof of a model on the data it was made from.

    Parameters
    ----------
    model : Model
        A model of this session or from a file.
    data, target, weights, unlabelled, placement, stable_over
        As they were passed to `optimize` or `optimize_each`. A lazy frame is counted again, by the bounds of the model.

    Returns
    -------
    Verification
        True or false, with the reason. The rows of each part and the cost are computed anew. If the model has a
        certificate, its runs are repeated on the mirrored column. That takes about as long as the proof took, or some
        seconds if all pairs of bounds can be priced instead.

    Raises
    ------
    ValueError
        If the model cannot be checked here: its criterion comes from a plugin that is not installed.

    Examples
    --------
    >>> import gridmodl
    >>> from dataclasses import replace
    >>> x, y = [1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> model = gridmodl.optimize(x, y)
    >>> bool(gridmodl.verify(model, x, y))
    True
    >>> gridmodl.verify(replace(model, cost=1.0), x, y).reason
    'the cost is 7.495541943884257, the model says 1.0'
    """
    if not isinstance(model, Model):
        raise TypeError(f"verify takes a gridmodl.Model, such as models[name], got {type(model).__name__}")
    if model.stability is not None and stable_over is None:
        raise ValueError(
            f"the model is stable over the periods of {model.stability.over!r}; pass them as stable_over=, as to "
            "optimize"
        )
    needs_target = len(model.partitions) == 1 or PROBLEMS[model.problem].has_target
    kind = _target_kind(model, needs_target)
    counted = counted_data(data, target, weights, kind, unlabelled, placement, needs_target=needs_target)
    if counted is not None:
        return _verify_counted(model, *counted)
    table = table_for(model, data, target, weights, unlabelled, placement, stable_over)
    try:
        criterion = _criterion(model)
        wrong = wrong_facts(model, table, criterion)
    except MissingCriterion:
        raise
    except (ValueError, TypeError) as error:  # parts or options that do not fit the data
        return Verification(False, str(error))
    wrong = wrong or _wrong_stability(model, table, criterion) or _wrong_proof(model, table, criterion)
    return Verification(False, wrong) if wrong else Verification(True, _how(model))


def table_for(
    model: Model, data: Any, target: Any, weights: Any, unlabelled: Any, placement: str | None, stable_over: Any = None
) -> Table:
    """Table of the data, with the columns of the model only; raise ValueError if the columns do not fit."""
    kind = _target_kind(model, target is not None)
    table = read_table(data, target, weights, kind, unlabelled, placement, stable_over=stable_over)
    table = _with_event(table, model)
    absent = [name for name in model.partitions if name not in table.names]
    if absent:
        raise ValueError(
            f"the model has a column {absent[0]!r}; the data has {', '.join(map(repr, table.names))}"
            f"{did_you_mean(absent[0], table.names)}"
        )
    if len(model.partitions) == 1:
        return table.only(next(iter(model.partitions)))
    if len(table.names) > len(model.partitions):
        raise ValueError(
            f"the model has the columns {', '.join(map(repr, model.partitions))}: pass only these, and the target"
        )
    return table


def _criterion(model: Model) -> Criterion:
    """The criterion of a model; raise MissingCriterion if it is not installed."""
    try:
        return criterion_of_model(model)
    except MissingCriterion as error:
        raise MissingCriterion(f"the model cannot be checked here: {error}") from None


def _target_kind(model: Model, has_target: bool) -> str | None:
    """Kind of the target of a model, as target_kind= says it."""
    kind = PROBLEMS[model.problem]
    if kind.target_is_partitioned:
        return "numerical" if kind.target_is_numerical else "grouped"
    return "classes" if has_target else None


def _with_event(table: Table, model: Model) -> Table:
    """The table with the event of the model, as the target alone does not say which class the user named."""
    if table.target.event == model.event_index:
        return table
    return table._replace(target=table.target._replace(event=model.event_index))


def _verify_counted(model: Model, data: LazyData | Counts, read: Reader) -> Verification:
    """Verify a model on counts of a column, in which no span holds a bound of the model, or of the cells of a grid."""
    names = data.names if isinstance(data, LazyData) else list(data)
    check_columns("the model", model.partitions, names)
    if len(model.partitions) > 1 and isinstance(data, LazyData):
        return _verify_cells(model, data, read)
    if len(model.partitions) > 1:
        raise ValueError("the model has several columns; give the rows or a lazy frame, as counts are of one at a time")
    (name,) = model.partitions
    try:
        criterion = _criterion(model)
        found = counted_at(data, name, _options(model, criterion), parts_of(model, name, data.target))
        table = _with_event(found.table(read), model)
        wrong = wrong_facts(model, table, criterion)
    except (MissingTarget, MissingCriterion):  # as for rows in memory
        raise
    except (ValueError, TypeError) as error:  # parts or options that do not fit the data
        return Verification(False, str(error))
    if wrong or (model.certificate is None and not model.proven):
        return Verification(False, wrong) if wrong else Verification(True, _how(model))
    if found.resolution or model.resolution:
        again = _certificate_again(model, data, read, criterion)
        if again is None:
            return Verification(
                False,
                "the counts and the cost are right; the proof cannot be repeated where values were counted in spans of "
                f"up to {found.resolution} rows: verify on the collected column",
            )
        if model.certificate is not None and is_cheaper(again.lowest, model.certificate.lowest):
            return Verification(
                False, f"spans prove no cost above {again.lowest!r}, the certificate says {model.certificate.lowest!r}"
            )
        return Verification(True, _how(model))
    wrong = _wrong_proof(model, table, criterion)
    return Verification(False, wrong) if wrong else Verification(True, _how(model))


def _verify_cells(model: Model, data: LazyData, read: Reader) -> Verification:
    """Verify a model of several columns on the cells of a lazy frame, counted again."""
    data = data._replace(names=[name for name in data.names if name in model.partitions])
    try:
        criterion = _criterion(model)
        joined = join_others(data, model.partitions)
        of_frame = replace(model, partitions=joined.in_frame(model.partitions))
        recount = Recount(joined.data, _options(model, criterion), of_frame)
        table, _ = recount.table(recount.partitions(), read)
        wrong = wrong_facts(model, _with_event(table, model), criterion)
    except (MissingTarget, MissingCriterion):
        raise
    except (ValueError, TypeError) as error:  # parts or options that do not fit the data
        return Verification(False, str(error))
    return Verification(False, wrong) if wrong else Verification(True, _how(model))


def _certificate_again(model: Model, data: LazyData | Counts, read: Reader, criterion: Criterion) -> Certificate | None:
    """Certificate of a column that is counted and searched again as the model was; None if there is none like its own.

    A model is proven where every value was counted in the end; a model with spans has a certificate of spans.
    """
    if model.certificate is None or (model.certificate.method == SPANS) != (model.resolution > 0):
        return None
    (name,) = model.partitions
    options = _options(model, criterion)._replace(search=Search("auto"), min_rows=None)

    def search(table: Table) -> Model:
        return best_model(_with_event(table, model), name, options, 0, Clock())

    again = counted_model(data, name, options, read, search)
    return again.certificate if bool(again.resolution) == bool(model.resolution) else None


def _options(model: Model, criterion: Criterion) -> Options:
    """Options of the search that the certificate of the model is for."""
    certificate = model.certificate or Certificate("", 0.0)
    return Options(
        criterion,
        Search("exact"),
        {name: partition.column_kind for name, partition in model.partitions.items()},
        {name: partition.special_parts for name, partition in model.partitions.items() if partition.n_special},
        monotone=certificate.monotone,
        max_parts=certificate.max_parts,
        min_rows=certificate.min_rows or None,
        missing=certificate.missing,
        min_events=np.array(certificate.min_events, dtype=np.int64) if certificate.min_events else None,
        min_difference=certificate.min_difference or None,
        fixed=np.array(certificate.fixed) if certificate.fixed else None,
        allowed=None if certificate.allowed is None else np.array(certificate.allowed),
        min_period_rows=None if model.stability is None else model.stability.min_period_rows,
    )


def wrong_facts(model: Model, table: Table, criterion: Criterion) -> str | None:
    """Say what is wrong with the rows, classes or costs of the model; None if nothing is."""
    options = Options(criterion, kinds=_options(model, criterion).kinds)
    again = of_partitions(table, model.all_partitions, options, Clock())
    if again.n_rows != model.n_rows:
        return f"the data has {again.n_rows} rows, the model {model.n_rows}"
    if list(again.classes) != list(model.classes):
        return f"the data has the classes {list(again.classes)}, the model {list(model.classes)}"
    for name, partition in again.all_partitions.items():
        old = model.partition(name)
        if not np.array_equal(partition.counts, old.counts) or not _same(partition.unlabelled, old.unlabelled):
            return f"the rows in the parts of {name!r} differ from those of the model"
    if not all(map(_same, again.cells[1:], model.cells[1:])):
        return "the rows in the cells differ from those of the model"
    if again._target_quantiles is not None and not _same_target(again, model):
        return "the means or quantiles of the target differ from those of the model"
    for what, found, stated in (("cost", again.cost, model.cost), ("null cost", again.null_cost, model.null_cost)):
        if not math.isclose(found, stated, rel_tol=SAME, abs_tol=SAME):
            return f"the {what} is {found!r}, the model says {stated!r}"
    return None


def _same_target(again: Model, model: Model) -> bool:
    """Whether the statistics of the target are equal; where it was counted in spans, its means are."""
    pairs = zip(again._target_quantiles or (), model._target_quantiles or (None, None), strict=True)
    return all(_same(*pair) for pair in list(pairs)[: 1 if model.resolution or again.resolution else None])


def _same(one: Any, other: Any) -> bool:
    """Whether two arrays are equal up to rounding; None equals only None."""
    if one is None or other is None:
        return one is other
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=SAME, atol=0.0, equal_nan=True))


def _wrong_stability(model: Model, table: Table, criterion: Criterion) -> str | None:
    """Say which period breaks the order of event rates of the model, which says that none does; None if none does."""
    stability = model.stability
    if stability is None:
        return None
    rows, (name,) = table.priced_rows(), model.partitions
    if list(stability.periods) != list(rows.periods):
        return f"the data has the periods {list(rows.periods)}, the model {list(stability.periods)}"
    options = _options(model, criterion)
    partition = replace(model.partitions[name], unlabelled=None)
    broken = broken_periods(partition, encoded_column(rows, name, options), rows, options.of(name))
    if broken:
        one = broken[0]
        return (
            f"in {one.period} the event rate of {one.low} is {one.low_rate:.4g}, that of {one.high} {one.high_rate:.4g}"
        )
    return None


def _wrong_proof(model: Model, table: Table, criterion: Criterion) -> str | None:
    """Say what is wrong with the proof of the model; None if nothing is."""
    certificate = model.certificate
    if certificate is None:
        return "the model says that it is proven, but has no certificate" if model.proven else None
    try:
        check_certificate(model)
    except ModelFileError as error:
        return str(error)
    rows = table.priced_rows()
    options = _options(model, criterion)
    (name,) = model.partitions
    column = encoded_column(rows, name, options)
    limits = column_limits(options.of(name), rows.problem.n_rows, criterion)
    wrong = _wrong_limits(model, name, limits)
    if wrong:
        return wrong
    clock = Clock()
    has_runs, has_widths = bool(certificate.slopes) or certificate.method == SLOPES, rows.problem.flags.has_widths
    tasks = _lines(column, rows, criterion, options, limits, clock, has_runs)
    if tasks and tasks[0].n_atoms > 0:
        if len(tasks) > 1 and has_runs:
            return "the runs of the certificate are of one search; with missing values apart or not, there are two"
        wrong = _wrong_runs(certificate, tasks[0], has_widths) if has_runs else None
        if wrong or certificate.method == SLOPES:
            return wrong
        again = [_mirrored_program(task, task.n_atoms).solve() for task in tasks]
        cost, is_proven = min(one.cost for one in again), all(one.proven for one in again)
    else:
        try:
            found = best_partition(column, rows, options, clock)
        except ValueError as error:  # no exact search takes such a column, so nothing can have been proven
            return f"the search cannot be done again: {error}"
        cost, is_proven = found.cost, found.proven
        if not model.proven and not is_proven and found.certificate is not None:  # a lower bound alone
            cost, is_proven = found.certificate.lowest, True
    if clock.stopped:
        raise KeyboardInterrupt  # half a check is none
    if not is_proven:
        return "the search, done again, proves nothing for this column"
    if cost < certificate.lowest - SAME * (1.0 + abs(certificate.lowest)):
        return f"a cost of {cost!r} is possible, the certificate says at least {certificate.lowest!r}"
    return None


def _wrong_limits(model: Model, name: Name, limits: Limits) -> str | None:
    """Say which limit of the certificate the partition breaks; None if it keeps all."""
    partition, certificate = model.partitions[name], model.certificate
    is_free = _is_missing_alone(partition) and certificate is not None and certificate.missing != LIMITED
    # With placement="median" unlabelled rows are not priced; values that only they have are one more part.
    priced = partition.rows if PROBLEMS[model.problem].has_unlabelled else partition.counts.sum(axis=1)
    rows, is_unpriced = (
        of_parts[: partition.n_parts - partition.n_special]
        for of_parts in (priced, (priced == 0) & (partition.rows > 0))
    )
    if is_free and partition.missing is not None:
        rows, is_unpriced = (np.delete(of_parts, partition.missing) for of_parts in (rows, is_unpriced))
    n_parts = int(np.count_nonzero(~is_unpriced))
    widths = partition.widths
    if widths is not None and limits.min_rows > 0 and np.any((rows == 0) & (widths[: len(rows)] > 0)):
        return f"a part of {name!r} has no rows, the certificate is for at least {limits.min_rows}"
    rows = rows[rows > 0]
    if n_parts > limits.max_parts:
        besides = " besides special ones and missing values" if n_parts < partition.n_parts else ""
        return f"column {name!r} has {n_parts} parts{besides}, the certificate is for at most {limits.max_parts}"
    if certificate is not None and certificate.missing == "apart" and partition.missing is not None:
        is_shared = len(partition.bounds) > 0 and not partition.is_missing_apart
        if len(partition.groups[partition.missing]) > 1 if partition.kind == "categorical" else is_shared:
            return f"the missing values of {name!r} share a part, and the certificate is for a part of their own"
    if (len(rows) > 1 or (is_free and certificate is not None and certificate.missing == "auto")) and np.any(
        rows < limits.min_rows
    ):
        return f"a part of {name!r} has {rows.min()} rows, the certificate is for at least {limits.min_rows}"
    return None if certificate is None else _wrong_rules(model, partition, certificate)


def _is_missing_alone(partition: Partition) -> bool:
    """Whether the missing values are a part of their own."""
    return partition.is_missing_apart or (None,) in partition.groups


def _wrong_rules(model: Model, partition: Partition, certificate: Certificate) -> str | None:
    """Say which limit besides those on parts and rows the partition breaks; None if it keeps all."""
    name, bounds = partition.name, partition.bounds.tolist()
    counts = partition.counts[: partition.n_parts - partition.n_special]
    is_alone = _is_missing_alone(partition) and len(counts) > 1  # else they are the one part that is always allowed
    if is_alone and partition.missing is not None:
        counts = np.delete(counts, partition.missing, axis=0)
    is_one = len(counts) == 1 and (not is_alone or certificate.missing == "apart")  # which is always allowed
    if certificate.min_events and not is_one and np.any(counts < certificate.min_events):
        return f"a part of {name!r} has fewer rows of a class than the certificate is for, {certificate.min_events}"
    fixed, allowed = (_places(given, partition) for given in (certificate.fixed, certificate.allowed or ()))
    absent = [bound for bound in fixed if bound not in bounds]
    if absent:
        return f"column {name!r} has no bound {absent[0]}, which the certificate is for"
    if certificate.allowed is not None:
        others = [bound for bound in bounds if bound not in (*allowed, *fixed)]
        if others:
            return f"column {name!r} has the bound {others[0]}, which the certificate does not allow"
    if certificate.monotone is None and certificate.min_difference == 0.0:
        return None
    if model.event_index is None:
        return "the certificate speaks of shares of an event, and the model has none"
    scores, rows = counts[:, model.event_index], counts.sum(axis=1)
    either = ANY_ORDER if certificate.order is None else (certificate.order,)
    orders = either if certificate.monotone == "auto" else (certificate.monotone,)
    if not any(keeps_order(scores, rows, order, certificate.min_difference) for order in orders):
        return f"the shares of {name!r} do not keep the limits of the certificate{_among(certificate)}"
    return None


def _places(given: tuple[Any, ...], partition: Partition) -> list[Any]:
    """Bounds of a certificate as those of the partition; of an ordinal column, places of levels."""
    if partition.kind != "ordinal":
        return np.array(given).tolist()
    return [list(partition.levels).index(level) for level in given]


def _lines(
    column: Column, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock, by_runs: bool
) -> list[Task]:
    """Tasks of the intervals, or of the values sorted by share, that were searched; empty if there are none.

    Runs are of limits on parts alone, whatever the limits on neighbours: a proof has none, or is one `by_runs`.
    """
    if isinstance(column, Numbers):
        ways = interval_tasks(column, table, criterion, options, limits, clock, may_stop=False)
        if ways[0].has_neighbours and (not by_runs or len(ways[0].orders) > 1):
            return []
        tasks = [replace(way.task, rules=way.task.rules.windows_only()) for way in ways]
        return [task for task in tasks if task.n_atoms == 0 or task.can_keep_fixed]
    tasks = [way.task for way in value_tasks(column, table, criterion, options, limits, clock)]
    if by_runs:
        tasks = [replace(task, rules=NO_RULES) for task in tasks]
    if not all(task.n_atoms and task.rules.is_nothing and is_enough(task) for task in tasks):
        return []
    lines = [share_line(task) for task in tasks]
    return [line.task for line in lines] if all(line.is_sorted for line in lines) else []


def _mirrored_program(task: Task, n_runs: int) -> AllBounds:
    """Program over the mirrored line: all pairs of bounds if `n_runs` such runs are quick, else branch and bound."""
    mirrored = task.mirrored()
    is_plain = task.n_atoms**2 * task.atoms.counts.shape[1] * n_runs <= PLAIN_PRICES
    return (AllBounds if is_plain or not can_prune(task) else Branches)(mirrored, mirrored.base, math.inf)


def _wrong_runs(certificate: Certificate, task: Task, has_widths: bool) -> str | None:
    """Repeat each run on the mirrored line and say what is wrong; None if nothing is.

    If the runs alone are the proof (method SLOPES), the totals of the certificate must prove its lowest cost. Parts
    of a density have widths.
    """
    program = _mirrored_program(task, len(certificate.slopes))
    slopes = program.slopes
    # A slope beyond all that parts can cost proves nothing more, and its rounding error could hide a part.
    steepest = (
        1.0 + max(map(abs, slopes.known.values())) + float(np.abs(slopes.shared[np.isfinite(slopes.shared)]).max())
    )
    if has_widths:  # one part costs next to nothing, and narrow ones minus as much as their rows are dense
        steepest += abs(task.price_of(np.arange(task.n_atoms))) + task.n_atoms * abs(slopes.known[1])
    for slope, total in zip(certificate.slopes, certificate.totals, strict=True):
        if not abs(slope) <= steepest:
            return f"the slope {slope!r} is larger than all that parts can cost"
        found = program.run(slope)
        if found is None:
            raise KeyboardInterrupt  # half a check is none
        if is_cheaper(found[1], total):
            return f"with {slope!r} more for each part, parts can cost {found[1]!r}; the certificate says {total!r}"
        slopes.note(slope, min(total, found[1]))
    proven = float(slopes.floors.min())
    if certificate.method == SLOPES and is_cheaper(proven, certificate.lowest):
        return f"the totals prove no cost above {proven!r}, the certificate says {certificate.lowest!r}"
    return None


def _how(model: Model) -> str:
    """Say how a valid model was checked."""
    if model.certificate is None:
        return "the cost is right; the model says nothing of the optimum"
    limits = _among(model.certificate)
    if model.certificate.method == SPANS:
        return f"the cost is right, and the lower bound, counted and searched again, is not higher{limits}"
    if model.certificate.method == SLOPES:
        return f"the cost is right, and so is each run of the certificate, on the mirrored column{limits}"
    return f"the cost is right, and the search, done again, found no lower one{limits}"


def _among(certificate: Certificate) -> str:
    """Limits of the certificate, as the end of a sentence; empty if there are none."""
    limits = limits_of(certificate)
    return f", among partitions with {' and '.join(limits)}" if limits else ""


def limits_of(certificate: Certificate) -> list[str]:
    """Limits of the certificate, each in words."""
    limits = [f"at most {certificate.max_parts} parts"] if certificate.max_parts is not None else []
    limits += [f"at least {certificate.min_rows} rows in each part"] if certificate.min_rows > 1 else []
    order = f"{certificate.monotone}: {certificate.order}" if certificate.order else certificate.monotone
    limits += [f"shares that are monotone ({order})"] if order is not None else []
    limits += [f"rows of the classes of at least {certificate.min_events}"] if certificate.min_events else []
    least = certificate.min_difference
    limits += [f"shares of neighbours that differ by at least {least}"] if least > 0.0 else []
    limits += ["missing values in a part of their own"] if certificate.missing == "apart" else []
    limits += ["the fixed bounds"] if certificate.fixed else []
    limits += ["allowed bounds only"] if certificate.allowed is not None else []
    limits += ["the same order of event rates in every period"] if certificate.min_period_rows is not None else []
    return limits
