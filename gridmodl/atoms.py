"""One numerical variable as a row of atoms: the smallest intervals that a search may have to tell apart.

An atom is one distinct value or, where a criterion says that no bound is ever needed there, a run of values
that hold only rows of one and the same class. Missing values come before all others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.encode import count_rows
from gridmodl.template import bind

# Beyond this the table of counts alone fills gigabytes, and every price reads a row of it.
MAX_COUNTS = 2**28


class Atoms(NamedTuple):
    """The rows of each atom, by frozen cell and class.

    Other variables of a grid, while frozen, cut an atom into entries, one per frozen cell it touches, in the
    order of the cells. A variable alone has one entry per atom, all in frozen cell 0.
    """

    first: Any  # entries of atom i are first[i] to first[i + 1]
    frozen: Any  # frozen cell of each entry
    counts: Any  # rows of each entry, by class
    rows: Any  # rows of each entry, unlabelled ones included
    values: Any  # distinct values of each atom


class Line(NamedTuple):
    """A numerical column, sorted: its atoms and where they lie."""

    atoms: Atoms
    low: NDArray[Any]  # largest value of each atom but the last; NaN for missing values
    high: NDArray[Any]  # smallest value of the atom that follows

    @property
    def n_atoms(self) -> int:
        return len(self.atoms.values)


def make_line(
    column: NDArray[Any], codes: NDArray[Any], weights: NDArray[Any] | None, n_classes: int, join: bool
) -> Line:
    """Sort a column with its class codes and weights, and cut it into atoms; runs are joined if `join`."""
    # Half the bytes is half the time of a search; the sums of counts that terms see are 64 bits wide.
    few_rows = (len(column) if weights is None else int(weights.sum())) < 2**31
    missing = np.isnan(column) if column.dtype.kind == "f" else np.zeros(0, dtype=bool)
    n_missing = int(np.count_nonzero(missing))
    missing_counts = np.zeros(n_classes, dtype=np.int64)
    if n_missing:
        missing_counts += count_rows(codes[missing], None if weights is None else weights[missing], n_classes)
        column, codes = column[~missing], codes[~missing]
        weights = None if weights is None else weights[~missing]
    values, codes, weights = _sorted(column, codes, weights, n_classes)
    ends = np.empty(len(values), dtype=np.int64)
    n_atoms = bind(atom_ends)(values, codes, join, ends)
    ends = ends[:n_atoms].copy()
    if (n_atoms + 1) * n_classes > MAX_COUNTS:
        raise ValueError(
            f"{n_atoms} distinct values by {n_classes} classes is a table of more than {MAX_COUNTS} counts; "
            "is the target an identifier? Otherwise round the column or group the classes"
        )
    n_first = int(n_missing > 0)  # the atom of missing values
    counts = np.zeros((n_first + n_atoms, n_classes), dtype=np.int32 if few_rows else np.int64)
    n_values = np.zeros(n_first + n_atoms, dtype=np.int32)
    counts[:n_first], n_values[:n_first] = missing_counts, 1
    weights = np.empty(0, dtype=np.int64) if weights is None else weights
    bind(fill_atoms)(values, codes, weights, ends, counts[n_first:], n_values[n_first:])
    between = ends[:-1]
    low, high = values[between - 1], values[between]
    if n_first and n_atoms:
        low, high = np.concatenate([[np.nan], low]), np.concatenate([values[:1], high])
    n_all = n_first + n_atoms
    first = np.arange(n_all + 1, dtype=np.int32)
    atoms = Atoms(first, np.zeros(n_all, dtype=np.int32), counts, counts.sum(axis=1, dtype=np.int64), n_values)
    return Line(atoms, low, high)


def coarsen(atoms: Atoms, starts: NDArray[np.int64]) -> Atoms:
    """The parts that begin at atoms `starts`, as atoms."""
    part = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(atoms.values))))
    part_of_entry = np.repeat(part, np.diff(atoms.first))
    order = np.lexsort((atoms.frozen, part_of_entry)) if atoms.frozen.any() else slice(None)
    part_of_entry, frozen = part_of_entry[order], atoms.frozen[order]
    is_new = np.append(True, (np.diff(part_of_entry) != 0) | (np.diff(frozen) != 0))
    begins = np.flatnonzero(is_new)
    first = np.searchsorted(part_of_entry[begins], np.arange(len(starts) + 1)).astype(atoms.first.dtype)
    return Atoms(
        first,
        frozen[begins],
        np.add.reduceat(atoms.counts[order], begins, axis=0, dtype=atoms.counts.dtype),
        np.add.reduceat(atoms.rows[order], begins),
        np.add.reduceat(atoms.values, starts, dtype=atoms.values.dtype),
    )


def _sorted(
    column: NDArray[Any], codes: NDArray[Any], weights: NDArray[Any] | None, n_classes: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    if weights is None and column.dtype == np.float64:
        packed = _sorted_packed(column, codes, n_classes)
        if packed is not None:
            return (*packed, None)
    order = np.argsort(column)
    return column[order], codes[order], None if weights is None else weights[order]


def _sorted_packed(
    column: NDArray[Any], codes: NDArray[Any], n_classes: int
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Values and codes sorted together, the code in the low bits of an integer that sorts as the value does.

    Two plain sorts take half the time of an argsort and a look-up of the rows. The low bits of the value are lost
    in the key: if two different values share a key, None.
    """
    mask = np.int64((1 << (n_classes - 1).bit_length()) - 1)
    bits = column.view(np.int64)
    keys = bits >> 63
    keys &= np.int64(0x7FFF_FFFF_FFFF_FFFF)
    keys ^= bits
    keys &= ~mask
    keys |= codes
    keys.sort()
    values = np.sort(column)
    sorted_codes = (keys & mask).astype(codes.dtype)
    keys &= ~mask
    if np.any((keys[1:] == keys[:-1]) & (values[1:] != values[:-1])):
        return None
    return values, sorted_codes


def atom_ends(values: Any, codes: Any, join: bool, ends: Any) -> int:
    """Write one past the last row of each atom to `ends`; return how many atoms there are."""
    n_atoms, n, i = 0, len(values), 0
    mixed, nothing = -1, -2
    last: Any = nothing  # the class of all rows of the last atom
    while i < n:
        pure: Any = np.int64(codes[i])
        start = i
        i += 1
        while i < n and values[i] == values[start]:
            if np.int64(codes[i]) != pure:
                pure = mixed
            i += 1
        if not (join and pure == last and pure != mixed):
            n_atoms += 1
        ends[n_atoms - 1] = i
        last = pure
    return n_atoms


def fill_atoms(values: Any, codes: Any, weights: Any, ends: Any, counts: Any, n_values: Any) -> None:
    """Add up the rows of each atom by class, and count its distinct values."""
    i, weighted = 0, len(weights) > 0
    for atom in range(len(ends)):
        start = i
        while i < ends[atom]:
            counts[atom, codes[i]] += weights[i] if weighted else 1
            if i == start or values[i] != values[i - 1]:
                n_values[atom] += 1
            i += 1


def middles(low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """A bound b for each pair of neighbouring values: low <= b < high, in the middle where that can be.

    Not where one of them is infinite or missing, nor between adjacent numbers: there it is `low` itself.
    """
    if low.dtype.kind in "iu":
        return (low & high) + ((low ^ high) >> 1)  # (low + high) // 2 without overflow
    with np.errstate(over="ignore", invalid="ignore"):
        middle = (low + high) / 2.0
        middle = np.where(np.isfinite(middle), middle, low / 2.0 + high / 2.0)
        good = np.isfinite(middle) & (low <= middle) & (middle < high)
    return np.where(good, middle, low)
