"""Dates, moments and durations as SQL, from numpy's."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

SECOND = 10**9  # in nanoseconds, as all below
DAY = 86_400 * SECOND
FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
ATTOSECONDS = {
    "as": 1, "fs": 10**3, "ps": 10**6, "ns": 10**9, "us": 10**12, "ms": 10**15, "s": 10**18,
    "m": 60 * 10**18, "h": 3_600 * 10**18, "D": 86_400 * 10**18, "W": 604_800 * 10**18,
}  # fmt: skip


def nanoseconds_of(time: Any) -> tuple[int, bool]:
    """Nanoseconds since 1970, or of a duration, rounded down; and whether that is exact."""
    unit, count = np.datetime_data(time.dtype)
    if unit in ("Y", "M"):
        time, unit, count = time.astype("datetime64[D]"), "D", 1
    whole, rest = divmod(int(time.astype(np.int64)) * count * ATTOSECONDS[unit], ATTOSECONDS["ns"])
    return whole, rest == 0


def moment_text(nanoseconds: int, digits: int) -> str:
    """Such as 2020-01-31 12:00:00.000000, digits behind the point cut off."""
    days, rest = divmod(nanoseconds, DAY)
    try:
        date = datetime.date.fromordinal(FIRST_DAY + days)
    except (ValueError, OverflowError) as error:
        raise ValueError("is a date outside of the years 1 to 9999") from error
    return f"{date.isoformat()} {_clock(rest, digits)}"


def duration_text(nanoseconds: int) -> tuple[str, str]:
    """Days, and hours, minutes and seconds, such as -1 and -02:03:04.500000; rounded down to microseconds."""
    microseconds = nanoseconds // 1_000
    sign = "-" * (microseconds < 0)
    days, rest = divmod(abs(microseconds) * 1_000, DAY)
    return f"{sign}{days}", f"{sign}{_clock(rest, 6)}"


def _clock(nanoseconds: int, digits: int) -> str:
    seconds, fraction = divmod(nanoseconds, SECOND)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock}.{fraction:09d}"[: len(clock) + 1 + digits]


# SQLite has no dates; they are texts by custom, a day or a moment with or without fractions of a second.
ZEROS = "0000-00-00 00:00:00.000000000"


def sqlite_moment(x: str, is_utc: bool) -> str:
    """A date or moment as a text of one length, of UTC where texts name a zone."""
    if not is_utc:
        return f"(replace({x}, 'T', ' ') || substr('{ZEROS}', length({x}) + 1))"
    zone = f"ltrim(substr({x}, 20), '.0123456789')"
    fraction = f"substr({x}, 20, max(length({x}) - 19 - length({zone}), 0))"
    clock = f"strftime('%Y-%m-%d %H:%M:%S', substr({x}, 1, 19) || {zone})"
    return f"({clock} || {fraction} || substr('{ZEROS[19:]}', length({fraction}) + 1))"
