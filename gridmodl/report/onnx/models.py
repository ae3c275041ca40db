"""Models of partitions as graphs: the parts of each row, its cell, and the predicted target."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.evidence import encoded_events, woe_of
from gridmodl.model.policy import NO_PART, Policy
from gridmodl.model.target_quantiles import Prediction
from gridmodl.report.cell_lines import CellLines, Wanted, cell_lines, check_wanted
from gridmodl.report.onnx.columns import ColumnInputs
from gridmodl.report.onnx.graph import Graph
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.data.frames import Name
    from gridmodl.model.model import Model
    from gridmodl.model.models import Models
    from gridmodl.model.partition import Partition

NAMES = {"parts": "parts", "woe": "woe", "cell": "cell", "predict": "label", "proba": "probabilities"}
PREDICTION = "prediction"  # in place of the label, of a numerical target
LARGEST_KEY = 2**62


def onnx_of_model(
    model: Model,
    path: str | os.PathLike[str] | None,
    output: Any,
    wanted: Wanted,
    missing_text: str,
) -> Any:
    """The graph of `Model.to_onnx`."""
    has_classes, is_joint = len(model.classes) > 0, model.target is None
    has_predictions = has_classes or model._target_quantiles is not None
    has = {"parts": True, "woe": has_classes, "cell": is_joint, "predict": has_predictions, "proba": has_classes}
    outputs = checked_outputs(output, [name for name in NAMES if has[name]])
    check_wanted(wanted, outputs)
    partitions = list(model.partitions.values())
    shown = [one for one in partitions if one.n_parts > 1] or partitions
    is_predicted = bool({"predict", "proba"} & set(outputs))
    lines = cell_lines(model, wanted, is_predicted) if {"cell", "predict", "proba"} & set(outputs) else None
    read = [*shown, *(model.partitions[name] for name in (lines.names if lines else ()) if name not in _names(shown))]
    graph = Graph(_names(read), [PREDICTION, *(NAMES[name] for name in outputs)])
    inputs = ColumnInputs(graph, read, wanted.policy, missing_text)
    parts = {partition.name: inputs.part(partition) for partition in read}
    facts = _add_parts(graph, outputs, shown, parts, dict.fromkeys(model.partitions, model))
    if lines is not None:
        facts |= _add_predictions(model, graph, outputs, lines, line_of(graph, lines, parts, model, inputs.zeros))
    return graph.model(f"gridmodl model of {', '.join(map(str, _names(shown)))}", facts, path)


def onnx_of_models(
    models: Models, path: str | os.PathLike[str] | None, output: Any, policy: Policy, missing_text: str
) -> Any:
    """The graph of `Models.to_onnx`: the parts of all columns with more than one part."""
    allowed = ["parts", *(["woe"] if all(len(model.classes) > 0 for model in models.values()) else [])]
    outputs = checked_outputs(output, allowed)
    partitions = [partition for model in models.values() for partition in model.partitions.values()]
    shown = [partition for partition in partitions if partition.n_parts > 1]
    if not shown:
        raise ValueError("no column has more than one part, so there is nothing to export")
    graph = Graph(_names(shown), [NAMES[name] for name in outputs])
    inputs = ColumnInputs(graph, shown, policy, missing_text)
    parts = {partition.name: inputs.part(partition) for partition in shown}
    facts = _add_parts(graph, outputs, shown, parts, models)
    return graph.model(f"gridmodl models of {len(shown)} columns", facts, path)


def checked_outputs(output: Any, allowed: Sequence[str]) -> list[str]:
    """The outputs to return, in the order of `allowed`; by default all but woe."""
    if output is None:
        return [name for name in allowed if name != "woe"]
    outputs = [output] if isinstance(output, str) else list(output) if isinstance(output, Sequence) else []
    wrong = next((name for name in outputs if name not in allowed), None)
    if not outputs or wrong is not None:
        known = ", ".join(map(repr, allowed))
        raise ValueError(
            f"output must be one or several of {known} for this model, got {output!r}{did_you_mean(wrong, allowed)}"
        )
    return [name for name in allowed if name in outputs]


def _names(partitions: Sequence[Partition]) -> list[Name]:
    return [partition.name for partition in partitions]


def _add_parts(
    graph: Graph,
    outputs: Sequence[str],
    shown: Sequence[Partition],
    parts: Mapping[Name, str],
    models: Mapping[Name, Model],
) -> dict[str, Any]:
    """Add the outputs ``parts`` and ``woe``; the names of their columns are returned."""
    facts: dict[str, Any] = {}
    if "parts" in outputs:
        found = graph.op("Concat", *(graph.column(parts[one.name]) for one in shown), axis=1)
        graph.output("parts", found, "int64", ["rows", len(shown)], "number of the part; -1 for none")
        facts["parts"] = [str(one.name) for one in shown]
    if "woe" in outputs:
        tables = [woe_of(models[one.name], one) for one in shown]
        found = graph.op(
            "Concat", *(graph.lines(t, parts[one.name]) for t, one in zip(tables, shown, strict=True)), axis=1
        )
        facts["woe"] = [
            str(one.name) + ("" if models[one.name].has_one_event else f"_{event.name}")
            for one in shown
            for event in encoded_events(models[one.name], one)
        ]
        graph.output("woe", found, "float64", ["rows", len(facts["woe"])], "weight of evidence; 0 for no part")
    return facts


def line_of(graph: Graph, lines: CellLines, parts: Mapping[Name, str], model: Model, zeros: str) -> str:
    """Number of the line of each row; -1 if it has none.

    The parts of a row make one number. Where that would be too large, the numbers so far are counted through.
    """
    if not lines.names:
        return zeros
    table = np.array(lines.parts, dtype=np.int64)
    key, keys, size = "", np.zeros(len(table), dtype=np.int64), 1
    for k, name in enumerate(lines.names):
        n = model.partitions[name].n_parts + 1  # -1 too
        if size * n > LARGEST_KEY:
            known, keys = np.unique(keys, return_inverse=True)
            key = graph.find(key, known, np.arange(len(known)), graph.constant(np.int64(len(known))))
            size = len(known) + 1
        part = graph.op("Add", parts[name], graph.constant(np.int64(1)))
        key = part if not key else graph.op("Add", graph.op("Mul", key, graph.constant(np.int64(n))), part)
        keys, size = keys * n + table[:, k] + 1, size * n
    order = np.argsort(keys)
    return graph.find(key, keys[order], order, graph.constant(np.int64(NO_PART)))


def _add_predictions(model: Model, graph: Graph, outputs: Sequence[str], lines: CellLines, line: str) -> dict[str, Any]:
    """Add the cell, and the predicted class and shares of classes, or the statistics of a numerical target."""
    facts: dict[str, Any] = {}
    if "cell" in outputs:
        found = graph.lines(np.array([*lines.numbers, NO_PART]), line)
        graph.output("cell", found, "int64", ["rows"], "number of the cell; -1 for none")
    if lines.predictions is not None and "predict" in outputs:
        found = graph.lines(np.column_stack(lines.predictions), line)
        graph.output(PREDICTION, found, "float64", ["rows", len(Prediction._fields)], ", ".join(Prediction._fields))
        facts[PREDICTION] = list(Prediction._fields)
    if lines.likeliest is not None and "predict" in outputs:
        add_label(graph, model.classes, graph.lines(lines.likeliest, line))
    if lines.shares is not None and "proba" in outputs:
        add_probabilities(graph, graph.lines(lines.shares, line), model.classes)
    return facts | ({} if lines.shares is None else {"classes": list(map(str, model.classes.tolist()))})


def add_label(graph: Graph, classes: NDArray[Any], number: str) -> None:
    """Add the output ``label``: the class of each number."""
    names = classes.tolist()
    if all(isinstance(name, str) for name in names):
        table, type_ = np.array(names, dtype=object), "string"
    elif classes.dtype.kind in "biu" or all(isinstance(name, int) and abs(name) < 2**63 for name in names):
        is_bool = all(isinstance(name, bool) for name in names)
        table, type_ = (np.array(names), "bool") if is_bool else (np.array(names, dtype=np.int64), "int64")
    elif all(isinstance(name, float) for name in names):
        table, type_ = np.array(names), "float64"
    else:
        raise ValueError(
            f"classes such as {names[0]!r} ({type(names[0]).__name__}) are no labels of ONNX; "
            "leave 'predict' out of output="
        )
    graph.output("label", graph.lines(table, number), type_, ["rows"], "the most probable class")


def add_probabilities(graph: Graph, table: str, classes: NDArray[Any]) -> None:
    """Add the output ``probabilities``, by row and class."""
    graph.output("probabilities", table, "float64", ["rows", len(classes)], "by class, in the order of classes")
