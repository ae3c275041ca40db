"""Log-loss of `GridNaiveBayes` and `GridLogistic` without and with grids of several columns.

    .venv/bin/python -m reproduce.measured.interactions --data ../shared/data
    .venv/bin/python -m reproduce.measured.interactions --data ../shared/data --only pima vehicle --splits 5
    .venv/bin/python -m reproduce.measured.interactions --data ../shared/data --rates 1 3 5 10 --no-logistic
    .venv/bin/python -m reproduce.measured.interactions            data that come with scikit-learn

70 % of the rows are for training, in random splits with the seeds 0, 1, ... (`--first-seed`); means over the splits. In
brackets: the mean number of grids in use. Rows of classes that the training rows do not have are left out. `--rates`
tries other prices of grids (`GRID_RATE`); `--no-filter` does not leave out grids of columns that do not interact.

`GRID_RATE`, the margin of `is_interaction`, the number of candidates and `GRID_SHARE` were chosen by the test rows of
the splits 0 to 2 of the tables in `CHOSEN_ON`, among a dozen or more variants. Losses there are those of a choice.
`FRESH` are tables that no choice has seen, and `--first-seed 100` has fresh splits of the others.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from gridmodl.estimators import GridLogistic, GridNaiveBayes
from gridmodl.evidence import grids
from reproduce.run import STAND_INS, Run, load

INTERACT = ("vehicle", "segmentation", "satimage", "waveform")
DO_NOT = ("pima", "ionosphere", "german", "australian")
CHOSEN_ON = (
    *INTERACT,
    *DO_NOT,
    "heart",
    "glass",
    "breast",
    "hepatitis",
    "yeast",
    "ecoli",
    "crx",
    "wine",
    "sonar",
    "bupa",
)
FRESH = ("phoneme", "autos", "cylinder_bands", "sick_euthyroid", "anneal", "flag", "iris")


class Scores:
    """Log-loss, grids in use and seconds of one classifier, split by split."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.grids: list[int] = []
        self.seconds = 0.0

    def add(self, classifier: GridNaiveBayes | GridLogistic, split: tuple[pd.DataFrame, ...]) -> None:
        X, y, X_test, y_test = split
        begun = time.perf_counter()
        classifier.fit(X, y)
        self.seconds += time.perf_counter() - begun
        known = y_test.isin(classifier.classes_).to_numpy()
        found = classifier.predict_proba(X_test[known])
        self.losses.append(log_loss(y_test[known], found, labels=classifier.classes_))
        self.grids.append(len(classifier.grids_))

    def __str__(self) -> str:
        n = len(self.losses)
        return f"{np.mean(self.losses):.4f} ({np.mean(self.grids):.1f}; {self.seconds / n:.1f} s)"


def split_of(X: pd.DataFrame, y: pd.Series, seed: int) -> tuple[pd.DataFrame, ...]:
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: int(0.7 * len(y))], order[int(0.7 * len(y)) :]
    return X.iloc[train], y.iloc[train], X.iloc[test], y.iloc[test]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--only", nargs="+", help="names of data sets")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rates", type=float, nargs="+", default=[grids.GRID_RATE])
    parser.add_argument("--no-filter", action="store_true")
    parser.add_argument("--no-logistic", action="store_true")
    given = parser.parse_args()
    if given.no_filter:
        grids.is_interaction = lambda grid: True
    run = Run(given.data, given.data is None, False, time.perf_counter(), given)
    kinds: dict[str, Callable[..., Any]] = {"bayes": lambda **more: GridNaiveBayes(weights="selective", **more)}
    if not given.no_logistic:
        kinds["logistic"] = GridLogistic
    warnings.simplefilter("ignore")
    for name in given.only or (STAND_INS if given.data is None else INTERACT + DO_NOT):
        X, y = load(name, run)
        found: dict[str, Scores] = {}
        for seed in range(given.first_seed, given.first_seed + given.splits):
            split = split_of(X, y, seed)
            for kind, make in kinds.items():
                found.setdefault(kind, Scores()).add(make(), split)
                for rate in given.rates:
                    grids.GRID_RATE = rate
                    found.setdefault(f"{kind}, grids at {rate:g}", Scores()).add(make(interactions="auto"), split)
        print(
            f"{name}, {len(y)} rows: " + ", ".join(f"{words} {scores}" for words, scores in found.items()), flush=True
        )


if __name__ == "__main__":
    main()
