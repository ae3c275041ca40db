"""The cheapest partitions of few values, by trying all; prices are of the plain terms, from the rows up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
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
    is_searched = case.target_kind is not None
    if is_searched:
        variables.append(case.target)
    columns = [
        naive.Column(
            column.levels.tolist(), np.asarray(of_rows).tolist(),
            categorical=column.kind == "categorical", is_target=is_searched and k == len(case.columns),
        )
        for k, (column, of_rows) in enumerate(zip(variables, parts, strict=True))
    ]  # fmt: skip
    target = None if is_searched or case.target is None else case.target.levels.tolist()
    return naive.price(case.criterion, case.problem, columns, target, NO_CLASS)


def lowest(case: Case) -> float | None:
    """The lowest cost of all partitions that keep the limits; None where they are too many, infinite without any."""
    rows = priced(case)
    choices = [list(_choices(rows, name, case)) for name in rows.columns]
    if case.target_kind is not None:
        choices.append(list(_partitions(rows, rows.target, case)))
    if math.prod(map(len, choices)) > MOST_GRIDS:
        return None
    return min((plain_price(rows, list(parts)) for parts in itertools.product(*choices)), default=math.inf)


def _choices(rows: Case, name: str, case: Case) -> Iterator[Any]:
    """Every partition of a column; in a grid, one part is allowed whatever is known of it, but for fixed bounds."""
    column = rows.columns[name]
    if case.problem in ("grid", "joint", "numerical_grid", "grouped_grid"):
        if name != case.known_name:
            case = replace(case, codes=(), rules={})
        if "fixed" not in case.rules:
            yield np.zeros(len(column.levels), dtype=int)
    yield from _partitions(rows, column, case)


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
    of_special = np.zeros(len(special), dtype=int) if case.is_shared else np.arange(len(special))
    for labels in every(n_values) if n_values else [np.empty(0, dtype=int)]:
        of_values = np.append(labels, n_values + of_special).astype(int)
        parts = of_values[at]
        if _keeps_limits(parts, n_values, case, column.levels == MISSING) and (
            (not case.rules and case.monotone is None) or _keeps_rules(rows, column, parts, n_values, case)
        ):
            yield parts


def least_rows(case: Case) -> int:
    """The limit on rows of a part."""
    least, n_rows = case.limits.get("min_rows", 1), len(priced(case).repeats())
    return max(1, math.ceil(round(least * n_rows, 9))) if least < 1 else int(least)


def _keeps_limits(parts: Any, n_values: int, case: Case, is_missing: Any) -> bool:
    """Codes may have few rows, and so may whatever part is left beside them; their parts do not count.

    Missing values that are a part of their own may have few rows, too, and do not count.
    """
    is_plain, least = parts < n_values, least_rows(case)
    is_alone = bool(is_missing.any()) and not np.any(parts[is_plain & ~is_missing] == parts[is_missing][:1])
    n_exempt = int(is_alone and bool(np.any(is_plain & ~is_missing)))
    if len(np.unique(parts[is_plain])) - n_exempt > case.limits.get("max_parts", 99):
        return False
    if np.any(is_plain & ~is_missing) and np.any(is_missing) and not is_alone and case.missing == "apart":
        return False
    if is_alone and np.any(is_plain & ~is_missing):
        ordinary = np.unique(parts[is_plain & ~is_missing], return_counts=True)[1]
        return bool(ordinary.min() >= least) or (case.missing == "apart" and len(ordinary) == 1)
    ordinary = np.unique(parts[is_plain], return_counts=True)[1]
    return len(ordinary) <= 1 or bool(ordinary.min() >= least)


def _keeps_rules(rows: Case, column: Column, parts: Any, n_values: int, case: Case) -> bool:
    """Rows of classes, bounds, and the shares of neighbours; missing values that are a part of their own are left out.

    One part of all values is always allowed, and so is one beside parts that were asked for.
    """
    found = np.unique(parts[parts < n_values])
    is_missing = [bool(np.all(column.levels[parts == part] == MISSING)) for part in found]
    is_alone = any(is_missing) and len(found) > 1
    inside = [parts == part for part, missing in zip(found, is_missing, strict=True) if not missing or not is_alone]
    if rows.target is None:
        return column.kind == "categorical" or _keeps_bounds(column, inside, case.rules)
    least = _least_by_class(rows, case)
    if len(inside) > 1 or (is_alone and case.missing == "auto"):
        of_target = rows.target.levels
        if any(np.sum(of_target[one] == level) < n for one in inside for level, n in least.items()):
            return False
    if column.kind != "categorical" and not _keeps_bounds(column, inside, case.rules):
        return False
    difference = case.rules.get("min_difference", 0.0)
    if case.monotone is None and difference == 0.0:
        return True
    event = rows.target.values.index(sorted(rows.target.values)[1])
    shares = [Fraction(int(np.sum(rows.target.levels[one] == event)), int(one.sum())) for one in inside]
    return _keeps_order(sorted(shares) if column.kind == "categorical" else shares, case.monotone, difference)


def _least_by_class(rows: Case, case: Case) -> dict[int, int]:
    """The rows that a part must have of each class, by level of the target."""
    assert rows.target is not None
    given, values = case.rules.get("min_events"), rows.target.values
    if given is None:
        return {}
    levels = np.unique(rows.target.levels).tolist()
    if isinstance(given, tuple):
        levels, given = [values.index(sorted(values)[1])], given[1]
    all_rows = {level: int(np.sum(rows.target.levels == level)) for level in levels}
    return {level: math.ceil(round(given * n, 9)) if given < 1 else given for level, n in all_rows.items()}


def _keeps_bounds(column: Column, inside: list[Any], rules: dict[str, Any]) -> bool:
    """Whether intervals have each fixed bound, and others only where these are allowed; a bound is above its level."""
    if not inside:
        return True
    lowest_levels = [np.min(levels[levels != MISSING]) for levels in (column.levels[one] for one in inside)
                     if np.any(levels != MISSING)]  # fmt: skip
    seen = np.unique(np.concatenate([column.levels[one] for one in inside]))
    seen = seen[seen != MISSING]

    def cut_above(level: int) -> int:
        """The lowest value above a bound; past the last where there is none."""
        return int(np.append(seen, 99)[np.searchsorted(seen, level, side="right")])

    cuts = set(map(int, sorted(lowest_levels)[1:]))
    fixed = set(map(cut_above, rules.get("fixed", [])))
    return fixed <= cuts and ("allowed" not in rules or cuts <= fixed | set(map(cut_above, rules["allowed"])))


def _keeps_order(shares: list[Fraction], order: str | None, difference: float) -> bool:
    steps = [other - one for one, other in itertools.pairwise(shares)]
    least = Fraction(difference) - Fraction(1, 10**12) if difference > 0 else Fraction(0)
    rises, falls = [step >= least for step in steps], [-step >= least for step in steps]
    turns = range(len(steps) + 1)
    is_kept = {
        "increasing": all(rises),
        "decreasing": all(falls),
        "peak": any(all(rises[:k]) and all(falls[k:]) for k in turns),
        "valley": any(all(falls[:k]) and all(rises[k:]) for k in turns),
    }
    if order is None:
        return all(rise or fall for rise, fall in zip(rises, falls, strict=True))
    return any(is_kept.values()) if order == "auto" else is_kept[order]


def lowest_of_many(case: Case) -> float | None:
    """The lowest cost of intervals of one column by a table over parts and bounds; None for criteria without one."""
    if case.criterion.name not in ("modl", "aic", "bic", "mdlp", "gini", "entropy"):
        return None
    (column,) = case.columns.values()
    assert case.target is not None
    sample = naive_exact.Case(column.levels, case.target.levels, case.weights, {})
    limits = (case.limits.get("max_parts"), least_rows(case))
    options = {"alpha": 0.5, "beta": 0.0, **case.criterion.chosen}
    counts = naive_exact.class_counts(sample)
    has_missing = priced(case).columns["x"].has_missing  # the first value
    return naive_exact.lowest_cost(case.criterion.name, counts, options, *limits, first_is_free=has_missing)
