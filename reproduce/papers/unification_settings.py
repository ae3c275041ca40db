"""Codings of a data set by many settings of a discretizer, and the errors of a tree and of naive Bayes on each of them.

Used by `unification.py`. Many settings lead to the same parts of a column: each distinct coding of a column is kept
once, a setting is a choice of one coding for each column, and equal settings are tried once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

import gridmodl
from reproduce.run import SEED

CLASSIFIERS = ("tree", "naive Bayes")
Pair = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows to fit, and rows to classify


class Grid(NamedTuple):
    """The alphas and betas to try."""

    alphas: NDArray[np.float64]
    betas: NDArray[np.float64]


class Coded(NamedTuple):
    """The columns of all rows, as one or more settings code them."""

    codings: list[list[NDArray[np.int64]]]  # of each column: the part numbers of all rows, once for each coding
    settings: NDArray[np.int64]  # of each setting: its coding of each column
    numbers: NDArray[np.float64]  # columns that stay numbers

    def only(self, setting: int) -> Coded:
        return self._replace(settings=self.settings[[setting]])


class Columns:
    """A data set with its numerical columns apart; the values of other columns are their parts, a missing one too."""

    def __init__(self, X: pd.DataFrame, y: pd.Series) -> None:
        is_number = np.array([pd.api.types.is_numeric_dtype(column) for _, column in X.items()])
        self.numbers = {str(name): column.to_numpy(float) for name, column in X.loc[:, is_number].items()}
        others = X.loc[:, ~is_number]
        self.others = [pd.factorize(column, use_na_sentinel=False)[0] for _, column in others.items()]
        self.y: NDArray[np.int64] = pd.factorize(y)[0]

    def rows_of(self, fit: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        return {name: values[fit] for name, values in self.numbers.items()}

    def continuous(self) -> Coded:
        """Numbers as they are, missing ones too."""
        numbers = np.column_stack(list(self.numbers.values()))
        return Coded([[codes] for codes in self.others], np.zeros((1, len(self.others)), dtype=np.int64), numbers)

    def parts(self, method: Callable[..., Any], fit: NDArray[np.int64]) -> Coded:
        """The parts that a method of `gridmodl.baselines` makes of the rows `fit`."""
        models = gridmodl.baselines.each(method, self.rows_of(fit), self.y[fit])
        codings = [[models[name].partitions[name].part_of(values)] for name, values in self.numbers.items()]
        codings += [[codes] for codes in self.others]
        return Coded(codings, np.zeros((1, len(codings)), dtype=np.int64), np.empty((len(self.y), 0)))

    def chosen(self, fit: NDArray[np.int64]) -> tuple[Coded, list[float]]:
        """The parts of the rows `fit`, with alpha and beta chosen for each column by these rows; and the alphas."""
        codings, alphas = [], []
        for name, values in self.numbers.items():
            choice = gridmodl.choose_penalty({name: values[fit]}, self.y[fit])
            partition = choice.model.partitions[name]
            codes = partition.part_of(values)
            codings.append([np.where(codes < 0, partition.n_parts, codes)])  # missing, and never so in the rows `fit`
            alphas.append(float(choice.options["alpha"]))
        codings += [[codes] for codes in self.others]
        coded = Coded(codings, np.zeros((1, len(codings)), dtype=np.int64), np.empty((len(self.y), 0)))
        return coded, alphas


class Unification:
    """The best parts by the generalized entropy, of every alpha and beta of a grid.

    For one beta the penalty is linear in the number of parts: it never rises with alpha. So where two alphas lead to
    the same parts, all alphas between them do, and are not searched.
    """

    def __init__(self, columns: Columns, fit: NDArray[np.int64], grid: Grid) -> None:
        self.columns, self.data, self.target = columns, columns.rows_of(fit), columns.y[fit]
        self.grid, (n_alphas, n_betas) = grid, map(len, grid)
        self.names = list(columns.numbers)
        self.codings: list[dict[bytes, NDArray[np.int64]]] = [{} for _ in self.names]
        self.chosen = np.zeros((n_alphas, n_betas, len(self.names)), dtype=np.int64)
        for b in range(n_betas):
            for a in {0, n_alphas - 1}:
                self._search(a, b, range(len(self.names)))
            self._fill(0, n_alphas - 1, b)

    def _fill(self, low: int, high: int, b: int) -> None:
        """All alphas between two that are known."""
        if high - low < 2:
            return
        middle = (low + high) // 2
        self.chosen[middle, b] = self.chosen[low, b]
        self._search(middle, b, np.flatnonzero(self.chosen[low, b] != self.chosen[high, b]))
        self._fill(low, middle, b)
        self._fill(middle, high, b)

    def _search(self, a: int, b: int, some: Any) -> None:
        if len(some) == 0:
            return
        criterion = gridmodl.get_criterion("entropy", alpha=self.grid.alphas[a], beta=self.grid.betas[b])
        data = {self.names[k]: self.data[self.names[k]] for k in some}
        models = gridmodl.optimize_each(data, self.target, criterion=criterion, n_jobs=1)
        for k in some:
            name = self.names[k]
            codes = models[name].partitions[name].part_of(self.columns.numbers[name])
            known = self.codings[k]
            known.setdefault(codes.tobytes(), codes)
            self.chosen[a, b, k] = list(known).index(codes.tobytes())

    def coded(self) -> Coded:
        """The settings, one alpha after the other."""
        codings = [list(known.values()) for known in self.codings] + [[codes] for codes in self.columns.others]
        settings = np.zeros((self.chosen[:, :, 0].size, len(codings)), dtype=np.int64)
        settings[:, : len(self.names)] = self.chosen.reshape(len(settings), -1)
        return Coded(codings, settings, np.empty((len(self.columns.y), 0)))


def errors(coded: Coded, y: NDArray[np.int64], pairs: list[Pair]) -> NDArray[np.float64]:
    """The share of wrong classes, by pair, setting and classifier."""
    settings, setting_of = np.unique(coded.settings, axis=0, return_inverse=True)
    distinct = coded._replace(settings=settings)
    found = np.stack([_tree_errors(distinct, y, pairs), _bayes_errors(distinct, y, pairs)], axis=2)
    return np.asarray(found[:, setting_of.ravel()])


def _tree_errors(coded: Coded, y: NDArray[np.int64], pairs: list[Pair]) -> NDArray[np.float64]:
    found = np.empty((len(pairs), len(coded.settings)))
    for k, setting in enumerate(coded.settings):
        codes = [codings[i] for codings, i in zip(coded.codings, setting, strict=True)]
        X = np.column_stack([*codes, coded.numbers]).astype(np.float32)
        for i, (fit, new) in enumerate(pairs):
            filled = np.where(np.isnan(X), np.nanmedian(X[fit], axis=0), X) if coded.numbers.shape[1] else X
            tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=SEED)
            guessed = tree.fit(filled[fit], y[fit], check_input=False).predict(filled[new], check_input=False)
            found[i, k] = np.mean(guessed != y[new])
    return found


def _bayes_errors(coded: Coded, y: NDArray[np.int64], pairs: list[Pair]) -> NDArray[np.float64]:
    found = np.empty((len(pairs), len(coded.settings)))
    for i, (fit, new) in enumerate(pairs):
        start = np.log(np.bincount(y[fit]) / len(fit)) + sum(_normal_logs(x, y, fit, new) for x in coded.numbers.T)
        logs = [[_logs(codes, y, fit, new) for codes in codings] for codings in coded.codings]
        for k, setting in enumerate(coded.settings):
            total = start + sum(of_column[j] for of_column, j in zip(logs, setting, strict=True))
            found[i, k] = np.mean(np.argmax(total, axis=1) != y[new])
    return found


def _logs(codes: NDArray[np.int64], y: NDArray[np.int64], fit: NDArray[Any], new: NDArray[Any]) -> NDArray[np.float64]:
    """Log of the share of each new row's part in the rows of each class, one row added to each part."""
    n_parts, n_classes = int(codes.max()) + 1, int(y.max()) + 1
    counts = np.bincount(codes[fit] * n_classes + y[fit], minlength=n_parts * n_classes).reshape(n_parts, n_classes)
    logs: NDArray[np.float64] = np.log(counts + 1.0) - np.log(counts.sum(axis=0) + n_parts)
    return logs[codes[new]]


def _normal_logs(
    x: NDArray[np.float64], y: NDArray[np.int64], fit: NDArray[Any], new: NDArray[Any]
) -> NDArray[np.float64]:
    """Log of the normal density of each new row's number in each class, and 0 where it is missing.

    No deviation is below a sixth of the mean step between values, as in Weka: else a class where a column is constant
    would outweigh everything. A class without numbers has the distribution of all.
    """
    known = fit[~np.isnan(x[fit])]
    n_classes, values = int(y.max()) + 1, np.unique(x[known])
    rows = np.bincount(y[known], minlength=n_classes)
    mean = np.bincount(y[known], x[known], minlength=n_classes) / np.maximum(rows, 1)
    square = np.bincount(y[known], (x[known] - mean[y[known]]) ** 2, minlength=n_classes) / np.maximum(rows, 1)
    mean = np.where(rows > 0, mean, x[known].mean())
    deviation = np.where(rows > 0, np.sqrt(square), x[known].std())
    deviation = np.maximum(deviation, np.diff(values).mean() / 6 if len(values) > 1 else 1.0)
    logs = -np.log(deviation) - 0.5 * ((x[new, None] - mean) / deviation) ** 2
    return np.where(np.isnan(logs), 0.0, logs)
