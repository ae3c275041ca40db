"""The columns of a table by what each tells about the target, and the right picture of a model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.evidence import total_evidence
from gridmodl.model.labels import counted
from gridmodl.model.models import Models
from gridmodl.plot.axes.labels import label_rows
from gridmodl.plot.axes.lanes import BAR, height_for, lanes_within
from gridmodl.plot.axes.layout import LARGEST, axes_for, finish, font_for, plain_frame
from gridmodl.plot.cells import CellsDisplay
from gridmodl.plot.density import DensityDisplay
from gridmodl.plot.grid import GridDisplay
from gridmodl.plot.parts import EventDisplay, PartsDisplay
from gridmodl.plot.sources import named
from gridmodl.plot.style import INK, PLAIN, drawn
from gridmodl.plot.target import TargetDisplay
from gridmodl.report.text import means_text
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model

MAX_COLUMNS = 30


class ColumnsDisplay:
    """The columns of a table, a bar each: the level of its model, its parts, and its information value.

    Parameters
    ----------
    names : sequence of str
        The columns, the most informative first.
    levels : array-like of shape (n,)
        Level of each; NaN if it has none.
    facts : sequence of str
        What is written beside each bar.
    n_more : int
        Number of columns that are not drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> data = {"size": [1, 2, 3, 7, 8, 9], "colour": ["red", "blue", "red", "blue", "red", "blue"]}
    >>> models = gridmodl.optimize_each(data, ["no", "no", "no", "yes", "yes", "yes"])
    >>> gridmodl.plot.ColumnsDisplay.from_models(models).names
    ['size', 'colour']
    """

    ax_: Axes
    figure_: Any

    def __init__(self, names: Any, levels: Any, facts: Any, n_more: int = 0) -> None:
        self.names, self.facts, self.n_more = list(names), list(facts), n_more
        self.levels = np.asarray(levels, dtype=np.float64)

    @classmethod
    def from_models(cls, models: Models, n: int = MAX_COLUMNS) -> ColumnsDisplay:
        """The most informative columns of `optimize_each`.

        Parameters
        ----------
        models : Models
        n : int
            Maximum number of columns.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
        shown = list(Models(models).items())[:n]  # by level, which edits change
        facts = []
        for _, model in shown:
            (partition,) = model.partitions.values()
            evidence, means = total_evidence(model, partition), means_text(model, partition)
            said = f", mean {means}" if means else "" if evidence is None else f", iv {evidence.iv:.3g}"
            facts.append(f"{counted(partition.n_parts, 'part')}{said}")
        levels = [np.nan if model.level is None else model.level for _, model in shown]
        return cls([str(name) for name, _ in shown], levels, facts, len(models) - len(shown))

    def plot(self, ax: Axes | None = None) -> ColumnsDisplay:
        """Draw the columns from the top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, as many columns as have room for their names; by default a new figure, as high as the
            columns need.

        Returns
        -------
        ColumnsDisplay
            The display itself.
        """
        n = lanes_within(ax, len(self.names))
        places = np.arange(max(1, n), dtype=np.float64)
        ax = axes_for(ax, 6.5, height_for(places))
        self.ax_, self.figure_ = ax, ax.figure
        ax.set_ylim(places[-1] + 0.5, -0.5)
        levels = np.nan_to_num(self.levels[:n])
        ax.barh(places[: len(levels)], levels, BAR, color=PLAIN)
        ax.set_xlim(min(0.0, float(levels.min(initial=0.0))), max(float(levels.max(initial=0.0)), 1e-12))
        plain_frame(ax, "bottom")
        ax.tick_params(axis="x", labelsize=LARGEST)
        ax.set_xlabel("level: share of the cost saved", fontsize=LARGEST, loc="left")
        label, n_all = partial(self._label, ax, places[:n]), len(self.names) + self.n_more
        label()
        is_cut = n < n_all
        title = (
            f"the {n} most informative of {n_all} columns"
            if is_cut
            else f"{counted(n, 'column')}, the most informative first"
        )
        finish(ax, title, label=label)
        return self

    def _label(self, ax: Axes, places: NDArray[np.float64]) -> None:
        """Write names on the left, and the facts of the columns whose names are written on the right."""
        label_rows(ax, places, self.names[: len(places)])
        for text in list(ax.texts):
            text.remove()
        places = ax.get_yticks()
        size = min([font_for(ax) - 0.5, *(label.get_fontsize() for label in ax.get_yticklabels())])
        for place in places.tolist():
            ax.annotate(
                drawn(self.facts[round(place)]), (1.0, place), xycoords=ax.get_yaxis_transform(), va="center",
                xytext=(4, 0), textcoords="offset points", fontsize=size, color=INK, annotation_clip=False,
            )  # fmt: skip


def draw_model(model: Model, name: Name | None, ax: Axes | None, options: dict[str, Any]) -> Any:
    """Draw the picture that suits the problem of a model, or the parts of its column `name`; return the display."""
    kind, n_informative = PROBLEMS[model.problem], len(model.informative)
    display: Any
    if kind.has_widths:
        named(dict(model.partitions), name, "column")
        display = DensityDisplay.from_model(model)
    elif name is not None or len(model.partitions) == 1:
        display = _of_column(model, name)
    elif model.target is None and kind.has_target:
        display = GridDisplay.from_model(model) if n_informative == 2 else CellsDisplay.from_model(model)
    elif model.target is not None:
        display = CellsDisplay.from_model(model)
    else:
        display = GridDisplay.from_model(model) if n_informative >= 2 else CellsDisplay.from_model(model)
    return display.plot(ax, **options)


def _of_column(model: Model, name: Name | None) -> Any:
    if model.target is not None and (name is None or name in model.partitions):
        return TargetDisplay.from_model(model, name)
    if model.target is None and model.has_one_event:
        return EventDisplay.from_model(model, name)
    return PartsDisplay.from_model(model, name)
