"""A numerical column as a line of atoms: sorted, cut where a bound may be needed, and where its bounds lie.

An atom is one distinct value or, where a criterion says that no bound is ever needed there, a run of values that hold
only rows of one and the same class; missing values come before all others, and special codes stand beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import COUNTS_AT_ONCE, Atoms, Target, alone, check_size
from gridmodl.data.numbers import Numbers
from gridmodl.jit.template import bind

# In place of the class that some rows are of: several of them, none.
MIXED, NOTHING = -1, -2


class Line(NamedTuple):
    """A numerical column, sorted: its atoms and where they lie."""

    atoms: Atoms
    has_missing: bool  # the first atom holds the missing values
    low: NDArray[Any]  # largest value of each atom but the last; of no meaning for missing values
    high: NDArray[Any]  # smallest value of the atom that follows
    special: NDArray[np.int64]  # rows of each special code, by code of the target

    @property
    def n_atoms(self) -> int:
        return len(self.atoms.values)

    def bounds(self, starts: NDArray[np.int64], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Where the intervals meet whose first atoms are given, as numbers or dates of the column's own type."""
        cuts = starts[1:] - 1
        cuts = cuts[cuts > 0] if self.has_missing else cuts  # no bound tells missing values from others
        return bounds_between(self.low[cuts], self.high[cuts], dtype)


def make_line(
    column: Numbers,
    target: Target,
    join: bool,
    special: NDArray[Any] | None = None,
    is_late: Callable[[], bool] = lambda: False,
) -> Line:
    """Sort a column with its classes and weights, and cut it into atoms; runs are joined if `join`.

    Where `is_late` says so before all atoms are counted, one atom holds all values but the missing ones.
    """
    values, missing = column.values, column.missing
    n_classes, n_codes, few_rows = target.n_classes, target.n_codes, target.few_rows  # of all rows: special ones too
    special_counts = np.zeros((0 if special is None else len(special), n_codes), dtype=np.int64)
    if special is not None and len(special):
        values, missing, target = _take_special(values, missing, target, special, special_counts)
    missing_counts = np.zeros(n_codes, dtype=np.int64)
    has_missing = missing is not None and bool(missing.any())
    if missing is not None and has_missing:
        missing_counts += target.of_rows(missing).by_code(np.zeros(np.count_nonzero(missing), dtype=np.int8), 1)[0]
        values, target = values[~missing], target.of_rows(~missing)
    if len(values) and is_late():
        return _one_atom(values, target, missing_counts, has_missing, special_counts, few_rows)
    values, codes, weights = _sorted(values, target)
    ends = np.empty(len(values), dtype=np.int64)
    if target.has_unlabelled:
        n_atoms = bind(labelled_ends)(values, codes, n_classes, join, _class_of(missing_counts[:n_classes]), ends)
    else:
        n_atoms = bind(atom_ends)(values, codes, join, ends)
    ends = ends[:n_atoms].copy()
    check_size(n_atoms + 1, n_codes, "distinct values")
    n_first = int(has_missing)
    weights = np.empty(0, dtype=np.int64) if weights is None else weights
    while True:
        # Half the bytes is half the time of a search; the sums of counts that terms see are 64 bits wide.
        counts = np.zeros((n_first + len(ends), n_codes), dtype=np.int32 if few_rows else np.int64)
        n_values = np.zeros(n_first + len(ends), dtype=np.int32)
        counts[:n_first], n_values[:n_first] = missing_counts, 1
        if _fill(values, codes, weights, ends, counts[n_first:], n_values[n_first:], is_late):
            break
        ends = ends[-1:]
    between = ends[:-1]
    low, high = values[between - 1], values[between]
    if n_first and n_atoms:
        low, high = np.concatenate([values[:1], low]), np.concatenate([values[:1], high])
    return Line(alone(counts, n_values, n_classes), has_missing, low, high, special_counts)


def _one_atom(
    values: NDArray[Any], target: Target, missing: NDArray[np.int64], has_missing: bool, special: Any, few_rows: bool
) -> Line:
    """The line of a column for which there is no time: nothing but the number of distinct values needs their order."""
    counts = np.stack([missing, target.by_code(np.zeros(len(values), dtype=np.int8), 1)[0]])[1 - int(has_missing) :]
    in_order = np.sort(values)
    n_distinct = 1 + np.count_nonzero(in_order[1:] != in_order[:-1])
    n_values = np.array([1, n_distinct], dtype=np.int32)[1 - int(has_missing) :]
    edges = in_order[: int(has_missing)]
    atoms = alone(counts.astype(np.int32 if few_rows else np.int64), n_values, target.n_classes)
    return Line(atoms, has_missing, edges, edges, special)


def _class_of(counts: NDArray[np.int64]) -> int:
    """The class that all these rows are of, `MIXED` or `NOTHING`."""
    classes = np.flatnonzero(counts)
    return int(classes[0]) if len(classes) == 1 else (MIXED if len(classes) else NOTHING)


def _take_special(
    values: NDArray[Any], missing: Any, target: Target, special: NDArray[Any], counts: NDArray[np.int64]
) -> tuple[NDArray[Any], Any, Target]:
    """The rows without special codes; those with one are counted."""
    order = np.argsort(special)
    at = np.minimum(np.searchsorted(special[order], values), len(special) - 1)
    is_special = special[order][at] == values
    if missing is not None:  # what an integer column stores there may look like a code
        is_special &= ~missing
    counts[order] = target.of_rows(is_special).by_code(at[is_special], len(special))
    kept = ~is_special
    return values[kept], None if missing is None else missing[kept], target.of_rows(kept)


def _sorted(column: NDArray[Any], target: Target) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    codes, weights = target.codes, target.weights
    if weights is None and column.dtype == np.float64:
        packed = _sorted_packed(column, codes, target.n_codes)
        if packed is not None:
            return (*packed, None)
    order = np.argsort(column)
    return column[order], codes[order], None if weights is None else weights[order]


def _sorted_packed(column: NDArray[Any], codes: NDArray[Any], n_codes: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Values and codes sorted together, the code in the low bits of an integer that sorts as the value does.

    Two plain sorts take half the time of an argsort and a look-up of the rows. The low bits of the value are lost
    in the key: if two different values share a key, None.
    """
    mask = np.int64((1 << (n_codes - 1).bit_length()) - 1)
    bits = (column + 0.0).view(np.int64)  # -0.0 and 0.0 are one number with two patterns of bits
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
    last: Any = NOTHING  # the class of all rows of the last atom
    while i < n:
        pure: Any = np.int64(codes[i])
        start = i
        i += 1
        while i < n and values[i] == values[start]:
            if np.int64(codes[i]) != pure:
                pure = MIXED
            i += 1
        if not (join and pure == last and pure != MIXED):
            n_atoms += 1
        ends[n_atoms - 1] = i
        last = pure
    return n_atoms


def labelled_ends(values: Any, codes: Any, nobody: int, join: bool, before: int, ends: Any) -> int:
    """As `atom_ends` where rows of code `nobody` have no class; `before` is the class of the rows that come first.

    Then a run goes from a value to the next labelled one of the same class, with all rows between them, and rows
    before the first or after the last labelled value belong to it. In a gap between different classes every value is
    an atom.
    """
    n_atoms, n, i = 0, len(values), 0
    last: Any = np.int64(before)  # the class of the last labelled value, and
    at = 0  # its atom
    while i < n:
        pure: Any = np.int64(NOTHING)
        start = i
        while i < n and values[i] == values[start]:
            code = np.int64(codes[i])
            if code != nobody:
                pure = code if pure in (NOTHING, code) else np.int64(MIXED)
            i += 1
        if join and pure != NOTHING and (last == NOTHING or (pure == last and pure != MIXED)):
            n_atoms = at
        ends[n_atoms] = i
        n_atoms += 1
        if pure != NOTHING:
            last, at = pure, n_atoms - 1
    if join and n_atoms > 0:
        n_atoms = at + 1
        ends[at] = n
    return n_atoms


def _fill(
    values: Any, codes: Any, weights: Any, ends: Any, counts: Any, n_values: Any, is_late: Callable[[], bool]
) -> bool:
    """Add up the rows of each atom, of some atoms at a time; whether that was done before it was too late."""
    size = max(1, COUNTS_AT_ONCE // counts.shape[1])
    for lo in range(0, len(ends), size):
        if len(ends) > 1 and is_late():
            return False
        hi = min(lo + size, len(ends))
        begin, end = int(ends[lo - 1]) if lo > 0 else 0, int(ends[hi - 1])
        rows = slice(begin, end)
        bind(fill_atoms)(values[rows], codes[rows], weights[rows], ends[lo:hi] - begin, counts[lo:hi], n_values[lo:hi])
    return True


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


def add_up(counts: Any, starts: Any, sums: Any) -> None:
    """The rows of each run by class, given those of each value."""
    run = -1
    for value in range(len(counts)):
        run += run + 1 < len(starts) and starts[run + 1] == value
        for c in range(counts.shape[1]):
            sums[run, c] += counts[value, c]


def bounds_between(low: NDArray[Any], high: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A bound for each pair of neighbouring values, as a number or date of the column's own type."""
    if dtype.kind == "f":
        return middles(low.astype(dtype), high.astype(dtype))
    return middles(low, high).view(dtype)


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
