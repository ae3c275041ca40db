"""`Cutoffs`: cut-offs of a score and what each approves, of rows whose class is known.

Rows on the safe side of a cut-off are approved: those at or above it, or with ``odds_of="event"`` those below it. Of
the rows of the event and of the rest, KS at a cut-off is the difference of the shares that are rejected. Gini is
2 AUC - 1 of the score among the approved rows: at the cut-off that approves all rows, that of the scorecard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import ARRAYS, make_frame
from gridmodl.model.labels import counted
from gridmodl.scorecard.rows import check_count, column_of, events_of, numbers_of

if TYPE_CHECKING:
    from gridmodl.scorecard.record import Scorecard


@dataclass(frozen=True, eq=False)
class Cutoffs:
    """Cut-offs of a score and the rows that each approves.

    Attributes
    ----------
    cutoff : ndarray
        Cut-offs of the score, ascending.
    columns : dict of str to ndarray
        Columns of `table` by name, for each cut-off.
    gini : float
        2 AUC - 1 of the score on all rows; NaN if they have one class.
    ks : float
        Largest difference of the distributions of the score of the event and of the rest; NaN if there is one class.
    event_rate : float
        Share of the event in all rows.
    best : float
        The score that tells the two classes apart best: where the distributions differ by ``ks``.
    scores : ndarray
        The distinct scores of the rows, ascending.
    events : ndarray
        Weight of the rows of the event at each score.
    rest : ndarray
        Weight of the other rows at each score.
    frame : str
        Kind of frame in which `table` is returned.
    """

    cutoff: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64]]
    gini: float
    ks: float
    event_rate: float
    best: float
    scores: NDArray[np.float64]
    events: NDArray[np.float64]
    rest: NDArray[np.float64]
    frame: str = ARRAYS

    def table(self, frame: str | None = None) -> Any:
        """Table with one row per cut-off. `frame` is as in `Model.table`.

        ``approved`` rows, their share ``approval_rate`` and share of the event ``event_rate``; ``events_rejected`` and
        ``rest_rejected``, shares of the event and of the rest that are rejected, and their difference ``ks``; ``gini``
        among the approved rows; ``expected_loss``, the sum over the approved rows of the probability of the event
        times the loss, and ``observed_loss``, the sum of the loss of those that had it.
        """
        return make_frame({"cutoff": self.cutoff, **self.columns}, frame or self.frame)

    def plot(self, *, ax: Any = None, bins: int = 40) -> Any:
        """Draw the distribution of the score of both classes; returns a `gridmodl.plot.ScoresDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        bins : int
            Number of bars.
        """
        from gridmodl.plot import ScoresDisplay

        return ScoresDisplay(self, bins=bins).plot(ax)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.scorecard import cutoffs_html

        return cutoffs_html(self)

    def __repr__(self) -> str:
        return f"Cutoffs({counted(len(self.cutoff), 'cut-off')}, gini {self.gini:.4f}, ks {self.ks:.4f})"


def cutoffs_of(card: Scorecard, data: Any, target: Any, weights: Any, at: Any, n: int, loss: Any) -> Cutoffs:
    """The result of `Scorecard.cutoffs`."""
    score = card.score(data)
    is_event = events_of(card, column_of(data, target, "target"), len(score))
    rows = np.ones(len(score)) if weights is None else numbers_of(data, weights, len(score), "weights")
    losses = numbers_of(data, loss, len(score), "loss") * rows
    if not rows.sum() > 0.0:
        raise ValueError("data has no row, or none with a weight above 0: there is nothing to approve")
    odds = card.scaling.log_odds(score)
    probability = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
    kept = rows > 0.0
    scores, place = np.unique(score[kept], return_inverse=True)
    sums: list[NDArray[np.float64]] = [
        np.asarray(np.bincount(place, values[kept], len(scores)), dtype=np.float64)
        for values in (rows * is_event, rows * ~is_event, losses * probability, losses * is_event)
    ]
    is_high_safe = card.scaling.odds_of == "rest"
    cutoff = _checked_cutoffs(at, n, scores, sums[0] + sums[1])
    columns = _columns(cutoff, scores, sums, is_high_safe)
    everything = _columns(np.array([-np.inf if is_high_safe else np.inf]), scores, sums, is_high_safe)
    by_score = _columns(scores, scores, sums, is_high_safe)["ks"]
    has_both = bool(sums[0].sum() > 0.0 and sums[1].sum() > 0.0)
    return Cutoffs(
        cutoff=cutoff,
        columns=columns,
        gini=float(everything["gini"][0]),
        ks=float(by_score.max()) if has_both else float("nan"),
        event_rate=float(sums[0].sum() / rows.sum()),
        best=float(scores[by_score.argmax()]) if has_both else float("nan"),
        scores=scores,
        events=sums[0],
        rest=sums[1],
        frame=card.frame,
    )


def _checked_cutoffs(at: Any, n: Any, scores: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut-offs, ascending: those of the user, or about `n` scores that divide the rows evenly, the lowest first."""
    if at is not None:
        found = np.unique(np.asarray(at, dtype=np.float64))
        if not len(found) or not np.all(np.isfinite(found)):
            raise ValueError(f"at must be one or several finite scores, got {at!r}")
        return found
    check_count(n, "cut-offs")
    before = np.append(0.0, np.cumsum(rows)[:-1]) / rows.sum()  # share of the rows below each score
    return scores[np.unique(np.searchsorted(before, np.arange(n) / n, side="left").clip(max=len(scores) - 1))]


def _columns(
    cutoff: NDArray[np.float64], scores: NDArray[np.float64], sums: list[NDArray[np.float64]], is_high_safe: bool
) -> dict[str, NDArray[np.float64]]:
    """Columns of the table; `sums` are events, rest, expected and observed loss at each of the ascending `scores`."""
    if not is_high_safe:  # below a cut-off: negated scores above it
        flipped = _columns(np.nextafter(-cutoff[::-1], np.inf), -scores[::-1], [one[::-1] for one in sums], True)
        return {name: column[::-1] for name, column in flipped.items()}
    first = np.searchsorted(scores, cutoff, side="left")  # the first score that is approved
    events, rest, expected, observed = (np.append(one[::-1].cumsum()[::-1], 0.0) for one in sums)
    # Pairs of an event and a row of the rest that has a higher score; equal scores count half.
    pairs = np.append((sums[0] * (rest[:-1] - sums[1] / 2.0))[::-1].cumsum()[::-1], 0.0)
    approved = events[first] + rest[first]
    with np.errstate(invalid="ignore", divide="ignore"):
        events_rejected, rest_rejected = 1.0 - events[first] / events[0], 1.0 - rest[first] / rest[0]
        return {
            "approved": approved,
            "approval_rate": approved / (events[0] + rest[0]),
            "event_rate": events[first] / approved,
            "events_rejected": events_rejected,
            "rest_rejected": rest_rejected,
            "ks": events_rejected - rest_rejected,
            "gini": 2.0 * pairs[first] / (events[first] * rest[first]) - 1.0,
            "expected_loss": expected[first],
            "observed_loss": observed[first],
        }
