"""A table of two partitions as coloured cells: values of one below, values of the other on the left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, Normalize
from numpy.typing import NDArray

from gridmodl.plot.colours import EMPTY, OTHER, ink_on
from gridmodl.plot.panes import (
    LARGEST,
    LETTER,
    LINE,
    SMALLEST,
    label_columns,
    label_rows,
    plain_frame,
    size_in_points,
)

ROOM_BELOW = 26  # characters of a label below
HALF = 0.47  # of a cell with a white margin
FEW_LINES = 60  # rows or columns of cells that are set off by white lines
MARGINS = 80.0  # points on both sides of axes before layout
BAR = 75.0  # points of a colour bar, its ticks and its name


def height_of_map(n_rows: int) -> float:
    """Of a figure with so many rows of cells, in inches."""
    return float(np.clip(2.4 + 0.24 * n_rows, 3.6, 14.0))


def width_of_map(n_columns: int) -> float:
    return float(np.clip(3.8 + 0.24 * n_columns, 5.6, 14.0))


def open_map(ax: Axes, below: list[str], left: list[str], beyond: float = 0.0) -> None:
    """Axes of cells, one wide and high, from the lower left; `beyond` is the share of room for what stands beside."""
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
    """Cells coloured by their values; those that are NaN stay as they are."""
    n_rows, n_columns = values.shape
    edges = np.arange(n_columns + 1) - 0.5, np.arange(n_rows + 1) - 0.5
    lines = {"edgecolors": "white", "linewidth": 0.8} if max(values.shape) <= FEW_LINES else {"linewidth": 0.0}
    return ax.pcolormesh(*edges, np.ma.masked_invalid(values), cmap=colours, norm=norm, **lines)


def draw_empty(ax: Axes, is_empty: NDArray[np.bool_]) -> list[tuple[Any, str]]:
    """What lies under cells without rows; an entry of the legend, if there are any."""
    if not is_empty.any():
        return []
    rows, columns = np.nonzero(is_empty)
    corners = _boxes(columns - HALF, columns + HALF, rows)
    hatched = PolyCollection(list(corners), facecolors=EMPTY, edgecolors=OTHER, hatch="////", linewidths=0.0)
    ax.add_collection(hatched, autolim=False)
    return [(hatched, "no rows")]


def draw_stripes(ax: Axes, shares: NDArray[np.float64], colours: list[str]) -> list[PolyCollection]:
    """Cells that are divided from left to right as the shares say, along the last axis; one collection a class."""
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
    """Corners of boxes from left to right, in the rows of these numbers."""
    low, high = rows - HALF, rows + HALF
    return np.stack([left, low, left, high, right, high, right, low], axis=1).reshape(-1, 4, 2)


def write_cells(
    ax: Axes, texts: list[list[str]], colour_of: Callable[[int, int], Any], box: dict[str, Any] | None = None
) -> bool:
    """A text in each cell, on its colour or in a box, if there is room for the longest; whether there was."""
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
    """What labels on the left and a colour bar leave of the width, in points: a guess, as layout comes at the end."""
    width = size_in_points(ax)[0]
    labels = max((len(label.get_text()) for label in ax.get_yticklabels()), default=0) * LARGEST * LETTER
    return float(np.clip(width + MARGINS - labels - BAR, 0.3 * width, 0.85 * width))


def _cell_font(ax: Axes, n_letters: int) -> float | None:
    (left, right), (first, last) = ax.get_xlim(), ax.get_ylim()
    across = _width_of_cells(ax) / (right - left) / (n_letters + 1) / LETTER
    size = min(LARGEST, across, size_in_points(ax)[1] / abs(last - first) / LINE)
    return size if size >= SMALLEST else None


def bar_beside(ax: Axes, cells: Any, what: str, extend: str = "neither") -> None:
    """What the colours stand for."""
    bar = ax.figure.colorbar(cells, ax=ax, fraction=0.05, pad=0.02, aspect=32, extend=extend)
    bar.set_label(what, fontsize=LARGEST)
    bar.ax.tick_params(labelsize=LARGEST)
    bar.outline.set_visible(False)
