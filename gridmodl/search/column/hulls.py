"""Which bounds a run over two classes may leave out, and the check that it lost nothing by it.

Where a cell's price is concave in its counts (`Criterion.concave_cell`), most bounds begin no part of a cheapest
partition. Cut the line into blocks of bounds D = [a, b], each of which begins where the one before ends, and let C(t)
be the rows of each class before bound t.

1. Let a partition have the bounds r <= a, s in D and e >= b next to each other. cell(r, s) + cell(s, e) is concave in
   C(s), and C(s) is a mean of extreme points of {C(t): t in D}: with one of these in place of s the partition costs no
   more. (An extreme point that is r or e leaves an empty cell, of price 0, and saves the slope g >= 0 of a part.) So
   only partitions with a part inside a block, (s, e] with a < s < e < b, may be cheaper than all over `kept` bounds,
   the extreme points of all blocks.
2. Let G(t) = min over r <= a of F(r) + g + cell(r, t), for t in D. If G(s) + g + cell(s, e) > G(e) for all
   a < s < e < b, then F = G inside D, from one bound to the next, and no part inside D belongs to a cheapest partition.

By 1 and 2, block after block: if 2 holds for every block but those of which all bounds are kept, F of a run over kept
bounds is F of the run over all of them. `check_blocks` shows 2 from the F of kept bounds alone, in either of two ways.
G is concave on the hull of D, as the least of concave functions, and G(v) >= F(v) at its vertices v. So

    G(s) >= mean of F(v), for every mean of vertices that is C(s);      G(e) <= F(r) + g + cell(r, e), for every r <= a

which is compared for all pairs (`all_pairs_lose`). The quick way takes one r. With U(t) = F(r) + g + cell(r, t) and
`lead`, the most by which U is above the mean of F at vertices, G(s) >= U(s) - lead. So 2 holds if
cell(r, e) - cell(r, s) - cell(s, e) < g - lead. A cell concave in its counts gains by rows x at most slopes . x, with
slopes that depend on the counts and are highest at vertices (`gridmodl.terms.gradient`). So it is enough that

    max over spans x inside D of slopes . x - cell(x)  +  lead  <  g

where the first is known for slopes of rows near by (`block_gains`), and grows by the rows of D at most with them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gridmodl.jit.template import inlined
from gridmodl.search.column.branch_and_bound import are_two
from gridmodl.search.column.spans import fill_span
from gridmodl.search.moves import labelled_price
from gridmodl.terms import Cell, gradient

BLOCK = 64
AROUND = 2

# Threads for one column hardly pay: with gains and chunks of floors in two threads, on idle cores, 1e6 rows of noise
# took 0.256 in place of 0.298 s, 14 % less, and those of a smooth signal 0.648 in place of 0.680 s, 5 % less.


class Scratch(NamedTuple):
    """Buffers of the kernels below, for one block."""

    upper: Any  # bounds of the upper chain of a hull
    lower: Any
    buffer: Any
    counts: Any  # of one cell
    high: Any  # what one more row of each class adds, at most
    least: Any  # G at each bound of the block, at least
    most: Any  # at most


def make_scratch() -> Scratch:
    """Buffers for blocks of `BLOCK` bounds."""
    upper, lower, buffer = np.zeros((3, BLOCK + 2), dtype=np.int64)
    least, most = np.zeros((2, BLOCK + 2))
    return Scratch(upper, lower, buffer, np.zeros(2, dtype=np.int64), np.zeros(2), least, most)


@inlined
def chain(sums: Any, lo: Any, hi: Any, sign: Any, vertices: Any) -> int:
    """Write the upper (sign 1) or lower (-1) hull of C(t), `lo` <= t <= `hi`, to `vertices`; return their number."""
    n: Any = 0
    for t in range(lo, hi + 1):
        while n > 1:
            u, v = vertices[n - 2], vertices[n - 1]
            u_first, u_second = np.int64(sums[u, 0, 0]), np.int64(sums[u, 0, 1])
            turn = (np.int64(sums[v, 0, 0]) - u_first) * (np.int64(sums[t, 0, 1]) - u_second)
            turn -= (np.int64(sums[v, 0, 1]) - u_second) * (np.int64(sums[t, 0, 0]) - u_first)
            if sign * turn < 0:
                break
            n -= 1
        vertices[n] = t
        n += 1
    return n


def hull(sums: Any, lo: int, hi: int, vertices: Any, buffer: Any) -> int:
    """Write the extreme points of C(t), `lo` <= t <= `hi`, to `vertices`; return their number."""
    n = chain(sums, lo, hi, 1, vertices)
    n_lower = chain(sums, lo, hi, -1, buffer)
    for i in range(1, n_lower - 1):  # its ends are those of the upper one
        vertices[n] = buffer[i]
        n += 1
    return n


def mark_hulls(sums: Any, kept: Any, scratch: Scratch) -> None:
    """Mark the extreme points of each block in `kept`."""
    upper, last = scratch.upper, len(sums) - 1
    for a in range(0, last, BLOCK):
        n = hull(sums, a, min(a + BLOCK, last), upper, scratch.buffer)
        for i in range(n):
            kept[upper[i]] = True


def block_gains(p: Any, sums: Any, gains: Any, slopes: Any, scratch: Scratch, at: int, to: int) -> int:
    """max over spans x inside each block `at` to `to` of slopes . x - cell(x), and these slopes; the prices it took.

    What is maximised is convex in C(s) and C(e), so of all starts s in a set of bounds and all ends e in another, right
    of it, the extreme points of both are enough. All pairs inside a block are those between the halves of intervals
    of 2, 4, 8, ... bounds.
    """
    upper, lower, buffer, counts, high, _, _ = scratch
    last, n_pairs = len(sums) - 1, 0
    if not (are_two(sums) and len(counts) == 2 and len(high) == 2):  # never: the compiler is told
        return n_pairs
    for k in range(at, to):
        a, b = k * BLOCK, min((k + 1) * BLOCK, last)
        n_rows = fill_span(sums, max(0, a - AROUND * BLOCK), min(last, b + AROUND * BLOCK), 0, counts)
        gradient(p, Cell(counts, n_rows, 0), high)
        first, second = high[0], high[1]
        slopes[k, 0], slopes[k, 1] = first, second
        gains[k] = -np.inf
        if first == np.inf or second == np.inf:
            gains[k] = np.inf
            continue
        width = 1
        while width < b - a - 1:
            for lo in range(a + 1, b - width, 2 * width):
                n_lo = hull(sums, lo, lo + width - 1, upper, buffer)
                n_hi = hull(sums, lo + width, min(lo + 2 * width, b) - 1, lower, buffer)
                n_pairs += n_lo * n_hi
                for i in range(n_lo):
                    for j in range(n_hi):
                        n = fill_span(sums, upper[i], lower[j], 0, counts)
                        gain = first * counts[0] + second * counts[1] - labelled_price(p, counts, n)
                        gains[k] = max(gains[k], gain)
            width *= 2
    return n_pairs // 4  # short spans take a quarter of the time of others


class Kept(NamedTuple):
    """The kept bounds of a run so far, and F over them."""

    at: Any  # which bounds they are
    sums: Any  # those of these bounds
    best: Any  # F
    came_from: Any


class Blocks(NamedTuple):
    """What is known of each block whatever the slope of a run, and what the run has found."""

    gains: Any
    slopes: Any
    is_refined: Any  # all bounds are kept
    is_failed: Any  # the check failed


def check_blocks(
    p: Any, sums: Any, kept: Kept, blocks: Blocks, slope: float, margin: float, k: int, to: int, i: int,
    scratch: Scratch,
) -> tuple[int, int]:  # fmt: skip
    """Check blocks `k` to `to`, the first of which begins at kept bound `i`; the first that fails, and prices taken."""
    upper, lower, _, counts, high, least, most = scratch
    at, kept_sums, best, came_from = kept
    first, last, n_prices = -1, len(sums) - 1, 0
    if not (are_two(sums) and len(counts) == 2 and len(high) == 2):  # never: the compiler is told
        return first, n_prices
    while k < to:
        a, j, b = at[i], i, min((k + 1) * BLOCK, last)
        while at[j] < b:
            j += 1
        if not blocks.is_refined[k] and j - i < b - a:
            fill_least(sums, kept_sums, best, i, j, a, b, upper, lower, least)
            before = came_from[i] if i > 0 else 0  # no other start is at or before the block for sure
            r = came_from[j] if came_from[j] < i else before
            for t in range(a + 1, b):
                most[t - a] = np.inf
            lead = lower_most(p, sums, best[r] + slope, at[r], a, b, counts, least, most)
            n_prices += b - a
            is_checked = False
            if r < i:
                gain = blocks.gains[k] + more_gain(p, kept_sums, r, i, j, blocks.slopes[k], counts, high)
                is_checked = gain + lead + margin < slope
            if not is_checked:
                for m in range(3):
                    other = i if m == 0 else (before if m == 1 else came_from[(i + j + 1) // 2])
                    if other <= i and other != r:
                        lower_most(p, sums, best[other] + slope, at[other], a, b, counts, least, most)
                n_prices += (b - a) * (b - a - 1) // 8  # of short spans, which take a quarter of the time of others
                if not all_pairs_lose(p, sums, a, b, slope - margin, counts, least, most):
                    blocks.is_failed[k] = True
                    first = k if first < 0 else first
        i, k = j, k + 1
    return first, n_prices


@inlined
def fill_least(
    sums: Any, kept_sums: Any, best: Any, i: int, j: int, a: int, b: int, upper: Any, lower: Any, least: Any
) -> None:
    """Means of F at vertices, kept bounds `i` to `j`, of which C(t) is a mean, for all t between bounds `a` and `b`.

    The line of all counts with as many rows as C(t) leaves the hull through two edges, each between two vertices.
    """
    n_upper, n_lower = chain(kept_sums, i, j, 1, upper), chain(kept_sums, i, j, -1, lower)
    u, v = 0, 0
    for t in range(a + 1, b):
        rows = rows_at(sums, t)
        while u < n_upper - 2 and rows_at(kept_sums, upper[u + 1]) <= rows:
            u += 1
        while v < n_lower - 2 and rows_at(kept_sums, lower[v + 1]) <= rows:
            v += 1
        top, top_best = on_edge(kept_sums, best, upper[u], upper[u + 1], rows)
        bottom, bottom_best = on_edge(kept_sums, best, lower[v], lower[v + 1], rows)
        share = (float(sums[t, 0, 1]) - bottom) / (top - bottom) if top > bottom else 0.0
        least[t - a] = bottom_best + min(1.0, max(0.0, share)) * (top_best - bottom_best)


@inlined
def lower_most(p: Any, sums: Any, before: float, r: int, a: int, b: int, counts: Any, least: Any, most: Any) -> float:
    """Lower `most` to the cost of parts from bound `r` to each bound inside a block; how far it is above `least`."""
    lead = -np.inf
    for t in range(a + 1, b):
        n = fill_span(sums, r, t, 0, counts)
        most[t - a] = min(most[t - a], before + labelled_price(p, counts, n))
        lead = max(lead, most[t - a] - least[t - a])
    return lead


@inlined
def more_gain(p: Any, sums: Any, r: int, i: int, j: int, slopes: Any, counts: Any, high: Any) -> float:
    """How much more than with `slopes` spans gain with what a row adds to parts from kept bound `r` to a block.

    That is highest at vertices of the block, kept bounds `i` to `j`.
    """
    first, second = slopes[0], slopes[1]
    for v in range(i, j + 1):
        n = fill_span(sums, r, v, 0, counts)
        gradient(p, Cell(counts, n, 0), high)
        first, second = max(first, high[0]), max(second, high[1])
    n = fill_span(sums, i, j, 0, counts)
    return (first - slopes[0]) * counts[0] + (second - slopes[1]) * counts[1]


@inlined
def all_pairs_lose(p: Any, sums: Any, a: int, b: int, slope: float, counts: Any, least: Any, most: Any) -> bool:
    """Whether each part inside the block from bound `a` to bound `b` costs more than one that begins before."""
    for e in range(a + 2, b):
        highest = most[e - a] - slope
        for s in range(a + 1, e):
            n = fill_span(sums, s, e, 0, counts)
            if not least[s - a] + labelled_price(p, counts, n) > highest:
                return False
    return True


@inlined
def rows_at(sums: Any, t: Any) -> float:
    """The rows before a bound."""
    return float(np.int64(sums[t, 0, 0]) + np.int64(sums[t, 0, 1]))


@inlined
def on_edge(sums: Any, best: Any, v: Any, w: Any, rows: Any) -> tuple[float, float]:
    """The rows of the second class, and F, on the line from vertex `v` to vertex `w` where there are `rows` rows."""
    begin = rows_at(sums, v)
    share = (rows - begin) / (rows_at(sums, w) - begin)
    second = float(sums[v, 0, 1]) + share * (float(sums[w, 0, 1]) - float(sums[v, 0, 1]))
    return second, best[v] + share * (best[w] - best[v])
