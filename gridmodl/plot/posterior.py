"""Posterior probability of each bound of a model of two intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.plot.axes import LARGEST, axes_for, check_span, plain_frame, scale_of
from gridmodl.plot.style import OF_CLASSES, bound_words, drawn

if TYPE_CHECKING:
    from gridmodl.analysis.posterior import BoundPosterior

FEW = 200  # bounds up to which each is drawn as a stroke


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
        ax.set_ylabel("posterior probability")
        ax.set_title(self._title, fontsize=LARGEST + 1, loc="left")
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
