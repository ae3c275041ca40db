"""Records of a page on one variable: its table of parts, its chart and the values of its groups, as JSON values.

JSON values are short and finite: texts are cut, numbers rounded, and NaN is None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.histogram import density_per, histogram_of
from gridmodl.model.labels import has_mixed_types, shown_value
from gridmodl.report.tables import columns_of, largest
from gridmodl.report.text import shortened

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

OF_CLASSES = ("rows", "share", "woe", "iv", "lift")  # columns that a table can have for each class
MAX_CLASSES = 12  # classes or groups of classes in tables
MAX_DRAWN = 7  # classes in charts, beside "other": more colours cannot be told apart
MAX_VALUES = 20_000  # categories on a page, shared among all groups
FEWEST_VALUES = 5  # categories of each group at least, as many as labels have
MAX_TEXT = 300  # characters of a name or label, to keep a page of 1,000 columns small
DIGITS = 6  # significant digits of most numbers

# Columns by how a page writes their values; all others are plain numbers.
COUNTS = {"rows", "values", "unlabelled", "parts"}
SHARES = {"share"}
VALUES = {"mean", "median", "q5", "q25", "q75", "q95"}  # of a numerical target
VALUE_DIGITS = 12  # as values of a target may be close together and far from 0
TEXTS = {"part", "column", "class", "reason", "event"}
LABELS = {"share": "share of rows"}


def variable_record(
    model: Model, partition: Partition, tables: Tables, n_groups: int, worth: float | None, about: str
) -> dict[str, Any]:
    """Record of one variable; `n_groups` is the number of groups on the whole page, `about` a line on the search."""
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
    """Columns of `Model.table`, of the largest classes if there are many, and a note.

    The note says that classes were left out, and which class woe, iv and lift are of.
    """
    columns = columns_of(model, partition)
    events = columns.get("event")
    of_event = "woe, iv and lift are those of the event against the rest."
    if "woe" not in columns:  # nobody named the event of more than two classes
        of_event = "lift is that of the event; woe and iv are of each class against the rest."
    note = "" if not events else cut(f"Event: {events[0]}; {of_event}")
    names, rows, what = _shares(model, partition)
    if len(names) <= MAX_CLASSES:
        return columns, note
    kept = {names[j] for j in largest(rows, MAX_CLASSES)}
    dropped = {f"{key}_{name}" for name in names if name not in kept for key in OF_CLASSES}
    shown = {key: column for key, column in columns.items() if key not in dropped}
    return shown, f"The {MAX_CLASSES} largest of {len(names):,} {what} are shown. {note}".strip()


def _shares(model: Model, partition: Partition) -> tuple[list[str], NDArray[np.int64], str]:
    """Classes, or groups of classes, whose shares the table has: names, rows, and the word for them; else nothing."""
    if partition.n_values is None:
        return [str(name) for name in model.classes.tolist()], partition.counts.sum(axis=0), "classes"
    if model.target is None or partition is model.target or model._target_quantiles is not None:
        return [], np.empty(0, dtype=np.int64), ""
    return [str(j) for j in range(model.target.n_parts)], model.target.counts[:, 0], "groups of classes"


def _chart(model: Model, partition: Partition) -> dict[str, Any]:
    """Chart of shares of classes (or groups of classes), of quantiles of a numerical target, or of rows alone."""
    names, rows, _ = _shares(model, partition)
    if partition.widths is not None and partition.domain is not None and len(partition.domain):
        found = histogram_of(model)
        return density_chart(found.edges, [
            (value, f"{partition.labels[found.n_intervals + i]}: {found.probabilities[found.n_intervals + i]:.1%}")
            for i, values in enumerate(partition.special_parts) for value in values
        ])  # fmt: skip
    if not names:
        has_quantiles = model._target_quantiles is not None and partition is not model.target
        return {"kind": "spread" if has_quantiles else "rows"}
    drawn = largest(rows, MAX_DRAWN if len(names) > MAX_DRAWN + 1 else MAX_DRAWN + 1)
    labels = names if partition.n_values is None else _group_labels(model)
    return {
        "kind": "shares",
        "keys": [f"share_{names[j]}" for j in drawn],
        "names": [cut(labels[j]) for j in drawn],
        "has_other": len(drawn) < len(names),
    }


def density_chart(edges: NDArray[Any], masses: list[tuple[Any, str]]) -> dict[str, Any]:
    """Chart of a density: ends of its intervals, and its masses with their texts; dates are in milliseconds."""
    return {
        "kind": "density",
        "title": density_per(edges.dtype),
        "edges": _on_axis(edges),
        "is_date": edges.dtype.kind == "M",
        "masses": [{"at": _on_axis(np.array([value]))[0], "text": cut(text)} for value, text in masses],
    }


def _on_axis(values: NDArray[Any]) -> list[Any]:
    """Values as numbers, dates in milliseconds."""
    if values.dtype.kind == "M":
        return values.astype("datetime64[ms]").astype(np.int64).tolist()
    return (values.astype(np.int64) if values.dtype.kind == "m" else values).tolist()


def _group_labels(model: Model) -> list[str]:
    assert model.target is not None  # noqa: S101  for mypy
    return [f"group {j}: {label}" for j, label in enumerate(model.target.labels)]


def _values(partition: Partition, n_groups: int) -> list[dict[str, Any]]:
    """Values of each group, as many as fit on the page; none if all groups are short enough for their labels."""
    if not any(len(group) > FEWEST_VALUES for group in partition.groups):
        return []
    most, is_mixed = max(FEWEST_VALUES, MAX_VALUES // max(1, n_groups)), has_mixed_types(partition)
    return [
        {"shown": [cut(shown_value(value, is_mixed)) for value in group[:most]], "all": len(group)}
        for group in partition.groups
    ]


class Tables:
    """Makes tables and stores each distinct head once, as the columns of one call mostly share theirs."""

    def __init__(self) -> None:
        self.heads: list[list[dict[str, str]]] = []
        self._number_of: dict[tuple[str, ...], int] = {}

    def make(self, caption: str, columns: Mapping[str, Any], note: str = "", prefix: str = "") -> dict[str, Any]:
        """A table; `prefix` precedes the names of classes, or of groups, in its head."""
        keys = (prefix, *columns)
        if keys not in self._number_of:
            self._number_of[keys] = len(self.heads)
            self.heads.append([_head(key, prefix) for key in columns])
        data = [_plain_column(key, column) for key, column in columns.items()]
        return {"caption": cut(caption), "head": self._number_of[keys], "data": data, "note": note}


def _plain_column(key: str, column: Any) -> list[Any]:
    if key in TEXTS:  # even if classes or columns have numbers as names: a page sorts and searches texts
        return [cut(str(value)) for value in column]
    return plain_values(column, VALUE_DIGITS) if key in VALUES else plain_values(column)


def _head(key: str, prefix: str) -> dict[str, str]:
    """Head of a column: its name in `Model.table`, its label, and the format of its values."""
    for what in OF_CLASSES:
        if key.startswith(f"{what}_"):
            name = key.removeprefix(f"{what}_")
            return {"key": key, "label": cut(f"{prefix}{name}: {what}"), "format": _format(what)}
    return {"key": key, "label": LABELS.get(key, key), "format": _format(key)}


def _format(key: str) -> str:
    if key in COUNTS:
        return "count"
    if key in SHARES:
        return "share"
    if key in VALUES:
        return "value"
    return "text" if key in TEXTS else "number"


def cut(text: str) -> str:
    return shortened(text, MAX_TEXT)


def plain_values(values: Any, digits: int = DIGITS) -> list[Any]:
    """The values for JSON: integers unchanged, floats rounded to `digits` significant digits, all else as text."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.tolist()
    if array.dtype.kind == "f":
        return [plain_number(value, digits) for value in array.tolist()]
    return [cut(str(value)) for value in values]


def plain_number(value: float, digits: int = DIGITS) -> float | str | None:
    """The number rounded to `digits` significant digits; None for NaN and a text for infinity, unknown to JSON."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short
