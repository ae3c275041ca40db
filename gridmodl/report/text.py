"""Sentences on a model and columns of its tables, which summaries, notebooks and pages show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.verify import limits_of
from gridmodl.model.counts import cell_information, cell_lifts, input_cells, part_counts, quantiles_of_parts
from gridmodl.model.densities.histogram import histogram_of
from gridmodl.model.evidence import evidence_of
from gridmodl.model.labels import counted, level_text
from gridmodl.model.names import distinct, names_within, shortened
from gridmodl.model.target_quantiles import TargetQuantiles
from gridmodl.report.tables import STATISTICS, of_input_cells, statistics_shown
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_SHOWN = 40  # parts, cells or columns
MAX_CLASSES_SHOWN = 8
MAX_NAME = 60  # characters of the name of a column in a sentence
MAX_EVENT_SHOWN = 40  # characters
FEW_DIGITS = 10.0  # a cost below it has four decimals
MAX_CELLS = 10  # of a grid, that are shown first
MAX_CLASS_NAME = 12  # characters of a class in the head of a column of cells
MAX_HEAD = 20  # characters of a class in the head of a column of parts
MAIN_STATISTICS = ("mean", "q5", "q95")  # of a numerical target, where room is short
MAX_NAMED = 3  # classes of a line that names its largest


def finding_text(model: Model) -> str:
    """Sentence on the result."""
    names = model.informative
    parts = ", ".join(
        f"{shortened(str(name), MAX_NAME)} ({parts_text(model, model.partition(name))})" for name in names
    )
    what = "the rows" if not PROBLEMS[model.problem].has_target else "the target"
    if len(model.partitions) == 1:
        (partition,) = model.partitions.values()
        return f"{shortened(str(partition.name), MAX_NAME)}: {parts_text(model, partition)}{nothing_text(model)}"
    of_all = f"{len(names)} of {len(model.partitions)} columns"
    if not names and model.stopped is not None:
        return f"nothing was found in {len(model.partitions)} columns before the search was stopped ({model.stopped})"
    if not names:
        of_none = f"none of {len(model.partitions)} columns"
        return f"{of_none} depends on another" if what == "the rows" else f"{of_none} tells anything about {what}"
    if len(names) == 1:
        return f"{of_all} tells about {what}: {parts}"
    n_cells = len(shown_cells(model).parts)
    if what == "the rows":
        return f"{of_all} depend on one another, in {n_cells:,} cells: {parts}"
    return f"{of_all} tell about {what} together, in {n_cells:,} cells: {parts}"


def nothing_text(model: Model) -> str:
    """Words on the model of one column that has a single part; empty for all others."""
    problem = PROBLEMS[model.problem]
    if len(model.partitions) > 1 or problem.has_widths or any(of.n_parts > 1 for of in model.partitions.values()):
        return ""
    return f", tells nothing about the {'target' if problem.has_target else 'rows'}"


def shown_cells(model: Model) -> Cells:
    """Cells that a table of a grid shows: of the inputs, if the target is partitioned too."""
    return model.cells if model.target is None else input_cells(model)


class MainCells(NamedTuple):
    """Cells of a grid in the order of tables, and what these say of them."""

    cells: Cells
    order: NDArray[np.int64]  #: numbers of the cells: by rows, or without a target by what they tell
    title: str  #: how many are shown first, and which
    heads: list[str]  #: of the columns beyond the parts and rows
    columns: list[list[str]]  #: texts of these columns, one for each cell in `order`


def main_cells(model: Model, most_classes: int = MAX_CLASSES_SHOWN) -> MainCells:
    """Cells with the most rows first; without a target those first that tell most."""
    cells = shown_cells(model)
    has_target = PROBLEMS[model.problem].has_target
    order = np.argsort(-(cells.rows if has_target else cell_information(model)), kind="stable")
    which = "with the most rows" if has_target else "that tell most"
    n_cells, of_inputs = len(order), "" if model.target is None else " of the inputs"
    title = f"{counted(n_cells, 'cell')}{of_inputs}"
    if n_cells > MAX_CELLS:
        title = f"the {MAX_CELLS} cells{of_inputs} {which}, of {n_cells}"
    heads, columns = _cell_statistics(model, cells, order, most_classes)
    return MainCells(cells, order, title, heads, columns)


def _cell_statistics(
    model: Model, cells: Cells, order: NDArray[np.int64], most: int
) -> tuple[list[str], list[list[str]]]:
    """Heads and columns of what a table of cells says of the target, or of the lift where there is none."""
    if not PROBLEMS[model.problem].has_target:
        return ["times expected"], [[f"{lift:.2f}" for lift in cell_lifts(model)[order].tolist()]]
    if model._target_quantiles is not None:
        heads = list(MAIN_STATISTICS)
        columns = target_texts(of_input_cells(model, cells), heads)
        return heads, [[column[i] for i in order.tolist()] for column in columns]
    if model.has_one_event and model.target is None:
        events, rows = cells.counts[order, model.event_index], cells.counts[order].sum(axis=1)
        head = shortened(str(model.event), MAX_CLASS_NAME)
        return [head], [[f"{n / of:.1%}" if of else "" for n, of in zip(events.tolist(), rows.tolist(), strict=True)]]
    if model.target is None:
        short, what = [shortened(str(name), MAX_CLASS_NAME) for name in model.classes.tolist()], "classes"
    else:
        short, what = names_within(model.target, MAX_CLASS_NAME), "groups"
    heads, columns, _ = shares_of(cells.counts[order], short, what, most)
    return heads, columns


def cost_text(cost: float) -> str:
    """A cost with the digits that help: a difference of a hundredth of a nat is nothing."""
    return f"{cost:,.2f}" if abs(cost) >= FEW_DIGITS else f"{cost:.4f}"


def level_words(model: Model) -> str:
    """Cost, cost with one part, and the level."""
    costs = f"cost {cost_text(model.cost)}, with one part {cost_text(model.null_cost)}"
    return f"{costs}: level {level_text(model.level)}"


def target_texts(quantiles: TargetQuantiles, heads: Sequence[str]) -> list[list[str]]:
    """Columns of statistics of a numerical target, with the decimals that give the range of all rows four digits."""
    shown = statistics_shown(quantiles)
    scale = float(max(abs(shown[name][-1]) for name in ("q5", "q95")))
    if scale != 0.0 and not 1e-3 <= scale < 1e9:
        return [[f"{value:.4g}" for value in shown[head][:-1].tolist()] for head in heads]
    decimals = int(max(0.0, 3.0 - np.floor(np.log10(scale)))) if scale else 0
    return [[f"{value:.{decimals}f}" for value in shown[head][:-1].tolist()] for head in heads]


def means_text(model: Model, partition: Partition) -> str:
    """Lowest and highest mean of a numerical target in a part, such as ``12.31 to 18.92``; empty for other targets."""
    if model._target_quantiles is None:
        return ""
    quantiles = quantiles_of_parts(model, partition)
    (texts,) = target_texts(quantiles, ["mean"])
    filled = np.flatnonzero(partition.rows)
    ascending = filled[np.argsort(quantiles.means[filled], kind="stable")]
    low, high = texts[ascending[0]], texts[ascending[-1]]
    return low if low == high else f"{low} to {high}"


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
        together = f"values counted together in up to {counted(model.resolution, 'row')}"
        how = f"not proven: {together}" if len(model.partitions) == 1 else f"not proven: searched by codes, {together}"
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
    return f"{counted(model.n_rows, 'row')}{classes}{event}"


def parts_text(model: Model, partition: Partition) -> str:
    """Number of parts, and the information value of the variable if the model has an event."""
    found = evidence_of(model, partition) if model.has_one_event else []
    return ", ".join([counted(partition.n_parts, "part"), *(f"iv {one.iv.sum():.4f}" for one in found)])


def statistics_of(
    model: Model, partition: Partition, most: int = MAX_CLASSES_SHOWN
) -> tuple[list[str], list[list[str]], list[str]]:
    """Heads and columns of a table of parts beyond label and rows, and the lines of a note below it.

    At most `most` classes, or statistics of a numerical target, have a column.
    """
    rows = partition.counts.sum(axis=1)
    if partition.n_values is None:
        classes = distinct([shortened(str(name), MAX_HEAD) for name in model.classes.tolist()])
        heads, columns, note = shares_of(partition.counts, classes, "classes", most)
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
        return shares_of(counts, names_within(model.target, MAX_CLASS_NAME), "groups", most)
    shown = list(STATISTICS if most >= len(STATISTICS) else MAIN_STATISTICS)
    columns = target_texts(quantiles_of_parts(model, partition), shown)
    is_empty = (rows == 0).tolist()
    return shown, [["" if e else x for x, e in zip(of, is_empty, strict=True)] for of in columns], []


def _densities(model: Model, partition: Partition) -> tuple[list[str], list[list[str]], list[str]]:
    """Heads and columns of the shares, widths and densities of parts; a mass has neither width nor density."""
    found = histogram_of(model)
    unit = found.unit
    shares = [f"{n / model.n_rows:.1%}" for n in partition.counts[:, 0].tolist()]
    shown = unit.shown({"width": partition.widths, "density": found.densities})
    widths = ["" if i >= found.n_intervals else f"{width:.4g}" for i, width in enumerate(shown["width"].tolist())]
    densities = ["mass" if i >= found.n_intervals else "" if np.isnan(density) else f"{density:.4g}"
                 for i, density in enumerate(shown["density"].tolist())]  # fmt: skip
    return ["share", *unit.heads.values()], [shares, widths, densities], []


def _numbers(values: NDArray[np.float64], rows: NDArray[np.int64]) -> list[str]:
    """Texts of the values of the parts with rows."""
    return [f"{value:z.3f}" if n else "" for value, n in zip(values.tolist(), rows.tolist(), strict=True)]


def shares_of(
    counts: NDArray[np.int64], names: Sequence[str], what: str, most: int = MAX_CLASSES_SHOWN
) -> tuple[list[str], list[list[str]], list[str]]:
    """Heads, columns and note of the shares of classes, or groups of classes.

    Of more than `most`, one column has the largest of each line, as those of all rows may be in none of them.
    """
    if len(names) > most:
        texts = [largest_of(of, names, min(MAX_NAMED, most - 2)) for of in counts]
        width = max(map(len, texts), default=0)
        return [f"largest {what}".ljust(width)], [[text.ljust(width) for text in texts]], [f"  ({len(names)} {what})"]
    rows = counts.sum(axis=1)
    columns = [[f"{counts[i, j] / n:.1%}" if n else "" for i, n in enumerate(rows.tolist())] for j in range(len(names))]
    return list(names), columns, []


def largest_of(counts: NDArray[np.int64], names: Sequence[str], most: int) -> str:
    """At most `most` of the largest classes and their shares, such as ``L 89%, F 11%``."""
    order = [j for j in np.argsort(-counts, kind="stable")[:most].tolist() if counts[j]]
    return ", ".join(f"{shortened(names[j], MAX_CLASS_NAME)} {counts[j] / counts.sum():.0%}" for j in order)
