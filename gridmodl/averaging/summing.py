"""Sum over all partitions of the segments of a column, from counts alone: the data are not needed again."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.data.atoms import alone
from gridmodl.model.partition import Partition
from gridmodl.plugins import criterion_for, list_criteria
from gridmodl.pricing import numerical_values, prepare
from gridmodl.search.average.candidates import Runs
from gridmodl.search.average.intervals import predict_segments
from gridmodl.search.average.layers import Segments, Weighing, sum_partitions
from gridmodl.search.moves import NO_LIMIT, Frozen, Limits, Setting
from gridmodl.search.proof import costs_by_parts
from gridmodl.search.task import Task
from gridmodl.spelling import check_choice
from gridmodl.terms import Cell, Criterion, Problem, Variable, predictive

PRIORS = ("rows", "values")
NO_LIMITS = Limits(NO_LIMIT, 1)


class SegmentCounts(NamedTuple):
    """Rows of a column by segment: all that its average depends on, besides options."""

    segments: Partition  # the finest partition: segments between candidate bounds, and special codes
    values: NDArray[np.int64]  # distinct values of each part of it
    runs: Runs

    @property
    def n_intervals(self) -> int:
        """Number of parts that are no special codes."""
        return self.segments.n_parts - self.segments.n_special

    @property
    def problem(self) -> Problem:
        segments = self.segments
        kind = "classes" if segments.unlabelled is None else "semi"
        return Problem(kind, int(segments.rows.sum()), 1, segments.counts.sum(axis=0))

    def by_code(self) -> NDArray[np.int64]:
        """Rows of each part by class, unlabelled rows last."""
        counts, unlabelled = self.segments.counts, self.segments.unlabelled
        return counts if unlabelled is None else np.column_stack([counts, unlabelled])

    def n_values(self) -> int:
        """Number of distinct values, special codes with rows included."""
        return int(self.values.sum())


class Weights(NamedTuple):
    """How an average weighs the partitions of a column."""

    criterion: Criterion  # given by the user; prices models
    averaged: Criterion  # weighs partitions
    segments: Segments
    weighing: Weighing


class Results(NamedTuple):
    """What an average says of a column."""

    log_evidence: float
    p_parts: NDArray[np.float64]
    p_cuts: NDArray[np.float64]  # probability of a bound before each segment but the first
    p_informative: float | None
    loo_loss: float | None
    neglected: float
    shares: NDArray[np.float64]  # by part of the segments and class


def averaged_of(criterion: str | Criterion, kind: str) -> tuple[Criterion, Criterion]:
    """The criterion for a kind of problem, and the one whose costs weigh partitions; raise if there is none."""
    given = criterion_for(criterion, kind)
    averaged = given if given.averaged is None else given.averaged(**given.chosen)
    if averaged.scale is None or averaged.predictive is predictive:
        those_that_can = [name for name in list_criteria(kind) if can_be_averaged(name, kind)]
        raise ValueError(
            f"criterion {given.name!r} cannot be averaged: its cost is not minus the logarithm of a probability "
            f"(it declares no scale), or it predicts nothing inside a part; these can: {', '.join(those_that_can)}"
        )
    return given, averaged


def can_be_averaged(name: str, kind: str) -> bool:
    """Whether the installed criterion `name` weighs partitions for a kind of problem."""
    if name not in list_criteria(kind):
        return False
    criterion = criterion_for(name, kind)
    averaged = type(criterion) if criterion.averaged is None else criterion.averaged
    return averaged.scale is not None and averaged.predictive is not predictive


def weights_of(
    counted: SegmentCounts,
    criteria: tuple[Criterion, Criterion],
    prior: str,
    max_parts: int | None,
    prepared: tuple[Any, Variable] | None = None,
) -> Weights:
    """How to weigh the partitions of a column; `criteria` are what `averaged_of` returns.

    `prepared` is what `prepare` returns for the column, if that is known.
    """
    check_choice("prior", prior, PRIORS)
    problem, n, segments = counted.problem, counted.n_intervals, counted.segments
    given, averaged = criteria
    p, facts = prepared or prepare(averaged, problem, numerical_values(counted.n_values()))
    by_code, n_classes = counted.by_code(), problem.n_classes
    has_rows = by_code[n:].any(axis=1)
    apart = by_code[n:][has_rows]
    n_left = NO_LIMIT if max_parts is None else max_parts
    values = counted.values.astype(np.int32)
    atoms = alone(by_code[:n], values[:n], n_classes)
    task = Task(atoms, Setting(p, facts, Frozen()), type(averaged), Limits(n_left, 1))
    task = task.set_apart(alone(apart, values[n:][has_rows], n_classes))
    setting = task.setting
    n_places = p.n_rows if prior == "rows" else facts.n_values
    prior_p = p._replace(n_rows=n_places, log_rows=math.log(n_places))
    weighing = Weighing(type(averaged), setting, setting._replace(p=prior_p), task.limits.max_parts)
    in_segments = Segments(
        np.ascontiguousarray(segments.counts[:n], dtype=np.int64), segments.rows[:n], counted.values[:n], counted.runs
    )
    return Weights(given, averaged, in_segments, weighing)


def results_of(counted: SegmentCounts, weights: Weights, clock: Clock) -> Results | None:
    """Average over all partitions; None if the clock stops it."""
    _, averaged, segments, weighing = weights
    n_apart = weighing.prior.frozen.n_apart
    shares = _shares_apart(counted, weights)
    if segments.rows.any():
        layers = sum_partitions(segments, weighing, clock)
        if layers is None:
            return None
        predictions = predict_segments(segments, weighing, layers)
        shares[: counted.n_intervals] = predictions.shares
        log_evidence, neglected, p_parts = layers.log_evidence, layers.neglected, layers.p_parts
        p_cuts = np.clip(layers.intervals.sum(axis=0)[1:-1], 0.0, 1.0)
        left_out = predictions.left_out
    else:  # only special codes have rows; they are all parts there are
        alone = weighing.prior._replace(frozen=weighing.prior.frozen._replace(n_apart=n_apart - 1))
        log_evidence = -float(averaged.scale or 0.0) * float(costs_by_parts(type(averaged), alone, np.zeros(1))[0])
        neglected, p_parts, p_cuts, n_apart = 0.0, np.ones(1), np.empty(0), n_apart - 1
        left_out = np.full(segments.counts.shape, np.nan)
    loo_loss = _loo_loss(counted, weights, left_out) if averaged.predicts_exactly else None
    p_informative = _p_informative(weights, counted, log_evidence) if averaged.uniform_parts else None
    p_parts = np.append(np.zeros(n_apart), p_parts)
    return Results(log_evidence, p_parts, p_cuts, p_informative, loo_loss, neglected, shares)


def overall_shares(segments: Partition) -> NDArray[np.float64]:
    """Share of each class in all labelled rows: the prediction for values that say nothing."""
    class_rows = segments.counts.sum(axis=0)
    return np.asarray(class_rows / class_rows.sum())


def _shares_apart(counted: SegmentCounts, weights: Weights) -> NDArray[np.float64]:
    """Predictions by part: of special codes with rows their own, else those of all rows."""
    segments, p = counted.segments, weights.weighing.setting.p
    shares = np.tile(overall_shares(segments), (segments.n_parts, 1))
    for i in range(counted.n_intervals, segments.n_parts):
        if segments.rows[i] > 0:
            shares[i] = predicted_shares(weights.averaged, p, segments.counts[i])
    return shares


def predicted_shares(averaged: Criterion, p: Any, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the criterion predicts inside a part of the labelled rows `counts` by class."""
    cell = Cell(counts, int(counts.sum()), 0)
    return np.array([averaged.predictive(p, cell, c) for c in range(len(counts))])


def _loo_loss(counted: SegmentCounts, weights: Weights, left_out: NDArray[np.float64]) -> float:
    """Mean over the labelled rows of -log P(class | value, all other rows)."""
    counts = counted.segments.counts
    total = -float(np.nansum(counts[: len(left_out)] * np.log(left_out)))
    total += sum(_loss_inside(weights, own) for own in counts[counted.n_intervals :])
    return total / float(counts.sum())


def null_loss(segments: Partition, weights: Weights) -> float:
    """Mean over the labelled rows of -log P(class | all other rows) if all rows are one part."""
    class_rows = segments.counts.sum(axis=0)
    return _loss_inside(weights, class_rows) / float(class_rows.sum())


def _loss_inside(weights: Weights, counts: NDArray[np.int64]) -> float:
    """Sum over the rows of a part, `counts` by class, of -log P(class | all other rows of it)."""
    p, total = weights.weighing.setting.p, 0.0
    for c in np.flatnonzero(counts).tolist():
        rest = counts - (np.arange(len(counts)) == c)
        total -= int(counts[c]) * math.log(weights.averaged.predictive(p, Cell(rest, int(rest.sum()), 0), c))
    return total


def _p_informative(weights: Weights, counted: SegmentCounts, log_evidence: float) -> float:
    """Probability of more than one part, if one part alone had the prior probability one half.

    The prior of the number of parts is uniform from 1 to N, so the odds of the posterior are divided by N - 1.
    """
    prior, scale = weights.weighing.prior, float(weights.averaged.scale or 0.0)
    n_places = prior.p.n_rows
    if n_places < 2:
        return 0.0
    one = prior._replace(frozen=Frozen())
    whole = alone(counted.by_code().sum(axis=0)[None], np.array([one.variable.n_values]), counted.problem.n_classes)
    price = Task(whole, weights.weighing.setting._replace(frozen=Frozen()), type(weights.averaged), NO_LIMITS).price_of(
        [0]
    )
    log_null = -scale * float(costs_by_parts(type(weights.averaged), one, np.array([price]))[0])
    log_rest = log_evidence
    if prior.frozen.n_apart == 0:  # one part is among the partitions
        if log_null >= log_evidence:
            return 0.0
        log_rest += math.log1p(-math.exp(log_null - log_evidence))
    log_odds = log_rest - log_null - math.log(n_places - 1)
    return 1.0 / (1.0 + math.exp(-log_odds)) if log_odds > -700.0 else 0.0
