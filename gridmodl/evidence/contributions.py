"""`Contributions`: what each column adds to the scores of the classes of rows, as table and picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import ARRAYS, Name, make_frame
from gridmodl.model.labels import counted

PRIOR = "(all rows)"  # what is known of a row before its columns


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contribution of each column to the scores of the classes, for some rows.

    With two classes, ``shown`` is of the log of the odds of the event: the sum of the contributions of a row and of
    ``base`` is log P(event) / P(other). With more classes and an event it is of the score of the event, and else of the
    scores of each class, whose exponentials the probabilities are proportional to.

    Attributes
    ----------
    names : tuple
        Columns, or grids of several columns.
    values : tuple of tuple of str
        Value of each row and column.
    scores : ndarray of shape (n_rows, n_columns, n_classes)
        Weight times evidence.
    intercepts : ndarray of shape (n_classes,)
        Scores without evidence.
    classes : ndarray
        The classes.
    event_index : int or None
        Number of the class that contributions speak of; None if they speak of each.
    frame : str
        Kind of frame in which tables are returned.
    n_rows : int
        Number of rows.
    shown_classes : list
        The event, or all classes if there is none.
    shown : ndarray of shape (n_rows, n_columns, n_shown)
        Contributions by row, column and entry of ``shown_classes``.
    base : ndarray of shape (n_shown,)
        What is added up before any column.
    unit : str
        What contributions are added up to: ``"log of the odds"`` or ``"score"``.
    """

    names: tuple[Name, ...]
    values: tuple[tuple[str, ...], ...]
    scores: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    classes: NDArray[Any]
    event_index: int | None = None
    frame: str = ARRAYS

    @property
    def n_rows(self) -> int:
        return len(self.scores)

    @property
    def shown_classes(self) -> list[Any]:
        """The event, or all classes if there is none."""
        classes = self.classes.tolist()
        return classes if self.event_index is None else [classes[self.event_index]]

    @property
    def shown(self) -> NDArray[np.float64]:
        """Contributions by row, column and entry of ``shown_classes``."""
        return self._of_shown(self.scores)

    @property
    def base(self) -> NDArray[np.float64]:
        """What is added up before any column, by entry of ``shown_classes``."""
        return self._of_shown(self.intercepts)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Probability of each class for each row."""
        scores = self.intercepts + self.scores.sum(axis=1)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def shown_class(self, row: int) -> int:
        """Number in ``shown_classes`` of the class shown of the row number `row`: the event, or its likeliest class."""
        return 0 if self.event_index is not None else int(self.probabilities[row].argmax())

    @property
    def unit(self) -> str:
        """What contributions are added up to."""
        return "log of the odds" if len(self.classes) == 2 and self.event_index is not None else "score"

    def order(self, row: int) -> NDArray[np.int64]:
        """Columns by the size of their largest contribution to the row number `row`, descending; ties: first."""
        return np.argsort(-np.abs(self.shown[row]).max(axis=1, initial=0.0), kind="stable")

    def table(self, frame: str | None = None) -> Any:
        """Table with one row per row of the data and column, the largest contribution first.

        Each row of the data begins with what is known before its columns, named ``(all rows)``. ``contribution`` is of
        the event; without one, there are ``contribution_<class>`` of each class. `frame` is as in `Model.table`.
        """
        n, shown, order = len(self.names), self.shown, [self.order(row) for row in range(self.n_rows)]
        columns: dict[str, Any] = {
            "row": np.repeat(np.arange(self.n_rows), n + 1),
            "column": [word for at in order for word in (PRIOR, *(str(self.names[k]) for k in at))],
            "value": [word for row, at in enumerate(order) for word in ("", *(self.values[row][k] for k in at))],
        }
        names = ["contribution"] if self.event_index is not None else [f"contribution_{c}" for c in self.shown_classes]
        for c, name in enumerate(names):
            found = [np.append(self.base[c], shown[row, at, c]) for row, at in enumerate(order)]
            columns[name] = np.concatenate(found) if found else np.empty(0)
        return make_frame(columns, frame or self.frame)

    def plot(self, row: int = 0, *, ax: Any = None, max_columns: int = 15) -> Any:
        """Draw the contributions to one row; returns a `gridmodl.plot.ContributionsDisplay`.

        Parameters
        ----------
        row : int
            Number of the row.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        max_columns : int
            Number of columns that are drawn, the largest contributions first; the others are drawn as one.
        """
        from gridmodl.plot import ContributionsDisplay

        return ContributionsDisplay(self, row=row, max_columns=max_columns).plot(ax)

    def _of_shown(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the classes as they are shown: by class, of the event, or as log of the odds of the event."""
        if self.event_index is None:
            return scores
        event = scores[..., [self.event_index]]
        return event - scores[..., [1 - self.event_index]] if len(self.classes) == 2 else event

    def _repr_html_(self) -> str:
        from gridmodl.report.notebook import contributions_html

        return contributions_html(self)

    def __repr__(self) -> str:
        return f"Contributions({counted(self.n_rows, 'row')}, {counted(len(self.names), 'column')})"
