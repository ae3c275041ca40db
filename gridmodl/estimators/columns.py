"""Fit each column on its own, for estimators: a model for the target, or parts by density without a target."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock, in_threads
from gridmodl.data.columns import Categories, count_rows, encode_column
from gridmodl.data.frames import Frame, Name
from gridmodl.data.line import bounds_between
from gridmodl.data.numbers import Numbers
from gridmodl.data.targets import rows_of
from gridmodl.density.fitting import density_of
from gridmodl.density.model import DensityModel
from gridmodl.density.sample import sample_of
from gridmodl.estimators.inputs import read_seed, refuse_column, report_stop
from gridmodl.fit.column import ordered_groups, special_codes
from gridmodl.fit.options import Options, check_seed, checked_jobs, checked_options, checked_time
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.model.partition import Partition, group_partition, interval_partition
from gridmodl.pipeline import optimize_each
from gridmodl.search.moves import NO_LIMIT, Limits
from gridmodl.spelling import check_columns


def models_of_each(
    estimator: Any, inputs: Frame, target: NDArray[Any], weights: NDArray[np.int64] | None, **more: Any
) -> dict[Name, Model]:
    """Model of each column, without training data, the most informative first.

    `more` are arguments of `optimize_each` that are not parameters of every estimator.
    """
    models = optimize_each(
        inputs.columns,
        target,
        weights=weights,
        special=estimator.special,
        on_error="ignore",  # a column without a model is an error, below
        **estimator._options(),
        **more,
    )
    for name, error in models.errors.items():
        refuse_column(name, error)
    report_stop(estimator, _stopped(models))
    return {name: replace(model, _source=None, frame=inputs.kind) for name, model in models.items()}


def _stopped(models: Models) -> str | None:
    """Why a search was stopped, or None; an interruption goes before a time limit."""
    reasons = [model.stopped for model in models.values() if model.stopped is not None]
    return min(reasons, default=None)  # "interrupted" comes before "time limit"


class ColumnParts(NamedTuple):
    """Parts of a column, and their density if the column has one."""

    partition: Partition
    model: DensityModel | None


def parts_of_each(estimator: Any, inputs: Frame, weights: NDArray[np.int64] | None) -> dict[Name, ColumnParts]:
    """Parts of each column without a target: numbers are cut by density, each category is a part of its own."""
    clock = Clock(checked_time(estimator.time_limit))
    options = checked_options(
        "modl", "auto", estimator.kinds, estimator.special, None, estimator.max_parts, estimator.min_rows
    )
    random_state = read_seed(estimator.random_state)
    check_seed(random_state)
    n_threads = checked_jobs(1 if estimator.n_jobs is None else estimator.n_jobs)
    check_columns("kinds", options.kinds, inputs.columns)
    check_columns("special", options.special, inputs.columns)
    if weights is not None:
        kept = weights > 0
        columns = {name: rows_of(raw, kept) for name, raw in inputs.columns.items()}
        inputs, weights = inputs._replace(columns=columns), weights[kept]

    def parts_or_error(name: Name) -> ColumnParts | Exception:
        try:
            return _parts_of(inputs, name, weights, options, random_state, clock.child())
        except Exception as error:
            return error

    found: dict[Name, ColumnParts] = {}
    for name, answer in in_threads(parts_or_error, list(inputs.columns), n_threads, clock).items():
        if isinstance(answer, Exception):
            refuse_column(name, answer)
        else:
            found[name] = answer
    report_stop(estimator, clock.stopped)
    return found


def _parts_of(
    inputs: Frame,
    name: Name,
    weights: NDArray[np.int64] | None,
    options: Options,
    random_state: int | None,
    clock: Clock,
) -> ColumnParts:
    column = encode_column(inputs.columns[name], name, options.kinds.get(name))
    rows = np.ones(column.n_rows, dtype=np.int64) if weights is None else weights
    limits = options.limits(int(rows.sum()))
    if isinstance(column, Numbers):
        return _intervals(column, rows, special_codes(column, options), limits, random_state, clock, inputs.kind)
    if name in options.special:
        raise ValueError(f"column {name!r} is categorical, and each of its values is a part; special= is for numbers")
    return ColumnParts(_values(column, rows, limits), None)


def _intervals(
    column: Numbers,
    rows: NDArray[np.int64],
    special: NDArray[Any],
    limits: Limits,
    random_state: int | None,
    clock: Clock,
    kind: str,
) -> ColumnParts:
    """Cut numbers by density; missing values and special codes are parts apart, infinite values lie in outer parts."""
    n_free = limits.max_parts - len(special)
    if n_free < 1:
        raise ValueError(
            f"column {column.name!r} has {len(special)} special codes, each a part of its own; max_parts="
            f"{limits.max_parts} leaves none for the intervals"
        )
    missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    is_number = ~missing & ~np.isin(column.values, special)
    n_missing = int(rows[missing].sum())
    stand_apart = n_free > 1 and n_missing >= limits.min_rows and bool(is_number.any())
    is_finite = is_number & np.isfinite(column.values) if column.values.dtype.kind == "f" else is_number
    bounds, model = bounds_between(column.values[:0], column.values[:0], column.type), None
    finite = column.values[is_finite]
    if np.any(finite != finite[:1]):  # one distinct value has no width, so no density
        kept = is_finite | missing
        present = column._replace(values=column.values[kept], missing=missing[kept])
        is_limited = limits.max_parts < NO_LIMIT
        max_parts = n_free - stand_apart if is_limited else None
        sample = sample_of(present, rows[kept], kind=kind)
        model = density_of(sample, max_parts, limits.min_rows, random_state, clock)
        bounds = model.partition.bounds
    n_parts = stand_apart + len(bounds) + 1 + len(special)
    counts = np.zeros((n_parts, 1), dtype=np.int64)
    partition = interval_partition(column, bounds, special, counts, n_missing > 0)
    counts = count_rows(partition.part_of_encoded(column), rows, n_parts)[:, None]
    return ColumnParts(replace(partition, counts=counts), model)


def _values(column: Categories, rows: NDArray[np.int64], limits: Limits) -> Partition:
    """Make each value a part, as no target groups them; the rarest share the last part if `limits` require it."""
    n_values = len(column.values)
    by_value = count_rows(column.codes, rows, n_values)
    most_first = np.argsort(-by_value, kind="stable")
    n_apart = min(int(np.count_nonzero(by_value >= limits.min_rows)), limits.max_parts)
    n_others = int(by_value[most_first[n_apart:]].sum())
    if n_apart < n_values and (n_apart == limits.max_parts or n_others < limits.min_rows):
        n_apart = max(n_apart - 1, 0)
    group_of = np.full(n_values, n_apart)
    group_of[np.sort(most_first[:n_apart])] = np.arange(n_apart)
    by_group = count_rows(group_of, by_value, int(group_of.max()) + 1)[:, None]
    groups, counts, _ = ordered_groups(column.values, group_of, by_group, 1)
    return group_partition(column.name, groups, counts)
