"""The price of a given grid, by the compiled terms and nothing else: no search code is involved."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import MANY_ROWS, log_groupings, log_order
from gridmodl.jit.digest import TermError
from gridmodl.jit.template import bind
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
SAFE_ROWS = 2**29


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
    return values_facts(len(value_rows), order_of(value_rows), int(value_rows.sum()))


def order_of(value_rows: NDArray[np.int64]) -> float:
    """The sum over values of log n!, of very many rows N less n (log N - 1) for each, given the rows n of each."""
    n_rows = int(value_rows.sum())
    if n_rows < MANY_ROWS:
        return math.fsum(math.lgamma(n + 1.0) for n in value_rows.tolist())
    return math.fsum(log_order(n, n_rows, math.log(n_rows) - 1.0) for n in value_rows.tolist())


def values_facts(n_values: int, order: float, n_rows: int) -> Variable:
    """What a criterion may know of a categorical variable, given its number of values and `order_of` their rows."""
    factorials = order if n_rows < MANY_ROWS else order + n_rows * (math.log(n_rows) - 1.0)
    return Variable(True, False, n_values, factorials, order, log_groupings(n_values))


def order_with(order: float, n_rows: int, more_rows: int) -> float:
    """What `order_of` says after a value of `more_rows` has come."""
    n = n_rows + more_rows
    unit = math.log(n) - 1.0
    if n < MANY_ROWS:
        return order + math.lgamma(more_rows + 1.0)
    if n_rows < MANY_ROWS:
        return order - n_rows * unit + log_order(more_rows, n, unit)
    return order - n_rows * math.log1p(more_rows / n_rows) + log_order(more_rows, n, unit)


def prepare(criterion: Criterion, problem: Problem, facts: Variable) -> tuple[Any, Variable]:
    """`p` and the facts of one variable with the criterion's own constant, after its plain terms were tried."""
    check_rows(criterion, problem)
    try:
        return _tried(criterion, problem, facts)
    except TermError as error:
        if problem.n_rows < SAFE_ROWS:
            raise
        raise ValueError(
            f"weights sum to {problem.n_rows} rows, which criterion {criterion.name!r} cannot price: a row of weight w "
            f"counts as w rows; divide all weights by a common factor, so that they sum to less than {SAFE_ROWS}"
        ) from error


def check_rows(criterion: Criterion, problem: Problem) -> None:
    """Refuse more rows than a criterion keeps its digits for."""
    if problem.n_rows > criterion.max_rows:
        raise ValueError(
            f"weights sum to {problem.n_rows} rows, and criterion {criterion.name!r} keeps the digits of its costs "
            f"up to {criterion.max_rows} rows ({problem.kind}): divide all weights by a common factor"
        )


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
    one_row, first_row = np.zeros_like(all_rows), np.zeros_like(all_rows)
    one_row[-1] = first_row[0] = 1
    n_target_parts = 1 if problem.kind in SEARCHED_TARGETS else 0
    unlabelled = problem.n_rows - int(all_rows.sum())
    tried = [(all_rows, unlabelled, facts.n_values), (one_row, 0, 1), (first_row, 0, 1)]
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
    """Call a plain term twice: it must return the same finite number and leave the arrays handed to it as they were."""
    name = criterion.name
    arrays = [
        (type(record).__name__, field, array, array.tobytes())
        for record in arguments
        if isinstance(record, tuple)
        for field, array in zip(record._fields, record, strict=True)  # type: ignore[attr-defined]  # a NamedTuple
        if isinstance(array, np.ndarray)
    ]
    try:
        with np.errstate(all="ignore"):
            price, again = (getattr(criterion, term)(*arguments) for _ in range(2))
    except Exception as error:
        raise TermError(f"term {term!r} of criterion {name!r} failed: {type(error).__name__}: {error}") from error
    if not isinstance(price, (numbers.Real, np.bool_)) or not math.isfinite(price):
        raise TermError(f"term {term!r} of criterion {name!r} returned {price!r}; a term returns a finite number")
    for record, field, array, before in arrays:
        if array.tobytes() != before:
            what = f"p.{field}" if record.startswith("Params") else f"{record.lower()}.{field}"
            raise TermError(
                f"term {term!r} of criterion {name!r} writes into {what}, which the search goes on with; keep what you "
                "compute in variables of its own"
            )
    if price != again:
        raise TermError(
            f"term {term!r} of criterion {name!r} returned {price!r}, and {again!r} when asked again; a term depends "
            "on what it is handed alone: no random numbers, no clock, nothing kept between calls"
        )


def check_cost(criterion: Criterion, cost: float) -> float:
    """`cost`, if it is a number that means something."""
    if not math.isfinite(cost):
        options = ", ".join(f"{option}={value!r}" for option, value in criterion.chosen.items()) or "none"
        raise TermError(f"criterion {criterion.name!r} (options: {options}) priced a partition at {cost!r}")
    return float(cost)
