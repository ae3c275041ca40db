"""Weight of evidence (woe), information value (iv), Gini and Kolmogorov-Smirnov statistics of the parts of a column.

The sign convention, here and wherever gridmodl says woe: with n1 rows of the event and n0 rows of all other classes
(the rest) in a part, and N1 and N0 in all,

    woe   log P(part | event) / P(part | rest) = log (n1 + 1/2)/(N1 + 1/2) - log (n0 + 1/2)/(N0 + 1/2)
    iv    (n1/N1 - n0/N0) woe of a part; the sum over its parts is the iv of a column
    lift  the event rate n1/(n0 + n1) of the part, divided by that of all rows

so a part with more events than average has a positive woe and a lift above 1. Other software may have the opposite sign
of woe (log of non-events over events); iv has no sign. The halves keep the woe of a part of one class finite
(J. B. S. Haldane, F. J. Anscombe, 1956); a part without labelled rows has woe 0.

    gini  2 AUC - 1, with AUC the area under the ROC curve of the event rates of the parts as scores of their rows
    ks    the largest difference of the distributions of event and rest over these scores

Without an event, as by default with more than two classes, each class is the event in turn, against all others, and a
column has the mean over the classes (for AUC, scikit-learn's ``multi_class="ovr"`` with ``average="macro"``). All are
of the labelled training rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.counts import part_counts

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

HALF = 0.5  # added to counts in woe
COVERAGE = 0.9  # of the range of an event rate


class EventEvidence(NamedTuple):
    """What the parts of a column say about an event."""

    name: str  #: the event: a class, or the number of a group of classes
    woe: NDArray[np.float64]  #: of each part
    iv: NDArray[np.float64]  #: of each part
    lift: NDArray[np.float64]  #: of each part; NaN for a part without labelled rows
    gini: float
    ks: float


def evidence_of(model: Model, partition: Partition) -> list[EventEvidence]:
    """Evidence of the event, or of each class against the rest if none was named; empty without classes.

    If classes are grouped, the groups take the place of the classes.
    """
    if not len(model.classes) or partition is model.target:
        return []
    if model.target is not None:
        counts, names = part_counts(model, partition), [str(j) for j in range(model.target.n_parts)]
    else:
        counts, names = partition.counts, [str(name) for name in model.classes.tolist()]
    index = model.event_index
    events = [index] if index is not None and model.has_one_event else range(len(names))
    return [_evidence(names[j], counts[:, j], counts.sum(axis=1) - counts[:, j]) for j in events]


def woe_of(model: Model, partition: Partition) -> NDArray[np.float64]:
    """Woe of each part: a column for each event of `encoded_events`; the last row, of 0, is for values of no part."""
    columns = np.column_stack([evidence.woe for evidence in encoded_events(model, partition)])
    return np.vstack([columns, np.zeros(columns.shape[1])])


def encoded_events(model: Model, partition: Partition) -> list[EventEvidence]:
    """Evidence that an encoding needs: of two groups of classes only the second, as the first has the opposite woe."""
    found = evidence_of(model, partition)
    return found[1:] if len(found) == 2 else found


def woe_of_counts(events: NDArray[Any], rest: NDArray[Any]) -> NDArray[np.float64]:
    """Woe of parts with these rows of the event and of the rest; all 0 if there are none of one of them."""
    n_events, n_rest = events.sum(), rest.sum()
    woe = np.log((events + HALF) / (rest + HALF)) - np.log((n_events + HALF) / (n_rest + HALF))
    woe[events + rest == 0] = 0.0
    if not n_events or not n_rest:  # nothing to tell apart
        woe[:] = 0.0
    return np.asarray(woe)


def _evidence(name: str, events: NDArray[np.int64], rest: NDArray[np.int64]) -> EventEvidence:
    n_events, n_rest, rows = int(events.sum()), int(rest.sum()), events + rest
    woe = woe_of_counts(events, rest)
    of_events, of_rest = events / max(n_events, 1), rest / max(n_rest, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        lift = events / rows / (n_events / rows.sum())
    gini, ks = _separation(of_events, of_rest) if n_events and n_rest else (0.0, 0.0)
    return EventEvidence(name, woe, (of_events - of_rest) * woe, lift, gini, ks)


def _separation(of_events: NDArray[np.float64], of_rest: NDArray[np.float64]) -> tuple[float, float]:
    """Gini and KS, given the share of the events, and of the rest, that each part holds."""
    filled = of_events + of_rest > 0
    of_events, of_rest = of_events[filled], of_rest[filled]
    order = np.argsort(of_events / (of_events + of_rest), kind="stable")  # as the event rates
    events, rest = np.cumsum(of_events[order]), np.cumsum(of_rest[order])
    area = float(np.sum(of_events[order] * (rest - of_rest[order] / 2.0)))
    return max(0.0, 2.0 * area - 1.0), float(np.max(np.abs(rest - events)))


class ColumnEvidence(NamedTuple):
    """Totals of a column: means over the classes if there is no event."""

    iv: float
    gini: float
    ks: float


def total_evidence(model: Model, partition: Partition) -> ColumnEvidence | None:
    """Totals of a column; None without classes."""
    found = evidence_of(model, partition)
    if not found:
        return None
    totals = [(float(one.iv.sum()), one.gini, one.ks) for one in found]
    return ColumnEvidence(*(sum(of_classes) / len(found) for of_classes in zip(*totals, strict=True)))


def rate_range(events: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lower and upper end of the range of an event rate, of `COVERAGE`: quantiles of its posterior (Jeffreys)."""
    from scipy.special import betaincinv  # here, as few who import models need it

    tail, rest = (1.0 - COVERAGE) / 2.0, rows - events
    low = np.where(events > 0, betaincinv(events + 0.5, rest + 0.5, tail), 0.0)
    high = np.where(rest > 0, betaincinv(events + 0.5, rest + 0.5, 1.0 - tail), 1.0)
    return low, high
