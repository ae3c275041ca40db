"""Merge the grid of a model down to a single cell, two parts at a time, the cheapest merge first.

Each merge keeps a share of what the model saves against the null grid:

    information kept = (null cost - cost) / (null cost - cost of the model)

from 1 for the model itself to 0 for one cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.partition import Partition

if TYPE_CHECKING:
    from gridmodl.analysis.model_task import ModelTask
    from gridmodl.search.grid.optima import GridMerge
    from gridmodl.search.grid.rows import Grid
    from gridmodl.search.grid.state import GridTask


class Merge(NamedTuple):
    """One step: two parts of a variable become one."""

    name: Name  #: name of the variable
    stays: int  #: number of the first part in the model; the merged part keeps this number
    goes: int  #: number of the second part
    cost: float  #: cost of the grid after the step
    information: float  #: information kept after the step


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Merges that lead from the grid of a model to a single cell, the cheapest first.

    Made by `Model.hierarchy`. `Model.coarsen` makes a model of the grid after some of the steps.

    Attributes
    ----------
    steps : tuple of Merge
        Records of ``name``, ``stays``, ``goes``, ``cost`` and ``information``. Parts without rows merge first: that
        changes nothing.
    information : ndarray
        Share of the model's information that is kept: 1 before the first step, then after each step, 0 after the last.
        It is negative for a grid that costs more than one cell. All 0 if the model saves nothing against the null
        grid.
    n_parts : dict of str to int
        Number of parts of each variable of the model.
    partitions : dict of str to Partition
        These parts.

    Examples
    --------
    >>> import gridmodl
    >>> x, y = [1, 2, 3, 4, 5, 6] * 20, list("aabbcc") * 20
    >>> hierarchy = gridmodl.optimize({"x": x, "y": y}).hierarchy()
    >>> len(hierarchy)
    4
    >>> hierarchy.linkage("y").shape
    (2, 4)
    """

    steps: tuple[Merge, ...]
    information: NDArray[np.float64]
    n_parts: Mapping[Name, int]
    partitions: Mapping[Name, Partition]

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        sizes = " x ".join(str(n) for n in self.n_parts.values() if n > 1) or "1 part"
        return f"Hierarchy({sizes}, {len(self)} merges)"

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.curves import hierarchy_html

        return hierarchy_html(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw a dendrogram of each variable with matplotlib: `gridmodl.plot.HierarchyDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        HierarchyDisplay
        """
        from gridmodl.plot import HierarchyDisplay

        return HierarchyDisplay.from_hierarchy(self).plot(ax)

    def parts_at(self, step: int) -> dict[Name, NDArray[np.int64]]:
        """New part of each of the model's parts after `step` steps, by variable.

        The new parts are numbered 0, 1, ... in the order of their first part in the model.
        """
        from gridmodl.search.grid.rows import numbered_parts

        if not isinstance(step, (int, np.integer)) or isinstance(step, bool) or not 0 <= step <= len(self):
            raise ValueError(f"step must be a whole number from 0 to {len(self)}, got {step!r}")
        return {name: numbered_parts(parts).astype(np.int64) for name, parts in self._parts_at(step).items()}

    def shape_at(self, step: int) -> dict[Name, int]:
        """Number of parts of each variable after `step` steps."""
        return {name: int(parts.max()) + 1 for name, parts in self.parts_at(step).items()}

    def linkage(self, name: Name) -> NDArray[np.float64]:
        """Linkage matrix of the merges of one variable, for ``scipy.cluster.hierarchy.dendrogram``.

        The height of a merge is the information lost so far, by the merges of all variables; a merge that lowers the
        cost does not lower the height. The last column is the number of the model's parts that are merged.

        Parameters
        ----------
        name : str
            Name of a variable with more than one part.

        Examples
        --------
        >>> import gridmodl
        >>> from scipy.cluster.hierarchy import dendrogram
        >>> model = gridmodl.optimize({"x": [1, 2, 3, 4, 5, 6] * 20, "y": list("aabbcc") * 20})
        >>> tree = dendrogram(model.hierarchy().linkage("x"), labels=model.partitions["x"].labels, no_plot=True)
        >>> sorted(tree["ivl"])
        ['(-inf, 2.5]', '(2.5, 4.5]', '(4.5, inf)']
        """
        n = self._n_parts_of(name)
        height = np.maximum.accumulate(np.maximum(0.0, 1.0 - self.information))
        found = np.zeros((n - 1, 4))
        number, size = list(range(n)), [1] * n
        row = 0
        for step, merge in enumerate(self.steps, start=1):
            if merge.name == name:
                i, j = merge.stays, merge.goes
                size[i] += size[j]
                found[row] = *sorted((number[i], number[j])), height[step], size[i]
                number[i] = n + row
                row += 1
        return found

    def _n_parts_of(self, name: Name) -> int:
        """Number of parts of the variable `name`; raise ValueError unless it has more than one."""
        if self.n_parts.get(name, 1) == 1:
            known = ", ".join(repr(known) for known, n in self.n_parts.items() if n > 1) or "none"
            raise ValueError(f"name must be a variable with more than one part ({known}), got {name!r}")
        return self.n_parts[name]

    def _parts_at(self, step: int) -> dict[Name, NDArray[np.int64]]:
        """As `parts_at`, but each new part has the number of the model's part that stayed."""
        parts = {name: np.arange(n) for name, n in self.n_parts.items()}
        for merge in reversed(self.steps[:step]):  # backwards, so that the final part of `stays` is known already
            parts[merge.name][merge.goes] = parts[merge.name][merge.stays]
        return parts


def hierarchy_of(whole: ModelTask) -> Hierarchy:
    """Merge the grid of a model down to one cell."""
    model = whole.model
    saved = model.null_cost - model.cost

    def kept(cost: float) -> float:
        return (model.null_cost - cost) / saved if saved > 0.0 else 0.0

    steps = [Merge(*merge, model.cost, kept(model.cost)) for merge in _empty_parts(whole)]
    for k, stays, goes, cost in _merges(whole.task, whole.grid):
        name, filled = whole.partitions[k].name, whole.filled[k]
        steps.append(Merge(name, int(filled[stays]), int(filled[goes]), cost, kept(cost)))
    if len(whole.grid.variables):  # the last step makes the null grid; drop the rounding error
        steps[-1] = steps[-1]._replace(cost=model.null_cost, information=0.0)
    information = np.array([kept(model.cost), *(merge.information for merge in steps)])
    partitions = {partition.name: partition for partition in whole.partitions}
    n_parts = {name: partition.n_parts for name, partition in partitions.items()}
    return Hierarchy(tuple(steps), information, n_parts, partitions)


def _empty_parts(whole: ModelTask) -> list[tuple[Name, int, int]]:
    """Merges of the parts without rows: into the interval before them, or into the largest group."""
    merges = []
    for partition, filled in zip(whole.partitions, whole.filled, strict=True):
        rows = partition.counts.sum(axis=1)
        for i in np.flatnonzero(rows == 0).tolist():
            stays = int(filled[max(0, int(np.searchsorted(filled, i)) - 1)])
            if partition.kind == "categorical":
                stays = int(rows.argmax())
            merges.append((partition.name, stays, i))
    return merges


def _merges(task: GridTask, grid: Grid) -> list[GridMerge]:
    """Merges from a grid down to one cell: by the pair engine if it can hold the grid, else by the grid engine.

    Those of several inputs and a target are by the engine of these.
    """
    from gridmodl.search.grid.merge import merge_path as sparse_path
    from gridmodl.search.pair.merge import merge_path as dense_path
    from gridmodl.search.pair.state import MAX_CELLS
    from gridmodl.search.target.merge import merge_path as target_path

    is_coupled = bool(task.facts.is_target.any())
    if not grid.variables:
        return []
    if task.n_variables == 2 and task.n_counts == 1 and (is_coupled or math.prod(grid.shape) <= MAX_CELLS):
        return dense_path(task, grid)
    if task.has_margins:
        return target_path(task, grid)
    return sparse_path(task, grid)
