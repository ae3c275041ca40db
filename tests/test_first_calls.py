"""Calls of every problem and built-in criterion answer from the library of kernels, as plain Python answers.

`.ci/run` runs this with the library of a wheel, with numba and without it; in a clone, `make library` builds one.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from fuzz.cases import make_case

import gridmodl
from gridmodl.criteria import gridmodl_criteria
from gridmodl.jit import cache, library
from gridmodl.jit.template import Kernel
from gridmodl.jit.tiers import compile_as
from gridmodl.plugins import class_number, criterion_for, list_criteria

REFUSED = library.library_facts()["refused"]
HOME = os.environ.get("GRIDMODL_TESTED_HOME")  # folder of a wheel, whose library must answer
pytestmark = pytest.mark.skipif(
    REFUSED is not None and HOME is None, reason=f"the library is not used: {REFUSED}; make library builds it"
)

rng = np.random.default_rng(7)
N = 40
X = rng.normal(size=N).round(1)
Z = (X + rng.normal(size=N) / 2).round(1)
TOWN = np.array(list("abcde"))[(2 * (X > 0) + rng.integers(0, 3, N)) % 5]
KIND = ((X > -0.5).astype(int) + (X > 0.5)) % 3
FEW = gridmodl.Search("vns", effort=1)


def classes(criterion, problem):
    """Classes of the number that the criterion needs."""
    n = class_number(criterion_for(criterion, problem))
    return KIND if n is None else (KIND + np.arange(N)) % n


CALLS = {
    "classes": lambda c: (
        gridmodl.optimize(X, classes(c, "classes"), criterion=c),
        gridmodl.optimize(TOWN, classes(c, "classes"), criterion=c, max_parts=3),
    ),
    "grid": lambda c: (gridmodl.optimize({"x": X, "town": TOWN}, classes(c, "grid"), criterion=c, search=FEW),),
    "joint": lambda c: (
        gridmodl.optimize({"x": X, "town": TOWN}, criterion=c, search=FEW),
        gridmodl.optimize({"x": X, "z": Z, "town": TOWN}, criterion=c, search=FEW),
    ),
    "grouped": lambda c: (gridmodl.optimize(X, TOWN, target_kind="grouped", criterion=c, search=FEW),),
    "numerical": lambda c: (gridmodl.optimize(X, Z, target_kind="numerical", criterion=c, search=FEW),),
    "grouped_grid": lambda c: (
        gridmodl.optimize({"x": X, "z": Z}, TOWN, target_kind="grouped", criterion=c, search=FEW),
    ),
    "numerical_grid": lambda c: (
        gridmodl.optimize({"x": X, "town": TOWN}, Z, target_kind="numerical", criterion=c, search=FEW),
    ),
    "semi": lambda c: (
        gridmodl.optimize(X, np.where(np.arange(N) % 3 == 0, classes(c, "semi"), -1), unlabelled=-1, criterion=c),
    ),
    "density": lambda c: (gridmodl.optimize(X, criterion=c),),
}
BUILT_IN = {criterion.name for criterion in gridmodl_criteria()}
CASES = [(problem, name) for problem in CALLS for name in list_criteria(problem) if name in BUILT_IN]


def told(models):
    """All that files of the models say, but for how long the searches took."""
    return [{key: value for key, value in json.loads(m.to_json()).items() if key != "elapsed"} for m in models]


@pytest.fixture
def others(monkeypatch):
    """Names of kernels that ran as plain Python, or were compiled."""
    found, run_plain = [], Kernel._run_plain
    monkeypatch.setattr(Kernel, "_run_plain", lambda self, a: found.append(self.kernel.__name__) or run_plain(self, a))
    monkeypatch.setattr(cache, "write", lambda name, _: found.append(name))
    return found


@pytest.mark.skipif(HOME is None, reason="for the wheel that .ci/run builds")
def test_the_library_is_that_of_the_wheel():
    assert REFUSED is None
    assert Path(HOME).resolve() / "gridmodl" / "jit" == library.FOLDER


@pytest.mark.parametrize(("problem", "criterion"), CASES)
def test_the_library_answers_as_plain_python_does(problem, criterion, others, monkeypatch):
    with compile_as("auto"):
        answer = told(CALLS[problem](criterion))
    assert others == []
    monkeypatch.undo()
    with compile_as("never"):
        assert told(CALLS[problem](criterion)) == answer


def costs(seed):
    """Costs of three problems."""
    x = np.random.default_rng(seed).normal(size=300)
    found = (gridmodl.optimize(x, x > 0.3), gridmodl.optimize(x), gridmodl.optimize(x, (x * 2).round().astype(str)))
    return [model.cost for model in found]


def test_threads_find_the_same(others):
    alone = [costs(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(costs, range(4))) == alone
    table = {f"x{i}": rng.normal(size=200) for i in range(4)}
    target = table["x0"] > 0.3
    both = [gridmodl.optimize_each(table, target, n_jobs=n) for n in (1, 2)]
    assert [m.cost for m in both[0].values()] == [m.cost for m in both[1].values()]
    assert others == []


def outcome(case):
    """Cost and parts of a case of the fuzzer, or its error."""
    try:
        model = case.optimized()
    except (TypeError, ValueError) as error:
        return str(error)
    parts = model.all_partitions.items()
    return [model.cost, model.null_cost, *((n, p.bounds.tolist(), p.groups, p.counts.tolist()) for n, p in parts)]


def test_cases_of_the_fuzzer_find_all_kernels_in_the_library(others):
    """And the last bit of plain Python, but for two criteria, as Python has a log of the gamma function of its own."""
    cases = [make_case(7, number)[0] for number in range(400)]
    cases = [case for case in cases if case.kind not in ("each", "baseline")]
    with compile_as("auto"):
        found = [outcome(case) for case in cases]
    assert others == []
    with compile_as("never"):
        plain = [outcome(case) for case in cases]
    for case, one, other in zip(cases, found, plain, strict=True):
        if getattr(case.criterion, "name", case.criterion) in ("g2", "x2"):
            assert one[:2] == pytest.approx(other[:2], rel=1e-12)
        else:
            assert repr(one) == repr(other), case
