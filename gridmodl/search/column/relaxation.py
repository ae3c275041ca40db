"""What no sum of prices can be below at several slopes at once, found sooner than by a run.

A part costs at least its atoms in the chunk where it begins, and the floor of those in each other node of a binary tree
of chunks that it reaches. For a node D let R0 be the floor of its atoms, which is what they add at least if no part
begins in D, and R1 what they and the slopes of parts that begin in D add at least if one does:

    R1(D)  =  min( R1(left) + min(R0, R1)(right),  R0(left) + R1(right) )

That a part begins at bound 0 is no news, and does not count. So for every partition into 2 parts or more

    sum of prices + g (I - 1)  >=  R1(all)
"""

from __future__ import annotations

import math
from typing import Any

from gridmodl.search.column.branch_and_bound import CHUNK, Setup
from gridmodl.search.column.spans import span_floor, span_price


def relax_chunks(
    setup: Setup, slopes: Any, floors: Any, begun: Any, prefix: Any, counts: Any, at: int, to: int
) -> None:
    """R0 and, by slope, R1 of the chunks `at` to `to`, into `floors` and `begun`; `prefix` is a buffer of one chunk."""
    sums, _, p, _, _ = setup
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


def join_chunks(setup: Setup, floors: Any, begun: Any, counts: Any) -> None:
    """R0 and R1 of all chunks together, into the first entries of `floors` and `begun`."""
    sums, _, p, _, _ = setup
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
