"""Limits on the parts of a line beyond their number and rows: rows of classes, bounds, and the order of shares.

A limit on one part alone is a window: for each start, the first and the last bound at which a part may end. A limit on
neighbours compares their scores: a score is the share of the event, or the mean of a numerical target.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms

NONE = np.empty(0, dtype=np.int64)
TURNS = {"peak": "valley", "valley": "peak"}  # orders whose parts rise and fall, and what they are upside down
OTHER_WAY = {"increasing": "decreasing", "decreasing": "increasing"}
SAME_SHARE = 1e-12  # rounding of a difference of two shares: 0.3 - 0.25 is not below 0.05


class Rules(NamedTuple):
    """Limits that a search keeps besides `Limits`; none by default."""

    order: str | None = None  # of the scores: "increasing", "decreasing", "peak" or "valley"
    min_difference: float = 0.0  # of the scores of neighbours
    scores: NDArray[np.int64] = NONE  # of each atom, times its rows: rows of the event, or sums of a target
    min_counts: NDArray[np.int64] = NONE  # rows of each class that a part has at least; empty without a limit
    fixed: NDArray[np.int64] = NONE  # atoms at which a part must begin, ascending; never the first

    @property
    def has_neighbours(self) -> bool:
        """Whether a limit compares neighbours."""
        return self.order is not None or self.min_difference > 0.0

    @property
    def is_nothing(self) -> bool:
        return not self.has_neighbours and len(self.min_counts) == 0 and len(self.fixed) == 0

    @property
    def keeps_merges(self) -> bool:
        """Whether a partition keeps the limits where two of its parts, of one that keeps them, have merged."""
        is_plain = self.min_difference == 0.0 or self.order in OTHER_WAY
        return is_plain and len(self.fixed) == 0

    def windows_only(self) -> Rules:
        """The limits on parts alone."""
        return self._replace(order=None, min_difference=0.0)

    def without_first(self) -> Rules:
        """The same limits of all atoms but the first."""
        fixed = self.fixed[self.fixed > 1] - 1
        return self._replace(scores=self.scores[1:], fixed=fixed)

    def coarsen(self, starts: NDArray[np.int64]) -> Rules:
        """The same limits where the parts that begin at the atoms `starts` are the atoms; `fixed` are among them."""
        scores = np.add.reduceat(self.scores, starts) if len(self.scores) else self.scores
        return self._replace(scores=scores, fixed=np.searchsorted(starts, self.fixed))

    def mirrored(self, n_atoms: int) -> Rules:
        """The same limits of the line from its last atom to its first."""
        order = OTHER_WAY.get(self.order, self.order) if self.order is not None else None
        scores = np.ascontiguousarray(self.scores[::-1])
        return self._replace(order=order, scores=scores, fixed=n_atoms - self.fixed[::-1])


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
