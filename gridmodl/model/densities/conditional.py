"""`Conditional`, the distribution of one column given values of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name, read_frame
from gridmodl.model.densities.spread import CategorySpread, NumberSpread, Spread
from gridmodl.model.partition import Partition


@dataclass(frozen=True, eq=False)
class Conditional:
    """Distribution of one column given values of others, as `Model.conditional` returns it.

    Attributes
    ----------
    partition : Partition
        Parts of the column.
    given : dict
        The values that are given, by column.
    probabilities : ndarray of shape (n_parts,)
        Probability of each part.
    values : list
        Categories, or levels, in the order of the groups, with None for missing. Of numbers those that have a
        probability: atoms, which are values that alone hold the rows of an interval, special codes, and None.
    value_probabilities : ndarray
        Probability of each of ``values``.
    mean : object
        Mean of the numbers, in the type of the column; missing values and special codes are left out. None for
        categories.
    mode : object
        Most probable category that is not missing; for numbers, the middle between the lowest and the highest value
        of the interval in which values are densest, those of an atom as if they were spread over its interval.
    """

    partition: Partition
    given: Mapping[Name, Any]
    probabilities: NDArray[np.float64]
    _spread: Spread = field(repr=False)

    @property
    def values(self) -> list[Any]:
        if isinstance(self._spread, CategorySpread):
            return list(self._spread.values)
        return self._spread.own_values(self.probabilities)[0]

    @property
    def value_probabilities(self) -> NDArray[np.float64]:
        if not isinstance(self._spread, CategorySpread):
            return self._spread.own_values(self.probabilities)[1]
        return self.probabilities[self._spread.part_of_value] * self._spread.within

    @property
    def mean(self) -> Any:
        return self._spread.typical(self.probabilities[None])[0] if isinstance(self._spread, NumberSpread) else None

    @property
    def mode(self) -> Any:
        spread = self._spread
        if isinstance(spread, CategorySpread):
            return spread.typical(self.probabilities[None])[0]
        return spread.mode(self.probabilities)

    def quantile(self, share: float) -> Any:
        """The number below which the `share`, from 0 to 1, of the numbers lies.

        Missing values and special codes are left out.
        """
        spread = self._spread
        if isinstance(spread, CategorySpread):
            raise TypeError(f"column {self.partition.name!r} is {self.partition.kind}: only numbers have quantiles")
        if not isinstance(share, (int, float, np.integer, np.floating)) or not 0.0 <= share <= 1.0:
            raise ValueError(f"share must be a number from 0 to 1, got {share!r}")
        return spread.quantile(self.probabilities, share)

    def log_density(self, values: Any) -> NDArray[np.float64]:
        """Logarithm of the density, or probability, of each of `values`, as `Model.log_density` has it."""
        frame = read_frame(values, f"column {self.partition.name!r}")
        if len(frame.columns) != 1:
            raise ValueError(
                f"values must be those of column {self.partition.name!r}, got {len(frame.columns)} columns"
            )
        parts, logs = self._spread.locate(next(iter(frame.columns.values())))
        return np.where(parts < 0, np.nan, np.log(self.probabilities[parts]) + logs)

    def sample(self, n: int, random_state: int | None = None) -> NDArray[Any]:
        """Draw `n` values at random; the same `random_state` draws the same values."""
        rng = np.random.default_rng(random_state)
        total = self.probabilities.sum()
        parts = rng.choice(len(self.probabilities), checked_number(n), p=self.probabilities / total)
        return self._spread.draw(parts, rng)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.given.items())
        return f"Conditional({self.partition.name!r}{f', given {given}' if given else ''})"


def checked_number(n: Any) -> int:
    """`n` if it is a number of values to draw; raise ValueError if not."""
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 0:
        raise ValueError(f"n must be a whole number of at least 0, got {n!r}")
    return int(n)
