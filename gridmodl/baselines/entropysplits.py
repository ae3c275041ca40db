"""Fayyad and Irani (1993): split at the least class entropy, again and again, as long as a description gets shorter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gridmodl.baselines.running import Values
from gridmodl.clock import Clock
from gridmodl.line import add_up
from gridmodl.template import bind, inlined

# Cuts whose entropies differ by less than this, in bits per row, are equal: the order of classes must not matter.
SAME = 1e-10
# The fields of the state.
N_WAITING, N_CUTS = range(2)


@dataclass(frozen=True)
class FayyadIrani:
    name: ClassVar[str] = "fayyad-irani"

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        runs = run_starts(values.counts)
        n_runs, n_classes = len(runs), values.counts.shape[1]
        counts = np.zeros((n_runs, n_classes), dtype=values.counts.dtype)
        bind(add_up)(values.counts, runs, counts)  # np.add.reduceat is slow where runs are short and classes many
        waiting = np.empty((n_runs, 2), dtype=np.int64)  # parts to look at: first run, one past the last
        waiting[0] = 0, n_runs
        cuts = np.empty(n_runs, dtype=np.int64)
        now = np.array([1, 0])
        sides, terms = np.empty((3, n_classes), dtype=np.int64), np.empty((2, n_classes))
        split = bind(split_parts)
        clock.repeat(
            lambda n_steps: bool(split(counts, waiting, cuts, now, sides, terms, n_steps)),
            lambda: float(1.0 - np.diff(waiting[: now[N_WAITING]]).sum() / n_runs),
        )
        starts = np.append(0, np.sort(cuts[: now[N_CUTS]]))
        return values.bounds(runs[starts])


def run_starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    """The values at which a cut may pay: not between two that hold rows of one and the same class only.

    Theorem 1 of the paper: the cut of least entropy is never there.
    """
    is_pure = np.count_nonzero(counts, axis=1) == 1
    the_class = np.argmax(counts, axis=1)
    within = is_pure[1:] & is_pure[:-1] & (the_class[1:] == the_class[:-1])
    return np.flatnonzero(np.append(True, ~within))


def split_parts(counts: Any, waiting: Any, cuts: Any, now: Any, sides: Any, terms: Any, n_steps: int) -> bool:
    """Look at waiting parts until about `n_steps` runs were looked at; True when none waits.

    A part that is split leaves its two halves to look at: they wait on a stack, in place of a recursion.
    """
    whole, left, right = sides[0], sides[1], sides[2]
    left_terms, right_terms = terms[0], terms[1]
    n_classes = counts.shape[1]
    while now[N_WAITING] > 0:
        if n_steps <= 0:
            return False
        now[N_WAITING] -= 1
        start, end = waiting[now[N_WAITING], 0], waiting[now[N_WAITING], 1]
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
        # Entropies times rows, in bits. A class that a run does not hold keeps its terms: few logarithms are taken.
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
            cuts[now[N_CUTS]] = best
            now[N_CUTS] += 1
            waiting[now[N_WAITING], 0], waiting[now[N_WAITING], 1] = best, end
            waiting[now[N_WAITING] + 1, 0], waiting[now[N_WAITING] + 1, 1] = start, best
            now[N_WAITING] += 2
    return True


def is_shorter(counts: Any, whole: Any, left: Any, start: int, cut: int, before: float, after: float) -> bool:
    """Whether two parts with a code of their own for the classes are described in fewer bits than one.

    The criterion of the paper, times the rows: what entropies save is more than log2(N - 1) for the place of the cut
    and log2(3^k - 2) - (k Ent - k1 Ent1 - k2 Ent2) for the codes, of k, k1 and k2 classes that occur.
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
