"""Values of a column along an axis: numbers as they are, dates as dates, durations in a unit that people count in."""

from __future__ import annotations

from typing import Any

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


def on_scale(values: NDArray[Any]) -> tuple[NDArray[np.float64], str]:
    """The places of values on an axis, and the unit of durations; infinite ones and those out of all calendars are NaN.

    Durations are in the largest unit of which the longest has two or more.
    """
    if values.dtype.kind == "M":
        days = date2num(values.astype("datetime64[us]"))  # type: ignore[no-untyped-call]
        return np.where(np.isfinite(days), days, np.nan), ""
    if values.dtype.kind == "m":
        longest = np.abs(values).max(initial=np.timedelta64(0, "s"))
        name = next((name for name, unit in DURATIONS.items() if longest >= 2 * unit), "microseconds")
        return values / DURATIONS[name], name
    places = values.astype(np.float64)
    return np.where(np.isfinite(places), places, np.nan), ""


def scale_below(ax: Axes, values: NDArray[Any], is_utc: bool, name: str, unit: str) -> None:
    """Ticks of dates, and the name of the axis with its unit."""
    if values.dtype.kind == "M":
        ticks = AutoDateLocator()  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_locator(ticks)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(ticks))  # type: ignore[no-untyped-call]
        unit = "UTC" if is_utc else ""
    ax.set_xlabel(f"{name} ({unit})" if unit else name)
