"""Trees of the merges that lead from a grid to a single cell, one for each variable."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from gridmodl.model.labels import counted
from gridmodl.model.partition import Partition
from gridmodl.plot.axes.labels import label_rows
from gridmodl.plot.axes.lanes import height_for
from gridmodl.plot.axes.layout import LARGEST, axes_for, finish, font_for, plain_frame, size_in_points
from gridmodl.plot.axes.trees import add_brackets, leaf_order, tree_lines
from gridmodl.plot.style import OTHER, fitted, part_labels

if TYPE_CHECKING:
    from gridmodl.analysis.hierarchy import Hierarchy

HEAD = 1.2  # lanes from the name of a variable to its first part, and to the last part of the variable above it
WIDTH, THINNEST, OF_LANE = 1.2, 0.25, 0.3  # points, most and least width of the lines of a tree; in lanes
BOLD = 0.7  # width of a bold letter, in heights of its font
SHORTEST = 8  # characters of the name of a variable
BEYOND = 1.02  # end of the axis, in heights of the highest merge


class HierarchyDisplay:
    """Dendrograms of the merges of a grid down to a single cell: a tree of the parts of each variable.

    A merge is drawn at the share of the model's information that is lost when it is done, by the merges of all
    variables. All trees have the same axis: a vertical line through them crosses as many branches of each as it has
    parts at that point. Groups are in an order in which no lines cross.

    Parameters
    ----------
    partitions : sequence of Partition
        The variables, each of more than one part.
    linkages : sequence of ndarray
        Merges of the parts of each variable, as `Hierarchy.linkage` returns them.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    orders_ : list of ndarray
        Of each variable, the parts from top to bottom.

    Examples
    --------
    >>> import gridmodl
    >>> x, y = [1, 2, 3, 4, 5, 6] * 20, list("aabbcc") * 20
    >>> hierarchy = gridmodl.optimize({"x": x, "y": y}).hierarchy()
    >>> gridmodl.plot.HierarchyDisplay.from_hierarchy(hierarchy).plot().ax_.get_xlabel()
    'information lost'
    """

    ax_: Axes
    figure_: Any
    orders_: list[NDArray[np.int64]]

    def __init__(self, partitions: Any, linkages: Any) -> None:
        self.partitions: list[Partition] = list(partitions)
        self.linkages: list[NDArray[np.float64]] = [np.asarray(one, dtype=np.float64) for one in linkages]

    @classmethod
    def from_hierarchy(cls, hierarchy: Hierarchy) -> HierarchyDisplay:
        """Display of what `Model.hierarchy` returns.

        Parameters
        ----------
        hierarchy : Hierarchy
        """
        partitions = [partition for partition in hierarchy.partitions.values() if partition.n_parts > 1]
        if not partitions:
            raise ValueError("the model is a single cell: there is nothing to merge, and no tree to draw")
        return cls(partitions, [hierarchy.linkage(partition.name) for partition in partitions])

    def plot(self, ax: Axes | None = None) -> HierarchyDisplay:
        """Draw the trees below each other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as high as the parts need.

        Returns
        -------
        HierarchyDisplay
            The display itself.
        """
        self.orders_ = [leaf_order(linkage) for linkage in self.linkages]
        places, heads = self._places()
        ax = axes_for(ax, 6.4, height_for(places[-1], 0.9))
        self.ax_, self.figure_ = ax, ax.figure
        highest = max(float(linkage[:, 2].max()) for linkage in self.linkages) or 1.0
        ax.set_xlim(0.0, BEYOND * highest)
        ax.set_ylim(float(places[-1][-1]) + 0.5, heads[0] - 0.5)
        pitch = size_in_points(ax)[1] / (float(places[-1][-1]) + HEAD)
        width = float(np.clip(OF_LANE * pitch, THINNEST, WIDTH))
        for linkage, order, at in zip(self.linkages, self.orders_, places, strict=True):
            add_brackets(ax, tree_lines(linkage, order, at)[..., ::-1], width)
        names = [ax.text(0.0, head, "", va="center", fontsize=font_for(ax), fontweight="bold") for head in heads]
        label = partial(self._label, ax, np.concatenate(places), names)
        label()
        plain_frame(ax, "bottom")
        ax.grid(axis="x", color=OTHER, alpha=0.4, linewidth=0.6)
        ax.set_axisbelow(True)
        n_ticks = int(np.clip(size_in_points(ax)[0] / 45.0, 2, 6))
        ax.xaxis.set_major_locator(MaxNLocator(n_ticks, steps=[1, 2, 2.5, 5, 10]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100.0 * x:g}%"))
        ax.tick_params(axis="x", labelsize=LARGEST)
        ax.set_xlabel("information lost", fontsize=LARGEST)
        sizes = " x ".join(str(partition.n_parts) for partition in self.partitions)
        n_merges = counted(sum(map(len, self.linkages)), "merge")
        finish(ax, f"{sizes} parts, {n_merges} to a single cell", label=label)
        return self

    def _places(self) -> tuple[list[NDArray[np.float64]], list[float]]:
        """Places of the parts of each variable, from the top, and those of the names of the variables."""
        places: list[NDArray[np.float64]] = []
        heads, at = [], 0.0
        for order in self.orders_:
            heads.append(at)
            places.append(at + HEAD + np.arange(len(order), dtype=np.float64))
            at = float(places[-1][-1]) + HEAD
        return places, heads

    def _label(self, ax: Axes, places: NDArray[np.float64], names: list[Text]) -> None:
        """Write the names of the parts, and of the variables as far as the axes have room."""
        label_rows(ax, places, self._labels)
        room = max(SHORTEST, int(size_in_points(ax)[0] / (BOLD * font_for(ax))))
        for text, name in zip(names, fitted([partition.name for partition in self.partitions], room), strict=True):
            text.set_text(name)

    def _labels(self, room: int) -> list[str]:
        labels = (part_labels(partition, room) for partition in self.partitions)
        return [names[i] for names, order in zip(labels, self.orders_, strict=True) for i in order]
