"""The record that the face of an editor shows: texts and numbers that JSON can hold, one entry per part.

Measures of a part are those of its table: event rate and woe with an event, shares of the classes, the mean of a
numerical target, the density of a density.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.counts import part_counts, quantiles_of_parts
from gridmodl.model.densities.histogram import histogram_of
from gridmodl.model.evidence import evidence_of
from gridmodl.model.names import distinct, shortened
from gridmodl.report.pictures import is_too_many
from gridmodl.report.tables import largest, with_others
from gridmodl.report.text import MAX_NAMED, largest_of

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_CLASSES = 6  # classes whose shares are shown; the others are one
MAX_CLASS = 32  # characters of the name of a class
MAX_LABEL = 400  # characters of the label of a part


class Measure(NamedTuple):
    """A column of numbers, one for each part."""

    title: str
    kind: str  # "rate" (shown in percent, with a bar), "signed" (a bar to both sides) or "number"
    values: NDArray[np.float64]


def measures_of(model: Model, partition: Partition) -> list[Measure]:
    """What the parts say of the target: the first is the one whose trend is judged."""
    if partition.widths is not None:
        histogram = histogram_of(model)
        return [Measure(histogram.unit.heads["density"], "number", histogram.densities * histogram.unit.size)]
    if partition is model.target or (model.target is None and not len(model.classes)):
        return []
    if model._target_quantiles is not None:
        means = quantiles_of_parts(model, partition).means[:-1]
        return [Measure("mean", "number", np.where(partition.rows > 0, means, np.nan))]
    if model.target is not None or model.event_index is None:
        return []
    event, counts = model.event_index, partition.counts
    with np.errstate(invalid="ignore"):
        rate = Measure(
            f"rate of {shortened(str(model.event), MAX_CLASS)}", "rate", counts[:, event] / counts.sum(axis=1)
        )
    found = evidence_of(model, partition)
    one = found[0] if model.has_one_event else found[event]
    return [rate, Measure("woe", "signed", one.woe)]


class PartClasses(NamedTuple):
    """Classes, or groups of classes, in each part: the shares of all of them, or the names of the largest."""

    title: str
    names: list[str]
    shares: NDArray[np.float64] | None  # None where classes with colours of their own would have few of the rows
    largest: list[str]


def classes_of(model: Model, partition: Partition) -> PartClasses | None:
    """Classes, or groups of classes, in each part; None for two classes or less.

    Beyond six, the classes with fewer rows are one, if they have few of the rows; else each part names its largest.
    """
    if partition is model.target or not len(model.classes):
        return None
    if model.target is None:
        counts, names = partition.counts, [str(name) for name in model.classes.tolist()]
    else:
        counts, names = part_counts(model, partition), model.target.names
    if len(names) < 3 and model.target is None:
        return None
    title = "classes" if model.target is None else "groups"
    if is_too_many(counts, MAX_CLASSES + 1):
        texts = [largest_of(of, names, MAX_NAMED) for of in counts]
        return PartClasses(f"largest {title}", names, None, texts)
    if len(names) > MAX_CLASSES + 1:
        kept = largest(counts.sum(axis=0), MAX_CLASSES)
        counts, names = with_others(counts, kept), [*(names[j] for j in kept), f"{len(names) - MAX_CLASSES} others"]
    names = distinct([shortened(name, MAX_CLASS) for name in names])
    return PartClasses(title, names, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), [])


def trend_of(partition: Partition, measure: Measure) -> str:
    """Whether a measure ascends or descends over the intervals, in words; missing and special parts do not count."""
    first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
    values = measure.values[first:last]
    steps = np.diff(values[np.isfinite(values)])
    signs = np.sign(steps[steps != 0])
    if len(steps) == 0:
        return f"{measure.title}: a single part"
    turns = int(np.count_nonzero(np.diff(signs)))
    if len(signs) == 0:
        return f"{measure.title}: the same in all parts"
    if turns == 0:
        return f"{measure.title}: monotone, {'ascending' if signs[0] > 0 else 'descending'}"
    if turns == 1:
        return f"{measure.title}: not monotone, one {'peak' if signs[0] > 0 else 'valley'}"
    return f"{measure.title}: not monotone, {turns} turns"


def parts_of(model: Model, name: Name) -> dict[str, Any]:
    """Parts of a variable with their rows, measures and shares."""
    partition = model.partition(name)
    rows, measures, found = partition.rows, measures_of(model, partition), classes_of(model, partition)
    total = max(int(rows.sum()), 1)
    labels = [label if len(label) <= MAX_LABEL else f"{label[:MAX_LABEL]}…" for label in partition.labels]
    first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
    can_split = range(0 if partition.kind == "categorical" else first, last)
    parts = [
        {
            "name": part_name,
            "label": labels[i],
            "rows": int(rows[i]),
            "share": int(rows[i]) / total,
            "measures": [finite(measure.values[i]) for measure in measures],
            "shares": [] if found is None or found.shares is None else found.shares[i].tolist(),
            "largest": "" if found is None or found.shares is not None else found.largest[i],
            "splits": i in can_split and (partition.kind == "numerical" or len(partition.groups[i]) > 1),
            "merges": i < last,
        }
        for i, part_name in enumerate(partition.names)
    ]
    return {
        "parts": parts,
        "measures": [{"title": measure.title, "kind": measure.kind} for measure in measures],
        "classes": [] if found is None or found.shares is None else found.names,
        "classes_title": "" if found is None else found.title,
        "trend": trend_of(partition, measures[0]) if measures and partition.kind != "categorical" else "",
    }


def finite(number: Any) -> float | None:
    """The number for JSON, which has no NaN and no infinity."""
    return float(number) if math.isfinite(number) else None
