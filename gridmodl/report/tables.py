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
from gridmodl.model.counts import (
    cell_densities,
    cell_information,
    cell_lifts,
    input_cells,
    part_counts,
    quantiles_of_parts,
)
from gridmodl.model.densities.histogram import histogram_of
from gridmodl.model.evidence import evidence_of
from gridmodl.model.names import named_labels
from gridmodl.model.target_quantiles import TargetQuantiles
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

# Columns of the table of cells of a model without classes.
NO_CLASSES = {"density": cell_densities, "lift": cell_lifts, "mutual_information": cell_information}


MAX_SAID = 4  # classes of a rule in words, the largest first; one more is said too
# Columns of the statistics of a numerical target.
STATISTICS = ("mean", "median", "q5", "q25", "q75", "q95")


def columns_of(model: Model, partition: Partition) -> dict[str, Any]:
    """Columns of the table of `partition`: one entry per part."""
    if partition.n_values is None:
        return _columns_by_class(model, partition)
    rows = partition.counts.sum(axis=1)
    columns: dict[str, Any] = {
        "part": named_labels(partition),
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
        for name, statistic in statistics_shown(quantiles_of_parts(model, partition)).items():
            columns[name] = np.where(filled, statistic[:-1], np.nan)
        return columns
    counts = part_counts(model, partition)
    with np.errstate(invalid="ignore"):
        return columns | {f"share_{j}": counts[:, j] / rows for j in range(counts.shape[1])}


def statistics_shown(quantiles: TargetQuantiles) -> dict[str, NDArray[np.float64]]:
    """Mean and quantiles shown in tables, by name of their column."""
    columns = [quantiles.means, *(quantiles.quantile(share) for share in (0.5, 0.05, 0.25, 0.75, 0.95))]
    return dict(zip(STATISTICS, columns, strict=True))


def _columns_by_class(model: Model, partition: Partition) -> dict[str, Any]:
    counts, rows = partition.counts, partition.rows
    labelled = counts.sum(axis=1)
    names = [str(name) for name in model.classes.tolist()]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts / labelled[:, None]
    columns: dict[str, Any] = {"part": named_labels(partition), "rows": rows, "share": rows / rows.sum()}
    if partition.unlabelled is not None:
        columns["unlabelled"] = partition.unlabelled
    columns |= {f"rows_{name}": counts[:, j] for j, name in enumerate(names)}
    columns |= {f"share_{name}": shares[:, j] for j, name in enumerate(names)}
    return columns | _evidence_columns(model, partition)


def _evidence_columns(model: Model, partition: Partition) -> dict[str, Any]:
    """Columns of the event; if none was named, also of each class against the rest."""
    if len(model.classes) < 2:
        return {}
    found = evidence_of(model, partition)
    if model.has_one_event:
        (one,) = found
        return {"event": [one.name] * partition.n_parts, "woe": one.woe, "iv": one.iv, "lift": one.lift}
    columns = {f"{what}_{one.name}": getattr(one, what) for what in ("woe", "iv", "lift") for one in found}
    if model.event_index is None:
        return columns
    event = found[model.event_index]
    return {"event": [event.name] * partition.n_parts, "lift": event.lift, **columns}


class Rule(NamedTuple):
    """A cell in words: its conditions, its rows, the shares of its classes, and statistics of a numerical target."""

    conditions: dict[Name, str]  #: label of the part of each input, behind the name that the user gave, if any
    rows: int  #: number of rows of the cell
    support: float  #: share of all rows
    shares: dict[Any, float]  #: share of each class; of each part of a partitioned target, by label
    lift: float | None = None  #: share of the event divided by its share in all rows; None without an event
    statistics: dict[str, float] = {}  #: mean, median and quantiles (``q5``, ...) of a numerical target; else empty

    def __str__(self) -> str:
        premise = " and ".join(f"{name} in {label}" for name, label in self.conditions.items()) or "all rows"
        ranked = sorted(self.shares.items(), key=lambda item: -item[1])
        known = [f"{name} {share:.1%}" for name, share in ranked if share > 0]
        more = len(known) - MAX_SAID
        says = ", ".join(known if more <= 1 else [*known[:MAX_SAID], f"{more} others"])
        if self.statistics:
            mean, *ends = (self.statistics[name] for name in ("mean", "q5", "q95"))
            says = f"mean {mean:.6g}, 90% from {ends[0]:.6g} to {ends[1]:.6g}"
        return f"{premise}: {says} ({self.rows} rows, {self.support:.1%})"


def rules_of(model: Model, n: int | None, min_rows: int | float, min_lift: float | None) -> list[Rule]:
    """One rule per cell, by descending number of rows; of the inputs alone if the target is partitioned too."""
    least = _checked_limits(model, n, min_rows, min_lift)
    cells, classes, statistics = model.cells, model.classes.tolist(), dict[str, NDArray[np.float64]]()
    if model.target is not None:
        cells, classes = input_cells(model), named_labels(model.target)
        if model._target_quantiles is not None:
            statistics = statistics_shown(of_input_cells(model, cells))
    if not classes:
        raise ValueError(f"rules are of classes in cells, and this model ({model.problem}) has none; see cell_table")
    labels = [named_labels(model.partitions[name]) for name in cells.names]
    rows, shares, total = cells.rows, cells.shares(), model.n_rows
    event = model.event_index
    of_all = cells.counts.sum(axis=0) / cells.counts.sum()
    rules = []
    for i in np.argsort(-rows, kind="stable").tolist():
        if rows[i] < least:
            break
        conditions = {name: labels[k][cells.parts[i, k]] for k, name in enumerate(cells.names)}
        of_classes = dict(zip(classes, shares[i].tolist(), strict=True))
        lift = None if event is None else float(shares[i, event] / of_all[event])
        of_target = {name: float(column[i]) for name, column in statistics.items()}
        if min_lift is None or (lift is not None and lift >= min_lift):
            rules.append(Rule(conditions, int(rows[i]), int(rows[i]) / total, of_classes, lift, of_target))
        if len(rules) == n:
            break
    return rules


def _checked_limits(model: Model, n: Any, min_rows: Any, min_lift: Any) -> float:
    """The least rows of a rule; raise ValueError if one of the limits is wrong."""
    if n is not None and (isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1):
        raise ValueError(f"n must be None or a whole number of at least 1, got {n!r}")
    if isinstance(min_rows, bool) or not isinstance(min_rows, (int, float, np.number)) or not min_rows >= 0:
        raise ValueError(
            f"min_rows must be a number of rows, or their share if it is a float below 1, got {min_rows!r}"
        )
    if min_lift is not None and (
        isinstance(min_lift, bool) or not isinstance(min_lift, (int, float, np.number)) or not min_lift >= 0
    ):
        raise ValueError(f"min_lift must be None or a number of at least 0, got {min_lift!r}")
    if min_lift is not None and model.event_index is None:
        raise ValueError(f"min_lift is of the event, and this model ({model.problem}) has none; leave it out")
    is_share = isinstance(min_rows, (float, np.floating)) and min_rows < 1
    return float(min_rows * model.n_rows if is_share else min_rows)


def of_input_cells(model: Model, cells: Cells) -> TargetQuantiles:
    """Statistics of a numerical target in each of the cells of the inputs."""
    quantiles = model._target_quantiles
    assert quantiles is not None  # noqa: S101  for mypy
    if not PROBLEMS[model.problem].has_one_input:
        return quantiles
    places = cells.parts[:, 0] if cells.names else np.full(1, -1)  # parts without rows are no cells
    return TargetQuantiles(*(np.append(column[places], column[-1:], axis=0) for column in quantiles))


def _unused_name(name: str, model: Model, columns: dict[str, Any]) -> str:
    """The name, with as many primes as it takes to differ from all other columns of the table."""
    by_class = [f"{what}_{c}" for what in ("rows", "share") for c in _classes(model)]
    by_class += [] if model.target is None else [f"share_{j}" for j in range(model.target.n_parts)]
    taken = {"rows", "share", "unlabelled", *NO_CLASSES, *by_class, *STATISTICS, *columns}
    while name in taken:
        name += "'"
    return name


def _classes(model: Model) -> list[Any]:
    """Classes that the rows of cells are counted by."""
    return model.classes.tolist() if model.target is None else []


def cell_columns(model: Model) -> dict[str, Any]:
    """Columns of the table of cells: one entry per cell, by descending number of rows.

    With several inputs beside a partitioned target, the cells are those of the inputs.
    """
    is_of_inputs = model.target is not None and not PROBLEMS[model.problem].has_one_input
    cells = input_cells(model) if is_of_inputs else model.cells
    order = np.argsort(-cells.rows, kind="stable")
    rows = cells.rows[order]
    columns: dict[str, Any] = {}
    for k, name in enumerate(cells.names):
        labels = named_labels(model.partition(name))
        columns[_unused_name(str(name), model, columns)] = [labels[part] for part in cells.parts[order, k].tolist()]
    columns |= {"rows": rows, "share": rows / rows.sum()}
    if cells.unlabelled is not None:
        columns["unlabelled"] = cells.unlabelled[order]
    if is_of_inputs:
        if model._target_quantiles is not None:
            of_cells = statistics_shown(of_input_cells(model, cells))
            columns |= {name: statistic[:-1][order] for name, statistic in of_cells.items()}
        return columns | {f"share_{j}": column for j, column in enumerate(cells.shares()[order].T)}
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
