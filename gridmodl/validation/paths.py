"""The best partitions of a column for all values of a criterion's penalty option, and what they predict of new rows.

For one variable the cost is f + a c I + constant: a is the option, I the number of parts, and neither f nor c depends
on a. So the best partition into I parts is the same for all a, and the optima over all a are the lower hull of f by I.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from gridmodl.analysis.curve import curve_of
from gridmodl.clock import Clock
from gridmodl.data.columns import Column
from gridmodl.data.table import Table
from gridmodl.fit.build import encoded_column
from gridmodl.fit.column.priced import priced
from gridmodl.fit.options import Options
from gridmodl.model.partition import Partition
from gridmodl.model.policy import NEUTRAL
from gridmodl.terms import Criterion

ROUNDING = 1e-12  # of a cost, relative
SAME = 1e-9  # relative difference of two values of an option that is rounding


class OptimaPath(NamedTuple):
    """The optima for all values of a penalty option, from few parts to many."""

    upto: NDArray[np.float64]  # each is an optimum from the next one's number, or 0, to this; the first is infinite
    partitions: tuple[Partition, ...]
    gaps: NDArray[np.float64]  # as of `CostByParts`

    @property
    def n_parts(self) -> NDArray[np.int64]:
        return np.array([partition.n_parts for partition in self.partitions], dtype=np.int64)

    @property
    def above(self) -> NDArray[np.float64]:
        """Values above which each is an optimum."""
        return np.append(self.upto[1:], 0.0)


def find_path(column: Column, table: Table, options: Options, criterion: Criterion, clock: Clock) -> OptimaPath:
    """Optima of a column for all values of the penalty option of `criterion`, from one curve."""
    found, partitions = curve_of(column, table, options._replace(criterion=criterion), clock, counts_apart=False)
    n_parts = np.array([partition.n_parts for partition in partitions], dtype=np.int64)
    unit, value = _price_of_part(column, table, criterion, partitions)
    corners = lower_hull(n_parts.astype(np.float64), found.costs - value * unit * (n_parts - n_parts[0]))
    # Beyond the last fall there are more parts for nothing. A part has no price if there is one row, or one class.
    n_falls = int(np.count_nonzero(corners.falls > ROUNDING * (1.0 + np.abs(found.costs[0])))) if unit > 0.0 else 0
    at = corners.at[: n_falls + 1]
    upto = np.append(np.inf, corners.falls[:n_falls] / unit) if n_falls else np.array([np.inf])
    return OptimaPath(upto, tuple(partitions[i] for i in at), found.gaps[at])


def _price_of_part(
    column: Column, table: Table, criterion: Criterion, partitions: tuple[Partition, ...]
) -> tuple[float, float]:
    """What a part adds to the cost for a unit of the penalty option; and the value of the option in `criterion`."""
    option = str(criterion.penalty_option)
    value = float(criterion.chosen[option])
    twice = type(criterion)(**{**criterion.chosen, option: 2.0 * value})
    few, many = partitions[0], partitions[-1]
    if many.n_parts == few.n_parts:
        return 0.0, value
    rises = [priced(column, table, twice, one).cost - priced(column, table, criterion, one).cost for one in (few, many)]
    return (rises[1] - rises[0]) / (value * (many.n_parts - few.n_parts)), value


class Corners(NamedTuple):
    """Corners of a lower hull, from left to right."""

    at: NDArray[np.int64]  # their places
    falls: NDArray[np.float64]  # by how much the hull falls for a step of 1 from each corner to the next


def lower_hull(x: NDArray[np.float64], y: NDArray[np.float64]) -> Corners:
    """Corners of the lower hull of points whose `x` ascend; points on an edge are no corners."""
    at: list[int] = []
    for i in range(len(x)):  # numbers of parts: few
        while len(at) > 1 and _is_inside(_fall(x, y, at[-2], at[-1]), _fall(x, y, at[-1], i)):
            at.pop()
        at.append(i)
    falls = [_fall(x, y, i, j) for i, j in itertools.pairwise(at)]
    return Corners(np.array(at, dtype=np.int64), np.array(falls))


def _is_inside(fall: float, next_fall: float) -> bool:
    """Whether a point before which the line falls by `fall`, and after which by `next_fall`, is no corner."""
    return fall <= next_fall + SAME * abs(fall)


def _fall(x: NDArray[np.float64], y: NDArray[np.float64], i: int, j: int) -> float:
    return float((y[i] - y[j]) / (x[j] - x[i]))


class LossSteps(NamedTuple):
    """A number by value of the penalty option: constant between two neighbours of `upto`."""

    upto: NDArray[np.float64]  # descending from infinity
    values: NDArray[np.float64]

    def at(self, upto: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers in the ranges that end at `upto`, descending, among which are all of `self.upto`."""
        return self.values[len(self.upto) - 1 - np.searchsorted(self.upto[::-1], upto, side="left")]


def sum_of(every: list[LossSteps]) -> LossSteps:
    """Sum of several, with the ends of all of them; ends that differ by rounding are one."""
    known = np.unique(np.concatenate([one.upto for one in every]))
    is_first = np.append(True, known[1:] > known[:-1] * (1.0 + SAME))
    upto, numbers = known[is_first], np.cumsum(is_first) - 1
    same = [one._replace(upto=upto[numbers[np.searchsorted(known, one.upto)]]) for one in every]
    return LossSteps(upto[::-1], np.sum([one.at(upto[::-1]) for one in same], axis=0))


def code_lengths(path: OptimaPath, train: Table, new: Table, name: Any, options: Options, in_turn: bool) -> LossSteps:
    """Nats of the classes of new rows, given the parts of each optimum of the training rows and its counts n.

    A class has the probability (n_j+1)/(n+J). With `in_turn`, each new row counts for the next ones.
    """
    column = encoded_column(new, name, options)
    found = []
    for partition in path.partitions:
        parts = partition.part_of_encoded(column, NEUTRAL)
        parts[parts < 0] = partition.n_parts  # values of no part tell nothing: the counts of all rows
        counts = np.vstack([partition.counts, train.problem.class_rows])
        found.append(code_length(counts, new.target.counts(parts, len(counts)), in_turn))
    return LossSteps(path.upto, np.array(found))


def code_length(counts: NDArray[np.int64], new: NDArray[np.int64], in_turn: bool) -> float:
    """Nats of new rows, both by part and class."""
    before, n_classes = counts.sum(axis=1), counts.shape[1]
    if not in_turn:
        logs = np.log(counts + 1.0) - np.log(before + float(n_classes))[:, None]
        return float(-(new * logs).sum())
    totals = gammaln(before + new.sum(axis=1) + float(n_classes)) - gammaln(before + float(n_classes))
    return float(totals.sum() - (gammaln(counts + new + 1.0) - gammaln(counts + 1.0)).sum())
