"""Post-optimization: local moves around a partition until none makes it cheaper.

    split                one part in two
    merge                two neighbours in one
    merge-split          two neighbours in one, cut anew at its best place (this shifts their bound)
    merge-merge-split    three neighbours in one, cut anew at its best place

All come from one scan of an interval, `best_cut`, and a scan is kept until its interval is gone. The moves around
each part are tried in turn, left to right, the best one that saves is made, and so on until a whole sweep saves
nothing: a sweep costs O(parts), where the best move of all would cost that for a single move.

After M. Boullé, "MODL: a Bayes optimal discretization method for continuous attributes", 2006.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import coarsen
from gridmodl.jit.template import bind, inlined
from gridmodl.search.column.merge import Merged
from gridmodl.search.moves import Buffers, Limits, Setting, best_cut, interval_price, total_cost
from gridmodl.search.task import Partitioning, Task

# A saving smaller than this share of the prices is rounding.
LEAST_SAVING = 1e-12

MANY_RESTARTS = 2048  # atoms; beyond, restarts take longer than all the rest
N_LATE = 16384  # bounds of the path of a merge that are kept where there are twice as many and more
FEW_LATE = 256
MAX_SCAN = 2**24  # counts: 0.3 s
WINDOW = 256  # atoms on each side of a bound

SPLIT, MERGE, MERGE_SPLIT, MERGE_MERGE_SPLIT = range(4)

# The fields of `Sweep.now` and `Sweep.sums`.
AT, N_PARTS, HAS_MOVED, BEGUN, ONLY_SHIFTS = range(5)  # only shifts: bounds move, and stay as many
PRICE, COST = range(2)


class Sweep(NamedTuple):
    """The state of the post-optimization between two calls of the kernel; arrays are by the first atom of a part."""

    end: Any  # first atom of the part that follows; 0 where no part begins
    before: Any  # first atom of the part before
    scanned: Any  # end of the span of 1, 2 or 3 parts from here that was scanned last; 0 if none
    whole: Any  # price of that span
    cut_price: Any  # its lowest price in two parts
    cut: Any  # and their bound
    now: Any
    sums: Any


def n_late(task: Task) -> int:
    """Bounds of the path of a merge that are kept: fewer of many classes, as no scan may last for seconds."""
    return min(N_LATE, max(FEW_LATE, MAX_SCAN // task.atoms.counts.shape[1]))


def improve_merged(task: Task, merged: Merged, start: Partitioning) -> Partitioning:
    """The best partition that local moves lead to from `start` and from partitions on the path of a merge."""
    if task.n_atoms > 2 * n_late(task):
        return _improve_in_two_passes(task, merged, start)
    best = improve(task, start)
    if task.n_atoms > MANY_RESTARTS:
        return best
    # A merge misses most where several cuts pay only together: where it had twice, four times ... as many parts, they
    # were still there.
    n_parts, max_parts = 2, min(task.n_atoms, merged.max_parts)
    while n_parts <= min(max_parts, 4 * len(best.starts) + 8) and not task.clock.stopped:
        found = improve(task, task.priced(merged.path(n_parts)))
        best = min(best, found, key=lambda partitioning: partitioning.cost)
        n_parts *= 2
    return best


def _improve_in_two_passes(task: Task, merged: Merged, start: Partitioning) -> Partitioning:
    """Local moves among the bounds that the merge gave up last, then with those around the best too.

    A million atoms make every scan long, and each bound that shifts asks for new scans around it. The bounds given up
    last are few, and they are the good ones: 1e6 rows in 80 parts took 0.1 s instead of 0.8 s, to a lower cost.
    """
    late = merged.path(n_late(task))
    best = _improve_among(task, start, late)
    while not task.clock.stopped:
        found = _improve_among(task, best, np.concatenate([late, _around(task, best)]))
        # Where the merge has not seen all bounds, those that shifted have new ones around them.
        if task.start is None or not found.cost < best.cost:
            return found
        best = found
    return best


def _around(task: Task, best: Partitioning) -> NDArray[np.int64]:
    """Atoms near a bound: within the window, and in the two parts around it that the merge started from."""
    n = task.n_atoms
    low, high = np.maximum(best.starts - WINDOW, 0), np.minimum(best.starts + WINDOW + 1, n)
    if task.start is not None:
        ends = np.append(task.start, n)
        low = np.minimum(low, ends[np.maximum(np.searchsorted(ends, best.starts) - 1, 0)])
        high = np.maximum(high, ends[np.searchsorted(ends, best.starts, side="right")])
    # Where more windows have opened than closed.
    opened = np.bincount(low, minlength=n)
    closed = np.bincount(high, minlength=n + 1)[:n]
    return np.flatnonzero(np.cumsum(opened - closed) > 0)


def _improve_among(task: Task, start: Partitioning, bounds: NDArray[np.int64]) -> Partitioning:
    """As `improve`, with no other bounds than those before the atoms `bounds` and those of `start`."""
    is_kept = np.zeros(task.n_atoms, dtype=bool)
    is_kept[bounds] = is_kept[start.starts] = True
    kept = np.flatnonzero(is_kept)
    coarse = replace(task, atoms=coarsen(task.atoms, kept))
    found = improve(coarse, Partitioning(np.searchsorted(kept, start.starts), start.cost))
    return task.priced(kept[found.starts]) if found.cost < start.cost else start


def improve(task: Task, start: Partitioning) -> Partitioning:
    """The partition that local moves lead to from `start`, which keeps the limits."""
    n = task.n_atoms
    state = sweep_from(n, start.starts)
    kernel = bind(sweep, task.criterion)
    task.clock.repeat(
        lambda n_parts: bool(kernel(state, task.atoms, task.setting, task.limits, task.buffers, n_parts)),
        None,
        size=1,
    )
    found = task.priced(np.flatnonzero(state.end))
    return found if found.cost < start.cost else start


def make_sweep(n_atoms: int) -> Sweep:
    """The state of a sweep over so many atoms, without parts."""
    return Sweep(
        end=np.zeros(n_atoms, dtype=np.int32),
        before=np.zeros(n_atoms, dtype=np.int32),
        scanned=np.zeros((3, n_atoms), dtype=np.int32),
        whole=np.zeros((3, n_atoms)),
        cut_price=np.zeros((3, n_atoms)),
        cut=np.zeros((3, n_atoms), dtype=np.int32),
        now=np.zeros(5, dtype=np.int64),
        sums=np.zeros(2),
    )


def sweep_from(n_atoms: int, starts: NDArray[np.int64]) -> Sweep:
    """The state of a sweep that begins with the parts whose first atoms are `starts`."""
    state = make_sweep(n_atoms)
    state.now[N_PARTS] = len(starts)
    state.end[starts] = np.append(starts[1:], n_atoms)
    state.before[starts] = np.append(-1, starts[:-1])
    return state


def sweep(state: Sweep, atoms: Any, setting: Setting, limits: Limits, buffers: Buffers, n_parts: int) -> bool:
    """Try the moves around so many parts; True when a whole sweep has saved nothing."""
    end, before, scanned, whole, cut_price, cut, now, sums = state
    n = len(end)
    for _ in range(n_parts):
        if now[AT] == n:
            if now[BEGUN] == 1 and now[HAS_MOVED] == 0:
                return True
            now[AT], now[HAS_MOVED] = 0, 0
            if now[BEGUN] == 0:
                now[BEGUN] = 1
                sums[COST] = total_cost(setting, sums[PRICE], now[N_PARTS])
        a = now[AT]
        b = np.int64(end[a])
        c = np.int64(end[b]) if b < n else b
        d = np.int64(end[c]) if c < n else c
        # Scan what is not known: the three parts, the first two together, all three together.
        for span in range((4 if now[ONLY_SHIFTS] == 1 else 5) if now[BEGUN] == 1 else 1):
            lo, hi = ends_of(span, a, b, c, d)
            row = max(span - 2, 0)
            if lo < hi and scanned[row, lo] != hi and row == 0 and now[ONLY_SHIFTS] == 1:
                whole[row, lo] = interval_price(atoms, setting, lo, hi, buffers)  # where to cut it will not be asked
                scanned[row, lo] = hi
            elif lo < hi and scanned[row, lo] != hi:
                whole[row, lo], cut_price[row, lo], cut[row, lo] = best_cut(
                    atoms, setting, lo, hi, buffers, limits.min_rows
                )
                scanned[row, lo] = hi
        if now[BEGUN] == 0:  # the first sweep only adds up the prices
            sums[PRICE] += whole[0, a]
            now[AT] = b
            continue
        first = whole[0, a]
        second = whole[0, b] if b < c else 0.0
        third = whole[0, c] if c < d else 0.0
        best, best_price, best_move = sums[COST], sums[PRICE], -1
        least = LEAST_SAVING * (abs(sums[PRICE]) + abs(sums[COST]) + abs(first) + abs(second) + abs(third))
        for move in range(4):
            more, price = 0, np.inf
            if now[ONLY_SHIFTS] == 1 and move != MERGE_SPLIT:
                continue
            if move == SPLIT and b - a > 1 and now[N_PARTS] < limits.max_parts:
                more, price = 1, sums[PRICE] - first + cut_price[0, a]
            elif move == MERGE and b < c:
                more, price = -1, sums[PRICE] - first - second + whole[1, a]
            elif move == MERGE_SPLIT and b < c and cut[1, a] != b:  # where it is already, rounding could save for ever
                more, price = 0, sums[PRICE] - first - second + cut_price[1, a]
            elif move == MERGE_MERGE_SPLIT and c < d:
                more, price = -1, sums[PRICE] - first - second - third + cut_price[2, a]
            if price < np.inf:
                cost = total_cost(setting, price, now[N_PARTS] + more)
                if cost < best - least:
                    best, best_price, best_move = cost, price, move
        if best_move < 0:
            now[AT] = b
            continue
        sums[COST], sums[PRICE], now[HAS_MOVED] = best, best_price, 1
        now[N_PARTS] += 1 if best_move == SPLIT else (0 if best_move == MERGE_SPLIT else -1)
        if best_move == SPLIT:
            relink(end, before, a, np.int64(cut[0, a]), b)
        elif best_move == MERGE:
            relink(end, before, a, a, c)
        elif best_move == MERGE_SPLIT:
            relink(end, before, a, np.int64(cut[1, a]), c)
        else:
            relink(end, before, a, np.int64(cut[2, a]), d)
        # Go back to the parts whose neighbours have changed.
        for _back in range(2):
            if now[AT] > 0:
                now[AT] = before[now[AT]]
    return False


@inlined
def ends_of(span: int, a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Where a span of the parts a-b, b-c, c-d begins and ends: each, the first two, all; a to a if there is none."""
    if (span == 3 and b == c) or (span == 4 and c == d):
        return a, a
    lo = b if span == 1 else (c if span == 2 else a)
    hi = b if span == 0 else (c if span == 1 or span == 3 else d)
    return lo, hi


@inlined
def relink(end: Any, before: Any, a: Any, bound: Any, last: Any) -> None:
    """Make the parts between `a` and `last` two that meet at `bound`, or one if `bound` is `a`."""
    old = end[a]
    while old < last:
        following = end[old]
        end[old] = 0
        old = following
    end[a] = last
    if bound > a:
        end[a], end[bound], before[bound] = bound, last, a
    if last < len(end):
        before[last] = bound
