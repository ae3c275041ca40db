"""Columns without a target: numbers are cut by their own density, of texts each value is a part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import Options, check_columns, check_seed, checked_jobs, checked_options, checked_time
from gridmodl.clock import Clock
from gridmodl.density.fitting import density_of
from gridmodl.density.model import DensityModel
from gridmodl.density.sample import sample_of
from gridmodl.encode import encode_column
from gridmodl.estimators.inputs import heed_stop, read_seed, refuse_column
from gridmodl.frames import Frame, Name
from gridmodl.line import bounds_between
from gridmodl.partition import Partition, group_partition, interval_partition
from gridmodl.quantities import Numbers
from gridmodl.search.moves import NO_LIMIT, Limits
from gridmodl.targets import rows_of
from gridmodl.threads import in_threads
from gridmodl.univariate import ordered_groups, special_codes
from gridmodl.values import Categories, count_rows


class Parts(NamedTuple):
    """The parts of a column, and the density that they are of, where it has one."""

    partition: Partition
    model: DensityModel | None


def parts_of_each(estimator: Any, inputs: Frame, weights: NDArray[np.int64] | None) -> dict[Name, Parts]:
    """The parts of every column; options are the estimator's parameters, those that `gridmodl.optimize_each` has."""
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

    def parts_or_error(name: Name) -> Parts | Exception:
        try:
            return _parts_of(inputs, name, weights, options, random_state, clock.child())
        except Exception as error:
            return error

    found: dict[Name, Parts] = {}
    for name, answer in in_threads(parts_or_error, list(inputs.columns), n_threads, clock).items():
        if isinstance(answer, Exception):
            refuse_column(name, answer)
        else:
            found[name] = answer
    heed_stop(estimator, clock.stopped)
    return found


def _parts_of(
    inputs: Frame,
    name: Name,
    weights: NDArray[np.int64] | None,
    options: Options,
    random_state: int | None,
    clock: Clock,
) -> Parts:
    column = encode_column(inputs.columns[name], name, options.kinds.get(name))
    rows = np.ones(column.n_rows, dtype=np.int64) if weights is None else weights
    limits = options.limits(int(rows.sum()))
    if isinstance(column, Numbers):
        return _intervals(column, rows, special_codes(column, options), limits, random_state, clock, inputs.kind)
    if name in options.special:
        raise ValueError(f"column {name!r} is categorical: each of its values is told apart; special= is for numbers")
    return Parts(_values(column, rows, limits), None)


def _intervals(
    column: Numbers,
    rows: NDArray[np.int64],
    special: NDArray[Any],
    limits: Limits,
    random_state: int | None,
    clock: Clock,
    kind: str,
) -> Parts:
    """Missing values and special codes stand apart; infinite ones have no density and lie in the outermost parts."""
    room = limits.max_parts - len(special)
    if room < 1:
        raise ValueError(
            f"column {column.name!r} has {len(special)} special codes, each a part of its own; max_parts="
            f"{limits.max_parts} leaves none for the intervals"
        )
    missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
    is_number = ~missing & ~np.isin(column.values, special)
    n_missing = int(rows[missing].sum())
    stand_apart = room > 1 and n_missing >= limits.min_rows and bool(is_number.any())
    is_finite = is_number & np.isfinite(column.values) if column.values.dtype.kind == "f" else is_number
    bounds, model = bounds_between(column.values[:0], column.values[:0], column.type), None
    if np.any(column.values[is_finite] != column.values[is_finite][:1]):  # else there is no width to be dense in
        kept = is_finite | missing
        present = column._replace(values=column.values[kept], missing=missing[kept])
        is_limited = limits.max_parts < NO_LIMIT
        max_parts = room - stand_apart if is_limited else None
        sample = sample_of(present, rows[kept], kind=kind)
        model = density_of(sample, max_parts, limits.min_rows, random_state, clock)
        bounds = model.partition.bounds
    n_parts = stand_apart + len(bounds) + 1 + len(special)
    counts = np.zeros((n_parts, 1), dtype=np.int64)
    partition = interval_partition(column, bounds, special, counts, n_missing > 0)
    counts = count_rows(partition.part_of_encoded(column), rows, n_parts)[:, None]
    return Parts(replace(partition, counts=counts), model)


def _values(column: Categories, rows: NDArray[np.int64], limits: Limits) -> Partition:
    """Each value a part, as nothing says which belong together; where limits forbid that, the rarest share the last."""
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
