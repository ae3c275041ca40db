"""Statistics from the counts of a model: shares of classes, lifts, densities and mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition


def class_shares(model: Model) -> NDArray[np.float64]:
    """Share of each class in each cell, or in each part if classes are grouped; the last row is for all rows."""
    if not len(model.classes):
        instead = "predict gives its mean and quantiles" if model.target is not None else "use transform or cell_of"
        raise ValueError(f"this model ({model.problem}) has no classes to predict; {instead}")
    overall = model.class_rows / model.class_rows.sum()
    if model.target is None:
        return np.vstack([model.cells.shares(), overall])
    shares = np.vstack([group_shares(model), model.target.counts[:, 0] / model.n_rows])
    group = group_of_classes(model)
    in_group = model.class_rows / model.target.counts[group, 0]
    return shares[:, group] * in_group


def part_shares(model: Model) -> NDArray[np.float64]:
    """Share of each class in each part of a model of one column; the last row is for values of no part."""
    (partition,), shares = model.partitions.values(), class_shares(model)
    if model.target is not None:
        return shares
    parts = [np.append(np.arange(partition.n_parts), -1)] if model.cells.names else []
    return np.take(*share_lines(model.cells, shares, parts, partition.n_parts + 1), axis=0)


class ShareLines(NamedTuple):
    """Shares of the classes, and which of them each row gets."""

    shares: NDArray[np.float64]  # lines of shares
    line: NDArray[np.int64]  # line of each row


def share_lines(
    cells: Cells, shares: NDArray[np.float64], parts: Sequence[NDArray[np.int64]], n_rows: int
) -> ShareLines:
    """Shares of the classes for `n_rows` rows, given their part in each variable of `cells`, or -1 for no part.

    A row gets the shares of all training rows that have its parts: those of its cell, or, if it has no part in some
    variables, of all cells that agree in the others. If no training row has its parts, or the row has none, it gets
    the shares of all rows. `shares` are those of the cells, and last of all rows.
    """
    line = cells.cell_of(parts, n_rows) % len(shares)
    if len(parts) < 2:
        return ShareLines(shares, line)
    is_unknown = np.column_stack([of_rows < 0 for of_rows in parts])
    rows = np.flatnonzero(is_unknown.any(axis=1))
    if len(rows) == 0:
        return ShareLines(shares, line)
    patterns, which = np.unique(is_unknown[rows], axis=0, return_inverse=True)
    rows = rows[np.argsort(which.ravel(), kind="stable")]
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
    tables, n_lines = [shares], len(shares)
    for pattern, mine in zip(patterns, np.split(rows, ends[:-1]), strict=True):
        known = np.flatnonzero(~pattern).tolist()
        if known:
            beside = cells.over(known)
            cell = beside.cell_of([parts[k][mine] for k in known], len(mine))
            line[mine] = np.where(cell >= 0, n_lines + cell, len(shares) - 1)
            tables.append(beside.shares())
            n_lines += len(beside.parts)
    return ShareLines(np.concatenate(tables), line)


def group_of_classes(model: Model) -> NDArray[np.int64]:
    """Group of each class, in a model whose classes are grouped."""
    assert model.target is not None  # noqa: S101  for mypy
    group_of = {value: j for j, group in enumerate(model.target.groups) for value in group}
    return np.array([group_of[name] for name in model.classes.tolist()])


def group_shares(model: Model) -> NDArray[np.float64]:
    """Share of each part of the target in each part of the column; of all rows for a part without rows."""
    ((_, partition),) = model.partitions.items()
    counts = part_counts(model, partition)
    rows = counts.sum(axis=1, keepdims=True)
    assert model.target is not None  # noqa: S101  for mypy
    overall = model.target.counts[:, 0] / model.n_rows
    return np.where(rows > 0, counts / np.maximum(rows, 1), overall)


def part_counts(model: Model, partition: Partition) -> NDArray[np.int64]:
    """Rows by part of the column and part of the target."""
    assert model.target is not None  # noqa: S101  for mypy
    return pair_counts(model, partition, model.target)[..., 0]  # the classes are the parts of the target: one count


def pair_counts(model: Model, one: Partition, other: Partition) -> NDArray[np.int64]:
    """Labelled rows by part of `one`, part of `other` and class, summed over all other variables."""
    cells = model.cells
    found = np.zeros((one.n_parts, other.n_parts, cells.counts.shape[1]), dtype=np.int64)
    np.add.at(found, (_parts_of_cells(model, one), _parts_of_cells(model, other)), cells.counts)
    return found


def _parts_of_cells(model: Model, partition: Partition) -> NDArray[np.int64]:
    """Part of each cell in `partition`; for an uninformative variable, its only part with rows."""
    cells, names = model.cells, list(model.cells.names)
    if partition.name in names:
        return cells.parts[:, names.index(partition.name)]
    return np.full(len(cells.parts), int(partition.rows.argmax()))


def cell_lifts(model: Model) -> NDArray[np.float64]:
    """Lift of each cell: its share of the rows, divided by the product of the shares of its parts."""
    cells = model.cells
    expected = np.ones(len(cells.parts))
    for k, name in enumerate(cells.names):
        expected *= model.partition(name).counts.sum(axis=1)[cells.parts[:, k]] / model.n_rows
    return cells.rows / model.n_rows / expected


def cell_information(model: Model) -> NDArray[np.float64]:
    """Contribution of each cell to the mutual information of the parts, in nats per row."""
    cells = model.cells
    return cells.rows / model.n_rows * np.log(cell_lifts(model))


def cell_densities(model: Model) -> NDArray[np.float64]:
    """Rows of each cell, divided by the number of combinations of the distinct values of its parts."""
    cells, names = model.cells, list(model.cells.names)
    density = cells.rows.astype(np.float64)
    for partition in model.all_partitions.values():
        assert partition.n_values is not None  # noqa: S101  models without classes have it
        if partition.name in names:
            density /= partition.n_values[cells.parts[:, names.index(partition.name)]]
        else:
            density /= partition.n_values.sum()
    return density


def mutual_information_of(model: Model) -> float:
    """Mutual information of the variables' parts, or of cells and classes in a model with classes; in nats per row."""
    if model.target is not None or not len(model.classes):
        # With one variable it is 0, where the sum would give 1e-17.
        return float(cell_information(model).sum()) if len(model.cells.names) > 1 else 0.0
    return table_information(model.cells.counts)


def table_information(counts: NDArray[np.int64]) -> float:
    """Mutual information of the rows and columns of a table, in nats."""
    return float(information_by_cell(counts)[counts > 0].sum())


def information_by_cell(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Contribution of each cell of a table to its mutual information; 0 for an empty cell."""
    shares = counts / counts.sum()
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    lifts = np.divide(shares, expected, out=np.ones_like(shares), where=shares > 0)
    return shares * np.log(lifts)
