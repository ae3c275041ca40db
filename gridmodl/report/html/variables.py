"""What a page says of one variable: its parts as a table, what to draw of them, and the values of its groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.labels import has_mixed_types, shown_value
from gridmodl.report.html.plain import cut, plain_number
from gridmodl.report.html.tables import Tables
from gridmodl.report.tables import columns_of, largest

if TYPE_CHECKING:
    from gridmodl.model import Model
    from gridmodl.partition import Partition

MAX_CLASSES = 12  # or groups of classes, in tables, and
MAX_DRAWN = 7  # in charts, beside "other": more colours nobody can tell apart
MAX_VALUES = 20_000  # of categories on a page, shared among all groups, and
FEWEST_VALUES = 5  # of each group at least, as labels have


def variable_record(
    model: Model, partition: Partition, tables: Tables, n_groups: int, worth: float | None, about: str
) -> dict[str, Any]:
    """One variable; `n_groups` is the number of groups of the whole page, `about` a line on how it was found."""
    columns, note = _columns(model, partition)
    prefix = "" if partition.n_values is None else "group "
    return {
        "name": cut(str(partition.name)),
        "kind": "target" if partition is model.target else partition.kind,
        "parts": partition.n_parts,
        "worth": None if worth is None else plain_number(worth),
        "about": about,
        "tables": [tables.make(f"Parts of {partition.name}", columns, note, prefix)],
        "chart": _chart(model, partition),
        "values": _values(partition, n_groups),
    }


def _columns(model: Model, partition: Partition) -> tuple[dict[str, Any], str]:
    """The columns of `Model.table`, of the largest classes where there are many, and a note that says so;
    of two classes, which one the log-odds are of."""
    columns = columns_of(model, partition)
    names, rows, what = _shares(model, partition)
    if len(names) <= MAX_CLASSES:
        return columns, cut(f"Log-odds and lift are those of {names[1]}.") if "log_odds" in columns else ""
    kept = {names[j] for j in largest(rows, MAX_CLASSES)}
    dropped = {f"{key}_{name}" for name in names if name not in kept for key in ("rows", "share")}
    shown = {key: column for key, column in columns.items() if key not in dropped}
    return shown, f"The {MAX_CLASSES} largest of {len(names):,} {what} are shown."


def _shares(model: Model, partition: Partition) -> tuple[list[str], NDArray[np.int64], str]:
    """What the parts are shared among: the names that the table has for it, rows, and a word for it."""
    if partition.n_values is None:
        return [str(name) for name in model.classes.tolist()], partition.counts.sum(axis=0), "classes"
    if model.target is None or partition is model.target or model._spread is not None:
        return [], np.empty(0, dtype=np.int64), ""
    return [str(j) for j in range(model.target.n_parts)], model.target.counts[:, 0], "groups of classes"


def _chart(model: Model, partition: Partition) -> dict[str, Any]:
    """What to draw: shares of classes or of groups of them, the spread of a numerical target, or rows alone."""
    names, rows, _ = _shares(model, partition)
    if not names:
        has_spread = model._spread is not None and partition is not model.target
        return {"kind": "spread" if has_spread else "rows"}
    drawn = largest(rows, MAX_DRAWN if len(names) > MAX_DRAWN + 1 else MAX_DRAWN + 1)
    labels = names if partition.n_values is None else _group_labels(model)
    return {
        "kind": "shares",
        "keys": [f"share_{names[j]}" for j in drawn],
        "names": [cut(labels[j]) for j in drawn],
        "has_other": len(drawn) < len(names),
    }


def _group_labels(model: Model) -> list[str]:
    assert model.target is not None  # noqa: S101  for mypy
    return [f"group {j}: {label}" for j, label in enumerate(model.target.labels)]


def _values(partition: Partition, n_groups: int) -> list[dict[str, Any]]:
    """The values of each group, as many as fit; none where the labels say it all."""
    if not any(len(group) > FEWEST_VALUES for group in partition.groups):
        return []
    most, is_mixed = max(FEWEST_VALUES, MAX_VALUES // max(1, n_groups)), has_mixed_types(partition)
    return [
        {"shown": [cut(shown_value(value, is_mixed)) for value in group[:most]], "all": len(group)}
        for group in partition.groups
    ]
