"""Discretization and grouping beside other libraries: time, cost under the papers' criterion, held-out log-loss.

    .venv/bin/pip install --group docs --group test
    python3 -m venv ../khiops && ../khiops/bin/pip install khiops
    python3 -m venv ../optbinning && ../optbinning/bin/pip install optbinning
    python3 -m venv ../orange && ../orange/bin/pip install Orange3
    .venv/bin/python -m reproduce.peers.comparison --data ../shared/data --khiops-python ../khiops/bin/python \\
        --optbinning-python ../optbinning/bin/python --orange-python ../orange/bin/python

A library whose Python is not given is skipped. Every method gets the training rows of one column at a time with the
classes; its parts are then priced by `gridmodl.price`, and tell the classes of the test rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

import gridmodl
from reproduce.peers import comparison_page
from reproduce.peers.comparison_page import FIRST, KINDS, TIME_LIMIT
from reproduce.peers.processes import ask, by_package, python_options, pythons
from reproduce.run import SEED, Run, load, publish, read_run, say

LIBRARIES = "reproduce.peers.column_libraries"
# Classes are two in the first six and the first four of categories, more in the others; adult, crx, sick_euthyroid,
# hypothyroid, mushroom and soybean_full have missing values.
REAL = (
    ("adult", "numerical"), ("crx", "numerical"), ("german", "numerical"), ("pima", "numerical"),
    ("sick_euthyroid", "numerical"), ("hypothyroid", "numerical"), ("vehicle", "numerical"), ("waveform", "numerical"),
    ("segmentation", "numerical"), ("satimage", "numerical"), ("letter", "numerical"), ("shuttle", "numerical"),
    ("adult", "categorical"), ("crx", "categorical"), ("sick_euthyroid", "categorical"), ("mushroom", "categorical"),
    ("soybean_full", "categorical"), ("anneal", "categorical"),
)  # fmt: skip
QUICK = (("iris", "numerical"),)
# Rows to train on, columns, categories (0: numbers), by name; then the same for a quick run.
MADE = {
    "made: 1,000,000 rows x 1": ((1_000_000, 1, 0), (2_000, 1, 0)),
    "made: 100,000 rows x 100": ((100_000, 100, 0), (500, 3, 0)),
    "made: 100,000 rows x 20": ((100_000, 20, 200), (1_000, 2, 20)),
}
TEST_SHARE = 0.3


class Job(NamedTuple):
    """Columns of one kind: floats with NaN, or texts with None."""

    name: str
    kind: str
    train: dict[str, Any]
    test: dict[str, Any]
    y: Any
    y_test: Any
    n_classes: int

    @property
    def title(self) -> str:
        return f"{self.name}, {self.kind}"

    def write(self, folder: Path) -> None:
        """The training rows, as `read_table` of column_libraries.py reads them."""
        columns = self.train
        if self.kind == "categorical":
            columns = {name: np.array([-1 if v is None else int(v[1:]) for v in c]) for name, c in columns.items()}
        np.savez(folder / "table.npz", y=self.y, **columns)


def real_job(name: str, kind: str, run: Run) -> Job:
    """The columns of one kind that have two values or more in the training rows."""
    X, y = load(name, run)
    is_number = {column: X[column].dtype.kind in "iuf" for column in X}
    X = X[[column for column in X if is_number[column] == (kind == "numerical")]]
    codes, classes = pd.factorize(y, sort=True)
    alike = codes if np.bincount(codes).min() > 1 else None  # a class of one row cannot be on both sides
    fit, new = train_test_split(np.arange(len(X)), test_size=TEST_SHARE, random_state=SEED, stratify=alike)
    columns = [X[column] for column in X if X[column].iloc[fit].nunique() > 1]
    arrays = {f"x{i}": as_array(column, kind) for i, column in enumerate(columns)}
    train, test = ({column: array[rows] for column, array in arrays.items()} for rows in (fit, new))
    return Job(name, kind, train, test, codes[fit], codes[new], len(classes))


def as_array(column: pd.Series, kind: str) -> Any:
    """Floats; or texts v0, v1, ... in place of categories, which no peer takes for anything else, and None."""
    if kind == "numerical":
        return column.to_numpy(dtype=np.float64)
    return as_texts(pd.factorize(column)[0])


def as_texts(codes: Any) -> Any:
    texts: list[str | None] = [f"v{i}" for i in range(codes.max() + 1)]
    return np.array([*texts, None], dtype=object)[codes]


def made_job(name: str, run: Run) -> Job:
    """Of many numbers the first half is noise, and the second moves further and further with the class; the categories
    fall into ten groups, which the two classes have with shares of their own."""
    n_train, n_columns, n_values = MADE[name][run.quick]
    n_rows = n_train + n_train // 2
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 2, n_rows)
    if n_values:
        kind, columns = "categorical", [as_texts(drawn_values(rng, y, n_values)) for _ in range(n_columns)]
    else:
        half = n_columns // 2
        shifts = [1.0] if n_columns == 1 else [*np.zeros(half), *np.linspace(0.05, 2.0, n_columns - half)]
        kind, columns = "numerical", [rng.normal(size=n_rows) + shift * y for shift in shifts]
    train = {f"x{i}": column[:n_train] for i, column in enumerate(columns)}
    test = {f"x{i}": column[n_train:] for i, column in enumerate(columns)}
    return Job(name, kind, train, test, y[:n_train], y[n_train:], 2)


def drawn_values(rng: np.random.Generator, y: Any, n_values: int) -> Any:
    group_of = rng.integers(0, 10, n_values)
    common = rng.dirichlet(np.ones(n_values))  # some values are much rarer than others
    weights = common * rng.dirichlet(np.full(10, 5.0), 2)[:, group_of]
    below = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    draws = rng.random(len(y))
    return np.where(y == 0, np.searchsorted(below[0], draws), np.searchsorted(below[1], draws)).clip(max=n_values - 1)


def losses(counts: NDArray[np.int64], parts: NDArray[np.int64], y: NDArray[np.int64], is_uniform: bool) -> Any:
    """Minus log of the share of the class of each test row in its part.

    Every part has had a row of each class before the first (Laplace); or, not uniform, one row in all, with classes as
    in the whole column.
    """
    n_classes = counts.shape[1]
    whole = counts.sum(axis=0) + 1.0
    before = np.ones(n_classes) if is_uniform else whole / whole.sum()
    shares = (counts + before) / (counts.sum(axis=1, keepdims=True) + before.sum())
    return -np.log(shares[parts, y])


def same_rows(reported: list[list[int]], counts: NDArray[np.int64]) -> bool:
    """Whether the parts have the same rows of each class, in whatever order; empty parts do not count."""
    ours = sorted(map(tuple, counts[counts.any(axis=1)].tolist()))
    return ours == sorted(tuple(rows) for rows in reported if any(rows))


def judge(job: Job, column: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The cost of a partition on the training rows, and its losses on the test rows."""
    values = job.train[column]
    given = answer.get("groups")
    if given is None:
        is_apart = answer["apart"] and bool(np.isnan(values).any())
        given = [np.nan] * is_apart + answer["bounds"]
    data = {column: values}
    model = gridmodl.Model.from_partitions(data, job.y, {column: given}, target_kind="classes")
    partition = model.partitions[column]
    parts = partition.part_of(job.test[column])
    return {
        "cost": model.cost,
        "null": model.null_cost,
        "parts": int(partition.counts.any(axis=1).sum()),
        "understood": same_rows(answer["counts"], partition.counts),
        "proven": answer.get("proven", False),
        "losses": losses(partition.counts, parts, job.y_test, True),
        "other losses": losses(partition.counts, parts, job.y_test, False),
    }


def compare_column(job: Job, column: str, answers: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """A record for each method that has an answer; losses are told by mean and by difference to the first method."""
    records = {method: judge(job, column, answer) for method, answer in answers.items() if "error" not in answer}
    first = records[FIRST]
    for method, record in records.items():
        if first["proven"] and record["cost"] < first["cost"] - 1e-6:
            raise AssertionError(f"{job.title}, {column}: {method} costs {record['cost']}, proven {first['cost']}")
    found = []
    for method, record in records.items():
        differences = record["losses"] - first["losses"]
        record["error"] = float(differences.std(ddof=1) / np.sqrt(len(differences)))
        record["extra loss"] = float(differences.mean())
        record["other extra loss"] = float((record["other losses"] - first["other losses"]).mean())
        record["loss"] = float(record["losses"].mean())
        record["excess"] = record["cost"] - first["cost"]
        kept = {key: value for key, value in record.items() if key not in ("losses", "other losses")}
        found.append({"job": job.title, "kind": job.kind, "column": column, "method": method, **kept})
    return found


def compare(job: Job, known: dict[str, str], run: Run) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Records of all columns and methods, and of the time of each method."""
    answers: dict[str, dict[str, Any]] = {column: {} for column in job.train}
    times = []
    with tempfile.TemporaryDirectory() as folder:
        job.write(Path(folder))
        for package, methods in by_package(KINDS[job.kind], known).items():
            for method, answer in ask(known[package], LIBRARIES, methods, Path(folder), TIME_LIMIT).items():
                found = answer.pop("found", {})
                errors = [one["error"] for one in found.values() if "error" in one]
                if found and len(errors) == len(found):
                    answer = {"error": errors[0]}
                elif errors:
                    answer["failed"] = len(errors)
                times.append({"job": job.title, "kind": job.kind, "method": method, "package": package, **answer})
                say(run, job.title, method, answer.get("error", f"{answer.get('processor', 0.0):.3f} s"))
                for column, one in found.items():
                    answers[column][method] = one
    return [record for column in job.train for record in compare_column(job, column, answers[column])], times


def main() -> None:
    run = read_run(__doc__, **python_options(["khiops", "optbinning", "orange"]))
    known = pythons(run.options)
    records, times, sizes = [], [], {}
    jobs: list[Callable[[], Job]] = [partial(made_job, name, run) for name in MADE]
    jobs += [partial(real_job, name, kind, run) for name, kind in (QUICK if run.quick else REAL)]
    for make in jobs:
        job = make()
        found, taken = compare(job, known, run)
        sizes[job.title] = (len(job.y), len(job.train), job.n_classes)
        records += found
        times += taken
    text = comparison_page.text(pd.DataFrame(records), pd.DataFrame(times), sizes, known, run)
    publish("Discretization and grouping beside other libraries", text, run)


if __name__ == "__main__":
    main()
