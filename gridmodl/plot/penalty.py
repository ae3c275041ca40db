"""Losses of rows that were left out by the price of parts: what `choose_penalty` chose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.model.labels import counted
from gridmodl.plot.axes import LARGEST, axes_for, plain_frame
from gridmodl.plot.style import INK, OF_CLASSES, drawn

if TYPE_CHECKING:
    from gridmodl.validation.penalty import PenaltyChoice

ROOM = 2.0  # factor by which the axis goes beyond the first and the last step


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
        low, high = float(ends.min()) / ROOM, float(ends.max()) * ROOM
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
            ax.legend(fontsize=LARGEST - 1, frameon=False)
        plain_frame(ax, "left", "bottom")
        ax.set_xlabel(drawn(self.option))
        ax.set_ylabel("loss of rows left out, nats a row")
        ax.set_title(drawn(self.title, 80), fontsize=LARGEST + 1, loc="left")
        return self
