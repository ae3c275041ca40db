"""Fit each column on its own, for estimators: a model or an average for the target, or parts by density without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.averages import Averages
from gridmodl.averaging.fit import average_each
from gridmodl.clock import Clock, in_threads
from gridmodl.data.bounds import bounds_between
from gridmodl.data.columns import Categories, count_rows, encode_column
from gridmodl.data.counts import Counts
from gridmodl.data.frames import ARRAYS, Frame, Name
from gridmodl.data.numbers import Numbers, Special
from gridmodl.data.quantiles import equal_frequency_starts
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN, rows_of
from gridmodl.density.fitting import density_of
from gridmodl.density.model import DensityModel
from gridmodl.density.sample import sample_of
from gridmodl.estimators.inputs import read_seed, refuse_column, report_stop
from gridmodl.fit.build import check_names, check_option_names
from gridmodl.fit.column.common import special_codes
from gridmodl.fit.column.groups import ordered_groups
from gridmodl.fit.options import (
    RULES,
    Options,
    check_placement,
    check_seed,
    checked_jobs,
    checked_options,
    checked_time,
)
from gridmodl.model.models import Models
from gridmodl.model.partition import Partition, group_partition, interval_partition
from gridmodl.model.policy import STRICT
from gridmodl.pipeline import optimize_each
from gridmodl.search.moves import NO_LIMIT, Limits
from gridmodl.validation.penalty import MAX_PARTS, PenaltyChoice, Trials, trials_clock

BY_COLUMN = ("kinds", "order", "partitions", "special", "missing", "max_parts", "min_rows", *RULES)
NOT_AVERAGED = ("partitions", "min_rows", *RULES)  # parameters that choose among partitions


def models_of_each(
    estimator: Any, inputs: Frame, target: NDArray[Any], weights: NDArray[np.int64] | None, event: Any, **more: Any
) -> Models:
    """Models of the columns, without training data, in the order of the columns.

    `more` are arguments of `optimize_each` that are not parameters of every estimator, or take their place.
    """
    return _checked_models(estimator, inputs.columns, target, inputs.kind, weights=weights, event=event, **more)


def models_of_counts(estimator: Any, counts: Counts, event: Any, **more: Any) -> Models:
    """As `models_of_each`, of columns that were counted."""
    return _checked_models(estimator, counts, None, ARRAYS, event=event, **more)


def _checked_models(estimator: Any, columns: Mapping[Name, Any], target: Any, kind: str, **more: Any) -> Models:
    """Models of the `columns`; raise the error of a column that has none."""
    models = optimize_each(
        columns,
        target,
        on_error="ignore",  # a column without a model is an error, below
        **{**estimator._options(), **more},
    )
    for name, error in models.errors.items():
        refuse_column(name, error)
    report_stop(estimator, _stopped(models))
    kept = {"_source": None, "frame": kind, "target_name": estimator._target_name}
    found = {name: replace(models[name], **kept) for name in columns}
    return Models(found, {}, kind, by_level=False)


def averages_of_each(
    estimator: Any,
    inputs: Frame,
    names: Sequence[Name],
    target: NDArray[Any],
    weights: NDArray[np.int64] | None,
    **more: Any,
) -> Averages:
    """Averages of the columns `names`, which are numerical or ordinal, in their order.

    `more` are arguments of `average_each` that are not parameters of every estimator.
    """
    if not names:
        return Averages({}, {}, inputs.kind)
    options = restricted(estimator._options(), names)
    averages = average_each(
        {name: inputs.columns[name] for name in names},
        target,
        weights=weights,
        on_error="ignore",  # a column without an average is an error, below
        **{what: options[what] for what in ("criterion", "kinds", "order", "special", "max_parts", "n_jobs")},
        **more,
    )
    for name, error in averages.errors.items():
        refuse_column(name, error)
    report_stop(estimator, _stopped(averages))
    found = {name: replace(averages[name], frame=inputs.kind, target_name=estimator._target_name) for name in names}
    return Averages(found, {}, inputs.kind, in_order=False)


def restricted(options: Mapping[str, Any], names: Sequence[Name]) -> dict[str, Any]:
    """Options of `optimize_each` for the columns `names` alone."""
    return {
        what: {name: value[name] for name in value if name in names}
        if what in BY_COLUMN and isinstance(value, Mapping)
        else value
        for what, value in options.items()
    }


def choices_of_each(
    estimator: Any,
    inputs: Frame,
    target: NDArray[Any],
    weights: NDArray[np.int64] | None,
    event: Any,
    placement: str | None,
) -> dict[Name, PenaltyChoice]:
    """Options of the criterion chosen for each column, with its model, without training data."""
    given = estimator._options()
    clock = Clock(checked_time(given["time_limit"]))
    check_seed(given["random_state"])
    check_placement(placement)
    n_threads = checked_jobs(given["n_jobs"])
    what = ("special", "missing", "min_rows")
    options = checked_options(
        given["criterion"], given["search"], estimator.kinds, estimator.order,
        max_parts=_all_parts(given["max_parts"], list(inputs.columns)), **{name: given[name] for name in what},
    )  # fmt: skip
    table = read_table(inputs.columns, target, weights, "classes", NOT_GIVEN, placement, event)
    check_names(table, options)
    trials, trials_time = Trials(seed=given["random_state"]).checked(given["criterion"]), trials_clock(clock)

    def choice_or_error(name: Name) -> PenaltyChoice | Exception:
        try:
            return trials.choose(table, name, options, clock.child(), trials_time.child())
        except Exception as error:
            return error

    found: dict[Name, PenaltyChoice] = {}
    for name, answer in in_threads(choice_or_error, list(inputs.columns), n_threads, clock).items():
        if isinstance(answer, Exception):
            refuse_column(name, answer)
        else:
            kept = {"_source": None, "frame": inputs.kind, "target_name": estimator._target_name}
            found[name] = replace(answer, model=replace(answer.model, **kept))
    report_stop(estimator, min((one.stopped for one in found.values() if one.stopped is not None), default=None))
    return found


def _all_parts(max_parts: Any, names: list[Name]) -> Any:
    """Largest number of parts of every column: that of the user, or MAX_PARTS."""
    if isinstance(max_parts, Mapping):
        return {**dict.fromkeys(names, MAX_PARTS), **max_parts}
    return MAX_PARTS if max_parts is None else max_parts


def _stopped(models: Models | Averages) -> str | None:
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
    what = ("special", "missing", "max_parts", "min_rows")
    options = checked_options(
        "modl", kinds=estimator.kinds, order=estimator.order, **{name: getattr(estimator, name) for name in what}
    )
    random_state = read_seed(estimator.random_state)
    check_seed(random_state)
    n_threads = checked_jobs(1 if estimator.n_jobs is None else estimator.n_jobs)
    check_option_names(options, inputs.columns)
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
    limits = options.of(name).limits(int(rows.sum()))
    if isinstance(column, Numbers) and column.levels is not None:
        return ColumnParts(_levels(column, rows, special_codes(column, options), limits), None)
    if isinstance(column, Numbers):
        return _intervals(column, rows, special_codes(column, options), limits, random_state, clock, inputs.kind)
    if options.names("special", name):
        raise ValueError(
            f"column {name!r} is categorical: without y each of its values is a part, so special= of categories needs y"
        )
    return ColumnParts(_values(column, rows, limits), None)


def _intervals(
    column: Numbers,
    rows: NDArray[np.int64],
    special: Special,
    limits: Limits,
    random_state: int | None,
    clock: Clock,
    kind: str,
) -> ColumnParts:
    """Cut numbers by density; missing values and special codes are parts apart, infinite values lie in outer parts."""
    missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    is_number = ~missing & ~np.isin(column.values, special.codes)
    n_missing = int(rows[missing].sum())
    stand_apart = n_missing > 0 and bool(is_number.any())
    is_finite = is_number & np.isfinite(column.values) if column.values.dtype.kind == "f" else is_number
    bounds, model = bounds_between(column.values[:0], column.values[:0], column.type), None
    finite = column.values[is_finite]
    if np.any(finite != finite[:1]):  # one distinct value has no width, so no density
        kept = is_finite | missing
        present = column._replace(values=column.values[kept], missing=missing[kept])
        max_parts = limits.max_parts if limits.max_parts < NO_LIMIT else None
        sample = sample_of(present, rows[kept], kind=kind)
        model = density_of(sample, max_parts, limits.min_rows, random_state, clock)
        bounds = model.partition.bounds
    n_parts = stand_apart + len(bounds) + 1 + special.n_parts
    counts = np.zeros((n_parts, 1), dtype=np.int64)
    partition = interval_partition(column, bounds, special, counts, n_missing > 0)
    counts = count_rows(partition.part_of_encoded(column, STRICT), rows, n_parts)[:, None]
    return ColumnParts(replace(partition, counts=counts), model)


def _levels(column: Numbers, rows: NDArray[np.int64], special: Special, limits: Limits) -> Partition:
    """Make each level with rows a part, or groups of about equally many rows if `limits` require fewer parts."""
    missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    on_line = ~missing & ~np.isin(column.values, special.codes)
    places, codes = np.unique(column.values[on_line], return_inverse=True)
    by_level = count_rows(codes, rows[on_line], len(places))
    stand_apart = bool(missing.any()) and len(places) > 0
    starts = _level_starts(by_level, limits.max_parts, limits.min_rows)
    bounds = bounds_between(places[starts[1:] - 1], places[starts[1:]], column.type)
    counts = np.zeros((stand_apart + len(bounds) + 1 + special.n_parts, 1), dtype=np.int64)
    partition = interval_partition(column, bounds, special, counts, bool(missing.any()))
    counts = count_rows(partition.part_of_encoded(column, STRICT), rows, len(counts))[:, None]
    return replace(partition, counts=counts)


def _level_starts(by_level: NDArray[np.int64], max_parts: int, min_rows: int) -> NDArray[np.int64]:
    """First level of each part: each level is one, or parts have about equally many rows to keep the limits."""
    if len(by_level) <= max_parts and by_level.min(initial=min_rows) >= min_rows:
        return np.arange(max(1, len(by_level)))
    for n_parts in range(min(max_parts, len(by_level)), 1, -1):
        starts = equal_frequency_starts(by_level, n_parts)
        if np.add.reduceat(by_level, starts).min() >= min_rows:
            return starts
    return np.zeros(1, dtype=np.int64)


def _values(column: Categories, rows: NDArray[np.int64], limits: Limits) -> Partition:
    """Make each value a part, as no target groups them; the rarest share the last part if `limits` require it.

    Missing values, the first, stay a part of their own, which no limit concerns.
    """
    n_values = len(column.values)
    by_value = count_rows(column.codes, rows, n_values)
    first = int(column.values[0] is None and n_values > 1)
    others, max_parts = by_value[first:], limits.max_parts
    most_first = np.argsort(-others, kind="stable")
    n_apart = min(int(np.count_nonzero(others >= limits.min_rows)), max_parts)
    n_rare = int(others[most_first[n_apart:]].sum())
    if n_apart < len(others) and (n_apart == max_parts or n_rare < limits.min_rows):
        n_apart = max(n_apart - 1, 0)
    group_of = np.full(n_values, first + n_apart)
    group_of[:first] = 0
    group_of[first + np.sort(most_first[:n_apart])] = first + np.arange(n_apart)
    by_group = count_rows(group_of, by_value, int(group_of.max()) + 1)[:, None]
    groups, counts, _ = ordered_groups(column.values, group_of, by_group, 1)
    return group_partition(column.name, groups, counts)
