"""Two variables of a grid as a map of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from numpy.typing import NDArray

from gridmodl.frames import Name
from gridmodl.labels import counted
from gridmodl.modelcounts import information_by_cell, pair_counts
from gridmodl.partition import Partition
from gridmodl.plot.colours import AROUND_ZERO, SHARES, shares_of, shown_classes
from gridmodl.plot.dendrogram import BESIDE, draw_tree, leaf_order, tree_lines
from gridmodl.plot.heatmap import (
    ROOM_BELOW,
    bar_beside,
    draw_empty,
    draw_map,
    draw_stripes,
    height_of_map,
    name_sides,
    open_map,
    width_of_map,
    write_cells,
)
from gridmodl.plot.pairs import chosen_pair
from gridmodl.plot.panes import axes_for, legend_above
from gridmodl.plot.sources import check_model, model_of
from gridmodl.plot.text import class_names, drawn, part_labels

if TYPE_CHECKING:
    from gridmodl.hierarchy import Hierarchy
    from gridmodl.model import Model


FEW = 400  # cells; of more, the few that stand out most are beyond the range of colours
ALMOST_ALL = 0.995
ON_STRIPES = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "boxstyle": "round,pad=0.25"}
NUMBERS_ARE_ROWS = "; numbers are rows"


class GridDisplay:
    """Two variables of a grid, the cells of their parts coloured by what is in them.

    With two classes the colour is the share of the second one; with more, each cell is divided from left to right by
    the shares of the classes. Without classes it is the mutual information of the cell, in nats: above 0 where more
    rows are than the parts alone let expect, below 0 where fewer are. Their sum is that of the two variables. Parts are
    then in the order of their tree of merges (`Model.hierarchy`), which is drawn at the sides: the height of a merge is
    the information that is lost when it is made.

    Parameters
    ----------
    x, y : Partition
        The variables, below and on the left.
    counts : ndarray of shape (parts of y, parts of x, classes)
        Rows of each cell by class; one column where there are no classes.
    classes : array-like
        The classes; empty where there are none.
    x_linkage, y_linkage : ndarray, optional
        Merges of the parts, as of `Hierarchy.linkage`.
    n_others : int
        How many more variables the grid has, over whose parts the rows are summed.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    values_ : ndarray of shape (parts of y, parts of x)
        What colours stand for, in the order of the partitions: shares of the second class, mutual information, or NaN
        where there are more than two classes.
    x_order_, y_order_ : ndarray
        The part that each column and row of the picture shows.

    Examples
    --------
    >>> import gridmodl
    >>> x, y = [1, 2, 3, 4, 5, 6] * 20, list("aabbcc") * 20
    >>> display = gridmodl.plot.GridDisplay.from_model(gridmodl.optimize({"x": x, "y": y})).plot()
    >>> display.values_.round(2).tolist()
    [[0.37, 0.0, 0.0], [0.0, 0.37, 0.0], [0.0, 0.0, 0.37]]
    """

    ax_: Axes
    figure_: Any
    values_: NDArray[np.float64]
    x_order_: NDArray[np.int64]
    y_order_: NDArray[np.int64]

    def __init__(
        self,
        x: Partition,
        y: Partition,
        counts: NDArray[np.int64],
        classes: Any = (),
        x_linkage: NDArray[np.float64] | None = None,
        y_linkage: NDArray[np.float64] | None = None,
        n_others: int = 0,
    ) -> None:
        self.x, self.y, self.counts = x, y, counts
        self.classes = np.asarray(classes)
        self.x_linkage, self.y_linkage = x_linkage, y_linkage
        self.n_others = n_others

    @classmethod
    def from_model(cls, model: Model, x: Name | None = None, y: Name | None = None) -> GridDisplay:
        """Two variables of a model.

        Parameters
        ----------
        model : Model
            Of two columns or more, or of one and a target that is partitioned too.
        x, y : str, optional
            The variables below and on the left; by default the first that are informative. Rows are summed over all
            others.
        """
        check_model(model)
        below, left = chosen_pair(model, x, y)
        classes = model.classes if model.target is None else ()
        others = [name for name in model.cells.names if name not in (below.name, left.name)]
        of_x, of_y = (None, None) if len(classes) else _linkages(model.hierarchy(), below, left)
        return cls(below, left, pair_counts(model, left, below), classes, of_x, of_y, len(others))

    @classmethod
    def from_estimator(cls, estimator: Any, x: Name | None = None, y: Name | None = None) -> GridDisplay:
        """Two variables of the grid of a fitted estimator.

        Parameters
        ----------
        estimator : GridClassifier, GridEnsembleClassifier or GridCoclustering
            Of an ensemble, its best single grid.
        x, y : str, optional
            As of `from_model`; the variables of a coclustering are ``"row"`` and ``"column"``.
        """
        return cls.from_model(model_of(estimator, None), x, y)

    def plot(self, ax: Axes | None = None, *, dendrogram: bool = True) -> GridDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure that is as large as the parts need.
        dendrogram : bool
            Without classes: whether the trees of merges are drawn at the sides.

        Returns
        -------
        GridDisplay
            This one.
        """
        ax = axes_for(ax, width_of_map(self.x.n_parts), height_of_map(self.y.n_parts))
        self.ax_, self.figure_, self._note = ax, ax.figure, ""
        self.x_order_, self.y_order_ = _order(self.x, self.x_linkage), _order(self.y, self.y_linkage)
        has_trees = dendrogram and (self.x_linkage is not None or self.y_linkage is not None)
        below, left = part_labels(self.x, ROOM_BELOW), part_labels(self.y)
        open_map(ax, [below[i] for i in self.x_order_], [left[i] for i in self.y_order_], BESIDE if has_trees else 0.0)
        name_sides(ax, drawn(self.x.name), drawn(self.y.name))
        entries = self._draw_classes(ax) if len(self.classes) else self._draw_information(ax)
        if has_trees:
            self._draw_trees(ax)
        others = f", summed over {counted(self.n_others, 'more variable')}" if self.n_others else ""
        legend_above(ax, entries, f"{self.y.n_parts} x {self.x.n_parts} parts{others}{self._note}")
        return self

    def _draw_classes(self, ax: Axes) -> list[tuple[Any, str]]:
        """Shares of classes; entries of the legend."""
        entries = draw_empty(ax, self.counts.sum(axis=-1) == 0)
        if len(self.classes) == 2:
            self.values_ = shares_of(self.counts)[..., 1]
            what = f"share of {class_names(self.classes)[1]}"
            self._draw_values(ax, SHARES, Normalize(0.0, 1.0), what)
            return entries
        self.values_ = np.full(self.counts.shape[:2], np.nan)
        shown = shown_classes(self.counts, self.classes)
        stripes = draw_stripes(ax, shares_of(shown.counts), shown.colours)
        if write_cells(ax, self._rows_in_words, lambda i, j: "white", ON_STRIPES):
            self._note = NUMBERS_ARE_ROWS
        return [*zip(stripes, shown.names, strict=True), *entries]

    def _draw_information(self, ax: Axes) -> list[tuple[Any, str]]:
        self.values_ = information_by_cell(self.counts.sum(axis=-1))
        sizes = np.abs(self.values_)
        largest = float(sizes.max() if sizes.size <= FEW else np.quantile(sizes, ALMOST_ALL)) or 1.0
        self._draw_values(ax, AROUND_ZERO, Normalize(-largest, largest), "mutual information of the cell, nats")
        return []

    @property
    def _rows_in_words(self) -> list[list[str]]:
        """Of each cell, in the order in which they are drawn."""
        rows = self.counts.sum(axis=-1)[self.y_order_][:, self.x_order_]
        return [[str(n) if n else "" for n in row] for row in rows.tolist()]

    @property
    def _placed(self) -> NDArray[np.float64]:
        """The values in the order in which they are drawn."""
        return self.values_[self.y_order_][:, self.x_order_]

    def _draw_values(self, ax: Axes, colours: str, norm: Normalize, what: str) -> None:
        values, palette = self._placed, colormaps[colours]
        is_cut = bool(np.nanmax(np.abs(values), initial=0.0) > norm.vmax)
        bar_beside(ax, draw_map(ax, values, palette, norm), what, "both" if is_cut else "neither")
        if write_cells(ax, self._rows_in_words, lambda i, j: palette(norm(values[i, j]))):
            self._note = NUMBERS_ARE_ROWS

    def _draw_trees(self, ax: Axes) -> None:
        if self.x_linkage is not None:
            draw_tree(ax, tree_lines(self.x_linkage, self.x_order_), self.y.n_parts, on_top=True)
        if self.y_linkage is not None:
            draw_tree(ax, tree_lines(self.y_linkage, self.y_order_), self.x.n_parts, on_top=False)


def _linkages(tree: Hierarchy, *partitions: Partition) -> list[NDArray[np.float64] | None]:
    return [tree.linkage(partition.name) if partition.n_parts > 1 else None for partition in partitions]


def _order(partition: Partition, linkage: NDArray[np.float64] | None) -> NDArray[np.int64]:
    return np.arange(partition.n_parts) if linkage is None else leaf_order(linkage)
