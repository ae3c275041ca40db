"""Discretization and grouping beside other libraries: time, cost under the papers' criterion, held-out log-loss.

    .venv/bin/pip install --group docs --group test
    python3 -m venv ../khiops && ../khiops/bin/pip install khiops
    python3 -m venv ../optbinning && ../optbinning/bin/pip install optbinning
    python3 -m venv ../orange && ../orange/bin/pip install Orange3
    .venv/bin/python docs/reproduce/comparison.py --data ../shared/data --khiops-python ../khiops/bin/python \\
        --optbinning-python ../optbinning/bin/python --orange-python ../orange/bin/python

A library whose Python is not given is skipped. Every method gets the training rows of one column at a time with the
classes; its parts are then priced by `gridmodl.price`, and tell the classes of the test rows.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import comparison_page
import numpy as np
import pandas as pd
from comparison_data import MADE, QUICK, REAL, Job, made_job, real_job
from comparison_libraries import CATEGORICAL, NUMERICAL
from comparison_page import TIME_LIMIT
from comparison_peers import ask, by_package, python_options, pythons
from numpy.typing import NDArray
from reproduction import Run, publish, read_run, say

import gridmodl

SCRIPT = Path(__file__).parent / "comparison_libraries.py"
METHODS = {"numerical": NUMERICAL, "categorical": CATEGORICAL}
FIRST = next(iter(NUMERICAL))  # what the others are compared to


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
        for package, methods in by_package(METHODS[job.kind], known).items():
            for method, answer in ask(known[package], SCRIPT, methods, Path(folder), TIME_LIMIT).items():
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
    jobs = [lambda name=name: made_job(name, run) for name in MADE]
    jobs += [lambda name=name, kind=kind: real_job(name, kind, run) for name, kind in (QUICK if run.quick else REAL)]
    for make in jobs:
        job = make()
        found, taken = compare(job, known, run)
        sizes[job.title] = (len(job.y), len(job.train), job.n_classes)
        records += found
        times += taken
    text = comparison_page.text(pd.DataFrame(records), pd.DataFrame(times), sizes, known, run)
    publish("comparison", "Discretization and grouping beside other libraries", text, run)


if __name__ == "__main__":
    main()
