"""Short code is never divided: a browser breaks lines at any space and hyphen, as in `--max-` and `parts`.

Long names are divided after a dot, a bracket or an underscore, not inside of a word, a number or the name of a file;
paths after a slash. In text, an interval such as (-inf, 2.5] and a number with its sign of percent stay on one line, in
tables a range of numbers, 0.4-0.6, too.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from docutils import nodes

LONGEST_WORD = 24  # characters that fit on a line of a phone, in a list in a list
LONGEST_WHOLE = 18  # characters of several words that stay together
# A piece of a name ends after these signs, but for the dot of a number or of a suffix, and not before ")", "]" or ",".
PIECE = re.compile(r".+?(?:(?:(?!\.(?:\d|(?:py|md|json|gz|csv|fish)\b))[._(\[])++(?![)\],])|$)", re.DOTALL)
PIECE_OF_PATH = re.compile(r".+?(?:/|$)")
RANGE = re.compile(r"(?<=\d)-(?=\d)")
JOINER = "\u2060"  # no line ends beside it
WHOLE_TEXT = re.compile(r"[(\[]-?[\w.]+, -?[\w.]+[)\]]|\d %|\d+e-\d+")


def mark_short_code(app: Any, doctree: Any) -> None:
    for literal in doctree.findall(nodes.literal):
        text = literal.astext()
        if len(text) <= LONGEST_WHOLE:
            literal["classes"].append("whole")
        elif all(len(word) <= LONGEST_WORD for word in text.split()):
            literal["classes"].append("whole-words")


def keep_numbers_whole(app: Any, doctree: Any) -> None:
    """Words in brackets are no interval: one of its bounds is a number or inf."""
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, (nodes.paragraph, nodes.emphasis, nodes.strong)):
            continue
        found = [one for one in WHOLE_TEXT.finditer(text) if re.search(r"\d|inf", one[0])]
        ends = [0, *(place for one in found for place in one.span()), len(text)]
        if found:
            parts = [text[first:last] for first, last in pairwise(ends)]
            kept = [
                nodes.inline("", part, classes=["whole"]) if i % 2 else nodes.Text(part) for i, part in enumerate(parts)
            ]
            text.parent.replace(text, kept)


def divide_long_code(app: Any, doctree: Any, name: str) -> None:
    if app.builder.format != "html":
        return
    for literal in doctree.findall(nodes.literal):
        if {"whole", "whole-words"} & set(literal["classes"]):
            continue
        if all(len(word) <= LONGEST_WORD for word in re.split(r"[._(\[]+|\s+", literal.astext())):
            literal["classes"].append("whole-words")
        for text in list(literal.findall(nodes.Text)):
            pieces = [
                piece
                for word in re.split(r"(?<=\s)", text)
                for piece in (PIECE_OF_PATH if re.fullmatch(r"\w+(/[\w.*-]+)+\s*", word) else PIECE).findall(word)
            ]
            divided = [node for piece in pieces for node in (nodes.raw("", "<wbr>", format="html"), nodes.Text(piece))]
            text.parent.replace(text, divided[1:])
    for cell in doctree.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            if RANGE.search(text) and not isinstance(text.parent, nodes.literal | nodes.math | nodes.raw):
                text.parent.replace(text, nodes.Text(RANGE.sub(f"{JOINER}-{JOINER}", text)))


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", mark_short_code)
    app.connect("doctree-read", keep_numbers_whole)
    app.connect("doctree-resolved", divide_long_code)
    return {"parallel_read_safe": True}
