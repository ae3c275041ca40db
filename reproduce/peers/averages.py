"""The average over all partitions beside single partitions: held-out log-loss of all numerical columns.

    .venv/bin/pip install --group docs --group test
    python3 -m venv ../khiops && ../khiops/bin/pip install khiops
    .venv/bin/python -m reproduce.peers.averages --data ../shared/data --khiops-python ../khiops/bin/python

Each column of each data set is fitted on 70 % of the rows. Parts predict (n_j + 1) / (n + J) for class j, with n rows
of which n_j are of class j, J classes. The loss is the mean over the other rows of -log p. A column is clearly better
under one method than under another if the mean difference is more than 0.0005 nats and more than twice its standard
error.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gridmodl
from reproduce.peers.comparison import Job, real_job
from reproduce.peers.processes import ask, python_options
from reproduce.run import Run, publish, read_run, say, table_of

LIBRARIES = "reproduce.peers.column_libraries"
OPTIMUM, KHIOPS, QUANTILES, TREE = "optimum", "Khiops", "sklearn 20 quantiles", "sklearn tree"
TITLES = {
    OPTIMUM: "`optimize`",
    KHIOPS: "Khiops' parts",
    QUANTILES: "20 quantiles",
    TREE: "scikit-learn's tree, 16 leaves",
}
CLEARLY = 0.0005
TIME_LIMIT = 600
Losses = dict[str, NDArray[np.float64]]  # of each test row, by method


def names_of(run: Run) -> list[str]:
    """Data sets with classes, without those that are other rows of one of them."""
    if run.data is None:
        return ["iris", "wine"]
    files = sorted(path.name.removesuffix(".csv.gz") for path in run.data.glob("*.csv.gz"))
    known = json.loads((run.data / "schema.json").read_text())
    return [
        name
        for name in files
        if name in known
        and "class" in known[name]
        and not name.endswith(("_test", "_valid"))
        and "numeric" in known[name].values()
    ]


def known_classes(job: Job) -> Job:
    """Without the test rows of classes that no training row has."""
    classes, y = np.unique(job.y, return_inverse=True)
    kept = np.isin(job.y_test, classes)
    test = {name: column[kept] for name, column in job.test.items()}
    return job._replace(y=y, y_test=np.searchsorted(classes, job.y_test[kept]), test=test, n_classes=len(classes))


def loss_of(probabilities: NDArray[np.float64], y: Any) -> NDArray[np.float64]:
    return -np.log(probabilities[np.arange(len(y)), y])


def loss_of_bounds(job: Job, name: str, bounds: Any, is_apart: bool) -> NDArray[np.float64]:
    """Of parts with these bounds; missing values are the first part, or join the lowest interval."""

    def parts(values: Any) -> NDArray[np.int64]:
        found = np.searchsorted(np.asarray(bounds, dtype=np.float64), values, side="left") + is_apart
        return np.where(np.isnan(values), 0, found)

    counts = np.zeros((len(bounds) + 1 + is_apart, job.n_classes))
    np.add.at(counts, (parts(job.train[name]), job.y), 1.0)
    shares = (counts + 1.0) / (counts.sum(axis=1, keepdims=True) + job.n_classes)
    return loss_of(shares[parts(job.test[name])], job.y_test)


def losses_of(job: Job, run: Run, seconds: dict[str, float]) -> dict[str, Losses]:
    """Losses of each column."""
    found: dict[str, Losses] = {name: {} for name in job.train}
    for prior in ("rows", "values"):
        begun = time.process_time()
        averages = gridmodl.average_each(job.train, job.y, prior=prior, n_jobs=1, target_kind="classes")
        seconds[prior] = seconds.get(prior, 0.0) + time.process_time() - begun
        for name, average in averages.items():
            found[str(name)][prior] = loss_of(average.predict_proba(job.test[str(name)]), job.y_test)
    begun = time.process_time()
    models = gridmodl.optimize_each(job.train, job.y, n_jobs=1, target_kind="classes")
    seconds[OPTIMUM] = seconds.get(OPTIMUM, 0.0) + time.process_time() - begun
    for name, model in models.items():
        partition = model.partitions[name]
        found[str(name)][OPTIMUM] = loss_of_bounds(job, str(name), partition.bounds, partition.is_missing_apart)
    asked = {sys.executable: [QUANTILES, TREE]}
    if run.options.khiops_python:
        asked[run.options.khiops_python] = [KHIOPS]
    with tempfile.TemporaryDirectory() as folder:
        job.write(Path(folder))
        for python, methods in asked.items():
            for method, answer in ask(python, LIBRARIES, methods, Path(folder), TIME_LIMIT).items():
                for name, parts in answer.get("found", {}).items():
                    if "bounds" in parts:
                        found[name][method] = loss_of_bounds(
                            job, name, parts["bounds"], bool(parts.get("apart", False))
                        )
    return found


def compared(columns: list[Losses], method: str, other: str) -> list[str]:
    """Mean difference, and the numbers of columns that are clearly better and worse."""
    pairs = [(one[method] - one[other]) for one in columns if method in one and other in one]
    means = np.array([pair.mean() for pair in pairs])
    errors = np.array([pair.std(ddof=1) / np.sqrt(len(pair)) for pair in pairs])
    clear = (np.abs(means) > CLEARLY) & (np.abs(means) > 2.0 * errors)
    return [
        str(len(means)), f"{means.mean():+.4f}", str(int(np.sum(clear & (means < 0)))),
        str(int(np.sum(clear & (means > 0)))),
    ]  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    run = read_run(__doc__, **python_options(["khiops"]))
    columns: list[Losses] = []
    seconds: dict[str, float] = {}
    n_sets = 0
    for name in names_of(run):
        job = known_classes(real_job(name, "numerical", run))
        if job.train:
            columns += losses_of(job, run, seconds).values()
            n_sets += 1
            say(run, name, f"{len(columns)} columns", {key: round(value, 2) for key, value in seconds.items()})
    others = [OPTIMUM, KHIOPS, QUANTILES, TREE]
    lines = []
    for other in others:
        if any(other in one for one in columns):
            lines += [[TITLES[other], prior, *compared(columns, prior, other)] for prior in ("rows", "values")]
    lines.append(['average, `prior="rows"`', "values", *compared(columns, "values", "rows")])
    head = ["averaged minus", "prior", "columns", "mean", "clearly better", "clearly worse"]
    text = [
        f"{len(columns)} numerical columns of {n_sets} data sets; a row compares the loss of the average with that of "
        "another method, in nats a row, below 0 where the average is better.\n",
        table_of(head, lines),
        "Columns of one data set share their rows, so that counts of columns are no independent trials.\n",
        f"Processor seconds for all columns, one thread: averages over rows {seconds['rows']:.1f}, over values "
        f"{seconds['values']:.1f}, proven searches {seconds[OPTIMUM]:.1f}.\n",
    ]
    publish("Best partition or average: held-out log-loss", "\n".join(text), run)


if __name__ == "__main__":
    main()
