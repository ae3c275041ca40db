"""What `optimize` returns: a partition of each variable, its cost, and how it was found."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gridmodl.encode import encode_column
from gridmodl.terms import PROBLEMS

MAX_SHOWN = 40  # parts, and
MAX_CLASSES_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Partition:
    """The parts of one variable.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        ``"numerical"``: parts are intervals ``]lo, hi]``.
    bounds : ndarray
        Inner bounds, ascending, one less than there are parts. A first bound of NaN lies between the missing values
        and all others: part 0 then holds just the missing values.
    counts : ndarray of shape (n_parts, n_classes)
        Rows of each part and class.
    missing : int or None
        The part that holds the missing values; None if there were none.
    """

    name: str
    kind: str
    bounds: NDArray[Any]
    counts: NDArray[np.int64]
    missing: int | None = None

    @property
    def n_parts(self) -> int:
        return len(self.bounds) + 1

    @property
    def labels(self) -> list[str]:
        """Each part in words, such as ``]2.45, 4.75]``."""
        apart = self._n_missing_bounds
        shown = _shown(self.bounds[apart:])
        edges = ["-inf", *shown, "inf"]
        labels = [f"]{lo}, {hi}]" for lo, hi in itertools.pairwise(edges)]
        labels[-1] = labels[-1][:-1] + "["
        if not apart and self.missing == 0:
            labels[0] += " or missing"
        return ["missing"] * apart + labels

    def part_of(self, values: ArrayLike) -> NDArray[np.int64]:
        """The part of each value; missing values sort below all others."""
        return self._part_of(encode_column(values, {"x0": self.kind}).values)

    @property
    def _n_missing_bounds(self) -> int:
        return int(self.bounds.dtype.kind == "f" and len(self.bounds) > 0 and bool(np.isnan(self.bounds[0])))

    def _part_of(self, values: NDArray[Any]) -> NDArray[np.int64]:
        apart = self._n_missing_bounds
        bounds = self.bounds[apart:]
        parts = apart + np.searchsorted(bounds, _as_type_of(bounds, values), side="left").astype(np.int64)
        if values.dtype.kind == "f":
            parts[np.isnan(values)] = 0
        return parts

    def __repr__(self) -> str:
        return f"Partition({self.name!r}, {self.kind}, {self.n_parts} part{'s' * (self.n_parts != 1)})"


def _as_type_of(bounds: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """`values` in the type of the bounds, so that each still lies on the same side of each bound."""
    if values.dtype == bounds.dtype:
        return values
    if bounds.dtype.kind == "f":
        # Large integers against float bounds: round up, as a value above a bound may not be rounded down to it.
        floats = values.astype(np.float64)
        down = np.array([int(f) < int(v) for f, v in zip(floats.tolist(), values.tolist(), strict=True)], dtype=bool)
        return np.where(down, np.nextafter(floats, np.inf), floats)
    info = np.iinfo(bounds.dtype)
    if values.dtype.kind == "f":
        up = np.ceil(np.where(np.isnan(values), 0.0, values))
        inside = np.where((up > float(info.min)) & (up < float(info.max)), up, 0.0).astype(bounds.dtype)
        return np.where(up >= float(info.max), info.max, np.where(up <= float(info.min), info.min, inside))
    return np.clip(values, max(info.min, np.iinfo(values.dtype).min), min(info.max, np.iinfo(values.dtype).max)).astype(
        bounds.dtype
    )


def _shown(bounds: NDArray[Any]) -> list[str]:
    """Short texts of numbers, long enough to tell them apart."""
    if bounds.dtype.kind in "iu":
        return [str(b) for b in bounds.tolist()]
    short = [repr(float(f"{b:.10g}")) for b in bounds.tolist()]
    return short if len(set(short)) == len(short) else [repr(b) for b in bounds.tolist()]


@dataclass(frozen=True, eq=False)
class Model:
    """The best partition found, and what it is worth.

    Attributes
    ----------
    cost, null_cost : float
        Of this grid and of the one with a single part per variable, in nats under ``modl``.
    level : float
        ``1 - cost / null_cost``: 0 explains nothing; 0 too where the null cost is 0.
    criterion : str
        Its name; ``options`` holds its options.
    problem : str
        Which kind of problem it priced, a key of `gridmodl.terms.PROBLEMS`.
    n_rows : int
        Rows, each counted as often as its weight says.
    classes : ndarray
        The target's classes, in the order of the columns of ``counts``.
    partitions : dict of str to Partition
        By column name.
    proven : bool
        Whether no partition that keeps the limits is cheaper.
    search : str
        The search that was run.
    stopped : str or None
        Why it was cut short: ``"time limit"`` or ``"interrupted"``.
    elapsed : float
        Seconds.
    """

    cost: float
    null_cost: float
    criterion: str
    problem: str
    n_rows: int
    classes: NDArray[Any]
    partitions: Mapping[str, Partition]
    proven: bool
    search: str
    elapsed: float
    stopped: str | None = None
    options: Mapping[str, bool | int | float] = field(default_factory=dict)

    @property
    def level(self) -> float:
        return 1.0 - self.cost / self.null_cost if self.null_cost != 0.0 else 0.0

    def transform(self, data: ArrayLike) -> NDArray[np.int64]:
        """The part of each row, in the shape of `data`: (n,) or (n, 1).

        A missing value goes to the part that holds missing values, the first one.
        """
        (partition,) = self.partitions.values()
        values = encode_column(data, {"x0": partition.kind}).values
        return partition._part_of(values).reshape(np.shape(data))

    def summary(self) -> str:
        """The model as a text table."""
        how = "proven optimum" if self.proven else "not proven"
        if self.stopped:
            how += f", stopped: {self.stopped}"
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        lines = [
            f"{self.criterion}{f'({options})' if options else ''}: {PROBLEMS[self.problem]}",
            f"{self.n_rows} rows, {len(self.classes)} classes; search {self.search!r} ({how}), {self.elapsed:.3g} s",
            f"cost {self.cost:.6f}, null cost {self.null_cost:.6f}, level {self.level:.4f}",
        ]
        for partition in self.partitions.values():
            lines += ["", f"{partition.name}: {partition.n_parts} part{'s' * (partition.n_parts != 1)}"]
            lines += _table(partition, self.classes)
        return "\n".join(lines)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {p.n_parts} parts" for name, p in self.partitions.items())
        return f"Model({self.criterion!r}, {parts}, cost={self.cost:.6f}, level={self.level:.4f})"


def _table(partition: Partition, classes: NDArray[Any]) -> list[str]:
    """Rows of each part and the shares of its classes, the largest classes first if there are many."""
    totals = partition.counts.sum(axis=0)
    order = np.arange(len(classes))
    if len(classes) > MAX_CLASSES_SHOWN:
        order = np.sort(np.argsort(-totals, kind="stable")[:MAX_CLASSES_SHOWN])
    header = ["part", "rows", *(str(classes[j]) for j in order)]
    rows = [header]
    for label, counts in list(zip(partition.labels, partition.counts, strict=True))[:MAX_SHOWN]:
        n = int(counts.sum())
        rows.append([label, str(n), *(f"{counts[j] / n:.1%}" if n else "" for j in order)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = [
        "  "
        + "  ".join(
            text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    if partition.n_parts > MAX_SHOWN:
        lines.append(f"  ... and {partition.n_parts - MAX_SHOWN} more parts")
    if len(classes) > MAX_CLASSES_SHOWN:
        lines.append(f"  (the {MAX_CLASSES_SHOWN} largest of {len(classes)} classes)")
    return lines
