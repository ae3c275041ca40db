"""One penalised run by branch and bound: F(t) = g + min over s < t of F(s) + price(s, t), without most of the pairs.

Ends are taken in chunks, and the starts before a chunk in blocks of doubling size. A block that ends at bound z stands
for one start there: with v = min over its starts of F(s) + floor(s, z), each costs at least v + price(z, t). Over a
whole chunk from bound o such a start is out if

    v + price(z, o) + floor(o, t)  >=  the best so far, at each end t of the chunk
    v + excess(z, r)               >=  F(r), for a start r that was best at the chunk's first or last end

and otherwise its block is opened. Starts that stay are priced at every end as in the plain recursion, so the sums are
the same to the last bit; only starts that lose by more than rounding are left out, so ties go to the same start.

The second floor keeps whole blocks out only if floors lose little. For small ones, `tangent` gives a line below what
their rows add, and the least of F plus that line is a better v.

Measured (modl, 1e6 rows): lines up to height 5 took prices per bound from 560 to 35 on a smooth signal of 5 classes,
and v from 6 heights below at once from 42 to 17 on noise; chunks of 8 or 32 were no faster, nor was a table of log n!.
A block that was opened will most likely be opened for the next chunk too: to open it without a look for 4 chunks, and
to try the line before the second reference, took a run with 5 classes from 1.9 to 1.3 s on noise, 1.7 to 1.3 on waves.

Sizes that are compiled in: numba asks arrays for their sizes, and the compiler unrolls a loop over two classes if a
test at the top of the kernel tells it that there are two. That took whole calls with two classes from 0.83 to 0.53 s on
a smooth signal and from 0.76 to 0.53 on waves, and without frozen cells, with 5 classes, from 2.65 to 2.3 on waves. The
kernel is compiled again, in 3.7 s, for who has columns of two and of more classes, or the exact steps of grids too.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import inlined
from gridmodl.search.column.spans import fill_span, span_floor, span_price
from gridmodl.search.moves import labelled_price
from gridmodl.terms import Cell, Walk, excess, tangent

# Relative error of a sum of logarithms, at most.
ROUNDING = 1e-13

# The fields of `RunBuffers.now`.
N_DONE, N_PRICES = range(2)  # chunks; prices, floors and excesses


class Setup(NamedTuple):
    """What all runs of a program have in common."""

    sums: Any  # see `gridmodl.search.column.spans.make_sums`
    windows: Any  # `Windows`: where parts may end
    p: Any
    margin: float  # by which a start must lose to be left out: more than rounding


class RunBuffers(NamedTuple):
    """The state of a run between two calls of the kernel."""

    blocks: Any  # v of each block, height by height
    first_block: Any  # of each height
    stack: Any  # height and number of the blocks to look at
    at_end: Any  # the best so far at each end of the chunk, without g
    start_at: Any  # its start
    floors: Any  # of the rows from the chunk's first bound to each end
    walk: Any  # counts that the chunk adds
    walk_rows: Any
    low: Any  # see `Walk`
    references: Any  # the best starts at the first and the last end, -1 for none
    own: Any  # counts of the start looked at, up to the chunk
    own_rows: Any
    others: Any  # of the references
    others_rows: Any
    slopes: Any  # of the line below what rows add to the start looked at
    on_line: Any  # the least of F plus `line_slopes` times rows over each small block
    line_slopes: Any
    counts: Any  # of one cell
    open_to: Any  # chunk before which each block is opened without a look
    now: Any


def make_run_buffers(sums: NDArray[Any]) -> RunBuffers:
    """Buffers for runs over these sums."""
    n, (n_cells, n_classes) = len(sums) - 1, sums.shape[1:]
    sizes = [n // CHUNK]
    while sizes[-1] > 1:
        sizes.append(sizes[-1] // 2)
    cells, n_small = (n_cells, n_classes), sum(sizes[: SMALL_HEIGHT + 1])
    return RunBuffers(
        blocks=np.zeros(sum(sizes)),
        first_block=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        stack=np.zeros((2 * len(sizes) + CHUNK + 4, 2), dtype=np.int64),
        at_end=np.zeros(CHUNK),
        start_at=np.zeros(CHUNK, dtype=np.int64),
        floors=np.zeros(CHUNK),
        walk=np.zeros(cells, dtype=np.int64),
        walk_rows=np.zeros(n_cells, dtype=np.int64),
        low=np.zeros(cells),
        references=np.zeros(2, dtype=np.int64),
        own=np.zeros(cells, dtype=np.int64),
        own_rows=np.zeros(n_cells, dtype=np.int64),
        others=np.zeros((2, *cells), dtype=np.int64),
        others_rows=np.zeros((2, n_cells), dtype=np.int64),
        slopes=np.zeros(cells),
        on_line=np.zeros(n_small),
        line_slopes=np.zeros((n_small, *cells)),
        counts=np.zeros(n_classes, dtype=np.int64),
        open_to=np.zeros(sum(sizes), dtype=np.int32),
        now=np.zeros(2, dtype=np.int64),
    )


@inlined
def run_chunks(
    setup: Setup, slope: float, before: Any, after: Any, came_from: Any, buffers: RunBuffers, n: int
) -> bool:
    """after[t] = slope + min over s < t of before[s] + price(s, t), for about `n` prices more; True when all are done.

    Of equals the leftmost s, which goes into `came_from`.
    """
    sums, windows, p, margin = setup
    first_end, last_end = windows
    blocks, first_block, stack, at_end, start_at, floors, walk, walk_rows, low = buffers[:9]
    references, own, own_rows, others, others_rows, slopes, on_line, line_slopes, counts, open_to, now = buffers[9:]
    last = len(sums) - 1
    until = now[N_PRICES] + n
    while now[N_PRICES] < until and now[N_DONE] * CHUNK < last:
        origin = now[N_DONE] * CHUNK
        n_ends = min(CHUNK, last - origin)
        fill_walk(sums, origin, n_ends, walk, walk_rows, low, counts)
        for i in range(n_ends):
            floors[i] = span_floor(p, sums, origin, origin + 1 + i, counts)
            at_end[i], start_at[i] = np.inf, -1
        references[0] = references[1] = -1
        highest = np.inf  # what a start may cost at `origin` and still be best at some end
        n_stack = stack_starts(stack, first_block, now[N_DONE], came_from[origin] if origin > 0 else -1)
        now[N_PRICES] += n_ends
        while n_stack > 0:
            n_stack -= 1
            height, k = stack[n_stack, 0], stack[n_stack, 1]
            if height == ONE_START:
                begin = end = k
                value = before[k]
            else:
                begin, end = (k << height) * CHUNK, ((k + 1) << height) * CHUNK - 1
                node = first_block[height] + k
                value = blocks[node]
                if now[N_DONE] < open_to[node]:
                    n_stack = open_block(stack, n_stack, height, k)
                    continue
            if value == np.inf or first_end[begin] > origin + n_ends or last_end[end] <= origin:
                continue
            own_price = 0.0
            for f in range(sums.shape[1]):
                own_rows[f] = fill_span(sums, end, origin, f, own[f])
                if own_rows[f] > 0:
                    own_price += labelled_price(p, own[f], own_rows[f])
            now[N_PRICES] += 1
            if value + own_price > highest:
                continue
            most, constant = -np.inf, np.inf  # by which it loses to a reference, at least
            for i in range(2):
                r = references[i]
                if height == ONE_START and r == k:
                    most = np.inf  # priced already
                elif r >= 0 and most <= margin and (i == 0 or r != references[0]):
                    more = value - before[r]
                    for f in range(sums.shape[1]):
                        if own_rows[f] + others_rows[i, f] > 0:  # else both get the same
                            more += excess(
                                p,
                                Cell(own[f], own_rows[f], 0),
                                Cell(others[i, f], others_rows[i, f], 0),
                                Walk(walk[f], walk_rows[f], low[f]),
                            )
                    now[N_PRICES] += 1
                    most = max(most, more)
                if 0 <= height <= SMALL_HEIGHT and most <= margin:
                    if constant == np.inf:
                        constant = tangent_constant(
                            p, sums, begin, end, own, own_rows, walk, walk_rows, low, counts, slopes
                        )  # fmt: skip
                        now[N_PRICES] += 1
                    needed = min(highest - own_price, value - most + margin) - constant
                    if on_line_above(sums, before, begin, end, slopes, line_slopes[node], on_line, node, needed):
                        most = np.inf
            if most > margin:
                continue
            if height >= 0:
                open_to[node] = now[N_DONE] + PATIENCE
                n_stack = open_block(stack, n_stack, height, k)
                continue
            now[N_PRICES] += n_ends
            if try_start(p, sums, first_end, last_end, before, k, origin, origin + 1, n_ends, at_end, start_at, counts):
                highest = margin + highest_start(at_end, floors, n_ends)
                refer(sums, first_end, last_end, origin, n_ends, start_at, references, others, others_rows)
        for i in range(n_ends):
            t = origin + 1 + i
            after[t], came_from[t] = at_end[i] + slope, start_at[i]
            try_start(p, sums, first_end, last_end, before, t, origin, t + 1, n_ends, at_end, start_at, counts)
        now[N_PRICES] += n_ends * (n_ends - 1) // 2
        if n_ends == CHUNK:
            close_block(p, sums, before, blocks, first_block, on_line, line_slopes, now[N_DONE], counts)
            now[N_PRICES] += CHUNK
        now[N_DONE] += 1
    return now[N_DONE] * CHUNK >= last


def run_two_classes(
    setup: Setup, slope: float, before: Any, after: Any, came_from: Any, buffers: RunBuffers, n: int
) -> bool:
    """`run_chunks` where there are two classes and no frozen cells, which are compiled in."""
    own, walk, low, slopes = buffers.own, buffers.walk, buffers.low, buffers.slopes
    has_two = are_two(setup.sums) and are_two(buffers.others) and are_two(buffers.line_slopes)
    has_two = has_two and own.shape[1] == 2 and walk.shape[1] == 2 and low.shape[1] == 2 and slopes.shape[1] == 2
    if not (has_two and len(buffers.counts) == 2):
        return True
    return run_one_cell(setup, slope, before, after, came_from, buffers, n)


@inlined
def run_one_cell(
    setup: Setup, slope: float, before: Any, after: Any, came_from: Any, buffers: RunBuffers, n: int
) -> bool:
    """`run_chunks` where there are no frozen cells, which is compiled in."""
    has_one = setup.sums.shape[1] == 1 and len(buffers.own) == 1 and len(buffers.walk) == 1
    if not (has_one and len(buffers.low) == 1 and len(buffers.slopes) == 1):
        return True
    return run_chunks(setup, slope, before, after, came_from, buffers, n)


@inlined
def are_two(by_cell: Any) -> bool:
    """Whether the last axes of an array are one cell and two classes."""
    return by_cell.shape[1] == 1 and by_cell.shape[2] == 2


def try_start(
    p: Any, sums: Any, first_end: Any, last_end: Any, before: Any, s: int, origin: int, first: int, n_ends: int,
    at_end: Any, start_at: Any, counts: Any,
) -> bool:  # fmt: skip
    """Price a start at the ends of a chunk from bound `first` on; True if it is the best so far at one of them.

    `first` is a bound and not the number of an end: for a constant argument, 0, numba compiled all this once more.
    """
    is_better = False
    for t in range(max(first, first_end[s]), min(origin + n_ends, last_end[s]) + 1):
        i = t - origin - 1
        price = before[s] + span_price(p, sums, s, t, counts)
        if price < at_end[i] or (price == at_end[i] and s < start_at[i]):
            at_end[i], start_at[i] = price, s
            is_better = True
    return is_better


@inlined
def highest_start(at_end: Any, floors: Any, n_ends: int) -> float:
    """What a start may cost at a chunk's first bound and still be best at some end."""
    highest = -np.inf
    for i in range(n_ends):
        highest = max(highest, at_end[i] - floors[i])
    return highest


@inlined
def refer(
    sums: Any, first_end: Any, last_end: Any, origin: int, n_ends: int, start_at: Any, references: Any, others: Any,
    others_rows: Any,
) -> None:  # fmt: skip
    """Take the best starts at the first and the last end for references, if they may end a part at every end."""
    for i in range(2):
        r = start_at[0 if i == 0 else n_ends - 1]
        if r >= 0 and first_end[r] <= origin + 1 and last_end[r] >= origin + n_ends:
            references[i] = r
            for f in range(sums.shape[1]):
                others_rows[i, f] = fill_span(sums, r, origin, f, others[i, f])


# Blocks of starts: the stack of those to look at, v of each, lines below small ones.
#
# The block number k of height h holds the starts (k << h) * CHUNK to ((k + 1) << h) * CHUNK - 1.
#
# Arrays are copied and their least found by loops: `a[:] = b` brought in the message for shapes that differ, and with
# `np.min` 6 of the 14 s that a kernel with these took to compile (numba 0.68).

CHUNK = 16  # ends, and starts of the smallest block
SMALL_HEIGHT = 5  # up to here, lines below what rows add are worth their time
HOP = 6  # heights that a block's v is made from at once
PATIENCE = 4  # chunks for which a block that was opened is opened again without a look
ONE_START = -1  # the height of a single start, where blocks have 0, 1, ...


def stack_starts(stack: Any, first_block: Any, n_done: int, last_best: int) -> int:
    """Put all starts before a chunk on the stack, the nearest blocks on top; then two that are likely to be best."""
    n_stack = 0
    for height in range(len(first_block) - 2, -1, -1):
        k = n_done >> height
        if k & 1:
            stack[n_stack, 0], stack[n_stack, 1] = height, k - 1
            n_stack += 1
    if last_best >= 0:  # of the end before
        stack[n_stack, 0], stack[n_stack, 1] = ONE_START, last_best
        n_stack += 1
    stack[n_stack, 0], stack[n_stack, 1] = ONE_START, n_done * CHUNK
    return n_stack + 1


def open_block(stack: Any, n_stack: int, height: int, k: int) -> int:
    """Put the halves of a block on the stack, or the starts of a smallest one."""
    size = 2 if height > 0 else CHUNK
    for i in range(size):
        stack[n_stack + i, 0], stack[n_stack + i, 1] = height - 1, size * k + i
    return n_stack + size


def close_block(
    p: Any, sums: Any, best: Any, blocks: Any, first_block: Any, on_line: Any, line_slopes: Any, k: int, counts: Any
) -> None:
    """Note v of the block of starts number `k`, and of the larger ones that end with it."""
    end = (k + 1) * CHUNK - 1
    value = best[end]
    for s in range(end - CHUNK + 1, end):
        value = min(value, best[s] + span_floor(p, sums, s, end, counts))
    height, size = 0, CHUNK
    while True:
        node = first_block[height] + k
        blocks[node] = value
        if height <= SMALL_HEIGHT:
            line_slopes[node] = 0.0
            least = best[end]
            for s in range(end + 1 - size, end):
                if best[s] < least:
                    least = best[s]
            on_line[node] = least
        if not k & 1:
            return
        height, size, k = height + 1, size * 2, k >> 1
        # From far below at once: each floor that is added to another loses what the two together would be worth more.
        hop = min(height, HOP)
        lower, j = first_block[height - hop] + (k << hop), end - size + (size >> hop)
        value = blocks[lower + (1 << hop) - 1]
        for i in range((1 << hop) - 1):
            value = min(value, blocks[lower + i] + span_floor(p, sums, j, end, counts))
            j += size >> hop


def fill_walk(sums: Any, origin: int, n_ends: int, walk: Any, walk_rows: Any, low: Any, counts: Any) -> None:
    """What the chunk of ends adds to each cell, and how far each class lags behind on the way."""
    for f in range(len(walk)):
        walk_rows[f] = fill_span(sums, origin, origin + n_ends, f, walk[f])
        low[f] = 0.0
        if walk_rows[f] > 0:
            for t in range(origin + 1, origin + n_ends):
                # As whole numbers, so that a class which keeps its share has a lag of 0 and not of 1e-17.
                rows = float(fill_span(sums, origin, t, f, counts))
                for c in range(len(counts)):
                    behind = counts[c] * float(walk_rows[f]) - rows * walk[f, c]
                    low[f, c] = min(low[f, c], behind / walk_rows[f])


def tangent_constant(
    p: Any, sums: Any, begin: int, end: int, own: Any, own_rows: Any, walk: Any, walk_rows: Any, low: Any, counts: Any,
    slopes: Any,
) -> float:  # fmt: skip
    """The constant of the line below what the rows of a block before its last start add to that start."""
    constant = 0.0
    for f in range(sums.shape[1]):
        rows = fill_span(sums, begin, end, f, counts)
        slopes[f] = 0.0
        if rows > 0:
            constant += tangent(
                p, Cell(own[f], own_rows[f], 0), Cell(counts, rows, 0), Walk(walk[f], walk_rows[f], low[f]), slopes[f]
            )
    return constant


def on_line_above(
    sums: Any, before: Any, begin: int, end: int, slopes: Any, known_slopes: Any, on_line: Any, node: int, needed: float
) -> bool:
    """Whether F plus slopes times rows is above `needed` for all starts of a block.

    What it was for other slopes often tells, as these change little from chunk to chunk; else it is computed anew.
    """
    lower = upper = on_line[node]
    for f in range(sums.shape[1]):
        for c in range(sums.shape[2]):
            change = (slopes[f, c] - known_slopes[f, c]) * (sums[end, f, c] - sums[begin, f, c])
            lower += min(0.0, change)
            upper += max(0.0, change)
    if lower > needed or upper <= needed:
        return lower > needed
    least = before[end]
    for s in range(begin, end):
        value = before[s]
        for f in range(sums.shape[1]):
            for c in range(sums.shape[2]):
                value += slopes[f, c] * (sums[end, f, c] - sums[s, f, c])
        least = min(least, value)
    on_line[node] = least
    for f in range(sums.shape[1]):
        for c in range(sums.shape[2]):
            known_slopes[f, c] = slopes[f, c]
    return least > needed


# Lower bounds of Q(g) at several slopes g at once, in less time than a run.
#
# A part costs at least its atoms in the chunk where it begins, and the floor of those in each other node of a binary
# tree of chunks that it reaches. For a node D let R0 be the floor of its atoms, which is what they add at least if no
# part begins in D, and R1 what they and the slopes of parts that begin in D add at least if one does:
#
#     R1(D)  =  min( R1(left) + min(R0, R1)(right),  R0(left) + R1(right) )
#
# That a part begins at bound 0 is no news, and does not count. So for every partition into 2 parts or more
#
#     sum of prices + g (I - 1)  >=  R1(all)


@inlined
def relax_chunks(
    setup: Setup, slopes: Any, floors: Any, begun: Any, prefix: Any, counts: Any, at: int, to: int
) -> None:
    """R0 and, by slope, R1 of the chunks `at` to `to`, into `floors` and `begun`; `prefix` is a buffer of one chunk."""
    sums, _, p, _ = setup
    last, n_slopes = len(sums) - 1, len(slopes)
    for k in range(at, to):
        origin = k * CHUNK
        n_ends = min(CHUNK, last - origin)
        for i in range(n_ends + 1):
            for g in range(n_slopes):
                prefix[i, g] = math.inf
            for j in range(1 if k == 0 else 0, i):
                price = span_price(p, sums, origin + j, origin + i, counts)
                for g in range(n_slopes):
                    prefix[i, g] = min(prefix[i, g], min(prefix[j, n_slopes], prefix[j, g]) + price + slopes[g])
            prefix[i, n_slopes] = span_floor(p, sums, origin, origin + i, counts)
        floors[k] = prefix[n_ends, n_slopes]
        for g in range(n_slopes):
            begun[k, g] = prefix[n_ends, g]


def relax_two_classes(
    setup: Setup, slopes: Any, floors: Any, begun: Any, prefix: Any, counts: Any, at: int, to: int
) -> None:
    """`relax_chunks` where there are two classes and no frozen cells, which are compiled in."""
    if are_two(setup.sums) and len(counts) == 2:
        relax_chunks(setup, slopes, floors, begun, prefix, counts, at, to)


def join_chunks(setup: Setup, floors: Any, begun: Any, counts: Any) -> None:
    """R0 and R1 of all chunks together, into the first entries of `floors` and `begun`."""
    sums, _, p, _ = setup
    n, size, last = len(floors), CHUNK, len(sums) - 1
    while n > 1:
        for left in range(0, n, 2):
            right, node = left + 1, left // 2
            if right == n:  # alone: it goes up as it is
                floors[node] = floors[left]
                for g in range(begun.shape[1]):
                    begun[node, g] = begun[left, g]
                continue
            for g in range(begun.shape[1]):
                in_left = begun[left, g] + min(floors[right], begun[right, g])
                begun[node, g] = min(in_left, floors[left] + begun[right, g])
            floors[node] = span_floor(p, sums, left * size, min((left + 2) * size, last), counts)
        n, size = (n + 1) // 2, 2 * size
