"""`Stability`: whether the order of event rates is the same in every period, and which periods broke it."""

from __future__ import annotations

from typing import NamedTuple

from gridmodl.model.labels import counted

MAX_SHOWN = 8  # periods in a sentence


class PeriodBreak(NamedTuple):
    """Two parts whose event rates are in the other order in a period than in all rows.

    Attributes
    ----------
    period : str
        The period.
    low, high : str
        Labels of the part with the lower event rate in all rows, and of the other.
    low_rate, high_rate : float
        Their event rates in the period; the first is the higher one.
    """

    period: str
    low: str
    high: str
    low_rate: float
    high_rate: float


class Stability(NamedTuple):
    """Effect of the limit ``stable_over`` on the result of a search.

    Attributes
    ----------
    over : str
        Name of the column of periods; ``"stable_over"`` if an array was given.
    periods : tuple of str
        The periods.
    compared : tuple of str
        The periods with rows enough for parts to be compared in them.
    min_period_rows : int or float
        Least rows of a period in which parts are compared; below 1, their share of all rows.
    free_cost : float
        Cost of the best partition found without the limit, within all others.
    free_parts : int
        Its number of parts.
    breaks : tuple of PeriodBreak
        For each period in which that partition breaks the order, the two parts that are farthest from it; empty if the
        limit changed nothing.
    """

    over: str
    periods: tuple[str, ...]
    compared: tuple[str, ...]
    min_period_rows: int | float
    free_cost: float
    free_parts: int
    breaks: tuple[PeriodBreak, ...] = ()

    @property
    def broken(self) -> list[str]:
        """Periods in which the best partition without the limit breaks the order."""
        return [one.period for one in self.breaks]

    def summary(self) -> str:
        """Sentence on what the limit changed, and on the periods that broke the best partition without it."""
        periods = f"{len(self.compared)} of {counted(len(self.periods), 'period')} of {self.over}"
        if not self.breaks:
            return f"stable: the best partition has the same order of event rates in {periods}"
        shown = ", ".join(self.broken[:MAX_SHOWN]) + (", ..." if len(self.breaks) > MAX_SHOWN else "")
        return (
            f"stable in {periods}; without this limit {counted(self.free_parts, 'part')}, cost {self.free_cost:,.2f}, "
            f"their order is another in {counted(len(self.breaks), 'period')}: {shown}"
        )
