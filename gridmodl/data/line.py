"""Sort a numerical column into a line of atoms.

An atom is one distinct value. If the criterion declares that no bound is needed inside a run of values whose rows are
all of one class, such a run is one atom. Missing values are the first atom; special codes are not on the line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import COUNTS_AT_ONCE, Atoms, Target, alone, check_size, coarsen
from gridmodl.data.bounds import bounds_between
from gridmodl.data.numbers import Numbers, encode_bounds
from gridmodl.jit.template import bind

# Codes in place of a class number: rows of several classes, and rows without a class.
MIXED, NOTHING = -1, -2


class Line(NamedTuple):
    """A numerical column, sorted: its atoms and their positions."""

    atoms: Atoms
    has_missing: bool  # whether the first atom holds the missing values
    # Largest value of each atom but the last, and smallest value of the next; arbitrary for missing values. Both are
    # the bound itself where the user gave it.
    low: NDArray[Any]
    high: NDArray[Any]
    special: NDArray[np.int64]  # rows of each special code, by code of the target

    @property
    def n_atoms(self) -> int:
        return len(self.atoms.values)

    def bounds(self, starts: NDArray[np.int64], dtype: np.dtype[Any], placement: str | None = None) -> NDArray[Any]:
        """Bounds between the intervals whose first atoms are `starts`, in the column's own `dtype`."""
        cuts = starts[1:] - 1
        cuts = cuts[cuts > 0] if self.has_missing else cuts  # missing values need no bound
        low, high = self.low[cuts], self.high[cuts]
        is_given = low == high
        found = bounds_between(low[~is_given], high[~is_given], dtype, placement)
        bounds = np.empty(len(cuts), dtype=found.dtype)
        bounds[~is_given] = found
        bounds[is_given] = low[is_given].astype(dtype) if low.dtype.kind == "f" else low[is_given].view(dtype)
        return bounds

    def cuts_at(self, bounds: NDArray[Any]) -> NDArray[np.int64]:
        """First atom above each of the user's bounds, in the type of the values; 0 for a bound with no values aside.

        Each atom must be one value, and not a run of values.
        """
        first = int(self.has_missing)
        if self.n_atoms - first < 2:
            return np.zeros(len(bounds), dtype=np.int64)
        at = np.searchsorted(self.low[first:], bounds, side="right")
        return np.where((at > 0) & (bounds < self.high[-1]), first + at, 0)

    def with_bounds(self, cuts: NDArray[np.int64], bounds: NDArray[Any]) -> Line:
        """Line whose parts that begin at the atoms `cuts` have the user's `bounds`."""
        low, high = self.low.copy(), self.high.copy()
        low[cuts - 1] = high[cuts - 1] = bounds
        return self._replace(low=low, high=high)

    def with_gaps(self, at: NDArray[np.int64], low: NDArray[Any], high: NDArray[Any]) -> Line:
        """Line with two atoms without rows after each of the atoms `at`, each of one value.

        They go from `low` to where the bound was, and from there to `high`.
        """
        twice = np.repeat(at + 1, 2)
        counts, n_values = np.insert(self.atoms.counts, twice, 0, axis=0), np.insert(self.atoms.values, twice, 0)
        lows, highs = (
            np.insert(ends, np.column_stack([at, at + 1]).ravel(), np.column_stack([low, high]).ravel())
            for ends in (self.low, self.high)
        )
        return self._replace(atoms=alone(counts, n_values, counts.shape[1]), low=lows, high=highs)

    def coarsen(self, cuts: NDArray[np.int64]) -> Line:
        """Line whose atoms begin at the atoms `cuts`, ascending; missing values stay apart."""
        first = np.arange(1 + (self.has_missing and self.n_atoms > 1))
        starts = np.union1d(first, cuts)
        atoms = coarsen(self.atoms, starts)
        return self._replace(atoms=atoms, low=self.low[starts[1:] - 1], high=self.high[starts[1:] - 1])


def make_line(
    column: Numbers,
    target: Target,
    join: bool,
    special: NDArray[Any] | None = None,
    is_late: Callable[[], bool] = lambda: False,
) -> Line:
    """Sort a column with its classes and weights, and cut it into atoms; `join` joins runs of one class.

    If `is_late` returns True before all atoms are counted, one atom holds all values but the missing ones.
    """
    values, missing = column.values, column.missing
    n_classes, n_codes, few_rows = target.n_classes, target.n_codes, target.few_rows  # before special rows are removed
    special_counts = np.zeros((0 if special is None else len(special), n_codes), dtype=np.int64)
    if special is not None and len(special):
        values, missing, target = _split_off_special(values, missing, target, special, special_counts)
    missing_counts = np.zeros(n_codes, dtype=np.int64)
    has_missing = missing is not None and bool(missing.any())
    if missing is not None and has_missing:
        missing_counts += target.of_rows(missing).by_code(np.zeros(np.count_nonzero(missing), dtype=np.int8), 1)[0]
        values, target = values[~missing], target.of_rows(~missing)
    if len(values) and is_late():
        return _single_atom_line(values, target, missing_counts, has_missing, special_counts, few_rows)
    values, codes, weights = _sort_rows(values, target)
    ends = np.empty(len(values), dtype=np.int64)
    if target.has_unlabelled:
        n_atoms = bind(labelled_ends)(values, codes, n_classes, join, _class_of(missing_counts[:n_classes]), ends)
    else:
        n_atoms = bind(atom_ends)(values, codes, join, ends)
    ends, n_first = ends[:n_atoms].copy(), int(has_missing)
    check_size(n_first + n_atoms, n_codes, "distinct values")
    weights = np.empty(0, dtype=np.int64) if weights is None else weights
    while True:
        # 32-bit counts halve the time of a search; sums of counts, which terms see, have 64 bits.
        counts = np.zeros((n_first + len(ends), n_codes), dtype=np.int32 if few_rows else np.int64)
        n_values = np.zeros(n_first + len(ends), dtype=np.int32)
        counts[:n_first], n_values[:n_first] = missing_counts, 1
        if _fill_in_blocks(values, codes, weights, ends, counts[n_first:], n_values[n_first:], is_late):
            break
        ends = ends[-1:]
    between = ends[:-1]
    low, high = span_ends(column, values[between - 1]), values[between]
    if n_first and n_atoms:
        low, high = np.concatenate([values[:1], low]), np.concatenate([values[:1], high])
    return Line(alone(counts, n_values, n_classes), has_missing, low, high, special_counts)


def span_ends(column: Numbers, low: NDArray[Any]) -> NDArray[Any]:
    """Highest value of the spans that begin at `low`; without spans, the values themselves."""
    if column.ends is None:
        return low
    values, ends = column.values, column.ends
    if column.missing is not None:
        values, ends = values[~column.missing], ends[~column.missing]
    order = np.argsort(values)
    return np.asarray(ends[order][np.searchsorted(values[order], low)])


def holds_bounds(column: Numbers, bounds: NDArray[Any]) -> bool:
    """Whether a span of several values holds one of the bounds, so that rows on both sides were counted together."""
    if column.ends is None:
        return False
    is_there = slice(None) if column.missing is None else ~column.missing
    lows, highs = column.values[is_there], column.ends[is_there]
    at = bounds.view(np.int64) if bounds.dtype.kind in "mM" else bounds
    return any(bool(np.any((lows <= bound) & (bound < highs))) for bound in at)


def check_bounds(column: Any, given: Sequence[Any] | NDArray[Any]) -> None:
    """Raise ValueError if one of the bounds `given` by the user lies inside of a span of several values."""
    if not isinstance(column, Numbers) or column.ends is None:
        return
    for bound in given:
        if holds_bounds(column, encode_bounds([bound], column, f"bounds of column {column.name!r}")):
            raise ValueError(
                f"the bound {bound!r} of column {column.name!r} lies in a span of values that were counted together; "
                "count the column with a larger max_groups, or give the frame in place of its counts"
            )


def _single_atom_line(
    values: NDArray[Any], target: Target, missing: NDArray[np.int64], has_missing: bool, special: Any, few_rows: bool
) -> Line:
    """Line with a single atom for all values but the missing ones, for a column that has run out of time."""
    counts = np.stack([missing, target.by_code(np.zeros(len(values), dtype=np.int8), 1)[0]])[1 - int(has_missing) :]
    in_order = np.sort(values)
    n_distinct = 1 + np.count_nonzero(in_order[1:] != in_order[:-1])
    n_values = np.array([1, n_distinct], dtype=np.int32)[1 - int(has_missing) :]
    edges = in_order[: int(has_missing)]
    atoms = alone(counts.astype(np.int32 if few_rows else np.int64), n_values, target.n_classes)
    return Line(atoms, has_missing, edges, edges, special)


def _class_of(counts: NDArray[np.int64]) -> int:
    """The only class with rows in `counts`; `MIXED` if there are several, `NOTHING` if there is none."""
    classes = np.flatnonzero(counts)
    return int(classes[0]) if len(classes) == 1 else (MIXED if len(classes) else NOTHING)


def _split_off_special(
    values: NDArray[Any], missing: Any, target: Target, special: NDArray[Any], counts: NDArray[np.int64]
) -> tuple[NDArray[Any], Any, Target]:
    """Values, missing flags and target of the rows without a special code; rows with one are added to `counts`."""
    order = np.argsort(special)
    at = np.minimum(np.searchsorted(special[order], values), len(special) - 1)
    is_special = special[order][at] == values
    if missing is not None:  # the placeholder of a missing integer may equal a code
        is_special &= ~missing
    counts[order] = target.of_rows(is_special).by_code(at[is_special], len(special))
    kept = ~is_special
    return values[kept], None if missing is None else missing[kept], target.of_rows(kept)


def _sort_rows(column: NDArray[Any], target: Target) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Values, class codes and weights, sorted by value."""
    codes, weights = target.codes, target.weights
    packed = _sort_packed(column, codes, target.n_codes) if weights is None else None
    if packed is not None:
        return (*packed, None)
    order = np.argsort(column)
    return column[order], codes[order], None if weights is None else weights[order]


def _sort_packed(column: NDArray[Any], codes: NDArray[Any], n_codes: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Values and codes sorted by value; None if a value and a code do not fit into one sort key of 64 bits.

    A sort key is an integer that sorts like the value, with the code in its low bits. The integers of floats leave wide
    gaps between 0 and the values nearest to it; without these gaps there is room for the code. One plain sort takes
    half the time of an argsort and the indexing of the rows.
    """
    if column.dtype not in (np.float64, np.int64):
        return None
    n_bits = (n_codes - 1).bit_length()
    keys = _exchange_bits(column.view(np.int64)) if column.dtype == np.float64 else column.copy()
    lowest, highest = int(keys.min(initial=0)), int(keys.max(initial=0))
    # As unsigned integers, negative keys are above all others.
    below = -1 - int(keys.view(np.uint64).max().view(np.int64)) if lowest < 0 else 0
    above = int((keys - 1).view(np.uint64).min()) if highest > 0 else 0
    if max(highest - above, -1 - lowest - below) >> (63 - n_bits):
        return None
    keys += (keys < 0) * np.int64(below)
    keys -= (keys > 0) * np.int64(above)
    keys <<= n_bits
    keys |= codes
    keys.sort()
    sorted_codes = (keys & ((1 << n_bits) - 1)).astype(codes.dtype)
    keys >>= n_bits
    first, end = np.searchsorted(keys, 0), np.searchsorted(keys, 0, side="right")
    keys[:first] -= below
    keys[end:] += above
    return (_exchange_bits(keys).view(np.float64) if column.dtype == np.float64 else keys), sorted_codes


def _exchange_bits(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Integers that sort like the floats with these bits; and the bits, given such integers."""
    flips = bits >> 63
    flips &= np.int64(0x7FFF_FFFF_FFFF_FFFF)
    flips ^= bits
    return flips


def atom_ends(values: Any, codes: Any, join: bool, ends: Any) -> int:
    """Write the end of each atom (its last row plus 1) to `ends`; return the number of atoms."""
    n_atoms, n, i = 0, len(values), 0
    last: Any = NOTHING  # class of all rows of the last atom
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


def labelled_ends(values: Any, codes: Any, no_class: int, join: bool, before: int, ends: Any) -> int:
    """Like `atom_ends`, where rows of code `no_class` have no class; `before` is the class of the missing values.

    A run goes from a value to the next labelled value of the same class, with all rows between them. Rows before the
    first or after the last labelled value belong to the atom of that value. In a gap between different classes every
    value is an atom.
    """
    n_atoms, n, i = 0, len(values), 0
    last: Any = np.int64(before)  # class of the last labelled value
    at = 0  # atom of the last labelled value
    while i < n:
        pure: Any = np.int64(NOTHING)
        start = i
        while i < n and values[i] == values[start]:
            code = np.int64(codes[i])
            if code != no_class:
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


def _fill_in_blocks(
    values: Any, codes: Any, weights: Any, ends: Any, counts: Any, n_values: Any, is_late: Callable[[], bool]
) -> bool:
    """Count the rows of each atom, a block of atoms at a time; False if `is_late` stopped the counting."""
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
    """Count the rows of each atom by class, and its distinct values."""
    i, weighted = 0, len(weights) > 0
    for atom in range(len(ends)):
        start = i
        while i < ends[atom]:
            counts[atom, codes[i]] += weights[i] if weighted else 1
            if i == start or values[i] != values[i - 1]:
                n_values[atom] += 1
            i += 1


def add_up(counts: Any, starts: Any, sums: Any) -> None:
    """Add the rows of each value, `counts`, to those of the run that holds it, `sums`; runs begin at `starts`."""
    run = -1
    for value in range(len(counts)):
        run += run + 1 < len(starts) and starts[run + 1] == value
        for c in range(counts.shape[1]):
            sums[run, c] += counts[value, c]
