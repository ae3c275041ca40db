"""Slow and obvious: prices any grid of any problem through a criterion's plain Python terms, from the rows up.

No compiler, no numpy tricks, no shared code with the engine but the records the terms are handed.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

from gridmodl.terms import Cell, Part, Problem, Shape, Variable, params_record


def log_groupings(n_values):
    """log B(n_values, i) at index i, by exact integers: ways to divide values into at most i groups."""
    stirling = [1]
    for v in range(1, n_values + 1):
        stirling = [0] + [stirling[i - 1] + (i * stirling[i] if i < v else 0) for i in range(1, v + 1)]
    return np.array([-math.inf] + [math.log(total) for total in itertools.accumulate(stirling[1:])])


class Column:
    """One variable of a grid: its values and, for each row, the part the value is in."""

    def __init__(self, values, parts, *, categorical=False, is_target=False):
        self.values, self.parts = list(values), list(parts)
        self.categorical, self.is_target = categorical, is_target

    def variable(self, criterion, problem):
        counts = Counter(self.values)
        plain = Variable(self.categorical, self.is_target, len(counts), constant=0.0, by_parts=np.empty(0))
        rows = np.array(list(counts.values()) if self.categorical else [], dtype=int)
        constant, by_parts = criterion.variable_facts(problem, plain, rows)
        if criterion.name == "modl" and self.categorical:  # by other code than the criterion's own
            by_parts = log_groupings(len(counts))
            if problem.kind not in ("classes", "grid", "semi"):
                constant = sum(math.lgamma(n + 1) for n in counts.values())
        return plain._replace(constant=constant, by_parts=by_parts)


def cut(values, bounds):
    """The part of each value: how many bounds lie below it; a NaN bound lies just above the missing values."""
    below = lambda bound, value: not math.isnan(value) and (math.isnan(bound) or bound < value)  # noqa: E731
    return [sum(below(bound, value) for bound in bounds) for value in values]


def group(values, groups):
    """The part of each value: the index of the group that holds it."""
    return [next(i for i, members in enumerate(groups) if value in members) for value in values]


def price(criterion, kind, columns, target=None, unlabelled=None):
    """The cost of a grid: `columns` with their parts, and for class targets the class of each row."""
    n_rows = len(columns[0].values)
    classes = sorted({c for c in target if c != unlabelled}) if target is not None else []
    class_rows = np.array([sum(c == known for c in target) for known in classes], dtype=int)
    inputs = [column for column in columns if not column.is_target]
    problem = Problem(kind, n_rows, len(inputs), class_rows)
    p = params_record(criterion, problem)

    n_parts = [len(set(column.parts)) for column in columns]
    n_target_parts = next((n for n, column in zip(n_parts, columns, strict=True) if column.is_target), 0)
    informative = sum(n > 1 for n, column in zip(n_parts, columns, strict=True) if not column.is_target)
    shape = Shape(len(inputs), informative, float(math.prod(n_parts)))

    total = criterion.grid(p, shape)
    for column, n in zip(columns, n_parts, strict=True):
        facts = column.variable(criterion, problem)
        total += criterion.variable(p, facts, n)
        for i in set(column.parts):
            values = [value for value, part in zip(column.values, column.parts, strict=True) if part == i]
            total += criterion.part(p, facts, Part(len(values), len(set(map(str, values)))))
    if n_target_parts:
        for rows in Counter(zip(*(column.parts for column in inputs), strict=True)).values():
            total += criterion.margin(p, rows, n_target_parts)
    cells = {}
    for row, key in enumerate(zip(*(column.parts for column in columns), strict=True)):
        cells.setdefault(key, []).append(row)
    for rows in cells.values():
        if target is None:
            total += criterion.cell(p, Cell((len(rows),), len(rows), 0))
        else:
            counts = tuple(sum(target[row] == known for row in rows) for known in classes)
            total += criterion.cell(p, Cell(counts, len(rows), len(rows) - sum(counts)))
    return criterion.finish(p, total, shape)


def partitions_of(n, max_parts=None):
    """Every way to cut a row of n values into intervals, as tuples of inner positions."""
    for k in range(min(n, max_parts or n)):
        yield from itertools.combinations(range(1, n), k)


def best(criterion, values, target, max_parts=None, min_rows=1, kind="classes", unlabelled=None):
    """Cost and bounds of the cheapest partition of one numerical column, by enumeration."""
    distinct = sorted(set(values))
    found = []
    for cuts in partitions_of(len(distinct), max_parts):
        bounds = [(distinct[i - 1] + distinct[i]) / 2 for i in cuts]
        parts = cut(values, bounds)
        if len(bounds) == 0 or min(Counter(parts).values()) >= min_rows:
            found.append((price(criterion, kind, [Column(values, parts)], target, unlabelled), bounds))
    return min(found, key=lambda pair: pair[0])
