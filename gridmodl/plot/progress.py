"""How a search found cheaper and cheaper grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from gridmodl.labels import counted, level_text
from gridmodl.plot.colours import OF_CLASSES
from gridmodl.plot.panes import LARGEST, axes_for, plain_frame
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.search.gridfound import Improvement

BY = {"elapsed": "seconds", "round": "round"}


class History:
    """Keeps what a search tells of each cheaper grid, for `ProgressDisplay`; give a new one to each search.

    Attributes
    ----------
    records : list
        Records of round, cost, level and elapsed seconds, in the order in which they came.

    Examples
    --------
    >>> import gridmodl
    >>> history = gridmodl.plot.History()
    >>> data = {"a": [1.0, 2.0, 8.0, 9.0] * 10, "b": list("uvuv") * 10}
    >>> model = gridmodl.optimize(data, [0, 1, 1, 0] * 10, search=gridmodl.Search(on_improvement=history))
    >>> history.records[-1].cost == model.cost
    True
    """

    def __init__(self) -> None:
        self.records: list[Improvement] = []

    def __call__(self, found: Improvement) -> None:
        self.records.append(found)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"History({counted(len(self), 'improvement')})"


class ProgressDisplay:
    """The cost of the best grid so far, over the time or the rounds of a search.

    Parameters
    ----------
    records : sequence of records
        With ``round``, ``cost``, ``level`` and ``elapsed``, as ``Search(on_improvement=...)`` is told of them.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> history = gridmodl.plot.History()
    >>> data = {"a": [1.0, 2.0, 8.0, 9.0] * 10, "b": list("uvuv") * 10}
    >>> model = gridmodl.optimize(data, [0, 1, 1, 0] * 10, search=gridmodl.Search(on_improvement=history))
    >>> display = gridmodl.plot.ProgressDisplay.from_history(history).plot(by="round")
    >>> display.ax_.get_xlabel()
    'round'
    """

    ax_: Axes
    figure_: Any

    def __init__(self, records: Any) -> None:
        self.records = list(records)

    @classmethod
    def from_history(cls, history: History) -> ProgressDisplay:
        """What a `History` has kept.

        Parameters
        ----------
        history : History
        """
        if not history.records:
            raise ValueError(
                "the history is empty: give it to a search of a grid of several columns, "
                "search=gridmodl.Search(on_improvement=history)"
            )
        return cls(history.records)

    def plot(self, ax: Axes | None = None, *, by: str = "elapsed") -> ProgressDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure.
        by : {"elapsed", "round"}
            What runs from left to right: seconds, or rounds of the search.

        Returns
        -------
        ProgressDisplay
            This one.
        """
        if by not in BY:
            raise ValueError(f"unknown by {by!r}; allowed: {', '.join(BY)}{did_you_mean(by, BY)}")
        ax = axes_for(ax, 6.4, 3.6)
        self.ax_, self.figure_ = ax, ax.figure
        along = np.array([getattr(record, by) for record in self.records], dtype=np.float64)
        costs = np.array([record.cost for record in self.records])
        ax.plot(along, costs, "o-", drawstyle="steps-post", color=OF_CLASSES[0], markersize=4.5, linewidth=1.2)
        plain_frame(ax, "left", "bottom")
        if by == "round":
            ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
        ax.ticklabel_format(axis="y", useOffset=False)
        ax.set_xlabel(BY[by])
        ax.set_ylabel("cost of the best grid so far")
        last = self.records[-1]
        ax.set_title(
            f"{counted(len(self.records), 'improvement')}; cost {last.cost:.8g}, level {level_text(last.level)}",
            fontsize=LARGEST + 1,
            loc="left",
        )
        return self
