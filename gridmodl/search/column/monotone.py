"""Find the cheapest partition whose share of the second class never falls (or never rises), with proof.

    G(s, t) = price(s, t) + g + min over r < s with share(r, s) <= share(s, t) of G(r, s)

The states are intervals, not bounds: whether an interval may follow depends on the share of the previous one. For each
bound s, the r are sorted by share(r, s), so that the minimum is a prefix minimum: n^2 log n once, then n^2 for each run
of slope g or layer. `gridmodl.search.proof` explains what these prove.

Shares are compared exactly, as integers. With more than MAX_ATOMS atoms, only the bounds of the blocks that pooling of
adjacent violators leaves (isotonic regression) are tried, and nothing is proven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms, coarsen
from gridmodl.jit.template import bind
from gridmodl.search.column.dynamic import DynamicProgram
from gridmodl.search.column.merge import greedy_merge
from gridmodl.search.moves import Buffers, Setting, add_entry, clear, part_price
from gridmodl.search.proof import ALL, Proof
from gridmodl.search.task import Partitioning, Task

SIGNS = {"increasing": 1, "decreasing": -1}

# Prices and states of all intervals, and the order of their shares, take 10 n^2 bytes: 90 MB, and about 1 s (modl).
MAX_ATOMS = 3000
# Layers store the predecessor of each state, in 2 bytes: 100 MB more. Without max_parts there may be a layer per atom;
# with FEW_ATOMS atoms all layers fit.
MAX_LAYER_STATES = 50_000_000
FEW_ATOMS = 460


def monotone_optimum(task: Task, direction: str) -> Partitioning:
    """Find the cheapest partition within the limits along which the share of class 1 never falls (or never rises).

    Parameters
    ----------
    task : Task
        Task with two classes. Runs of one class must not be joined to one atom: the best bound may lie inside.
    direction : {"increasing", "decreasing"}
        Order of the shares. Neighbours may have equal shares; one part is always allowed.

    Returns
    -------
    Partitioning
        Proven unless the search was stopped, or there are more than `MAX_ATOMS` atoms, or more layers than fit in
        memory.
    """
    if direction not in SIGNS:
        raise ValueError(f"unknown direction {direction!r}; known: {', '.join(SIGNS)}")
    if task.atoms.counts.shape[1] != 2:
        raise ValueError(f"a share needs two classes, got {task.atoms.counts.shape[1]}")
    null = task.null()
    if min(task.n_atoms, task.limits.max_parts) == 1:
        return null._replace(proven=True, proof=Proof(ALL, null.cost))
    rows, positives = _sums(task.atoms, SIGNS[direction])
    pooled = _pooled(rows, positives)
    # A merge of neighbours keeps the order of shares, so all partitions on this path are monotone.
    task.clock.step = "merge"
    merged = greedy_merge(replace(task, atoms=coarsen(task.atoms, pooled)))
    best, proven, proof = _cheaper(null, task.priced(pooled[merged.best.starts])), False, None
    task.clock.step = "proof"
    for n_kept in (MAX_ATOMS, FEW_ATOMS):
        if task.clock.stopped:
            break
        kept = np.arange(task.n_atoms)
        if task.n_atoms > n_kept:
            kept = pooled[merged.path(n_kept)]
            if task.limits.min_rows > 1:
                kept = np.union1d(kept, _spread(rows, n_kept - len(kept)))
        bounds = np.append(kept, task.n_atoms)
        program = _Monotone(replace(task, atoms=coarsen(task.atoms, kept)), rows[bounds], positives[bounds])
        found = program.solve()
        best = _cheaper(best, task.priced(kept[found.starts]))
        if len(kept) == task.n_atoms:
            proven, proof = found.proven, found.proof
        if not program.gave_up:
            break
    return best._replace(proven=proven, proof=proof)


def _cheaper(best: Partitioning, found: Partitioning) -> Partitioning:
    """Cheaper of two partitions; ties: `best`."""
    return found if found.cost < best.cost else best


def _sums(atoms: Atoms, sign: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows before each bound, and rows of class 1 times `sign`: falling shares become rising ones by sign -1."""
    rows = np.concatenate([[0], np.cumsum(atoms.rows, dtype=np.int64)])
    positives = np.concatenate([[0], np.cumsum(atoms.counts[:, 1], dtype=np.int64)])
    return rows[atoms.first], sign * positives[atoms.first]


def _pooled(rows: NDArray[np.int64], positives: NDArray[np.int64]) -> NDArray[np.int64]:
    """First atoms of the blocks of the isotonic regression; not interruptible: a million atoms take milliseconds."""
    starts = np.empty(len(rows) - 1, dtype=np.int64)
    return starts[: bind(pool)(rows, positives, starts)]


def _spread(rows: NDArray[np.int64], n_bounds: int) -> NDArray[np.int64]:
    """`n_bounds` atoms spread evenly over the rows: with a limit min_rows, a bound inside a block may be needed.

    On 6,000 small samples, the blocks missed the optimum of modl 24 times with min_rows=15, never without a limit.
    """
    return np.searchsorted(rows, np.arange(n_bounds) * (float(rows[-1]) / max(n_bounds, 1)), side="right") - 1


class _Monotone(DynamicProgram):
    """Dynamic program over partitions along which shares never fall."""

    def __init__(self, task: Task, rows: NDArray[np.int64], positives: NDArray[np.int64]) -> None:
        super().__init__(task, task.null())
        n = self.n
        self.gave_up = False
        # Above the diagonal, table[s, t] is the price of an interval; below it, table[t, s] is its state G(s, t).
        self.table = np.full((n + 1, n + 1), np.inf)
        # ranks[s, :s] are the r < s by rising share(r, s); ranks[s, t - 1] is the number of these that may precede
        # the interval (s, t).
        self.ranks = np.empty((n, n), dtype=np.int16)
        self.lowest, self.lowest_r = np.empty(n + 1), np.empty(n + 1, dtype=np.int16)
        self.came_from: list[NDArray[np.int16]] = []
        self.last: list[int] = []
        spare, rank = np.empty(n, dtype=np.int16), bind(rank_shares)
        price = bind(price_intervals, task.criterion)
        self._over_bounds(lambda at, to: rank(rows, positives, self.ranks, spare, at, to))
        self._over_bounds(
            lambda at, to: price(task.atoms, task.setting, self.table, at, to, task.buffers, task.limits.min_rows)
        )

    def run(self, slope: float) -> tuple[NDArray[np.int64], float] | None:
        self._link(slope, True, False, np.empty(0, dtype=np.int16))
        if self.task.clock.stopped:
            return None
        t, s = self.n, int(np.argmin(self.table[self.n, : self.n]))
        penalised, starts = float(self.table[t, s]), [s]
        while s > 0:
            before = np.sort(self.ranks[s, : self.ranks[s, t - 1]])
            t, s = s, int(before[np.argmin(self.table[s, before])])
            starts.append(s)
        return np.array(starts[::-1], dtype=np.int64), penalised

    def layer(self, k: int, n_layers: int) -> float | None:
        n_states = self.n * (self.n + 1) // 2
        self.gave_up = (k + 1) * n_states > MAX_LAYER_STATES
        if self.gave_up:
            return None
        if k == 0:
            for t in range(self.n + 1):  # remove the states of an earlier run
                self.table[t, :t] = np.inf
        self.came_from.append(np.empty(n_states, dtype=np.int16))
        self._link(0.0, k == 0, True, self.came_from[k], (k, n_layers))
        if self.task.clock.stopped:
            self.came_from.pop()
            return None
        self.last.append(int(np.argmin(self.table[self.n, : self.n])))
        return float(self.table[self.n, self.last[k]])

    def trace_layers(self, k: int) -> NDArray[np.int64]:
        t, starts = self.n, [self.last[k]]
        for came_from in self.came_from[k:0:-1]:
            s = starts[-1]
            starts.append(int(came_from[first_state(self.n, s) + t - s - 1]))
            t = s
        return np.array(starts[::-1], dtype=np.int64)

    def _link(
        self, slope: float, begin: bool, backward: bool, came_from: Any, layer: tuple[int, int] | None = None
    ) -> None:
        """Compute the states G of all intervals; `begin` says that the first interval may have no predecessor."""
        kernel = bind(link_intervals)
        first = 0.0 if begin else np.inf  # price before the first interval
        arrays = self.table, self.ranks, self.lowest, self.lowest_r, came_from
        self._over_bounds(lambda at, to: kernel(*arrays, float(slope), first, backward, at, to), layer)

    def _over_bounds(self, kernel: Callable[[int, int], Any], layer: tuple[int, int] | None = None) -> None:
        """Call `kernel` for all bounds but the last, in turns of the clock."""
        at = 0

        def turn(size: int) -> bool:
            nonlocal at
            to = min(self.n, at + size)
            kernel(at, to)
            at = to
            return at == self.n

        self.task.clock.repeat(turn, self.share_of(layer, lambda: at / self.n), size=64)


def price_intervals(
    atoms: Any, setting: Setting, table: Any, at: int, to: int, buffers: Buffers, min_rows: int
) -> None:
    """Set table[s, t] = price(s, t) for `at` <= s < `to` and all t > s; infinite for intervals with too few rows."""
    first, frozen, counts, rows, values = atoms
    cell_counts, cell_rows, cell_prices = buffers.left, buffers.left_rows, buffers.left_price
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    n = len(values)
    for s in range(at, to):
        cells, n_rows, n_values = 0.0, 0, 0
        for a in range(s, n):
            for e in range(first[a], first[a + 1]):
                cells += add_entry(p, cell_counts, cell_rows, cell_prices, frozen[e], counts[e], rows[e])
                n_rows += rows[e]
            n_values += values[a]
            if n_rows >= min_rows or (s == 0 and a == n - 1):
                table[s, a + 1] = cells + part_price(p, facts, n_target_parts, n_rows, n_values)
        clear(atoms, s, n, buffers)


def first_state(n: Any, s: Any) -> int:
    """Index of the first state of the intervals from bound `s`, in an array of all states."""
    return s * (2 * n - s + 1) // 2


def link_intervals(
    table: Any, ranks: Any, lowest: Any, lowest_r: Any, came_from: Any, slope: float, first: float, backward: bool,
    at: int, to: int,
) -> None:  # fmt: skip
    """Set table[t, s] = G(s, t) for the bounds s number `at` to `to` and all t > s; ties: leftmost r.

    Row s holds G of the intervals that end in s, and only bounds before s write it. So in forward order it belongs to
    this recursion, as a run needs; in backward order it still belongs to the previous one, as a layer needs.
    """
    n = len(ranks)
    for number in range(at, to):
        s = n - 1 - number if backward else number
        lowest[0] = first if s == 0 else np.inf
        lowest_r[0] = 0
        for i in range(s):
            r = ranks[s, i]
            if table[s, r] < lowest[i] or (table[s, r] == lowest[i] and r < lowest_r[i]):
                lowest[i + 1], lowest_r[i + 1] = table[s, r], r
            else:
                lowest[i + 1], lowest_r[i + 1] = lowest[i], lowest_r[i]
        for t in range(s + 1, n + 1):
            table[t, s] = table[s, t] + slope + lowest[ranks[s, t - 1]]
        if len(came_from) > 0:
            begin = first_state(n, s) - s - 1
            for t in range(s + 1, n + 1):
                came_from[begin + t] = lowest_r[ranks[s, t - 1]]


# Shares of a class, compared exactly as integers: pooled where they fall, and sorted.
#
# `rows` and `positives` are the rows before each bound: all of them, and those of the class. share(s, t) is the share
# of the class between two bounds.


def at_most(n1_a: Any, n_a: Any, n1_b: Any, n_b: Any) -> bool:
    """Whether n1_a / n_a <= n1_b / n_b; exact for all numbers up to 2^53.

    Rounding keeps the order, so products that differ as floats are in the order of their floats. Products below 2^106
    that round to the same float are at most 2^53 apart: their difference is right in 64 bits, though each wraps around.
    """
    a, b = float(n1_a) * float(n_b), float(n1_b) * float(n_a)
    if a != b:
        return a < b
    return int(n1_a) * int(n_b) - int(n1_b) * int(n_a) <= 0


def pool(rows: Any, positives: Any, starts: Any) -> int:
    """Pool adjacent violators: write the first atom of each block to `starts`; return the number of blocks.

    Neighbours of equal shares are not pooled, which leaves more bounds to choose from.
    """
    n_blocks = 0
    for atom in range(len(rows) - 1):
        starts[n_blocks] = atom
        n_blocks += 1
        while n_blocks > 1:
            r, s, t = starts[n_blocks - 2], starts[n_blocks - 1], atom + 1
            if at_most(positives[s] - positives[r], rows[s] - rows[r], positives[t] - positives[s], rows[t] - rows[s]):
                break
            n_blocks -= 1
    return n_blocks


def rank_shares(rows: Any, positives: Any, ranks: Any, spare: Any, at: int, to: int) -> None:
    """For `at` <= s < `to`, sort the r < s by share(r, s), and for all t > s count those with share <= share(s, t)."""
    n = len(rows) - 1
    for s in range(at, to):
        for r in range(s):
            ranks[s, r] = r
        width = 1
        while width < s:
            for low in range(0, s - width, 2 * width):
                merge_sorted(rows, positives, ranks, spare, s, low, low + width, min(low + 2 * width, s))
            width *= 2
        for t in range(s + 1, n + 1):
            n1, n_rows = positives[t] - positives[s], rows[t] - rows[s]
            low, high = 0, s
            while low < high:
                middle = (low + high) // 2
                r = ranks[s, middle]
                if at_most(positives[s] - positives[r], rows[s] - rows[r], n1, n_rows):
                    low = middle + 1
                else:
                    high = middle
            ranks[s, t - 1] = low


def merge_sorted(rows: Any, positives: Any, ranks: Any, spare: Any, s: int, low: int, middle: int, high: int) -> None:
    """Merge the sorted r of ranks[s, low:middle] and ranks[s, middle:high]."""
    i, j, k = low, middle, low
    for m in range(low, middle):
        spare[m] = ranks[s, m]
    while i < middle and j < high:
        a, b = spare[i], ranks[s, j]
        if at_most(positives[s] - positives[a], rows[s] - rows[a], positives[s] - positives[b], rows[s] - rows[b]):
            ranks[s, k] = a
            i += 1
        else:
            ranks[s, k] = b
            j += 1
        k += 1
    while i < middle:
        ranks[s, k] = spare[i]
        i += 1
        k += 1
