"""The code of a page in markdown, run block by block, and what the page says that it prints.

``PYTHONPATH=tests python -m docs.pages docs/start.md ...`` writes what the code prints now into the pages.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
OUTPUT = re.compile(r"\s*```text\n(.*?)```", re.DOTALL)  # directly below the code
SECONDS = re.compile(r"\b\d[\d.e-]* s\b")  # the one thing that differs from run to run


class Block(NamedTuple):
    code: str
    shown: str | None  # what the page says that it prints
    line: int


def blocks_of(text: str) -> list[Block]:
    blocks = []
    for found in PYTHON.finditer(text):
        shown = OUTPUT.match(text, found.end())
        blocks.append(Block(found[1], shown and shown[1], text.count("\n", 0, found.start()) + 2))
    return blocks


def printed_by(blocks: list[Block], page: str) -> list[str]:
    """What each block prints; all run in one scope, in order, as a reader would run them."""
    scope: dict[str, Any] = {"__name__": "page"}
    printed = []
    for block in blocks:
        code = compile("\n" * (block.line - 1) + block.code, page, "exec")  # so that errors name lines of the page
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, scope)  # noqa: S102  our own text
        printed.append(out.getvalue())
    return printed


def without_seconds(text: str) -> list[str]:
    return [SECONDS.sub("... s", line.rstrip()) for line in text.strip("\n").splitlines()]


def refreshed(text: str, page: str) -> str:
    """The page with what its blocks print now; lines that differ in seconds alone stay as they are."""
    blocks = blocks_of(text)
    printed = iter(zip(blocks, printed_by(blocks, page), strict=True))

    def with_output(found: re.Match[str]) -> str:
        block, output = next(printed)
        if block.shown is None or without_seconds(output) == without_seconds(block.shown):
            return found[0]
        shown = OUTPUT.match(text, found.start() + len(f"```python\n{block.code}```"))
        assert shown is not None
        return found[0].replace(shown[0], f"\n\n```text\n{output.rstrip()}\n```")

    return re.sub(PYTHON.pattern + f"(?:{OUTPUT.pattern})?", with_output, text, flags=re.DOTALL)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(refreshed(page.read_text("utf-8"), page.name), "utf-8")
