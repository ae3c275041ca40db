"""Intervals of one width, or of about as many rows each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gridmodl.baselines.running import Values, check_at_least
from gridmodl.clock import Clock
from gridmodl.equal import equal_frequency_bounds, equal_width_cuts

MAX_PARTS = 1_000_000  # each has a bound in memory, whether there are rows for it or not


def check_parts(n_parts: Any) -> None:
    check_at_least("n_parts", n_parts, 1)
    if n_parts > MAX_PARTS:
        raise ValueError(f"n_parts must be at most {MAX_PARTS}, got {n_parts}")


@dataclass(frozen=True)
class EqualWidth:
    name: ClassVar[str] = "equal width"
    n_parts: int = 10

    def __post_init__(self) -> None:
        check_parts(self.n_parts)

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        numbers = values.numbers
        if numbers.dtype.kind == "f":
            numbers = numbers[np.isfinite(numbers)]
        if len(numbers) < 2:  # no width to divide
            return np.empty(0, dtype=values.dtype)
        return equal_width_cuts(numbers[0], numbers[-1], int(self.n_parts), values.dtype).bounds


@dataclass(frozen=True)
class EqualFrequency:
    name: ClassVar[str] = "equal frequency"
    n_parts: int = 10

    def __post_init__(self) -> None:
        check_parts(self.n_parts)

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        rows = values.counts.sum(axis=1, dtype=np.int64)
        return equal_frequency_bounds(values.numbers, rows, int(self.n_parts), values.dtype)
