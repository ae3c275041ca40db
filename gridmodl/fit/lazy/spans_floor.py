"""Lower bound of the cost where atoms are spans of several values, from the best partition with bounds between spans.

Let P have at most I parts. Each of its bounds that cuts a span is moved to the nearer end of the span, which moves a
block D of at most d = b / 2 rows, b rows in the largest span, from a part A to a part B. With W(S) = |S|! / prod S_j!,
W(A) >= W(A - D) W(D) and W(B + D) <= C(n_B + |D|, |D|) W(B) W(D), so that the lengths of the classes grow by at most
log C(N, d) <= d log(e N / d); the lengths of the class frequencies, log C(n + J - 1, J - 1), fall for A and grow by at
most (J - 1) log(1 + d) for B; and the length of the bounds does not rise, as there are not more parts. So the best
partition between spans costs at most (I - 1) (d log(e N / d) + (J - 1) log(1 + d)) more than P.

The number of parts of the best P is not known: the bound holds among partitions of at most `max_parts` parts, if the
user gave that limit, and none that keeps a limit which moved bounds may break. A bound for any number of parts is known
(`reproduce/measured/span_floor.py`): it takes a quadratic recursion, and says nothing where spans have 40 mixed rows.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gridmodl.criteria.modl import Modl
from gridmodl.data.table import Table
from gridmodl.fit.options import RULES, Options
from gridmodl.model.model import Model
from gridmodl.plugins import criterion_for
from gridmodl.search.proof import SPANS, Certificate


def with_span_floor(model: Model, resolution: int, table: Table, options: Options) -> Model:
    """The model of spans, with the lower bound of its cost if one is known, and never a proof."""
    certificate = _certificate(model, resolution, table, options)
    return replace(model, proven=False, certificate=certificate, resolution=resolution)


def _certificate(model: Model, resolution: int, table: Table, options: Options) -> Certificate | None:
    (name,) = model.partitions
    found, of_column = model.certificate, options.of(name)
    criterion = criterion_for(options.criterion, table.problem.kind)
    may_move = of_column.min_rows is None and all(getattr(of_column, what) is None for what in RULES)
    if found is None or of_column.max_parts is None or not may_move or not isinstance(criterion, Modl):
        return None
    lowest = model.cost if model.proven else found.lowest
    loss = (int(of_column.max_parts) - 1) * moved_bound_cost(resolution, table.problem.n_rows, table.problem.n_classes)
    return Certificate(SPANS, lowest - loss, max_parts=found.max_parts, missing=found.missing)


def moved_bound_cost(resolution: int, n_rows: int, n_classes: int) -> float:
    """Most that it costs to move a bound to the nearer end of a span of `resolution` rows."""
    moved = resolution / 2.0
    return moved * (1.0 + math.log(n_rows / moved)) + (n_classes - 1) * math.log1p(moved)
