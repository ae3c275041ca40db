"""Weight of evidence (woe) of an average, and of groups of categories by what their criterion predicts.

    woe(x)  logit P(event | x) - logit P(event),     logit p = log(p / (1 - p))

P(event | x) is the prediction of the average, and P(event) that of one part with all rows. Under modl inside a part
both are (n_j + 1) / (n + J), with n_j of n rows of the event and J classes: the same smoothing for a value and for all
rows, as in `gridmodl.model.evidence`, which has halves in place of ones. So the woe of a column of one part is 0. The
woe of a value that no training row is like is exactly 0, and so is that of all values if there is one class only. The
sign is that of `gridmodl.model.evidence`: positive where there are more events than average. Without an event, as by
default with more than two classes, each class is the event in turn, against all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.summing import averaged_of, predicted_shares
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, known_values
from gridmodl.plugins import criterion_of
from gridmodl.pricing import prepare
from gridmodl.terms import Problem


def events_of(n_classes: int, event: int | None) -> list[int]:
    """Numbers of the classes that woe is of: the event, or each class if there is none."""
    return list(range(n_classes)) if event is None else [event]


def woe_of_shares(
    shares: NDArray[np.float64], overall: NDArray[np.float64], class_rows: NDArray[np.int64], events: list[int]
) -> NDArray[np.float64]:
    """Woe of each row of `shares` by event; `overall` are the shares that one part with all rows predicts."""
    found = np.zeros((len(shares), len(events)))
    for i, j in enumerate(events):
        if 0 < class_rows[j] < class_rows.sum():
            rest, rest_of_all = np.delete(shares, j, axis=1).sum(axis=1), float(np.delete(overall, j).sum())
            found[:, i] = np.log(shares[:, j] / rest) - np.log(overall[j] / rest_of_all)
    return found


def woe_of_groups(model: Model, partition: Partition) -> NDArray[np.float64]:
    """Woe of each group by event, from the predictions of the criterion; the last row, of 0, is for no group."""
    _, averaged = averaged_of(criterion_of(model.criterion, model.options, model.problem), model.problem)
    counts = partition.counts
    problem = Problem(model.problem, int(partition.rows.sum()), 1, counts.sum(axis=0))
    p, _ = prepare(averaged, problem, known_values(partition))
    shares = np.array([predicted_shares(averaged, p, own) for own in counts])
    events = events_of(len(model.classes), model.event_index if model.has_one_event else None)
    found = woe_of_shares(shares, predicted_shares(averaged, p, problem.class_rows), problem.class_rows, events)
    found[counts.sum(axis=1) == 0] = 0.0
    return np.vstack([found, np.zeros(len(events))])
