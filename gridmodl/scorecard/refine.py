"""Finer parts than those of the criterion, where Akaike's criterion (AIC) prefers them.

Many weak columns add up in a scorecard, and of a few hundred rows MODL takes no weak column for certain. AIC asks
whether rows to come are predicted better:

    AIC  =  - sum over rows of log P(class of the row)  +  number of parameters

A column of numbers, in bins of enough rows, may have the event rates of an isotonic regression, rising or falling,
whose number of parameters is its number of levels (M. Meyer, M. Woodroofe, On the degrees of freedom in
shape-restricted regression, Annals of Statistics 28, 2000). It is compared with the parts that the column had, whose
parameters are their rates and their bounds. A categorical column may have a rate for each value that has enough rows;
this is compared with one part. Of what is preferred, neighbours by rate are joined while AIC falls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.models import model_of_starts
from gridmodl.averaging.record import Average
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.search.moves import NO_LIMIT

PRICE = 1.0  # nats of a parameter
Counts = NDArray[np.int64]  # rows by part and class


def missing_apart(average: Average, model: Model) -> Model:
    """`model`, of parts of `average`, with missing values in a part of their own."""
    (partition,) = model.partitions.values()
    if not average.segments.is_missing_apart or partition.is_missing_apart:
        return model
    starts = np.unique(np.append(_starts_of(average, model), 1))
    most = _most_intervals(average)
    if len(starts) - 1 > most:
        inside = _joined(_counts_of(average), starts[1:] - 1, most)
        starts = np.append(0, inside + 1)
    return model_of_starts(average, starts, "average")


def refined_intervals(average: Average, model: Model, least: float) -> Model:
    """The best monotone parts with `least` rows each, if AIC prefers them to those of `model`, else `model`."""
    counts, first = _counts_of(average), int(average.segments.is_missing_apart)
    if not counts.any():
        return model
    apart = average.segments.counts
    beside = float(_losses(np.concatenate([apart[:first], apart[first + len(counts) :]])).sum())
    (partition,) = model.partitions.values()
    own = float(_losses(partition.counts).sum()) + PRICE * _n_parameters(partition)
    bins = _bins(counts, least)
    candidates = [bins[_isotonic(_add(counts, bins), event)] for event in (0, 1)]
    costs = [
        beside + float(_losses(_add(counts, starts)).sum()) + PRICE * (len(starts) + first) for starts in candidates
    ]
    if min(costs) >= own:
        return model
    starts = _joined(counts, candidates[int(np.argmin(costs))], _most_intervals(average))
    return model_of_starts(average, np.append(np.arange(first), starts + first), "average")


def refined_groups(counts: Counts, least: float, most: int | None) -> list[list[int]] | None:
    """Groups of values with these rows, `least` in each, if AIC prefers a part for each value to one part, else None.

    Rarer values share a part, or join the one nearest to them by rate. Groups are in the order of the share of the
    second class.
    """
    rows = counts.sum(axis=1)
    groups = [[i] for i in np.flatnonzero(rows >= least).tolist()]
    rare = np.flatnonzero(rows < least).tolist()
    if rare and (rows[rare].sum() >= least or not groups):
        groups.append(rare)
    elif rare:
        event, total = counts[rare].sum(axis=0)[1], rows[rare].sum()
        rate = (event + 0.5) / (total + 1.0)
        groups[int(np.argmin([abs(counts[i, 1] / rows[i] - rate) for (i,) in groups]))] += rare
    of_groups = np.array([counts[group].sum(axis=0) for group in groups])
    one = float(_losses(of_groups.sum(axis=0)[None]).sum()) + PRICE
    if len(groups) < 2 or float(_losses(of_groups).sum()) + PRICE * len(groups) >= one:
        return None
    order = np.argsort(of_groups[:, 1] / of_groups.sum(axis=1), kind="stable")
    starts = _joined(of_groups[order], np.arange(len(groups)), NO_LIMIT if most is None else most)
    return [sorted(i for k in run for i in groups[k]) for run in np.split(order, starts[1:])]


def _n_parameters(partition: Partition) -> int:
    """Number of rates and bounds; parts of special codes are in all that is compared."""
    return partition.n_parts - partition.n_special + len(partition.bounds)


def _counts_of(average: Average) -> Counts:
    """Rows of the segments of numbers, by class."""
    first = int(average.segments.is_missing_apart)
    return np.asarray(average.segments.counts[first : average.segments.n_parts - average.segments.n_special])


def _starts_of(average: Average, model: Model) -> NDArray[np.int64]:
    """First segments of the parts of `model`."""
    (partition,) = model.partitions.values()
    first = int(average.segments.is_missing_apart)
    cuts = np.searchsorted(average.segments.bounds, partition.bounds) + 1 + first
    return np.append([0, 1] if partition.is_missing_apart else [0], cuts).astype(np.int64)


def _most_intervals(average: Average) -> int:
    """Largest number of intervals beside missing values and special codes."""
    return NO_LIMIT if average.max_parts is None else average.max_parts


def _losses(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Loss of each part: minus the sum over its rows of the log of the share of their class."""
    rows = counts.sum(axis=1, keepdims=True)
    shares = np.where(counts > 0, counts, 1) / np.where(counts > 0, rows, 1)
    return np.asarray(-(counts * np.log(shares)).sum(axis=1))


def _add(counts: Counts, starts: NDArray[np.int64]) -> Counts:
    return np.asarray(np.add.reduceat(counts, starts, axis=0))


def _isotonic(counts: Counts, event: int) -> NDArray[np.int64]:
    """First segments of the levels of the isotonic regression: the share of class `event` rises from level to level."""
    levels: list[tuple[int, int, int]] = []  # rows of the event, rows, first segment
    for i, (events, rows) in enumerate(zip(counts[:, event].tolist(), counts.sum(axis=1).tolist(), strict=True)):
        start = i
        while levels and events * levels[-1][1] <= levels[-1][0] * rows:
            before = levels.pop()
            events, rows, start = events + before[0], rows + before[1], before[2]
        levels.append((events, rows, start))
    return np.array([start for _, _, start in levels], dtype=np.int64)


def _bins(counts: Counts, least: float) -> NDArray[np.int64]:
    """First segments of bins from left to right that have `least` rows; rows that are left join the last bin."""
    starts, rows = [0], 0
    left = int(counts.sum())
    for i, own in enumerate(counts.sum(axis=1).tolist()):
        if rows >= least and left >= least:
            starts.append(i)
            rows = 0
        rows, left = rows + own, left - own
    return np.array(starts, dtype=np.int64)


def _joined(counts: Counts, starts: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Join neighbours, those that cost least first, while AIC falls or there are more than `most` parts."""
    while len(starts) > 1:
        parts = _add(counts, starts)
        losses = _losses(parts)
        costs = _losses(parts[1:] + parts[:-1]) - losses[1:] - losses[:-1]
        i = int(costs.argmin())
        if costs[i] >= PRICE and len(starts) <= most:
            break
        starts = np.delete(starts, i + 1)
    return starts
