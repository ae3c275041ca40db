"""A column as a sample: its distinct values in ascending order, their positions in the domain, and their rows."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.bounds import EXACT, bounds_between
from gridmodl.data.columns import encode_column, kind_of
from gridmodl.data.domain import Domain, domain_around
from gridmodl.data.frames import ARRAYS, Name, Raw, as_array, read_column, read_frame
from gridmodl.data.lattice import step_of
from gridmodl.data.numbers import Numbers, encode_numbers
from gridmodl.data.targets import encode_weights


class Sample(NamedTuple):
    """Rows by distinct value; values whose positions are the same float are one value."""

    name: Name
    domain: Domain
    step: float  # of the lattice of the values, half of which lies beyond them in the domain; 0 for none
    is_utc: bool
    positions: NDArray[np.float64]  # of each value, ascending
    rows: NDArray[np.int64]  # of each value
    lowest: NDArray[Any]  # of each value, in the engine's type
    highest: NDArray[Any]
    n_missing: int
    frame: str  # the kind of frame the column came in

    @property
    def n_rows(self) -> int:
        return int(self.rows.sum())

    def bounds(self, starts: NDArray[np.int64]) -> NDArray[Any]:
        """The inner bounds below values number `starts`, in the column's own type: the middles."""
        return bounds_between(self.highest[starts - 1], self.lowest[starts], self.domain.type, EXACT)

    def middles(self, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """The positions of cuts below values number `starts`."""
        low, high = self.positions[starts - 1], self.positions[starts]
        middle = (low + high) / 2.0
        return np.where(middle < high, middle, low)

    def widths(self, cuts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The width of each part as a share of the domain's, given the positions `cuts` of the bounds."""
        end = self.domain.end
        return np.diff(np.concatenate([[0.0], cuts, [end]])) / end


def read_sample(data: Any, weights: Any, domain: Any) -> Sample:
    """Read one column; missing values and rows of weight 0 are left out."""
    frame = read_frame(data)
    if len(frame.columns) != 1:
        raise ValueError(f"a density is of one column, got {len(frame.columns)}; call it for each column")
    ((name, raw),) = frame.columns.items()
    column = read_numbers(raw, name)
    rows = encode_weights(None if weights is None else read_column(weights, "weights"), frame.n_rows)
    return sample_of(column, rows, domain, frame.kind)


def sample_of(column: Numbers, rows: NDArray[np.int64] | None, domain: Any = None, kind: str = ARRAYS) -> Sample:
    """The sample of a column; `rows` are the weights of its rows, `kind` is the kind of frame it came in."""
    name = column.name
    values, rows, n_missing = _present(column, rows)
    if len(values) == 0:
        what = f"{n_missing} rows, all missing" if n_missing else "no rows: all weights are 0"
        raise ValueError(f"column {name!r} has {what}; a density needs values")
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        n_infinite = int(np.count_nonzero(~np.isfinite(values)))
        raise ValueError(f"column {name!r} holds {n_infinite} infinite values, which have no density; drop those rows")
    values, rows = _sorted(values, rows)
    step = step_of(values[np.append(True, values[1:] != values[:-1])], column.type) if domain is None else 0.0
    found = _domain(column, values, domain, step)
    positions = found.positions(values)
    if step and column.type.kind != "f":  # the lower end is rounded down, by half of a unit if the step is odd
        positions -= np.ldexp(float(int(step) % 2) / 2.0, -found.exponent)
    starts = np.flatnonzero(np.append(True, positions[1:] > positions[:-1]))
    ends = np.append(starts[1:], len(values))
    counts = ends - starts if rows is None else np.add.reduceat(rows, starts)
    return Sample(
        name, found, step, column.is_utc, positions[starts], counts.astype(np.int64), values[starts], values[ends - 1],
        n_missing, kind,
    )  # fmt: skip


def read_numbers(raw: Raw, name: Name) -> Numbers:
    """A column of numbers, dates or durations."""
    if len(raw) and kind_of(raw) != "numerical":
        raise TypeError(f"column {name!r} is {kind_of(raw)}; only numbers, dates and durations have a density")
    column = encode_column(raw, name, "numerical")
    assert isinstance(column, Numbers)  # noqa: S101  for mypy
    return column


def _present(column: Numbers, rows: NDArray[np.int64] | None) -> tuple[NDArray[Any], NDArray[np.int64] | None, int]:
    """The values that are not missing, the weight of each, and the number of missing rows."""
    values, n_missing = column.values, 0
    if column.missing is not None:
        n_missing = int(np.count_nonzero(column.missing) if rows is None else rows[column.missing].sum())
        values, rows = values[~column.missing], None if rows is None else rows[~column.missing]
    if rows is not None:
        values, rows = values[rows > 0], rows[rows > 0]
    return values, rows, n_missing


def _sorted(values: NDArray[Any], rows: NDArray[np.int64] | None) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    if rows is None:
        return np.sort(values), None
    order = np.argsort(values)
    return values[order], rows[order]


def _domain(column: Numbers, values: NDArray[Any], ends: Any, step: float) -> Domain:
    """The domain between `ends`; if that is None, of the sorted values, on a lattice with this `step`, 0 for none."""
    low, high = (values[0], values[-1]) if ends is None else _checked_ends(column, ends)
    with np.errstate(over="ignore"):
        domain = domain_around(low, high, column.type, step)
        if ends is None and low == high:
            raise ValueError(
                f"column {column.name!r} has one distinct value, {domain.ends()[0]}: a domain without width has no "
                "density; give domain=(low, high) if its values could lie elsewhere"
            )
        if not math.isfinite(domain.width):
            raise ValueError(f"column {column.name!r} spans more than the largest float; divide it by 2 or more")
    if low >= high:
        raise ValueError(f"domain must be (low, high) with low < high, got {ends!r}")
    if values[0] < low or values[-1] > high:
        lowest, highest = domain.in_own_type([values[0], values[-1]])
        raise ValueError(f"domain {ends!r} leaves out values of column {column.name!r}, {lowest} to {highest}")
    return domain


def _checked_ends(column: Numbers, domain: Any) -> tuple[Any, Any]:
    if isinstance(domain, (str, bytes)) or not hasattr(domain, "__len__") or len(domain) != 2:
        raise TypeError(f"domain must be two numbers or dates, (low, high), got {domain!r}")
    raw = as_array(list(domain), "domain")
    if kind_of(raw) == "categorical":
        raise TypeError(f"domain must be two numbers or dates, (low, high), got {domain!r}")
    ends = encode_numbers(raw, column.name)
    if ends.missing is not None or (ends.values.dtype.kind == "f" and not np.all(np.isfinite(ends.values))):
        raise ValueError(f"domain must be finite, got {domain!r}")
    times = {"m", "M"} & {ends.type.kind, column.type.kind}
    if (times and ends.type.kind != column.type.kind) or ends.is_utc != column.is_utc:
        raise TypeError(f"domain must be of the kind of column {column.name!r}, {column.type}, got {domain!r}")
    if times:
        own = ends.values.view(ends.type).astype(column.type)
        is_exact = np.array_equal(own.astype(ends.type), ends.values.view(ends.type))
        low, high = own.view(np.int64)
    else:
        own = ends.values.astype(column.values.dtype)
        is_exact = np.array_equal(own, ends.values)
        low, high = own
    if not is_exact:
        raise ValueError(f"domain must be of {column.type}, as column {column.name!r} is, got {domain!r}")
    return low, high
