"""Fit the density of one column: widths of atoms and parts, masses, gaps, and an option chosen by cross-validation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import Atoms, alone, coarsen
from gridmodl.data.columns import Column
from gridmodl.data.domain import (
    DistinctValues,
    check_finite,
    cumulated,
    distinct_values,
    find_masses,
    log_ratio,
    wide_gaps,
    widths_between,
)
from gridmodl.data.folds import folds_of
from gridmodl.data.line import Line
from gridmodl.data.numbers import Numbers, encode_special
from gridmodl.data.table import Table
from gridmodl.fit.options import ColumnOptions, Options
from gridmodl.model.partition import Partition
from gridmodl.plugins import criterion_for
from gridmodl.pricing import numerical_values, prepare
from gridmodl.search.column.exact import optima_by_price
from gridmodl.search.moves import NO_LIMIT, Frozen, Limits, Setting
from gridmodl.search.task import Task
from gridmodl.terms import DOMAIN, Criterion, Problem

NO_CLASSES = ("monotone", "min_events", "min_difference")  # options that need the classes of a target
N_FOLDS = 10
# Prices of a part, in nats, that cross-validation compares; two more parameters cost 2 under AIC and log N under BIC.
PENALTIES = (2.0, 2.5, 3.0, 4.0, 5.0, 6.5, 8.5, 11.0, 15.0)
FOLD_VALUES = 2000  # of more, folds are of as many rows: the best price hardly depends on the rows, the time does
NANO = 1e-9  # nats per row: log-likelihoods that differ by less are ties


def density_options(column: Column, table: Table, options: Options, random_state: int | None, clock: Clock) -> Options:
    """Options of a search for a density: its masses are special values, and an option of its criterion is chosen.

    Raise if the column has no density, or if an option needs the classes of a target.
    """
    numbers = checked_density(column, options)
    return validated(numbers, table, with_masses(numbers, table, options), random_state, clock)


def checked_density(column: Column, options: Options) -> Numbers:
    """The column; raise if it has no density, or if an option needs the classes of a target."""
    if not isinstance(column, Numbers) or column.levels is not None:
        kind = "ordinal" if isinstance(column, Numbers) else "categorical"
        raise TypeError(
            f"data is one column, {column.name!r}, and no target was given; only numbers, dates and durations have a "
            f"density, and the column is {kind}: give a target, or two columns or more for a joint grid"
        )
    check_finite(column)
    for what in NO_CLASSES:
        if getattr(options.of(column.name), what) is not None:
            raise ValueError(f"{what}= speaks of the classes of a target, and no target was given; leave it out")
    return column


def with_masses(column: Numbers, table: Table, options: Options) -> Options:
    """Options with the masses of a column as special values: those of the user, and values that hold many rows.

    An empty list, ``special=[]`` or ``{name: []}``, leaves no mass but a value that would be alone.
    """
    given = options.of(column.name).special
    own = [] if given is None else list(given)
    special = encode_special(own, column)
    found = distinct_values(column, table.target.weights, special.codes)
    most = 0 if given is not None and not own else NO_LIMIT
    masses = find_masses(found, most)
    in_own_type = masses.view(column.type) if column.type.kind in "mM" else masses
    return options._replace(special={column.name: [*own, *in_own_type]})


def column_limits(given: ColumnOptions, n_rows: int, criterion: Criterion) -> Limits:
    """Limits on the parts of a column of `n_rows` rows; 0 rows if parts of a density may be gaps between its values.

    They may where the criterion prices such parts, unless `min_rows` asks for rows, or `allowed` names all bounds.
    """
    limits = given.limits(n_rows)
    may_be_empty = criterion.empty_parts and given.min_rows is None and given.allowed is None
    return limits._replace(min_rows=0) if may_be_empty else limits


def of_widths(atoms: Atoms, widths: NDArray[np.int64]) -> Atoms:
    """Atoms of a single column with a width in place of the counts."""
    return atoms._replace(counts=widths.reshape(-1, 1))


def line_of_density(
    line: Line, fixed: NDArray[np.int64], column: Numbers, masses: NDArray[Any], has_gaps: bool
) -> tuple[Line, NDArray[np.int64], NDArray[np.int64]]:
    """Line of atoms that have a width, the atoms at which a part must begin, and the widths.

    Values so near to one another that no width is left between them are one atom. With `has_gaps`, both halves of wide
    gaps without a fixed bound are atoms too: the bound midway stays, so that no cost rises.
    """
    if line.n_atoms < 2:
        return line, fixed, np.full(line.n_atoms, DOMAIN, dtype=np.int64)
    found = distinct_values(column, None, masses)
    if has_gaps:
        gaps = wide_gaps(found)
        is_free = ~np.isin(gaps.at + 1, fixed)
        line = line.with_gaps(gaps.at[is_free], gaps.low[is_free], gaps.high[is_free])
        fixed = fixed + 2 * np.searchsorted(gaps.at[is_free], fixed)
    bounds = line.bounds(np.arange(line.n_atoms), column.type, "exact")
    ends = cumulated(found.places_of_bounds(bounds))
    begins = _begins(ends)
    if np.any(~np.isin(fixed, begins)):
        raise ValueError(f"fixed of column {column.name!r} has a bound that leaves a part without a width")
    widths = np.diff(np.concatenate([[0], ends[begins[1:] - 1], [DOMAIN]]))
    return line.coarsen(begins[1:]), np.searchsorted(begins, fixed), widths


def with_widths(partition: Partition, column: Numbers) -> Partition:
    """`partition` of a density with the widths and the distinct values of its parts, and the domain."""
    found = distinct_values(column, None, encode_special(partition.special_parts, column).codes)
    if len(found.values) == 1:
        value = found.domain.ends()[0]
        raise ValueError(
            f"column {column.name!r} has a single value besides its special ones, {value}, and no width; name it in "
            "special= too, so that it is a mass"
        )
    n_intervals = partition.n_parts - partition.n_special
    n_values, widths = np.zeros(partition.n_parts, dtype=np.int64), np.zeros(partition.n_parts)
    domain = np.empty(0, dtype=partition.bounds.dtype)
    if len(found.values):
        distinct = column._replace(values=found.values, missing=None)
        n_values += np.bincount(partition.part_of_encoded(distinct), minlength=partition.n_parts)
        units = widths_between(found.places_of_bounds(partition.bounds))
        widths[:n_intervals] = units / DOMAIN * found.domain.width  # in this order: small widths keep their digits
        domain = found.domain.ends()
        without = (units == 0) & (n_values[:n_intervals] > 0)
        if without.any():
            label = partition.labels[int(np.argmax(without))]
            raise ValueError(
                f"part {label} of column {column.name!r} has values but no width; move its bounds, or name its values "
                "in special=, so that each is a mass"
            )
    masses = np.isin(encode_special(partition.special_parts, column).codes, column.values).astype(np.int64)
    if partition.n_special:
        sizes = partition.special_sizes or [1] * len(masses)
        n_values[n_intervals:] = np.add.reduceat(masses, np.append(0, np.cumsum(sizes)[:-1]))
    return replace(partition, n_values=n_values, widths=widths, domain=domain, step=found.step)


def widths_and_rows(partition: Partition) -> NDArray[np.int64]:
    """Width of each part of a density, of DOMAIN in all, and its rows minus this width: what a price depends on."""
    assert partition.widths is not None  # noqa: S101  for mypy
    total = partition.widths.sum()
    units = np.rint(partition.widths / (total or 1.0) * float(DOMAIN)).astype(np.int64)
    rows = partition.counts[:, 0]
    return np.column_stack([units, rows - units])


def null_widths_and_rows(partition: Partition) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As `widths_and_rows` of a density with one interval and the same masses, and the distinct values of its parts."""
    assert partition.n_values is not None  # noqa: S101  for mypy
    n = partition.n_parts - partition.n_special
    rows = np.append(partition.counts[:n, 0].sum(), partition.counts[n:, 0])
    units = np.zeros(len(rows), dtype=np.int64)
    units[0] = DOMAIN if rows[0] else 0
    values = np.append(partition.n_values[:n].sum(), partition.n_values[n:])
    return np.column_stack([units, rows - units]), values


# The choice of an option by cross-validation.


class Fold(NamedTuple):
    """Atoms of the rows to find parts from, and the held-out rows by value."""

    atoms: Atoms
    places: NDArray[np.float64]  # of the bounds below all atoms but the first
    at: NDArray[np.float64]  # place of each value
    held: NDArray[np.int64]  # held-out rows of each value

    def likelihoods(
        self, criterion: Criterion, problem: Problem, limits: Limits, clock: Clock
    ) -> NDArray[np.float64] | None:
        """Log-likelihood of the held-out rows in the best parts of the others for each of PENALTIES.

        Against an even density. None if the clock stopped.
        """
        n_rows = int(self.atoms.rows.sum())
        known = numerical_values(int(self.atoms.values.sum()))
        p, facts = prepare(criterion, problem._replace(n_rows=n_rows), known)
        task = Task(self.atoms, Setting(p, facts, Frozen()), type(criterion), limits, clock)
        found = optima_by_price(task, np.array(PENALTIES))
        return None if found is None else np.array([self._likelihood(starts, n_rows) for starts in found])

    def _likelihood(self, starts: NDArray[np.int64], n_rows: int) -> float:
        """Log-likelihood of the held-out rows in the parts that begin at the atoms `starts`."""
        shares = np.add.reduceat(self.atoms.counts[:, 0], starts) / DOMAIN
        ratios = log_ratio(np.add.reduceat(self.atoms.rows, starts), shares, n_rows)
        parts = np.searchsorted(self.places[starts[1:] - 1], self.at, side="left")
        return float(self.held @ ratios[parts])


def make_fold(found: DistinctValues, held: NDArray[np.int64], has_gaps: bool) -> Fold | None:
    """Fold of a sample; None if its other rows have one value, and no width. With `has_gaps`, gaps are atoms."""
    at, kept = found.places(found.values), found.rows - held
    places, rows = at[kept > 0], kept[kept > 0]
    if len(places) < 2:
        return None
    bounds = found.middles(places[:-1], places[1:])
    if has_gaps:
        gaps = wide_gaps(found._replace(values=found.values[kept > 0], rows=rows))
        ends = np.column_stack([found.places_between(gaps.low), found.places_between(gaps.high)]).ravel()
        bounds = np.insert(bounds, np.column_stack([gaps.at, gaps.at + 1]).ravel(), ends)
        rows = np.insert(rows, np.repeat(gaps.at + 1, 2), 0)
    begins = _begins(cumulated(bounds))
    atoms = coarsen(alone(rows[:, None], (rows > 0).astype(np.int32), 1), begins)
    bounds = bounds[begins[1:] - 1]
    return Fold(of_widths(atoms, widths_between(bounds)), bounds, at, held)


def _some_rows(found: DistinctValues, random_state: int | None) -> DistinctValues:
    """FOLD_VALUES rows at random, if there are more values than these."""
    if len(found.values) <= FOLD_VALUES:
        return found
    ends = np.cumsum(found.rows)
    drawn = np.random.default_rng(random_state).choice(int(ends[-1]), FOLD_VALUES, replace=False)
    rows = np.bincount(np.searchsorted(ends, drawn, side="right"), minlength=len(ends)).astype(np.int64)
    return found._replace(values=found.values[rows > 0], rows=rows[rows > 0])


def _begins(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """First atoms of the runs of atoms that have a width, given where all atoms but the last end, of DOMAIN in all."""
    _, begins = np.unique(np.append(0, ends), return_index=True)
    return np.asarray(begins[(begins == 0) | (ends[begins - 1] < DOMAIN)])


def validated(column: Numbers, table: Table, options: Options, random_state: int | None, clock: Clock) -> Options:
    """Options whose criterion has its option chosen by cross-validation, if it has such an option and that is 0.

    If the clock stops before a fold is done, or there are too few values, it is the price of two parameters under BIC.
    """
    criterion = criterion_for(options.criterion, table.problem.kind)
    what, options = type(criterion).validated, options._replace(criterion=criterion)
    if what is None or criterion.chosen[what] != 0.0:
        return options
    special = encode_special(options.of(column.name).special or (), column)
    whole = distinct_values(column, table.target.weights, special.codes)
    found, all_rows = _some_rows(whole, random_state), int(whole.rows.sum())
    n_rows = int(found.rows.sum())
    total = np.zeros(len(PENALTIES))
    n_folds, n_done = max(1, min(N_FOLDS, n_rows)), 0
    limits = column_limits(options.of(column.name), all_rows, criterion)
    has_gaps = limits.min_rows == 0
    share = n_rows / max(1, all_rows) * (n_folds - 1) / n_folds
    limits = limits._replace(min_rows=math.ceil(limits.min_rows * share))
    for i, held in enumerate(folds_of(found.rows, n_folds, random_state) if len(found.values) > 2 else ()):
        clock.step = f"fold {i + 1} of {n_folds}"
        fold = make_fold(found, held, has_gaps)
        likelihoods = None if fold is None else fold.likelihoods(criterion, table.problem, limits, clock)
        if clock.stopped:
            break
        total += 0.0 if likelihoods is None else likelihoods
        n_done += 1
    best = len(total) - 1 - int(np.argmax(total[::-1] >= total.max() - NANO * n_rows))  # ties: the largest price
    penalty = PENALTIES[best] if n_done else math.log(n_rows + 2.0)
    return options._replace(criterion=type(criterion)(**{**criterion.chosen, what: penalty}))
