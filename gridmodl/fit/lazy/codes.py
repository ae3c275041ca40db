"""Search a grid of a lazy frame by codes: numbers of atoms, into which each column of numbers is cut.

The atoms of a column have about equal rows, and the bounds of its best partition alone are between them. Where the
combinations of codes, values of other columns and classes are few enough, the search sees all rows, at the resolution
of the atoms. Then the parts of one column after the other are improved on all rows, beside the parts of the others:
its values are counted as those of one column are, finer near its bounds, until these are between single values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.bounds import SHORT, bounds_between
from gridmodl.data.frames import Name, SpanColumn
from gridmodl.data.numbers import Numbers, encode_bounds, encode_special
from gridmodl.data.remote.cells import all_cells, column_of, in_order, lazy_cells
from gridmodl.data.remote.queries import CLASS, HIGH, LOW, ROWS, check_same_parts, check_same_rows, engine_errors
from gridmodl.data.remote.rows import lazy_rows
from gridmodl.data.table import Table
from gridmodl.fit.column.common import special_of
from gridmodl.fit.grid import grid_problem, grid_task, partition_of
from gridmodl.fit.holds import hold_columns
from gridmodl.fit.lazy.column import MAX_ZOOMS, CountedColumn, count_lazy, given_bounds_of, zoomed_model
from gridmodl.fit.lazy.data import LazyData, Reader
from gridmodl.fit.options import Options
from gridmodl.model.given import given_partition
from gridmodl.model.lazy.parts import part_of
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.model.policy import BY_PARTITION, STRICT
from gridmodl.plugins import criterion_for
from gridmodl.search.grid.improve import improve_state
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import Worker
from gridmodl.search.moves import is_cheaper

CODE_CELLS = 2**18  # combinations of codes, values and classes, if all occur, that the atoms of columns are chosen for
LEAST_ATOMS = 8  # atoms of each column of more values; with fewer a sample is searched
MAX_SWEEPS = 3  # visits of each column after the search
LEAST_GROUPS = 32  # values or buckets of each part of a column that is visited, at least

SearchColumn = Callable[[Name], Callable[[Table], Model]]


class CodedColumn(NamedTuple):
    """A column of numbers cut into atoms: its codes are the parts of `partition`."""

    partition: Partition
    low: Any  # lowest value of each atom, a series of pyarrow; null for missing values
    high: Any
    rows: NDArray[np.int64]  # rows of each atom
    resolution: int  # rows of the largest atom of several values

    def spans(self, codes: NDArray[np.int64]) -> SpanColumn:
        """The atom of each of the `codes`."""
        return SpanColumn(self.low[codes.tolist()], self.high[codes.tolist()])


class CodedCells(NamedTuple):
    """Table of the rows of each combination of codes, other values and class, and rows of the largest atom."""

    table: Table
    resolution: int


def coded_cells(
    data: LazyData, options: Options, read: Reader, search: SearchColumn, max_cells: int
) -> CodedCells | None:
    """Count combinations of codes; None if these, or values of columns that are not numbers, are too many."""
    counted = _counted_columns(data, options)
    if counted is None:
        return None
    n_atoms = _atoms_of(counted)
    coded: dict[Name, CodedColumn] = {}
    for name, found in counted.items():
        if isinstance(found.column, Numbers) and found.column.levels is None:
            found, _, model = zoomed_model(data, found, read, search(name))
            coded[name] = _coded(found, model.partitions[name].bounds, n_atoms[name], options)
    with data.lock, engine_errors(", ".join(map(str, data.names))):
        codes = {name: part_of(data.frame, one.partition, BY_PARTITION) for name, one in coded.items()}
        cells = lazy_cells(data.frame, data.names, data.target, data.weights, codes)
        found_cells = all_cells(cells, max_cells)
    if found_cells is None:
        return None
    rows = found_cells[ROWS].to_numpy()
    check_same_rows(data.n_rows, int(rows.sum()))
    columns: dict[Name, Any] = {data.target: found_cells[CLASS]}
    for k, name in enumerate(data.names):
        columns[name] = found_cells[column_of(k)]
        if name in coded:
            code = columns[name].to_numpy()
            now = np.bincount(code + 1, rows, len(coded[name].rows) + 1)  # first: rows of no atom
            check_same_parts(np.append(0, coded[name].rows), now, name)
            columns[name] = coded[name].spans(code)
    return CodedCells(read(columns, rows), max((one.resolution for one in coded.values()), default=0))


def _counted_columns(data: LazyData, options: Options) -> dict[Name, CountedColumn] | None:
    """Counts of all columns; None as soon as LEAST_ATOMS of each, or its values if they are fewer, are too many."""
    counted: dict[Name, CountedColumn] = {}
    if any(_is_local(data, name) for name in data.names):
        return None
    for name in data.names if 2 ** len(data.names) <= CODE_CELLS else ():
        counted[name] = found = count_lazy(data, name, options)
        least = [n if is_whole else min(n, LEAST_ATOMS) for n, is_whole in map(_values_of, counted.values())]
        if math.prod(least) * found.counts[CLASS].n_unique() > CODE_CELLS:
            return None
    return counted or None


def _is_local(data: LazyData, name: Name) -> bool:
    """Whether a column has times of a zone that the engine cannot convert to UTC, which cannot be cut into buckets."""
    with engine_errors(name):
        return lazy_rows(data.frame, name, data.target, data.weights, data.n_rows).is_local


def _values_of(found: CountedColumn) -> tuple[int, bool]:
    """Number of values, or of spans, of a column; and whether it cannot be cut into atoms of several values."""
    return found.counts[LOW].n_unique(), not isinstance(found.column, Numbers) or found.column.levels is not None


def _atoms_of(counted: Mapping[Name, CountedColumn]) -> dict[Name, int]:
    """Number of atoms of each column: equal ones, as many as CODE_CELLS allows; of columns with fewer values, all."""
    facts = {name: _values_of(found) for name, found in counted.items()}
    left = CODE_CELLS / max(found.counts[CLASS].n_unique() for found in counted.values())
    n_atoms: dict[Name, int] = {}
    order = sorted(facts, key=lambda name: (not facts[name][1], facts[name][0]))
    for i, name in enumerate(order):
        n, is_whole = facts[name]
        n_atoms[name] = n if is_whole else max(1, min(n, int(left ** (1 / (len(order) - i)) + 1e-9)))
        left /= n_atoms[name]
    return n_atoms


def _coded(found: CountedColumn, bounds: NDArray[Any], n_atoms: int, options: Options) -> CodedColumn:
    """Cut a column of numbers into about `n_atoms` atoms of equal rows, also at `bounds` and at those of the user.

    Missing values, infinite values and each part of special values are atoms of their own.
    """
    column, counts, rows = found.column, found.counts, found.counts[ROWS].to_numpy()
    special = special_of(column, options)
    is_free = ~np.isin(column.values, encode_special(special, column).codes)
    if column.missing is not None:
        is_free &= ~column.missing
    ends = column.values if column.ends is None else column.ends
    lows, first, span = np.unique(column.values[is_free], return_index=True, return_inverse=True)
    highs, span_rows = ends[is_free][first], np.bincount(span, rows[is_free], len(lows)).astype(np.float64)
    is_cut = _cuts(found, lows, span_rows, bounds, n_atoms, options)
    placement = SHORT if column.type.kind in "mM" else None  # expressions hold no nanoseconds
    cuts = bounds_between(highs[:-1][is_cut], lows[1:][is_cut], column.type, placement)
    partition = given_partition(column, cuts, special, 1, True)
    code = partition.part_of_encoded(column, STRICT)
    n_free = partition.n_parts - partition.n_special
    lowest, highest = (np.zeros(partition.n_parts, dtype=np.int64) for _ in range(2))
    order = np.argsort(column.values, kind="stable")
    highest[code[order]] = order
    lowest[code[order[::-1]]] = order[::-1]
    highest[n_free:] = lowest[n_free:]  # values of a special part are alike
    atom_rows = np.bincount(code, rows, partition.n_parts).astype(np.int64)
    is_divisible = (column.values[lowest] != ends[highest]) & (np.arange(partition.n_parts) < n_free)
    if partition.is_missing_apart and partition.missing is not None:
        is_divisible[partition.missing] = False
    resolution = int(atom_rows[is_divisible].max(initial=0))
    return CodedColumn(partition, counts[LOW][lowest.tolist()], counts[HIGH][highest.tolist()], atom_rows, resolution)


def _cuts(
    found: CountedColumn, lows: NDArray[Any], rows: NDArray[np.float64], bounds: NDArray[Any], n_atoms: int,
    options: Options,
) -> NDArray[np.bool_]:  # fmt: skip
    """Whether atoms are cut between each span, given by its lowest value and its rows, and the next."""
    column, given = found.column, options.of(found.name)
    number = np.floor((np.cumsum(rows) - rows / 2) * (n_atoms / max(1.0, rows.sum())))
    is_cut = number[1:] != number[:-1]
    if lows.dtype.kind == "f":
        is_cut |= ~np.isfinite(lows[1:]) | ~np.isfinite(lows[:-1])
    if given.allowed is not None:
        is_cut[:] = False
    elif len(bounds):
        is_cut[_places(lows, bounds.view(np.int64) if bounds.dtype.kind in "mM" else bounds)] = True
    own = given_bounds_of(options, found.name)
    if own:
        is_cut[_places(lows, encode_bounds(own, column, f"bounds of column {found.name!r}"))] = True
    return is_cut


def _places(lows: NDArray[Any], bounds: NDArray[Any]) -> NDArray[np.int64]:
    """Number of the last span below each bound; bounds with no span on one side are left out."""
    at = np.searchsorted(lows, bounds, side="right")
    return at[(at > 0) & (at < len(lows))] - 1


# Improve the parts of one column after the other on all rows.


def improved_parts(
    data: LazyData, partitions: Mapping[Name, Partition], options: Options, read: Reader, clock: Clock, max_cells: int
) -> dict[Name, Partition]:
    """The partitions, which hold every value, with parts of one column after the other improved on all rows.

    Each column is counted in about `max_cells` combinations of its values and the parts of the others.
    """
    found, n_quiet = dict(partitions), 0
    for name in itertools.islice(itertools.cycle(data.names), MAX_SWEEPS * len(data.names)):
        if n_quiet >= len(data.names) or clock.stopped:
            break
        n_quiet += 1
        visit = Visit(data, found, name, options, read, clock, max_cells)
        try:
            new = visit.of_numbers() if found[name].kind == "numerical" else visit.of_values()
        except KeyboardInterrupt:
            clock.stopped = "interrupted"
            break
        if new is not found[name]:
            found[name], n_quiet = new, 1
    return found


class Visit:
    """Improve the parts of the column `name` on all rows, beside the parts of the others."""

    def __init__(
        self, data: LazyData, partitions: Mapping[Name, Partition], name: Name, options: Options, read: Reader,
        clock: Clock, max_cells: int,
    ) -> None:  # fmt: skip
        self.data, self.name, self.read, self.clock, self.max_cells = data, name, read, clock, max_cells
        self.partition, self.options = partitions[name], options
        self.n_parts = {one: parts.n_parts for one, parts in partitions.items() if one != name and parts.n_parts > 1}
        self.keys = {one: column_of(data.names.index(one)) for one in self.n_parts}
        self.beside = {
            key: part_of(data.frame, without_longest_group(partitions[one]), BY_PARTITION)
            for one, key in self.keys.items()
        }

    def of_numbers(self) -> Partition:
        """The partition of a numerical column, with bounds between single values where the visit can find these."""
        data, partition = self.data, self.partition
        if _is_local(data, self.name):
            return partition
        least = LEAST_GROUPS * (1 + len(partition.bounds))  # so that spans between bounds are found in few queries
        most = max(least, self.max_cells // math.prod(self.n_parts.values()))
        fewer = data._replace(max_groups=min(data.max_groups, most))
        axis = count_lazy(fewer, self.name, self.options, list(partition.bounds), beside=self.beside).axis
        assert axis is not None  # noqa: S101  for mypy
        for zoom in range(MAX_ZOOMS + 1):
            partition = self._improved(axis.counts, partition)
            with data.lock, engine_errors(self.name):
                finer = None if zoom == MAX_ZOOMS else axis.near(partition.bounds, zoom > 0)
            if finer is None:
                break
            axis = finer
        return partition

    def of_values(self) -> Partition:
        """The partition of a column that is counted by value; as it is if there are too many combinations."""
        data = self.data
        with data.lock, engine_errors(self.name):
            rows = lazy_rows(data.frame, self.name, data.target, data.weights, data.n_rows, beside=self.beside)
            counts = rows.by_value(rows.frame, self.max_cells)
        return self.partition if len(counts) > self.max_cells else self._improved(counts, self.partition)

    def _improved(self, counts: Any, partition: Partition) -> Partition:
        """The cheapest partition that local moves find on these counts; `partition` itself if none is cheaper."""
        check_same_rows(self.data.n_rows, int(counts[ROWS].sum()), self.name)
        table = self._table(in_order(counts, [LOW, CLASS, *self.keys.values()]))
        options = self._options(table)
        columns, task = grid_task(table, options, criterion_for(options.criterion, grid_problem(table)), self.clock)
        searching, held = hold_columns(columns, task, options)
        labels = []
        for k, column in enumerate(columns):
            of_rows = partition.part_of_encoded(column, STRICT) if column.name == self.name else task.rows.atom[k]
            of_atoms = np.zeros(searching.rows.n_atoms(k), dtype=np.int64)
            of_atoms[searching.rows.atom[k]] = of_rows
            labels.append(of_atoms)
        k = self.data.names.index(self.name)
        worker = Worker(searching)
        before = worker.load(make_grid(list(enumerate(labels))))
        improve_state(worker, np.array([k]))
        grid = worker.grid()
        if not is_cheaper(grid.cost, before):
            return partition
        parts = grid.parts_of(k, searching.rows.n_atoms(k))
        parts = parts[held[k].atom_of] if k in held else parts
        kept = held.get(k) if k in grid.variables else None
        return partition_of(columns[k], parts, task, grid, k, table, kept)[0]

    def _table(self, counts: Any) -> Table:
        """Table of counts: the column, numbers of parts of the others, and the target."""
        columns: dict[Name, Any] = {name: np.zeros(len(counts)) for name in self.data.names}
        columns |= {one: counts[key].to_numpy().astype(np.float64) for one, key in self.keys.items()}
        columns[self.name] = SpanColumn(counts[LOW], counts[HIGH])
        return self.read({**columns, self.data.target: counts[CLASS]}, counts[ROWS].to_numpy())

    def _options(self, table: Table) -> Options:
        """Options of the column alone: those of others are for their values, and not for numbers of parts."""
        kinds = dict.fromkeys(self.data.names, "numerical") | {self.name: self.options.kinds.get(self.name)}
        kinds = {name: kind for name, kind in kinds.items() if kind is not None}
        special = special_of(table.column(self.name, kinds.get(self.name)), self.options)
        given = self.options.of(self.name)._asdict()
        by_name: dict[str, Any] = {what: None if one is None else {self.name: one} for what, one in given.items()}
        return self.options._replace(**{**by_name, "kinds": kinds, "order": {}, "special": {self.name: special}})


def without_longest_group(partition: Partition) -> Partition:
    """The same parts with a shorter list of values: the group of the most values is that of all that are not listed."""
    if partition.kind != "categorical":
        return partition
    longest = max(range(partition.n_parts), key=lambda i: len(partition.groups[i]))
    groups = tuple(() if i == longest else group for i, group in enumerate(partition.groups))
    return replace(partition, groups=groups, default=longest)
