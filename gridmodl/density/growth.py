"""Cut after cut, each the best of all intervals: the search, top-down.

One best cut per interval is kept; after a cut only its two halves are looked at again. The first k cuts are the same
however many follow, so one growth has the partitions of every number of cuts in it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.density.cuts import FLAT, NO_CUT, STACK, TOLERANCE, Rule, best_by_kernel, best_by_likelihood, middle
from gridmodl.template import bind


class Rows(NamedTuple):
    """Rows to cut by, and rows held out to tell what the cuts are worth."""

    positions: Any  # of each value, ascending
    before: Any  # rows below each value, and all of them; floats, in which rows are exact
    held_positions: Any
    held_before: Any
    end: float  # the position of the domain's upper end


class Parts(NamedTuple):
    """The intervals so far, in the order that they were made, and the cuts."""

    first: Any
    end: Any
    left: Any
    right: Any
    held: Any  # rows held out below the interval, and
    held_end: Any  # those below its end
    scores: Any
    cuts: Any  # the value below the best cut of each interval
    path: Any  # the value below each cut that was made
    at: Any  # the position of each cut that was made
    log_likelihood: Any  # of the rows held out, by number of cuts, above that of one part
    n_cuts: Any  # how many were made; -1: nothing has been looked at


class Workspace(NamedTuple):
    by_value: Any  # scores of cuts above each value
    stack: Any
    work: Any  # candidates that were priced


class Grown(NamedTuple):
    """How far a growth came."""

    n_cuts: int
    is_flat: bool  # no further cut would change the density
    path: NDArray[np.int64]  # the value below each cut
    at: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]


class Effort(NamedTuple):
    """When a growth ends that could go on."""

    max_cuts: int
    is_bounded: bool  # whether it ends before its time is quadratic in the rows: evenly spaced data lead there

    def work(self, n_values: int) -> int:
        """Candidates to price: a thousand cuts of a million rows of many kinds took 2 to 13 for each row."""
        return 10_000_000 + 50 * n_values if self.is_bounded else 2**62


def grown(rows: Rows, rule: Rule, effort: Effort, clock: Clock) -> Grown | None:
    """Cut until nothing is left to cut or it was effort enough; None if the clock stopped it."""
    max_cuts = max(0, min(effort.max_cuts, len(rows.positions) - 1))
    max_work = effort.work(len(rows.positions))
    parts = _no_parts(max_cuts)
    scores = np.empty(0 if rule.likelihood else len(rows.positions))
    workspace = Workspace(scores, np.empty(2 * STACK, dtype=np.int64), np.zeros(1, dtype=np.int64))
    kernel, is_done = bind(grow), False

    def turn(size: int) -> bool:
        nonlocal is_done
        n_wanted = min(max_cuts, max(0, int(parts.n_cuts[0])) + size)
        is_done = bool(kernel(rows, rule, parts, workspace, n_wanted, max_work))
        is_done = is_done or parts.n_cuts[0] == max_cuts
        return is_done

    clock.repeat(turn, lambda: parts.n_cuts[0] / max(1, max_cuts), size=1)
    if not is_done:
        return None
    n_cuts = int(parts.n_cuts[0])
    return Grown(
        n_cuts,
        n_cuts < max_cuts and float(parts.scores[: n_cuts + 1].max()) == FLAT,
        parts.path[:n_cuts],
        parts.at[:n_cuts],
        parts.log_likelihood[: n_cuts + 1],
    )


def rows_of(positions: NDArray[np.float64], rows: NDArray[np.int64], end: float) -> Rows:
    """All rows, none held out."""
    nothing = np.zeros(1)
    return Rows(positions, below(rows), nothing[:0], nothing, end)


def below(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rows below each value, and all of them."""
    found = np.zeros(len(rows) + 1)
    np.cumsum(rows, out=found[1:])
    return found


def _no_parts(max_cuts: int) -> Parts:
    def whole() -> NDArray[np.int64]:
        return np.zeros(max_cuts + 1, dtype=np.int64)

    def real() -> NDArray[np.float64]:
        return np.zeros(max_cuts + 1)

    return Parts(
        whole(), whole(), real(), real(), real(), real(), real(), whole(), whole(), real(), real(),
        np.full(1, -1, dtype=np.int64),
    )  # fmt: skip


def grow(rows: Any, rule: Any, parts: Any, workspace: Any, n_wanted: int, max_work: int) -> bool:
    """Cut until there are so many cuts; whether nothing is left to cut, or the work is done."""
    positions, before, held_positions, held_before, domain = rows
    first, end, left, right, held, held_end, scores, cuts, path, at, log_likelihood, n_made = parts
    by_value, stack, work = workspace
    n, n_new = n_made[0], 2
    i = new = 0
    if n < 0:
        first[0], end[0], left[0], right[0] = 0, len(positions), 0.0, domain
        held[0], held_end[0] = 0.0, held_before[len(held_before) - 1]
        log_likelihood[0] = 0.0  # the density of one part is that of the domain
        n, n_new = -1, 1
    while n < n_wanted:
        if n >= 0:
            i, new = best_part(scores, first, n + 1), n + 1
            if i < 0 or work[0] > max_work:
                n_made[0] = n
                return True
            cut = cuts[i]
            where = middle(positions, cut)
            held_below = held_before[n_values_to(held_positions, where)]
            path[n], at[n] = cut, where
            first[new], end[new], left[new], right[new] = cut + 1, end[i], where, right[i]
            held[new], held_end[new] = held_below, held_end[i]
            log_likelihood[new] = log_likelihood[n]
            for step in range(3):  # without the part that is cut, with the two that it becomes
                k = new if step == 2 else i
                if step == 1:
                    end[i], right[i], held_end[i] = cut + 1, where, held_below
                share, m = (right[k] - left[k]) / domain, before[end[k]] - before[first[k]]
                part = held_part(held_end[k] - held[k], m, share, before[len(before) - 1])
                log_likelihood[new] += -part if step == 0 else part
        for step in range(n_new):
            k = new if step == 1 else i
            interval = (first[k], end[k], left[k], right[k])
            if rule.likelihood:
                scores[k], cuts[k] = best_by_likelihood(positions, before, rule.min_rows, interval, stack, work)
            else:
                scores[k], cuts[k] = best_by_kernel(positions, before, rule, interval, by_value, work)
        n, n_new = n + 1, 2
    n_made[0] = n
    return False


def best_part(scores: Any, first: Any, n_parts: int) -> int:
    """The interval to cut next, the lowest of those as good as the best; -1 if none can be."""
    largest = NO_CUT
    for i in range(n_parts):
        largest = max(largest, scores[i])
    if largest < 0.0:
        return -1
    found = -1
    for i in range(n_parts):
        if scores[i] >= largest * (1.0 - TOLERANCE) and (found < 0 or first[i] < first[found]):
            found = i
    return found


def held_part(n_held: float, n: float, share: float, n_rows: float) -> float:
    """The log-likelihood of rows held out in a part, above that of the domain, with one row spread over it."""
    return n_held * math.log((n + share) / (share * (n_rows + 1.0))) if n_held > 0.0 else 0.0


def n_values_to(positions: Any, at: float) -> int:
    """How many values are not above a position."""
    low, high = 0, len(positions)
    while low < high:
        i = (low + high) // 2
        if positions[i] <= at:
            low = i + 1
        else:
            high = i
    return low
