"""From the shell to the first result, each time in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from . import ratio, seconds

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

    def track_cold(self, search):
        with tempfile.TemporaryDirectory() as empty:
            return seconds(lambda: run(FIRST_RESULT.format(search), NUMBA_CACHE_DIR=empty))

    # With an empty cache: all kernels compile.
    track_cold.unit = "seconds"
