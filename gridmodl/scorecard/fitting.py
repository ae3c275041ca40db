"""From models of columns and the rows that they were counted on to a scorecard; and again, with the same parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.copies import copies_of
from gridmodl.data.frames import Name, Raw, read_column
from gridmodl.data.targets import encode_weights, rows_of
from gridmodl.model.evidence import total_evidence, woe_of
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.model.policy import NEUTRAL
from gridmodl.pipeline import optimize_each
from gridmodl.scorecard.record import Scorecard
from gridmodl.scorecard.rows import column_of, events_of
from gridmodl.scorecard.weights import CardWeights, Choice, ScoreRows, fit_weights

ONE_PART = "it has one part"


class CardRows(NamedTuple):
    """Rows to learn from, all with a class and a weight above 0."""

    columns: Mapping[Name, Raw]
    is_event: NDArray[np.bool_]
    rows: NDArray[np.int64]


class Weighed(NamedTuple):
    """Columns in use, their weights, and why others are left out."""

    models: dict[Name, Model]
    weights: NDArray[np.float64]
    intercept: float
    left_out: dict[Name, str]
    fit: CardWeights


def weigh(
    models: Mapping[Name, Model],
    table: CardRows,
    min_iv: float,
    choice: Choice,
    every: Mapping[Name, Raw] | None = None,
) -> Weighed:
    """Choose among the columns of `models` by information value, copies, sign and validation; weigh those in use.

    `every` has all rows of the columns, those without a class too, to find copies; None: no column is one.
    """
    left_out: dict[Name, str] = {}
    candidates: dict[Name, float] = {}
    for name, model in models.items():
        (partition,) = model.partitions.values()
        found = total_evidence(model, partition)
        iv = 0.0 if found is None else found.iv
        if partition.n_parts < 2:
            left_out[name] = ONE_PART
        elif iv < min_iv:
            left_out[name] = f"its information value {iv:.4g} is below {min_iv:g}"
        else:
            candidates[name] = iv
    if every is not None:
        kinds = {name: models[name].partitions[name].column_kind for name in candidates}
        left_out |= copies_of({name: every[name] for name in candidates}, kinds)
        candidates = {name: iv for name, iv in candidates.items() if name not in left_out}
    order = sorted(candidates, key=lambda name: -candidates[name])  # ties: as given
    partitions = [models[name].partitions[name] for name in order]
    parts = [one.part_of_column(table.columns[one.name], NEUTRAL) for one in partitions]
    fit = fit_weights(ScoreRows(parts, [one.n_parts for one in partitions], table.is_event, table.rows), choice)
    left_out |= {order[k]: why for k, why in fit.left_out.items()}
    used = [k for k in range(len(order)) if k not in fit.left_out]
    in_use = {order[k]: models[order[k]] for k in used}
    left_out = {name: left_out[name] for name in models if name in left_out}  # in the order of the columns
    return Weighed(in_use, fit.weights[used], fit.intercept, left_out, fit)


def with_enough_rows(model: Model, least: float) -> Model:
    """Model of one column whose intervals have `least` rows: the smallest joins the neighbour most like it, and again.

    Missing values apart and special codes keep their parts.
    """
    (name,) = model.partitions
    while True:
        partition = model.partitions[name]
        first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
        rows = partition.rows[first:last]
        if len(rows) < 2 or rows.min() >= least:
            return model
        i = first + int(rows.argmin())
        beside = [j for j in (i - 1, i + 1) if first <= j < last]
        woe = woe_of(model, partition)[:, 0]
        j = min(beside, key=lambda j: abs(woe[j] - woe[i]))
        model = model.edit(name, merge=[[min(i, j), max(i, j)]])


def refitted(card: Scorecard, data: Any, target: Any, weights: Any) -> Scorecard:
    """The result of `Scorecard.refit`."""
    frame, raw = card.read(data), column_of(data, target, "target")
    is_event = events_of(card, raw, frame.n_rows)
    given = None if weights is None else read_column(column_of(data, weights, "weights"), "weights")
    rows = encode_weights(given, frame.n_rows)
    rows = np.ones(frame.n_rows, dtype=np.int64) if rows is None else rows
    if not rows[is_event].any() or not rows[~is_event].any():
        raise ValueError("target has rows of one class alone, and weights of evidence need rows of both")
    kept = rows > 0
    table = CardRows({name: rows_of(frame.columns[name], kept) for name in card.models}, is_event[kept], rows[kept])
    found = {name: _counted_anew(card, name, table) for name in card.models}
    weighed = weigh({name: one for name, one in found.items() if one}, table, 0.0, Choice(validate=False))
    lost = {name: "new rows of its parts have one class alone" for name, one in found.items() if one is None}
    return replace(
        card,
        models=Models(weighed.models, {}, card.frame, by_level=False),
        weights=weighed.weights,
        intercept=weighed.intercept,
        left_out={**card.left_out, **weighed.left_out, **lost},
    )


def _counted_anew(card: Scorecard, name: Name, table: CardRows) -> Model | None:
    """Model of the same parts with the counts of new rows; None unless they have both classes.

    Values of no part are left out.
    """
    raw, partition = table.columns[name], card.partition(name)
    known = partition.part_of_column(raw, NEUTRAL) >= 0
    if not (known & table.is_event).any() or not (known & ~table.is_event).any():
        return None
    models = optimize_each(
        {name: rows_of(raw, known)},
        np.where(table.is_event, card.event_index, 1 - card.event_index)[known],
        weights=table.rows[known],
        event=card.event_index,
        partitions={name: partition},
        on_error="raise",
    )
    target_name = card.models[name].target_name
    return replace(models[name], classes=card.classes, _source=None, frame=card.frame, target_name=target_name)
