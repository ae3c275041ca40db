"""Values of a column along an axis: numbers as they are, dates as dates, durations in a unit that people count in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from numpy.typing import NDArray

DURATIONS = {
    "days": np.timedelta64(1, "D"),
    "hours": np.timedelta64(1, "h"),
    "minutes": np.timedelta64(1, "m"),
    "seconds": np.timedelta64(1, "s"),
    "milliseconds": np.timedelta64(1, "ms"),
    "microseconds": np.timedelta64(1, "us"),
}
FIRST_DAY, LAST_DAY = np.datetime64("0001-01-02"), np.datetime64("9999-12-30")  # that matplotlib has ticks for
DAYS_OF_YEAR = 365.2425


class Scale(NamedTuple):
    """Where values are along an axis."""

    kind: str  # "numbers", "dates", "years" for dates beyond the calendar of matplotlib, or a unit of durations
    unit: str  # in words; empty for numbers

    def places(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Of each value; NaN of one that is infinite or missing."""
        if self.kind == "dates":
            return np.asarray(date2num(values.astype("datetime64[us]")))  # type: ignore[no-untyped-call]
        if self.kind == "years":
            days = values.astype("datetime64[D]")
            return np.where(np.isnat(days), np.nan, 1970.0 + days.astype(np.float64) / DAYS_OF_YEAR)
        if self.kind in DURATIONS:
            return np.asarray(values / DURATIONS[self.kind])
        places = values.astype(np.float64)
        return np.where(np.isfinite(places), places, np.nan)

    def name_axis(self, ax: Axes, name: str) -> None:
        """Ticks of dates, and the name below the axis with its unit."""
        if self.kind == "dates":
            ticks = AutoDateLocator()  # type: ignore[no-untyped-call]
            ax.xaxis.set_major_locator(ticks)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(ticks))  # type: ignore[no-untyped-call]
        ax.set_xlabel(f"{name} ({self.unit})" if self.unit else name)


def scale_of(values: NDArray[Any], is_utc: bool = False) -> Scale:
    """The scale that suits values: durations in the largest unit of which the longest has two or more."""
    if values.dtype.kind == "m":
        longest = np.abs(values).max(initial=np.timedelta64(0, "s"))
        unit = next((name for name, one in DURATIONS.items() if longest >= 2 * one), "microseconds")
        return Scale(unit, unit)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        is_usual = bool(np.all((days >= FIRST_DAY) & (days <= LAST_DAY)))
        return Scale("dates", "UTC" if is_utc else "") if is_usual else Scale("years", "year")
    return Scale("numbers", "")
