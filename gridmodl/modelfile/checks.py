"""What holds for every model: no part of it contradicts another, or is none that gridmodl could have made."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import MANY_ROWS
from gridmodl.encode import KINDS
from gridmodl.frames import ARRAYS
from gridmodl.model import Model
from gridmodl.modelfile.certificates import check_certificate
from gridmodl.modelfile.grids import check_cells
from gridmodl.modelfile.targets import check_presence, check_target
from gridmodl.modelfile.text import shown, wrong
from gridmodl.partition import Partition
from gridmodl.terms import ONE_COUNT, PROBLEMS

STOPPED = ("time limit", "interrupted")  # what a clock says; null where nothing cut the search short


def check_model(model: Model) -> None:
    """A `ModelFileError` if something does not hold, with its place."""
    _check_facts(model)
    _check_options(model.options)
    _check_classes(model.classes)
    if not model.partitions:
        raise wrong("partitions", "must not be empty")
    if model._cells is None and len(model.partitions) > 1:
        raise wrong("cells", "must be there, as there are several partitions")
    if model._cells is None and model.problem in ONE_COUNT:
        raise wrong("cells", f"must be there, as the problem is {shown(model.problem)}")
    if (model.problem in ("joint", "numerical")) != (len(model.classes) == 0):
        raise wrong(
            "classes", f"must {'' if len(model.classes) else 'not '}be empty, as the problem is {model.problem!r}"
        )
    check_certificate(model)
    by_class = _rows_by_class(next(iter(model.partitions.values())).counts)
    _check_grid(model, by_class, "")
    for i, name in enumerate(model.left_out):
        if name not in model.partitions or name in model.informative:
            raise wrong(f"left_out[{i}]", f"names {shown(name)}, which is no column with one part")
    for i, optimum in enumerate(model.optima):
        if not math.isfinite(optimum.cost):
            raise wrong(f"optima[{i}].cost", f"must be finite, got {optimum.cost!r}")
        if optimum._cells is None:
            raise wrong(f"optima[{i}].cells", "must be there")
        _check_grid(optimum, by_class, f"optima[{i}].")


def _check_grid(model: Model, by_class: list[int], place: str) -> None:
    for i, (key, partition) in enumerate(model.partitions.items()):
        at = f"{place}partitions[{i}]"
        if partition.name is not key and partition.name != key:
            raise wrong(f"{at}.name", f"is {shown(partition.name)}, the model has it as {shown(key)}")
        _check_variable(partition, model, at)
    if model.target is not None:
        _check_variable(model.target, model, f"{place}target")
    check_target(model, place)
    if model._cells is not None:
        check_cells(model._cells, model.all_partitions, by_class, f"{place}cells")


def _check_variable(partition: Partition, model: Model, place: str) -> None:
    _check_partition(partition, place)
    _check_unlabelled(partition, model, f"{place}.unlabelled")
    _check_counts(partition, model, f"{place}.counts")
    _check_n_values(partition, model, place)


def _check_n_values(partition: Partition, model: Model, place: str) -> None:
    """Each part has at most as many values as rows, and a group at most those that it names."""
    n_values, n_parts = partition.n_values, len(partition.counts)
    factorials = partition.log_value_factorials
    if not (math.isfinite(factorials) and (factorials >= 0.0 or model.n_rows >= MANY_ROWS)):
        raise wrong(f"{place}.log_value_factorials", f"must be finite and not negative, got {factorials!r}")
    check_presence(n_values, model.problem in ONE_COUNT, f"{place}.n_values", model.problem)
    if n_values is None:
        return
    rows = partition.counts[:, 0]
    if n_values.dtype != np.int64 or n_values.shape != (n_parts,) or np.any((n_values > 0) != (rows > 0)):
        raise wrong(f"{place}.n_values", f"must be {n_parts} numbers of values, none for parts without rows")
    most = [
        min(n, len(group)) for n, group in zip(rows.tolist(), partition.groups or [range(n) for n in rows], strict=True)
    ]
    if np.any(n_values > np.array(most)):
        raise wrong(f"{place}.n_values", "must not be more than the rows of a part, or the values of a group")


def _check_facts(model: Model) -> None:
    for name, number in {"cost": model.cost, "null_cost": model.null_cost, "delta": model.delta or 0.0}.items():
        if not math.isfinite(number):
            raise wrong(name, f"must be finite, got {number!r}")
    check_one_of("problem", model.problem, PROBLEMS)
    check_run(model.elapsed, model.stopped, model.frame)
    for name, text in (("criterion", model.criterion), ("search", model.search)):
        if not text:
            raise wrong(name, "must not be empty")


def check_run(elapsed: float, stopped: str | None, frame: str) -> None:
    """What any model has from the call that made it: how long that took, what cut it short, and the kind of frame."""
    if not math.isfinite(elapsed):
        raise wrong("elapsed", f"must be finite, got {elapsed!r}")
    if elapsed < 0:
        raise wrong("elapsed", f"must not be negative, got {elapsed!r}")
    if stopped is not None and stopped not in STOPPED:
        raise wrong("stopped", f"must be null or one of {', '.join(STOPPED)}, got {shown(stopped)}")
    check_one_of("frame", frame, [ARRAYS, *(library.value for library in nw.Implementation)])


def check_one_of(place: str, given: str, known: Collection[str]) -> None:
    if given not in known:
        raise wrong(place, f"must be one of {', '.join(known)}, got {shown(given)}")


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise wrong("options", f"has the name {shown(name)}, which is none of an option")
        if type(value) not in (bool, int, float):
            raise wrong(f"options.{name}", f"must be a number or a boolean, got {shown(value)}")


def _check_classes(classes: NDArray[Any]) -> None:
    names = classes.tolist()
    if classes.ndim != 1 or len(set(names)) < len(names):
        raise wrong("classes", "must be a list without repeats")
    if any(name is None or name != name for name in names):
        raise wrong("classes", "must not hold missing values")


def _check_unlabelled(partition: Partition, model: Model, place: str) -> None:
    """Rows without a class are of one column with classes, and of all its parts."""
    unlabelled, n_parts = partition.unlabelled, len(partition.counts)
    if unlabelled is None:
        if model.problem == "semi":
            raise wrong(place, "must be there, as the problem is 'semi'")
        return
    if model.problem not in ("semi", "classes") or len(model.partitions) > 1:
        raise wrong(place, f"must not be there, as the problem is {shown(model.problem)}")
    if unlabelled.dtype != np.int64 or unlabelled.shape != (n_parts,) or np.any(unlabelled < 0):
        raise wrong(place, f"must be {n_parts} numbers of rows, one for each part")
    if not partition.counts.any():
        raise wrong(place, "must not be all rows: some have a class")


def _check_counts(partition: Partition, model: Model, place: str) -> None:
    counts = partition.counts
    n_columns = 1 if model.problem in ONE_COUNT else max(1, len(model.classes))
    if counts.ndim != 2 or counts.dtype != np.int64 or counts.shape[1] != n_columns:
        raise wrong(place, f"must have {n_columns} columns, one for each class; has the shape {counts.shape}")
    by_class = _rows_by_class(counts)
    total = sum(by_class) + (0 if partition.unlabelled is None else sum(partition.unlabelled.tolist()))
    if np.any(counts < 0) or total != model.n_rows:
        raise wrong(place, f"must sum to n_rows, {model.n_rows}, without negative counts; the sum is {total}")
    if by_class != _rows_by_class(next(iter(model.partitions.values())).counts):
        raise wrong(place, "must have as many rows of each class as the first partition")


def _rows_by_class(counts: NDArray[np.int64]) -> list[int]:
    return [sum(column) for column in counts.T.tolist()]  # of Python's integers, which never overflow


def _check_partition(partition: Partition, place: str) -> None:
    if partition.kind not in KINDS:
        raise wrong(f"{place}.kind", f"must be one of {', '.join(KINDS)}, got {shown(partition.kind)}")
    if partition.kind == "categorical":
        _check_groups(partition, place)
    else:
        _check_intervals(partition, place)


def _check_groups(partition: Partition, place: str) -> None:
    if len(partition.bounds) or len(partition.special) or partition.is_utc:
        raise wrong(place, "is categorical and has bounds or special codes")
    groups, n_parts = partition.groups, len(partition.counts)
    if len(groups) != n_parts or not all(groups):
        raise wrong(f"{place}.groups", f"must be {n_parts} lists of values, as counts has {n_parts} parts")
    _check_values(groups, f"{place}.groups")
    missing = next((i for i, group in enumerate(groups) if None in group), None)
    if partition.missing != missing:
        raise wrong(f"{place}.missing", f"must be {missing}, the group that holds null, got {partition.missing}")
    if partition.default is not None and not 0 <= partition.default < n_parts:
        raise wrong(f"{place}.default", f"must be one of the {n_parts} groups, got {partition.default}")


def _check_values(groups: tuple[tuple[Any, ...], ...], place: str) -> None:
    seen: set[Any] = set()
    for i, group in enumerate(groups):
        for value in group:
            if value != value:
                raise wrong(f"{place}[{i}]", "holds a value that is not a number; missing values are null")
            if value in seen:
                raise wrong(f"{place}[{i}]", f"holds a value for the second time, such as {shown(value)}")
            seen.add(value)


def _check_intervals(partition: Partition, place: str) -> None:
    if partition.groups or partition.default is not None:
        raise wrong(place, "is numerical and has groups or a default")
    bounds, special = partition.bounds, partition.special
    for name, array in (("bounds", bounds), ("special", special)):
        if array.ndim != 1 or array.dtype.kind not in "iufmM":
            raise wrong(f"{place}.{name}", f"must be a list of numbers, dates or durations, got {array.dtype}")
        if np.any(array != array):
            raise wrong(f"{place}.{name}", "holds a missing value")
    if not np.all(bounds[1:] > bounds[:-1]):
        raise wrong(f"{place}.bounds", "must ascend")
    if len(set(special.tolist())) < len(special):
        raise wrong(f"{place}.special", "holds a code twice")
    kinds = {bounds.dtype.kind, special.dtype.kind}
    if len(special) and len(kinds) > 1 and kinds & {"m", "M"}:  # numbers of different kinds compare, dates do not
        raise wrong(f"{place}.special", f"is of {special.dtype}, the bounds of {bounds.dtype}")
    if partition.is_utc and bounds.dtype.kind != "M":
        raise wrong(f"{place}.is_utc", f"must be false, as bounds of {bounds.dtype} are no dates")
    _check_number_of_intervals(partition, place)


def _check_number_of_intervals(partition: Partition, place: str) -> None:
    if partition.missing not in (None, 0):
        raise wrong(f"{place}.missing", f"must be 0 or null, got {partition.missing}")
    n_bounds, n_special, n_parts = len(partition.bounds), len(partition.special), len(partition.counts)
    least = n_bounds + 1 + n_special
    allowed = [least] if partition.missing is None else [least, least + 1]  # missing values may be a part of their own
    if n_parts not in allowed:
        made = " or ".join(map(str, allowed))
        raise wrong(
            f"{place}.counts", f"has {n_parts} parts; {n_bounds} bounds and {n_special} special codes make {made}"
        )
