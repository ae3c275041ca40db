"""The cells of a grid over any number of variables: conditions in words, shares of classes and rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.model.counts import cell_information, cell_lifts, input_cells
from gridmodl.model.labels import counted
from gridmodl.plot.axes import (
    INCH,
    LARGEST,
    LETTER,
    axes_for,
    draw_rows,
    fitting_font,
    height_for,
    inner_ticks,
    legend_above,
    open_lanes,
    size_in_points,
)
from gridmodl.plot.parts import draw_shares
from gridmodl.plot.sources import check_model, model_of
from gridmodl.plot.style import INK, OF_CLASSES, PALETTE, class_names, drawn, shares_of
from gridmodl.report.pictures import shown_classes

if TYPE_CHECKING:
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model

WIDTH = 7.5  # inches, of a new figure
MOST = 20  # cells shown by default
MOST_HIGH = 100.0  # inches, as many cells are to be readable too
MOST_LINES = 3  # of conditions
BAR = 0.8  # height of a bar, in lines; conditions stand above it
AND = " and "


class CellsDisplay:
    """The cells of a grid, by descending rows: conditions in words, shares of classes, and rows.

    A grid of several inputs and a target that is partitioned too has the parts of the target in place of classes.
    Without classes, shares are replaced by the mutual information of each cell in nats, and its lift: its share of the
    rows over the product of the shares of its parts.

    Parameters
    ----------
    conditions : sequence of sequences of str
        Conditions of each cell, one per variable, such as ``["a in (2.5, 4.5]", "b in 0: u, v"]``.
    counts : ndarray of shape (n, classes)
        Rows of each cell by class; one column if there are no classes.
    classes : array-like
        The classes; empty if there are none.
    information, lifts : ndarray of shape (n,), optional
        Mutual information and lift of each cell, if there are no classes.
    unlabelled : ndarray of shape (n,), optional
        Unlabelled rows of each cell.
    target : str, optional
        Name of the target whose parts take the place of classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    rows_ax_ : matplotlib Axes
        Where the rows are drawn, inside of ``ax_``.
    figure_ : matplotlib Figure
    order_ : ndarray
        Numbers of the cells shown, from the top.

    Examples
    --------
    >>> import gridmodl
    >>> data = {"a": [1.0, 1.0, 9.0, 9.0] * 10, "b": list("uvuv") * 10}
    >>> model = gridmodl.optimize(data, [0, 1, 1, 0] * 10)
    >>> display = gridmodl.plot.CellsDisplay.from_model(model).plot()
    >>> display.conditions[0]
    ['a in (-inf, 5.0]', 'b in 0: u']
    """

    ax_: Axes
    rows_ax_: Axes
    figure_: Any
    order_: NDArray[np.int64]

    def __init__(
        self,
        conditions: Sequence[Sequence[str]],
        counts: NDArray[np.int64],
        classes: Any = (),
        information: NDArray[np.float64] | None = None,
        lifts: NDArray[np.float64] | None = None,
        unlabelled: NDArray[np.int64] | None = None,
        target: str = "",
    ) -> None:
        self.conditions, self.counts, self.target = conditions, counts, target
        self.classes = np.asarray(classes)
        self.information, self.lifts, self.unlabelled = information, lifts, unlabelled

    @classmethod
    def from_model(cls, model: Model) -> CellsDisplay:
        """The cells of a model.

        Parameters
        ----------
        model : Model
            A model of any number of columns.
        """
        check_model(model)
        cells = model.cells
        if model.target is not None and len(model.partitions) > 1:
            cells = input_cells(model)
            conditions, parts = _conditions_of_cells(model, cells), model.target.names
            return cls(conditions, cells.counts, parts, target=str(model.target.name))
        conditions = _conditions_of_cells(model, cells)
        if model.target is None and len(model.classes):
            return cls(conditions, cells.counts, model.classes, unlabelled=cells.unlabelled)
        return cls(conditions, cells.counts, (), cell_information(model), cell_lifts(model))

    @classmethod
    def from_estimator(cls, estimator: Any) -> CellsDisplay:
        """The cells of the grid of a fitted estimator.

        Parameters
        ----------
        estimator : GridClassifier, GridEnsembleClassifier or GridCoclustering
            For an ensemble, its best single grid is shown.
        """
        return cls.from_model(model_of(estimator, None))

    def plot(self, ax: Axes | None = None, *, max_cells: int = MOST) -> CellsDisplay:
        """Draw the cells.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as high as the cells need.
        max_cells : int
            Largest number of cells shown, those with the most rows. Conditions are left out if lanes are too low.

        Returns
        -------
        CellsDisplay
            The display itself.
        """
        if max_cells < 1:
            raise ValueError(f"max_cells must be at least 1, got {max_cells!r}")
        self.order_ = np.argsort(-self._rows, kind="stable")[:max_cells]
        places = np.arange(len(self.order_), dtype=np.float64)
        room = int((WIDTH if ax is None else size_in_points(ax)[0] / INCH) * INCH / (LARGEST * LETTER))
        words = [in_lines(self.conditions[i], room) for i in self.order_.tolist()]
        n_lines = max(map(len, words))
        ax = axes_for(ax, WIDTH, height_for(places, 1.0 + 0.7 * n_lines, MOST_HIGH))
        self.ax_, self.figure_ = ax, ax.figure
        height = BAR / (1.0 + n_lines)
        draw = self._draw_classes if self.information is None else self._draw_information
        on_ground = places + 0.46 - height / 2.0  # bars stand at the lower end of their lanes
        open_lanes(ax, places, *self._range)
        entries = draw(ax, on_ground, height)
        ax.set_yticks([])
        _write_words(ax, on_ground - height / 2.0 - 0.03, words, 0.92 - height)
        unlabelled = None if self.unlabelled is None else self.unlabelled[self.order_]
        self.rows_ax_, bars = draw_rows(ax, on_ground, self.counts.sum(axis=1)[self.order_], unlabelled, height)
        entries += [(bar, "rows without a class") for bar in bars[1:]]
        legend_above(ax, entries, self._title)
        return self

    @property
    def _rows(self) -> NDArray[np.int64]:
        labelled: NDArray[np.int64] = self.counts.sum(axis=1)
        return labelled if self.unlabelled is None else labelled + self.unlabelled

    @property
    def _title(self) -> str:
        n, shown = len(self.conditions), len(self.order_)
        of_target = f"; colours are parts of {drawn(self.target, 24)}" if self.target else ""
        if shown == n:
            return counted(n, "cell") + of_target
        share = self._rows[self.order_].sum() / self._rows.sum()
        return f"the {shown} largest of {n} cells, with {share:.0%} of the rows{of_target}"

    @property
    def _range(self) -> tuple[float, float]:
        """Range of the bars from left to right."""
        if self.information is None:
            return 0.0, 1.0
        values = self.information[self.order_]
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
        return low, high + (0.25 * (high - low) or 1.0)  # with room for the lift of the longest bar

    def _draw_classes(self, ax: Axes, places: NDArray[np.float64], height: float) -> list[tuple[Any, str]]:
        shown = shown_classes(self.counts, class_names(self.classes), PALETTE, len(OF_CLASSES))
        bars = draw_shares(ax, places, shares_of(shown.counts[self.order_]), shown.colours, height)
        if self.target:
            ax.set_xlabel(f"share of each part of {drawn(self.target, 24)}", fontsize=LARGEST, loc="left")
        return list(zip(bars, shown.names, strict=True))

    def _draw_information(self, ax: Axes, places: NDArray[np.float64], height: float) -> list[tuple[Any, str]]:
        assert self.information is not None  # noqa: S101  for mypy
        assert self.lifts is not None  # noqa: S101
        values, lifts = self.information[self.order_], self.lifts[self.order_]
        colours = [OF_CLASSES[0] if value >= 0.0 else OF_CLASSES[3] for value in values]
        ax.barh(places, values, height, color=colours)
        size = fitting_font(size_in_points(ax)[1] / len(places) * height)
        for place, value, lift in zip(places, values, lifts, strict=True) if size else ():
            ax.text(max(value, 0.0), place, f"  lift {lift:.3g}", va="center", fontsize=size, color=INK)
        ax.vlines(np.zeros(len(places)), places - height / 2.0, places + height / 2.0, color=INK, linewidth=0.7)
        ax.set_xticks(inner_ticks(*self._range))
        ax.set_xlabel("mutual information, nats", fontsize=LARGEST, loc="left")
        return []


def _write_words(ax: Axes, places: NDArray[np.float64], words: list[list[str]], share: float) -> None:
    """Write the words above each bar, if they fit into this share of its lane."""
    size = fitting_font(share * size_in_points(ax)[1] / len(places) / max(map(len, words)))
    for place, lines in zip(places, words, strict=True) if size else ():
        ax.text(
            0.0, place, "\n".join(lines),
            transform=ax.get_yaxis_transform(), ha="left", va="bottom", fontsize=size, linespacing=1.1,
        )  # fmt: skip


def in_lines(conditions: Sequence[str], room: int) -> list[str]:
    """Conditions joined by "and", in at most `MOST_LINES` lines of at most `room` characters.

    >>> in_lines(["a in (2.5, 4.5]", "b in {u, v}", "c in {w}"], 32)
    ['a in (2.5, 4.5] and b in {u, v}', 'and c in {w}']
    """
    lines = [""]
    for condition in conditions:
        text = f"{AND if lines[-1] else ''}{condition}"
        if len(lines[-1]) + len(text) <= room or not lines[-1]:
            lines[-1] += text
        elif len(lines) < MOST_LINES:
            lines.append(text.lstrip())
        else:
            lines[-1] += " …"
            break
    return [drawn(line, room) for line in lines]


def _conditions_of_cells(model: Model, cells: Cells) -> list[list[str]]:
    """Conditions of each of the cells of a model, such as ``["a in (2.5, 4.5]", "b in 0: u, v"]``."""
    labels = {name: model.partition(name).names for name in cells.names}
    return [
        [f"{name} in {labels[name][part]}" for name, part in zip(cells.names, parts, strict=True)] or ["all rows"]
        for parts in cells.parts.tolist()
    ]
