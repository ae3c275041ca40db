"""Curves of cost by number of parts and during a search, and of the loss by the price of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gridmodl.model.labels import counted, level_text
from gridmodl.plot.axes.labels import WHOLE
from gridmodl.plot.axes.layout import LARGEST, axes_for, finish, font_for, plain_frame
from gridmodl.plot.style import INK, OF_CLASSES, drawn
from gridmodl.report.text import cost_text
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.analysis.curve import CostByParts
    from gridmodl.search.grid.optima import Improvement
    from gridmodl.validation.penalty import PenaltyChoice

BEYOND = 2.0  # factor by which the axis of prices goes beyond the first and the last step
BY = {"elapsed": "seconds", "round": "round"}


class CostDisplay:
    """The best cost for each number of parts, the lowest marked by a star; a dashed line is the cost of one part.

    Where a cost is not proven, a bar reaches down from it to its proven lower bound; a hollow mark has no known bound.

    Parameters
    ----------
    n_parts : array-like of int
        Numbers of parts.
    cost : array-like of float
        Lowest cost found for each number of parts.
    gap : array-like of float, optional
        Largest possible distance of that cost to the optimum; 0 if it is proven, NaN if no lower bound is known.
    name : str, optional
        Name of the column, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    best_ : int
        Number of parts with the lowest cost.

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
        """Display of the result of `gridmodl.cost_by_parts`.

        Parameters
        ----------
        curve : CostByParts
        """
        return cls(curve.n_parts, curve.cost, curve.gap, curve.partitions[0].name)

    def plot(self, ax: Axes | None = None) -> CostDisplay:
        """Draw the costs.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CostDisplay
            The display itself.
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
        ax.ticklabel_format(axis="y", useOffset=False, style="plain")
        ax.set_xlabel("parts", fontsize=LARGEST)
        ax.set_ylabel("cost", fontsize=LARGEST)
        of = "" if self.name is None else f"{drawn(self.name)}: "
        finish(ax, f"{of}lowest cost {self.cost.min():.6g} with {counted(self.best_, 'part')}")
        return self

    def _mark_best(self, ax: Axes) -> None:
        best = int(self.cost.argmin())
        self.best_ = int(self.n_parts[best])
        ax.plot(self.best_, self.cost[best], "*", color=OF_CLASSES[3], markersize=14.0, zorder=3)
        if self.n_parts[0] == 1:
            ax.axhline(self.cost[0], color=INK, linewidth=0.8, linestyle="--", zorder=0)


class History:
    """Records each cheaper grid that a search finds, for `ProgressDisplay`; pass a new one to each search.

    Attributes
    ----------
    records : list
        Records of round, cost, level and elapsed seconds, in order.

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
    """Cost of the best grid so far, over the time or the rounds of a search.

    Parameters
    ----------
    records : sequence of records
        Records with ``round``, ``cost``, ``level`` and ``elapsed``, as passed to ``Search(on_improvement=...)``.

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
        """Display of the records of a `History`.

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
        """Draw the costs.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        by : {"elapsed", "round"}
            Horizontal axis: seconds, or rounds of the search.

        Returns
        -------
        ProgressDisplay
            The display itself.
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
        ax.ticklabel_format(axis="y", useOffset=False, style="plain")
        ax.set_xlabel(BY[by], fontsize=LARGEST)
        ax.set_ylabel("cost of the best grid so far", fontsize=LARGEST)
        last = self.records[-1]
        n_found = counted(len(self.records), "improvement")
        finish(ax, f"{n_found}; cost {cost_text(last.cost)}, level {level_text(last.level)}")
        return self


class PenaltyDisplay:
    """Loss for every value of a penalty option, one line for each combination of other options; a star is the choice.

    Parameters
    ----------
    upto : sequence of array-like
        Of each line, the values up to which the losses hold, down to the next; the first is infinite.
    loss : sequence of array-like
        Of each line, these losses.
    labels : sequence of str
        Of each line, its other options.
    chosen : tuple of float
        The value chosen and its loss.
    option : str
        Name of the penalty option.
    title : str, optional

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> choice = gridmodl.choose_penalty(list(range(40)), [0] * 10 + [0, 1] * 10 + [1] * 10)
    >>> gridmodl.plot.PenaltyDisplay.from_choice(choice).plot().ax_.get_xlabel()
    'alpha'
    """

    ax_: Axes
    figure_: Any

    def __init__(
        self, upto: Any, loss: Any, labels: Any, chosen: tuple[float, float], option: str, title: str = ""
    ) -> None:
        self.upto: list[NDArray[np.float64]] = [np.asarray(one, dtype=np.float64) for one in upto]
        self.loss: list[NDArray[np.float64]] = [np.asarray(one, dtype=np.float64) for one in loss]
        self.labels, self.chosen, self.option, self.title = list(labels), chosen, option, title

    @classmethod
    def from_choice(cls, choice: PenaltyChoice) -> PenaltyDisplay:
        """Display of the result of `gridmodl.choose_penalty`.

        Parameters
        ----------
        choice : PenaltyChoice
        """
        if not choice.paths:
            raise ValueError(f"no trial was finished ({choice.stopped}), so there are no losses to draw")
        labels = [", ".join(f"{name} {value:.6g}" for name, value in path.options.items()) for path in choice.paths]
        value = float(choice.options[choice.option])
        (partition,) = choice.model.partitions.values()
        title = f"{partition.name}: {choice.option} {value:.6g}, {counted(partition.n_parts, 'part')}"
        upto, loss = zip(*((path.loss_upto, path.loss) for path in choice.paths), strict=True)
        return cls(upto, loss, labels, (value, choice.loss), choice.option, title)

    def plot(self, ax: Axes | None = None) -> PenaltyDisplay:
        """Draw the losses.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        PenaltyDisplay
            The display itself.
        """
        ax = axes_for(ax, 6.4, 3.8)
        self.ax_, self.figure_ = ax, ax.figure
        ends = np.concatenate([*(one[1:] for one in self.upto), [self.chosen[0]]])
        low, high = float(ends.min()) / BEYOND, float(ends.max()) * BEYOND
        for k, (upto, loss, label) in enumerate(zip(self.upto, self.loss, self.labels, strict=True)):
            places = np.concatenate([[low], upto[:0:-1], [high]])
            shown = loss[::-1]
            ax.step(
                places, np.append(shown, shown[-1]), where="post", color=OF_CLASSES[k % len(OF_CLASSES)], linewidth=1.4,
                label=drawn(label) if label else None,
            )  # fmt: skip
        ax.plot(*self.chosen, "*", color=INK, markersize=13.0, zorder=3)
        ax.set_xscale("log")
        ax.set_xlim(low, high)
        if any(self.labels):
            ax.legend(fontsize=font_for(ax) - 0.5, frameon=False)
        plain_frame(ax, "left", "bottom")
        ax.set_xlabel(drawn(self.option), fontsize=LARGEST)
        ax.set_ylabel("loss of rows left out, nats a row", fontsize=LARGEST)
        finish(ax, drawn(self.title, WHOLE))
        return self
