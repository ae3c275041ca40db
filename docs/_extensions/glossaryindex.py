"""The words of the glossary lead to its pages in the index and in the search: "binning" finds "Discretize"."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from sphinx import addnodes

GLOSSARY = "glossary"
ENTRY = re.compile(r"((?:^\w.*\n)+)((?:^  .*\n)+)", re.MULTILINE)  # words for one thing, and what is said of it
LINK = re.compile(r"\]\(([\w/]+)\.md")


def words_of_pages(glossary: str) -> dict[str, list[str]]:
    """The words that lead to each page that the glossary links to."""
    found: dict[str, list[str]] = {}
    for words, text in ENTRY.findall(glossary.partition("{glossary}\n")[2]):
        for page in dict.fromkeys(LINK.findall(text)):
            found.setdefault(posixpath.normpath(page), []).extend(words.splitlines())
    return found


def read_glossary(app: Any) -> None:
    app.words_of_pages = words_of_pages((Path(app.srcdir) / f"{GLOSSARY}.md").read_text("utf-8"))


def add_words(app: Any, doctree: Any) -> None:
    words = app.words_of_pages.get(app.env.docname)
    if words:
        app.env.note_dependency(f"{GLOSSARY}.md")
        doctree.insert(0, addnodes.index(entries=[("single", word, "", "main", None) for word in words]))


def write_again(app: Any, env: Any) -> list[str]:
    """Sphinx keeps these words for pages that it writes only: else they would be lost when other pages change."""
    return [GLOSSARY, *(page for page in app.words_of_pages if page in env.all_docs)]


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", read_glossary)
    app.connect("doctree-read", add_words)
    app.connect("env-updated", write_again)
    return {"parallel_read_safe": True}
