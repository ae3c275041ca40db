"""Post-optimization: local moves from a partition until no move makes it cheaper.

    split                cut one part in two
    merge                merge two neighbours
    merge-split          merge two neighbours and cut the union at its best bound (this shifts their bound)
    merge-merge-split    merge three neighbours and cut the union at its best bound

One scan of an interval, `best_cut`, prices all moves of it, and a scan is kept until its interval changes. The moves
around each part are tried in turn, left to right; the best one that saves is made, until a whole sweep saves nothing. A
sweep takes O(parts); to find the best move of all would take that for every single move.

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
from gridmodl.search.moves import (
    Buffers,
    Limits,
    Setting,
    best_cut,
    interval_price,
    is_cheaper,
    make_record,
    total_cost,
)
from gridmodl.search.task import Partitioning, Task

MANY_RESTARTS = 2048  # atoms from which there are no restarts: they would take longer than all the rest
N_LATE = 16384  # bounds that the merge removed last and that are kept, if there are more than twice as many atoms
FEW_LATE = 256  # at least this many of them, however many the classes
MAX_SCAN = 2**24  # counts of one scan: 0.3 s
WINDOW = 256  # atoms on each side of a bound

SPLIT, MERGE, MERGE_SPLIT, MERGE_MERGE_SPLIT = range(4)


class Sweep(NamedTuple):
    """State of the post-optimization between two calls of the kernel; arrays are by the first atom of a part."""

    end: Any  # first atom of the next part; 0 if no part begins here
    before: Any  # first atom of the previous part
    scanned: Any  # end of the span of 1, 2 or 3 parts from here that was scanned last; 0 if none
    whole: Any  # price of that span
    cut_price: Any  # lowest price of that span in two parts
    cut: Any  # bound of these two parts
    now: Any  # see `make_sweep`


def n_late(task: Task) -> int:
    """Number of bounds of the path of a merge to keep; fewer with many classes, so that no scan takes seconds."""
    return min(N_LATE, max(FEW_LATE, MAX_SCAN // task.atoms.counts.shape[1]))


def improve_merged(task: Task, merged: Merged, start: Partitioning) -> Partitioning:
    """Best partition that local moves find from `start` and from partitions on the path of a merge."""
    if task.n_atoms > 2 * n_late(task):
        return _improve_in_two_passes(task, merged, start)
    best = improve(task, start)
    if task.n_atoms > MANY_RESTARTS:
        return best
    # A merge misses bounds that pay only together. Earlier on its path, at 2, 4, 8, ... parts, they are still there.
    n_parts, max_parts = 2, min(task.n_atoms, merged.max_parts)
    while n_parts <= min(max_parts, 4 * len(best.starts) + 8) and not task.clock.stopped:
        found = improve(task, task.priced(merged.path(n_parts)))
        best = min(best, found, key=lambda partitioning: partitioning.cost)
        n_parts *= 2
    return best


def _improve_in_two_passes(task: Task, merged: Merged, start: Partitioning) -> Partitioning:
    """Improve among the bounds that the merge removed last, then also among those near the bounds of the best.

    With a million atoms every scan is long, and each bound that shifts needs new scans around it. The bounds removed
    last are few and good: 1e6 rows in 80 parts took 0.1 s instead of 0.8 s, to a lower cost.
    """
    late = merged.path(n_late(task))
    best = _improve_among(task, start, late)
    while not task.clock.stopped:
        found = _improve_among(task, best, np.concatenate([late, _around(task, best)]))
        # If the merge did not start from all bounds, bounds that shifted have new ones near them.
        if task.start is None or not found.cost < best.cost:
            return found
        best = found
    return best


def _around(task: Task, best: Partitioning) -> NDArray[np.int64]:
    """Atoms near a bound: within WINDOW, and in the two parts next to it that the merge started from."""
    n = task.n_atoms
    low, high = np.maximum(best.starts - WINDOW, 0), np.minimum(best.starts + WINDOW + 1, n)
    if task.start is not None:
        ends = np.append(task.start, n)
        low = np.minimum(low, ends[np.maximum(np.searchsorted(ends, best.starts) - 1, 0)])
        high = np.maximum(high, ends[np.searchsorted(ends, best.starts, side="right")])
    # Atoms inside at least one window: more windows have opened than closed.
    opened = np.bincount(low, minlength=n)
    closed = np.bincount(high, minlength=n + 1)[:n]
    return np.flatnonzero(np.cumsum(opened - closed) > 0)


def _improve_among(task: Task, start: Partitioning, bounds: NDArray[np.int64]) -> Partitioning:
    """As `improve`, but only with the bounds before the atoms `bounds` and those of `start`."""
    is_kept = np.zeros(task.n_atoms, dtype=bool)
    is_kept[bounds] = is_kept[start.starts] = True
    kept = np.flatnonzero(is_kept)
    coarse = replace(task, atoms=coarsen(task.atoms, kept))
    found = improve(coarse, Partitioning(np.searchsorted(kept, start.starts), start.cost))
    return task.priced(kept[found.starts]) if found.cost < start.cost else start


def improve(task: Task, start: Partitioning) -> Partitioning:
    """Partition that local moves find from `start`, which keeps the limits."""
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
    """State of a sweep over `n_atoms` atoms, without parts."""
    return Sweep(
        end=np.zeros(n_atoms, dtype=np.int32),
        before=np.zeros(n_atoms, dtype=np.int32),
        scanned=np.zeros((3, n_atoms), dtype=np.int32),
        whole=np.zeros((3, n_atoms)),
        cut_price=np.zeros((3, n_atoms)),
        cut=np.zeros((3, n_atoms), dtype=np.int32),
        now=make_record(
            at=0,  # first atom of the part to visit
            n_parts=0,
            is_begun=False,  # whether the first sweep, which adds up the prices, is over
            has_moved=False,  # whether a move was made in this sweep
            only_shifts=False,  # whether bounds may only shift, so that their number stays
            price=0.0,  # sum of the prices of the parts
            cost=0.0,
        ),
    )


@inlined
def begin_sweep(now: Any, only_shifts: bool) -> None:
    """Reset the record for a new post-optimization."""
    now.at, now.n_parts, now.price, now.cost = 0, 0, 0.0, 0.0
    now.is_begun, now.has_moved, now.only_shifts = False, False, only_shifts


def sweep_from(n_atoms: int, starts: NDArray[np.int64]) -> Sweep:
    """State of a sweep that begins with the parts whose first atoms are `starts`."""
    state = make_sweep(n_atoms)
    state.now[0].n_parts = len(starts)
    state.end[starts] = np.append(starts[1:], n_atoms)
    state.before[starts] = np.append(-1, starts[:-1])
    return state


def sweep(state: Sweep, atoms: Any, setting: Setting, limits: Limits, buffers: Buffers, n_visits: int) -> bool:
    """Try the moves around `n_visits` parts; return True when a whole sweep has saved nothing."""
    end, before, scanned = state.end, state.before, state.scanned
    whole, cut_price, cut = state.whole, state.cut_price, state.cut
    now = state.now[0]
    at, n_parts, is_begun, has_moved = now.at, now.n_parts, now.is_begun, now.has_moved
    only_shifts, price, cost = now.only_shifts, now.price, now.cost
    n, is_done = len(end), False
    for _ in range(n_visits):
        if at == n:
            if is_begun and not has_moved:
                is_done = True
                break
            at, has_moved = 0, False
            if not is_begun:
                is_begun, cost = True, total_cost(setting, price, n_parts)
        a = at
        b = np.int64(end[a])
        c = np.int64(end[b]) if b < n else b
        d = np.int64(end[c]) if c < n else c
        # Scan the spans that are not known: each of the three parts, the union of the first two, the union of all.
        for span in range((4 if only_shifts else 5) if is_begun else 1):
            lo, hi = ends_of(span, a, b, c, d)
            row = max(span - 2, 0)
            if lo < hi and scanned[row, lo] != hi:
                if row == 0 and only_shifts:  # no split, so no cut is needed
                    whole[row, lo] = interval_price(atoms, setting, lo, hi, buffers)
                else:
                    whole[row, lo], cut_price[row, lo], cut[row, lo] = best_cut(
                        atoms, setting, lo, hi, buffers, limits.min_rows
                    )
                scanned[row, lo] = hi
        if not is_begun:
            price += whole[0, a]
            at = b
            continue
        scale = scale_of(price, whole, a, b, c, d)
        best, best_price, best_move = cost, price, -1
        for move in range(4):
            if only_shifts and move != MERGE_SPLIT:
                continue
            new_price, more = price_of_move(move, whole, cut_price, cut, price, a, b, c, d)
            if new_price < np.inf and (more <= 0 or n_parts < limits.max_parts):
                new_cost = total_cost(setting, new_price, n_parts + more)
                if is_cheaper(new_cost, best, scale):
                    best, best_price, best_move = new_cost, new_price, move
        if best_move < 0:
            at = b
            continue
        cost, price, has_moved = best, best_price, True
        n_parts += make_move(best_move, end, before, cut, a, b, c, d)
        # Go back two parts: their neighbours have changed.
        for _back in range(2):
            if at > 0:
                at = np.int64(before[at])
    now.at, now.n_parts, now.is_begun, now.has_moved = at, n_parts, is_begun, has_moved
    now.price, now.cost = price, cost
    return is_done


@inlined
def scale_of(price: float, whole: Any, a: Any, b: Any, c: Any, d: Any) -> float:
    """Size of the prices that a move of the parts a-b, b-c, c-d sums."""
    second = whole[0, b] if b < c else 0.0
    third = whole[0, c] if c < d else 0.0
    return abs(price) + abs(whole[0, a]) + abs(second) + abs(third)


@inlined
def price_of_move(
    move: int, whole: Any, cut_price: Any, cut: Any, price: float, a: Any, b: Any, c: Any, d: Any
) -> tuple[float, int]:
    """Price of all parts after a move of the parts a-b, b-c, c-d, infinite if impossible; and the change of n_parts."""
    first = whole[0, a]
    second = whole[0, b] if b < c else 0.0
    third = whole[0, c] if c < d else 0.0
    new_price, more = np.inf, 0
    if move == SPLIT and b - a > 1:
        new_price, more = price - first + cut_price[0, a], 1
    elif move == MERGE and b < c:
        new_price, more = price - first - second + whole[1, a], -1
    elif move == MERGE_SPLIT and b < c and cut[1, a] != b:  # the same bound again could save by rounding, for ever
        new_price = price - first - second + cut_price[1, a]
    elif move == MERGE_MERGE_SPLIT and c < d:
        new_price, more = price - first - second - third + cut_price[2, a], -1
    return new_price, more


@inlined
def make_move(move: int, end: Any, before: Any, cut: Any, a: Any, b: Any, c: Any, d: Any) -> int:
    """Make a move of the parts a-b, b-c, c-d; return the change of the number of parts."""
    if move == SPLIT:
        relink(end, before, a, np.int64(cut[0, a]), b)
        return 1
    if move == MERGE_SPLIT:
        relink(end, before, a, np.int64(cut[1, a]), c)
        return 0
    if move == MERGE:
        relink(end, before, a, a, c)
    else:
        relink(end, before, a, np.int64(cut[2, a]), d)
    return -1


@inlined
def ends_of(span: int, a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Begin and end of a span of the parts a-b, b-c, c-d: each part, the first two, all; (a, a) if there is none."""
    if (span == 3 and b == c) or (span == 4 and c == d):
        return a, a
    lo = b if span == 1 else (c if span == 2 else a)
    hi = b if span == 0 else (c if span == 1 or span == 3 else d)
    return lo, hi


@inlined
def relink(end: Any, before: Any, a: Any, bound: Any, last: Any) -> None:
    """Replace the parts between `a` and `last` by two that meet at `bound`, or by one if `bound` is `a`."""
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
