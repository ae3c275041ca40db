"""The greedy merge of a grid of two columns with ties broken at random, for `grid_ablation.py`.

The paper's Algorithm 1 starts from a part for each row and "ties are broken randomly" (5.1); the library takes the
leftmost of equal merges. This is the paper's, in plain Python, for two numerical columns without equal values and two
classes, down to a single cell. It shows that ties are not what the greedy merge fails by:

While one column has a part for each row, no two rows are in one cell, however few parts the other has. So each merge of
the other is free, and saves log C(N+I-1, I-1) - log C(N+I-2, I-2) = log((N+I-1)/(I-1)), the more the fewer parts I are
left: whichever column the first tie chooses is merged away. A merge of the column at its finest saves log 2, and
log(4/3) more if it joins two rows of one class in a cell: that is more than what the other saves while its parts are
above 3/5 of the rows, so some of these are made, the fewer the less rows share a part.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EQUAL = 1e-9  # nats: sums of logarithms in another order differ by less, merges that are not equal by more
N_COLUMNS = 2

Counts = tuple[int, int]  # rows of each class


class Path(NamedTuple):
    """All merges from a part for each row to one cell."""

    column: NDArray[np.int64]  # of which each merge is
    cost: NDArray[np.float64]  # after it
    n_parts: NDArray[np.int64]  # of both columns after it

    @property
    def parts_left(self) -> int:
        """Parts of the one column when the other has but one."""
        return int(self.n_parts[(self.n_parts == 1).any(axis=1)][0].max())

    @property
    def best(self) -> tuple[int, int]:
        """Parts of both columns in the cheapest grid met; ties: the fewest parts."""
        at = np.flatnonzero(self.cost <= self.cost.min() + EQUAL)[-1]
        return int(self.n_parts[at, 0]), int(self.n_parts[at, 1])


class Merges:
    """A grid, and what each merge of neighbouring parts changes in the cells.

    A part goes by the number of one of the rows in it, rows being numbered in the order of the column; only cells that
    hold rows exist.
    """

    def __init__(self, columns: list[NDArray[np.float64]], classes: NDArray[np.int64]) -> None:
        n = self.n = len(classes)
        self.log_factorial = [math.lgamma(i + 1.0) for i in range(n + 2)]
        ranks = [np.argsort(np.argsort(column)).tolist() for column in columns]
        self.cells: list[list[dict[int, Counts]]] = [[{} for _ in range(n)] for _ in range(N_COLUMNS)]
        for first, second, c in zip(*ranks, classes.tolist(), strict=True):
            self.cells[0][first][second] = self.cells[1][second][first] = (1 - c, c)
        self.right = [[*range(1, n), -1] for _ in range(N_COLUMNS)]
        self.left = [list(range(-1, n - 1)) for _ in range(N_COLUMNS)]
        self.changes = np.zeros((N_COLUMNS, n))  # of the merge with the part to the right
        self.changes[:, -1] = np.inf
        self.n_parts = [n, n]
        self.cost = self.length(self.n_parts) + n * math.log(2.0)

    def length(self, n_parts: list[int]) -> float:
        """What the grid costs beside its cells: Formula 3 for two numerical columns."""
        n, n_informative = self.n, sum(i > 1 for i in n_parts)
        selection = math.log(N_COLUMNS + 1) + math.log(math.comb(N_COLUMNS + n_informative - 1, n_informative))
        bounds = (math.lgamma(n + i) - math.lgamma(i) - math.lgamma(n + 1) for i in n_parts if i > 1)
        return selection + n_informative * math.log(n) + sum(bounds)

    def price(self, counts: Counts) -> float:
        """log C(n+1, 1) + log n! - sum_j log n_j! of a cell."""
        return self.log_factorial[sum(counts) + 1] - self.log_factorial[counts[0]] - self.log_factorial[counts[1]]

    def collision(self, one: Counts | None, other: Counts | None) -> float:
        """What changes as two cells become one; nothing if either has no rows."""
        if one is None or other is None:
            return 0.0
        return self.price((one[0] + other[0], one[1] + other[1])) - self.price(one) - self.price(other)

    def collisions(self, k: int, part: int) -> float:
        """What changes in the cells as a part of column k is merged with the one to its right."""
        near = self.right[k][part]
        few, many = sorted((self.cells[k][part], self.cells[k][near]), key=len)
        return sum(self.collision(counts, many.get(i)) for i, counts in few.items())

    def make_one(self, rng: np.random.Generator | None) -> int:
        """Make the best merge and return its column; ties: at random, leftmost without `rng`."""
        shared = [np.inf, np.inf]
        for k in range(N_COLUMNS):
            if self.n_parts[k] > 1:
                fewer = [i - (j == k) for j, i in enumerate(self.n_parts)]
                shared[k] = self.length(fewer) - self.length(self.n_parts)
        changes = (self.changes + np.array(shared)[:, None]).ravel()
        best = changes.min()
        equal = np.flatnonzero(changes <= best + EQUAL)
        k, part = divmod(int(equal[0] if rng is None else rng.choice(equal)), self.n)
        self.merge(k, part)
        self.n_parts[k] -= 1
        self.cost += float(best)
        return k

    def merge(self, k: int, part: int) -> None:
        """Merge a part of column k with the one to its right, and price again the merges that this changes."""
        other = 1 - k
        near = self.right[k][part]
        goes, stays = sorted((part, near), key=lambda i: len(self.cells[k][i]))
        moved = self.cells[k][goes]
        begins = {*moved, *(self.left[other][i] for i in moved)} - {-1}  # of pairs of parts that a moved cell is in
        pairs = [(i, self.right[other][i]) for i in begins if self.right[other][i] >= 0]
        for i, j in pairs:
            before = sum(self.collision(self.cells[k][p].get(i), self.cells[k][p].get(j)) for p in (part, near))
            self.changes[other, i] -= before
        for i, counts in moved.items():
            there = self.cells[k][stays].get(i, (0, 0))
            both = counts[0] + there[0], counts[1] + there[1]
            self.cells[k][stays][i] = self.cells[other][i][stays] = both
            del self.cells[other][i][goes]
        self.cells[k][goes] = {}
        for i, j in pairs:
            self.changes[other, i] += self.collision(self.cells[k][stays].get(i), self.cells[k][stays].get(j))
        before, after = self.left[k][part], self.right[k][near]
        self.left[k][stays], self.right[k][stays] = before, after
        self.changes[k, goes] = self.changes[k, stays] = np.inf
        if after >= 0:
            self.left[k][after] = stays
            self.changes[k, stays] = self.collisions(k, stays)
        if before >= 0:
            self.right[k][before] = stays
            self.changes[k, before] = self.collisions(k, before)


def merge_path(columns: list[NDArray[np.float64]], classes: NDArray[np.int64], seed: int | None) -> Path:
    """Merge a part for each row down to one cell, the best merge first; ties at random, or leftmost without a seed."""
    merges = Merges(columns, classes)
    rng = None if seed is None else np.random.default_rng(seed)
    made = []
    for _ in range(N_COLUMNS * (merges.n - 1)):
        k = merges.make_one(rng)
        made.append((k, merges.cost, *merges.n_parts))
    column, cost, *n_parts = zip(*made, strict=True)
    return Path(np.array(column), np.array(cost), np.array(n_parts).T)
