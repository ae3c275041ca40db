"""Axes to draw on: fonts, labels and legends; lanes (one per part), maps of cells, and scales for values.

A lane has the label of its part on the left and a bar for its rows on the right. A map has a coloured cell for each
pair of parts of two partitions, one below and the other on the left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.ticker import EngFormatter, MaxNLocator
from numpy.typing import NDArray

from gridmodl.model.partition import Partition
from gridmodl.plot.style import EMPTY, OTHER, PALE, PLAIN, ink_on

SMALLEST = 5.5  # points, the smallest readable font
LARGEST = 9.0  # points, the largest font of labels
LINE = 1.25  # height of a line of text, in heights of its font
LETTER = 0.6  # width of a letter, in heights of its font
INCH = 72.0  # points
LARGEST_SPAN = 1e305  # of the values on an axis

# Lanes
APART = 0.6  # gap, in lanes, between intervals and the parts of missing values and special codes
WIDE = 0.76  # share of the width for what is drawn of a part
ROWS = 0.16  # share of the width for bars of rows; the rest is a gap
MOST_HIGH = 15.0  # inches
BAR = 0.84  # height of a bar, in lanes

# Maps of cells
ROOM_BELOW = 26  # characters of a label below
SHORT_LEFT = 16  # characters of a label on the left for which a map needs no more width
HALF = 0.47  # half the width of a cell within its white margin
FEW_LINES = 60  # rows or columns of cells up to which white lines separate them
MARGINS = 80.0  # points on both sides of axes before layout
COLOUR_BAR = 75.0  # points of a colour bar, its ticks and its name

# Scales
DURATIONS = {
    "days": np.timedelta64(1, "D"),
    "hours": np.timedelta64(1, "h"),
    "minutes": np.timedelta64(1, "m"),
    "seconds": np.timedelta64(1, "s"),
    "milliseconds": np.timedelta64(1, "ms"),
    "microseconds": np.timedelta64(1, "us"),
}
FIRST_DAY, LAST_DAY = np.datetime64("0001-01-02"), np.datetime64("9999-12-30")  # range of ticks of matplotlib
DAYS_OF_YEAR = 365.2425


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """`ax`, or the axes of a new figure of this size in inches, whose layout makes room for labels."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # only here: a given ax leaves the figures of pyplot alone

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def check_span(low: float, high: float) -> None:
    """Raise ValueError if differences of values on an axis would overflow."""
    if not abs(low) + abs(high) < LARGEST_SPAN:
        raise ValueError(
            f"values from {low:.3g} to {high:.3g} are further apart than matplotlib can draw; divide the column by a "
            "constant"
        )


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes, before layout."""
    box = ax.get_window_extent()
    scale = INCH / ax.figure.dpi
    return box.width * scale, box.height * scale


def fitting_font(room: float) -> float | None:
    """Font size for lines at most `room` points apart; None if it would be unreadable."""
    size = min(LARGEST, room / LINE)
    return size if size >= SMALLEST else None


def label_rows(ax: Axes, places: NDArray[np.float64], labels: Sequence[str]) -> None:
    """Write labels on the left, of every second, third, ... row if there is no room for all."""
    room = size_in_points(ax)[1] / _extent(ax.get_ylim()) * _closest(places)
    step = max(1, int(np.ceil(SMALLEST * LINE / room)))
    size = fitting_font(room * step)
    ax.set_yticks(places[::step], labels[::step], fontsize=size or SMALLEST)
    ax.tick_params(axis="y", length=0)


def label_columns(ax: Axes, places: NDArray[np.float64], labels: Sequence[str], width: float) -> None:
    """Write labels below axes that will be `width` points wide: side by side if there is room, else rotated, and of
    every second, third, ... column if there are many."""
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
    """Remove the lines around the axes, except on the sides in `kept`."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in kept)


def legend_above(ax: Axes, entries: Sequence[tuple[Any, str]], title: str) -> None:
    """Add a legend above the axes, in as many columns as there is room for, and a title above the legend."""
    longest = max((len(label.get_text()) for label in ax.get_yticklabels()), default=0)
    letters = int(size_in_points(ax)[0] / (LARGEST * LETTER)) - max(0, longest - SHORT_LEFT)  # layout makes room for it
    title = fill(title, max(SHORT_LEFT, letters))
    handles, names = [handle for handle, _ in entries], [name for _, name in entries]
    if not names:
        ax.set_title(title, fontsize=LARGEST + 1, loc="left")
        return
    n_columns = max(1, min(len(names), letters // (max(map(len, names)) + 4)))
    n_lines = -(-len(names) // n_columns)
    ax.legend(
        handles, names, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=n_columns, frameon=False,
        fontsize=LARGEST, borderaxespad=0.2, borderpad=0.2, handlelength=1.2, handletextpad=0.5, columnspacing=1.2,
    )  # fmt: skip
    ax.set_title(title, fontsize=LARGEST + 1, loc="left", pad=8.0 + n_lines * LARGEST * 1.5)


def count_ticks(axis: Any, n_ticks: int = 2) -> None:
    """Set at most about `n_ticks` ticks at whole numbers, such as 500, 20k, 1M."""
    axis.set_major_locator(MaxNLocator(n_ticks, integer=True, min_n_ticks=1))
    axis.set_major_formatter(EngFormatter(sep=""))


def _extent(limits: tuple[float, float]) -> float:
    return abs(limits[1] - limits[0]) or 1.0


def _closest(places: NDArray[np.float64]) -> float:
    return float(np.diff(places).min(initial=1.0))


def lane_places(partition: Partition) -> NDArray[np.float64]:
    """Place of the lane of each part, from the top; parts that are no intervals stand apart from the intervals."""
    places = np.arange(partition.n_parts, dtype=np.float64)
    if partition.kind != "categorical" and partition.is_missing_apart:
        places[1:] += APART
    if partition.n_special:
        places[partition.n_parts - partition.n_special :] += APART
    return places


def height_for(places: NDArray[np.float64], lines: float = 1.0, most: float = MOST_HIGH) -> float:
    """Height in inches of a figure with these lanes, at most `most`; `lines` is the height of a lane in lines."""
    return float(np.clip(1.5 + 0.3 * lines * (places[-1] + 1.0), 2.4, most))


def open_lanes(ax: Axes, places: NDArray[np.float64], low: float, high: float) -> None:
    """Set up lanes from the top, with values from `low` to `high` on the left and room for rows on the right."""
    ax.set_ylim(places[-1] + 0.5, places[0] - 0.5)
    ax.set_xlim(low, low + (high - low) / WIDE)
    plain_frame(ax, "bottom")
    ax.spines["bottom"].set_bounds(low, high)
    ax.tick_params(axis="x", labelsize=LARGEST)


def inner_ticks(low: float, high: float) -> NDArray[np.float64]:
    """Ticks at round numbers from `low` to `high`."""
    ticks = np.asarray(MaxNLocator(5).tick_values(low, high))
    return ticks[(ticks >= low) & (ticks <= high)]


def draw_rows(
    ax: Axes,
    places: NDArray[np.float64],
    rows: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
    height: float = BAR,
) -> tuple[Axes, list[Any]]:
    """Draw bars of rows on the right; return their axes, and the bars of labelled and of unlabelled rows."""
    pane = ax.inset_axes((1.0 - ROWS, 0.0, ROWS, 1.0), sharey=ax)
    pane.set_facecolor("none")
    pane.tick_params(axis="y", left=False, labelleft=False)
    return pane, rows_bars(pane, places, rows, unlabelled, height, n_ticks=2)


def rows_bars(
    ax: Axes,
    places: NDArray[np.float64],
    rows: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
    height: float = BAR,
    n_ticks: int = 6,
) -> list[Any]:
    """Draw bars of rows on axes that show nothing else; return the bars of labelled and of unlabelled rows."""
    bars = [ax.barh(places, rows, height, color=PLAIN)]
    if unlabelled is not None:
        bars.append(ax.barh(places, unlabelled, height, rows, color=PALE))
    ax.set_xlim(0.0, float(max(1, (rows + (0 if unlabelled is None else unlabelled)).max())))
    plain_frame(ax, "bottom")
    ax.tick_params(axis="x", labelsize=LARGEST)
    count_ticks(ax.xaxis, n_ticks)
    ax.set_xlabel("rows", fontsize=LARGEST, loc="left")
    return bars


def height_of_map(n_rows: int) -> float:
    """Height in inches of a figure with `n_rows` rows of cells."""
    return float(np.clip(2.4 + 0.24 * n_rows, 3.6, 14.0))


def width_of_map(n_columns: int, left: Sequence[str]) -> float:
    """Width in inches of a figure with `n_columns` columns of cells and labels on the left."""
    beyond = max(0, max(map(len, left)) - SHORT_LEFT) * LARGEST * LETTER / INCH
    return float(np.clip(3.8 + 0.24 * n_columns, 5.6, 14.0)) + beyond


def open_map(ax: Axes, below: list[str], left: list[str], beyond: float = 0.0) -> None:
    """Set up cells of width and height 1 from the lower left, labelled; `beyond` is the share of room beside them."""
    n_columns, n_rows = len(below), len(left)
    ax.set_xlim(-0.5, n_columns * (1.0 + beyond) - 0.5)
    ax.set_ylim(-0.5, n_rows * (1.0 + beyond) - 0.5)
    plain_frame(ax)
    label_rows(ax, np.arange(n_rows, dtype=np.float64), left)
    label_columns(ax, np.arange(n_columns, dtype=np.float64), below, _width_of_cells(ax))


def name_sides(ax: Axes, below: str, left: str) -> None:
    ax.set_xlabel(below, fontsize=LARGEST)
    ax.set_ylabel(left, fontsize=LARGEST)


def draw_map(ax: Axes, values: NDArray[np.float64], colours: Colormap, norm: Normalize) -> Any:
    """Colour cells by their values; cells with NaN stay as they are."""
    n_rows, n_columns = values.shape
    edges = np.arange(n_columns + 1) - 0.5, np.arange(n_rows + 1) - 0.5
    lines = {"edgecolors": "white", "linewidth": 0.8} if max(values.shape) <= FEW_LINES else {"linewidth": 0.0}
    return ax.pcolormesh(*edges, np.ma.masked_invalid(values), cmap=colours, norm=norm, **lines)


def draw_empty(ax: Axes, is_empty: NDArray[np.bool_]) -> list[tuple[Any, str]]:
    """Hatch cells without rows; return the entry of the legend, if there are any."""
    if not is_empty.any():
        return []
    rows, columns = np.nonzero(is_empty)
    corners = _boxes(columns - HALF, columns + HALF, rows)
    hatched = PolyCollection(list(corners), facecolors=EMPTY, edgecolors=OTHER, hatch="////", linewidths=0.0)
    ax.add_collection(hatched, autolim=False)
    return [(hatched, "no rows")]


def draw_stripes(ax: Axes, shares: NDArray[np.float64], colours: list[str]) -> list[PolyCollection]:
    """Divide cells from left to right by the shares, along the last axis; return one collection per class."""
    rows, columns = np.nonzero(~np.isnan(shares).any(axis=-1))
    ends = np.cumsum(shares[rows, columns], axis=1)
    collections = []
    for j, colour in enumerate(colours):
        share = shares[rows, columns, j]
        right = columns - HALF + 2.0 * HALF * ends[:, j]
        corners = _boxes(right - 2.0 * HALF * share, right, rows)
        stripes = PolyCollection(corners[share > 0.0], facecolors=colour, linewidths=0.0)
        ax.add_collection(stripes, autolim=False)
        collections.append(stripes)
    return collections


def _boxes(left: NDArray[Any], right: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Corners of boxes from `left` to `right` in these rows of cells."""
    low, high = rows - HALF, rows + HALF
    return np.stack([left, low, left, high, right, high, right, low], axis=1).reshape(-1, 4, 2)


def write_cells(
    ax: Axes, texts: list[list[str]], colour_of: Callable[[int, int], Any], box: dict[str, Any] | None = None
) -> bool:
    """Write a text in each cell, on its colour or in a box, if the longest fits; return whether it did."""
    size = _cell_font(ax, max(len(text) for row in texts for text in row))
    if size is None:
        return False
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            if text:
                ink = ink_on(colour_of(i, j))
                ax.text(j, i, text, ha="center", va="center", fontsize=size, color=ink, bbox=box)
    return True


def _width_of_cells(ax: Axes) -> float:
    """Estimated width in points that labels on the left and a colour bar leave, as layout is only known at the end."""
    width = size_in_points(ax)[0]
    labels = max((len(label.get_text()) for label in ax.get_yticklabels()), default=0) * LARGEST * LETTER
    return float(np.clip(width + MARGINS - labels - COLOUR_BAR, 0.3 * width, 0.85 * width))


def _cell_font(ax: Axes, n_letters: int) -> float | None:
    (left, right), (first, last) = ax.get_xlim(), ax.get_ylim()
    across = _width_of_cells(ax) / (right - left) / (n_letters + 1) / LETTER
    size = min(LARGEST, across, size_in_points(ax)[1] / abs(last - first) / LINE)
    return size if size >= SMALLEST else None


def bar_beside(ax: Axes, cells: Any, what: str, extend: str = "neither") -> None:
    """Add a colour bar with the label `what`."""
    bar = ax.figure.colorbar(cells, ax=ax, fraction=0.05, pad=0.02, aspect=32, extend=extend)
    bar.set_label(what, fontsize=LARGEST)
    bar.ax.tick_params(labelsize=LARGEST)
    bar.outline.set_visible(False)


class Scale(NamedTuple):
    """Places of values along an axis: numbers as they are, dates as dates, durations in a common unit."""

    kind: str  # "numbers", "dates", "years" for dates beyond the calendar of matplotlib, or a unit of durations
    unit: str  # in words; empty for numbers

    def places(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Place of each value; NaN if it is infinite or missing."""
        if self.kind == "dates":
            return np.asarray(date2num(values.astype("datetime64[us]")))  # type: ignore[no-untyped-call]
        if self.kind == "years":
            days = values.astype("datetime64[D]")
            return np.where(np.isnat(days), np.nan, 1970.0 + days.astype(np.float64) / DAYS_OF_YEAR)
        if self.kind in DURATIONS:
            return np.asarray(values / DURATIONS[self.kind])
        places = values.astype(np.float64)
        return np.where(np.isfinite(places), places, np.nan)

    def name_axis(self, ax: Axes, name: str) -> None:
        """Set ticks of dates, and the name of the axis with its unit."""
        if self.kind == "dates":
            ticks = AutoDateLocator()  # type: ignore[no-untyped-call]
            ax.xaxis.set_major_locator(ticks)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(ticks))  # type: ignore[no-untyped-call]
        ax.set_xlabel(f"{name} ({self.unit})" if self.unit else name)


def scale_of(values: NDArray[Any], is_utc: bool = False) -> Scale:
    """Scale for these values; durations in the largest unit of which the longest duration has two or more."""
    if values.dtype.kind == "m":
        longest = np.abs(values).max(initial=np.timedelta64(0, "s"))
        unit = next((name for name, one in DURATIONS.items() if longest >= 2 * one), "microseconds")
        return Scale(unit, unit)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        is_usual = bool(np.all((days >= FIRST_DAY) & (days <= LAST_DAY)))
        return Scale("dates", "UTC" if is_utc else "") if is_usual else Scale("years", "year")
    return Scale("numbers", "")
