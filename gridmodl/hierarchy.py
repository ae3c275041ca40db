"""From a grid down to a single cell, one merge of two parts at a time, the cheapest first.

The way is found from the model alone: rows of the same cell are alike to every merge, so the non-empty cells stand for
the rows and the parts for the values. Each step costs some of what the grid tells of the data:

    information kept = (null cost - cost) / (null cost - cost of the model)

from 1 for the model itself to 0 for one cell. A coarser grid on that way is one that people can read, at its own price.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.cells import Cells
from gridmodl.frames import Name
from gridmodl.partition import Partition, group_partition
from gridmodl.spread import PERCENTILES, Spread

if TYPE_CHECKING:
    from gridmodl.grid import Grid
    from gridmodl.model import Model
    from gridmodl.search.gridtask import GridTask

# A model says how much it costs; one that its own parts price otherwise was made by another criterion of that name.
SAME_COST = 1e-6
N_POINTS = 1000  # that stand for the target in one part where parts are merged


class Merge(NamedTuple):
    """One step: two parts of a variable become one."""

    name: Name
    stays: int  # numbers of the model's parts; a part made of several goes by the one that stayed
    goes: int
    cost: float  # of the grid after the step
    information: float  # kept after it


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The merges that lead from a model's grid to a single cell, the cheapest first.

    Made by `Model.hierarchy`. `Model.coarsen` makes a model of the grid after some of the steps.

    Attributes
    ----------
    steps : tuple of Merge
        Records of ``name``, ``stays``, ``goes``, ``cost`` and ``information``. Parts without rows go first: they take
        nothing with them.
    information : ndarray
        Share of the model's information that is kept before the first step, 1, and after each, down to 0. All 0 where
        the model costs no less than the null grid.
    n_parts : dict of str to int
        Parts of each variable of the model.

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

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        sizes = " x ".join(str(n) for n in self.n_parts.values() if n > 1) or "1 part"
        return f"Hierarchy({sizes}, {len(self)} merges)"

    def parts_at(self, step: int) -> dict[Name, NDArray[np.int64]]:
        """After so many steps, the part of each of the model's parts, by variable.

        Numbered 0, 1, ... in the order in which the model's parts name them.
        """
        if not isinstance(step, (int, np.integer)) or isinstance(step, bool) or not 0 <= step <= len(self):
            raise ValueError(f"step must be a whole number from 0 to {len(self)}, got {step!r}")
        return {name: _numbered(parts) for name, parts in self._parts_at(step).items()}

    def shape_at(self, step: int) -> dict[Name, int]:
        """After so many steps, the number of parts of each variable."""
        return {name: int(parts.max()) + 1 for name, parts in self.parts_at(step).items()}

    def linkage(self, name: Name) -> NDArray[np.float64]:
        """The merges of one variable as `scipy.cluster.hierarchy` takes them, for its ``dendrogram``.

        Heights are the information lost when the merge is made, among those of all variables; where a merge wins some
        back, the height stays. The last column counts the model's parts below.

        Parameters
        ----------
        name : str
            A variable with more than one part.

        Examples
        --------
        >>> import gridmodl
        >>> from scipy.cluster.hierarchy import dendrogram
        >>> model = gridmodl.optimize({"x": [1, 2, 3, 4, 5, 6] * 20, "y": list("aabbcc") * 20})
        >>> tree = dendrogram(model.hierarchy().linkage("x"), labels=model.partitions["x"].labels, no_plot=True)
        >>> sorted(tree["ivl"])
        [']-inf, 2.5]', ']2.5, 4.5]', ']4.5, inf[']
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
        if self.n_parts.get(name, 1) == 1:
            known = ", ".join(repr(known) for known, n in self.n_parts.items() if n > 1) or "none"
            raise ValueError(f"name must be a variable with more than one part ({known}), got {name!r}")
        return self.n_parts[name]

    def _parts_at(self, step: int) -> dict[Name, NDArray[np.int64]]:
        """The same, each part by the number of the one that stayed."""
        parts = {name: np.arange(n) for name, n in self.n_parts.items()}
        for merge in reversed(self.steps[:step]):  # backwards: where a part goes to is known before who came to it
            parts[merge.name][merge.goes] = parts[merge.name][merge.stays]
        return parts


def hierarchy_of(model: Model) -> Hierarchy:
    """The merges from the grid of a model down to one cell."""
    return _Ground(model).hierarchy()


def coarsened(
    model: Model,
    max_cells: int | None = None,
    max_parts: int | Mapping[Name, int] | None = None,
    information: float | None = None,
) -> Model:
    """A coarser model on the way to one cell: the finest that keeps the limits, or the coarsest that keeps so much.

    Parameters
    ----------
    max_cells : int, optional
        At most so many cells, empty ones included.
    max_parts : int or dict of str to int, optional
        At most so many parts of each variable, or of those named.
    information : float, optional
        Keep at least this share, from 0 to 1, of what the model saves against the null grid: the coarsest grid that
        does. Given with limits, it must keep these too.
    """
    if max_cells is None and max_parts is None and information is None:
        raise ValueError("say how coarse the grid should be: max_cells=, max_parts= or information=")
    is_share = isinstance(information, numbers.Real) and not isinstance(information, bool)
    if information is not None and not (is_share and 0 <= information <= 1):
        raise ValueError(f"information must be a share from 0 to 1, got {information!r}")
    ground = _Ground(model)
    hierarchy = ground.hierarchy()
    limits = _Limits(hierarchy, max_cells, max_parts)
    finest = limits.finest_step()
    if information is None:
        return ground.model_at(hierarchy, finest)
    enough = np.flatnonzero(hierarchy.information >= information)
    if len(enough) == 0:
        raise ValueError(
            f"information={information!r} cannot be kept: the model costs {model.cost:.6f}, no less than the null grid"
        )
    coarsest = int(enough[-1])
    if coarsest < finest:
        n_cells = math.prod(hierarchy.shape_at(coarsest).values())
        raise ValueError(
            f"information={information!r} takes {n_cells} cells ({_in_words(hierarchy.shape_at(coarsest))}); the "
            f"finest grid that keeps the limits ({_in_words(hierarchy.shape_at(finest))}) keeps a share of "
            f"{hierarchy.information[finest]:.4f}: ask for less of it, or allow more cells or parts"
        )
    return ground.model_at(hierarchy, coarsest)


def _in_words(shape: Mapping[Name, int]) -> str:
    return ", ".join(f"{name}: {n}" for name, n in shape.items() if n > 1) or "one cell"


class _Limits:
    """How coarse the user wants it."""

    def __init__(self, hierarchy: Hierarchy, max_cells: Any, max_parts: Any) -> None:
        self.hierarchy = hierarchy
        self.max_cells = math.inf if max_cells is None else _checked_number("max_cells", max_cells)
        names = list(hierarchy.n_parts)
        if isinstance(max_parts, Mapping):
            for name in max_parts:
                if name not in names:
                    raise ValueError(f"max_parts names {name!r}; the model has {', '.join(map(repr, names))}")
            self.max_parts = {name: _checked_number(f"max_parts[{name!r}]", n) for name, n in max_parts.items()}
        else:
            most = None if max_parts is None else _checked_number("max_parts", max_parts)
            self.max_parts = {} if most is None else dict.fromkeys(names, most)

    def finest_step(self) -> int:
        """The first step after which the limits are kept; after the last there is one cell."""
        shape = dict(self.hierarchy.n_parts)
        step = 0
        while not self._keeps(shape):
            shape[self.hierarchy.steps[step].name] -= 1
            step += 1
        return step

    def _keeps(self, shape: Mapping[Name, int]) -> bool:
        return math.prod(shape.values()) <= self.max_cells and all(
            shape[name] <= most for name, most in self.max_parts.items()
        )


def _checked_number(what: str, value: Any) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{what} must be a whole number of at least 1, got {value!r}")
    return int(value)


class _Ground:
    """A model as a task whose rows are its cells and whose values are its parts."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.partitions = [*model.partitions.values(), *([] if model.target is None else [model.target])]
        for partition in self.partitions:
            if partition.n_values is None:
                raise ValueError(
                    f"column {partition.name!r} does not say how many values its parts hold, which a merge needs to "
                    "know: models without a target do, and those whose target is partitioned too"
                )
            if len(partition.special):
                raise ValueError(
                    f"column {partition.name!r} has special codes, each a part of its own: they cannot be merged"
                )
        self.filled = [np.flatnonzero(partition.counts.any(axis=1)) for partition in self.partitions]
        self.task = self._task()
        self.grid = self._finest()

    def _task(self) -> GridTask:
        from gridmodl.atoms import Target
        from gridmodl.clock import Clock
        from gridmodl.grid import checked_facts, make_rows
        from gridmodl.groupings import log_groupings
        from gridmodl.plugins import criterion_for, get_criterion
        from gridmodl.pricing import numerical_facts
        from gridmodl.search.gridtask import GridTask
        from gridmodl.search.moves import Limits
        from gridmodl.terms import SEARCHED_TARGETS, Problem, Variable
        from gridmodl.values import Categories

        model, cells = self.model, self.model.cells
        line, codes = np.nonzero(cells.counts)
        columns, values, facts = [], [], []
        for partition, filled in zip(self.partitions, self.filled, strict=True):
            of_lines = np.zeros(len(line), dtype=np.int32)
            if partition.name in cells.names:
                place = np.zeros(partition.n_parts, dtype=np.int32)
                place[filled] = np.arange(len(filled))
                of_lines = place[cells.parts[line, cells.names.index(partition.name)]]
            columns.append(Categories(partition.name, [None] * len(filled), of_lines))
            assert partition.n_values is not None  # noqa: S101  for mypy
            values.append(partition.n_values[filled].astype(np.int32))
            n_values = int(values[-1].sum())
            if partition.kind == "categorical":
                factorials = partition.log_value_factorials
                facts.append(Variable(True, False, n_values, factorials, 0.0, log_groupings(n_values)))
            else:
                facts.append(numerical_facts(n_values))
        target = Target(codes.astype(np.int32), cells.counts[line, codes].astype(np.int64), cells.counts.shape[1])
        rows = make_rows(columns, target)._replace(atom_values=np.concatenate(values))
        has_classes = model.problem in ("classes", "grid")
        n_inputs = len(columns) - (1 if model.problem in SEARCHED_TARGETS else 0)
        class_rows = cells.counts.sum(axis=0) if has_classes else np.empty(0, dtype=np.int64)
        problem = Problem(model.problem, model.n_rows, n_inputs, class_rows)
        criterion = criterion_for(get_criterion(model.criterion, **dict(model.options)), model.problem)
        p, known = checked_facts(criterion, problem, facts)
        return GridTask(rows, known, p, type(criterion), Limits(2**62, 1), Clock())

    def _finest(self) -> Grid:
        from gridmodl.grid import make_grid
        from gridmodl.search.gridtask import price_grid

        grid = make_grid([(k, np.arange(len(filled))) for k, filled in enumerate(self.filled)])
        cost, given = price_grid(self.task, grid), self.model.cost
        if not abs(cost - given) <= SAME_COST * (1.0 + abs(given)):
            raise ValueError(
                f"the model costs {given!r}, but criterion {self.model.criterion!r} prices its parts at {cost!r}: it "
                "was made by another criterion of that name, or another version of it"
            )
        return grid._replace(cost=cost)

    def hierarchy(self) -> Hierarchy:
        saved = self.model.null_cost - self.model.cost

        def kept(cost: float) -> float:
            return (self.model.null_cost - cost) / saved if saved > 0.0 else 0.0

        steps = [Merge(*merge, self.model.cost, kept(self.model.cost)) for merge in self._empty_parts()]
        for k, stays, goes, cost in _merges(self.task, self.grid):
            name, filled = self.partitions[k].name, self.filled[k]
            steps.append(Merge(name, int(filled[stays]), int(filled[goes]), cost, kept(cost)))
        if len(self.grid.variables):  # the last step makes the null grid: 0, but for rounding
            steps[-1] = steps[-1]._replace(cost=self.model.null_cost, information=0.0)
        information = np.array([kept(self.model.cost), *(merge.information for merge in steps)])
        return Hierarchy(tuple(steps), information, {part.name: part.n_parts for part in self.partitions})

    def _empty_parts(self) -> list[tuple[Name, int, int]]:
        """Parts without rows go to the part beside them, to the largest group of a categorical variable."""
        merges = []
        for partition, filled in zip(self.partitions, self.filled, strict=True):
            rows = partition.counts.sum(axis=1)
            for i in np.flatnonzero(rows == 0).tolist():
                stays = int(filled[max(0, int(np.searchsorted(filled, i)) - 1)])
                if partition.kind == "categorical":
                    stays = int(rows.argmax())
                merges.append((partition.name, stays, i))
        return merges

    def model_at(self, hierarchy: Hierarchy, step: int) -> Model:
        """The model of the grid after so many steps, at its exact price."""
        from gridmodl.grid import make_grid
        from gridmodl.search.gridtask import price_grid

        model, parts = self.model, hierarchy._parts_at(step)
        labels = {part.name: self._ordered(part, parts[part.name]) for part in self.partitions}
        grid = [(k, labels[part.name][self.filled[k]]) for k, part in enumerate(self.partitions)]
        cost = price_grid(self.task, make_grid(grid)) if step else model.cost
        merged = {part.name: _merged(part, labels[part.name]) for part in self.partitions}
        cells = _merged_cells(model.cells, labels)
        left_out = {
            name: model.left_out.get(name, "its parts were merged into one as the grid was coarsened")
            for name in model.partitions
            if name not in cells.names
        }
        return replace(
            model,
            cost=cost,
            partitions={name: merged[name] for name in model.partitions},
            target=None if model.target is None else merged[model.target.name],
            proven=False,
            delta=cost - model.cost,
            left_out=left_out if model.target is None else model.left_out,
            optima=(),
            _cells=cells,
            _spread=self._spread(labels),
        )

    def _ordered(self, partition: Partition, parts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The parts numbered in the order that the class of `Partition` promises."""
        first, inverse = np.unique(parts, return_inverse=True)
        if partition.kind == "numerical":
            key = np.array([np.flatnonzero(inverse == i)[0] for i in range(len(first))])
        else:
            key = self._group_order(partition, inverse, len(first))
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(key, kind="stable")] = np.arange(len(first))
        return rank[inverse]

    def _group_order(self, partition: Partition, group: NDArray[np.int64], n_groups: int) -> NDArray[Any]:
        """What groups come in the order of: as those that they are made of, by rows, by the target, or by the first."""
        rows = partition.counts.sum(axis=1)
        spread = self.model._spread
        if spread is not None and partition is not self.model.target:
            sums = np.bincount(group, rows / self.model.n_rows * spread.means[:-1], n_groups)
            return np.asarray(sums / np.maximum(np.bincount(group, rows / self.model.n_rows, n_groups), 1e-300))
        if np.all(np.diff(rows) <= 0):
            return -np.bincount(group, rows, n_groups)
        return np.array([np.flatnonzero(group == i)[0] for i in range(n_groups)])

    def _spread(self, labels: Mapping[Name, NDArray[np.int64]]) -> Spread | None:
        """A numerical target in the merged parts of the column.

        Means are exact; percentiles are those of the straight lines between the parts' own, as the rows are not there.
        """
        spread = self.model._spread
        if spread is None:
            return None
        ((name, partition),) = self.model.partitions.items()
        rows, parts = partition.counts.sum(axis=1), labels[name]
        means, percentiles = [], []
        for i in range(int(parts.max()) + 1):
            mine = np.flatnonzero((parts == i) & (rows > 0))
            if len(mine) == 0:
                mine = np.array([len(rows)])  # all rows stand in for a part without any
            weights = rows[mine] / rows[mine].sum() if mine[0] < len(rows) else np.ones(1)
            means.append(float(np.sum(weights * spread.means[mine])))
            percentiles.append(_mixed_percentiles(spread.percentiles[mine], weights))
        return Spread(np.append(means, spread.means[-1]), np.vstack([*percentiles, spread.percentiles[-1]]))


def _merges(task: GridTask, grid: Grid) -> list[tuple[int, int, int, float]]:
    """The merges from a grid down to one cell: variable, the part that stays, the one that goes, and the cost after."""
    from gridmodl.search.gridmerge import merge_path as sparse_path
    from gridmodl.search.pairmerge import merge_path as dense_path
    from gridmodl.search.pairtask import MAX_CELLS

    is_coupled = bool(task.facts.is_target.any())
    if not grid.variables:
        return []
    if task.n_variables == 2 and task.n_counts == 1 and (is_coupled or math.prod(grid.shape) <= MAX_CELLS):
        path = dense_path(task, grid)
        arrays = (path.variable, path.kept, path.gone, path.cost)
        return list(zip(*(array.tolist() for array in arrays), strict=True))
    return [(merge.variable, merge.stays, merge.goes, merge.cost) for merge in sparse_path(task, grid)]


def _numbered(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same parts as 0, 1, ... in the order in which they are first named."""
    _, first, inverse = np.unique(parts, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


def _merged(partition: Partition, parts: NDArray[np.int64]) -> Partition:
    """The partition whose parts are those of another, merged as `parts` says."""
    n_parts = int(parts.max()) + 1
    counts = np.zeros((n_parts, partition.counts.shape[1]), dtype=np.int64)
    np.add.at(counts, parts, partition.counts)
    n_values = np.zeros(n_parts, dtype=np.int64)
    assert partition.n_values is not None  # noqa: S101  for mypy
    np.add.at(n_values, parts, partition.n_values)
    if partition.kind == "numerical":
        of_intervals = parts[int(partition.is_missing_apart) :]  # no bound tells missing values from others
        bounds = partition.bounds[of_intervals[1:] != of_intervals[:-1]]
        missing = None if partition.missing is None else int(parts[partition.missing])
        return replace(partition, counts=counts, bounds=bounds, missing=missing, n_values=n_values)
    rows = partition.counts.sum(axis=1)
    groups = []
    for i in range(n_parts):
        mine = sorted(np.flatnonzero(parts == i).tolist(), key=lambda j: -rows[j])
        groups.append(_interleaved([partition.groups[j] for j in mine]))
    merged = group_partition(partition.name, tuple(groups), counts)
    return replace(merged, n_values=n_values, log_value_factorials=partition.log_value_factorials)


def _interleaved(groups: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The first value of each group, the second of each, and so on: the most typical ones stay in front."""
    nothing = object()
    turns = itertools.zip_longest(*groups, fillvalue=nothing)
    return tuple(value for turn in turns for value in turn if value is not nothing)


def _merged_cells(cells: Cells, labels: Mapping[Name, NDArray[np.int64]]) -> Cells:
    """The cells that those of a model fall together to; variables of one part are in none."""
    names = tuple(name for name in cells.names if labels[name].max() > 0)
    parts = np.zeros((len(cells.parts), len(names)), dtype=np.int64)
    cell = np.zeros(len(cells.parts), dtype=np.int64)
    for i, name in enumerate(names):
        parts[:, i] = labels[name][cells.parts[:, cells.names.index(name)]]
        cell = np.unique(cell * (int(labels[name].max()) + 1) + parts[:, i], return_inverse=True)[1]
    n_cells = int(cell.max()) + 1
    one_of, counts = np.zeros(n_cells, dtype=np.int64), np.zeros((n_cells, cells.counts.shape[1]), dtype=np.int64)
    one_of[cell] = np.arange(len(cell))
    np.add.at(counts, cell, cells.counts)
    return Cells(names, parts[one_of], counts)


def _mixed_percentiles(percentiles: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Percentiles of parts taken together, each of them `N_POINTS` points on the lines between its own."""
    if len(percentiles) == 1:
        return percentiles[0]
    places = (np.arange(N_POINTS) + 0.5) * (PERCENTILES[-1] / N_POINTS)
    points = np.concatenate([np.interp(places, PERCENTILES, own) for own in percentiles])
    weight = np.repeat(weights / N_POINTS, N_POINTS)
    order = np.argsort(points, kind="stable")
    middle = np.cumsum(weight[order]) - weight[order] / 2.0
    mixed = np.interp(PERCENTILES / PERCENTILES[-1], middle, points[order])
    mixed[0], mixed[-1] = percentiles[:, 0].min(), percentiles[:, -1].max()
    return mixed
