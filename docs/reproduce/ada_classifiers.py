"""Ada, prior and agnostic: balanced test error of the best single grid and of the average of many, over seeds.

    .venv/bin/pip install pandas
    .venv/bin/python docs/reproduce/ada_classifiers.py --data ../shared/data

Trained on train + valid, 4,562 rows, with the defaults of both estimators and threshold="balanced"; the test file has
41,471 rows. Beside ours the results of M. Boullé, "Data grid models for preparation and modeling in supervised
learning", 2011, Tables 2 and 3 (MAP: one grid, CMA: the average), whose search took about an hour. Times are by the
clock, with --jobs threads; the first fit of each kind compiles before the clock runs. `--quick` is one seed and few
rounds, to see that it runs.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score

from gridmodl import GridClassifier, GridEnsembleClassifier, Search

TARGET = "class"
PAPER = {("prior", "one grid"): 0.2058, ("prior", "average"): 0.1756}
PAPER |= {("agnostic", "one grid"): 0.2068, ("agnostic", "average"): 0.1761}


def read(data: Path, track: str, *files: str) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.concat([pd.read_csv(data / f"ada_{track}_{file}.csv.gz") for file in files], ignore_index=True)
    return table.drop(columns=TARGET), table[TARGET]


def make(kind: str, seed: int, jobs: int, quick: bool) -> Any:
    if kind == "one grid":
        return GridClassifier(threshold="balanced", random_state=seed, n_jobs=jobs)
    search: Any = Search("diverse", effort=5, keep_optima=2000) if quick else "auto"
    return GridEnsembleClassifier(search=search, threshold="balanced", random_state=seed, n_jobs=jobs)


def show(data: Path, track: str, kind: str, seeds: int, jobs: int, quick: bool) -> None:
    X, y = read(data, track, "train", "valid")
    X_test, y_test = read(data, track, "test")
    make(kind, 0, jobs, True).fit(X[:500], y[:500])  # compiles
    errors, times = [], []
    for seed in range(seeds):
        begun = time.perf_counter()
        classifier = make(kind, seed, jobs, quick).fit(X, y)
        times.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        errors.append(1.0 - balanced_accuracy_score(y_test, classifier.predict(X_test)))
        predicted = time.perf_counter() - begun
        grids = f", {len(classifier.average_)} grids" if kind == "average" else ""
        print(
            f"  seed {seed}: error {errors[-1]:.4f}, cost {classifier.model_.cost:.2f}, fit {times[-1]:.1f} s, "
            f"predict {predicted:.1f} s{grids}",
            flush=True,
        )
    print(
        f"ada {track}, {kind}: mean {np.mean(errors):.4f} (from {min(errors):.4f} to {max(errors):.4f}), paper "
        f"{PAPER[track, kind]}; fit {np.mean(times):.1f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with ada_prior_train.csv.gz and its like")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument("--quick", action="store_true", help="one seed, few rounds")
    arguments = parser.parse_args()
    for track, kind in PAPER:
        show(arguments.data, track, kind, 1 if arguments.quick else 5, arguments.jobs, arguments.quick)


if __name__ == "__main__":
    main()
