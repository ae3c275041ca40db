"""Records of a page on one variable: its table of parts, its chart and the values of its groups, as JSON values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from gridmodl.model.densities.histogram import histogram_of
from gridmodl.model.evidence import total_evidence
from gridmodl.model.labels import has_mixed_types, shown_value
from gridmodl.report.html.charts import chart_of, shares_of_parts
from gridmodl.report.html.plain import caption, cut, plain_number, plain_values
from gridmodl.report.tables import columns_of, largest

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

OF_CLASSES = ("rows", "share", "woe", "iv", "lift")  # columns that a table can have for each class
MAX_CLASSES = 12  # classes or groups of classes in tables
MAX_VALUES = 20_000  # categories on a page, shared among all groups
FEWEST_VALUES = 5  # categories of each group at least, as many as labels have

# Columns by how a page writes their values; all others are plain numbers.
COUNTS = {"rows", "values", "unlabelled", "parts"}
SHARES = {"share", "event_rate", "approval_rate", "events_rejected", "rest_rejected"}
VALUES = {"mean", "median", "q5", "q25", "q75", "q95"}  # of a numerical target
VALUE_DIGITS = 12  # as values of a target may be close together and far from 0
TEXTS = {"part", "column", "class", "reason", "event"}
LABELS = {
    "share": "share of rows", "event_rate": "event rate", "approval_rate": "approval rate",
    "events_rejected": "events rejected", "rest_rejected": "rest rejected", "expected_loss": "expected loss",
    "observed_loss": "observed loss",
}  # fmt: skip


# Marks that change the direction of what follows them: in the head of a table, words follow the name of a class.
TURNS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
Pairs = list[tuple[str, str]]  # terms and texts


def make_section(
    words: tuple[str, Pairs, Pairs],
    own: list[dict[str, Any]],
    tables: Tables,
    variables: list[dict[str, Any]],
    worth: str | None = None,
    grid: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A section of a page.

    `words` are its title, what was asked and found, and facts. `own` are tables of no variable, `worth` is what the
    variables are ranked by.
    """
    title, lead, facts = words
    has_worth = any(variable["worth"] is not None for variable in variables)
    return {
        "title": title,
        "lead": lead,
        "facts": facts,
        "tables": own,
        "heads": tables.heads,
        "variables": variables,
        "worth": worth if has_worth else None,
        "grid": grid,
    }


def variable_record(
    model: Model,
    partition: Partition,
    tables: Tables,
    n_groups: int,
    worth: float | None,
    about: str,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Record of one variable; `n_groups` is the number of groups on the whole page, `about` a line on the search.

    `more` are columns of its table that come after the parts.
    """
    columns, note = _columns(model, partition)
    heads: Mapping[str, str] | None = None
    if partition.widths is not None:
        unit = histogram_of(model).unit
        columns, heads = unit.shown(columns), unit.heads
    columns = {"part": columns["part"], **(more or {}), **columns}
    prefix = "" if partition.n_values is None else "group "
    return {
        "name": cut(str(partition.name)),
        "kind": "target" if partition is model.target else partition.kind,
        "parts": partition.n_parts,
        "worth": None if worth is None else plain_number(worth),
        "about": about,
        "marks": marks_of(model, partition),
        "names": short_names(partition),
        "tables": [tables.make(caption("Parts of", partition.name), columns, note, prefix, labels=heads)],
        "chart": chart_of(model, partition),
        "values": _values(partition, n_groups),
    }


def short_names(partition: Partition) -> list[str] | None:
    """The names of parts, for charts; None if they are the labels that its table has."""
    names = plain_values(partition.names)
    return None if names == plain_values(partition.labels) else names


def marks_of(model: Model, partition: Partition) -> list[str]:
    """What the line of a variable says beside its parts: its information value, and the share of missing values."""
    marks = []
    evidence = total_evidence(model, partition)
    if evidence is not None:
        marks.append(f"iv {evidence.iv:.4f}")
    n_rows = int(partition.rows.sum())
    if partition.n_missing and n_rows:
        n_all = n_rows + partition.n_missing if partition.widths is not None else n_rows
        marks.append(f"{partition.n_missing / n_all:.1%} missing")
    return marks


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
    names, rows, what = shares_of_parts(model, partition)
    if len(names) <= MAX_CLASSES:
        return columns, note
    kept = {names[j] for j in largest(rows, MAX_CLASSES)}
    dropped = {f"{key}_{name}" for name in names if name not in kept for key in OF_CLASSES}
    shown = {key: column for key, column in columns.items() if key not in dropped}
    return shown, f"The {MAX_CLASSES} largest of {len(names):,} {what} are shown. {note}".strip()


def _values(partition: Partition, n_groups: int) -> list[dict[str, Any]]:
    """Values of each group, as many as fit on the page; none if the names of all groups have all of their values."""
    is_mixed = has_mixed_types(partition)
    if partition.kind == "categorical":
        texts = [", ".join(shown_value(value, is_mixed) for value in group) for group in partition.groups]
        is_whole = all(name.endswith(f": {text}") for name, text in zip(partition.names, texts, strict=True))
    else:
        is_whole = all(len(group) <= FEWEST_VALUES for group in partition.groups)
    if is_whole:
        return []
    most = max(FEWEST_VALUES, MAX_VALUES // max(1, n_groups))
    return [
        {"shown": [cut(shown_value(value, is_mixed)) for value in group[:most]], "all": len(group)}
        for group in partition.groups
    ]


class Tables:
    """Makes tables and stores each distinct head once, as the columns of one call mostly share theirs."""

    def __init__(self) -> None:
        self.heads: list[list[dict[str, str]]] = []
        self._number_of: dict[tuple[tuple[str, ...], ...], int] = {}

    def make(
        self,
        caption: str,
        columns: Mapping[str, Any],
        note: str = "",
        prefix: str = "",
        formats: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """A table; `prefix` precedes the names of classes, or of groups, in its head.

        `formats` are those of a table that is none of a model; columns that it does not name are numbers. `labels` are
        heads of columns; those that it does not name have their usual head, or their key in a table with `formats`.
        """
        named = labels or {}
        head = [_head(key, prefix, named) if formats is None else _own_head(key, formats, named) for key in columns]
        keys = tuple((one["key"], one["label"], one["format"]) for one in head)
        if keys not in self._number_of:
            self._number_of[keys] = len(self.heads)
            self.heads.append(head)
        texts = TEXTS if formats is None else {key for key, kind in formats.items() if kind == "text"}
        data = [_plain_column(key, column, texts) for key, column in columns.items()]
        return {"caption": cut(caption), "head": self._number_of[keys], "data": data, "note": note}


def _own_head(key: str, formats: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    label = labels[key] if key in labels else key.replace("_", " ")
    return {"key": key, "label": cut(label.translate(TURNS)), "format": formats.get(key, "number")}


def _plain_column(key: str, column: Any, texts: Collection[str]) -> list[Any]:
    if key in texts:  # even if classes or columns have numbers as names: a page sorts and searches texts
        return [cut(str(value)) for value in column]
    return plain_values(column, VALUE_DIGITS) if key in VALUES else plain_values(column)


def _head(key: str, prefix: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Head of a column: its name in `Model.table`, its label, and the format of its values."""
    for what in OF_CLASSES:
        if key.startswith(f"{what}_"):
            name = key.removeprefix(f"{what}_")
            return {"key": key, "label": cut(f"{prefix}{name}: {what}".translate(TURNS)), "format": _format(what)}
    return {"key": key, "label": labels.get(key, LABELS.get(key, key)), "format": _format(key)}


def _format(key: str) -> str:
    if key in COUNTS:
        return "count"
    if key in SHARES:
        return "share"
    if key in VALUES:
        return "value"
    return "text" if key in TEXTS else "number"
