"""New rows beside those of training: PSI of columns over periods, or shares and event rates of the parts of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.plot.axes import LARGEST, axes_for, label_columns, label_rows, legend_above, plain_frame, size_in_points
from gridmodl.plot.style import INK, OF_CLASSES, OTHER, PALE, PLAIN, drawn

if TYPE_CHECKING:
    from gridmodl.monitoring.record import Comparison

LANE = 0.3  # inches
MAX_LINES = 7  # columns drawn one by one over periods: more colours cannot be told apart
MAX_BARS = 40  # columns or parts drawn
WIDE, NARROW = 0.84, 0.42  # heights of bars then and now, in lanes


class DriftDisplay:
    """New rows beside those of training.

    Without `name`: the PSI of each column, over the periods if there are any, with the limit of a drift. With `name`:
    the share of the rows in each part then (wide bars) and now (narrow bars).

    Parameters
    ----------
    comparison : Comparison
        What `Model.compare` returns.
    name : str, optional
        A column, ``"cells"`` or ``"target"``.
    period : str, optional
        Label of a period whose shares are drawn; by default all new rows.

    Attributes
    ----------
    names : list of str
        What is drawn: columns, those of the largest PSI first, or parts.
    values : ndarray
        PSI of each column, by period; or the shares of each part, then and now.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.optimize({"size": [1, 2, 3, 7, 8, 9] * 20}, ["no"] * 3 * 20 + ["yes"] * 3 * 20)
    >>> found = model.compare({"size": [1, 8, 9] * 20})
    >>> gridmodl.plot.DriftDisplay(found).plot().names
    ['size']
    """

    ax_: Axes
    figure_: Any

    def __init__(self, comparison: Comparison, name: Name | None = None, *, period: str | None = None) -> None:
        self.comparison, self.name = comparison, name
        at = comparison._period(period)
        self.periods = comparison.periods[1:]
        self.title = "Population stability index (PSI) of columns"
        if name is None:
            order = sorted(comparison.all_parts, key=lambda one: -float(one.psi.max()))
            first = 1 if self.periods else 0
            self.names = [str(one.name) for one in order]
            self.values: NDArray[np.float64] = np.array([one.psi[first:] for one in order])
            return
        one = comparison[name]
        old, new = one.old_rows, one.new_rows[at]
        self.names = list(one.labels)
        self.values = np.stack([old / max(1, int(old.sum())), new / max(1, int(new.sum()))], axis=1)
        when = "" if at == 0 else f", {comparison.periods[at]}"
        self.title = f"{name}{when}: PSI {one.psi[at]:.3f} ({one.verdicts[at]})"

    def plot(self, ax: Axes | None = None) -> DriftDisplay:
        """Draw the comparison.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        DriftDisplay
            The display itself.
        """
        is_over_time = self.name is None and len(self.periods) > 0
        n = min(len(self.names), MAX_BARS)
        ax = axes_for(ax, 6.4, 3.8 if is_over_time else 1.4 + LANE * n)
        self.ax_, self.figure_ = ax, ax.figure
        if is_over_time:
            self._lines(ax)
        elif self.name is None:
            self._bars(ax, n)
        else:
            self._shares(ax, n)
        return self

    def _title(self, n: int) -> str:
        """Title, with how many are drawn if not all are."""
        cut = "" if n == len(self.names) else f", {n} of {len(self.names)}"
        return drawn(f"{self.title}{cut}", 80)

    def _lines(self, ax: Axes) -> None:
        """A line for each of the columns of the largest PSI, and pale ones for the others."""
        places = np.arange(len(self.periods), dtype=np.float64)
        for values in self.values[MAX_LINES:]:
            ax.plot(places, values, color=PALE, linewidth=0.8)
        entries = []
        for k, values in enumerate(self.values[:MAX_LINES]):
            (line,) = ax.plot(places, values, color=OF_CLASSES[k], linewidth=1.4, marker="o", markersize=3.0)
            entries.append((line, drawn(self.names[k], 24)))
        if len(self.names) > MAX_LINES:
            entries.append((ax.plot([], [], color=PALE, linewidth=0.8)[0], f"{len(self.names) - MAX_LINES} more"))
        limit = self.comparison.limits.threshold
        ax.axhline(limit, color=INK, linewidth=0.8, linestyle="--")
        ax.annotate("drift", (0.0, limit), xytext=(2, 2), textcoords="offset points", fontsize=LARGEST - 1, color=INK)
        ax.set_ylim(0.0, max(float(self.values.max()), limit) * 1.1)
        ax.set_xlim(-0.5, len(places) - 0.5)
        label_columns(ax, places, [drawn(period, 16) for period in self.periods], size_in_points(ax)[0])
        legend_above(ax, entries, drawn(self.title, 80))
        plain_frame(ax, "left", "bottom")
        ax.set_ylabel("PSI")

    def _bars(self, ax: Axes, n: int) -> None:
        """A bar for each column, without periods."""
        limit, psi, places = self.comparison.limits.threshold, self.values[:n, 0], np.arange(n, dtype=np.float64)
        ax.barh(places, psi, height=WIDE, color=np.where(psi >= limit, OF_CLASSES[3], PLAIN))
        ax.axvline(limit, color=INK, linewidth=0.8, linestyle="--")
        ax.set_ylim(n - 0.5, -0.5)
        label_rows(ax, places, [drawn(name) for name in self.names[:n]])
        plain_frame(ax, "bottom")
        ax.set_title(self._title(n), fontsize=LARGEST + 1, loc="left")
        ax.set_xlabel("PSI")

    def _shares(self, ax: Axes, n: int) -> None:
        """Two bars for each part."""
        places = np.arange(n, dtype=np.float64)
        then = ax.barh(places, self.values[:n, 0], height=WIDE, color=OTHER, alpha=0.6)
        now = ax.barh(places, self.values[:n, 1], height=NARROW, color=OF_CLASSES[0])
        ax.set_ylim(n - 0.5, -0.5)
        label_rows(ax, places, [drawn(name) for name in self.names[:n]])
        plain_frame(ax, "bottom")
        legend_above(ax, [(then, "training"), (now, "new rows")], self._title(n))
        ax.set_xlabel("share of the rows")
