"""Rows of many variables, and grids over them: the part of each atom of each informative variable.

An atom is a distinct value. Atoms of a numerical variable are in ascending order, after one atom of all missing values;
atoms of a categorical variable are in the order of its codes. Memory is O(K N) for the rows, and for a grid the number
of atoms of its informative variables; cells are not stored, but made from the rows while a search needs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Target
from gridmodl.data.columns import Categories
from gridmodl.data.numbers import Numbers
from gridmodl.jit.template import bind
from gridmodl.pricing import ColumnValues, categorical_values, numerical_values, prepare, variable_of
from gridmodl.terms import Criterion, Problem, Variable


class Rows(NamedTuple):
    """Atom of each row in each variable, and the rows of each variable sorted by atom.

    Flat arrays hold the atoms of all variables, one variable after the other.
    """

    atom: Any  # int32 [variable, row]: atom of each row
    order: Any  # int32 [variable, place]: rows sorted by atom
    atom_at: Any  # index of the first atom of each variable in the flat arrays; at the end, the number of atoms
    first: Any  # first place of each atom in `order`; variable k begins at atom_at[k] + k and has one more entry
    atom_rows: Any  # flat: sum of the row weights of each atom
    codes: Any  # class of each row
    weights: Any  # weight of each row; empty if all are 1
    atom_values: Any  # flat: distinct values of each atom; 1, unless an atom is a part of another grid

    @property
    def n_variables(self) -> int:
        return len(self.atom_at) - 1

    @property
    def n_lines(self) -> int:
        """Number of rows, without weights."""
        return len(self.codes)

    def n_atoms(self, k: int) -> int:
        """Number of atoms of variable k."""
        return int(self.atom_at[k + 1] - self.atom_at[k])

    def rows_of_atoms(self, k: int) -> NDArray[np.int64]:
        """Sum of the row weights of each atom of variable k."""
        return np.asarray(self.atom_rows[self.atom_at[k] : self.atom_at[k + 1]])

    def only(self, variables: Sequence[int]) -> Rows:
        """Same rows with only these variables."""
        at, chosen = self.atom_at, list(variables)
        return Rows(
            atom=self.atom[chosen],
            order=self.order[chosen],
            atom_at=np.cumsum([0, *(self.n_atoms(k) for k in chosen)], dtype=np.int64),
            first=np.concatenate([self.first[at[k] + k : at[k + 1] + k + 1] for k in chosen]),
            atom_rows=np.concatenate([self.atom_rows[at[k] : at[k + 1]] for k in chosen]),
            codes=self.codes,
            weights=self.weights,
            atom_values=np.concatenate([self.atom_values[at[k] : at[k + 1]] for k in chosen]),
        )


class Facts(NamedTuple):
    """Facts of all variables that do not depend on their partitions: the fields of `Variable`, as arrays."""

    categorical: Any
    is_target: Any
    n_values: Any
    constant: Any
    by_parts: Any  # tables of all variables in one flat array
    by_parts_at: Any  # index of the first entry of each table; at the end, the length of `by_parts`

    def variable(self, k: int) -> Variable:
        """Facts of variable k, as terms see them."""
        return Variable(
            bool(self.categorical[k]),
            bool(self.is_target[k]),
            int(self.n_values[k]),
            float(self.constant[k]),
            self.by_parts[self.by_parts_at[k] : self.by_parts_at[k + 1]],
        )

    def only(self, variables: Sequence[int]) -> Facts:
        """Facts of only these variables."""
        chosen = list(variables)
        tables = [self.variable(k).by_parts for k in chosen]
        return Facts(
            categorical=self.categorical[chosen],
            is_target=self.is_target[chosen],
            n_values=self.n_values[chosen],
            constant=self.constant[chosen],
            by_parts=np.concatenate(tables),
            by_parts_at=np.cumsum([0, *map(len, tables)], dtype=np.int64),
        )


class Grid(NamedTuple):
    """Parts of the informative variables, with the cost of the grid; all other variables have one part."""

    variables: tuple[int, ...]  # informative variables, ascending
    parts: tuple[NDArray[np.int32], ...]  # part of each atom: 0, 1, ... in the order of their first atoms
    cost: float

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of parts of each informative variable."""
        return tuple(int(parts.max()) + 1 for parts in self.parts)

    def parts_of(self, k: int, n_atoms: int) -> NDArray[np.int32]:
        """Part of each of the `n_atoms` atoms of variable k, informative or not."""
        if k in self.variables:
            return self.parts[self.variables.index(k)]
        return np.zeros(n_atoms, dtype=np.int32)

    def signature(self) -> tuple[Any, ...]:
        """Key that is equal for equal partitions; costs of equal partitions may differ by rounding."""
        return self.variables, tuple(parts.tobytes() for parts in self.parts)


def make_grid(parts: Sequence[tuple[int, NDArray[Any]]], cost: float = np.inf) -> Grid:
    """Make a grid from (variable, part of each atom), in any numbering; variables of one part are left out."""
    kept = sorted((k, numbered_parts(labels)) for k, labels in parts if np.any(labels != labels[0]))
    return Grid(tuple(k for k, _ in kept), tuple(labels for _, labels in kept), cost)


def numbered_parts(labels: NDArray[Any]) -> NDArray[np.int32]:
    """Same parts, numbered 0, 1, ... in the order of their first atoms."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int32)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


class Holds(NamedTuple):
    """Parts that variables keep as soon as they have more than one part: bounds between atoms, and groups of one atom.

    A variable of one part is not in the grid and keeps none, unless it is required.
    """

    begins: Any  # flat: whether a part begins at the atom; categorical: whether the atom, one of the last, is a group
    least: Any  # by variable: number of parts that this makes; 1 if it keeps none
    required: Any  # by variable: whether it always has these parts
    # By variable: atom of missing values with fewer rows than min_rows, which may be a part of their own, or -1. It is
    # the first atom, or the last categorical one that is no group of its own.
    loose: Any

    @property
    def is_nothing(self) -> bool:
        return bool(np.all(self.least == 1) and np.all(self.loose < 0))

    def is_plain(self, k: int) -> bool:
        """Whether variable k keeps no parts."""
        return bool(self.least[k] == 1 and self.loose[k] < 0)


def no_holds(rows: Rows) -> Holds:
    """Holds of variables that keep no parts."""
    n = rows.n_variables
    return Holds(
        begins=np.zeros(int(rows.atom_at[-1]), dtype=np.bool_),
        least=np.ones(n, dtype=np.int64),
        required=np.zeros(n, dtype=np.bool_),
        loose=np.full(n, -1, dtype=np.int64),
    )


def joined_atoms(rows: Rows, atom_of: Mapping[int, NDArray[np.int64]]) -> Rows:
    """Same rows with other atoms of some variables: `atom_of` has the new atom of each old one, by variable."""
    atom, order = rows.atom.copy(), rows.order.copy()
    firsts, of_rows, of_values = [], [], []
    for k in range(rows.n_variables):
        at, end = rows.atom_at[k], rows.atom_at[k + 1]
        first, n_rows, n_values = rows.first[at + k : end + k + 1], rows.atom_rows[at:end], rows.atom_values[at:end]
        if k in atom_of:
            new = atom_of[k]
            atom[k] = new[atom[k]]
            order[k] = np.argsort(atom[k], kind="stable")
            n_atoms = int(new.max()) + 1
            first = np.searchsorted(atom[k][order[k]], np.arange(n_atoms + 1)).astype(first.dtype)
            sums = np.zeros((2, n_atoms), dtype=np.int64)
            np.add.at(sums[0], new, n_rows)
            np.add.at(sums[1], new, n_values)
            n_rows, n_values = sums[0], sums[1].astype(np.int32)
        firsts.append(first)
        of_rows.append(n_rows)
        of_values.append(n_values)
    return rows._replace(
        atom=atom,
        order=order,
        atom_at=np.cumsum([0, *map(len, of_rows)], dtype=np.int64),
        first=np.concatenate(firsts),
        atom_rows=np.concatenate(of_rows),
        atom_values=np.concatenate(of_values),
    )


def make_rows(columns: Sequence[Numbers | Categories], target: Target) -> Rows:
    """Make the rows of encoded columns."""
    k_max, n = len(columns), len(target.codes)
    atom, order = np.empty((k_max, n), dtype=np.int32), np.empty((k_max, n), dtype=np.int32)
    weights = np.empty(0, dtype=np.int64) if target.weights is None else target.weights.astype(np.int64)
    firsts, atom_rows = [], []
    for k, column in enumerate(columns):
        if isinstance(column, Categories):
            n_atoms = len(column.values)
            first, rows_of_atoms = np.zeros(n_atoms + 1, dtype=np.int32), np.zeros(n_atoms, dtype=np.int64)
            atom[k] = column.codes
            bind(sort_codes)(atom[k], weights, order[k], first, rows_of_atoms)
        else:
            first = _rank(column, atom[k], order[k])
            running = np.arange(n + 1) if target.weights is None else np.append(0, np.cumsum(weights[order[k]]))
            rows_of_atoms = np.diff(running[first])
        firsts.append(first)
        atom_rows.append(rows_of_atoms)
    return Rows(
        atom=atom,
        order=order,
        atom_at=np.cumsum([0, *(len(rows) for rows in atom_rows)], dtype=np.int64),
        first=np.concatenate(firsts),
        atom_rows=np.concatenate(atom_rows).astype(np.int64),
        codes=np.array(target.codes, dtype=np.int32),
        weights=weights,
        atom_values=np.ones(sum(map(len, atom_rows)), dtype=np.int32),
    )


def sort_codes(codes: Any, weights: Any, order: Any, first: Any, rows: Any) -> None:
    """Sort the rows by code: write `order`, the first place of each code, and its rows; `first` and `rows` are zero.

    A counting sort: a million rows of two columns take 22 ms; sorting and searching took 180 ms.
    """
    n_codes = len(rows)
    for i in range(len(codes)):
        first[codes[i] + 1] += 1
        rows[codes[i]] += weights[i] if len(weights) > 0 else 1
    for c in range(n_codes):
        first[c + 1] += first[c]
    for i in range(len(codes) - 1, -1, -1):  # from the end, so that first[c + 1] becomes the first place of code c
        first[codes[i] + 1] -= 1
        order[first[codes[i] + 1]] = i
    for c in range(n_codes):
        first[c] = first[c + 1]
    first[n_codes] = len(codes)


def _rank(column: Numbers, atom: NDArray[np.int32], order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Write the rank of the value of each row, missing values first, and the rows in that order.

    Return the first place of each rank in that order, and at the end the number of rows.
    """
    n = column.n_rows
    missing = column.missing if column.missing is not None else np.zeros(n, dtype=bool)
    n_missing = int(np.count_nonzero(missing))
    if n_missing:
        present = np.flatnonzero(~missing)
        order[:n_missing] = np.flatnonzero(missing)
        order[n_missing:] = present[np.argsort(column.values[present], kind="stable")]
    else:
        order[:] = np.argsort(column.values, kind="stable")
    values = column.values[order[n_missing:]]
    is_new = np.zeros(n, dtype=np.int32)
    is_new[n_missing + 1 :] = values[1:] != values[:-1]
    if 0 < n_missing < n:
        is_new[n_missing] = 1
    atom[order] = np.cumsum(is_new, dtype=np.int32)
    is_new[0] = 1
    return np.append(np.flatnonzero(is_new), n).astype(np.int32)


def make_facts(criterion: Criterion, problem: Problem, rows: Rows, kinds: Sequence[str]) -> tuple[Any, Facts]:
    """`p` and the facts of all variables; the last variable is the target if the target is partitioned."""
    return checked_facts(
        criterion,
        problem,
        [
            categorical_values(rows.rows_of_atoms(k)) if kind == "categorical" else numerical_values(rows.n_atoms(k))
            for k, kind in enumerate(kinds)
        ],
    )


def checked_facts(criterion: Criterion, problem: Problem, variables: Sequence[ColumnValues]) -> tuple[Any, Facts]:
    """`p` and the facts of all variables; the plain terms of the criterion are checked on one variable of each kind."""
    facts: list[Variable] = []
    p, tried = None, set()
    for k, values in enumerate(variables):
        is_target = problem.flags.target_is_partitioned and k == len(variables) - 1
        if (values.categorical, is_target) not in tried:
            p, known = prepare(criterion, problem, values, is_target)
            tried.add((values.categorical, is_target))
        else:
            known = variable_of(criterion, problem, values, is_target)
        facts.append(known)
    tables = [fact.by_parts for fact in facts]
    return p, Facts(
        categorical=np.array([fact.categorical for fact in facts]),
        is_target=np.array([fact.is_target for fact in facts]),
        n_values=np.array([fact.n_values for fact in facts], dtype=np.int64),
        constant=np.array([fact.constant for fact in facts]),
        by_parts=np.concatenate(tables),
        by_parts_at=np.cumsum([0, *map(len, tables)], dtype=np.int64),
    )
