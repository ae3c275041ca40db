"""How many functions typical calls compile, each after those before it: compile time is time.

A number that rises needs a reason in the commit. Counted with every kernel compiled at its first call, in a process
that finds nothing on disk; helpers that kernels share count once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

CALLS = """
import json
import numpy as np
from gridmodl import Search, get_criterion, optimize, optimize_each
from numba.core import event

rng = np.random.default_rng(0)
x = rng.integers(0, 40, 200) * 1.0
town = rng.integers(0, 12, 200).astype(str)
y = ((x > 20) ^ (rng.random(200) < 0.2)).astype(int)
three = y + (rng.random(200) < 0.3)
many = rng.normal(size=2_000)
of_many = (rng.random(2_000) < 1 / (1 + np.exp(-many))).astype(int)
few = {"x": x[:60], "town": town[:60]}
calls = {
    "column": lambda: optimize(x, three),
    "table": lambda: optimize_each({"x": x, "z": many[:200]}, three),
    "other criterion": lambda: optimize(x, three, criterion="entropy"),
    "other options": lambda: optimize(x, three, criterion=get_criterion("entropy", alpha=0.7, beta=0.3)),
    "proof": lambda: optimize(many, of_many),
    "groups": lambda: optimize(town, three),
    "merge": lambda: optimize(x, three, search="merge"),
    "grid": lambda: optimize(few, y[:60], search=Search("vns", effort=1)),
    "other options, grid": lambda: optimize(
        few, y[:60], criterion=get_criterion("modl", selection=False), search=Search("vns", effort=1)
    ),
    "joint": lambda: optimize(few, search=Search("vns", effort=1)),
    "grouped": lambda: optimize(x[:60], town[:60], target_kind="grouped", search=Search("vns", effort=1)),
    "numerical": lambda: optimize(x[:60], many[:60], search=Search("vns", effort=1)),
    "unlabelled": lambda: optimize(x, np.where(x % 3 == 0, -1, y), unlabelled=-1),
}
found = {}
for name, call in calls.items():
    with event.install_recorder("numba:compile") as recorder:
        call()
    begun = [record.data for _, record in recorder.buffer if record.is_start]
    made = [(data["dispatcher"], data["args"]) for data in begun]
    found[name] = [f"{type(one).__name__} {one.py_func.__qualname__} {args}" for one, args in made]
print(json.dumps(found))
"""

FUNCTIONS = {
    "column": 24,
    "table": 0,
    "other criterion": 16,
    "other options": 0,
    "proof": 37,
    "groups": 2,
    "merge": 6,
    "grid": 52,
    "other options, grid": 0,
    "joint": 44,
    "grouped": 21,
    "numerical": 0,
    "unlabelled": 9,
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "GRIDMODL_COMPILE": "always"}
    command = [sys.executable, "-W", "ignore", "-c", CALLS]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout)


def test_typical_calls_compile_so_many_functions(compiled):
    assert {name: len(functions) for name, functions in compiled.items()} == FUNCTIONS


def test_nothing_is_compiled_twice(compiled):
    """For the same arguments: neither for a literal, nor for another record of the same fields, nor by criterion."""
    numbas_own = ("CPUDispatcher ol_max.", "CPUDispatcher ol_min.")  # which compile anew for each caller
    every = [name for functions in compiled.values() for name in functions if not name.startswith(numbas_own)]
    assert sorted({function for function in every if every.count(function) > 1}) == []
