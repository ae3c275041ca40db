"""Apply partitions to lazy frames: expressions that the engine of the frame evaluates, so that nothing is collected."""

from __future__ import annotations

import datetime
import itertools
import zoneinfo
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.remote.queries import is_one_of, one_if, plain_value, schema_of
from gridmodl.model.policy import Policy
from gridmodl.spelling import check_columns

if TYPE_CHECKING:
    from gridmodl.model.cells import Cells
    from gridmodl.model.partition import Partition


MAX_KEYS = 2**16  # combinations of parts in one expression


class Lookup(NamedTuple):
    """A new column of a lazy frame: a number for each part of a column, last that of values of no part."""

    partition: Partition
    numbers: NDArray[Any] | None  # None for the number of the part itself


class LazySteps:
    """A lazy frame to which columns are added step by step, so that no expression holds another one twice."""

    def __init__(self, frame: Any, policy: Policy) -> None:
        for what, word in policy._asdict().items():
            if word == "error":
                raise ValueError(
                    f"{what}='error' is not for a lazy frame: its engine cannot stop at a value that no part holds"
                )
        self.frame, self.policy, self._n = frame, policy, 0
        self._prefix = "gridmodl_step_"
        while any(name.lower().startswith(self._prefix) for name in frame.collect_schema().names()):
            self._prefix += "_"

    def add(self, expressions: Sequence[Any]) -> list[Any]:
        """Add columns; return them as expressions for later steps."""
        names = [f"{self._prefix}{self._n + i}" for i in range(len(expressions))]
        self._n += len(names)
        self.frame = self.frame.with_columns(**dict(zip(names, expressions, strict=True))) if names else self.frame
        return [nw.col(name) for name in names]

    def parts(self, partitions: Sequence[Partition]) -> list[Any]:
        """Add the number of the part of each row in each partition."""
        return self.add([part_of(self.frame, partition, self.policy) for partition in partitions])

    def select(self, columns: Mapping[str, Any]) -> Any:
        """Native lazy frame of these columns alone; constants too have the rows of the frame."""
        added = zip(columns, self.add(list(columns.values())), strict=True)
        return self.frame.select(*(column.alias(name) for name, column in added)).to_native()


def lazy_columns(frame: Any, columns: Mapping[Any, Lookup], policy: Policy) -> Any:
    """Lazy frame of new `columns` by name, of the library of `frame`; nothing is collected."""
    steps = LazySteps(frame, policy)
    partitions = list({id(one.partition): one.partition for one in columns.values()}.values())
    parts = dict(zip(map(id, partitions), steps.parts(partitions), strict=True))
    return steps.select({str(name): by_part(parts[id(one.partition)], one.numbers) for name, one in columns.items()})


class CellKeys(NamedTuple):
    """A number for each combination of parts that rows with a prediction of their own can have."""

    partitions: list[Partition]
    radix: list[int]
    parts: list[NDArray[np.int64]]  # of each combination, one array per partition; -1 for no part
    are_codes: bool = False  # whether special codes that no training row had are parts like others

    @property
    def keys(self) -> list[int]:
        keys = np.zeros(self.n_keys, dtype=np.int64)
        for part, radix in zip(self.parts, self.radix, strict=True):
            keys += (part + 1) * radix
        return keys.tolist()

    @property
    def n_keys(self) -> int:
        return len(self.parts[0]) if self.parts else 0

    def added(self, steps: LazySteps) -> Any:
        """Add the number of the combination of each row."""
        key = nw.lit(0)
        for part, partition, radix in zip(steps.parts(self.partitions), self.partitions, self.radix, strict=True):
            empty = [] if self.are_codes else partition.empty_special
            part = nw.when(part.is_in(empty)).then(nw.lit(-1)).otherwise(part) if empty else part
            key = key + (part + 1) * radix
        return steps.add([key.cast(nw.Int64)])[0]


def cell_keys(cells: Cells, partitions: Sequence[Partition], only_cells: bool = False) -> CellKeys:
    """Keys of all cells and, unless `only_cells`, of all combinations of parts beside columns of no part."""
    may_lack = (
        []
        if only_cells
        else [
            k for k, one in enumerate(partitions) if one.kind != "numerical" or one.missing is None or one.empty_special
        ]
    )
    found = [cells.parts]
    for n in range(1, len(may_lack) + 1):
        for lacking in itertools.combinations(may_lack, n):
            known = [k for k in range(len(partitions)) if k not in lacking]
            combined = np.full((1, len(partitions)), -1, dtype=np.int64)
            if known:
                over = cells.over(known).parts
                combined = np.full((len(over), len(partitions)), -1, dtype=np.int64)
                combined[:, known] = over
            found.append(combined)
            if sum(map(len, found)) > MAX_KEYS:
                break
    radix = [1]
    for one in partitions:
        radix.append(radix[-1] * (one.n_parts + 1))
    if sum(map(len, found)) > MAX_KEYS or radix[-1] >= 2**62:
        raise ValueError(
            f"a lazy frame takes grids of at most {MAX_KEYS} combinations of parts, with those of no part; "
            f"this one has more over {len(partitions)} columns. Use Model.to_sql, or Model.coarsen"
        )
    parts = np.concatenate(found)
    return CellKeys(list(partitions), radix[:-1], [parts[:, k] for k in range(len(partitions))], only_cells)


def part_of(frame: Any, partition: Partition, policy: Policy) -> Any:
    """Expression of the number of the part of a column, with the same result as `Partition.part_of`."""
    schema = schema_of(frame)
    check_columns("the model", [partition.name], schema)
    value, dtype = schema.col(partition.name), schema[str(partition.name)]
    if dtype.is_float():
        value = nw.when(~value.is_nan()).then(value)
    if partition.kind == "numerical":
        part = _interval_of(as_time(value, dtype), partition, zone_of(dtype, partition))
    else:
        part = _group_of(plain_value(schema, partition.name), dtype, partition, policy)
    missing = nw.lit(partition.part_of_missing(policy))
    return nw.when(value.is_null()).then(missing).otherwise(part).cast(nw.Int64)


def as_time(value: Any, dtype: Any) -> Any:
    """Values of a column, dates as times, which bounds of dates are: Dask does not compare the two."""
    return value.cast(nw.Datetime("us")) if isinstance(dtype, nw.Date) else value


def zone_of(dtype: Any, partition: Partition) -> datetime.tzinfo | None:
    """Time zone of a column, None if it has none; raise TypeError if the bounds are of the other kind.

    Polars compares times of one zone only, and DuckDB would take times without a zone as those of its session.
    """
    zone = dtype.time_zone if isinstance(dtype, nw.Datetime) else None
    is_time = dtype in (nw.Datetime, nw.Date) and partition.bounds.dtype.kind == "M"
    if is_time and partition.is_utc != (zone is not None):
        with_or_without = ("without", "with") if partition.is_utc else ("with", "without")
        raise TypeError(f"column {partition.name!r} is {' a time zone; the partition '.join(with_or_without)} one")
    return None if zone is None else zoneinfo.ZoneInfo(zone)


def _interval_of(value: Any, partition: Partition, zone: datetime.tzinfo | None) -> Any:
    """Number of the interval or special part of each value that is not missing."""
    first = nw.lit(int(partition.is_missing_apart))
    part = _sum([first, *(one_if(value > bound) for bound in literals(partition.bounds, zone))])
    sizes = partition.special_sizes or [1] * partition.n_special
    of_code = np.repeat(np.arange(partition.n_special), sizes) + partition.n_parts - partition.n_special
    for code, number in zip(literals(partition.special, zone), of_code.tolist(), strict=True):
        part = nw.when(value == code).then(nw.lit(number)).otherwise(part)
    return part


def _sum(terms: Sequence[Any]) -> Any:
    """Sum of expressions: a tree, as engines limit depth."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return _sum(terms[:middle]) + _sum(terms[middle:])


def _group_of(value: Any, dtype: Any, partition: Partition, policy: Policy) -> Any:
    """Number of the group of each value that is not missing."""
    unknown = partition.part_of_unknown(policy)
    part = nw.lit(unknown)
    for number, values in enumerate(partition.listed):
        if values and number != unknown:
            part = nw.when(is_one_of(dtype, value, values)).then(nw.lit(number)).otherwise(part)
    return part


def literals(array: NDArray[Any], zone: datetime.tzinfo | None) -> list[Any]:
    """Numbers, or times in `zone`, as plain Python values, which hold microseconds."""
    if array.dtype.kind not in "mM":
        return list(array.tolist())
    years = array.astype("M8[Y]").astype(np.int64) + 1970 if array.dtype.kind == "M" else np.ones(1)
    if np.any((years < 1) | (years > 9999)):
        raise ValueError(
            "a bound or an end of a column is not in the years 1 to 9999, as all dates in expressions of lazy frames "
            "are; use to_sql, or make such dates missing"
        )
    rounded = array.astype(f"{array.dtype.kind}8[us]")
    if np.any(rounded.astype(array.dtype) != array):
        raise ValueError(
            "a bound has nanoseconds, which expressions of lazy frames cannot hold; use to_sql, or placement='short' "
            "in training"
        )
    values = rounded.tolist()
    return values if zone is None else [value.replace(tzinfo=datetime.UTC).astimezone(zone) for value in values]


def by_part(part: Any, numbers: NDArray[Any] | None) -> Any:
    """The number of each part; the last of `numbers` for part -1."""
    if numbers is None:
        return part
    return looked_up(part, list(range(len(numbers) - 1)), numbers[:-1].tolist(), numbers[-1].item())


def looked_up(key: Any, keys: Sequence[int], values: Sequence[Any], otherwise: Any) -> Any:
    """Value of each key, whole numbers; `otherwise` for others. A tree of comparisons, as engines limit depth."""
    steps: list[tuple[int, Any]] = []
    last: int | None = None
    for i in np.argsort(np.asarray(keys, dtype=np.int64), kind="stable").tolist():
        if last is not None and keys[i] > last + 1:
            steps.append((last + 1, otherwise))
        steps.append((keys[i], values[i]))
        last = keys[i]
    if last is not None:
        steps.append((last + 1, otherwise))
    return by_step(key, [start for start, _ in steps], [otherwise, *(value for _, value in steps)])


def by_step(key: Any, starts: Sequence[Any], values: Sequence[Any]) -> Any:
    """The first of `values` below the first of `starts`, the next from there on, and so on."""
    kept = [i for i in range(len(starts)) if values[i + 1] != values[i]]
    starts, values = [starts[i] for i in kept], [values[0], *(values[i + 1] for i in kept)]

    def tree(first: int, end: int) -> Any:
        if first == end:
            return nw.lit(values[first])
        middle = (first + end) // 2
        return nw.when(key < starts[middle]).then(tree(first, middle)).otherwise(tree(middle + 1, end))

    return tree(0, len(starts))
