"""Inputs of a grid whose target is partitioned too, given the parts of the target: a grid with these parts as classes.

The criterion says by which other criterion (`Criterion.given_target`): the two costs differ by what depends on the
parts of the target alone, so what is cheaper there is cheaper here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.search.grid.rows import Grid, Rows, make_facts, make_grid, no_holds
from gridmodl.search.grid.state import GridTask
from gridmodl.search.moves import GridLimits
from gridmodl.terms import Problem


def inputs_task(task: GridTask, labels: NDArray[Any]) -> GridTask:
    """Task of the inputs alone, with the parts of the target as classes; `labels` is the part of each target atom."""
    target, given = task.n_variables - 1, task.criterion.given_target
    if given is None:
        raise TypeError(f"criterion {task.criterion.name!r} does not declare given_target")
    class_rows = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    np.add.at(class_rows, labels, task.rows.rows_of_atoms(target))
    both = set(given.options) & set(task.criterion.options)
    criterion = given(**{name: getattr(task.p, name) for name in both})
    rows = _inputs_rows(task.rows)._replace(codes=labels.astype(np.int32)[task.rows.atom[target]])
    kinds = ["categorical" if is_group else "numerical" for is_group in task.facts.categorical[:target].tolist()]
    p, facts = make_facts(criterion, Problem("grid", task.n_rows, target, class_rows), rows, kinds)
    limits = GridLimits(task.limits.max_parts[:target], task.limits.min_rows[:target])
    held = no_holds(rows)  # limits of single columns are not taken beside a target that is partitioned too
    return replace(task, rows=rows, facts=facts, p=p, criterion=given, limits=limits, holds=held, n_jobs=1)


def inputs_given(task: GridTask, grid: Grid) -> tuple[GridTask, Grid]:
    """Task of the inputs alone, and their grid, given the parts that the target has in `grid`."""
    labels = grid.parts_of(task.n_variables - 1, task.rows.n_atoms(task.n_variables - 1))
    return inputs_task(task, labels), inputs_of(task, grid)


def inputs_of(task: GridTask, grid: Grid) -> Grid:
    """The same grid without the target; without its cost."""
    kept = [i for i, k in enumerate(grid.variables) if k != task.n_variables - 1]
    return Grid(tuple(grid.variables[i] for i in kept), tuple(grid.parts[i] for i in kept), np.inf)


def with_target(task: GridTask, inputs: Grid, labels: NDArray[Any]) -> Grid:
    """The grid of `inputs` and of the target in the parts `labels`; without its cost."""
    return make_grid([*zip(inputs.variables, inputs.parts, strict=True), (task.n_variables - 1, labels)])


def _inputs_rows(rows: Rows) -> Rows:
    """The rows without their last variable, the target; nothing is copied."""
    n = rows.n_variables - 1
    end = rows.atom_at[n]
    return rows._replace(
        atom=rows.atom[:n],
        order=rows.order[:n],
        atom_at=rows.atom_at[: n + 1],
        first=rows.first[: end + n],
        atom_rows=rows.atom_rows[:end],
        atom_values=rows.atom_values[:end],
    )
