"""How the values of one column lie within its parts.

Numbers of an interval lie evenly between its bounds; the outer intervals end at the lowest and the highest value. A
special code, a missing value, and an interval without a width, such as that of a constant column, have probabilities.
A category has the share of its rows in those of its group, with one more row spread evenly over the group.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Categories, encode_column
from gridmodl.data.domain import Domain, domain_of
from gridmodl.data.numbers import Numbers
from gridmodl.model.partition import Partition
from gridmodl.model.policy import Policy

NEUTRAL = Policy("neutral", "neutral")


class NumberSpread(NamedTuple):
    """Numbers within the parts of a column: intervals, special codes and missing values."""

    partition: Partition
    shares: NDArray[np.float64]  # of the one row that is spread over all parts, of each part
    domain: Domain | None  # None if all values are special or missing
    places: NDArray[np.float64]  # ends of the intervals in the domain, from 0 to 1
    stands_for: NDArray[np.int64]  # part that stands for each: the nearest with values, of one outside the domain
    log_within: NDArray[np.float64]  # of a value that is not missing, given its part
    missing_share: float  # probability of a missing value, given its part

    @property
    def intervals(self) -> slice:
        first = int(self.partition.is_missing_apart)
        return slice(first, first + len(self.partition.bounds) + 1)

    def locate(self, raw: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Part of each value, -1 for none, and the logarithm of its density, or probability, given the part."""
        if len(raw) == 0:
            return np.empty(0, dtype=np.int64), np.empty(0)
        column = encode_column(raw, self.partition.name, "numerical")
        assert isinstance(column, Numbers)  # noqa: S101  for mypy
        parts = self.partition.part_of_encoded(column, NEUTRAL)
        parts = np.where(parts < 0, -1, self.stands_for[parts])
        logs = np.where(parts < 0, np.nan, self.log_within[parts])
        if column.missing is not None and self.partition.missing is not None:
            parts[column.missing] = self.partition.missing
            logs[column.missing] = np.log(self.missing_share)
        return parts, logs

    def read(self, raw: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Values of a column, in its own type, and which are missing."""
        column = encode_column(raw, self.partition.name, "numerical")
        assert isinstance(column, Numbers)  # noqa: S101  for mypy
        missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
        if missing.all():
            ends = self.domain.at(np.zeros(1)) if self.domain is not None else np.zeros(1)
            return np.repeat(ends, column.n_rows), missing
        is_time = column.type.kind in "mM"
        return np.array(column.values.view(column.type) if is_time else column.values), missing

    def weights(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of a number in each interval, given the `probabilities` of the parts, along the last axis."""
        found = np.array(probabilities[..., self.intervals])
        if self.partition.missing is not None and not self.partition.is_missing_apart:
            found[..., 0] *= 1.0 - self.missing_share
        return found

    def typical(self, probabilities: NDArray[np.float64]) -> NDArray[Any]:
        """Mean of the numbers for each line of `probabilities` of the parts."""
        if self.domain is None:
            return np.full(len(probabilities), np.nan)
        weights = self.weights(probabilities)
        middles = (self.places[1:] + self.places[:-1]) / 2.0
        return self.domain.at(np.clip(weights @ middles / weights.sum(axis=-1), 0.0, 1.0))

    def draw(self, parts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
        """Random value of each of `parts`."""
        within, partition = rng.random(len(parts)), self.partition
        own = partition.special.dtype if self.domain is None else self.domain.type
        has_object = partition.missing is not None and own.kind in "iu"  # whole numbers have no missing value
        found = np.empty(len(parts), dtype=object if has_object else np.float64 if own.kind == "f" else own)
        at = parts - self.intervals.start
        inside = (at >= 0) & (at <= len(partition.bounds))
        if self.domain is not None:
            low, high = self.places[at[inside]], self.places[at[inside] + 1]
            found[inside] = self.domain.at(np.clip(high - (1.0 - within[inside]) * (high - low), 0.0, 1.0))
        for part, codes in enumerate(partition.special_parts, self.intervals.stop):
            mine = parts == part
            found[mine] = np.array(codes)[(within[mine] * len(codes)).astype(np.int64)]
        if partition.missing is not None:
            is_missing = (parts == partition.missing) & (rng.random(len(parts)) < self.missing_share)
            found[is_missing] = None if has_object else np.nan if own.kind == "f" else np.array("NaT", dtype=own)
        return found


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
        return objects(column.values)[column.codes], missing[column.codes]

    def typical(self, probabilities: NDArray[np.float64]) -> NDArray[Any]:
        """Most probable value that is not missing, for each line of `probabilities` of the parts; ties: the first."""
        is_there = np.array([value is not None for value in self.values])
        order = np.lexsort((np.arange(len(self.values)), -np.where(is_there, self.within, -1.0), self.part_of_value))
        parts, first = np.unique(self.part_of_value[order], return_index=True)
        best = order[first]  # of each part with values
        likely = probabilities[:, parts] * np.where(is_there, self.within, 0.0)[best]
        return objects(self.values)[best[likely.argmax(axis=1)]]

    def draw(self, parts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
        """Random value of each of `parts`."""
        upto = np.cumsum(self.within)  # each part with values adds 1
        ends = np.cumsum(np.bincount(self.part_of_value, minlength=self.partition.n_parts))
        begins = np.append(0, ends[:-1])
        before = np.append(0.0, upto)[begins[parts]]
        at = np.searchsorted(upto, before + rng.random(len(parts)), side="right")
        return objects(self.values)[np.clip(at, begins[parts], ends[parts] - 1)]


Spread = NumberSpread | CategorySpread


def objects(values: list[Any]) -> NDArray[Any]:
    """Array of `values`, each as it is."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


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
            "values, or the model is from a file of an earlier version; drop such rows, and optimize anew"
        )
    domain = domain_of(ends, ends.dtype) if len(ends) else None
    places = np.zeros(len(partition.bounds) + 2)
    if domain is not None and domain.width > 0.0:
        bounds = partition.bounds.view(np.int64) if partition.bounds.dtype.kind in "mM" else partition.bounds
        bounds = np.clip(bounds, domain.low, domain.high)
        places[1:-1], places[-1] = np.clip(domain.positions(bounds) / domain.end, 0.0, 1.0), 1.0
    first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
    widths = np.zeros(partition.n_parts)
    widths[first:last] = np.diff(places) * (0.0 if domain is None else domain.width)
    is_mixed = partition.missing is not None and not first
    numbers = rows - np.where(np.arange(len(rows)) == 0, partition.n_missing or 0, 0) if is_mixed else rows
    has_numbers = (widths > 0) | (numbers > 0)
    log_within, missing_share = -np.log(np.where(widths > 0, widths, 1.0)), 1.0
    log_within[last:] -= np.log([len(codes) for codes in partition.special_parts])
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
    return NumberSpread(partition, shares, domain, places, stands_for, log_within, missing_share)
