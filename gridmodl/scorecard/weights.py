"""Weights of the columns of a scorecard: a logistic regression on the weights of evidence of their parts.

    log odds of the event  =  intercept + sum over columns k of  w_k * woe of the part of column k

    cost  =  - sum over rows of log P(class of the row)  +  l2 / 2 * sum_k (w_k - w)^2  +  1 / 2 * (w - 1)^2

where w is the mean of the weights. With a large l2 all columns have the same weight. The last term keeps weights finite
if columns tell the classes apart.

Rows are dealt into FOLDS folds. The woe of a row in the cost is counted without the rows of its fold, so that columns
with many small parts get no credit for rows that they have seen. Held-out loss is that of the rows of each fold under
weights fitted on those of the others; it decides on l2 and on the columns:

    sign         a column whose weight is negative speaks against itself: the most negative is taken out, and again
    validation   columns are taken out one by one, each time the one that is missed least; the set with the lowest
                 held-out loss is used (to the second order around the weights of all columns, which costs no new fit)

Rows with the same parts and class are one row with a count: so a row of weight w is w rows, and their order is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.folds import MANY_ROWS, deal_evenly
from gridmodl.evidence.selection import distinct_rows
from gridmodl.model.evidence import woe_of_counts

FOLDS = 5
L2 = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)  # tried in this order; ties: first
FEW_L2 = 10.0  # if there are too few rows to choose
SEED = 0
STEPS, HALVINGS, ENOUGH = 50, 30, 1e-9  # of Newton's method; it ends if the next step would gain less nats than ENOUGH
MOST, BRACKET, NEAR = 500.0, 40.0, 1e-13  # log of odds that exp takes; of the intercept: half width, rounding error


class ScoreRows(NamedTuple):
    """Parts of rows, for each column in use; -1 for a value of no part, whose woe is 0."""

    parts: Sequence[NDArray[np.int64]]
    n_parts: Sequence[int]
    is_event: NDArray[np.bool_]
    rows: NDArray[np.int64]  # weight of each row, above 0


class Choice(NamedTuple):
    """Rules by which columns and weights are chosen."""

    l2: float | None = None  # None: by held-out loss
    sign: bool = True
    validate: bool = True
    max_columns: int | None = None


class CardWeights(NamedTuple):
    """Weights of columns; those of columns that are not used are 0."""

    weights: NDArray[np.float64]
    intercept: float
    l2: float
    losses: dict[float, float]  # held-out loss a row of each l2 that was tried
    left_out: dict[int, str]  # why columns are not used
    held_out: float | None  # held-out loss a row of the columns in use; None without folds


class _Fold(NamedTuple):
    """Rows of a fold: woe of their parts, counted without them; last a column of ones."""

    woe: NDArray[np.float64]
    is_event: NDArray[np.float64]
    rows: NDArray[np.float64]


class _Fit(NamedTuple):
    """Weights of `columns` and the intercept, last; and the inverse of the second derivatives of the cost there."""

    columns: list[int]
    found: NDArray[np.float64]
    spread: NDArray[np.float64]


def fit_weights(table: ScoreRows, choice: Choice) -> CardWeights:
    """Choose among the columns of `table`, and weigh those that are chosen."""
    n_columns = len(table.parts)
    event_rows, all_rows = int(table.rows[table.is_event].sum()), int(table.rows.sum())
    prior = float(np.log(event_rows / (all_rows - event_rows)))
    if n_columns == 0:
        return CardWeights(np.zeros(0), prior, FEW_L2 if choice.l2 is None else choice.l2, {}, {}, None)
    with_none = [np.where(part < 0, n, part) for part, n in zip(table.parts, table.n_parts, strict=True)]
    (is_event, *parts), rows = distinct_rows(
        [table.is_event.astype(np.int64), *with_none], [2, *(n + 1 for n in table.n_parts)], table.rows
    )
    cells = ScoreRows(parts, table.n_parts, is_event.astype(bool), rows.astype(np.int64))
    n_folds = min(FOLDS, event_rows, all_rows - event_rows)
    folds = _folds_of(cells, n_folds if n_folds > 1 else 1)
    everything = list(range(len(folds)))
    l2, losses = (FEW_L2 if choice.l2 is None else choice.l2), {}
    start = _fitted(folds, everything, _Start(list(range(n_columns)), prior), l2, choice.sign)
    if choice.l2 is None and len(folds) > 1:
        losses = {one: _held_out(folds, one, start, choice.sign) / all_rows for one in L2}
        l2 = min(losses, key=losses.__getitem__)
        start = _fitted(folds, everything, _Start(list(range(n_columns)), prior), l2, choice.sign)
    left_out = {k: "its weight would be negative beside the others" for k in range(n_columns) if k not in start.columns}
    path = _path(folds, start, l2, choice)
    left_out |= dict.fromkeys((k for k in start.columns if k not in path.columns), path.reason)
    final = _fitted(folds, everything, _Start(path.columns, prior), l2, choice.sign)
    left_out |= {k: "its weight would be negative beside the others" for k in path.columns if k not in final.columns}
    weights = np.zeros(n_columns)
    weights[final.columns] = final.found[:-1]
    (alone,) = _folds_of(cells, 1)
    intercept = _intercept(alone, weights, float(final.found[-1]))
    held_out = None if len(folds) < 2 else _held_out(folds, l2, final, choice.sign) / all_rows
    return CardWeights(weights, intercept, l2, losses, left_out, held_out)


class _Start(NamedTuple):
    """Columns to fit, and the log of the odds of all rows."""

    columns: list[int]
    prior: float


def _folds_of(cells: ScoreRows, n_folds: int) -> list[_Fold]:
    """Deal the rows into folds; a single fold has the woe of its own rows."""
    dealt = cells.rows[:, None]
    if n_folds > 1:
        rng = np.random.default_rng(SEED)
        if int(cells.rows.sum()) <= MANY_ROWS:
            dealt = deal_evenly(cells.is_event.astype(np.int32), cells.rows, [1] * n_folds, rng)
        else:
            dealt = rng.multinomial(cells.rows, np.full(n_folds, 1.0 / n_folds))
    tables = [_woe_by_fold(cells, k, dealt) for k in range(len(cells.parts))]
    folds = []
    for f in range(n_folds):
        kept = np.flatnonzero(dealt[:, f])
        woe = np.empty((len(kept), len(tables) + 1))
        for k, table in enumerate(tables):
            woe[:, k] = table[f][cells.parts[k][kept]]
        woe[:, -1] = 1.0
        folds.append(_Fold(woe, cells.is_event[kept].astype(np.float64), dealt[kept, f].astype(np.float64)))
    return folds


def _woe_by_fold(cells: ScoreRows, k: int, dealt: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Woe of the parts of column k without the rows of each fold; of all rows if there is one fold.

    Last is the woe of no part, 0.
    """
    n, n_folds = cells.n_parts[k], dealt.shape[1]
    place = 2 * cells.parts[k] + cells.is_event
    counts = np.array([np.bincount(place, dealt[:, f], 2 * n + 2).reshape(n + 1, 2)[:n] for f in range(n_folds)])
    total = counts.sum(axis=0)
    kept = [total - own if n_folds > 1 else total for own in counts]
    return [np.append(woe_of_counts(one[:, 1], one[:, 0]), 0.0) for one in kept]


def _penalty(n: int, l2: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Second derivatives of the penalty by the n weights and the intercept, and its slopes where all are 0."""
    matrix, slopes = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    if n:
        matrix[:n, :n] = l2 * (np.eye(n) - 1.0 / n) + 1.0 / n**2
        slopes[:n] = -1.0 / n
    return matrix, slopes


def _loss(fold: _Fold, odds: NDArray[np.float64]) -> float:
    """Minus the log of the probability of the classes of the rows, given the log of their odds."""
    return float(fold.rows @ (np.logaddexp(0.0, odds) - fold.is_event * odds))


def _fitted(folds: Sequence[_Fold], used: Sequence[int], start: _Start | _Fit, l2: float, sign: bool) -> _Fit:
    """Weights of the lowest cost on the folds `used`; with `sign`, columns of negative weights are taken out."""
    columns = list(start.columns)
    found = start.found if isinstance(start, _Fit) else np.append(np.full(len(columns), 0.5), start.prior)
    while True:
        fit = _newton(folds, used, columns, found, l2)
        weights = fit.found[:-1]
        if not sign or not len(weights) or weights.min() >= 0.0:
            return fit
        worst = int(weights.argmin())
        columns = [k for k in columns if k != columns[worst]]
        found = np.delete(fit.found, worst)


def _newton(
    folds: Sequence[_Fold], used: Sequence[int], columns: list[int], start: NDArray[np.float64], l2: float
) -> _Fit:
    matrix, slopes = _penalty(len(columns), l2)
    at = [*columns, -1]
    own = [folds[f]._replace(woe=folds[f].woe[:, at]) for f in used]

    def cost(found: NDArray[np.float64]) -> float:
        return sum(_loss(fold, fold.woe @ found) for fold in own) + float(0.5 * found @ matrix @ found + slopes @ found)

    found, now = start, cost(start)
    for _ in range(STEPS):
        gradient, curvature = matrix @ found + slopes, matrix.copy()
        for fold in own:
            p = _shares(fold.woe @ found)
            gradient += fold.woe.T @ (fold.rows * (p - fold.is_event))
            curvature += (fold.woe * (fold.rows * p * (1.0 - p))[:, None]).T @ fold.woe
        spread = np.linalg.pinv(curvature, hermitian=True)
        step = spread @ gradient
        if 0.5 * float(gradient @ step) < ENOUGH:
            break
        for _ in range(HALVINGS):
            then = cost(found - step)
            if then <= now:
                break
            step = step / 2.0
        if not then < now:
            break
        found, now = found - step, then
    return _Fit(columns, found, np.asarray(spread, dtype=np.float64))


def _held_out(folds: Sequence[_Fold], l2: float, start: _Fit, sign: bool) -> float:
    """Loss of the rows of each fold under weights fitted on the others; `start` is where fits begin."""
    total = 0.0
    for f, fold in enumerate(folds):
        fit = _fitted(folds, [g for g in range(len(folds)) if g != f], start, l2, sign)
        total += _loss(fold, fold.woe[:, [*fit.columns, -1]] @ fit.found)
    return total


class _Path(NamedTuple):
    columns: list[int]
    reason: str  # why the others were taken out


def _path(folds: Sequence[_Fold], fit: _Fit, l2: float, choice: Choice) -> _Path:
    """Take columns out one by one, and choose where to stop."""
    n = len(fit.columns)
    most = n if choice.max_columns is None else min(n, choice.max_columns)
    by_limit = f"max_columns={choice.max_columns}"
    validates = choice.validate and len(folds) > 1
    if not validates and most == n:
        return _Path(fit.columns, "")
    order, _ = _removals(fit, None)
    stop = n - most  # number of columns to take out
    if validates:
        losses = np.zeros(n + 1)
        for f, fold in enumerate(folds):
            others = [g for g in range(len(folds)) if g != f]
            of_fold = _newton(folds, others, fit.columns, fit.found, l2)
            _, weights = _removals(of_fold, order)
            own = fold._replace(woe=fold.woe[:, [*fit.columns, -1]])
            losses += [_loss(own, own.woe @ one) for one in weights]
        # Ties: fewer columns.
        stop = max(range(stop, n + 1), key=lambda i: (-losses[i], i))
    gone = set(order[:stop])
    reason = by_limit if stop == n - most and stop else "held-out rows are predicted no better with it"
    return _Path([k for i, k in enumerate(fit.columns) if i not in gone], reason)


def _removals(fit: _Fit, order: list[int] | None) -> tuple[list[int], list[NDArray[np.float64]]]:
    """Places of columns in the order in which they are taken out, and the weights before and after each.

    Without `order`, the column whose removal costs least goes first, to the second order.
    """
    found, spread = fit.found.copy(), fit.spread.copy()
    left, weights = list(range(len(fit.columns))), [found.copy()]
    gone: list[int] = []
    while left:
        costs = [found[i] ** 2 / max(spread[i, i], 1e-300) for i in left]
        i = left[int(np.argmin(costs))] if order is None else order[len(gone)]
        column, own = spread[:, i].copy(), spread[i, i]
        if own > 0.0:
            found -= column * found[i] / own
            spread -= np.outer(column, column) / own
        found[i] = 0.0
        left.remove(i)
        gone.append(i)
        weights.append(found.copy())
    return gone, weights


def _intercept(fold: _Fold, weights: NDArray[np.float64], start: float) -> float:
    """Intercept under which the mean probability of the event is its share of the rows: Newton, kept in a bracket."""
    odds = fold.woe[:, :-1] @ weights
    events, found = float(fold.rows @ fold.is_event), start
    low, high = start - BRACKET, start + BRACKET
    for _ in range(STEPS):
        p = _shares(odds + found)
        excess, slope = float(fold.rows @ p) - events, float(fold.rows @ (p * (1.0 - p)))
        low, high = (low, found) if excess > 0.0 else (found, high)
        then = found - excess / slope if slope > 0.0 else low
        then = then if low < then < high else (low + high) / 2.0
        if abs(then - found) <= NEAR * max(1.0, abs(found)):
            break
        found = then
    return found


def _shares(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -MOST, MOST))))
