"""Scales along an axis: numbers as they are, dates as dates, durations in a common unit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, date2num, num2date
from matplotlib.ticker import Formatter
from numpy.typing import NDArray

from gridmodl.plot.axes.layout import LARGEST

LARGEST_SPAN = 1e305  # of the values on an axis
DURATIONS = {
    "days": np.timedelta64(1, "D"),
    "hours": np.timedelta64(1, "h"),
    "minutes": np.timedelta64(1, "m"),
    "seconds": np.timedelta64(1, "s"),
    "milliseconds": np.timedelta64(1, "ms"),
    "microseconds": np.timedelta64(1, "us"),
}
FIRST_DAY, LAST_DAY = np.datetime64("0001-01-02"), np.datetime64("9999-12-30")  # range of ticks of matplotlib
DAYS_OF_YEAR = 365.2425
DATE_UNITS = "Y", "M", "D", "m", "s", "ms", "us"
YEAR, MONTH, DAY = len("2020-"), len("2020-05"), len("2020-05-01 ")  # characters at the beginning of a tick of dates


def check_span(low: float, high: float) -> None:
    """Raise ValueError if differences of values on an axis would overflow."""
    if not abs(low) + abs(high) < LARGEST_SPAN:
        raise ValueError(
            f"values from {low:.3g} to {high:.3g} are further apart than matplotlib can draw; divide the column by a "
            "constant"
        )


class DateFormatter(Formatter):
    """Formats ticks of dates, no two alike: as long as their unit asks for; what all share is at the end of the axis.

    Of times of several days, the day is a line of its own.

    >>> formatter = DateFormatter()
    >>> formatter.format_ticks(date2num(np.array(["2021-05", "2021-09", "2022-01"], dtype="datetime64[D]")))
    ['2021-05', '2021-09', '2022-01']
    >>> formatter.format_ticks(date2num(np.array(["2021-05-25", "2021-06-01"], dtype="datetime64[D]")))
    ['05-25', '06-01']
    >>> formatter.get_offset()
    '2021'
    """

    offset = ""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Text of one date."""
        return self._texts([x])[0]

    def format_ticks(self, values: Any) -> list[str]:
        """Text of each date, without the year or the day that all share; months keep their year."""
        texts = self._texts(values)
        longest = max(map(len, texts), default=0)
        is_shared = {n: longest > max(n, MONTH) and len({text[:n] for text in texts}) == 1 for n in (DAY, YEAR)}
        shared = next((n for n in is_shared if is_shared[n]), 0)
        self.offset = texts[0][: shared - 1] if shared else ""
        return [text[shared:] for text in texts]

    def get_offset(self) -> str:
        """What all ticks share."""
        return self.offset

    @staticmethod
    def _texts(values: Any) -> list[str]:
        moments = [date.replace(tzinfo=None) for date in num2date(values)]  # type: ignore[no-untyped-call]
        dates = np.array(moments, dtype="datetime64[us]")
        unit = next(unit for unit in DATE_UNITS if np.all(dates == dates.astype(f"datetime64[{unit}]")))
        return [str(date).replace("T", "\n") for date in dates.astype(f"datetime64[{unit}]")]


class Scale(NamedTuple):
    """Places of values along an axis: numbers as they are, dates as dates, durations in a common unit."""

    kind: str  # "numbers", "dates", "years" for dates beyond the calendar of matplotlib, or a unit of durations
    unit: str  # in words; empty for numbers

    def places(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Place of each value; NaN if it is infinite or missing."""
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
        """Set ticks of dates, and the name of the axis with its unit."""
        if self.kind == "dates":
            ticks = AutoDateLocator()  # type: ignore[no-untyped-call]
            ax.xaxis.set_major_locator(ticks)
            ax.xaxis.set_major_formatter(DateFormatter())
        ax.set_xlabel(f"{name} ({self.unit})" if self.unit else name, fontsize=LARGEST)


def scale_of(values: NDArray[Any], is_utc: bool = False) -> Scale:
    """Scale for these values; durations in the largest unit of which the longest duration has two or more."""
    if values.dtype.kind == "m":
        longest = np.abs(values).max(initial=np.timedelta64(0, "s"))
        unit = next((name for name, one in DURATIONS.items() if longest >= 2 * one), "microseconds")
        return Scale(unit, unit)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        is_usual = bool(np.all((days >= FIRST_DAY) & (days <= LAST_DAY)))
        return Scale("dates", "UTC" if is_utc else "") if is_usual else Scale("years", "year")
    return Scale("numbers", "")
