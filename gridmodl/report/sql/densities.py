"""The logarithm of the density of each row in SQL, as `Model.log_density` has it.

The inner query finds the class of each value: values of one class have the same part and the same density given the
part. The outer one adds what the classes tell to the logarithm of the probability of the cell, which comes from a
small table of literals; a combination of parts without rows has the sum of the logarithms of their shares in its place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.domain import just_below
from gridmodl.model.counts import input_cells
from gridmodl.model.densities.grid import GridDensity, TargetDensity, density_of
from gridmodl.model.densities.histogram import Histogram
from gridmodl.model.densities.spread import CategorySpread, NumberSpread, Spread
from gridmodl.model.partition import Partition, group_partition
from gridmodl.model.policy import NEUTRAL
from gridmodl.report.cell_lines import MAX_LINES, cells_of_some
from gridmodl.report.sql.expressions import expression_of

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.report.sql.query import TableSource

NAME = "log_density"


class ValueClasses(NamedTuple):
    """Classes of the values of a column that have the same part and density; the last entry of each list is of none."""

    partition: Partition  # whose parts are the classes
    parts: list[int]  # part of the model
    logs: list[float]  # logarithm of the density, or probability, given the part; NaN if there is none


class DensityQuery(NamedTuple):
    """Pieces of a query for the density of its rows."""

    inner: list[str]  # entries of SELECT of the inner query
    shown: str  # entry of SELECT of the outer one
    join: str


def density_query(model: Model, source: TableSource) -> DensityQuery:
    """The density of the rows of `source`."""
    density = density_of(model)
    if isinstance(density, Histogram):
        partition, logs = density.classes
        of_column = ValueClasses(partition, [*range(partition.n_parts), -1], [*logs.tolist(), math.nan])
        inner, name = _class_column(of_column, source)
        return DensityQuery([inner], f"{_case(name, of_column.logs, source)} AS {source.aliases.add(NAME)}", "")
    return _of_grid(density, source) if isinstance(density, GridDensity) else _of_target(density, source)


def _of_grid(density: GridDensity, source: TableSource) -> DensityQuery:
    classes = {name: classes_of(spread) for name, spread in density.spreads.items()}
    inner, names = zip(*(_class_column(one, source) for one in classes.values()), strict=True)
    n_spread, n_rows, cells = density.n_spread, density.model.n_rows, density.cells
    _check_size(len(cells.parts))
    with np.errstate(divide="ignore"):
        of_parts = [np.log(spread.shares) for spread in density.spreads.values()]
    spread_row = np.zeros(len(cells.parts))
    for k, logs in enumerate(of_parts):
        spread_row += logs[cells.parts[:, k]]
    total = np.log(n_rows + n_spread)
    of_cells = np.logaddexp(np.log(cells.rows), np.log(n_spread) + spread_row) - total
    real, keys = source.dialect.real, [k for k, logs in enumerate(of_parts) if len(logs) > 1]
    shares = [
        _case(names[k], [of_parts[k][part] if part >= 0 else math.nan for part in one.parts], source)
        for k, one in enumerate(classes.values())
        if k in keys
    ]
    addends = " + ".join(_case(name, one.logs, source) for name, one in zip(names, classes.values(), strict=True))
    alias = source.aliases.add(NAME)
    if not keys:
        return DensityQuery(list(inner), f"{real(float(of_cells[0]))} + {addends} AS {alias}", "")
    otherwise = f"({real(float(np.log(n_spread)))} + ({' + '.join(shares)})) - {real(float(total))}"
    joined = [source.aliases.add(f"density_{k}") for k in keys]
    value = source.aliases.add("log_cell")
    lines = [
        [*(str(part) for part in parts), real(log)]
        for parts, log in zip(cells.parts[:, keys].tolist(), of_cells.tolist(), strict=True)
    ]
    part_of = [_case(names[k], list(classes.values())[k].parts, source) for k in keys]
    on = " AND ".join(f"d.{key} = {part}" for key, part in zip(joined, part_of, strict=True))
    join = f"\nLEFT JOIN {source.dialect.rows([*joined, value], lines, 'd')} ON {on}"
    return DensityQuery(list(inner), f"COALESCE(d.{value}, {otherwise}) + {addends} AS {alias}", join)


def _of_target(density: TargetDensity, source: TableSource) -> DensityQuery:
    of_target = classes_of(density.spread)
    target_column, target = _class_column(of_target, source)
    grid, real = input_cells(density.model), source.dialect.real
    counts, cells = [grid.counts], grid.parts.tolist()
    for beside, lacking in cells_of_some(density.model, grid, NEUTRAL):
        parts = np.tile(np.array(lacking), (len(beside.parts), 1))
        parts[:, [grid.names.index(name) for name in beside.names]] = beside.parts
        counts.append(beside.counts)
        cells = cells + parts.tolist()
    _check_size(len(cells))
    table = np.log(density.probabilities(np.concatenate([*counts, grid.counts.sum(axis=0, keepdims=True)])))
    inner, keys = [target_column], list[str]()
    for name in grid.names:
        keys.append(source.aliases.add(f"density_{name}"))
        expression = expression_of(
            density.model.partitions[name], source.dialect, source.columns[name], NEUTRAL, "    "
        )
        inner.append(f"{expression} AS {keys[-1]}")
    values = [source.aliases.add(f"log_{j}") for j in range(table.shape[1])]
    otherwise = [real(log) for log in table[-1].tolist()]
    alias, join, of_part = source.aliases.add(NAME), "", otherwise
    if keys:
        of_part = [f"COALESCE(d.{one}, {other})" for one, other in zip(values, otherwise, strict=True)]
        lines = [[*map(str, parts), *map(real, logs)] for parts, logs in zip(cells, table[:-1].tolist(), strict=True)]
        on = " AND ".join(f"d.{key} = p.{key}" for key in keys)
        join = f"\nLEFT JOIN {source.dialect.rows([*keys, *values], lines, 'd')} ON {on}"
    cell = _case(target, ["NULL" if part < 0 else of_part[part] for part in of_target.parts], source)
    return DensityQuery(inner, f"{cell} + {_case(target, of_target.logs, source)} AS {alias}", join)


def _check_size(n_cells: int) -> None:
    if n_cells > MAX_LINES:
        raise ValueError(
            f"the density of this grid takes {n_cells} rows in a query, and {MAX_LINES} are allowed; coarsen the "
            "model, or ask for log_density in Python"
        )


def _class_column(classes: ValueClasses, source: TableSource) -> tuple[str, str]:
    """Entry of SELECT for the class of a column, and its name."""
    name = classes.partition.name
    alias = source.aliases.add(f"class_{name}")
    expression = expression_of(classes.partition, source.dialect, source.columns[name], NEUTRAL, "    ")
    return f"{expression} AS {alias}", alias


def _case(name: str, values: Sequence[Any], source: TableSource) -> str:
    """The entry of `values` for the class that the column `name` has; NULL for NaN, and the last for no class."""
    texts = [
        value if isinstance(value, str)
        else "NULL" if value != value
        else source.dialect.real(float(value)) if isinstance(value, float)
        else str(value)
        for value in values
    ]  # fmt: skip
    if len(set(texts)) == 1:
        return texts[0]
    whens = "".join(f" WHEN {i} THEN {text}" for i, text in enumerate(texts[:-1]))
    return f"CASE p.{name}{whens} ELSE {texts[-1]} END"


def classes_of(spread: Spread) -> ValueClasses:
    """The classes of the values of a column."""
    return _classes_of_categories(spread) if isinstance(spread, CategorySpread) else _classes_of_numbers(spread)


def _classes_of_categories(spread: CategorySpread) -> ValueClasses:
    logs = np.log(spread.within)
    groups: dict[tuple[int, float], list[Any]] = {}
    for value, part, log in zip(spread.values, spread.part_of_value.tolist(), logs.tolist(), strict=True):
        groups.setdefault((part, log), []).append(value)
    counts = np.zeros((len(groups), 1), dtype=np.int64)
    partition = group_partition(spread.partition.name, tuple(map(tuple, groups.values())), counts)
    return ValueClasses(partition, [*(part for part, _ in groups), -1], [*(log for _, log in groups), math.nan])


class ValueStretch(NamedTuple):
    """Values of a class, up to a bound in the type of `just_below`."""

    bound: Any
    part: int
    log: float


def _classes_of_numbers(spread: NumberSpread) -> ValueClasses:
    partition, last = spread.partition, spread.intervals.stop
    found = _merged(list(_stretches(spread)))
    bounds = np.array([one.bound for one in found[:-1]], dtype=_finer(partition.bounds).dtype)
    has_missing = partition.missing is not None
    counts = np.zeros((has_missing + len(found) + partition.n_special, 1), dtype=np.int64)
    classes = replace(partition, bounds=bounds, counts=counts, missing=0 if has_missing else None)
    parts = [one.part for one in found]
    parts = parts if partition.missing is None else [partition.missing, *parts]
    logs = [math.log(spread.missing_share)] * has_missing + [one.log for one in found]
    parts += range(last, partition.n_parts)
    logs += spread.log_within[last:, 1].tolist()
    return ValueClasses(classes, [*parts, -1], [*logs, math.nan])


def _stretches(spread: NumberSpread) -> Iterator[ValueStretch]:
    """Classes of the numbers that are no special codes, ascending; the bound of the last one is not used."""
    partition, first = spread.partition, spread.intervals.start
    bounds = _finer(partition.bounds)
    for i in range(len(bounds) + 1):
        part = int(spread.stands_for[first + i])
        above = bounds[i] if i < len(bounds) else None
        if part != first + i or spread.domain is None:
            log = math.nan if part < 0 else float(spread.log_within[part, 0 if first + i < part else 2])
            yield ValueStretch(above, part, log)
            continue
        logs = spread.log_within[part].tolist()
        low, high = _finer(spread.domain.in_own_type(list(spread.edges[3 * i + 1 : 3 * i + 3])))
        below = just_below(low)
        if below is not None and (i == 0 or below > bounds[i - 1]):
            yield ValueStretch(below, part, logs[0])
        yield ValueStretch(high, part, logs[1])
        if above is None or high < above:
            yield ValueStretch(above, part, logs[2])


def _merged(stretches: list[ValueStretch]) -> list[ValueStretch]:
    """Neighbours of the same part and density as one class."""
    found: list[ValueStretch] = []
    for one in stretches:
        if found and found[-1].part == one.part and (found[-1].log == one.log or one.log != one.log):
            found.pop()
        found.append(one)
    return found


def _finer(values: NDArray[Any]) -> NDArray[Any]:
    """Floats of 64 bits, and dates and durations in microseconds, if their unit is coarser, to have one just below."""
    if values.dtype.kind not in "mM":
        return values.astype(np.float64) if values.dtype.kind == "f" else values
    finest = np.dtype(f"{values.dtype.kind}8[us]")
    return values.astype(np.promote_types(values.dtype, finest))
