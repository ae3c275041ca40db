"""The parts of one variable: shares of classes, and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.partition import Partition
from gridmodl.plot.axes import (
    BAR,
    LARGEST,
    axes_for,
    draw_rows,
    fitting_font,
    height_for,
    label_rows,
    lane_places,
    legend_above,
    open_lanes,
    rows_bars,
    size_in_points,
)
from gridmodl.plot.sources import check_model, model_of, named
from gridmodl.plot.style import INK, OF_CLASSES, PALETTE, class_names, ink_on, part_labels, shares_of, title_of
from gridmodl.report.pictures import shown_classes

if TYPE_CHECKING:
    from gridmodl.model.model import Model

LEAST = 0.09  # smallest share that is written into its bar


class PartsDisplay:
    """The parts of one variable, a lane each: shares of classes, and rows.

    Intervals ascend from the top, with the parts of missing values and of special codes apart from them. Unlabelled
    rows are paler and do not count in shares. Without classes, and if the target is partitioned too, only rows are
    drawn; see `TargetDisplay` for the target.

    Parameters
    ----------
    partition : Partition
        The parts.
    classes : array-like
        Classes of the counts of the partition; empty if there are none.
    level : float, optional
        Level of the model, for the title.
    event : int, optional
        Number of the event among the classes, which the axis of the shares names.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the shares.
    rows_ax_ : matplotlib Axes
        Axes of the rows: inside ``ax_``, or ``ax_`` itself if only rows are drawn.
    figure_ : matplotlib Figure
    bars_ : list of BarContainer
        Bars of the shares of each class shown; of width NaN where a part has no labelled rows.

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.optimize([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], ["no", "no", "no", "yes", "yes", "yes"])
    >>> display = gridmodl.plot.PartsDisplay.from_model(model).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['(-inf, 5.0]', '(5.0, inf)']
    """

    ax_: Axes
    rows_ax_: Axes
    figure_: Any
    bars_: list[Any]

    def __init__(
        self, partition: Partition, classes: Any = (), level: float | None = None, event: int | None = None
    ) -> None:
        self.partition = partition
        self.classes = np.asarray(classes)
        self.level = level
        self.event = event

    @classmethod
    def from_model(cls, model: Model, name: Name | None = None) -> PartsDisplay:
        """The parts of a variable of a model.

        Parameters
        ----------
        model : Model
        name : str, optional
            The column, or the target if it is partitioned too; optional if the model has one column.
        """
        check_model(model)
        is_column = name is not None and name not in model.partitions and name in model.all_partitions
        partition = model.partition(name) if is_column else named(dict(model.partitions), name, "column")
        classes = model.classes if partition.n_values is None else ()
        level = model.level if len(model.partitions) == 1 else None
        return cls(partition, classes, level, model.event_index if len(classes) and model.has_one_event else None)

    @classmethod
    def from_estimator(cls, estimator: Any, name: Name | None = None) -> PartsDisplay:
        """The parts of a column of a fitted estimator, such as `GridDiscretizer`.

        Parameters
        ----------
        estimator : GridDiscretizer, GridNaiveBayes, GridClassifier, GridEnsembleClassifier or GridCoclustering
        name : str, optional
            The column; optional if there is only one.
        """
        if getattr(estimator, "target_kind_", "") is None:  # a discretizer without target: densities, or values
            return cls(named(estimator.partitions_, name, "column"))
        return cls.from_model(model_of(estimator, name), name)

    def plot(self, ax: Axes | None = None, *, max_classes: int = len(OF_CLASSES)) -> PartsDisplay:
        """Draw the parts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as high as the parts need.
        max_classes : int
            Largest number of colours, up to 8: one for each of the largest classes, the last for all others together.

        Returns
        -------
        PartsDisplay
            The display itself.
        """
        partition, places = self.partition, lane_places(self.partition)
        ax = axes_for(ax, 7.0, height_for(places))
        open_lanes(ax, places, 0.0, 1.0)
        label_rows(ax, places, part_labels(partition))
        self.ax_, self.figure_, self.rows_ax_, self.bars_ = ax, ax.figure, ax, []
        names: list[str] = []
        labelled = partition.counts.sum(axis=1)
        if len(self.classes):
            shown = shown_classes(
                partition.counts, class_names(self.classes), PALETTE, min(max_classes, len(OF_CLASSES))
            )
            names = shown.names
            self.bars_ = draw_shares(ax, places, shares_of(shown.counts), shown.colours)
            if self.event is not None:
                what = f"share of each class; event: {class_names(self.classes)[self.event]}"
                ax.set_xlabel(what, fontsize=LARGEST, loc="left")
            self.rows_ax_, of_rows = draw_rows(ax, places, labelled, partition.unlabelled)
        else:
            of_rows = rows_bars(ax, places, labelled, partition.unlabelled)
        unlabelled = [(bars, "rows without a class") for bars in of_rows[1:]]
        legend_above(ax, [*zip(self.bars_, names, strict=True), *unlabelled], title_of(self.partition, self.level))
        return self


def draw_shares(
    ax: Axes, places: NDArray[np.float64], shares: NDArray[np.float64], colours: list[str], height: float = BAR
) -> list[Any]:
    """Draw bars of the classes side by side in each lane, with their shares written into them if there is room."""
    begins = np.nan_to_num(np.cumsum(shares, axis=1) - shares)
    size = fitting_font(height * size_in_points(ax)[1] / abs(np.subtract(*ax.get_ylim())))
    bars = []
    for j, colour in enumerate(colours):
        bars.append(ax.barh(places, shares[:, j], height, begins[:, j], color=colour, edgecolor="white", linewidth=0.5))
        for i in np.flatnonzero(shares[:, j] >= LEAST).tolist() if size else []:
            middle = begins[i, j] + shares[i, j] / 2.0
            ax.text(
                middle, places[i], f"{shares[i, j]:.0%}",
                ha="center", va="center", fontsize=min(8.0, size or 0.0), color=ink_on(colour),
            )  # fmt: skip
    for i in np.flatnonzero(np.isnan(shares).any(axis=1)).tolist():
        ax.text(0.01, places[i], "no rows with a class", va="center", fontsize=size or LARGEST, color=INK)
    ax.set_xticks([0.0, 0.5, 1.0], ["0%", "50%", "100%"])
    ax.set_xlabel("share of each class", fontsize=LARGEST, loc="left")
    return bars
