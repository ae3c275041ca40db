"""Tables in a document, each between two marks of its own that a script writes between."""

from __future__ import annotations

from pathlib import Path

DOCUMENT = Path(__file__).parent.parent / "exact.md"


def put(name: str, text: str) -> None:
    """Write a text into `DOCUMENT`, in place of what is between the marks of that name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    document = DOCUMENT.read_text()
    if document.count(begin) != 1 or document.count(end) != 1:
        raise ValueError(f"{DOCUMENT.name} must have the lines {begin!r} and {end!r} once each; add them")
    before, rest = document.split(begin)
    DOCUMENT.write_text(before + begin + "\n" + text + "\n" + end + rest.split(end)[1])
