"""A scorecard: the points of the parts of each column; and the distribution of the score in both classes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.model.names import MAX_NAME, MIN_VALUE, names_of
from gridmodl.plot.axes.labels import label_rows
from gridmodl.plot.axes.lanes import lanes_within
from gridmodl.plot.axes.layout import (
    INCH,
    LARGEST,
    LETTER,
    axes_for,
    finish,
    fitting_font,
    font_for,
    plain_frame,
    size_in_points,
)
from gridmodl.plot.style import INK, OF_CLASSES, PLAIN, fitted

if TYPE_CHECKING:
    from gridmodl.scorecard.cutoffs import Cutoffs
    from gridmodl.scorecard.record import Scorecard

LANE = 0.34  # inches
LARGEST_DOT, SMALLEST_DOT = 160.0, 12.0  # square points
ENDS = 0.55  # room on each side for names of parts, as a share of the range of points
FEWEST_LETTERS = 12  # of such a name; where there is less room it is left out


class ScorecardDisplay:
    """Points of the parts of each column, the largest range first: a dot for each part, as large as its rows, with the
    names of the parts of the fewest and the most points.

    Parameters
    ----------
    card : Scorecard
        The scorecard.
    max_columns : int
        Number of columns that are drawn.

    Attributes
    ----------
    names : list
        The columns that are drawn.
    points : list of ndarray
        Points of the parts of each.
    shares : list of ndarray
        Share of the rows in each part.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> data = [[i % 10, i % 3] for i in range(200)]
    >>> card = gridmodl.GridScorecard().fit(data, [row[0] > 4 for row in data]).scorecard_
    >>> gridmodl.plot.ScorecardDisplay(card).plot().names
    ['x0']
    """

    ax_: Axes
    figure_: Any

    def __init__(self, card: Scorecard, *, max_columns: int = 20) -> None:
        if max_columns < 1:
            raise ValueError(f"max_columns must be 1 or more, got {max_columns!r}")
        points = {name: card.points_of(name) for name in card.models}
        self.card = card
        self.names = sorted(points, key=lambda name: -np.ptp(points[name]))[:max_columns]
        self.points: list[NDArray[np.float64]] = [points[name] for name in self.names]
        rows = [card.partition(name).rows for name in self.names]
        self.shares: list[NDArray[np.float64]] = [one / max(1, int(one.sum())) for one in rows]

    def plot(self, ax: Axes | None = None) -> ScorecardDisplay:
        """Draw a line of dots for each column.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, as many columns as have room for their names; by default a new figure.

        Returns
        -------
        ScorecardDisplay
            The display itself.
        """
        n = lanes_within(ax, len(self.names))
        ax = axes_for(ax, 6.4, 1.2 + LANE * max(1, n))
        self.ax_, self.figure_ = ax, ax.figure
        places = np.arange(n, dtype=np.float64)
        largest = min(LARGEST_DOT, (size_in_points(ax)[1] / max(1, n)) ** 2)  # no higher than its lane
        for place, points, shares in zip(places, self.points[:n], self.shares[:n], strict=True):
            ax.plot([points.min(), points.max()], [place, place], color=PLAIN, linewidth=1.5, zorder=1)
            ax.scatter(
                points, np.full(len(points), place), s=SMALLEST_DOT + largest * shares, color=OF_CLASSES[0],
                edgecolor="white", linewidth=0.6, zorder=2,
            )  # fmt: skip
        ax.axvline(0.0, color=INK, linewidth=0.8, zorder=0)
        ax.set_ylim(max(1, n) - 0.5, -0.5)
        label = partial(self._label, ax, places)
        label()
        plain_frame(ax, "bottom")
        ax.set_xlabel("points of the parts; dots as large as their rows", fontsize=LARGEST)
        n_all = len(self.card.models)
        cut = "" if n == n_all else f"; {n} of {n_all} columns, those of the largest range"
        finish(ax, f"base {self.card.base:.4g} points{cut}", label=label)
        return self

    def _label(self, ax: Axes, places: NDArray[np.float64]) -> None:
        label_rows(ax, places, [str(name) for name in self.names[: len(places)]])
        for text in list(ax.texts):
            text.remove()
        self._name_ends(ax, places)

    def _name_ends(self, ax: Axes, places: NDArray[np.float64]) -> None:
        """Write the names of the parts of the fewest and the most points beside their dots, where lanes leave room."""
        width, height = ax.get_window_extent().width * INCH / ax.figure.dpi, size_in_points(ax)[1]
        size = fitting_font(0.8 * height / max(1, len(places)), font_for(ax) - 0.5)
        if size is None or not len(places):
            return
        every = np.concatenate(self.points[: len(places)])
        low, high = min(0.0, float(every.min())), max(0.0, float(every.max()))
        beyond = ENDS * ((high - low) or 1.0)
        low, high = ax.set_xlim(low - beyond, high + beyond)
        letters = width / (high - low) / (size * LETTER)  # for each point of the scale
        for place, name, points, shares in zip(places, self.names, self.points, self.shares, strict=False):
            ends = (int(points.argmin()), int(points.argmax()))
            room = int(letters * min(points.min() - low, high - points.max())) - 2
            if room < FEWEST_LETTERS:
                continue
            names = names_of(self.card.partition(name), max(MIN_VALUE, min(MAX_NAME, room)))
            texts = fitted([names[i] for i in ends], room)
            for i, text, side in zip(ends, texts, (-1.0, 1.0), strict=True):
                away = 3.0 + (SMALLEST_DOT + LARGEST_DOT * float(shares[i])) ** 0.5 / 2.0
                ax.annotate(
                    text, (float(points[i]), float(place)), xytext=(side * away, 0.0), textcoords="offset points",
                    ha="right" if side < 0 else "left", va="center", fontsize=size, color=INK,
                )  # fmt: skip


class ScoresDisplay:
    """Distribution of the score in the rows of the event and in the others, and where they differ most.

    Parameters
    ----------
    cutoffs : Cutoffs
        What `Scorecard.cutoffs` returned.
    bins : int
        Number of bars.

    Attributes
    ----------
    edges : ndarray
        Ends of the bars.
    events : ndarray
        Share of the rows of the event in each bar.
    rest : ndarray
        Share of the other rows.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> data = [[i % 10, i % 3] for i in range(200)]
    >>> y = [row[0] > 4 for row in data]
    >>> card = gridmodl.GridScorecard().fit(data, y).scorecard_
    >>> gridmodl.plot.ScoresDisplay(card.cutoffs(data, y)).plot().ax_.get_xlabel()
    'score'
    """

    ax_: Axes
    figure_: Any

    def __init__(self, cutoffs: Cutoffs, *, bins: int = 40) -> None:
        if bins < 1:
            raise ValueError(f"bins must be 1 or more, got {bins!r}")
        self.cutoffs = cutoffs
        low, high = float(cutoffs.scores[0]), float(cutoffs.scores[-1])
        self.edges: NDArray[np.float64] = np.linspace(low, high if high > low else low + 1.0, bins + 1)
        self.events, self.rest = (
            np.histogram(cutoffs.scores, self.edges, weights=rows)[0] / max(1e-300, float(rows.sum()))
            for rows in (cutoffs.events, cutoffs.rest)
        )

    def plot(self, ax: Axes | None = None) -> ScoresDisplay:
        """Draw both distributions, and a line at the score that tells the classes apart best.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        ScoresDisplay
            The display itself.
        """
        ax = axes_for(ax, 6.4, 3.6)
        self.ax_, self.figure_ = ax, ax.figure
        entries: list[tuple[Any, str]] = []
        for shares, colour, label in ((self.rest, OF_CLASSES[0], "rest"), (self.events, OF_CLASSES[3], "event")):
            ax.stairs(shares, self.edges, color=colour, fill=True, alpha=0.35)
            entries.append((ax.stairs(shares, self.edges, color=colour, linewidth=1.5), label))
        if np.isfinite(self.cutoffs.best):
            ax.axvline(self.cutoffs.best, color=INK, linewidth=0.8, linestyle="--")
        plain_frame(ax, "bottom", "left")
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel("score", fontsize=LARGEST)
        ax.set_ylabel("share of the rows of the class", fontsize=LARGEST)
        finish(ax, f"Gini {self.cutoffs.gini:.3f}, KS {self.cutoffs.ks:.3f} at {self.cutoffs.best:.4g}", entries)
        return self
