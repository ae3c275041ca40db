"""Deal rows into folds at random: the rows of a table with classes, or the rows of the values of one column.

With classes, each group of rows has its share of each class. Rows are numbered in the order of their class, then of
their values, and a row of weight w is w rows. So neither the order of the rows, nor whether rows are repeated or
weighted, changes what a group holds. Along the values, groups are independent of the classes: rows dealt evenly there
would tell what is in the other groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Target
from gridmodl.data.columns import Categories, Column

MAX_SHUFFLED = 2**26  # rows; above this the rows of each value are divided on their own, which takes no memory per row
MANY_ROWS = 2**24  # with classes; from here on, rows are drawn one by one, and shares of classes are only nearly equal


def deal_rows(columns: Sequence[Column], target: Target, sizes: Sequence[int], seed: int) -> NDArray[np.int64]:
    """Number of times that each row is in each group, by row and group; groups are in proportion to `sizes`."""
    keys: list[Any] = [key for column in columns for key in _keys(column)]
    order = np.lexsort([*keys, target.codes])
    codes, weights = target.codes[order], None if target.weights is None else target.weights[order]
    rng = np.random.default_rng(seed)
    dealt = np.empty((len(order), len(sizes)), dtype=np.int64)
    if target.n_rows <= MANY_ROWS:
        dealt[order] = deal_evenly(codes, weights, sizes, rng)
    else:
        dealt[order] = _one_by_one(columns, codes, weights, order, sizes, rng)
    return dealt


def _keys(column: Column) -> list[NDArray[Any]]:
    """Arrays by which to sort the rows of a column; missing values are equal."""
    if isinstance(column, Categories):
        return [column.codes]
    if column.missing is None:
        return [column.values]
    return [np.where(column.missing, column.values.dtype.type(0), column.values), column.missing]


def deal_evenly(
    codes: NDArray[np.int32], weights: NDArray[np.int64] | None, sizes: Sequence[int], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Shuffle the rows of each class and deal them in turn; rows are sorted by class."""
    rows = np.arange(len(codes)) if weights is None else np.repeat(np.arange(len(codes)), weights)
    keys: list[Any] = [rng.random(len(rows)), codes[rows]]
    shuffled = np.lexsort(keys)
    first = np.searchsorted(codes[rows], codes[rows])  # place of the first row of the class of each row
    places = np.arange(len(rows)) - first + rng.integers(sum(sizes), size=int(codes.max()) + 1)[codes[rows]]
    group_of_place = np.repeat(np.arange(len(sizes)), sizes)
    groups = np.empty(len(rows), dtype=np.int64)
    groups[shuffled] = group_of_place[places % sum(sizes)]
    flat = np.bincount(rows * len(sizes) + groups, minlength=len(codes) * len(sizes))
    return flat.reshape(len(codes), len(sizes))


def _one_by_one(
    columns: Sequence[Column], codes: NDArray[np.int32], weights: NDArray[np.int64] | None, order: NDArray[np.int64],
    sizes: Sequence[int], rng: np.random.Generator,
) -> NDArray[np.int64]:  # fmt: skip
    """Draw the group of each row; equal rows, which are neighbours, are drawn as one row of their weights."""
    keys = [codes, *(key[order] for column in columns for key in _keys(column))]
    is_new = np.append(True, np.any([key[1:] != key[:-1] for key in keys], axis=0))
    numbers, rows = np.cumsum(is_new) - 1, np.ones(len(codes), dtype=np.int64) if weights is None else weights
    sums = np.add.reduceat(rows, np.flatnonzero(is_new))
    drawn = rng.multinomial(sums, np.array(sizes) / sum(sizes))
    # Equal rows share out what was drawn for them: groups one after the other, rows one after the other.
    ends, starts = np.cumsum(rows), np.cumsum(rows) - rows
    first = (np.cumsum(sums) - sums)[numbers]
    bounds = np.cumsum(drawn, axis=1)[numbers] + first[:, None]
    upto = np.clip(bounds, starts[:, None], ends[:, None]) - starts[:, None]
    return np.diff(upto, axis=1, prepend=0)


def folds_of(rows: NDArray[np.int64], n_folds: int, random_state: int | None) -> Iterator[NDArray[np.int64]]:
    """Held-out rows of each value, fold by fold; the order of the rows in the data does not matter.

    A row of weight w counts as w rows, each put into a random fold. If equal rows were dealt out evenly, every fold
    would have the same peaks, and no fold could show that a peak is due to chance.
    """
    rng, n_rows = np.random.default_rng(random_state), int(rows.sum())
    if n_rows > MAX_SHUFFLED:
        yield from _divided(rows, n_folds, rng)
        return
    fold = np.arange(n_rows, dtype=np.int32) % n_folds
    fold = fold.astype(np.min_scalar_type(n_folds))
    rng.shuffle(fold)
    starts = np.cumsum(rows) - rows if len(rows) < n_rows else None
    for i in range(n_folds):
        is_held = fold == i
        yield is_held.astype(np.int64) if starts is None else np.add.reduceat(is_held, starts, dtype=np.int64)


def _divided(rows: NDArray[np.int64], n_folds: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    left = rows.copy()
    for i in range(n_folds):
        held = rng.binomial(left, 1.0 / (n_folds - i))
        left -= held
        yield held
