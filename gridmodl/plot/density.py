"""The density of one column as a histogram of its parts."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch
from numpy.typing import NDArray

from gridmodl.data.frames import read_column
from gridmodl.density.model import unit_of
from gridmodl.density.sample import read_numbers
from gridmodl.model.densities.histogram import ATTOSECONDS, UNITS, histogram_of
from gridmodl.model.labels import counted
from gridmodl.model.model import Model
from gridmodl.plot.axes.layout import LARGEST, LETTER, axes_for, finish, font_for, plain_frame, size_in_points
from gridmodl.plot.axes.scales import Scale, scale_of
from gridmodl.plot.sources import model_of
from gridmodl.plot.style import INK, OF_CLASSES, drawn
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.data.frames import Name
    from gridmodl.density import DensityModel

MOST_LINES, THIN = 30, 0.5  # masses, beyond which the lines of those without a number are this wide, in points
MOST_STROKES = 2000  # values of a sample drawn below the axis
LANES_ABOVE = 2  # of the probabilities of masses, above all bars
OF_LANES, LANE = 0.4, 1.3  # of the height, for the probabilities of masses; height of one, in letters
LEAST_SEEN, LEAST_COVERED = 0.01, 0.05  # of the tallest bar; of the span, by bars at least that tall: else a log scale
LOG_SCALE = ", log scale"  # in the label of an axis
SIZES = {UNITS[unit]: size for unit, size in ATTOSECONDS.items()}
SEED = 0  # of the choice of these values, so that a picture is the same each time


class DensityDisplay:
    """A histogram: the parts of a density, each as high as its density.

    Parameters
    ----------
    edges : ndarray of shape (n_parts + 1,)
        Ends of the domain and the bounds between them, in the column's own type.
    densities : ndarray of shape (n_parts,)
        Density of each part, per unit of the column; of dates and durations per the unit that `what` names.
    name : str
        Name of the column.
    what : str
        Label of the vertical axis, such as ``"density per day"``.
    is_utc : bool
        Whether the edges are moments in UTC.
    title : str, optional
    masses : ndarray, optional
        Values with a probability in place of a density, drawn as dashed lines with their probabilities.
    probabilities : ndarray, optional
        Probability of each of the masses.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    stairs_ : StepPatch
        The histogram drawn; not there if all values are masses.

    Examples
    --------
    >>> import gridmodl
    >>> waits = list(range(100)) + list(range(100, 1000, 50))
    >>> display = gridmodl.plot.DensityDisplay.from_model(gridmodl.optimize_density(waits)).plot()
    >>> display.edges.tolist()
    [-0.5, 99.5, 950.5]
    """

    ax_: Axes
    figure_: Any
    stairs_: Any

    def __init__(
        self,
        edges: NDArray[Any],
        densities: NDArray[np.float64],
        name: Any = "x",
        what: str = "density",
        is_utc: bool = False,
        title: str = "",
        masses: NDArray[Any] | None = None,
        probabilities: NDArray[np.float64] | None = None,
    ) -> None:
        self.edges, self.densities = edges, densities
        self.masses = np.empty(0, dtype=edges.dtype) if masses is None else masses
        self.probabilities = np.empty(0) if probabilities is None else probabilities
        self.name, self.what, self.is_utc, self.title = name, what, is_utc, title

    @classmethod
    def from_model(cls, model: DensityModel | Model) -> DensityDisplay:
        """A density of `gridmodl.optimize` or `gridmodl.optimize_density`, or a baseline in `gridmodl.density`.

        Parameters
        ----------
        model : DensityModel, or Model of one column without a target
        """
        if isinstance(model, Model) and PROBLEMS[model.problem].has_widths:
            return cls._from_histogram(model)
        if isinstance(model, Model) or not hasattr(model, "densities"):
            what = f"a Model of {model.problem}" if isinstance(model, Model) else type(model).__name__
            raise TypeError(f"model must be a density of one column, got {what}; see PartsDisplay for others")
        partition = model.partition
        bounds = partition.bounds.astype(model.domain.dtype)
        edges = np.concatenate([model.domain[:1], bounds, model.domain[1:]])
        how = model.method if model.kernel is None else f"{model.method} ({model.kernel})"
        title = f"{drawn(partition.name)}: {counted(model.n_parts, 'part')} by {how}"
        unit = unit_of(model)
        return cls(edges, model.densities * unit.size, partition.name, unit.heads["density"], partition.is_utc, title)

    @classmethod
    def _from_histogram(cls, model: Model) -> DensityDisplay:
        """The density of a model of one column without a target."""
        found = histogram_of(model)
        partition, n = found.partition, found.n_intervals if found.domain is not None else 0
        title = f"{drawn(partition.name)}: {counted(n + partition.n_special, 'part')} by {model.criterion}"
        masses = [(value, found.probabilities[found.n_intervals + i] / len(values))
                  for i, values in enumerate(partition.special_parts) for value in values]  # fmt: skip
        edges = found.edges if n else partition.special[:0]
        return cls(
            edges, found.densities[:n] * found.unit.size, partition.name, found.unit.heads["density"],
            partition.is_utc, title,
            np.array([value for value, _ in masses], dtype=edges.dtype), np.array([share for _, share in masses]),
        )  # fmt: skip

    @classmethod
    def from_estimator(cls, estimator: Any, name: Name | None = None) -> DensityDisplay:
        """The density of a numerical column of a `GridDiscretizer` that was fitted without a target.

        Parameters
        ----------
        estimator : GridDiscretizer
        name : str, optional
            The column; optional if there is only one.
        """
        model = model_of(estimator, name)
        if not hasattr(model, "densities"):
            raise ValueError("the estimator was fitted with a target, and has no densities; see PartsDisplay")
        return cls.from_model(model)

    def plot(
        self, ax: Axes | None = None, *, sample: Any = None, label: str | None = None, color: str = OF_CLASSES[0]
    ) -> DensityDisplay:
        """Draw the histogram; with the axes of another display, on top of it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        sample : array-like or series, optional
            Values of the column, drawn as strokes below the axis: at most 2,000 of them, at random.
        label : str, optional
            Name in the legend, which is drawn only with a label.
        color : str
            A colour of matplotlib.

        Returns
        -------
        DensityDisplay
            The display itself.
        """
        ax = axes_for(ax, 6.4, 3.6)
        self.ax_, self.figure_ = ax, ax.figure
        scale = scale_of(np.concatenate([self.edges, self.masses]), self.is_utc)
        places = scale.places(self.edges)
        text = None if label is None else drawn(label)
        is_log = ax.get_yscale() == "log" or (not ax.patches and _is_almost_blank(self.densities, places))
        densities, what = self._in_unit_of(ax)
        if len(densities):
            base = float(densities[densities > 0].min()) / 2.0 if is_log else 0.0
            heights = np.maximum(densities, base)
            self.stairs_ = ax.stairs(heights, places, baseline=base, fill=True, color=color, alpha=0.35, linewidth=0.0)
            ax.stairs(heights, places, baseline=base, color=color, linewidth=1.2, label=text)
            if is_log and ax.get_yscale() != "log":
                ax.set_yscale("log")
        self._draw_masses(ax, scale, color)
        if sample is not None:
            _draw_sample(ax, sample, scale)
        if is_log and ax.get_autoscaley_on():
            ax.set_ylim(bottom=ax.dataLim.minposy, auto=None)
            _stand_on(ax, ax.dataLim.minposy)
        plain_frame(ax, "left", "bottom")
        scale.name_axis(ax, drawn(self.name))
        if len(self.densities) or not len(self.masses):
            ax.set_ylabel(f"{what}{LOG_SCALE * is_log}", fontsize=LARGEST)
        else:  # there is no density
            ax.set_yticks([])
        if label is not None:
            ax.legend(frameon=False, fontsize=font_for(ax))
        finish(ax, self.title if label is None else "")
        return self

    def _in_unit_of(self, ax: Axes) -> tuple[NDArray[np.float64], str]:
        """Densities and the label of their axis, in the unit of another display that was drawn on the axes."""
        before = ax.get_ylabel().removesuffix(LOG_SCALE)
        sizes = [SIZES.get(what.removeprefix("density per ")) for what in (before, self.what)]
        if not ax.patches or before == self.what or sizes[0] is None or sizes[1] is None:
            return self.densities, self.what
        return self.densities * (sizes[0] / sizes[1]), before

    def _draw_masses(self, ax: Axes, scale: Scale, color: str) -> None:
        """Draw a line for each mass up to its probability, those near others below each other.

        A probability is centred on its line, which ends there. Where there is no room for all in the upper part of the
        axes, as many of the largest as do not hide the bars are written, and the lines of others end below them.
        """
        order = np.argsort(self.masses, kind="stable")
        places, shares = scale.places(self.masses)[order], self.probabilities[order]
        ends = np.concatenate([places, scale.places(self.edges)])
        width, height = size_in_points(ax)
        room = len("100.0%") * LARGEST * LETTER / width * float(np.ptp(ends) if len(ends) else 0.0)
        if len(places) == 1 and not len(self.densities):  # nothing else gives the axis an extent
            ax.margins(x=0.5)
            ax.plot(places, [0.0], alpha=0.0)
        most_lanes = max(1, int(height * OF_LANES / (LARGEST * LANE)))
        lanes = _lanes(places - room / 2.0, shares, room, most_lanes)
        if len(lanes) < len(places):
            lanes = _lanes(places - room / 2.0, shares, room, min(LANES_ABOVE, most_lanes))
        lowest = max(lanes.values(), default=-1) + 1
        if lanes and len(self.densities):  # a few stand above the bars
            above = min(lowest, LANES_ABOVE) * LARGEST * LANE / height
            ax.margins(y=above / (1.0 - above))
        box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5}
        for i, place in enumerate(places.tolist()):
            top = 1.0 - (lanes.get(i, lowest) + 0.5) * LARGEST * LANE / height
            width = 1.4 if i in lanes or len(places) <= MOST_LINES else THIN
            ax.axvline(place, ymax=max(top, 0.0), color=color, linewidth=width, linestyle="--")
            if i in lanes:
                ax.text(
                    place, top, _percent(shares[i]), transform=ax.get_xaxis_transform(), ha="center", va="center",
                    fontsize=LARGEST, color=INK, bbox=box,
                )  # fmt: skip
        if room and lanes:  # the first and the last stay inside
            outer = places[sorted(lanes)][[0, -1]] + np.array([-0.5, 0.5]) * room
            ax.update_datalim(np.column_stack([outer, outer]), updatey=False)
            ax.autoscale_view(scaley=False)


def _percent(share: float) -> str:
    """The share in percent, with one decimal, or more of a share that would be 0.

    >>> _percent(0.4567), _percent(0.00042)
    ('45.7%', '0.04%')
    """
    return f"{share:.1%}" if share >= 0.001 else f"{100.0 * share:.1g}%"


def _lanes(starts: NDArray[np.float64], shares: NDArray[np.float64], room: float, most: int) -> dict[int, int]:
    """Lane of each text, from `starts`, which ascend, and `room` wide; of too many, the smallest shares have none."""
    by_share = np.argsort(shares, kind="stable")

    def without(n: int) -> dict[int, int] | None:
        """Lanes of all texts but those of the `n` smallest shares; None if there are more lanes than `most`."""
        lanes, ends = dict[int, int](), list[float]()
        for i in np.sort(by_share[n:]).tolist():
            lane = next((k for k, end in enumerate(ends) if starts[i] >= end), len(ends))
            if lane == most:
                return None
            ends[lane : lane + 1] = [starts[i] + room]
            lanes[i] = lane
        return lanes

    fewest = bisect_left(range(len(starts)), True, key=lambda n: without(n) is not None)
    return without(fewest) or {}


def _is_almost_blank(densities: NDArray[np.float64], places: NDArray[np.float64]) -> bool:
    """Whether bars that can be seen on a linear axis cover almost nothing of it, and others are there."""
    seen = densities >= LEAST_SEEN * np.nanmax(densities, initial=0.0)
    widths = np.diff(places)
    return bool((densities[~seen] > 0).any() and widths[seen].sum() < LEAST_COVERED * widths.sum())


def _stand_on(ax: Axes, bottom: float) -> None:
    """Let the bars of all displays on axes of a log scale, which have no 0, begin at the same height."""
    for bars in ax.patches:
        if isinstance(bars, StepPatch):
            heights, _, base = bars.get_data()
            bars.set_data(np.where(heights == base, bottom, heights), baseline=bottom)


def _draw_sample(ax: Axes, sample: Any, scale: Scale) -> None:
    """Draw the values of a sample as strokes just below the axis."""
    column = read_numbers(read_column(sample, "sample"), "sample")
    values = column.values.view(column.type) if column.type.kind in "mM" else column.values
    places = scale.places(values if column.missing is None else values[~column.missing])
    places = places[~np.isnan(places)]
    if len(places) > MOST_STROKES:
        places = np.random.default_rng(SEED).choice(places, MOST_STROKES, replace=False)
    ax.plot(
        places, np.full(len(places), -0.03), "|",
        transform=ax.get_xaxis_transform(), color=INK, markersize=6.0, markeredgewidth=0.6, clip_on=False,
    )  # fmt: skip
    ax.tick_params(axis="x", pad=8.0)
