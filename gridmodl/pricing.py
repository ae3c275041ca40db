"""The price of a given grid, by the compiled terms and nothing else: no search code is involved."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.digest import TermError
from gridmodl.groupings import log_groupings
from gridmodl.template import bind
from gridmodl.terms import (
    SEARCHED_TARGETS,
    Cell,
    Criterion,
    Part,
    Problem,
    Shape,
    Variable,
    cell,
    finish,
    grid,
    params_record,
    part,
    variable,
)

# No criterion must fail on fewer rows. On more, products of counts overflow, and weights are the likeliest reason.
MANY_ROWS = 2**29


def price_one_variable(
    criterion: Criterion, p: Any, facts: Variable, by_code: NDArray[np.int64], values: NDArray[np.int64]
) -> float:
    """The cost of one input variable: rows of each part by code of the target, and distinct values of each part."""
    not_empty = by_code.any(axis=1)
    n_parts = int(np.count_nonzero(not_empty))
    by_code, values = by_code[not_empty], values[not_empty]
    counts, rows = np.ascontiguousarray(by_code[:, : p.n_classes]), by_code.sum(axis=1)
    shape = Shape(1, int(n_parts > 1), float(n_parts))
    return check_cost(criterion, bind(price_parts, type(criterion))(p, facts, shape, counts, rows, values))


def price_parts(p: Any, facts: Variable, shape: Shape, counts: Any, rows: Any, values: Any) -> float:
    total = grid(p, shape) + variable(p, facts, len(values))
    for i in range(len(values)):
        unlabelled = rows[i] - counts[i].sum()
        total += part(p, facts, Part(rows[i], values[i]), 0) + cell(p, Cell(counts[i], rows[i], unlabelled))
    return finish(p, total, shape)


def numerical_facts(n_values: int) -> Variable:
    """What a criterion may know of a numerical variable, whatever its partition."""
    return Variable(False, False, n_values, 0.0, 0.0, np.empty(0))


def categorical_facts(value_rows: NDArray[np.int64]) -> Variable:
    """What a criterion may know of a categorical variable, given the rows of each of its values."""
    factorials = math.fsum(math.lgamma(n + 1.0) for n in value_rows.tolist())
    return Variable(True, False, len(value_rows), factorials, 0.0, log_groupings(len(value_rows)))


def prepare(criterion: Criterion, problem: Problem, facts: Variable) -> tuple[Any, Variable]:
    """`p` and the facts of one variable with the criterion's own constant, after its plain terms were tried."""
    try:
        return _tried(criterion, problem, facts)
    except TermError as error:
        if problem.n_rows < MANY_ROWS:
            raise
        raise ValueError(
            f"weights sum to {problem.n_rows} rows, which criterion {criterion.name!r} cannot price: a row of weight w "
            f"counts as w rows; divide all weights by a common factor, so that they sum to less than {MANY_ROWS}"
        ) from error


def _tried(criterion: Criterion, problem: Problem, facts: Variable) -> tuple[Any, Variable]:
    """What `prepare` returns, or what is wrong with a term.

    So a broken term is named before it meets the compiler. Tried on the whole column and on a single row, labelled or
    not: the mistakes that authors make, such as log 0, show in a pure cell.
    """
    try:
        p = params_record(criterion, problem)
        facts = facts._replace(constant=float(criterion.variable_constant(problem, facts)))
    except Exception as error:
        raise TermError(f"params of criterion {criterion.name!r} failed: {type(error).__name__}: {error}") from error
    all_rows = problem.class_rows if problem.n_classes else np.array([problem.n_rows])
    one_row = np.zeros_like(all_rows)
    one_row[-1] = 1
    n_target_parts = 1 if problem.kind in SEARCHED_TARGETS else 0
    unlabelled = problem.n_rows - int(all_rows.sum())
    tried = [(all_rows, unlabelled, facts.n_values), (one_row, 0, 1)]
    if unlabelled:
        tried.append((np.zeros_like(all_rows), 1, 1))
    for counts, unlabelled, n in tried:
        rows, shape = int(counts.sum()) + unlabelled, Shape(1, 0, 1.0)
        check_term(criterion, "grid", p, shape)
        check_term(criterion, "variable", p, facts, 1)
        check_term(criterion, "part", p, facts, Part(rows, n), n_target_parts)
        check_term(criterion, "cell", p, Cell(counts.copy(), rows, unlabelled))
        check_term(criterion, "finish", p, 1.0, shape)
    return p, facts


def check_term(criterion: Criterion, term: str, *arguments: Any) -> None:
    """Call a plain term; it must return a finite number."""
    name = criterion.name
    try:
        with np.errstate(all="ignore"):
            price = getattr(criterion, term)(*arguments)
    except Exception as error:
        raise TermError(f"term {term!r} of criterion {name!r} failed: {type(error).__name__}: {error}") from error
    if not isinstance(price, (numbers.Real, np.bool_)) or not math.isfinite(price):
        raise TermError(f"term {term!r} of criterion {name!r} returned {price!r}; a term returns a finite number")


def check_cost(criterion: Criterion, cost: float) -> float:
    """`cost`, if it is a number that means something."""
    if not math.isfinite(cost):
        options = ", ".join(f"{option}={value!r}" for option, value in criterion.chosen.items()) or "none"
        raise TermError(f"criterion {criterion.name!r} (options: {options}) priced a partition at {cost!r}")
    return float(cost)
