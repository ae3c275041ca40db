"""Cells of grids as sources of evidence: what several columns say of the classes together.

`find_grids` searches the candidates, distinct local optima over random choices of the columns. Selective
weights then decide which of them are used beside the columns. Two things keep them from choosing grids that only fit
the training rows:

* The evidence of a cell at one of its own training rows leaves that row out (`left_out`). With n rows in the cell, n_j
  of them of class j, whose share of all rows is p_j, and J classes, a row of class i has

      P(j | cell)  =  (n_j - [i = j] + J p_j) / (n - 1 + J)

  So the class shares of the cells need no other price: small cells are expensive by themselves.
* Each grid pays for its structure (`structure_cost`): which columns it has, and their parts, as ``modl`` codes them.
  A nat of it counts `GRID_RATE` times as much as one of a column, as a grid is the best one of very many.

Before that, grids of columns that do not interact are left out: the cells of a candidate must be a shorter code of the
classes than its parts column by column (`is_interaction`). `reproduce/measured/interactions.py` measures these
rules, and says on which data their constants were chosen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gridmodl.data.frames import Name, Raw
from gridmodl.evidence.prices import classes_cost, shares_cost, structure_cost
from gridmodl.evidence.sources import RowPlaces, evidence_of_lines, smoothed, suspicions_of
from gridmodl.model.model import Model
from gridmodl.model.policy import Policy
from gridmodl.pipeline import optimize
from gridmodl.search import Search

GRID_RATE = 5.0  # price of a grid in selective weights, by nat of its structure; that of a column is 1 by nat
# All distinct optima of the 127 rounds. Only the cheapest of more rounds are too alike: see the script named above.
CANDIDATES = Search("diverse", effort=6, keep_optima=128)
LOG_CANDIDATES = math.log(CANDIDATES.keep_optima)


@dataclass(frozen=True, eq=False)
class GridSource:
    """Evidence of the cells of a grid.

    Attributes
    ----------
    model : Model
        The grid.
    name : str
        Its columns, such as ``"age x town"``; followed by a number if another source has that name.
    evidence : ndarray of shape (n_cells, n_classes)
        Evidence of each cell, log P(class | cell) - log P(class).
    price : float
        Price in selective weights: `GRID_RATE` times `structure_cost`.

    Notes
    -----
    A row in a cell without training rows, or with a value of no part, has no evidence.
    """

    model: Model
    name: str
    evidence: NDArray[np.float64]
    price: float = 0.0

    @property
    def columns(self) -> tuple[Name, ...]:
        return self.model.cells.names

    @property
    def labels(self) -> list[str]:
        cells = self.model.cells
        of_parts = [self.model.partitions[name].labels for name in cells.names]
        return [
            " and ".join(f"{name} in {labels[i]}" for name, labels, i in zip(cells.names, of_parts, parts, strict=True))
            for parts in cells.parts.tolist()
        ]

    @property
    def suspicions(self) -> Mapping[Name, str]:
        return suspicions_of(self.model.partitions[name] for name in self.columns)

    def places(self, columns: Mapping[Name, Raw], policy: Policy) -> RowPlaces:
        partitions = [self.model.partitions[name] for name in self.columns]
        parts = [partition.part_of_column(columns[partition.name], policy) for partition in partitions]
        return RowPlaces(self.model.cells.cell_of(parts, len(parts[0])))

    def evidence_at(self, places: RowPlaces) -> NDArray[np.float64]:
        return evidence_of_lines(self.evidence, places.line)


def grid_source(model: Model, log_prior: NDArray[np.float64], name: str, price: float = 0.0) -> GridSource:
    """Evidence of the cells of a grid; P(class | cell) is the predictive of `smoothed`."""
    return GridSource(model, name, np.log(smoothed(model.cells.counts, np.exp(log_prior))) - log_prior, price)


def left_out(counts: NDArray[np.int64], log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evidence of cells at their own rows, each row left out: line ``cell * n_classes + class of the row``.

    `counts` are the rows by cell and class. The lines of classes without rows in the cell are of no row, and 0.
    """
    n_cells, n_classes = counts.shape
    others = counts[:, None, :] - np.eye(n_classes, dtype=np.int64)  # by cell, class of the row, class
    evidence = np.zeros((n_cells, n_classes, n_classes))
    evidence[counts > 0] = np.log(smoothed(others[counts > 0], np.exp(log_prior))) - log_prior
    return evidence.reshape(-1, n_classes)


def without_rows(
    source: GridSource,
    line: NDArray[np.int64],
    codes: NDArray[np.int64],
    rows: NDArray[np.int64],
    log_prior: NDArray[np.float64],
) -> GridSource:
    """The source without some training rows, given the cell, class and number of each; its cells stay the same."""
    counts, gone = source.model.cells.counts, np.zeros_like(source.model.cells.counts)
    np.add.at(gone, (line[rows > 0], codes[rows > 0]), rows[rows > 0])
    return replace(source, evidence=np.log(smoothed(counts - gone, np.exp(log_prior))) - log_prior)


def find_grids(
    columns: Mapping[Name, Raw], target: NDArray[Any], weights: NDArray[np.int64] | None, *, frame: str, **options: Any
) -> Model:
    """Model of the best grid of several `columns`, with the candidates as its ``optima``.

    `frame` is the kind of frame of the columns; `options` are those of `gridmodl.optimize`.
    """
    found = optimize(columns, target, weights=weights, target_kind="classes", search=CANDIDATES, **options)
    optima = [replace(grid, frame=frame) for grid in found.optima if _is_candidate(grid)]
    return replace(found, optima=tuple(optima), _source=None)


def _is_candidate(grid: Model) -> bool:
    return len(grid.informative) > 1 and grid.cost < grid.null_cost and is_interaction(grid)


def is_interaction(grid: Model) -> bool:
    """Whether the cells of a grid are a shorter code of the classes than its parts column by column.

    Both codes have the same parts, so that their cost is left out. Column by column, the classes are coded by
    P(class | cell) ~ P(class) * product over columns of (P(class | part) / P(class)) ^ weight, with the best weights of
    0 or more, plus what it costs to code the shares of the classes in each part (`shares_cost`). The code by cells also
    says which of the candidates it is.
    """
    cells, prior = grid.cells, grid.class_rows / grid.n_rows
    by_part = [grid.partitions[name].counts for name in cells.names]
    evidence = [np.log(smoothed(counts, prior) / prior) for counts in by_part]
    at_cells = np.array([of[parts] for of, parts in zip(evidence, cells.parts.T, strict=True)])
    of_all = shares_cost(grid.class_rows[None])  # every column tells the shares in all rows; they are coded once
    of_parts = of_all + sum(shares_cost(counts) - of_all for counts in by_part)
    one_by_one = _least_loss(at_cells, cells.counts, np.log(prior)) + of_parts
    return classes_cost(cells.counts) + LOG_CANDIDATES < one_by_one


def _least_loss(evidence: NDArray[np.float64], counts: NDArray[np.int64], log_prior: NDArray[np.float64]) -> float:
    """Sum over rows of -log P(class), for the best weights of 0 or more; `evidence` is by column, cell and class."""
    rows, scale = counts.sum(axis=1), 1.0 / counts.sum()

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = log_prior + np.tensordot(weights, evidence, 1)
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        beyond = rows[:, None] * np.exp(scores) - counts
        return -scale * float(np.sum(counts * scores)), scale * np.tensordot(evidence, beyond, 2)

    start, bounds = np.ones(len(evidence)), [(0.0, None)] * len(evidence)
    return float(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).fun) / scale


def grid_sources(
    grids: Sequence[Model], log_prior: NDArray[np.float64], taken: Collection[Name], n_columns: int
) -> list[GridSource]:
    """Sources of `grids`, found among `n_columns` columns, with names that differ from each other and those `taken`."""
    names = {str(name) for name in taken}
    found = []
    for grid in grids:
        name = _unused(" x ".join(map(str, grid.informative)), names)
        names.add(name)
        found.append(grid_source(grid, log_prior, name, GRID_RATE * structure_cost(grid, n_columns)))
    return found


def _unused(name: str, taken: Collection[str]) -> str:
    n, found = 1, name
    while found in taken:
        n += 1
        found = f"{name} ({n})"
    return found
