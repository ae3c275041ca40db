"""Tables of a page: heads, which many tables share, and columns of plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridmodl.report.html.plain import cut, plain_values

# How a page writes the numbers of a column; those of other columns are numbers like any.
COUNTS = {"rows", "values", "unlabelled", "parts"}
SHARES = {"share"}
VALUES = {"mean", "median", "q5", "q25", "q75", "q95"}  # of a target, which may lie far from 0 and close together
VALUE_DIGITS = 12
TEXTS = {"part", "column", "class", "reason"}
LABELS = {"share": "share of rows", "log_odds": "log-odds", "information_value": "information value"}


class Tables:
    """Makes tables, and keeps each head once: of 1,000 columns with one target they are all the same."""

    def __init__(self) -> None:
        self.heads: list[list[dict[str, str]]] = []
        self._number_of: dict[tuple[str, ...], int] = {}

    def make(self, caption: str, columns: Mapping[str, Any], note: str = "", prefix: str = "") -> dict[str, Any]:
        """A table; `prefix` stands before the names of classes, or of groups, in its head."""
        keys = (prefix, *columns)
        if keys not in self._number_of:
            self._number_of[keys] = len(self.heads)
            self.heads.append([_head(key, prefix) for key in columns])
        data = [_plain_column(key, column) for key, column in columns.items()]
        return {"caption": cut(caption), "head": self._number_of[keys], "data": data, "note": note}


def _plain_column(key: str, column: Any) -> list[Any]:
    if key in TEXTS:  # also where classes or columns are called by numbers: a page sorts and searches texts
        return [cut(str(value)) for value in column]
    return plain_values(column, VALUE_DIGITS) if key in VALUES else plain_values(column)


def _head(key: str, prefix: str) -> dict[str, str]:
    """The name of the column as `Model.table` has it, for people, and how its values are written."""
    for what in ("rows", "share"):
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
