"""Where values that no part holds go: missing values and categories that were not in the training data."""

from __future__ import annotations

from typing import Any, NamedTuple

from gridmodl.spelling import did_you_mean

UNKNOWN = ("neutral", "largest", "error")
MISSING = ("neutral", "error")
NO_PART = -1  # number of the part of a value that belongs to no part
RENAMED = {
    "default": "the group with the most values is no longer offered: unknown='largest' is the group with the most "
    "rows, unknown='neutral' takes no group",
    "-1": "write unknown='neutral', which gives -1 and neutral predictions",
}
OF_TRAINING = dict.fromkeys(("auto", "apart"), "'auto' and 'apart' are for training, as in optimize(missing='apart')")


class Policy(NamedTuple):
    """What to do with values that no part holds.

    None means: as the partition says, which is ``"neutral"`` unless the partition comes from a file of versions 1 to 5.
    """

    unknown: str | None = None  # of a category that was not in the training data: a word of UNKNOWN
    missing: str | None = None  # of a missing value, if the training data had none: a word of MISSING


BY_PARTITION = Policy()
NEUTRAL = Policy("neutral", "neutral")
STRICT = Policy("error", "error")  # for training rows, which all belong to a part


def checked_policy(unknown: Any, missing: Any, name_of_missing: str = "missing") -> Policy:
    """The arguments ``unknown`` and ``missing`` as a policy; raise ValueError for a word that is not allowed."""
    for name, word, known, hints in (
        ("unknown", unknown, UNKNOWN, RENAMED),
        (name_of_missing, missing, MISSING, OF_TRAINING),
    ):
        if word is None or (isinstance(word, str) and word in known):
            continue
        hint = hints.get(str(word))
        near = did_you_mean(word, known) if hint is None else f"; {hint}"
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {word!r}{near}")
    return Policy(unknown, missing)
