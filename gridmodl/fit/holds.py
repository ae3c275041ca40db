"""What the user knows about the columns of a grid: special values, missing values apart, fixed and allowed bounds.

A search keeps them as bounds between atoms and as groups of one atom (`gridmodl.search.grid.rows.Holds`), so the atoms
are arranged for it: special values come last, those that share a part are one atom, and so are all values between two
allowed bounds. `HeldColumn.atom_of` leads from a value to its atom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Categories, Column
from gridmodl.data.numbers import Numbers, Special
from gridmodl.fit.column.common import bounds_of, special_codes, special_of
from gridmodl.fit.column.intervals import check_fixed
from gridmodl.fit.options import FOR_NUMBERS, ColumnOptions, Options, for_numbers
from gridmodl.model.given import special_groups
from gridmodl.model.labels import counted
from gridmodl.search.grid.optima import GridFound
from gridmodl.search.grid.rows import Grid, joined_atoms, no_holds
from gridmodl.search.grid.state import GridTask
from gridmodl.search.moves import Limits

FREE = -1


class HeldColumn(NamedTuple):
    """What one column keeps in a grid in which it has more than one part."""

    special_of: NDArray[np.int64]  # number of the special part of each value, missing values among them; FREE for none
    codes: Special  # special codes of a numerical column
    groups: tuple[tuple[Any, ...], ...]  # special groups of a categorical column
    bounds: NDArray[Any]  # the user's bounds, in the type of the values; where one lies, no other is made
    atom_of: NDArray[np.int64]  # atom of each value in the search
    begins: NDArray[np.bool_]  # of each atom, as in `Holds`
    least: int
    is_required: bool
    loose: int
    n_exempt: int  # parts of special and of missing values alone that `begins` makes, which max_parts does not count


def hold_columns(columns: Sequence[Column], task: GridTask, options: Options) -> tuple[GridTask, dict[int, HeldColumn]]:
    """The task of a search that keeps what the user knows, and what each column keeps, if it keeps anything."""
    held = {}
    for k, column in enumerate(columns):
        one = _hold(column, task, k, options)
        if one is not None:
            held[k] = one
    if not held:
        return task, held
    rows = joined_atoms(task.rows, {k: one.atom_of for k, one in held.items()})
    holds, max_parts = no_holds(rows), task.limits.max_parts.copy()
    for k, one in held.items():
        holds.begins[rows.atom_at[k] : rows.atom_at[k + 1]] = one.begins
        holds.least[k], holds.required[k], holds.loose[k] = one.least, one.is_required, one.loose
        max_parts[k] += one.n_exempt
    return replace(task, rows=rows, holds=holds, limits=task.limits._replace(max_parts=max_parts)), held


def of_values(found: GridFound, held: Mapping[int, HeldColumn]) -> GridFound:
    """The grids found, with the part of each value in place of the part of each atom of the search."""

    def spread(grid: Grid) -> Grid:
        parts = [labels[held[k].atom_of] if k in held else labels
                 for k, labels in zip(grid.variables, grid.parts, strict=True)]  # fmt: skip
        return grid._replace(parts=tuple(parts))

    optima, singles = tuple(map(spread, found.optima)), tuple(map(spread, found.singles))
    return found._replace(grid=spread(found.grid), optima=optima, singles=singles)


def _n_absent(held: HeldColumn) -> int:
    """Number of special parts that no row is in."""
    return held.codes.n_parts + len(held.groups) - len(np.unique(held.special_of[held.special_of != FREE]))


def _hold(column: Column, task: GridTask, k: int, options: Options) -> HeldColumn | None:
    """What a column keeps; None for nothing."""
    given, limits = options.of(column.name), task.limits.of(k)
    if isinstance(column, Categories):
        for what in (what for what in FOR_NUMBERS if options.names(what, column.name)):
            raise for_numbers(what, column.name)
        held = _hold_groups(column, task, k, special_groups(column, special_of(column, options)), given, limits)
    else:
        held = _hold_intervals(column, task, k, special_codes(column, options), given, limits)
    if limits.max_parts == 1 and held.n_exempt == 0 and not held.is_required:  # max_parts=1 leaves the column whole
        return None
    is_plain = held.least == 1 and held.loose < 0 and len(held.begins) == len(held.atom_of) and len(held.bounds) == 0
    return None if is_plain and _n_absent(held) == 0 else held


def _hold_groups(
    column: Categories,
    task: GridTask,
    k: int,
    groups: tuple[tuple[Any, ...], ...],
    given: ColumnOptions,
    limits: Limits,
) -> HeldColumn:
    """What a categorical column keeps: special groups, and missing values if they are apart."""
    number = {value: i for i, group in enumerate(groups) for value in group}
    special = np.array([number.get(value, FREE) for value in column.values], dtype=np.int64)
    is_missing = np.array([value is None for value in column.values])
    is_other = (special == FREE) & ~is_missing
    has_missing = bool(is_missing.any() and is_other.any())
    is_apart = has_missing and given.missing == "apart"
    # Other values, missing values, special groups that occur.
    key = np.where(special == FREE, np.where(is_missing, -1, np.arange(len(special)) - len(special) - 1), special)
    values, atom_of = np.unique(key, return_inverse=True)
    begins = (values >= 0) | ((values == -1) & is_apart)
    n_held = int(np.count_nonzero(begins))
    few = has_missing and not is_apart and int(task.rows.rows_of_atoms(k)[is_missing].sum()) < limits.min_rows
    return HeldColumn(
        special,
        Special(np.empty(0), ()),
        groups,
        np.empty(0),
        atom_of.astype(np.int64),
        begins,
        n_held + int(n_held < len(values)),
        is_required=False,
        loose=int(np.count_nonzero(values < -1)) if few else -1,
        n_exempt=n_held,
    )


def _hold_intervals(
    column: Numbers, task: GridTask, k: int, codes: Special, given: ColumnOptions, limits: Limits
) -> HeldColumn:
    """What a numerical column keeps: special codes, missing values if they are apart, fixed and allowed bounds."""
    n_missing = int(column.missing is not None and bool(column.missing.any()))
    values = _values_of(column, task, k, n_missing)
    special = np.full(n_missing + len(values), FREE, dtype=np.int64)
    special[n_missing:] = _parts_of_codes(values, codes)
    free = np.flatnonzero(special[n_missing:] == FREE)
    fixed, allowed = bounds_of(column, "fixed", given.fixed), bounds_of(column, "allowed", given.allowed)
    cuts = _cuts_at(values[free], fixed)
    check_fixed(column.name, fixed, cuts, column)
    is_apart = given.missing == "apart" and n_missing > 0 and len(free) > 0
    atom_of, begins = np.zeros(len(special), dtype=np.int64), [*range(1, n_missing + 1)] * is_apart
    if given.allowed is None:
        number, at_fixed = np.arange(len(free)), cuts
    else:
        kept = np.union1d(cuts, _cuts_at(values[free], allowed))
        kept = kept[kept > 0]
        number, at_fixed = np.searchsorted(kept, np.arange(len(free)), side="right"), np.searchsorted(kept, cuts) + 1
    n_atoms = n_missing + (int(number[-1]) + 1 if len(free) else 0)
    atom_of[n_missing + free] = n_missing + number
    present, atoms = np.unique(special[special != FREE], return_inverse=True)
    atom_of[special != FREE] = n_atoms + atoms
    begins += [*(n_missing + at_fixed).tolist(), *range(max(1, n_atoms), n_atoms + len(present))]
    is_begin = np.zeros(n_atoms + len(present), dtype=np.bool_)
    is_begin[begins] = True
    rows = np.bincount(atom_of, task.rows.rows_of_atoms(k)).astype(np.int64)
    least = 1 + int(np.count_nonzero(is_begin))
    of_free = rows[n_missing:n_atoms].copy()
    of_free[:1] += 0 if is_apart else rows[:n_missing].sum()  # missing values may join the lowest interval
    _check_parts(column, of_free, at_fixed, limits, given)
    is_loose = n_missing > 0 and len(free) > 0 and not is_begin[1] and rows[0] < limits.min_rows
    bounds = np.concatenate([fixed, allowed[~np.isin(_cuts_at(values[free], allowed), cuts)]])
    return HeldColumn(
        special, codes, (), np.sort(bounds), atom_of, is_begin, least, len(cuts) > 0, 0 if is_loose else -1,
        n_exempt=least - 1 - len(cuts) + int(len(free) == 0),
    )  # fmt: skip


def _values_of(column: Numbers, task: GridTask, k: int, n_missing: int) -> NDArray[Any]:
    """The distinct values of a numerical column, ascending."""
    at, rows = task.rows.atom_at, task.rows
    first = rows.first[at[k] + k + n_missing : at[k + 1] + k]
    return np.asarray(column.values[rows.order[k, first]])


def _parts_of_codes(values: NDArray[Any], codes: Special) -> NDArray[np.int64]:
    """Number of the special part of each value; FREE for none."""
    found = np.full(len(values), FREE, dtype=np.int64)
    if len(codes.codes) and len(values):
        number = np.repeat(np.arange(codes.n_parts), codes.sizes)
        at = np.minimum(np.searchsorted(values, codes.codes), len(values) - 1)
        is_there = values[at] == codes.codes
        found[at[is_there]] = number[is_there]
    return found


def _cuts_at(values: NDArray[Any], bounds: NDArray[Any]) -> NDArray[np.int64]:
    """Number of the first value above each bound; 0 for a bound with no values on one side."""
    at = np.searchsorted(values, bounds, side="right")
    return np.where(at < len(values), at, 0)


def _check_parts(
    column: Numbers, rows: NDArray[np.int64], cuts: NDArray[np.int64], limits: Limits, given: ColumnOptions
) -> None:
    """Raise ValueError if fixed bounds leave too many parts, or a part with too few rows; `rows` are of the atoms."""
    if len(cuts) == 0:
        return
    begin = f"column {column.name!r} has {counted(len(cuts), 'fixed bound')}"
    make, leave = ("make", "leave") if len(cuts) > 1 else ("makes", "leaves")
    if len(cuts) + 1 > limits.max_parts:
        raise ValueError(f"{begin}, which {make} {len(cuts) + 1} parts; max_parts={limits.max_parts} allows fewer")
    fewest = int(np.add.reduceat(rows, np.append(0, cuts)).min())
    if fewest < limits.min_rows:
        raise ValueError(f"{begin}, which {leave} a part of {fewest} rows; min_rows={given.min_rows!r} asks for more")
