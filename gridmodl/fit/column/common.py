"""Result, proof, limits and special values, as the fits of numerical and of categorical columns share them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms, Target
from gridmodl.data.columns import Column
from gridmodl.data.numbers import Numbers, Special, encode_bounds, encode_special
from gridmodl.data.table import Table
from gridmodl.fit.options import ColumnOptions, Options
from gridmodl.model.partition import Partition
from gridmodl.model.stability import Stability
from gridmodl.pricing import price_one_variable
from gridmodl.search import AUTO, Search
from gridmodl.search.column.exact import why_given_up
from gridmodl.search.moves import NO_LIMIT, Limits, is_cheaper
from gridmodl.search.proof import ALL, Certificate, Proof
from gridmodl.search.rules import ANY_ORDER, NO_RULES, NONE, Rules
from gridmodl.search.task import Task
from gridmodl.terms import Criterion, Variable


class Found(NamedTuple):
    """A partition with its cost, and the name of the search that found it."""

    partition: Partition
    cost: float
    null_cost: float
    proven: bool
    search: str
    criterion: Criterion
    certificate: Certificate | None = None
    stability: Stability | None = None
    unproven: str | None = None  # why search="auto" proved nothing


class ColumnResult(NamedTuple):
    """Result of a search, its name, and the result without the limit on periods."""

    found: Any  # a Partitioning or a Grouping
    kind: str
    free: Any


def certificate_of(
    proof: Proof | None,
    limits: Limits,
    column: Column,
    options: ColumnOptions,
    min_events: tuple[int, ...] = (),
    order: str | None = None,
) -> Certificate | None:
    """Make the certificate of a proof within the limits of a column; None if there is no proof.

    `order` is that of the shares of the event, which is said if monotone="auto" let it be any.
    """
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
        min_period_rows=options.min_period_rows,
    )  # fmt: skip
    if not isinstance(column, Numbers):
        return certificate
    return replace(
        certificate,
        monotone=options.monotone,
        order=order if options.monotone == "auto" else None,
        fixed=_as_given(column, "fixed", options.fixed),
        allowed=None if options.allowed is None else _as_given(column, "allowed", options.allowed),
    )


def _as_given(column: Numbers, what: str, given: Any) -> tuple[Any, ...]:
    """Bounds of the user, ascending, in the type of the column's bounds; levels of an ordinal column."""
    bounds = given_bounds(column, what, given)
    return tuple(bounds if column.levels is None else [column.levels[int(place)] for place in bounds])


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


def why_unproven(found: Any, task: Task, search: Search) -> str | None:
    """Why search="auto" proves nothing of what it `found` for a task of intervals; None if it does, or was stopped."""
    is_given_up = search.kind == AUTO and not found.proven and found.proof is None
    return why_given_up(task) if is_given_up and task.clock.stopped is None else None


def one_part_cost(criterion: Criterion, p: Any, facts: Variable, table: Table) -> float:
    """Cost of a single part with all rows, special codes included."""
    class_rows = table.problem.class_rows
    by_code = np.append(class_rows, table.problem.n_rows - class_rows.sum())[None, :]
    return price_one_variable(criterion, p, facts, by_code, np.array([facts.n_values]))


def rest_is_enough(task: Task) -> bool:
    """Whether all atoms but the first, as one part, have enough rows, in all and of each class."""
    atoms, least = task.atoms, task.rules.min_counts
    is_enough = int(atoms.rows[1:].sum()) >= task.limits.min_rows
    return is_enough and (len(least) == 0 or bool(np.all(atoms.counts[1:].sum(axis=0) >= least)))


def rules_of(
    options: ColumnOptions, atoms: Atoms, fixed: NDArray[np.int64], target: Target, class_rows: NDArray[np.int64]
) -> tuple[Rules, tuple[str | None, ...]]:
    """Limits besides those on parts and rows, and the orders to try."""
    if not options.has_rules and target.periods is None:
        return NO_RULES, (None,)
    orders = ANY_ORDER if options.monotone == "auto" else (options.monotone,)
    scores = NONE if target.event is None else atoms.counts[:, target.event].astype(np.int64)
    least = options.min_counts(class_rows, target.event)
    return Rules(None, float(options.min_difference or 0.0), scores, least, fixed), orders


def given_bounds(column: Numbers, what: str, given: Any) -> NDArray[Any]:
    """Bounds of the user in the type of the column's bounds, ascending."""
    bounds = bounds_of(column, what, given)
    return bounds.astype(column.type) if bounds.dtype.kind == "f" else bounds.view(column.type)


def bounds_of(column: Numbers, what: str, given: Any) -> NDArray[Any]:
    """Bounds of the user in the type of the column's values, ascending; dates may be texts."""
    if given is None:
        return np.empty(0, dtype=column.values.dtype)
    if len(given) == 0:
        return np.empty(0, dtype=column.values.dtype)
    return np.unique(encode_bounds(given, column, f"{what} of column {column.name!r}"))


def special_codes(column: Numbers, options: Options) -> Special:
    """Special codes of a column, in the type of its values."""
    return encode_special(special_of(column, options), column)


def special_of(column: Column, options: Options) -> Any:
    """Special values of a column as the user gave them; a list for all columns is for those of numbers."""
    given = options.of(column.name).special
    has_numbers = isinstance(column, Numbers) and column.levels is None and column.type.kind in "iuf"
    return () if given is None or not (has_numbers or isinstance(options.special, Mapping)) else given


def labelled_apart(by_code: NDArray[np.int64], target: Target) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Rows by class, and unlabelled rows; None if there are none."""
    counts = np.ascontiguousarray(by_code[:, : target.n_classes])
    return counts, by_code[:, -1].copy() if target.has_unlabelled else None
