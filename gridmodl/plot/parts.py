"""The parts of one variable: shares of the classes in each, and its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.frames import Name
from gridmodl.partition import Partition
from gridmodl.plot.colours import INK, OF_CLASSES, ink_on, shares_of, shown_classes
from gridmodl.plot.lanes import BAR, draw_rows, height_for, lane_places, open_lanes, rows_bars
from gridmodl.plot.panes import LARGEST, axes_for, fitting_font, label_rows, legend_above, size_in_points
from gridmodl.plot.sources import check_model, model_of, named
from gridmodl.plot.text import part_labels, title_of

if TYPE_CHECKING:
    from gridmodl.model import Model

LEAST = 0.09  # share of a class that is written into its bar


class PartsDisplay:
    """The parts of one variable, a lane for each: the shares of the classes in it, and its rows.

    Intervals come in ascending order from the top, with the parts of missing values and of special codes apart from
    them. Rows without a class are paler, and are in no share. Without classes, and where the target is partitioned too,
    there are rows only; `TargetDisplay` has the target.

    Parameters
    ----------
    partition : Partition
        The parts.
    classes : array-like
        The classes that its counts are of; empty where there are none.
    level : float, optional
        How much the parts explain, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the shares are drawn.
    rows_ax_ : matplotlib Axes
        Where the rows are drawn: inside of ``ax_``, or ``ax_`` itself where there are only rows.
    figure_ : matplotlib Figure
    bars_ : list of BarContainer
        Of each class that is shown, the bars of its shares; NaN wide where a part has no rows with a class.

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.optimize([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], ["no", "no", "no", "yes", "yes", "yes"])
    >>> display = gridmodl.plot.PartsDisplay.from_model(model).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    [']-inf, 5.0]', ']5.0, inf[']
    """

    ax_: Axes
    rows_ax_: Axes
    figure_: Any
    bars_: list[Any]

    def __init__(self, partition: Partition, classes: Any = (), level: float | None = None) -> None:
        self.partition = partition
        self.classes = np.asarray(classes)
        self.level = level

    @classmethod
    def from_model(cls, model: Model, name: Name | None = None) -> PartsDisplay:
        """The parts of a variable of a model.

        Parameters
        ----------
        model : Model
        name : str, optional
            The column, or the target where it is partitioned too; may be left out where the model has one column.
        """
        check_model(model)
        is_column = name is not None and name not in model.partitions and name in model.all_partitions
        partition = model.partition(name) if is_column else named(dict(model.partitions), name, "column")
        classes = model.classes if partition.n_values is None else ()
        return cls(partition, classes, model.level if len(model.partitions) == 1 else None)

    @classmethod
    def from_estimator(cls, estimator: Any, name: Name | None = None) -> PartsDisplay:
        """The parts of a column of a fitted estimator, such as `GridDiscretizer`.

        Parameters
        ----------
        estimator : GridDiscretizer, GridNaiveBayes, GridClassifier, GridEnsembleClassifier or GridCoclustering
        name : str, optional
            The column; may be left out where there is one.
        """
        if getattr(estimator, "target_kind_", "") is None:  # a discretizer that had no target: densities, or values
            return cls(named(estimator.partitions_, name, "column"))
        return cls.from_model(model_of(estimator, name), name)

    def plot(self, ax: Axes | None = None, *, max_classes: int = len(OF_CLASSES)) -> PartsDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure that is as high as the parts need.
        max_classes : int
            At most so many classes have a colour, up to 8: the largest, and one for all others together.

        Returns
        -------
        PartsDisplay
            This one.
        """
        partition, places = self.partition, lane_places(self.partition)
        ax = axes_for(ax, 7.0, height_for(places))
        open_lanes(ax, places, 0.0, 1.0)
        label_rows(ax, places, part_labels(partition))
        self.ax_, self.figure_, self.rows_ax_, self.bars_ = ax, ax.figure, ax, []
        names: list[str] = []
        labelled = partition.counts.sum(axis=1)
        if len(self.classes):
            shown = shown_classes(partition.counts, self.classes, max_classes)
            names = shown.names
            self.bars_ = draw_shares(ax, places, shares_of(shown.counts), shown.colours)
            self.rows_ax_, of_rows = draw_rows(ax, places, labelled, partition.unlabelled)
        else:
            of_rows = rows_bars(ax, places, labelled, partition.unlabelled)
        unlabelled = [(bars, "rows without a class") for bars in of_rows[1:]]
        legend_above(ax, [*zip(self.bars_, names, strict=True), *unlabelled], title_of(self.partition, self.level))
        return self


def draw_shares(
    ax: Axes, places: NDArray[np.float64], shares: NDArray[np.float64], colours: list[str], height: float = BAR
) -> list[Any]:
    """Bars of the classes side by side in each lane, with their shares written into them where there is room."""
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
