"""Find the cheapest partition that keeps limits on its parts and on neighbours, with proof.

Limits on parts alone are windows of the usual recursion (`gridmodl.search.column.exact`). A limit on neighbours, the
order of their scores or how much these differ, makes the states intervals, not bounds: whether an interval may follow
depends on the score of the previous one.

    U(s, t) = price(s, t) + g + min over r < s with score(r, s) <= score(s, t) of U(r, s)             rising so far
    D(s, t) = price(s, t) + g + min over r < s with score(r, s) >= score(s, t) of U(r, s), D(r, s)    falling since

A peak takes both, a rising order U alone, and neighbours that only have to differ one state with either minimum.
Falling scores are rising ones with the other sign. For each bound s, the r are sorted by score(r, s), so that a minimum
is that of a prefix or a suffix: n^2 log n once, then n^2 for each run of slope g or layer. `gridmodl.search.proof`
explains what these prove. Scores are compared exactly, as integers.

Before that, the limits on parts alone are kept: if their optimum keeps the others too, it is proven at any size. Else
it says which bounds a cheaper partition than the best one known can have: with F and B the runs from both ends,

    F(s) + B(s) + min over I of (what I parts cost - g I)  <=  the best cost known

and the states are intervals between these bounds. With more than MAX_ATOMS of them, nothing is proven: the bounds of a
merge, those of the blocks that pooling of adjacent violators leaves (isotonic regression), and some spread evenly over
the rows are tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.column import exact
from gridmodl.search.column.dynamic import DynamicProgram
from gridmodl.search.column.exact import AllBounds, budget_of, make_program
from gridmodl.search.column.merge import greedy_merge
from gridmodl.search.moves import TOLERANCE, Buffers, Limits, Setting, add_entry, clear, part_price
from gridmodl.search.proof import ALL, Proof
from gridmodl.search.rules import NO_RULES, TURNS, at_most, leads, rows_before
from gridmodl.search.task import Partitioning, Task

SIGNS = {"increasing": (1,), "decreasing": (-1,), "peak": (1, -1), "valley": (1, -1)}

# Prices and states of all intervals, and the order of their scores, take 10 n^2 bytes (peak: 15): 90 MB and about 1 s.
MAX_ATOMS = 3000
# Layers store the predecessor of each state, in 2 bytes: 100 MB more. Without max_parts there may be a layer per atom;
# with FEW_ATOMS atoms all layers fit.
MAX_LAYER_STATES = 50_000_000
FEW_ATOMS = 460
SOME_ATOMS = 1000  # bounds that are tried before it is known which can win
MAX_RUNS = 8  # to exclude numbers of parts, before bounds are excluded


def limited_optimum(task: Task, is_exact: bool = False) -> Partitioning | None:
    """Find the cheapest partition of a line that keeps the limits and rules of the task.

    Parameters
    ----------
    task : Task
        Runs of one class must not be joined to one atom: the best bound may lie inside.
    is_exact : bool
        Whether to prove the optimum within limits on parts alone however long it takes.

    Returns
    -------
    Partitioning or None
        None if no partition keeps the rules, or none was found. Neighbours may have equal scores. Without fixed bounds
        one part is always allowed.
    """
    inner = replace(task, rules=task.rules.windows_only())
    if min(task.n_atoms, task.limits.max_parts) == 1:
        return inner.base._replace(proven=True, proof=Proof(ALL, inner.base.cost))
    best = inner.base if task.keeps_rules(inner.base.starts) else None
    if task.rules.has_neighbours and task.n_atoms > FEW_ATOMS and not task.clock.look():
        best = _over(task, some_bounds(task, FEW_ATOMS), best)[0]  # for who stops the proof
    if task.clock.look():
        return best
    program = window_program(inner, is_exact)
    found = _coarse_optimum(inner) if program is None else program.solve()
    if program is not None and not found.proven and not task.clock.look():  # given up: no merge came before
        found = min(found, _coarse_optimum(inner)._replace(proven=False, proof=found.proof), key=lambda one: one.cost)
    if task.keeps_rules(found.starts):
        return found if best is None or found.cost <= best.cost else best._replace(proof=found.proof)
    return _ordered_optimum(task, best, found.proof, program)


def window_program(task: Task, is_exact: bool) -> AllBounds | None:
    """Program over all bounds with windows; None if it would take too long."""
    task.clock.step = "proof"
    budget = math.inf if is_exact or task.n_atoms <= FEW_ATOMS else budget_of(task)
    return make_program(task, task.base, budget, exact.QUICK_SECONDS) if budget > 0.0 else None


def _coarse_optimum(task: Task) -> Partitioning:
    """The optimum with windows over some of the bounds."""
    kept = some_bounds(task, MAX_ATOMS)
    found = AllBounds(task.coarsen(kept), task.coarsen(kept).base, math.inf).solve()
    return task.priced(kept[found.starts])


def _ordered_optimum(
    task: Task, best: Partitioning | None, proof: Proof | None, program: AllBounds | None
) -> Partitioning | None:
    """The optimum that keeps limits on neighbours too; `program` and its `proof` are of windows alone.

    `best` is a partition that keeps all limits, or None.
    """
    kept: NDArray[np.int64] | None = np.arange(task.n_atoms)
    if task.n_atoms > MAX_ATOMS:
        best = best if task.clock.stopped else _over(task, some_bounds(task, SOME_ATOMS), best)[0]
        kept = None if best is None or program is None else winning_bounds(task, program, best.cost)
    is_all = kept is not None and len(kept) <= MAX_ATOMS
    if task.clock.stopped:
        return best if best is None else best._replace(proof=proof)
    best, is_proven = _over(task, kept if kept is not None and is_all else some_bounds(task, MAX_ATOMS), best)
    if best is None:
        return None
    if not is_proven or not is_all:
        return best._replace(proven=False, proof=proof)
    return best._replace(proven=True, proof=Proof(ALL, best.cost))


def _over(task: Task, kept: NDArray[np.int64], best: Partitioning | None) -> tuple[Partitioning | None, bool]:
    """The optimum over the bounds `kept`, or `best` if it is cheaper; and whether it is proven."""
    pooled = task.coarsen(kept)
    program = Ordered(pooled)
    found = program.solve_any()
    if program.gave_up and found is not None:  # layers over fewer bounds
        fewer = some_bounds(pooled, FEW_ATOMS)
        more = Ordered(pooled.coarsen(fewer)).solve_any()
        found = min(found, pooled.priced(fewer[more.starts]) if more else found, key=lambda one: one.cost)
    if found is not None:
        again = task.priced(kept[found.starts])
        best = again if best is None or again.cost < best.cost else best
        return best, found.proven
    return best, False


def some_bounds(task: Task, n_bounds: int) -> NDArray[np.int64]:
    """At most about `n_bounds` atoms to begin parts at: of merges, of pooled blocks, and spread evenly over the rows.

    On 6,000 small samples, the blocks missed the optimum of modl 24 times with min_rows=15, never without a limit.
    """
    task.clock.step = "merge"
    free = replace(task, rules=NO_RULES, limits=Limits(task.limits.max_parts, 1))
    rows = rows_before(task.atoms, task.atoms.rows)
    scores = np.concatenate([[0], np.cumsum(task.rules.scores)])
    signs = SIGNS.get(task.rules.order or "", ())
    share = n_bounds // (2 + len(signs))
    found = [np.zeros(1, dtype=np.int64), task.rules.fixed, _merged_bounds(free, np.arange(task.n_atoms), share)]
    for sign in signs:
        starts = np.empty(task.n_atoms, dtype=np.int64)
        pooled = starts[: bind(pool)(rows, sign * scores, starts)]
        found.append(_merged_bounds(free, pooled, share))
    at = np.arange(share) * (float(rows[-1]) / max(share, 1))
    found.append(np.searchsorted(rows, at, side="right") - 1)
    return np.unique(np.concatenate(found))


def _merged_bounds(task: Task, starts: NDArray[np.int64], n_bounds: int) -> NDArray[np.int64]:
    """`n_bounds` of the atoms `starts`: those that a merge of the parts that begin there keeps longest."""
    if len(starts) <= n_bounds:
        return starts
    merged = greedy_merge(task.coarsen(starts))
    return starts[merged.path(min(n_bounds, merged.max_parts))]


def winning_bounds(task: Task, program: AllBounds, cost: float) -> NDArray[np.int64] | None:
    """Atoms at which parts of a partition that costs less than `cost` can begin; None if that is not known.

    `program` is solved; its partitions need not keep limits on neighbours.
    """
    slopes = program.slopes
    if not slopes.is_additive or task.n_frozen_cells > 1:
        return None
    task.clock.step = "proof"
    numbers = slopes.may_win(cost)
    for _ in range(MAX_RUNS):
        slope = slopes.next_slope(cost, len(program.best.starts)) if len(numbers) else None
        if slope is None or not program.explore(slope):
            break
        numbers = slopes.may_win(cost)
    if len(numbers) == 0:
        return np.zeros(1, dtype=np.int64)
    low, high = int(numbers[0]), int(numbers[-1])
    if high > low:
        slope = float(slopes.shared[high - 1] - slopes.shared[low - 1]) / (high - low)
    else:
        slope = float(slopes.rises[min(low, len(slopes.rises)) - 1]) if len(slopes.rises) else 0.0
    ahead = _lowest_sums(program, slope)
    back = None if ahead is None else _lowest_sums(make_program(program.task.mirrored(), None, program.budget), slope)
    if ahead is None or back is None:
        return None
    rest = float((slopes.shared[numbers - 1] - slope * numbers).min())
    floors = ahead + back[::-1] + rest
    scale = float(np.abs(ahead[np.isfinite(ahead)]).max())
    may_win = floors <= cost + TOLERANCE * (scale + abs(cost))
    may_win[0], may_win[-1] = True, False
    may_win[task.rules.fixed] = True
    return np.flatnonzero(may_win)


def _lowest_sums(program: AllBounds, slope: float) -> NDArray[np.float64] | None:
    """Lowest sum of prices, with `slope` for each part, of the parts before each bound; None if stopped."""
    best, came_from = np.full(program.n + 1, np.inf), np.zeros(program.n + 1, dtype=np.int32)
    best[0] = 0.0
    return best if program.fill(slope, best, best, came_from) else None


class States(NamedTuple):
    """States of all intervals, and what their minima are taken over."""

    # Above the diagonal, table[s, t] is the price of an interval; below it, table[t, s] is its state U(s, t).
    table: NDArray[np.float64]
    down: NDArray[np.float64]  # below the diagonal, D(s, t); empty without turns
    # ranks[s, :s] are the r < s by rising score(r, s); ranks[s, t - 1] is the number of these that the interval (s, t)
    # may follow with a rise, and falls[s, t - 1] the first of these that it may follow with a fall.
    ranks: NDArray[np.int16]
    falls: NDArray[np.int16]  # empty if no score may fall
    lowest: NDArray[np.float64]  # minima over the first of the r by score, and over the last
    lowest_from: NDArray[np.int16]  # where they come from: 2 r for U, 2 r + 1 for D


class Ordered(DynamicProgram):
    """Dynamic program over partitions whose neighbours keep the rules."""

    def __init__(self, task: Task) -> None:
        super().__init__(task, task.base)
        n, rules = self.n, task.rules
        self.gave_up = False
        sign = -1 if rules.order in ("decreasing", "valley") else 1
        self.turns, self.is_free = rules.order in TURNS, rules.order is None
        rows = rows_before(task.atoms, task.atoms.rows)
        scores = sign * np.concatenate([[0], np.cumsum(rules.scores)]).astype(np.int64)
        self.states = States(
            table=np.full((n + 1, n + 1), np.inf),
            down=np.full((n + 1, n + 1) if self.turns else (0, 0), np.inf),
            ranks=np.empty((n, n), dtype=np.int16),
            falls=np.empty((n, n) if self.turns or self.is_free else (0, 0), dtype=np.int16),
            lowest=np.empty((2, n + 1)),
            lowest_from=np.empty((2, n + 1), dtype=np.int16),
        )
        self.table, self.down, self.ranks, self.falls = self.states[:4]
        self.came_from: list[NDArray[np.int16]] = []
        self.last: list[tuple[int, int]] = []
        spare, rank, difference = np.empty(n, dtype=np.int16), bind(rank_scores), float(rules.min_difference)
        price = bind(price_intervals, task.criterion)
        self._over_bounds(lambda at, to: rank(rows, scores, difference, self.ranks, self.falls, spare, at, to))
        self._over_bounds(
            lambda at, to: price(task.atoms, task.setting, self.table, at, to, task.buffers, *task.windows)
        )

    def solve_any(self) -> Partitioning | None:
        """The optimum; None if no partition keeps the rules, or the clock stopped before one was found."""
        if not self.task.keeps_rules(self.best.starts):
            prices = self.table[np.triu_indices(self.n + 1, 1)]
            most = float(np.abs(prices[np.isfinite(prices)]).max(initial=0.0))
            found = self.run(1.0 + 10.0 * self.n * most)  # a slope that leaves the fewest parts
            if found is None or not math.isfinite(found[1]) or len(found[0]) > self.max_parts:
                return None
            self.best = self.priced(found[0])
            self.slopes.known[len(found[0])] = self.price_of(found[0])
        return self.solve()

    def run(self, slope: float) -> tuple[NDArray[np.int64], float] | None:
        self._link(slope, True, False, np.empty(0, dtype=np.int16))
        if self.task.clock.stopped:
            return None
        penalised, s, phase = self._least()
        t, starts = self.n, [s]
        while s > 0 and math.isfinite(penalised):
            rises = np.sort(self.ranks[s, : self.ranks[s, t - 1]]) if phase == 0 else self.ranks[s, :0]
            falls = self.ranks[s, self.falls[s, t - 1] : s] if phase == 1 or self.is_free else self.ranks[s, :0]
            before = np.concatenate([rises, falls, falls if self.turns else falls[:0]])
            sums = [self.table[s, rises], self.table[s, falls], self.down[s, falls] if self.turns else np.empty(0)]
            k = int(np.argmin(np.concatenate(sums)))
            t, s, phase = s, int(before[k]), int(k >= len(rises) + len(falls))
            starts.append(s)
        return np.array(starts[::-1], dtype=np.int64), penalised

    def _least(self) -> tuple[float, int, int]:
        """Lowest sum of all states that end at the last bound; its last start and its phase."""
        s = int(np.argmin(self.table[self.n, : self.n]))
        least = float(self.table[self.n, s]), s, 0
        if self.turns:
            s = int(np.argmin(self.down[self.n, : self.n]))
            least = min(least, (float(self.down[self.n, s]), s, 1))
        return least

    def layer(self, k: int, n_layers: int) -> float | None:
        n_states = (self.n * (self.n + 1) // 2) * (1 + self.turns)
        self.gave_up = (k + 1) * n_states > MAX_LAYER_STATES
        if self.gave_up:
            return None
        if k == 0:
            for states in (self.table, self.down):  # remove the states of an earlier run
                for t in range(len(states)):
                    states[t, :t] = np.inf
        self.came_from.append(np.empty(n_states, dtype=np.int16))
        self._link(0.0, k == 0, True, self.came_from[k], (k, n_layers))
        if self.task.clock.stopped:
            self.came_from.pop()
            return None
        total, s, phase = self._least()
        self.last.append((s, phase))
        return total

    def trace_layers(self, k: int) -> NDArray[np.int64]:
        t, (s, phase) = self.n, self.last[k]
        starts, n_states = [s], self.n * (self.n + 1) // 2
        for came_from in self.came_from[k:0:-1]:
            code = int(came_from[phase * n_states + first_state(self.n, s) + t - s - 1])
            t, s, phase = s, code // 2, code % 2
            starts.append(s)
        return np.array(starts[::-1], dtype=np.int64)

    def _link(
        self, slope: float, begin: bool, backward: bool, came_from: Any, layer: tuple[int, int] | None = None
    ) -> None:
        """Compute the states of all intervals; `begin` says that the first interval may have no predecessor."""
        kernel = bind(link_intervals)
        first = 0.0 if begin else np.inf  # price before the first interval
        how = float(slope), first, self.turns, self.is_free, backward
        self._over_bounds(lambda at, to: kernel(self.states, came_from, *how, at, to), layer)

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
    atoms: Any, setting: Setting, table: Any, at: int, to: int, buffers: Buffers, first_end: Any, last_end: Any
) -> None:
    """Set table[s, t] = price(s, t) for `at` <= s < `to` and all t > s; infinite for intervals that may not be."""
    first, frozen, counts, rows, values = atoms
    cell_counts, cell_rows, cell_prices = buffers.left, buffers.left_rows, buffers.left_price
    p, facts, n_target_parts = setting.p, setting.variable, setting.frozen.n_target_parts
    for s in range(at, to):
        cells, n_rows, n_values = 0.0, 0, 0
        for a in range(s, last_end[s]):
            for e in range(first[a], first[a + 1]):
                cells += add_entry(p, cell_counts, cell_rows, cell_prices, frozen[e], counts[e], rows[e])
                n_rows += rows[e]
            n_values += values[a]
            if a + 1 >= first_end[s]:
                table[s, a + 1] = cells + part_price(p, facts, n_target_parts, n_rows, n_values)
        clear(atoms, s, last_end[s], buffers)


def first_state(n: Any, s: Any) -> int:
    """Index of the first state of the intervals from bound `s`, in an array of all states."""
    return s * (2 * n - s + 1) // 2


def link_intervals(
    states: States, came_from: Any, slope: float, first: float, turns: bool, is_free: bool, backward: bool, at: int,
    to: int,
) -> None:  # fmt: skip
    """Set the states of the intervals from the bounds s number `at` to `to` to all t > s; ties: leftmost r.

    lowest[0, i] is the minimum over the first i of the r by score, lowest[1, i] that over the others. Row s holds the
    states of the intervals that end in s, and only bounds before s write it. So in forward order it belongs to this
    recursion, as a run needs; in backward order it still belongs to the previous one, as a layer needs.
    """
    table, down, ranks, falls, lowest, lowest_from = states
    n = len(ranks)
    n_states = n * (n + 1) // 2
    for number in range(at, to):
        s = n - 1 - number if backward else number
        lowest[0, 0] = first if s == 0 else np.inf
        lowest_from[0, 0] = 0
        for i in range(s):
            r = ranks[s, i]
            state, code = table[s, r], 2 * r
            lowest[0, i + 1], lowest_from[0, i + 1] = lowest[0, i], lowest_from[0, i]
            if state < lowest[0, i] or (state == lowest[0, i] and code < lowest_from[0, i]):
                lowest[0, i + 1], lowest_from[0, i + 1] = state, code
        if turns or is_free:
            lowest[1, s], lowest_from[1, s] = np.inf, 0
            for i in range(s - 1, -1, -1):
                r = ranks[s, i]
                state, code = table[s, r], 2 * r
                if turns and down[s, r] < state:
                    state, code = down[s, r], 2 * r + 1
                lowest[1, i], lowest_from[1, i] = lowest[1, i + 1], lowest_from[1, i + 1]
                if state < lowest[1, i] or (state == lowest[1, i] and code < lowest_from[1, i]):
                    lowest[1, i], lowest_from[1, i] = state, code
        begin = first_state(n, s) - s - 1
        for t in range(s + 1, n + 1):
            price, i = table[s, t] + slope, ranks[s, t - 1]
            before, code = lowest[0, i], lowest_from[0, i]
            if turns or is_free:
                j = falls[s, t - 1]
                if turns:
                    down[t, s] = price + lowest[1, j]
                    if len(came_from) > 0:
                        came_from[n_states + begin + t] = lowest_from[1, j]
                elif lowest[1, j] < before or (lowest[1, j] == before and lowest_from[1, j] < code):
                    before, code = lowest[1, j], lowest_from[1, j]
            table[t, s] = price + before
            if len(came_from) > 0:
                came_from[begin + t] = code


# Scores, compared exactly as integers: pooled where they fall, and sorted.
#
# `rows` and `scores` are sums before each bound: of the rows, and of the scores times rows. score(s, t) is the score
# between two bounds.


def pool(rows: Any, scores: Any, starts: Any) -> int:
    """Pool adjacent violators: write the first atom of each block to `starts`; return the number of blocks.

    Neighbours of equal scores are not pooled, which leaves more bounds to choose from.
    """
    n_blocks = 0
    for atom in range(len(rows) - 1):
        starts[n_blocks] = atom
        n_blocks += 1
        while n_blocks > 1:
            r, s, t = starts[n_blocks - 2], starts[n_blocks - 1], atom + 1
            if at_most(scores[s] - scores[r], rows[s] - rows[r], scores[t] - scores[s], rows[t] - rows[s]):
                break
            n_blocks -= 1
    return n_blocks


def rank_scores(
    rows: Any, scores: Any, difference: float, ranks: Any, falls: Any, spare: Any, at: int, to: int
) -> None:
    """For `at` <= s < `to`, sort the r < s by score(r, s); for all t > s, find those that a rise or fall may follow."""
    n = len(rows) - 1
    for s in range(at, to):
        for r in range(s):
            ranks[s, r] = r
        width = 1
        while width < s:
            for low in range(0, s - width, 2 * width):
                merge_sorted(rows, scores, ranks, spare, s, low, low + width, min(low + 2 * width, s))
            width *= 2
        for t in range(s + 1, n + 1):
            n1, n_rows = scores[t] - scores[s], rows[t] - rows[s]
            low, high = 0, s
            while low < high:
                middle = (low + high) // 2
                r = ranks[s, middle]
                if leads(scores[s] - scores[r], rows[s] - rows[r], n1, n_rows, difference):
                    low = middle + 1
                else:
                    high = middle
            ranks[s, t - 1] = low
            if len(falls) > 0:
                low, high = 0, s
                while low < high:
                    middle = (low + high) // 2
                    r = ranks[s, middle]
                    if leads(n1, n_rows, scores[s] - scores[r], rows[s] - rows[r], difference):
                        high = middle
                    else:
                        low = middle + 1
                falls[s, t - 1] = low


def merge_sorted(rows: Any, scores: Any, ranks: Any, spare: Any, s: int, low: int, middle: int, high: int) -> None:
    """Merge the sorted r of ranks[s, low:middle] and ranks[s, middle:high]."""
    i, j, k = low, middle, low
    for m in range(low, middle):
        spare[m] = ranks[s, m]
    while i < middle and j < high:
        a, b = spare[i], ranks[s, j]
        if at_most(scores[s] - scores[a], rows[s] - rows[a], scores[s] - scores[b], rows[s] - rows[b]):
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
