"""Suggest known names for a misspelt one, and check arguments against known names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

MAX_LENGTH = 100  # of a name; the time to compare grows with its square
MAX_NAMES = 20_000  # names to compare with, which takes some tenths of a second
MIN_SIMILARITY = 0.6  # share of letters that two names have in common, in the same order
OTHER_START = 0.75  # the same of names with another first letter, which typing errors rarely change


def similar_names(name: Any, known: Iterable[Any], similarity: float = MIN_SIMILARITY) -> list[Any]:
    """At most three of the `known` names that are spelt like `name`, the most similar first.

    Case and type do not matter: ``"1"`` is similar to the column name 1.
    """
    text = str(name).lower() if isinstance(name, (str, bytes, int, float)) else ""
    if not 0 < len(text) <= MAX_LENGTH:
        return []
    by_text: dict[str, Any] = {}
    for known_name, _ in zip(known, range(MAX_NAMES), strict=False):
        if known_name is not None and len(spelt := str(known_name).lower()) <= MAX_LENGTH:
            by_text.setdefault(spelt, known_name)
    others = [spelt for spelt in by_text if spelt[:1] != text[0]]
    close = [spelt for spelt in by_text if spelt[:1] == text[0]]
    close += get_close_matches(text, others, n=3, cutoff=max(similarity, OTHER_START))
    return [by_text[spelt] for spelt in get_close_matches(text, close, n=3, cutoff=similarity)]


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """End of a message about an unknown name: ``; did you mean 'modl'?``, or empty if no known name is similar."""
    found = similar_names(name, known)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def check_choice(what: str, value: Any, allowed: Sequence[str | None]) -> None:
    """Raise ValueError if the argument `what` is not one of `allowed`, which may include None."""
    if (value is None or isinstance(value, str)) and value in allowed:
        return
    words = ", ".join(repr(word) for word in allowed if word is not None)
    raise ValueError(
        f"{what} must be one of {words}{' or None' if None in allowed else ''}, got {value!r}"
        f"{did_you_mean(value, allowed)}"
    )


def check_columns(what: str, named: Collection[Any], names: Collection[Any]) -> None:
    """Raise ValueError if the argument `what` names a column that is not one of `names`."""
    for name in named:
        if name not in names:
            known = ", ".join(repr(known) for known in list(names)[:20])
            more = ", ..." * (len(names) > 20)
            raise ValueError(f"{what} names column {name!r}; the data has {known}{more}{did_you_mean(name, names)}")
