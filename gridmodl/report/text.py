"""The summary of a model as text, for a terminal; and the texts and tables that notebooks and pages show too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.verify import limits_of
from gridmodl.model.counts import cell_lifts, input_cells, part_counts, quantiles_of_parts
from gridmodl.model.evidence import evidence_of
from gridmodl.model.histogram import density_per, histogram_of
from gridmodl.model.labels import aligned, counted, level_text
from gridmodl.report.tables import largest, statistics_shown
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_SHOWN = 40  # parts, cells or columns
MAX_CLASSES_SHOWN = 8
MAX_EVENT_SHOWN = 40  # characters


def summary_of(model: Model) -> str:
    """Summary of a model: criterion, problem, cost, the parts of each variable and the cells of a grid."""
    lines = [
        f"{criterion_text(model)}: {PROBLEMS[model.problem]}",
        f"{size_text(model)}; search {model.search!r} ({proof_text(model)}), {model.elapsed:.3g} s",
        f"cost {model.cost:.6f}, null cost {model.null_cost:.6f}, level {level_text(model.level)}",
    ]
    limits = kept_limits(model)
    if limits:
        lines.append(f"limits: {', '.join(limits)}")
    if model.delta is not None:
        how = "worse" if model.delta > 0 else "better"
        lines.append(f"{abs(model.delta):.6f} nats {how} than the model that it was made from")
    shown = list(model.partitions) if len(model.partitions) == 1 else model.informative
    shown = shown if model.target is None else [model.target.name, *shown]
    for partition in map(model.partition, shown):
        lines += ["", f"{partition.name}: {parts_text(model, partition)}"]
        lines += _parts(model, partition)
    if len(model.partitions) > 1:
        n_cells = len(model.cells.parts if model.target is None else input_cells(model).parts)
        of_inputs = "" if model.target is None else " of the inputs"
        lines += ["", f"cells{of_inputs} with rows in them: {n_cells}"]
        lines += _cells(model)
        if n_cells > MAX_SHOWN:
            lines.append(f"  ... and {n_cells - MAX_SHOWN} more cells")
        lines += _left_out(model)
    return "\n".join(lines)


def kept_limits(model: Model) -> list[str]:
    """The limits that the search kept, in words."""
    return list(model.limits) if model.certificate is None else limits_of(model.certificate)


def shortened(text: str, room: int) -> str:
    """The text, or its beginning and end if it is longer than `room` characters.

    >>> shortened("a very long name of a column", 12)
    'a very l…umn'
    """
    if len(text) <= room:
        return text
    tail = (room - 1) // 3
    return f"{text[: room - 1 - tail]}…{text[len(text) - tail :]}"


def criterion_text(model: Model) -> str:
    """The criterion and its options, such as ``modl(selection=True)``."""
    options = ", ".join(f"{name}={value!r}" for name, value in model.options.items())
    return f"{model.criterion}({options})" if options else model.criterion


def proof_text(model: Model) -> str:
    """Whether the optimum is proven, or the known gap to it; and why the search was stopped early, if it was."""
    if model.search == "given":
        return "the user's own"
    how = "proven optimum" if model.proven else "not proven"
    if model.resolution:
        how = f"not proven: values counted together in up to {counted(model.resolution, 'row')}"
    if model.gap:
        how = f"at most {model.gap:.6g} above the optimum"
    return f"{how}, stopped: {model.stopped}" if model.stopped else how


def size_text(model: Model) -> str:
    """Numbers of rows, of labelled rows where some are not, and of classes; and the event."""
    n_classes = len(model.classes)
    classes = f", {n_classes} class{'es' * (n_classes > 1)}" if n_classes else ""
    if any(partition.unlabelled is not None for partition in model.partitions.values()):
        classes = f", {model.class_rows.sum()} of them labelled{classes}"
    n_missing = sum(partition.n_missing or 0 for partition in model.partitions.values())
    if n_missing and PROBLEMS[model.problem].has_widths:  # else they are in a part
        classes = f", {n_missing} more are missing ({n_missing / (n_missing + model.n_rows):.1%})"
    event = "" if model.event_index is None else f", event {shortened(str(model.event), MAX_EVENT_SHOWN)}"
    return f"{model.n_rows} rows{classes}{event}"


def parts_text(model: Model, partition: Partition) -> str:
    """Number of parts, and the information value of the variable if the model has an event."""
    found = evidence_of(model, partition) if model.has_one_event else []
    return ", ".join([counted(partition.n_parts, "part"), *(f"iv {one.iv.sum():.4f}" for one in found)])


def _cells(model: Model) -> list[str]:
    """Lines on the largest cells: the target in them, or the lift where there is no target."""
    if PROBLEMS[model.problem].has_target:
        return [f"  {rule}" for rule in model.rules()[:MAX_SHOWN]]
    cells, lifts = model.cells, cell_lifts(model)
    labels = {name: model.partition(name).labels for name in cells.names}
    lines = []
    for i in np.argsort(-cells.rows, kind="stable")[:MAX_SHOWN].tolist():
        parts = zip(cells.names, cells.parts[i].tolist(), strict=True)
        where = " and ".join(f"{name} in {labels[name][part]}" for name, part in parts) or "all rows"
        n = int(cells.rows[i])
        lines.append(f"  {where}: {counted(n, 'row')}, {n / model.n_rows:.1%}, {lifts[i]:.3g} times what is expected")
    return lines


def _left_out(model: Model) -> list[str]:
    if not model.left_out:
        return []
    lines = ["", f"columns left out: {len(model.left_out)}"]
    lines += [f"  {name}: {reason}" for name, reason in list(model.left_out.items())[:MAX_SHOWN]]
    if len(model.left_out) > MAX_SHOWN:
        lines.append(f"  ... and {len(model.left_out) - MAX_SHOWN} more columns")
    return lines


def _parts(model: Model, partition: Partition) -> list[str]:
    """Lines of the table of parts: label, rows, statistics of the target."""
    heads, columns, note = statistics_of(model, partition)
    rows = [["part", "rows", *heads]]
    n_rows = partition.rows.tolist()
    for i, label in enumerate(partition.labels[:MAX_SHOWN]):
        rows.append([label, str(n_rows[i]), *(column[i] for column in columns)])
    lines = aligned(rows)
    if partition.n_parts > MAX_SHOWN:
        lines.append(f"  ... and {partition.n_parts - MAX_SHOWN} more parts")
    return lines + note


def statistics_of(model: Model, partition: Partition) -> tuple[list[str], list[list[str]], list[str]]:
    """Heads and columns of a table of parts beyond label and rows, and the lines of a note below it."""
    rows = partition.counts.sum(axis=1)
    if partition.n_values is None:
        heads, columns, note = shares_of(partition.counts, [str(name) for name in model.classes.tolist()], "classes")
        if partition.unlabelled is not None:
            heads, columns = ["unlabelled", *heads], [[str(n) for n in partition.unlabelled.tolist()], *columns]
        for one in evidence_of(model, partition) if model.has_one_event else []:
            numbers = [_numbers(values, rows) for values in (one.woe, one.iv)]
            heads, columns = [*heads, "woe", "iv"], [*columns, *numbers]
        return heads, columns, note
    if partition.widths is not None:
        return _densities(model, partition)
    if model.target is None or partition is model.target:
        return ["values"], [[str(n) for n in partition.n_values.tolist()]], []
    if model._target_quantiles is None:
        counts = part_counts(model, partition)
        return shares_of(counts, [f"group {j}" for j in range(counts.shape[1])], "groups")
    statistics = statistics_shown(quantiles_of_parts(model, partition))
    columns = [
        [f"{x:.6g}" if n else "" for x, n in zip(of_parts[:-1], rows, strict=True)] for of_parts in statistics.values()
    ]
    return list(statistics), columns, []


def _densities(model: Model, partition: Partition) -> tuple[list[str], list[list[str]], list[str]]:
    """Heads and columns of the shares, widths and densities of parts; a mass has neither width nor density."""
    found = histogram_of(model)
    kind = partition.domain if partition.domain is not None else np.empty(0)
    shares = [f"{n / model.n_rows:.1%}" for n in partition.counts[:, 0].tolist()]
    assert partition.widths is not None  # noqa: S101  for mypy
    widths = ["" if i >= found.n_intervals else f"{width:.4g}" for i, width in enumerate(partition.widths.tolist())]
    densities = ["mass" if i >= found.n_intervals else "" if np.isnan(density) else f"{density:.4g}"
                 for i, density in enumerate(found.densities.tolist())]  # fmt: skip
    return ["share", "width", density_per(kind.dtype)], [shares, widths, densities], []


def _numbers(values: NDArray[np.float64], rows: NDArray[np.int64]) -> list[str]:
    """Texts of the values of the parts with rows."""
    return [f"{value:.3f}" if n else "" for value, n in zip(values.tolist(), rows.tolist(), strict=True)]


def shares_of(counts: NDArray[np.int64], names: list[str], what: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Heads, columns and note of the shares of classes (or groups of classes), of the largest if there are many."""
    order, rows = np.arange(len(names)), counts.sum(axis=1)
    if len(names) > MAX_CLASSES_SHOWN:
        order = np.array(largest(counts.sum(axis=0), MAX_CLASSES_SHOWN))
    columns = [[f"{counts[i, j] / n:.1%}" if n else "" for i, n in enumerate(rows.tolist())] for j in order]
    is_cut = len(names) > MAX_CLASSES_SHOWN
    note = [f"  (the {MAX_CLASSES_SHOWN} largest of {len(names)} {what})"] if is_cut else []
    return [names[j] for j in order], columns, note
