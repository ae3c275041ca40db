"""Tables of sentences: on a phone each row is a block, and each of its cells begins with the head of its column.

In other tables, columns of short cells are not divided into lines, and those of words have room on a phone.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes

MIN_TEXT = 60  # characters of a cell that make its table one of sentences
MAX_SHORT = 14  # characters of the cells of a column that stay on one line
CLASS, HEAD = "stacked", "cell-head"


def stack_tables(app: Any, doctree: Any) -> None:
    for table in doctree.findall(nodes.table):
        head, body = next(table.findall(nodes.thead), None), next(table.findall(nodes.tbody), None)
        if head is None or body is None:
            continue
        if not any(len(cell.astext()) >= MIN_TEXT for cell in body.findall(nodes.entry)):
            mark_columns(head, body)
            continue
        table["classes"].append(CLASS)
        heads = [cell.astext() for cell in head.findall(nodes.entry)]
        for row in body.findall(nodes.row):
            for text, cell in list(zip(heads, row.findall(nodes.entry), strict=True))[1:]:
                paragraph = next(cell.findall(nodes.paragraph), None)
                if paragraph is not None and paragraph.astext() and text:
                    said = f"{text} " if text.endswith("?") else f"{text}: "
                    paragraph.insert(0, nodes.inline("", said, classes=[HEAD]))


def mark_columns(head: nodes.thead, body: nodes.tbody) -> None:
    rows = [list(row.findall(nodes.entry)) for row in body.findall(nodes.row)]
    for cells in [*zip(*rows, strict=True), *((cell,) for cell in head.findall(nodes.entry))]:
        is_short = all(len(cell.astext()) <= MAX_SHORT for cell in cells)
        for cell in cells:
            cell["classes"].append("short" if is_short else "words")


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", stack_tables)
    return {"parallel_read_safe": True}
