"""Why a model is the optimum, or how far from it at most: small enough to keep with the model."""

from __future__ import annotations

from dataclasses import dataclass

# By slopes alone; by going through some numbers of parts too; by trying all there is.
SLOPES, LAYERS, ALL = METHODS = ("slopes", "layers", "all")
MONOTONE = ("increasing", "decreasing", "auto")

# Two costs of one search that are closer than this share of their size are equal: the rest is rounding.
TOLERANCE = 1e-11


def nearly(cost: float, tolerance: float = TOLERANCE) -> float:
    """The lowest cost that counts as no better than this one."""
    return cost - tolerance * (1.0 + abs(cost))


def is_lowest(cost: float, lowest: float) -> bool:
    """Whether a cost is the lowest there can be, as far as rounding lets tell."""
    return nearly(cost) <= lowest


@dataclass(frozen=True)
class Certificate:
    """What was proven of all partitions of a column that keep the limits; `gridmodl.verify` checks it.

    Attributes
    ----------
    method : {"slopes", "layers", "all"}
        How: by the runs below alone; by them, and then each number of parts that they had left; by trying all that
        there was.
    lowest : float
        No such partition costs less.
    slopes, totals : tuple of float
        If each part cost ``slopes[i]`` more than it does, no partition's parts would cost less than ``totals[i]`` in
        all. So no partition into I parts has a sum below ``totals[i] - slopes[i] * I``.
    max_parts : int or None
        The limit on the number of parts, those of special codes included.
    min_rows : int
        The limit on the rows of a part.
    monotone : {"increasing", "decreasing", "auto"} or None
        The order that the shares of the second class had to keep.
    """

    method: str
    lowest: float
    slopes: tuple[float, ...] = ()
    totals: tuple[float, ...] = ()
    max_parts: int | None = None
    min_rows: int = 1
    monotone: str | None = None
