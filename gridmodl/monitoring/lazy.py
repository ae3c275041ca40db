"""Count the new rows of a lazy frame on its engine: by part, class and period, or by value for categories.

Only counts are collected, one query for each column, so that results equal those of the same rows in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from gridmodl.clock import Clock
from gridmodl.data.domain import first_inside
from gridmodl.data.frames import Name
from gridmodl.data.remote.counting import MAX_VALUES
from gridmodl.data.remote.queries import (
    CLASS,
    ROWS,
    VALUE,
    WEIGHT,
    check_same_rows,
    collected,
    in_utc,
    plain_value,
    schema_of,
    weight_of,
)
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.lazy.column import counted_at, counted_model
from gridmodl.fit.lazy.data import LazyData, check_lazy_names, check_sums_of_weights, sums_of_weights
from gridmodl.model.lazy.parts import as_time, literals, part_of, zone_of
from gridmodl.model.model import Model
from gridmodl.model.policy import NEUTRAL
from gridmodl.monitoring.counting import (
    MAX_PERIODS,
    Compared,
    NewRows,
    PartsCounts,
    TargetClasses,
    classes_of,
    count_cells,
    count_column,
    period_labels,
    without_missing,
)
from gridmodl.monitoring.parts import Prices
from gridmodl.monitoring.prices import can_price, options_of, prices_of_column, target_kind_of

PART, PERIOD, MISSING, SIDE = (f"gridmodl_{word}" for word in ("part", "period", "missing", "side"))


class LazyNew(NamedTuple):
    """New rows of a lazy frame, with columns WEIGHT and PERIOD beside those of the user."""

    frame: Any  # a narwhals LazyFrame
    target: str | None
    weights: str | None
    by_value: dict[Any, int]  # number of each period by its value
    periods: list[str]  # labels; one, empty, without by=
    n_rows: int  # sum of the weights

    def count_column(self, compared: Compared) -> PartsCounts:
        """Rows of a column by part, class and period."""
        has_parts_only = compared.kind == "numerical" or compared.partition.others is not None
        return self._of_parts(compared) if has_parts_only else self._of_values(compared)

    def count_target(self, compared: Compared) -> PartsCounts:
        """Rows of the classes by period; rows without a label are missing, and no class."""
        assert self.target is not None  # noqa: S101  for mypy: it is asked for before
        partition = replace(compared.partition, name=self.target)
        named = replace(compared, partitions=(partition,), name=self.target)
        is_numerical = partition.kind == "numerical"
        found = self._of_parts(named) if is_numerical else self._of_values(named)
        return without_missing(found._replace(compared=compared, outside=None))

    def count_cells(self, compared: Compared) -> PartsCounts:
        """Rows of the cells of a grid by class and period."""
        names = [f"{PART}_{k}" for k in range(len(compared.partitions))]
        parts = {name: part_of(self.frame, one, NEUTRAL) for name, one in zip(names, compared.partitions, strict=True)}
        found = self._grouped(compared, parts)
        return count_cells(compared, [_integers(found, name) for name in names], self._rows(found, compared.classes))

    def _of_parts(self, compared: Compared) -> PartsCounts:
        partition, value = compared.partition, self._value(compared.name)
        part = part_of(self.frame, partition, NEUTRAL)
        columns = {PART: part, MISSING: value.is_null().cast(nw.Int64)}
        if compared.has_range:
            assert partition.domain is not None  # noqa: S101  for mypy
            dtype = self.frame.collect_schema()[compared.name]
            low, high = literals(first_inside(partition.domain, partition.step), zone_of(dtype, partition))
            value = as_time(value, dtype)
            is_number = ~value.is_null() & (part < partition.n_parts - partition.n_special)
            side = nw.when(is_number & (value > high)).then(nw.lit(1)).otherwise(nw.lit(0))
            columns[SIDE] = nw.when(is_number & (value < low)).then(nw.lit(-1)).otherwise(side)
        found = self._grouped(compared, columns)
        rows = self._rows(found, compared.classes)
        outside = None
        if compared.has_range:
            sides = _integers(found, SIDE)
            outside = np.stack([rows.by_period(sides < 0), rows.by_period(sides > 0)], axis=1)
        new = rows.by_part(_integers(found, PART), partition.n_parts)
        return PartsCounts(compared, new, rows.by_period(_integers(found, MISSING) > 0), outside, {}, ())

    def _of_values(self, compared: Compared) -> PartsCounts:
        value = self._value(compared.name)
        some = collected(self.frame.select(value.alias(VALUE)).unique().head(MAX_VALUES + 1), compared.name)
        if len(some) > MAX_VALUES:
            raise ValueError(f"column {compared.name!r} has more than {MAX_VALUES} categories; join rare ones first")
        found = self._grouped(compared, {VALUE: value})
        return count_column(compared, found[VALUE], self._rows(found, compared.classes))

    def _value(self, name: Name) -> Any:
        """Expression of the value of a column, in which NaN is missing."""
        return plain_value(schema_of(self.frame), name)

    def _class(self, classes: TargetClasses) -> Any:
        """Expression of the number of the class of each row, -1 for none."""
        if self.target is None or classes.partition is None:
            return nw.lit(-1).cast(nw.Int64)
        dtype, known = self.frame.collect_schema()[self.target], [one[0] for one in classes.partition.groups if one]
        is_text = {isinstance(one, str) for one in known if one is not None}
        if (dtype.is_numeric() and is_text == {True}) or (isinstance(dtype, nw.String) and is_text == {False}):
            raise TypeError(classes.no_class(dtype, self.target))
        return part_of(self.frame, replace(classes.partition, name=self.target), NEUTRAL)

    def _grouped(self, compared: Compared, columns: Mapping[str, Any]) -> Any:
        """Rows by `columns`, class and period."""
        chosen = {**columns, CLASS: self._class(compared.classes), PERIOD: nw.col(PERIOD), WEIGHT: nw.col(WEIGHT)}
        groups = self.frame.select(**chosen).group_by(*columns, CLASS, PERIOD)
        found = collected(groups.agg(nw.col(WEIGHT).sum().alias(ROWS)), compared.name)
        check_same_rows(self.n_rows, int(found[ROWS].sum()), compared.name)
        return found.filter(nw.col(ROWS) > 0)

    def _rows(self, found: Any, classes: TargetClasses) -> NewRows:
        """Class, period and number of the rows of each line of a result."""
        code, n = _integers(found, CLASS), len(classes)
        periods = found[PERIOD].to_list()
        period = np.fromiter((self.by_value[_plain(value)] for value in periods), np.int64, len(periods))
        key = period * (n + 1) + np.where(code < 0, n, code)
        return NewRows(key, _integers(found, ROWS), n, len(self.periods))


def _integers(found: Any, name: str) -> Any:
    return found[name].to_numpy().astype(np.int64)


def _plain(value: Any) -> Any:
    """The value of a period; NaN is missing."""
    return None if isinstance(value, float) and value != value else value


def read_lazy_new(frame: Any, target: Any, by: Any, weights: Any) -> LazyNew:
    """Check the names of target, by and weights, and find the periods."""
    schema = schema_of(frame)
    check_lazy_names("new", schema, target=target, by=by, weights=weights)
    for name in (WEIGHT, PERIOD):
        if name in map(str.lower, schema):  # as DuckDB and Spark compare names
            raise ValueError(f"new has a column {name!r}, a name that queries of compare() have; rename the column")
    if weights is not None:
        total, bad = sums_of_weights(schema, weights)
        sums = collected(frame.select(total.alias("total"), bad.alias("bad")), weights)
        check_sums_of_weights(sums["total"][0], sums["bad"][0], weights)
    period, is_month = _period(frame, by)
    with_keys = frame.with_columns(weight_of(schema, weights).alias(WEIGHT), period.alias(PERIOD))
    totals = with_keys.select(PERIOD, WEIGHT).group_by(PERIOD).agg(nw.col(WEIGHT).sum().alias(ROWS))
    found = collected(totals.head(MAX_PERIODS + 1), by)
    values = [_plain(value) for value in found.filter(nw.col(ROWS) > 0)[PERIOD].to_list()]
    if not values:
        raise ValueError("new has no rows to compare")
    return LazyNew(with_keys, target, weights, *_numbered(values, by, is_month), int(found[ROWS].sum()))


def _period(frame: Any, by: str | None) -> tuple[Any, bool]:
    """Expression of the period of a row, and whether it is the number of a month."""
    if by is None:
        return nw.lit(0), False
    schema = schema_of(frame)
    dtype, value = schema[by], schema.col(by)
    if not isinstance(dtype, (nw.Date, nw.Datetime)):
        return value, False
    value = in_utc(frame, value, dtype)
    if value is None:
        zone = getattr(dtype, "time_zone", None)
        raise ValueError(
            f"by={by!r} has times of the zone {zone}, and its engine cannot convert them to UTC; make a column of "
            "months on the engine"
        )
    return value.dt.year() * 12 + value.dt.month() - 1, True


def _numbered(values: list[Any], by: str | None, is_month: bool) -> tuple[dict[Any, int], list[str]]:
    """Number of each period, and labels in their order: as `gridmodl.monitoring.counting` has them."""
    if by is None:
        return {0: 0}, [""]
    present = [value for value in values if value is not None]
    try:
        present.sort()
    except TypeError:
        present.sort(key=repr)
    shown = [f"{value // 12:04d}-{value % 12 + 1:02d}" for value in present] if is_month else present
    ordered = [*present, *([None] if None in values else [])]
    _, labels = period_labels([*shown, *([None] if None in values else [])])
    return {value: i for i, value in enumerate(ordered)}, labels


def lazy_prices(models: Mapping[Name, Model], counts: Mapping[Name, PartsCounts], new: LazyNew) -> dict[Name, Prices]:
    """Prices of models of one column each, of the rows of a lazy frame whose class the model knows."""
    if new.target is None:
        return {}
    found = {}
    for name, model in models.items():
        n_rows = int(counts[name].new[..., :-1].sum())
        if can_price(model, [counts[name]]) and n_rows:
            found[name] = _lazy_price(model, counts[name], new, n_rows)
    return found


def _lazy_price(model: Model, counts: PartsCounts, new: LazyNew, n_rows: int) -> Prices:
    """Prices of one column: it is counted by the bounds of the model, or by its categories that are not rare."""
    ((name, partition),) = model.partitions.items()
    target, options, clock = new.target, options_of(model, [name]), Clock()
    assert target is not None  # noqa: S101  for mypy
    labelled = new.frame.filter(new._class(classes_of(model)) >= 0)
    data = LazyData(labelled, [name], target, new.weights, n_rows, threading.Lock())
    if len(partition.bounds) and partition.kind == "numerical":
        counting = options._replace(fixed={name: partition.bounds})
    else:
        counting = options
    prices: list[Prices] = []

    def read(columns: Mapping[Name, Any], rows: Any) -> Table:
        return read_table(columns, target, rows, target_kind_of(model), NOT_GIVEN)

    def search(table: Table) -> Model:
        found = prices_of_column(table, model, counts, clock)
        prices.append(found.prices)
        return found.best

    if partition.others is None:
        counted_model(data, name, counting, read, search)
    else:
        search(counted_at(data, name, options, {name: partition}).table(read))
    return prices[-1]
