"""Parts one below the other: a lane for each, its label on the left, and on the right a bar for its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gridmodl.partition import Partition
from gridmodl.plot.colours import PALE, PLAIN
from gridmodl.plot.panes import LARGEST, count_ticks, plain_frame

APART = 0.6  # of a lane, between intervals and the parts of missing values and special codes
WIDE = 0.76  # of the axes, is for what is told of a part; the rest for its rows,
ROWS = 0.16  # but for a gap
MOST_HIGH = 15.0  # inches
BAR = 0.84  # of a lane


def lane_places(partition: Partition) -> NDArray[np.float64]:
    """Where the lane of each part is, from the top; parts that are no intervals stand apart from those that are."""
    places = np.arange(partition.n_parts, dtype=np.float64)
    if partition.kind == "numerical":
        if partition.is_missing_apart:
            places[1:] += APART
        if len(partition.special):
            places[partition.n_parts - len(partition.special) :] += APART
    return places


def height_for(places: NDArray[np.float64], lines: float = 1.0, most: float = MOST_HIGH) -> float:
    """Of a figure with these lanes, in inches."""
    return float(np.clip(1.5 + 0.3 * lines * (places[-1] + 1.0), 2.4, most))


def open_lanes(ax: Axes, places: NDArray[np.float64], low: float, high: float) -> None:
    """Lanes from the top, with values from `low` to `high` on the left, and room for rows on the right."""
    ax.set_ylim(places[-1] + 0.5, places[0] - 0.5)
    ax.set_xlim(low, low + (high - low) / WIDE)
    plain_frame(ax, "bottom")
    ax.spines["bottom"].set_bounds(low, high)
    ax.tick_params(axis="x", labelsize=LARGEST)


def inner_ticks(low: float, high: float) -> NDArray[np.float64]:
    """Round numbers within limits."""
    ticks = np.asarray(MaxNLocator(5).tick_values(low, high))
    return ticks[(ticks >= low) & (ticks <= high)]


def draw_rows(
    ax: Axes,
    places: NDArray[np.float64],
    rows: NDArray[np.int64],
    unlabelled: NDArray[np.int64] | None = None,
    height: float = BAR,
) -> tuple[Axes, list[Any]]:
    """Bars of rows on the right, those without a class apart; their axes, and the bars of both."""
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
    """Bars of rows on axes of their own."""
    bars = [ax.barh(places, rows, height, color=PLAIN)]
    if unlabelled is not None:
        bars.append(ax.barh(places, unlabelled, height, rows, color=PALE))
    ax.set_xlim(0.0, float(max(1, (rows + (0 if unlabelled is None else unlabelled)).max())))
    plain_frame(ax, "bottom")
    ax.tick_params(axis="x", labelsize=LARGEST)
    count_ticks(ax.xaxis, n_ticks)
    ax.set_xlabel("rows", fontsize=LARGEST, loc="left")
    return bars
