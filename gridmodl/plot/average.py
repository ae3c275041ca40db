"""The average over all partitions of a column: its curve and band, the best partition, and the rows, in one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.plot.axes import LARGEST, axes_for, check_span, label_columns, plain_frame, scale_of, size_in_points
from gridmodl.plot.style import INK, OF_CLASSES, PALE, drawn
from gridmodl.report.averages import Curve, curve_of

if TYPE_CHECKING:
    from gridmodl.averaging.record import Average

N_BINS = 50  # of the rows
ROOM = 0.16  # of the height that rows take


class AverageDisplay:
    """Probability of a class along a column: the average and its credible band, beside the best partition.

    Parameters
    ----------
    curve : Curve
        What is drawn; `from_average` makes it.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> average = gridmodl.average([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1])
    >>> display = gridmodl.plot.AverageDisplay.from_average(average).plot()
    >>> display.ax_.get_ylabel()
    'probability of 1'
    """

    ax_: Axes
    figure_: Any

    def __init__(self, curve: Curve) -> None:
        self.curve = curve

    @classmethod
    def from_average(cls, average: Average, *, label: Any = None, coverage: float = 0.9) -> AverageDisplay:
        """Display of an average.

        Parameters
        ----------
        average : Average
        label : optional
            The class whose probability is drawn; by default the event, or the last class.
        coverage : float
            Probability inside the credible band.
        """
        return cls(curve_of(average, label, coverage))

    def plot(self, ax: Axes | None = None) -> AverageDisplay:
        """Draw the curve, its band, the best partition and the rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        AverageDisplay
            The display itself.
        """
        ax = axes_for(ax, 6.4, 3.6)
        self.ax_, self.figure_ = ax, ax.figure
        curve, colour = self.curve, OF_CLASSES[0]
        scale = scale_of(curve.values, curve.is_utc)
        places = np.asarray(scale.places(curve.values), dtype=np.float64)
        if len(places):
            check_span(float(np.nanmin(places)), float(np.nanmax(places)))
            self._draw_rows(ax, places)
            ax.fill_between(
                places,
                curve.low,
                curve.high,
                color=colour,
                alpha=0.25,
                linewidth=0.0,
                label=f"{curve.coverage:.0%} band",
            )
            bounds = np.asarray(scale.places(curve.bounds), dtype=np.float64)
            edges = np.concatenate([places[:1], bounds, places[-1:]])
            ax.step(edges, np.append(curve.best, curve.best[-1:]), where="post", color=INK, linewidth=1.0,
                    linestyle="--", label="best partition")  # fmt: skip
            mark = "o" if curve.levels else None
            ax.plot(places, curve.shares, color=colour, linewidth=1.8, marker=mark, markersize=4.0, label="average")
            ax.legend(fontsize=LARGEST - 1, frameon=False)
        ax.set_ylim(-ROOM, 1.02)
        ax.set_yticks(np.linspace(0.0, 1.0, 6))
        plain_frame(ax, "left", "bottom")
        scale.name_axis(ax, drawn(curve.name))
        if curve.levels:
            label_columns(ax, places, [drawn(level, 24) for level in curve.levels], size_in_points(ax)[0])
        ax.set_ylabel(f"probability of {drawn(curve.label, 24)}")
        ax.set_title(self._title, fontsize=LARGEST + 1, loc="left")
        return self

    def _draw_rows(self, ax: Axes, places: NDArray[np.float64]) -> None:
        """Draw the number of rows along the column below the curve."""
        finite = np.isfinite(places)
        if not finite.any() or places[finite].min() == places[finite].max():
            return
        if self.curve.levels:
            heights = self.curve.rows / self.curve.rows.max() * (ROOM - 0.02)
            ax.bar(places, heights, 0.6, -ROOM, color=PALE, linewidth=0.0, label="rows")
            return
        rows, edges = np.histogram(places[finite], bins=N_BINS, weights=self.curve.rows[finite])
        heights = rows / max(1.0, rows.max()) * (ROOM - 0.02)
        ax.bar(edges[:-1], heights, np.diff(edges), -ROOM, align="edge", color=PALE, linewidth=0.0, label="rows")

    @property
    def _title(self) -> str:
        others = "" if not self.curve.apart else f"; {', '.join(self.curve.apart)}"
        return drawn(f"{self.curve.name}{others}", 80)
