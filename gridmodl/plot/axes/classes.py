"""Shares of classes: a colour for each, or, where there are too many for colours, the largest classes of each part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from gridmodl.plot.axes.lanes import BAR, WIDE, snap_of
from gridmodl.plot.axes.layout import LARGEST, LETTER, fitting_font, font_for, size_in_points
from gridmodl.plot.style import INK, OF_CLASSES, PALETTE, class_ends, class_names, ink_on, percent, shares_of
from gridmodl.report.pictures import RANKS, is_too_many, ranked_classes, shown_classes

MOST = len(OF_CLASSES)  # colours of classes
ROOMS = 24, 16, 10  # characters of the name of a class in a bar, from which the longest is taken that fits
LOW = 6.0  # points of a lane below which bars have no white edges, which would pale them
LEAST = 0.09  # smallest share that is written into its bar
MOST_ENTRIES = 9  # of a legend
ORDERED = "viridis"  # colours of intervals of a target


class ClassStripes(NamedTuple):
    """Stripes of the classes of parts, from left to right."""

    entries: list[str]  # of the legend
    colours: list[str]
    shares: NDArray[np.float64]  # by part and stripe; NaN for parts without rows
    classes: NDArray[np.int64] | None  # class of each stripe of each part, if colours stand for ranks

    def legend(self, drawn_stripes: Sequence[Any]) -> list[tuple[Any, str]]:
        """Entries of a legend; of very many stripes some, the first and the last among them.

        Of ranks, which follow each other from dark to light: the first, the last, and the rest.
        """
        n = len(self.entries)
        shown = np.unique(np.linspace(0, n - 1, min(n, MOST_ENTRIES)).round().astype(int)).tolist()
        if self.classes is not None and n > 3:
            shown = [0, n - 2, n - 1]
        return [(drawn_stripes[i], self.entries[i]) for i in shown]

    @property
    def begins(self) -> NDArray[np.float64]:
        """Left end of each stripe."""
        return np.nan_to_num(np.cumsum(self.shares, axis=-1) - self.shares)


def interval_stripes(counts: NDArray[np.int64], names: Any) -> ClassStripes:
    """A stripe for each interval of a target, from dark to light as they ascend; the last axis is that of `names`."""
    colours = colormaps[ORDERED](np.linspace(0.0, 1.0, len(names)))
    return ClassStripes(class_names(names), [to_hex(one) for one in colours], shares_of(counts), None)


def class_stripes(counts: NDArray[np.int64], classes: Any, most: int = MOST) -> ClassStripes:
    """A stripe for each of at most `most` classes, the last of all others; or for the largest classes of each part.

    The last axis of `counts` is that of the classes. The largest of each part are taken where the colours of `most`
    classes leave many rows without one.
    """
    shown = shown_classes(counts, [str(name) for name in np.asarray(classes).tolist()], PALETTE, min(most, MOST))
    if not is_too_many(counts, min(most, MOST)):
        return ClassStripes(shown.names, shown.colours, shares_of(shown.counts), None)
    ranked, order = ranked_classes(counts, min(len(RANKS), most - 1))
    return ClassStripes(ranked.names, ranked.colours, shares_of(ranked.counts), order)


def draw_shares(ax: Axes, places: NDArray[np.float64], stripes: ClassStripes) -> list[Any]:
    """Draw the stripes side by side in each lane; return the bars of each."""
    shares, begins = stripes.shares, stripes.begins
    is_low = size_in_points(ax)[1] / abs(np.subtract(*ax.get_ylim())) < LOW
    bars = [
        ax.barh(
            places,
            shares[:, j],
            BAR,
            begins[:, j],
            color=colour,
            edgecolor="white",
            linewidth=0.0 if is_low else 0.5,
            snap=snap_of(ax, places),
        )
        for j, colour in enumerate(stripes.colours)
    ]
    ax.set_xticks([0.0, 0.5, 1.0], ["0%", "50%", "100%"])
    for label, side in zip(ax.get_xticklabels(), ("left", "center", "right"), strict=True):
        label.set(horizontalalignment=side)
    order = ", the largest first" if stripes.classes is not None else ""
    ax.set_xlabel(f"share of each class{order}", fontsize=LARGEST, loc="left")
    return bars


def write_shares(ax: Axes, places: NDArray[np.float64], stripes: ClassStripes, classes: Any) -> None:
    """Write shares into the stripes that have room for them, with names of classes if colours are ranks."""
    shares, begins, font = stripes.shares, stripes.begins, font_for(ax)
    width, height = size_in_points(ax)
    size = fitting_font(BAR * height / abs(np.subtract(*ax.get_ylim())), min(8.0, font))
    names = [] if stripes.classes is None else [*(class_names(classes, room) for room in ROOMS), class_ends(classes)]
    for i, j in np.argwhere(shares > 0.0).tolist() if size else []:
        of = [] if stripes.classes is None or j == stripes.classes.shape[1] else [stripes.classes[i, j]]
        room = shares[i, j] * WIDE * width / (LETTER * (size or LARGEST))
        text = _share_text(shares[i, j], [one[k] for k in of for one in names if one[k]], room)
        ax.text(
            begins[i, j] + shares[i, j] / 2.0,
            places[i],
            text,
            ha="center",
            va="center",
            fontsize=size,
            color=ink_on(stripes.colours[j]),
        )
    for i in np.flatnonzero(np.isnan(shares).any(axis=1)).tolist():
        ax.text(0.01, places[i], "no rows with a class", va="center", fontsize=size or font, color=INK)


def _share_text(share: float, names: Sequence[str], room: float) -> str:
    """The longest of the names of the class that `room` characters hold, with the share if they hold both."""
    number = percent(share)
    if not names:
        return number if share >= LEAST and len(number) <= room else ""
    texts = [text for name in names for text in (f"{name} {number}", name)]
    return next((text for text in texts if len(text) <= room), "")
