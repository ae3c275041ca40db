"""Fit a grid over several columns: encode them, search, describe the parts, and say why a column is left out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.bounds import bounds_between
from gridmodl.data.columns import Categories, Column
from gridmodl.data.frames import Name
from gridmodl.data.line import check_bounds, span_ends
from gridmodl.data.numbers import Numbers, Special
from gridmodl.data.table import Table
from gridmodl.fit.column.common import special_of
from gridmodl.fit.column.groups import ordered_groups
from gridmodl.fit.column.priced import with_missing, with_rows
from gridmodl.fit.holds import FREE, HeldColumn, hold_columns, of_values
from gridmodl.fit.options import Options
from gridmodl.model.cells import Cells, make_cells
from gridmodl.model.densities.ranges import with_domain, with_ranges
from gridmodl.model.file.values import check_column
from gridmodl.model.given import given_partition
from gridmodl.model.partition import Partition, group_partition, interval_partition, rows_in_groups
from gridmodl.model.policy import STRICT
from gridmodl.model.target_quantiles import TargetQuantiles, make_target_quantiles
from gridmodl.plugins import criterion_for
from gridmodl.pricing import check_cost
from gridmodl.search import Search, has_search, run
from gridmodl.search.grid.optima import GridFound, missing_apart
from gridmodl.search.grid.ordered import order_of_grid, ordered
from gridmodl.search.grid.rows import Grid, make_grid
from gridmodl.search.grid.state import GridTask, make_task, price_grid
from gridmodl.search.grid.typical import typicality
from gridmodl.search.moves import is_cheaper
from gridmodl.search.rules import ANY_ORDER
from gridmodl.terms import Criterion, level_of


class GridModel(NamedTuple):
    """A grid as partitions and cells, as `Model` has them."""

    partitions: dict[Name, Partition]  # partitions of the inputs
    cells: Cells
    cost: float
    target: Partition | None = None  # partition of a partitioned target
    target_quantiles: TargetQuantiles | None = None  # statistics of a numerical target, see `Model._target_quantiles`


class FoundGrid(NamedTuple):
    """The best grid, and all else that the `Model` needs."""

    best: GridModel
    null_cost: float
    left_out: dict[Name, str]
    optima: list[GridModel]
    search: str
    criterion: Criterion
    order: str | None = None  # of the means of a numerical target, if monotone="auto" let it be any


class Searched(NamedTuple):
    """Result of a search: grids over atoms, before they are converted to partitions."""

    columns: list[Column]
    task: GridTask
    found: GridFound
    criterion: Criterion
    held: Mapping[int, HeldColumn] = {}  # what columns keep, by number
    order: str | None = None  # as in `FoundGrid`


def best_grid(table: Table, options: Options, n_jobs: int, random_state: int | None, clock: Clock) -> FoundGrid:
    """Search the best grid over all columns of a table, and the optima to keep."""
    searched = search_grids(table, options, n_jobs, random_state, clock)
    optima = [_in_words(grid, searched, table, _kept(grid, searched.columns, table)) for grid in searched.found.optima]
    return found_grid(table, searched)._replace(optima=optima)


def search_grids(table: Table, options: Options, n_jobs: int, random_state: int | None, clock: Clock) -> Searched:
    """Search for grids over all columns of a table."""
    criterion = criterion_for(options.criterion, grid_problem(table))
    columns, task = grid_task(table, options, criterion, clock)
    task = replace(task, n_jobs=n_jobs, random_state=random_state)
    held: dict[int, HeldColumn] = {}
    if table.searched is None:
        found, held = _search_held(columns, task, options)
        limited = _with_missing_limited(columns, task, options)
        if limited and not clock.look():
            rules = {column.name: options.of(column.name).missing for column in columns}
            exempt = options._replace(missing=rules | dict.fromkeys(limited, "apart"))
            other, of_other = _search_held(columns, task, exempt)
            if is_cheaper(other.grid.cost, found.grid.cost):
                found, held = other, of_other
    else:
        atoms = {k: atom for k, column in enumerate(columns) for atom in _missing_atom(column)}
        found = missing_apart(task, run_engine(task, options.search), atoms)
    monotone, order = options.of(columns[0].name).monotone, None
    if table.problem.flags.target_is_numerical and monotone is not None and isinstance(columns[0], Numbers):
        sums, has_missing = _target_sums(table, task), bool(_missing_atom(columns[0]))
        found = ordered(task, found, ANY_ORDER if monotone == "auto" else (monotone,), sums, has_missing)
        order = order_of_grid(task, found.grid, sums, has_missing) if monotone == "auto" else None
    check_cost(criterion, found.null.cost)
    check_cost(criterion, found.grid.cost)
    return Searched(columns, task, found, criterion, held, order)


def _search_held(columns: list[Column], task: GridTask, options: Options) -> tuple[GridFound, dict[int, HeldColumn]]:
    """Grids that keep what is known of the columns, and what each column keeps."""
    searching, held = hold_columns(columns, task, options)
    return of_values(run_engine(searching, options.search), held), held


def _with_missing_limited(columns: list[Column], task: GridTask, options: Options) -> list[Name]:
    """Columns with missing values that may have fewer parts than values.

    A search with ``missing="auto"`` counts a part of missing values alone, which is exempt. So it is done again with
    ``"apart"`` for these columns, which does not count it.
    """
    return [
        column.name
        for k, column in enumerate(columns)
        if task.limits.of(k).max_parts < task.rows.n_atoms(k)
        and _missing_atom(column)
        and options.of(column.name).missing == "auto"
    ]


def _missing_atom(column: Column) -> list[int]:
    """The atom of the missing values of a column; none if it has no missing values."""
    if isinstance(column, Categories):
        return [column.values.index(None)] if None in column.values else []
    return [0] if column.missing is not None and column.missing.any() else []


def _target_sums(table: Table, task: GridTask) -> NDArray[np.int64]:
    """Sum of a numerical target over the rows of each value of the input, in units so small that sums are exact.

    Whole numbers are their own unit; others are rounded to about the precision that a sum of them has in floats.
    """
    y, atom = table.quantities, task.rows.atom[0]
    weights = np.ones(len(y), dtype=np.int64) if table.target.weights is None else table.target.weights
    room = 2.0**52 / max(1.0, float(weights.sum()))
    is_whole = bool(np.all(y == np.rint(y))) and float(np.abs(y).max(initial=0.0)) <= room
    middle = 0.0 if is_whole else float(y.min() / 2 + y.max() / 2)
    widest = float(np.abs(y - middle).max(initial=0.0))
    units = np.rint((y - middle) * (1.0 if is_whole or widest == 0.0 else room / widest)).astype(np.int64)
    sums = np.zeros(task.rows.n_atoms(0), dtype=np.int64)
    np.add.at(sums, atom, units * weights)
    return sums


def found_grid(table: Table, searched: Searched) -> FoundGrid:
    """Convert the best grid found to partitions and cells, without the optima."""
    found, criterion = searched.found, searched.criterion
    best = _in_words(found.grid, searched, table, table.names)
    reasons = _left_out(searched, len(table.names)) if len(table.names) > 1 else {}
    return FoundGrid(best, found.null.cost, reasons, [], found.kind, criterion, searched.order)


def grid_problem(table: Table) -> str:
    """Kind of problem of a grid over the columns of a table."""
    flags = table.problem.flags
    is_several = flags.has_classes or len(table.names) > 1
    return flags.with_more_inputs or table.problem.kind if is_several else table.problem.kind


def run_engine(task: GridTask, search: Search) -> GridFound:
    """Run the search: by the pair engine (dense cells) for two variables without classes, else by the grid engine.

    Several inputs and a target that is partitioned too have an engine of their own.
    """
    if task.has_margins:
        return run("target", task, search)
    is_dense = task.n_variables == 2 and not task.has_classes and task.holds.is_nothing
    # For 100,000 rows over 1,000 x 1,000 values, the grid engine finds the same grid in 16 times the processor time;
    # for sparse blocks over 2,000 x 2,000 values, it does not find them in 7 times the time (benchmark joint.Engines).
    if is_dense and (has_search("pair", search) or not has_search("grid", search)):
        return run("pair", task, search)
    return run("grid", task, search)


def grid_task(
    table: Table, options: Options, criterion: Criterion, clock: Clock | None = None
) -> tuple[list[Column], GridTask]:
    """Encoded columns, a partitioned target last, and the task of finding a grid over them."""
    columns = [table.column(name, options.kinds.get(name)) for name in table.names]
    for column in columns:
        check_column(column)
    columns += [] if table.searched is None else [table.searched]
    limits = [options.of(column.name).limits(table.problem.n_rows) for column in columns]
    return columns, make_task(columns, table.target, criterion, limits, clock, grid_problem(table))


def _kept(grid: Grid, columns: Sequence[Column], table: Table) -> list[Name]:
    """Names of the columns that an element of optima has: those with more than one part."""
    return table.names if len(table.names) == 1 else [columns[k].name for k in grid.variables]


def _in_words(grid: Grid, searched: Searched, table: Table, names: Sequence[Name]) -> GridModel:
    """Convert a grid to the partitions of the columns `names`, and of a partitioned target, and to cells."""
    partitions, parts_of_rows = {}, {}
    columns, task = searched.columns, searched.task
    for k, column in enumerate(columns):
        if column.name not in names and column is not table.searched:
            continue
        labels = grid.parts_of(k, task.rows.n_atoms(k))
        held = searched.held.get(k) if k in grid.variables else None
        partition, renumbered = partition_of(column, labels, task, grid, k, table, held)
        if not table.problem.flags.has_classes:
            partition = with_values(partition, renumbered)
        partitions[column.name] = partition
        parts_of_rows[column.name] = renumbered[task.rows.atom[k]]
    informative = [columns[k].name for k in grid.variables]
    return _grid_model(partitions, parts_of_rows, informative, grid.cost, table, columns)


def _grid_model(
    partitions: dict[Name, Partition],
    parts_of_rows: dict[Name, NDArray[np.int64]],
    informative: Sequence[Name],
    cost: float,
    table: Table,
    columns: Sequence[Column],
) -> GridModel:
    """Make the record of a grid from its partitions and the part of each row in each of them."""
    of_name = {column.name: column for column in columns}
    partitions = {
        name: with_domain(with_missing(one, of_name[name], table), of_name[name]) for name, one in partitions.items()
    }
    for name in partitions if not table.problem.flags.has_target else []:
        partitions[name] = with_ranges(partitions[name], of_name[name])
    cells = make_cells(informative, [parts_of_rows[name] for name in informative], table.target)
    if table.searched is None:
        return GridModel(partitions, cells, cost)
    target = with_ranges(partitions.pop(table.searched.name), table.searched)
    if not table.problem.flags.target_is_numerical:
        return GridModel(partitions, cells, cost, target)
    if len(table.names) == 1:
        ((name, partition),) = partitions.items()
        place, n_places = parts_of_rows[name], partition.n_parts
    else:
        inputs = cells.over([k for k, name in enumerate(cells.names) if name != target.name])
        place = inputs.cell_of([parts_of_rows[name] for name in inputs.names], len(table.target.codes))
        n_places = len(inputs.parts)
    quantiles = make_target_quantiles(table.quantities, place, table.target.weights, n_places)
    return GridModel(partitions, cells, cost, target, quantiles)


def partition_of(
    column: Column, labels: NDArray[np.int32], task: GridTask, grid: Grid, k: int, table: Table,
    held: HeldColumn | None = None,
) -> tuple[Partition, NDArray[np.int64]]:  # fmt: skip
    """Make the partition of one column, given the part of each atom; return it with the new part of each atom.

    `held` is what the column keeps.
    """
    if isinstance(column, Categories):
        partition, parts = _groups_of(column, labels, task, grid, k, table, held)
        of_values = rows_in_groups(partition.groups, column.values, task.rows.rows_of_atoms(k))
        return replace(partition, value_rows=of_values), parts
    special = Special(np.empty(0, column.values.dtype), ()) if held is None else held.codes
    is_free = np.ones(len(labels), dtype=bool) if held is None else held.special_of == FREE
    parts = np.zeros(len(labels), dtype=np.int64)
    parts[is_free] = np.cumsum(np.append(0, np.diff(labels[is_free]) != 0)) if is_free.any() else 0
    n_intervals = max(1, len(np.unique(parts[is_free])))
    if held is not None:
        parts[~is_free] = n_intervals + held.special_of[~is_free]
    counts = _counts(parts, n_intervals + special.n_parts, task, k, table)
    bounds = _bounds(column, parts, is_free, task, k, table.placement, None if held is None else held.bounds)
    return interval_partition(column, bounds, special, counts, column.missing is not None), parts


def _groups_of(
    column: Categories, labels: NDArray[np.int32], task: GridTask, grid: Grid, k: int, table: Table,
    held: HeldColumn | None,
) -> tuple[Partition, NDArray[np.int64]]:  # fmt: skip
    """As `partition_of`, for a categorical column; special groups come last."""
    is_free = np.ones(len(labels), dtype=bool) if held is None else held.special_of == FREE
    special = () if held is None else held.groups
    _, parts = np.unique(labels[is_free], return_inverse=True)
    n_groups = int(parts.max(initial=-1)) + 1
    of_atoms = np.full(len(labels), n_groups, dtype=np.int64)
    of_atoms[is_free] = parts
    counts = _counts(of_atoms, n_groups + 1, task, k, table)[:n_groups]
    values = [value for value, is_one in zip(column.values, is_free.tolist(), strict=True) if is_one]
    if table.problem.flags.has_classes:
        groups, _, rank = ordered_groups(values, parts, counts, counts.shape[1], table.target.one_event)
    else:
        groups, rank = found_groups(values, parts, is_free, counts, task, grid, k, table)
    of_atoms[is_free] = rank[parts]
    if held is not None:
        of_atoms[~is_free] = n_groups + held.special_of[~is_free]
    counts = _counts(of_atoms, n_groups + len(special), task, k, table)
    return group_partition(column.name, groups + special, counts, n_special=len(special)), of_atoms


def _counts(labels: NDArray[np.int64], n_parts: int, task: GridTask, k: int, table: Table) -> NDArray[np.int64]:
    """Rows of each of `n_parts` parts by class, or in total without classes, given the part of each atom."""
    if table.problem.flags.has_classes:
        return table.target.counts(labels[task.rows.atom[k]], n_parts)
    return rows_of_parts(task, k, labels, n_parts)


def _bounds(
    column: Numbers, parts: NDArray[np.int64], is_free: NDArray[np.bool_], task: GridTask, k: int,
    placement: str | None, given: NDArray[Any] | None,
) -> NDArray[Any]:  # fmt: skip
    """Bounds between the parts of neighbouring values: the user's own, `given`, where one lies there.

    Missing values, the first atom, have no bound, and special codes, which are not free, none either.
    """
    n_missing, at = int(column.missing is not None and bool(column.missing.any())), task.rows.atom_at
    free = np.flatnonzero(is_free[n_missing:])
    of_values = parts[n_missing:][free]
    cuts = np.flatnonzero(of_values[1:] != of_values[:-1])
    first = task.rows.first[at[k] + k + n_missing : at[k + 1] + k][free]  # place of the first row of each value
    low, high = (column.values[task.rows.order[k, first[ends]]] for ends in (cuts, cuts + 1))
    low = span_ends(column, low)
    bounds = bounds_between(low, high, column.type, placement)
    if given is not None and len(given):
        nearest = given[np.minimum(np.searchsorted(given, low), len(given) - 1)]
        is_given = (low <= nearest) & (nearest < high)
        own = nearest.astype(column.type) if nearest.dtype.kind == "f" else nearest.view(column.type)
        bounds = np.where(is_given, own, bounds)
    return bounds


def given_grid(table: Table, partitions: Mapping[Name, Any], options: Options) -> FoundGrid:
    """Make the grid of the user's own partitions, with its exact cost; a column not named has one part."""
    criterion = criterion_for(options.criterion, grid_problem(table))
    columns, task = grid_task(table, options, criterion)
    given, parts_of_rows, labels = {}, {}, []
    for k, column in enumerate(columns):
        is_apart = options.of(column.name).missing == "apart"  # of a model that is edited
        own = partitions.get(column.name, ())
        special = special_of(column, options)
        given[column.name] = given_partition(column, own, special, table.target.n_classes, is_apart)
        check_bounds(column, given[column.name].bounds)
        parts_of_rows[column.name] = parts = given[column.name].part_of_encoded(column, STRICT)
        of_atoms = np.zeros(task.rows.n_atoms(k), dtype=np.int64)
        of_atoms[task.rows.atom[k]] = parts
        labels.append(of_atoms)
    informative = [column.name for k, column in enumerate(columns) if np.any(labels[k] != labels[k][0])]
    grid = make_grid(list(enumerate(labels)))
    cost = check_cost(criterion, price_grid(task, grid))
    filled = {}
    for k, column in enumerate(columns):
        partition = given[column.name]
        counts = table.target.counts(parts_of_rows[column.name], partition.n_parts)
        if not table.problem.flags.has_classes:
            partition = typical_groups(with_values(partition, labels[k]), column, task, grid, k)
        filled[column.name] = with_rows(partition, column, task.rows.rows_of_atoms(k), counts)
    null_cost = check_cost(criterion, price_grid(task, make_grid([])))
    left_out = {name: "it has one part as given" for name in table.names if name not in informative}
    left_out = left_out if len(table.names) > 1 else {}
    best = _grid_model(filled, parts_of_rows, informative, cost, table, columns)
    return FoundGrid(best, null_cost, left_out, [], "given", criterion)


def _left_out(searched: Searched, n_inputs: int) -> dict[Name, str]:
    """Reason why each of the first `n_inputs` columns is left out, if it has one part."""
    left = [k for k in range(n_inputs) if k not in searched.found.grid.variables]
    return {searched.columns[k].name: _reason(searched, k, n_inputs) for k in left}


def _reason(searched: Searched, k: int, n_inputs: int) -> str:
    """Reason why variable k of `n_inputs` has one part; alone it is priced as one chosen of them."""
    found, task = searched.found, searched.task
    if task.rows.n_atoms(k) == 1:
        return "it has one value"
    if task.limits.of(k).max_parts == 1 and (k not in searched.held or searched.held[k].n_exempt == 0):
        return "max_parts=1 leaves it whole"
    if k in searched.held and len(searched.held[k].begins) == 1:
        return "allowed= has no bound between its values"
    single = found.singles[k] if found.singles else found.null
    if not single.variables and task.clock.stopped:
        return f"the search was stopped ({task.clock.stopped}) before a partition of it paid"
    if not task.has_classes and not task.has_target:  # without a target, a variable alone explains nothing
        return "no partition of it beside the others that pays was found"
    price = f"at the price of a grid of {n_inputs} columns"
    if not single.variables:
        return f"no partition of it alone pays {price}, and none beside the others was found"
    level = level_of(single.cost, found.null.cost)
    alone = f"it saves {found.null.cost - single.cost:.4f}" if level is None else f"it has level {level:.4f}"
    return f"alone {alone} {price}, but beside the others its parts cost more than they tell"


# Partitions in problems without classes: the largest groups first, and in each group the most typical values first.


def rows_of_parts(task: GridTask, k: int, labels: NDArray[Any], n_parts: int) -> NDArray[np.int64]:
    """Rows of each part of variable k, given the part of each of its atoms, with the shape of `Partition.counts`."""
    rows = np.zeros(n_parts, dtype=np.int64)
    np.add.at(rows, labels, task.rows.rows_of_atoms(k))
    return rows[:, None]


def with_values(partition: Partition, labels: NDArray[Any]) -> Partition:
    """Partition with the number of distinct values of each part, which prices need."""
    n_values = np.bincount(labels, minlength=partition.n_parts).astype(np.int64)
    return replace(partition, n_values=n_values)


def found_groups(
    values: list[Any], parts: NDArray[np.int64], is_free: NDArray[np.bool_], rows: NDArray[np.int64], task: GridTask,
    grid: Grid, k: int, table: Table,
) -> tuple[tuple[tuple[Any, ...], ...], NDArray[np.int64]]:  # fmt: skip
    """Groups of the `values`, of which `parts` are the groups found, in their order; and the new number of each group.

    `rows` are those of each group; `is_free` says which atoms the values are.
    """
    n_groups = len(rows)
    key: NDArray[Any] = -rows[:, 0]
    if table.problem.flags.target_is_numerical:  # so that the target rises from group to group
        key = _mean_target(parts[task.rows.atom[k]], table, rows[:, 0])
    rank = np.empty(n_groups, dtype=np.int64)
    rank[np.argsort(key, kind="stable")] = np.arange(n_groups)
    place = np.cumsum(is_free) - 1
    typical = _typical_first(task, grid, k)
    return _in_groups(values, rank[parts], n_groups, place[typical[is_free[typical]]]), rank


def _typical_first(task: GridTask, grid: Grid, k: int) -> NDArray[np.int64]:
    """Numbers of the values of variable k, the most typical of their groups first; ties: most rows."""
    return np.lexsort((-task.rows.rows_of_atoms(k), -typicality(task, grid, k)))


def _in_groups(
    values: Sequence[Any], group: NDArray[Any], n_groups: int, places: NDArray[np.int64]
) -> tuple[tuple[Any, ...], ...]:
    """Values of each group, in the order of `places`."""
    order = places[np.argsort(group[places], kind="stable")].tolist()
    ends = np.cumsum(np.bincount(group, minlength=n_groups)).tolist()
    return tuple(tuple(values[i] for i in order[lo:hi]) for lo, hi in itertools.pairwise([0, *ends]))


def _mean_target(groups: NDArray[Any], table: Table, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Means of a numerical target in each group, up to a common factor, given the group of each row."""
    y, weights = table.quantities, table.target.weights
    return np.bincount(groups, y / len(y) if weights is None else y * (weights / weights.sum())) / rows


def typical_groups(partition: Partition, column: Column, task: GridTask, grid: Grid, k: int) -> Partition:
    """User's groups in their order; in each, the most typical values first and values without rows last."""
    if not isinstance(column, Categories):
        return partition
    place = {column.values[i]: n for n, i in enumerate(_typical_first(task, grid, k).tolist())}
    groups = tuple(tuple(sorted(group, key=lambda value: place.get(value, len(place)))) for group in partition.groups)
    return replace(partition, groups=groups)
