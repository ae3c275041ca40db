"""Price moves: the only file that prices intervals, cuts and merges.

An interval costs its part term plus the sum of the cell terms of its cells. The grid and variable terms depend on the
number of parts alone, so they change by the same amount in all moves with the same number of new parts. If the searched
variable is a target, so do the margins (cells of the inputs): their sum is known for each number of target parts before
the search begins.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import inlined
from gridmodl.pricing import finished
from gridmodl.terms import Cell, Part, Shape, Variable, cell, margin, part, variable

UNCOUPLED = np.empty(0)


class Frozen(NamedTuple):
    """All that is fixed while one variable is searched: the other variables, and parts of its own that are set apart.

    A variable alone has neither. In a kernel, all fields must be passed: numba ignores the defaults.
    """

    n_variables: int = 1  # all variables, the searched one included; if the target is searched, only the inputs
    n_informative: int = 0  # fixed inputs with more than one part
    n_cells: float = 1.0  # cells of the frozen grid, empty ones included
    # Number of parts of a frozen target, which prices the margins of the searched input; 0 if the target is searched or
    # not partitioned.
    n_target_parts: int = 0
    price: float = 0.0  # variable and part terms of the fixed variables, and the price of the parts set apart
    n_apart: int = 0  # parts of the searched variable that no move touches
    # If the target is searched: sum of all margins for each number of its parts, not included in `price`. More parts
    # than the table has cost infinitely much.
    by_target: Any = UNCOUPLED


class Setting(NamedTuple):
    """All that a price depends on besides the rows."""

    p: Any
    variable: Variable
    frozen: Frozen


class Buffers(NamedTuple):
    """Counts of the cells of two neighbouring intervals, by frozen cell; all zero between calls."""

    left: Any
    right: Any
    left_rows: Any
    right_rows: Any
    left_price: Any
    right_price: Any


def make_buffers(n_cells: int, n_counts: int) -> Buffers:
    """Make buffers for two intervals, with `n_cells` frozen cells of `n_counts` counts each."""
    counts = (n_cells, n_counts)
    return Buffers(
        np.zeros(counts, dtype=np.int64),
        np.zeros(counts, dtype=np.int64),
        np.zeros(n_cells, dtype=np.int64),
        np.zeros(n_cells, dtype=np.int64),
        np.zeros(n_cells),
        np.zeros(n_cells),
    )


NO_LIMIT = 2**62  # more parts than any partition has; sums with it do not overflow


class Limits(NamedTuple):
    """Constraints on the partition."""

    max_parts: int
    min_rows: int


class GridLimits(NamedTuple):
    """Constraints on the partition of each variable of a grid."""

    max_parts: NDArray[np.int64]
    min_rows: NDArray[np.int64]

    def of(self, k: int) -> Limits:
        """Constraints on the partition of variable k."""
        return Limits(int(self.max_parts[k]), int(self.min_rows[k]))

    def only(self, variables: Sequence[int]) -> GridLimits:
        """Constraints on these variables."""
        return GridLimits(self.max_parts[list(variables)], self.min_rows[list(variables)])


def make_limits(limits: Sequence[Limits]) -> GridLimits:
    """Make the constraints on a grid from those on each of its variables."""
    return GridLimits(*np.array(limits, dtype=np.int64).reshape(-1, 2).T.copy())


# Kernels unpack records at their top, by name, and pass on only the fields that are needed: numba copies a whole record
# wherever it is named, which takes seconds of compile time.
#
# The numbers that a kernel keeps between two calls are named fields of one record (`make_record`); kernels with short
# steps keep them in local variables until the call ends. Measured on the sweep of `column/improve.py` (numba 0.68):
# compiled, both took as long as an array of numbers (3.2 to 3.8 s to compile, 1.12 to 1.23 ms to run). In plain Python
# an access to a field takes 4 us: local variables took as long as an array, fields at every use 10 % longer.


def make_record(**numbers: float) -> Any:
    """Make an array of one record with `numbers` as fields: kernels take `now = record[0]`, then use `now.cost`.

    A field has the type of its number: bool, 64-bit integer or 64-bit float.
    """
    kind = _kind_of_record(tuple((name, type(number)) for name, number in numbers.items()))
    return np.array([tuple(numbers.values())], dtype=kind)


@functools.cache  # numba looks at a dtype that it knows in 1 us, at a new one in 10 or more
def _kind_of_record(fields: tuple[tuple[str, type], ...]) -> Any:
    kinds = {bool: np.bool_, int: np.int64, float: np.float64}
    return np.dtype((np.record, np.dtype([(name, kinds[number]) for name, number in fields], align=True)))


@inlined
def cell_price(p: Any, counts: Any, rows: int) -> float:
    """Price of a non-empty cell of `rows` rows, of which `counts` are the labelled ones by class."""
    labelled = 0
    for n in counts:
        labelled += n
    return cell(p, Cell(counts, rows, rows - labelled))


@inlined
def labelled_price(p: Any, counts: Any, rows: int) -> float:
    """Price of a cell whose rows all have a class."""
    return cell(p, Cell(counts, rows, 0))


@inlined
def margin_price(p: Any, rows: Any, n_target_parts: Any) -> float:
    """Price of a non-empty cell of the inputs, of `rows` rows, beside a target in `n_target_parts` parts."""
    return margin(p, rows, n_target_parts)


@inlined
def partition_price(p: Any, facts: Variable, n_parts: int) -> float:
    """Price of a variable in `n_parts` parts, without the prices of the parts."""
    return variable(p, facts, n_parts)


@inlined
def part_price(p: Any, facts: Variable, n_target_parts: int, rows: int, values: int) -> float:
    """Price of a part; with a target in `n_target_parts` parts, including the margin of the part.

    A problem with a partitioned target has one input, so the cells of the inputs are the parts of that input.
    `n_target_parts` is 0 without a partitioned target, and for the parts of the target itself.
    """
    price = part(p, facts, Part(rows, values))
    return price + margin(p, rows, n_target_parts) if n_target_parts > 0 else price


# Relative difference below which costs are equal: sums of the same terms in another order differ by up to 1e-12 of the
# size of the terms.
TOLERANCE = 1e-11


@inlined
def is_cheaper(new: Any, old: Any, scale: Any = 1.0) -> Any:
    """Whether cost `new` is below cost `old` by more than rounding: a move pays, or a proof is still open.

    `scale` is the size of the prices that the costs are sums of, if these can be larger than the costs. To choose the
    lower of two costs use `<` instead: the result of a search must never cost more than its start.
    """
    return new < old - TOLERANCE * (scale + abs(old))


def total_cost(setting: Setting, parts_price: float, n_parts: int) -> float:
    """Cost of a grid whose searched variable has `n_parts` parts (without those set apart) of total `parts_price`."""
    p, facts, frozen = setting
    n_parts += frozen.n_apart
    n_informative = frozen.n_informative + (1 if n_parts > 1 and not facts.is_target else 0)
    shape = Shape(frozen.n_variables, n_informative, frozen.n_cells * float(n_parts))
    shared = variable(p, facts, n_parts) + frozen.price
    if len(frozen.by_target) > 0:
        shared += frozen.by_target[n_parts] if n_parts < len(frozen.by_target) else np.inf
    return finished(p, parts_price + shared, 0.0, shape)


# Two functions to add and to take an entry, not one with a sign: without the sign and the branch, the exact search took
# 42 ms instead of 67 ms.


@inlined
def add_entry(p: Any, counts: Any, rows: Any, prices: Any, f: int, more: Any, n: int) -> float:
    """Add an entry to cell `f`; return the change of the price of the cell."""
    for c in range(len(more)):
        counts[f, c] += more[c]
    n_rows = rows[f] + n
    price = cell_price(p, counts[f], n_rows)
    change = price - prices[f]
    rows[f], prices[f] = n_rows, price
    return change


@inlined
def take_entry(p: Any, counts: Any, rows: Any, prices: Any, f: int, less: Any, n: int) -> float:
    """Take an entry out of cell `f`; return the change of the price of the cell."""
    for c in range(len(less)):
        counts[f, c] -= less[c]
    n_rows = rows[f] - n
    price = cell_price(p, counts[f], n_rows) if n_rows > 0 else 0.0
    change = price - prices[f]
    rows[f], prices[f] = n_rows, price
    return change


@inlined
def cells_price(p: Any, counts: Any, rows: Any, union: Any, k: Any, j: Any) -> float:
    """Price of the cells of the union of parts `k` and `j`; `union` is a buffer for the counts of one cell."""
    price = 0.0
    for f in range(counts.shape[1]):
        n = rows[k, f] + rows[j, f]
        if n > 0:
            for c in range(counts.shape[2]):
                union[c] = np.int64(counts[k, f, c]) + counts[j, f, c]
            price += cell_price(p, union, n)
    return price


@inlined
def rows_in(rows: Any, i: Any) -> int:
    """Rows of part `i`, summed over its frozen cells."""
    n = 0
    for f in range(rows.shape[1]):
        n += rows[i, f]
    return n


def clear(atoms: Any, lo: int, hi: int, buffers: Buffers) -> None:
    """Set the buffers back to zero after atoms `lo` to `hi` were loaded."""
    first, frozen = atoms.first, atoms.frozen
    left, right, left_rows, right_rows, left_price, right_price = buffers
    for e in range(first[lo], first[hi]):
        f = frozen[e]
        # Not cleared by an earlier entry; a gap of a density has a width, the one count of its cell, and no rows.
        if left_rows[f] + right_rows[f] + left[f, 0] + right[f, 0] > 0:
            for c in range(left.shape[1]):
                left[f, c] = right[f, c] = 0
            left_rows[f] = right_rows[f] = 0
            left_price[f] = right_price[f] = 0.0


def load(atoms: Any, p: Any, lo: int, hi: int, buffers: Buffers) -> tuple[float, int, int]:
    """Load the interval of atoms `lo` to `hi` as the right one; return the price of its cells, its rows and values."""
    first, frozen, counts, rows, values = atoms
    right, right_rows, right_price, marks = buffers.right, buffers.right_rows, buffers.right_price, buffers.left_rows
    begin, end = first[lo], first[hi]
    price, n_rows, n_values = 0.0, 0, 0
    for e in range(begin, end):
        f = frozen[e]
        for c in range(counts.shape[1]):
            right[f, c] += counts[e, c]
        right_rows[f] += rows[e]
        n_rows += rows[e]
    for e in range(begin, end):
        f = frozen[e]
        if marks[f] == 0:  # not priced yet
            marks[f] = 1
            right_price[f] = cell_price(p, right[f], right_rows[f])
            price += right_price[f]
    for e in range(begin, end):
        marks[frozen[e]] = 0
    for a in range(lo, hi):
        n_values += values[a]
    return price, n_rows, n_values


def best_cut(
    atoms: Any, setting: Setting, lo: Any, hi: Any, buffers: Buffers, min_rows: int
) -> tuple[float, float, int]:
    """Scan the interval of atoms `lo` to `hi`; return its price, its lowest price in two parts, and their bound.

    One pass prices every cut: each step moves one atom from the right part to the left one. If no cut leaves both
    parts `min_rows` rows, the price in two parts is infinite and the bound is `lo`.
    """
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    whole, all_rows, all_values = load(atoms, p, lo, hi, buffers)
    first, frozen, counts, rows, values = atoms
    left, right, left_rows, right_rows, left_price, right_price = buffers
    both, best, bound = whole, np.inf, lo
    n_rows, n_values = 0, 0
    for a in range(lo, hi - 1):
        for e in range(first[a], first[a + 1]):
            both += add_entry(p, left, left_rows, left_price, frozen[e], counts[e], rows[e])
            both += take_entry(p, right, right_rows, right_price, frozen[e], counts[e], rows[e])
            n_rows += rows[e]
        n_values += values[a]
        if n_rows >= min_rows and all_rows - n_rows >= min_rows:
            price = both + part_price(p, facts, n_target_parts, n_rows, n_values)
            price += part_price(p, facts, n_target_parts, all_rows - n_rows, all_values - n_values)
            if price < best:
                best, bound = price, a + 1
    clear(atoms, lo, hi, buffers)
    return whole + part_price(p, facts, n_target_parts, all_rows, all_values), best, bound


def interval_price(atoms: Any, setting: Setting, lo: int, hi: int, buffers: Buffers) -> float:
    """Price of the interval of atoms `lo` to `hi`."""
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    price, rows, values = load(atoms, p, lo, hi, buffers)
    clear(atoms, lo, hi, buffers)
    return price + part_price(p, facts, n_target_parts, rows, values)


def price_partition(atoms: Any, setting: Setting, starts: Any, buffers: Buffers) -> tuple[float, float]:
    """Cost of the partition whose parts begin at atoms `starts`, computed from scratch; and the price of its parts."""
    total = 0.0
    for i in range(len(starts)):
        hi = starts[i + 1] if i + 1 < len(starts) else len(atoms.values)
        total += interval_price(atoms, setting, starts[i], hi, buffers)
    return total_cost(setting, total, len(starts)), total
