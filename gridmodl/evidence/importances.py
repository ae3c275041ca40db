"""How much each column tells a fitted classifier or regressor: ``feature_importances_``, of sum 1.

    a grid       nats a row of information on the target that its cells lose without the column
    evidence     weight times the mean evidence of the training rows for their own classes; that of a grid is shared
                 among its columns as above

Both are sums over what the estimator uses, so that columns left out have 0. Columns that tell only together have the
same share of their grid; they would have none one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.evidence.grids import GridSource
from gridmodl.evidence.record import WeightedEvidence
from gridmodl.evidence.sources import CurveSource, EvidenceSource
from gridmodl.model.cells import Cells
from gridmodl.model.counts import input_cells, part_counts, table_information
from gridmodl.model.model import Model


def importances(names: Sequence[Name], worth: Mapping[Name, float]) -> NDArray[np.float64]:
    """The `worth` of each of the columns `names`, as shares of their sum; 0 for all if that is 0."""
    found = np.array([max(0.0, worth.get(name, 0.0)) for name in names])
    total = found.sum()
    return found / total if total > 0.0 else found


def added_up(worths: Iterable[Mapping[Name, float]], weights: Iterable[float]) -> dict[Name, float]:
    """Sum over several grids of the worth of their columns times the weight of the grid."""
    found: dict[Name, float] = {}
    for worth, weight in zip(worths, weights, strict=True):
        for name, one in worth.items():
            found[name] = found.get(name, 0.0) + weight * one
    return found


def lost_information(cells: Cells) -> dict[Name, float]:
    """Nats a row of information on the classes that cells lose if the parts of a variable are joined, by variable."""
    whole, every = table_information(cells.counts), range(len(cells.names))
    return {
        name: whole - table_information(cells.over([other for other in every if other != k]).counts)
        for k, name in enumerate(cells.names)
    }


def worth_in_grid(model: Model) -> dict[Name, float]:
    """What each column of a grid tells of its classes, or of the parts of its target."""
    return lost_information(model.cells if model.target is None else input_cells(model))


def worth_of_parts(model: Model) -> float:
    """Nats a row of information on the target in the parts of the only column of a model."""
    (partition,) = model.partitions.values()
    return table_information(partition.counts if model.target is None else part_counts(model, partition))


def worth_in_evidence(evidence: WeightedEvidence, models: Mapping[Name, Model]) -> dict[Name, float]:
    """What each column of a classifier of evidence tells; `models` are those of single columns."""
    pairs = zip(evidence.sources, evidence.weights, strict=True)
    return added_up([_worth_of_source(*pair, models) for pair in pairs], [1.0] * len(evidence.sources))


def _worth_of_source(
    source: EvidenceSource, weight: NDArray[np.float64], models: Mapping[Name, Model]
) -> dict[Name, float]:
    """What a source with a `weight`, or one for each class, tells, by column."""
    if isinstance(source, GridSource):
        counts = source.model.cells.counts
        total = float(np.sum(weight * counts * source.evidence) / counts.sum())
        lost = lost_information(source.model.cells)
        whole = sum(lost.values())
        return {name: total * (one / whole if whole > 0.0 else 1.0 / len(lost)) for name, one in lost.items()}
    if isinstance(source, CurveSource):
        return {source.name: float(np.sum(weight * source.own_evidence))}
    model = models[source.name]
    if model.target is not None:
        return {source.name: float(np.mean(weight)) * worth_of_parts(model)}
    counts = model.partitions[source.name].counts
    return {source.name: float(np.sum(weight * counts * source.evidence) / counts.sum())}
