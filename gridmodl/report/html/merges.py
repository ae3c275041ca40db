"""The merges of a model's hierarchy for the slider of a page: each with the label of the part that it makes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from gridmodl.labels import MAX_VALUES_SHOWN, edges_of, has_mixed_types, label_of_group, label_of_intervals
from gridmodl.report.html.plain import cut, plain_number

if TYPE_CHECKING:
    from gridmodl.model import Model
    from gridmodl.partition import Partition


def merge_records(model: Model) -> list[dict[str, Any]]:
    """The steps from the grid to one cell, of the variables that are in cells; those are numbered as in these."""
    number_of = {name: k for k, name in enumerate(model.cells.names)}
    makers = {name: _Merger(model.partition(name)) for name in number_of}
    records = []
    for name, stays, goes, cost, information in model.hierarchy().steps:
        if name in number_of:
            label = makers[name].merge(stays, goes)
            record = {"variable": number_of[name], "stays": stays, "goes": goes, "label": cut(label)}
            records.append(record | {"cost": cost, "information": plain_number(information)})
    return records


class _Merger:
    """Merges parts of one variable, and names what comes of it as `Model.coarsen` would."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.made_of = [[i] for i in range(partition.n_parts)]
        self.rows = partition.rows.tolist()
        self.edges = edges_of(partition)
        self.is_mixed = has_mixed_types(partition)

    def merge(self, stays: int, goes: int) -> str:
        self.made_of[stays] = sorted([*self.made_of[stays], *self.made_of[goes]])
        mine = self.made_of[stays]
        return self._interval(mine) if self.partition.kind == "numerical" else self._group(mine)

    def _interval(self, mine: list[int]) -> str:
        first = int(self.partition.is_missing_apart)
        label = label_of_intervals(self.edges, max(0, mine[0] - first), mine[-1] - first)
        return f"{label} or missing" if self.partition.missing in mine else label

    def _group(self, mine: list[int]) -> str:
        """The most typical values of each of its groups in turn, those of the largest group first."""
        groups = [self.partition.groups[i] for i in sorted(mine, key=lambda i: -self.rows[i])]
        nothing = object()
        turns = itertools.zip_longest(*(group[:MAX_VALUES_SHOWN] for group in groups), fillvalue=nothing)
        values = [value for turn in turns for value in turn if value is not nothing]
        return label_of_group(values, self.is_mixed, sum(map(len, groups)))
