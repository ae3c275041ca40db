"""From the shell to the first result, each time in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from . import SMALL, ratio

FIRST_RESULT = """
import gridmodl
x = [i * i % 3001 / 3001 for i in range(1500)]  # long and irregular enough to need all steps of a proof
gridmodl.optimize(x, [i * i * i % 13 % 2 for i in range(1500)], search={!r})
"""


def run(code, **variables):
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **variables})


class Import:
    def timeraw_gridmodl(self):
        return "import gridmodl"

    def timeraw_numpy(self):
        return "import numpy"

    def track_over_numpy(self):
        return ratio(lambda: run("import gridmodl"), lambda: run("import numpy"), rounds=10)

    # Target: at most 1.5.
    track_over_numpy.unit = "ratio"


class FirstResult:
    params = ["merge", "exact"]
    param_names = ["search"]

    def setup(self, search):
        run(FIRST_RESULT.format(search))  # fills the cache on disk

    def timeraw_warm(self, search):
        return FIRST_RESULT.format(search)

    def track_warm_over_imports(self, search):
        first_result = FIRST_RESULT.format(search)
        return ratio(lambda: run(first_result), lambda: run("import numba, scipy.special"), rounds=5)

    # With a warm cache; target: at most 3.
    track_warm_over_imports.unit = "ratio"


# What a newcomer and the author of a criterion wait for, by name.
FIRST_CALLS = {
    "first column": "gridmodl.optimize(x, y)",  # with proof
    "first grid": "gridmodl.optimize(table, kind)",
    "first joint": "gridmodl.optimize(table)",
    "a new criterion's first grid": "gridmodl.optimize(table, kind, criterion=New)",
    "an edited literal": "gridmodl.optimize(table, kind, criterion=New)",
}
N_COLUMN, N_GRID = (2_000, 60) if SMALL else (1_000_000, 2_000)  # rows; few enough to compile next to nothing
KERNELS = ("library", "numba")  # from the library, or compiled: then the library is as if it were not there

FIRST_CALL = """
import time
import numpy as np
import scipy.special
rng = np.random.default_rng(0)
x = rng.normal(size={n_column})
y = (rng.random(len(x)) < 1 / (1 + np.exp(-2 * np.sin(3 * x)))).astype(int)
table = np.c_[x, x**2 + rng.normal(size=len(x))][:{n_grid}]
kind = y[:{n_grid}]
begun = time.process_time()
import math
import gridmodl
if {kernels!r} == "numba":
    from gridmodl.jit import library
    library.the_library = lambda: None

class New(gridmodl.Criterion):
    name, problems = "new", {{"classes", "grid"}}

    @staticmethod
    def cell(p, cell):
        cost = {literal} * (p.n_classes - 1) * p.log_rows
        for n in cell.counts:
            if n > 0:
                cost -= 2.0 * n * math.log(n / cell.rows)
        return cost

{call}
print(time.process_time() - begun)
"""


def first_call(name, kernels):
    """Processor seconds of a call in a fresh process, imports of numpy and scipy left out, where nothing was compiled.

    An edit finds what the criterion compiled before it.
    """
    with tempfile.TemporaryDirectory() as empty:
        variables = os.environ | {"NUMBA_CACHE_DIR": empty, "GRIDMODL_COMPILE": "auto", "GRIDMODL_QUIET": "1"}
        for literal in (1.0, 1.25) if name == "an edited literal" else (1.0,):
            facts = {"n_column": N_COLUMN, "n_grid": N_GRID, "kernels": kernels, "literal": literal}
            command = [sys.executable, "-W", "ignore", "-c", FIRST_CALL.format(call=FIRST_CALLS[name], **facts)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=variables)
    return float(done.stdout)


def why_not_used():
    """Why there is no library, or None."""
    from gridmodl.jit.library import library_facts

    return library_facts()["refused"]


class FirstCall:
    """`python -m benchmarks.startup` prints them as a table."""

    params = [list(FIRST_CALLS), list(KERNELS)]
    param_names = ["call", "kernels"]

    def setup(self, call, kernels):
        if kernels == "library" and why_not_used() is not None:
            raise NotImplementedError(f"the library is not used: {why_not_used()}; make library builds it")

    def track_seconds(self, call, kernels):
        return first_call(call, kernels)

    # Targets with the library: 2.0, 1.5, 1.2, 3.0, 2.5.
    track_seconds.unit = "processor seconds"


def main():
    absent = why_not_used()
    if absent is not None:
        print(f"the library is not used: {absent}; make library builds it")
    print(f"{'processor seconds':32}{'library':>10}{'numba':>10}")
    for name in FIRST_CALLS:
        with_library = "-" if absent is not None else f"{first_call(name, 'library'):.2f}"
        print(f"{name:32}{with_library:>10}{first_call(name, 'numba'):10.2f}", flush=True)


if __name__ == "__main__":
    main()
