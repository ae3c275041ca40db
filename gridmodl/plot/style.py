"""Colours, and texts as matplotlib can draw them.

Colours suit colour-blind readers: classes have those of M. Okabe and K. Ito, "Color universal design", 2008, shares
those of viridis, and values around 0 run from purple to orange.

Texts are on one line, shortened to fit, and never read as a formula; no two labels of a picture look alike. A character
that the font lacks is drawn as ``�``; ``matplotlib.rcParams["font.family"]`` names fonts to try in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties, findfont, get_font
from numpy.typing import NDArray

from gridmodl.model.labels import counted, edges_of
from gridmodl.model.names import DIGITS, MAX_NAME, MIN_VALUE, common_beginning, names_of, rounded, shortened
from gridmodl.model.partition import Partition
from gridmodl.report.pictures import OKABE_ITO

OF_CLASSES = (*OKABE_ITO, "#000000")
OTHER = "#A6A6A6"  # of all classes that have no colour of their own
PALETTE = (*OF_CLASSES, OTHER)
INK = "#404040"  # of lines and marks
PLAIN = "#6B8CA8"  # of bars of rows of all classes
PALE = "#C9D3DC"  # of unlabelled rows
EMPTY = "#EDEDED"  # of cells without rows
SHARES = "viridis"
AROUND_ZERO = "PuOr_r"

ROOM = 40  # characters of the label of a part
LONG_NAME = 100  # characters of the name of a variable in a title, which takes several lines
SIGNS = "≤ ", "> "  # before the bound of an interval
ROUGH = 0.1  # largest rounding error of a bound where room is short, in distances between bounds
UNKNOWN = "\N{REPLACEMENT CHARACTER}"


def ink_on(colour: Any) -> str:
    """Black or white, whichever is readable on `colour`."""
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in to_rgb(colour)
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "black" if luminance > 0.18 else "white"  # at 0.18 both have the same contrast, by WCAG


def shares_of(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of each class, along the last axis; NaN where there are no rows."""
    rows = counts.sum(axis=-1, keepdims=True)
    return np.where(rows > 0, counts / np.maximum(rows, 1), np.nan)


def drawn(text: Any, room: int = ROOM) -> str:
    """The text on one line of at most `room` characters, safe for matplotlib.

    >>> drawn("price\\nin $", 20)
    'price in \\\\$'
    >>> drawn("a very long name of a column", 12)
    'a very l…umn'
    """
    return _as_no_formula(_with_known_characters(shortened(_on_one_line(text), room)))


def _on_one_line(text: Any) -> str:
    return " ".join(str(text).split()) or repr(str(text))


def _with_known_characters(line: str) -> str:
    known = _characters(tuple(rcParams["font.family"]))
    return "".join(c if c.isprintable() and ord(c) in known else UNKNOWN for c in line)


def _as_no_formula(line: str) -> str:
    return line.replace("$", r"\$")  # as two plain dollars would enclose a formula


def fitted(texts: Sequence[Any], room: int = ROOM) -> list[str]:
    """The texts, each as `drawn` on a line of at most `room` characters; no two look alike.

    Of long texts that begin alike, only the end of what they share is kept.

    >>> fitted(["sensor of the hall, channel 1", "sensor of the hall, channel 2"], 20)
    ['…the hall, channel 1', '…the hall, channel 2']
    """
    lines = [_on_one_line(text) for text in texts]
    short = _shorter(lines, room)
    for alike in [[i for i, one in enumerate(short) if one == text] for text, n in Counter(short).items() if n > 1]:
        apart = _shorter([lines[i] for i in alike], room, keep=0)
        for i, text in zip(alike, apart, strict=True):
            short[i] = text
    known = [_with_known_characters(text) for text in short]
    seen = Counter(known)
    return [
        _as_no_formula(f"{i}: {shortened(text, max(1, room - len(f'{i}: ')))}" if seen[text] > 1 else text)
        for i, text in enumerate(known)
    ]


def _shorter(lines: Sequence[str], room: int, keep: int | None = None) -> list[str]:
    """Lines of at most `room` characters, without some of what all begin with; `keep` is how much of it is kept."""
    longest = max(map(len, lines), default=0)
    if longest > room and len(lines) > 1:
        common = common_beginning(lines)
        least = common if keep is not None else min(common, longest - room + 1)
        at = next((i for i in range(least, common) if not lines[0][i - 1].isalnum()), common)
        lines = [f"…{line[at:]}" for line in lines] if at > 1 else lines
    return [shortened(line, room) for line in lines]


def percent(share: float) -> str:
    """The share in whole percents; none and all of it only where that is true.

    >>> percent(0.25), percent(0.0), percent(0.002), percent(0.9996), percent(1.0)
    ('25%', '0%', '<1%', '>99%', '100%')
    """
    text = f"{share:.0%}"
    return "<1%" if text == "0%" and share > 0.0 else ">99%" if text == "100%" and share < 1.0 else text


def part_labels(partition: Partition, room: int = ROOM) -> list[str]:
    """Names of the parts, ready to be drawn, each of at most `room` characters; no two look alike."""
    longest = len(str(partition.n_parts)) + len(": ")
    names = names_of(partition, min(MAX_NAME, max(MIN_VALUE, room - longest)))
    if partition.kind == "numerical" and not partition.given_names and max(map(len, names)) > room:
        names = _with_short_bounds([by_one_bound(name) for name in names], room)
    return fitted(names, room)


def _with_short_bounds(names: Sequence[str], room: int) -> list[str]:
    """Names of intervals by one bound, shorter if one has more than `room` characters: no number is cut.

    >>> _with_short_bounds(["≤ 999895000000000.0", "≤ 2073730000000000.0", "> 2073730000000000.0"], 10)
    ['≤ 1e+15', '≤ 2.07e+15', '> 2.07e+15']
    >>> _with_short_bounds(["≤ 2020-01-01T23:55", "≤ 2020-01-02T23:58", "> 2020-01-02T23:58"], 12)
    ['≤ …01T23:55', '≤ …02T23:58', '> …02T23:58']
    """
    if max(map(len, names)) <= room:
        return list(names)
    bounds = list(dict.fromkeys(name[2:] for name in names if name[:2] in SIGNS))
    short = dict(zip(bounds, _short_bounds(bounds, room - 2), strict=True))
    return [name[:2] + short[name[2:]] if name[:2] in SIGNS else name for name in names]


def _short_bounds(bounds: Sequence[str], room: int) -> list[str]:
    """Numbers with as many digits as there is room for, or bounds without what all begin with; as they are if that is
    not enough."""
    try:
        values = np.array([float(bound) for bound in bounds])
    except ValueError:  # dates or durations
        values = np.zeros(0)
    gap = float(np.diff(values).min(initial=np.inf))
    for digits in range(DIGITS, 0, -1) if len(values) else ():
        texts = [f"{value:.{digits}g}" for value in values.tolist()]
        if max(map(len, texts)) <= room and np.all(np.abs(np.array(texts, dtype=float) - values) <= ROUGH * gap):
            return texts
    short = [f"…{bound[common_beginning(bounds) :]}" for bound in bounds]
    return short if len(bounds) > 1 and max(map(len, short)) <= room else list(bounds)


def by_one_bound(name: str) -> str:
    """A shorter name of an interval that stands beside its neighbours; other names as they are.

    >>> [by_one_bound(name) for name in ("(-inf, 2.5]", "(2.5, 4.5]", "(4.5, inf)", "missing")]
    ['≤ 2.5', '≤ 4.5', '> 4.5', 'missing']
    """
    low, _, high = name.partition(", ")
    if not low.startswith("(") or name == "(-inf, inf)":
        return name
    if high == "inf)":
        return f"> {low[1:]}"
    return f"≤ {high[:-1]}" if high.endswith("]") else name


def title_of(partition: Partition, level: float | None) -> str:
    """Title with the variable, its number of parts, and the level if known."""
    known = "" if level is None else f", level {level:.3f}"
    return f"{drawn(partition.name, LONG_NAME)}: {counted(partition.n_parts, 'part')}{known}"


def bound_words(bounds: NDArray[Any]) -> list[str]:
    """Bounds as text, rounded as far as they stay distinct."""
    alone = Partition("", "numerical", np.zeros((len(bounds) + 1, 1), dtype=np.int64), bounds=rounded(bounds))
    return [drawn(edge) for edge in edges_of(alone)[1:-1]]


def class_names(classes: Sequence[Any] | NDArray[Any], room: int = 24) -> list[str]:
    """Names of the classes, ready to be drawn; no two look alike."""
    return fitted(np.asarray(classes).tolist(), room)


def class_ends(classes: Sequence[Any] | NDArray[Any], room: int = 6) -> list[str]:
    """Names of the classes without what all begin with; empty where a name is still longer than `room` characters.

    >>> class_ends(["class 1", "class 25", "class of all others"])
    ['…1', '…25', '']
    """
    lines = [_with_known_characters(_on_one_line(name)) for name in np.asarray(classes).tolist()]
    common = common_beginning(lines)
    ends = [f"…{line[common:]}" if 1 < common < len(line) else line for line in lines]
    return [_as_no_formula(end) if len(end) <= room and ends.count(end) == 1 else "" for end in ends]


@lru_cache(maxsize=8)
def _characters(families: tuple[str, ...]) -> frozenset[int]:
    """Characters that the fonts of these families have."""
    found: set[int] = set()
    for family in families:
        found |= get_font(findfont(FontProperties(family=[family]))).get_charmap().keys()
    return frozenset(found)
