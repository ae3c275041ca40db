"""Statistics from the counts of a model: shares of classes, lifts, densities and mutual information."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.smoothing import checked_smoothing, smoothed_shares
from gridmodl.model.target_quantiles import TargetQuantiles, merged_target_quantiles
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.data.frames import Name
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition


def class_shares(model: Model, smoothing: bool = False) -> NDArray[np.float64]:
    """Share of each class in each cell; the last row is for all rows. With `smoothing`, by the criterion's predictive.

    If classes are grouped: in each part of the one input, or in each cell of several.
    """
    if not len(model.classes):
        instead = "predict gives its mean and quantiles" if model.target is not None else "use transform or cell_of"
        raise ValueError(f"this model ({model.problem}) has no classes to predict; {instead}")
    if checked_smoothing(smoothing):
        return np.vstack([shares_of_cells(model, model.cells, True), smoothed_shares(model, model.class_rows[None])])
    if model.target is None:
        return np.vstack([model.cells.shares(), model.class_rows / model.class_rows.sum()])
    shares = np.vstack([group_shares(model), model.target.counts[:, 0] / model.n_rows])
    return shares_in_groups(model, shares)


def shares_of_cells(model: Model, cells: Cells, smoothing: bool) -> NDArray[np.float64]:
    """Share of each class in `cells`; of all rows in a cell without labelled rows."""
    if not smoothing:
        return cells.shares()
    has_rows = cells.counts.any(axis=1, keepdims=True)
    return smoothed_shares(model, np.where(has_rows, cells.counts, cells.counts.sum(axis=0)))


def shares_in_groups(model: Model, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the classes, given those of their groups."""
    assert model.target is not None  # noqa: S101  for mypy
    group = group_of_classes(model)
    return shares[:, group] * (model.class_rows / model.target.counts[group, 0])


class ShareLines(NamedTuple):
    """Shares of the classes, and which of them each row gets."""

    shares: NDArray[np.float64]  # lines of shares
    line: NDArray[np.int64]  # line of each row


def share_lines(
    cells: Cells,
    shares: NDArray[np.float64],
    parts: Sequence[NDArray[np.int64]],
    n_rows: int,
    shares_of: Callable[[Cells], NDArray[np.float64]],
) -> ShareLines:
    """Shares of the classes for `n_rows` rows, given their part in each variable of `cells`, or -1 for no part.

    A row gets the shares of all training rows that have its parts: those of its cell, or, if it has no part in some
    variables, of all cells that agree in the others. If no training row has its parts, or the row has none, it gets
    the shares of all rows. `shares` are those of the cells, and last of all rows; `shares_of` gives those of others.
    """
    line, besides = row_lines(cells, parts, n_rows)
    return ShareLines(np.concatenate([shares, *(shares_of(cells.over(known)) for known in besides)]), line)


def row_lines(
    cells: Cells, parts: Sequence[NDArray[np.int64]], n_rows: int
) -> tuple[NDArray[np.int64], list[list[int]]]:
    """Line of each row in a table of the cells, then of all rows, then of the cells of some variables for each choice.

    The choices of variables are returned too: those in which some rows have parts, while they have none in the others.
    """
    n_lines = len(cells.parts) + 1
    line, besides = cells.cell_of(parts, n_rows) % n_lines, list[list[int]]()
    all_rows = n_lines - 1
    is_unknown = np.column_stack([of_rows < 0 for of_rows in parts]) if parts else np.zeros((n_rows, 0), dtype=bool)
    rows = np.flatnonzero(is_unknown.any(axis=1))
    if len(parts) < 2 or len(rows) == 0:
        return line, besides
    patterns, which = np.unique(is_unknown[rows], axis=0, return_inverse=True)
    rows = rows[np.argsort(which.ravel(), kind="stable")]
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
    for pattern, mine in zip(patterns, np.split(rows, ends[:-1]), strict=True):
        known = np.flatnonzero(~pattern).tolist()
        if known:
            beside = cells.over(known)
            cell = beside.cell_of([parts[k][mine] for k in known], len(mine))
            line[mine] = np.where(cell >= 0, n_lines + cell, all_rows)
            besides.append(known)
            n_lines += len(beside.parts)
    return line, besides


def input_cells(model: Model) -> Cells:
    """Cells of the inputs of a model whose target is partitioned too, with the parts of the target as classes."""
    cells, target = model.cells, model.target
    assert target is not None  # noqa: S101  for mypy
    counts = np.zeros((len(cells.parts), target.n_parts), dtype=np.int64)
    counts[np.arange(len(counts)), parts_of_cells(model, target)] = cells.rows
    return cells._replace(counts=counts).over([k for k, name in enumerate(cells.names) if name != target.name])


def quantiles_of_lines(model: Model, cells: Cells, besides: Sequence[Sequence[int]]) -> TargetQuantiles:
    """Statistics of a numerical target in the lines of `row_lines`, given the cells of the inputs."""
    quantiles = model._target_quantiles
    assert quantiles is not None  # noqa: S101  for mypy
    tables = [quantiles]
    for known in besides:
        merged = cells.over(known).cell_of([cells.parts[:, k] for k in known], len(cells.parts))
        tables.append(merged_target_quantiles(quantiles, cells.rows, merged).without_all())
    means, percentiles = zip(*tables, strict=True)
    return TargetQuantiles(np.concatenate(means), np.concatenate(percentiles))


def quantiles_of_parts(model: Model, partition: Partition) -> TargetQuantiles:
    """Statistics of a numerical target in each part of a column; percentiles are approximate with several inputs."""
    quantiles = model._target_quantiles
    assert quantiles is not None  # noqa: S101  for mypy
    if PROBLEMS[model.problem].has_one_input:
        return quantiles
    cells = input_cells(model)
    names = list(cells.names)
    parts = np.full(len(cells.parts), int(partition.rows.argmax()))
    if partition.name in names:
        parts = cells.parts[:, names.index(partition.name)]
    return merged_target_quantiles(quantiles, cells.rows, parts, partition.n_parts)


def merged_quantiles(model: Model, labels: Mapping[Name, NDArray[np.int64]]) -> TargetQuantiles | None:
    """Statistics of a numerical target after merges; `labels` has the new part of each part, by column.

    None if the model has no numerical target.
    """
    quantiles = model._target_quantiles
    if quantiles is None:
        return None
    if PROBLEMS[model.problem].has_one_input:
        ((name, partition),) = model.partitions.items()
        rows = partition.counts.sum(axis=1)
        return merged_target_quantiles(quantiles, rows, labels[name]) if name in labels else quantiles
    cells = input_cells(model)
    columns = zip(cells.names, cells.parts.T, strict=True)
    of_cells = [labels[name][parts] if name in labels else parts for name, parts in columns]
    merged = cells._replace(parts=np.column_stack(of_cells)) if of_cells else cells
    kept = [k for k, parts in enumerate(of_cells) if parts.min() < parts.max()]
    number = merged.over(kept).cell_of([of_cells[k] for k in kept], len(cells.parts))
    return merged_target_quantiles(quantiles, cells.rows, number)


def group_of_classes(model: Model) -> NDArray[np.int64]:
    """Group of each class, in a model whose classes are grouped."""
    assert model.target is not None  # noqa: S101  for mypy
    group_of = {value: j for j, group in enumerate(model.target.groups) for value in group}
    return np.array([group_of[name] for name in model.classes.tolist()])


def group_shares(model: Model) -> NDArray[np.float64]:
    """Share of each part of the target in each part of the one input, or in each cell of several.

    A part without rows has the shares of all rows.
    """
    if not PROBLEMS[model.problem].has_one_input:
        return input_cells(model).shares()
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
    np.add.at(found, (parts_of_cells(model, one), parts_of_cells(model, other)), cells.counts)
    return found


def pair_target_counts(model: Model, one: Partition, other: Partition) -> NDArray[np.int64]:
    """Rows by part of `one`, part of `other` and part of the target, summed over all other variables."""
    assert model.target is not None  # noqa: S101  for mypy
    found = np.zeros((one.n_parts, other.n_parts, model.target.n_parts), dtype=np.int64)
    parts = [parts_of_cells(model, partition) for partition in (one, other, model.target)]
    np.add.at(found, tuple(parts), model.cells.rows)
    return found


def parts_of_cells(model: Model, partition: Partition) -> NDArray[np.int64]:
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
    if not PROBLEMS[model.problem].has_one_input and model.target is not None:
        return table_information(input_cells(model).counts)
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
