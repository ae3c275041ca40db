"""A grid as rules: one for each cell, in words, with the rows that it holds for and the shares of their classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gridmodl.frames import Name
from gridmodl.modelcounts import cell_densities, cell_information, cell_lifts

if TYPE_CHECKING:
    from gridmodl.model import Model

# What the table of cells says where there are no classes to count.
NO_CLASSES = {"density": cell_densities, "lift": cell_lifts, "mutual_information": cell_information}


class Rule(NamedTuple):
    """What holds for the rows of one cell."""

    conditions: dict[Name, str]  #: variable and the label of its part
    rows: int  #: of the cell
    support: float  #: share of all rows
    shares: dict[Any, float]  #: of each class

    def __str__(self) -> str:
        premise = " and ".join(f"{name} in {label}" for name, label in self.conditions.items()) or "all rows"
        ranked = sorted(self.shares.items(), key=lambda item: -item[1])
        classes = ", ".join(f"{name} {share:.1%}" for name, share in ranked if share > 0)
        return f"{premise}: {classes} ({self.rows} rows, {self.support:.1%})"


def rules_of(model: Model) -> list[Rule]:
    """One rule per cell, those of most rows first."""
    if model.target is not None or not len(model.classes):
        raise ValueError(f"rules are of classes in cells, and this model ({model.problem}) has none; see cell_table")
    cells = model.cells
    labels = [model.partitions[name].labels for name in cells.names]
    classes = model.classes.tolist()
    rows, shares, total = cells.rows, cells.shares(), model.n_rows
    rules = []
    for i in np.argsort(-rows, kind="stable").tolist():
        conditions = {name: labels[k][cells.parts[i, k]] for k, name in enumerate(cells.names)}
        rules.append(
            Rule(conditions, int(rows[i]), int(rows[i]) / total, dict(zip(classes, shares[i].tolist(), strict=True)))
        )
    return rules


def _free(name: str, model: Model, columns: dict[str, Any]) -> str:
    """The name, or one with a stroke where a column of the table has it already."""
    by_class = (f"{what}_{c}" for what in ("rows", "share") for c in _classes(model))
    taken = {"rows", "share", "unlabelled", *NO_CLASSES, *by_class, *columns}
    while name in taken:
        name += "'"
    return name


def _classes(model: Model) -> list[Any]:
    """Classes whose rows cells are counted by."""
    return model.classes.tolist() if model.target is None else []


def cell_columns(model: Model) -> dict[str, Any]:
    """The columns of the table of cells: one entry per cell."""
    cells = model.cells
    order = np.argsort(-cells.rows, kind="stable")
    rows = cells.rows[order]
    columns: dict[str, Any] = {}
    for k, name in enumerate(cells.names):
        labels = model.partition(name).labels
        columns[_free(str(name), model, columns)] = [labels[part] for part in cells.parts[order, k].tolist()]
    columns |= {"rows": rows, "share": rows / rows.sum()}
    if cells.unlabelled is not None:
        columns["unlabelled"] = cells.unlabelled[order]
    if not _classes(model):
        for column, statistic in NO_CLASSES.items():
            columns[column] = statistic(model)[order]
        return columns
    shares = cells.shares()[order]
    for j, name in enumerate(_classes(model)):
        columns[f"rows_{name}"] = cells.counts[order, j]
        columns[f"share_{name}"] = shares[:, j]
    return columns
