"""The price of a given grid, by the compiled terms and nothing else: no search code is involved."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.digest import TermError
from gridmodl.template import bind
from gridmodl.terms import Cell, Criterion, Part, Shape, Variable, cell, finish, grid, part, variable


def price_one_variable(
    criterion: Criterion, p: Any, facts: Variable, counts: NDArray[np.int64], values: NDArray[np.int64]
) -> float:
    """The cost of one input variable: rows of each part by class, and distinct values of each part."""
    not_empty = counts.any(axis=1)
    n_parts = int(np.count_nonzero(not_empty))
    counts, values = counts[not_empty], values[not_empty]
    shape = Shape(1, int(n_parts > 1), float(n_parts))
    return float(bind(price_parts, type(criterion))(p, facts, shape, counts, values))


def price_parts(p: Any, facts: Variable, shape: Shape, counts: Any, values: Any) -> float:
    total = grid(p, shape) + variable(p, facts, len(values))
    for i in range(len(values)):
        rows = counts[i].sum()
        total += part(p, facts, Part(rows, values[i]), 0) + cell(p, Cell(counts[i], rows, 0))
    return finish(p, total, shape)


def check_terms(criterion: Criterion, p: Any, facts: Variable, counts: NDArray[np.int64]) -> None:
    """Price one part by the plain terms, so that a broken term is named before it meets the compiler."""
    rows, shape = int(counts.sum()), Shape(1, 0, 1.0)
    calls: dict[str, tuple[Any, ...]] = {
        "grid": (p, shape),
        "variable": (p, facts, 1),
        "part": (p, facts, Part(rows, facts.n_values), 0),
        "cell": (p, Cell(counts, rows, 0)),
        "finish": (p, 1.0, shape),
    }
    for term, arguments in calls.items():
        try:
            price = getattr(criterion, term)(*arguments)
        except Exception as error:
            raise TermError(
                f"term {term!r} of criterion {criterion.name!r} failed: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(price, numbers.Real) or price != price:
            raise TermError(
                f"term {term!r} of criterion {criterion.name!r} returned {price!r}; a term returns a number"
            )
