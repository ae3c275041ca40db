"""From data to a model: encode, build, search, wrap. And the price of what the user decided."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gridmodl.atoms import Line, make_line, middles
from gridmodl.clock import Clock, Progress
from gridmodl.encode import Classes, Column, as_vector, count_rows, encode_column, encode_target, encode_weights
from gridmodl.model import Model, Partition
from gridmodl.plugins import criterion_for
from gridmodl.pricing import check_cost, prepare, price_one_variable
from gridmodl.progress import showing
from gridmodl.search import Search, run_search
from gridmodl.search.moves import Frozen, Limits, Setting
from gridmodl.search.task import Partitioning, Task
from gridmodl.terms import Criterion, Problem


def optimize(
    data: ArrayLike,
    target: ArrayLike | None = None,
    *,
    criterion: str | Criterion = "modl",
    search: str | Search = "auto",
    weights: ArrayLike | None = None,
    kinds: Mapping[str, str] | None = None,
    target_kind: str | None = None,
    unlabelled: Any = None,
    max_parts: int | None = None,
    min_rows: int | float | None = None,
    time_limit: float | None = None,
    random_state: int | None = 0,
    n_jobs: int = 1,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> Model:
    """Find the partition of the data that explains the target best.

    Parameters
    ----------
    data : array-like of shape (n,) or (n, 1)
        One numerical column, called ``x0``. Missing values (NaN, None) sort below all numbers and get a part of
        their own, or join the lowest interval where that is cheaper.
    target : array-like of shape (n,)
        The class of each row: strings, integers, booleans or whole floats.
    criterion : str or Criterion
        What "best" means: a name out of `list_criteria`, or `get_criterion` with options.
    search : {"auto", "exact", "merge"} or Search
        ``"exact"`` proves the optimum in time quadratic in the number of distinct values, ``"merge"`` takes
        O(n log n), ``"auto"`` is exact where that is quick.
    weights : array-like of shape (n,), optional
        Whole numbers: a row of weight w is w rows.
    kinds : dict, optional
        Kind of a column by name, where it is not what its type says.
    target_kind : {"classes"}, optional
        ``"classes"`` takes real numbers as class names.
    unlabelled : optional
        The mark of rows without a class. Not available yet.
    max_parts : int, optional
        The partition has at most so many parts.
    min_rows : int or float, optional
        Each part has at least so many rows, or this share of all rows if it is a float below 1; a single part always
        may be.
    time_limit : float, optional
        Seconds after which the best partition so far is returned; so does Ctrl-C. They count from the call, compiling
        included where a criterion is used for the first time.
    random_state : int, optional
        Seed. One-variable searches draw no random numbers.
    n_jobs : int
        Threads. One-variable searches use one.
    progress : bool or callable, optional
        True shows a bar on the error stream when work takes long; a callable is given `Progress` records.

    Returns
    -------
    Model

    Examples
    --------
    >>> import gridmodl
    >>> x = [1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5]
    >>> model = gridmodl.optimize(x, ["no"] * 4 + ["yes"] * 4)
    >>> model.partitions["x0"].bounds
    array([4.75])
    >>> model.transform([3.0, 5.0])
    array([0, 1])
    """
    clock = Clock(_checked_time(time_limit))
    how = search if isinstance(search, Search) else Search(_checked_text("search", search))
    _check_integer("random_state", random_state, allow_none=True)
    _check_integer("n_jobs", n_jobs)
    if n_jobs < 1 and n_jobs != -1:
        raise ValueError(f"n_jobs must be a number of threads, or -1 for all, got {n_jobs}")
    table = _encode(data, target, weights, kinds, target_kind, unlabelled)
    limits = Limits(_checked_max_parts(max_parts), _checked_min_rows(min_rows, table.n_rows))
    chosen = criterion_for(criterion, table.problem.kind)
    # With a minimal number of rows the best bound may lie inside a run of one class.
    join = chosen.joins_pure_runs and limits.min_rows <= 1
    line = make_line(table.column.values, table.classes.codes, table.weights, table.n_classes, join)
    setting = Setting(*prepare(chosen, table.problem, int(line.atoms.values.sum())), Frozen())
    task = Task(line.atoms, setting, type(chosen), limits, clock)
    with showing(progress, clock):
        found, kind = run_search(task, how)
    return Model(
        cost=check_cost(chosen, found.cost),
        null_cost=check_cost(chosen, task.null().cost),
        criterion=chosen.name,
        options=dict(chosen.chosen),
        problem=table.problem.kind,
        n_rows=table.n_rows,
        classes=table.classes.names,
        partitions={table.column.name: _partition(table.column, line, found)},
        proven=found.proven,
        search=kind,
        stopped=clock.stopped,
        elapsed=clock.elapsed,
    )


def price(
    data: ArrayLike,
    partitions: Mapping[str, Sequence[float] | NDArray[Any] | Partition],
    target: ArrayLike | None = None,
    *,
    criterion: str | Criterion = "modl",
    weights: ArrayLike | None = None,
    kinds: Mapping[str, str] | None = None,
    target_kind: str | None = None,
    unlabelled: Any = None,
) -> float:
    """The cost of a given partition, from the rows up; no search is involved.

    Parameters
    ----------
    partitions : dict
        For each column its inner bounds, ascending; a value on a bound belongs to the interval below. A first bound of
        NaN keeps missing values apart. Intervals without a row do not count as parts. A column that is left out has
        one part.

    Other parameters are those of `optimize`.

    Examples
    --------
    >>> import gridmodl
    >>> round(gridmodl.price([1, 2, 3, 4], {"x0": [2.5]}, ["a", "a", "b", "b"]), 4)
    5.193
    """
    table = _encode(data, target, weights, kinds, target_kind, unlabelled)
    chosen = criterion_for(criterion, table.problem.kind)
    name, values = table.column
    if not isinstance(partitions, Mapping):
        raise TypeError(f"partitions must be a dict of bounds by column name, got {partitions!r}")
    for given in partitions:
        if given != name:
            raise ValueError(f"partitions names column {given!r}; the data has {name!r}")
    partition = _given_partition(name, partitions.get(name, ()))
    parts = partition._part_of(values)
    flat = parts * table.n_classes + table.classes.codes
    size = partition.n_parts * table.n_classes
    counts = count_rows(flat, table.weights, size).reshape(partition.n_parts, table.n_classes)
    distinct = np.unique(values)
    n_values = np.bincount(partition._part_of(distinct), minlength=partition.n_parts).astype(np.int64)
    p, facts = prepare(chosen, table.problem, len(distinct))
    return price_one_variable(chosen, p, facts, counts, n_values)


class _Table(NamedTuple):
    """Encoded data: rows of weight 0 are gone."""

    column: Column
    classes: Classes
    weights: NDArray[np.int64] | None
    problem: Problem

    @property
    def n_rows(self) -> int:
        return self.problem.n_rows

    @property
    def n_classes(self) -> int:
        return len(self.classes.names)


def _encode(data: Any, target: Any, weights: Any, kinds: Any, target_kind: str | None, unlabelled: Any) -> _Table:
    column = encode_column(data, kinds)
    n = len(column.values)
    if target is None:
        raise NotImplementedError("no target was given, and gridmodl needs one: the class of each row")
    if unlabelled is not None:
        raise NotImplementedError("unlabelled rows are not available; drop the rows without a class")
    target = as_vector(target, "target")
    if len(target) != n:
        raise ValueError(f"data has {n} rows and target has {len(target)}")
    rows = encode_weights(weights, n)
    if rows is not None and np.any(rows == 0):
        kept = rows > 0
        if not kept.any():
            raise ValueError("all weights are 0: there are no rows")
        column, target, rows = column._replace(values=column.values[kept]), target[kept], rows[kept]
    classes = encode_target(target, target_kind)
    by_class = count_rows(classes.codes, rows, len(classes.names))
    problem = Problem("classes", int(by_class.sum()), 1, by_class)
    return _Table(column, classes, rows, problem)


def _partition(column: Column, line: Line, found: Partitioning) -> Partition:
    cuts = found.starts[1:] - 1
    counts = np.add.reduceat(line.atoms.counts, found.starts, axis=0, dtype=np.int64)
    missing = 0 if column.values.dtype.kind == "f" and np.isnan(column.values).any() else None
    return Partition(column.name, "numerical", middles(line.low[cuts], line.high[cuts]), counts, missing)


def _given_partition(name: str, given: Any) -> Partition:
    if isinstance(given, Partition):
        return given
    try:
        bounds = np.atleast_1d(np.asarray(given))
    except ValueError:
        bounds = np.empty((0, 0))
    if bounds.ndim != 1 or (len(bounds) and bounds.dtype.kind not in "iuf"):
        raise TypeError(f"the bounds of {name!r} must be a list of numbers, got {given!r}")
    if bounds.dtype.kind == "f":
        bounds = bounds.astype(np.float64)
    else:
        exact = bounds.astype(np.float64)
        bounds = (
            exact
            if len(bounds) == 0 or all(int(a) == b for a, b in zip(exact, bounds.tolist(), strict=True))
            else bounds
        )
    inner = bounds[1:] if bounds.dtype.kind == "f" and len(bounds) and np.isnan(bounds[0]) else bounds
    if not np.all(inner[1:] > inner[:-1]) or (inner.dtype.kind == "f" and np.isnan(inner).any()):
        raise ValueError(f"the bounds of {name!r} must ascend, got {given!r}")
    return Partition(name, "numerical", bounds, np.empty((0, 0), dtype=np.int64))


def _checked_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string or a gridmodl.Search, got {value!r}")
    return value


def _check_integer(name: str, value: Any, allow_none: bool = False) -> None:
    if (value is None and allow_none) or (isinstance(value, numbers.Integral) and not isinstance(value, bool)):
        return
    raise TypeError(f"{name} must be a whole number{' or None' if allow_none else ''}, got {value!r}")


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _checked_time(time_limit: Any) -> float | None:
    if time_limit is None:
        return None
    if not _is_real(time_limit) or not time_limit >= 0:
        raise ValueError(f"time_limit must be a number of seconds, 0 or more, got {time_limit!r}")
    return float(min(time_limit, 1e9))


def _checked_max_parts(max_parts: Any) -> int:
    if max_parts is None:
        return int(np.iinfo(np.int64).max)
    _check_integer("max_parts", max_parts)
    if max_parts < 1:
        raise ValueError(f"max_parts must be at least 1, got {max_parts}")
    return min(int(max_parts), int(np.iinfo(np.int64).max))


def _checked_min_rows(min_rows: Any, n_rows: int) -> int:
    if min_rows is None:
        return 1
    if not _is_real(min_rows) or not min_rows > 0:
        raise ValueError(f"min_rows must be a positive number of rows, or a share below 1, got {min_rows!r}")
    if min_rows < 1:
        return max(1, math.ceil(min_rows * n_rows))
    if not math.isfinite(min_rows) or min_rows != int(min_rows):
        raise ValueError(f"min_rows must be a whole number of rows, or a share below 1, got {min_rows!r}")
    return min(int(min_rows), n_rows + 1)
