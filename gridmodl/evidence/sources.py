"""Sources of evidence: what a column, or a grid of several columns, says of the class of a row.

The evidence of a source for class j at a row is

    log P(j | value of the row) - log P(j)

It is 0 if the value tells nothing. A classifier takes the prior log P(j) plus the sum over its sources of weight times
evidence, and divides by the sum over the classes.

A source is anything with the members of `EvidenceSource`. It has lines: places with an evidence of their own, such as
the parts of a partition, the cells of a grid, or the knots of a curve. A row is at a line, or between a line and the
next one, or at none (line -1: no evidence). Classifiers need no more than the lines to learn weights, and the evidence
at a place to predict. A new kind of source is a class with these members, and

* how it is written and read, in `gridmodl.evidence.file`,
* how it is asked of a database, in `gridmodl.report.sql.evidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.record import Average, between_knots
from gridmodl.criteria.concave import uniform_predictive
from gridmodl.data.columns import encode_for_model
from gridmodl.data.frames import Name, Raw
from gridmodl.data.numbers import Numbers
from gridmodl.evidence.suspicion import suspicion_of
from gridmodl.model.counts import group_of_classes, part_counts
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.model.policy import Policy

NO_LINE = -1
INFORMATIVE = 0.5  # least probability that a column says something, for its average to be a source


class RowPlaces(NamedTuple):
    """Where rows are among the lines of a source."""

    line: NDArray[np.int64]  # of each row; NO_LINE if nothing is known of its value
    way: NDArray[np.float64] | None = None  # share of the way to the next line; None: all rows are at a line

    @property
    def nearest(self) -> NDArray[np.int64]:
        """The nearest line of each row."""
        return self.line if self.way is None else self.line + (self.way > 0.5)


class EvidenceSource(Protocol):
    """A column, or a grid of columns, that says something of the classes."""

    @property
    def name(self) -> Name:
        """Name in tables and queries; no other source of a classifier has it."""

    @property
    def columns(self) -> tuple[Name, ...]:
        """Columns of the data that the source reads."""

    @property
    def price(self) -> float:
        """Nats to describe the source, for selective weights."""

    @property
    def evidence(self) -> NDArray[np.float64]:
        """Evidence by line and class."""

    @property
    def labels(self) -> list[str]:
        """Label of each line."""

    @property
    def suspicions(self) -> Mapping[Name, str]:
        """What `suspicion_of` says of columns, of those that it says something of."""

    def places(self, columns: Mapping[Name, Raw], policy: Policy) -> RowPlaces:
        """Where the rows of `columns` are; `policy` is for values that the training data did not have."""

    def evidence_at(self, places: RowPlaces) -> NDArray[np.float64]:
        """Evidence by row and class; 0 for rows at no line."""


@dataclass(frozen=True, eq=False)
class PartsSource:
    """Evidence of the parts of a column.

    Attributes
    ----------
    partition : Partition
        The parts.
    evidence : ndarray of shape (n_parts, n_classes)
        Evidence of each part.
    price : float
        Nats to describe the partition.
    """

    partition: Partition
    evidence: NDArray[np.float64]
    price: float = 0.0

    @property
    def name(self) -> Name:
        return self.partition.name

    @property
    def columns(self) -> tuple[Name, ...]:
        return (self.partition.name,)

    @property
    def labels(self) -> list[str]:
        return self.partition.labels

    @property
    def suspicions(self) -> Mapping[Name, str]:
        return suspicions_of([self.partition])

    def places(self, columns: Mapping[Name, Raw], policy: Policy) -> RowPlaces:
        return RowPlaces(self.partition.part_of_column(columns[self.name], policy))

    def evidence_at(self, places: RowPlaces) -> NDArray[np.float64]:
        return evidence_of_lines(self.evidence, places.line)


@dataclass(frozen=True, eq=False)
class CurveSource:
    """Evidence of the average over all partitions of a column: linear in the probability between two knots.

    Attributes
    ----------
    apart : Partition
        Name and type of the column; a part of missing values if there were any, one of all numbers, and one for each
        special code.
    knots : ndarray
        Values between which probabilities are linear.
    shares : ndarray of shape (n_lines, n_classes)
        Probability of each class: of missing values if these are a part of `apart`, at each knot, and of each special
        code.
    log_prior : ndarray
        Log of the share of each class in all rows.
    price : float
        Nats to describe the best partition.
    suspicion : str
        What `suspicion_of` says of the column; empty if nothing.
    own_evidence : ndarray of shape (n_classes,)
        Sum over the training rows of each class of their evidence for it, divided by all rows. Files do not have it:
        0 in what is read from one.
    """

    apart: Partition
    knots: NDArray[Any]
    shares: NDArray[np.float64]
    log_prior: NDArray[np.float64]
    price: float = 0.0
    suspicion: str = ""
    own_evidence: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))

    @property
    def name(self) -> Name:
        return self.apart.name

    @property
    def columns(self) -> tuple[Name, ...]:
        return (self.apart.name,)

    @property
    def first(self) -> int:
        """Line of the first knot."""
        return int(self.apart.is_missing_apart)

    @property
    def evidence(self) -> NDArray[np.float64]:
        return np.asarray(np.log(self.shares) - self.log_prior)

    @property
    def labels(self) -> list[str]:
        apart = self.apart.labels
        return [*apart[: self.first], *map(str, self.knots), *apart[self.first + 1 :]]

    @property
    def suspicions(self) -> Mapping[Name, str]:
        return {self.name: self.suspicion} if self.suspicion else {}

    def places(self, columns: Mapping[Name, Raw], policy: Policy) -> RowPlaces:
        raw = columns[self.name]
        if len(raw) == 0:
            return RowPlaces(np.empty(0, dtype=np.int64), np.empty(0))
        column = encode_for_model(raw, self.name, self.apart.column_kind)
        assert isinstance(column, Numbers)  # noqa: S101  for mypy
        part = self.apart.part_of_encoded(column, policy)
        if column.missing is not None and column.missing.all():
            return RowPlaces(part, np.zeros(len(part)))
        low, way = between_knots(self.knots, self.apart.is_utc, column)
        is_apart = part != self.first
        low, way = np.where(is_apart, part + (part > self.first) * (len(self.knots) - 1), low + self.first), way.copy()
        way[is_apart] = 0.0
        return RowPlaces(low, way)

    def evidence_at(self, places: RowPlaces) -> NDArray[np.float64]:
        found = evidence_of_lines(self.evidence, places.line)
        if places.way is not None:
            at = np.flatnonzero(places.way > 0.0)
            low, way = places.line[at], places.way[at, None]
            found[at] = np.log(self.shares[low] + (self.shares[low + 1] - self.shares[low]) * way) - self.log_prior
        return found


def evidence_of_lines(evidence: NDArray[np.float64], line: NDArray[np.int64]) -> NDArray[np.float64]:
    """Evidence by row and class of rows at lines; 0 for rows at no line."""
    found: NDArray[np.float64] = evidence[line]
    found[line == NO_LINE] = 0.0
    return found


def suspicions_of(partitions: Iterable[Partition]) -> dict[Name, str]:
    """What `suspicion_of` says of columns, of those that it says something of."""
    return {one.name: said for one in partitions if (said := suspicion_of(one))}


def parts_source(model: Model, log_prior: NDArray[np.float64], price: float = 0.0) -> PartsSource | None:
    """Evidence of the parts of a column; None if there is one part.

    P(class | part) is the predictive of `smoothed`. If classes are grouped, see `grouped_evidence`.
    """
    (partition,) = model.partitions.values()
    if partition.n_parts < 2:
        return None
    if model.target is not None:
        return PartsSource(partition, grouped_evidence(model, partition, log_prior), price)
    return PartsSource(partition, np.log(smoothed(partition.counts, np.exp(log_prior))) - log_prior, price)


def smoothed(counts: NDArray[np.int64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(class | rows) = (n_j + J p_j) / (n + J) of n labelled rows, n_j of them of the class, for J classes.

    This is the Bayes predictive of a Dirichlet prior whose mean are the shares p of the classes in all rows; if these
    are equal, (n_j + 1) / (n + J). So rows of no class say nothing. With (n_j + 1) / (n + J) for unequal shares, every
    part would speak for rare classes, and in a sum over many columns they would win.
    """
    n_classes = len(prior)
    return np.asarray((counts + n_classes * prior) / (counts.sum(axis=1, keepdims=True) + n_classes))


def grouped_evidence(model: Model, partition: Partition, log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evidence of parts for classes in groups, from the share of the part in the group of the class.

    P(part | group) = (support + 1/N) / (coverage + W/N) counts the rows of the part and the group, and of the group,
    for W classes and N rows (M. Boullé, "Classification supervisée pour de grands nombres de classes à prédire", RNTI
    E-19, 4.2). All classes of a group have the same evidence.
    """
    counts, n_rows = part_counts(model, partition), model.n_rows
    logs = np.log((counts + 1.0 / n_rows) / (counts.sum(axis=0) + len(log_prior) / n_rows))[:, group_of_classes(model)]
    evidence = logs - np.log(np.exp(logs + log_prior).sum(axis=1, keepdims=True))
    evidence[counts.sum(axis=1) == 0] = 0.0
    return np.asarray(evidence)


def curve_source(average: Average, log_prior: NDArray[np.float64], price: float = 0.0) -> CurveSource | None:
    """Evidence of an average; None unless the column says something with a probability of one half at least.

    Under a criterion without that probability: None if the best partition has one part.
    """
    if len(average.knots) == 0 or not _says_something(average):
        return None
    segments, first = average.segments, int(average.segments.is_missing_apart)
    n = segments.n_parts - segments.n_special
    counts = np.concatenate([segments.counts[:first], segments.counts[first:n].sum(axis=0)[None], segments.counts[n:]])
    unlabelled = segments.unlabelled
    if unlabelled is not None:
        unlabelled = np.concatenate([unlabelled[:first], [unlabelled[first:n].sum()], unlabelled[n:]])
    apart = replace(segments, bounds=segments.bounds[:0], counts=counts, unlabelled=unlabelled)
    shares = centred_shares(average, np.exp(log_prior))
    own = np.sum(segments.counts * (np.log(shares) - log_prior), axis=0) / max(1, int(segments.counts.sum()))
    return CurveSource(apart, average.knots, shares, log_prior, price, suspicion_of(segments), own)


def centred_shares(average: Average, prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """`Average.shares` with the predictive of `smoothed` in each interval in place of (n_j + 1) / (n + J).

    The two differ by (J p_j - 1) / (n + J), so their averages by J p_j - 1 times the average of 1 / (n + J).
    """
    shares, segments, n_classes = average.shares, average.segments, len(prior)
    if average._weights.averaged.predictive is not uniform_predictive:
        return shares
    n = segments.n_parts - segments.n_special
    rows = np.append(0, np.cumsum(segments.counts[:n].sum(axis=1)))
    masses = average._intervals
    weighed = masses / np.maximum(rows[None, :] - rows[:, None] + n_classes, 1.0)  # 0 if the end is not after the begin
    of_segments = np.cumsum(weighed.sum(axis=1) - weighed.sum(axis=0))[:n]
    centred = shares[:n] + (n_classes * prior - 1.0) * of_segments[:, None]
    centred = np.concatenate([centred, smoothed(segments.counts[n:], prior)])
    return np.asarray(centred / centred.sum(axis=1, keepdims=True))


def _says_something(average: Average) -> bool:
    if average.p_informative is not None:
        return average.p_informative >= INFORMATIVE
    return average.best.partitions[average.name].n_parts > 1
