"""Supervised data grids on wine, Ada and Sylva: Figure 1, Tables 2 to 4 and section 7.3.2 of the paper.

    .venv/bin/pip install --group docs --group test
    .venv/bin/python docs/reproduce/grid_tables.py --data ../shared/data

M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011. MAP is the best single grid,
CMA the average of many, both with the threshold of least balanced error on the training rows; seeds 0 to 4, the mean.

What is not the paper's, as MANIFEST.csv says: the test rows of Ada are rebuilt from the census data, all of them; Sylva
has no test file here, so it is tested on the valid file, after training on the train file alone; of Gina, Hiva and Nova
the agnostic tables are missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from reproduction import SEED, Run, publish, read_run, say, table_of
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

import gridmodl
from gridmodl import GridClassifier, GridEnsembleClassifier, Search

SEEDS = range(5)
# Files to train on and to test, then the paper's balanced error of MAP and CMA, and its number of variables.
TRACKS = {
    "ada, prior": ("ada_prior", ("train", "valid"), "test", 0.2058, 0.1756, 6),
    "ada, agnostic": ("ada_agnostic", ("train", "valid"), "test", 0.2068, 0.1761, 5),
    "sylva, prior": ("sylva_prior30", ("train",), "valid", 0.0099, 0.0228, 4),
}
# Rows and share of the class of the most frequent cells of Ada prior, Table 4.
TABLE_4 = (
    (736, 22.1), (577, 3.1), (531, 5.8), (489, 41.3), (445, 68.5), (425, 0.2), (316, 0.6), (268, 20.5), (112, 0.9),
    (96, 5.2), (93, 100.0), (50, 24.0),
)  # fmt: skip


def read(run: Run, prefix: str, files: tuple[str, ...]) -> tuple[pd.DataFrame, pd.Series]:
    assert run.data is not None  # noqa: S101  for mypy
    table = pd.concat([pd.read_csv(run.data / f"{prefix}_{file}.csv.gz") for file in files], ignore_index=True)
    return table.drop(columns="class"), table["class"]


def figure_1() -> str:
    """Two columns of wine, for which the paper draws the grid."""
    wine = load_wine(as_frame=True)
    model = gridmodl.optimize(wine.data[["alcohol", "flavanoids"]], wine.target, random_state=SEED)
    shape = " x ".join(str(model.partitions[name].n_parts) for name in model.informative)
    return f"## Figure 1: wine, alcohol and flavanoids\n\n```\n{model.summary()}\n```\n\nA grid of {shape} intervals.\n"


def error(classifier: Any, X: pd.DataFrame, y: pd.Series) -> float:
    return float(1.0 - balanced_accuracy_score(y, classifier.predict(X)))


def track(name: str, run: Run) -> list[str]:
    """A line of Tables 2 and 3."""
    if run.quick:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        X, X_test, y, y_test = train_test_split(X, y, random_state=SEED)
        seeds, search, paper = range(1), Search("diverse", effort=4, keep_optima=100), (np.nan, np.nan, 0)
    else:
        prefix, train, test, *paper = TRACKS[name]
        (X, y), (X_test, y_test) = read(run, prefix, train), read(run, prefix, (test,))
        seeds, search = SEEDS, "auto"
    single, many, n_variables = [], [], []
    for seed in seeds:
        one = GridClassifier(threshold="balanced", random_state=seed, n_jobs=2).fit(X, y)
        average = GridEnsembleClassifier(search=search, threshold="balanced", random_state=seed, n_jobs=2).fit(X, y)
        single.append(error(one, X_test, y_test))
        many.append(error(average, X_test, y_test))
        n_variables.append(len(one.model_.informative))
    line = [name, f"{paper[0]:.4f} / {np.mean(single):.4f}", f"{paper[1]:.4f} / {np.mean(many):.4f}"]
    line += [f"{paper[2]} / {', '.join(map(str, sorted(set(n_variables))))}"]
    say(run, *line)
    return line


def table_4(run: Run) -> str:
    X, y = read(run, "ada_prior", ("train", "valid"))
    model = gridmodl.optimize(X, y, random_state=SEED)
    rules = model.rules()
    lines = []
    for (rows, share), rule in zip(TABLE_4, rules, strict=False):
        conditions = "; ".join(f"{name} {label}" for name, label in rule.conditions.items())
        lines.append([conditions, f"{rows} / {rule.rows}", f"{share:.1f} / {100 * rule.shares[1]:.1f}"])
    parts = ", ".join(f"{name} in {model.partitions[name].n_parts}" for name in model.informative)
    return (
        f"## Table 4: the most frequent cells of Ada, prior\n\nParts: {parts}; cost {model.cost:.4f}. `education` "
        f"stands in place of the equivalent number that the paper has. {len(rules)} cells are not empty (the paper: "
        "57).\n\n" + table_of(["cell", "rows: paper / ours", "class 1, %: paper / ours"], lines)
    )


def main() -> None:
    run = read_run(__doc__)
    head = ["balanced error: paper / ours", "MAP", "CMA", "variables of MAP"]
    lines = [track(name, run) for name in (["breast cancer"] if run.quick else TRACKS)]
    text = [figure_1(), f"## Tables 2 and 3, and 7.3.2\n\n{table_of(head, lines)}"]
    text += [] if run.quick else [table_4(run)]
    publish("grid_tables", "Supervised data grids", "\n".join(text), run)


if __name__ == "__main__":
    main()
