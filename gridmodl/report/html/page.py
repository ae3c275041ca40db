"""The page itself: a template, its style and scripts, and the record that the script shows.

The browser is told to run nothing else: the Content-Security-Policy of the page names its scripts and its style by
their hashes and forbids all other sources, the network among them. Vega's expressions are interpreted, not compiled, so
not even `eval` is needed.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import os
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from gridmodl.modelfile.files import replace_file
from gridmodl.report.html.plain import script_json
from gridmodl.report.html.vega import chart_script

SCRIPTS = ("elements", "table", "chart", "specs", "variables", "merging", "heatmap", "grid", "start")  # in this order


def write_page(document: dict[str, Any], summary: str, title: str | None, path: str | os.PathLike[str] | None) -> str:
    """The page of a document, also written to a file if there is a path; `summary` is for readers without scripts."""
    text = _page_text(document, summary, title or "gridmodl report")
    if path is not None:
        replace_file(Path(path), text)
    return text


def _page_text(document: dict[str, Any], summary: str, title: str) -> str:
    charts, own, style = _inline(chart_script()), _inline(_own_script()), _part("style.css")
    return Template(_part("page.html")).substitute(
        policy=_policy([charts, own], style),
        title=_escaped(title),
        style=style,
        licences=_part("licences.txt"),
        summary=_escaped(summary),
        document=script_json(document),
        charts=charts,
        script=own,
    )


def _policy(scripts: list[str], style: str) -> str:
    allowed = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _inline(script: str) -> str:
    """The script as it may stand in a page: nothing in it ends its element or opens a comment there."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r", "")


def _escaped(text: str) -> str:
    return html.escape(text.encode("utf-8", "replace").decode())


def _own_script() -> str:
    """The scripts of this package as one function, so that they share their names with nobody else."""
    return '"use strict";\n(() => {\n' + "\n".join(_part(f"{name}.js") for name in SCRIPTS) + "})();\n"


@functools.cache
def _part(name: str) -> str:
    return (files("gridmodl.report.html") / "template" / name).read_text(encoding="utf-8")
