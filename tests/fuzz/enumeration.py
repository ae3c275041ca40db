"""The cheapest partitions of few values, by trying all; prices are of the plain terms, from the rows up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from fuzz.cases import NO_CLASS, Case
from fuzz.columns import MISSING, Column
from oracles import naive, naive_exact
from oracles.tiny_pairs import cuttings, groupings

MOST_GRIDS = 300


def priced(case: Case) -> Case:
    """The rows that a price is of, one by one: repeated by weight, those without a class left out if it knows none."""
    one_by_one = case.taken(case.repeats(), with_weights=False)
    return one_by_one.labelled() if case.is_placed else one_by_one


def plain_price(case: Case, parts: list[Any]) -> float:
    """The cost of parts of rows, one array for each variable, the target last where it is partitioned too.

    `case` is as `priced` returns it.
    """
    variables = list(case.columns.values())
    is_searched = case.problem in ("grouped", "numerical")
    if is_searched:
        variables.append(case.target)
    columns = [
        naive.Column(
            column.levels.tolist(), np.asarray(of_rows).tolist(),
            categorical=column.kind == "categorical", is_target=is_searched and k == 1,
        )
        for k, (column, of_rows) in enumerate(zip(variables, parts, strict=True))
    ]  # fmt: skip
    target = None if is_searched or case.target is None else case.target.levels.tolist()
    return naive.price(case.criterion, case.problem, columns, target, NO_CLASS)


def lowest(case: Case) -> float | None:
    """The lowest cost of all partitions that keep the limits; None where they are too many."""
    rows = priced(case)
    choices = [list(_partitions(rows, column, case)) for column in rows.columns.values()]
    if case.problem in ("grouped", "numerical"):
        choices.append(list(_partitions(rows, rows.target, case)))
    if math.prod(map(len, choices)) > MOST_GRIDS:
        return None
    return min(plain_price(rows, list(parts)) for parts in itertools.product(*choices))


def _partitions(rows: Case, column: Column, case: Case) -> Iterator[Any]:
    """Every partition of a column that keeps the limits, as the part of each row."""
    line, codes = np.unique(column.levels), np.array(case.codes, dtype=int)
    special = np.intersect1d(line, codes)
    line = np.setdiff1d(line, special)
    n_values = len(line)
    if n_values > 8 or (column.kind == "categorical" and n_values > 6):
        yield from [None] * (MOST_GRIDS + 1)
        return
    every = groupings if column.kind == "categorical" else cuttings
    where = {level: i for i, level in enumerate([*line.tolist(), *special.tolist()])}
    at = np.array([where[level] for level in column.levels.tolist()])
    for labels in every(n_values) if n_values else [np.empty(0, dtype=int)]:
        of_values = np.append(labels, n_values + np.arange(len(special))).astype(int)
        parts = of_values[at]
        if _keeps_limits(parts, n_values, case, len(case.codes) - len(special)) and _is_monotone(
            rows, column, parts, n_values, case.monotone
        ):
            yield parts


def least_rows(case: Case) -> int:
    """The limit on rows of a part."""
    least, n_rows = case.limits.get("min_rows", 1), len(priced(case).repeats())
    return max(1, math.ceil(round(least * n_rows, 9))) if least < 1 else int(least)


def _keeps_limits(parts: Any, n_values: int, case: Case, n_absent: int) -> bool:
    """Codes may have few rows, and so may whatever part is left beside them; a code without rows is a part too."""
    ordinary = np.unique(parts[parts < n_values], return_counts=True)[1]
    if len(np.unique(parts)) + n_absent > max(case.limits.get("max_parts", 99), 1):
        return False
    return len(ordinary) <= 1 or bool(ordinary.min() >= least_rows(case))


def _is_monotone(rows: Case, column: Column, parts: Any, n_values: int, way: str | None) -> bool:
    if way is None:
        return True
    assert rows.target is not None
    second = rows.target.values.index(sorted(rows.target.values)[1])  # whose share counts
    shares = []
    for part in np.unique(parts[parts < n_values]):
        inside = parts == part
        if np.all(column.levels[inside] == MISSING):
            continue
        shares.append(Fraction(int(np.sum(rows.target.levels[inside] == second)), int(inside.sum())))
    rises, falls = shares == sorted(shares), shares == sorted(shares, reverse=True)
    return {"increasing": rises, "decreasing": falls, "auto": rises or falls}[way]


def lowest_of_many(case: Case) -> float | None:
    """The lowest cost of intervals of one column by a table over parts and bounds; None for criteria without one."""
    if case.criterion.name not in ("modl", "aic", "bic", "mdlp", "gini", "entropy"):
        return None
    (column,) = case.columns.values()
    assert case.target is not None
    sample = naive_exact.Case(column.levels, case.target.levels, case.weights, {})
    limits = (case.limits.get("max_parts"), least_rows(case))
    options = {"alpha": 0.5, "beta": 0.0, **case.criterion.chosen}
    return naive_exact.lowest_cost(case.criterion.name, naive_exact.class_counts(sample), options, *limits)
