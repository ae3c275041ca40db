"""The HTML page: a template, its style and scripts, and the record that the scripts show.

The Content-Security-Policy of the page allows its scripts and its style by their hashes and forbids all other sources,
the network among them. Vega's expressions are interpreted, not compiled, so `eval` is not needed.
"""

from __future__ import annotations

import base64
import datetime
import functools
import hashlib
import html
import json
import os
from importlib.resources import files
from string import Template
from typing import Any

from gridmodl.writing import replace_file

SCRIPTS = (
    "elements",
    "csv",
    "table",
    "chart",
    "specs",
    "events",
    "density",
    "curve",
    "scores",
    "drift",
    "selection",
    "variables",
    "merging",
    "heatmap",
    "grid",
    "section",
    "start",
)  # in order

# Characters that could end the script element that holds the text, or open a comment in it.
UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def write_page(
    sections: list[dict[str, Any]], summary: str, title: str, path: str | os.PathLike[str] | None, about: str | None
) -> str:
    """The page of some sections, also written to `path` if given; `summary` is for readers without scripts.

    `about` is what its reader is told about the data, below the title.
    """
    document = {"sections": sections, "about": about or "", "date": _today()}
    text = _page_text(document, summary, title)
    if path is not None:
        replace_file(path, text)
    return text


def _today() -> str:
    """The day, that of SOURCE_DATE_EPOCH where builds are to be reproducible."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isdigit():
        return datetime.datetime.fromtimestamp(int(given), datetime.UTC).date().isoformat()
    return datetime.datetime.now().astimezone().date().isoformat()


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
    """The script, escaped so that nothing in it ends its element or opens a comment in the page."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r", "")


def _escaped(text: str) -> str:
    return html.escape(text.encode("utf-8", "replace").decode())


def _own_script() -> str:
    """The scripts of this package as one function, so that their names are not global."""
    return '"use strict";\n(() => {\n' + "\n".join(_part(f"{name}.js") for name in SCRIPTS) + "})();\n"


@functools.cache
def _part(name: str) -> str:
    return (files("gridmodl.report.html") / "template" / name).read_text(encoding="utf-8")


def script_json(record: Any) -> str:
    """JSON for a script element: ASCII only, so without lone surrogates and line separators."""
    return json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(UNSAFE)


@functools.cache
def chart_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that defines `window.vegaEmbed`, from vl-convert-python."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError('an HTML report needs vl-convert-python: pip install "gridmodl[html]"') from error
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
