"""How many functions typical calls compile, each after those before it: compile time is time.

A number that rises needs a reason in the commit. Counted with every kernel compiled at its first call, in a process
that finds nothing on disk; helpers that kernels share count once.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from gridmodl.jit.compiler import is_known_version

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
many = rng.normal(size=1_500)
of_many = (rng.random(1_500) < 1 / (1 + np.exp(-many))).astype(int)
few = {"x": x[:60], "town": town[:60]}
calls = {
    "column": lambda: optimize(x, three),
    "table": lambda: optimize_each({"x": x, "z": many[:200]}, three),
    "other criterion": lambda: optimize(x, three, criterion="entropy"),
    "other options": lambda: optimize(x, three, criterion=get_criterion("entropy", alpha=0.7)),
    "proof": lambda: optimize(many, of_many),
    "groups": lambda: optimize(town, three),
    "merge": lambda: optimize(x, three, search="merge"),
    "grid": lambda: optimize(few, y[:60], search=Search("vns", effort=1)),
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
    found[name] = [
        [
            type(data["dispatcher"]).__name__,
            data["dispatcher"].py_func.__qualname__,
            str(data["dispatcher"].targetoptions.get("forceinline")),
            *map(str, data["args"]),
        ]
        for data in begun
    ]
print(json.dumps(found))
"""

FUNCTIONS = {
    "column": 45,
    "table": 0,
    "other criterion": 17,
    "other options": 0,
    "proof": 30,
    "groups": 4,
    "merge": 23,
    "grid": 81,
    "joint": 63,
    "grouped": 8,
    "numerical": 0,
    "unlabelled": 6,
}

pytestmark = pytest.mark.skipif(not is_known_version(), reason="another version of numba has other helpers of its own")


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
    """Not for a literal, nor because two kernels or criteria share a helper."""
    every = [
        re.sub(r"Literal\[int\]\(-?\d+\)", "int64", "; ".join(function))
        for functions in compiled.values()
        for function in functions
        if "<locals>" not in function[1]  # numba's own, of which each call has one
    ]
    assert [function for function, n in Counter(every).items() if n > 1] == []


def test_grids_and_columns_share_what_is_compiled_for_their_cells(compiled):
    after_a_column = {function[1].split("-")[0] for function in compiled["grid"]}
    assert after_a_column.isdisjoint({"cell_price", "add_entry", "load", "run_chunks", "best_cut"})
