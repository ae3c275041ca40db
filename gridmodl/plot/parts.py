"""The parts of one variable: shares of classes and rows, and the event over the rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.evidence import COVERAGE, evidence_of, rate_range
from gridmodl.model.partition import Partition
from gridmodl.plot.axes.classes import MOST, ClassStripes, class_stripes, draw_shares, write_shares
from gridmodl.plot.axes.labels import STEEP, label_columns, label_rows, slant_labels
from gridmodl.plot.axes.lanes import draw_rows, height_for, lane_places, open_lanes, rows_bars
from gridmodl.plot.axes.layout import LARGEST, axes_for, count_ticks, finish, font_for, plain_frame, size_in_points
from gridmodl.plot.sources import check_model, model_of, named
from gridmodl.plot.style import INK, OF_CLASSES, PALE, PLAIN, class_names, part_labels, title_of
from gridmodl.spelling import check_choice

if TYPE_CHECKING:
    from gridmodl.model.model import Model

STATISTICS = ("rate", "woe")
WIDTHS = ("auto", "equal", "rows")
LONG = 40  # characters of the name of the event
GAP = 0.12  # between bars of equal width
# Bars are as wide as the root of their rows where more than MANY parts have a few rows each.
MANY = 8
FEW = 0.01  # share of the rows
EVENT = OF_CLASSES[1]
DOT, SMALLEST_DOT, LARGEST_DOT = 0.8, 1.5, 4.5  # size of dots, in distances of parts; points
NARROW = 4.0  # points of a bar below which it has no white edge, which would pale it


class PartsDisplay:
    """The parts of one variable, a lane each: shares of classes, and rows.

    Intervals ascend from the top, with the parts of missing values and of special codes apart from them. Unlabelled
    rows are paler and do not count in shares. Without classes, and if the target is partitioned too, only rows are
    drawn; see `TargetDisplay` for the target.

    Parameters
    ----------
    partition : Partition
        The parts.
    classes : array-like
        Classes of the counts of the partition; empty if there are none.
    level : float, optional
        Level of the model, for the title.
    event : int, optional
        Number of the event among the classes, which the axis of the shares names.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the shares.
    rows_ax_ : matplotlib Axes
        Axes of the rows: inside ``ax_``, or ``ax_`` itself if only rows are drawn.
    figure_ : matplotlib Figure
    bars_ : list of BarContainer
        Bars of the shares of each class shown; of width NaN where a part has no labelled rows.

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.optimize([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], ["no", "no", "no", "yes", "yes", "yes"])
    >>> display = gridmodl.plot.PartsDisplay.from_model(model).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['(-inf, 5.0]', '(5.0, inf)']
    """

    ax_: Axes
    rows_ax_: Axes
    figure_: Any
    bars_: list[Any]

    def __init__(
        self, partition: Partition, classes: Any = (), level: float | None = None, event: int | None = None
    ) -> None:
        self.partition = partition
        self.classes = np.asarray(classes)
        self.level = level
        self.event = event

    @classmethod
    def from_model(cls, model: Model, name: Name | None = None) -> PartsDisplay:
        """The parts of a variable of a model.

        Parameters
        ----------
        model : Model
        name : str, optional
            The column, or the target if it is partitioned too; optional if the model has one column.
        """
        check_model(model)
        is_target = name is not None and name not in model.partitions and name in model.all_partitions
        partition = model.partition(name) if is_target else named(dict(model.partitions), name, "column")
        classes = model.classes if partition.n_values is None else ()
        level = model.level if len(model.partitions) == 1 else None
        return cls(partition, classes, level, model.event_index if len(classes) and model.has_one_event else None)

    @classmethod
    def from_estimator(cls, estimator: Any, name: Name | None = None) -> PartsDisplay:
        """The parts of a column of a fitted estimator, such as `GridDiscretizer`.

        Parameters
        ----------
        estimator : GridDiscretizer, GridNaiveBayes, GridClassifier, GridEnsembleClassifier or GridCoclustering
        name : str, optional
            The column; optional if there is only one.
        """
        if getattr(estimator, "target_kind_", "") is None:  # a discretizer without target: densities, or values
            return cls(named(estimator.partitions_, name, "column"))
        return cls.from_model(model_of(estimator, name), name)

    def plot(self, ax: Axes | None = None, *, max_classes: int = MOST) -> PartsDisplay:
        """Draw the parts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as high as the parts need.
        max_classes : int
            Largest number of colours, up to 8: one for each of the largest classes, the last for all others together.
            Where these leave many rows without a colour, as with 100 classes, colours stand for the most frequent class
            of each part, the second and so on, and their names are in the bars.

        Returns
        -------
        PartsDisplay
            The display itself.
        """
        partition, places = self.partition, lane_places(self.partition)
        ax = axes_for(ax, 7.0, height_for(places))
        open_lanes(ax, places, 0.0, 1.0)
        label = partial(label_rows, ax, places, partial(part_labels, partition))
        label()
        self.ax_, self.figure_, self.rows_ax_, self.bars_ = ax, ax.figure, ax, []
        shown: ClassStripes | None = None
        labelled = partition.counts.sum(axis=1)
        if len(self.classes):
            shown = class_stripes(partition.counts, self.classes, most=max_classes)
            self.bars_ = draw_shares(ax, places, shown)
            if self.event is not None:
                what = f"share of each class; event: {class_names(self.classes, LONG)[self.event]}"
                ax.set_xlabel(what, fontsize=LARGEST, loc="left")
            self.rows_ax_, of_rows = draw_rows(ax, places, labelled, partition.unlabelled)
        else:
            of_rows = rows_bars(ax, places, labelled, partition.unlabelled)
        unlabelled = [(bars, "rows without a class") for bars in of_rows[1:]]
        entries = [*([] if shown is None else shown.legend(self.bars_)), *unlabelled]
        finish(ax, title_of(self.partition, self.level), entries, label=label)
        if shown is not None:
            write_shares(ax, places, shown, self.classes)
        return self


class EventDisplay:
    """Event rate or weight of evidence of each part, over bars of its rows.

    Bars have the rows of the event on those of the rest. Marks have the rate of the event among the labelled rows with
    its 90 % range, or the weight of evidence; a dashed line is the rate of all rows, or a weight of 0. Many parts with
    few rows, as of a column that is 0 in most rows, have bars of one height, as wide as the square root of their rows.

    Parameters
    ----------
    partition : Partition
        The parts.
    event : str
        Name of the event.
    events, rest : array-like of shape (n_parts,)
        Rows of the event, and of all other classes, in each part.
    woe : array-like of shape (n_parts,)
        Weight of evidence of each part.
    level : float, optional
        Level of the model, for the title.
    other : str, optional
        Name of the other class, if there are only two.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the rows.
    event_ax_ : matplotlib Axes
        Axes of the rates or weights, on the right.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.optimize([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], ["no", "no", "no", "yes", "yes", "yes"])
    >>> display = gridmodl.plot.EventDisplay.from_model(model).plot()
    >>> display.event_ax_.get_ylabel()
    'event rate, with its 90% range'
    """

    ax_: Axes
    event_ax_: Axes
    figure_: Any

    def __init__(
        self,
        partition: Partition,
        event: str,
        events: Any,
        rest: Any,
        woe: Any,
        level: float | None = None,
        other: str | None = None,
    ) -> None:
        self.partition, self.event, self.level, self.other = partition, event, level, other
        self.events, self.rest = np.asarray(events, dtype=np.int64), np.asarray(rest, dtype=np.int64)
        self.woe = np.asarray(woe, dtype=np.float64)

    @classmethod
    def from_model(cls, model: Model, name: Name | None = None) -> EventDisplay:
        """The event in the parts of a column of a model with classes.

        Parameters
        ----------
        model : Model
        name : str, optional
            The column; optional if the model has one.
        """
        check_model(model)
        partition = named(dict(model.partitions), name, "column")
        if model.event_index is None or model.target is not None:
            raise ValueError(
                f"this model ({model.problem}) has no event; TargetDisplay shows targets in parts, PartsDisplay the "
                "parts of other models"
            )
        events = partition.counts[:, model.event_index]
        found = evidence_of(model, partition)
        one = found[0] if model.has_one_event else found[model.event_index]
        level = model.level if len(model.partitions) == 1 else None
        others = [str(name) for j, name in enumerate(model.classes.tolist()) if j != model.event_index]
        other, rest = others[0] if len(others) == 1 else None, partition.counts.sum(axis=1) - events
        return cls(partition, str(model.event), events, rest, one.woe, level, other)

    @classmethod
    def from_estimator(cls, estimator: Any, name: Name | None = None) -> EventDisplay:
        """The event in the parts of a column of a fitted estimator, such as `GridDiscretizer`.

        Parameters
        ----------
        estimator : GridDiscretizer, GridNaiveBayes or GridClassifier
        name : str, optional
            The column; optional if there is only one.
        """
        return cls.from_model(model_of(estimator, name), name)

    def plot(self, ax: Axes | None = None, *, statistic: str = "rate", widths: str = "auto") -> EventDisplay:
        """Draw the parts from left to right.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as wide as the parts need.
        statistic : {"rate", "woe"}
            Rate of the event, or weight of evidence.
        widths : {"auto", "equal", "rows"}
            Bars of equal width, or as wide as the square root of their rows; ``"auto"`` takes the latter where many
            parts have few rows.

        Returns
        -------
        EventDisplay
            The display itself.
        """
        check_choice("statistic", statistic, STATISTICS)
        check_choice("widths", widths, WIDTHS)
        rows, n_parts = self.partition.rows, self.partition.n_parts
        is_tiny = rows < FEW * rows.sum()
        by_rows = widths == "rows" or (widths == "auto" and int(np.count_nonzero(is_tiny)) > MANY)
        ax = axes_for(ax, float(np.clip(2.5 + 0.75 * n_parts, 5.0, 12.0)) if not by_rows else 8.0, 3.8)
        self.ax_, self.figure_ = ax, ax.figure
        places, width = _bars(rows, by_rows)
        entries = self._draw_rows(ax, places, width, by_rows)
        ax.set_xlim(0.0, 1.0 if by_rows else float(n_parts))
        label = partial(self._label, ax, places, width, by_rows)
        label()
        self.event_ax_ = ax.twinx()
        entries += self._draw_statistic(self.event_ax_, places, statistic, by_rows)
        finish(ax, title_of(self.partition, self.level), entries, (self.event_ax_,), label)
        return self

    def _draw_rows(
        self, ax: Axes, places: NDArray[np.float64], width: NDArray[np.float64], by_rows: bool
    ) -> list[tuple[Any, str]]:
        """Draw bars of rows; of their share in each part if bars are as wide as their rows."""
        unlabelled = self.partition.rows - self.events - self.rest
        whole = np.maximum(self.partition.rows, 1) if by_rows else np.ones(len(places))
        stacks = [
            (self.events, EVENT, self.event),
            (self.rest, PLAIN, "others" if self.other is None else self.other),
            (unlabelled, PALE, "rows without a class"),
        ]
        entries, bottom = [], np.zeros(len(places))
        edge = 0.4 if size_in_points(ax)[0] / len(places) >= NARROW else 0.0
        for rows, colour, name in stacks:
            if rows is not unlabelled or rows.any():
                bars = ax.bar(places, rows / whole, width, bottom, color=colour, edgecolor="white", linewidth=edge)
                entries.append((bars, name))
                bottom = bottom + rows / whole
        plain_frame(ax, "left", "bottom")
        ax.set_ylabel("share; widths: root of rows" if by_rows else "rows", fontsize=LARGEST)
        ax.tick_params(axis="y", labelsize=LARGEST)
        if by_rows:
            ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0%}"))
            ax.set_ylim(0.0, 1.0)
        else:
            count_ticks(ax.yaxis, 5)
        return entries

    def _label(self, ax: Axes, places: NDArray[np.float64], width: NDArray[np.float64], by_rows: bool) -> None:
        """Write the names of the parts; where bars are as wide as their rows, of those that have room."""
        labels, points, font = partial(part_labels, self.partition), size_in_points(ax)[0], font_for(ax)
        if not by_rows:
            label_columns(ax, places, labels, points)
            return
        shown: list[int] = []
        for i in np.argsort(-width, kind="stable").tolist():
            if all(abs(places[i] - places[j]) * points >= 2.0 * font for j in shown):
                shown.append(i)
        shown.sort()
        pitch = max(STEEP * font, points * float(np.diff(places[shown]).min(initial=1.0)))
        slant_labels(ax, places[shown], lambda room: [labels(room)[i] for i in shown], pitch)
        ax.tick_params(axis="x", length=2)

    def _draw_statistic(
        self, ax: Axes, places: NDArray[np.float64], statistic: str, by_rows: bool
    ) -> list[tuple[Any, str]]:
        """Draw rates or weights of evidence, with a line through those of intervals of equal width; return the entries
        of the legend."""
        labelled = self.events + self.rest
        size = float(np.clip(DOT * size_in_points(ax)[0] / len(places), SMALLEST_DOT, LARGEST_DOT))
        with np.errstate(invalid="ignore"):
            values = np.where(labelled > 0, self.events / np.maximum(labelled, 1), np.nan)
        average, name = self.events.sum() / max(1, labelled.sum()), f"rate of {self.event}"
        if statistic == "woe":
            values, average, name = np.where(labelled > 0, self.woe, np.nan), 0.0, "weight of evidence"
        else:
            low, high = rate_range(self.events, labelled)
            errors = np.maximum(np.vstack([values - low, high - values]), 0.0)
            caps = 2.5 if size == LARGEST_DOT else 0.0
            ax.errorbar(places, values, errors, fmt="none", ecolor=INK, elinewidth=min(1.0, size / 2.0), capsize=caps)
            ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100.0 * y:.4g}%"))
            highest = float(high[labelled > 0].max(initial=0.0)) or 1.0  # rare events fill the axes too
            ax.set_ylim(0.0, 1.0 if by_rows else min(1.0, 1.08 * highest))
        ordered = slice(int(self.partition.is_missing_apart), self.partition.n_parts - self.partition.n_special)
        if (
            self.partition.kind != "categorical" and not by_rows
        ):  # intervals in a row; missing values and special codes stand alone
            ax.plot(places[ordered], values[ordered], color=INK, linewidth=1.2)
        edge = 1.0 if size == LARGEST_DOT else 0.0  # white edges would hide small dots that are near
        (marks,) = ax.plot(
            places, values, "o", color=INK, markersize=size, markeredgecolor="white", markeredgewidth=edge,
            clip_on=False, zorder=3.0,
        )  # fmt: skip
        line = ax.axhline(average, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        plain_frame(ax, "right")
        ax.set_ylabel(f"event rate, with its {COVERAGE:.0%} range" if statistic == "rate" else name, fontsize=LARGEST)
        ax.tick_params(axis="y", labelsize=LARGEST)
        return [(marks, name), *([(line, "all rows")] if statistic == "rate" else [])]


def _bars(rows: NDArray[np.int64], by_rows: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middles and widths of bars: one of each part, or from 0 to 1 in proportion to the roots of rows."""
    if not by_rows:
        return np.arange(len(rows), dtype=np.float64) + 0.5, np.full(rows.shape, 1.0 - GAP)
    roots: NDArray[np.float64] = np.sqrt(rows.astype(np.float64))
    width = roots / max(1.0, float(roots.sum()))
    return np.asarray(np.cumsum(width) - width / 2.0), width
