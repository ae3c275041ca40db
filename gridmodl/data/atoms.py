"""Count the rows of one variable by atom: atoms are the smallest parts that a search tells apart.

An atom is one value of a categorical variable, and a value or a run of values of a numerical one
(`gridmodl.data.line`). Unlabelled rows have a code of their own, the last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Categories, count_rows

# A larger table of counts takes gigabytes, and each evaluation of a cost reads a row of it.
MAX_COUNTS = 2**28
COUNTS_AT_ONCE = 2**24  # counts that are filled between two checks of Ctrl-C: 1 GB of new memory took 2 s


class Atoms(NamedTuple):
    """Rows of each atom, by frozen cell and class.

    In a grid, the other variables are frozen and cut an atom into entries, one per frozen cell with rows of the atom,
    in the order of the cells. A single variable has one entry per atom, all in frozen cell 0.
    """

    first: Any  # atom i has the entries first[i] to first[i + 1] - 1
    frozen: Any  # frozen cell of each entry
    counts: Any  # labelled rows of each entry, by class
    rows: Any  # all rows of each entry
    values: Any  # number of distinct values of each atom


class Target(NamedTuple):
    """Class, weight and period of each row."""

    codes: NDArray[np.int32]  # `n_classes` for an unlabelled row
    weights: NDArray[np.int64] | None
    n_classes: int
    has_unlabelled: bool = False
    event: int | None = None  # number of the class that monotone, rates and the order of groups speak of
    event_is_default: bool = False  # whether it is the last of several classes because none was named
    periods: NDArray[np.int32] | None = None  # number of the period of each row; negative for none

    @property
    def one_event(self) -> int | None:
        """Number of the event that tables and the order of groups speak of; None if they speak of each class."""
        return None if self.event_is_default else self.event

    @property
    def n_codes(self) -> int:
        return self.n_classes + self.has_unlabelled

    @property
    def n_rows(self) -> int:
        return len(self.codes) if self.weights is None else int(self.weights.sum())

    @property
    def few_rows(self) -> bool:
        """Whether 32-bit counts suffice."""
        return self.n_rows < 2**31

    def by_code(self, parts: NDArray[Any], n_parts: int) -> NDArray[np.int64]:
        """Rows by part and code, unlabelled rows last; `parts` is the part of each row."""
        rows = count_rows(self.places(parts), self.weights, n_parts * self.n_codes)
        return rows.reshape(n_parts, self.n_codes)

    def places(self, parts: NDArray[Any]) -> NDArray[np.int64]:
        """Index of each row in a flat table by part and code."""
        return parts.astype(np.int64) * self.n_codes + self.codes

    def table(self, parts: NDArray[Any], n_parts: int) -> NDArray[Any]:
        """Like `by_code`, in 32 bits if they suffice; writes only to the counts that are not 0."""
        rows = np.zeros(n_parts * self.n_codes, dtype=np.int32 if self.few_rows else np.int64)
        # With a summand of another type, even a plain 1, np.add.at takes fifty times as long.
        more = rows.dtype.type(1) if self.weights is None else self.weights.astype(rows.dtype)
        np.add.at(rows, self.places(parts), more)
        return rows.reshape(n_parts, self.n_codes)

    def counts(self, parts: NDArray[Any], n_parts: int) -> NDArray[np.int64]:
        """Labelled rows by part and class; `parts` is the part of each row."""
        return self.by_code(parts, n_parts)[:, : self.n_classes]

    def of_rows(self, kept: NDArray[np.bool_]) -> Target:
        """Target of the rows where `kept` is True."""
        weights = None if self.weights is None else self.weights[kept]
        periods = None if self.periods is None else self.periods[kept]
        return self._replace(codes=self.codes[kept], weights=weights, periods=periods)


def make_values(column: Categories, target: Target) -> Atoms:
    """Make one atom for each value of a categorical column."""
    n_values = len(column.values)
    check_size(n_values, target.n_codes, "values")
    by_code = target.table(column.codes, n_values)
    rows = count_rows(column.codes, target.weights, n_values)
    return alone(by_code, np.ones(n_values, dtype=np.int32), target.n_classes, rows)


def tail(atoms: Atoms, start: int) -> Atoms:
    """The atoms from number `start` on."""
    entry = atoms.first[start]
    return Atoms(
        atoms.first[start:] - entry,
        atoms.frozen[entry:],
        atoms.counts[entry:],
        atoms.rows[entry:],
        atoms.values[start:],
    )


def head(atoms: Atoms, end: int) -> Atoms:
    """The atoms before number `end`."""
    entry = atoms.first[end]
    return Atoms(
        atoms.first[: end + 1], atoms.frozen[:entry], atoms.counts[:entry], atoms.rows[:entry], atoms.values[:end]
    )


def alone(
    by_code: NDArray[Any], n_values: NDArray[np.int32], n_classes: int, rows: NDArray[np.int64] | None = None
) -> Atoms:
    """Atoms of a single variable, one entry each, from the rows of each atom by class code.

    A column of `by_code` beyond `n_classes` counts unlabelled rows. `rows` are the sums of `by_code`, if known.
    """
    n = len(by_code)
    first = np.arange(n + 1, dtype=np.int32)
    counts = np.ascontiguousarray(by_code[:, :n_classes])
    rows = by_code.sum(axis=1, dtype=np.int64) if rows is None else rows
    return Atoms(first, np.zeros(n, dtype=np.int32), counts, rows, n_values)


def rows_by_code(atoms: Atoms, target: Target) -> NDArray[Any]:
    """Rows of each atom of a single variable by code of the target: the inverse of `alone`."""
    if not target.has_unlabelled:
        return np.asarray(atoms.counts)
    return np.column_stack([atoms.counts, atoms.rows - atoms.counts.sum(axis=1, dtype=np.int64)])


def gap_ends(atoms: Atoms) -> NDArray[np.int64]:
    """First atoms of the parts that a merge starts from: neighbouring atoms without a labelled row are joined."""
    is_labelled = atoms.counts.any(axis=1)
    begins = is_labelled.copy()
    begins[:1] = True
    begins[1:] |= is_labelled[:-1]
    return np.flatnonzero(begins)


def check_size(n_atoms: int, n_classes: int, what: str) -> None:
    """Raise if a table of `n_atoms` by `n_classes` counts is too large; `what` names the atoms."""
    if n_atoms * n_classes > MAX_COUNTS:
        raise ValueError(
            f"{n_atoms} {what} by {n_classes} classes is a table of more than {MAX_COUNTS} counts; "
            "is the target an identifier? Otherwise round the column or group the classes"
        )


def _sum_runs(counts: NDArray[Any], begins: NDArray[np.int64], order: NDArray[np.int64] | None) -> NDArray[Any]:
    """Sums of the rows of `counts`, taken in `order`, from each of `begins` to the next, in blocks."""
    sums = np.empty((len(begins), counts.shape[1]), dtype=counts.dtype)
    size, ends = max(1, COUNTS_AT_ONCE // counts.shape[1]), np.append(begins, len(counts))
    for lo in range(0, len(begins), size):
        hi = min(lo + size, len(begins))
        span = slice(ends[lo], ends[hi])
        block = counts[span if order is None else order[span]]
        np.add.reduceat(block, begins[lo:hi] - ends[lo], axis=0, dtype=counts.dtype, out=sums[lo:hi])
    return sums


def coarsen(atoms: Atoms, starts: NDArray[np.int64]) -> Atoms:
    """Join atoms: the parts that begin at the atoms `starts` become the atoms."""
    part = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(atoms.values))))
    part_of_entry = np.repeat(part, np.diff(atoms.first))
    order = np.lexsort((atoms.frozen, part_of_entry)) if atoms.frozen.any() else None
    frozen, rows = atoms.frozen, atoms.rows
    if order is not None:
        part_of_entry, frozen, rows = part_of_entry[order], frozen[order], rows[order]
    is_new = np.append(True, (np.diff(part_of_entry) != 0) | (np.diff(frozen) != 0))
    begins = np.flatnonzero(is_new)
    first = np.searchsorted(part_of_entry[begins], np.arange(len(starts) + 1)).astype(atoms.first.dtype)
    return Atoms(
        first,
        frozen[begins],
        _sum_runs(atoms.counts, begins, order),
        np.add.reduceat(rows, begins),
        np.add.reduceat(atoms.values, starts, dtype=atoms.values.dtype),
    )
