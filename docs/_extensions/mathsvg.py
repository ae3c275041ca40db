"""Formulas as drawings within the page: a math renderer for Sphinx that needs no network and no font of the reader.

MathJax would be fetched when a page is opened, and MathML looks as good as the fonts that happen to be there. So
matplotlib, which draws the examples anyway, sets the subset of TeX that these pages need. A formula takes the colour of
the text around it, and its TeX is what a screen reader reads.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath, text_to_path
from sphinx.application import Sphinx

SIZE = 10.0  # of the font while drawing; the page scales it to its own
# matplotlib leaves no room after a sum, and none before a logarithm
LOG = re.compile(r"(?<=[\w)}!])\s*(?=\\log)")
SUM = re.compile(r"(\\(?:sum|prod)(?![a-z])(?:_(?:\w|\{(?:[^{}]|\{[^{}]*\})*\}))?)")
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


def drawing(tex: str) -> str:
    """One formula as an SVG element whose base line is that of the text."""
    source = "$" + LOG.sub(r"\\,", SUM.sub(r"\1\\,", " ".join(tex.split()))) + "$"
    font = FontProperties(size=SIZE, math_fontfamily="cm")
    width, height, depth = text_to_path.get_text_width_height_descent(source, font, ismath=True)
    outline = TextPath((0, 0), source, prop=font)
    # what is measured can be smaller than what is drawn: below a binomial, or left of a slanted capital
    (left, low), (right, high) = outline.get_extents().get_points()
    left, right = min(left, 0.0), max(right, width)
    depth, height = max(depth, -low), max(height - depth, high) + max(depth, -low)
    width = right - left
    steps = "".join(
        LETTERS[code] + (" ".join(f"{x:.2f}" for x in points) if code != Path.CLOSEPOLY else "")
        for points, code in outline.iter_segments(curves=True, simplify=False)
    )
    box = f"{left:.2f} {depth - height:.2f} {width:.2f} {height:.2f}"
    return (
        f'<svg class="formula" role="img" aria-label="{escape(tex)}" viewBox="{box}" '
        f'style="width:{width / SIZE:.3f}em;height:{height / SIZE:.3f}em;vertical-align:{-depth / SIZE:.3f}em">'
        f'<path fill="currentColor" transform="scale(1,-1)" d="{steps}"/></svg>'
    )


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(drawing(node.astext()) + "&#8288;")  # a comma after it does not begin a line
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Lines of a block are formulas below each other."""
    lines = [_in_full_size(line) for line in node.astext().splitlines() if line.strip()]
    self.body.append('<div class="formulas">' + "".join(f"<div>{drawing(line)}</div>" for line in lines) + "</div>")
    raise nodes.SkipNode


def _in_full_size(tex: str) -> str:
    """What stands above another in a formula of its own is as large as the rest."""
    return tex.replace(r"\frac", r"\dfrac").replace(r"\binom", r"\genfrac{(}{)}{0}{0}")


def join_signs(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Keep a comma or a colon after a formula on its line."""
    for formula in list(doctree.findall(nodes.math)):
        after = formula.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (sign := re.match(r"[,.:;)]+", after)):
            formula.parent.replace(after, nodes.Text(after[sign.end() :]))
            joined = nodes.inline(classes=["joined"])
            formula.replace_self(joined)
            joined += [formula, nodes.Text(sign[0])]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("svg", (visit_inline, None), (visit_block, None))
    app.connect("doctree-resolved", join_signs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
