"""Classifiers beside those of other libraries: log-loss, AUC, accuracy, calibration and seconds on the same folds.

    .venv/bin/pip install --group docs --group test
    python3 -m venv ../peers && ../peers/bin/pip install khiops interpret
    .venv/bin/python -m reproduce.peers.prediction --data ../shared/data --khiops-python ../peers/bin/python \\
        --interpret-python ../peers/bin/python --results ../prediction.jsonl

A library whose Python is not given is skipped. Each fit is a line of the file of results (JSON lines), and fits that
the file has are not asked for again: the command can be stopped and called anew, with other methods and tables
(`--methods "boosting,khiops" --tables iris,wine`; a package stands for all its methods). It asks repeat by repeat for
as long as `--minutes` says; with `--minutes 0` it makes the page from what the file has. To measure a method again,
delete its lines.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split

from reproduce.peers import prediction_page
from reproduce.peers.prediction_libraries import METHODS
from reproduce.peers.processes import ask, by_package, python_options, pythons
from reproduce.run import SEED, Run, load, publish, read_run, say

LIBRARIES = "reproduce.peers.prediction_libraries"
# MEASURED of prediction_page.py says which were left out.
TABLES = (
    "adult", "anneal", "australian", "autos", "breast", "bupa", "crx", "cylinder_bands", "ecoli", "flag", "german",
    "glass", "heart", "hepatitis", "hypothyroid", "ionosphere", "iris", "led", "mushroom", "pendigits", "pima",
    "satimage", "segmentation", "shuttle", "sick_euthyroid", "sonar", "soybean_full", "thyroid", "vehicle",
    "waveform", "wine", "yeast",
)  # fmt: skip
QUICK = ("iris", "wine")
QUICK_METHODS = "GridNaiveBayes uniform,GridNaiveBayes selective,GridLogistic,boosting,logistic,logistic evidence"
MAX_ROWS = 4_000  # of a table: half of them are for training
MIN_CLASS = 10  # rows; smaller classes are left out
LEAST = 1e-15  # probability
N_BINS = 10  # of the calibration error
TIME_LIMIT = 300  # seconds of the processor for a fit


class Table(NamedTuple):
    """Columns as arrays of floats, or of the numbers of categories with -1 where missing; classes as numbers."""

    name: str
    columns: dict[str, Any]
    y: NDArray[np.int64]

    def folds(self, repeat: int) -> list[tuple[Any, Any]]:
        halves = StratifiedKFold(2, shuffle=True, random_state=SEED + repeat)
        return list(halves.split(self.y, self.y))

    def write(self, folder: Path, repeat: int) -> None:
        """As `read_fold` of prediction_libraries.py reads it."""
        rows: dict[str, Any] = {}
        for fold, (train, test) in enumerate(self.folds(repeat)):
            rows |= {f"train{2 * repeat + fold}": train, f"test{2 * repeat + fold}": test}
        np.savez(folder / "table.npz", y=self.y, **self.columns, **rows)


def read_table(name: str, run: Run) -> Table:
    """At most MAX_ROWS rows, drawn by class, of the classes that have MIN_CLASS rows then."""
    X, y = load(name, run)
    classes, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, classes[counts >= MIN_CLASS]))
    if len(rows) > MAX_ROWS:
        rows, _ = train_test_split(rows, train_size=MAX_ROWS, random_state=SEED, stratify=y.to_numpy()[rows])
        rows.sort()
        classes, counts = np.unique(y.to_numpy()[rows], return_counts=True)
        rows = rows[np.isin(y.to_numpy()[rows], classes[counts >= MIN_CLASS])]
    X = X.iloc[rows]
    columns = {f"x{i}": as_array(X[column]) for i, column in enumerate(X) if X[column].nunique() > 1}
    return Table(name, columns, pd.factorize(y.iloc[rows], sort=True)[0])


def as_array(column: pd.Series) -> Any:
    return column.to_numpy(dtype=np.float64) if column.dtype.kind in "iuf" else pd.factorize(column)[0]


def measures(y: NDArray[np.int64], probabilities: NDArray[np.float64]) -> dict[str, float]:
    """How well probabilities of classes tell the classes `y` of the same rows; prediction_page.py says how."""
    clipped = np.clip(probabilities, LEAST, 1.0)
    clipped /= clipped.sum(axis=1, keepdims=True)
    best, highest = clipped.argmax(axis=1), clipped.max(axis=1)
    bins = np.minimum((highest * N_BINS).astype(np.int64), N_BINS - 1)
    excess = np.bincount(bins, highest - (best == y), N_BINS)  # of trust over hits, summed in each bin
    scores = clipped[:, 1] if clipped.shape[1] == 2 else clipped
    return {
        "log-loss": float(-np.log(clipped[np.arange(len(y)), y]).mean()),
        "AUC": float(roc_auc_score(y, scores, multi_class="ovr", average="macro")),
        "accuracy": float((best == y).mean()),
        "calibration error": float(np.abs(excess).sum() / len(y)),
    }


def read_results(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def chosen_methods(run: Run, known: dict[str, str]) -> dict[str, tuple[Any, ...]]:
    """Those of `--methods`, by name or by package, whose package has a Python."""
    text = run.options.methods or (QUICK_METHODS if run.quick else "")
    asked = [name.strip() for name in text.split(",") if name.strip()]
    packages = {kind.package for kind, *_ in METHODS.values()}
    if unknown := [name for name in asked if name not in METHODS and name not in packages]:
        allowed = ", ".join([*METHODS, *sorted(packages)])
        raise SystemExit(f"--methods has {', '.join(unknown)}; allowed, with commas between them: {allowed}")
    return {
        name: entry
        for name, entry in METHODS.items()
        if entry[0].package in known and (not asked or name in asked or entry[0].package in asked)
    }


def chosen_tables(run: Run) -> list[str]:
    known = QUICK if run.quick else TABLES
    asked = [name.strip() for name in (run.options.tables or "").split(",") if name.strip()]
    if unknown := [name for name in asked if name not in known]:
        raise SystemExit(f"--tables has {', '.join(unknown)}; allowed, with commas between them: {', '.join(known)}")
    return asked or list(known)


def answers_of(python: str, names: list[str], folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ask for the fits of one package. One that ends the process takes those after it along: these are asked again."""
    while names:
        answers = ask(python, LIBRARIES, names, folder, TIME_LIMIT)
        failed = [name for name in names if "error" in answers[name]]
        again = failed[1:]
        yield from ((name, answers[name]) for name in names if name not in again)
        names = again


def add_results(table: Table, repeat: int, names: dict[str, list[str]], known: dict[str, str], path: Path) -> None:
    """Fit on both folds of a repeat what `names` has for each package, and add a line for each fit."""
    of_folds = {2 * repeat + i: test for i, (_, test) in enumerate(table.folds(repeat))}
    n_classes = int(table.y.max()) + 1
    facts = {"table": table.name, "rows": len(table.y), "columns": len(table.columns), "classes": n_classes}
    with tempfile.TemporaryDirectory() as folder, path.open("a") as file:
        table.write(Path(folder), repeat)
        for package, asked in names.items():
            for name, answer in answers_of(known[package], asked, Path(folder)):
                method, _, fold = name.rpartition("#")
                found = answer.pop("found", None)
                if found is not None:
                    answer |= measures(table.y[of_folds[int(fold)]], np.array(found))
                date = time.strftime("%Y-%m-%d", time.gmtime())
                line = {**facts, "fold": int(fold), "method": method, "package": package, "date": date, **answer}
                if answer.get("error", "").startswith("Absent"):  # another version may have it
                    print(f"{method}: {answer['error']}", file=sys.stderr)
                else:
                    file.write(json.dumps(line) + "\n")
                    file.flush()


def ask_for_missing(run: Run, known: dict[str, str], path: Path) -> None:
    """Fit what the file of results does not have, repeat by repeat, until time is up."""
    methods = chosen_methods(run, known)
    done = {(line["table"], line["fold"], line["method"]) for line in read_results(path)}
    for repeat in range(1 if run.quick else run.options.repeats):
        for name in chosen_tables(run):
            if time.perf_counter() - run.begun > 60.0 * run.options.minutes:
                return
            folds = [2 * repeat, 2 * repeat + 1]
            missing = {
                package: [f"{method}#{i}" for method in of_package for i in folds if (name, i, method) not in done]
                for package, of_package in by_package(methods, known).items()
            }
            if any(missing.values()):
                add_results(read_table(name, run), repeat, {k: v for k, v in missing.items() if v}, known, path)
                say(run, f"repeat {repeat + 1},", name)


def main() -> None:
    warnings.simplefilter("ignore")
    run = read_run(
        __doc__,
        methods=(None, "names of methods or packages, with commas between them; all without"),
        tables=(None, "names of tables, with commas between them; all without"),
        repeats=(5, "repeats of two folds"),
        minutes=(60.0, "ask for no more fits after so many minutes"),
        results=(None, "file of results to add to; without, all is measured anew and forgotten"),
        **python_options(["khiops", "interpret"]),
    )
    known = pythons(run.options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(run.options.results or Path(folder) / "results.jsonl")
        ask_for_missing(run, known, path)
        records = pd.DataFrame(read_results(path))
    if len(records) == 0:
        raise SystemExit("there are no results yet; --minutes gives time to measure")
    facts = {"max_rows": MAX_ROWS, "min_class": MIN_CLASS, "least": LEAST, "n_bins": N_BINS, "time_limit": TIME_LIMIT}
    text = prediction_page.text(records, run.options.repeats, facts)
    # The minutes of the page are those of its fits, whenever they were measured.
    seconds = prediction_page.chosen(records, run.options.repeats)[0]["clock"].sum()
    publish("Prediction beside other libraries", text, run._replace(begun=time.perf_counter() - seconds))


if __name__ == "__main__":
    main()
