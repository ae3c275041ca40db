"""How the values of one column lie within its parts.

Numbers have densities per unit of the column. The m rows of an interval are m - 1 steps from row to row, in order, and
half a step at each end. The steps between rows are spread evenly from the lowest value of the interval to its highest,
half a step from the bound below it to the lowest value, and half a step from the highest value to the bound above; as
much of these two as is no denser than the steps between rows. At an end where the value is at the bound, as the lowest
and the highest of all values are, there is none. Where the lowest value is the highest, one step is spread evenly over
the interval, and the others, if there are any, are an atom: the value has a probability, not a density. An interval
without rows, and one of a file that does not have the values, is even from bound to bound. So no number within the
domain is impossible, and gaps pull no means. A number beyond the domain has the density of one more row of the outer
interval, spread over the width of the domain; the integral to 1 is over the domain.

A special code and a missing value have probabilities. A category has the share of its rows in those of its group, with
one more row spread evenly over the group.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Categories, encode_column, encode_for_model
from gridmodl.data.domain import Domain, distances, domain_of, in_engine
from gridmodl.data.frames import object_array
from gridmodl.data.numbers import Numbers
from gridmodl.model.partition import Partition, as_type_of, is_exactly
from gridmodl.model.policy import NEUTRAL


class NumberSpread(NamedTuple):
    """Numbers within the parts of a column: intervals, special codes and missing values.

    Each interval has three stretches: from its lower bound to its lowest value, on to its highest value, and on to its
    upper bound. A stretch without a width has no numbers, or is an atom.
    """

    partition: Partition
    shares: NDArray[np.float64]  # of the one row that is spread over all parts, of each part
    domain: Domain | None  # None if all values are special or missing
    edges: NDArray[Any]  # ends of the stretches, in the engine's type
    masses: NDArray[np.float64]  # of the numbers of an interval, in each of its stretches
    stands_for: NDArray[np.int64]  # part that stands for each: the nearest with values, of one outside the domain
    log_within: NDArray[np.float64]  # of a value that is not missing, given its part, in each stretch
    missing_share: float  # probability of a missing value, given its part

    @property
    def intervals(self) -> slice:
        first = int(self.partition.is_missing_apart)
        return slice(first, first + len(self.partition.bounds) + 1)

    @property
    def widths(self) -> NDArray[np.float64]:
        """Width of each stretch, in units of the column."""
        return distances(self.edges[:-1], self.edges[1:]).reshape(-1, 3)

    @property
    def is_atom(self) -> NDArray[np.bool_]:
        """Whether a single value holds most numbers of an interval."""
        has_numbers = self.stands_for[self.intervals] == np.arange(self.intervals.start, self.intervals.stop)
        return np.asarray((self.widths[:, 1] == 0.0) & (self.masses[:, 1] > 0.0) & has_numbers)

    def locate(self, raw: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Part of each value, -1 for none, and the logarithm of its density, or probability, given the part."""
        if len(raw) == 0:
            return np.empty(0, dtype=np.int64), np.empty(0)
        column = encode_for_model(raw, self.partition.name, "numerical")
        assert isinstance(column, Numbers)  # noqa: S101  for mypy
        parts = self.partition.part_of_encoded(column, NEUTRAL)
        parts = np.where(parts < 0, -1, self.stands_for[parts])
        logs = np.where(parts < 0, np.nan, self.log_within[parts, self._stretches(column, parts)])
        if column.missing is not None and self.partition.missing is not None:
            parts[column.missing] = self.partition.missing
            logs[column.missing] = np.log(self.missing_share)
        return parts, logs

    def _stretches(self, column: Numbers, parts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Stretch of each value within its interval: 0, 1 or 2; 1 for values of other parts."""
        found = np.ones(len(parts), dtype=np.int64)
        at = parts - self.intervals.start
        is_in = (at >= 0) & (at <= len(self.partition.bounds))
        if self.domain is None or (column.missing is not None and column.missing.all()):
            return found
        ends = self.domain.ends()
        values = as_type_of(ends, self.partition.is_utc, column)  # rounded up, if at all
        is_whole = is_exactly(values, ends, column)
        low, high = self.edges[3 * at[is_in] + 1], self.edges[3 * at[is_in] + 2]
        mine = values[is_in]
        found[is_in] = np.where((mine < low) | ((mine == low) & ~is_whole[is_in]), 0, np.where(mine > high, 2, 1))
        return found

    def read(self, raw: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Values of a column, in its own type, and which are missing."""
        column = encode_for_model(raw, self.partition.name, "numerical")
        assert isinstance(column, Numbers)  # noqa: S101  for mypy
        missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
        if missing.all():
            ends = self.domain.at(np.zeros(1)) if self.domain is not None else np.zeros(1)
            return np.repeat(ends, column.n_rows), missing
        is_time = column.type.kind in "mM"
        return np.array(column.values.view(column.type) if is_time else column.values), missing

    def weights(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of a number in each stretch, given the `probabilities` of the parts, along the last axis."""
        found = np.array(probabilities[..., self.intervals])
        if self.partition.missing is not None and not self.partition.is_missing_apart:
            found[..., 0] *= 1.0 - self.missing_share
        return (found[..., None] * self.masses).reshape(*found.shape[:-1], -1)

    @property
    def same_for_all(self) -> str:
        """What `typical` is for any probabilities, though values differ; empty if it depends on them."""
        has_one = len(self.partition.bounds) == 0 and self.domain is not None and self.domain.width > 0.0
        return "the middle of its range" if has_one else ""

    def typical(self, probabilities: NDArray[np.float64]) -> NDArray[Any]:
        """Mean of the numbers for each line of `probabilities` of the parts."""
        if self.domain is None:
            return np.full(len(probabilities), np.nan)
        weights = self.weights(probabilities)
        middles = distances(self.edges[:1], self.edges)
        middles = (middles[1:] + middles[:-1]) / 2.0
        means = np.clip(weights @ middles / weights.sum(axis=-1), 0.0, self.domain.width)
        return self.domain.moved(np.repeat(self.edges[:1], len(means)), means)

    def mode(self, probabilities: NDArray[np.float64]) -> Any:
        """Middle of the values of the interval in which they are densest; those of an atom as if over its interval."""
        if self.domain is None:
            return np.nan
        weights, widths = self.weights(probabilities).reshape(-1, 3).sum(axis=1), self.widths
        spans = np.where(widths[:, 1] > 0.0, widths[:, 1], widths.sum(axis=1))
        densities = np.divide(weights, spans, out=np.where(weights > 0, np.inf, 0.0), where=spans > 0)
        return self._at(np.array([3 * int(densities.argmax()) + 1]), np.array([0.5]))[0]

    def quantile(self, probabilities: NDArray[np.float64], share: float) -> Any:
        """The number below which the `share` of the numbers lies."""
        if self.domain is None:
            return np.nan
        weights = self.weights(probabilities)
        upto = np.cumsum(weights)
        at = min(int(np.searchsorted(upto, share * upto[-1])), len(upto) - 1)
        before = upto[at] - weights[at]
        within = np.clip((share * upto[-1] - before) / weights[at], 0.0, 1.0) if weights[at] > 0 else 0.0
        return self._at(np.array([at]), np.array([within]))[0]

    def own_values(self, probabilities: NDArray[np.float64]) -> tuple[list[Any], NDArray[np.float64]]:
        """Values that have a probability of their own, and it: atoms, special codes, and None for a missing value."""
        atoms = np.flatnonzero(self.is_atom)
        found = self._at(3 * atoms + 1, np.zeros(len(atoms))).tolist() if self.domain is not None else []
        of_values = self.weights(probabilities)[3 * atoms + 1].tolist() if self.domain is not None else []
        for part, codes in enumerate(self.partition.special_parts, self.intervals.stop):
            found += codes
            of_values += [probabilities[part] / len(codes)] * len(codes)
        if self.partition.missing is not None:
            found.append(None)
            of_values.append(probabilities[self.partition.missing] * self.missing_share)
        return found, np.array(of_values)

    def draw(self, parts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
        """Random value of each of `parts`."""
        within, partition = rng.random(len(parts)), self.partition
        own = partition.special.dtype if self.domain is None else self.domain.type
        has_object = partition.missing is not None and own.kind in "iu"  # whole numbers have no missing value
        found = np.empty(len(parts), dtype=object if has_object else np.float64 if own.kind == "f" else own)
        at = parts - self.intervals.start
        inside = (at >= 0) & (at <= len(partition.bounds))
        if self.domain is not None:
            found[inside] = self._draw_numbers(at[inside], within[inside])
        for part, codes in enumerate(partition.special_parts, self.intervals.stop):
            mine = parts == part
            found[mine] = np.array(codes)[(within[mine] * len(codes)).astype(np.int64)]
        if partition.missing is not None:
            is_missing = (parts == partition.missing) & (rng.random(len(parts)) < self.missing_share)
            found[is_missing] = None if has_object else np.nan if own.kind == "f" else np.array("NaT", dtype=own)
        return found

    def _draw_numbers(self, at: NDArray[np.int64], within: NDArray[np.float64]) -> NDArray[Any]:
        """Number of each of the intervals `at`, at the share `within`, from 0 to 1, of its numbers."""
        upto = np.cumsum(self.masses, axis=1)
        stretch = np.minimum((within[:, None] >= upto[at]).sum(axis=1), 2)
        mass = self.masses[at, stretch]
        share = np.divide(within - upto[at, stretch] + mass, mass, out=np.zeros(len(at)), where=mass > 0)
        return self._at(3 * at + stretch, np.clip(share, 0.0, 1.0))

    def _at(self, stretch: NDArray[np.int64], share: NDArray[np.float64]) -> NDArray[Any]:
        """Number at a `share`, from 0 to 1, of the width of each `stretch`, which does not hold its lower end.

        Of dates and large whole numbers the next one, but between two values of an interval the nearest.
        """
        assert self.domain is not None  # noqa: S101  for mypy
        low, high = self.edges[stretch], self.edges[stretch + 1]
        width = distances(low, high)
        if self.domain.type.kind == "f":
            return np.clip(high - (1.0 - share) * width, low, high)
        is_nearest = (stretch % 3 == 1) & (self.partition.counts[self.intervals, 0][stretch // 3] > 0)
        steps = np.where(is_nearest, np.rint(share * width), np.minimum(np.floor(share * width) + 1.0, width))
        return self.domain.moved(low, steps)


class CategorySpread(NamedTuple):
    """Categories, or the levels of an ordinal column, within their groups."""

    partition: Partition
    shares: NDArray[np.float64]  # of the one row that is spread over all parts, of each part
    values: list[Any]  # in the order of the groups
    part_of_value: NDArray[np.int64]
    within: NDArray[np.float64]  # probability of each value, given its part

    def locate(self, raw: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Part of each value, -1 for none, and the logarithm of its probability given the part."""
        if len(raw) == 0:
            return np.empty(0, dtype=np.int64), np.empty(0)
        column = encode_column(raw, self.partition.name, "categorical")
        assert isinstance(column, Categories)  # noqa: S101  for mypy
        parts = self.partition.part_of_encoded(column, NEUTRAL)
        log_of = dict(zip(self.values, np.log(self.within).tolist(), strict=True))
        logs = np.fromiter((log_of.get(value, np.nan) for value in column.values), np.float64, len(column.values))
        return parts, logs[column.codes]

    def read(self, raw: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Values of a column, and which are missing."""
        column = encode_column(raw, self.partition.name, "categorical")
        assert isinstance(column, Categories)  # noqa: S101  for mypy
        missing = np.array([value is None for value in column.values], dtype=bool)
        return object_array(column.values)[column.codes], missing[column.codes]

    @property
    def same_for_all(self) -> str:
        """What `typical` is for any probabilities, if the rows of its values are not known; else empty."""
        parts = {
            part for part, value in zip(self.part_of_value.tolist(), self.values, strict=True) if value is not None
        }
        n_values = sum(value is not None for value in self.values)
        return "the first of its values" if self.partition.value_rows is None and len(parts) == 1 < n_values else ""

    def typical(self, probabilities: NDArray[np.float64]) -> NDArray[Any]:
        """Most probable value that is not missing, for each line of `probabilities` of the parts; ties: the first."""
        is_there = np.array([value is not None for value in self.values])
        order = np.lexsort((np.arange(len(self.values)), -np.where(is_there, self.within, -1.0), self.part_of_value))
        parts, first = np.unique(self.part_of_value[order], return_index=True)
        best = order[first]  # of each part with values
        likely = probabilities[:, parts] * np.where(is_there, self.within, 0.0)[best]
        return object_array(self.values)[best[likely.argmax(axis=1)]]

    def draw(self, parts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
        """Random value of each of `parts`."""
        upto = np.cumsum(self.within)  # each part with values adds 1
        ends = np.cumsum(np.bincount(self.part_of_value, minlength=self.partition.n_parts))
        begins = np.append(0, ends[:-1])
        before = np.append(0.0, upto)[begins[parts]]
        at = np.searchsorted(upto, before + rng.random(len(parts)), side="right")
        return object_array(self.values)[np.clip(at, begins[parts], ends[parts] - 1)]


Spread = NumberSpread | CategorySpread


def spread_of(partition: Partition) -> Spread:
    """The spread of the values of a column; raise ValueError if the range of its numbers is not known."""
    return _of_categories(partition) if partition.kind != "numerical" else _of_numbers(partition)


def _shares(rows: NDArray[np.int64], is_possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Shares of the parts: of their rows, and of one more that is spread evenly over all that can have some."""
    return np.where(is_possible, rows + 1.0 / np.count_nonzero(is_possible), 0.0) / (rows.sum() + 1.0)


def _of_categories(partition: Partition) -> CategorySpread:
    sizes = np.array([len(group) for group in partition.groups])
    values = list(itertools.chain(*partition.groups))
    part_of_value = np.repeat(np.arange(len(sizes)), sizes)
    rows = partition.counts[:, 0]
    if partition.value_rows is not None:
        of_values = partition.value_rows.astype(np.float64)
    else:  # evenly, as their rows are not known, but for missing values, which are counted
        of_values = (rows / np.maximum(sizes, 1))[part_of_value]
        if partition.missing is not None and partition.n_missing is not None and sizes[partition.missing] > 1:
            others = (rows[partition.missing] - partition.n_missing) / (sizes[partition.missing] - 1)
            of_values[part_of_value == partition.missing] = others
            of_values[values.index(None)] = partition.n_missing
    within = (of_values + 1.0 / sizes[part_of_value]) / (rows[part_of_value] + 1.0)
    return CategorySpread(partition, _shares(rows, sizes > 0), values, part_of_value, within)


def _of_numbers(partition: Partition) -> NumberSpread:
    ends, rows = partition.domain, partition.counts[:, 0]
    if ends is None:
        raise ValueError(
            f"the range of column {partition.name!r} is not known, so that it has no density: it holds infinite "
            "values, spans more than the largest float, or the model is from a file of an earlier version; drop such "
            "rows, or divide the column by 2 or more, and optimize anew"
        )
    domain = domain_of(ends, ends.dtype) if len(ends) else None
    first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
    is_mixed = partition.missing is not None and not first
    numbers = rows - np.where(np.arange(len(rows)) == 0, partition.n_missing or 0, 0) if is_mixed else rows
    edges, masses = _stretches_of(partition, domain, numbers[first:last])
    widths = distances(edges[:-1], edges[1:]).reshape(-1, 3)
    has_numbers = numbers > 0
    has_numbers[first:last] |= widths.sum(axis=1) > 0
    log_within, missing_share = np.zeros((partition.n_parts, 3)), 1.0
    log_within[first:last] = _log_within(masses, widths, numbers[first:last], domain)
    log_within[last:] -= np.log([[len(codes)] for codes in partition.special_parts]).reshape(-1, 1)
    if is_mixed and has_numbers[0]:
        missing_share = (float(rows[0] - numbers[0]) + 0.5) / (float(rows[0]) + 1.0)
        log_within[0] += np.log1p(-missing_share)
    is_possible, stands_for = has_numbers.copy(), np.arange(partition.n_parts)
    is_possible[:first], is_possible[last:] = True, True
    is_possible[0] |= is_mixed
    inside = np.flatnonzero(has_numbers[first:last])
    stands_for[first:last] = -1
    if len(inside):  # the nearest, of a part outside the domain
        at = np.clip(np.searchsorted(inside, np.arange(last - first)), 0, len(inside) - 1)
        stands_for[first:last] = first + inside[at]
    shares = _shares(rows, is_possible)
    return NumberSpread(partition, shares, domain, edges, masses, stands_for, log_within, missing_share)


def _stretches_of(
    partition: Partition, domain: Domain | None, numbers: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Ends of the three stretches of each interval, and the share of its numbers in each.

    `numbers` is how many each interval has.
    """
    n = len(numbers)
    if domain is None:
        return np.zeros(3 * n + 1), np.tile([0.0, 1.0, 0.0], (n, 1))
    bounds = np.clip(in_engine(partition.bounds), domain.low, domain.high)
    outer = np.concatenate([[domain.low], bounds, [domain.high]])
    edges = np.empty(3 * n + 1, dtype=np.asarray(domain.low).dtype)
    edges[::3], edges[1::3], edges[2::3] = outer, outer[:-1], outer[1:]
    if partition.lowest is None or partition.highest is None:
        return edges, np.tile([0.0, 1.0, 0.0], (n, 1))
    has_values = numbers > 0
    edges[1::3][has_values] = in_engine(partition.lowest)[has_values]
    edges[2::3][has_values] = in_engine(partition.highest)[has_values]
    widths = distances(edges[:-1], edges[1:]).reshape(-1, 3)
    beside = widths[:, [0, 2]]
    total, within = beside.sum(axis=1, keepdims=True), widths[:, 1:2]
    between = np.maximum(numbers - 1.0, 0.0)[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        at_ends = np.minimum(np.where(beside > 0.0, 0.5, 0.0), between * (beside / within))
        alone = np.where(total > 0.0, beside / total, 0.0)
    steps = np.empty((n, 3))
    steps[:, [0, 2]] = np.where(within > 0.0, at_ends, alone)
    steps[:, 1] = np.where(has_values, between[:, 0], 1.0)
    steps[steps.sum(axis=1) == 0.0, 1] = 1.0  # a single row, with no room beside it
    return edges, steps / steps.sum(axis=1, keepdims=True)


def _log_within(
    masses: NDArray[np.float64], widths: NDArray[np.float64], numbers: NDArray[np.int64], domain: Domain | None
) -> NDArray[np.float64]:
    """Logarithm of the density in each stretch of an interval, of an atom that of its probability.

    A value may be in a stretch without mass: the value of a single row has the density beside it, and one beyond the
    domain that of one more row in the interval, spread over the width of the domain.
    """
    logs = np.log(np.where(masses > 0.0, masses, 1.0)) - np.log(np.where(widths > 0.0, widths, 1.0))
    width = 1.0 if domain is None or domain.width == 0.0 else domain.width
    beyond = -np.log(numbers + 1.0) - np.log(width)
    beside = np.where(masses[:, 0] > 0.0, logs[:, 0], logs[:, 2])
    return np.where(masses > 0.0, logs, np.column_stack([beyond, beside, beyond]))
