"""The parts of a variable as a table: how many rows, of which classes, and what that says of a row.

With two classes, and n1 of the second class (the positive one) and n0 of the first in a part, N1 and N0 in all:

    log-odds            log (n1 + 1/2)/(n0 + 1/2) - log (N1 + 1/2)/(N0 + 1/2)       or weight of evidence
    information value   (n1/N1 - n0/N0) log-odds                                    that of a column is the sum
    lift                n1/(n0+n1) / (N1/(N0+N1))

The halves keep the log-odds of a part of one class finite (J. B. S. Haldane, F. J. Anscombe, 1956).

Rows without a class, where there are any, are among the rows of a part and have a column of their own; all else is of
those with one.

Without classes: the distinct values of each part; beside groups of classes, numbered as in the target's partition,
their shares; beside a numerical target, its mean, median and quantiles at 5, 25, 75 and 95 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.modelcounts import part_counts

if TYPE_CHECKING:
    from gridmodl.model import Model
    from gridmodl.partition import Partition
    from gridmodl.spread import Spread

HALF = 0.5


def log_odds(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The log-odds of each class against all others, part by part, over those of all rows; shape as `counts`."""
    others = counts.sum(axis=1, keepdims=True) - counts
    totals, other_totals = counts.sum(axis=0), others.sum(axis=0)
    prior = np.log((totals + HALF) / (other_totals + HALF))
    return np.log((counts + HALF) / (others + HALF)) - prior


def columns_of(model: Model, partition: Partition) -> dict[str, Any]:
    """The columns of the table of a partition of a model: one entry per part."""
    if partition.n_values is None:
        return _columns_by_class(partition, model.classes)
    rows = partition.counts.sum(axis=1)
    columns: dict[str, Any] = {
        "part": partition.labels,
        "rows": rows,
        "share": rows / rows.sum(),
        "values": partition.n_values,
    }
    if model.target is None or partition is model.target:
        return columns
    if model._spread is not None:
        filled = rows > 0
        for name, statistic in {"mean": model._spread.means, **quantiles_shown(model._spread)}.items():
            columns[name] = np.where(filled, statistic[:-1], np.nan)
        return columns
    counts = part_counts(model, partition)
    with np.errstate(invalid="ignore"):
        return columns | {f"share_{j}": counts[:, j] / rows for j in range(counts.shape[1])}


def quantiles_shown(spread: Spread) -> dict[str, NDArray[np.float64]]:
    """The quantiles that tables show, by the names of their columns."""
    return {"median": spread.quantile(0.5)} | {f"q{share}": spread.quantile(share / 100) for share in (5, 25, 75, 95)}


def _columns_by_class(partition: Partition, classes: NDArray[Any]) -> dict[str, Any]:
    counts, rows = partition.counts, partition.rows
    labelled = counts.sum(axis=1)
    names = [str(name) for name in classes.tolist()]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts / labelled[:, None]
        overall = counts.sum(axis=0) / labelled.sum()
        columns: dict[str, Any] = {"part": partition.labels, "rows": rows, "share": rows / rows.sum()}
        if partition.unlabelled is not None:
            columns["unlabelled"] = partition.unlabelled
        columns |= {f"rows_{name}": counts[:, j] for j, name in enumerate(names)}
        columns |= {f"share_{name}": shares[:, j] for j, name in enumerate(names)}
        if len(names) == 2:
            odds = np.where(labelled > 0, log_odds(counts)[:, 1], 0.0)
            by_class = counts / np.maximum(counts.sum(axis=0), 1)
            columns["log_odds"] = odds
            columns["information_value"] = (by_class[:, 1] - by_class[:, 0]) * odds
            columns["lift"] = shares[:, 1] / overall[1]
    return columns
