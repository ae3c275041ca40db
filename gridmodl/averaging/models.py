"""Models of single partitions of an average: the best one, samples, the fewest parts near the curve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import alone
from gridmodl.model.model import Model
from gridmodl.pricing import numerical_values, prepare, price_one_variable
from gridmodl.search import Search, run
from gridmodl.search.moves import NO_LIMIT, Frozen, Limits, Setting
from gridmodl.search.task import Task

if TYPE_CHECKING:
    from gridmodl.averaging.record import Average


def model_of_starts(average: Average, starts: NDArray[np.int64], search: str, proven: bool = False) -> Model:
    """Model of the partition whose intervals begin at the segments `starts`."""
    counted, segments = average._counted, average.segments
    criterion, n = average._weights.criterion, counted.n_intervals
    of_parts = np.concatenate([starts, np.arange(n, segments.n_parts)])
    by_code = np.add.reduceat(counted.by_code(), of_parts, axis=0, dtype=np.int64)
    values = np.add.reduceat(counted.values, of_parts)
    problem = counted.problem
    p, facts = prepare(criterion, problem, numerical_values(counted.n_values()))
    cost = price_one_variable(criterion, p, facts, by_code, values)
    whole = by_code.sum(axis=0)[None]
    null_cost = price_one_variable(criterion, p, facts, whole, np.array([facts.n_values]))
    cuts = starts[1:] - 1 - int(segments.is_missing_apart)
    n_classes = problem.n_classes
    partition = replace(
        segments,
        counts=np.ascontiguousarray(by_code[:, :n_classes]),
        unlabelled=None if segments.unlabelled is None else by_code[:, -1].copy(),
        bounds=segments.bounds[cuts[cuts >= 0]],
    )
    return Model(
        cost=cost,
        null_cost=null_cost,
        criterion=average.criterion,
        options=dict(average.options),
        problem=problem.kind,
        n_rows=average.n_rows,
        classes=average.classes,
        partitions={average.name: partition},
        proven=proven,
        search=search,
        elapsed=0.0,
        frame=average.frame,
        event_index=average.event_index,
        target_name=average.target_name,
    )


def best_model(average: Average) -> Model:
    """Model of the cheapest partition at candidate bounds."""
    counted, n = average._counted, average._counted.n_intervals
    by_code = counted.by_code()
    if not by_code[:n].any():
        return model_of_starts(average, np.zeros(1, dtype=np.int64), "exact", proven=True)
    criterion, problem = average._weights.criterion, counted.problem
    p, facts = prepare(criterion, problem, numerical_values(counted.n_values()))
    has_rows = by_code[n:].any(axis=1)
    apart = by_code[n:][has_rows]
    limits = Limits(NO_LIMIT if average.max_parts is None else average.max_parts, 1)
    values = counted.values.astype(np.int32)
    atoms = alone(by_code[:n], values[:n], problem.n_classes)
    task = Task(atoms, Setting(p, facts, Frozen()), type(criterion), limits)
    task = task.set_apart(alone(apart, values[n:][has_rows], problem.n_classes))
    found, kind = run("intervals", task, Search("exact"))
    return model_of_starts(average, found.starts, kind, proven=average.exact and found.proven)
