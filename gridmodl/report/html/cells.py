"""The cells of a grid for a page, which adds them up: over variables that a heat map does not show, and over merges."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.modelcounts import pair_counts, table_information
from gridmodl.report.html.merges import merge_records
from gridmodl.report.html.plain import cut, plain_number, plain_values
from gridmodl.report.html.variables import MAX_CLASSES
from gridmodl.report.tables import largest
from gridmodl.terms import ONE_COUNT

if TYPE_CHECKING:
    from gridmodl.model import Model
    from gridmodl.partition import Partition

MAX_NUMBERS = 1_000_000  # of all cells on a page, some 5 MB


def grid_record(model: Model) -> dict[str, Any] | None:
    """The cells and what a page needs to count with them; None where no two variables make a grid."""
    cells = model.cells
    if len(cells.names) < 2:
        return None
    classes = [] if model.problem in ONE_COUNT else largest(model.class_rows, MAX_CLASSES)
    most = MAX_NUMBERS // (len(cells.names) + len(classes) + 2)
    order = np.argsort(-cells.rows, kind="stable")[:most]
    record = {
        "variables": [_variable(model.partition(name)) for name in cells.names],
        "parts": cells.parts[order].T.tolist(),
        "rows": cells.rows[order].tolist(),
        "unlabelled": None if cells.unlabelled is None else cells.unlabelled[order].tolist(),
        "counts": [cells.counts[order, j].tolist() for j in classes],
        "classes": [cut(str(model.classes[j])) for j in classes],
        "class_rows": [int(model.class_rows[j]) for j in classes],
        "n_rows": int(model.n_rows),
        "other_values": _other_values(model),
        "cost": model.cost,
        "information": 1 if model.cost < model.null_cost else 0,  # that the grid keeps before the first merge
        "axes": _best_pair(model),
        "merges": merge_records(model) if model.problem in ONE_COUNT else [],
    }
    return record | {"notes": _notes(model, len(order), len(classes))}


def _variable(partition: Partition) -> dict[str, Any]:
    return {
        "name": cut(str(partition.name)),
        "is_numerical": partition.kind == "numerical",
        "labels": plain_values(partition.labels),
        "rows": partition.rows.tolist(),
        "values": None if partition.n_values is None else partition.n_values.tolist(),
    }


def _best_pair(model: Model) -> list[int]:
    """The two variables that a heat map shows first: those that tell most of the classes, or of one another."""
    pairs = itertools.combinations(range(len(model.cells.names)), 2)
    return list(max(pairs, key=lambda pair: table_information(_pair_table(model, *pair))))


def _pair_table(model: Model, a: int, b: int) -> NDArray[np.int64]:
    """Rows by pair of parts and class; without classes, by part of the one variable and part of the other."""
    one, other = (model.partition(model.cells.names[k]) for k in (a, b))
    table = pair_counts(model, one, other)
    return table[..., 0] if model.problem in ONE_COUNT else table.reshape(one.n_parts * other.n_parts, -1)


def _other_values(model: Model) -> float | str | None:
    """Combinations of the values of variables that no cell tells apart, by which densities are divided."""
    others = [part for part in model.all_partitions.values() if part.name not in model.cells.names]
    return plain_number(math.prod(float(part.n_values.sum()) for part in others if part.n_values is not None))


def _notes(model: Model, n_shown: int, n_classes: int) -> list[str]:
    notes = []
    if n_shown < len(model.cells.parts):
        rows = np.sort(model.cells.rows)[::-1][:n_shown].sum() / model.n_rows
        notes.append(f"Only the {n_shown:,} cells with the most rows are here, with {rows:.1%} of all rows.")
    if 0 < n_classes < len(model.classes):
        notes.append(f"The {n_classes} largest of {len(model.classes):,} classes are shown.")
    return notes
