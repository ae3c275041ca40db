"""Two variables out of a model, and the rows of the cells that their parts make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridmodl.frames import Name
from gridmodl.partition import Partition

if TYPE_CHECKING:
    from gridmodl.model import Model


def chosen_pair(model: Model, x: Name | None, y: Name | None) -> tuple[Partition, Partition]:
    """The variables that are named, else the first that are informative, else any."""
    known = model.all_partitions
    if len(known) < 2:
        raise ValueError(f"two variables are drawn, and the model has one, {next(iter(known))!r}; see PartsDisplay")
    if x is not None and x == y:
        raise ValueError(f"x and y must be two variables, got {x!r} for both")
    free = [name for name in dict.fromkeys([*model.cells.names, *known]) if name not in (x, y)]
    below = model.partition(free.pop(0) if x is None else x)
    left = model.partition(free.pop(0) if y is None else y)
    return below, left


def pair_counts(model: Model, x: Partition, y: Partition) -> NDArray[np.int64]:
    """Rows by part of `y`, part of `x` and class, summed over all other variables; those without a class apart."""
    cells = model.cells
    n_classes = cells.counts.shape[1]
    found = np.zeros((y.n_parts, x.n_parts, n_classes), dtype=np.int64)
    np.add.at(found, (_parts_of_cells(model, y), _parts_of_cells(model, x)), cells.counts)
    return found


def _parts_of_cells(model: Model, partition: Partition) -> NDArray[np.int64]:
    """The part of each cell; of a variable that no cell names, the only one that has rows."""
    cells, names = model.cells, list(model.cells.names)
    if partition.name in names:
        return cells.parts[:, names.index(partition.name)]
    return np.full(len(cells.parts), int(partition.rows.argmax()))


def pair_information(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each cell adds to the mutual information of two variables."""
    shares = rows / rows.sum()
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    filled = shares > 0
    lifts = np.divide(shares, expected, out=np.ones_like(shares), where=filled)
    return shares * np.log(lifts)
