"""Two variables out of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridmodl.frames import Name
from gridmodl.partition import Partition

if TYPE_CHECKING:
    from gridmodl.model import Model


def chosen_pair(model: Model, x: Name | None, y: Name | None) -> tuple[Partition, Partition]:
    """The variables that are named, else the first that are informative, else any."""
    known = model.all_partitions
    if len(known) < 2:
        raise ValueError(f"two variables are drawn, and the model has one, {next(iter(known))!r}; see PartsDisplay")
    if x is not None and x == y:
        raise ValueError(f"x and y must be two variables, got {x!r} for both")
    free = [name for name in dict.fromkeys([*model.cells.names, *known]) if name not in (x, y)]
    below = model.partition(free.pop(0) if x is None else x)
    left = model.partition(free.pop(0) if y is None else y)
    return below, left
