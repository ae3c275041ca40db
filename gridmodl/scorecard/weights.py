"""Weights of the columns of a scorecard: a logistic regression on the weights of evidence of their parts.

    log odds of the event  =  intercept + sum over columns k of  w_k * woe of the part of column k

    cost  =  - sum over rows of log P(class of the row)  +  l2 / 2 * sum_k (w_k - w)^2  +  1 / 2 * (w - 1)^2

where w is the mean of the weights. With a large l2 all columns have the same weight. The last term keeps weights finite
if columns tell the classes apart.

Woe is counted on the rows that weights are fitted on. Rows are dealt into FOLDS folds: held-out loss is that of the
rows of each fold under woe and weights of the others. It decides on l2 and on the columns:

    sign         a column whose weight is negative speaks against itself: the most negative is taken out, and again
    validation   columns are taken out one by one, each time the one that is missed least; the set with the lowest
                 held-out loss is used (to the second order around the weights of all columns, which costs no new fit)
    shrinkage    weights are multiplied by the slope, at most 1, of a logistic regression of the held-out rows on their
                 log odds: woe that is counted on the rows of the fit says too much

Rows with the same parts and class are one row with a count: so a row of weight w is w rows, and their order is nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
NEGATIVE = "its weight would be negative beside the others"
STEPS, HALVINGS, ENOUGH = 50, 30, 1e-6  # of Newton's method; it ends with a step that gains less nats than ENOUGH
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


class _Rows(NamedTuple):
    """Rows with the woe of their parts; last a column of ones."""

    woe: NDArray[np.float64]
    is_event: NDArray[np.float64]
    rows: NDArray[np.float64]


class _Split(NamedTuple):
    """Rows of all folds but one, and the rows of that fold with the woe of the others."""

    others: _Rows
    own: _Rows


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
    everything = _rows_of(cells, cells.rows, _woe_tables(cells, cells.rows))
    dealt = _dealt(cells, min(FOLDS, event_rows, all_rows - event_rows))
    begin = _Start(list(range(n_columns)), prior)
    l2, losses = (FEW_L2 if choice.l2 is None else choice.l2), {}
    start = _fitted(everything, begin, l2, choice.sign)
    if choice.l2 is None and dealt is not None:
        found = _held_out(_splits(cells, dealt), L2, start, choice.sign) / all_rows
        losses = dict(zip(L2, found.tolist(), strict=True))
        l2 = min(losses, key=losses.__getitem__)
        start = _fitted(everything, begin, l2, choice.sign)
    left_out = dict.fromkeys((k for k in range(n_columns) if k not in start.columns), NEGATIVE)
    path = _path(None if dealt is None else _splits(cells, dealt), start, l2, choice)
    left_out |= dict.fromkeys((k for k in start.columns if k not in path.columns), path.reason)
    final = start
    if len(path.columns) < len(start.columns):
        final = _fitted(everything, _Start(path.columns, prior), l2, choice.sign)
    left_out |= dict.fromkeys((k for k in path.columns if k not in final.columns), NEGATIVE)
    weights, held_out = np.zeros(n_columns), None
    weights[final.columns] = final.found[:-1]
    if dealt is not None:
        slope, held_out = _shrinkage(_splits(cells, dealt), l2, final, choice.sign)
        weights, held_out = slope * weights, held_out / all_rows
    intercept = _intercept(everything, weights, float(final.found[-1]))
    return CardWeights(weights, intercept, l2, losses, left_out, held_out)


class _Start(NamedTuple):
    """Columns to fit, and the log of the odds of all rows."""

    columns: list[int]
    prior: float


def _dealt(cells: ScoreRows, n_folds: int) -> NDArray[np.int64] | None:
    """Rows of each cell in each fold; None if there are too few rows for two folds."""
    if n_folds < 2:
        return None
    rng = np.random.default_rng(SEED)
    if int(cells.rows.sum()) <= MANY_ROWS:
        return deal_evenly(cells.is_event.astype(np.int32), cells.rows, [1] * n_folds, rng)
    return np.asarray(rng.multinomial(cells.rows, np.full(n_folds, 1.0 / n_folds)))


def _splits(cells: ScoreRows, dealt: NDArray[np.int64]) -> Iterator[_Split]:
    """Each fold beside all others, one at a time, as each has a woe of its own for every row and column."""
    for own in dealt.T:
        others = cells.rows - own
        tables = _woe_tables(cells, others)
        yield _Split(_rows_of(cells, others, tables), _rows_of(cells, own, tables))


def _rows_of(cells: ScoreRows, counts: NDArray[np.int64], tables: Sequence[NDArray[np.float64]]) -> _Rows:
    """Cells with rows in `counts`, with the woe of `tables`."""
    kept = np.flatnonzero(counts)
    woe = np.empty((len(kept), len(tables) + 1), order="F")
    for k, table in enumerate(tables):
        woe[:, k] = table[cells.parts[k][kept]]
    woe[:, -1] = 1.0
    return _Rows(woe, cells.is_event[kept].astype(np.float64), counts[kept].astype(np.float64))


def _woe_tables(cells: ScoreRows, counts: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Woe of the parts of each column, by the rows in `counts`; last is the woe of no part, 0."""
    found = []
    for part, n in zip(cells.parts, cells.n_parts, strict=True):
        by_class = np.bincount(2 * part + cells.is_event, counts, 2 * n + 2).reshape(n + 1, 2)[:n]
        found.append(np.append(woe_of_counts(by_class[:, 1], by_class[:, 0]), 0.0))
    return found


def _penalty(n: int, l2: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Second derivatives of the penalty by the n weights and the intercept, and its slopes where all are 0."""
    matrix, slopes = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    if n:
        matrix[:n, :n] = l2 * (np.eye(n) - 1.0 / n) + 1.0 / n**2
        slopes[:n] = -1.0 / n
    return matrix, slopes


def _loss(rows: _Rows, odds: NDArray[np.float64]) -> float:
    """Minus the log of the probability of the classes of the rows, given the log of their odds."""
    return float(rows.rows @ (np.maximum(odds, 0.0) - rows.is_event * odds + np.log1p(np.exp(-np.abs(odds)))))


def _fitted(rows: _Rows, start: _Start | _Fit, l2: float, sign: bool) -> _Fit:
    """Weights of the lowest cost on `rows`; with `sign`, columns of negative weights are taken out."""
    columns = list(start.columns)
    found = start.found if isinstance(start, _Fit) else np.append(np.full(len(columns), 0.5), start.prior)
    while True:
        fit = _newton(rows, columns, found, l2)
        weights = fit.found[:-1]
        if not sign or not len(weights) or weights.min() >= 0.0:
            return fit
        worst = int(weights.argmin())
        columns = [k for k in columns if k != columns[worst]]
        found = np.delete(fit.found, worst)


def _newton(rows: _Rows, columns: list[int], start: NDArray[np.float64], l2: float) -> _Fit:
    matrix, slopes = _penalty(len(columns), l2)
    woe = rows.woe[:, [*columns, -1]]

    def cost(found: NDArray[np.float64], odds: NDArray[np.float64]) -> float:
        return _loss(rows, odds) + float(0.5 * found @ matrix @ found + slopes @ found)

    found, odds = start, woe @ start
    now = cost(found, odds)
    for _ in range(STEPS):
        p = _shares(odds)
        gradient = matrix @ found + slopes + woe.T @ (rows.rows * (p - rows.is_event))
        curvature = matrix + (woe * (rows.rows * p * (1.0 - p))[:, None]).T @ woe
        spread = np.linalg.pinv(curvature, hermitian=True)
        step = spread @ gradient
        if 0.5 * float(gradient @ step) < ENOUGH:
            found = found - step
            break
        for _ in range(HALVINGS):
            odds_then = woe @ (found - step)
            then = cost(found - step, odds_then)
            if then <= now:
                break
            step = step / 2.0
        if not then < now:
            break
        found, odds, now = found - step, odds_then, then
    return _Fit(columns, found, np.asarray(spread, dtype=np.float64))


def _held_out(splits: Iterator[_Split], l2s: Sequence[float], start: _Fit, sign: bool) -> NDArray[np.float64]:
    """Loss of the rows of each fold under weights fitted on the others, for each of `l2s`; fits begin at `start`."""
    total = np.zeros(len(l2s))
    for split in splits:
        fit = start
        for i, l2 in enumerate(l2s):
            fit = _fitted(split.others, fit if fit.columns == start.columns else start, l2, sign)
            total[i] += _loss(split.own, split.own.woe[:, [*fit.columns, -1]] @ fit.found)
    return total


def _shrinkage(splits: Iterator[_Split], l2: float, start: _Fit, sign: bool) -> tuple[float, float]:
    """Slope of the held-out rows on their log odds, at most 1, and their loss with it."""
    pieces = []
    for split in splits:
        fit = _fitted(split.others, start, l2, sign)
        odds = split.own.woe[:, [*fit.columns, -1]] @ fit.found
        pieces.append(split.own._replace(woe=np.column_stack([odds, np.ones(len(odds))])))
    rows = _Rows(*(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
    found = _newton(rows, [0], np.array([1.0, 0.0]), 0.0).found
    if not 0.0 <= found[0] <= 1.0:
        found = np.array([min(max(found[0], 0.0), 1.0), 0.0])
    return float(found[0]), _loss(rows, rows.woe @ found)


class _Path(NamedTuple):
    columns: list[int]
    reason: str  # why the others were taken out


def _path(splits: Iterator[_Split] | None, fit: _Fit, l2: float, choice: Choice) -> _Path:
    """Take columns out one by one, and choose where to stop."""
    n = len(fit.columns)
    most = n if choice.max_columns is None else min(n, choice.max_columns)
    by_limit = f"max_columns={choice.max_columns}"
    held_out = splits if choice.validate else None
    if held_out is None and most == n:
        return _Path(fit.columns, "")
    order, _ = _removals(fit, None)
    stop = n - most  # number of columns to take out
    if held_out is not None:
        losses = np.zeros(n + 1)
        for split in held_out:
            of_fold = _newton(split.others, fit.columns, fit.found, l2)
            _, weights = _removals(of_fold, order)
            own = split.own.woe[:, [*fit.columns, -1]]
            losses += [_loss(split.own, own @ one) for one in weights]
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


def _intercept(rows: _Rows, weights: NDArray[np.float64], start: float) -> float:
    """Intercept under which the mean probability of the event is its share of the rows: Newton, kept in a bracket."""
    odds = rows.woe[:, :-1] @ weights
    events, found = float(rows.rows @ rows.is_event), start
    low, high = start - BRACKET, start + BRACKET
    for _ in range(STEPS):
        p = _shares(odds + found)
        excess, slope = float(rows.rows @ p) - events, float(rows.rows @ (p * (1.0 - p)))
        low, high = (low, found) if excess > 0.0 else (found, high)
        then = found - excess / slope if slope > 0.0 else low
        then = then if low < then < high else (low + high) / 2.0
        if abs(then - found) <= NEAR * max(1.0, abs(found)):
            break
        found = then
    return found


def _shares(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -MOST, MOST))))
