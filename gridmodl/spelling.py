"""Names that may have been meant by one that is not known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

LONGEST = 100  # comparing takes the square of the length; no one misspells more
MOST = 20_000  # names to compare with: some tenths of a second
CLOSE = 0.6  # share of letters that two names have in common in the same order


def meant_by(given: Any, known: Iterable[Any], close: float = CLOSE) -> list[Any]:
    """At most three of the `known` names that are spelt like `given`, the closest first.

    Capitals do not matter, nor does the type: the column 1 may be meant by ``"1"``.
    """
    text = str(given).lower() if isinstance(given, (str, bytes, int, float)) else ""
    if not 0 < len(text) <= LONGEST:
        return []
    by_text: dict[str, Any] = {}
    for name, _ in zip(known, range(MOST), strict=False):
        if name is not None and len(spelt := str(name).lower()) <= LONGEST:
            by_text.setdefault(spelt, name)
    return [by_text[spelt] for spelt in get_close_matches(text, by_text, n=3, cutoff=close)]


def did_you_mean(given: Any, known: Iterable[Any]) -> str:
    """The end of a message about a name that is not known: ``; did you mean 'modl'?``, empty where none is close."""
    found = meant_by(given, known)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def check_choice(what: str, given: Any, allowed: Sequence[str | None]) -> None:
    """One of a few words, or None where that is allowed."""
    if (given is None or isinstance(given, str)) and given in allowed:
        return
    words = ", ".join(repr(word) for word in allowed if word is not None)
    raise ValueError(
        f"{what} must be one of {words}{' or None' if None in allowed else ''}, got {given!r}"
        f"{did_you_mean(given, allowed)}"
    )


def check_columns(what: str, named: Collection[Any], names: Collection[Any]) -> None:
    """Every column that an argument names must be there."""
    for name in named:
        if name not in names:
            known = ", ".join(repr(known) for known in list(names)[:20])
            more = ", ..." * (len(names) > 20)
            raise ValueError(f"{what} names column {name!r}; the data has {known}{more}{did_you_mean(name, names)}")
