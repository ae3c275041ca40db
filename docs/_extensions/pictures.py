"""Pictures of examples stand in paragraphs, as those of pages do: on a phone, wide ones scroll by themselves."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx_gallery.directives import imgsgnode


def wrap_pictures(app: Any, doctree: Any) -> None:
    for picture in [*doctree.findall(imgsgnode), *doctree.findall(nodes.image)]:
        if isinstance(picture.parent, nodes.section):
            paragraph = nodes.paragraph()
            picture.replace_self(paragraph)
            paragraph += picture


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", wrap_pictures)
    return {"parallel_read_safe": True}
