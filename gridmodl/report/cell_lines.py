"""Predictions of each cell of a model, as lines to look up by the parts of a row: for SQL and ONNX."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.cells import Cells
from gridmodl.model.counts import class_shares, input_cells, quantiles_of_lines, shares_in_groups, shares_of_cells
from gridmodl.model.policy import NO_PART, Policy
from gridmodl.model.smoothing import checked_smoothing
from gridmodl.model.target_quantiles import Prediction
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_LINES = 100_000  # that a query or a graph brings with it


class Wanted(NamedTuple):
    """What is asked of the predictions of a model, beside which of them."""

    policy: Policy  # for values that no part holds
    coverage: float = 0.9  # of the interval of a numerical target
    smoothing: bool = False  # of the shares of classes, as in `Model.predict_proba`


class CellLines(NamedTuple):
    """Lines of the cells, then of rows with values of no part in some variables; tables have a last line of all rows.

    A row without a line, as no training row had its parts, has that last line.
    """

    names: Sequence[Name]  # variables that tell the lines apart
    parts: list[list[int]]  # of each line, by variable; -1, or a special part without rows, for lines of the others
    numbers: list[int]  # of the cell; -1 for lines of no cell
    shares: NDArray[np.float64] | None  # by line and class; None without classes, or if not asked for
    likeliest: NDArray[np.int64] | None  # number of the most frequent class, by line; None as for shares
    predictions: Prediction | None  # of a numerical target, by line; None without one, or if not asked for


def check_wanted(wanted: Wanted, outputs: Sequence[str]) -> None:
    """Raise if shares shall be smoothed, and none of `outputs` is of shares."""
    if checked_smoothing(wanted.smoothing) and "proba" not in outputs:
        raise ValueError(
            f"smoothing=True is of the output 'proba', and the outputs are {', '.join(map(repr, outputs))}; use "
            "smoothing=False"
        )


def cell_lines(model: Model, wanted: Wanted, is_predicted: bool) -> CellLines:
    """Lines of a model; with shares of classes, or statistics of a numerical target, if `is_predicted`."""
    is_one = model.target is not None and PROBLEMS[model.problem].has_one_input
    grid = model.cells if model.target is None else input_cells(model)
    names: tuple[Name, ...] = tuple(grid.names)
    cells = grid.parts.tolist()
    if is_one:
        ((name, partition),) = model.partitions.items()
        names, cells = (name,), [[part] for part in range(partition.n_parts)]
    n_cells = len(cells)
    has_classes = is_predicted and len(model.classes) > 0
    has_quantiles = is_predicted and model._target_quantiles is not None
    besides = [] if is_one or not (has_classes or has_quantiles) else list(cells_of_some(model, grid, wanted.policy))
    for beside, lacking in besides:
        parts = np.tile(np.array(lacking), (len(beside.parts), 1))
        parts[:, [names.index(name) for name in beside.names]] = beside.parts
        cells = cells + parts.tolist()
    predictions = shares = likeliest = None
    if has_quantiles:
        quantiles = quantiles_of_lines(model, grid, [[names.index(name) for name in one.names] for one, _ in besides])
        lines = [*range(n_cells), *range(n_cells + 1, len(cells) + 1), n_cells]
        predictions = quantiles.predict(np.array(lines), wanted.coverage)
    elif has_classes:
        some = [one for one, _ in besides]
        shares = _shares(model, some, wanted.smoothing)
        likeliest = (_shares(model, some, False) if wanted.smoothing else shares).argmax(axis=1)
    numbers = [*range(n_cells), *[NO_PART] * (len(cells) - n_cells)]
    return CellLines(names, cells, numbers, shares, likeliest, predictions)


def _shares(model: Model, besides: Sequence[Cells], smoothing: bool) -> NDArray[np.float64]:
    """Shares of classes in the cells of a model, then of those of some of its variables, last of all rows."""
    of_cells = class_shares(model, smoothing)
    if model.target is None:
        more = [shares_of_cells(model, one, smoothing) for one in besides]
    else:
        more = [shares_in_groups(model, one.shares()) for one in besides]
    return np.concatenate([of_cells[:-1], *more, of_cells[-1:]])


def cells_of_some(model: Model, cells: Cells, policy: Policy) -> Iterator[tuple[Cells, list[int]]]:
    """Cells of the variables of a grid that remain if some, in which a value may tell nothing, are left out.

    With them, for each variable that is left out, the number in place of its part.
    """
    if len(cells.names) < 2:
        return
    lacks = [_lacks(model.partitions[name], policy) for name in cells.names]
    may_lack = [k for k, numbers in enumerate(lacks) if numbers]
    n_lines = len(cells.parts)
    for left_out in itertools.chain(*(itertools.combinations(may_lack, n) for n in range(1, len(may_lack) + 1))):
        if len(left_out) < len(cells.names):
            beside = cells.over([k for k in range(len(cells.names)) if k not in left_out])
            chosen = list(itertools.product(*(lacks[k] if k in left_out else [0] for k in range(len(lacks)))))
            n_lines += len(beside.parts) * len(chosen)
            if n_lines > MAX_LINES:
                raise ValueError(
                    f"neutral predictions of this grid, {len(cells.parts)} cells of {len(cells.names)} columns, take "
                    f"more than {MAX_LINES} lines; ask for output=['parts', 'cell'], or predict in Python"
                )
            yield from ((beside, list(numbers)) for numbers in chosen)


def _lacks(partition: Partition, policy: Policy) -> list[int]:
    """Numbers in place of a part for values of the variable that tell nothing: of no part, or special without rows."""
    parts = [partition.part_of_missing(policy)]
    if partition.kind != "numerical":
        parts.append(partition.part_of_unknown(policy))
    return [*([NO_PART] if NO_PART in parts else []), *partition.empty_special]
