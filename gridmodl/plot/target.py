"""A target that is partitioned too, in each part of a column: shares of its groups, or quantiles of its numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from numpy.typing import NDArray

from gridmodl.model.counts import part_counts, quantiles_of_parts, table_information
from gridmodl.model.partition import Partition
from gridmodl.plot.axes.labels import label_rows
from gridmodl.plot.axes.lanes import BAR, draw_rows, height_for, inner_ticks, lane_places, open_lanes
from gridmodl.plot.axes.layout import LARGEST, axes_for, finish
from gridmodl.plot.axes.maps import (
    CellEdges,
    bar_beside,
    draw_empty,
    draw_map,
    even_edges,
    height_of_map,
    label_map,
    name_sides,
    open_map,
    width_of_map,
    write_cells,
)
from gridmodl.plot.axes.scales import check_span
from gridmodl.plot.sources import check_model, model_of
from gridmodl.plot.style import INK, OF_CLASSES, PALE, SHARES, drawn, part_labels, percent, shares_of, title_of
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.data.frames import Name
    from gridmodl.model.model import Model


class TargetDisplay:
    """A target that was partitioned together with a column, in each part of the column.

    For grouped classes: a map of the share of each group, in percent. For a numerical target: a box for each part from
    the 25 % to the 75 % quantile, a line from the 5 % to the 95 % quantile, a stroke at the median and a dot at the
    mean; dotted lines are the bounds of the target.

    Parameters
    ----------
    partition : Partition
        The parts of the column.
    target : Partition
        The groups of classes, or the intervals of the target.
    counts : ndarray of shape (parts of the column, parts of the target)
        Rows of each pair of parts.
    means : ndarray, optional
        Mean of a numerical target in each part of the column; NaN where a part has no rows.
    quantiles : ndarray of shape (parts of the column, 5), optional
        Quantiles of a numerical target at 5, 25, 50, 75 and 95 %.
    level : float, optional
        Level of the model, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    rows_ax_ : matplotlib Axes
        Axes of the rows; only with a numerical target.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> sizes = list(range(40))
    >>> prices = [(100.0 if size < 20 else 300.0) + size % 4 for size in sizes]
    >>> model = gridmodl.optimize(sizes, prices, target_kind="numerical")
    >>> display = gridmodl.plot.TargetDisplay.from_model(model).plot()
    >>> display.means.round(6).tolist()
    [101.5, 301.5]
    """

    ax_: Axes
    rows_ax_: Axes
    figure_: Any

    def __init__(
        self,
        partition: Partition,
        target: Partition,
        counts: NDArray[np.int64],
        means: NDArray[np.float64] | None = None,
        quantiles: NDArray[np.float64] | None = None,
        level: float | None = None,
    ) -> None:
        self.partition, self.target, self.counts = partition, target, counts
        self.means, self.quantiles, self.level = means, quantiles, level

    @classmethod
    def from_model(cls, model: Model, name: Name | None = None) -> TargetDisplay:
        """The target in the parts of a column of a model.

        Parameters
        ----------
        model : Model
            With grouped classes or a numerical target.
        name : str, optional
            The column; by default the one with the most information on the target. Rows are summed over all others,
            and quantiles are then approximate.
        """
        check_model(model)
        if model.target is None:
            raise ValueError(
                f"this model ({model.problem}) has no target that is partitioned too, as target_kind='grouped' and "
                "'numerical' give; see PartsDisplay and GridDisplay"
            )
        partition = _most_informative(model) if name is None else model.partitions.get(name)
        if partition is None:
            known = ", ".join(map(repr, model.partitions))
            raise ValueError(
                f"name must be one of the columns {known}, got {name!r}{did_you_mean(name, model.partitions)}"
            )
        counts = part_counts(model, partition)
        level = model.level if len(model.partitions) == 1 else None
        if model._target_quantiles is None:
            return cls(partition, model.target, counts, level=level)
        has_rows = counts.sum(axis=1) > 0
        statistics = quantiles_of_parts(model, partition)
        means = np.where(has_rows, statistics.means[:-1], np.nan)
        quantiles = np.where(has_rows[:, None], statistics.boxes(), np.nan)
        return cls(partition, model.target, counts, means, quantiles, level)

    @classmethod
    def from_estimator(cls, estimator: Any, name: Name | None = None) -> TargetDisplay:
        """The target in the parts of a column of a fitted estimator.

        Parameters
        ----------
        estimator : GridDiscretizer or GridNaiveBayes
            Fitted with grouped classes or a numerical target.
        name : str, optional
            The column; optional if there is only one.
        """
        return cls.from_model(model_of(estimator, name))

    def plot(self, ax: Axes | None = None) -> TargetDisplay:
        """Draw the target.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as large as the parts need.

        Returns
        -------
        TargetDisplay
            The display itself.
        """
        self.ax_ = self._plot_groups(ax) if self.means is None else self._plot_numbers(ax)
        self.figure_ = self.ax_.figure
        return self

    def _plot_groups(self, ax: Axes | None) -> Axes:
        """Draw a map: groups below, parts of the column from the top."""
        width = width_of_map(self.target.n_parts, part_labels(self.partition))
        ax = axes_for(ax, width, height_of_map(self.partition.n_parts, part_labels(self.target)))
        edges = CellEdges(even_edges(self.target.n_parts), even_edges(self.partition.n_parts))
        labels = partial(part_labels, self.target), partial(part_labels, self.partition)
        open_map(ax, edges)
        ax.invert_yaxis()
        label = partial(label_map, ax, edges, *labels)
        label()
        name_sides(ax, f"{drawn(self.target.name)}: groups of classes", drawn(self.partition.name))
        shares = shares_of(self.counts)
        norm, palette = Normalize(0.0, max(0.01, float(np.nanmax(shares)))), colormaps[SHARES]
        entries = draw_empty(ax, edges, np.isnan(shares))
        bar_beside(ax, draw_map(ax, edges, shares, palette, norm), "share of the part's rows")
        texts = [["" if np.isnan(share) else percent(share) for share in row] for row in shares.tolist()]
        finish(ax, title_of(self.partition, self.level), entries, label=label)
        write_cells(ax, edges, texts, lambda i, j: palette(norm(shares[i, j])))
        return ax

    def _plot_numbers(self, ax: Axes | None) -> Axes:
        """Draw boxes: the target from left to right, parts of the column from the top."""
        assert self.quantiles is not None  # noqa: S101  for mypy
        assert self.means is not None  # noqa: S101
        places = lane_places(self.partition)
        ax = axes_for(ax, 7.0, height_for(places))
        low, high = _range(self.quantiles, self.means)
        open_lanes(ax, places, low, high)
        label = partial(label_rows, ax, places, partial(part_labels, self.partition))
        label()
        ax.set_xticks(inner_ticks(ax, low, high))
        entries = _draw_boxes(ax, places, self.quantiles, self.means)
        bounds = self.target.bounds[(self.target.bounds > low) & (self.target.bounds < high)]
        for bound in bounds:
            ax.axvline(bound, color=INK, linewidth=0.7, linestyle=":", zorder=0)
        dotted = "; dotted: bounds of its parts" if len(bounds) else ""
        ax.set_xlabel(f"{drawn(self.target.name)}{dotted}", fontsize=LARGEST, loc="left")
        self.rows_ax_, _ = draw_rows(ax, places, self.counts.sum(axis=1))
        finish(ax, title_of(self.partition, self.level), entries, label=label)
        return ax


def _most_informative(model: Model) -> Partition:
    """The column whose parts tell the most about those of the target; ties: the first."""
    return max(model.partitions.values(), key=lambda partition: table_information(part_counts(model, partition)))


def _range(quantiles: NDArray[np.float64], means: NDArray[np.float64]) -> tuple[float, float]:
    """Range of the boxes and means, with a small margin."""
    low = float(np.nanmin([np.nanmin(quantiles), np.nanmin(means)]))
    high = float(np.nanmax([np.nanmax(quantiles), np.nanmax(means)]))
    check_span(low, high)
    margin = 0.02 * (high - low) or 0.5
    return low - margin, high + margin


def _draw_boxes(
    ax: Axes, places: NDArray[np.float64], quantiles: NDArray[np.float64], means: NDArray[np.float64]
) -> list[tuple[Any, str]]:
    """Draw a box of quantiles in each lane; return the entries of the legend."""
    lowest, low, middle, high, highest = quantiles.T
    whiskers = ax.hlines(places, lowest, highest, color=INK, linewidth=1.0)
    boxes = ax.barh(places, high - low, 0.7 * BAR, low, color=PALE, edgecolor=INK, linewidth=0.8)
    medians = ax.vlines(middle, places - 0.35 * BAR, places + 0.35 * BAR, color=INK, linewidth=1.8)
    (dots,) = ax.plot(means, places, "o", color=OF_CLASSES[3], markersize=4.0, zorder=3)
    return [(whiskers, "5% to 95%"), (boxes, "25% to 75%"), (medians, "median"), (dots, "mean")]
