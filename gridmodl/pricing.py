"""Price a given grid by the compiled terms; no search code is involved.

`finished` is the one place where compiled code turns the sum of the other terms into a cost;
`gridmodl.analysis.cost_terms` is its twin in plain Python.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import SummedRows
from gridmodl.jit.digest import TermError
from gridmodl.jit.template import bind, inlined
from gridmodl.jit.term_errors import failure
from gridmodl.plugins import problem_with_classes
from gridmodl.terms import (
    DOMAIN,
    Cell,
    Criterion,
    Params,
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


@inlined
def finished(p: Any, total: float, rest: float, shape: Shape) -> float:
    """Cost of a grid of this `shape`. `total + rest` is the sum of all terms but `grid`; `rest` is small."""
    return finish(p, total + grid(p, shape) + rest, shape)


def price_one_variable(
    criterion: Criterion, p: Any, facts: Variable, by_code: NDArray[np.int64], values: NDArray[np.int64]
) -> float:
    """Cost of one input variable, given the rows by code of the target and the distinct values of each part.

    Of a density, the first code counts the width of a part, and the second one the rows minus the width.
    """
    not_empty = by_code.any(axis=1)  # of a density, a gap has a width and no rows
    n_parts = int(np.count_nonzero(not_empty))
    by_code, values = by_code[not_empty], values[not_empty]
    counts, rows = np.ascontiguousarray(by_code[:, : max(1, p.n_classes)]), by_code.sum(axis=1)
    shape = Shape(1, int(n_parts > 1), float(n_parts))
    return check_cost(criterion, bind(price_parts, type(criterion))(p, facts, shape, counts, rows, values))


def price_parts(p: Any, facts: Variable, shape: Shape, counts: Any, rows: Any, values: Any) -> float:
    """Cost of one input variable, given the counts, rows and values of each part."""
    total = variable(p, facts, len(values))
    for i in range(len(values)):
        unlabelled = rows[i] - counts[i].sum()
        total += part(p, facts, Part(rows[i], values[i])) + cell(p, Cell(counts[i], rows[i], unlabelled))
    return finished(p, total, 0.0, shape)


class ColumnValues(NamedTuple):
    """Facts of the values of one variable that do not depend on its partition."""

    categorical: bool
    n_values: int  # number of distinct values
    rows: NDArray[np.int64]  # of each value of a categorical variable; empty for a numerical one


NO_ROWS = np.empty(0, dtype=np.int64)


def numerical_values(n_values: int) -> ColumnValues:
    return ColumnValues(False, n_values, NO_ROWS)


def categorical_values(value_rows: NDArray[np.int64]) -> ColumnValues:
    return ColumnValues(True, len(value_rows), value_rows)


def variable_of(criterion: Criterion, problem: Problem, values: ColumnValues, is_target: bool = False) -> Variable:
    """Make the record of a variable that terms see; check the constant and the table of `variable_facts`."""
    plain = Variable(values.categorical, is_target, values.n_values, 0.0, np.empty(0))
    name = f"variable_facts of criterion {criterion.name!r}"
    is_summed = isinstance(values.rows, SummedRows)
    rows = values.rows if is_summed else values.rows.copy()  # a criterion may write into its argument
    try:
        given: Any = criterion.variable_facts(problem, plain, rows)
    except Exception as error:
        raise failure(name, error) from error
    if not isinstance(given, tuple) or len(given) != 2:
        raise TermError(f"{name} returned {given!r}; it returns a constant and an array by number of parts")
    constant, table = given
    # If a file does not hold the rows of the values, the constant may be NaN; a term that reads it then costs NaN.
    if not isinstance(constant, numbers.Real) or not (math.isfinite(constant) or (is_summed and math.isnan(constant))):
        raise TermError(f"{name} returned the constant {constant!r}; it must be a finite number")
    if not isinstance(table, np.ndarray) or table.ndim != 1 or table.dtype.kind not in "fiu":
        what = f"array of shape {table.shape} and type {table.dtype}" if isinstance(table, np.ndarray) else type(table)
        raise TermError(f"{name} returned the table {what}; it must be an array of numbers of one dimension")
    if np.isnan(table).any():
        raise TermError(f"{name} returned a table with NaN at {int(np.flatnonzero(np.isnan(table))[0])} parts")
    most = values.n_values * (3 if criterion.empty_parts else 1)  # parts: of single values, and of halves of gaps
    if 0 < len(table) <= most:  # compiled terms would read what lies behind it
        raise TermError(
            f"{name} returned a table of {len(table)} entries for a variable of {values.n_values} values; it needs one "
            f"for each number of parts from 0 to {most}, or none at all"
        )
    return plain._replace(constant=float(constant), by_parts=np.array(table, dtype=np.float64))


def prepare(
    criterion: Criterion, problem: Problem, values: ColumnValues, is_target: bool = False
) -> tuple[Any, Variable]:
    """Try the plain terms; return `p` and the record of one variable, which terms see."""
    check_rows(criterion, problem)
    wrong = problem_with_classes(criterion, problem)
    if wrong is not None:
        raise ValueError(wrong)
    try:
        return _tried(criterion, problem, values, is_target)
    except TermError as error:
        if problem.n_rows < SAFE_ROWS:
            raise
        raise ValueError(
            f"weights sum to {problem.n_rows} rows, which criterion {criterion.name!r} cannot price: a row of weight w "
            f"counts as w rows; divide all weights by a common factor, so that they sum to less than {SAFE_ROWS}"
        ) from error


def check_rows(criterion: Criterion, problem: Problem) -> None:
    """Raise ValueError if there are more rows than `criterion.max_rows`, beyond which costs lose digits."""
    if problem.n_rows > criterion.max_rows:
        raise ValueError(
            f"weights sum to {problem.n_rows} rows, and criterion {criterion.name!r} keeps the digits of its costs "
            f"up to {criterion.max_rows} rows ({problem.kind}): divide all weights by a common factor"
        )


def _tried(criterion: Criterion, problem: Problem, values: ColumnValues, is_target: bool) -> tuple[Any, Variable]:
    """Body of `prepare`; raise TermError if a term is wrong.

    A broken term is named before numba compiles it. Terms are tried on the whole column and on single rows, labelled or
    not: mistakes that authors make, such as log 0, show in a pure cell.
    """
    try:
        p = params_record(criterion, problem)
    except Exception as error:
        raise failure(f"params of criterion {criterion.name!r}", error) from error
    facts = variable_of(criterion, problem, values, is_target)
    for counts, unlabelled, n in _tried_cells(problem, facts.n_values, criterion.empty_parts):
        rows, shape = int(counts.sum()) + unlabelled, Shape(1, 0, 1.0)
        check_term(criterion, "grid", p, shape)
        check_term(criterion, "variable", p, facts, n if n < 2 else 2)
        check_term(criterion, "part", p, facts, Part(rows, n))
        if problem.flags.target_is_partitioned:
            check_term(criterion, "margin", p, rows, 1)
        check_term(criterion, "cell", p, Cell(counts.copy(), rows, unlabelled))
        check_term(criterion, "finish", p, 1.0, shape)
    return p, facts


def _tried_cells(problem: Problem, n_values: int, has_gaps: bool) -> list[tuple[NDArray[np.int64], int, int]]:
    """Counts, unlabelled rows and distinct values of the cells that terms are tried on; `has_gaps`: of a density."""
    if problem.flags.has_widths:  # all rows, a row in a narrow part, a mass, a gap
        tried = [(DOMAIN, problem.n_rows, n_values), (1, 1, 1), (0, 1, 1), *([(DOMAIN // 2, 0, 0)] if has_gaps else [])]
        return [(np.array([width]), rows - width, n) for width, rows, n in tried]
    all_rows = problem.class_rows if problem.n_classes else np.array([problem.n_rows])
    one_row, first_row = np.zeros_like(all_rows), np.zeros_like(all_rows)
    one_row[-1] = first_row[0] = 1
    unlabelled = problem.n_rows - int(all_rows.sum())
    cells = [(all_rows, unlabelled, n_values), (one_row, 0, 1), (first_row, 0, 1)]
    return [*cells, (np.zeros_like(all_rows), 1, 1)] if unlabelled else cells


def _fields_of(given: Any) -> Any:
    """The record of all fields of an argument of a term."""
    return given.own if isinstance(given, Params) else given


def check_term(criterion: Criterion, term: str, *arguments: Any) -> None:
    """Call a plain term twice; raise TermError unless it returns the same finite number and leaves its arrays alone."""
    name = criterion.name
    arrays = [
        (type(given).__name__, field, array, array.tobytes())
        for given in arguments
        if isinstance(given, tuple)
        for record in [_fields_of(given)]
        for field, array in zip(record._fields, record, strict=True)
        if isinstance(array, np.ndarray)
    ]
    try:
        with np.errstate(all="ignore"):
            price, again = (getattr(criterion, term)(*arguments) for _ in range(2))
    except Exception as error:
        raise failure(f"term {term!r} of criterion {name!r}", error) from error
    if not isinstance(price, (numbers.Real, np.bool_)) or not math.isfinite(price):
        raise TermError(f"term {term!r} of criterion {name!r} returned {price!r}; a term returns a finite number")
    for record, field, array, before in arrays:
        if array.tobytes() != before:
            what = f"p.{field}" if record == "Params" else f"{record.lower()}.{field}"
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
    """Return `cost` as a float; raise TermError if it is not finite."""
    if not math.isfinite(cost):
        options = ", ".join(f"{option}={value!r}" for option, value in criterion.chosen.items()) or "none"
        raise TermError(f"criterion {criterion.name!r} (options: {options}) priced a partition at {cost!r}")
    return float(cost)
