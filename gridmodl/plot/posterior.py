"""How likely each bound of a model of two intervals is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.plot.colours import OF_CLASSES
from gridmodl.plot.panes import LARGEST, axes_for, check_span, plain_frame
from gridmodl.plot.scales import scale_of
from gridmodl.plot.text import bound_words, drawn

if TYPE_CHECKING:
    from gridmodl.posterior import BoundPosterior

FEW = 200  # bounds that are drawn as single strokes


class PosteriorDisplay:
    """The probability of each bound, given that there are two intervals: a stroke for each, or an area where many are.

    Parameters
    ----------
    bounds : ndarray
        Bounds, ascending: numbers, dates or durations.
    posterior : ndarray of float
        The probability of each.
    name : str
        Of the column.
    is_utc : bool
        Whether bounds are instants of UTC.

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
        """What `gridmodl.bound_posterior` returned.

        Parameters
        ----------
        found : BoundPosterior
        name : str
            What to call the column, which the result does not know; nor does it know
        is_utc : bool
            whether the column had a time zone, so that its bounds are instants of UTC.
        """
        return cls(found.bounds, found.posterior, name, is_utc)

    def plot(self, ax: Axes | None = None, *, coverage: float = 1.0) -> PosteriorDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure.
        coverage : float
            Only the central bounds that hold so much of the probability, such as 0.999, where the others would take
            all the room.

        Returns
        -------
        PosteriorDisplay
            This one.
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
        """The most likely bounds in words: several, one next to the other, where labels cannot tell them apart."""
        if not len(self.bounds):
            return "no bound: one value"
        best = np.flatnonzero(self.posterior >= self.posterior.max() * (1.0 - 1e-9))
        where = " to ".join(bound_words(self.bounds[best[[0, -1]] if len(best) > 1 else best]))
        return f"most likely: {where}, probability {self.posterior[best].sum():.3g}"
