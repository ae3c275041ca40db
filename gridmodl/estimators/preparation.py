"""What ``modl`` asks for the partition of a column before a class is told, whichever criterion the partition is by.

That is its parts, and how many rows of each class (or group of classes) each part has; where classes are grouped, also
these groups, and how many rows each class has. ``modl`` asks as much for these numbers whatever they are, and the rows
that it then puts in order take nothing where all are alike. So the preparation cost is the price of the same parts with
rows that are all of one class in each: by the terms of ``modl`` themselves. The cost of a model by ``modl`` is this and
the log-likelihood in it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gridmodl.groupings import log_groupings
from gridmodl.model import Model
from gridmodl.partition import Partition
from gridmodl.plugins import criterion_for
from gridmodl.pricing import categorical_facts, numerical_facts, prepare, price_one_variable
from gridmodl.terms import Cell, Part, Problem, Variable, params_record


def preparation_cost(model: Model) -> float:
    """Of the model of one column, beside classes or groups of classes."""
    (partition,) = model.partitions.values()
    if model.target is None:
        return _beside_classes(model, partition)
    return _beside_groups(model, partition, model.target)


def _beside_classes(model: Model, partition: Partition) -> float:
    criterion = criterion_for("modl", "classes")
    p, facts = prepare(criterion, Problem("classes", model.n_rows, 1, model.class_rows), _facts(partition))
    alike = np.zeros_like(partition.counts)
    alike[:, 0] = partition.rows
    return price_one_variable(criterion, p, facts, alike, _values(partition))


def _beside_groups(model: Model, partition: Partition, groups: Partition) -> float:
    criterion = criterion_for("modl", "grouped")
    p = params_record(criterion, Problem("grouped", model.n_rows, 1, np.empty(0, dtype=np.int64)))
    facts, rows = _facts(partition), partition.rows
    parts = [Part(*of) for of in zip(rows.tolist(), _values(partition).tolist(), strict=True) if of[0] > 0]
    alike = np.zeros(len(model.classes), dtype=np.int64)
    alike[: groups.n_parts] = groups.rows
    of_classes = categorical_facts(alike)._replace(is_target=True)
    of_groups = [Part(*of) for of in zip(groups.rows.tolist(), map(len, groups.groups), strict=True)]
    return math.fsum(
        [
            criterion.variable(p, facts, len(parts)),
            *(criterion.part(p, facts, part, len(of_groups)) for part in parts),
            *(criterion.cell(p, Cell(np.array([part.rows]), part.rows, 0)) for part in parts),
            criterion.variable(p, of_classes, len(of_groups)),
            *(criterion.part(p, of_classes, group, 0) for group in of_groups),
        ]
    )


def _values(partition: Partition) -> NDArray[np.int64]:
    """Values of each part. ``modl`` asks nothing for those of an interval, and a model need not know them: one."""
    lengths = [len(group) for group in partition.groups] or [1] * partition.n_parts
    return np.array(lengths, dtype=np.int64)


def _facts(partition: Partition) -> Variable:
    """What ``modl`` may know of an input; the rows of each value are not needed."""
    n_values = int(_values(partition).sum())
    if partition.kind == "numerical":
        return numerical_facts(n_values)
    return Variable(True, False, n_values, 0.0, 0.0, log_groupings(n_values))
