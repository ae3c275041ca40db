"""Classifiers on evidence: parts or averages, naive Bayes or logistic regression; log-loss, AUC and seconds.

    .venv/bin/python -m reproduce.measured.evidence_trials --data ../shared/data

Each table is split 70/30 into training and test rows, stratified, twice. Classes with fewer than 5 rows are left out,
and of more than MOST rows a random sample is taken. AUC of more than two classes is the mean over the classes against
the others, weighted by their shares. The last lines are means over the tables: the default of `averaged=` of
`GridNaiveBayes` and `GridLogistic` is the better one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from gridmodl import GridLogistic, GridNaiveBayes
from reproduce.run import Run, load

TABLES = (
    "australian", "heart", "pima", "glass", "vehicle", "wine", "hepatitis", "sonar", "ionosphere", "german", "anneal",
    "breast", "iris", "ecoli", "autos", "flag", "sick_euthyroid", "waveform", "adult",
)  # fmt: skip
MOST = 6_000
FEWEST = 5
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "uniform, parts": lambda: GridNaiveBayes(averaged=False),
    "uniform, averages": lambda: GridNaiveBayes(averaged=True),
    "selective, parts": lambda: GridNaiveBayes(averaged=False, weights="selective"),
    "selective, averages": lambda: GridNaiveBayes(averaged=True, weights="selective"),
    "logistic, parts": lambda: GridLogistic(averaged=False),
    "logistic, averages": lambda: GridLogistic(averaged=True),
}


def scores_of(classifier: Any, X: pd.DataFrame, y: NDArray[Any]) -> tuple[float, float]:
    """Log-loss and AUC."""
    probabilities = classifier.predict_proba(X)
    codes = np.searchsorted(classifier.classes_, y)
    loss = -float(np.log(np.maximum(probabilities[np.arange(len(y)), codes], 1e-15)).mean())
    shares = np.bincount(codes, minlength=len(classifier.classes_)) / len(y)
    known = np.flatnonzero((shares > 0.0) & (shares < 1.0))
    areas = [roc_auc_score(codes == c, probabilities[:, c]) for c in known]
    return loss, float(np.average(areas, weights=shares[known]))


def table_of_rows(name: str, data: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The rows that are used."""
    X, y = load(name, Run(data, False, False, 0.0, argparse.Namespace()))
    kept = np.flatnonzero(y.map(y.value_counts()) >= FEWEST)
    kept = np.sort(np.random.default_rng(0).permutation(kept)[:MOST])
    return X.iloc[kept].reset_index(drop=True), y.to_numpy()[kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets and MANIFEST.csv")
    parser.add_argument("--tables", nargs="*", default=TABLES, help="names of the data sets")
    given = parser.parse_args()
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in CLASSIFIERS}
    for table in given.tables:
        X, y = table_of_rows(table, given.data)
        line = []
        for name, make in CLASSIFIERS.items():
            runs = []
            for seed in range(2):
                X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
                begun = time.perf_counter()
                classifier = make().fit(X_fit, y_fit)
                runs.append((*scores_of(classifier, X_new, y_new), time.perf_counter() - begun))
            found[name].append(tuple(np.mean(runs, axis=0)))
            line.append("{:.4f} {:.4f} {:5.1f} s".format(*found[name][-1]))
        print(f"{table:15s}", " | ".join(line), flush=True)
    print(f"{'':15s}", " | ".join(found))
    for name, of_tables in found.items():
        loss, area, seconds = np.mean(of_tables, axis=0)
        print(f"{name:22s} log-loss {loss:.4f}  AUC {area:.4f}  {seconds:.1f} s a fit", flush=True)


if __name__ == "__main__":
    main()
