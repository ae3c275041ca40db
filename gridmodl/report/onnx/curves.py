"""Averages as graphs: probabilities that are linear between two knots, as `Average.predict_proba` has them."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.summing import overall_shares
from gridmodl.model.policy import BY_PARTITION
from gridmodl.report.onnx.columns import ColumnInputs
from gridmodl.report.onnx.graph import Graph
from gridmodl.report.onnx.models import NAMES, add_label, add_probabilities, checked_outputs
from gridmodl.report.sql.averages import shares_of_levels

if TYPE_CHECKING:
    from gridmodl.averaging.record import Average
    from gridmodl.model.partition import Partition


def onnx_of_average(average: Average, path: str | os.PathLike[str] | None, output: Any, missing_text: str) -> Any:
    """The graph of `Average.to_onnx`."""
    outputs, segments = checked_outputs(output, ("predict", "proba")), average.segments
    graph = Graph([segments.name], [NAMES[name] for name in outputs])
    if segments.kind == "ordinal":
        partition, by_part = shares_of_levels(average)
        shares = graph.lines(by_part, ColumnInputs(graph, [partition], BY_PARTITION, missing_text).part(partition))
    else:
        shares = _shares(average, graph, missing_text)
    if "predict" in outputs:
        add_label(graph, average.classes, graph.op("ArgMax", shares, axis=1, keepdims=0))
    if "proba" in outputs:
        add_probabilities(graph, shares, average.classes)
    return graph.model(f"gridmodl average of {segments.name}", {"classes": list(map(str, average.classes))}, path)


def _shares(average: Average, graph: Graph, missing_text: str) -> str:
    """Probabilities of a numerical column."""
    segments, neutral = average.segments, overall_shares(average.segments)
    apart, first, last = without_bounds(segments), int(segments.is_missing_apart), segments.n_parts - segments.n_special
    end = len(average.shares) - segments.n_special
    codes = np.where(segments.rows[last:, None] > 0, average.shares[end:], neutral)
    by_part = np.concatenate([average.shares[:first], neutral[None], codes, neutral[None]])
    inputs = ColumnInputs(graph, [apart], BY_PARTITION, missing_text, {apart.name: average.knots})
    part = inputs.part(apart)
    found = graph.lines(by_part, part)
    if len(average.knots):
        curve = curve_at(graph, inputs, apart, average.knots, average.shares[first:end])
        found = on_curve_or_apart(graph, apart, part, curve, found)
    if segments.missing is not None and not first:  # no other value was there
        of_missing = graph.constant(average.shares[segments.missing][None])
        found = graph.op("Where", graph.column(inputs.is_missing(apart.name)), of_missing, found)
    return found


def without_bounds(segments: Partition) -> Partition:
    """The partition with one interval in place of all."""
    first, n = int(segments.is_missing_apart), segments.n_parts - segments.n_special
    counts = np.concatenate([segments.counts[:first], segments.counts[first:n].sum(axis=0)[None], segments.counts[n:]])
    return replace(segments, bounds=segments.bounds[:0], counts=counts, unlabelled=None)


def on_curve_or_apart(graph: Graph, apart: Partition, part: str, curve: str, others: str) -> str:
    """The table `curve` for numbers, and the table `others` for missing values and special codes."""
    is_number = graph.op("Equal", part, graph.constant(np.int64(apart.is_missing_apart)))
    return graph.op("Where", graph.column(is_number), curve, others)


def curve_at(
    graph: Graph, inputs: ColumnInputs, apart: Partition, knots: NDArray[Any], shares: NDArray[np.float64]
) -> str:
    """Table of the probabilities of a column of numbers, given those at each of the `knots`; see `between_knots`."""
    name, n, x = apart.name, len(knots), inputs.value(apart.name)
    numbers = inputs.numbers(name, knots)
    at = graph.count_below(x, numbers, or_equal=True)
    low = np.clip(np.arange(-1, n), 0, n - 1)  # the knot at or below x, by how many are there
    high = np.clip(np.arange(n + 1), low, n - 1)
    low[0] = high[0] = 0
    base, rise = shares[low], shares[high] - shares[low]
    if n > 1:
        way = _way(graph, x, at, numbers[low], numbers[high])
        return graph.op("Add", graph.lines(base, at), graph.op("Mul", graph.lines(rise, at), graph.column(way)))
    return graph.lines(base, at)


def _way(graph: Graph, x: str, at: str, low: NDArray[Any], high: NDArray[Any]) -> str:
    """Share of the way from the knot below to the next; as `shares_of_way`."""
    if low.dtype.kind == "i":
        widths = [b - a for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        if max(widths) >= 2**63:
            raise ValueError("two neighbouring knots are 2^63 or more apart, which ONNX cannot subtract")
        inside = graph.op("Where", graph.lines(np.array(widths) > 0, at), x, graph.lines(low, at))
        rest = graph.as_float64(graph.op("Sub", inside, graph.lines(low, at)))
        return graph.op("Div", rest, graph.lines(np.array([float(w or 1) for w in widths]), at))
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(low) & np.isfinite(high)
        scale = np.where(is_finite & ~np.isfinite(high - low), 0.5, 1.0)
        width = np.where(is_finite, high * scale - low * scale, 0.0)
    start = np.where(is_finite, low, 0.0)
    inside = graph.op("Where", graph.lines(width > 0, at), x, graph.lines(start, at))
    if (scale < 1.0).any():
        inside, start = graph.op("Mul", inside, graph.lines(scale, at)), start * scale
    way = graph.op("Sub", inside, graph.lines(start, at))
    way = graph.op("Div", way, graph.lines(np.where(width > 0, width, 1.0), at))
    ends = ~is_finite & (high != low)
    if ends.any():  # a value above the lower knot is as near to the upper as can be
        beyond = graph.as_float64(graph.op("Greater", x, graph.lines(low, at)))
        way = graph.op("Where", graph.lines(ends, at), beyond, way)
    return way
