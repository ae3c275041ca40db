"""Place a bound between each pair of neighbouring values: in the middle, or where its text is shortest.

A bound b between the neighbouring values low < high satisfies low <= b < high in the type of the column. All such
bounds make the same parts at the same cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHORT = "short"  # placement= of the shortest bounds
EXACT = "exact"  # placement of a density, whose parts have widths: middles, but for the rounding errors of floats
# Significant digits of the middle, by size of float: labels print all digits of a bound.
DIGITS = {2: 3, 4: 6, 8: 10}
EXACT_DIGITS = {2: 4, 4: 7, 8: 15}
MOVE = 0.01  # share of the distance of two values by which rounding may move a middle
PER_DAY = {"h": 24, "m": 1440, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
EXACT_POWER = 22  # largest power of ten that float64 holds exactly


def bounds_between(
    low: NDArray[Any], high: NDArray[Any], dtype: np.dtype[Any], placement: str | None = None
) -> NDArray[Any]:
    """Bound for each pair of neighbouring values, in the column's own `dtype`.

    Between two places of levels, the levels in between, which the data lacks, are divided in half; an odd one joins the
    lower side. With `placement` SHORT, the shortest bounds: those of floats of any size are float64, so that their text
    is exact. Else the middles; those of floats are rounded to ten significant digits where that moves them by at most a
    hundredth of the distance of the two values, and those of whole days are days, not noon.
    """
    if placement == SHORT and not _are_places(low, dtype):
        return _short_bounds(low, high, dtype)
    bounds = middle_bounds(low, high, dtype)
    if dtype.kind == "M" and placement is None:
        return _whole_days(bounds, low, high)
    if dtype.kind != "f":
        return bounds
    digits = (EXACT_DIGITS if placement == EXACT else DIGITS)[dtype.itemsize]
    return _rounded(bounds, low.astype(dtype), high.astype(dtype), digits)


def middle_bounds(low: NDArray[Any], high: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Middle of each pair of neighbouring values, in the column's own `dtype`."""
    if _are_places(low, dtype):
        return np.floor(middles(low, high)).astype(dtype)
    if dtype.kind == "f":
        return middles(low.astype(dtype), high.astype(dtype))
    return middles(low, high).view(dtype)


def _are_places(values: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether `values`, of a column of `dtype`, are places of levels, which are floats with integers as bounds."""
    return values.dtype.kind == "f" and dtype.kind == "i"


def middles(low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """Bound b for each pair of neighbouring values: low <= b < high, in the middle if possible.

    The bound is `low` if one of the two values is infinite or missing, or if they are adjacent numbers.
    """
    if low.dtype.kind in "iu":
        return (low & high) + ((low ^ high) >> 1)  # (low + high) // 2 without overflow
    with np.errstate(over="ignore", invalid="ignore"):
        middle = (low + high) / 2.0
        middle = np.where(np.isfinite(middle), middle, low / 2.0 + high / 2.0)
        good = np.isfinite(middle) & (low <= middle) & (middle < high)
    return np.where(good, middle, low)


def _whole_days(bounds: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """The middles of dates, `bounds`, as the day that they are in if both values, counted in its unit, are days."""
    unit, n_units = np.datetime_data(bounds.dtype)
    if unit not in PER_DAY or n_units != 1:  # days, or longer units
        return bounds
    day, at = PER_DAY[unit], bounds.view(np.int64)
    is_day = (low.view(np.int64) % day == 0) & (high.view(np.int64) % day == 0)
    return np.where(is_day, at - at % day, at).view(bounds.dtype)


def _rounded(bounds: NDArray[Any], low: NDArray[Any], high: NDArray[Any], digits: int) -> NDArray[Any]:
    """Middles of floats, `bounds`, rounded to decimals of few `digits` where these are near to them."""
    with np.errstate(all="ignore"):
        power = digits - 1 - np.floor(np.log10(np.abs(bounds.astype(np.float64))))
        can_scale = np.abs(power) <= EXACT_POWER
        power = np.where(can_scale, power, 0.0)
        scale = 10.0 ** np.abs(power)
        # Whole numbers and powers of ten are exact, so that one operation finds the float nearest to a decimal.
        whole = np.rint(np.where(power > 0.0, bounds * scale, bounds / scale))
        rounded = np.where(power > 0.0, whole / scale, whole * scale).astype(bounds.dtype)
        is_near = np.abs(rounded - bounds) <= (high - low) * MOVE
        good = can_scale & is_near & (low <= rounded) & (rounded < high)
    return np.where(good, rounded, bounds)


# The shortest bound: strictly between the two values if the column's type has such a value, else the lower value.
#
# Numbers: the decimal of the fewest significant digits (0 has none); of several, the nearest to the middle; ties: the
# lower. Durations: whole days, chosen in the same way. Dates, and durations without a whole day between: the multiple
# of the longest unit (year, month, day, hour, minute, second, tenths of a second and so on), nearest to the middle.


def _short_bounds(low: NDArray[Any], high: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Shortest bound for each pair of neighbouring values; a loop, as there is one pair for each bound of a result."""
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    if dtype.kind == "f":
        return np.array([_short_float(lo, hi, dtype) for lo, hi in pairs], dtype=np.float64)
    if dtype.kind in "iu":
        return np.array([_short_integer(lo, hi) for lo, hi in pairs], dtype=dtype)
    steps = list(_steps(dtype))
    bounds = [_short_time(lo, hi, dtype, steps) for lo, hi in pairs]
    return np.array(bounds, dtype=np.int64).view(dtype)


def _short_float(low: float, high: float, dtype: np.dtype[Any]) -> float:
    """Shortest float above `low` and below `high`, two values of a column of `dtype`; `low` if there is none."""
    # Texts and not exact values: 2.4 and 2.5 are equally near to the middle of 2.3 and 2.6, and 0.2 is not below the
    # 0.2 of float32, which is 0.20000000298023224.
    lowest, highest = (Decimal(str(dtype.type(end))) for end in (low, high))

    def is_inside(number: Decimal) -> bool:
        return lowest < number < highest and low < float(number) < high

    if low < 0.0 < high:
        return 0.0
    if math.isinf(low) or math.isinf(high):
        found = _nearest_short(highest, -1, is_inside) if math.isinf(low) else _nearest_short(lowest, 1, is_inside)
    else:
        middle = Context(prec=60).divide(Context(prec=60).add(lowest, highest), Decimal(2))
        found = _shortest_near(middle, 17, is_inside)
    return float(middles(np.array([low]), np.array([high]))[0]) if found is None else float(found)


def _short_integer(low: int, high: int) -> int:
    """Shortest integer above `low` and below `high`; `low` if there is none."""
    if low < 0 < high:
        return 0
    middle = Decimal(low + high) / 2
    found = _shortest_near(middle, 20, lambda number: low < number < high and number == int(number))
    return low if found is None else int(found)


def _shortest_near(middle: Decimal, most: int, is_inside: Callable[[Decimal], bool]) -> Decimal | None:
    """Decimal of the fewest digits, `most` at most, that is inside; of two, the nearer to `middle`; None if none is."""
    for digits in range(1, most + 1):
        around = [Context(prec=digits, rounding=way).plus(middle) for way in (ROUND_FLOOR, ROUND_CEILING)]
        inside = [number for number in around if is_inside(number)]
        if inside:
            return min(inside, key=lambda number: abs(number - middle))
    return None


def _nearest_short(end: Decimal, way: int, is_inside: Callable[[Decimal], bool]) -> Decimal | None:
    """Decimal of the fewest digits beyond `end`, the finite one of two values, nearest to it; below it if `way` < 0."""
    if end == 0:
        return Decimal(way)
    for digits in range(1, 18):
        context = Context(prec=digits, rounding=ROUND_FLOOR if way < 0 else ROUND_CEILING)
        number = context.plus(end)
        beyond = context.next_minus(number) if way < 0 else context.next_plus(number)
        for candidate in (number, beyond):
            if is_inside(candidate):
                return candidate
    return None


def _steps(dtype: np.dtype[Any]) -> Iterator[int | str]:
    """Units of dates or durations of `dtype`, the longest first: "Y" and "M", or a number of `_ticks`."""
    unit, size = np.datetime_data(dtype)
    if unit in CALENDAR:
        yield from (12, 1)
        return
    if dtype.kind == "M":
        yield from CALENDAR
    yield from (UNITS["D"], UNITS["h"], UNITS["m"])
    tick = _tick(unit, size)
    power = SECOND
    while power >= tick:
        yield power
        if power == 1:
            break
        power //= 10
    yield tick


CALENDAR = ("Y", "M")
SECOND = 10**18  # in attoseconds
UNITS = {
    "Y": 12, "M": 1,  # in months
    "W": 7 * 86_400 * SECOND, "D": 86_400 * SECOND, "h": 3_600 * SECOND, "m": 60 * SECOND, "s": SECOND,
    "ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1,
}  # fmt: skip


def _tick(unit: str, size: int) -> int:
    """Length of the unit of a type of dates or durations: in months for years and months, else in attoseconds."""
    return UNITS[unit] * size


def _short_time(low: int, high: int, dtype: np.dtype[Any], steps: list[int | str]) -> int:
    """Shortest date or duration above `low` and below `high`, all in the unit of `dtype`; `low` if there is none."""
    tick = _tick(*np.datetime_data(dtype))
    if dtype.kind == "m":
        days = _short_integer(low * tick // UNITS["D"], -(-high * tick // UNITS["D"])) * UNITS["D"]
        if low * tick < days and days % tick == 0:
            return days // tick
    for step in steps:
        twice = (low + high) * tick
        around = _calendar_dates(twice, step) if isinstance(step, str) else _multiples(twice, step)
        inside = [time // tick for time in around if time % tick == 0 and low * tick < time < high * tick]
        if inside:
            return min(inside, key=lambda time: abs(2 * time - low - high))
    return low


def _multiples(twice: int, step: int) -> list[int]:
    """Multiples of `step` at or next to the middle, which is `twice` / 2."""
    below = twice // (2 * step) * step
    return [below, below + step]


def _calendar_dates(twice: int, unit: str) -> list[int]:
    """First days of the years or months at or next to the middle, in attoseconds since 1970."""
    day = np.datetime64(twice // (2 * UNITS["D"]), "D")
    below = day.astype(f"datetime64[{unit}]")
    return [int((below + i).astype("datetime64[D]").astype(np.int64)) * UNITS["D"] for i in range(2)]
