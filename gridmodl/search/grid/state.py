"""Task of a search of grids, the buffers of its kernels (`Worker`), and the cost of a grid from scratch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import Atoms, Target
from gridmodl.data.columns import Categories, count_rows
from gridmodl.data.numbers import Numbers
from gridmodl.jit.template import bind, inlined
from gridmodl.pricing import finished
from gridmodl.search.column.improve import make_sweep
from gridmodl.search.column.transfers import Transfers, transfers_record
from gridmodl.search.grid.cells import State, number_cells
from gridmodl.search.grid.rows import Facts, Grid, Holds, Rows, make_facts, make_rows, no_holds
from gridmodl.search.moves import (
    GridLimits,
    Limits,
    cell_price,
    make_buffers,
    make_limits,
    make_record,
    margin_price,
    part_price,
    partition_price,
)
from gridmodl.terms import PROBLEMS, Criterion, Problem, Shape, Variable

# Counts by frozen cell and class, 32 MB: no visit of a variable while the others have more cells than fit.
MAX_CELL_COUNTS = 2**22
# Counts by group, frozen cell and class, 64 MB: beyond, values are not transferred.
MAX_GROUP_COUNTS = 2**24
# Counts by row and class, 0.5 GB: the atoms of one variable, the others frozen.
MAX_ROW_COUNTS = 2**27
# Pairs of parts under merges, 1 GB.
MAX_PAIRS = 2**27
MORE_GROUPS = 2  # new groups that transfers may make in one visit


@dataclass(frozen=True)
class GridTask:
    """Variables to search a grid of."""

    rows: Rows
    facts: Facts
    p: Any
    criterion: type[Criterion]
    limits: GridLimits
    holds: Holds
    clock: Clock = field(default_factory=Clock)
    n_jobs: int = 1  # largest number of threads
    random_state: int | None = None

    @property
    def seed(self) -> NDArray[np.uint64]:
        """Seed of one search."""
        return seed_of(self.random_state)

    @property
    def n_variables(self) -> int:
        return self.rows.n_variables

    @property
    def has_classes(self) -> bool:
        return int(self.p.n_classes) > 0

    @property
    def has_target(self) -> bool:
        """Whether the last variable is a target that is partitioned too."""
        return bool(self.facts.is_target[-1])

    @property
    def has_margins(self) -> bool:
        """Whether cells of several inputs are priced beside a target; those of one input are its parts."""
        return self.has_target and self.n_variables > 2

    @property
    def n_counts(self) -> int:
        """Number of counts of a cell: one per class, or a single one without classes."""
        return max(1, int(self.p.n_classes))

    @property
    def n_rows(self) -> int:
        """Sum of the row weights."""
        return int(self.p.n_rows)


def seed_of(random_state: int | None) -> NDArray[np.uint64]:
    """64-bit seed of all random numbers of a search; different in each call if `random_state` is None."""
    return np.random.SeedSequence(random_state).generate_state(1, np.uint64).astype(np.uint64)


def make_task(
    columns: Sequence[Numbers | Categories],
    target: Target,
    criterion: Criterion,
    limits: Sequence[Limits],
    clock: Clock | None = None,
    kind: str = "grid",
) -> GridTask:
    """Make the task of searching a grid over encoded columns with `limits` of each, for a problem of this `kind`.

    Without classes, `target` holds the weights of the rows, all of one class. A partitioned target is the last column.
    Kernels read arrays of these without looking at lengths, which are checked here.
    """
    if len(limits) != len(columns) or not all(isinstance(one, Limits) for one in limits):
        raise ValueError(f"limits must be one Limits for each of the {len(columns)} columns, got {limits!r}")
    n_rows = [column.n_rows for column in columns]
    if any(n != len(target.codes) for n in n_rows):
        raise ValueError(f"columns must have the {len(target.codes)} rows of the target, got {n_rows}")
    if len(target.codes) * target.n_classes > MAX_ROW_COUNTS:
        raise ValueError(
            f"{len(target.codes)} rows by {target.n_classes} classes is a table of more than {MAX_ROW_COUNTS} counts; "
            "is the target an identifier? Otherwise group its classes"
        )
    class_rows = count_rows(target.codes, target.weights, target.n_classes)
    n_inputs = len(columns) - (1 if PROBLEMS[kind].target_is_partitioned else 0)
    problem = Problem(
        kind, int(class_rows.sum()), n_inputs, class_rows if PROBLEMS[kind].has_classes else class_rows[:0]
    )
    rows = make_rows(columns, target)
    kinds = ["categorical" if isinstance(column, Categories) else "numerical" for column in columns]
    p, facts = make_facts(criterion, problem, rows, kinds)
    clock = clock if clock is not None else Clock()
    return GridTask(rows, facts, p, type(criterion), make_limits(limits), no_holds(rows), clock)


class GroupBuffers(NamedTuple):
    """Buffers for the groups of a variable."""

    flat: Transfers  # of the largest possible size; counts, rows and prices by slot, frozen cell and class are flat
    lean: Any  # lean of each value, the order in which a group is cut
    share: Any  # share of each class in each frozen cell
    direction: Any  # direction of the power iteration, by frozen cell and class


class DrawBuffers(NamedTuple):
    """Buffers for the random parts of a variable."""

    marks: Any  # label of the group of each atom, or 1 if an interval begins at it
    sizes: Any  # rows of each label, then its number
    before: Any  # rows before each atom


class MergeBuffers(NamedTuple):
    """Buffers for merges."""

    # by informative variable
    variables: Any  # number of the variable
    part_at: Any  # index of its first part in the arrays by part; one more entry at the end
    pair_at: Any  # index of its first pair in `deltas`; one more entry at the end
    n_left: Any  # number of its parts that are left
    least: Any  # number of parts that it keeps, as `Holds` has it; 0 if it is required
    head: Any  # first of its parts that are left
    # by cell
    cell_part: Any  # part of the cell, by informative variable
    listed: Any  # cells to move
    moved: Any  # last step at which the cell moved
    # by pair of parts
    deltas: Any  # change of the price of the cells if the pair merges
    # by part of any variable
    left: Any  # left neighbour that is left, -1 if none
    right: Any  # right neighbour
    n_cells: Any
    n_rows: Any
    n_values: Any
    price: Any
    held: Any  # whether the part must not merge with its left neighbour; categorical: with any
    into: Any  # part that the part was merged into
    gone: Any  # step of that merge
    costs: Any  # cost after each step
    union: Any  # counts of one cell
    now: Any  # see `_merge_buffers`


class Worker:
    """State and all buffers of the kernels; one for each thread, used for one grid after another.

    The buffers for merges hold all grids of a useful size, or with `whole` even one part per atom.
    """

    def __init__(self, task: GridTask, whole: bool = False) -> None:
        self.task = task
        rows, n, n_classes = task.rows, task.rows.n_lines, task.n_counts
        n_atoms = int(np.diff(rows.atom_at).max())
        # Sizes of buffers depend on the sum of the weights, not on the number of rows: so weighted and repeated rows
        # have the same buffers, and the same search. Memory that no grid of these atoms needs is not taken.
        most_cells = max(64, MAX_CELL_COUNTS // n_classes)
        self.most_cells = max(1, min(task.n_rows, most_cells))
        n_cells = max(1, min(n, most_cells))
        size = 1 << (4 * n - 1).bit_length()
        small = np.int32 if task.n_rows < 2**31 else np.int64
        i32, i64 = np.int32, np.int64
        self.state = State(
            part=np.zeros(int(rows.atom_at[-1]), dtype=i32),
            n_parts=np.ones(task.n_variables, dtype=i64),
            prices=np.zeros(task.n_variables),
            cell_of_row=np.zeros(n, dtype=i32),
            cell_row=np.zeros(n, dtype=i32),
            cell_key=np.zeros(n, dtype=np.uint64),
            keys=np.zeros(size, dtype=np.uint64),
            marks=np.zeros(size, dtype=i64),
            frozen_of_cell=np.zeros(n, dtype=i32),
            now=make_record(
                n_cells=0,  # non-empty cells
                n_all_cells=1.0,  # all cells
                n_informative=0,
                generation=0,  # generation of the hash table
                n_visits=0,  # visits of variables by local moves
                n_quiet=0,  # visits since the last one that saved
                max_visits=0,
                shifts_only=False,  # whether visits keep the number of parts
                fixed=0.0,  # sum of `prices`
                cost=0.0,
            ),
        )
        self.atoms = Atoms(
            first=np.zeros(n_atoms + 1, dtype=i32),
            frozen=np.zeros(n, dtype=i32),
            counts=np.zeros((n, n_classes), dtype=small),
            rows=np.zeros(n, dtype=i64),
            values=np.ones(n_atoms, dtype=i32),
        )
        self.slot = np.zeros(n, dtype=i32)
        self.visited = np.zeros((3, n_atoms + 1), dtype=i32)
        self.orders = np.arange(n_atoms, dtype=i32), np.arange(n_atoms, dtype=i32)
        self.buffers = make_buffers(n_cells, n_classes)
        self.sweep = make_sweep(n_atoms)
        self.groups = self._group_buffers(n_cells, small)
        sizes = np.zeros(max(n_atoms, 64 * 64) + 1, dtype=i64)
        self.draws = DrawBuffers(np.zeros(n_atoms + 1, dtype=i64), sizes, np.zeros(n_atoms + 1, dtype=i64))
        self.part_totals = np.zeros((n_atoms, 2), dtype=i64)
        self.counts = np.zeros(n_classes, dtype=i64)
        self.by_cell = np.zeros((2, n + 2), dtype=i32)
        self.margin_rows = np.zeros(n if task.has_margins else 0, dtype=i64)
        self.merge = self._merge_buffers(n_cells, whole)

    def _group_buffers(self, n_cells: int, small: Any) -> GroupBuffers:
        """Make the buffers for groups, with at most `n_cells` frozen cells; `small` is the type of counts."""
        task = self.task
        is_group = task.facts.categorical
        n_values = int(np.diff(task.rows.atom_at)[is_group].max()) if is_group.any() else 1
        n_classes = task.n_counts
        needed = (n_values + MORE_GROUPS + 1) * n_cells
        n_counts = min(8 * task.n_rows + 64, MAX_GROUP_COUNTS // n_classes, needed) if is_group.any() else 1
        n_cells = n_cells if is_group.any() else 1
        flat = Transfers(
            group=np.zeros(n_values, dtype=np.int32),
            alone=np.zeros(n_values),
            floor=np.zeros(n_values),
            seen=np.zeros(n_values, dtype=np.int64),
            counts=np.zeros(n_counts * n_classes, dtype=small),
            rows=np.zeros(n_counts, dtype=np.int64),
            cell_prices=np.zeros(n_counts),
            n_atoms=np.zeros(n_values + 4, dtype=np.int64),
            n_rows=np.zeros(n_values + 4, dtype=np.int64),
            n_values=np.zeros(n_values + 4, dtype=np.int64),
            part_price=np.zeros(n_values + 4),
            changed=np.zeros(n_values + 4, dtype=np.int64),
            union=np.zeros(n_classes, dtype=np.int64),
            now=transfers_record(),
        )
        return GroupBuffers(
            flat=flat,
            lean=np.zeros(n_values),
            share=np.zeros((n_cells, n_classes)),
            direction=np.zeros((n_cells, n_classes)),
        )

    def _merge_buffers(self, n_cells: int, whole: bool) -> MergeBuffers:
        """Make the buffers for merges of grids of at most `n_cells` cells."""
        n, n_atoms = self.task.n_rows, np.diff(self.task.rows.atom_at)
        most, n_parts = self.task.n_variables, int(n_atoms.sum())
        n_pairs = int(np.where(self.task.facts.categorical, n_atoms * n_atoms, n_atoms).sum())
        if not whole:
            most, n_parts = min(most, 4 * n.bit_length() + 8), min(n_parts, 4 * n + 4096)
            n_pairs = min(n_pairs, 8 * n + 2**14, MAX_PAIRS)
        return MergeBuffers(
            variables=np.zeros(most, dtype=np.int64),
            part_at=np.zeros(most + 1, dtype=np.int64),
            pair_at=np.zeros(most + 1, dtype=np.int64),
            n_left=np.zeros(most, dtype=np.int64),
            least=np.zeros(most, dtype=np.int64),
            head=np.zeros(most, dtype=np.int64),
            cell_part=np.zeros((most, n_cells), dtype=np.int32),
            listed=np.zeros(n_cells, dtype=np.int32),
            moved=np.zeros(n_cells, dtype=np.int64),
            deltas=np.zeros(n_pairs),
            left=np.zeros(n_parts, dtype=np.int32),
            right=np.zeros(n_parts, dtype=np.int32),
            n_cells=np.zeros(n_parts, dtype=np.int64),
            n_rows=np.zeros(n_parts, dtype=np.int64),
            n_values=np.zeros(n_parts, dtype=np.int64),
            price=np.zeros(n_parts),
            held=np.zeros(n_parts, dtype=np.bool_),
            into=np.zeros(n_parts, dtype=np.int32),
            gone=np.zeros(n_parts, dtype=np.int64),
            costs=np.zeros(n_parts),
            union=np.zeros(self.task.n_counts, dtype=np.int64),
            now=make_record(
                n_variables=0,  # informative variables at the start
                step=0,  # merges made
                best_step=0,
                n_used=0,  # used slots of the hash table
                is_built=False,  # whether all cells and pairs are priced
                is_greedy=False,  # whether to stop when no merge pays
                total=0.0,  # price of all variables, parts and cells
                best_cost=0.0,
            ),
        )

    def load(self, grid: Grid) -> float:
        """Write a grid to the state; return its cost."""
        state, at = self.state, self.task.rows.atom_at
        if state.now[0].generation > 2**30:  # long before the generation overflows its bits
            state.marks[:] = 0
            state.now[0].generation = 0
        for k in np.flatnonzero(state.n_parts > 1):
            state.part[at[k] : at[k + 1]] = 0
        state.n_parts[:] = 1
        for index, parts, n_parts in zip(grid.variables, grid.parts, grid.shape, strict=True):
            state.part[at[index] : at[index + 1]] = parts
            state.n_parts[index] = n_parts
        return self.price()

    def price(self) -> float:
        """Cost of the grid in the state, computed from scratch."""
        task = self.task
        kernel = bind(price_state, task.criterion)
        buffers = self.part_totals, self.counts, self.by_cell, self.margin_rows
        return float(kernel(task.rows, task.facts, task.p, self.state, *buffers))

    def grid(self) -> Grid:
        """Grid in the state, with its cost computed from scratch; its parts must be numbered as `Grid` says."""
        cost = self.price()
        variables = np.flatnonzero(self.state.n_parts > 1).tolist()
        at, part = self.task.rows.atom_at, self.state.part
        return Grid(tuple(variables), tuple(part[at[k] : at[k + 1]].copy() for k in variables), cost)


def price_grid(task: GridTask, grid: Grid) -> float:
    """Cost of a grid, computed from scratch; every result of a search is priced this way."""
    return Worker(task).load(grid)


# Cost of a grid from scratch.


@inlined
def added(total: float, rest: float, more: float) -> tuple[float, float]:
    """Add a term to a sum; return the new sum and the rounding error so far (compensated summation of A. Neumaier).

    So a price does not depend on the order of its terms, even if large terms cancel.
    """
    new = total + more
    lost = (total - new) + more if abs(total) >= abs(more) else (more - new) + total
    return new, rest + lost


def variable_price(
    p: Any,
    facts: Variable,
    n_target_parts: int,
    n_parts: int,
    part: Any,
    at: int,
    n_atoms: int,
    atom_rows: Any,
    atom_values: Any,
    part_totals: Any,
) -> float:
    """Variable term plus part terms of the variable whose atoms begin at `at`."""
    price, rest = partition_price(p, facts, n_parts), 0.0
    for i in range(n_parts):
        part_totals[i, 0] = part_totals[i, 1] = 0
    if n_parts == 1:
        part_totals[0, 0], part_totals[0, 1] = p.n_rows, facts.n_values
    for a in range(at, at + n_atoms if n_parts > 1 else at):
        part_totals[part[a], 0] += atom_rows[a]
        part_totals[part[a], 1] += atom_values[a]
    for i in range(n_parts):
        price, rest = added(price, rest, part_price(p, facts, n_target_parts, part_totals[i, 0], part_totals[i, 1]))
    return price + rest


def margins_price(rows: Any, p: Any, state: State, n_rows: Any) -> float:
    """Price of the cells of the inputs, where the target, the last variable, is partitioned beside several inputs.

    `n_rows` is a buffer for the rows of each cell; it is empty for other problems.
    """
    n_parts, cell_of_row, weights = state.n_parts, state.cell_of_row, rows.weights
    target = len(n_parts) - 1
    n_target_parts = n_parts[target]
    if len(n_rows) == 0:
        return 0.0
    n_parts[target] = 1
    number_cells(rows, state)
    n_parts[target] = n_target_parts
    for c in range(state.now[0].n_cells):
        n_rows[c] = 0
    for r in range(len(cell_of_row)):
        n_rows[cell_of_row[r]] += weights[r] if len(weights) > 0 else 1
    total, rest = 0.0, 0.0
    for c in range(state.now[0].n_cells):
        total, rest = added(total, rest, margin_price(p, n_rows[c], n_target_parts))
    return total + rest


def price_state(
    rows: Any, facts: Any, p: Any, state: State, part_totals: Any, counts: Any, by_cell: Any, margin_rows: Any
) -> float:
    """Number the cells of the grid in the state, and price the grid from scratch."""
    margins = margins_price(rows, p, state, margin_rows)
    number_cells(rows, state)
    part, n_parts, prices, cell_of_row = state.part, state.n_parts, state.prices, state.cell_of_row
    now = state.now[0]
    categorical, is_target, n_values, constant = facts.categorical, facts.is_target, facts.n_values, facts.constant
    by_parts, by_parts_at = facts.by_parts, facts.by_parts_at
    atom_at, atom_rows, atom_values = rows.atom_at, rows.atom_rows, rows.atom_values
    codes, weights = rows.codes, rows.weights
    n_inputs, n_informative, n_target_parts = len(n_parts), now.n_informative, 0
    for k in range(len(n_parts)):
        if is_target[k]:
            n_inputs, n_target_parts = n_inputs - 1, n_parts[k]
            n_informative -= 1 if n_parts[k] > 1 else 0
    total, rest = 0.0, 0.0
    for k in range(len(n_parts)):
        table = by_parts[by_parts_at[k] : by_parts_at[k + 1]]
        known = Variable(categorical[k], is_target[k], n_values[k], constant[k], table)
        n_atoms = atom_at[k + 1] - atom_at[k]
        coupled = 0 if is_target[k] or n_inputs > 1 else n_target_parts  # margins of one input are its parts
        prices[k] = variable_price(
            p, known, coupled, n_parts[k], part, atom_at[k], n_atoms, atom_rows, atom_values, part_totals
        )
        total, rest = added(total, rest, prices[k])
    now.fixed = total + rest
    total, rest = added(total, rest, margins)
    # Sort the rows by cell: a table of counts by cell could be as large as rows times classes.
    n_cells = now.n_cells
    first, order = by_cell[0], by_cell[1]
    for c in range(n_cells + 1):
        first[c] = 0
    for r in range(len(cell_of_row)):
        first[cell_of_row[r] + 1] += 1
    for c in range(n_cells):
        first[c + 1] += first[c]
    for r in range(len(cell_of_row) - 1, -1, -1):
        first[cell_of_row[r] + 1] -= 1
        order[first[cell_of_row[r] + 1]] = r
    # first[c + 1] is now the first place of cell c.
    for c in range(n_cells):
        end = first[c + 2] if c + 1 < n_cells else len(cell_of_row)
        for j in range(len(counts)):
            counts[j] = 0
        n: Any = np.int64(0)
        for i in range(first[c + 1], end):
            r = order[i]
            counts[codes[r]] += weights[r] if len(weights) > 0 else 1
            n += weights[r] if len(weights) > 0 else 1
        total, rest = added(total, rest, cell_price(p, counts, n))
    shape = Shape(n_inputs, n_informative, now.n_all_cells)
    now.cost = finished(p, total, rest, shape)
    return now.cost
