"""A model as text, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model import Model
    from gridmodl.partition import Partition

MAX_SHOWN = 40  # parts, and
MAX_CLASSES_SHOWN = 8


def summary_of(model: Model) -> str:
    """What was asked, what it cost, and the parts of each variable."""
    how = "proven optimum" if model.proven else "not proven"
    if model.stopped:
        how += f", stopped: {model.stopped}"
    if model.search == "given":
        how = "the user's own"
    options = ", ".join(f"{name}={value!r}" for name, value in model.options.items())
    lines = [
        f"{model.criterion}{f'({options})' if options else ''}: {PROBLEMS[model.problem]}",
        f"{model.n_rows} rows, {len(model.classes)} classes; search {model.search!r} ({how}), {model.elapsed:.3g} s",
        f"cost {model.cost:.6f}, null cost {model.null_cost:.6f}, level {model.level:.4f}",
    ]
    if model.delta is not None:
        lines.append(f"{abs(model.delta):.6f} nats {'worse' if model.delta > 0 else 'better'} than before the edit")
    shown = list(model.partitions) if len(model.partitions) == 1 else model.informative
    for partition in (model.partitions[name] for name in shown):
        lines += ["", f"{partition.name}: {partition.n_parts} part{'s' * (partition.n_parts != 1)}"]
        lines += _parts(partition, model.classes)
    if len(model.partitions) > 1:
        lines += ["", f"cells with rows in them: {len(model.cells.parts)}"]
        lines += [f"  {rule}" for rule in model.rules()[:MAX_SHOWN]]
        if len(model.cells.parts) > MAX_SHOWN:
            lines.append(f"  ... and {len(model.cells.parts) - MAX_SHOWN} more cells")
        lines += _left_out(model)
    return "\n".join(lines)


def _left_out(model: Model) -> list[str]:
    if not model.left_out:
        return []
    lines = ["", f"columns left out: {len(model.left_out)}"]
    lines += [f"  {name}: {reason}" for name, reason in list(model.left_out.items())[:MAX_SHOWN]]
    if len(model.left_out) > MAX_SHOWN:
        lines.append(f"  ... and {len(model.left_out) - MAX_SHOWN} more columns")
    return lines


def _parts(partition: Partition, classes: NDArray[Any]) -> list[str]:
    """Rows of each part and the shares of its classes, the largest classes first if there are many."""
    totals = partition.counts.sum(axis=0)
    order = np.arange(len(classes))
    if len(classes) > MAX_CLASSES_SHOWN:
        order = np.sort(np.argsort(-totals, kind="stable")[:MAX_CLASSES_SHOWN])
    rows = [["part", "rows", *(str(classes[j]) for j in order)]]
    for label, counts in list(zip(partition.labels, partition.counts, strict=True))[:MAX_SHOWN]:
        n = int(counts.sum())
        rows.append([label, str(n), *(f"{counts[j] / n:.1%}" if n else "" for j in order)])
    lines = aligned(rows)
    if partition.n_parts > MAX_SHOWN:
        lines.append(f"  ... and {partition.n_parts - MAX_SHOWN} more parts")
    if len(classes) > MAX_CLASSES_SHOWN:
        lines.append(f"  (the {MAX_CLASSES_SHOWN} largest of {len(classes)} classes)")
    return lines


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table, the first column to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(_padded(row, widths)) for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
