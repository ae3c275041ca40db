"""Task of a search of one variable, and its results: a partition into intervals or into groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import Atoms
from gridmodl.jit.template import bind
from gridmodl.search.moves import Buffers, Limits, Setting, make_buffers, price_partition
from gridmodl.search.proof import Proof
from gridmodl.terms import Criterion


class Partitioning(NamedTuple):
    """A partition of the atoms of one variable, with its cost."""

    starts: NDArray[np.int64]  # first atom of each part
    cost: float
    proven: bool = False  # whether it is proven that no partition within the limits is cheaper
    proof: Proof | None = None  # lower bound of the cost of all partitions, and how it was found


class Grouping(NamedTuple):
    """A partition of the atoms of a categorical variable into groups, with its cost."""

    groups: NDArray[np.int64]  # group of each atom: 0, 1, ... in the order of their first atoms
    cost: float
    proven: bool = False  # whether it is proven that no grouping within the limits is cheaper
    proof: Proof | None = None


@dataclass(frozen=True)
class Task:
    """One variable to partition."""

    atoms: Atoms
    setting: Setting
    criterion: type[Criterion]
    limits: Limits
    clock: Clock = field(default_factory=Clock)
    start: NDArray[np.int64] | None = None  # first atoms of the parts that a merge starts from; None: one atom each

    @property
    def n_atoms(self) -> int:
        return len(self.atoms.values)

    @cached_property
    def n_frozen_cells(self) -> int:
        return int(self.atoms.frozen.max()) + 1

    @cached_property
    def buffers(self) -> Buffers:
        return make_buffers(self.n_frozen_cells, self.atoms.counts.shape[1])

    def priced(self, starts: Any) -> Partitioning:
        """Partition with its cost, computed from scratch."""
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        cost, _ = bind(price_partition, self.criterion)(self.atoms, self.setting, starts, self.buffers)
        return Partitioning(starts, cost)

    def price_of(self, starts: Any) -> float:
        """Price of the parts of a partition, without the terms that depend on their number alone."""
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        return float(bind(price_partition, self.criterion)(self.atoms, self.setting, starts, self.buffers)[1])

    def set_apart(self, apart: Atoms) -> Task:
        """Same task with each atom of `apart` as one more part, which no move touches."""
        n = len(apart.values)
        frozen = self.setting.frozen
        price = replace(self, atoms=apart).price_of(np.arange(n)) if n else 0.0
        frozen = frozen._replace(price=frozen.price + price, n_apart=frozen.n_apart + n)
        limits = self.limits._replace(max_parts=max(1, self.limits.max_parts - n))
        return replace(self, setting=self.setting._replace(frozen=frozen), limits=limits)

    def null(self) -> Partitioning:
        """Partition with all atoms in one part."""
        return self._null

    @cached_property
    def _null(self) -> Partitioning:
        return self.priced([0])
