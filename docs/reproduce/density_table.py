"""Unsupervised discretization by density against equal intervals: the paper's table, by every reading of its score.

    .venv/bin/pip install --group docs --group test
    .venv/bin/python docs/reproduce/density_table.py --data ../shared/data

M. Biba, F. Esposito, S. Ferilli, N. Di Mauro, T. Basile, "Unsupervised discretization using kernel density
estimation", IJCAI 2007, Table 1: on how many numerical columns of 13 data sets the method has a better, equal or worse
log-likelihood than ten intervals of equal width, ten of equal frequency, and a number of equal width found by
cross-validation; paired t-tests over ten folds at 5 %. The numbers of the table are lost in the text that we have, and
so are the formulas of the score: readings are a kernel (Epanechnikov, box, triangle), and the likelihood itself, our
default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import NDArray
from reproduction import SEED, Run, load, publish, read_run, say, table_of
from sklearn.model_selection import KFold

import gridmodl
from gridmodl import density

DATA = (
    "anneal", "autos", "arrhythmia", "auto_mpg", "bupa", "cylinder_bands", "ecoli", "glass", "heart_num", "hepatitis",
    "ionosphere", "sonar", "wine",
)  # fmt: skip
OURS: dict[str, dict[str, str]] = {
    "Epanechnikov": {"score": "kernel", "kernel": "epanechnikov"},
    "box": {"score": "kernel", "kernel": "box"},
    "triangle": {"score": "kernel", "kernel": "triangle"},
    "likelihood": {"score": "likelihood"},
}
OTHERS: dict[str, Callable[..., Any]] = {
    "equal width, 10": lambda x, domain: density.equal_width(x, 10, domain=domain),
    "equal frequency, 10": lambda x, domain: density.equal_frequency(x, 10, domain=domain),
    "equal width, cross-validated": lambda x, domain: density.equal_width(x, domain=domain, random_state=SEED),
}


def log_likelihoods(x: NDArray[np.float64], fit: Callable[..., Any]) -> NDArray[np.float64]:
    """Per row of each of ten folds."""
    domain = (float(x.min()), float(x.max()))
    folds = KFold(10, shuffle=True, random_state=SEED).split(x)
    return np.array([fit(x[train], domain).log_likelihood(x[test]) / len(test) for train, test in folds])


def verdict(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> int:
    if np.allclose(ours, theirs):
        return 0
    test = scipy.stats.ttest_rel(ours, theirs)
    return int(np.sign(test.statistic)) if test.pvalue < 0.05 else 0


def columns(run: Run) -> list[NDArray[np.float64]]:
    """All numerical columns with two values or more and twenty rows or more, without their missing values."""
    found = []
    for name in ("iris", "wine") if run.quick else DATA:
        X, _ = load(name, run)
        for _, column in X.items():
            if pd.api.types.is_numeric_dtype(column):
                x = column.dropna().to_numpy(dtype=float)
                if len(x) >= 20 and len(np.unique(x)) > 1:
                    found.append(x)
    return found[:6] if run.quick else found


def make(options: dict[str, str]) -> Callable[..., Any]:
    return lambda x, domain: gridmodl.optimize_density(x, domain=domain, random_state=SEED, **options)


def main() -> None:
    run = read_run(__doc__)
    every = columns(run)
    theirs = {name: [log_likelihoods(x, fit) for x in every] for name, fit in OTHERS.items()}
    lines = []
    for name, options in OURS.items():
        ours = [log_likelihoods(x, make(options)) for x in every]
        cells = []
        for other in OTHERS:
            found = [verdict(one, two) for one, two in zip(ours, theirs[other], strict=True)]
            cells.append(" / ".join(str(found.count(sign)) for sign in (1, 0, -1)))
        lines.append([name, *cells])
        say(run, *lines[-1])
    text = (
        f"{len(every)} numerical columns; better / equal / worse than each of the others.\n\n"
        + table_of(["score", *OTHERS], lines)
        + "\nThe numbers of the paper's Table 1 are lost in our copy.\n"
    )
    publish("density_table", "Unsupervised discretization by density", text, run)


if __name__ == "__main__":
    main()
