"""Shares of a class compared exactly, in whole numbers: pooled where they fall, and sorted.

`rows` and `positives` are rows before each bound, all and those of the class; share(s, t) is that between two bounds.
"""

from __future__ import annotations

from typing import Any


def at_most(n1_a: Any, n_a: Any, n1_b: Any, n_b: Any) -> bool:
    """Whether n1_a / n_a <= n1_b / n_b, exactly for all numbers up to 2^53.

    Rounding keeps order, so products that differ as floats are in order. Those that round to the same float, below
    2^106, are at most 2^53 apart: their difference is right in 64 bits, though each of them wraps around.
    """
    a, b = float(n1_a) * float(n_b), float(n1_b) * float(n_a)
    if a != b:
        return a < b
    return int(n1_a) * int(n_b) - int(n1_b) * int(n_a) <= 0


def pool(rows: Any, positives: Any, starts: Any) -> int:
    """Pool adjacent violators: write the first atom of each block to `starts`; return how many blocks there are.

    Neighbours of equal shares stay apart: more bounds to choose from.
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
    """For `at` <= s < `to` sort the r < s by share(r, s), and for all t > s count those of at most share(s, t)."""
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
