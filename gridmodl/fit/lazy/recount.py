"""Count a grid on all rows of a lazy frame: as rows here that have the cells and values of those on the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.columns import Categories, encode_column, encode_values
from gridmodl.data.frames import Name, SpanColumn
from gridmodl.data.remote.cells import column_of
from gridmodl.data.remote.counting import count_values
from gridmodl.data.remote.queries import (
    CLASS,
    LOW,
    ROWS,
    TARGET_BUCKET,
    TARGET_HIGH,
    TARGET_SUM,
    WEIGHT,
    Schema,
    check_same_parts,
    check_same_rows,
    collected,
    plain_value,
    schema_of,
    weight_of,
)
from gridmodl.data.remote.rows import lazy_rows, target_columns, target_facts, with_target_buckets, with_target_ends
from gridmodl.data.table import Table
from gridmodl.fit.build import grid_model
from gridmodl.fit.column.common import special_of
from gridmodl.fit.column.groups import class_means
from gridmodl.fit.grid import given_grid
from gridmodl.fit.lazy.axis import Axis
from gridmodl.fit.lazy.codes import without_longest_group
from gridmodl.fit.lazy.data import LazyData, Reader
from gridmodl.fit.options import Options
from gridmodl.model.given import given_partition
from gridmodl.model.lazy.parts import part_of
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, rows_in_groups
from gridmodl.model.policy import BY_PARTITION, STRICT


class ValueRows(NamedTuple):
    """Values of one column that stand for all rows: their parts, and the rows of each."""

    values: Any  # a narwhals series of pyarrow
    part: NDArray[np.int64]
    rows: NDArray[np.int64]


class Recount:
    """Count a grid that was found by codes, in a sample or elsewhere, on all rows of a lazy frame."""

    def __init__(self, data: LazyData, options: Options, model: Model) -> None:
        self.data, self.model = data, model
        self.kept = [name for name in data.names if model.partitions[name].n_parts > 1]
        # A column that tells nothing is left out whole, special values and missing ones included.
        special = {name: options.of(name).special for name in self.kept}
        if not isinstance(options.special, Mapping):  # a list is for columns of numbers
            special = {name: one for name, one in special.items() if model.partitions[name].kind == "numerical"}
        missing = {name: "apart" for name in self.kept if options.of(name).missing == "apart"}
        self.options, self.given = options, options._replace(special=special, missing=missing)
        self.has_classes = data.target is not None and model.target is None
        # Spans of a numerical target with many values; none holds one of its bounds.
        self.of_target: Axis | None = None
        if data.of_target is not None and model.target is not None:
            self.of_target = data.of_target.at(list(model.target.bounds))
        self.by_value: dict[Name, Any] = {}  # counts by value of the columns that are not numerical
        self.ends: dict[Name, Any] = {}  # lowest and highest value of the others, and a missing value if there is one

    def of_parts(self, partitions: Mapping[Name, Partition]) -> Recount:
        """The same of other parts of the columns; what was asked of the engine is not asked again."""
        other = Recount(self.data, self.options, replace(self.model, partitions=partitions))
        other.by_value, other.ends = self.by_value, self.ends
        return other

    def partitions(self) -> dict[Name, Partition]:
        """Partitions of the columns, without rows; they hold every value of all rows."""
        return {name: self._partition(name) for name in self.data.names}

    def counted(self, read: Reader, clock: Clock) -> Model:
        """Model of the grid, with the counts and the cost of all rows."""
        partitions = self.partitions()
        table, values = self.table(partitions, read)
        target = self._target_parts(table)
        found = given_grid(table, {**partitions, **target}, self.given)
        partitions = {name: _ordered(partitions[name], one, table) for name, one in found.best.partitions.items()}
        model = grid_model(table, given_grid(table, {**partitions, **target}, self.given), clock, self.options)
        if self.of_target is not None:
            model = replace(model, resolution=self.of_target.resolution)
        if not table.problem.flags.has_classes:
            model = replace(model, partitions=self.described(model.partitions, values))
        return replace(model, search=self.model.search, frame=self.model.frame, _source=None)

    def table(self, partitions: Mapping[Name, Partition], read: Reader) -> tuple[Table, dict[Name, ValueRows]]:
        """Table of rows that have the cells, classes and values of all rows, and these values of each column."""
        cells = self._cells(partitions)
        check_same_rows(self.data.n_rows, int(cells[ROWS].sum()))
        values = {name: self._values(k, partitions[name], cells) for k, name in enumerate(self.data.names)}
        return read(*self._rows(partitions, values, cells)), values

    def _target_parts(self, table: Table) -> dict[Name, Any]:
        """Parts of a target that is partitioned; classes that the sample lacks join the largest group."""
        found, column = self.model.target, table.searched
        if found is None or column is None:
            return {}
        if not isinstance(column, Categories):
            return {column.name: found}
        groups = [list(group) for group in found.groups]
        known = {value for group in groups for value in group}
        groups[int(found.rows.argmax())] += [value for value in column.values if value not in known]
        return {column.name: groups}

    def _partition(self, name: Name) -> Partition:
        """Partition of a column as the sample found it, without rows; it holds every value of all rows."""
        found, is_kept = self.model.partitions[name], name in self.kept
        column = self.column(name, found.kind == "numerical")
        if found.kind == "numerical":
            is_apart = name in self.given.missing and found.missing is None
            own: Any = () if not is_kept else found.bounds if is_apart else found
            return given_partition(column, own, special_of(column, self.given) if is_kept else (), 1, is_apart)
        special = special_of(column, self.given) if is_kept else ()
        if isinstance(column, Categories) and is_kept:
            return given_partition(column, self._all_groups(found, column), special, 1)
        return given_partition(column, found if is_kept else (), special, 1)

    def column(self, name: Name, is_numerical: bool) -> Any:
        """The encoded column `name`, of its ends if it is numerical, else of all its values."""
        kind = self.options.kinds.get(name)
        if is_numerical:
            self.ends[name] = self.ends[name] if name in self.ends else self._ends(name)
            return encode_column(self.ends[name], name, kind)
        if name not in self.by_value:
            target = self.data.target if self.has_classes else None
            rows = lazy_rows(self.data.frame, name, target, self.data.weights, self.data.n_rows)
            counts = count_values(rows._replace(dtype=nw.Unknown()))
            self.by_value[name] = counts.filter(nw.col(ROWS) > 0)
        return encode_column(self.by_value[name][LOW], name, kind)

    def _ends(self, name: Name) -> Any:
        """Lowest and highest value of a column, and a missing value if it has any."""
        schema = schema_of(self.data.frame)
        value = plain_value(schema, name)
        weighted = self.data.frame.select(gridmodl_value=value, gridmodl_weight=weight_of(schema, self.data.weights))
        weighted = weighted.filter(nw.col(WEIGHT) > 0)
        one = nw.col("gridmodl_value")
        is_missing = one.is_null().cast(nw.Int64).sum()
        ends = collected(weighted.select(one.min().alias("low"), one.max().alias("high"), is_missing.alias("n")), name)
        return _joined([ends["low"], ends["high"]], int(ends["n"][0] or 0) > 0)

    def _all_groups(self, found: Partition, column: Categories) -> list[list[Any]]:
        """Groups of the sample; a value that it lacks joins the group whose classes are most like its own.

        Without classes, it joins the group of the most rows.
        """
        n_plain = found.n_parts - found.n_special
        groups = [list(group) for group in found.groups[:n_plain]]
        known = {value for group in found.groups for value in group}
        unseen = [i for i, value in enumerate(column.values) if value not in known]
        if None not in known and None in column.values and found.name in self.given.missing:
            groups.append([None])
            unseen = [i for i in unseen if column.values[i] is not None]
        best = np.full(len(unseen), int(found.rows[:n_plain].argmax()))
        if self.has_classes and unseen:
            shares = np.log((found.counts[:n_plain] + 1) / (found.rows[:n_plain, None] + found.counts.shape[1]))
            best = (self._class_rows(column)[unseen] @ shares.T).argmax(axis=1)
        for i, group in zip(unseen, best.tolist(), strict=True):
            groups[group].append(column.values[i])
        return groups

    def _class_rows(self, column: Categories) -> NDArray[np.int64]:
        """Rows of each value of a categorical column, by class of the sample."""
        counts, names = self.by_value[column.name], self.model.classes.tolist()
        classes = encode_values(counts[CLASS], "target")
        place = np.array([names.index(one) if one in names else len(names) for one in classes.values])
        found = np.zeros((len(column.values), len(names) + 1), dtype=np.int64)
        np.add.at(found, (column.codes, place[classes.codes]), counts[ROWS].to_numpy())
        return found[:, : len(names)]

    def _cells(self, partitions: Mapping[Name, Partition]) -> Any:
        """Rows of each cell and class on the engine, with the ends and missing values of the numerical columns."""
        data, schema = self.data, schema_of(self.data.frame)
        columns: dict[str, Any] = {} if data.target is None else {CLASS: plain_value(schema, data.target)}
        columns |= {WEIGHT: weight_of(schema, data.weights)} | self._target_columns(schema)
        facts = [nw.col(WEIGHT).sum().alias(ROWS)]
        for k, name in enumerate(data.names):
            columns[column_of(k)] = part_of(data.frame, without_longest_group(partitions[name]), BY_PARTITION)
            if partitions[name].kind != "numerical":
                continue
            value = nw.col(f"value_{k}")
            columns[f"value_{k}"] = plain_value(schema, name)
            columns[f"missing_{k}"] = (
                nw.when(columns[f"value_{k}"].is_null()).then(columns[WEIGHT]).otherwise(nw.lit(0))
            )
            facts += [value.min().alias(f"low_{k}"), value.max().alias(f"high_{k}")]
            facts += [nw.col(f"missing_{k}").sum().alias(f"missing_{k}")]
        of_target = [] if data.target is None else [CLASS]
        rows = data.frame.select(**columns).filter(nw.col(WEIGHT) > 0)
        if self.of_target is not None:
            rows, of_target = with_target_buckets(rows, self.of_target.edges), [TARGET_BUCKET]
            facts += target_facts()
        keys = [*(column_of(k) for k in range(len(data.names))), *of_target]
        found = collected(rows.group_by(*keys).agg(*facts), ", ".join(map(str, data.names)))
        found = found if self.of_target is None else with_target_ends(found)
        whole = [name for name in found.columns if name.startswith("missing_")]  # sums of DuckDB are decimals
        return found.with_columns(nw.col(*whole).cast(nw.Int64)) if whole else found

    def _target_columns(self, schema: Schema) -> dict[str, Any]:
        """Values and keys of a target that is counted in buckets."""
        return {} if self.of_target is None else target_columns(schema, self.data.target)

    def _values(self, k: int, partition: Partition, cells: Any) -> ValueRows:
        """Values of input number k that stand for all rows: ends and missing values of intervals, or all values."""
        if partition.kind != "numerical":
            counts = self.by_value[partition.name].group_by(LOW).agg(nw.col(ROWS).sum())
            part = partition.part_of_column(counts[LOW], STRICT)
            return ValueRows(counts[LOW], part, counts[ROWS].to_numpy())
        low, high, missing = (f"{what}_{k}" for what in ("low", "high", "missing"))
        facts = (nw.col(low).min(), nw.col(high).max(), nw.col(missing).sum(), nw.col(ROWS).sum())
        of_part = cells.group_by(column_of(k)).agg(*facts).sort(column_of(k))
        part, absent = of_part[column_of(k)].to_numpy(), of_part[missing].to_numpy()
        n = of_part[ROWS].to_numpy() - absent
        at_end = ((of_part[low] != of_part[high]).fill_null(False).to_numpy() & (n > 1)).astype(np.int64)
        rows = np.concatenate([n - at_end, at_end, absent])
        values = _joined([of_part[low], of_part[high]], True)
        place = np.concatenate([np.arange(2 * len(part)), np.full(len(part), 2 * len(part))])[rows > 0]
        return ValueRows(values[place.tolist()], np.tile(part, 3)[rows > 0], rows[rows > 0])

    def _rows(
        self, partitions: Mapping[Name, Partition], values: Mapping[Name, ValueRows], cells: Any
    ) -> tuple[dict[Name, Any], NDArray[np.int64]]:
        """Columns and weights of rows that have the cells, classes and values of all rows.

        Which rows of a cell hold which of its values is not known, and no price asks.
        """
        weights, cell = cells[ROWS].to_numpy(), np.arange(len(cells))
        places: dict[Name, NDArray[np.int64]] = {}
        for k, name in enumerate(self.data.names):
            of_rows, counted = cells[column_of(k)].to_numpy()[cell], values[name]
            n_parts = partitions[name].n_parts
            now = np.bincount(of_rows, weights, n_parts)
            check_same_parts(np.bincount(counted.part, counted.rows, n_parts), now, name)
            row, value, weights = spread(of_rows, weights, counted.part, counted.rows)
            cell, places = cell[row], {one: place[row] for one, place in places.items()}
            places[name] = value
        columns: dict[Name, Any] = {name: values[name].values[place.tolist()] for name, place in places.items()}
        if self.data.target is not None:
            columns[self.data.target] = target = cells[CLASS][cell.tolist()]
        if self.of_target is not None:
            means = (cells[TARGET_SUM].to_numpy() / cells[ROWS].to_numpy())[cell]
            columns[self.data.target] = SpanColumn(target, cells[TARGET_HIGH][cell.tolist()], means)
        return columns, weights

    def described(
        self, partitions: Mapping[Name, Partition], values: Mapping[Name, ValueRows]
    ) -> dict[Name, Partition]:
        """Partitions without classes, with what is said of the values of their parts."""
        return {name: self._described(one, values[name]) for name, one in partitions.items()}

    def _described(self, partition: Partition, counted: ValueRows) -> Partition:
        """Partition without classes: with its number of values, or with the most typical values of its groups first.

        The order of the values is that of the sample; values that it lacks follow, those of the most rows first.
        """
        name = partition.name
        if partition.kind == "numerical":
            return replace(partition, n_values=self._distinct(partition))
        if partition.kind == "ordinal":
            return partition
        values = counted.values.to_list()
        rows = dict(zip(values, counted.rows.tolist(), strict=True))
        place = {
            value: i for i, value in enumerate(one for group in self.model.partitions[name].groups for one in group)
        }
        groups = tuple(
            tuple(sorted(group, key=lambda value: (place.get(value, len(place)), -rows.get(value, 0))))
            for group in partition.groups
        )
        return replace(partition, groups=groups, value_rows=rows_in_groups(groups, values, counted.rows))

    def _distinct(self, partition: Partition) -> NDArray[np.int64]:
        """Number of distinct values of each part of a numerical column, missing ones as one value."""
        data, schema = self.data, schema_of(self.data.frame)
        rows = data.frame.select(
            gridmodl_0=part_of(data.frame, partition, BY_PARTITION),
            gridmodl_value=plain_value(schema, partition.name),
            gridmodl_weight=weight_of(schema, data.weights),
        )
        value = nw.col("gridmodl_value")
        rows = rows.filter((nw.col(WEIGHT) > 0) & ~value.is_null()).select("gridmodl_0", "gridmodl_value").unique()
        found = collected(rows.group_by("gridmodl_0").agg(nw.len().alias(ROWS)), partition.name)
        n_values = np.zeros(partition.n_parts, dtype=np.int64)
        n_values[found["gridmodl_0"].to_numpy()] = found[ROWS].to_numpy()
        if partition.n_missing and partition.missing is not None:
            n_values[partition.missing] += 1
        return n_values


def spread(
    row_part: NDArray[np.int64], row_weights: NDArray[np.int64], value_part: NDArray[np.int64],
    value_rows: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Divide rows so that each has one value of its part: row, value and weight of each piece.

    In each part, rows and values have the same sum.
    """
    rows, values = np.argsort(row_part, kind="stable"), np.argsort(value_part, kind="stable")
    row_ends, value_ends = np.cumsum(row_weights[rows]), np.cumsum(value_rows[values])
    ends = np.union1d(row_ends, value_ends)
    return (
        rows[np.searchsorted(row_ends, ends)],
        values[np.searchsorted(value_ends, ends)],
        np.diff(ends, prepend=0).astype(np.int64),
    )


def _ordered(partition: Partition, counted: Partition, table: Table) -> Partition:
    """`partition`, its groups in the order of those that a search finds; `counted` has their rows."""
    if partition.kind != "categorical":
        return partition
    n_plain = partition.n_parts - partition.n_special
    counts = counted.counts[:n_plain]
    key = class_means(counts, table.target.one_event) if table.problem.flags.has_classes else -counts[:, 0]
    order = np.argsort(key, kind="stable").tolist()
    groups = (*(partition.groups[i] for i in order), *partition.groups[n_plain:])
    missing = next((i for i, group in enumerate(groups) if None in group), None)
    return replace(partition, groups=groups, missing=missing)


def _joined(series: list[Any], has_missing: bool) -> Any:
    """Series of pyarrow one after the other, and a missing value at the end if there is one."""
    import pyarrow

    chunks = [chunk for one in series for chunk in one.to_native().chunks]
    kind = series[0].to_native().type
    nothing = [pyarrow.nulls(1, kind)] if has_missing else []
    return nw.from_native(pyarrow.chunked_array([*chunks, *nothing], kind), series_only=True)
