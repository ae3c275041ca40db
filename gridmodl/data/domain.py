"""The domain of a density, the widths of its parts, and its masses.

A density is of the values of one column that are no masses: values with parts of their own, which have no width. The
domain goes from the lowest of the others to the highest; of values on a lattice, from half a step below the lowest to
half a step above the highest, so that each point of the lattice is as wide as a step, the ends too. A part ends at its
bounds, and these are midway between two neighbouring values unless the user chose them, or the gap between the two is
so wide that it may be a part of its own. On a lattice, its width is a step for each point between its bounds.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.bounds import EXACT, SHORT, bounds_between
from gridmodl.data.lattice import ROUNDING, half_steps, step_of
from gridmodl.data.numbers import Numbers
from gridmodl.terms import DOMAIN

BESIDE = 3  # values on each side that a mass is compared with, and the most that a wide gap leaves alone
MANY_TIMES = 10  # the rows of a typical value beside it, at least, that a mass has
FILLED = 1e-4  # share of even samples of real numbers whose smallest distance is as near to the mean as on a lattice
AROUND = 8  # distances on each side that a gap is compared with
WIDE = 2.0  # a gap is wider than WIDE log V mean distances of V values: one in V even samples has such a gap
REACH = 3.0  # mean distances beyond its last value in which an even stretch ends, but for one in twenty

LARGEST = float(np.nextafter(2.0**64, 0.0))  # that a 64-bit integer holds
SMALLEST = float(np.finfo(np.float64).smallest_normal)  # smaller floats have fewer digits


class Domain(NamedTuple):
    """The range over which the density integrates to 1, and the type of the column."""

    low: Any  # in the engine's type: a float, or an integer for dates and for integers beyond 2**53
    high: Any
    type: np.dtype[Any]

    @property
    def width(self) -> float:
        """The width in units of the column; for dates in the unit of their type, such as days."""
        return float(int(self.high) - int(self.low)) if self.type.kind != "f" else float(self.high) - float(self.low)

    @property
    def exponent(self) -> int:
        """The power of two that brings the width to between 1/2 and 1."""
        return math.frexp(self.width)[1]

    @property
    def end(self) -> float:
        """The position of the upper end."""
        return math.frexp(self.width)[0]

    def ends(self) -> NDArray[Any]:
        """Both ends, in the column's own type."""
        return self.in_own_type([self.low, self.high])

    def in_own_type(self, values: list[Any]) -> NDArray[Any]:
        if self.type.kind == "f":
            return np.array(values, dtype=np.float64)
        return np.array(values, dtype=np.uint64 if self.type.kind == "u" else np.int64).view(self.type)

    def at(self, places: NDArray[np.float64]) -> NDArray[Any]:
        """Values at `places` from 0, the lower end, to 1, in the column's own type, but no integer or date at 0."""
        if self.type.kind == "f":
            return np.asarray(float(self.low) + places * self.width)
        whole = np.minimum(np.floor(places * self.width) + 1.0, self.width)
        return self.in_own_type([int(self.low) + int(offset) for offset in whole.tolist()])

    def moved(self, values: NDArray[Any], steps: NDArray[np.float64]) -> NDArray[Any]:
        """Each of `values`, in the engine's type, moved up by some units, in the column's own type.

        Steps of dates and integers are rounded. No value gets above the upper end.
        """
        if self.type.kind == "f":
            return np.minimum(values + steps, float(self.high))
        whole = np.minimum(np.rint(steps), LARGEST).astype(np.uint64)
        found = values.astype(np.uint64) + whole  # modulo 2^64: exact
        return found if self.type.kind == "u" else found.view(np.int64).view(self.type)

    def positions(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Distances from the lower end, divided by a power of two so that the last one is below 1.

        No square overflows or vanishes in any unit, and round numbers stay round.
        """
        if self.type.kind == "f":
            return np.ldexp(values.astype(np.float64) - self.low, -self.exponent)
        whole = values.astype(np.uint64) - np.array(int(self.low) % 2**64, dtype=np.uint64)  # modulo 2^64: exact
        return np.ldexp(whole.astype(np.float64), -self.exponent)


def in_engine(values: NDArray[Any]) -> NDArray[Any]:
    """`values` of a column in the engine's type: dates and durations as integers."""
    return values.view(np.int64) if values.dtype.kind in "mM" else values


def distances(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float64]:
    """Distance from each of `low` up to each of `high`, both in the engine's type."""
    if low.dtype.kind == "f":
        return np.asarray(high - low)
    return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)  # modulo 2^64: exact


def domain_around(low: Any, high: Any, dtype: np.dtype[Any], step: float) -> Domain:
    """The domain of values from `low` to `high`, which ends half a `step` beyond both."""
    below, above = half_steps(step, dtype)
    if dtype.kind == "f":
        return Domain(low - below, high + above, dtype)
    ends = np.array([int(low) - below, int(high) + above], dtype=np.asarray(low).dtype)
    return Domain(ends[0], ends[1], dtype)


def domain_of(ends: NDArray[Any], dtype: np.dtype[Any]) -> Domain:
    """The domain between two ends of a column of type `dtype`."""
    low, high = ends.view(np.int64) if ends.dtype.kind in "mM" else ends
    return Domain(low, high, dtype)


def first_inside(ends: NDArray[Any], step: float) -> NDArray[Any]:
    """First and last value inside the domain that ends at `ends`; on a lattice of integers or dates, not its lower end.

    `step` is that of the lattice, 0 for none.
    """
    if not step or ends.dtype.kind == "f":
        return ends
    inside = in_engine(ends).copy()
    inside[0] += inside.dtype.type(1)
    return inside.view(ends.dtype)


def just_below(value: Any) -> Any:
    """The largest value below `value`: `x <= it` is `x < value`. None if no integer is below."""
    if value.dtype.kind == "f":
        with np.errstate(over="ignore"):  # minus infinity is below the lowest float
            return np.nextafter(value, -np.inf)
    tick = in_engine(np.array([value]))
    if tick[0] <= np.iinfo(tick.dtype).min + (value.dtype.kind in "mM"):
        return None
    return (tick - tick.dtype.type(1)).view(value.dtype)[0]


def check_finite(column: Numbers) -> None:
    """Raise ValueError if a value is infinite, or the values span more or less than a float holds with all digits."""
    if column.values.dtype.kind != "f":
        return
    n_infinite = int(np.count_nonzero(~np.isfinite(column.values)))
    if n_infinite:
        raise ValueError(
            f"column {column.name!r} holds {n_infinite} infinite values, which have no density; drop those rows, or "
            "put missing values in their place"
        )
    values = column.values if column.missing is None else column.values[~column.missing]
    span = float(values.max()) - float(values.min()) if len(values) else 0.0
    if not math.isfinite(span):
        raise ValueError(f"column {column.name!r} spans more than the largest float; divide it by 2 or more")
    if 0.0 < span < SMALLEST:
        raise ValueError(f"column {column.name!r} spans less than {SMALLEST!r}; multiply it by 1e100 or more")


class DistinctValues(NamedTuple):
    """Distinct values of a column that are no masses, ascending, in the engine's type, and the rows of each."""

    values: NDArray[Any]
    rows: NDArray[np.int64]
    type: np.dtype[Any]
    step: float = 0.0  # of the lattice of the values; 0 if they are on none

    @property
    def domain(self) -> Domain:
        return domain_around(self.values[0], self.values[-1], self.type, self.step)

    def places(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Place of each of `values` in the domain, from 0 to 1."""
        within = Domain(self.values[0], self.values[-1], self.type)
        found = within.positions(np.clip(values, within.low, within.high)) / within.end
        found = (found * (self._n_points - 1.0) + 0.5) / self._n_points if self.step else found
        return np.clip(found, 0.0, 1.0)

    @property
    def _n_points(self) -> float:
        """Points of the lattice from the lowest value to the highest."""
        return float(np.rint(distances(self.values[:1], self.values[-1:]) / self.step)[0]) + 1.0

    def _points_upto(self, bounds: NDArray[Any]) -> NDArray[np.float64]:
        """Points of the lattice up to each of `bounds`, in the engine's type; so are the values up to it."""
        at = np.clip(np.searchsorted(self.values, bounds, side="right") - 1, 0, len(self.values) - 2)
        low = self.values[at]
        before = np.rint(distances(self.values[:1], low) / self.step) + 1.0
        beyond = np.floor(distances(low, np.maximum(bounds, low)) / self.step + ROUNDING)
        found = before + np.minimum(beyond, np.rint(distances(low, self.values[at + 1]) / self.step) - 1.0)
        found = np.where(bounds < self.values[0], 0.0, found)
        return np.where(bounds >= self.values[-1], self._n_points, found)

    def middles(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """Place at which the part below the bound midway between two values ends, given their places."""
        n = self._n_points if self.step else 0.0
        return (np.floor(np.rint((low + high) * n) / 2.0 - 0.5) + 1.0) / n if n else (low + high) / 2.0

    def places_between(self, bounds: NDArray[Any]) -> NDArray[np.float64]:
        """Place at which the part below each of `bounds`, in the engine's type, ends; after a point of a lattice."""
        return self._points_upto(bounds) / self._n_points if self.step else self.places(bounds)

    def places_of_bounds(self, bounds: NDArray[Any]) -> NDArray[np.float64]:
        """Place at which the part below each of `bounds` ends, ascending and in the column's own type.

        The type of a column may round a middle; then the place is that of the middle, and not of the bound.
        """
        engine = bounds.view(np.int64) if bounds.dtype.kind in "mM" else bounds.astype(self.values.dtype)
        if self.step:
            return self.places_between(engine)
        above = np.clip(np.searchsorted(self.values, engine, side="right"), 1, len(self.values) - 1)
        low, high = self.values[above - 1], self.values[above]
        middles = bounds_between(low, high, self.type, EXACT)
        is_middle = (low <= engine) & (engine < high) & (middles == bounds)
        places = self.places(np.concatenate([low, high])).reshape(2, -1).mean(axis=0)
        return np.where(is_middle, places, self.places(engine))


def cumulated(places: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers from 0 to DOMAIN for places from 0 to 1."""
    return np.rint(places * float(DOMAIN)).astype(np.int64)


def widths_between(places: NDArray[np.float64]) -> NDArray[np.int64]:
    """Width of each part, of DOMAIN in all, given the places of the bounds, ascending."""
    return np.diff(cumulated(np.concatenate([[0.0], places, [1.0]])))


def distinct_values(column: Numbers, weights: NDArray[np.int64] | None, masses: NDArray[Any]) -> DistinctValues:
    """Distinct values of a column without missing values, but for `masses`, which are of the type of its values."""
    if weights is None:
        values, rows = np.unique(column.values, return_counts=True)
    else:
        values, place = np.unique(column.values, return_inverse=True)
        rows = np.zeros(len(values), dtype=np.int64)
        np.add.at(rows, place, weights)
    is_left = ~np.isin(values, masses)
    values = values[is_left]
    return DistinctValues(values, rows[is_left].astype(np.int64), column.type, step_of(values, column.type))


def find_masses(found: DistinctValues, most: int) -> NDArray[Any]:
    """Values that alone hold many rows, at most `most` of them; and a value that is left alone.

    A mass has MANY_TIMES the rows of a typical value beside it, the median of the BESIDE distinct values on each side.
    So it is for a column of real numbers with many zeros; but no value of rounded numbers is one because it repeats.
    A value that has MANY_TIMES rows, and stands alone, is one too: such as -999 beside ages, or -999 and -998.
    """
    n, rows = len(found.values), found.rows
    if n > 1:
        at = np.flatnonzero(rows >= MANY_TIMES)
        padded = np.full(n + 2 * BESIDE, np.nan)
        padded[BESIDE:-BESIDE] = rows
        beside = [padded[at + i] for i in range(2 * BESIDE + 1) if i != BESIDE]
        is_mass = rows[at] >= MANY_TIMES * np.nanmedian(beside, axis=0)
        at = at[is_mass | stand_alone(found)[at]]
        at = np.sort(at[np.argsort(-rows[at], kind="stable")[:most]])
    else:
        at = np.arange(n)
    if len(at) == n - 1:
        at = np.arange(n)
    return found.values[at]


def stand_alone(found: DistinctValues) -> NDArray[np.bool_]:
    """Whether each value is one of at most BESIDE with wide gaps to all others, where values fill a lattice.

    A gap is wide beside the mean distance of some values, more than BESIDE, on one side of it. They fill their lattice,
    and repeat because there is no room, if the smallest distance is so near to the mean that FILLED real numbers do so.
    """
    steps, n = distances(found.values[:-1], found.values[1:]), len(found.values)
    is_wide = np.zeros(len(steps), dtype=bool)
    for side, of_side in ((steps, is_wide), (steps[::-1], is_wide[::-1])):  # the values below each gap, those above it
        smallest, total = np.full(len(side), np.inf), np.zeros(len(side))
        for k in range(1, min(AROUND, len(side) - 1) + 1):
            smallest[k:] = np.minimum(smallest[k:], side[:-k])
            total[k:] += side[:-k]
            if k >= BESIDE:
                is_full = smallest[k:] * k >= total[k:] * (1.0 - FILLED ** (1.0 / (k - 1)))
                of_side[k:] |= is_full & (side[k:] > WIDE * math.log(n) * total[k:] / k)
    runs = np.append(0, np.cumsum(is_wide))  # of values without a wide gap between them
    sizes = np.bincount(runs)
    return np.asarray((sizes <= BESIDE)[runs] & (len(sizes) > 1))


class Gaps(NamedTuple):
    """Wide gaps between neighbouring values: the number of the value below each, and its ends, in the engine's type."""

    at: NDArray[np.int64]
    low: NDArray[Any]
    high: NDArray[Any]


def wide_gaps(found: DistinctValues) -> Gaps:
    """Gaps that are wide beside the distances of the values on both sides, and may be parts without rows.

    A gap ends near the values beside it: at the shortest number within REACH of their mean distances, as where even
    stretches of real data end, and at most in its own middle. On a lattice it begins half a step beyond them, and ends
    there where all points beside it have values.
    """
    values, n = found.values, len(found.values)
    at = np.arange(AROUND, n - AROUND - 1)
    if len(at) == 0:
        return Gaps(at, values[:0], values[:0])
    before = distances(values[at - AROUND], values[at]) / AROUND
    after = distances(values[at + 1], values[at + 1 + AROUND]) / AROUND
    widths = distances(values[at], values[at + 1])
    is_wide = widths > WIDE * math.log(n) * np.maximum(before, after)
    at, before, after, widths = at[is_wide], before[is_wide], after[is_wide], widths[is_wide]
    reaches = [np.minimum(found.step / 2.0 + REACH * (side - found.step), widths / 2.0) for side in (before, after)]
    down, up = (_whole(reach, values.dtype) for reach in (reaches[0], -reaches[1]))
    below, above = (values.dtype.type(one) for one in half_steps(found.step, found.type))
    low = _short(values[at] + above, values[at] + down, found.type, values.dtype)
    high = _short(values[at + 1] + up, values[at + 1] - below, found.type, values.dtype)
    is_gap = (values[at] <= low) & (low < high) & (high < values[at + 1])
    return Gaps(at[is_gap], low[is_gap], high[is_gap])


def _whole(steps: NDArray[np.float64], engine: np.dtype[Any]) -> NDArray[Any]:
    """`steps`, up or down, in the engine's type, rounded down if that is of integers, modulo 2^64."""
    return steps if engine.kind == "f" else np.floor(steps).astype(np.int64).astype(engine)


def _short(low: NDArray[Any], high: NDArray[Any], dtype: np.dtype[Any], engine: np.dtype[Any]) -> NDArray[Any]:
    """Shortest number between each `low` and `high`, as a column of `dtype` holds it, in the type of the engine."""
    found = bounds_between(low, high, dtype, SHORT)
    return found.astype(dtype).astype(engine) if engine.kind == "f" else in_engine(found).view(engine)


def log_ratio(rows: Any, shares: Any, n_rows: float) -> NDArray[np.float64]:
    """Logarithm of the density of each part times the width of the domain, with one row spread over the domain."""
    return np.asarray(np.log(rows + shares) - np.log(shares) - math.log(n_rows + 1.0))
