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
from gridmodl.data.atoms import Atoms
from gridmodl.data.columns import Column
from gridmodl.data.frames import Name
from gridmodl.data.numbers import Numbers
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.build import encoded_column, of_partitions
from gridmodl.fit.column import best_partition, intervals_task, values_task
from gridmodl.fit.options import Options
from gridmodl.model.file import ModelFileError
from gridmodl.model.file.checks import check_certificate
from gridmodl.model.model import Model
from gridmodl.plugins import criterion_for, get_criterion
from gridmodl.search import Search
from gridmodl.search.column.exact import AllBounds, Branches, can_prune
from gridmodl.search.column.shares import is_enough, share_line
from gridmodl.search.moves import Limits, is_cheaper
from gridmodl.search.proof import SLOPES, Certificate
from gridmodl.search.task import Task
from gridmodl.spelling import did_you_mean
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
) -> Verification:
    """Verify the counts, the cost and the proof of a model on the data it was made from.

    Parameters
    ----------
    model : Model
        A model of this session or from a file.
    data, target, weights, unlabelled, placement
        As they were passed to `optimize` or `optimize_each`.

    Returns
    -------
    Verification
        True or false, with the reason. The rows of each part and the cost are computed anew. If the model has a
        certificate, its runs are repeated on the mirrored column. That takes about as long as the proof took, or some
        seconds if all pairs of bounds can be priced instead.

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
    table = table_for(model, data, target, weights, unlabelled, placement)
    try:
        criterion = criterion_for(get_criterion(model.criterion, **model.options), model.problem)
        wrong = wrong_facts(model, table, criterion)
    except (ValueError, TypeError) as error:  # parts or options that do not fit the data
        return Verification(False, str(error))
    wrong = wrong or _wrong_proof(model, table, criterion)
    return Verification(False, wrong) if wrong else Verification(True, _how(model))


def table_for(model: Model, data: Any, target: Any, weights: Any, unlabelled: Any, placement: str | None) -> Table:
    """Table of the data, with the columns of the model only; raise ValueError if the columns do not fit."""
    is_partitioned = PROBLEMS[model.problem].target_is_partitioned
    target_kind = model.problem if is_partitioned else None if target is None else "classes"
    table = read_table(data, target, weights, target_kind, unlabelled, placement)
    absent = [name for name in model.partitions if name not in table.names]
    if absent:
        raise ValueError(
            f"the model has a column {absent[0]!r}; the data has {', '.join(map(repr, table.names))}"
            f"{did_you_mean(absent[0], table.names)}"
        )
    if len(model.partitions) == 1:
        return table.only(next(iter(model.partitions)))
    if len(table.names) > len(model.partitions):
        raise ValueError(f"the model has the columns {', '.join(map(repr, model.partitions))}: pass only these")
    return table


def _options(model: Model, criterion: Criterion) -> Options:
    """Options of the search that the certificate of the model is for."""
    certificate = model.certificate or Certificate("", 0.0)
    return Options(
        criterion,
        Search("exact"),
        {name: partition.kind for name, partition in model.partitions.items()},
        {name: partition.special for name, partition in model.partitions.items() if len(partition.special)},
        certificate.monotone,
        certificate.max_parts,
        certificate.min_rows,
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
    if again._target_quantiles is not None and not all(
        map(_same, again._target_quantiles, model._target_quantiles or (None, None))
    ):
        return "the means or quantiles of the target differ from those of the model"
    for what, found, stated in (("cost", again.cost, model.cost), ("null cost", again.null_cost, model.null_cost)):
        if not math.isclose(found, stated, rel_tol=SAME, abs_tol=SAME):
            return f"the {what} is {found!r}, the model says {stated!r}"
    return None


def _same(one: Any, other: Any) -> bool:
    """Whether two arrays are equal up to rounding; None equals only None."""
    if one is None or other is None:
        return one is other
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=SAME, atol=0.0, equal_nan=True))


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
    limits = options.limits(rows.problem.n_rows)
    wrong = _wrong_limits(model, name, limits)
    if wrong:
        return wrong
    clock = Clock()
    task = _line(column, rows, criterion, options, limits, clock)
    if task is not None and task.n_atoms > 0:
        wrong = _wrong_runs(certificate, task) if certificate.slopes or certificate.method == SLOPES else None
        if wrong or certificate.method == SLOPES:
            return wrong
        again = _mirrored_program(task, task.n_atoms).solve()
        cost, is_proven = again.cost, again.proven
    else:
        try:
            found = best_partition(column, rows, options, clock)
        except ValueError as error:  # no exact search takes such a column, so nothing can have been proven
            return f"the search cannot be done again: {error}"
        cost, is_proven = found.cost, found.proven
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
    rows = partition.rows[: partition.n_parts - len(partition.special)]
    rows = rows[rows > 0]
    if partition.n_parts > limits.max_parts:
        return f"column {name!r} has {partition.n_parts} parts, the certificate is for at most {limits.max_parts}"
    if len(rows) > 1 and np.any(rows < limits.min_rows):
        return f"a part of {name!r} has {rows.min()} rows, the certificate is for at least {limits.min_rows}"
    if certificate is not None and certificate.monotone is not None and not _is_monotone(model, name):
        return f"the shares of {name!r} are not monotone, as the certificate says"
    return None


def _is_monotone(model: Model, name: Name) -> bool:
    """Whether the shares of the second class are monotone over the intervals, as the certificate says."""
    partition = model.partitions[name]
    first, last = int(partition.is_missing_apart), partition.n_parts - len(partition.special)
    counts = partition.counts[first:last].astype(object)
    ones, rows = counts[:, 1], counts.sum(axis=1)
    rises = ones[1:] * rows[:-1] - ones[:-1] * rows[1:]
    ways = {"increasing": np.all(rises >= 0), "decreasing": np.all(rises <= 0)}
    direction = model.certificate.monotone if model.certificate is not None else None
    return bool(any(ways.values()) if direction == "auto" else ways[str(direction)])


def _line(
    column: Column, table: Table, criterion: Criterion, options: Options, limits: Limits, clock: Clock
) -> Task | None:
    """Task of the intervals, or of the values sorted by share, that was searched; None if neither was."""
    if options.monotone is not None:
        return None
    if isinstance(column, Numbers):
        return intervals_task(column, table, criterion, options, limits, clock).task
    task = values_task(column, table, criterion, limits, clock)
    line = share_line(task) if is_enough(task) else None
    return line.task if line is not None and line.is_sorted else None


def _mirrored_program(task: Task, n_runs: int) -> AllBounds:
    """Program over the mirrored line: all pairs of bounds if `n_runs` such runs are quick, else branch and bound."""
    mirrored = replace(task, atoms=_mirrored(task.atoms), start=None)
    is_plain = task.n_atoms**2 * task.atoms.counts.shape[1] * n_runs <= PLAIN_PRICES
    return (AllBounds if is_plain or not can_prune(task) else Branches)(mirrored, mirrored.null(), math.inf)


def _wrong_runs(certificate: Certificate, task: Task) -> str | None:
    """Repeat each run on the mirrored line and say what is wrong; None if nothing is.

    If the runs alone are the proof (method SLOPES), the totals of the certificate must prove its lowest cost.
    """
    program = _mirrored_program(task, len(certificate.slopes))
    slopes = program.slopes
    # A slope beyond all that parts can cost proves nothing more, and its rounding error could hide a part.
    steepest = (
        1.0 + max(map(abs, slopes.known.values())) + float(np.abs(slopes.shared[np.isfinite(slopes.shared)]).max())
    )
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


def _mirrored(atoms: Atoms) -> Atoms:
    """Atoms of a single variable in reverse order."""
    reverse = slice(None, None, -1)
    return Atoms(
        atoms.first,
        atoms.frozen,
        np.ascontiguousarray(atoms.counts[reverse]),
        np.ascontiguousarray(atoms.rows[reverse]),
        np.ascontiguousarray(atoms.values[reverse]),
    )


def _how(model: Model) -> str:
    """Say how a valid model was checked."""
    if model.certificate is None:
        return "the cost is right; the model says nothing of the optimum"
    limits = _limits_of(model.certificate)
    if model.certificate.method == SLOPES:
        return f"the cost is right, and so is each run of the certificate, on the mirrored column{limits}"
    return f"the cost is right, and the search, done again, found no lower one{limits}"


def _limits_of(certificate: Certificate) -> str:
    """Limits of the certificate, as the end of a sentence; empty if there are none."""
    limits = [f"at most {certificate.max_parts} parts"] if certificate.max_parts is not None else []
    limits += [f"at least {certificate.min_rows} rows in each part"] if certificate.min_rows > 1 else []
    limits += [f"shares that are monotone ({certificate.monotone})"] if certificate.monotone is not None else []
    return f", among partitions with {' and '.join(limits)}" if limits else ""
