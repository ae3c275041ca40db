"""Lanes, one per part: the label of the part on the left, what is drawn of it, and a bar for its rows on the right."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gridmodl.model.partition import Partition
from gridmodl.plot.axes.layout import LARGEST, count_ticks, plain_frame, size_in_points
from gridmodl.plot.style import PALE, PLAIN

APART = 0.6  # gap, in lanes, between intervals and the parts of missing values and special codes
WIDE = 0.76  # share of the width for what is drawn of a part
ROWS = 0.16  # share of the width for bars of rows; the rest is a gap
MOST_HIGH = 15.0  # inches
WIDE_ENOUGH = 40.0  # points of the bars of rows for two ticks; else one is near the longest bar
NAMED_LANE = 9.5  # points of a lane whose name must not be left out
FEWEST = 3  # lanes that are drawn, however low the axes
BAR = 0.84  # height of a bar, in lanes
THIN = 2.0  # pixels of a lane below which bars do not end at whole pixels: some of them would have none


def lane_places(partition: Partition) -> NDArray[np.float64]:
    """Place of the lane of each part, from the top; parts that are no intervals stand apart from the intervals."""
    places = np.arange(partition.n_parts, dtype=np.float64)
    if partition.kind != "categorical" and partition.is_missing_apart:
        places[1:] += APART
    if partition.n_special:
        places[partition.n_parts - partition.n_special :] += APART
    return places


def snap_of(ax: Axes, places: NDArray[np.float64]) -> bool | None:
    """Whether bars end at whole pixels; None, as matplotlib has it, but where lanes are thin."""
    return False if ax.get_window_extent().height < THIN * (places[-1] + 1.0) else None


def height_for(places: NDArray[np.float64], lines: float = 1.0, most: float = MOST_HIGH) -> float:
    """Height in inches of a figure with these lanes, at most `most`; `lines` is the height of a lane in lines."""
    return float(np.clip(1.5 + 0.3 * lines * (places[-1] + 1.0), 2.4, most))


def lanes_within(ax: Axes | None, n: int) -> int:
    """Number of lanes, of `n`, that given axes have room for, each with a name of its own; all on a new figure."""
    return n if ax is None else int(np.clip(size_in_points(ax)[1] / NAMED_LANE, min(n, FEWEST), n))


def open_lanes(ax: Axes, places: NDArray[np.float64], low: float, high: float) -> None:
    """Set up lanes from the top, with values from `low` to `high` on the left and room for rows on the right."""
    ax.set_ylim(places[-1] + 0.5, places[0] - 0.5)
    ax.set_xlim(low, low + (high - low) / WIDE)
    plain_frame(ax, "bottom")
    ax.spines["bottom"].set_bounds(low, high)
    ax.tick_params(axis="x", labelsize=LARGEST)


def inner_ticks(ax: Axes, low: float, high: float) -> NDArray[np.float64]:
    """Ticks at round numbers from `low` to `high`, fewer on narrow axes."""
    n_ticks = int(np.clip(size_in_points(ax)[0] / 60.0, 2, 5))
    ticks = np.asarray(MaxNLocator(n_ticks).tick_values(low, high))
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
    of_rows = rows_bars(pane, places, rows, unlabelled, height, 2)
    if ROWS * size_in_points(ax)[0] <= WIDE_ENOUGH:
        most = pane.get_xlim()[1]
        size = 10.0 ** np.floor(np.log10(most))
        pane.set_xticks([most // size * size])
    return pane, of_rows


def rows_bars(
    ax: Axes,
    places: NDArray[np.float64],
    rows: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
    height: float = BAR,
    n_ticks: int = 6,
) -> list[Any]:
    """Draw bars of rows on axes that show nothing else; return the bars of labelled and of unlabelled rows."""
    snap = snap_of(ax, places)
    bars = [ax.barh(places, rows, height, color=PLAIN, snap=snap)]
    if unlabelled is not None:
        bars.append(ax.barh(places, unlabelled, height, rows, color=PALE, snap=snap))
    ax.set_xlim(0.0, float(max(1, (rows + (0 if unlabelled is None else unlabelled)).max())))
    plain_frame(ax, "bottom")
    ax.tick_params(axis="x", labelsize=LARGEST)
    count_ticks(ax.xaxis, n_ticks)
    ax.set_xlabel("rows", fontsize=LARGEST, loc="left")
    return bars
