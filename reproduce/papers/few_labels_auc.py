"""AUC of naive Bayes with few labels, with bounds from labelled rows alone and from all rows: Figures 5, 6."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import NDArray
from reproduction import SEED, Run
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import gridmodl

LABELLED = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
NONE = "?"  # marks rows without a label
METHODS: dict[str, dict[str, Any]] = {"M_super": {}, "M*_super": {"unlabelled": NONE, "placement": "median"}}


class Shares(NamedTuple):
    """A naive Bayes classifier of given partitions."""

    partitions: dict[str, Any]
    logs: dict[str, NDArray[np.float64]]
    prior: NDArray[np.float64]

    def probabilities(self, X: pd.DataFrame) -> NDArray[np.float64]:
        found = np.tile(self.prior, (len(X), 1))
        for name, logs in self.logs.items():
            found += logs[self.partitions[name].part_of(X[name])]
        found = np.exp(found - found.max(axis=1, keepdims=True))
        return found / found.sum(axis=1, keepdims=True)


def naive_bayes(X: pd.DataFrame, y: NDArray[np.object_], options: dict[str, Any]) -> tuple[Shares, NDArray[Any]]:
    """With the m-estimate; columns of one part are out."""
    models = gridmodl.optimize_each(X, y, target_kind="classes", n_jobs=2, on_error="ignore", **options)
    first = next(iter(models.values()))
    rows = first.class_rows
    n, w = rows.sum(), len(rows)
    partitions = {name: model.partitions[name] for name, model in models.items()}
    logs = {
        name: np.log((one.counts + 1.0 / n) / (rows + w / n)) for name, one in partitions.items() if one.n_parts > 1
    }
    return Shares(partitions, logs, np.log(rows / n)), first.classes


def auc(y: NDArray[Any], probabilities: NDArray[np.float64], classes: NDArray[Any]) -> float:
    """Weighted by class; a class that was not labelled has probability 0."""
    total = 0.0
    for name, share in zip(*np.unique(y, return_counts=True), strict=True):
        column = np.flatnonzero(classes == name)
        given = probabilities[:, column[0]] if len(column) else np.zeros(len(y))
        total += share / len(y) * roc_auc_score(y == name, given)
    return float(total)


def label_counts(run: Run) -> tuple[int, ...]:
    return LABELLED[1::4] if run.quick else LABELLED


def auc_of_fold(X: pd.DataFrame, y: NDArray[Any], fit: NDArray[Any], new: NDArray[Any], run: Run, seed: int) -> Any:
    """Number of labels (the last: all), method, then train and test."""
    order = np.random.default_rng([SEED, seed]).permutation(fit)

    def both(rows: NDArray[Any], marks: NDArray[Any], options: dict[str, Any]) -> list[float]:
        bayes, classes = naive_bayes(X.iloc[rows], marks[rows], options)
        return [auc(y[part], bayes.probabilities(X.iloc[part]), classes) for part in (fit, new)]

    found = []
    for n in label_counts(run):
        labelled = order[:n]
        marks = np.full(len(y), NONE, dtype=object)
        marks[labelled] = y[labelled]
        rows = {"M_super": labelled, "M*_super": order}
        found.append([both(rows[name], marks, options) for name, options in METHODS.items()])
    with_all = both(order, y, {})  # no row is left without a label: the methods are one
    return [*found, [with_all] * len(METHODS)]


def aucs(X: pd.DataFrame, y: NDArray[Any], run: Run) -> NDArray[np.float64]:
    """Fold first, then as each of them."""
    found = []
    for repeat in range(1 if run.quick else run.options.repeats):
        for fit, new in StratifiedKFold(2, shuffle=True, random_state=SEED + repeat).split(X, y):
            found.append(auc_of_fold(X, y, fit, new, run, repeat))
    return np.array(found)


def tests(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of one data set, by number of labels: the p-value of M_super against M*_super, 1 where they never differ."""
    test = found[:, :-1, :, 1]
    differs = ~np.isclose(test[:, :, 0], test[:, :, 1], rtol=0.0, atol=1e-12).all(axis=0)
    values = np.ones(test.shape[1])
    values[differs] = scipy.stats.ttest_rel(test[:, differs, 0], test[:, differs, 1]).pvalue
    return values
