"""Predict the rows of a lazy frame by weighted evidence: scores of the classes as expressions, then probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.lazy import ShareCurve, added_shares
from gridmodl.evidence.grids import GridSource
from gridmodl.evidence.sources import CurveSource, PartsSource
from gridmodl.model.lazy.parts import LazySteps, by_part, cell_keys, looked_up

if TYPE_CHECKING:
    from gridmodl.evidence.record import WeightedEvidence
    from gridmodl.evidence.sources import EvidenceSource


def lazy_evidence_probabilities(model: WeightedEvidence, frame: Any) -> Any:
    """Lazy frame of `WeightedEvidence.predict_proba`: a column ``p_<class>`` for each class."""
    steps, scores, largest = _scores(model, frame)
    powers = steps.add([(score - largest).exp() for score in scores])
    (total,) = steps.add([sum(powers[1:], start=powers[0])])
    names = [f"p_{label}" for label in model.classes.tolist()]
    return steps.select({name: power / total for name, power in zip(names, powers, strict=True)})


def lazy_evidence_classes(model: WeightedEvidence, frame: Any) -> Any:
    """Lazy frame of `WeightedEvidence.predict`: the column ``prediction``; ties: first in ``classes``."""
    steps, scores, largest = _scores(model, frame)
    labels = model.classes.tolist()
    found = nw.lit(labels[-1])
    for score, label in list(zip(scores, labels, strict=True))[-2::-1]:
        found = nw.when(score >= largest).then(nw.lit(label)).otherwise(found)
    return steps.select({"prediction": found})


def _scores(model: WeightedEvidence, frame: Any) -> tuple[LazySteps, list[Any], Any]:
    """Add the score of each class, and the largest of them."""
    steps = LazySteps(frame, model.policy)
    scores = [nw.lit(float(intercept)) for intercept in model.intercepts]
    for source, weight in zip(model.sources, model.weights, strict=True):
        of_class = np.broadcast_to(weight, len(scores)).tolist()
        evidence = _evidence(steps, source)
        scores = steps.add([score + one * w for score, one, w in zip(scores, evidence, of_class, strict=True)])
    scores = scores if model.sources else steps.add(scores)
    (largest,) = steps.add([nw.max_horizontal(*scores)])
    return steps, scores, largest


def _evidence(steps: LazySteps, source: EvidenceSource) -> list[Any]:
    """Evidence of a source for each class."""
    if isinstance(source, PartsSource):
        (part,) = steps.parts([source.partition])
        return [by_part(part, np.append(source.evidence[:, j], 0.0)) for j in range(source.evidence.shape[1])]
    if isinstance(source, GridSource):
        cells = source.model.cells
        keys = cell_keys(cells, [source.model.partitions[name] for name in cells.names], only_cells=True)
        key, numbers = keys.added(steps), keys.keys
        return [looked_up(key, numbers, source.evidence[:, j].tolist(), 0.0) for j in range(source.evidence.shape[1])]
    if not isinstance(source, CurveSource):
        raise TypeError(f"{type(source).__name__} has no expressions for lazy frames; collect the rows that you need")
    return _curve_evidence(steps, source)


def _curve_evidence(steps: LazySteps, source: CurveSource) -> list[Any]:
    """Evidence of a curve for each class; 0 where it has none."""
    prior = np.exp(source.log_prior)

    def of_levels(levels: NDArray[Any]) -> NDArray[np.float64]:
        places = source.places({source.name: levels}, steps.policy)
        return np.asarray(np.exp(source.evidence_at(places)) * prior)

    found = added_shares(steps, ShareCurve(source.apart, source.knots, source.shares, prior, of_levels))
    return [
        nw.when(found.is_neutral).then(nw.lit(0.0)).otherwise(share.log() - float(log_prior))
        for share, log_prior in zip(found.shares, source.log_prior, strict=True)
    ]
