"""Count the rows of atoms and parts by period, for ``stable_over``; say which periods break the order of a partition.

The order of event rates is that of all rows. Two parts break it in a period if their event rates in the period are the
other way round. Periods of few rows are left out. Missing values and special codes in parts of their own are exempt.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Target
from gridmodl.data.columns import Column, count_rows
from gridmodl.data.line import Line
from gridmodl.data.numbers import Numbers, Special
from gridmodl.data.table import Table
from gridmodl.fit.options import PERIOD_ROWS, ColumnOptions, Options, rows_or_share
from gridmodl.model.partition import Partition
from gridmodl.model.policy import STRICT
from gridmodl.model.stability import PeriodBreak, Stability
from gridmodl.search.rules import Periods, breaks_of


def atoms_of_rows(column: Numbers, line: Line, special: Special) -> NDArray[np.int64]:
    """Atom of each row of a column on its line; -1 for rows of special codes."""
    first = int(line.has_missing)
    place = first + np.searchsorted(line.low[first:], column.values, side="left").astype(np.int64)
    place[np.isin(column.values, special.codes)] = -1
    if column.missing is not None:
        place[column.missing] = 0
    return place


def compared_periods(target: Target, options: ColumnOptions) -> NDArray[np.bool_]:
    """Flags of the periods that have enough rows."""
    codes = target.periods
    assert codes is not None  # noqa: S101  for mypy
    in_period = codes >= 0
    weights = None if target.weights is None else target.weights[in_period]
    rows = count_rows(codes[in_period], weights, int(codes.max(initial=-1)) + 1)
    return rows >= max(1, rows_or_share("min_period_rows", options.min_period_rows, target.n_rows))


def make_periods(place: NDArray[np.int64], target: Target, options: ColumnOptions) -> Periods:
    """Count the rows and events of atoms by period, given the atom of each row.

    Rows of a negative atom, of no period and of periods with few rows are left out; the other periods are numbered
    from 0.
    """
    assert target.periods is not None  # noqa: S101  for mypy
    is_compared = compared_periods(target, options)
    n_periods = int(np.count_nonzero(is_compared))
    number = np.append(np.where(is_compared, np.cumsum(is_compared) - 1, -1), -1)[target.periods]  # code -1 is the last
    kept = (place >= 0) & (number >= 0)
    keys, index = np.unique(place[kept] * n_periods + number[kept], return_inverse=True)
    rows, scores = (np.zeros(len(keys), dtype=np.int64) for _ in range(2))
    more = np.ones(len(index), dtype=np.int64) if target.weights is None else target.weights[kept]
    np.add.at(rows, index, more)
    np.add.at(scores, index, np.where(target.codes[kept] == target.event, more, 0))
    return Periods(*np.divmod(keys, n_periods), rows, scores, n_periods)


def with_period_rows(options: Options, table: Table) -> Options:
    """Options with min_period_rows of all columns, if the table has periods; raise if they are given without these."""
    given = options.min_period_rows
    if table.target.periods is None:
        if given is not None:
            raise ValueError(f"min_period_rows={given!r} is of the periods of stable_over=, which was not given")
        return options
    by_name = given if isinstance(given, Mapping) else dict.fromkeys(table.names, given)
    least = {name: by_name.get(name) or PERIOD_ROWS for name in table.names}
    plain = {name: int(rows) if rows >= 1 else float(rows) for name, rows in least.items()}
    return options._replace(min_period_rows=plain)


def check_periods(table: Table, options: ColumnOptions) -> None:
    """Raise ValueError if no period has enough rows: the limit would be none."""
    if not np.any(compared_periods(table.target, options)):
        raise ValueError(
            f"no period of {table.stable_over!r} has min_period_rows={options.min_period_rows!r} rows, so that none "
            f"could be compared: there are {len(table.periods)} periods and {table.target.n_rows} rows. Take longer "
            "periods, or a lower min_period_rows"
        )


def parts_by_period(
    partition: Partition, column: Column, target: Target, options: ColumnOptions
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and events of each part by period, as tables of `Periods`.

    Parts that are exempt have no rows in any period.
    """
    place = np.asarray(partition.part_of_encoded(column, STRICT), dtype=np.int64)
    place[place >= partition.n_parts - partition.n_special] = -1
    if partition.missing is not None and (partition.is_missing_apart or (None,) in partition.groups):
        place[place == partition.missing] = -1
    periods = make_periods(place, target, options)
    rows, events = partition.counts.sum(axis=1), partition.counts[:, target.event]
    return periods.tables(np.arange(partition.n_parts), rows, events)


def broken_periods(partition: Partition, column: Column, table: Table, options: ColumnOptions) -> list[PeriodBreak]:
    """Periods that break the order of the event rates of a partition, each with the two parts that are farthest off."""
    rows, events = parts_by_period(partition, column, table.target, options)
    names = list(itertools.compress(table.periods, compared_periods(table.target, options).tolist()))
    found: dict[int, PeriodBreak] = {}
    for t, low, high in breaks_of(rows, events).tolist():
        rates = [float(events[part, t + 1] / rows[part, t + 1]) for part in (low, high)]
        one = PeriodBreak(names[t], partition.labels[low], partition.labels[high], *rates)
        if t not in found or one.low_rate - one.high_rate > found[t].low_rate - found[t].high_rate:
            found[t] = one
    return list(found.values())


def stability_of(free: Partition, free_cost: float, column: Column, table: Table, options: ColumnOptions) -> Stability:
    """Stability of a fit: what the limit changed; `free` is the best partition without it."""
    is_compared = compared_periods(table.target, options).tolist()
    return Stability(
        table.stable_over,
        table.periods,
        tuple(itertools.compress(table.periods, is_compared)),
        options.min_period_rows or 0,
        free_cost,
        free.n_parts,
        tuple(broken_periods(free, column, table, options)),
    )
