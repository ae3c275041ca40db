"""Models handed on: the time of commands, pages, queries and explanations, against the plain work they stand for."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

import gridmodl

from . import datasets, ratio


def run(*arguments, **variables):
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env={**os.environ, **variables})


class CommandLine:
    """100,000 rows x 5 columns of a CSV file."""

    timeout = 300

    def setup(self):
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name)
        columns, target = datasets.make_table(100_000, 5, 2)
        pd.DataFrame(columns).to_csv(path / "data.csv", index=False)
        gridmodl.optimize_each(columns, target, search="merge").to_json(path / "models.json")
        self.files = str(path / "models.json"), str(path / "data.csv")
        self.output = str(path / "parts.csv")

    def teardown(self):
        self.folder.cleanup()

    def track_apply_over_pandas(self):
        models, data = self.files
        copy = f"import pandas; pandas.read_csv({data!r}).to_csv({self.output!r})"
        return ratio(
            lambda: run("-m", "gridmodl", "apply", "--quiet", models, data, "-o", self.output),
            lambda: run("-c", copy),
            3,
        )

    # A whole process, against one that reads and writes the same file.
    track_apply_over_pandas.unit = "ratio"

    def track_help_over_python(self):
        return ratio(lambda: run("-m", "gridmodl", "--help"), lambda: run("-c", "import click, rich"), rounds=5)

    track_help_over_python.unit = "ratio"


class Pages:
    """1,000 columns, each with a model."""

    number = repeat = rounds = 1
    warmup_time = 0
    timeout = 300

    def setup(self):
        columns, target = datasets.make_table(2_000, 20, 5)
        found = gridmodl.optimize_each(columns, target, search="merge")
        models = list(found.values())
        self.models = gridmodl.Models({f"column {i}": models[i % len(models)] for i in range(1_000)}, {})

    def time_to_html(self):
        self.models.to_html()

    def track_megabytes(self):
        return round(len(self.models.to_html().encode()) / 1e6, 2)

    # Target: below 20.
    track_megabytes.unit = "MB"


class Explain:
    """One column of 100,000 rows."""

    number = repeat = rounds = 1
    warmup_time = 0
    timeout = 300

    def setup(self):
        self.data = datasets.make("steps", 100_000)
        self.model = gridmodl.optimize(*self.data)
        self.model.explain()  # compiles, outside the clock

    def track_over_optimize(self):
        return ratio(self.model.explain, lambda: gridmodl.optimize(*self.data), rounds=3)

    # One part fewer and one more take a recursion each.
    track_over_optimize.unit = "ratio"
