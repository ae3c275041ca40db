"""Compiling ahead: typical first calls compile nothing afterwards."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gridmodl
from gridmodl import warm_up
from gridmodl.analysis.warming import KNOWN_PROBLEMS, STEPS, _jobs
from gridmodl.jit.cache import cache_folder
from gridmodl.terms import PROBLEMS

PACKAGE = Path(gridmodl.__file__).parent

START = """
import json, warnings
import numpy as np, pandas as pd, polars as pl
from numba.core import event
warnings.simplefilter("ignore")
recorder = event.RecordingListener()
event.register("numba:compile", recorder)
import gridmodl
from gridmodl import Search, baselines, bound_posterior, cost_by_parts, optimize, optimize_density, optimize_each, price
rng = np.random.default_rng(1)
n = 400
x, z = rng.normal(size=n), rng.normal(size=n)
whole = rng.integers(0, 300, n)
times = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(whole, unit="h"))
town, shop = rng.choice(list("abcdefghijklmn"), n), rng.choice([f"s{i}" for i in range(60)], n)
yes = (x > 0) ^ (rng.random(n) < 0.2)
three = np.digitize(x, [-0.5, 0.5])
few = Search("vns", effort=1)
"""
END = """
print(json.dumps(sorted({record.data["dispatcher"].py_func.__qualname__ for _, record in recorder.buffer})))
"""
# What users call first, by problem; not a copy of what warming up runs.
TYPICAL = {
    "classes": """
for column in (x, whole, times, x.astype(np.float32), pd.Series(town, dtype="category"), town, shop, pl.Series(shop)):
    for target in (yes, three.astype(str), pd.Series(three)):
        optimize(column, target)
        optimize(column, target, weights=rng.integers(1, 4, n), max_parts=5, min_rows=0.05)
x[::9] = np.nan
str(optimize(x, yes, search="exact").explain())
optimize(x, yes, monotone="auto")
optimize(z, yes, monotone="peak")
optimize(x, yes, monotone="valley", min_rows=20, max_parts=4, missing="apart")
optimize(x, yes, min_events=5, min_difference=0.1, weights=rng.integers(1, 4, n))
optimize(whole, three, min_events=0.1, fixed=[100], allowed=[50, 100, 150, 200])
optimize(shop, yes, min_events=("event", 10), min_difference=0.05)
optimize(x, three, special={"x0": [float(x[1])]}, search=Search("merge", post_optimize=False))
models = optimize_each(pd.DataFrame({"x": x, "z": z, "whole": whole, "town": town, "shop": shop}), three, n_jobs=2)
price({"x": x}, three, models["x"].partitions)
long = rng.normal(size=5_000)
optimize(long, long + rng.normal(size=5_000) > 0, search="exact")
cost_by_parts(x, three)
cost_by_parts(town, three)
gridmodl.average(long, long > 0).band([0.0])
gridmodl.average_each({"z": z, "whole": whole}, three)["z"].partition()
X = np.column_stack([z, whole])
gridmodl.GridDiscretizer().fit_transform(X, three)
gridmodl.GridNaiveBayes().fit(X, three).predict_proba(X)
gridmodl.GridNaiveBayes(weights="selective").fit(X, yes).predict(X)
""",
    "grid": """
for data in ({"x": x, "town": town}, pd.DataFrame({"x": x, "z": z, "town": town, "shop": shop})):
    model = optimize(data, three)
    optimize(data, yes, search="merge", weights=rng.integers(1, 4, n), max_parts=4, min_rows=10)
    model.explain("town")
    price(data, three, model.partitions)
X = np.column_stack([x, z])
gridmodl.GridClassifier(search=few).fit(X, yes).predict_proba(X)
many = Search("diverse", effort=2, keep_optima=4)
gridmodl.GridEnsembleClassifier(criterion="modl", search=many).fit(X, three).predict_proba(X)
""",
    "joint": """
from scipy import sparse
every = {"x": x, "z": x + z / 3, "town": town, "shop": shop}
for names in (["town", "shop"], ["x", "z"], ["x", "town"], ["x", "z", "town"]):
    data = {name: every[name] for name in names}
    model = optimize(data, search=few)
    optimize(data, search="merge", weights=rng.integers(1, 4, n), max_parts=4, min_rows=10)
    model.hierarchy()
    price(data, None, model.partitions)
    if "town" in data:
        model.explain("town")
        model.typical_values("town")
matrix = rng.poisson(0.5 + (np.arange(20) % 2)[:, None] * (np.arange(15) % 2))
optimize(sparse.csr_matrix(matrix), search=few)
found = gridmodl.GridCoclustering(search=few).fit(matrix[:12])
found.predict(matrix[12:])
labels = np.where(np.arange(20) < 8, np.arange(20) % 2, -1)
gridmodl.CoclusteringClassifier(unlabelled=-1, search=few).fit(matrix, labels).predict(matrix)
""",
    "grouped": """
for column in (x, town):
    model = optimize(column, shop, target_kind="grouped", search=few)
    optimize(column, three.astype(str), target_kind="grouped", search="merge", max_parts=3)
    price(column, shop, model.all_partitions, target_kind="grouped")
    model.hierarchy()
""",
    "numerical": """
for column in (x, town):
    model = optimize(column, x + z / 3, target_kind="numerical", search=few)
    optimize(column, whole, target_kind="numerical", search="merge", min_rows=10)
    price(column, x + z / 3, model.all_partitions, target_kind="numerical")
for order in ("decreasing", "valley", "auto"):
    optimize(x, x + z / 3, target_kind="numerical", monotone=order, search=few)
""",
    "grouped_grid": """
for data in ({"x": x, "town": town}, pd.DataFrame({"x": x, "z": z, "town": town})):
    model = optimize(data, shop, target_kind="grouped", search=few)
    optimize(data, three.astype(str), target_kind="grouped", weights=rng.integers(1, 4, n), max_parts=3)
    price(data, shop, model.all_partitions, target_kind="grouped")
    model.explain("town")
    model.hierarchy()
X = np.column_stack([x, z])
gridmodl.GridClassifier(target_kind="grouped", search=few).fit(X, shop).predict_proba(X)
""",
    "numerical_grid": """
for data in ({"x": x, "town": town}, pd.DataFrame({"x": x, "z": z, "town": town})):
    model = optimize(data, x + z / 3)
    optimize(data, whole, target_kind="numerical", search="merge", weights=rng.integers(1, 4, n), min_rows=10)
    price(data, x + z / 3, model.all_partitions)
    model.explain("town")
    model.hierarchy()
X = np.column_stack([x, z])
gridmodl.GridRegressor(search=few).fit(X, x + z / 3).predict(X)
gridmodl.GridRegressor(search=Search("diverse", effort=2), ensemble=4).fit(X, x + z / 3).predict(X)
""",
    "semi": """
for target in (np.where(rng.random(n) < 0.3, yes, -1), np.where(rng.random(n) < 0.3, three, -1)):
    for column in (x, whole, times, town, shop):
        optimize(column, target, unlabelled=-1)
    bound_posterior(x, target, unlabelled=-1)
    gridmodl.average(x, target, unlabelled=-1).sample(3)
""",
    "density": """
optimize(x, search="merge")
optimize(x, search="exact", weights=rng.integers(1, 4, n))
cost_by_parts(x[:300], max_parts=5)
""",
    "cuts": """
optimize_density(x)
optimize_density(whole.astype(float), max_parts=10)
optimize_density(x, score="kernel", kernel="box", weights=rng.integers(1, 4, n))
""",
    "baselines": """
for target in (yes, three):
    baselines.fayyad_irani(x, target)
    baselines.fayyad_irani(times, target)
    baselines.chi_merge(whole, target, weights=rng.integers(1, 4, n))
    baselines.equal_width(x, target, n_parts=4)
""",
}


def compiled_by(code):
    """Names of the functions that numba compiles in a new process."""
    path = os.pathsep.join([str(PACKAGE.parent), *sys.path])
    environment = os.environ | {"PYTHONPATH": path, "GRIDMODL_COMPILE": "always"}
    command = [sys.executable, "-c", START + code + END]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_warm(problems):
    told = []
    warm_up(problems=problems, progress=told.append)
    assert told[-1].share == 1.0
    assert {word.step for word in told} == {"compiling"}
    for problem in problems:
        assert compiled_by(TYPICAL[problem]) == [], problem


def test_typical_calls_compile_nothing_after_warm_up():
    check_warm(["classes", "baselines", "cuts"])
    assert warm_up(problems="cuts") == 0


@pytest.mark.slow
def test_typical_calls_of_every_problem_compile_nothing_after_warm_up():
    check_warm(KNOWN_PROBLEMS)
    there = {file.name.rsplit("-", 3)[0].rpartition(".")[2] for file in cache_folder().path.glob("*.kernel")}
    assert bound_kernels() - there == set()


def bound_kernels():
    """Names of all kernels that the package binds anywhere."""
    bound = set()
    for file in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "bind":
                bound.add(ast.unparse(call.args[0]))
    return bound


def test_the_counter_of_compiled_functions_sees_one():
    assert compiled_by("import numba\nnumba.njit(lambda x: x + 1)(1)") == ["<lambda>"]


def test_every_problem_has_steps_and_typical_calls():
    assert set(STEPS) == set(KNOWN_PROBLEMS) == set(TYPICAL)
    assert set(PROBLEMS) < set(KNOWN_PROBLEMS)


def test_jobs_are_those_that_a_criterion_prices():
    assert {(job.step, job.criterion) for job in _jobs(["modl", "gini"], ["joint", "classes", "cuts"])} == {
        ("pairs", "modl"), ("joint_grids", "modl"), ("cuts", ""),
        *((step, criterion) for step in ("numbers", "categories") for criterion in ("modl", "gini")),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"criteria": "mod"}, "criteria names 'mod'; known: aic.*did you mean 'modl'"),
        ({"problems": ["class"]}, "problems names 'class'; known: classes, grid.*did you mean 'classes'"),
        ({"criteria": "gini", "problems": "joint"}, "none of the criteria gini prices any of the problems joint"),
        ({"criteria": []}, r"none of the criteria \(none given\)"),
        ({"n_jobs": 0}, "n_jobs must be a number of threads"),
    ],
)
def test_wrong_arguments(arguments, message):
    asked = {"problems": "classes", **arguments}
    with pytest.raises(ValueError, match=message):
        warm_up(**asked)


def run(code, cache, **variables):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(PACKAGE.parent), **variables}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=100)


def test_a_refused_folder_is_an_error(tmp_path):
    (tmp_path / "gridmodl").mkdir()
    (tmp_path / "gridmodl").chmod(0o777)
    done = run("import gridmodl; gridmodl.warm_up(problems='cuts')", tmp_path)
    assert "OSError: compiled kernels cannot be kept: other users can write to" in done.stderr


def test_a_step_that_fails_is_an_error_that_says_why(tmp_path):
    code = "import gridmodl; gridmodl.warm_up(problems='cuts')"
    done = run(code, tmp_path, GRIDMODL_SHIPPED="perhaps")
    assert re.search("RuntimeError: 'cuts' could not be compiled .exit code 1.: ", done.stderr)
    assert "GRIDMODL_SHIPPED must be 'use' or 'ignore', got 'perhaps'" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for another process")
def test_ctrl_c_stops_at_once_and_leaves_no_process(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(PACKAGE.parent)}
    code = "import gridmodl; gridmodl.warm_up(problems='grid', progress=lambda told: print(told, flush=True))"
    command = [sys.executable, "-c", code]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    started = children.read_text().split() if children.exists() else []
    begun = time.perf_counter()
    process.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=60)[1]
    assert time.perf_counter() - begun < 20
    assert [child for child in started if Path(f"/proc/{child}").exists()] == []


# On the command line.


def command(cache, *words):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(PACKAGE.parent)}
    done = [sys.executable, "-m", "gridmodl", "cache", *words]
    return subprocess.run(done, env=environment, capture_output=True, text=True, check=False)


def test_cache_warm_and_info(tmp_path):
    warmed = command(tmp_path, "warm", "--problem", "cuts", "--jobs", "2", "--json")
    assert warmed.returncode == 0, warmed.stderr
    n_kernels = json.loads(warmed.stdout)["compiled"]
    assert n_kernels >= 2
    facts = json.loads(command(tmp_path, "info", "--json").stdout)
    files = list((tmp_path / "gridmodl").glob("*.kernel"))
    assert facts == {
        "folder": str(tmp_path / "gridmodl"),
        "refused": None,
        "kernels": n_kernels,
        "bytes": sum(file.stat().st_size for file in files),
        "limit": 1 << 30,
        "shipped": {"folder": None, "kernels": 0, "used": False, "refused": "gridmodl-kernels is not installed"},
    }
    shown = command(tmp_path, "info").stdout
    assert f"folder   {tmp_path / 'gridmodl'}\nkept     {n_kernels} kernels, 0." in shown
    assert "shipped  not used: gridmodl-kernels is not installed" in shown
    assert command(tmp_path, "warm", "--problem", "cuts").stderr == "0 kernels compiled\n"


def test_cache_info_says_why_a_folder_is_refused(tmp_path):
    (tmp_path / "gridmodl").mkdir()
    (tmp_path / "gridmodl").chmod(0o777)
    assert "kept     nothing: other users can write to" in command(tmp_path, "info").stdout


@pytest.mark.parametrize(("option", "value"), [("--criterion", "mod"), ("--problem", "clases")])
def test_cache_warm_of_an_unknown_name(tmp_path, option, value):
    done = command(tmp_path, "warm", option, value)
    assert done.returncode == 2
    assert f"gridmodl has no {option[2:]} '{value}'" in done.stderr
    assert "did you mean" in done.stderr
