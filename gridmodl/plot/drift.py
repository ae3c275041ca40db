"""New rows beside those of training: PSI of columns over periods, or shares and event rates of the parts of one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.plot.axes.labels import WHOLE, label_columns, label_rows
from gridmodl.plot.axes.lanes import lanes_within
from gridmodl.plot.axes.layout import LARGEST, axes_for, finish, plain_frame, size_in_points
from gridmodl.plot.cells import SHORT_NAME, cell_labels, variables_of
from gridmodl.plot.style import INK, OF_CLASSES, OTHER, PALE, PLAIN, ROOM, drawn, fitted

if TYPE_CHECKING:
    from gridmodl.monitoring.record import Comparison

LANE = 0.3  # inches
WIDTH = 7.0  # inches, of a new figure
ONE_LINE = 36  # characters of a label for which a lane of the usual height is enough
MAX_LINES = 7  # columns drawn one by one over periods: more colours cannot be told apart
MAX_BARS = 40  # columns or parts drawn
ABOVE = 1.3  # end of the axis, in limits, which leaves room for its name
WIDE, NARROW = 0.84, 0.42  # heights of bars then and now, in lanes


class DriftDisplay:
    """New rows beside those of training.

    Without `name`: the PSI of each column, over the periods if there are any, with the limit of a drift. With `name`:
    the share of the rows in each part then (wide bars) and now (narrow bars); of many cells, the largest then or now.

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
        self._variables: tuple[str, ...] = ()
        self._cells: list[list[str]] = []
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
        self._variables, self._cells = one.variables, one.cells
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
        if self.name is None or self._variables:  # neighbours tell what parts without a name are
            n = lanes_within(ax, n)
        self._shown = np.arange(n)
        if self._variables and n < len(self.names):
            self._shown = np.sort(np.argsort(-self.values.max(axis=1), kind="stable")[:n])
        lines = 1.0 + 0.5 * min(2, max(map(len, self._labels(WHOLE)), default=0) // ONE_LINE)
        ax = axes_for(ax, WIDTH, 3.8 if is_over_time else 1.4 + lines * LANE * n)
        self.ax_, self.figure_ = ax, ax.figure
        if is_over_time:
            self._lines(ax)
        elif self.name is None:
            self._bars(ax, n)
        else:
            self._shares(ax)
        return self

    @property
    def _shown_cells(self) -> list[list[str]]:
        return [self._cells[i] for i in self._shown.tolist() if i < len(self._cells)]

    def _labels(self, room: int) -> list[str]:
        """Labels of the columns, parts or cells that are drawn; cells are labelled by their parts."""
        of_cells = cell_labels(self._shown_cells, room) if self._variables else []
        return [*of_cells, *fitted([self.names[i] for i in self._shown[len(of_cells) :].tolist()], room)]

    @property
    def _titles(self) -> list[str]:
        """Title, with how many are drawn if not all are, and the variables of cells; a shorter one for small axes."""
        n, largest = len(self._shown), "the largest " if self._variables else ""
        cut = "" if n == len(self.names) else f", {largest}{n} of {len(self.names)}"
        begin = drawn(f"{self.title}{cut}", WHOLE)
        if not self._variables:
            return [begin]
        return [f"{begin}{variables_of(self._variables, self._shown_cells, room)}" for room in (ROOM, SHORT_NAME)]

    def _lines(self, ax: Axes) -> None:
        """A line for each of the columns of the largest PSI, and pale ones for the others."""
        places = np.arange(len(self.periods), dtype=np.float64)
        for values in self.values[MAX_LINES:]:
            ax.plot(places, values, color=PALE, linewidth=0.8)
        entries = []
        for k, values in enumerate(self.values[:MAX_LINES]):
            (line,) = ax.plot(places, values, color=OF_CLASSES[k], linewidth=1.4, marker="o", markersize=3.0)
            entries.append((line, self.names[k]))
        if len(self.names) > MAX_LINES:
            entries.append((ax.plot([], [], color=PALE, linewidth=0.8)[0], f"{len(self.names) - MAX_LINES} more"))
        limit = self.comparison.limits.threshold
        ax.axhline(limit, color=INK, linewidth=0.8, linestyle="--")
        ax.annotate("drift", (0.0, limit), xytext=(2, 2), textcoords="offset points", fontsize=LARGEST - 1, color=INK)
        ax.set_ylim(0.0, max(1.1 * float(self.values.max()), ABOVE * limit))
        ax.set_xlim(-0.5, len(places) - 0.5)
        label = partial(self._label_periods, ax, places)
        label()
        plain_frame(ax, "left", "bottom")
        ax.set_ylabel("PSI", fontsize=LARGEST)
        ax.set_xlabel("period", fontsize=LARGEST)
        finish(ax, drawn(self.title, WHOLE), entries, label=label)

    def _label_periods(self, ax: Axes, places: NDArray[np.float64]) -> None:
        label_columns(ax, places, self.periods, size_in_points(ax)[0])

    def _bars(self, ax: Axes, n: int) -> None:
        """A bar for each column, without periods."""
        limit, psi, places = self.comparison.limits.threshold, self.values[:n, 0], np.arange(n, dtype=np.float64)
        ax.barh(places, psi, height=WIDE, color=np.where(psi >= limit, OF_CLASSES[3], PLAIN))
        ax.axvline(limit, color=INK, linewidth=0.8, linestyle="--")
        ax.set_ylim(n - 0.5, -0.5)
        label = partial(label_rows, ax, places, self._labels)
        label()
        plain_frame(ax, "bottom")
        ax.set_xlabel("PSI; dashed: drift", fontsize=LARGEST)
        finish(ax, self._titles, label=label)

    def _shares(self, ax: Axes) -> None:
        """Two bars for each part."""
        places, shown = np.arange(len(self._shown), dtype=np.float64), self.values[self._shown]
        then = ax.barh(places, shown[:, 0], height=WIDE, color=OTHER, alpha=0.6)
        now = ax.barh(places, shown[:, 1], height=NARROW, color=OF_CLASSES[0])
        ax.set_ylim(len(places) - 0.5, -0.5)
        label = partial(label_rows, ax, places, self._labels)
        label()
        plain_frame(ax, "bottom")
        ax.set_xlabel("share of the rows", fontsize=LARGEST)
        finish(ax, self._titles, [(then, "training"), (now, "new rows")], label=label)
