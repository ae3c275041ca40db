"""Lower bound of the cost where atoms are spans of several values, from the best partition with bounds between spans.

Let P have at most I parts. Each of its bounds that cuts a span is moved to the nearer end of the span, which moves at
most d = b / 2 rows, b rows in the largest span, from a part to its neighbour. What one such move costs at most, the
criterion says (`Criterion.moved_bound_cost`; that of `modl` has the proof). So the best partition between spans costs
at most I - 1 times this more than P.

The number of parts of the best P is not known: the bound holds among partitions of at most `max_parts` parts, if the
user gave that limit, and none that keeps a limit which moved bounds may break. A bound for any number of parts is known
(`reproduce/measured/span_floor.py`): it takes a quadratic recursion, and says nothing where spans have 40 mixed rows.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gridmodl.data.table import Table
from gridmodl.fit.options import RULES, Options
from gridmodl.model.model import Model
from gridmodl.plugins import criterion_for
from gridmodl.search.proof import SPANS, Certificate


def with_span_floor(model: Model, resolution: int, table: Table, options: Options) -> Model:
    """The model of spans, with the lower bound of its cost if one is known, and never a proof."""
    certificate = _certificate(model, resolution, table, options)
    return replace(model, proven=False, certificate=certificate, unproven=None, resolution=resolution)


def _certificate(model: Model, resolution: int, table: Table, options: Options) -> Certificate | None:
    (name,) = model.partitions
    found, of_column = model.certificate, options.of(name)
    may_move = of_column.min_rows is None and all(getattr(of_column, what) is None for what in RULES)
    if found is None or of_column.max_parts is None or not may_move:
        return None
    criterion = criterion_for(options.criterion, table.problem.kind)
    by_bound = criterion.moved_bound_cost(table.problem, resolution / 2.0)
    if by_bound == math.inf:
        return None
    lowest = model.cost if model.proven else found.lowest
    lowest -= (int(of_column.max_parts) - 1) * by_bound
    return Certificate(SPANS, lowest, max_parts=found.max_parts, missing=found.missing)
