"""What scripts that write a page share: their arguments, their data, and the page in docs/results.

    python -m reproduce.papers.NAME --data ../shared/data            print the paper's numbers beside ours
    python -m reproduce.papers.NAME --data ../shared/data --write    write docs/results/NAME.md too
    python -m reproduce.papers.NAME --quick                          a small part, on data that come with scikit-learn
    python -m reproduce.papers.NAME --data ../shared/data --only "Figure 4" --write    one section of the page anew

A page says with which seed, versions and date it was made, and how long that took; so does a section that was made
apart from its page (`--only`, in scripts that have several), at its own end. `make reproduce` makes all pages, `make
reproduce-quick` a small part of each.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import pandas as pd
import sklearn.datasets
from matplotlib.figure import Figure

from reproduce import ROOT

RESULTS = ROOT / "docs" / "results"
SEED = 0
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")  # told apart by colour-blind eyes too
OF_ITS_DAY = "Numbers are of the code of that day: what changed later is not in them."
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
    only: str | None = None  # the one section to make
    asked: str = ""  # the section, and numbers other than their defaults, as on the command line

    @property
    def script(self) -> Path:
        """Of the running script, from the root; its name is that of the page."""
        return Path(sys.argv[0]).resolve().relative_to(ROOT)

    @property
    def page(self) -> Path:
        return RESULTS / f"{self.script.stem}.md"


Sections = Mapping[str, Callable[[Run], str]]  # by how the heading of each begins


def read_run(about: str | None, sections: Iterable[str] = (), **options: tuple[float | str | None, str]) -> Run:
    """Read the arguments of a script whose docstring is `about`.

    Its own `options` have a default and a word of help; one of its `sections`, if it has several, can be asked for.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets and MANIFEST.csv")
    parser.add_argument("--quick", action="store_true", help="a small part, to see that it runs")
    parser.add_argument("--write", action="store_true", help="write the page in docs/results")
    for name, (default, words) in options.items():
        kind = str if default is None else type(default)
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, default=default, help=f"{words} ({default})")
    if sections := list(sections):
        parser.add_argument("--only", choices=sections, help="make one section, and leave the others as they are")
    given = parser.parse_args()
    if given.data is None and not given.quick:
        parser.error("--data must name the folder with the data sets; without them there is --quick")
    if given.quick and given.write:
        parser.error("--quick looks at a small part only, which is not written")
    only = getattr(given, "only", None)
    asked = f' --only "{only}"' if only else ""
    for name, (default, _) in options.items():  # numbers only: the others are paths, which are of one machine
        value = getattr(given, name)
        if isinstance(default, int | float) and value != default:
            asked += f" --{name.replace('_', '-')} {value:g}"
    return Run(given.data, given.quick, given.write, time.perf_counter(), given, only, asked)


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


def table_of(head: Sequence[str], lines: Iterable[Sequence[str]], texts: Sequence[str] = ()) -> str:
    """A table in markdown: the first column and those whose heads are in `texts` to the left, numbers to the right."""
    rules = ["---" if name in (head[0], *texts) else "---:" for name in head]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rules, *lines)) + "\n"


def picture(name: str, words: str, figure: Figure, run: Run) -> str:
    """The line of markdown that shows a figure, which is saved where a page was asked for."""
    if run.write:
        RESULTS.mkdir(exist_ok=True)
        figure.savefig(RESULTS / f"{name}.png", dpi=110, bbox_inches="tight")
    return f"![{words}]({name}.png)\n"


def publish(title: str, text: str, run: Run) -> None:
    """Print the results, and write their page where that was asked for."""
    print(text)
    if run.write:
        RESULTS.mkdir(exist_ok=True)
        run.page.write_text(f"# {title}\n\n{text}\n{_made(run)}\n")


def publish_sections(title: str, introduction: str, sections: Sections, run: Run) -> None:
    """Make all sections of a page and publish them; or make the one asked for, and put it into the page."""
    if run.only is None:
        publish(title, "\n".join([introduction, *(make(run) for make in sections.values())]), run)
        return
    text = sections[run.only](run)
    print(text)
    if run.write:
        made = _made(run).replace("*Made by", "*This section was made by", 1)
        run.page.write_text(with_section(run.page.read_text(), f"{text}\n{made}\n", run.only, list(sections)))


def with_section(page: str, text: str, only: str, names: Sequence[str]) -> str:
    """Put a section into a page whose sections are called `names`, in the place of the one it has or where it belongs.

    What the page says at its end of how it was made stays, and is true of all else.
    """
    found = re.fullmatch(r"(.*?\n)(\*Made by [^\n]*\n)", page, flags=re.DOTALL)
    if found is None:
        raise ValueError("the page does not end with how it was made; write all of it first, without --only")
    head, *blocks = re.split(r"^(?=## )", found[1], flags=re.MULTILINE)
    before = names[: names.index(only)]
    is_same = [block.startswith(f"## {only}") for block in blocks]
    if any(is_same):
        at = is_same.index(True)
        del blocks[at]
    else:
        at = sum(block.startswith(tuple(f"## {name}" for name in before)) for block in blocks)
    blocks.insert(at, f"{text}\n")
    return head + "".join(blocks) + found[2]


def _made(run: Run) -> str:
    """How the results were made."""
    minutes = (time.perf_counter() - run.begun) / 60.0
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return (
        f"*Made by `python -m {'.'.join(run.script.with_suffix('').parts)}{run.asked}` on {datetime.date.today()} in "
        f"{duration(minutes)}; seed {SEED}, Python {platform.python_version()}, {versions}. {OF_ITS_DAY}*"
    )


def duration(minutes: float) -> str:
    return f"{minutes:.1f} minutes" if minutes >= 0.05 else "a few seconds"


def put_table(name: str, text: str) -> None:
    """Write a table into docs/exact.md, in place of what is between the marks of that name."""
    path = ROOT / "docs" / "exact.md"
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    document = path.read_text()
    if document.count(begin) != 1 or document.count(end) != 1:
        raise ValueError(f"{path.name} must have the lines {begin!r} and {end!r} once each; add them")
    before, rest = document.split(begin)
    path.write_text(before + begin + "\n" + text + "\n" + end + rest.split(end)[1])
