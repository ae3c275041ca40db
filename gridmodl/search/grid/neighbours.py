"""Draw random neighbours of a grid: random parts of some variables, combined with the parts that the grid has.

Size l of L: l/L log2 N new variables with l/L N^(1/Ks) parts each (M. Boullé, "Data grid models for preparation and
modeling in supervised learning", 2011, Algorithm 3, lines 3 to 5). Bounds are drawn at random rows, or (not in the
paper) half of the time near the quantiles of all new variables: on a 10-D XOR, two parts at random rows never led to
the pattern in 2,300 grids, two near the quantiles did in 15-24 %. A row of weight w is drawn like w rows, so weighted
and repeated rows have the same neighbours.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind, inlined
from gridmodl.search.grid.cells import GOLDEN, SHIFT_31, State, mixed
from gridmodl.search.grid.state import DrawBuffers, GridTask, Worker
from gridmodl.search.moves import GridLimits

MOST_PARTS = 64  # parts of a new variable at most; merges of more are slow and find no more
# Without classes, mean rows per cell that the number of parts aims at. With 4, 63 rounds of 100,000 rows x 5 took 31 s;
# with 1 they took 160 s, to the same cost.
ROWS_OF_CELL = 4
KEPT = 2  # mark of an atom at which an interval must begin; others have 1
JITTER = 0.1  # random shift of a bound from its quantile, as a share of the part
FEW = 2**24  # up to here, numbers are drawn from 32 random bits; their probabilities differ by at most 0.4 %


def neighbourhood(task: GridTask, share: float, most_cells: int, n_cells: float = 1.0) -> tuple[int, int]:
    """Number of new variables, and of parts of each, at this `share` of the largest neighbourhood.

    Without classes, a cell of one row tells nothing: the more cells the grid has already, the fewer the parts.
    """
    n = max(2, min(task.n_rows, most_cells))
    n_new = min(task.n_variables, max(1, round(share * math.log2(n))))
    if not task.has_classes:
        n = max(2, int(n / (ROWS_OF_CELL * n_cells)))
    n_parts = max(2, min(MOST_PARTS, math.isqrt(n), round(share * n ** (1.0 / n_new))))
    return n_new, n_parts


def draw_neighbour(
    worker: Worker, n_new: int, n_parts: int, near_quantiles: bool, seed: int, visits: NDArray[np.int64]
) -> None:
    """Combine the grid in the state with random parts of `n_new` of the variables `visits`; shuffle `visits`."""
    task = worker.task
    bind(draw)(
        task.rows,
        task.facts.categorical,
        worker.state,
        worker.draws,
        task.limits,
        task.holds,
        n_new,
        n_parts,
        near_quantiles,
        np.array([seed], dtype=np.uint64),
        visits,
    )


@inlined
def below(random: Any, n: Any) -> Any:
    """Draw a random whole number below n."""
    random[0] += GOLDEN
    drawn = mixed(random[0])
    drawn = drawn >> SHIFT_31 >> np.uint64(1) if n <= FEW else drawn >> np.uint64(1)
    return np.int64(drawn) % np.int64(n)


def draw(
    rows: Any,
    categorical: Any,
    state: State,
    buffers: DrawBuffers,
    limits: GridLimits,
    holds: Any,
    n_new: int,
    n_parts: int,
    near_quantiles: bool,
    random: Any,
    visits: Any,
) -> None:
    """Write the parts of the neighbour to the state, and shuffle `visits`; `random` is the state of the generator."""
    part, parts_of = state.part, state.n_parts
    atom_at, atom_rows, n_variables = rows.atom_at, rows.atom_rows, len(visits)
    marks, sizes, before = buffers.marks, buffers.sizes, buffers.before
    n: Any = np.int64(0)  # sum of the row weights
    for a in range(atom_at[1]):
        n += atom_rows[a]
    begins, least = holds.begins, holds.least
    max_parts, min_rows, most_groups = limits.max_parts, limits.min_rows, min(np.int64(math.sqrt(n)), len(sizes) - 1)
    for time in range(2):
        for i in range(n_variables - 1):
            j = i + below(random, n_variables - i)
            visits[i], visits[j] = visits[j], visits[i]
        for i in range(n_new if time == 0 else 0):
            k = visits[i]
            lo, hi = atom_at[k], atom_at[k + 1]
            if categorical[k]:
                end = hi  # the values after it are groups of their own
                while end > lo and begins[end - 1]:
                    end -= 1
                n_groups = parts_of[k] - (hi - end if parts_of[k] > 1 else 0)
                n_more = max(1, min(n_parts, (min(max_parts[k], most_groups) - (hi - end)) // max(1, n_groups)))
                draw_labels(part, atom_rows, lo, end, n_more, n_groups * n_more, marks, sizes, random)
                n_groups = take_labels(part, lo, end, n_groups * n_more, marks, sizes, min_rows[k])
                for a in range(end, hi):
                    part[a] = n_groups + a - end
                parts_of[k] = n_groups + hi - end
            else:
                before[0] = 0
                for a in range(lo, hi):
                    marks[a - lo] = 1 if a > lo and part[a] != part[a - 1] else 0
                    marks[a - lo] = KEPT if begins[a] else marks[a - lo]
                    before[a - lo + 1] = before[a - lo] + atom_rows[a]
                n_more = min(n_parts, max_parts[k])
                most = max_parts[k] - max(parts_of[k], least[k])
                mark_bounds(hi - lo, n, n_more, most, near_quantiles, marks, before, random)
                parts_of[k] = take_bounds(part, atom_rows, lo, hi, marks, min_rows[k])


@inlined
def draw_labels(
    part: Any, atom_rows: Any, lo: Any, hi: Any, n_more: Any, n_labels: Any, marks: Any, sizes: Any, random: Any
) -> None:
    """Label each atom with its group and a random number below `n_more`, and add up the rows of each label."""
    for m in range(n_labels):
        sizes[m] = 0
    for a in range(lo, hi):
        marks[a - lo] = part[a] * n_more + below(random, n_more)
        sizes[marks[a - lo]] += atom_rows[a]


@inlined
def take_labels(part: Any, lo: Any, hi: Any, n_labels: Any, marks: Any, sizes: Any, min_rows: int) -> int:
    """Make a group of each label, and one of all labels with too few rows; return the number of groups."""
    last, small, n_small = -1, -1, 0
    for m in range(n_labels):
        if sizes[m] >= min_rows:
            last = m
        elif sizes[m] > 0:
            small, n_small = m, n_small + sizes[m]
    home = small if n_small >= min_rows else max(last, 0)
    for a in range(lo, hi):
        if sizes[marks[a - lo]] < min_rows:
            marks[a - lo] = home
    for m in range(n_labels):
        sizes[m] = -1
    number = 0
    for a in range(lo, hi):
        if sizes[marks[a - lo]] < 0:
            sizes[marks[a - lo]] = number
            number += 1
        part[a] = sizes[marks[a - lo]]
    return number


@inlined
def mark_bounds(
    n_atoms: Any, n: Any, n_more: Any, most: Any, near_quantiles: bool, marks: Any, before: Any, random: Any
) -> None:
    """Mark at most `most` first atoms of intervals: those of `n_more` - 1 random rows, or of rows near quantiles."""
    n_bounds = 0
    for b in range(1, n_more):
        place: Any = below(random, n)
        if near_quantiles:
            middle = n * b / n_more + JITTER * n / n_more * (2.0 * place / n - 1.0)
            place = min(max(np.int64(middle), 0), n - 1)
        bound: Any = np.int64(0)  # the atom that holds this row
        end: Any = np.int64(n_atoms)
        while end - bound > 1:
            middle_atom = (bound + end) // 2
            if before[middle_atom] <= place:
                bound = middle_atom
            else:
                end = middle_atom
        if bound > 0 and marks[bound] == 0 and n_bounds < most:
            marks[bound] = 1
            n_bounds += 1


@inlined
def take_bounds(part: Any, atom_rows: Any, lo: Any, hi: Any, marks: Any, min_rows: int) -> int:
    """Make intervals that begin at the marks, unless too few rows lie before or after; return their number.

    The rows after a mark are those up to the next bound that is kept.
    """
    number = 0
    n_rows: Any = np.int64(0)
    n_after: Any = np.int64(0)
    for a in range(lo, hi):
        if a == lo or marks[a - lo] == KEPT:
            end: Any = a
            n_after = 0
            while end < hi and (end == a or marks[end - lo] != KEPT):
                n_after += atom_rows[end]
                end += 1
        if marks[a - lo] == KEPT or (marks[a - lo] == 1 and n_rows >= min_rows and n_after >= min_rows):
            number += 1
            n_rows = 0
        part[a] = number
        n_rows += atom_rows[a]
        n_after -= atom_rows[a]
    return number + 1
