"""The density of a model of one column without a target: of its parts, of new values, and random values from it.

With m of N rows in an interval of width w, in a domain of width W, its density is (m + w/W) / (w (N + 1)): one more row
is spread over the domain, so that no density is 0. A mass of m rows has the probability m / (N + 1), or m / N if all
values are masses. Intervals and masses sum to 1 over the domain. A value outside it has the probability of the outer
interval on its side times 1/((m + 1) W), as in `spread`: below any inside, and in no integral.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.domain import Domain, domain_of, first_inside, in_engine, just_below, log_ratio
from gridmodl.data.frames import read_column, read_frame
from gridmodl.data.lattice import ROUNDING
from gridmodl.data.targets import encode_weights
from gridmodl.model.policy import Policy
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gridmodl.data.frames import Name
    from gridmodl.model.densities.conditional import Conditional
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

UNITS = {
    "Y": "year", "M": "month", "W": "week", "D": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond",
    "us": "microsecond", "ns": "nanosecond", "ps": "picosecond", "fs": "femtosecond", "as": "attosecond",
}  # fmt: skip
ATTOSECONDS = {
    "W": 604_800 * 10**18, "D": 86_400 * 10**18, "h": 3_600 * 10**18, "m": 60 * 10**18, "s": 10**18, "ms": 10**15,
    "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1,
}  # fmt: skip
SHOWN = ("D", "h", "m", "s")  # units that people think in, in which widths and densities are shown


class Histogram(NamedTuple):
    """Intervals and masses of a density."""

    partition: Partition
    domain: Domain | None  # None if all values are masses
    shares: NDArray[np.float64]  # of the width of the domain, of each interval
    probabilities: NDArray[np.float64]  # of each part
    log_densities: NDArray[np.float64]  # of each part: per unit of the type, and of a mass its probability

    @property
    def n_intervals(self) -> int:
        return self.partition.n_parts - self.partition.n_special

    @property
    def unit(self) -> Unit:
        """The unit in which widths and densities are shown."""
        return shown_unit(self.domain)

    @property
    def edges(self) -> NDArray[Any]:
        """Ends of the intervals, in the column's own type: the ends of the domain and the bounds within it.

        On a lattice, half a step above the last point up to each bound, rounded down in integers and dates.
        """
        ends = self.partition.domain
        assert ends is not None  # noqa: S101  for mypy
        if self.domain is None:
            return ends
        bounds = np.clip(self.partition.bounds.astype(ends.dtype), ends[0], ends[1])
        if self.partition.step:
            steps = np.rint(np.cumsum(self.shares[:-1]) * (self.domain.width / self.partition.step))
            low = np.repeat(in_engine(ends[:1]), len(steps))
            after = self.domain.moved(low, steps * self.partition.step)
            is_there = np.abs(after - bounds) <= ROUNDING * self.partition.step if ends.dtype.kind == "f" else False
            bounds = np.where(is_there, bounds, after)
        return np.concatenate([ends[:1], bounds, ends[1:]])

    @property
    def classes(self) -> tuple[Partition, NDArray[np.float64]]:
        """Partition of all values by their density, and the logarithm of that of each part.

        The parts are those of the model, the intervals as they end in `edges`, after one for the values below the
        domain and before one for those above it.
        """
        n, logs, partition = self.n_intervals, self.log_densities, self.partition
        if self.domain is None:
            return partition, logs
        ends, inner = self.edges[[0, -1]], self.edges[1:-1]
        lowest = just_below(first_inside(ends, partition.step)[0])
        has_width = np.flatnonzero(self.shares > 0.0)
        outer = has_width[[0, -1]]
        rows = partition.counts[outer, 0]
        beyond = np.log(self.probabilities[outer]) - np.log(rows + 1.0) - math.log(self.domain.width)
        bounds = [inner, ends[1:]]
        if lowest is not None:  # else the type has no value below
            below = np.array([lowest], dtype=ends.dtype)
            bounds = [below, np.where(inner <= ends[0], below, inner), ends[1:]]  # a part without a width has no value
        logs = np.concatenate([beyond[:1][: len(bounds) - 2], logs[:n], beyond[1:], logs[n:]])
        counts = np.zeros((len(logs), 1), dtype=np.int64)
        return replace(partition, bounds=np.concatenate(bounds), counts=counts), logs

    @property
    def densities(self) -> NDArray[np.float64]:
        """Density of each part, per unit of the type of the column; NaN of a mass or without a width."""
        with np.errstate(over="ignore"):
            found = np.exp(self.log_densities)
        found[self.n_intervals :] = np.nan
        if self.domain is None:
            found[:] = np.nan
        return found

    def log_density(self, data: Any) -> NDArray[np.float64]:
        """Logarithm of the density of each value, or of the probability of a mass; NaN for a missing value."""
        frame = read_frame(data)
        name = self.partition.name
        if len(frame.columns) > 1 and (not frame.has_names or name not in frame.columns):
            raise ValueError(f"the model is of column {name!r} alone, data has {len(frame.columns)} other columns")
        raw = frame.columns[name] if name in frame.columns else next(iter(frame.columns.values()))
        classes, logs = self.classes
        parts = classes.part_of_column(raw, Policy(missing="neutral"))
        return np.where(parts < 0, np.nan, logs[parts])

    def sample(self, n: int, random_state: int | None) -> NDArray[Any]:
        """Random values: of a part by its probability, evenly spread over an interval."""
        rng = np.random.default_rng(random_state)
        parts = rng.choice(self.partition.n_parts, n, p=self.probabilities / self.probabilities.sum())
        places = rng.random(n)
        found = np.empty(n, dtype=self.edges.dtype if self.domain is not None else self.partition.special.dtype)
        inside = parts < self.n_intervals
        if self.domain is not None:
            upto = np.cumsum(self.shares)
            at = np.clip(upto[parts[inside]] - (1.0 - places[inside]) * self.shares[parts[inside]], 0.0, 1.0)
            found[inside] = self.domain.at(at)
        values = self.partition.special_parts
        for part in np.unique(parts[~inside]).tolist():
            codes = np.array(values[part - self.n_intervals])
            mine = parts == part
            found[mine] = codes[(places[mine] * len(codes)).astype(np.int64)]
        return found

    def conditional(self, name: Name, given: Mapping[Name, Any]) -> Conditional:
        """Raise ValueError: there is no other column."""
        raise ValueError(f"the model is of column {self.partition.name!r} alone: there is no other to condition on")

    def impute(self, name: Name, data: Any) -> NDArray[Any]:
        """Raise ValueError: there is no other column."""
        raise ValueError(f"the model is of column {self.partition.name!r} alone: no other tells its missing values")


def mean_log_density(found: NDArray[np.float64], weights: Any) -> float:
    """Mean of the logarithms of densities that are known, a row of weight w counted as w rows."""
    rows = encode_weights(None if weights is None else read_column(weights, "weights"), len(found))
    counts = np.where(np.isnan(found), 0, 1 if rows is None else rows)
    if not counts.any():
        raise ValueError("data has no row with a value: there is nothing to score")
    return math.fsum(np.where(counts > 0, found, 0.0) * counts) / int(counts.sum())


def histogram_of(model: Model) -> Histogram:
    """The density of a model of one column without a target; raise ValueError for other models."""
    if not PROBLEMS[model.problem].has_widths:
        raise ValueError(
            f"this model ({model.problem}) has no density: gridmodl.optimize(column) of one numerical column, "
            "without a target, makes one"
        )
    (partition,) = model.partitions.values()
    ends, widths = partition.domain, partition.widths
    assert ends is not None and widths is not None  # noqa: S101, PT018  for mypy
    rows, n = partition.counts[:, 0], partition.n_parts - partition.n_special
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(ends) == 0:
            probabilities = rows / model.n_rows
            logs = np.append(np.full(n, np.nan), np.log(probabilities[n:]))  # a value that is no mass has none
            return Histogram(partition, None, np.zeros(n), probabilities, logs)
        domain = domain_of(ends, ends.dtype)
        shares = widths[:n] / domain.width
        probabilities = (rows + np.append(shares, np.zeros(len(rows) - n))) / (model.n_rows + 1.0)
        of_intervals = log_ratio(rows[:n], shares, model.n_rows) - math.log(domain.width)
        return Histogram(
            partition, domain, shares, probabilities, np.append(of_intervals, np.log(probabilities[n:]))
        )  # an interval without rows and width, outside of the domain, has no density: NaN


class Unit(NamedTuple):
    """Unit in which widths and densities are shown; tables, files and `densities` have the unit of the type."""

    name: str  # such as "day"; "" for numbers, which have no unit
    size: float  # in units of the type of the column

    @property
    def plural(self) -> str:
        return f"times {self.name}" if self.name[:1].isdigit() else f"{self.name}s" if self.name else ""

    @property
    def per(self) -> str:
        """Such as " per day", to follow a word."""
        return f" per {self.name}" if self.name else ""

    @property
    def heads(self) -> dict[str, str]:
        """Heads of columns of widths and of densities, which name the unit."""
        return {"width": f"width, {self.plural}" if self.name else "width", "density": f"density{self.per}"}

    def shown(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Columns of a table in the unit of the type, with widths and densities in this one."""
        return {**columns, "width": columns["width"] / self.size, "density": columns["density"] * self.size}


def own_unit(dtype: np.dtype[Any]) -> Unit:
    """The unit of the type of a column of dates or durations; no name for numbers."""
    if dtype.kind not in "mM":
        return Unit("", 1.0)
    unit, count = np.datetime_data(dtype)
    return Unit(UNITS[unit] if count == 1 else f"{count} {UNITS[unit]}s", 1.0)


def shown_unit(domain: Domain | None) -> Unit:
    """The largest of SHOWN of which the domain has two or more, never finer than the unit of the type; else that."""
    if domain is None:
        return Unit("", 1.0)
    own = own_unit(domain.type)
    if own.name and (unit := np.datetime_data(domain.type))[0] in ATTOSECONDS:
        sizes = ((UNITS[name], ATTOSECONDS[name] / (ATTOSECONDS[unit[0]] * unit[1])) for name in SHOWN)
        return next((Unit(name, size) for name, size in sizes if size >= 1.0 and domain.width >= 2.0 * size), own)
    return own
