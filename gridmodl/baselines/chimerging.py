"""ChiMerge, Kerber (1992): merge the neighbours whose classes differ least, as long as they do not differ enough."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gridmodl.baselines.running import Values, check_at_least
from gridmodl.clock import Clock
from gridmodl.search.queue import MAX_TIERS, build, climb, tree_size, winner
from gridmodl.template import bind

# No deviation is divided by less. An expected count of 0.1 would make a single row a strong sign.
LEAST_EXPECTED = 0.5


@dataclass(frozen=True)
class ChiMerge:
    name: ClassVar[str] = "chi-merge"
    significance: float = 0.95
    min_parts: int = 1
    max_parts: int | None = None

    def __post_init__(self) -> None:
        given = self.significance
        if not isinstance(given, numbers.Real) or not 0.0 < given < 1.0:
            raise ValueError(f"significance must be a number between 0 and 1, such as 0.95, got {given!r}")
        check_at_least("min_parts", self.min_parts, 1)
        if self.max_parts is not None:
            check_at_least("max_parts", self.max_parts, int(self.min_parts))

    def threshold(self, n_classes: int) -> float:
        """What differs by this or more stays apart; of a single class nothing does."""
        from scipy.special import gammaincinv  # quicker to import than scipy.stats, and the same quantile

        return float(2.0 * gammaincinv((n_classes - 1) / 2.0, self.significance)) if n_classes > 1 else math.inf

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        n, n_classes = values.counts.shape
        if n < 2:
            return np.empty(0, dtype=values.dtype)
        counts = values.counts.copy()
        index = np.arange(n, dtype=np.int32)
        left, right = index - 1, np.append(index[1:], np.int32(-1))
        tree, child = np.empty(tree_size(n)), np.empty(tree_size(n), dtype=np.int8)
        tiers, is_start = np.zeros(MAX_TIERS, dtype=np.int64), np.ones(n, dtype=np.bool_)
        min_parts = min(int(self.min_parts), n)
        max_parts = n if self.max_parts is None else min(int(self.max_parts), n)
        bind(merge_pairs)(
            counts, counts.sum(axis=1, dtype=np.int64), left, right, tree, child, tiers, is_start,
            self.threshold(n_classes), min_parts, max_parts,
        )  # fmt: skip
        return values.bounds(np.flatnonzero(is_start))


def merge_pairs(
    counts: Any, rows: Any, left: Any, right: Any, tree: Any, child: Any, tiers: Any, is_start: Any,
    threshold: float, min_parts: int, max_parts: int,
) -> None:  # fmt: skip
    """Merge the neighbours of the least statistic, the leftmost of equals, while it is below the threshold.

    Below or not while there are more than `max_parts`, and never to fewer than `min_parts`.
    """
    n_parts = len(rows)
    for i in range(n_parts - 1):
        tree[i] = statistic(counts, rows, i, i + 1)
    tree[n_parts - 1] = np.inf
    n_tiers = build(tree, child, tiers, n_parts)
    while n_parts > min_parts:
        i = winner(child, tiers, n_tiers)
        if n_parts <= max_parts and tree[i] >= threshold:
            break
        j: Any = np.int64(right[i])
        is_start[j] = False
        n_parts -= 1
        rows[i] += rows[j]
        for c in range(counts.shape[1]):
            counts[i, c] += counts[j, c]
        right[i] = right[j]
        tree[j] = np.inf
        climb(tree, child, tiers, n_tiers, j)
        tree[i] = np.inf
        if right[i] >= 0:
            left[right[i]] = i
            tree[i] = statistic(counts, rows, i, np.int64(right[i]))
        climb(tree, child, tiers, n_tiers, i)
        if left[i] >= 0:
            k: Any = np.int64(left[i])
            tree[k] = statistic(counts, rows, k, i)
            climb(tree, child, tiers, n_tiers, k)


def statistic(counts: Any, rows: Any, i: Any, j: Any) -> float:
    """Pearson's chi-square of two parts by the classes, to seven digits: equal ones are equal in any order of classes.

    Of a class the two deviations from what is expected are of one size.
    """
    n = float(rows[i] + rows[j])
    total = 0.0
    for c in range(counts.shape[1]):
        of_class = counts[i, c] + counts[j, c]
        if of_class > 0:
            expected, other = rows[i] * (of_class / n), rows[j] * (of_class / n)
            deviation = (counts[i, c] * float(rows[j]) - counts[j, c] * float(rows[i])) / n
            total += deviation * deviation * (1.0 / max(expected, LEAST_EXPECTED) + 1.0 / max(other, LEAST_EXPECTED))
    return float(np.float32(total))
