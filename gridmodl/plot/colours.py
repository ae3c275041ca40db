"""Colours that are told apart by colour-blind eyes too.

Classes have those of M. Okabe and K. Ito, "Color universal design", 2008; shares run through cividis, and what may be
above or below 0 from purple to orange.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from gridmodl.labels import counted
from gridmodl.plot.text import class_names
from gridmodl.report.pictures import OKABE_ITO
from gridmodl.report.tables import largest, with_others

OF_CLASSES = (*OKABE_ITO, "#000000")
OTHER = "#A6A6A6"  # of all classes that have no colour of their own
INK = "#404040"  # of lines and marks
PLAIN = "#6B8CA8"  # of bars that are of no class
PALE = "#C9D3DC"  # of rows without a class
EMPTY = "#EDEDED"  # where no rows are
SHARES = "cividis"
AROUND_ZERO = "PuOr_r"


class Shown(NamedTuple):
    """The classes of a picture: where there are many, the largest, and all others as one."""

    names: list[str]
    colours: list[str]
    counts: NDArray[np.int64]  # rows by class, the last axis


def shown_classes(counts: NDArray[np.int64], classes: NDArray[Any], most: int = len(OF_CLASSES)) -> Shown:
    """At most so many classes, in their order; the rows of those that are not among the largest are one more."""
    if most < 2:
        raise ValueError(f"max_classes must be at least 2, one for all others among them, got {most!r}")
    names, n = class_names(classes), len(classes)
    most = min(most, len(OF_CLASSES))
    if n <= most:
        return Shown(names, list(OF_CLASSES[:n]), counts)
    totals = counts.reshape(-1, n).sum(axis=0)
    kept = largest(totals, most - 1)
    return Shown(
        [*(names[j] for j in kept), counted(n - len(kept), "other")],
        [*OF_CLASSES[: len(kept)], OTHER],
        with_others(counts, kept),
    )


def ink_on(colour: Any) -> str:
    """Black or white, whichever is read on a colour."""
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in to_rgb(colour)
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "black" if luminance > 0.18 else "white"  # where both have the same contrast, by WCAG


def shares_of(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each class, along the last axis; NaN where there are no rows."""
    rows = counts.sum(axis=-1, keepdims=True)
    return np.where(rows > 0, counts / np.maximum(rows, 1), np.nan)
