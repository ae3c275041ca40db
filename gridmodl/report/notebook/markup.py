"""HTML made of tags, in which all text is escaped: what a user calls his columns and values never becomes a tag."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

MAX_TEXT = 60  # characters of a name, and
MAX_LABEL = 200  # of a part, which may name several values

CELL = "padding:2px 8px;border:none"
LEFT = "text-align:left;max-width:40em;overflow-wrap:anywhere"
RIGHT = "text-align:right;white-space:nowrap"
LINE = "border-bottom:1px solid rgba(128,128,128,0.5)"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def plain(value: Any, most: int = MAX_TEXT) -> str:
    """A name as it is shown: cut if it is long, and with what cannot be seen spelled out.

    So no character that turns the direction of a line, ends it or is no text at all gets into the page.
    """
    text = str(value)
    if len(text) > most:
        text = text[: most - 3] + "..."
    return text if text.isprintable() else repr(text)[1:-1]


def escaped(value: Any) -> Markup:
    """HTML as it is, anything else as text."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value), quote=True))


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """An element; names of attributes have ``_`` for ``-``, and one at the end where Python knows the word."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: Any) -> Markup:
    return Markup("".join(map(escaped, children)))


def name_tag(value: Any, most: int = MAX_TEXT) -> Markup:
    """A name, which may be written from right to left while what is around it is not."""
    return tag("bdi", plain(value, most))


def label_tag(label: str) -> Markup:
    """The label of a part."""
    return name_tag(label, MAX_LABEL)


def frame(*children: Any) -> Markup:
    """All that is shown of one thing."""
    return tag("div", *children, style="font-size:13px;line-height:1.5;overflow-x:auto")


def lines(*texts: Any) -> Markup:
    return joined(*(tag("div", text) for text in texts))


def table(heads: Sequence[Any], rows: Sequence[Sequence[Any]], n_left: int = 1) -> Markup:
    """A table whose first columns are to the left and the others to the right."""
    sides = [LEFT if i < n_left else RIGHT for i in range(len(heads))]
    head = [tag("th", text, style=f"{CELL};{LINE};{side}") for text, side in zip(heads, sides, strict=True)]
    body = [
        tag("tr", *(tag("td", text, style=f"{CELL};{side}") for text, side in zip(row, sides, strict=True)))
        for row in rows
    ]
    # Without colours of its own, so that it suits a dark page as well as a light one.
    style = "border-collapse:collapse;border:none;margin:4px 0"
    return tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), style=style)


def folded(head: Any, *children: Any) -> Markup:
    """What opens at a click, without a script."""
    return tag("details", tag("summary", head, style="cursor:pointer"), *children)
