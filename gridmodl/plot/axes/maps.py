"""Maps: a coloured cell for each pair of parts of two partitions, one below and the other on the left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.text import Text
from numpy.typing import NDArray

from gridmodl.plot.axes.labels import BESIDE, Labels, label_columns, label_rows
from gridmodl.plot.axes.layout import (
    INCH,
    LARGEST,
    LETTER,
    LINE,
    SMALLEST,
    font_for,
    is_laid_out,
    plain_frame,
    size_in_points,
    slot_size,
)
from gridmodl.plot.style import EMPTY, OTHER, ink_on

SHORT_BELOW, LONG_BELOW = 12, 32  # characters of a label below for which a map needs no more, and the most, height
SHORT_LEFT = 16  # characters of a label on the left for which a map needs no more width
MARGIN = 0.03  # of a cell on each side, in its widths
FEW_LINES = 60  # rows or columns of cells up to which white lines separate them
LINE_WIDTH, THINNEST = 0.8, 0.25  # points of these lines, and least width with which they are drawn
WHITE = 0.05  # width of these lines in cells, as thick ones would leave nothing of small cells
EASY = 7.0  # points, a font that is not tiny
COLOUR_BAR = 95.0  # points of a colour bar, its ticks and its name
NARROW = 0.45  # least size of a row or column of cells, in those of the mean
TIGHT = 1.05  # size of a text, in that of its cell, up to which it is drawn


class CellEdges(NamedTuple):
    """Edges of the columns and rows of cells, from the lower left; both begin at -0.5."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]

    @property
    def middles(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return (self.x[1:] + self.x[:-1]) / 2.0, (self.y[1:] + self.y[:-1]) / 2.0


class CellText(Text):
    """Text in the middle of a cell, which is not drawn where a layout has made the cell smaller than the text."""

    def __init__(self, corners: NDArray[np.float64], text: str, **style: Any) -> None:
        x, y = corners.mean(axis=0)
        super().__init__(x, y, text, ha="center", va="center", linespacing=1.1, **style)
        self._corners = corners

    def draw(self, renderer: Any) -> None:
        """Draw the text if it fits into its cell."""
        extent, room = self.get_window_extent(renderer), np.ptp(self.get_transform().transform(self._corners), axis=0)
        if extent.width <= TIGHT * room[0] and extent.height <= TIGHT * room[1]:
            super().draw(renderer)


def even_edges(n: int) -> NDArray[np.float64]:
    """Edges of rows or columns of cells of size 1."""
    return np.arange(n + 1, dtype=np.float64) - 0.5


def edges_by_rows(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Edges of rows or columns of cells as large as the roots of their rows, but none much smaller than the mean."""
    roots = np.sqrt(rows.astype(np.float64))
    sizes = np.maximum(roots / (roots.mean() or 1.0), NARROW)
    return np.concatenate([[0.0], np.cumsum(sizes / sizes.mean())]) - 0.5


def height_of_map(n_rows: int, below: Sequence[str]) -> float:
    """Height in inches of a figure with `n_rows` rows of cells and labels below."""
    beyond = max(0, min(LONG_BELOW, max(map(len, below))) - SHORT_BELOW) * LARGEST * LETTER / INCH
    return float(np.clip(2.4 + 0.24 * n_rows, 3.6, 14.0)) + beyond


def width_of_map(n_columns: int, left: Sequence[str]) -> float:
    """Width in inches of a figure with `n_columns` columns of cells and labels on the left."""
    beyond = max(0, max(map(len, left)) - SHORT_LEFT) * LARGEST * LETTER / INCH
    return float(np.clip(4.4 + 0.28 * n_columns, 5.6, 14.0)) + beyond


def open_map(ax: Axes, edges: CellEdges, beyond: float = 0.0) -> None:
    """Set up cells; `beyond` is the share of room beside them."""
    n_columns, n_rows = len(edges.x) - 1, len(edges.y) - 1
    ax.set_xlim(-0.5, n_columns * (1.0 + beyond) - 0.5)
    ax.set_ylim(-0.5, n_rows * (1.0 + beyond) - 0.5)
    plain_frame(ax)


def label_map(ax: Axes, edges: CellEdges, below: Labels, left: Labels) -> None:
    """Write the labels of columns and rows of cells."""
    x, y = edges.middles
    label_rows(ax, y, left)
    label_columns(ax, x, below, _width_of_cells(ax))


def name_sides(ax: Axes, below: str, left: str) -> None:
    ax.set_xlabel(below, fontsize=LARGEST)
    ax.set_ylabel(left, fontsize=LARGEST)


def draw_map(ax: Axes, edges: CellEdges, values: NDArray[np.float64], colours: Colormap, norm: Normalize) -> Any:
    """Colour cells by their values; cells with NaN stay as they are."""
    across, down = size_in_points(ax)
    smallest = min(across / values.shape[1], down / values.shape[0])  # of a cell, about
    width = min(LINE_WIDTH, WHITE * smallest) if max(values.shape) <= FEW_LINES else 0.0
    lines = {"edgecolors": "white", "linewidth": width} if width >= THINNEST else {"linewidth": 0.0}
    return ax.pcolormesh(*edges, np.ma.masked_invalid(values), cmap=colours, norm=norm, **lines)


def draw_empty(ax: Axes, edges: CellEdges, is_empty: NDArray[np.bool_]) -> list[tuple[Any, str]]:
    """Hatch cells without rows; return the entry of the legend, if there are any."""
    if not is_empty.any():
        return []
    rows, columns = np.nonzero(is_empty)
    corners = _boxes(edges, rows, columns, np.zeros(len(rows)), np.ones(len(rows)))
    hatched = PolyCollection(list(corners), facecolors=EMPTY, edgecolors=OTHER, hatch="////", linewidths=0.0)
    ax.add_collection(hatched, autolim=False)
    return [(hatched, "no rows")]


def draw_stripes(
    ax: Axes, edges: CellEdges, shares: NDArray[np.float64], colours: Sequence[str]
) -> list[PolyCollection]:
    """Divide cells from left to right by the shares, along the last axis; return one collection per class."""
    rows, columns = np.nonzero(~np.isnan(shares).any(axis=-1))
    ends = np.cumsum(shares[rows, columns], axis=1)
    collections = []
    for j, colour in enumerate(colours):
        share = shares[rows, columns, j]
        corners = _boxes(edges, rows, columns, ends[:, j] - share, ends[:, j])
        stripes = PolyCollection(corners[share > 0.0], facecolors=colour, linewidths=0.0)
        ax.add_collection(stripes, autolim=False)
        collections.append(stripes)
    return collections


def _boxes(
    edges: CellEdges, rows: NDArray[Any], columns: NDArray[Any], begins: NDArray[Any], ends: NDArray[Any]
) -> NDArray[np.float64]:
    """Corners of boxes inside cells, from the share `begins` to the share `ends` of their widths."""
    widths, heights = np.diff(edges.x)[columns], np.diff(edges.y)[rows]
    first, inner = edges.x[columns] + MARGIN * widths, (1.0 - 2.0 * MARGIN) * widths
    left, right = first + begins * inner, first + ends * inner
    low, high = edges.y[rows] + MARGIN * heights, edges.y[rows + 1] - MARGIN * heights
    return np.stack([left, low, left, high, right, high, right, low], axis=1).reshape(-1, 4, 2)


def first_that_fit(ax: Axes, edges: CellEdges, variants: Sequence[list[list[str]]]) -> list[list[str]]:
    """For each cell the first of its texts that fits into it, best in a font that is not tiny; else the first."""
    fonts = [_cell_fonts(ax, edges, texts) for texts in variants]
    found = [list(row) for row in variants[0]]
    for least in (SMALLEST, EASY):
        for texts, sizes in reversed(list(zip(variants, fonts, strict=True))):
            for i, j in np.argwhere(sizes >= least).tolist():
                found[i][j] = texts[i][j]
    return found


def write_cells(
    ax: Axes,
    edges: CellEdges,
    texts: list[list[str]],
    colour_of: Callable[[int, int], Any],
    box: dict[str, Any] | None = None,
) -> bool:
    """Write a text in each cell that has room for it, on its colour or in a box; return whether most have."""
    sizes = _cell_fonts(ax, edges, texts)
    n_texts = sum(bool(text) for row in texts for text in row)
    if n_texts == 0 or 2 * int(np.count_nonzero(sizes >= SMALLEST)) < n_texts:
        return False
    usual = float(np.median(sizes[sizes >= SMALLEST]))  # smaller in cells that have less room
    for i, j in np.argwhere(sizes >= SMALLEST).tolist():
        corners = np.column_stack([edges.x[j : j + 2], edges.y[i : i + 2]])
        style = {"fontsize": min(usual, sizes[i, j]), "color": ink_on(colour_of(i, j)), "bbox": box, "clip_on": False}
        ax.add_artist(CellText(corners, texts[i][j], **style))
    return True


def _width_of_cells(ax: Axes) -> float:
    """Estimated width in points that labels on the left and a colour bar leave, as layout is only known at the end."""
    if not is_laid_out(ax):
        return size_in_points(ax)[0]
    width = slot_size(ax)[0]
    lines = [line for label in ax.get_yticklabels() for line in label.get_text().split("\n")]
    labels = max(map(len, lines), default=0) * font_for(ax) * LETTER
    return max(0.3 * width, width - min(labels, BESIDE * width) - COLOUR_BAR)


def _cell_fonts(ax: Axes, edges: CellEdges, texts: list[list[str]]) -> NDArray[np.float64]:
    """Largest font size that the text of each cell has room for; 0 without a text."""
    (left, right), (first, last) = ax.get_xlim(), ax.get_ylim()
    widths = np.diff(edges.x) * _width_of_cells(ax) / (right - left)
    heights = np.diff(edges.y) * size_in_points(ax)[1] / abs(last - first)
    lines = [[text.split("\n") for text in row] for row in texts]
    letters = np.array([[max(map(len, one)) + 1 for one in row] for row in lines])
    n_lines = np.array([[len(one) for one in row] for row in lines])
    sizes = np.minimum(font_for(ax), np.minimum(widths / letters / LETTER, heights[:, None] / n_lines / LINE))
    return np.where(letters > 1, sizes, 0.0)


def bar_beside(ax: Axes, cells: Any, what: str, extend: str = "neither") -> None:
    """Add a colour bar with the label `what`, inside the room of the axes."""
    beside = ax.inset_axes((1.02, 0.0, 0.035, 1.0))
    bar = ax.figure.colorbar(cells, cax=beside, extend=extend)
    bar.set_label(what, fontsize=LARGEST)
    beside.tick_params(labelsize=font_for(ax))
    bar.outline.set_visible(False)
