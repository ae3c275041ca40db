"""Merges of groups until each holds something that has a label.

A group without any is merged with the group that keeps the cost of the grid lowest, of all such merges the cheapest
first, until none is left: M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011,
7.2.3. Only groups of one variable merge; the parts of the other stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridmodl.frames import Name
from gridmodl.modelgroups import ModelGroups
from gridmodl.search.joining import Groups, Joining, join_prices
from gridmodl.terms import Criterion

if TYPE_CHECKING:
    from gridmodl.model import Model


def merged_until_labelled(
    model: Model, criterion: Criterion, name: Name, is_labelled: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Of each group of a categorical variable of a joint grid of two, the group that it ends in.

    Groups that are merged go by the lowest number among them. At least one group is labelled. Of merges that cost the
    same, the one of the lowest numbers is made.
    """
    into = np.arange(len(is_labelled))
    if is_labelled.all():
        return into
    merges = _Merges(ModelGroups(model, criterion, name), is_labelled)
    while merges.is_open.any():
        stays, goes = merges.make_cheapest()
        into[into == goes] = stays
    return into


class _Merges:
    """Groups under merges, and what each merge of one without a label would change.

    All merges make one group less, so grid and variable terms do not tell them apart.
    """

    def __init__(self, known: ModelGroups, is_labelled: NDArray[np.bool_]) -> None:
        self.criterion = type(known.criterion)
        self.p, self.facts = known.prepared(known.facts())
        # One group more, without rows: to join it costs what a group costs alone, which its merges save.
        cells, rows, values = known.groups
        self.groups = Groups(np.pad(cells, ((0, 0), (0, 1))), np.pad(rows, (0, 1)), np.pad(values, (0, 1)))
        self.is_open = ~is_labelled
        self.is_there = np.ones(len(is_labelled), dtype=bool)
        self.deltas = np.full((len(is_labelled),) * 2, np.inf)
        self._price(np.flatnonzero(self.is_open))

    def make_cheapest(self) -> tuple[int, int]:
        """Merge where it is cheapest: the group that stays, and the one that goes into it."""
        stays, goes = sorted(divmod(int(self.deltas.argmin()), len(self.deltas)))
        for array in (self.groups.cells.T, self.groups.rows, self.groups.values):
            array[stays] += array[goes]
            array[goes] = 0
        self.is_open[stays] &= self.is_open[goes]
        self.is_open[goes] = self.is_there[goes] = False
        self.deltas[[stays, goes]] = self.deltas[:, [stays, goes]] = np.inf
        self._price(np.array([stays]))
        return stays, goes

    def _price(self, which: NDArray[np.int64]) -> None:
        """Price the merges of these groups with all others, where either is without a label."""
        prices = join_prices(
            self.criterion, self.p, self.facts, self.groups, self._joining(which), np.arange(len(which))
        )
        deltas = prices[:, :-1] - prices[:, -1:]
        may_merge = self.is_there & (self.is_open | self.is_open[which][:, None])
        deltas[~may_merge] = np.inf
        deltas[np.arange(len(which)), which] = np.inf
        self.deltas[which] = deltas
        self.deltas[:, which] = deltas.T

    def _joining(self, which: NDArray[np.int64]) -> Joining:
        """These groups as ones that join others."""
        cells = self.groups.cells[:, which].T
        group, part = np.nonzero(cells)
        first = np.searchsorted(group, np.arange(len(which) + 1))
        return Joining(first, np.ascontiguousarray(part), cells[group, part], self.groups.values[which])
