"""Lattices: values that are whole multiples of a step apart, such as whole numbers, days and rounded numbers.

A value of a lattice stands for all numbers within half a step of it. What counts as one: three distinct values or more
whose distances are whole multiples of a step, up to the rounding of floats; and two neighbouring whole numbers. The
distances are counted in a unit, a power of ten or the smallest distance, and the step is the greatest common divisor of
these counts. Integers and dates are exact, so that theirs is the greatest common divisor of the distances themselves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-3  # share of a step by which rounding may move a value
CHANCE = 1e-9  # that numbers which are on no lattice look as if they were, at most
ROUNDED = 16.0  # units in the last place by which the distance of two rounded numbers differs from a multiple, at most
FINEST = 12  # decimals of the finest power of ten
PROBED = 16  # values that are looked at before all others
EXACT = 2**53  # float64 is exact for all whole numbers up to this one


def step_of(values: NDArray[Any], dtype: np.dtype[Any]) -> float:
    """Step of the lattice of distinct `values`, ascending and in the engine's type, of a column of `dtype`; 0 for none.

    Also 0 where the type cannot hold the ends of the lattice, half a step beyond the lowest and the highest value.
    """
    if len(values) < 2:
        return 0.0
    if values.dtype.kind != "f":
        step = _of_integers(values.astype(np.uint64) - values[:1].astype(np.uint64))  # modulo 2^64: exact
    elif np.abs(values[[0, -1]]).max() <= EXACT and not np.any(values % 1.0):
        step = _of_integers((values - values[0]).astype(np.uint64))
    else:
        step = _of_floats(values, dtype)
    return step if step > 0.0 and _has_ends(values, dtype, step) else 0.0


def half_steps(step: float, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """How far the ends of a lattice are below its lowest and above its highest value; together, a step.

    Integers and dates round these ends down, as they do bounds: their intervals do not hold the lower end.
    """
    if dtype.kind == "f":
        return step / 2.0, step / 2.0
    return (int(step) + 1) // 2, int(step) // 2


def _has_ends(values: NDArray[Any], dtype: np.dtype[Any], step: float) -> bool:
    low, high = values[[0, -1]].tolist()
    below, above = half_steps(step, dtype)
    if dtype.kind == "f":
        moved = max(abs((low - (low - below)) - below), abs(((high + above) - high) - above))
        return math.isfinite((high + above) - (low - below)) and moved <= ROUNDING * step
    if values.dtype.kind == "f":  # places of levels
        return False
    info = np.iinfo(values.dtype)
    return int(info.min) + (dtype.kind in "mM") <= low - below and high + above <= int(info.max)


def _of_integers(distances: NDArray[np.uint64]) -> float:
    """Greatest common divisor of the distances from the lowest value; 0 if a float does not hold it, or of two."""
    step = int(np.gcd.reduce(distances))
    return float(step) if (len(distances) > 2 or step == 1) and int(float(step)) == step else 0.0


def _of_floats(values: NDArray[Any], dtype: np.dtype[Any]) -> float:
    if len(values) < 3 or not math.isfinite(float(values[-1]) - float(values[0])):
        return 0.0
    step = _within(values, float(np.spacing(dtype.type(np.abs(values[[0, -1]]).max()))))
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if step or not np.array_equal(single, values):
        return step
    return _within(values, float(np.spacing(np.abs(single[[0, -1]]).max())))  # rounded before they had 64 bits


def _within(values: NDArray[Any], unit: float) -> float:
    """Step of the lattice of floats that are rounded to a multiple of `unit`; 0 for none."""
    width, distances, smallest = float(values[-1] - values[0]), values - values[0], float(np.diff(values).min())
    error = ROUNDED * unit
    for k in range(FINEST + 1):
        if smallest * 10.0**k > 0.5:  # else two values would be one
            divisor = _common_divisor(distances, 10.0**k, error * 10.0**k)
            if divisor:
                return divisor / 10.0**k
    slack = error / smallest * (width / smallest + 1.0)
    divisor = _common_divisor(distances / smallest, 1.0, slack)
    return width / float(np.rint(width / smallest / divisor)) if divisor else 0.0


def _common_divisor(distances: NDArray[np.float64], per_unit: float, slack: float) -> float:
    """Greatest common divisor of the distances counted in a unit; 0 unless all are whole numbers, up to `slack`.

    And unless so many of them are no chance.
    """
    is_sure = slack <= ROUNDING and (len(distances) - 2) * math.log(2.0 * slack) <= math.log(CHANCE)
    if not is_sure:
        return 0.0
    for some in (distances[:: max(1, len(distances) // PROBED)], distances):
        counts = some * per_unit
        whole = np.rint(counts)
        if np.any(np.abs(counts - whole) > slack):
            return 0.0
    return float(np.gcd.reduce(whole.astype(np.uint64)))
