"""What each column adds to the score of a class, for one row: bars around 0."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.model.names import DIGITS, shortened
from gridmodl.plot.axes.labels import label_rows
from gridmodl.plot.axes.lanes import lanes_within
from gridmodl.plot.axes.layout import LARGEST, axes_for, finish, plain_frame
from gridmodl.plot.style import INK, OF_CLASSES, ROOM, drawn

if TYPE_CHECKING:
    from gridmodl.evidence.contributions import Contributions

FOR, AGAINST = OF_CLASSES[0], OF_CLASSES[1]
LANE = 0.3  # inches
OF_VALUE = 14  # characters that a value may have beside a long name
BETWEEN = " = "


class ContributionsDisplay:
    """Contribution of each column to the score of a class, for one row, the largest first.

    Parameters
    ----------
    contributions : Contributions
        What `explain` of a classifier returns.
    row : int
        Number of the row.
    label : optional
        The class, by default the event; without an event, the most probable class of the row.
    max_columns : int
        Number of columns that are drawn; the others are drawn as one.

    Attributes
    ----------
    label : object
        The class whose score is drawn.
    names : list of str
        What the bars are of, with the values of the row.
    lengths : ndarray
        Length of each bar.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import gridmodl
    >>> data = {"size": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "noise": [3, 1, 2, 2, 3, 1, 2, 3, 1, 2]}
    >>> bayes = gridmodl.GridNaiveBayes().fit([*zip(data["size"], data["noise"])], [0] * 5 + [1] * 5)
    >>> display = gridmodl.plot.ContributionsDisplay(bayes.explain([[2, 3]])).plot()
    >>> display.names
    ['x0 = 2', '(all rows)']
    """

    ax_: Axes
    figure_: Any

    def __init__(self, contributions: Contributions, *, row: int = 0, label: Any = None, max_columns: int = 15) -> None:
        if not -contributions.n_rows <= row < contributions.n_rows:
            raise ValueError(f"row must be a number of one of the {contributions.n_rows} rows, got {row!r}")
        if max_columns < 1:
            raise ValueError(f"max_columns must be 1 or more, got {max_columns!r}")
        shown, row = contributions.shown_classes, row % contributions.n_rows
        if label is None:
            c = contributions.shown_class(row)
        elif label in shown:
            c = shown.index(label)
        else:
            raise ValueError(f"label must be one of {', '.join(map(repr, shown[:20]))}; got {label!r}")
        self.contributions, self.row, self.label = contributions, row, shown[c]
        self._number = c
        self.names: list[str]
        self.lengths: NDArray[np.float64]
        self.names, self.lengths = self._bars(max_columns)
        self.probability = float(contributions.probabilities[row][contributions.classes.tolist().index(self.label)])

    def _bars(self, n: int) -> tuple[list[str], NDArray[np.float64]]:
        """Names and lengths of the bars of the `n` columns that add the most, of all others, and of all rows."""
        contributions, values = self.contributions, self.contributions.values[self.row]
        of_row = contributions.shown[self.row, :, self._number]
        order = np.argsort(-np.abs(of_row), kind="stable")
        first, rest = order[:n], order[n:]
        names = [_with_value(str(contributions.names[k]), values[k]) for k in first.tolist()]
        more = [f"({len(rest)} more)"] if len(rest) else []
        lengths = [*of_row[first], *([of_row[rest].sum()] if more else []), contributions.base[self._number]]
        return [*names, *more, "(all rows)"], np.array(lengths, dtype=np.float64)

    def plot(self, ax: Axes | None = None) -> ContributionsDisplay:
        """Draw a bar for each column.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, as many columns as have room for their names and the others as one; by default a new figure.

        Returns
        -------
        ContributionsDisplay
            The display itself.
        """
        n = lanes_within(ax, len(self.names))
        if n < len(self.names):
            self.names, self.lengths = self._bars(max(1, n - 2))  # beside those of the others and of all rows
            n = len(self.names)
        ax = axes_for(ax, 6.4, 1.2 + LANE * n)
        self.ax_, self.figure_ = ax, ax.figure
        places = np.arange(n, dtype=np.float64)
        ax.barh(places, self.lengths, color=np.where(self.lengths >= 0.0, FOR, AGAINST), height=0.8)
        ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.set_ylim(n - 0.5, -0.5)
        label = partial(label_rows, ax, places, self.names)
        label()
        plain_frame(ax, "bottom")
        ax.set_xlabel(f"adds to the {self.contributions.unit}, nats", fontsize=LARGEST)
        finish(ax, f"{drawn(self.label)}: probability {_below_one(self.probability)}", label=label)
        return self


def _with_value(name: str, value: str) -> str:
    """Name and value of a column, each shortened by itself, as the ends of both tell columns and values apart.

    >>> _with_value("measurement_of_something_number_7", "0.30159961418083")
    'measurement_of_somet…g_number_7 = 0.3016'
    """
    value = _rounded(" ".join(value.split()))
    value = shortened(value, max(OF_VALUE, ROOM - len(BETWEEN) - len(name)))
    return f"{shortened(name, ROOM - len(BETWEEN) - len(value))}{BETWEEN}{value}"


def _rounded(value: str) -> str:
    """The value with at most `DIGITS` digits if it is a number with a fraction."""
    try:
        return f"{float(value):.{DIGITS}g}" if "." in value else value
    except ValueError:
        return value


def _below_one(probability: float) -> str:
    """The probability with three digits; 1 and 0 only if it is.

    >>> _below_one(0.99987), _below_one(0.274), _below_one(1.0)
    ('0.9999', '0.274', '1')
    """
    digits = 3
    while probability < 1.0 and f"{probability:.{digits}g}" == "1" and digits < 16:
        digits += 1
    return f"{probability:.{digits}g}"
