"""Task of a search of one variable, and its results: a partition into intervals or into groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import Atoms, coarsen, head, tail
from gridmodl.jit.template import bind
from gridmodl.search.moves import Buffers, Limits, Setting, make_buffers, price_partition
from gridmodl.search.proof import Proof, costs_by_parts
from gridmodl.search.rules import NO_RULES, Rules, Windows, breaks_of, keeps_order, make_windows, rows_before
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
    rules: Rules = NO_RULES  # limits that intervals keep besides `limits`

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
        """Same task with each atom of `apart` as one more part, which no move touches and no limit concerns."""
        n = len(apart.values)
        frozen = self.setting.frozen
        price = replace(self, atoms=apart).price_of(np.arange(n)) if n else 0.0
        frozen = frozen._replace(price=frozen.price + price, n_apart=frozen.n_apart + n)
        return replace(self, setting=self.setting._replace(frozen=frozen))

    def more_parts_cost_more(self, most: int) -> bool:
        """Whether of partitions of equal prices those with more parts never cost less, up to `most` parts.

        Only asked beside parts set apart: of a variable without any, a criterion declares what follows from it.
        """
        if self.setting.frozen.n_apart == 0:
            return True
        return bool(np.all(np.diff(costs_by_parts(self.criterion, self.setting, np.zeros(most))) >= 0.0))

    def within(self, begin: int, end: int, starts: NDArray[np.int64]) -> Task:
        """Same task of the atoms from `begin` to `end` alone; the parts of the partition `starts` outside are apart.

        `begin` and `end` are among the bounds of that partition.
        """
        inner = replace(self, atoms=tail(head(self.atoms, end), begin), start=None, rules=NO_RULES)
        own = starts[(starts >= begin) & (starts < end)] - begin
        frozen, n_apart = self.setting.frozen, len(starts) - len(own)
        price = self.price_of(starts) - inner.price_of(own) if n_apart else 0.0
        frozen = frozen._replace(price=frozen.price + price, n_apart=frozen.n_apart + n_apart)
        limits = self.limits._replace(max_parts=max(1, self.limits.max_parts - n_apart))
        return replace(inner, setting=self.setting._replace(frozen=frozen), limits=limits)

    def coarsen(self, starts: NDArray[np.int64]) -> Task:
        """Same task where the parts that begin at the atoms `starts` are the atoms."""
        return replace(self, atoms=coarsen(self.atoms, starts), start=None, rules=self.rules.coarsen(starts))

    def mirrored(self) -> Task:
        """Same task of a single variable, from its last atom to its first."""
        counts, rows, values = (np.ascontiguousarray(of_atoms[::-1]) for of_atoms in self.atoms[2:])
        atoms = Atoms(self.atoms.first, self.atoms.frozen, counts, rows, values)
        return replace(self, atoms=atoms, start=None, rules=self.rules.mirrored(self.n_atoms))

    @cached_property
    def windows(self) -> Windows:
        """Bounds at which a part may end, for each at which it may begin."""
        return make_windows(self.atoms, self.limits.min_rows, self.rules)

    @property
    def has_windows(self) -> bool:
        """Whether a part may not end at all bounds after its start."""
        return self.limits.min_rows > 1 or len(self.rules.min_counts) > 0 or len(self.rules.fixed) > 0

    def keeps_rules(self, starts: NDArray[np.int64]) -> bool:
        """Whether the partition whose parts begin at the atoms `starts` keeps all limits but max_parts."""
        first, last = self.windows
        ends = np.append(starts[1:], self.n_atoms)
        if np.any(ends < first[starts]) or np.any(ends > last[starts]):
            return False
        if not self.rules.has_neighbours and self.rules.periods is None:
            return True
        rows = np.diff(np.append(rows_before(self.atoms, self.atoms.rows)[starts], self.atoms.rows.sum()))
        scores = np.add.reduceat(self.rules.scores, starts)
        if self.rules.has_neighbours and not keeps_order(scores, rows, self.rules.order, self.rules.min_difference):
            return False
        return len(self.breaks(np.searchsorted(starts, np.arange(self.n_atoms), side="right") - 1)) == 0

    def breaks(self, parts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Periods and pairs of parts that break the limit on periods, see `breaks_of`; `parts` has that of each atom.

        The variable is a single one.
        """
        rules = self.rules
        if rules.periods is None:
            return np.empty((0, 3), dtype=np.int64)
        rows, scores = (np.zeros(int(parts.max()) + 1, dtype=np.int64) for _ in range(2))
        np.add.at(rows, parts, self.atoms.rows)
        np.add.at(scores, parts, rules.scores)
        return breaks_of(*rules.periods.tables(parts, rows, scores))

    @property
    def can_keep_fixed(self) -> bool:
        """Whether a partition keeps the limits on parts alone: those between two fixed bounds are large enough."""
        starts = np.append(0, self.rules.fixed)
        is_whole = replace(self, rules=self.rules.windows_only()).keeps_rules(starts)
        return is_whole and len(starts) <= self.limits.max_parts

    @cached_property
    def base(self) -> Partitioning:
        """Partition with the bounds that must be, and no others."""
        return self.priced(np.append(0, self.rules.fixed))

    def null(self) -> Partitioning:
        """Partition with all atoms in one part."""
        return self._null

    @cached_property
    def _null(self) -> Partitioning:
        return self.priced([0])
