"""Assign new values to the groups of a joint grid of two variables, each to the group where it costs least.

A new value brings rows of its own. The price is that of the data with the rows of this value added, and of no other
new value: N, V, the cells, the groups and all constants of the criterion are those of that data. The value joins an
existing group and never makes a new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.partition import known_values
from gridmodl.pricing import categorical_values, prepare
from gridmodl.search.pair.joining import Groups, Joining, join_prices
from gridmodl.terms import Criterion, Problem, Variable

if TYPE_CHECKING:
    from gridmodl.model.model import Model

MAX_PRICES = 2**23  # prices by value and group that are kept at a time: 64 MB


def groups_of_new(
    model: Model,
    criterion: Criterion,
    name: Name,
    first: NDArray[np.int64],
    part: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Group of a categorical variable that each new value joins at the lowest cost; ties: first group.

    Parameters
    ----------
    model : Model
        A joint grid of two variables.
    criterion : Criterion
        The criterion that priced the model.
    name : str
        Name of the variable; its partition has no groups without rows.
    first : ndarray of shape (n + 1,)
        Index of the first entry of each new value; at the end, the number of entries.
    part : ndarray
        Part of the other variable of each entry.
    rows : ndarray
        Rows of each entry, 1 or more.

    Returns
    -------
    ndarray of shape (n,)
        Number of the group of each new value; -1 for a value without entries.
    """
    known = ModelGroups(model, criterion, name)
    ends = np.append(0, np.cumsum(rows))
    total = ends[first[1:]] - ends[first[:-1]]
    joining = Joining(first, part, rows, np.ones(len(total), dtype=np.int64))
    found = np.full(len(total), -1, dtype=np.int64)
    step = max(1, MAX_PRICES // len(known.groups.rows))
    order = np.argsort(total, kind="stable")
    sizes, begin = np.unique(total[order], return_index=True)
    for n, alike in zip(sizes.tolist(), np.split(order, begin[1:]), strict=True):  # `p` depends on n
        if n == 0:
            continue
        p, facts_with = known.prepared(n)
        for at in range(0, len(alike), step):
            which = alike[at : at + step]
            prices = join_prices(type(criterion), p, facts_with, known.groups, joining, which)
            found[which] = prices.argmin(axis=1)
    return found


# Groups of one variable of a joint grid of two, and its facts for the criterion, from the model alone.


class ModelGroups:
    """A categorical variable of a joint grid of two variables; every part has rows."""

    def __init__(self, model: Model, criterion: Criterion, name: Name) -> None:
        self.model, self.criterion = model, criterion
        self.partition = model.partition(name)
        (self.other,) = (partition for partition in model.partitions.values() if partition.name != name)
        self.groups = self._groups()

    def _groups(self) -> Groups:
        """Cells, rows and distinct values of each group."""
        cells, n_values = self.model.cells, self.partition.n_values
        table = np.zeros((self.other.n_parts, self.partition.n_parts), dtype=np.int64)
        whole = np.zeros(len(cells.parts), dtype=np.int64)  # `cells` leaves out variables with one part
        across, own = (
            cells.parts[:, cells.names.index(part.name)] if part.name in cells.names else whole
            for part in (self.other, self.partition)
        )
        table[across, own] = cells.rows
        assert n_values is not None  # noqa: S101  for mypy: a joint grid has them
        return Groups(table, self.partition.rows.astype(np.int64), n_values.astype(np.int64))

    def prepared(self, more_rows: int = 0) -> tuple[Any, Variable]:
        """`p` and the variable as terms see them; with `more_rows` > 0, with one more value of that many rows.

        If the file of the model has no rows by value, the rows are shared evenly among the values. That does not
        matter here: prices of groups are compared, and facts of the variable are the same for all groups.
        """
        problem = Problem("joint", self.model.n_rows + more_rows, 2, np.empty(0, dtype=np.int64))
        values = known_values(self.partition)
        if more_rows > 0:
            values = categorical_values(np.append(np.asarray(values.rows), more_rows))
        return prepare(self.criterion, problem, values)


# Merges of groups until each has a labelled value.
#
# The cheapest merge of a group without labels with any other group is made, until every group has a label: M. Boullé,
# "Data grid models for preparation and modeling in supervised learning", 2011, 7.2.3. Only groups of one variable
# merge; the parts of the other variable stay.


def merged_until_labelled(
    model: Model, criterion: Criterion, name: Name, is_labelled: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Final group of each group of a categorical variable of a joint grid of two variables.

    A merged group has the lowest number of its groups. At least one group must be labelled. Ties: the merge of the
    groups with the lowest numbers.
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
    """Groups under merges, and the change of cost of each merge with a group without labels (an open group).

    Every merge makes one group fewer, so the grid and variable terms are the same for all merges and left out.
    """

    def __init__(self, known: ModelGroups, is_labelled: NDArray[np.bool_]) -> None:
        self.criterion = type(known.criterion)
        self.p, self.facts = known.prepared()
        # One more group, without rows: joining it costs what a group costs alone, and a merge saves that.
        cells, rows, values = known.groups
        self.groups = Groups(np.pad(cells, ((0, 0), (0, 1))), np.pad(rows, (0, 1)), np.pad(values, (0, 1)))
        self.is_open = ~is_labelled
        self.is_there = np.ones(len(is_labelled), dtype=bool)
        self.deltas = np.full((len(is_labelled),) * 2, np.inf)
        self._price(np.flatnonzero(self.is_open))

    def make_cheapest(self) -> tuple[int, int]:
        """Make the cheapest merge; return the group that stays and the group that joins it."""
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
        """Price the merges of the groups `which` with all others, if one of the two is open."""
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
        """Groups `which` as values that join others."""
        cells = self.groups.cells[:, which].T
        group, part = np.nonzero(cells)
        first = np.searchsorted(group, np.arange(len(which) + 1))
        return Joining(first, np.ascontiguousarray(part), cells[group, part], self.groups.values[which])
