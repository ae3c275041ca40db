"""Coclustering beside other libraries: time, cost under the papers' criterion, planted groups found, held-out log-loss.

    .venv/bin/pip install --group docs --group test
    python3 -m venv ../khiops && ../khiops/bin/pip install khiops
    python3 -m venv ../sparsebm && ../sparsebm/bin/pip install sparsebm
    .venv/bin/python -m reproduce.peers.comparison_joint --data ../shared/data --khiops-python ../khiops/bin/python \\
        --sparsebm-python ../sparsebm/bin/python

A library whose Python is not given is skipped. Every method gets the training rows of two columns of categories, or a
matrix of them; its groups are priced by `gridmodl.price`, and tell the pairs of the test rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Hashable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import gridmodl
from asv_benchmarks.benchmarks import datasets
from reproduce.matrices import read_matrix
from reproduce.peers.joint_libraries import METHODS
from reproduce.peers.processes import ask, by_package, python_options, pythons, skipped_words
from reproduce.run import SEED, Run, publish, read_run, say, table_of

LIBRARIES = "reproduce.peers.joint_libraries"
TEST_SHARE = 0.3
TIME_LIMIT = 300  # seconds of the processor for a method and a data set
FIRST = next(iter(METHODS))
SELECTION, ONE_MODEL = "sparsebm", "sparsebm, told"
SLOW = 100.0  # seconds of one model beyond which the selection among hundreds is not tried
FORMULA = r"\frac{n_{AB} + 1}{n + G H} \cdot \frac{n_a + 1}{n_A + V_A} \cdot \frac{n_b + 1}{n_B + V_B}"
INTRODUCTION = f"""\
The groups of two columns of categories, found by each library in an environment of its own from the same rows:

* planted blocks: rows fall into the cells of blocks unevenly (`make_blocks` of `asv_benchmarks`, seed 0; the training
  rows are those of `blocks.py`, the test rows are drawn after them);
* digits: scikit-learn's digits, image x pixel, the pixels with more than 7 of 16 units of ink;
* Nova: 1,000 of its texts, drawn at random, and the words in 20 of them or more.

Of digits and Nova, 30 % of the ones are test rows. What the tables have:

* **cost** is `gridmodl.price` of the groups on the training rows (formula 5 of M. Boullé, "Data grid models for
  preparation and modeling in supervised learning", 2011): gridmodl minimizes it, and none of the others does, as
  Khiops' criterion is no longer that.
* **planted** is the adjusted Rand index with the planted groups, of the first and of the second column.
* **loss** takes no side: the mean over the test rows $(a, b)$ of $-\\log p(a, b)$, where

  $$p(a, b) = {FORMULA}$$

  $A$ and $B$ are the groups of $a$ and $b$; $n$ counts training rows, all or those of a group or a value; $V_A$ are the
  values in $A$, and $G$ and $H$ the numbers of groups. Pairs with a value that no training row has are left out, the
  same for all.
* **seconds** are of the processor, by the clock in brackets: the machine had other work to do. They are those of the
  call with one thread, from texts (gridmodl), from a file (Khiops), or from codes, the matrix included (the others),
  after a small call before it; compiling and writing Khiops' file do not count. "No answer" is none in {TIME_LIMIT} s
  of the processor.

The methods:

* Khiops: `train_coclustering` as it comes, one core.
* spectral: `SpectralCoclustering` (as many groups of rows as of columns, each with one of the others) and
  `SpectralBiclustering` of scikit-learn, as they come (3 groups), and *told* the number of groups: the planted one, and
  for digits and Nova the one that gridmodl found, the smaller of both for the first. They have no way to find it.
* sparsebm: `LBM`, latent blocks, told the number of groups, and `ModelSelection` among hundreds of them, which is not
  tried where one takes more than {SLOW:.0f} s. They are models of zeros and ones: they see whether a pair has a row,
  not how many, which for planted blocks is less than the others see.
"""


class Case(NamedTuple):
    """Codes of both columns, compact in the training rows; -1 in test rows where no training row has the value."""

    name: str
    train: tuple[NDArray[np.int64], NDArray[np.int64]]
    test: tuple[NDArray[np.int64], NDArray[np.int64]]
    planted: tuple[NDArray[np.int64], NDArray[np.int64]] | None

    @property
    def n_values(self) -> tuple[int, int]:
        return int(self.train[0].max()) + 1, int(self.train[1].max()) + 1


def compact(name: str, train: Any, test: Any, planted: Any = None) -> Case:
    fit, new, blocks = [], [], list[Any]()
    for i in range(2):
        known, codes = np.unique(train[i], return_inverse=True)
        place = np.searchsorted(known, test[i]).clip(max=len(known) - 1)
        fit.append(codes)
        new.append(np.where(known[place] == test[i], place, -1))
        if planted:
            blocks.append(planted[i][known])
    return Case(name, (fit[0], fit[1]), (new[0], new[1]), (blocks[0], blocks[1]) if planted else None)


def planted_case(n_rows: int, n_values: int, n_blocks: int) -> Case:
    n_test = int(n_rows * TEST_SHARE)
    a, b, first, second = datasets.make_blocks(n_rows + n_test, n_values, n_blocks)
    name = f"planted, {n_rows:,} rows, {n_values:,} x {n_values:,} values, {n_blocks} x {n_blocks} blocks"
    return compact(name, (a[:n_rows], b[:n_rows]), (a[n_rows:], b[n_rows:]), (first, second))


def matrix_case(name: str, matrix: Any) -> Case:
    """The ones of a matrix, some of them held out."""
    a, b = sparse.coo_array(matrix).nonzero()
    order = np.random.default_rng(SEED).permutation(len(a))
    new, fit = np.split(order, [int(len(a) * TEST_SHARE)])
    case = compact(name, (a[fit], b[fit]), (a[new], b[new]))
    return case._replace(name=f"{name}, {len(fit):,} ones, {case.n_values[0]:,} x {case.n_values[1]:,} values")


def nova(data: Path) -> Any:
    matrix = read_matrix("nova", data).X
    texts = np.random.default_rng(SEED).choice(matrix.shape[0], 1_000, replace=False)
    ones = matrix[np.sort(texts)].astype(np.int64).tocsc()
    return ones[:, np.flatnonzero(ones.sum(axis=0) >= 20)]


def cases(run: Run) -> list[Case]:
    digits = load_digits().data > 7
    if run.data is None:
        return [planted_case(5_000, 30, 3), matrix_case("digits", digits)]
    planted = [planted_case(10_000, 100, 5), planted_case(100_000, 1_000, 10)]
    return [*planted, matrix_case("digits", digits), matrix_case("Nova", nova(run.data))]


def cost(case: Case, groups: list[NDArray[np.int64]]) -> float:
    """`gridmodl.price` of groups of codes."""
    columns = {name: datasets.as_texts(codes, name) for name, codes in zip("ab", case.train, strict=True)}
    partitions: dict[Hashable, Any] = {}
    for name, group_of in zip("ab", groups, strict=True):
        lists = [np.flatnonzero(group_of == i) for i in np.unique(group_of)]
        partitions[name] = [[f"{name}{code}" for code in codes] for codes in lists]
    return float(gridmodl.price(columns, None, partitions))


def loss(case: Case, groups: list[NDArray[np.int64]]) -> float:
    n_groups = [int(group_of.max()) + 1 for group_of in groups]
    cells = np.zeros(n_groups)
    np.add.at(cells, (groups[0][case.train[0]], groups[1][case.train[1]]), 1.0)
    is_known = (case.test[0] >= 0) & (case.test[1] >= 0)
    new = [codes[is_known] for codes in case.test]
    inside = [groups[i][new[i]] for i in range(2)]
    logs = np.log((cells[inside[0], inside[1]] + 1.0) / (cells.sum() + cells.size))
    for i in range(2):
        rows = np.bincount(case.train[i])
        of_groups = np.bincount(groups[i], weights=rows, minlength=n_groups[i]) + np.bincount(groups[i])
        logs += np.log((rows[new[i]] + 1.0) / of_groups[inside[i]])
    return float(-logs.mean())


def judge(case: Case, found: list[list[int]]) -> dict[str, Any]:
    groups = [np.unique(one, return_inverse=True)[1] for one in found]
    planted = (
        None
        if case.planted is None
        else [adjusted_rand_score(*both) for both in zip(case.planted, groups, strict=True)]
    )
    shape = tuple(int(group_of.max()) + 1 for group_of in groups)
    return {"cost": cost(case, groups), "loss": loss(case, groups), "planted": planted, "shape": shape}


def compare(case: Case, known: dict[str, str], run: Run) -> dict[str, dict[str, Any]]:
    """By method: seconds and what its groups are worth, or an error."""
    told = (1, 1) if case.planted is None else tuple(len(np.unique(blocks)) for blocks in case.planted)
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for package, names in together(known):
            np.savez(Path(folder) / "pairs.npz", a=case.train[0], b=case.train[1], told=np.array(told))
            if names == [SELECTION] and results[ONE_MODEL].get("processor", np.inf) > SLOW:
                answers: dict[str, dict[str, Any]] = {SELECTION: {"error": "not tried"}}
            else:
                answers = ask(known[package], LIBRARIES, names, Path(folder), TIME_LIMIT)
            for method, answer in answers.items():
                found = answer.pop("found", None)
                results[method] = {**answer, **(judge(case, found) if found else {})}
                say(run, case.name, method, results[method])
            if case.planted is None:  # the first method is the one that finds them
                told = results[FIRST]["shape"]
    return results


def together(known: dict[str, str]) -> list[tuple[str, list[str]]]:
    """Packages and those of their methods that are asked in one process: whether one is tried hangs on another."""
    found = []
    for package, methods in by_package(METHODS, known).items():
        found += [(package, [one]) for one in methods] if SELECTION in methods else [(package, methods)]
    return found


def line(method: str, result: dict[str, Any]) -> list[str]:
    if "error" in result:
        return [method, result["error"], "", "", "", ""]
    planted = "" if result["planted"] is None else " / ".join(f"{one:.3f}" for one in result["planted"])
    seconds = f"{result['processor']:.2f} ({result['clock']:.2f})"
    shape = " x ".join(map(str, result["shape"]))
    return [method, f"{result['cost']:.3f}", shape, planted, f"{result['loss']:.5f}", seconds]


def section(case: Case, results: dict[str, dict[str, Any]]) -> str:
    head = ["method", "cost", "groups", "planted", "loss", "seconds"]
    lines = [line(method, results[method]) for method in METHODS if method in results]
    whole = judge(case, [[0] * n for n in case.n_values])
    lines.append(["one group each", f"{whole['cost']:.3f}", "1 x 1", "", f"{whole['loss']:.5f}", ""])
    if case.planted is not None:
        truth = judge(case, [blocks.tolist() for blocks in case.planted])
        shape = " x ".join(map(str, truth["shape"]))
        lines.append(["the planted groups", f"{truth['cost']:.3f}", shape, "1.000 / 1.000", f"{truth['loss']:.5f}", ""])
    else:
        at = head.index("planted")
        head, *lines = [[*row[:at], *row[at + 1 :]] for row in (head, *lines)]
    return f"## {case.name}\n\n{table_of(head, lines)}\n{wins(results)}"


def wins(results: dict[str, dict[str, Any]]) -> str:
    """Where others are better than gridmodl."""
    first = results[FIRST]
    words = {"cost": "cheaper", "loss": "a lower held-out loss", "processor": "fewer seconds of the processor"}
    said = []
    for key, name in words.items():
        better = [method for method, one in results.items() if key in one and one[key] < first[key] * (1.0 - 1e-9)]
        said.append(f"* {name}: {'; '.join(better) or 'none'}.")
    return "Better than gridmodl here:\n\n" + "\n".join(said) + "\n"


def main() -> None:
    run = read_run(__doc__, **python_options(["khiops", "sparsebm"]))
    known = pythons(run.options)
    sections, versions = [], {}
    for case in cases(run):
        results = compare(case, known, run)
        sections.append(section(case, results))
        versions.update({METHODS[m][0].package: one["version"] for m, one in results.items() if "version" in one})
    skipped = skipped_words(kind.package for kind, *_ in METHODS.values() if kind.package not in known)
    ran = ", ".join(f"{package} {version}" for package, version in versions.items())
    text = [INTRODUCTION, f"Versions: {ran}. {skipped}\n", *sections]
    publish("Coclustering beside other libraries", "\n".join(text), run)


if __name__ == "__main__":
    main()
