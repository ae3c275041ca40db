"""An order of the values of a group along which a cut may pay: by what they differ in from the rest of their group.

With classes, a value's residual is, in each frozen cell and class, its rows less those it would have with the group's
share of that class there. With two classes and no other variable, the order is that of the class shares, which is
enough to find the best cut. In general values are ordered by their residual along one direction: that in which they
differ most (a few steps of power iteration from the value with the largest residual), which also sees values that
differ in opposite ways in different cells, as in an XOR.

Without classes values differ in which frozen cells their rows are in. A cell's place on the line is the mean place of
its rows in the group, and a value's that of its cells' places over its rows, in turn: the same power iteration, on the
residuals against the group's profile in units of their deviation (reciprocal averaging, the first axis of a
correspondence analysis).
"""

from __future__ import annotations

from typing import Any

N_STEPS = 2


def lean_of_group(
    atoms: Any, order: Any, lo: int, hi: int, lean: Any, share: Any, direction: Any, totals: Any, total_rows: Any
) -> None:
    """Write the lean of each of the values order[lo:hi], which make a group.

    `totals` and `total_rows` are room by frozen cell, zero between calls; `share` and `direction` may hold anything.
    """
    first, frozen, counts, rows, _ = atoms
    n_classes = counts.shape[1]
    for i in range(lo, hi):
        v = order[i]
        for e in range(first[v], first[v + 1]):
            for c in range(n_classes):
                totals[frozen[e], c] += counts[e, c]
            total_rows[frozen[e]] += rows[e]
    for i in range(lo, hi):
        v = order[i]
        for e in range(first[v], first[v + 1]):
            f = frozen[e]
            if total_rows[f] > 0:  # the first entry of this cell
                for c in range(n_classes):
                    share[f, c] = totals[f, c] / total_rows[f]
                    direction[f, c] = 0.0
                    totals[f, c] = 0
                total_rows[f] = 0
    largest, reference = -1.0, order[lo]
    for i in range(lo, hi):
        v = order[i]
        norm, n = 0.0, 0
        for e in range(first[v], first[v + 1]):
            n += rows[e]
            for c in range(n_classes):
                residual = counts[e, c] - rows[e] * share[frozen[e], c]
                norm += residual * residual
        if norm / n > largest:
            largest, reference = norm / n, v
        lean[v] = 0.0
    lean[reference] = 1.0
    for _ in range(N_STEPS):
        for i in range(lo, hi):
            v = order[i]
            if lean[v] != 0.0:
                for e in range(first[v], first[v + 1]):
                    for c in range(n_classes):
                        direction[frozen[e], c] += lean[v] * (counts[e, c] - rows[e] * share[frozen[e], c])
        largest = 0.0
        for i in range(lo, hi):
            v = order[i]
            along, n = 0.0, 0
            for e in range(first[v], first[v + 1]):
                n += rows[e]
                for c in range(n_classes):
                    along += direction[frozen[e], c] * (counts[e, c] - rows[e] * share[frozen[e], c])
            lean[v] = along / n
            largest = max(largest, abs(lean[v]))
        for i in range(lo, hi):
            v = order[i]
            if largest > 0.0:
                lean[v] /= largest
            for e in range(first[v], first[v + 1]):
                for c in range(n_classes):
                    direction[frozen[e], c] = 0.0


def lean_of_profiles(atoms: Any, order: Any, lo: int, hi: int, lean: Any, place: Any, total_rows: Any) -> None:
    """Write the lean of each of the values order[lo:hi], which make a group, where rows have no classes.

    `total_rows` is room by frozen cell, zero between calls; `place` may hold anything.
    """
    first, frozen, _, rows, _ = atoms
    n_all = 0
    for i in range(lo, hi):
        v = order[i]
        for e in range(first[v], first[v + 1]):
            total_rows[frozen[e]] += rows[e]
            n_all += rows[e]
    largest, reference = -1.0, order[lo]
    for i in range(lo, hi):
        v = order[i]
        square, n = 0.0, 0
        for e in range(first[v], first[v + 1]):
            n += rows[e]
            square += float(rows[e]) * rows[e] / total_rows[frozen[e]]
        if n_all * square / n - n > largest:  # chi-square of its profile against the group's
            largest, reference = n_all * square / n - n, v
        lean[v] = 0.0
    lean[reference] = 1.0
    for _ in range(N_STEPS):
        for i in range(lo, hi):
            v = order[i]
            for e in range(first[v], first[v + 1]):
                place[frozen[e], 0] = 0.0
        for i in range(lo, hi):
            v = order[i]
            for e in range(first[v], first[v + 1]):
                place[frozen[e], 0] += lean[v] * rows[e] / total_rows[frozen[e]]
        middle = 0.0
        for i in range(lo, hi):
            v = order[i]
            along, n = 0.0, 0
            for e in range(first[v], first[v + 1]):
                n += rows[e]
                along += place[frozen[e], 0] * rows[e]
            lean[v] = along / n
            middle += along
        largest = 0.0
        for i in range(lo, hi):
            lean[order[i]] -= middle / n_all
            largest = max(largest, abs(lean[order[i]]))
        for i in range(lo, hi):
            if largest > 0.0:
                lean[order[i]] /= largest
    for i in range(lo, hi):
        v = order[i]
        for e in range(first[v], first[v + 1]):
            total_rows[frozen[e]] = 0


def sort_by_lean(order: Any, lo: int, hi: int, lean: Any) -> None:
    """Sort a stretch of `order` by lean, equal ones by index (Shell's sort: in place, and little to compile)."""
    gap = 1
    while gap < (hi - lo) // 3:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(lo + gap, hi):
            v = order[i]
            at = i
            while at >= lo + gap and (
                lean[order[at - gap]] > lean[v] or (lean[order[at - gap]] == lean[v] and order[at - gap] > v)
            ):
                order[at] = order[at - gap]
                at -= gap
            order[at] = v
        gap //= 3
