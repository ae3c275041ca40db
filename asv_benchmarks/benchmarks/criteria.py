"""What it costs that a criterion is a plugin: kernels with bound terms against the formula written in by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gridmodl import Criterion, get_criterion
from gridmodl.codelength import HALF_LOG_TWO_PI, LOG_FACTORIALS, TABLE_SIZE
from gridmodl.data.atoms import Target
from gridmodl.data.line import make_line
from gridmodl.data.numbers import Numbers
from gridmodl.search.column.exact import AllBounds
from gridmodl.search.column.merge import greedy_merge
from gridmodl.search.moves import Frozen, Limits, Setting
from gridmodl.search.task import Task
from gridmodl.terms import Cell, Problem, Variable, params_record

from . import datasets, ratio


class ModlByHand(Criterion):
    """``modl`` with no function call in it: the table look-ups and Stirling's series stand in the terms."""

    name = "modl-by-hand"
    problems = {"classes"}
    joins_pure_runs = True

    @staticmethod
    def variable(p: Any, variable: Variable, n_parts: int) -> float:
        over, rest = p.n_rows + n_parts - 1, n_parts - 1
        cost = p.log_rows
        if over < TABLE_SIZE:
            cost += LOG_FACTORIALS[over]
        else:
            cost += (over + 0.5) * math.log(over) - over + HALF_LOG_TWO_PI + 1.0 / (12.0 * over)
        if rest < TABLE_SIZE:
            cost -= LOG_FACTORIALS[rest]
        else:
            cost -= (rest + 0.5) * math.log(rest) - rest + HALF_LOG_TWO_PI + 1.0 / (12.0 * rest)
        if p.n_rows < TABLE_SIZE:
            cost -= LOG_FACTORIALS[p.n_rows]
        else:
            cost -= (p.n_rows + 0.5) * math.log(p.n_rows) - p.n_rows + HALF_LOG_TWO_PI + 1.0 / (12.0 * p.n_rows)
        return cost

    @staticmethod
    def cell(p: Any, cell: Cell) -> float:
        over, rest = cell.rows + p.n_classes - 1, p.n_classes - 1
        if over < TABLE_SIZE:
            cost = LOG_FACTORIALS[over]
        else:
            cost = (over + 0.5) * math.log(over) - over + HALF_LOG_TWO_PI + 1.0 / (12.0 * over)
        if rest < TABLE_SIZE:
            cost -= LOG_FACTORIALS[rest]
        else:
            cost -= (rest + 0.5) * math.log(rest) - rest + HALF_LOG_TWO_PI + 1.0 / (12.0 * rest)
        for n in cell.counts:
            if n < TABLE_SIZE:
                cost -= LOG_FACTORIALS[n]
            else:
                cost -= (n + 0.5) * math.log(n) - n + HALF_LOG_TWO_PI + 1.0 / (12.0 * n)
        return cost


def make_task(criterion: Criterion, column: Any, target: Any) -> Task:
    class_rows = np.bincount(target)
    problem = Problem("classes", len(column), 1, class_rows)
    numbers = Numbers("x0", column, None, column.dtype)
    line = make_line(numbers, Target(target.astype(np.int32), None, len(class_rows)), criterion.joins_pure_runs)
    variable = Variable(False, False, len(column), 0.0, np.empty(0))
    setting = Setting(params_record(criterion, problem), variable, Frozen())
    return Task(line.atoms, setting, type(criterion), Limits(len(column), 1))


def plain_optimum(task: Task) -> Any:
    """By the plain recursion: the criterion by hand offers no floors to prune by."""
    return AllBounds(task, task.null(), math.inf).solve()


class BoundOverHand:
    params = [2, 10]
    param_names = ["classes"]

    def ratio(self, search, n_rows, n_classes):
        data = datasets.make("noise", n_rows, n_classes)
        bound, hand = make_task(get_criterion("modl"), *data), make_task(ModlByHand(), *data)
        found, wanted = search(bound), search(hand)
        if not math.isclose(found.cost, wanted.cost, rel_tol=1e-12):  # unequal work would make the ratio meaningless
            raise ValueError(f"the bound criterion found cost {found.cost!r}, the one by hand {wanted.cost!r}")
        return ratio(lambda: search(bound), lambda: search(hand), rounds=15)

    def track_bound_over_hand_greedy(self, n_classes):
        return self.ratio(lambda task: greedy_merge(task).best, 100_000, n_classes)

    def track_bound_over_hand_dp(self, n_classes):
        return self.ratio(plain_optimum, 3_000, n_classes)

    # Target: at most 1.10.
    track_bound_over_hand_greedy.unit = track_bound_over_hand_dp.unit = "ratio"
