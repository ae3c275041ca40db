"""Cut values into intervals: equal parts, splits by entropy, merges by chi-square."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.bounds import bounds_between
from gridmodl.data.line import add_up
from gridmodl.data.quantiles import equal_frequency_bounds, equal_width_cuts
from gridmodl.fit.options import check_integer
from gridmodl.jit.template import bind, inlined
from gridmodl.search.column.merge import MAX_TIERS, build, climb, tree_size, winner
from gridmodl.search.moves import make_record

MAX_PARTS = 1_000_000  # each has a bound in memory, even without rows
# Cuts whose entropies differ by less, in bits per row, are ties, so that the order of classes does not matter.
SAME = 1e-10
# Smallest divisor of a squared deviation: with an expected count of 0.1, a single row would look significant.
LEAST_EXPECTED = 0.5


class Values(NamedTuple):
    """The distinct values of a column, ascending, without missing ones and special codes."""

    numbers: NDArray[Any]  # in the engine's type
    counts: NDArray[Any]  # rows of each value by class
    dtype: np.dtype[Any]  # type of the bounds

    def bounds(self, starts: NDArray[np.int64]) -> NDArray[Any]:
        """Bounds of the intervals that begin at values number `starts`, midway to the value before."""
        return bounds_between(self.numbers[starts[1:] - 1], self.numbers[starts[1:]], self.dtype)


class CutMethod(Protocol):
    """A method with its checked options."""

    @property
    def name(self) -> str: ...

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        """The inner bounds of the intervals; `values` has at least one value."""
        ...


def check_at_least(name: str, number: Any, least: int) -> None:
    """Check that an option is a whole number of at least `least`."""
    check_integer(name, number)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")


@dataclass(frozen=True)
class EqualPartsBase:
    """Option of methods with a fixed number of parts."""

    n_parts: int = 10

    def __post_init__(self) -> None:
        check_at_least("n_parts", self.n_parts, 1)
        if self.n_parts > MAX_PARTS:
            raise ValueError(f"n_parts must be at most {MAX_PARTS}, got {self.n_parts}")


class EqualWidth(EqualPartsBase):
    """Intervals of equal width."""

    name: ClassVar[str] = "equal width"

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        numbers = values.numbers
        if numbers.dtype.kind == "f":
            numbers = numbers[np.isfinite(numbers)]
        if len(numbers) < 2:  # no width to divide
            return np.empty(0, dtype=values.dtype)
        return equal_width_cuts(numbers[0], numbers[-1], int(self.n_parts), values.dtype).bounds


class EqualFrequency(EqualPartsBase):
    """Intervals with about the same number of rows."""

    name: ClassVar[str] = "equal frequency"

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        rows = values.counts.sum(axis=1, dtype=np.int64)
        return equal_frequency_bounds(values.numbers, rows, int(self.n_parts), values.dtype)


@dataclass(frozen=True)
class FayyadIrani:
    """Fayyad and Irani (1993): split where the class entropy is lowest, while the description gets shorter."""

    name: ClassVar[str] = "fayyad-irani"

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        runs = run_starts(values.counts)
        n_runs, n_classes = len(runs), values.counts.shape[1]
        counts = np.zeros((n_runs, n_classes), dtype=values.counts.dtype)
        bind(add_up)(values.counts, runs, counts)  # np.add.reduceat is slow where runs are short and classes many
        waiting = np.empty((n_runs, 2), dtype=np.int64)  # parts to search: first run, one past the last
        waiting[0] = 0, n_runs
        cuts = np.empty(n_runs, dtype=np.int64)
        record = make_record(n_waiting=1, n_cuts=0)
        sides, terms = np.empty((3, n_classes), dtype=np.int64), np.empty((2, n_classes))
        split = bind(split_parts)
        clock.repeat(
            lambda n_steps: bool(split(counts, waiting, cuts, record, sides, terms, n_steps)),
            lambda: float(1.0 - np.diff(waiting[: record[0].n_waiting]).sum() / n_runs),
        )
        starts = np.append(0, np.sort(cuts[: record[0].n_cuts]))
        return values.bounds(runs[starts])


def run_starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    """First value of each run: a run joins neighbouring values whose rows are all of one and the same class.

    Theorem 1 of the paper: the cut with the lowest entropy is never inside a run.
    """
    is_pure = np.count_nonzero(counts, axis=1) == 1
    the_class = np.argmax(counts, axis=1)
    within = is_pure[1:] & is_pure[:-1] & (the_class[1:] == the_class[:-1])
    return np.flatnonzero(np.append(True, ~within))


def split_parts(counts: Any, waiting: Any, cuts: Any, record: Any, sides: Any, terms: Any, n_steps: int) -> bool:
    """Search the waiting parts until about `n_steps` runs were searched; True if no part is left.

    The two halves of a part that is split are put on a stack, instead of a recursion.
    """
    now = record[0]
    whole, left, right = sides[0], sides[1], sides[2]
    left_terms, right_terms = terms[0], terms[1]
    n_classes = counts.shape[1]
    while now.n_waiting > 0:
        if n_steps <= 0:
            return False
        now.n_waiting -= 1
        start, end = waiting[now.n_waiting, 0], waiting[now.n_waiting, 1]
        n_steps -= end - start
        for c in range(n_classes):
            whole[c] = 0
        for run in range(start, end):
            for c in range(n_classes):
                whole[c] += counts[run, c]
        n_rows, before = 0, 0.0
        for c in range(n_classes):
            n_rows += whole[c]
            left[c], right[c] = 0, whole[c]
            left_terms[c], right_terms[c] = 0.0, n_log_n(whole[c])
            before += right_terms[c]
        before = n_log_n(n_rows) - before
        # Entropies times rows, in bits. A class without rows in a run keeps its terms, which saves logarithms.
        best, least, n_left = -1, before, 0
        for run in range(start, end - 1):
            after = 0.0
            for c in range(n_classes):
                n = counts[run, c]
                if n > 0:
                    n_left += n
                    left[c] += n
                    right[c] -= n
                    left_terms[c], right_terms[c] = n_log_n(left[c]), n_log_n(right[c])
                after -= left_terms[c] + right_terms[c]
            after += n_log_n(n_left) + n_log_n(n_rows - n_left)
            if after < least - SAME * n_rows:
                best, least = run + 1, after
        if best >= 0 and is_shorter(counts, whole, left, start, best, before, least):
            cuts[now.n_cuts] = best
            now.n_cuts += 1
            waiting[now.n_waiting, 0], waiting[now.n_waiting, 1] = best, end
            waiting[now.n_waiting + 1, 0], waiting[now.n_waiting + 1, 1] = start, best
            now.n_waiting += 2
    return True


def is_shorter(counts: Any, whole: Any, left: Any, start: int, cut: int, before: float, after: float) -> bool:
    """Whether two parts, each with its own code for the classes, are described in fewer bits than one part.

    The criterion of the paper, times the rows: entropies must save more than log2(N - 1) for the place of the cut plus
    log2(3^k - 2) - (k Ent - k1 Ent1 - k2 Ent2) for the codes, where k, k1 and k2 classes occur.
    """
    for c in range(len(whole)):
        left[c] = 0
    for run in range(start, cut):
        for c in range(len(whole)):
            left[c] += counts[run, c]
    n_rows, n_left, left_bits, right_bits = 0, 0, 0.0, 0.0
    k, k_left, k_right = 0, 0, 0
    for c in range(len(whole)):
        n_rows += whole[c]
        n_left += left[c]
        left_bits -= n_log_n(left[c])
        right_bits -= n_log_n(whole[c] - left[c])
        k += whole[c] > 0
        k_left += left[c] > 0
        k_right += whole[c] > left[c]
    n_right = n_rows - n_left
    left_entropy = (left_bits + n_log_n(n_left)) / n_left
    right_entropy = (right_bits + n_log_n(n_right)) / n_right
    log_codes = k * math.log2(3.0) + math.log1p(-2.0 * 3.0**-k) / math.log(2.0)  # 3^k itself may be infinite
    codes = log_codes - (k * before / n_rows - k_left * left_entropy - k_right * right_entropy)
    return before - after > math.log2(n_rows - 1.0) + codes


@inlined
def n_log_n(n: Any) -> float:
    return n * math.log2(n) if n > 0 else 0.0


@dataclass(frozen=True)
class ChiMerge:
    """Kerber (1992): merge the neighbours whose classes differ least, until all differences are significant."""

    name: ClassVar[str] = "chi-merge"
    significance: float = 0.95
    min_parts: int = 1
    max_parts: int | None = None

    def __post_init__(self) -> None:
        share = self.significance
        if not isinstance(share, numbers.Real) or not 0.0 < share < 1.0:
            raise ValueError(f"significance must be a number between 0 and 1, such as 0.95, got {share!r}")
        check_at_least("min_parts", self.min_parts, 1)
        if self.max_parts is not None:
            check_at_least("max_parts", self.max_parts, int(self.min_parts))

    def threshold(self, n_classes: int) -> float:
        """The statistic from which on neighbours are not merged; infinite for a single class."""
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
    """Merge the neighbours with the lowest statistic (ties: leftmost) while it is below `threshold`.

    Above `max_parts` parts, merge whatever the statistic; never merge to fewer than `min_parts`.
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
    """Pearson's chi-square of two parts by classes, to seven digits: ties do not depend on the order of classes.

    The deviations of a class from its expected counts in the two parts have the same size.
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
