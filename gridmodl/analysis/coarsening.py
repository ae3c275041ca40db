"""Coarsen the grid of a model: a readable grid after some merges of its `hierarchy`, with its exact cost."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.hierarchy import Hierarchy, hierarchy_of
from gridmodl.analysis.model_task import ModelTask
from gridmodl.data.frames import Name
from gridmodl.model.cells import Cells, make_cells
from gridmodl.model.counts import merged_quantiles, quantiles_of_parts
from gridmodl.model.densities.ranges import merged_ranges
from gridmodl.model.names import names_after_merge
from gridmodl.model.partition import Partition, group_partition, rows_in_groups
from gridmodl.search.grid.rows import make_grid
from gridmodl.search.grid.state import price_grid
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.model.model import Model


def coarsened(
    model: Model,
    max_cells: int | None = None,
    max_parts: int | Mapping[Name, int] | None = None,
    information: float | None = None,
) -> Model:
    """Coarsen `model`: the body of `Model.coarsen`."""
    if max_cells is None and max_parts is None and information is None:
        raise ValueError("say how coarse the grid should be: max_cells=, max_parts= or information=")
    is_share = isinstance(information, numbers.Real) and not isinstance(information, bool)
    if information is not None and not (is_share and 0 <= information <= 1):
        raise ValueError(f"information must be a share from 0 to 1, got {information!r}")
    whole = ModelTask(model)
    hierarchy = hierarchy_of(whole)
    limits = _Limits(hierarchy, max_cells, max_parts)
    finest = limits.finest_step()
    if information is None:
        return _model_of(whole, hierarchy.parts_at(finest))
    enough = np.flatnonzero(hierarchy.information >= information)
    if len(enough) == 0:  # the model saves nothing against the null grid: keep it unchanged
        enough = np.zeros(1, dtype=np.int64)
    coarsest = int(enough[-1])
    if coarsest < finest:
        n_cells = math.prod(hierarchy.shape_at(coarsest).values())
        raise ValueError(
            f"information={information!r} takes {n_cells} cells ({_shape_text(hierarchy.shape_at(coarsest))}); the "
            f"finest grid within the limits ({_shape_text(hierarchy.shape_at(finest))}) keeps a share of "
            f"{hierarchy.information[finest]:.4f}: ask for less information, or allow more cells or parts"
        )
    return _model_of(whole, hierarchy.parts_at(coarsest))


def _shape_text(shape: Mapping[Name, int]) -> str:
    """Numbers of parts of the variables with more than one part."""
    return ", ".join(f"{name}: {n}" for name, n in shape.items() if n > 1) or "one cell"


class _Limits:
    """Limits of the user on the number of cells and parts."""

    def __init__(self, hierarchy: Hierarchy, max_cells: Any, max_parts: Any) -> None:
        self.hierarchy = hierarchy
        self.max_cells = math.inf if max_cells is None else _checked_number("max_cells", max_cells)
        names = list(hierarchy.n_parts)
        if isinstance(max_parts, Mapping):
            for name in max_parts:
                if name not in names:
                    raise ValueError(
                        f"max_parts names {name!r}; the model has {', '.join(map(repr, names))}"
                        f"{did_you_mean(name, names)}"
                    )
            self.max_parts = {name: _checked_number(f"max_parts[{name!r}]", n) for name, n in max_parts.items()}
        else:
            most = None if max_parts is None else _checked_number("max_parts", max_parts)
            self.max_parts = {} if most is None else dict.fromkeys(names, most)

    def finest_step(self) -> int:
        """First step of the hierarchy after which the limits hold; after its last step there is one cell."""
        shape = dict(self.hierarchy.n_parts)
        step = 0
        while not self._keeps(shape):
            shape[self.hierarchy.steps[step].name] -= 1
            step += 1
        return step

    def _keeps(self, shape: Mapping[Name, int]) -> bool:
        """Whether a grid with these numbers of parts is within the limits."""
        return math.prod(shape.values()) <= self.max_cells and all(
            shape[name] <= most for name, most in self.max_parts.items()
        )


def _checked_number(what: str, value: Any) -> int:
    """Raise ValueError unless `value` is a whole number of at least 1."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{what} must be a whole number of at least 1, got {value!r}")
    return int(value)


def _model_of(whole: ModelTask, parts: Mapping[Name, NDArray[np.int64]]) -> Model:
    """Merge the parts of a model: `parts` is the new part of each part, by variable; the cost is computed anew."""
    model = whole.model
    labels = {part.name: _ordered(model, part, parts[part.name]) for part in whole.partitions}
    is_same = all(labels[part.name].max() + 1 == part.n_parts for part in whole.partitions)
    grid = [(k, labels[part.name][whole.filled[k]]) for k, part in enumerate(whole.partitions)]
    cost = model.cost if is_same else price_grid(whole.task, make_grid(grid))
    merged = {part.name: merged_partition(part, labels[part.name]) for part in whole.partitions}
    cells = _merged_cells(whole, labels)
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
        unproven=None,
        delta=cost - model.cost,
        left_out=left_out if len(model.partitions) > 1 else model.left_out,
        optima=(),
        _cells=cells,
        _target_quantiles=merged_quantiles(model, labels),
    )


def _ordered(model: Model, partition: Partition, parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber the new parts in the order that `Partition` documents."""
    n_parts = int(parts.max()) + 1
    if partition.kind != "categorical":
        return parts
    rank = np.empty(n_parts, dtype=np.int64)
    rank[np.argsort(_group_order(model, partition, parts, n_parts), kind="stable")] = np.arange(n_parts)
    return rank[parts]


def _group_order(model: Model, partition: Partition, group: NDArray[np.int64], n_groups: int) -> NDArray[Any]:
    """Sort key of each new group, as for the groups of the model: mean of the target, rows, or first group in it."""
    rows = partition.counts.sum(axis=1)
    if model._target_quantiles is not None and partition is not model.target:
        shares = rows / model.n_rows
        sums = np.bincount(group, shares * quantiles_of_parts(model, partition).means[:-1], n_groups)
        return np.asarray(sums / np.maximum(np.bincount(group, shares, n_groups), 1e-300))
    if np.all(np.diff(rows) <= 0):
        return -np.bincount(group, rows, n_groups)
    return np.arange(n_groups)


def merged_partition(partition: Partition, parts: NDArray[np.int64]) -> Partition:
    """Merge the parts of a partition; `parts` is the new part of each part."""
    n_parts = int(parts.max()) + 1
    counts = np.zeros((n_parts, partition.counts.shape[1]), dtype=np.int64)
    np.add.at(counts, parts, partition.counts)
    n_values, unlabelled = _summed(partition.n_values, parts), _summed(partition.unlabelled, parts)
    given = names_after_merge(partition, parts)
    if partition.kind != "categorical":
        # Neither a part of missing values nor a special code has a bound.
        first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
        bounds = partition.bounds[parts[first + 1 : last] != parts[first : last - 1]]
        missing = None if partition.missing is None else int(parts[partition.missing])
        lowest, highest = merged_ranges(partition, parts)
        return replace(
            partition, counts=counts, bounds=bounds, missing=missing, n_values=n_values, unlabelled=unlabelled,
            widths=None if partition.widths is None else np.bincount(parts, partition.widths).astype(np.float64),
            given_names=given,
            lowest=lowest, highest=highest,
        )  # fmt: skip
    default = None if partition.default is None else int(parts[partition.default])
    rows = partition.rows
    groups = []
    for i in range(n_parts):
        mine = sorted(np.flatnonzero(parts == i).tolist(), key=lambda j: -rows[j])
        merged_groups = [partition.groups[j] for j in mine]
        is_typical = partition.n_values is not None  # then the most typical values of each group are in front
        groups.append(_interleaved(merged_groups) if is_typical else tuple(itertools.chain(*merged_groups)))
    first = partition.n_parts - partition.n_special  # special groups stay last unless one of them merges
    is_kept = np.bincount(parts)[parts[first:]].max(initial=1) == 1
    n_special = partition.n_special if is_kept else 0
    merged = group_partition(partition.name, tuple(groups), counts, unlabelled, n_special)
    value_rows = partition.value_rows
    if value_rows is not None:
        value_rows = rows_in_groups(groups, list(itertools.chain(*partition.groups)), value_rows)
    return replace(
        merged,
        n_values=n_values,
        value_rows=value_rows,
        default=default,
        others=partition.others,
        n_missing=partition.n_missing,
        given_names=given,
        _log_orders=partition._log_orders,
    )


def _summed(of_parts: NDArray[np.int64] | None, parts: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Sum `of_parts` over the parts that merge."""
    if of_parts is None:
        return None
    sums = np.zeros(int(parts.max()) + 1, dtype=np.int64)
    np.add.at(sums, parts, of_parts)
    return sums


def _interleaved(groups: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """First value of each group, second value of each, and so on, so that the most typical values stay in front."""
    nothing = object()
    turns = itertools.zip_longest(*groups, fillvalue=nothing)
    return tuple(value for turn in turns for value in turn if value is not nothing)


def _merged_cells(whole: ModelTask, labels: Mapping[Name, NDArray[np.int64]]) -> Cells:
    """Cells after the merge; variables with one part are left out."""
    cells = whole.model.cells
    names = [name for name in cells.names if labels[name].max() > 0]
    parts = [labels[name][cells.parts[:, cells.names.index(name)]] for name in names]
    return make_cells(names, parts, whole.target)
