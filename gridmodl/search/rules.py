"""Limits on parts beyond their number and rows: rows of classes, bounds, the order of shares, the same in all periods.

A limit on one part alone is a window: for each start, the first and the last bound at which a part may end. A limit on
neighbours compares their scores: a score is the share of the event, or the mean of a numerical target. A limit on
periods compares all pairs of parts: the order of their scores must be the same in every period.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms

NONE = np.empty(0, dtype=np.int64)
TURNS = {"peak": "valley", "valley": "peak"}  # orders whose parts rise and fall, and what they are upside down
ORDERS = ("increasing", "decreasing", "peak", "valley")
# To search these is to search all: a rise, or a fall, is a peak or a valley that turns at an end.
ANY_ORDER = ("peak", "valley")
OTHER_WAY = {"increasing": "decreasing", "decreasing": "increasing"}
SAME_SHARE = 1e-12  # rounding of a difference of two shares: 0.3 - 0.25 is not below 0.05


class Periods(NamedTuple):
    """Rows and scores of the atoms in each period, for limits on all pairs of parts.

    Two parts agree with a period unless their scores in the period are in the other order than their scores in all
    rows. Equal scores agree with any order, and so do parts of which one has no rows in the period: `at_most` is true
    of these. Were parts of few rows exempt, a search would cut into small parts whatever breaks the order.
    Entries are those of pairs of atom and period that have rows.
    """

    atom: NDArray[np.int64]  # of each entry, ascending
    period: NDArray[np.int64]
    rows: NDArray[np.int64]
    scores: NDArray[np.int64]  # times rows: rows of the event
    n_periods: int

    def placed(self, place: NDArray[np.int64]) -> Periods:
        """The same rows where atom i is in atom place[i]; atoms of a negative place are left out."""
        at = place[self.atom]
        kept = at >= 0
        keys, index = np.unique(at[kept] * self.n_periods + self.period[kept], return_inverse=True)
        rows, scores = (np.zeros(len(keys), dtype=np.int64) for _ in range(2))
        np.add.at(rows, index, self.rows[kept])
        np.add.at(scores, index, self.scores[kept])
        return Periods(*np.divmod(keys, self.n_periods), rows, scores, self.n_periods)

    def tables(
        self, part: NDArray[np.int64], rows: NDArray[Any], scores: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and scores of parts by period, given the part of each atom; `rows` and `scores` of all rows come first.

        Each is a table with a line for each part: column 0 is of all rows, column i + 1 of period i.
        """
        by_part = [np.zeros((len(rows), 1 + self.n_periods), dtype=np.int64) for _ in range(2)]
        for table, total, counts in zip(by_part, (rows, scores), (self.rows, self.scores), strict=True):
            table[:, 0] = total
            np.add.at(table, (part[self.atom], 1 + self.period), counts)
        return by_part[0], by_part[1]


def breaks_of(rows: NDArray[np.int64], scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """Breaks of the limit on periods, one a line: the period, the part of the lower score in all rows, the other part.

    `rows` and `scores` are tables of `Periods.tables`. Breaks are sorted by period.
    """
    found = []
    for i in range(len(rows)):
        is_low = ~_at_most_arrays(scores[:, 0], rows[:, 0], scores[i, 0], rows[i, 0])
        is_wrong = ~_at_most_arrays(scores[i, 1:], rows[i, 1:], scores[:, 1:], rows[:, 1:])
        j, t = np.nonzero(is_wrong & is_low[:, None])
        found.append(np.column_stack([t, np.full(len(t), i), j]))
    breaks = np.concatenate(found)
    return breaks[np.lexsort(breaks.T[::-1])]


def _at_most_arrays(n1_a: Any, n_a: Any, n1_b: Any, n_b: Any) -> NDArray[np.bool_]:
    """`at_most` of arrays."""
    a, b = n1_a.astype(np.float64) * n_b, n1_b.astype(np.float64) * n_a
    return np.where(a != b, a < b, n1_a * n_b - n1_b * n_a <= 0)


class Rules(NamedTuple):
    """Limits that a search keeps besides `Limits`; none by default."""

    order: str | None = None  # of the scores: "increasing", "decreasing", "peak" or "valley"
    min_difference: float = 0.0  # of the scores of neighbours
    scores: NDArray[np.int64] = NONE  # of each atom, times its rows: rows of the event, or sums of a target
    min_counts: NDArray[np.int64] = NONE  # rows of each class that a part has at least; empty without a limit
    fixed: NDArray[np.int64] = NONE  # atoms at which a part must begin, ascending; never the first
    periods: Periods | None = None  # in which the order of scores must be that of all rows

    @property
    def has_neighbours(self) -> bool:
        """Whether a limit compares neighbours."""
        return self.order is not None or self.min_difference > 0.0

    @property
    def is_nothing(self) -> bool:
        is_free = not self.has_neighbours and self.periods is None
        return is_free and len(self.min_counts) == 0 and len(self.fixed) == 0

    @property
    def keeps_merges(self) -> bool:
        """Whether a partition keeps the limits where two of its parts, of one that keeps them, have merged."""
        is_plain = self.min_difference == 0.0 or self.order in OTHER_WAY
        return is_plain and len(self.fixed) == 0 and self.periods is None

    def windows_only(self) -> Rules:
        """The limits on parts alone."""
        return self._replace(order=None, min_difference=0.0, periods=None)

    def without_first(self) -> Rules:
        """The same limits of all atoms but the first."""
        fixed = self.fixed[self.fixed > 1] - 1
        periods = self.periods
        if periods is not None:
            periods = periods.placed(np.arange(-1, len(self.scores) - 1))
        return self._replace(scores=self.scores[1:], fixed=fixed, periods=periods)

    def coarsen(self, starts: NDArray[np.int64]) -> Rules:
        """The same limits where the parts that begin at the atoms `starts` are the atoms; `fixed` are among them."""
        scores = np.add.reduceat(self.scores, starts) if len(self.scores) else self.scores
        periods = self.periods
        if periods is not None:
            periods = periods.placed(np.searchsorted(starts, np.arange(len(self.scores)), side="right") - 1)
        return self._replace(scores=scores, fixed=np.searchsorted(starts, self.fixed), periods=periods)

    def mirrored(self, n_atoms: int) -> Rules:
        """The same limits of the line from its last atom to its first."""
        order = OTHER_WAY.get(self.order, self.order) if self.order is not None else None
        scores = np.ascontiguousarray(self.scores[::-1])
        periods = None if self.periods is None else self.periods.placed(np.arange(n_atoms)[::-1])
        return self._replace(order=order, scores=scores, fixed=n_atoms - self.fixed[::-1], periods=periods)


NO_RULES = Rules()


class Windows(NamedTuple):
    """Bounds at which a part may end, for each bound at which it may begin; numbers of bounds are those of atoms."""

    first: NDArray[np.int64]  # beyond the last bound if a part cannot begin there
    last: NDArray[np.int64]


def make_windows(atoms: Atoms, min_rows: int, rules: Rules) -> Windows:
    """Windows of a line: a part has enough rows, in all and of each class, and no fixed bound inside."""
    n = len(atoms.values)
    first, last = np.arange(1, n + 2), np.full(n + 1, n)
    for limit, counts in [(min_rows, atoms.rows), *zip(rules.min_counts, atoms.counts.T, strict=False)]:
        if limit > 1 or (limit == 1 and counts is not atoms.rows):
            before = rows_before(atoms, counts)
            np.maximum(first, np.searchsorted(before, before + limit), out=first)
    if len(rules.fixed):
        last = np.append(rules.fixed, n)[np.searchsorted(rules.fixed, np.arange(n + 1), side="right")]
    else:
        first[0] = min(first[0], n)  # one part is always allowed
    return Windows(first, last)


def rows_before(atoms: Atoms, counts: NDArray[Any]) -> NDArray[np.int64]:
    """Rows before each bound, given the rows of each entry of the atoms."""
    before = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=before[1:])
    return before[atoms.first]


def keeps_order(scores: NDArray[Any], rows: NDArray[Any], order: str | None, min_difference: float) -> bool:
    """Whether parts in a row, with these scores times rows, are in order and differ enough."""
    parts = [(int(score), int(n)) for score, n in zip(scores, rows, strict=True)]
    rises = [leads(*one, *other, min_difference) for one, other in itertools.pairwise(parts)]
    falls = [leads(*other, *one, min_difference) for one, other in itertools.pairwise(parts)]
    if order is None:
        return all(rise or fall for rise, fall in zip(rises, falls, strict=True))
    if order in OTHER_WAY:
        return all(rises if order == "increasing" else falls)
    before, after = (rises, falls) if order == "peak" else (falls, rises)
    return any(all(before[:k]) and all(after[k:]) for k in range(len(rises) + 1))


def order_of(scores: NDArray[Any], rows: NDArray[Any]) -> str | None:
    """The narrowest of ORDERS that parts in a row keep; None of a single part, and where they keep none."""
    if len(rows) < 2:
        return None
    return next((order for order in ORDERS if keeps_order(scores, rows, order, 0.0)), None)


def leads(n1_a: Any, n_a: Any, n1_b: Any, n_b: Any, difference: Any) -> bool:
    """Whether n1_b / n_b is at least n1_a / n_a + `difference`."""
    if difference > 0.0:
        return n1_b / n_b - n1_a / n_a >= difference - SAME_SHARE
    return at_most(n1_a, n_a, n1_b, n_b)


def at_most(n1_a: Any, n_a: Any, n1_b: Any, n_b: Any) -> bool:
    """Whether n1_a / n_a <= n1_b / n_b; exact for all numbers up to 2^53.

    Rounding keeps the order, so products that differ as floats are in the order of their floats. Products below 2^106
    that round to the same float are at most 2^53 apart: their difference is right in 64 bits, though each wraps around.
    """
    a, b = float(n1_a) * float(n_b), float(n1_b) * float(n_a)
    if a != b:
        return a < b
    return int(n1_a) * int(n_b) - int(n1_b) * int(n_a) <= 0


def agree(rows: Any, scores: Any, a: Any, b: Any) -> bool:
    """Whether the parts in lines `a` and `b` of tables of `Periods.tables` have the same order in all periods."""
    if at_most(scores[b, 0], rows[b, 0], scores[a, 0], rows[a, 0]):
        if at_most(scores[a, 0], rows[a, 0], scores[b, 0], rows[b, 0]):
            return True
        a, b = b, a
    t, n = 1, rows.shape[1]
    while t < n and at_most(scores[a, t], rows[a, t], scores[b, t], rows[b, t]):
        t += 1
    return t == n
