"""One variable as atoms: the smallest parts that a search may have to tell apart.

Of a categorical variable an atom is one value, of a numerical one a value or a run of values (`line`). Rows without a
class are told by a code of their own, the last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.values import Categories, count_rows

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


class Target(NamedTuple):
    """The class and the weight of each row."""

    codes: NDArray[np.int32]  # `n_classes` for a row without a class
    weights: NDArray[np.int64] | None
    n_classes: int
    has_unlabelled: bool = False

    @property
    def n_codes(self) -> int:
        return self.n_classes + self.has_unlabelled

    @property
    def n_rows(self) -> int:
        return len(self.codes) if self.weights is None else int(self.weights.sum())

    @property
    def few_rows(self) -> bool:
        return self.n_rows < 2**31

    def by_code(self, parts: NDArray[Any], n_parts: int) -> NDArray[np.int64]:
        """Rows by part and code, given the part of each row: by class and, if there are any, those without one."""
        flat = parts.astype(np.int64) * self.n_codes + self.codes
        return count_rows(flat, self.weights, n_parts * self.n_codes).reshape(n_parts, self.n_codes)

    def counts(self, parts: NDArray[Any], n_parts: int) -> NDArray[np.int64]:
        """Rows by part and class, given the part of each row."""
        return self.by_code(parts, n_parts)[:, : self.n_classes]

    def of_rows(self, kept: NDArray[np.bool_]) -> Target:
        return self._replace(codes=self.codes[kept], weights=None if self.weights is None else self.weights[kept])


def make_values(column: Categories, target: Target) -> Atoms:
    """One atom for each value of a categorical column."""
    n_values = len(column.values)
    check_size(n_values, target.n_codes, "values")
    by_code = target.by_code(column.codes, n_values).astype(np.int32 if target.few_rows else np.int64)
    return alone(by_code, np.ones(n_values, dtype=np.int32), target.n_classes)


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


def alone(by_code: NDArray[Any], n_values: NDArray[np.int32], n_classes: int) -> Atoms:
    """Atoms of a variable without others: one entry each, all in frozen cell 0; a code beyond the classes is none."""
    n = len(by_code)
    first = np.arange(n + 1, dtype=np.int32)
    counts = np.ascontiguousarray(by_code[:, :n_classes])
    return Atoms(first, np.zeros(n, dtype=np.int32), counts, by_code.sum(axis=1, dtype=np.int64), n_values)


def rows_by_code(atoms: Atoms, target: Target) -> NDArray[Any]:
    """The rows of each atom of a variable without others, by code of the target: what `alone` was made of."""
    if not target.has_unlabelled:
        return np.asarray(atoms.counts)
    return np.column_stack([atoms.counts, atoms.rows - atoms.counts.sum(axis=1, dtype=np.int64)])


def gap_ends(atoms: Atoms) -> NDArray[np.int64]:
    """First atoms of the parts to merge from where many have no labelled row: neighbours without one are together."""
    is_labelled = atoms.counts.any(axis=1)
    begins = is_labelled.copy()
    begins[:1] = True
    begins[1:] |= is_labelled[:-1]
    return np.flatnonzero(begins)


def check_size(n_atoms: int, n_classes: int, what: str) -> None:
    if n_atoms * n_classes > MAX_COUNTS:
        raise ValueError(
            f"{n_atoms} {what} by {n_classes} classes is a table of more than {MAX_COUNTS} counts; "
            "is the target an identifier? Otherwise round the column or group the classes"
        )


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
