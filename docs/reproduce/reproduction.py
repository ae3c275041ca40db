"""What all scripts that reproduce a paper share: their arguments, their data, and the page of results that they write.

    python docs/reproduce/NAME.py --data ../shared/data            prints the paper's numbers beside ours
    python docs/reproduce/NAME.py --data ../shared/data --write    writes docs/results/NAME.md too
    python docs/reproduce/NAME.py --quick                          a small part, on data that come with scikit-learn

A page says with which seed, versions and date it was made, and how long that took. `make reproduce` makes them all,
`make reproduce-quick` a small part of each.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import pandas as pd
import sklearn.datasets
from matplotlib.figure import Figure

RESULTS = Path(__file__).parent.parent / "results"
SEED = 0
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")  # told apart by colour-blind eyes too
PACKAGES = ("gridmodl", "numpy", "numba", "scikit-learn", "pandas")
STAND_INS: dict[str, Callable[..., object]] = {
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
    "breast": sklearn.datasets.load_breast_cancer,
}


class Run(NamedTuple):
    """What was asked for on the command line."""

    data: Path | None
    quick: bool
    write: bool
    begun: float
    options: argparse.Namespace


def read_run(about: str | None, **options: tuple[float | str | None, str]) -> Run:
    """The arguments of a script whose docstring is `about`; its own `options` have a default and a word of help."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets and MANIFEST.csv")
    parser.add_argument("--quick", action="store_true", help="a small part, to see that it runs")
    parser.add_argument("--write", action="store_true", help="write the page in docs/results")
    for name, (default, words) in options.items():
        kind = str if default is None else type(default)
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, default=default, help=f"{words} ({default})")
    given = parser.parse_args()
    if given.data is None and not given.quick:
        parser.error("--data must name the folder with the data sets; without them there is --quick")
    if given.quick and given.write:
        parser.error("--quick looks at a small part only, which is not written")
    return Run(given.data, given.quick, given.write, time.perf_counter(), given)


def say(run: Run, *words: object) -> None:
    """How far the script is, with the seconds since it began: not part of the results."""
    print(f"{time.perf_counter() - run.begun:7.0f} s", *words, file=sys.stderr, flush=True)


def load(name: str, run: Run) -> tuple[pd.DataFrame, pd.Series]:
    """The input columns and the classes of a data set; in a quick run those of scikit-learn."""
    if run.data is None:
        if name not in STAND_INS:
            raise ValueError(f"a quick run has {', '.join(STAND_INS)}, got {name!r}")
        found = STAND_INS[name](as_frame=True)
        return found.data, found.target.astype(str)  # type: ignore[attr-defined]
    table = pd.read_csv(run.data / f"{name}.csv.gz")
    kinds = json.loads((run.data / "schema.json").read_text())[name]
    for column, kind in kinds.items():
        if kind == "categorical":
            table[column] = table[column].map(str, na_action="ignore").astype(object)
    y = table["class"] if "class" in table else pd.Series([""] * len(table))  # a data set without classes
    return table.drop(columns="class", errors="ignore"), y.astype(str)


def table_of(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in markdown, the first column to the left."""
    rules = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rules, *lines)) + "\n"


def picture(name: str, words: str, figure: Figure, run: Run) -> str:
    """The line of markdown that shows a figure, which is saved where a page was asked for."""
    if run.write:
        RESULTS.mkdir(exist_ok=True)
        figure.savefig(RESULTS / f"{name}.png", dpi=110, bbox_inches="tight")
    return f"![{words}]({name}.png)\n"


def publish(name: str, title: str, text: str, run: Run) -> None:
    """Print the results, and write their page where that was asked for."""
    print(text)
    if not run.write:
        return
    minutes = (time.perf_counter() - run.begun) / 60.0
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    made = (
        f"*Made by [`docs/reproduce/{name}.py`](../reproduce/{name}.py) on {datetime.date.today()} in {minutes:.1f} "
        f"minutes; seed {SEED}, Python {platform.python_version()}, {versions}.*"
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(f"# {title}\n\n{text}\n{made}\n")
