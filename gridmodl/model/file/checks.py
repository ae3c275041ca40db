"""Check a whole model: no field contradicts another, and gridmodl could have made the model."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import KINDS
from gridmodl.data.domain import domain_of
from gridmodl.data.frames import ARRAYS, Name
from gridmodl.data.lattice import ROUNDING
from gridmodl.model.cells import Cells
from gridmodl.model.counts import input_cells
from gridmodl.model.file.fields import shown, wrong
from gridmodl.model.model import Model
from gridmodl.model.names import checked_name, names_of
from gridmodl.model.partition import Partition
from gridmodl.model.target_quantiles import PERCENTILES, TargetQuantiles
from gridmodl.search.moves import is_cheaper
from gridmodl.search.proof import LIMITED, METHODS, MONOTONE
from gridmodl.search.rules import ORDERS
from gridmodl.terms import PROBLEMS

STOPPED = ("time limit", "interrupted")  # values of `Clock.stopped`; null if nothing cut the search short


def check_model(model: Model) -> None:
    """Raise `ModelFileError`, with the place of the field, if a field is wrong or contradicts another."""
    _check_facts(model)
    _check_options(model.options)
    _check_classes(model.classes)
    if not model.partitions:
        raise wrong("partitions", "must not be empty")
    if model._cells is None and len(model.partitions) > 1:
        raise wrong("cells", "must be there, as there are several partitions")
    is_alone = PROBLEMS[model.problem].has_classes or PROBLEMS[model.problem].has_widths
    if model._cells is None and not is_alone:
        raise wrong("cells", f"must be there, as the problem is {shown(model.problem)}")
    if PROBLEMS[model.problem].names_classes != (len(model.classes) > 0):
        raise wrong(
            "classes", f"must {'' if len(model.classes) else 'not '}be empty, as the problem is {model.problem!r}"
        )
    check_certificate(model)
    check_stability(model)
    by_class = _rows_by_class(next(iter(model.partitions.values())).counts)
    _check_grid(model, by_class, "")
    _check_event(model)
    for i, name in enumerate(model.left_out):
        if name not in model.partitions or name in model.informative:
            raise wrong(f"left_out[{i}]", f"names {shown(name)}, which is no column with one part")
    for i, optimum in enumerate(model.optima):
        if not math.isfinite(optimum.cost):
            raise wrong(f"optima[{i}].cost", f"must be finite, got {optimum.cost!r}")
        if optimum._cells is None:
            raise wrong(f"optima[{i}].cells", "must be there")
        _check_grid(optimum, by_class, f"optima[{i}].")


def _check_event(model: Model) -> None:
    """Check that a target with a name is there, and that the event is the number of a class that is not grouped."""
    if model.target_name is not None and not PROBLEMS[model.problem].has_target:
        raise wrong("target_name", "must be left out, as the model has no target")
    n_classes = len(model.classes) if PROBLEMS[model.problem].has_classes else 0
    if model.event_index is not None and not 0 <= model.event_index < n_classes:
        raise wrong("event", f"must be null or the number of one of {n_classes} classes, got {model.event_index}")
    if model.event_is_default and (model.event_index is None or n_classes < 3):
        raise wrong("event_is_default", "must be false unless there are more than two classes and an event")


def _check_grid(model: Model, by_class: list[int], place: str) -> None:
    """Check partitions, target and cells of a model or of one of its optima; `by_class` is the rows of each class."""
    for i, (key, partition) in enumerate(model.partitions.items()):
        at = f"{place}partitions[{i}]"
        if partition.name is not key and partition.name != key:
            raise wrong(f"{at}.name", f"is {shown(partition.name)}, but its key in the model is {shown(key)}")
        _check_variable(partition, model, at)
    if model.target is not None:
        _check_variable(model.target, model, f"{place}target")
    _check_target(model, place)
    if model._cells is not None:
        _check_cells(model._cells, model.all_partitions, by_class, f"{place}cells")


def _check_variable(partition: Partition, model: Model, place: str) -> None:
    """Check the partition of one column or of the target."""
    check_partition(partition, place)
    _check_unlabelled(partition, model, f"{place}.unlabelled")
    _check_counts(partition, model, f"{place}.counts")
    _check_n_values(partition, model, place)
    _check_value_rows(partition, model, f"{place}.value_rows")
    _check_widths(partition, model, place)
    most = 0 if partition.missing is None else int(partition.rows[partition.missing])
    if PROBLEMS[model.problem].has_widths:
        if partition.missing is not None:
            raise wrong(f"{place}.missing", "must be null, as the rows of a density have a value")
        most = max(0, partition.n_missing or 0)
    if partition.n_missing is not None and not 0 <= partition.n_missing <= most:
        raise wrong(f"{place}.n_missing", f"must be null or from 0 to {most}, got {partition.n_missing}")


def _check_widths(partition: Partition, model: Model, place: str) -> None:
    """Check the domain of a column, and the widths of its parts, which add up to it, if the model is of one column.

    Other models have no widths, and may have domains of numerical columns.
    """
    widths, domain, has_widths = partition.widths, partition.domain, PROBLEMS[model.problem].has_widths
    _check_presence(widths, has_widths, f"{place}.widths", model.problem)
    _check_domain(partition, model, f"{place}.domain")
    _check_ranges(partition, place)
    check_step(partition.step, 0.0 if domain is None or widths is None else float(widths.sum()), f"{place}.step")
    if widths is None or domain is None:
        return
    if partition.kind != "numerical":
        raise wrong(f"{place}.kind", f"must be numerical, as the problem is {shown(model.problem)}")
    n = partition.n_parts - partition.n_special
    rows, is_even = partition.counts[:, 0], widths.shape == (partition.n_parts,) and bool(np.all(np.isfinite(widths)))
    if not is_even or np.any(widths < 0) or np.any(widths[n:] != 0):
        raise wrong(f"{place}.widths", f"must be {partition.n_parts} numbers, one for each part, 0 for a mass")
    if domain.shape not in ((0,), (2,)) or (len(domain) == 0) != (not rows[:n].any()):
        raise wrong(f"{place}.domain", "must be two values, or empty if there are no rows but those of masses")
    if np.any((rows[:n] > 0) & (widths[:n] == 0)):
        raise wrong(f"{place}.widths", "must be above 0 for an interval with rows")
    if len(domain) == 0:
        return
    width = domain_of(domain, domain.dtype).width
    if not 0.0 < width < math.inf or not math.isclose(float(widths.sum()), width, rel_tol=1e-9):
        raise wrong(f"{place}.widths", f"must add up to the width of the domain, {width!r}")
    points = widths / (partition.step or width)
    if partition.step and np.any(np.abs(points - np.rint(points)) > ROUNDING * np.maximum(points, 1.0)):
        raise wrong(f"{place}.step", "must be the step of a lattice, and widths whole multiples of it")


def check_step(step: float, width: float, place: str) -> None:
    """Check that the step of a lattice is at most half of the `width` of a domain; 0 for no lattice."""
    if not 0.0 <= 2.0 * step <= width * (1.0 + ROUNDING):
        raise wrong(place, f"must be the step of a lattice in a domain of width {width!r}, got {step!r}")


def _check_domain(partition: Partition, model: Model, place: str) -> None:
    """Check that a domain is where it may be: two values of the type of the bounds, or none."""
    domain = partition.domain
    if PROBLEMS[model.problem].has_widths:
        _check_presence(domain, True, place, model.problem)
    if domain is None:
        return
    if domain.shape not in ((0,), (2,)):
        raise wrong(place, "must be two values, or empty")
    if len(domain) == 0:
        return
    is_same = domain.dtype.kind == partition.bounds.dtype.kind
    if domain.dtype.kind not in "fiumM" or (len(partition.bounds) and not is_same) or np.any(domain != domain):
        raise wrong(place, f"must be of the type of the bounds, {partition.bounds.dtype}")
    if not 0.0 <= domain_of(domain, domain.dtype).width < math.inf:
        raise wrong(place, "must be the lowest and the highest value, which are finite")


def _check_ranges(partition: Partition, place: str) -> None:
    """Check that the lowest and highest values of the intervals are within their bounds, and make up the domain."""
    domain, low, high = partition.domain, partition.lowest, partition.highest
    if domain is None or low is None or high is None:
        return
    first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
    n = last - first if len(domain) else 0
    for what, values in (("lowest", low), ("highest", high)):
        if values.shape != (n,) or values.dtype != domain.dtype or np.any(values != values):
            raise wrong(f"{place}.{what}", f"must be {n} values of {domain.dtype}, one for each interval")
    if n == 0:
        return
    rows = partition.counts[first:last, 0].copy()
    if partition.missing is not None and not first:
        rows[0] -= partition.n_missing or 0
    has, bounds = rows > 0, partition.bounds
    is_right = np.where(has, low <= high, (low == domain[1]) & (high == domain[0]))
    is_right[1:] &= ~has[1:] | (low[1:] > bounds)
    is_right[:-1] &= ~has[:-1] | (high[:-1] <= bounds)
    if not is_right.all() or low.min() != domain[0] or high.max() != domain[1]:
        raise wrong(
            f"{place}.lowest", "must be, with 'highest', values within the bounds of each interval and the domain"
        )


def _check_value_rows(partition: Partition, model: Model, place: str) -> None:
    """Check that the rows of the values of each group sum to the priced rows of the group."""
    value_rows = partition.value_rows
    if value_rows is None:
        return
    if partition.kind != "categorical":
        raise wrong(place, f"must not be there, as the variable is {partition.kind}")
    sizes = [len(group) for group in partition.groups]
    if value_rows.dtype != np.int64 or value_rows.shape != (sum(sizes),) or np.any(value_rows < 0):
        raise wrong(place, f"must be {sum(sizes)} numbers of rows, one for each value of the groups")
    rows = partition.rows if PROBLEMS[model.problem].has_unlabelled else partition.counts.sum(axis=1)
    found = [sum(part.tolist()) for part in np.split(value_rows, np.cumsum(sizes)[:-1])]
    if found != rows.tolist():
        raise wrong(place, f"must add up to the rows of each group, {rows.tolist()}; they add up to {found}")
    n_values = partition.n_values
    is_there = [int(np.count_nonzero(part)) for part in np.split(value_rows, np.cumsum(sizes)[:-1])]
    if n_values is not None and is_there != n_values.tolist():
        raise wrong(place, f"must have {n_values.tolist()} values with rows, as n_values says; got {is_there}")


def _check_n_values(partition: Partition, model: Model, place: str) -> None:
    """Check that a part has at most as many values as rows, and a group at most as many as it lists."""
    n_values, n_parts = partition.n_values, len(partition.counts)
    _check_presence(n_values, not PROBLEMS[model.problem].has_classes, f"{place}.n_values", model.problem)
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
    """Check the fields of a model that are single numbers or texts."""
    for name, number in {"cost": model.cost, "null_cost": model.null_cost, "delta": model.delta or 0.0}.items():
        if not math.isfinite(number):
            raise wrong(name, f"must be finite, got {number!r}")
    check_one_of("problem", model.problem, PROBLEMS)
    check_run(model.elapsed, model.stopped, model.frame)
    has_others = any(partition.others is not None for partition in model.partitions.values())
    if model.target is not None and model.target.others is not None:
        raise wrong("target.others", "must not be there: all classes of a target are counted")
    for why, is_so in (
        ("values were counted together", model.resolution or has_others),
        ("a sample was searched", model.sample_rows),
    ):
        if model.proven and is_so:
            raise wrong("proven", f"must be false, as {why}")
    if model.unproven is not None and (model.proven or model.certificate is not None or len(model.partitions) > 1):
        raise wrong("unproven", "must be left out, as the model is proven, has a certificate, or is of several columns")
    if model.certificate is not None and has_others:
        raise wrong("certificate", "must be null, as values were counted together")
    for name, text in (("criterion", model.criterion), ("search", model.search)):
        if not text:
            raise wrong(name, "must not be empty")


def check_run(elapsed: float, stopped: str | None, frame: str) -> None:
    """Check the fields that describe the call: seconds, why it was cut short, and the kind of frame."""
    if not math.isfinite(elapsed):
        raise wrong("elapsed", f"must be finite, got {elapsed!r}")
    if elapsed < 0:
        raise wrong("elapsed", f"must not be negative, got {elapsed!r}")
    if stopped is not None and stopped not in STOPPED:
        raise wrong("stopped", f"must be null or one of {', '.join(STOPPED)}, got {shown(stopped)}")
    check_one_of("frame", frame, [ARRAYS, *(library.value for library in nw.Implementation)])


def check_one_of(place: str, value: str, known: Collection[str]) -> None:
    """Raise `ModelFileError` unless `value` is one of `known`."""
    if value not in known:
        raise wrong(place, f"must be one of {', '.join(known)}, got {shown(value)}")


def _check_options(options: Mapping[str, Any]) -> None:
    """Check names and values of the options of the criterion."""
    for name, value in options.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise wrong("options", f"has the name {shown(name)}, which is no name of an option")
        if type(value) not in (bool, int, float):
            raise wrong(f"options.{name}", f"must be a number or a boolean, got {shown(value)}")


def _check_classes(classes: NDArray[Any]) -> None:
    """Check that classes do not repeat and are not missing."""
    names = classes.tolist()
    if classes.ndim != 1 or len(set(names)) < len(names):
        raise wrong("classes", "must be a list without repeats")
    if any(name is None or name != name for name in names):
        raise wrong("classes", "must not hold missing values")


def _check_unlabelled(partition: Partition, model: Model, place: str) -> None:
    """Check that only a model of one column with classes has unlabelled rows, and counts them in each part."""
    unlabelled, n_parts = partition.unlabelled, len(partition.counts)
    if unlabelled is None:
        if PROBLEMS[model.problem].has_unlabelled:
            raise wrong(place, "must be there, as the problem is 'semi'")
        return
    kind = PROBLEMS[model.problem]
    if not (kind.has_classes and kind.has_one_input) or len(model.partitions) > 1:
        raise wrong(place, f"must not be there, as the problem is {shown(model.problem)}")
    if unlabelled.dtype != np.int64 or unlabelled.shape != (n_parts,) or np.any(unlabelled < 0):
        raise wrong(place, f"must be {n_parts} numbers of rows, one for each part")
    if not partition.counts.any():
        raise wrong(place, "must not be all rows: some have a class")


def _check_counts(partition: Partition, model: Model, place: str) -> None:
    """Check shape and sums of the counts."""
    counts = partition.counts
    n_columns = max(1, len(model.classes)) if PROBLEMS[model.problem].has_classes else 1
    if counts.ndim != 2 or counts.dtype != np.int64 or counts.shape[1] != n_columns:
        raise wrong(place, f"must have {n_columns} columns, one for each class; has the shape {counts.shape}")
    by_class = _rows_by_class(counts)
    total = sum(by_class) + (0 if partition.unlabelled is None else sum(partition.unlabelled.tolist()))
    if np.any(counts < 0) or total != model.n_rows:
        raise wrong(place, f"must sum to n_rows, {model.n_rows}, without negative counts; the sum is {total}")
    if by_class != _rows_by_class(next(iter(model.partitions.values())).counts):
        raise wrong(place, "must have as many rows of each class as the first partition")


def _rows_by_class(counts: NDArray[np.int64]) -> list[int]:
    """Rows of each class, as Python integers, which never overflow."""
    return [sum(column) for column in counts.T.tolist()]


def check_partition(partition: Partition, place: str) -> None:
    """Check the kind of a partition and the fields of that kind."""
    if partition.kind not in KINDS:
        raise wrong(f"{place}.kind", f"must be one of {', '.join(KINDS)}, got {shown(partition.kind)}")
    if partition.levels and partition.kind != "ordinal":
        raise wrong(place, f"is {partition.kind} and has levels")
    if partition.kind == "categorical":
        _check_groups(partition, place)
    elif partition.kind == "ordinal":
        _check_levels(partition, place)
    else:
        _check_intervals(partition, place)
    if partition.given_names:
        _check_names(partition, f"{place}.names")


def _check_names(partition: Partition, place: str) -> None:
    """Check the names of parts that a user gave."""
    given, n_parts = partition.given_names, partition.n_parts
    if len(given) != n_parts or not any(given):
        raise wrong(place, f"must be {n_parts} names or nulls, not all null, as counts has {n_parts} parts")
    for i, name in enumerate(given):
        try:
            if name is not None:
                checked_name(name)
        except ValueError as error:
            raise wrong(f"{place}[{i}]", str(error)) from None
    if len(set(names_of(partition))) < n_parts:
        raise wrong(place, "must differ from one another, and from the names of the other parts")


def _check_groups(partition: Partition, place: str) -> None:
    """Check the fields of a categorical partition."""
    if len(partition.bounds) or len(partition.special) or partition.is_utc:
        raise wrong(place, "is categorical and has bounds or special codes")
    groups, n_parts = partition.groups, len(partition.counts)
    if len(groups) != n_parts or not all(groups):
        raise wrong(f"{place}.groups", f"must be {n_parts} lists of values, as counts has {n_parts} parts")
    sizes = partition.special_sizes
    if sizes is not None and list(sizes) != [len(group) for group in groups[max(0, n_parts - len(sizes)) :]]:
        raise wrong(f"{place}.special_sizes", "must be null, or the numbers of values of the last groups")
    _check_values(groups, f"{place}.groups")
    missing = next((i for i, group in enumerate(groups) if None in group), None)
    if partition.missing != missing:
        raise wrong(f"{place}.missing", f"must be {missing}, the group that holds null, got {partition.missing}")
    if partition.default is not None and not 0 <= partition.default < n_parts:
        raise wrong(f"{place}.default", f"must be one of the {n_parts} groups, got {partition.default}")
    of_default = () if partition.default is None else groups[partition.default]
    if partition.others is not None and partition.others not in of_default:
        raise wrong(f"{place}.others", f"must be in the group of 'default', {partition.default}")


def _check_levels(partition: Partition, place: str) -> None:
    """Check the fields of an ordinal partition."""
    if partition.default is not None or partition.is_utc:
        raise wrong(place, "is ordinal and has a default, or bounds of UTC")
    levels, bounds, special = partition.levels, partition.bounds, partition.special
    if not levels or None in levels:
        raise wrong(f"{place}.levels", "must be a list of values, none of them null")
    _check_values((levels,), f"{place}.levels")
    for name, places, end in (("bounds", bounds, len(levels) - 1), ("special", special, len(levels))):
        if places.ndim != 1 or (len(places) and (places.dtype != np.int64 or np.any(places < 0) or max(places) >= end)):
            raise wrong(f"{place}.{name}", f"must be places of levels, whole numbers from 0 to {end - 1}")
    if not np.all(bounds[1:] > bounds[:-1]):
        raise wrong(f"{place}.bounds", "must ascend")
    if len(set(special.tolist())) < len(special):
        raise wrong(f"{place}.special", "holds a level twice")
    _check_number_of_intervals(partition, place)


def _check_values(groups: tuple[tuple[Any, ...], ...], place: str) -> None:
    """Check that no value of a group is NaN or repeated."""
    seen: set[Any] = set()
    for i, group in enumerate(groups):
        for value in group:
            if value != value:
                raise wrong(f"{place}[{i}]", "holds a value that is not a number; missing values are null")
            if value in seen:
                raise wrong(f"{place}[{i}]", f"holds a value for the second time, such as {shown(value)}")
            seen.add(value)


def _check_intervals(partition: Partition, place: str) -> None:
    """Check the fields of a numerical partition."""
    if partition.groups:
        raise wrong(place, "is numerical and has groups")
    if partition.default is not None and (partition.default != 0 or partition.missing is not None):
        raise wrong(f"{place}.default", f"must be null, or 0 if missing is null, got {partition.default}")
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
    """Check that the number of parts fits bounds, special codes and missing values."""
    if partition.missing not in (None, 0):
        raise wrong(f"{place}.missing", f"must be 0 or null, got {partition.missing}")
    sizes = partition.special_sizes
    if sizes is not None and (not all(size > 0 for size in sizes) or sum(sizes) != len(partition.special)):
        raise wrong(f"{place}.special_sizes", f"must be null, or numbers that add up to {len(partition.special)} codes")
    n_bounds, n_special, n_parts = len(partition.bounds), partition.n_special, len(partition.counts)
    least = n_bounds + 1 + n_special
    allowed = [least] if partition.missing is None else [least, least + 1]  # missing values may be a part of their own
    if n_parts not in allowed:
        made = " or ".join(map(str, allowed))
        raise wrong(
            f"{place}.counts", f"has {n_parts} parts; {n_bounds} bounds and {n_special} special parts make {made}"
        )


def _check_cells(cells: Cells, partitions: Mapping[Name, Partition], by_class: list[int], place: str) -> None:
    """Check that the rows of the cells sum to the rows of the parts, and that the cells ascend without repeats."""
    rows = cells.parts.tolist()
    if any(low >= high for low, high in itertools.pairwise(rows)):
        raise wrong(f"{place}.parts", "must ascend, without repeats")
    known = [name for name, partition in partitions.items() if np.count_nonzero(partition.counts.any(axis=1)) > 1]
    if set(cells.names) != set(known) or len(cells.names) != len(known):
        raise wrong(f"{place}.names", "must be the columns with more than one part")
    if np.any(cells.counts.sum(axis=1) == 0):
        raise wrong(f"{place}.counts", "holds a cell without rows")
    if [sum(column) for column in cells.counts.T.tolist()] != by_class:
        raise wrong(f"{place}.counts", "must have as many rows of each class as the partitions")
    for name, parts in zip(cells.names, cells.parts.T, strict=True):
        expected = partitions[name].counts
        found = np.zeros_like(expected)
        if np.any(parts >= len(expected)):
            raise wrong(f"{place}.parts", f"names a part that column {shown(name)} does not have")
        np.add.at(found, parts, cells.counts)
        if not np.array_equal(found, expected):
            raise wrong(f"{place}.counts", f"must add up to the rows of the parts of column {shown(name)}")


def _check_presence(value: Any, is_due: bool, place: str, problem: str) -> None:
    """Check that a field is not None if and only if the problem has it."""
    if (value is not None) != is_due:
        raise wrong(place, f"must be {'there' if is_due else 'null'}, as the problem is {shown(problem)}")


def _check_target(model: Model, place: str) -> None:
    """Check that the target has parts if and only if the problem partitions it, with all that belongs to them."""
    target, problem, kind = model.target, model.problem, PROBLEMS[model.problem]
    has_groups = kind.target_is_partitioned and kind.names_classes
    _check_presence(target, kind.target_is_partitioned, f"{place}target", problem)
    _check_presence(model._class_rows, has_groups, f"{place}class_rows", problem)
    _check_presence(model._target_quantiles, kind.target_is_numerical, f"{place}spread", problem)
    if target is None:
        return
    if kind.has_one_input and len(model.partitions) != 1:
        raise wrong(f"{place}partitions", f"must be one, as the problem is {shown(model.problem)}")
    if target.name in model.partitions:
        raise wrong(f"{place}target.name", f"is also the name of a column, {shown(target.name)}")
    if (target.kind == "categorical") != has_groups:
        raise wrong(f"{place}target.kind", f"must not be {target.kind}, as the problem is {shown(model.problem)}")
    if target.missing is not None or len(target.special):
        raise wrong(f"{place}target", "must have no missing values and no special codes")
    if model._class_rows is not None:
        _check_class_rows(model, target, f"{place}class_rows")
    if model._target_quantiles is not None:
        _check_target_quantiles(model._target_quantiles, model, f"{place}spread")


def _check_class_rows(model: Model, target: Partition, place: str) -> None:
    """Check that the rows of the classes sum to the rows of each group of the target."""
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


def _check_target_quantiles(quantiles: TargetQuantiles, model: Model, place: str) -> None:
    """Check the statistics of a numerical target: shapes, finite values, order of the percentiles."""
    means, percentiles = quantiles
    if PROBLEMS[model.problem].has_one_input:
        n = next(iter(model.partitions.values())).n_parts + 1
    else:
        n = len(input_cells(model).parts) + 1
    for name, array, shape in (("means", means, (n,)), ("percentiles", percentiles, (n, len(PERCENTILES)))):
        if array.dtype != np.float64 or array.shape != shape:
            raise wrong(
                f"{place}.{name}", f"must have one entry for each of {n - 1} parts or cells, and one for all rows"
            )
        if not np.all(np.isfinite(array)):
            raise wrong(f"{place}.{name}", "must be finite")
    if np.any(percentiles[:, 1:] < percentiles[:, :-1]):
        raise wrong(f"{place}.percentiles", "must ascend")
    if np.any(means < percentiles[:, 0]) or np.any(means > percentiles[:, -1]):
        raise wrong(f"{place}.means", "must lie between the lowest and the highest percentile")


def check_stability(model: Model) -> None:
    """Check that stability is of one column with an event, finite, and of periods that it names."""
    stability, place = model.stability, "stability"
    if stability is None:
        return
    if len(model.partitions) != 1 or model.event_index is None:
        raise wrong(place, "must be null, as only one column with an event is stable over periods")
    if not 0 < stability.min_period_rows < math.inf:
        raise wrong(f"{place}.min_period_rows", f"must be positive, got {stability.min_period_rows!r}")
    if not math.isfinite(stability.free_cost):
        raise wrong(f"{place}.free_cost", f"must be finite, got {stability.free_cost!r}")
    if not set(stability.broken) <= set(stability.compared) <= set(stability.periods):
        raise wrong(f"{place}.breaks", "must be of periods that are compared, and these must be among all periods")
    for i, one in enumerate(stability.breaks):
        if not 0.0 <= one.high_rate < one.low_rate <= 1.0:
            raise wrong(f"{place}.breaks[{i}]", "must have rates from 0 to 1, low_rate the higher one")


def check_certificate(model: Model) -> None:
    """Check that a certificate is for one column with classes, finite, and consistent with `model.proven`."""
    certificate, place = model.certificate, "certificate"
    if certificate is None:
        return
    if len(model.partitions) != 1 or model._cells is not None:
        raise wrong(place, "must be null, as there are several variables")
    if certificate.method not in METHODS:
        raise wrong(f"{place}.method", f"must be one of {', '.join(METHODS)}, got {shown(certificate.method)}")
    if certificate.monotone is not None and certificate.monotone not in MONOTONE:
        known = ", ".join(MONOTONE)
        raise wrong(f"{place}.monotone", f"must be null or one of {known}, got {shown(certificate.monotone)}")
    if certificate.order is not None and (certificate.monotone != "auto" or certificate.order not in ORDERS):
        known = ", ".join(ORDERS)
        raise wrong(
            f"{place}.order", f"must be null or, if monotone is auto, one of {known}; got {shown(certificate.order)}"
        )
    if certificate.missing not in ("auto", "apart", LIMITED):
        raise wrong(f"{place}.missing", f"must be one of auto, apart, {LIMITED}, got {shown(certificate.missing)}")
    (partition,) = model.partitions.values()
    if certificate.monotone is not None and (partition.kind == "categorical" or model.event_index is None):
        raise wrong(f"{place}.monotone", "must be null, as only intervals with an event can be monotone")
    if certificate.min_rows < 1 and not PROBLEMS[model.problem].has_widths:
        raise wrong(f"{place}.min_rows", "must be 1 or more, as only parts of a density may have no rows")
    if certificate.min_events and len(certificate.min_events) != len(model.classes):
        raise wrong(f"{place}.min_events", f"must be empty, or a number for each of the {len(model.classes)} classes")
    if certificate.min_period_rows is not None and model.stability is None:
        raise wrong(f"{place}.min_period_rows", "must be null, as there is no stability over periods")
    if not 0.0 <= certificate.min_difference <= 1.0:
        raise wrong(f"{place}.min_difference", f"must be from 0 to 1, got {certificate.min_difference!r}")
    for name, bounds in (("fixed", certificate.fixed), ("allowed", certificate.allowed or ())):
        if partition.kind == "ordinal" and any(level not in partition.levels for level in bounds):
            raise wrong(f"{place}.{name}", "must have levels of the partition")
        is_other = partition.kind == "numerical" and np.array(bounds).dtype.kind != partition.bounds.dtype.kind
        if bounds and (partition.kind == "categorical" or is_other):
            raise wrong(f"{place}.{name}", f"must have bounds of {partition.bounds.dtype}, as the partition has")
    if len(certificate.slopes) != len(certificate.totals):
        raise wrong(f"{place}.totals", f"must be {len(certificate.slopes)} numbers, one for each slope")
    for name, numbers in (
        ("lowest", (certificate.lowest,)),
        ("slopes", certificate.slopes),
        ("totals", certificate.totals),
    ):
        if not all(map(math.isfinite, numbers)):
            raise wrong(f"{place}.{name}", "must be finite")
    if model.proven and is_cheaper(certificate.lowest, model.cost):
        raise wrong("proven", f"must be false, as {certificate.lowest!r} is the lowest cost that was proven")
