"""Check the bounds `floor`, `excess` and `tangent` of a criterion: against `cell`, and in a search."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.numbers import Numbers
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.column.intervals import intervals_task
from gridmodl.fit.options import Options
from gridmodl.jit.term_errors import failure
from gridmodl.pricing import check_term
from gridmodl.search.column.branch_and_bound import CHUNK, ROUNDING
from gridmodl.search.column.exact import Branches, Hulls, has_hulls
from gridmodl.search.task import Task
from gridmodl.terms import PROBLEMS, Cell, Criterion, Problem, Walk, excess, floor, params_record, tangent
from gridmodl.testing.bruteforce import RELATIVE, ColumnSample, draw_class_number, plain_optimum, require, without_empty

# Largest relative error of a sum of logarithms; searches allow a tenth of it.
ALLOWED = 10 * ROUNDING
PLACES = 8  # starts and ends tried on each line of atoms
SIZES = (1, 3, 100, 100_000)  # rows of an atom, at most


class PricedLine(NamedTuple):
    """Atoms in a row, and the criterion that prices spans of them."""

    criterion: Criterion
    p: Any
    sums: NDArray[np.int64]  # rows before each bound, by class
    shown: str  # the criterion and its data, for messages

    def span(self, lo: int, hi: int) -> Cell:
        return _cell(self.sums[hi] - self.sums[lo])

    def price(self, counts: NDArray[np.int64]) -> float:
        cell = _cell(counts)
        return float(self.criterion.cell(self.p, cell)) if cell.rows else 0.0

    def walk(self, origin: int, last: int) -> tuple[Walk, NDArray[np.int64]]:
        """Rows of the atoms from `origin` to `last`, and their running sums: before the first atom, after each."""
        steps = self.sums[origin : last + 1] - self.sums[origin]
        counts, rows = steps[-1].copy(), int(steps[-1].sum())
        lags = steps - steps.sum(axis=1, keepdims=True) * (counts / max(rows, 1))
        return Walk(counts, rows, np.minimum(lags, 0.0).min(axis=0)), steps

    def holds(self, least: float, found: float) -> bool:
        """Whether `least` is at most `found`, up to rounding."""
        n_rows = float(self.p.n_rows)
        return least <= found + ALLOWED * (1.0 + n_rows * math.log(n_rows + 1.0) + abs(found))


def check_floors(criterion: Criterion, kind: str, n_samples: int) -> None:
    """Compare the bounds of the criterion with differences of the prices of its cells."""
    rng = np.random.default_rng(20123)
    for _ in range(n_samples):
        line = _line(criterion, kind, random_atoms(rng, criterion))
        for _ in range(PLACES):
            begin, end, origin, last = sorted(rng.integers(0, len(line.sums), 4).tolist())
            last = min(last, origin + CHUNK)
            if criterion.floor is not floor:
                _check_floor(line, line.span(begin, end), line.span(end, origin))
            if criterion.excess is not excess:
                for one, other in ((begin, end), (end, begin)):
                    _check_excess(line, line.span(one, origin), line.span(other, origin), *line.walk(origin, last))
            if criterion.tangent is not tangent:
                more = line.span(begin, end)
                added = _some_below(rng, more.counts)
                _check_tangent(line, line.span(end, origin), more, *line.walk(origin, last), added)


def random_atoms(rng: np.random.Generator, criterion: Criterion) -> NDArray[np.int64]:
    """Draw rows by atom and class: few and many, pure and mixed; some atoms are empty, no class is."""
    n_atoms, n_classes = int(rng.integers(1, 60)), draw_class_number(rng, criterion, 1, 5)
    shares = rng.dirichlet(np.full(n_classes, rng.choice([0.2, 1.0, 5.0])), 4)
    shares = shares[np.sort(rng.integers(0, 4, n_atoms))]
    rows = np.ceil(float(rng.choice(SIZES)) ** rng.random(n_atoms)).astype(np.int64)
    rows[rng.random(n_atoms) < 0.2] = 0
    counts = np.asarray(rng.multinomial(rows, shares))
    is_pure = rng.random(n_atoms) < rng.choice([0.0, 0.3, 1.0])
    pure = np.zeros_like(counts)
    pure[np.arange(n_atoms), counts.argmax(axis=1)] = rows
    counts[is_pure] = pure[is_pure]
    counts[rng.integers(0, n_atoms), counts.sum(axis=0) == 0] = 1
    return counts


def check_pruning(criterion: Criterion, n_samples: int) -> None:
    """Check that the exact search, which prunes by these bounds, finds the optimum of all partitions."""
    rng = np.random.default_rng(20124)
    for _ in range(n_samples):
        sample = _longer_sample(rng, criterion)
        lowest = plain_optimum(criterion, sample)
        task = _task(criterion, sample)
        # Called directly, as `optimize` would try all pairs of so few values.
        for program in (Branches, Hulls) if has_hulls(task) else (Branches,):
            cost = program(task, task.null(), math.inf).solve().cost
            offers = "floor, excess and tangent" if program is Branches else "concave_cell and gradient"
            require(
                math.isclose(cost, lowest, rel_tol=RELATIVE, abs_tol=RELATIVE),
                f"criterion {criterion.name!r}, rows by value and class {sample.counts.tolist()}: with its {offers} "
                f"the exact search found {cost!r}, the optimum is {lowest!r}; one of them is wrong, or not the same "
                "when compiled",
            )


def _longer_sample(rng: np.random.Generator, criterion: Criterion) -> ColumnSample:
    """Draw 60 to 149 values of few rows, whose shares change slowly, at once, or not at all."""
    n_values, n_classes = int(rng.integers(60, 150)), draw_class_number(rng, criterion, 2, 3)
    wave = np.sin(np.arange(n_values) / rng.uniform(3.0, 30.0))
    wave = np.sign(wave) if rng.random() < 0.5 else wave
    share = 0.5 + rng.choice([0.0, 0.25, 0.45]) * wave
    shares = np.column_stack([share, *[(1.0 - share) / (n_classes - 1)] * (n_classes - 1)])
    counts = rng.multinomial(rng.integers(1, 4, n_values), shares)
    return ColumnSample("classes", without_empty(rng, criterion, counts), np.zeros(n_values, dtype=np.int64))


def _task(criterion: Criterion, sample: ColumnSample) -> Task:
    arguments, options = sample.arguments(), Options(criterion)
    table = read_table(arguments["data"], arguments["target"], None, "classes", NOT_GIVEN)
    column = cast(Numbers, table.column(table.names[0], "numerical"))
    return intervals_task(
        column, table, criterion, options, options.of(column.name).limits(table.problem.n_rows), Clock()
    ).task


def _line(criterion: Criterion, kind: str, atoms: NDArray[np.int64]) -> PricedLine:
    sums = np.concatenate([np.zeros((1, atoms.shape[1]), dtype=np.int64), np.cumsum(atoms, axis=0)])
    class_rows = sums[-1]
    p = params_record(
        criterion, Problem(kind, int(class_rows.sum()), 1 if PROBLEMS[kind].has_one_input else 2, class_rows)
    )
    shown = f"criterion {criterion.name!r}, problem {kind!r}, rows of all data by class {class_rows.tolist()}: "
    return PricedLine(criterion, p, sums, shown)


def _cell(counts: NDArray[np.int64]) -> Cell:
    return Cell(counts, int(counts.sum()), 0)


def _some_below(rng: np.random.Generator, most: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Counts from 0 to `most`: all, those of each class alone, those of all others, and some at random."""
    one = np.diag(most)
    return [most, *one, *(most - one), *rng.integers(0, most + 1, (4, len(most)))]


def _check_floor(line: PricedLine, joining: Cell, joined: Cell) -> None:
    if not joining.rows:
        return
    check_term(line.criterion, "floor", line.p, joining)
    least = line.criterion.floor(line.p, joining)
    added = line.price(joined.counts + joining.counts) - line.price(joined.counts)
    require(
        line.holds(least, added),
        f"{line.shown}by `floor` rows {_shown(joining)} add at least {float(least)!r} to a cell that they join, but "
        f"they add {added!r} to rows {_shown(joined)}; return no more than they add to any cell (0 if they never lower "
        "a price), or leave `floor` out",
    )


def _check_excess(line: PricedLine, one: Cell, other: Cell, walk: Walk, steps: NDArray[np.int64]) -> None:
    if not one.rows + other.rows:
        return
    least = _floor(line, "excess", one, other, walk)
    for step in steps:
        found = line.price(one.counts + step) - line.price(other.counts + step)
        require(
            line.holds(least, found),
            f"{line.shown}by `excess` rows {_shown(one)} cost at least {least!r} more than rows {_shown(other)} after "
            f"each step of a walk to {walk.counts.tolist()} (low {walk.low.tolist()}), but after {step.tolist()} they "
            f"cost {found!r} more; return no more than the least of all steps, or leave `excess` out",
        )


def _check_tangent(
    line: PricedLine, cell: Cell, more: Cell, walk: Walk, steps: NDArray[np.int64], added: list[NDArray[np.int64]]
) -> None:
    if not more.rows:
        return
    slopes = np.full(len(more.counts), np.nan)  # each must be set
    constant = _floor(line, "tangent", cell, more, walk, slopes)
    require(
        bool(np.isfinite(slopes).all()),
        f"{line.shown}`tangent` set its slopes to {slopes.tolist()}; set each to a finite number",
    )
    for step in steps:
        before = line.price(cell.counts + step)
        for rows in added:
            least, found = constant + float(slopes @ rows), line.price(cell.counts + step + rows) - before
            require(
                line.holds(least, found),
                f"{line.shown}by `tangent` ({constant!r} and slopes {slopes.tolist()}, for up to {_shown(more)} more) "
                f"rows {rows.tolist()} add at least {least!r} to rows {_shown(cell)} after each step of a walk to "
                f"{walk.counts.tolist()}, but after {step.tolist()} they add {found!r}; return a line that is below "
                "for all such rows and steps, or leave `tangent` out",
            )


def _floor(line: PricedLine, name: str, *arguments: Any) -> float:
    """Call a bound as plain Python; it must be a number below infinity, minus infinity if nothing is known."""
    criterion = line.criterion
    try:
        with np.errstate(all="ignore"):
            least = float(getattr(criterion, name)(line.p, *arguments))
    except Exception as error:
        raise failure(f"{name!r} of criterion {criterion.name!r}", error) from error
    require(
        least < math.inf,
        f"{line.shown}`{name}` returned {least!r} for {arguments}; return a number, -math.inf where nothing is known",
    )
    return least


def _shown(cell: Cell) -> str:
    return str(cell.counts.tolist())
