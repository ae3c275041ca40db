"""From the shell to the first result, each time in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from . import ratio

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
    "iris column": "gridmodl.optimize(iris[:, 2], species)",
    "new criterion, iris column": "gridmodl.optimize(iris[:, 2], species, criterion=Counted())",
    "20 small columns": "gridmodl.optimize_each(rng.normal(size=(150, 20)), species)",
    "40 categories": "gridmodl.optimize(rng.integers(0, 40, 1_000).astype(str), rng.integers(0, 3, 1_000))",
    "5,000 rows with proof": "gridmodl.optimize(x, y)",
    "grid of iris": "gridmodl.optimize(iris[:, 2:], species)",
    "joint grid of iris": "gridmodl.optimize(iris[:, 2:])",
    "50,000 rows with proof": "gridmodl.optimize(*waves(50_000))",
    "grid, 2,000 rows": "gridmodl.optimize(np.c_[x, rng.normal(size=5_000)][:2_000], y[:2_000])",
    "joint grid, 2,000 rows": "gridmodl.optimize(np.c_[x, x**2 + rng.normal(size=5_000)][:2_000])",
    "grouped, 2,000 rows": "gridmodl.optimize(x[:2_000], (x[:2_000] * 5).round().astype(str), target_kind='grouped')",
}
SMALL_CALLS = list(FIRST_CALLS)[:7]

FIRST_CALL = """
import resource
import numpy as np
import gridmodl

class Counted(gridmodl.Criterion):
    name, problems = "counted", {{"classes"}}

    @staticmethod
    def cell(p, cell):
        return 3.0 + cell.rows - (cell.counts * cell.counts).sum() / cell.rows

def waves(n):
    x = rng.normal(size=n)
    return x, (rng.random(n) < 1 / (1 + np.exp(-2 * np.sin(3 * x)))).astype(int)

rng = np.random.default_rng(0)
species = np.repeat(["setosa", "versicolor", "virginica"], 50)
iris = np.repeat([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]], 50, axis=0)
iris = (iris + rng.normal(size=(150, 4)) * [0.4, 0.3, 0.3, 0.15]).round(1)  # like it
x, y = waves(5_000)
{}
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
"""


def first_call(name, mode="auto"):
    """Processor seconds from the start of Python to the result, where nothing was compiled before."""
    with tempfile.TemporaryDirectory() as empty:
        variables = os.environ | {"NUMBA_CACHE_DIR": empty, "GRIDMODL_COMPILE": mode, "GRIDMODL_QUIET": "1"}
        command = [sys.executable, "-W", "ignore", "-c", FIRST_CALL.format(FIRST_CALLS[name])]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=variables)
    return float(done.stdout)


class FirstCall:
    """Small work; `python -m benchmarks.startup` tells of all, and what compiling everything at once would take."""

    params = SMALL_CALLS
    param_names = ["call"]

    def track_seconds(self, call):
        return first_call(call)

    # Target: 1.5 for the column of iris, 4 for 5,000 rows and for a new criterion.
    track_seconds.unit = "processor seconds"


def main():
    print(f"{'first call, processor seconds':32}{'auto':>8}{'always':>8}{'ratio':>8}")
    for name in FIRST_CALLS:
        auto, always = first_call(name), first_call(name, "always")
        print(f"{name:32}{auto:8.1f}{always:8.1f}{auto / always:8.2f}", flush=True)


if __name__ == "__main__":
    main()
