"""Supervised data grids on the data of the challenge: Figure 1, Tables 2 to 4 and section 7.3.2 of the paper.

    .venv/bin/pip install --group docs --group test
    .venv/bin/python docs/reproduce/grid_tables.py --data ../shared/data [--seconds 120]

M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011. MAP is the best single grid,
CMA the average of many, both with the threshold of least balanced error on the training rows. Ada has seeds 0 to 4, the
mean; the others have one seed and at most --seconds for each fit (the paper: about an hour), compiling apart.

What is not the paper's, as MANIFEST.csv says: the test rows of Ada are rebuilt from the census data, all of them;
Sylva, prior, has no test file here and is tested on its valid file, after training on the train file alone; of Sylva,
agnostic, and Hiva there is the train file only, of which every tenth row is tested; Gina is a random half of MNIST, not
the rows of the challenge; Nova is built anew from its newsgroups with a random split, with the 22,047 words of the
coclustering, where the agnostic table has 16,969. The agnostic table of Gina is missing.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matrices import FILES, read_matrix
from reproduction import COLOURS, SEED, Run, picture, publish, read_run, say, table_of
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

import gridmodl
from gridmodl import GridClassifier, GridEnsembleClassifier, Search

SEEDS = range(5)

INTRODUCTION = """\
M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011. The data sets are those of the
challenge "agnostic learning against prior knowledge", in two tracks; as far as they are to be had, see
[the data sets](data_sets.md).
"""
DIFFERENCES = """\
What differs from the paper:

* Ada: the agnostic CMA is 0.007 above the paper's, and we have found no reason. Of the single grid in the prior track
  the paper's Table 3 says 0.2058, its text 0.2068.
* Gina: the rows of the challenge are not known, so it is another half of MNIST, of the same sizes. Whether the lower
  errors come from the rows or from the search cannot be told. CMA gains most: the paper says of its own grids that they
  are too much alike, and choices of columns make them differ. The agnostic table, of 970 columns, is missing.
* Sylva: there is no test file. The prior track is trained on the train file alone and tested on the valid file; of the
  agnostic one every tenth row of the train file is tested. Of 1,309 test rows 81 and 87 are of the class: one of them
  wrong is 0.006 of balanced error.
* Hiva: every tenth row of the train file is tested, 18 of 385 of the class: one of them wrong is 0.028, so that the
  difference to the paper says nothing.
* Nova: built anew from the newsgroups with a random split, and with the 22,047 words of the coclustering, the most
  frequent 2,000 among them, which the agnostic track leaves out. CMA has 20 grids in the time given, the
  paper's hundreds.
"""


class Track(NamedTuple):
    """The paper's balanced errors of MAP and CMA and its number of variables; files, and how often it is repeated."""

    single: float
    average: float
    n_variables: int
    train: tuple[str, ...]
    test: str | None  # None: every tenth row of what there is
    seeds: range = range(1)


ADA = "ada_prior_train", "ada_prior_valid"
TRACKS = {
    "ada, prior": Track(0.2058, 0.1756, 6, ADA, "ada_prior_test", SEEDS),
    "gina stand-in, prior": Track(0.1721, 0.1254, 7, ("gina",), "gina"),
    "sylva, prior": Track(0.0099, 0.0228, 4, ("sylva_prior30_train",), "sylva_prior30_valid"),
    "ada, agnostic": Track(0.2068, 0.1761, 5, ("ada_agnostic_train", "ada_agnostic_valid"), "ada_agnostic_test", SEEDS),
    "hiva train, agnostic": Track(0.3661, 0.3242, 4, ("hiva",), None),
    "nova rebuilt, words": Track(0.2397, 0.1229, 8, ("nova",), "nova"),
    "sylva train, agnostic": Track(0.0211, 0.0158, 8, ("sylva_agnostic_train",), None),
}
# Rows and share of the class of the most frequent cells of Ada prior, Table 4.
TABLE_4 = (
    (736, 22.1), (577, 3.1), (531, 5.8), (489, 41.3), (445, 68.5), (425, 0.2), (316, 0.6), (268, 20.5), (112, 0.9),
    (96, 5.2), (93, 100.0), (50, 24.0),
)  # fmt: skip


def read(run: Run, files: tuple[str, ...]) -> tuple[pd.DataFrame, pd.Series]:
    assert run.data is not None  # noqa: S101  for mypy
    table = pd.concat([pd.read_csv(run.data / f"{file}.csv.gz") for file in files], ignore_index=True)
    return table.drop(columns="class"), table["class"]


def split(run: Run, track: Track) -> list[Any]:
    """Columns and classes to train on, then those to test."""
    assert run.data is not None  # noqa: S101  for mypy
    if track.train[0] in FILES:
        matrix = read_matrix(track.train[0], run.data)
        X, y = matrix.X.toarray(), matrix.y
        is_train = np.zeros(len(y), dtype=bool)
        is_train[matrix.labelled] = True
    elif track.test is None:
        X, y = read(run, track.train)
        is_train = np.arange(len(y)) % 10 != 0
    else:
        return [*read(run, track.train), *read(run, (track.test,))]
    return [X[is_train], y[is_train], X[~is_train], y[~is_train]]


def figure_1(run: Run) -> str:
    """Two columns of wine, for which the paper draws the grid."""
    wine = load_wine(as_frame=True)
    names = ["alcohol", "flavanoids"]
    model = gridmodl.optimize(wine.data[names], wine.target, random_state=SEED)
    figure, axes = plt.subplots(figsize=(5, 4))
    for k, colour in zip(range(3), COLOURS, strict=False):
        rows = wine.data[wine.target == k]
        axes.plot(rows[names[0]], rows[names[1]], "os^"[k], color=colour, ms=4, label=f"class {k + 1}")
    for bound in model.partitions[names[0]].bounds:
        axes.axvline(bound, color="0.3", lw=1)
    for bound in model.partitions[names[1]].bounds:
        axes.axhline(bound, color="0.3", lw=1)
    axes.set(xlabel=names[0], ylabel=names[1])
    axes.legend(frameon=False)
    shown = picture("grid_tables_figure_1", "The grid of alcohol and flavanoids of wine", figure, run)
    shape = " x ".join(str(model.partitions[name].n_parts) for name in model.informative)
    return (
        f"## Figure 1: wine, alcohol and flavanoids\n\nA grid of {shape} intervals, as the paper's.\n\n{shown}\n"
        f"```\n{model.summary()}\n```\n"
    )


def error(classifier: Any, X: pd.DataFrame, y: pd.Series) -> float:
    return float(1.0 - balanced_accuracy_score(y, classifier.predict(X)))


def fitted(kind: type, X: Any, y: Any, seed: int, run: Run, **options: Any) -> tuple[Any, float]:
    """A classifier, and the processor seconds of its training."""
    classifier = kind(threshold="balanced", random_state=seed, n_jobs=2, time_limit=run.options.seconds, **options)
    begun = time.process_time()
    return classifier.fit(X, y), time.process_time() - begun


def line(name: str, track: Track, data: list[Any], run: Run) -> list[str]:
    """A line of Tables 2 and 3."""
    X, y, X_test, y_test = data
    few = {"search": Search("diverse", effort=4, keep_optima=100)}
    single, many = [], []
    for seed in track.seeds:
        one, seconds = fitted(GridClassifier, X, y, seed, run)
        single.append((error(one, X_test, y_test), len(one.model_.informative), seconds))
        average, seconds = fitted(GridEnsembleClassifier, X, y, seed, run, **(few if run.quick else {}))
        many.append((error(average, X_test, y_test), len(average.average_), seconds))
    means = np.mean(single, axis=0), np.mean(many, axis=0)
    numbers = sorted({n for _, n, _ in single})
    cells = [
        name,
        f"{len(y):,} / {len(y_test):,}",
        f"{track.single:.4f} / {means[0][0]:.4f}",
        f"{track.average:.4f} / {means[1][0]:.4f}",
        f"{track.n_variables} / {', '.join(map(str, numbers))}",
        f"{means[1][1]:.0f}",
        f"{means[0][2]:.1f} / {means[1][2]:.1f}",
    ]
    say(run, *cells)
    return cells


def tables_2_and_3(run: Run) -> str:
    if run.quick:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        X, X_test, y, y_test = train_test_split(X, y, random_state=SEED)
        nothing = Track(np.nan, np.nan, 0, (), None)
        lines = [line("breast cancer", nothing, [X, y, X_test, y_test], run)]
    else:
        lines = [line(name, track, split(run, track), run) for name, track in TRACKS.items()]
    head = ["balanced error: paper / ours", "rows: train / test", "MAP", "CMA", "variables of MAP", "grids of CMA"]
    return (
        "## Tables 2 and 3, and 7.3.2\n\nMAP is the best single grid, CMA the average of many; both have the "
        "threshold of least balanced error on the training rows. Ada has five seeds, the mean; the others have "
        "one. Seconds are of the "
        f"processor, for MAP and for CMA; a fit ends after {run.options.seconds:.0f} s by the clock at the latest. "
        "The paper's CMA averages about 500 local optima of one search over all columns; ours takes a random choice "
        "of the columns each time, so that they differ more.\n\n"
        f"{table_of([*head, 'seconds: MAP / CMA'], lines)}\n{DIFFERENCES}"
    )


def table_4(run: Run) -> str:
    X, y = read(run, ADA)
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
    warnings.filterwarnings("ignore", message=".*was stopped by time_limit")  # as it was asked to
    run = read_run(__doc__, seconds=(120.0, "for each fit at most"))
    text = [INTRODUCTION, figure_1(run), tables_2_and_3(run)]
    text += [] if run.quick else [table_4(run)]
    publish("grid_tables", "Supervised data grids", "\n".join(text), run)


if __name__ == "__main__":
    main()
