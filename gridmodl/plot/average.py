"""All partitions of a column: the curve and band of their average, and the probabilities of a single bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.plot.axes.labels import WHOLE, label_columns
from gridmodl.plot.axes.layout import LARGEST, LETTER, axes_for, finish, plain_frame, size_in_points
from gridmodl.plot.axes.scales import check_span, scale_of
from gridmodl.plot.style import INK, OF_CLASSES, PALE, bound_words, drawn
from gridmodl.report.averages import Curve, curve_of, ranked

if TYPE_CHECKING:
    from gridmodl.analysis.posterior import BoundPosterior
    from gridmodl.averaging.record import Average

N_BINS = 50  # of the rows
ROOM = 0.16  # of the height that rows take
MAX_TICKS = 8  # of an axis of ranks
FEW = 200  # bounds up to which each is drawn as a stroke


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
        curve, colour = ranked(self.curve), OF_CLASSES[0]
        scale = scale_of(curve.values, curve.is_utc)
        places = np.asarray(scale.places(curve.values), dtype=np.float64)
        entries: list[tuple[Any, str]] = []
        if len(places):
            check_span(float(np.nanmin(places)), float(np.nanmax(places)))
            rows = self._draw_rows(ax, places)
            band: Any
            if len(places) > 1:
                band = ax.fill_between(places, curve.low, curve.high, color=colour, alpha=0.25, linewidth=0.0)
            else:
                band = ax.vlines(places, curve.low, curve.high, color=colour, alpha=0.25, linewidth=4.0)
            bounds = np.asarray(scale.places(curve.bounds), dtype=np.float64)
            edges = np.concatenate([places[:1], bounds, places[-1:]])
            (best,) = ax.step(edges, np.append(curve.best, curve.best[-1:]), where="post", color=INK, linewidth=1.0,
                              linestyle="--")  # fmt: skip
            mark = "o" if curve.levels or len(places) == 1 else None
            (mean,) = ax.plot(places, curve.shares, color=colour, linewidth=1.8, marker=mark, markersize=4.0)
            entries = [(mean, "average"), (band, f"{curve.coverage:.0%} band"), (best, "best partition"), *rows]
        ax.set_ylim(-ROOM, 1.02)
        ax.set_yticks(np.linspace(0.0, 1.0, 6))
        plain_frame(ax, "left", "bottom")
        scale.name_axis(ax, drawn(curve.name) + (", by rank" if curve.ranks else ""))
        if curve.ranks:
            _label_ranks(ax, curve)
        label = None if not curve.levels else lambda: label_columns(ax, places, curve.levels, size_in_points(ax)[0])
        if label is not None:
            label()
        ax.set_ylabel(f"probability of {drawn(curve.label, 24)}", fontsize=LARGEST)
        finish(ax, self._title, entries, label=label)
        return self

    def _draw_rows(self, ax: Axes, places: NDArray[np.float64]) -> list[tuple[Any, str]]:
        """Draw the number of rows along the column below the curve; return the entry of the legend."""
        finite = np.isfinite(places)
        if not finite.any() or places[finite].min() == places[finite].max():
            return []
        if self.curve.levels:
            heights = self.curve.rows / self.curve.rows.max() * (ROOM - 0.02)
            return [(ax.bar(places, heights, 0.6, -ROOM, color=PALE, linewidth=0.0), "rows")]
        rows, edges = np.histogram(places[finite], bins=N_BINS, weights=self.curve.rows[finite])
        heights = rows / max(1.0, rows.max()) * (ROOM - 0.02)
        bars = ax.bar(edges[:-1], heights, np.diff(edges), -ROOM, align="edge", color=PALE, linewidth=0.0)
        return [(bars, "rows")]

    @property
    def _title(self) -> str:
        others = "" if not self.curve.apart else f"; {', '.join(self.curve.apart)}"
        return drawn(f"{self.curve.name}{others}", WHOLE)


def _label_ranks(ax: Axes, curve: Curve) -> None:
    """Write the values at some of the ranks, as many as have room."""
    longest = max(map(len, curve.ranks)) + 2
    n = int(np.clip(size_in_points(ax)[0] / (longest * LARGEST * LETTER), 2, MAX_TICKS))
    at = np.linspace(0, len(curve.ranks) - 1, n).round().astype(np.int64)
    ax.set_xticks(curve.values[at], [curve.ranks[i] for i in at.tolist()])


class PosteriorDisplay:
    """Probability of each bound, given that there are two intervals: a stroke each, or an area if there are many.

    Parameters
    ----------
    bounds : ndarray
        Bounds, ascending: numbers, dates or durations.
    posterior : ndarray of float
        Probability of each bound.
    name : str
        Name of the column.
    is_utc : bool
        Whether the bounds are moments in UTC.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> found = gridmodl.bound_posterior([1, 2, 3, 4, 5, 6], [0, 0, -1, -1, 1, 1], unlabelled=-1)
    >>> display = gridmodl.plot.PosteriorDisplay.from_posterior(found).plot()
    >>> display.ax_.get_ylabel()
    'posterior probability'
    """

    ax_: Axes
    figure_: Any

    def __init__(
        self, bounds: NDArray[Any], posterior: NDArray[np.float64], name: Any = "bound", is_utc: bool = False
    ) -> None:
        self.bounds, self.posterior = bounds, posterior
        self.name, self.is_utc = name, is_utc

    @classmethod
    def from_posterior(cls, found: BoundPosterior, name: Any = "bound", is_utc: bool = False) -> PosteriorDisplay:
        """Display of the result of `gridmodl.bound_posterior`.

        Parameters
        ----------
        found : BoundPosterior
        name : str
            Name of the column, which `found` does not hold.
        is_utc : bool
            Whether the column had a time zone, so that its bounds are moments in UTC; `found` does not hold it.
        """
        return cls(found.bounds, found.posterior, name, is_utc)

    def plot(self, ax: Axes | None = None, *, coverage: float = 1.0) -> PosteriorDisplay:
        """Draw the probabilities.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        coverage : float
            Share of the probability that the bounds shown hold, such as 0.999: central bounds only, if the tails would
            take most of the room.

        Returns
        -------
        PosteriorDisplay
            The display itself.
        """
        if not 0.0 < coverage <= 1.0:
            raise ValueError(f"coverage must be a share of the probability above 0 and up to 1, got {coverage!r}")
        ax = axes_for(ax, 6.4, 3.2)
        self.ax_, self.figure_ = ax, ax.figure
        central = self._central(coverage)
        scale = scale_of(self.bounds[central], self.is_utc)
        places = scale.places(self.bounds[central])
        if not np.isnan(places).all():
            check_span(float(np.nanmin(places)), float(np.nanmax(places)))
        heights, colour = self.posterior[central], OF_CLASSES[0]
        if len(places) <= FEW:
            ax.vlines(places, 0.0, heights, color=colour, linewidth=1.5)
            ax.plot(places, heights, "o", color=colour, markersize=4.0)
        else:
            ax.fill_between(places, heights, step="mid", color=colour, linewidth=0.0, alpha=0.4)
            ax.plot(places, heights, color=colour, linewidth=0.8, drawstyle="steps-mid")
        ax.set_ylim(bottom=0.0)
        plain_frame(ax, "left", "bottom")
        scale.name_axis(ax, drawn(self.name))
        ax.set_ylabel("posterior probability", fontsize=LARGEST)
        finish(ax, self._title)
        return self

    def _central(self, coverage: float) -> slice:
        below = np.cumsum(self.posterior)
        tail = (1.0 - coverage) / 2.0
        first = int(np.searchsorted(below, tail, side="right")) if coverage < 1.0 else 0
        last = int(np.searchsorted(below, 1.0 - tail)) if coverage < 1.0 else len(below)
        return slice(first, last + 1)

    @property
    def _title(self) -> str:
        """The most likely bound and its probability; the first and the last if several bounds are equally likely."""
        if not len(self.bounds):
            return "no bound: one value"
        best = np.flatnonzero(self.posterior >= self.posterior.max() * (1.0 - 1e-9))
        where = " to ".join(bound_words(self.bounds[best[[0, -1]] if len(best) > 1 else best]))
        return f"most likely: {where}, probability {self.posterior[best].sum():.3g}"
