"""The summary of a model as text, for a terminal; and the texts and tables that notebooks and pages show too."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.verify import limits_of
from gridmodl.model.counts import cell_information, cell_lifts, input_cells, part_counts, quantiles_of_parts
from gridmodl.model.densities.histogram import density_per, histogram_of
from gridmodl.model.evidence import evidence_of
from gridmodl.model.labels import aligned, counted, level_text
from gridmodl.model.names import shortened
from gridmodl.report.tables import largest, of_input_cells, statistics_shown
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_SHOWN = 40  # parts, cells or columns
MAX_CLASSES_SHOWN = 8
MAX_EVENT_SHOWN = 40  # characters
# A summary of a grid fits a screen.
MAX_CELLS = 10
MAX_LEFT_OUT = 8  # lines on columns left out
MAX_GRID_PARTS = 8  # of one column
MAX_GRID_COLUMNS = 6  # whose parts are listed
MAX_WIDTH = 100  # characters of the parts in a line of the table of cells
MIN_NAME = 12  # characters of a part in that table


def summary_of(model: Model) -> str:
    """Summary of a model: what was found, the parts of each variable, the main cells of a grid, then the cost."""
    is_grid = len(model.partitions) > 1
    lines = [*_wrapped(finding_text(model)), f"{size_text(model)}"]
    shown = model.informative if is_grid else list(model.partitions)
    shown = shown if model.target is None else [model.target.name, *shown]
    most = MAX_GRID_PARTS if is_grid else MAX_SHOWN
    for partition in map(model.partition, shown[:MAX_GRID_COLUMNS]):
        lines += ["", *([f"{partition.name}: {parts_text(model, partition)}"] if is_grid or len(shown) > 1 else [])]
        lines += _parts(model, partition, most)
    others = [f"{name} ({counted(model.partition(name).n_parts, 'part')})" for name in shown[MAX_GRID_COLUMNS:]]
    lines += ["", *_wrapped(f"and {', '.join(others)}")] if others else []
    if is_grid:
        lines += ["", *cells_text(model), *_left_out(model)]
    return "\n".join([*lines, "", *cost_lines(model)])


def finding_text(model: Model) -> str:
    """Sentence on the result."""
    names = model.informative
    parts = ", ".join(f"{name} ({counted(model.partition(name).n_parts, 'part')})" for name in names)
    what = "the rows" if not PROBLEMS[model.problem].has_target else "the target"
    if len(model.partitions) == 1:
        (partition,) = model.partitions.values()
        tells_nothing = partition.n_parts == 1 and not PROBLEMS[model.problem].has_widths
        return f"{partition.name}: {parts_text(model, partition)}{f', tells nothing about {what}' * tells_nothing}"
    if not names:
        return f"none of {len(model.partitions)} columns tells anything about {what}"
    n_cells = len(model.cells.parts if model.target is None else input_cells(model).parts)
    if what == "the rows":
        return f"{len(names)} of {len(model.partitions)} columns depend on one another, in {n_cells} cells: {parts}"
    return f"{len(names)} of {len(model.partitions)} columns tell about {what} together, in {n_cells} cells: {parts}"


def cost_lines(model: Model) -> list[str]:
    """Lines on the cost, its limits, and how the partition was found."""
    lines = [
        f"cost {cost_text(model.cost)}, with one part {cost_text(model.null_cost)}: level {level_text(model.level)}",
        f"{criterion_text(model)}, {PROBLEMS[model.problem]}; search {model.search!r} ({proof_text(model)}), "
        f"{model.elapsed:.3g} s",
    ]
    limits = kept_limits(model)
    if limits:
        lines.append(f"limits: {', '.join(limits)}")
    if model.stability is not None:
        lines.append(model.stability.summary())
    if model.delta is not None:
        how = "worse" if model.delta > 0 else "better"
        lines.append(f"{abs(model.delta):.6f} nats {how} than the model that it was made from")
    return lines


def cost_text(cost: float) -> str:
    """A cost with the digits that help: a difference of a hundredth of a nat is nothing."""
    return f"{cost:,.2f}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) or [text]


def kept_limits(model: Model) -> list[str]:
    """The limits that the search kept, in words."""
    return list(model.limits) if model.certificate is None else limits_of(model.certificate)


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
    if model.sample_rows:
        how = f"not proven: searched in a sample of {counted(model.sample_rows, 'row')}, counted on all"
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


def cells_text(model: Model) -> list[str]:
    """Lines on the cells with the most rows, without a target those that tell most: a table of the names of parts.

    A part that all of these cells share is said once.
    """
    cells = model.cells if model.target is None else input_cells(model)
    if not cells.names:
        return ["one cell, of all rows"]
    has_target = PROBLEMS[model.problem].has_target
    weight = cells.rows if has_target else cell_information(model)
    order = np.argsort(-weight, kind="stable")[:MAX_CELLS]
    heads, columns = _cell_statistics(model, cells, order)
    parts = cells.parts[order]
    is_shared = (parts == parts[0]).all(axis=0) & (len(order) > 1)
    names = {name: model.partition(name).names for name in cells.names}
    own = [k for k in range(len(cells.names)) if not is_shared[k]]
    room = max(MIN_NAME, MAX_WIDTH // max(1, len(own)) - 2)
    rows = [[*(shortened(str(cells.names[k]), room) for k in own), "rows", "share", *heads]]
    for i, cell in enumerate(order.tolist()):
        where = [shortened(names[cells.names[k]][parts[i, k]], room) for k in own]
        n = int(cells.rows[cell])
        rows.append([*where, str(n), f"{n / model.n_rows:.1%}", *(column[i] for column in columns)])
    which = "with the most rows" if has_target else "that tell most"
    n_cells = len(cells.parts)
    title = f"the {len(order)} cells {which}, of {n_cells}" if n_cells > len(order) else counted(n_cells, "cell")
    of_inputs = "" if model.target is None else " of the inputs"
    lines = [f"{title}{of_inputs}:", *aligned(rows, max(1, len(own)))]
    shared = [f"{cells.names[k]} {names[cells.names[k]][parts[0, k]]}" for k in np.flatnonzero(is_shared).tolist()]
    return [*lines, *_wrapped(f"  all of them: {', '.join(shared)}")] if shared else lines


def _cell_statistics(model: Model, cells: Cells, order: NDArray[np.int64]) -> tuple[list[str], list[list[str]]]:
    """Heads and columns of what a table of cells says of the target, or of the lift where there is none."""
    if not PROBLEMS[model.problem].has_target:
        return ["times expected"], [[f"{lift:.3g}" for lift in cell_lifts(model)[order].tolist()]]
    if model._target_quantiles is not None:
        shown = statistics_shown(of_input_cells(model, cells))
        heads = ["mean", "q5", "q95"]
        return heads, [[f"{value:.6g}" for value in shown[head][order].tolist()] for head in heads]
    classes = [str(name) for name in model.classes.tolist()] if model.target is None else model.target.names
    heads, columns, _ = shares_of(cells.counts[order], [shortened(name, MIN_NAME) for name in classes], "classes")
    return heads, columns


def _left_out(model: Model) -> list[str]:
    if not model.left_out:
        return []
    by_reason: dict[str, list[str]] = {}
    for name, reason in model.left_out.items():
        by_reason.setdefault(reason, []).append(str(name))
    lines = ["", f"columns left out: {len(model.left_out)}"]
    for reason, names in list(by_reason.items())[:MAX_LEFT_OUT]:
        more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
        lines += _wrapped(f"  {', '.join(names[:MAX_SHOWN])}{more}: {reason}")
    n_more = sum(map(len, list(by_reason.values())[MAX_LEFT_OUT:]))
    lines += [f"  and {counted(n_more, 'more column')}, see left_out"] if n_more else []
    return lines


def _parts(model: Model, partition: Partition, most: int) -> list[str]:
    """Lines of the table of parts: label, rows, statistics of the target."""
    heads, columns, note = statistics_of(model, partition)
    rows = [["part", "rows", *heads]]
    n_rows = partition.rows.tolist()
    for i, name in enumerate(partition.names[:most]):
        rows.append([name, str(n_rows[i]), *(column[i] for column in columns)])
    lines = aligned(rows)
    if partition.n_parts > most:
        lines.append(f"  ... and {counted(partition.n_parts - most, 'more part')}")
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
