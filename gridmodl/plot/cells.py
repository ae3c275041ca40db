"""The cells of a grid over any number of variables: what each says in words, its classes and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.labels import counted
from gridmodl.modelcounts import cell_information, cell_lifts
from gridmodl.plot.colours import INK, OF_CLASSES, shares_of, shown_classes
from gridmodl.plot.lanes import draw_rows, height_for, inner_ticks, open_lanes
from gridmodl.plot.panes import INCH, LARGEST, LETTER, axes_for, fitting_font, legend_above, size_in_points
from gridmodl.plot.parts import draw_shares
from gridmodl.plot.sources import check_model, model_of
from gridmodl.plot.text import drawn, short_labels

if TYPE_CHECKING:
    from gridmodl.model import Model

WIDTH = 7.5  # inches, of a figure of its own
MOST = 20  # cells that are shown unless the user asks for more
MOST_HIGH = 100.0  # inches: who asks for many cells wants to read them
MOST_LINES = 3  # of words
BAR = 0.8  # of a line, and the words stand above it
AND = " and "


class CellsDisplay:
    """The cells of a grid, those of most rows first: each in words, with the shares of its classes, and its rows.

    Without classes, in their place the mutual information of each cell: how much it tells of the parts it combines, in
    nats, with its lift, the share of its rows over what the shares of its parts let expect.

    Parameters
    ----------
    conditions : sequence of sequences of str
        What each cell is, variable by variable, such as ``["a in ]2.5, 4.5]", "b in {u, v}"]``.
    counts : ndarray of shape (n, classes)
        Rows of each cell by class; one column where there are no classes.
    classes : array-like
        The classes; empty where there are none.
    information, lifts : ndarray of shape (n,), optional
        Where there are no classes.
    unlabelled : ndarray of shape (n,), optional
        Rows of each cell without a class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    rows_ax_ : matplotlib Axes
        Where the rows are drawn, inside of ``ax_``.
    figure_ : matplotlib Figure
    order_ : ndarray
        The cells that are shown, from the top.

    Examples
    --------
    >>> import gridmodl
    >>> data = {"a": [1.0, 1.0, 9.0, 9.0] * 10, "b": list("uvuv") * 10}
    >>> model = gridmodl.optimize(data, [0, 1, 1, 0] * 10)
    >>> display = gridmodl.plot.CellsDisplay.from_model(model).plot()
    >>> display.conditions[0]
    ['a in ]-inf, 5.0]', 'b in {u}']
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
    ) -> None:
        self.conditions, self.counts = conditions, counts
        self.classes = np.asarray(classes)
        self.information, self.lifts, self.unlabelled = information, lifts, unlabelled

    @classmethod
    def from_model(cls, model: Model) -> CellsDisplay:
        """The cells of a model.

        Parameters
        ----------
        model : Model
            Of any number of columns.
        """
        check_model(model)
        cells = model.cells
        conditions = _conditions_of_cells(model)
        if model.target is None and len(model.classes):
            return cls(conditions, cells.counts, model.classes, unlabelled=cells.unlabelled)
        return cls(conditions, cells.counts, (), cell_information(model), cell_lifts(model))

    @classmethod
    def from_estimator(cls, estimator: Any) -> CellsDisplay:
        """The cells of the grid of a fitted estimator.

        Parameters
        ----------
        estimator : GridClassifier, GridEnsembleClassifier or GridCoclustering
            Of an ensemble, its best single grid.
        """
        return cls.from_model(model_of(estimator, None))

    def plot(self, ax: Axes | None = None, *, max_cells: int = MOST) -> CellsDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure that is as high as the cells need.
        max_cells : int
            At most so many cells are shown, those of most rows. Words are left out where lanes are too low for them.

        Returns
        -------
        CellsDisplay
            This one.
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
        if shown == n:
            return counted(n, "cell")
        share = self._rows[self.order_].sum() / self._rows.sum()
        return f"the {shown} largest of {n} cells, with {share:.0%} of the rows"

    @property
    def _range(self) -> tuple[float, float]:
        """What bars span from left to right."""
        if self.information is None:
            return 0.0, 1.0
        values = self.information[self.order_]
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
        return low, high + (0.25 * (high - low) or 1.0)  # with room for the lift of the longest bar

    def _draw_classes(self, ax: Axes, places: NDArray[np.float64], height: float) -> list[tuple[Any, str]]:
        shown = shown_classes(self.counts, self.classes)
        bars = draw_shares(ax, places, shares_of(shown.counts[self.order_]), shown.colours, height)
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
    """Above each bar, if there is room in this share of its lane."""
    size = fitting_font(share * size_in_points(ax)[1] / len(places) / max(map(len, words)))
    for place, lines in zip(places, words, strict=True) if size else ():
        ax.text(
            0.0, place, "\n".join(lines),
            transform=ax.get_yaxis_transform(), ha="left", va="bottom", fontsize=size, linespacing=1.1,
        )  # fmt: skip


def in_lines(conditions: Sequence[str], room: int) -> list[str]:
    """Conditions one after another in lines of so many characters, and a few lines.

    >>> in_lines(["a in ]2.5, 4.5]", "b in {u, v}", "c in {w}"], 32)
    ['a in ]2.5, 4.5] and b in {u, v}', 'and c in {w}']
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


def _conditions_of_cells(model: Model) -> list[list[str]]:
    """What each cell of a model combines, such as ``["a in ]2.5, 4.5]", "b in {u, v}"]``."""
    cells = model.cells
    labels = {name: short_labels(model.partition(name)) for name in cells.names}
    return [
        [f"{name} in {labels[name][part]}" for name, part in zip(cells.names, parts, strict=True)] or ["all rows"]
        for parts in cells.parts.tolist()
    ]
