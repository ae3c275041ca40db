"""Two variables of a grid as a map of cells, with the trees of merges at its sides."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.counts import information_by_cell, pair_counts, pair_target_counts, table_information
from gridmodl.model.labels import counted
from gridmodl.model.partition import Partition
from gridmodl.plot.axes.classes import MOST, class_stripes, interval_stripes
from gridmodl.plot.axes.labels import Labels
from gridmodl.plot.axes.layout import axes_for, finish
from gridmodl.plot.axes.maps import (
    CellEdges,
    bar_beside,
    draw_empty,
    draw_map,
    draw_stripes,
    edges_by_rows,
    even_edges,
    first_that_fit,
    height_of_map,
    label_map,
    name_sides,
    open_map,
    width_of_map,
    write_cells,
)
from gridmodl.plot.axes.trees import add_brackets, leaf_order, tree_lines
from gridmodl.plot.sources import check_model, model_of
from gridmodl.plot.style import (
    AROUND_ZERO,
    SHARES,
    class_ends,
    class_names,
    drawn,
    part_labels,
    shares_of,
)
from gridmodl.report.pictures import is_too_many
from gridmodl.spelling import check_choice

if TYPE_CHECKING:
    from gridmodl.analysis.hierarchy import Hierarchy
    from gridmodl.model.model import Model

FEW = 400  # cells up to which colours cover all values
ALMOST_ALL = 0.995  # share of the values that colours cover if there are more cells
ON_STRIPES = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "boxstyle": "round,pad=0.25"}
NUMBERS_ARE_ROWS = "; numbers are rows"
BESIDE = 0.2  # room for a tree, in widths of all cells
GAP = 0.02  # between cells and tree, in widths of all cells
LONGEST_NAME, LONGEST_LINE = 16, 10  # characters of the name of a class in a cell, and of a line of it
SIZES = ("rows", "equal")


class CellTexts(NamedTuple):
    """Texts to write into cells, and what the title says of them."""

    variants: list[list[list[str]]]  # by preference; each cell has the first that fits
    colour_of: Callable[[int, int], Any]  # of the cell below a text
    box: dict[str, Any] | None
    note: str


class GridDisplay:
    """Two variables of a grid, the cells of their parts coloured by what is in them.

    With an event, as two classes have, the colour is its share; with more classes and none, each cell is divided from
    left to right by the shares of the classes, or, of classes too many for colours, has the name and the share of its
    most frequent class. If the target is partitioned too, its parts take the place of classes
    for two inputs. Without classes the colour is the mutual information of the cell, in nats: above 0 if the cell has
    more rows than expected from its parts, below 0 if fewer; the sum over cells is the mutual information of the two
    variables. Parts are then in the order of their tree of merges (`Model.hierarchy`), which is drawn at the sides: the
    height of a merge is the information that it loses.

    Parameters
    ----------
    x, y : Partition
        The variables, below and on the left.
    counts : ndarray of shape (parts of y, parts of x, classes)
        Rows of each cell by class; one column where there are no classes.
    classes : array-like
        The classes; empty where there are none.
    x_linkage, y_linkage : ndarray, optional
        Merges of the parts, as `Hierarchy.linkage` returns them.
    n_others : int
        Number of other variables of the grid, over whose parts the rows are summed.
    event : int, optional
        Number of the event among the classes; by default the second of two.
    target : Partition, optional
        The target whose parts take the place of classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    values_ : ndarray of shape (parts of y, parts of x)
        Values of the colours, in the order of the partitions: shares of the event or, of many classes, of the most
        frequent one; mutual information; NaN where each cell is divided by its classes.
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
        event: int | None = None,
        target: Partition | None = None,
    ) -> None:
        self.x, self.y, self.counts = x, y, counts
        self.classes = np.asarray(classes)
        self.x_linkage, self.y_linkage = x_linkage, y_linkage
        self.n_others, self.target = n_others, target
        self.event = 1 if event is None and len(self.classes) == 2 else event

    @classmethod
    def from_model(cls, model: Model, x: Name | None = None, y: Name | None = None) -> GridDisplay:
        """Two variables of a model.

        Parameters
        ----------
        model : Model
            Of two columns or more, or of one and a target that is partitioned too.
        x, y : str, optional
            The variables below and on the left; by default the first informative ones, and of a joint grid the two with
            the most mutual information. Rows are summed over all others.
        """
        check_model(model)
        below, left = _chosen_pair(model, x, y)
        classes = model.classes if model.target is None else ()
        others = [name for name in model.cells.names if name not in (below.name, left.name)]
        target = model.target
        if target is not None and target is not below and target is not left:
            counts, n_others = pair_target_counts(model, left, below), len(others) - (target.name in others)
            return cls(below, left, counts, target.names, n_others=n_others, target=target)
        of_x, of_y = (None, None) if len(classes) else _linkages(model.hierarchy(), below, left)
        counts = pair_counts(model, left, below)
        return cls(
            below, left, counts, classes, of_x, of_y, len(others), model.event_index if model.has_one_event else None
        )

    @classmethod
    def from_estimator(cls, estimator: Any, x: Name | None = None, y: Name | None = None) -> GridDisplay:
        """Two variables of the grid of a fitted estimator.

        Parameters
        ----------
        estimator : GridClassifier, GridEnsembleClassifier or GridCoclustering
            Of an ensemble, its best single grid.
        x, y : str, optional
            As in `from_model`; the variables of a coclustering are ``"row"`` and ``"column"``.
        """
        return cls.from_model(model_of(estimator, None), x, y)

    def plot(self, ax: Axes | None = None, *, dendrogram: bool = True, sizes: str = "rows") -> GridDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as large as the parts need.
        dendrogram : bool
            Whether to draw the trees of merges at the sides, if there are no classes.
        sizes : {"rows", "equal"}
            Columns and rows of cells as large as the roots of the rows of their parts, though none is much smaller than
            the mean; or all of the same size.

        Returns
        -------
        GridDisplay
            The display itself.
        """
        check_choice("sizes", sizes, SIZES)
        below, left = part_labels(self.x), part_labels(self.y)
        ax = axes_for(ax, width_of_map(len(below), left), height_of_map(len(left), below))
        self.ax_, self.figure_ = ax, ax.figure
        self.x_order_, self.y_order_ = _order(self.x, self.x_linkage), _order(self.y, self.y_linkage)
        has_trees = dendrogram and (self.x_linkage is not None or self.y_linkage is not None)
        self._edges = self._edges_of(sizes)
        self._texts = [CellTexts([self._rows_in_words], lambda i, j: "white", None, NUMBERS_ARE_ROWS)]
        label = partial(label_map, ax, self._edges, *self._labels())
        open_map(ax, self._edges, BESIDE if has_trees else 0.0)
        label()
        name_sides(ax, drawn(self.x.name), drawn(self.y.name))
        entries = self._draw_classes(ax) if len(self.classes) else self._draw_information(ax)
        if has_trees:
            self._draw_trees(ax)
        others = f", summed over {counted(self.n_others, 'more variable')}" if self.n_others else ""
        is_colours = self.target is not None and self.event is None
        of_target = f"; colours are parts of {self._target_name}" if is_colours else ""
        parts = f"{self.y.n_parts} x {self.x.n_parts} parts"
        short = f"{parts}{f', sum over {self.n_others} more' * bool(self.n_others)}"
        titles = [f"{parts}{others}{of_target}", f"{short}{f'; colours: {self._target_name}' * is_colours}"]
        finish(ax, titles, entries, label=label)  # then the size of cells is known
        for one in self._texts:
            texts = first_that_fit(ax, self._edges, one.variants)
            if write_cells(ax, self._edges, texts, one.colour_of, one.box):
                finish(ax, [titles[0] + one.note, *titles], entries, label=label)
                break
        return self

    def _edges_of(self, sizes: str) -> CellEdges:
        if sizes == "equal":
            return CellEdges(even_edges(self.x.n_parts), even_edges(self.y.n_parts))
        rows = self.counts.sum(axis=-1)
        return CellEdges(edges_by_rows(rows.sum(axis=0)[self.x_order_]), edges_by_rows(rows.sum(axis=1)[self.y_order_]))

    def _labels(self) -> tuple[Labels, Labels]:
        """Labels below and on the left, in the order of drawing."""
        return (
            lambda room: [part_labels(self.x, room)[i] for i in self.x_order_],
            lambda room: [part_labels(self.y, room)[i] for i in self.y_order_],
        )

    def _draw_classes(self, ax: Axes) -> list[tuple[Any, str]]:
        """Draw shares of classes; return the entries of the legend."""
        entries = draw_empty(ax, self._edges, self.counts.sum(axis=-1) == 0)
        if self.event is not None:
            self.values_ = shares_of(self.counts)[..., self.event]
            of_target = "" if self.target is None else f"{self._target_name} in "
            what = f"share of {of_target}{class_names(self.classes)[self.event]}"
            self._draw_values(ax, SHARES, Normalize(0.0, 1.0), what)
            return entries
        self.values_ = np.full(self.counts.shape[:2], np.nan)
        is_ordered = self.target is not None and self.target.kind != "categorical"
        if not is_ordered and is_too_many(self.counts, MOST):
            self._draw_largest(ax)
            return entries
        shown = (interval_stripes if is_ordered else class_stripes)(self.counts, self.classes)
        stripes = draw_stripes(ax, self._edges, shown.shares, shown.colours)
        self._texts = [self._texts[0]._replace(box=ON_STRIPES)]
        return [*shown.legend(stripes), *entries]

    @property
    def _target_name(self) -> str:
        return "" if self.target is None else drawn(self.target.name, 24)

    def _draw_largest(self, ax: Axes) -> None:
        """Colour cells by the share of their most frequent class, with its name where there is room."""
        self.values_ = shares_of(self.counts).max(axis=-1)
        self._draw_values(ax, SHARES, Normalize(0.0, 1.0), "share of the most frequent class")
        largest, names = self.counts.argmax(axis=-1), class_names(self.classes, LONGEST_NAME)
        in_lines = ["\n".join(wrap(name, LONGEST_LINE, break_long_words=False)) for name in names]
        ways = [(names, "\n"), (in_lines, "\n"), (names, ": "), (class_ends(self.classes), "\n")]
        variants = [
            [
                [f"{of_class[j]}{between}{n}" if n and of_class[j] else "" for j, n in zip(line, row, strict=True)]
                for line, row in zip(largest.tolist(), self._rows_in_words, strict=True)
            ]
            for of_class, between in ways
        ]
        (rows,) = self._texts
        with_names = rows._replace(variants=variants, note="; each cell has its most frequent class and its rows")
        self._texts = [with_names, rows]

    def _draw_information(self, ax: Axes) -> list[tuple[Any, str]]:
        self.values_ = information_by_cell(self.counts.sum(axis=-1))
        sizes = np.abs(self.values_)
        largest = float(sizes.max() if sizes.size <= FEW else np.quantile(sizes, ALMOST_ALL)) or 1.0
        self._draw_values(ax, AROUND_ZERO, Normalize(-largest, largest), "mutual information, nats")
        return []

    @property
    def _rows_in_words(self) -> list[list[str]]:
        """Rows of each cell as text, in the order of drawing."""
        rows = self.counts.sum(axis=-1)[self.y_order_][:, self.x_order_]
        return [[str(n) if n else "" for n in row] for row in rows.tolist()]

    @property
    def _placed(self) -> NDArray[np.float64]:
        """Values in the order of drawing."""
        return self.values_[self.y_order_][:, self.x_order_]

    def _draw_values(self, ax: Axes, colours: str, norm: Normalize, what: str) -> None:
        values, palette = self._placed, colormaps[colours]
        is_cut = bool(np.nanmax(np.abs(values), initial=0.0) > norm.vmax)
        bar_beside(ax, draw_map(ax, self._edges, values, palette, norm), what, "both" if is_cut else "neither")
        self._texts = [self._texts[0]._replace(colour_of=lambda i, j: palette(norm(values[i, j])))]

    def _draw_trees(self, ax: Axes) -> None:
        if self.x_linkage is not None:
            lines = tree_lines(self.x_linkage, self.x_order_, self._edges.middles[0])
            draw_tree(ax, lines, self.y.n_parts, on_top=True)
        if self.y_linkage is not None:
            lines = tree_lines(self.y_linkage, self.y_order_, self._edges.middles[1])
            draw_tree(ax, lines, self.x.n_parts, on_top=False)


def _linkages(tree: Hierarchy, *partitions: Partition) -> list[NDArray[np.float64] | None]:
    return [tree.linkage(partition.name) if partition.n_parts > 1 else None for partition in partitions]


def _order(partition: Partition, linkage: NDArray[np.float64] | None) -> NDArray[np.int64]:
    return np.arange(partition.n_parts) if linkage is None else leaf_order(linkage)


def _chosen_pair(model: Model, x: Name | None, y: Name | None) -> tuple[Partition, Partition]:
    """The variables `x` and `y`; where None, the first informative variable that is free, else any.

    Of a joint grid, if both are None, those with the most mutual information; ties: the first.
    """
    known = model.all_partitions
    if len(known) < 2:
        raise ValueError(f"two variables are drawn, and the model has one, {next(iter(known))!r}; see PartsDisplay")
    if x is not None and x == y:
        raise ValueError(f"x and y must be two variables, got {x!r} for both")
    if x is None and y is None and len(model.cells.names) > 2 and not len(model.classes) and model.target is None:
        pairs = itertools.combinations(model.cells.names, 2)
        x, y = max(pairs, key=lambda pair: round(_information(model, *map(model.partition, pair)), 12))
    free = [name for name in dict.fromkeys([*model.cells.names, *known]) if name not in (x, y)]
    below = model.partition(free.pop(0) if x is None else x)
    left = model.partition(free.pop(0) if y is None else y)
    return below, left


def _information(model: Model, one: Partition, other: Partition) -> float:
    return table_information(pair_counts(model, one, other)[:, :, 0])


def draw_tree(ax: Axes, corners: NDArray[np.float64], n_across: int, on_top: bool) -> LineCollection:
    """Draw the tree above the cells, or to their right; `n_across` is the number of cells between it and the axis."""
    lines = corners.copy()
    highest = float(corners[..., 1].max()) or 1.0
    lines[..., 1] = n_across * (1.0 + GAP + (BESIDE - GAP) * corners[..., 1] / highest) - 0.5
    return add_brackets(ax, lines if on_top else lines[..., ::-1])
