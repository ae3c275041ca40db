"""Names and labels as they can be drawn: on one line, as long as there is room, and never read as a formula.

A character that the font does not have is drawn as ``�``; ``matplotlib.rcParams["font.family"]`` names fonts that are
tried one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.font_manager import FontProperties, findfont, get_font
from numpy.typing import NDArray

from gridmodl.labels import counted, edges_of
from gridmodl.partition import Partition

ROOM = 40  # characters of the label of a part
DIGITS = 6  # of a bound, or more where two would look alike
NEAR = 0.01  # of the distance between bounds, is what one may be off
UNKNOWN = "\N{REPLACEMENT CHARACTER}"


def drawn(text: Any, room: int = ROOM) -> str:
    """The text on one line of at most so many characters, safe to give to matplotlib.

    >>> drawn("price\\nin $", 20)
    'price in \\\\$'
    >>> drawn("a very long name of a column", 12)
    'a very l…umn'
    """
    line = " ".join(str(text).split()) or repr(str(text))
    known = _characters(tuple(rcParams["font.family"]))
    line = "".join(c if c.isprintable() and ord(c) in known else UNKNOWN for c in shortened(line, room))
    return line.replace("$", r"\$")  # which matplotlib draws as a dollar, and two of them not as a formula


def shortened(text: str, room: int) -> str:
    """The beginning and the end of a text that is too long."""
    if len(text) <= room:
        return text
    tail = (room - 1) // 3
    return f"{text[: room - 1 - tail]}…{text[len(text) - tail :]}"


def part_labels(partition: Partition, room: int = ROOM) -> list[str]:
    """The parts in words, ready to be drawn."""
    return [drawn(label, room) for label in short_labels(partition)]


def title_of(partition: Partition, level: float | None) -> str:
    """The variable, how many parts it has, and how much they explain where that is known."""
    known = "" if level is None else f", level {level:.3f}"
    return f"{drawn(partition.name)}: {counted(partition.n_parts, 'part')}{known}"


def short_labels(partition: Partition) -> list[str]:
    """The parts in words, bounds rounded as far as they stay apart."""
    return replace(partition, bounds=_rounded(partition.bounds)).labels


def bound_words(bounds: NDArray[Any]) -> list[str]:
    """Bounds in words, rounded likewise."""
    alone = Partition("", "numerical", np.zeros((len(bounds) + 1, 1), dtype=np.int64), bounds=_rounded(bounds))
    return [drawn(edge) for edge in edges_of(alone)[1:-1]]


def class_names(classes: Sequence[Any] | NDArray[Any], room: int = 24) -> list[str]:
    """The classes in words."""
    return [drawn(name, room) for name in np.asarray(classes).tolist()]


@lru_cache(maxsize=8)
def _characters(families: tuple[str, ...]) -> frozenset[int]:
    """What the fonts that matplotlib would take can draw."""
    found: set[int] = set()
    for family in families:
        found |= get_font(findfont(FontProperties(family=[family]))).get_charmap().keys()
    return frozenset(found)


def _rounded(bounds: NDArray[Any]) -> NDArray[Any]:
    """Bounds of few digits that are next to the true ones, measured by the distance between neighbours."""
    if bounds.dtype.kind != "f":
        return bounds
    finite = np.isfinite(bounds)
    gap = float(np.diff(bounds[finite]).min(initial=np.inf))
    for digits in range(DIGITS, 17):
        short = np.array([float(f"{bound:.{digits}g}") for bound in bounds.tolist()])
        if np.all(np.abs(short[finite] - bounds[finite]) <= NEAR * gap):
            return short
    return bounds
