"""Scale of a score, from the log of the odds: points to double the odds, and the points of given odds.

score  =  offset + factor * log odds,      factor = pdo / log 2,      offset = base_points - factor * log base_odds
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.spelling import check_choice

ODDS_OF = ("rest", "event")


class Scaling(NamedTuple):
    """Scale of a score."""

    pdo: float = 20.0  # points to double the odds
    base_points: float = 600.0  # score of the odds `base_odds`
    base_odds: float = 50.0
    odds_of: str = "rest"  # of the rest against the event, so that a high score means few events; or of the event
    rounded: bool = False  # whether points, and so scores, are whole numbers

    @property
    def factor(self) -> float:
        """Points for one unit of the log of the odds."""
        return self.pdo / math.log(2.0)

    @property
    def offset(self) -> float:
        """Score of odds of 1."""
        return self.base_points - self.factor * math.log(self.base_odds)

    @property
    def sign(self) -> float:
        """1 if scores rise with the odds of the event, -1 if they fall."""
        return 1.0 if self.odds_of == "event" else -1.0

    def points(self, log_odds: Any) -> NDArray[np.float64]:
        """Points of addends of the log of the odds of the event."""
        return self._rounded(self.sign * self.factor * np.asarray(log_odds, dtype=np.float64))

    def base(self, intercept: float) -> float:
        """Points of every row, given the log of the odds of the event where no column says anything."""
        return float(self._rounded(np.float64(self.offset + self.sign * self.factor * intercept)))

    def log_odds(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log of the odds of the event that a score stands for."""
        return np.asarray(self.sign * (score - self.offset) / self.factor)

    def _rounded(self, points: Any) -> NDArray[np.float64]:
        return np.asarray((np.round(points) if self.rounded else points) + 0.0)  # no -0.0


def checked_scaling(pdo: Any, base_points: Any, base_odds: Any, odds_of: Any, rounded: Any) -> Scaling:
    """The scale; raise TypeError or ValueError for numbers that are none."""
    check_choice("odds_of", odds_of, ODDS_OF)
    for name, value in (("pdo", pdo), ("base_points", base_points), ("base_odds", base_odds)):
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError(f"{name} must be a number, got {value!r}")
        if not math.isfinite(value) or (name != "base_points" and value <= 0.0):
            raise ValueError(
                f"{name} must be a finite number{'' if name == 'base_points' else ' above 0'}, got {value!r}"
            )
    if not isinstance(rounded, (bool, np.bool_)):
        raise TypeError(f"rounded must be True or False, got {rounded!r}")
    return Scaling(float(pdo), float(base_points), float(base_odds), odds_of, bool(rounded))
