"""State of a search of two variables: their parts, and the cost of the grid.

Cells are dense here: a table of rows by part of either variable, laid out again for each step of the search. A cell has
one count, so its price depends on its rows alone, and is tabulated once per criterion and data set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind, inlined
from gridmodl.search.grid.rows import Grid, make_grid, numbered_parts
from gridmodl.search.grid.state import GridTask
from gridmodl.search.moves import (
    NO_LIMIT,
    Frozen,
    Limits,
    Setting,
    cell_price,
    make_limits,
    make_record,
    margin_price,
    part_price,
    partition_price,
    total_cost,
)
from gridmodl.terms import Variable

# Cells of a grid under search, empty ones included. A pass over values takes 32 bytes per cell, a merge 16: 128 MB.
MAX_CELLS = 2**22
# Groups of a categorical variable under search: a merge stores the deltas of all pairs, 67 MB.
MAX_GROUPS = 4096
# Tabulated prices of cells, 16 MB; larger cells are priced by the term itself.
MAX_TABLED = 2**21


@inlined
def price_at(p: Any, table: Any, one: Any, n: Any) -> float:
    """Price of a cell of `n` rows; 0 if empty."""
    return table[n] if n < len(table) else price_beyond(p, one, n)


def price_beyond(p: Any, one: Any, n: int) -> float:
    """Price of a cell that is too large for the table."""
    one[0] = n
    return cell_price(p, one, n)


def fill_table(p: Any, one: Any, table: Any) -> None:
    """Tabulate the prices of cells of 1, 2, ... rows."""
    for n in range(1, len(table)):
        table[n] = price_beyond(p, one, n)


def parts_price(p: Any, facts: Variable, n_target_parts: Any, rows: Any, values: Any, n_parts: int) -> float:
    """Sum of the prices of the parts of a variable."""
    price = 0.0
    for i in range(n_parts):
        price += part_price(p, facts, n_target_parts, rows[i], values[i])
    return price


def frozen_side(side: Variable, across: Variable, n_across: int, price: float, by_target: Any) -> Frozen:
    """Make the record of all that is fixed while the variable `side` is searched."""
    if side.is_target or across.is_target:
        n_informative = 1 if side.is_target and n_across > 1 else 0
        return Frozen(1, n_informative, float(n_across), n_across if across.is_target else 0, price, 0, by_target)
    return Frozen(2, 1 if n_across > 1 else 0, float(n_across), 0, price, 0, by_target)


# Prices from nothing are written twice: this one fills the dense table that the next step of the search reads, and that
# of grids numbers sparse cells. Through the sparse one, each step of this engine would count its entries once more.
def price_state(
    side: PairSide,
    across: PairSide,
    p: Any,
    n_parts: int,
    n_across: int,
    table: Any,
    one: Any,
    cells: Any,
    part_totals: Any,
    by_target: Any,
    now: Any,
) -> None:
    """Lay out the cells by part of `across`, then of `side`, and price the grid from scratch."""
    facts, first, other, rows = side.facts, side.first, side.other, side.rows
    atom_rows, atom_values, part_of = side.atom_rows, side.atom_values, side.part
    known, across_rows, across_values, across_part = across.facts, across.atom_rows, across.atom_values, across.part
    for t in range(cells.shape[0]):
        for g in range(cells.shape[1]):
            cells[t, g] = 0
    for i in range(4):
        for g in range(max(n_parts, n_across)):
            part_totals[i, g] = 0
    for v in range(len(part_of)):
        g = part_of[v]
        part_totals[0, g] += atom_rows[v]
        part_totals[1, g] += atom_values[v]
        for e in range(first[v], first[v + 1]):
            cells[across_part[other[e]], g] += rows[e]
    for v in range(len(across_part)):
        part_totals[2, across_part[v]] += across_rows[v]
        part_totals[3, across_part[v]] += across_values[v]
    price = 0.0
    for t in range(n_across):
        for g in range(n_parts):
            n = cells[t, g]
            price += price_at(p, table, one, n)
    n_target_parts = np.int64(n_across if known.is_target else 0)
    price += parts_price(p, facts, n_target_parts, part_totals[0], part_totals[1], n_parts)
    price_across = parts_price(p, known, np.int64(0), part_totals[2], part_totals[3], n_across)
    price_across += partition_price(p, known, n_across)
    if facts.is_target:
        for j in range(1, len(by_target)):
            by_target[j] = 0.0
            for t in range(n_across):
                by_target[j] += margin_price(p, part_totals[2, t], np.int64(j))
    frozen = frozen_side(facts, known, n_across, price_across, by_target)
    record = now[0]
    record.price, record.across = price, price_across
    record.cost = total_cost(Setting(p, facts, frozen), price, n_parts)


class Laid(NamedTuple):
    """Grid laid out for a step on one variable."""

    cells: Any  # rows by part of the other variable, then of this one
    part_totals: Any  # rows and values of the parts of this variable, then of the other
    setting: Setting


class Pair:
    """Grid of two variables under search, with all that its steps need.

    With `coarse_of`, values of numerical variables between two places for a bound are one atom.
    """

    def __init__(self, task: GridTask, coarse_of: Pair | None = None) -> None:
        self.task = task
        self.n_parts = [1, 1]
        self.one = np.zeros(1, dtype=np.int64)
        self.atom_of: list[NDArray[np.int64] | None] = [None, None]  # coarse atom of each atom of the task, if coarse
        if coarse_of is None:
            self.sides = make_sides(task)
            self.table = np.zeros(min(task.n_rows + 1, MAX_TABLED))
            bind(fill_table, task.criterion)(task.p, self.one, self.table)
        else:
            self.sides = self._coarse_sides(coarse_of)
            self.table = coarse_of.table
        self.laid = make_record(
            price=0.0,  # price of the cells, and of the parts of the variable that the grid was last laid out for
            across=0.0,  # price of the other variable and its parts
            cost=0.0,
        )
        self.relaxed = make_limits([Limits(NO_LIMIT, 1)] * 2)
        # Values sorted by rows, most first: neighbours with equal rows share the prices of parts.
        self.orders = [np.argsort(-side.atom_rows, kind="stable").astype(np.int32) for side in self.sides]
        self.places = [quantile_places(side, task.n_rows) for side in self.sides]

    def _coarse_sides(self, fine: Pair) -> tuple[PairSide, PairSide]:
        """Sides of the pair `fine`, with the values between two places for a bound as one atom."""
        places = [fine.places[k] if fine.has_many_bounds(k) else np.arange(fine.n_atoms(k)) for k in (0, 1)]
        for k in (0, 1):
            is_place = np.zeros(fine.n_atoms(k), dtype=np.int64)
            is_place[places[k]] = 1
            self.atom_of[k] = np.cumsum(is_place) - 1

        def side(k: int) -> PairSide:
            old, n, n_across = fine.sides[k], len(places[k]), len(places[1 - k])
            most = min(len(old.other), n * n_across)
            first, other, rows = np.empty(n + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.int64)
            values, slot = np.zeros(n, np.int64), np.full(n_across, -1, np.int64)
            coarse_of = np.asarray(self.atom_of[1 - k], dtype=np.int32)
            m = bind(fill_coarse)(old, coarse_of, places[k], first, other, rows, values, slot)
            n_rows = np.add.reduceat(old.atom_rows, places[k])
            part = np.zeros(n, dtype=np.int32)
            return PairSide(old.facts, first, other[:m].copy(), rows[:m].copy(), n_rows, values, part)

        return side(0), side(1)

    @property
    def cost(self) -> float:
        """Cost of the grid as of the last step."""
        return float(self.laid[0].cost)

    def n_atoms(self, k: int) -> int:
        """Number of atoms of variable k."""
        return len(self.sides[k].part)

    def is_group(self, k: int) -> bool:
        """Whether variable k is categorical."""
        return bool(self.sides[k].facts.categorical)

    def has_many_bounds(self, k: int) -> bool:
        """Whether variable k is numerical with more than MAX_PLACES values."""
        return not self.is_group(k) and self.n_atoms(k) > MAX_PLACES

    def most_parts(self, k: int) -> int:
        """Largest number of parts of variable k that fits in memory, given the parts of the other variable."""
        most = MAX_CELLS // self.n_parts[1 - k]
        return max(1, min(self.n_atoms(k), most, MAX_GROUPS if self.is_group(k) else most))

    def lay(self, k: int, n_slots: int = 0, n_targets: int = 0) -> Laid:
        """Price the grid from scratch, and lay it out for a step on variable k with slots for `n_slots` parts.

        If k is the target, margins are priced for at most max(`n_targets`, `n_slots`) parts of it.
        """
        side, across, n_parts, n_across = self.sides[k], self.sides[1 - k], self.n_parts[k], self.n_parts[1 - k]
        n_targets = max(n_targets, n_slots, n_parts)
        cells = np.empty((n_across, max(n_slots, n_parts)), dtype=np.int64)
        part_totals = np.empty((4, max(n_slots, n_parts, n_across)), dtype=np.int64)
        by_target = np.zeros(n_targets + 1 if side.facts.is_target else 0)
        kernel = bind(price_state, self.task.criterion)
        buffers = (cells, part_totals, by_target, self.laid)
        kernel(side, across, self.task.p, n_parts, n_across, self.table, self.one, *buffers)
        frozen = frozen_side(side.facts, across.facts, n_across, float(self.laid[0].across), by_target)
        return Laid(cells, part_totals, Setting(self.task.p, side.facts, frozen))

    def price(self) -> float:
        """Cost of the grid, computed from scratch."""
        self.lay(0)
        return self.cost

    def keeps_limits(self) -> bool:
        """Whether the grid keeps the limits of the task; one cell always does."""
        for k in (0, 1):
            limits = self.task.limits.of(k)
            if self.n_parts[k] > 1:
                rows = np.bincount(self.sides[k].part, self.sides[k].atom_rows, self.n_parts[k])
                if self.n_parts[k] > limits.max_parts or rows.min() < limits.min_rows:
                    return False
        return True

    def put(self, k: int, labels: NDArray[Any]) -> None:
        """Set the part of each atom of variable k to `labels`, renumbered without gaps."""
        used = np.zeros(int(labels.max()) + 1, dtype=np.int32)
        used[labels] = 1
        number = np.cumsum(used, dtype=np.int32) - 1
        self.sides[k].part[:] = number[labels]
        self.n_parts[k] = int(number[-1]) + 1

    def save(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Copy the part of each atom of both variables."""
        return self.sides[0].part.copy(), self.sides[1].part.copy()

    def load(self, parts: tuple[NDArray[np.int32], NDArray[np.int32]]) -> None:
        """Set the part of each atom of both variables."""
        for k in (0, 1):
            self.put(k, parts[k])

    def grid(self) -> Grid:
        """Make the `Grid`, with its cost computed from scratch; equal partitions have bitwise equal costs."""
        for side in self.sides:
            side.part[:] = numbered_parts(side.part)
        parts = self.task_parts(self.save())
        return make_grid(list(enumerate(parts)), self.price())

    def task_parts(self, parts: tuple[NDArray[np.int32], NDArray[np.int32]]) -> tuple[Any, Any]:
        """Part of each atom of the task, given the part of each atom of this pair."""
        first, second = (part if of is None else part[of] for part, of in zip(parts, self.atom_of, strict=True))
        return first, second


# Two variables as entries: the rows of each pair of atoms that occurs, sorted by either variable; and coarser atoms.

# Up to this many values of a numerical variable are all places for a bound; of more values, about as many quantiles.
MAX_PLACES = 1024


class PairSide(NamedTuple):
    """One of the two variables: its facts, its atoms, and its entries (pairs of atoms that occur), sorted by atom."""

    facts: Variable
    first: Any  # entries of atom i are first[i] to first[i + 1]
    other: Any  # atom of the other variable of each entry
    rows: Any  # rows of each entry
    atom_rows: Any
    atom_values: Any
    part: Any  # part of each atom; changed by searches


def gather_entries(
    atom: Any, order: Any, place: Any, weights: Any, by_both: Any, first: Any, other: Any, rows: Any
) -> int:
    """Write the distinct pairs of atoms, sorted by variable 0, then 1, and their rows; return their number.

    `place` is the first place of each atom of variable 0 among the rows sorted by atom; it is overwritten.
    """
    n = order.shape[1]
    for i in range(n):
        r = order[1, i]
        a = atom[0, r]
        by_both[place[a]] = r
        place[a] += 1
    n_entries, last, last_other = 0, np.int32(-1), np.int32(-1)
    for i in range(n):
        r = by_both[i]
        a, b = atom[0, r], atom[1, r]
        if a != last or b != last_other:
            other[n_entries], rows[n_entries] = b, 0
            first[a + 1] += 1
            n_entries, last, last_other = n_entries + 1, a, b
        rows[n_entries - 1] += weights[r] if len(weights) > 0 else 1
    for a in range(len(first) - 1):
        first[a + 1] += first[a]
    return n_entries


def turn_entries(first: Any, other: Any, rows: Any, into_first: Any, into_other: Any, into_rows: Any) -> None:
    """Write the same entries sorted by the other variable; `into_first` must be zero."""
    n_atoms = len(into_first) - 1
    for e in range(len(other)):
        into_first[other[e] + 1] += 1
    for b in range(n_atoms):
        into_first[b + 1] += into_first[b]
    for a in range(len(first) - 1):
        for e in range(first[a], first[a + 1]):
            b = other[e]
            place = into_first[b]
            into_other[place], into_rows[place] = a, rows[e]
            into_first[b] += 1
    for b in range(n_atoms, 0, -1):
        into_first[b] = into_first[b - 1]
    into_first[0] = 0


def make_sides(task: GridTask) -> tuple[PairSide, PairSide]:
    """Make both variables of a task, each in one part."""
    rows = task.rows
    n, n_0, n_1 = rows.n_lines, rows.n_atoms(0), rows.n_atoms(1)
    place = rows.first[: n_0 + 1].astype(np.int64)
    first, other, count = np.zeros(n_0 + 1, np.int64), np.empty(n, np.int32), np.empty(n, np.int64)
    by_both = np.empty(n, dtype=np.int32)
    n_entries = bind(gather_entries)(rows.atom, rows.order, place, rows.weights, by_both, first, other, count)
    if n_entries < n:
        other, count = other[:n_entries].copy(), count[:n_entries].copy()
    turned = np.zeros(n_1 + 1, np.int64), np.empty(n_entries, np.int32), np.empty(n_entries, np.int64)
    bind(turn_entries)(first, other, count, *turned)

    def side(k: int, entries: Any) -> PairSide:
        at = slice(rows.atom_at[k], rows.atom_at[k + 1])
        n_values = rows.atom_values[at].astype(np.int64)
        part = np.zeros(rows.n_atoms(k), dtype=np.int32)
        first, other, count = entries
        n_rows = np.array(rows.atom_rows[at], dtype=np.int64)
        return PairSide(task.facts.variable(k), first, other, count, n_rows, n_values, part)

    return side(0, (first, other, count)), side(1, turned)


def fill_coarse(
    side: Any, across_part: Any, places: Any, first: Any, frozen: Any, rows: Any, values: Any, slot: Any
) -> int:
    """Write the entries of the coarse atoms between places, one per part of the other variable; return their number."""
    first_entry, other, entry_rows, atom_values = side.first, side.other, side.rows, side.atom_values
    n_atoms, n_entries = len(atom_values), 0
    for i in range(len(places)):
        first[i] = begin = n_entries
        end = places[i + 1] if i + 1 < len(places) else n_atoms
        for a in range(places[i], end):
            values[i] += atom_values[a]
        for e in range(first_entry[places[i]], first_entry[end]):
            t = across_part[other[e]]
            s = slot[t]
            if s < begin:
                s = n_entries
                n_entries += 1
                slot[t], frozen[s], rows[s] = s, t, 0
            rows[s] += entry_rows[e]
    first[len(places)] = n_entries
    return n_entries


def quantile_places(side: PairSide, n_rows: int) -> NDArray[np.int64]:
    """First atoms of about MAX_PLACES parts of about equal rows, or all atoms if they are at most MAX_PLACES."""
    n = len(side.atom_rows)
    if n <= MAX_PLACES or side.facts.categorical:
        return np.arange(n if n <= MAX_PLACES else 0)
    number = (np.cumsum(side.atom_rows) - side.atom_rows) // max(1, n_rows // MAX_PLACES)
    return np.flatnonzero(np.append(True, number[1:] != number[:-1]))
