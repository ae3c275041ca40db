"""Tables of the parts of a variable and of the cells of a grid, and rules: one per cell, in words.

With an event, the table of parts names it in the column ``event`` and has its ``woe`` (weight of evidence), ``iv``
(information value) and ``lift``; with more than two classes and no event, ``woe_<class>``, ``iv_<class>`` and
``lift_<class>`` of each class against the rest. `gridmodl.model.evidence` has the formulas and the sign.

Unlabelled rows count among the rows of a part and have a column of their own; classes, shares and woe are of the
labelled rows.

Without classes, a table has the distinct values of each part. If the target is partitioned too, it has the shares of
the groups of classes, numbered as in the target's partition, or the mean, median and quantiles at 5, 25, 75 and 95 %
of a numerical target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.counts import cell_densities, cell_information, cell_lifts, part_counts
from gridmodl.model.evidence import evidence_of
from gridmodl.model.histogram import histogram_of

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition
    from gridmodl.model.target_quantiles import TargetQuantiles

# Columns of the table of cells of a model without classes.
NO_CLASSES = {"density": cell_densities, "lift": cell_lifts, "mutual_information": cell_information}


def columns_of(model: Model, partition: Partition) -> dict[str, Any]:
    """Columns of the table of `partition`: one entry per part."""
    if partition.n_values is None:
        return _columns_by_class(model, partition)
    rows = partition.counts.sum(axis=1)
    columns: dict[str, Any] = {
        "part": partition.labels,
        "rows": rows,
        "share": rows / rows.sum(),
        "values": partition.n_values,
    }
    if partition.widths is not None:
        found = histogram_of(model)
        is_mass = np.arange(partition.n_parts) >= found.n_intervals
        return columns | {"width": partition.widths, "density": found.densities, "mass": is_mass}
    if model.target is None or partition is model.target:
        return columns
    if model._target_quantiles is not None:
        filled = rows > 0
        for name, statistic in {
            "mean": model._target_quantiles.means,
            **quantiles_shown(model._target_quantiles),
        }.items():
            columns[name] = np.where(filled, statistic[:-1], np.nan)
        return columns
    counts = part_counts(model, partition)
    with np.errstate(invalid="ignore"):
        return columns | {f"share_{j}": counts[:, j] / rows for j in range(counts.shape[1])}


def quantiles_shown(quantiles: TargetQuantiles) -> dict[str, NDArray[np.float64]]:
    """Quantiles shown in tables, by name of their column."""
    return {"median": quantiles.quantile(0.5)} | {
        f"q{share}": quantiles.quantile(share / 100) for share in (5, 25, 75, 95)
    }


def _columns_by_class(model: Model, partition: Partition) -> dict[str, Any]:
    counts, rows = partition.counts, partition.rows
    labelled = counts.sum(axis=1)
    names = [str(name) for name in model.classes.tolist()]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts / labelled[:, None]
    columns: dict[str, Any] = {"part": partition.labels, "rows": rows, "share": rows / rows.sum()}
    if partition.unlabelled is not None:
        columns["unlabelled"] = partition.unlabelled
    columns |= {f"rows_{name}": counts[:, j] for j, name in enumerate(names)}
    columns |= {f"share_{name}": shares[:, j] for j, name in enumerate(names)}
    return columns | _evidence_columns(model, partition)


def _evidence_columns(model: Model, partition: Partition) -> dict[str, Any]:
    """Columns of the event, or of each of several classes against the rest."""
    if len(model.classes) < 2:
        return {}
    found = evidence_of(model, partition)
    if model.event_index is not None:
        (one,) = found
        return {"event": [one.name] * partition.n_parts, "woe": one.woe, "iv": one.iv, "lift": one.lift}
    return {f"{what}_{one.name}": getattr(one, what) for what in ("woe", "iv", "lift") for one in found}


class Rule(NamedTuple):
    """A cell in words: its conditions, its rows and the shares of its classes."""

    conditions: dict[Name, str]  #: label of the part of each variable
    rows: int  #: number of rows of the cell
    support: float  #: share of all rows
    shares: dict[Any, float]  #: share of each class

    def __str__(self) -> str:
        premise = " and ".join(f"{name} in {label}" for name, label in self.conditions.items()) or "all rows"
        ranked = sorted(self.shares.items(), key=lambda item: -item[1])
        classes = ", ".join(f"{name} {share:.1%}" for name, share in ranked if share > 0)
        return f"{premise}: {classes} ({self.rows} rows, {self.support:.1%})"


def rules_of(model: Model) -> list[Rule]:
    """One rule per cell, by descending number of rows."""
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


def _unused_name(name: str, model: Model, columns: dict[str, Any]) -> str:
    """The name, with as many primes as it takes to differ from all other columns of the table."""
    by_class = (f"{what}_{c}" for what in ("rows", "share") for c in _classes(model))
    taken = {"rows", "share", "unlabelled", *NO_CLASSES, *by_class, *columns}
    while name in taken:
        name += "'"
    return name


def _classes(model: Model) -> list[Any]:
    """Classes that the rows of cells are counted by."""
    return model.classes.tolist() if model.target is None else []


def cell_columns(model: Model) -> dict[str, Any]:
    """Columns of the table of cells: one entry per cell, by descending number of rows."""
    cells = model.cells
    order = np.argsort(-cells.rows, kind="stable")
    rows = cells.rows[order]
    columns: dict[str, Any] = {}
    for k, name in enumerate(cells.names):
        labels = model.partition(name).labels
        columns[_unused_name(str(name), model, columns)] = [labels[part] for part in cells.parts[order, k].tolist()]
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


def largest(rows: NDArray[np.int64], most: int) -> list[int]:
    """Numbers of the `most` classes with the most rows, ascending; ties: the first."""
    return np.sort(np.argsort(-rows, kind="stable")[:most]).tolist()


def with_others(counts: NDArray[np.int64], kept: list[int]) -> NDArray[np.int64]:
    """Rows of the classes in `kept`, along the last axis, followed by the rows of all other classes as one."""
    others = counts.sum(axis=-1, keepdims=True) - counts[..., kept].sum(axis=-1, keepdims=True)
    return np.concatenate([counts[..., kept], others], axis=-1)
