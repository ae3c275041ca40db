"""Accuracies of `GridNaiveBayes` beside those of the paper that it follows, in stratified 10-fold cross-validation.

    .venv/bin/pip install pandas scikit-learn
    .venv/bin/python docs/reproduce/naive_bayes.py --data ../shared/data

M. Boullé, "Classification supervisée pour de grands nombres de classes à prédire", Tables 1 and 2: NB-G groups the
classes for each column, NB does not. Table 2 has the classes of `mushroom` be the combinations of the values of its
first 1 to 10 columns, 2 to 782 classes, with the other columns to tell them. The folds are not those of the paper.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_score

from gridmodl.estimators.naivebayes import GridNaiveBayes

WITHOUT_GROUPS = "NB", {}
METHODS = ("NB-G", {"target_kind": "grouped"}), WITHOUT_GROUPS, ("selective", {"weights": "selective"})
TABLE_1 = {"iris": (0.913, 0.920), "glass_id": (0.953, 0.949), "wine": (0.983, 0.983)}
COLUMNS = (
    "Bruise", "CapColor", "CapShape", "CapSurface", "class", "GillAttachment", "GillColor", "GillSize", "GillSpacing",
    "Habitat",
)  # fmt: skip
TABLE_2 = {1: (0.972, 0.972), 2: (0.420, 0.418), 3: (0.182, 0.146), 5: (0.104, 0.049), 10: (0.015, 0.000)}


def show(title: str, X: pd.DataFrame, y: pd.Series, paper: tuple[float, float]) -> None:
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    print(f"{title}: {y.nunique()} classes, {len(X)} rows")
    for (name, arguments), published in zip(METHODS, (*paper, None), strict=True):
        begun = time.perf_counter()
        accuracies = cross_val_score(GridNaiveBayes(**arguments), X, y.to_numpy(), cv=folds)
        took = time.perf_counter() - begun
        beside = "" if published is None else f"   paper {published:.3f}"
        print(f"  {name:9} {accuracies.mean():.3f} +- {accuracies.std():.3f}{beside}   {took:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with mushroom.csv.gz and the others")
    data = parser.parse_args().data
    warnings.filterwarnings("ignore", message="The least populated class")
    for name, paper in TABLE_1.items():
        table = pd.read_csv(data / f"{name}.csv.gz")
        show(name, table, table.pop(table.columns[-1]).astype(str), paper)
    mushroom = pd.read_csv(data / "mushroom.csv.gz").astype(str)
    for n, paper in TABLE_2.items():
        told = list(COLUMNS[:n])
        show(f"mushroom, {n} columns", mushroom.drop(columns=told), mushroom[told].agg("|".join, axis=1), paper)


if __name__ == "__main__":
    main()
