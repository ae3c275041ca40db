"""The cells of a grid over any number of variables: names of their parts, shares of classes and rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.model.counts import cell_information, cell_lifts, input_cells
from gridmodl.model.labels import counted
from gridmodl.model.names import names_of_cells
from gridmodl.model.partition import Partition
from gridmodl.plot.axes.classes import class_stripes, draw_shares, interval_stripes, write_shares
from gridmodl.plot.axes.labels import WHOLE, label_rows
from gridmodl.plot.axes.lanes import BAR, WIDE, draw_rows, height_for, inner_ticks, open_lanes
from gridmodl.plot.axes.layout import FIXED, LARGEST, LETTER, axes_for, finish, fitting_font, font_for, size_in_points
from gridmodl.plot.sources import check_model, model_of
from gridmodl.plot.style import INK, OF_CLASSES, ROOM, by_one_bound, drawn, fitted

if TYPE_CHECKING:
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model

Drawing = tuple[list[tuple[Any, str]], Callable[[], None]]  # entries of a legend, and what writes into the bars

WIDTH = 8.5  # inches, of a new figure
MOST = 20  # cells shown by default
GROUP = re.compile(r"\d+: ")  # with which names of groups begin
FEWEST_LETTERS = 3  # of the name of a group, beside whole bounds
SHORT_NAME = 12  # characters of a name, below which the end of that of a group is left out
FEWEST, LOWEST = 3, 16.0  # least number of cells shown by default, and points of the lane of each
LOWEST_OF_TWO = 20.0  # points of a lane whose label takes two lines
MOST_HIGH = 100.0  # inches, as many cells are to be readable too
ONE_LINE = 44  # characters of a label for which a lane of the usual height is enough
ALMOST_ALL = 0.995  # share of the rows that would be rounded to all of them
BETWEEN = " \N{MIDDLE DOT} "  # of parts in a label


class CellsDisplay:
    """The cells of a grid, by descending rows: the parts of each, shares of classes, and rows.

    A cell is labelled by the names of its parts, in the order of the variables that the title names. What all cells
    shown have in common is in the title only.

    A grid of several inputs and a target that is partitioned too has the parts of the target in place of classes.
    Without classes, shares are replaced by the mutual information of each cell in nats, and its lift: its share of the
    rows over the product of the shares of its parts.

    Parameters
    ----------
    names : sequence of str
        The variables; empty for a grid of one cell.
    parts : sequence of sequences of str
        Names of the parts of each cell, one per variable, such as ``["(2.5, 4.5]", "0: u, v"]``.
    counts : ndarray of shape (n, classes)
        Rows of each cell by class; one column if there are no classes.
    classes : array-like
        The classes; empty if there are none.
    information, lifts : ndarray of shape (n,), optional
        Mutual information and lift of each cell, if there are no classes.
    unlabelled : ndarray of shape (n,), optional
        Unlabelled rows of each cell.
    target : Partition, optional
        The target whose parts take the place of classes.

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
    >>> display.names, display.parts[0]
    (['a', 'b'], ['(-inf, 5.0]', '0: u'])
    """

    ax_: Axes
    rows_ax_: Axes
    figure_: Any
    order_: NDArray[np.int64]

    def __init__(
        self,
        names: Sequence[str],
        parts: Sequence[Sequence[str]],
        counts: NDArray[np.int64],
        classes: Any = (),
        information: NDArray[np.float64] | None = None,
        lifts: NDArray[np.float64] | None = None,
        unlabelled: NDArray[np.int64] | None = None,
        target: Partition | None = None,
    ) -> None:
        self.names, self.parts, self.counts, self.target = names, parts, counts, target
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
            names, parts = _parts_of_cells(model, cells)
            return cls(names, parts, cells.counts, model.target.names, target=model.target)
        names, parts = _parts_of_cells(model, cells)
        if model.target is None and len(model.classes):
            return cls(names, parts, cells.counts, model.classes, unlabelled=cells.unlabelled)
        return cls(names, parts, cells.counts, (), cell_information(model), cell_lifts(model))

    @classmethod
    def from_estimator(cls, estimator: Any) -> CellsDisplay:
        """The cells of the grid of a fitted estimator.

        Parameters
        ----------
        estimator : GridClassifier, GridEnsembleClassifier or GridCoclustering
            For an ensemble, its best single grid is shown.
        """
        return cls.from_model(model_of(estimator, None))

    def plot(self, ax: Axes | None = None, *, max_cells: int | None = None) -> CellsDisplay:
        """Draw the cells.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as high as the cells need.
        max_cells : int, optional
            Largest number of cells shown, those with the most rows; by default 20, or as many as `ax` has room for.

        Returns
        -------
        CellsDisplay
            The display itself.
        """
        if max_cells is None and ax is not None:
            longest = max(len(BETWEEN.join(one)) for one in self.parts)
            lowest = LOWEST if longest <= ONE_LINE else LOWEST_OF_TWO
            max_cells = int(np.clip(size_in_points(ax)[1] / lowest, FEWEST, MOST))
        max_cells = MOST if max_cells is None else max_cells
        if max_cells < 1:
            raise ValueError(f"max_cells must be at least 1, got {max_cells!r}")
        self.order_ = np.argsort(-self._rows, kind="stable")[:max_cells]
        places = np.arange(len(self.order_), dtype=np.float64)
        longest = max(map(len, self._labels(WHOLE)))
        ax = axes_for(ax, WIDTH, height_for(places, 1.0 + 0.5 * min(2, longest // ONE_LINE), MOST_HIGH))
        self.ax_, self.figure_ = ax, ax.figure
        open_lanes(ax, places, *self._range)
        draw = self._draw_classes if self.information is None else self._draw_information
        entries, write = draw(ax, places)
        label = partial(label_rows, ax, places, self._labels)
        label()
        unlabelled = None if self.unlabelled is None else self.unlabelled[self.order_]
        self.rows_ax_, bars = draw_rows(ax, places, self.counts.sum(axis=1)[self.order_], unlabelled)
        entries += [(bar, "rows without a class") for bar in bars[1:]]
        finish(ax, self._titles, entries, label=label)
        write()
        return self

    @property
    def _rows(self) -> NDArray[np.int64]:
        labelled: NDArray[np.int64] = self.counts.sum(axis=1)
        return labelled if self.unlabelled is None else labelled + self.unlabelled

    @property
    def _shown(self) -> list[Sequence[str]]:
        return [self.parts[i] for i in self.order_.tolist()]

    def _labels(self, room: int) -> list[str]:
        return cell_labels(self._shown, room)

    @property
    def _titles(self) -> list[str]:
        """The title, and shorter ones for axes without room for it."""
        n, shown = len(self.parts), len(self.order_)
        share = self._rows[self.order_].sum() / max(1, self._rows.sum())
        percent = "more than 99%" if ALMOST_ALL <= share < 1.0 else f"{share:.0%}"
        what = counted(n, "cell") if shown == n else f"the {shown} largest of {n} cells, with {percent} of the rows"
        of_target = "" if self.target is None else f"; colours are parts of {drawn(self.target.name, 24)}"
        whole, short = (variables_of(self.names, self._shown, room) for room in (ROOM, SHORT_NAME))
        number = counted(n, "cell") if shown == n else f"{shown} of {n} cells"
        of_rows = "" if shown == n else f", {percent} of rows"
        return [
            f"{what}{whole}{of_target}",
            f"{number}{of_rows}{whole}",  # the axis names the target too
            f"{number}{of_rows}{short}",
            f"{number}{short}",
        ]

    @property
    def _range(self) -> tuple[float, float]:
        """Range of the bars from left to right."""
        if self.information is None:
            return 0.0, 1.0
        values = self.information[self.order_]
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
        return low, high + (0.4 * (high - low) or 1.0)  # with room for the lift of the longest bar

    def _draw_classes(self, ax: Axes, places: NDArray[np.float64]) -> Drawing:
        is_ordered = self.target is not None and self.target.kind != "categorical"
        shown = (interval_stripes if is_ordered else class_stripes)(self.counts, self.classes)
        ranks = None if shown.classes is None else shown.classes[self.order_]
        drawn_cells = shown._replace(shares=shown.shares[self.order_], classes=ranks)
        bars = draw_shares(ax, places, drawn_cells)
        if self.target is not None:
            ax.set_xlabel(f"share of each part of {drawn(self.target.name, 24)}", fontsize=LARGEST, loc="left")
        write = partial(write_shares, ax, places, drawn_cells, self.classes)
        return shown.legend(bars), write

    def _draw_information(self, ax: Axes, places: NDArray[np.float64]) -> Drawing:
        assert self.information is not None  # noqa: S101  for mypy
        assert self.lifts is not None  # noqa: S101
        values, lifts = self.information[self.order_], self.lifts[self.order_]
        colours = [OF_CLASSES[0] if value >= 0.0 else OF_CLASSES[3] for value in values]
        ax.barh(places, values, BAR, color=colours)
        ax.vlines(np.zeros(len(places)), places - BAR / 2.0, places + BAR / 2.0, color=INK, linewidth=0.7)
        ax.set_xticks(inner_ticks(ax, *self._range))
        ax.set_xlabel("mutual information, nats", fontsize=LARGEST, loc="left")

        def write() -> None:
            width, height = size_in_points(ax)
            size, (low, high) = fitting_font(height / len(places) * BAR, min(8.0, font_for(ax))), self._range
            texts = [f"  lift {lift:.3g}" for lift in lifts]
            room = (high - max(0.0, float(values.max()))) / (high - low) * WIDE * width
            if size is not None and (max(map(len, texts)) - 1) * LETTER * size <= room:
                for place, value, text in zip(places, values, texts, strict=True):
                    ax.text(max(value, 0.0), place, text, va="center", fontsize=size, color=INK)

        return [], write


def cell_labels(cells: Sequence[Sequence[str]], room: int) -> list[str]:
    """Label of each cell, given the names of its parts: those in which the cells differ; no two look alike.

    >>> cell_labels([["low", "red", "yes"], ["low", "blue", "yes"]], 20)
    ['red', 'blue']
    """
    differing = _differing(cells)
    if not differing:
        return ["all rows"] * len(cells)
    if max(len(BETWEEN.join(one[k] for k in differing)) for one in cells) > room:
        cells = [[_without_infinity(text) for text in one] for one in cells]
    texts = [list(dict.fromkeys(one[k] for one in cells)) for k in differing]
    for_all = room - len(BETWEEN) * (len(differing) - 1)
    rooms = _rooms([max(map(len, one)) for one in texts], for_all)
    shorter = [
        [by_one_bound(text) for text in one] if max(map(len, one)) > most else one
        for one, most in zip(texts, rooms, strict=True)
    ]
    rooms = _rooms_of_parts(shorter, for_all)
    short = [
        {text: part.replace(" ", FIXED) for text, part in zip(one, _short_parts(parts, most), strict=True)}
        for one, parts, most in zip(texts, shorter, rooms, strict=True)
    ]
    between = FIXED + BETWEEN[1:]  # no line begins with the dot
    joined = [between.join(of[one[k]] for of, k in zip(short, differing, strict=True)) for one in cells]
    if max(map(len, joined)) <= room:
        return joined
    return fitted([BETWEEN.join(one[k] for k in differing) for one in cells], room)


def _short_parts(names: Sequence[str], room: int) -> list[str]:
    """Names of parts of at most `room` characters; no two look alike. Where room is short, groups have no end.

    >>> _short_parts(["0: WHITE, GREEN", "1: BROWN, GRAY, RED"], 8)
    ['0: WHIT…', '1: BROW…']
    """
    if room < SHORT_NAME and all(GROUP.match(name) for name in names):
        names = [name if len(name) <= room else f"{name[: max(1, room - 1)].rstrip(' ,')}…" for name in names]
    return fitted(names, room)


def _without_infinity(text: str) -> str:
    """A shorter form of the name of an interval with one bound; other names as they are.

    >>> _without_infinity("(-inf, 2.5]"), _without_infinity("(4.5, inf)"), _without_infinity("(2.5, 4.5]")
    ('≤ 2.5', '> 4.5', '(2.5, 4.5]')
    """
    return by_one_bound(text) if text.startswith("(-inf, ") or text.endswith(", inf)") else text


def variables_of(names: Sequence[str], cells: Sequence[Sequence[str]], room: int = ROOM) -> str:
    """End of a title: the variables whose parts `cell_labels` has, and what all cells share.

    Names have at most `room` characters.

    >>> variables_of(["a", "b"], [["(2.5, 4.5]", "0: u"], ["(2.5, 4.5]", "1: v"]])
    ': b; all in a (2.5, 4.5]'
    """
    differing = _differing(cells)
    names = fitted(names, room)
    shared = [f"{names[k]} {drawn(cells[0][k], room)}" for k in range(len(names)) if k not in differing]
    listed = f": {(FIXED + BETWEEN[1:]).join(names[k] for k in differing)}" if differing else ""
    return listed + (f"; all in {' and '.join(shared)}" if shared else "")


def _differing(cells: Sequence[Sequence[str]]) -> list[int]:
    """Numbers of the variables in whose parts the cells differ; of all variables if they differ in none."""
    numbers = range(len(cells[0]) if cells else 0)
    return [k for k in numbers if len({one[k] for one in cells}) > 1] or list(numbers)


def _rooms(lengths: Sequence[int], room: int) -> list[int]:
    """Characters for each of several texts of these lengths that share a room: short texts keep theirs.

    >>> _rooms([4, 30, 20], 44)
    [4, 20, 20]
    """
    rooms, left = [0] * len(lengths), room
    for rank, k in enumerate(sorted(range(len(lengths)), key=lambda k: lengths[k])):
        rooms[k] = max(1, min(lengths[k], left // (len(lengths) - rank)))
        left -= rooms[k]
    return rooms


def _rooms_of_parts(names: Sequence[Sequence[str]], room: int) -> list[int]:
    """Characters for the names of the parts of each variable: bounds are whole where that leaves some for groups.

    >>> _rooms_of_parts([["≤ 0.29275", "≤ 0.40975"], ["0: BRUISES", "1: NO"]], 16)
    [9, 7]
    """
    lengths = [max(map(len, one)) for one in names]
    of_groups = [k for k, one in enumerate(names) if all(GROUP.match(name) for name in one)]
    left = room - sum(length for k, length in enumerate(lengths) if k not in of_groups)
    if left < FEWEST_LETTERS * len(of_groups):
        return _rooms(lengths, room)
    rooms = dict(zip(of_groups, _rooms([lengths[k] for k in of_groups], left), strict=True))
    return [rooms.get(k, length) for k, length in enumerate(lengths)]


def _parts_of_cells(model: Model, cells: Cells) -> tuple[list[str], list[list[str]]]:
    """The variables of the cells of a model, and the names of the parts of each cell."""
    partitions = [model.partition(name) for name in cells.names]
    return [str(name) for name in cells.names], names_of_cells(cells, partitions)
