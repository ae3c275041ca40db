"""Columns of the data as inputs of a graph, and the part of each row, the same as `Partition.part_of`.

numbers    float64; NaN is missing. Booleans are 0 and 1.
integers   int64 if a bound or a category is beyond 2^53, where float64 has gaps; the smallest int64 is missing.
dates      int64: ticks since 1970 in the unit of the bounds, of UTC if there is a zone; durations are ticks.
           The smallest int64 is missing, as numpy's NaT is.
texts      string; one text, the empty one unless another is named, is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.data.numbers import EXACT_FLOAT
from gridmodl.model.partition import Partition
from gridmodl.model.policy import Policy
from gridmodl.report.onnx.graph import Graph
from gridmodl.report.sql.literals import value_of

SMALLEST, LARGEST = -(2**63), 2**63 - 1


class ColumnType(NamedTuple):
    """Type of a column as an input of a graph."""

    type: str  # float64, int64 or string
    unit: np.dtype[Any] | None = None  # of dates and durations


class ColumnInputs:
    """Inputs of a graph, one for each column; several partitions may read the same column.

    `partitions` are all that will read columns, and `knots` of curves on columns.
    """

    def __init__(
        self,
        graph: Graph,
        partitions: Iterable[Partition],
        policy: Policy,
        missing_text: str,
        knots: Mapping[Name, NDArray[Any]] | None = None,
    ) -> None:
        _check(policy, missing_text)
        self.graph, self.policy, self.missing_text = graph, policy, missing_text
        by_name: dict[Name, list[Partition]] = {}
        for partition in partitions:
            by_name.setdefault(partition.name, []).append(partition)
        self.types = {name: _type_of(ones, (knots or {}).get(name)) for name, ones in by_name.items()}
        self._values = {
            name: graph.input(graph.names[name], type_.type, _described(type_, ones[0], missing_text))
            for (name, ones), type_ in zip(by_name.items(), self.types.values(), strict=True)
        }

    @property
    def zeros(self) -> str:
        """0 for each row."""
        return self.graph.zeros(next(iter(self._values.values())))

    def value(self, name: Name) -> str:
        return self._values[name]

    def numbers(self, name: Name, values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
        """Bounds or knots in the type of the column: a value is above them if and only if it is above their numbers."""
        array = np.asarray(values)
        if array.dtype.kind in "mM":
            return array.view(np.int64)
        if self.types[name].type == "float64":
            return array.astype(np.float64)
        floors = [math.floor(value) if math.isfinite(value) else value for value in array.tolist()]
        return np.array([int(min(max(floor, SMALLEST), LARGEST)) for floor in floors], dtype=np.int64)

    def is_missing(self, name: Name) -> str:
        """Whether a number is missing."""
        x = self._values[name]
        if self.types[name].type == "float64":
            return self.graph.op("IsNaN", x)
        return self.graph.op("Equal", x, self.graph.constant(np.int64(SMALLEST)))

    def part(self, partition: Partition) -> str:
        """Number of the part of each row, -1 for none."""
        return self._interval(partition) if partition.kind == "numerical" else self._group(partition)

    def _interval(self, partition: Partition) -> str:
        graph, name, x = self.graph, partition.name, self._values[partition.name]
        part = graph.count_below(x, self.numbers(name, partition.bounds))
        if partition.is_missing_apart:
            part = graph.op("Add", part, graph.constant(np.int64(1)))
        first = partition.n_parts - partition.n_special
        sizes = partition.special_sizes or [1] * partition.n_special
        codes = self._exact(name, partition.special, np.repeat(np.arange(first, partition.n_parts), sizes))
        part = graph.find(x, *codes, part)
        of_missing = graph.constant(np.int64(partition.part_of_missing(self.policy)))
        return graph.op("Where", self.is_missing(name), of_missing, part)

    def _exact(
        self, name: Name, values: Sequence[Any] | NDArray[Any], parts: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The values that a column can hold, ascending, and their parts."""
        array = np.asarray(values) if len(values) else np.empty(0)
        if array.dtype.kind in "mM":
            found = dict(zip(array.view(np.int64).tolist(), parts.tolist(), strict=True))
        else:
            held = [held_as(value, self.types[name].type == "float64") for value in array.tolist()]
            found = {value: part for value, part in zip(held, parts.tolist(), strict=True) if value is not None}
        ascending = sorted(found)
        type_ = np.float64 if self.types[name].type == "float64" else np.int64
        return np.array(ascending, dtype=type_), np.array([found[value] for value in ascending], dtype=np.int64)

    def _group(self, partition: Partition) -> str:
        graph, name = self.graph, partition.name
        pairs = [(v, i) for i, group in enumerate(partition.listed) for v in group]
        unknown, missing = partition.part_of_unknown(self.policy), partition.part_of_missing(self.policy)
        values = [_plain(value, f"column {name!r}") for value, _ in pairs]
        if self.types[name].type == "string":
            if self.missing_text in values:
                raise ValueError(
                    f"column {name!r} has the category {self.missing_text!r}, which stands for a missing value in "
                    "ONNX; choose another text with missing_text="
                )
            parts = [*(part for _, part in pairs), missing]
            return graph.find_text(self._values[name], [*values, self.missing_text], parts, unknown)
        codes = self._exact(name, np.array(values, dtype=object), np.array([part for _, part in pairs], dtype=np.int64))
        part = graph.find(self._values[name], *codes, graph.constant(np.int64(unknown)))
        return graph.op("Where", self.is_missing(name), graph.constant(np.int64(missing)), part)


def _check(policy: Policy, missing_text: Any) -> None:
    for name, word in policy._asdict().items():
        if word == "error":
            raise ValueError(f"{name}='error' is not for ONNX: a graph cannot stop at a value that no part holds")
    if not isinstance(missing_text, str):
        raise TypeError(f"missing_text must be a text, got {missing_text!r}")


def held_as(value: Any, is_float: bool) -> float | int | None:
    """The number as a float64 or int64; None if a column of these holds no such number."""
    if not is_float:
        whole = int(value) if math.isfinite(value) and value == math.floor(value) else None
        return whole if whole is not None and SMALLEST < whole <= LARGEST else None
    if isinstance(value, int) and (abs(value).bit_length() > 1024 or int(float(value)) != value):
        return None
    return float(value)


def _plain(value: Any, what: str) -> Any:
    """A category as a text or number."""
    try:
        kind, plain = value_of(value, what)
    except ValueError:
        kind, plain = type(value).__name__, None
    if kind == "text":
        try:
            plain.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"{what} has the value {plain!r}, which ONNX cannot hold: {error.reason}") from error
        return plain
    if kind in ("number", "boolean"):
        return int(plain) if kind == "boolean" else plain
    raise ValueError(f"{what} has the value {value!r} ({kind}); there is ONNX for texts, numbers and booleans only")


def _type_of(partitions: Sequence[Partition], knots: NDArray[Any] | None) -> ColumnType:
    """Type of a column that these partitions, and a curve with `knots`, read."""
    name = partitions[0].name
    arrays = [array for one in partitions if one.kind == "numerical" for array in (one.bounds, one.special)]
    arrays += [] if knots is None else [knots]
    units = {array.dtype for array in arrays if array.dtype.kind in "mM"}
    if units:
        if len(units) > 1:
            raise ValueError(f"column {name!r} has times of several units, {sorted(map(str, units))}; ONNX takes one")
        return ColumnType("int64", next(iter(units)))
    groups = [one for one in partitions if one.kind != "numerical"]
    values = [_plain(v, f"column {name!r}") for one in groups for group in one.listed for v in group]
    are_texts = [isinstance(value, str) for value in values]
    if any(are_texts) and not all(are_texts):
        raise ValueError(f"column {name!r} has texts and numbers as categories; an input of ONNX has one type")
    if groups and all(are_texts):
        return ColumnType("string")
    whole = [value for value in values if isinstance(value, int)]
    whole += [value for array in arrays if array.dtype.kind in "iu" for value in array.tolist()]
    if not any(abs(value) >= EXACT_FLOAT for value in whole):
        return ColumnType("float64")
    if not all(SMALLEST <= value <= LARGEST for value in whole):
        raise ValueError(
            f"column {name!r} has whole numbers beyond those of 64 bits with a sign, which ONNX does not compare "
            "exactly; use floats, or subtract a number"
        )
    return ColumnType("int64")


def _described(type_: ColumnType, partition: Partition, missing_text: str) -> str:
    if type_.type == "string":
        return f"texts; {missing_text!r} is missing"
    if type_.unit is not None:
        of = "durations" if type_.unit.kind == "m" else "moments of UTC" if partition.is_utc else "moments"
        return f"{of} as {type_.unit}, viewed as integers; {SMALLEST} (NaT) is missing"
    return f"whole numbers; {SMALLEST} is missing" if type_.type == "int64" else "numbers; NaN is missing"
