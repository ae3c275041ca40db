"""What the best partition into each number of parts costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gridmodl.labels import counted
from gridmodl.plot.colours import INK, OF_CLASSES
from gridmodl.plot.panes import LARGEST, axes_for, plain_frame
from gridmodl.plot.text import drawn

if TYPE_CHECKING:
    from gridmodl.curve import CostByParts


class CostDisplay:
    """The best cost for each number of parts, the lowest of all marked; a dashed line is the cost of one part.

    Where a cost is not proven, a bar below it reaches down to what it could be at most; a mark without filling has no
    known floor.

    Parameters
    ----------
    n_parts : array-like of int
        Numbers of parts.
    cost : array-like of float
        The lowest cost found of a partition into so many.
    gap : array-like of float, optional
        How far above the lowest of all it is at most; 0 where it is proven, NaN where no floor is known.
    name : str, optional
        The column, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    best_ : int
        The number of parts of the lowest cost.

    Examples
    --------
    >>> import gridmodl
    >>> curve = gridmodl.cost_by_parts([1, 2, 3, 4, 5, 6] * 5, ["a", "a", "b", "b", "a", "a"] * 5, max_parts=4)
    >>> gridmodl.plot.CostDisplay.from_curve(curve).plot().best_
    3
    """

    ax_: Axes
    figure_: Any
    best_: int

    def __init__(self, n_parts: Any, cost: Any, gap: Any = None, name: Any = None) -> None:
        self.n_parts: NDArray[np.int64] = np.asarray(n_parts)
        self.cost: NDArray[np.float64] = np.asarray(cost, dtype=np.float64)
        self.gap = np.zeros(len(self.cost)) if gap is None else np.asarray(gap, dtype=np.float64)
        self.name = name

    @classmethod
    def from_curve(cls, curve: CostByParts) -> CostDisplay:
        """What `gridmodl.cost_by_parts` returned.

        Parameters
        ----------
        curve : CostByParts
        """
        return cls(curve.n_parts, curve.cost, curve.gap, curve.partitions[0].name)

    def plot(self, ax: Axes | None = None) -> CostDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure.

        Returns
        -------
        CostDisplay
            This one.
        """
        ax = axes_for(ax, 6.4, 3.8)
        self.ax_, self.figure_ = ax, ax.figure
        colour = OF_CLASSES[0]
        is_known = ~np.isnan(self.gap)
        ax.plot(self.n_parts, self.cost, "-", color=colour, linewidth=1.0)
        ax.plot(self.n_parts[is_known], self.cost[is_known], "o", color=colour, markersize=4.5)
        ax.plot(
            self.n_parts[~is_known], self.cost[~is_known], "o", color=colour, markersize=4.5, markerfacecolor="white"
        )
        open_ends = is_known & (self.gap > 0.0)
        parts, cost, gap = self.n_parts[open_ends], self.cost[open_ends], self.gap[open_ends]
        ax.vlines(parts, cost - gap, cost, color=colour, linewidth=3.0, alpha=0.4)
        self._mark_best(ax)
        plain_frame(ax, "left", "bottom")
        ax.xaxis.set_major_locator(MaxNLocator(10, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))
        ax.set_xlim(float(self.n_parts[0]) - 0.5, float(self.n_parts[-1]) + 0.5)
        ax.set_xlabel("parts")
        ax.set_ylabel("cost")
        return self

    def _mark_best(self, ax: Axes) -> None:
        best = int(self.cost.argmin())
        self.best_ = int(self.n_parts[best])
        ax.plot(self.best_, self.cost[best], "*", color=OF_CLASSES[3], markersize=14.0, zorder=3)
        if self.n_parts[0] == 1:
            ax.axhline(self.cost[0], color=INK, linewidth=0.8, linestyle="--", zorder=0)
        of = "" if self.name is None else f"{drawn(self.name)}: "
        ax.set_title(
            f"{of}lowest cost {self.cost[best]:.6g} with {counted(self.best_, 'part')}",
            fontsize=LARGEST + 1,
            loc="left",
        )
