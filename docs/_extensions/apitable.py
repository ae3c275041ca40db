"""The start of the reference: every name of the pages of docs/api with one line, in one table for each section.

The pages themselves list the names; this reads them, so that there is one list.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

INDEX = "api/index"
BLOCK = re.compile(
    r"^\.\. currentmodule:: \S+$|^\.\. autosummary::\n(?P<options>(?:   :.*\n)+)\n(?P<names>(?:   \w+(?:\n|\Z))+)",
    re.MULTILINE,
)


def pages(index: str) -> list[str]:
    """Names of the pages in the table of contents of `index`, in order."""
    contents = index.partition(".. toctree::")[2]
    return re.findall(r"^   (\w+)$", contents, re.MULTILINE)


def lists_of(text: str) -> list[str]:
    """The title of a page as a rubric, and its lists of names with the modules they are in; all else is left out."""
    title = text.partition("\n")[0]
    tables = [
        found[0] if found["names"] is None else f".. autosummary::\n   :nosignatures:\n\n{found['names']}"
        for found in BLOCK.finditer(text)
    ]
    return [f".. rubric:: {title}\n", *tables]


def add_tables(app: Any, docname: str, source: list[str]) -> None:
    if docname != INDEX:
        return
    folder = Path(app.srcdir) / "api"
    blocks = [block for page in pages(source[0]) for block in lists_of((folder / f"{page}.rst").read_text("utf-8"))]
    source[0] += "\n" + "\n\n".join(blocks) + "\n"


def read_again(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """The table is made again where a page that it lists has changed."""
    return [INDEX] if any(name.startswith("api/") for name in added | changed | removed) else []


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", add_tables)
    app.connect("env-get-outdated", read_again)
    return {"parallel_read_safe": True}
