"""What is drawn of the parts of one variable: the event over the rows, shares of classes, a density, or rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.counts import part_counts
from gridmodl.model.densities.histogram import Unit, histogram_of
from gridmodl.model.evidence import evidence_of, rate_range
from gridmodl.report.html.plain import cut, plain_number, plain_values
from gridmodl.report.tables import largest
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_DRAWN = 7  # classes in charts, beside "other": more colours cannot be told apart
MAX_TYPICAL = 3  # classes of each part, where there are too many for colours


def shares_of_parts(model: Model, partition: Partition) -> tuple[list[str], NDArray[np.int64], str]:
    """Classes, or groups of classes, whose shares the table has: names, rows, and the word for them; else nothing."""
    if partition.n_values is None:
        return [str(name) for name in model.classes.tolist()], partition.counts.sum(axis=0), "classes"
    if model.target is None or partition is model.target or model._target_quantiles is not None:
        return [], np.empty(0, dtype=np.int64), ""
    return [str(j) for j in range(model.target.n_parts)], model.target.counts[:, 0], "groups of classes"


def chart_of(model: Model, partition: Partition) -> dict[str, Any]:
    """Chart of the event, of shares of classes or their groups, of quantiles of a numerical target, or of rows."""
    if partition.widths is not None and partition.domain is not None and len(partition.domain):
        return _histogram_chart(model, partition)
    names, rows, _ = shares_of_parts(model, partition)
    if not names:
        has_quantiles = model._target_quantiles is not None and partition is not model.target
        target = {"target": cut(str(model.target_name or "target"))}
        return {"kind": "spread", **target} if has_quantiles else {"kind": "rows"}
    drawn = largest(rows, MAX_DRAWN if len(names) > MAX_DRAWN + 1 else MAX_DRAWN + 1)
    labels = names if partition.n_values is None else _group_labels(model)
    shares: dict[str, Any] = {
        "kind": "shares",
        "keys": [f"share_{names[j]}" for j in drawn],
        "names": [cut(labels[j]) for j in drawn],
        "has_other": len(drawn) < len(names),
    }
    if len(drawn) < len(names):
        shares |= _typical(model, partition, labels)
    if model.has_one_event and len(model.classes) > 1 and PROBLEMS[model.problem].has_classes:
        return shares | {"kind": "event"} | _event(model, partition)
    return shares


def _typical(model: Model, partition: Partition, labels: list[str]) -> dict[str, Any]:
    """The largest classes of each part: their numbers among `typical_names`, and their shares."""
    counts = partition.counts if partition.n_values is None else part_counts(model, partition)
    order = np.argsort(-counts, axis=1, kind="stable")[:, :MAX_TYPICAL]
    with np.errstate(invalid="ignore"):
        shares = np.take_along_axis(counts, order, axis=1) / counts.sum(axis=1, keepdims=True)
    used = np.unique(order[shares > 0])
    found = [
        [(j, plain_number(share, 4)) for j, share in zip(of_part, of_shares, strict=True) if share > 0]
        for of_part, of_shares in zip(np.searchsorted(used, order).tolist(), shares.tolist(), strict=True)
    ]
    return {"typical": found, "typical_names": [cut(labels[j]) for j in used.tolist()]}


def _event(model: Model, partition: Partition) -> dict[str, Any]:
    """Rows of the event and of the rest in each part, the range of its rate, and its weight of evidence."""
    assert model.event_index is not None  # noqa: S101  for mypy
    events = partition.counts[:, model.event_index]
    rest = partition.counts.sum(axis=1) - events
    low, high = rate_range(events, events + rest)
    (one,) = evidence_of(model, partition)
    others = [str(name) for j, name in enumerate(model.classes.tolist()) if j != model.event_index]
    line = (int(partition.is_missing_apart), partition.n_parts - partition.n_special)
    return {
        "event": cut(str(model.event)),
        "rest": cut(others[0]) if len(others) == 1 else "all others",
        "events": events.tolist(),
        "others": rest.tolist(),
        "low": plain_values(low),
        "high": plain_values(high),
        "woe": plain_values(one.woe),
        "line": None if partition.kind == "categorical" else line,  # parts that follow one another
    }


def _histogram_chart(model: Model, partition: Partition) -> dict[str, Any]:
    found = histogram_of(model)
    return density_chart(found.edges, found.unit, [
        (value, f"{partition.names[found.n_intervals + i]}: {found.probabilities[found.n_intervals + i]:.1%}",
         float(found.probabilities[found.n_intervals + i]))
        for i, values in enumerate(partition.special_parts) for value in values
    ])  # fmt: skip


def density_chart(edges: NDArray[Any], unit: Unit, masses: list[tuple[Any, str, float]]) -> dict[str, Any]:
    """Chart of a density: ends of its intervals, and its masses with their texts and shares.

    Dates are in milliseconds, durations in `unit`.
    """

    def places(values: NDArray[Any]) -> list[Any]:
        return [place / unit.size for place in on_axis(values)] if edges.dtype.kind == "m" else on_axis(values)

    return {
        "kind": "density",
        "title": unit.heads["density"],
        "unit": unit.plural if edges.dtype.kind == "m" else "",
        "edges": places(edges),
        "is_date": edges.dtype.kind == "M",
        "masses": [
            {"at": places(np.array([value]))[0], "text": cut(text), "share": share} for value, text, share in masses
        ],
    }


def on_axis(values: NDArray[Any]) -> list[Any]:
    """Values as numbers, dates in milliseconds."""
    if values.dtype.kind == "M":
        return values.astype("datetime64[ms]").astype(np.int64).tolist()
    return (values.astype(np.int64) if values.dtype.kind == "m" else values).tolist()


def _group_labels(model: Model) -> list[str]:
    assert model.target is not None  # noqa: S101  for mypy
    return [
        f"group {name}" if name.startswith(f"{j}: ") else f"group {j}: {name}"
        for j, name in enumerate(model.target.names)
    ]
