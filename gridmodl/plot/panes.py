"""Axes to draw on, their ticks and their legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, MaxNLocator
from numpy.typing import NDArray

SMALLEST = 5.5  # points, of a label that is still read
LARGEST = 9.0
LINE = 1.25  # height of a line of text, in heights of its font
LETTER = 0.6  # width of a letter, likewise
INCH = 72.0  # points
LARGEST_SPAN = 1e305  # of an axis


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """The user's axes, or those of a new figure of this size in inches, whose layout makes room for labels."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # only here: with axes of the user's own nothing touches the figures of pyplot

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def check_span(low: float, high: float) -> None:
    """A ValueError where the differences of places on an axis would be beyond all floats."""
    if not abs(low) + abs(high) < LARGEST_SPAN:
        raise ValueError(
            f"values from {low:.3g} to {high:.3g} are further apart than matplotlib can draw; divide the column by a "
            "constant"
        )


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height, before any layout."""
    box = ax.get_window_extent()
    scale = INCH / ax.figure.dpi
    return box.width * scale, box.height * scale


def fitting_font(room: float) -> float | None:
    """The size of a font whose lines are so many points apart at most; None where nobody could read it."""
    size = min(LARGEST, room / LINE)
    return size if size >= SMALLEST else None


def label_rows(ax: Axes, places: NDArray[np.float64], labels: Sequence[str]) -> None:
    """Labels on the left, of every second, third, ... row where there is no room for all."""
    room = size_in_points(ax)[1] / _extent(ax.get_ylim()) * _closest(places)
    step = max(1, int(np.ceil(SMALLEST * LINE / room)))
    size = fitting_font(room * step)
    ax.set_yticks(places[::step], labels[::step], fontsize=size or SMALLEST)
    ax.tick_params(axis="y", length=0)


def label_columns(ax: Axes, places: NDArray[np.float64], labels: Sequence[str], width: float) -> None:
    """Labels below axes that will be so wide: side by side where there is room, else turned, and of every second,
    third, ... where many."""
    room = width / _extent(ax.get_xlim()) * _closest(places)
    if (max(map(len, labels)) + 2) * LARGEST * LETTER <= room:
        ax.set_xticks(places, labels, fontsize=LARGEST)
    else:
        step = max(1, int(np.ceil(SMALLEST * LINE / room)))
        size = fitting_font(room * step) or SMALLEST
        ax.set_xticks(places[::step], labels[::step], fontsize=size, ha="right", rotation_mode="anchor")
        steep = room * step < 3.0 * LARGEST
        for label in ax.get_xticklabels():
            label.set(rotation=90 if steep else 35, va="center" if steep else "top")
    ax.tick_params(axis="x", length=0)


def plain_frame(ax: Axes, *kept: str) -> None:
    """No lines around the axes, but for the sides named."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in kept)


def legend_above(ax: Axes, entries: Sequence[tuple[Any, str]], title: str) -> None:
    """A legend on top of the axes, in as many columns as there is room for, and a title on top of it."""
    handles, names = [handle for handle, _ in entries], [name for _, name in entries]
    if not names:
        ax.set_title(title, fontsize=LARGEST + 1, loc="left")
        return
    letters = size_in_points(ax)[0] / (LARGEST * LETTER)
    n_columns = max(1, min(len(names), int(letters / (max(map(len, names)) + 4))))
    n_lines = -(-len(names) // n_columns)
    ax.legend(
        handles, names, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=n_columns, frameon=False,
        fontsize=LARGEST, borderaxespad=0.2, borderpad=0.2, handlelength=1.2, handletextpad=0.5, columnspacing=1.2,
    )  # fmt: skip
    ax.set_title(title, fontsize=LARGEST + 1, loc="left", pad=8.0 + n_lines * LARGEST * 1.5)


def count_ticks(axis: Any, n_ticks: int = 2) -> None:
    """Few ticks at whole numbers, such as 500, 20k, 1M."""
    axis.set_major_locator(MaxNLocator(n_ticks, integer=True, min_n_ticks=1))
    axis.set_major_formatter(EngFormatter(sep=""))


def _extent(limits: tuple[float, float]) -> float:
    return abs(limits[1] - limits[0]) or 1.0


def _closest(places: NDArray[np.float64]) -> float:
    return float(np.diff(places).min(initial=1.0))
