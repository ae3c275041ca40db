"""What a model has of a target that is partitioned too, as JSON: its parts, rows of classes, mean and percentiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridmodl.modelfile.fields import read_fields, read_list
from gridmodl.modelfile.partitions import partition_record, read_partition
from gridmodl.modelfile.text import shown, wrong
from gridmodl.modelfile.values import read_floats
from gridmodl.partition import Partition
from gridmodl.spread import PERCENTILES, Spread
from gridmodl.terms import SEARCHED_TARGETS

if TYPE_CHECKING:
    from gridmodl.model import Model


def target_record(target: Partition | None, place: str) -> dict[str, Any] | None:
    return None if target is None else partition_record(target, place)


def read_target(given: Any, place: str, n_rows: int, version: int) -> Partition | None:
    return None if given is None else read_partition(given, place, n_rows, version)


def spread_record(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {"means": spread.means.tolist(), "percentiles": spread.percentiles.tolist()}


def read_spread(given: Any, place: str) -> Spread | None:
    if given is None:
        return None
    record = read_fields(given, place, ("means", "percentiles"))
    means = read_floats(record["means"], f"{place}.means")
    rows = read_list(record["percentiles"], f"{place}.percentiles")
    percentiles = [read_floats(row, f"{place}.percentiles[{i}]") for i, row in enumerate(rows)]
    if len(percentiles) != len(means) or any(len(row) != len(PERCENTILES) for row in percentiles):
        raise wrong(f"{place}.percentiles", f"must be {len(means)} lists of {len(PERCENTILES)} numbers")
    return Spread(np.array(means), np.array(percentiles).reshape(len(means), len(PERCENTILES)))


def check_presence(given: Any, is_due: bool, place: str, problem: str) -> None:
    """A field is there just where the problem has such a thing."""
    if (given is not None) != is_due:
        raise wrong(place, f"must be {'there' if is_due else 'null'}, as the problem is {shown(problem)}")


def check_target(model: Model, place: str) -> None:
    """A model has a target with parts just where its problem is one of these, and all that belongs to it."""
    target, problem = model.target, model.problem
    check_presence(target, problem in SEARCHED_TARGETS, f"{place}target", problem)
    check_presence(model._class_rows, problem == "grouped", f"{place}class_rows", problem)
    check_presence(model._spread, problem == "numerical", f"{place}spread", problem)
    if target is None:
        return
    if len(model.partitions) != 1:
        raise wrong(f"{place}partitions", f"must be one, as the problem is {shown(model.problem)}")
    if target.name in model.partitions:
        raise wrong(f"{place}target.name", f"is that of a column, {shown(target.name)}")
    if (target.kind == "categorical") != (model.problem == "grouped"):
        raise wrong(f"{place}target.kind", f"must not be {target.kind}, as the problem is {shown(model.problem)}")
    if target.missing is not None or len(target.special):
        raise wrong(f"{place}target", "must have no missing values and no special codes")
    if model._class_rows is not None:
        _check_class_rows(model, target, f"{place}class_rows")
    if model._spread is not None:
        _check_spread(model._spread, model, f"{place}spread")


def _check_class_rows(model: Model, target: Partition, place: str) -> None:
    rows, names = model._class_rows, model.classes.tolist()
    if rows is None or rows.dtype != np.int64 or rows.shape != (len(names),) or np.any(rows < 1):
        raise wrong(place, f"must be {len(names)} numbers of rows, one for each class")
    rows_of = dict(zip(names, rows.tolist(), strict=True))
    for j, group in enumerate(target.groups):
        n = sum(rows_of.pop(value, 0) for value in group)
        if n != int(target.counts[j, 0]):
            raise wrong(place, f"must add up to the rows of each group of the target: {n} in group {j}")
    if rows_of:
        raise wrong(place, f"has a class that is in no group of the target, {shown(next(iter(rows_of)))}")


def _check_spread(spread: Spread, model: Model, place: str) -> None:
    (partition,) = model.partitions.values()
    means, percentiles = spread
    n = partition.n_parts + 1
    for name, array, shape in (("means", means, (n,)), ("percentiles", percentiles, (n, len(PERCENTILES)))):
        if array.dtype != np.float64 or array.shape != shape:
            raise wrong(f"{place}.{name}", f"must have one entry for each of {n - 1} parts, and one for all rows")
        if not np.all(np.isfinite(array)):
            raise wrong(f"{place}.{name}", "must be finite")
    if np.any(percentiles[:, 1:] < percentiles[:, :-1]):
        raise wrong(f"{place}.percentiles", "must ascend")
    if np.any(means < percentiles[:, 0]) or np.any(means > percentiles[:, -1]):
        raise wrong(f"{place}.means", "must lie between the lowest and the highest percentile")
