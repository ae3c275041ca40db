"""Sums of look-ups as graphs: an offset plus one addend a column. Classifiers of evidence, and scorecards."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import object_array
from gridmodl.evidence.grids import GridSource
from gridmodl.evidence.sources import CurveSource, PartsSource
from gridmodl.model.partition import group_partition
from gridmodl.model.policy import Policy
from gridmodl.report.cell_lines import CellLines
from gridmodl.report.onnx.columns import ColumnInputs
from gridmodl.report.onnx.curves import curve_at, on_curve_or_apart
from gridmodl.report.onnx.graph import Graph
from gridmodl.report.onnx.models import NAMES, add_label, add_probabilities, checked_outputs, line_of

if TYPE_CHECKING:
    from gridmodl.evidence.record import WeightedEvidence
    from gridmodl.evidence.sources import EvidenceSource
    from gridmodl.model.partition import Partition


def onnx_of_lookups(
    partitions: Sequence[Partition],
    tables: Sequence[NDArray[np.float64]],
    offset: float,
    policy: Policy,
    path: str | os.PathLike[str] | None = None,
    *,
    missing_text: str = "",
    description: str = "gridmodl score",
) -> Any:
    """Graph of a score: `offset` plus, for each column, the entry of its table at the part of the row.

    `tables` have one entry for each part of the partition, and a last one for values of no part. The outputs are
    ``score``, of shape (rows,), and ``addends``, of shape (rows, columns), whose sum it is. The sum is made in order,
    from the offset on.
    """
    if not partitions:
        raise ValueError("a score of no column is a constant; there is nothing to export")
    graph = Graph([one.name for one in partitions], ["score", "addends"])
    inputs = ColumnInputs(graph, partitions, policy, missing_text)
    addends = []
    for partition, table in zip(partitions, tables, strict=True):
        if len(table) != partition.n_parts + 1:
            raise ValueError(
                f"the table of {partition.name!r} has {len(table)} entries; it needs {partition.n_parts + 1}, one for "
                "each part and one for values of no part"
            )
        addends.append(graph.lines(np.asarray(table, dtype=np.float64), inputs.part(partition)))
    graph.output("score", summed(graph, graph.constant(np.float64(offset)), addends), "float64", ["rows"], "the sum")
    shown = graph.op("Concat", *map(graph.column, addends), axis=1)
    graph.output("addends", shown, "float64", ["rows", len(addends)], "addends of the score, by column")
    return graph.model(description, {"addends": [str(one.name) for one in partitions]}, path)


def summed(graph: Graph, start: str, addends: Sequence[str]) -> str:
    """The sum, in order."""
    for addend in addends:
        start = graph.op("Add", start, addend)
    return start


def onnx_of_evidence(
    model: WeightedEvidence, path: str | os.PathLike[str] | None, output: Any, missing_text: str
) -> Any:
    """The graph of `WeightedEvidence.to_onnx`."""
    outputs = checked_outputs(output, ("predict", "proba"))
    if not model.sources:
        raise ValueError("no column says anything of the classes, so there is nothing to export")
    columns = dict.fromkeys(name for source in model.sources for name in source.columns)
    graph = Graph(columns, [NAMES[name] for name in outputs])
    sources = [_by_level(source, model.policy) for source in model.sources]
    knots = {source.name: source.knots for source in sources if isinstance(source, CurveSource)}
    read = [partition for source in sources for partition in _partitions_of(source)]
    inputs = ColumnInputs(graph, read, model.policy, missing_text, knots)
    weights = np.broadcast_to(model.weights, (len(sources), len(model.classes)))
    addends = [_addend(graph, inputs, source, weight) for source, weight in zip(sources, weights, strict=True)]
    scores = summed(graph, graph.constant(model.intercepts[None]), addends)
    if "predict" in outputs:
        add_label(graph, model.classes, graph.op("ArgMax", scores, axis=1, keepdims=0))
    if "proba" in outputs:
        add_probabilities(graph, graph.op("Softmax", scores, axis=1), model.classes)
    return graph.model("gridmodl classifier", {"classes": list(map(str, model.classes))}, path)


def _by_level(source: EvidenceSource, policy: Policy) -> EvidenceSource:
    """A curve over the levels of an ordinal column as parts, one for each level; other sources unchanged."""
    if not isinstance(source, CurveSource) or source.apart.kind != "ordinal":
        return source
    levels = source.apart.levels
    groups: tuple[tuple[Any, ...], ...] = ((None,), *((level,) for level in levels))
    at = source.places({source.name: object_array([None, *levels])}, policy)
    partition = group_partition(source.name, groups, np.zeros((len(groups), 1), dtype=np.int64))
    return PartsSource(partition, source.evidence_at(at))


def _partitions_of(source: EvidenceSource) -> list[Partition]:
    if isinstance(source, GridSource):
        return [source.model.partitions[name] for name in source.columns]
    if isinstance(source, CurveSource):
        return [source.apart]
    if isinstance(source, PartsSource):
        return [source.partition]
    raise NotImplementedError(f"there is no ONNX for {source.name!r}, a {type(source).__name__}")


def _addend(graph: Graph, inputs: ColumnInputs, source: EvidenceSource, weight: NDArray[np.float64]) -> str:
    """Weight times evidence, by row and class."""
    partitions = _partitions_of(source)
    parts = {one.name: inputs.part(one) for one in partitions}
    if isinstance(source, GridSource):
        cells = source.model.cells
        lines = CellLines(cells.names, cells.parts.tolist(), [], None, None, None)
        line = line_of(graph, lines, parts, source.model, "")
        return graph.lines(_with_none(weight * source.evidence), line)
    if not isinstance(source, CurveSource):
        return graph.lines(_with_none(weight * source.evidence), parts[source.name])
    first, n = source.first, len(source.knots)
    evidence = _with_none(weight * source.evidence)
    others = np.concatenate([evidence[:first], evidence[-1:], evidence[first + n :]])
    shares = curve_at(graph, inputs, source.apart, source.knots, source.shares[first : first + n])
    logs = graph.op("Sub", graph.op("Log", shares), graph.constant(source.log_prior[None]))
    curve = graph.op("Mul", logs, graph.constant(weight[None]))
    table = graph.lines(others, parts[source.name])
    return on_curve_or_apart(graph, source.apart, parts[source.name], curve, table)


def _with_none(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evidence by line, with a last line for values of no part."""
    return np.vstack([evidence, np.zeros(evidence.shape[1])])
