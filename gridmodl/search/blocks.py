"""Blocks of starts for `gridmodl.search.branches`: the stack of those to look at, v of each, lines below small ones.

The block number k of height h holds the starts (k << h) * CHUNK to ((k + 1) << h) * CHUNK - 1.

Arrays are copied and their least found by loops: `a[:] = b` brought in the message for shapes that differ, and with
`np.min` 6 of the 14 s that a kernel with these took to compile (numba 0.68).
"""

from __future__ import annotations

from typing import Any

from gridmodl.search.spans import fill_span, span_floor
from gridmodl.terms import Cell, Walk, tangent

CHUNK = 16  # ends, and starts of the smallest block
SMALL_HEIGHT = 5  # up to here, lines below what rows add are worth their time
HOP = 6  # heights that a block's v is made from at once
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
