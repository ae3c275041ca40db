"""Discretization with few labels: the figures of the paper on semi-supervised discretization, beside ours.

    .venv/bin/pip install --group docs --group test
    .venv/bin/python docs/reproduce/few_labels.py --data ../shared/data

A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", Knowledge and Information
Systems 24, 2010:

Figure 1      labelled rows that two intervals need, among ever more unlabelled ones
Figure 3      minus the log probability of a bound, over the place of the bound
Figure 4      what the two likelihoods differ by
Figures 5, 6  AUC of naive Bayes with 4 to 256 labelled rows, 15 data sets, for intervals of the labelled rows alone
              (M_super) and with bounds at the median of the unlabelled rows between (M*_super); train, test, and test
              with all labels

The paper repeats two stratified folds 50 times; here it is REPEATS times, and the table says with which spread. AUC of
more than two classes is the mean over the classes against the others, weighted by their shares. The paper gives its
results as curves only, so there are no numbers to put beside ours: what it says of them is checked.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import NDArray
from reproduction import SEED, Run, load, publish, read_run, say, table_of
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import gridmodl

DATA = (
    "adult", "australian", "breast", "crx", "german", "heart", "hepatitis", "hypothyroid", "ionosphere", "iris", "pima",
    "sick_euthyroid", "vehicle", "waveform", "wine",
)  # fmt: skip
LABELLED = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
REPEATS = 5  # times two folds
NONE = "?"  # marks rows without a label
METHODS: dict[str, dict[str, Any]] = {"M_super": {}, "M*_super": {"unlabelled": NONE, "placement": "median"}}


def least_labelled(n: int, is_semi: bool) -> int:
    """The least even number of labelled rows, half of them at 0 and half at 1, with which n rows have two intervals."""
    for labelled in range(2, n + 1, 2):
        half, rest = labelled // 2, (n - labelled) // 2
        y = ["a"] * half + [NONE] * rest + ["b"] * half + [NONE] * rest
        x = [0.0] * (half + rest) + [1.0] * (half + rest)
        keep = slice(None) if is_semi else [label != NONE for label in y]
        given = pd.DataFrame({"x": x, "y": y}).loc[keep]
        options = {"unlabelled": NONE} if is_semi else {}
        if gridmodl.optimize(given[["x"]], given["y"].tolist(), **options).partitions["x"].n_parts == 2:
            return labelled
    return n + 1


def figure_1(run: Run) -> str:
    sizes = (10, 20) if run.quick else (10, 20, 50, 100, 1000, 10_000)
    lines = [[str(n), str(least_labelled(n, False)), str(least_labelled(n, True))] for n in sizes]
    text = table_of(["rows", "supervised (paper: 6)", "semi-supervised (paper: grows as log N)"], lines)
    return f"## Figure 1: labelled rows that two intervals need\n\n{text}"


def figure_3() -> str:
    """Three areas: 40 rows of one class, 20 without, 40 of the other."""
    x, y = np.arange(100.0), ["a"] * 40 + [NONE] * 20 + ["b"] * 40
    found = gridmodl.bound_posterior(x, y, unlabelled=NONE)
    costs = found.minus_log
    inside = costs[39:60]
    return (
        "## Figure 3: minus the log probability of a bound\n\n"
        f"Flat among the unlabelled rows (from {inside.min():.6f} to {inside.max():.6f}), higher by "
        f"{costs[0] - inside[0]:.2f} at the first row and {costs[-1] - inside[-1]:.2f} at the last: as in the paper, "
        "which found it by experiment; the proof is in [`docs/bound_posterior.md`](../bound_posterior.md).\n"
    )


def figure_4() -> str:
    """What can be said of it: with pure labels, equation 24 is 0 where all rows of a part are taken for its class.

    log N_i! - log N_i^u! - sum_j log N_ij! + sum_j log N_ij^u! with N_ij = N_i and N_ij^u = N_i^u for that class, and
    the supervised term log N_i^l! - sum_j log N_ij^l! is 0 too.
    """
    return (
        "## Figure 4: difference of the two likelihoods\n\n"
        "On the data of the figure, two pure parts, equation 24 with the best numbers of rows of each class is 0, and "
        "so is the supervised likelihood: they do not differ, for any N and N_l. The figure shows about 5 nats for "
        "N = 5,000 and N_l = 2,500, which needs other numbers of rows that the paper does not give: it cannot be drawn "
        "again.\n"
    )


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


def aucs(X: pd.DataFrame, y: NDArray[Any], run: Run) -> NDArray[np.float64]:
    """Fold, number of labels (the last: all), method, then train and test."""
    counts = (*(LABELLED[1::4] if run.quick else LABELLED), None)
    found = []
    for repeat in range(1 if run.quick else REPEATS):
        for fit, new in StratifiedKFold(2, shuffle=True, random_state=SEED + repeat).split(X, y):
            order = np.random.default_rng([SEED, repeat]).permutation(fit)
            found.append([])
            for n in counts:
                labelled = order if n is None else order[: min(n, len(order))]
                marks = np.full(len(y), NONE, dtype=object)
                marks[labelled] = y[labelled]
                found[-1].append([])
                for name, options in METHODS.items():
                    rows = labelled if name == "M_super" or n is None else order
                    bayes, classes = naive_bayes(X.iloc[rows], marks[rows], options if n is not None else {})
                    both = [auc(y[part], bayes.probabilities(X.iloc[part]), classes) for part in (fit, new)]
                    found[-1][-1].append(both)
    return np.array(found)


def figures_5_and_6(run: Run) -> str:
    lines, pairs = [], []
    for name in ("iris", "wine") if run.quick else DATA:
        X, y = load(name, run)
        found = aucs(X, y.to_numpy(dtype=object), run)
        mean, spread = found.mean(axis=0), found.std(axis=0)
        test = found[:, :-1, :, 1]
        pairs.append((name, *scipy.stats.ttest_rel(test[:, :, 0].ravel(), test[:, :, 1].ravel())))
        shown = [f"{mean[k, 0, 1]:.3f} ± {spread[k, 0, 1]:.3f}" for k in range(len(mean))]
        largest = np.abs(mean[:-1, 1, 1] - mean[:-1, 0, 1]).max()
        gap = np.abs(mean[-2, 0, 0] - mean[-2, 0, 1])
        lines.append([name, *shown, f"{100 * largest:.2f} %", f"{gap:.3f}"])
        say(run, *lines[-1])
    counts = [str(n) for n in (LABELLED[1::4] if run.quick else LABELLED)]
    head = ["test AUC of M_super", *counts, "all", "largest difference of M*_super", "train - test at the last"]
    significant = [name for name, _, p in pairs if not math.isnan(p) and p < 0.05]
    return (
        f"## Figures 5 and 6: naive Bayes with few labels\n\n{table_of(head, lines)}\nPaired t-tests of M_super "
        f"against M*_super over all folds and numbers of labels, 5 %: significant on {len(significant)} of "
        f"{len(pairs)} ({', '.join(significant) or 'none'}). The paper: no significant effect, differences "
        "of 0.01 to 0.1 %.\n"
    )


def main() -> None:
    run = read_run(__doc__)
    warnings.filterwarnings("ignore", message="The least populated class")
    text = [figure_1(run), figure_3(), figure_4(), figures_5_and_6(run)]
    publish("few_labels", "Discretization with few labels", "\n".join(text), run)


if __name__ == "__main__":
    main()
